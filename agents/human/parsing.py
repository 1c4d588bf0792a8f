"""What a person types, as actions: labels, numbers of the list shown, abbreviations, several cards at once.

Nothing here knows whether a wish is legal; that is the engine's to say. A wish may come to several actions, since a
meld of five cards is a start and two additions.
"""

import re
from collections.abc import Sequence

from hf_env.actions import ACTIONS
from hf_env.engine.cards import JOKER, KIND_CHARS, NUM_NATURALS, TWO
from hf_env.suggest import did_you_mean

NATURALS = KIND_CHARS[:NUM_NATURALS]
_TWO, _JOKER = KIND_CHARS[TWO], KIND_CHARS[JOKER]
# The order decides for a beginning that fits several words: "d" is left to the caller's phase, "a" needs a card.
_VERBS = {
    "draw": ("draw",),
    "take": ("take", "pick"),
    "meld": ("meld", "lay", "start"),
    "add": ("add", "put"),
    "discard": ("discard", "throw"),
    "ask": ("ask",),
    "yes": ("yes",),
    "no": ("no",),
}
# What can be typed beside actions.
QUESTIONS = ("undo", "hint", "table", "list", "help", "why", "quit")
_WORDS = (
    (r"\b(black|red)\s*(3s?|threes?)\b", lambda found: found[1][0]),
    (r"jokers?", _JOKER), (r"\btwos?\b", _TWO), (r"\btens?\b", "T"), (r"\bjacks?\b", "J"), (r"\bqueens?\b", "Q"),
    (r"\bkings?\b", "K"), (r"\baces?\b", "A"), (r"10", "T"), (r"3", "b"),
)  # fmt: skip
_CARD = {character.lower(): character for character in KIND_CHARS}
_ONTO = re.compile(r"\s*(?:->|>|\bto\b|\bonto\b|\bon\b)\s*(?:the\b)?\s*")


class WishError(ValueError):
    """What was typed is no action; the message is one line for the person."""


def split_line(line: str) -> list[str]:
    """The wishes of a line, which are parted by semicolons or commas."""
    return [" ".join(part.split()) for part in re.split(r"[;,]", line) if part.strip()]


def parse_wish(text: str, listed: Sequence[int], *, is_drawing: bool = False) -> list[int]:
    """Action ids, one or more, of one wish such as ``"meld KK2"``, ``"m kkkk"``, ``"add 2>K"``, ``"7"``.

    Args:
        listed: the ids that stand in the list shown, numbered from 1.
        is_drawing: a turn begins, so "d" means draw.

    Raises:
        WishError: For what is no action.
    """
    low = text.lower().strip()
    if low.isdecimal():
        # A number beyond the list may still be cards: 444.
        if 1 <= int(low) <= len(listed):
            return [int(listed[int(low) - 1])]
        if len(low) < 3:
            raise WishError(f"there is no number {low} in the list, which goes to {len(listed)}")
    found = re.match(r"([a-z]+)\b\s*:?\s*(.*)$", low)
    verb = _verb(found[1], is_drawing) if found else None
    if found is None or verb is None:
        return _bare(text, low)
    return [ACTIONS.parse(label) for label in _LABELS[verb](found[2])]


def _verb(word: str, is_drawing: bool) -> str | None:
    """The verb that a word begins, such as "disc"."""
    if word == "d":
        return "draw" if is_drawing else "discard"
    if word == "x":
        return "discard"
    for verb, names in _VERBS.items():
        if any(name.startswith(word) for name in names):
            return verb
    return None


def _bare(text: str, low: str) -> list[int]:
    """Cards without a verb: three or more can only be a meld."""
    try:
        cards = _cards(low)
    except WishError:
        hint = did_you_mean(low.partition(" ")[0], [*sum(_VERBS.values(), ()), *QUESTIONS])
        raise WishError(f"{text[:40]!r} is nothing that can be done here{hint}") from None
    if len(cards) < 3:
        raise WishError(f"what is to be done with {cards}? say so, as: discard {cards[-1:]}")
    return [ACTIONS.parse(label) for label in _meld(low)]


def _cards(text: str) -> str:
    """The cards of a text, in the order written.

    Raises:
        WishError: For what is no card.
    """
    for pattern, card in _WORDS:
        text = re.sub(pattern, card, text)
    cards = ""
    for character in re.sub(r"[\s+&]|\band\b", "", text):
        if character.lower() not in _CARD:
            raise WishError(f"{character!r} is no card; cards are {' '.join(KIND_CHARS[:-2])} and b, the black 3")
        cards += _CARD[character.lower()]
    return cards


def _ranked(cards: str) -> tuple[str, int, int, int]:
    """Rank ("" for wilds only), naturals, 2s and jokers of cards of one meld.

    Raises:
        WishError: For another mixture.
    """
    ranks = sorted(set(cards) - {_TWO, _JOKER}, key=KIND_CHARS.index)
    if any(rank not in NATURALS for rank in ranks):
        raise WishError("3s are never melded")
    if len(ranks) > 1:
        raise WishError(f"{cards} are of {len(ranks)} ranks, and a meld has one; part wishes with ; as in meld KKK; add 5")
    rank = ranks[0] if ranks else ""
    return rank, cards.count(rank) if rank else 0, cards.count(_TWO), cards.count(_JOKER)


def _meld(rest: str) -> list[str]:
    cards = _cards(rest)
    rank, naturals, twos, jokers = _ranked(cards)
    if naturals + twos + jokers < 3:
        raise WishError(f"a meld begins with 3 cards, as meld KKK or meld KK2{f'; {cards} are too few' if cards else ''}")
    first = min(naturals, 3)
    first_twos = min(twos, 3 - first)
    first_jokers = 3 - first - first_twos
    start = f"meld {rank * first}{_TWO * first_twos}{_JOKER * first_jokers}"
    return [start, *_additions(rank, naturals - first, twos - first_twos, jokers - first_jokers)]


def _additions(rank: str, naturals: int, twos: int, jokers: int) -> list[str]:
    onto = f">{rank}" if rank else ""
    return [f"add {rank}"] * naturals + [f"add {_TWO}{onto}"] * twos + [f"add {_JOKER}{onto}"] * jokers


def _add(rest: str) -> list[str]:
    cards, *onto = _ONTO.split(rest, maxsplit=1)
    cards = _cards(cards)
    if not cards:
        raise WishError("which card is to be added? as: add K, add 2>K, or add 2 for the wild meld")
    if onto:
        return _add_onto(cards, onto[0])
    naturals = [card for card in cards if card not in (_TWO, _JOKER)]
    if naturals and len(naturals) < len(cards):
        raise WishError(f"where to with the wild card? as: add 2>{naturals[0]}, or add 2 for the wild meld")
    for card in naturals:
        _ranked(card)
    return [f"add {card}" for card in cards]


def _add_onto(cards: str, target: str) -> list[str]:
    where = re.sub(r"\b(wilds?|melds?|of|s)\b", "", target).strip()
    rank = _ranked(_cards(where))[0] if where else ""
    held, naturals, twos, jokers = _ranked(cards)
    if held not in ("", rank):
        raise WishError(f"{held} does not go onto a meld of {rank or 'wilds'}")
    return _additions(rank, naturals, twos, jokers)


def _discard(rest: str) -> list[str]:
    cards = _cards(rest)
    if len(cards) != 1:
        raise WishError("one card is discarded, as: discard 5")
    if cards == KIND_CHARS[-1]:
        raise WishError("a red 3 is never in a hand, so it cannot be discarded")
    return [f"discard {cards}"]


def _take(rest: str) -> list[str]:
    if re.search(r"meld|>", rest):
        return ["take>meld"]
    cards = _cards(re.sub(r"\b(with|the|an?|discards?|pile|pair|up)\b", "", rest))
    wilds = [card for card in cards if card in (_TWO, _JOKER)]
    return [f"take+{wilds[0]}" if len(wilds) == 1 else "take"]


def _single(verb: str):
    def labels(rest: str) -> list[str]:
        return [verb]

    return labels


_LABELS = {"meld": _meld, "add": _add, "discard": _discard, "take": _take} | {verb: _single(verb) for verb in ("draw", "ask", "yes", "no")}
