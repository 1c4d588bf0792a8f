"""Cards, the names of ranks, and the labels of lay-downs (Rule 1, Rule 4).

A card is one character, a set of cards a string in the order of KINDS. A side's table is `melds`, a dict
from a rank (or "wild", or "b" for black 3s) to the cards of the unfinished meld, and `books`, a list of strings in order
of completion.
"""

NATURALS = "456789TJQKA"
WILDS = "2*"
KINDS = NATURALS + WILDS + "br"
TARGETS = (*NATURALS, "wild")  # what a card can be laid on: a meld of a rank, or the wild meld
MELD_ORDER = (*TARGETS, "b")  # 12 `black3_melds`: black 3s too, but they are never a book

RANK_NAMES = dict(zip(("four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king", "ace"), NATURALS, strict=True))
NAMES = {char: name for name, char in RANK_NAMES.items()} | {"*": "joker", "2": "two", "b": "black3"}


def canonical(cards):
    return "".join(sorted(cards, key=KINDS.index))


def without(cards, removed):
    """`cards` less those of `removed`; None if they do not hold them all."""
    left = list(cards)
    for card in removed:
        if card not in left:
            return None
        left.remove(card)
    return "".join(left)


def target_of(cards):
    """The rank of a meld or book, or "wild"."""
    ranks = {card for card in cards if card in NATURALS}
    assert len(ranks) <= 1 and all(card in NATURALS or card in WILDS for card in cards), cards
    return ranks.pop() if ranks else "wild"


def book_type(cards):
    wilds = sum(card in WILDS for card in cards)
    if wilds == len(cards):
        return "wild"
    return "dirty" if wilds else "clean"


def by_deal(value, deal):
    """The entry of a deal (from 1) of an option that may be a list; the last entry holds for later deals."""
    if isinstance(value, (list, tuple)):
        return value[min(deal, len(value)) - 1]
    return value


# ----------------------------------------------------------------------------------------------- labels


def _laydowns():
    """Every lay-down's label, with its target and the cards that it takes from the hand."""
    labels = {}
    for rank in NATURALS:
        for rest in (rank * 2, rank + "2", rank + "*", "22", "2*", "**"):
            labels[f"meld {rank}{rest}"] = (rank, rank + rest)
        labels[f"add {rank}"] = (rank, rank)
        for wild in WILDS:
            labels[f"add {wild}>{rank}"] = (rank, wild)
    for cards in ("222", "22*", "2**", "***"):
        labels[f"meld {cards}"] = ("wild", cards)
    for wild in WILDS:
        labels[f"add {wild}"] = ("wild", wild)
    return labels


LAYDOWNS = _laydowns()
LAYDOWNS_ON = {target: [label for label in LAYDOWNS if LAYDOWNS[label][0] == target] for target in TARGETS}
BLACK_LAYDOWNS = {"meld bbb": ("b", "bbb"), "add b": ("b", "b")}
ALL_LAYDOWNS = LAYDOWNS | BLACK_LAYDOWNS
