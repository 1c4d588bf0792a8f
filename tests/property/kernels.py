"""Many games side by side, looked at before and after every action: the loops that must be fast.

Players from `agents` are not called from here (these kernels' cache does not notice changes there): their actions are
worked out between `look` and `move`.
"""

import numpy as np

from hf_env.engine.action_ids import ASK, DISCARD, DRAW, MELD, NO, NUM_ACTIONS, TAKE, YES
from hf_env.engine.cards import MAX_CARDS, RED3
from hf_env.engine.invariants import first_broken_invariant
from hf_env.engine.legality import write_mask
from hf_env.engine.purposes import FOR_GAME
from hf_env.engine.rng import advance, below, combine, stream, uniform
from hf_env.engine.state import END_MAX_TURNS, END_OUT, END_STOCK_DRAW, END_STOCK_RED3, PHASE_ANSWER, PHASE_OVER
from hf_env.engine.transitions import apply_action, next_deal, start_game
from hf_env.engine.workspace import make_workspace
from hf_env.kernels.compile import entry, kernel

RANDOM, NON_DISCARD, GREEDY, GREEDY_OR_RANDOM = 0, 1, 2, 3
SHARE_OF_BUSY = 0.8
SHARE_OF_NOISE = 0.2

ROWS = (
    "opening through a take",
    "foot by melding",
    "foot by discard",
    "deal ended before a foot won by discard was picked up",
    "ask",
    "yes",
    "no",
    "gone out by discard",
    "gone out by melding the last card",
    "one card kept",
    "one card left to lay or discard in the foot",
    "stock out on a draw",
    "stock out on a red 3's replacement",
    "red 3 in a foot",
    "ended by the limit of turns",
)
(
    OPENING_BY_TAKE, FOOT_BY_MELDING, FOOT_BY_DISCARD, FOOT_NOT_REACHED, ASKED, SAID_YES, SAID_NO, OUT_BY_DISCARD,
    OUT_BY_MELDING, ONE_KEPT, ONE_LEFT, STOCK_DRAW, STOCK_RED3, RED3_IN_FOOT, MAX_TURNS,
) = range(len(ROWS))  # fmt: skip
OK, BROKEN, NO_ACTION, TOO_LONG = 0, 1, 2, 3


@entry
def begin(games, rules, rule_of, seed):
    """Start every game, the i-th under rules[rule_of[i]]."""
    deck = np.empty(MAX_CARDS, np.uint8)
    for i in range(games.shape[0]):
        r = rules[rule_of[i]]
        start_game(games[i], r, rule_of[i], np.int64(stream(seed, FOR_GAME, i, 0) >> np.uint64(1)), 1, 0, deck)


@entry
def look(games, rules, masks, seats, keys, seen, decisions, bounds, problem):
    """Check every game at its decision and write its mask.

    masks (N, 127) int8, seats (N,) int32 and keys (N,) uint64 are overwritten; seen (127,) int64 counts how often each
    action was legal; decisions (N,) int64 counts those of the deal; bounds (R,) int64 is the most that a deal may have.
    problem (3,) int64: kind, game, code of the first problem. Stops there.
    """
    work = make_workspace()
    for i in range(games.shape[0]):
        g = games[i]
        r = rules[np.int64(g["rule"])]
        code = first_broken_invariant(g, r)
        if code != 0:
            problem[0], problem[1], problem[2] = BROKEN, i, code
            return
        if g["phase"] == PHASE_OVER:  # only a deal that could not begin
            continue
        write_mask(g, r, masks[i], work)
        count = 0
        for action in range(NUM_ACTIONS):
            seen[action] += masks[i, action]
            count += masks[i, action]
        if count == 0:
            problem[0], problem[1] = NO_ACTION, i
            return
        if decisions[i] > bounds[np.int64(g["rule"])]:
            problem[0], problem[1] = TOO_LONG, i
            return
        seats[i] = g["to_move"]
        keys[i] = combine(keys[i], 1)


@kernel
def _pick(mask, key, first, end):
    """A legal action from first to end - 1, each with the same chance; -1 if there is none."""
    count = 0
    for action in range(first, end):
        count += int(mask[action])
    if count == 0:
        return -1
    left = below(key, count)
    for action in range(first, end):
        if mask[action]:
            if left == 0:
                return action
            left -= 1
    return -1


@kernel
def _choose(driver, g, mask, greedy, key):
    key2 = advance(key)
    key3 = advance(key2)
    if driver == GREEDY:
        return int(greedy)
    if driver == GREEDY_OR_RANDOM and uniform(key2) >= SHARE_OF_NOISE and g["phase"] != PHASE_ANSWER:
        return int(greedy)
    if driver == NON_DISCARD and uniform(key2) < SHARE_OF_BUSY:
        action = _pick(mask, key3, TAKE, DISCARD)
        if action >= 0:
            return action
    return _pick(mask, key3, 0, NUM_ACTIONS)


@kernel
def _count_end(g, r, action, coverage):
    reason = int(g["end_reason"])
    if reason == END_OUT:
        coverage[OUT_BY_DISCARD if action >= DISCARD else OUT_BY_MELDING] += 1
    elif reason == END_STOCK_DRAW:
        coverage[STOCK_DRAW] += 1
    elif reason == END_STOCK_RED3:
        coverage[STOCK_RED3] += 1
    elif reason == END_MAX_TURNS:
        coverage[MAX_TURNS] += 1
    for seat in range(int(r["players"])):
        if g["hand_sizes"][seat] == 0 and not g["in_foot"][seat]:
            coverage[FOOT_NOT_REACHED] += 1


@kernel
def _play(g, r, action, coverage):
    """Apply the action and count what it is an example of."""
    seat = int(g["to_move"])
    following = (seat + 1) % int(r["players"])
    opened = int(g["opened"][seat % int(r["sides"])])
    in_foot, next_in_foot = int(g["in_foot"][seat]), int(g["in_foot"][following])
    red3s, next_red3s = int(g["feet"][seat, RED3]), int(g["feet"][following, RED3])
    if action == ASK:
        coverage[ASKED] += 1
    if action == YES:
        coverage[SAID_YES] += 1
    if action == NO:
        coverage[SAID_NO] += 1
    if DRAW < action < MELD and not opened:
        coverage[OPENING_BY_TAKE] += 1
    apply_action(g, r, action)
    if not in_foot and g["in_foot"][seat]:
        coverage[FOOT_BY_MELDING] += 1
        coverage[RED3_IN_FOOT] += 1 if red3s > 0 else 0
    if action >= DISCARD and not next_in_foot and g["in_foot"][following]:
        coverage[FOOT_BY_DISCARD] += 1
        coverage[RED3_IN_FOOT] += 1 if next_red3s > 0 else 0
    if in_foot and g["hand_sizes"][seat] == 1 and g["phase"] != PHASE_OVER:
        if action >= DISCARD:
            coverage[ONE_KEPT] += 1
        elif DRAW < action < ASK:
            coverage[ONE_LEFT] += 1


@entry
def move(games, rules, masks, greedy, drivers, keys, decisions, coverage, chosen):
    """Play one action in every game whose deal is not over.

    greedy (N,) int32: what `greedy` would play. drivers (N,) int64. coverage (len(ROWS),) int64. chosen (N,) int64: the
    actions, -1 where none was played. Returns how many decisions were made.
    """
    made = 0
    for i in range(games.shape[0]):
        g = games[i]
        r = rules[np.int64(g["rule"])]
        chosen[i] = -1
        if g["phase"] == PHASE_OVER:  # a deal that could not begin
            _count_end(g, r, DRAW, coverage)
            continue
        chosen[i] = _choose(drivers[i], g, masks[i], greedy[i], keys[i])
        _play(g, r, chosen[i], coverage)
        decisions[i] += 1
        made += 1
        if g["phase"] == PHASE_OVER:
            _count_end(g, r, chosen[i], coverage)
    return made


@entry
def go_on(games, rules, decisions):
    """A game whose deal ended goes on with the next deal, or begins anew with another seed. Returns how many deals ended."""
    deck = np.empty(MAX_CARDS, np.uint8)
    deals = 0
    for i in range(games.shape[0]):
        g = games[i]
        if g["phase"] != PHASE_OVER:
            continue
        r = rules[np.int64(g["rule"])]
        deals += 1
        decisions[i] = 0
        if g["game_over"]:
            seed = np.int64(combine(np.uint64(g["seed"]), 1) >> np.uint64(1))
            start_game(g, r, np.int64(g["rule"]), seed, 1, 0, deck)
        else:
            next_deal(g, r, deck)
    return deals
