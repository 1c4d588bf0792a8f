"""A pass over the games by several threads that wait for each other in compiled code.

Waking a sleeping thread takes as long as stepping some hundred games, so a thread that has nothing left to do looks out for the
next pass a while before it goes to sleep. Passes are numbered by tickets. The leader, the thread that called, posts one, takes
part in it and waits for the others; hf_env/crew.py wakes those that sleep. Each thread has a block of games of its own, whose
data its core's cache may hold, and takes it a chunk at a time; then it helps with what the others have left.
"""

from hf_env.engine.atomics import add_to_word, give_way, load_word, pause, store_word
from hf_env.engine.jit import entry, kernel
from hf_env.engine.vector import MODE, MODE_DRAW, MODE_STEP, OK, draw_actions, first_illegal, pass_over

# Places in the words that the threads share, int64; each thread's are a cache line of their own, behind those of all.
LINE = 8
TICKET, STOP = 0, 1
CHECKED, ILLEGAL_SLOT, DONE, OVERFLOWED, PRESENT, TAKEN = range(6)
LEADER = 0
# Looks before a waiting thread lets others have its core at each further one: about 10 microseconds.
_LOOKS_ALONE = 200
# Games taken at a time.
_CHUNK = 64


@kernel
def _place(who, what):
    return LINE * (1 + who) + what


@kernel
def _wait_for_all(words, crew, what, ticket):
    """Until every thread has stored the ticket there."""
    for who in range(crew):
        looks = 0
        while load_word(words, _place(who, what)) != ticket:
            looks += 1
            if looks > _LOOKS_ALONE:
                give_way()
            else:
                pause()


@entry
def post(words, crew):
    """Number a new pass. Returns how many threads sleep and have to be woken."""
    for who in range(crew):
        store_word(words, _place(who, TAKEN), 0)
    store_word(words, TICKET, load_word(words, TICKET) + 1)
    absent = 0
    for who in range(1, crew):
        absent += 1 - load_word(words, _place(who, PRESENT))
    return absent


@kernel
def _do_block(
    words, crew, who, ticket, bounds, games, rules, settings, search, chosen, actions, game_seeds, game_numbers, decisions, tmp,
    plans, deck, change, observations, masks, seats, rewards, terminated, truncated, deal_ended, deal_scores, end_reasons, ended, final,
):  # fmt: skip
    """One thread's share of a pass. No game moves before the actions of all have been found legal."""
    allowed = True
    low, high = bounds[who], bounds[who + 1]
    if settings[MODE] == MODE_STEP:
        store_word(words, _place(who, ILLEGAL_SLOT), first_illegal(low, high, masks, actions, chosen, terminated, truncated, settings))
        store_word(words, _place(who, CHECKED), ticket)
        _wait_for_all(words, crew, CHECKED, ticket)
        for other in range(crew):
            if load_word(words, _place(other, ILLEGAL_SLOT)) >= 0:
                allowed = False
    overflow = OK
    if settings[MODE] == MODE_DRAW:
        draw_actions(low, high, chosen, masks, game_seeds, decisions, actions)
    elif allowed:
        for turn in range(crew):
            owner = (who + turn) % crew
            low, high = bounds[owner], bounds[owner + 1]
            first = low + add_to_word(words, _place(owner, TAKEN), _CHUNK)
            while first < high:
                last = min(first + _CHUNK, high)
                found = pass_over(
                    first, last, games, rules, settings, search, chosen, actions, game_seeds, game_numbers, decisions, tmp, plans, deck,
                    change, observations, masks, seats, rewards, terminated, truncated, deal_ended, deal_scores, end_reasons, ended, final,
                )  # fmt: skip
                overflow = max(overflow, found)
                first = low + add_to_word(words, _place(owner, TAKEN), _CHUNK)
    store_word(words, _place(who, OVERFLOWED), overflow)
    store_word(words, _place(who, DONE), ticket)


@entry
def take_part(
    words, crew, who, last, patience, bounds, games, rules, settings, search, chosen, actions, game_seeds, game_numbers, decisions, tmp,
    plans, deck, change, observations, masks, seats, rewards, terminated, truncated, deal_ended, deal_scores, end_reasons, ended, final,
):  # fmt: skip
    """The leader's part in the pass just posted, or a worker's in all that come until its patience ends.

    words: int64, shared. crew: number of threads, the leader's (who = 0) among them. bounds: (crew + 1,) int64, where the
    threads' blocks of games begin and end. chosen: (N,) int8, as ``pass_over``; the other arguments too.
    The leader gets 0, or a code: -1 - slot of an illegal action, for which nothing has moved, or slot + 1 of an overflow.
    last: the last ticket that a worker has done. patience: looks for another before it returns. A worker gets that last
    ticket, or -1 when it is to end.
    """
    if who == LEADER:
        ticket = load_word(words, TICKET)
        _do_block(
            words, crew, who, ticket, bounds, games, rules, settings, search, chosen, actions, game_seeds, game_numbers, decisions, tmp,
            plans, deck, change, observations, masks, seats, rewards, terminated, truncated, deal_ended, deal_scores, end_reasons,
            ended, final,
        )  # fmt: skip
        _wait_for_all(words, crew, DONE, ticket)
        result = OK
        for other in range(crew):
            if settings[MODE] == MODE_STEP and load_word(words, _place(other, ILLEGAL_SLOT)) >= 0:
                # The threads' blocks lie in order: the first of them has the first slot.
                return -1 - load_word(words, _place(other, ILLEGAL_SLOT))
            result = max(result, load_word(words, _place(other, OVERFLOWED)))
        return result
    looks = 0
    store_word(words, _place(who, PRESENT), 1)
    while load_word(words, STOP) == 0:
        ticket = load_word(words, TICKET)
        if ticket != last:
            _do_block(
                words, crew, who, ticket, bounds, games, rules, settings, search, chosen, actions, game_seeds, game_numbers, decisions, tmp,
                plans, deck, change, observations, masks, seats, rewards, terminated, truncated, deal_ended, deal_scores, end_reasons,
                ended, final,
            )  # fmt: skip
            last, looks = ticket, 0
        elif looks < patience:
            looks += 1
            pause()
        else:
            store_word(words, _place(who, PRESENT), 0)
            # Posted meanwhile? Whoever posts looks at PRESENT only afterwards, so one of the two sees the other.
            if load_word(words, TICKET) == last:
                return last
            looks = 0
            store_word(words, _place(who, PRESENT), 1)
    store_word(words, _place(who, PRESENT), 0)
    return -1
