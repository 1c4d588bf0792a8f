"""Whether `expert` ends the deal now, and says yes to a partner who would."""

from agents.scripted.estimates import add_caught
from agents.scripted.expert.outlook import table_prospects
from agents.scripted.expert.weights import OUT_BIAS, OUT_HELD, OUT_OURS, OUT_THEIRS
from hf_env.kernels.compile import kernel


@kernel
def out_worth(g, r, look):
    """Gain of ending the deal now, by the seat whose turn it is, over playing on, for the side of the Outlook's seat.

    What the others (the mean side, as in the score difference) are caught with and lose of their prospects, less the
    same of our side; the seat knows its own cards. The cards of the one who goes out are laid.
    """
    seat = look.seat
    p = look.weights
    sides = int(r["sides"])
    own = seat % sides
    theirs = 0.0
    for side in range(sides):
        if side != own:
            theirs += table_prospects(g, r, side, look)
    ours = p[OUT_OURS] * table_prospects(g, r, own, look)
    held_by_others, ours = add_caught(g, r, seat, 0.0, ours)
    others = (p[OUT_THEIRS] * theirs + p[OUT_HELD] * held_by_others) / (sides - 1)
    return int(r["going_out"]) + p[OUT_BIAS] + others - ours
