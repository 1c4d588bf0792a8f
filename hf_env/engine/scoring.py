"""The score of a deal. Rule: docs/rules.md 9."""

from hf_env.engine.cards import NUM_KINDS, RED3, SEVEN, WILD
from hf_env.engine.melds import open_size
from hf_env.engine.seats import side_of
from hf_env.engine.state import CLEAN_BOOKS, DIRTY_BOOKS, NOT_YET, WILD_BOOKS
from hf_env.kernels.compile import kernel


@kernel
def table_score(g, r, side):
    """Points that lie open: cards of melds and books, book bonuses, red 3s laid. Public. Rule: docs/rules.md 9.1, 9.3."""
    score = int(g["red3"][side]) * int(r["red3_laid"]) + int(g["table_points"][side])
    counts = g["book_counts"][side]
    score += int(counts[CLEAN_BOOKS]) * int(r["clean_book"]) + int(counts[DIRTY_BOOKS]) * int(r["dirty_book"])
    score += int(counts[WILD_BOOKS]) * int(r["wild_book"])
    # rules.md 9.3: a clean book of 7s has its own bonus.
    return score + int(g["clean_books"][side, SEVEN]) * (int(r["sevens_book"]) - int(r["clean_book"]))


@kernel
def held_points(g, r, side):
    """Points that the side would lose for the cards of its hands and of its feet not picked up. Hidden. Rule: docs/rules.md 9.2."""
    points = 0
    for seat in range(side, int(r["players"]), int(r["sides"])):
        for kind in range(NUM_KINDS):
            count = int(g["hands"][seat, kind]) + int(g["feet"][seat, kind])
            if kind == RED3:
                points += count * int(r["red3_held"])
            else:
                points += count * int(r["card_points"][kind])
    return points


@kernel
def side_score(g, r, side):
    """The side's score of this deal if it ended now (when it has ended: the score). Rule: docs/rules.md 9.1 to 9.3."""
    score = table_score(g, r, side) - held_points(g, r, side)
    if open_size(g, side, WILD) > 0:  # rules.md 9.3
        score -= int(r["unfinished_wild_penalty"])
    if g["out_seat"] != NOT_YET and side_of(r, int(g["out_seat"])) == side:  # rules.md 8.1
        score += int(r["going_out"])
    return score
