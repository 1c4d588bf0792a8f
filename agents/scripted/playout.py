"""Deals played to their end by scripted players at engine speed: for tests, search and benchmarks."""

import numpy as np

from agents.scripted.dispatch import NUMBERS, scripted_action
from agents.scripted.uniform import choose_random
from hf_env.engine.action_ids import NUM_ACTIONS
from hf_env.engine.cards import MAX_CARDS
from hf_env.engine.jit import entry, kernel
from hf_env.engine.legality import write_mask
from hf_env.engine.opening import NUM_ROWS, PLAN_WIDTH
from hf_env.engine.rng import FOR_DEAL_NUMBER, FOR_GAME, FOR_POLICY, advance, below, combine, stream, uniform
from hf_env.engine.state import GAME_DTYPE, PHASE_OVER
from hf_env.engine.transitions import apply_action, next_deal, start_game

# Fields of the game record that play_deals returns, as they stand at the deal's end.
RESULT_FIELDS = (
    "deal", "deal_scores", "end_reason", "out_seat", "turns", "opening_turn", "opened_by_take", "foot_turn",
    "foot_by_discard", "num_takes", "num_asks", "num_yes", "num_no", "stranded", "red3", "clean_books", "dirty_books",
)  # fmt: skip


@kernel
def noisy_action(number, noise, g, r, seat, mask, key):
    """The scripted player's action, or with probability `noise` a random one."""
    if noise > 0.0 and uniform(key) < noise:
        return choose_random(g, r, seat, mask, advance(key))
    return scripted_action(number, g, r, seat, mask, key)


@kernel
def finish_deal(g, r, players, noise, key, mask, tmp, plans):
    """Play a game to the end of its deal. players, noise: (seats,) int64 and float64. Returns the number of decisions."""
    decisions = 0
    while g["phase"] != PHASE_OVER:
        write_mask(g, r, mask, tmp, plans)
        seat = int(g["to_move"])
        action = noisy_action(players[seat], noise[seat], g, r, seat, mask, combine(key, decisions))
        apply_action(g, r, action)
        decisions += 1
    return decisions


@entry
def finish_deals(games, rules, players, noise, keys, decisions):
    """Play every game to the end of its deal, whatever state it is in.

    games: (N,) GAME_DTYPE, changed. rules: (R,) RULES_DTYPE, indexed by a game's `rule`. players: (N, S) int64, numbers
    of agents.scripted.dispatch by seat. noise: (N, S) float64, chance of a random action. keys: (N,) uint64, one a
    game. decisions: (N,) int64, overwritten with the numbers of decisions made.
    """
    mask = np.zeros(NUM_ACTIONS, np.int8)
    tmp = np.empty(2, GAME_DTYPE)
    plans = np.empty((NUM_ROWS, PLAN_WIDTH), np.int64)
    for i in range(games.shape[0]):
        r = rules[np.int64(games[i]["rule"])]
        decisions[i] = finish_deal(games[i], r, players[i], noise[i], keys[i], mask, tmp, plans)


@entry
def start_games(games, rules, deals, seeds, single_deal):
    """Begin every game with deal number deals[i]: (N,) int64, from 1. seeds: (N,) int64. single_deal: int64, 1: games of one deal."""
    deck = np.empty(MAX_CARDS, np.uint8)
    for i in range(games.shape[0]):
        start_game(games[i], rules[0], np.int64(0), seeds[i], deals[i], single_deal, deck)


@entry
def go_on(games, rules):
    """Deal the next deal of every game that is not over, which stands at a deal's end."""
    deck = np.empty(MAX_CARDS, np.uint8)
    for i in range(games.shape[0]):
        if not games[i]["game_over"]:
            next_deal(games[i], rules[np.int64(games[i]["rule"])], deck)


@entry
def _numbers(seed, purpose, count, n, out):
    """out[i] = a number below n for item i of (seed, purpose); n 0: 63 bits."""
    for i in range(count):
        state = stream(seed, purpose, i, 0)
        out[i] = below(state, n) if n > 0 else np.int64(state >> np.uint64(1))


def draw_numbers(seed: int, purpose: int, count: int, n: int = 0) -> np.ndarray:
    """(count,) int64 numbers made of (seed, purpose, index) alone: below n, or of 63 bits where n is 0."""
    out = np.empty(count, np.int64)
    _numbers(np.int64(seed), np.int64(purpose), np.int64(count), np.int64(n), out)
    return out


def play_deals(rules, players, num_deals: int, seed: int = 0, noise=0.0, deal: int | None = None) -> dict[str, np.ndarray]:
    """Play single deals, each from scores 0.

    rules: a RuleSet. players: a name for each seat (keys of dispatch.NUMBERS). noise: chance of a random action, one
    number or one a seat. deal: its number from 1 (minimum, quota); None: drawn from 1..deals of the rules.

    Returns arrays of length num_deals by name: `scores` (N, sides) int32, `decisions` (N,) int64, `seeds` (N,) int64,
    and RESULT_FIELDS of the game record. Raises KeyError for an unknown name, ValueError for a wrong number of players.
    """
    record = rules.to_record()
    seats, sides = int(record[0]["players"]), int(record[0]["sides"])
    if len(players) != seats:
        raise ValueError(f"{len(players)} players for {seats} seats")
    games = np.zeros(num_deals, GAME_DTYPE)
    seeds = draw_numbers(seed, FOR_GAME, num_deals)
    if deal is None:
        deals = 1 + draw_numbers(seed, FOR_DEAL_NUMBER, num_deals, int(record[0]["deals"]))
    else:
        deals = np.full(num_deals, deal, np.int64)
    start_games(games, record, deals, seeds, np.int64(1))
    numbers = np.tile(np.array([NUMBERS[name] for name in players], np.int64), (num_deals, 1))
    noises = np.ascontiguousarray(np.broadcast_to(np.asarray(noise, np.float64), (num_deals, seats)))
    keys = draw_numbers(seed, FOR_POLICY, num_deals).astype(np.uint64)
    decisions = np.empty(num_deals, np.int64)
    finish_deals(games, record, numbers, noises, keys, decisions)
    result = {name: games[name].copy() for name in RESULT_FIELDS}
    return result | {"scores": games["deal_scores"][:, :sides].copy(), "decisions": decisions, "seeds": seeds}
