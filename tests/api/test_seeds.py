"""Seeds: roots are one way, purposes and neighbours unrelated, and nothing hidden follows from what a policy is handed."""

import hashlib
import random
import struct

import gymnasium
import numpy as np
import pytest

import hf_env  # noqa: F401 - registers the Gymnasium environment
from agents.play.games import play_games
from agents.play.table import play_at_table
from agents.policy import player_seed
from hf_env import VectorGame, deck_for, hand_and_foot_v0, load_rules
from hf_env.engine.purposes import FOR_GAME, PERSON
from hf_env.engine.rng import write_seeds
from hf_env.envs.gymnasium_vector import HandAndFootSeatVectorEnv
from hf_env.policy_batch import mix64, seat_keys, seat_root
from hf_env.seeds import (
    FOR_EVALUATION,
    FOR_FINAL,
    FOR_MEASUREMENT,
    FOR_PLAYER,
    FOR_TRAINING_GAMES,
    MAX_SEED,
    generator,
    grow,
    grow_seed,
    grow_seeds,
)
from training.evaluation import evaluate
from training.evaluation.matches import cluster_seeds

BITS = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15


# ------------------------------------------------------------------------------------------------ roots


def blake(*words: int) -> int:
    message = struct.pack(f"<{len(words)}Q", *words)
    return int.from_bytes(hashlib.blake2b(message, digest_size=8, person=PERSON).digest(), "little")


def test_the_engines_roots_are_blake2b():
    rng = random.Random(1)
    cases = [(0, 0, 0), (MAX_SEED, 2**31, 2**62), *((rng.getrandbits(63), rng.getrandbits(16), rng.getrandbits(62)) for _ in range(100))]
    for seed, purpose, first in cases:
        out = np.zeros(3, np.int64)
        write_seeds(np.int64(seed), np.int64(purpose), np.int64(first), out)
        assert out.tolist() == [blake(seed, purpose, first + i, 0) >> 1 for i in range(3)]


def test_grow_is_blake2b_and_refuses_what_is_no_seed():
    assert grow(7, 20, 3) == blake(7, 20, 3) and grow_seed(7, 20, 3) == blake(7, 20, 3) >> 1
    assert grow(7, 20) != grow(7, 20, 0)  # another length is another message
    assert grow_seeds(7, 22, 5, 2).tolist() == [blake(7, 22, 5, 0) >> 1, blake(7, 22, 6, 0) >> 1]
    assert generator(1, 30).integers(1 << 60) == generator(1, 30).integers(1 << 60) != generator(2, 30).integers(1 << 60)
    for wrong in (-1, 2**64):
        with pytest.raises(ValueError, match=r"from 0 to 2\*\*64 - 1"):
            grow(wrong, 20)


# ---------------------------------------------------------------------------------- samples are unrelated


def samples(seed: int) -> dict[str, list[int]]:
    """64 game seeds of each purpose that has some, as the product makes them of one seed."""
    return {
        "evaluation": cluster_seeds(seed, 0, 64).tolist(),
        "on the way": cluster_seeds(grow_seed(seed, FOR_MEASUREMENT), 0, 64).tolist(),
        "final": cluster_seeds(grow_seed(seed, FOR_FINAL), 0, 64).tolist(),
        "games side by side": grow_seeds(seed, FOR_GAME, 0, 64).tolist(),
        "training": grow_seeds(grow_seed(seed, FOR_TRAINING_GAMES), FOR_GAME, 0, 64).tolist(),
    }


def test_a_thousand_neighbouring_seeds_and_all_purposes_share_no_game():
    every = [number for seed in range(1000) for numbers in samples(seed).values() for number in numbers]
    # Of 320,000 numbers of 63 bits two are equal once in 180 million such tests.
    assert len(set(every)) == len(every) == 320_000


def test_the_samples_are_those_that_the_product_plays():
    vec = VectorGame(64, "mini", 5)
    assert vec.game_seeds.tolist() == samples(5)["games side by side"]
    result = evaluate("random", "random", deals=16, seed=5, rules="mini")
    assert result.cluster_seeds.tolist() == samples(5)["evaluation"][: result.num_clusters] == grow_seeds(5, FOR_EVALUATION, 0, 8).tolist()


def test_eight_seeds_are_eight_results():
    means = [evaluate("greedy", "random", deals=16, seed=seed, rules="mini").difference.mean for seed in range(8)]
    assert len(set(means)) == 8


def test_bits_of_neighbouring_seeds_are_independent():
    bits = np.unpackbits(np.array([grow(seed, FOR_PLAYER) for seed in range(4096)], np.uint64).view(np.uint8)).reshape(4096, 64)
    assert np.abs(bits.mean(0) - 0.5).max() < 5 / (2 * 64)  # five standard errors of a share of 4,096
    flips = (bits[1:] != bits[:-1]).mean(0)
    assert np.abs(flips - 0.5).max() < 5 / (2 * 64)


# -------------------------------------------------------------------------- what a policy can work out


class Spy:
    """Plays the lowest legal action and keeps all numbers that it is handed."""

    def __init__(self) -> None:
        self.seeds: list[int] = []
        self.keys: list[tuple[int, int, int]] = []  # game, seat, key

    def start(self, num_games, rules, seed):
        self.seeds.append(int(seed))

    def act(self, batch):
        self.keys += zip(batch.games.tolist(), batch.seats.tolist(), batch.keys.tolist(), strict=True)
        return batch.action_masks.argmax(1)

    def numbers(self) -> set[int]:
        return set(self.seeds) | {key for _, _, key in self.keys}


def unshift(values: np.ndarray, bits: int) -> np.ndarray:
    found = values
    for _ in range(3):
        found = values ^ (found >> np.uint64(bits))
    return found


def unmix(values: np.ndarray, gamma: int) -> np.ndarray:
    """Inverse of SplitMix64's finaliser and of the increment before it. values: (N,) uint64."""
    values = unshift(values, 31) * np.uint64(pow(0x94D049BB133111EB, -1, 2**64))
    values = unshift(values, 27) * np.uint64(pow(0xBF58476D1CE4E5B9, -1, 2**64))
    return unshift(values, 30) - np.uint64(gamma)


# What a key's maker may have been combined with before it was mixed: a small number, or the mixture of one.
PARTS = np.concatenate([np.arange(3, dtype=np.uint64), mix64(np.arange(4, dtype=np.uint64))])


def worked_out(numbers: set[int]) -> set[int]:
    """All that an adversary who knows the code gets from numbers by undoing what can be undone, and by going on from it.

    Undoing: the mixing, and an exclusive or with one of PARTS, again and again. Going on: players' and seats' roots and the
    keys of their first decisions, by the product's own functions.
    """
    newest = np.array(sorted(numbers), np.uint64)
    found = [newest]
    for _ in range(4):
        undone = np.concatenate([unmix(newest, 0), unmix(newest, GAMMA)])
        newest = (undone[:, None] ^ PARTS).reshape(-1)
        newest = newest[:: max(1, len(newest) // 20_000)]
        found.append(newest)
    undone = set(np.concatenate(found).tolist())
    players = set(numbers) | {grow_seed(number, FOR_PLAYER, player) for number in numbers for player in range(4)}
    roots = {seat_root(player, game, 0, seat) for player in players for game in range(3) for seat in range(4)}
    keys = {key for root in roots for key in seat_keys(root, np.arange(8)).tolist()}
    return undone | {number >> 1 for number in undone} | players | roots | keys


def test_the_adversary_undoes_what_is_not_one_way():
    """A control: a seat's keys follow from what its player's start got, and from a key follows the root of its own seat."""
    spy = Spy()
    play_at_table([spy, spy], load_rules("mini"), 3)
    assert len({key for _, _, key in spy.keys} & worked_out(set(spy.seeds))) >= 8
    assert seat_root(spy.seeds[0], 0, 0, spy.keys[0][1]) in worked_out({spy.keys[0][2]})


def at_the_table(seed: int) -> tuple[list[Spy], list[int]]:
    spies = [Spy() for _ in range(4)]
    play_at_table(spies, load_rules("whitnack", deals=1), seed)
    return spies, [seed]


def in_a_match(seed: int) -> tuple[list[Spy], list[int]]:
    spies = [Spy() for _ in range(4)]
    seeds = cluster_seeds(seed, 0, 2)
    play_games(spies, np.array([[0, 1, 2, 3], [1, 2, 3, 0]]), seeds, rules=load_rules("whitnack", deals=1), seed=seed)
    return spies, [seed, *seeds.tolist()]


def in_gymnasium(seed: int) -> tuple[list[Spy], list[int]]:
    spies = [Spy() for _ in range(3)]
    env = gymnasium.make("HandAndFoot-v0", rules=load_rules("whitnack", deals=1), seats={seat + 1: spy for seat, spy in enumerate(spies)})
    _, info = env.reset(seed=seed)
    over = False
    while not over:
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    return spies, [seed]


def in_gymnasiums_vector(seed: int) -> tuple[list[Spy], list[int]]:
    spies = [Spy() for _ in range(3)]
    rules = load_rules("whitnack", deals=1)
    envs = HandAndFootSeatVectorEnv(2, rules, seats={seat + 1: spy for seat, spy in enumerate(spies)}, autoreset_mode="DISABLED")
    _, info = envs.reset(seed=seed)
    over = np.zeros(2, bool)
    while not over.all():
        _, _, over, _, info = envs.step(info["action_mask"].argmax(1))
    return spies, [seed, seed + 1]


@pytest.mark.parametrize("form", [at_the_table, in_a_match, in_gymnasium, in_gymnasiums_vector])
def test_neither_the_cards_nor_anothers_keys_follow_from_what_a_policy_is_handed(form):
    seed = 4_718_253_990_112_844_071  # not one that is found by trying all small ones
    spies, secret_seeds = form(seed)
    handed = [spy.numbers() for spy in spies]
    assert all(len(spy.seeds) == 1 and len(spy.keys) > 40 for spy in spies)
    for own, spy in enumerate(spies):
        # The first decisions' keys stand for all.
        found = worked_out(set(spy.seeds) | {key for _, _, key in spy.keys[:4]})
        assert not found & set(secret_seeds)
        for other, numbers in enumerate(handed):
            assert other == own or not found & numbers, "another seat's dice"
        deck = deck_for(load_rules("whitnack", deals=1), secret_seeds[-1], 1)
        for candidate in random.Random(own).sample(sorted(found), 20):
            assert deck_for(load_rules("whitnack", deals=1), candidate & MAX_SEED, 1) != deck


def test_what_env_decision_hands_over_does_not_tell_the_seed():
    env = hand_and_foot_v0.env()
    seed = 4_718_253_990_112_844_071
    env.reset(seed=seed)
    assert seed not in worked_out({int(env.unwrapped.decision().keys[0])})


def test_the_same_seed_gives_the_same_cards_and_dice_whoever_plays():
    spies = [Spy(), Spy()]
    results = [evaluate(spy, other, deals=8, seed=11, rules="mini") for spy, other in zip(spies, ("random", "greedy"), strict=True)]
    assert results[0].cluster_seeds.tolist() == results[1].cluster_seeds.tolist()
    assert spies[0].seeds == spies[1].seeds == [player_seed(11, 0)]
    # Game by game: what a seat's first decision in a game gets as its key.
    firsts = [{(game, seat): key for game, seat, key in reversed(spy.keys)} for spy in spies]
    shared = firsts[0].keys() & firsts[1].keys()
    assert shared and all(firsts[0][place] == firsts[1][place] for place in shared)


def test_views_are_of_the_decision_at_hand():
    """A batch kept for later would tell another player's hand: the slot's next game seats somebody else there."""
    kept = []

    class Keeper(Spy):
        def act(self, batch):
            kept.append(batch)
            return super().act(batch)

    play_games([Keeper(), "random"], [[0, 1], [1, 0]], [1, 2], rules="mini", num_slots=1)
    for batch in kept:
        with pytest.raises(RuntimeError, match="can be had only while"):
            batch.views  # noqa: B018
