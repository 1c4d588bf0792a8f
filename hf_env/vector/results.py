"""What ended deals and games came to, as plain values."""

from typing import Any

import numpy as np

from hf_env.vector.game import END_REASONS, VectorGame


def deal_result(vec: VectorGame, slot: int | np.integer) -> dict[str, Any]:
    """Raw results of the deal that a slot's step has ended.

    Args:
        vec: the games.
        slot: of the game, 0..N-1.

    Returns:
        ``deal``, its number from 1; ``scores``, points of each side; ``reason``, of END_REASONS.
    """
    record = vec.ended[slot]
    reason = END_REASONS[int(record["end_reason"])]
    return {"deal": int(record["deal"]), "scores": vec.deal_scores[slot].tolist(), "reason": reason}
