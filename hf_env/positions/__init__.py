"""Positions as JSON: all that the state of a game holds, as text that people can write (``hf-position/1``).

Beside the fields of the format these helper fields are written, and may be left out: ``recent_discards`` (each
seat's last 4 discards in this deal, latest first), ``events`` (the last 64 public events of this deal, oldest first,
as ``[seat, label, red 3s laid]``) with ``num_events``, ``stats`` (counters of behaviour in this deal), ``single_deal`` (the
game is this one deal), and, once the deal is over (phase ``"over"``), ``end`` (``reason``, ``out_seat``).
"""

from hf_env.positions.convert import FORMAT, from_position, rules_value, to_position
from hf_env.positions.schema import PositionError

__all__ = ["FORMAT", "PositionError", "from_position", "rules_value", "to_position"]
