"""Records of games (``hf-record/1``): written, read, replayed and verified. JSON Lines, a game a line.

A deal's entry holds ``dealer``, ``deck`` (the shuffled order, docs/rules.md 3.3), ``actions`` (labels), ``reshuffles``
(each order that became the stock) and ``scores`` (each side's, of this deal). Helper fields, which may be left out:
``deal`` (its number from 1; the place in the list where it is left out), ``end`` (``out``, ``stock_draw``, ``stock_red3``,
``max_turns``), and in the record ``single_deal`` (the game is this one deal). A game that was broken off ends with a deal
whose ``scores`` are null.

The record's ``seeds`` is the version of the seeds (hf_env.seeds) under which its ``seed`` gave its cards. A record of
another version than today's, or of before the field was written, is replayed by its own ``dealer``, ``deck`` and
``reshuffles``, which must then be there. Other fields of a record are kept and not looked at; matches add ``match`` and ``forfeit``
(docs/evaluation.md).
"""

from hf_env.records.files import MAX_LINE, line, open_file, read, write
from hf_env.records.recorder import GameRecorder, deck_for
from hf_env.records.replaying import ReplayStep, replay, steps
from hf_env.records.schema import FORMAT, RecordError, has_own_cards

__all__ = [
    "FORMAT",
    "MAX_LINE",
    "GameRecorder",
    "RecordError",
    "ReplayStep",
    "deck_for",
    "has_own_cards",
    "line",
    "open_file",
    "read",
    "replay",
    "steps",
    "write",
]
