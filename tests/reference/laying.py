"""What may be laid on a side's table: melds, books, and books that grow (Rule 4, and 12)."""

from functools import lru_cache

from .cards import (
    ALL_LAYDOWNS,
    KINDS,
    LAYDOWNS,
    MELD_ORDER,
    NATURALS,
    TARGETS,
    WILDS,
    book_type,
    by_deal,
    canonical,
    target_of,
    without,
)
from .options import Values
from .searches import Searches

__all__ = ["KINDS", "LAYDOWNS", "NATURALS", "TARGETS", "WILDS", "Options", "book_type", "by_deal", "canonical", "target_of", "without"]


class Options(Values, Searches):
    """The resolved options of Rule 11 and 12 as attributes, and what follows from them."""

    def __init__(self, rules):
        super().__init__(rules)
        self.outcomes = lru_cache(maxsize=200_000)(self._outcomes)
        self.most_points = lru_cache(maxsize=200_000)(self._most_points)

    def wilds_fit(self, cards):
        """May a meld or (grown) book consist of these cards, as far as wilds go?"""
        wilds = sum(card in WILDS for card in cards)
        naturals = len(cards) - wilds
        if wilds == 0 or naturals == 0:
            return True
        if naturals < self.min_naturals:
            return False
        if self.wild_limit == "two_to_one":
            return naturals >= 2 * wilds
        if self.wild_limit == "more_naturals":
            return naturals > wilds
        if self.wild_limit == "equal":
            return naturals >= wilds
        if self.wild_limit == "by_size":  # 12.12: it binds grown books too
            return wilds <= self.wilds_by_size[min(len(cards) - 3, len(self.wilds_by_size) - 1)]
        grown = len(cards) > self.book_size
        return grown or wilds <= self.max_wilds  # at_most does not bind grown books

    def may_start(self, target, books):
        if self.melds_a_rank == "once" and any(target_of(book) == target for book in books):
            return False  # 12.16: for wild melds too
        if target != "wild":
            return True
        if not self.wild_melds:
            return False
        wild_books = sum(book_type(book) == "wild" for book in books)
        return self.wild_book_cap is None or wild_books < self.wild_book_cap

    def place(self, target, cards, melds, books):
        """Put cards on the open meld of the target, or start it with them (three or more cards).

        Gives the new (melds, books), or None if Rule 4 forbids it.
        """
        if target not in melds:
            if len(cards) < 3 or not self.may_start(target, books):
                return None
        meld = canonical(melds.get(target, "") + cards)
        if len(meld) > self.book_size or target_of(meld) != target or not self.wilds_fit(meld):
            return None
        if len(meld) == self.book_size:
            return {key: melds[key] for key in melds if key != target}, [*books, meld]
        return _with_meld(melds, target, meld), list(books)

    def grow(self, target, card, melds, books):
        """Put a card on a book (option add_to_complete): dirty before clean, the earliest completed first."""
        if target in melds or self.add_to_complete == "none":
            return None
        if self.add_to_complete == "naturals" and card not in NATURALS:
            return None
        order = [
            i
            for wanted in ("dirty", "clean", "wild")
            for i, book in enumerate(books)
            if book_type(book) == wanted and target_of(book) == target
        ]
        for i in order:
            if self.add_to_complete == "keep_clean" and book_type(books[i]) == "clean" and card in WILDS:
                continue  # 12.29: a wild goes onto dirty books only
            grown = canonical(books[i] + card)
            if self.wilds_fit(grown):
                return dict(melds), [*books[:i], grown, *books[i + 1 :]]
        return None

    def lay(self, label, melds, books):
        """The new (melds, books) after the lay-down, or None if Rule 4 forbids it. The hand is not looked at."""
        target, cards = ALL_LAYDOWNS[label]
        starts = label.startswith("meld")
        if target == "b":
            return self._lay_black(starts, cards, melds, books)
        if starts and target in melds:
            return None
        if starts or target in melds:
            return self.place(target, cards, melds, books)
        return self.grow(target, cards, melds, books)

    def _lay_black(self, starts, cards, melds, books):
        """12.10: black 3s, without limit and never a book. When they may be laid is not looked at here."""
        if self.black3_melds == "never" or starts == ("b" in melds):
            return None
        return _with_meld(melds, "b", melds.get("b", "") + cards), list(books)


def _with_meld(melds, target, meld):
    """The melds with this one in place of the target's, in their order."""
    changed = melds | {target: meld}
    return {key: changed[key] for key in MELD_ORDER if key in changed}
