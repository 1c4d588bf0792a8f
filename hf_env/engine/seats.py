"""Seats and sides counted round the table."""

from hf_env.kernels.compile import kernel


@kernel
def side_of(r, seat):
    """The side of a seat: seat mod sides. A division would cost ten times as much, and there are several a decision.

    Rule: docs/rules.md 2.1.
    """
    sides = int(r["sides"])
    if seat >= sides:
        seat -= sides
    # Six seats on two sides.
    return seat - sides if seat >= sides else seat


@kernel
def seat_after(r, seat, steps):
    """The seat so many steps on, fewer than there are seats. Rule: docs/rules.md 2.3."""
    players = int(r["players"])
    seat += steps
    return seat - players if seat >= players else seat
