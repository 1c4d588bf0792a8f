"""What random numbers are for, and what sets the hashes of their roots apart (see rng.py). Needs no library."""

# Two purposes never share numbers. Purposes of Python code follow in hf_env/seeds.py.
FOR_DEALER, FOR_DECK, FOR_RESHUFFLE, FOR_DEAL_NUMBER, FOR_RULES, FOR_GAME, FOR_POLICY, FOR_SHUFFLE_HIDDEN = 1, 2, 3, 4, 5, 6, 7, 8
FOR_ACTION = 9

# BLAKE2b's parameter "personalisation" separates these hashes from any other use; it holds the version of the seeds.
PERSON = b"hf_env seeds 2"
DIGEST_BYTES, WORD_BYTES = 8, 8
