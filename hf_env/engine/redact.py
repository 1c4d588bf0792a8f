"""What one seat may know of a game, as a game record: everything hidden from it is zero.

The copy has the record's type, so that a player written as a kernel reads the true game in a fast playout and the
redacted copy at a table, with the same action from both.
"""

import numpy as np

from hf_env.engine.cards import MAX_CARDS, MAX_SEATS, NUM_KINDS
from hf_env.kernels.compile import copy_record, entry, kernel


@kernel
def redact(g, r, seat, out):
    """Write into `out` the game as `seat` may know it.

    Zeroed: the other seats' hands, every foot (seen by its owner once it is the hand, rules.md 3.4), the order of the
    stock, the seed, the potentials of shaping. Of the stock only its size stays: stock_next is 0, stock_end the number
    of cards left. Sizes of hands and feet, the whole discard pile and all events are public and stay.
    """
    copy_record(out, g)
    for other in range(int(r["players"])):
        for kind in range(NUM_KINDS):
            out["feet"][other, kind] = 0
            if other != seat:
                out["hands"][other, kind] = 0
    for i in range(MAX_CARDS):
        out["stock"][i] = 0
    out["stock_next"] = 0
    out["stock_end"] = int(g["stock_end"]) - int(g["stock_next"])
    out["given_order"] = 0
    out["seed"] = 0
    for side in range(MAX_SEATS):
        out["potential"][side] = 0
        out["potential_start"][side] = 0


@entry
def redact_rows(games, rules, rows, seats, out):
    """out[i] = games[rows[i]] as seats[i] may know it.

    Args:
        games: (M,) GAME_DTYPE.
        rules: (R,) RULES_DTYPE, indexed by a game's `rule`.
        rows: (N,) int64.
        seats: (N,) int32.
        out: (N,) GAME_DTYPE, overwritten.
    """
    for i in range(rows.shape[0]):
        g = games[rows[i]]
        redact(g, rules[np.int64(g["rule"])], np.int64(seats[i]), out[i])
