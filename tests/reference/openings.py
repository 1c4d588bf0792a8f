"""Whether an opening is complete and whether it can still be completed (Rule 4, 12.4 to 12.7, 12.27)."""

from dataclasses import dataclass
from functools import cache

from .cards import TARGETS, book_type, canonical


@dataclass(frozen=True)
class Opening:
    """What an opening must reach.

    `total` is the side's at the start of the deal, `owed` the number of cards of a take that come when it is complete,
    `packet_follows` whether the player has a packet to pick up, `keep` how many cards of the hand must be left at the end.
    """

    deal: int
    total: int
    owed: int = 0
    packet_follows: bool = True
    keep: int = 0


def is_complete(options, opening, hand, melds, books):
    """12.6: the minimum is reached or a waiver holds, with these cards on the table and this hand left."""
    if options.opening_worth(melds, books) >= options.opening_minimum(opening.deal, opening.total):
        return True
    return _waived(options, opening, _has_clean_book(books), len(hand))


def _has_clean_book(books):
    return any(book_type(book) == "clean" for book in books)


def _waived(options, opening, clean_book, cards_left):
    """12 `opening_waived`: does one of the waivers hold?"""
    if "clean_book" in options.opening_waived and clean_book:
        return True
    emptied = cards_left == 0 and opening.owed == 0 and opening.packet_follows
    return "empty_hand" in options.opening_waived and emptied


def can_complete(options, opening, hand, melds, books):
    """Can lay-downs from the hand still complete the opening of which something lies there?"""
    plain = not options.opening_books and options.opening_meld == "any" and not options.opening_waived
    if plain and opening.keep == 0:
        return options.can_reach(opening.deal, hand, melds, books, options.opening_worth(melds, books), opening.total)
    minimum = options.opening_minimum(opening.deal, opening.total)
    for (left, clean_book), worth in _ends(options, canonical(hand), melds, books).items():
        complete = worth >= minimum or _waived(options, opening, clean_book, left)
        if complete and left >= opening.keep:
            return True
    return False


def _ends(options, hand, melds, books):
    """The most that can lie on the table, by (cards left in the hand, two for two or more; is there a clean book?)."""
    one = options.opening_meld == "one"  # 12.7: nothing but additions to the meld that was begun

    @cache
    def search(number, twos, jokers):
        if number == len(TARGETS):
            return {(min(2, twos + jokers + hand.count("b") + hand.count("r")), False): 0}
        found = {}
        target = TARGETS[number]
        for naturals, twos2, jokers2, meld, own in options.outcomes_on(target, hand, (twos, jokers), melds, books, one):
            worth = options.opening_worth({target: meld} if meld else {}, own)
            clean = _has_clean_book(own)
            for (left, clean_elsewhere), more in search(number + 1, twos2, jokers2).items():
                key = (min(2, left + naturals), clean or clean_elsewhere)
                found[key] = max(found.get(key, worth + more), worth + more)
        return found

    return search(0, hand.count("2"), hand.count("*"))
