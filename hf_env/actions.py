"""The one table of actions: id <-> label. Every rule set uses the same 127 ids and only masks some of them.

A larger lay-down is a start of three cards and additions; a turn is a chain of such actions by one agent.
"""

from collections.abc import Iterable, Iterator

from hf_env.engine import action_ids as ids
from hf_env.engine.cards import JOKER, KIND_CHARS, NUM_NATURALS, TWO
from hf_env.suggest import did_you_mean

ACTIONS_VERSION = 1

_MEANINGS = (
    (ids.DRAW, ids.DRAW + 1, "draw", "draw from the stock (also when that ends the deal)"),
    (ids.TAKE, ids.TAKE + 1, "take", "take from the discard pile with a pair of the top card"),
    (ids.TAKE_TWO, ids.TAKE_JOKER + 1, "take+2, take+*", "take with one natural and a wild"),
    (ids.TAKE_MELD, ids.TAKE_MELD + 1, "take>meld", "take, the top card straight onto the open meld"),
    (ids.MELD, ids.MELD_WILD, "meld KK2", "start a meld of a natural rank with 3 cards"),
    (ids.MELD_WILD, ids.ADD, "meld 22*", "start a wild meld"),
    (ids.ADD, ids.ADD_TWO, "add K", "add one natural to the side's meld of its rank"),
    (ids.ADD_TWO, ids.ADD_TWO_WILD, "add 2>K", "add a wild to the meld of that rank"),
    (ids.ADD_TWO_WILD, ids.ASK, "add 2", "add to the wild meld"),
    (ids.ASK, ids.DISCARD, "ask, yes, no", "ask to go out; a partner's answer"),
    (ids.DISCARD, ids.NUM_ACTIONS, "discard K", "discard one card, which ends the turn"),
)


def _labels() -> list[str]:
    naturals = KIND_CHARS[:NUM_NATURALS]
    two, joker = KIND_CHARS[TWO], KIND_CHARS[JOKER]
    labels = ["draw", "take", "take+2", "take+*", "take>meld"]
    for rank in naturals:
        for n, twos, jokers in zip(ids.PATTERN_NATURALS, ids.PATTERN_TWOS, ids.PATTERN_JOKERS, strict=True):
            labels.append(f"meld {rank * int(n)}{two * int(twos)}{joker * int(jokers)}")
    labels += [f"meld {two * (3 - jokers)}{joker * jokers}" for jokers in range(ids.NUM_WILD_PATTERNS)]
    labels += [f"add {rank}" for rank in naturals]
    labels += [f"add {two}>{rank}" for rank in naturals]
    labels += [f"add {joker}>{rank}" for rank in naturals]
    labels += [f"add {two}", f"add {joker}", "ask", "yes", "no"]
    labels += [f"discard {kind}" for kind in KIND_CHARS[: ids.NUM_DISCARDS]]
    return labels


class ActionTable:
    """The table of actions; ``ACTIONS`` is its only instance. ``len(ACTIONS)`` is 127; iterating gives the labels."""

    def __init__(self) -> None:
        self._labels = tuple(_labels())
        self._ids = {label: number for number, label in enumerate(self._labels)}

    def __len__(self) -> int:
        return len(self._labels)

    def __iter__(self) -> Iterator[str]:
        return iter(self._labels)

    def label(self, action: int) -> str:
        """Label of an action id, such as ``"meld KK2"``.

        Raises:
            ValueError: For a number that is no action.
        """
        if not 0 <= int(action) < len(self._labels):
            raise ValueError(f"action {action} does not exist; actions are 0 to {len(self._labels) - 1}")
        return self._labels[int(action)]

    def parse(self, label: str) -> int:
        """Id of a label.

        Raises:
            ValueError: For a text that is no label.
        """
        number = self._ids.get(" ".join(str(label).split()))
        if number is None:
            hint = did_you_mean(label, self._labels)
            raise ValueError(f"{label!r} is no action; actions are such as draw, take, meld KK2, add 2>K, ask, discard 5{hint}")
        return number

    def legal(self, action_mask: Iterable[int]) -> list[str]:
        """Labels of the legal actions of a mask (127,), in the order of their ids.

        Raises:
            ValueError: For a mask of another length.
        """
        mask = list(action_mask)
        if len(mask) != len(self._labels):
            raise ValueError(f"a mask has {len(self._labels)} entries, this one {len(mask)}")
        return [label for label, is_legal in zip(self._labels, mask, strict=True) if is_legal]

    def meaning(self, action: int) -> str:
        """One line on what an action does.

        Raises:
            ValueError: For a number that is no action.
        """
        self.label(action)
        return next(meaning for first, end, _, meaning in _MEANINGS if first <= action < end)

    def families(self) -> tuple[tuple[int, int, str, str], ...]:
        """(first id, end id, example label, meaning) of each family, for documentation."""
        return _MEANINGS


ACTIONS = ActionTable()
