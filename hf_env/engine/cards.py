"""Kinds of cards and their numbers. Suits matter only for the colour of 3s, so a card is one of 15 kinds.

Rule: docs/rules.md 1.
"""

KIND_CHARS = "456789TJQKA2*br"
NUM_KINDS = len(KIND_CHARS)

# Natural ranks are kinds 0..10; on the table the wild meld stands at index WILD of the same arrays.
NUM_NATURALS = 11
WILD = 11
NUM_MELDS = 12

SEVEN = KIND_CHARS.index("7")
ACE = KIND_CHARS.index("A")
TWO = KIND_CHARS.index("2")
JOKER = KIND_CHARS.index("*")
BLACK3 = KIND_CHARS.index("b")
RED3 = KIND_CHARS.index("r")

# Cards of each kind in one deck of 52 cards and 2 jokers, rules.md 1.1.
CARDS_PER_DECK = (4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 2, 2, 2)
DECK_SIZE = 54

MAX_DECKS = 8
MAX_CARDS = MAX_DECKS * DECK_SIZE
MAX_SEATS = 6
# The smallest book has 3 cards, so no deal can hold more books than this.
MAX_BOOKS = MAX_CARDS // 3


def parse_cards(text: str) -> list[int]:
    """Kinds of a card string such as ``"KKK2*"``, in the order written.

    Raises:
        ValueError: Naming the first character that is no card.
    """
    kinds = []
    for character in text:
        kind = KIND_CHARS.find(character)
        if kind < 0:
            raise ValueError(f"{character!r} in {text!r} is no card; cards are {' '.join(KIND_CHARS)}")
        kinds.append(kind)
    return kinds


def format_cards(kinds) -> str:
    """Card string of an iterable of kinds, in the order given."""
    return "".join(KIND_CHARS[int(kind)] for kind in kinds)


def format_counts(counts) -> str:
    """Card string of counts by kind (length up to 15), in the canonical order of kinds."""
    return "".join(KIND_CHARS[kind] * int(count) for kind, count in enumerate(counts))
