"""Rewards of a step, from scores. Who gets what when: paid to every seat when a deal (or, for a win, the game) ends.

Potential-based shaping (Ng, Harada, Russell 1999): each step adds potential(after) - potential(before), the potential
being 0 at the start and at the end of a deal, so that a deal's sum is unchanged without discount.
"""

from hf_env.engine.scoring import side_score, table_score
from hf_env.engine.state import PHASE_OVER
from hf_env.kernels.compile import kernel

REWARD_SCORE_DIFFERENCE, REWARD_SCORE, REWARD_WIN = 0, 1, 2
SHAPING_NONE, SHAPING_TABLE, SHAPING_FULL = 0, 1, 2
POINTS_PER_REWARD = 1000.0


@kernel
def _counted(g, r, side, shaping):
    """What the potential counts for a side: open points, or its score if the deal ended now (hidden cards too)."""
    if shaping == SHAPING_TABLE:
        return table_score(g, r, side)
    return side_score(g, r, side)


@kernel
def start_potential(g, r, shaping):
    """Note the potential's start at the beginning of a deal."""
    if shaping == SHAPING_NONE:
        return
    for side in range(int(r["sides"])):
        counted = _counted(g, r, side, shaping)
        g["potential_start"][side] = counted
        g["potential"][side] = counted


@kernel
def write_rewards(g, r, kind, shaping, rewards, change):
    """Write the rewards (seats,) float32 of the step just made; `change`: (MAX_SEATS,) int64 to work in.

    Expects the deal not to have been followed by the next yet.
    """
    sides = int(r["sides"])
    players = int(r["players"])
    for seat in range(players):
        rewards[seat] = 0.0
    over = g["phase"] == PHASE_OVER
    if not over and shaping == SHAPING_NONE:
        return
    total = 0
    for side in range(sides):
        change[side] = 0
        if shaping != SHAPING_NONE:
            after = int(g["potential_start"][side]) if over else _counted(g, r, side, shaping)
            change[side] = after - int(g["potential"][side])
            g["potential"][side] = after
        if over and kind != REWARD_WIN:
            change[side] += int(g["deal_scores"][side])
        total += change[side]
    for seat in range(players):
        own = change[seat % sides]
        if kind == REWARD_SCORE:
            rewards[seat] = own / POINTS_PER_REWARD
        else:
            rewards[seat] = (own - (total - own) / (sides - 1)) / POINTS_PER_REWARD
    if kind == REWARD_WIN and g["game_over"]:
        _add_win(g, r, rewards)


@kernel
def _add_win(g, r, rewards):
    """At the game's end (rules.md 9.5) +1 shared among the winning sides, -1 / (sides - 1) each for the others; 0 if all tie.

    Each seat gets its side's amount.
    """
    sides = int(r["sides"])
    best = int(g["scores"][0])
    for side in range(1, sides):
        best = max(best, int(g["scores"][side]))
    winners = 0
    for side in range(sides):
        if g["scores"][side] == best:
            winners += 1
    if winners == sides:
        return
    for seat in range(int(r["players"])):
        if g["scores"][seat % sides] == best:
            rewards[seat] += 1.0 / winners
        else:
            rewards[seat] -= 1.0 / (sides - 1)
