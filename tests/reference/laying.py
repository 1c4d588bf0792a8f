"""Cards, melds and books of one side (Rule 1, Rule 4), and the two searches over lay-downs from a hand.

A card is one character, a set of cards a string in the order of KINDS. A side's table is `melds`, a dict
from a rank (or "wild") to the cards of the unfinished meld, and `books`, a list of strings in order of completion.
"""

from functools import cache, lru_cache

NATURALS = "456789TJQKA"
WILDS = "2*"
KINDS = NATURALS + WILDS + "br"
TARGETS = (*NATURALS, "wild")  # what a card can be laid on: a meld of a rank, or the wild meld

_POINTS_KEY = {"*": "joker", "2": "two", "A": "ace", "b": "black3"}
_POINTS_KEY.update(dict.fromkeys("4567", "low"))
_POINTS_KEY.update(dict.fromkeys("89TJQK", "high"))


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


# ---------------------------------------------------------------------------------------------- options


class Options:
    """The resolved options of Rule 11 as attributes, and what follows from them."""

    def __init__(self, rules):
        self.__dict__.update(rules)
        self.outcomes = lru_cache(maxsize=200_000)(self._outcomes)
        self.most_points = lru_cache(maxsize=200_000)(self._most_points)

    def side_of(self, seat):
        if self.seating == "pairs":
            return seat % (self.players // 2)
        if self.seating == "threes":
            return seat % 2
        return seat

    def num_sides(self):
        return len({self.side_of(seat) for seat in range(self.players)})

    def opening_minimum(self, deal):
        if self.opening_tail == "cycle":
            return self.opening[(deal - 1) % len(self.opening)]
        return by_deal(self.opening, deal)

    def quota(self, deal):
        books = self.books_to_go_out
        if isinstance(books[0], (list, tuple)):
            books = by_deal(books, deal)
        return dict(zip(("clean", "dirty", "wild"), books, strict=True))

    def quota_met(self, deal, books):
        types = [book_type(book) for book in books]
        return all(types.count(name) >= number for name, number in self.quota(deal).items())

    def value(self, cards):
        """Card points. A red 3 has no card value."""
        return sum(self.points[_POINTS_KEY[card]] for card in cards if card != "r")

    # ------------------------------------------------------------------------------------- Rule 4, melds

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
        grown = len(cards) > self.book_size
        return grown or wilds <= self.max_wilds  # at_most does not bind grown books

    def may_start(self, target, books):
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
        others = {key: melds[key] for key in melds if key != target}
        if len(meld) == self.book_size:
            return others, [*books, meld]
        others[target] = meld
        return {key: others[key] for key in TARGETS if key in others}, list(books)

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
            grown = canonical(books[i] + card)
            if self.wilds_fit(grown):
                return dict(melds), [*books[:i], grown, *books[i + 1 :]]
        return None

    def lay(self, label, melds, books):
        """The new (melds, books) after the lay-down, or None if Rule 4 forbids it. The hand is not looked at."""
        target, cards = LAYDOWNS[label]
        if label.startswith("meld"):
            if target in melds:
                return None
            return self.place(target, cards, melds, books)
        if target in melds:
            return self.place(target, cards, melds, books)
        return self.grow(target, cards, melds, books)

    # ------------------------------------------------------------------------------------------ searches
    #
    # Whether a lay-down on one rank fits depends on that rank's meld and books and on the cards in the hand only. So
    # lay-downs on different ranks can be put in any order, and it is enough to look at the ranks one after the other
    # (the wild meld last), each time at everything that can become of that rank. They share only the wilds.

    def _outcomes(self, target, naturals, twos, jokers, meld, books):
        """Everything that lay-downs on one target can lead to, none at all included.

        `naturals` of the rank, `twos` and `jokers` are in the hand, `meld` is the open meld ("" if none), `books` the
        books of the target. Gives a set of (naturals, twos, jokers, meld, books).
        """
        start = (naturals, twos, jokers, meld, books)
        found, todo = {start}, [start]
        while todo:
            naturals, twos, jokers, meld, books = todo.pop()
            hand = ("" if target == "wild" else target * naturals) + "2" * twos + "*" * jokers
            for label in LAYDOWNS_ON[target]:
                left = without(hand, LAYDOWNS[label][1])
                if left is None:
                    continue
                after = self.lay(label, {target: meld} if meld else {}, books)
                if after is None:
                    continue
                state = (
                    len(left) - left.count("2") - left.count("*"),
                    left.count("2"),
                    left.count("*"),
                    after[0].get(target, ""),
                    tuple(after[1]),
                )
                if state not in found:
                    found.add(state)
                    todo.append(state)
        return frozenset(found)

    def _most_points(self, hand, melds, books):
        """The most card points that lay-downs from the hand can bring onto the table."""
        melds = dict(melds)

        @cache
        def best(number, twos, jokers):
            if number == len(TARGETS):
                return 0
            target = TARGETS[number]
            own = tuple(book for book in books if target_of(book) == target)
            naturals = hand.count(target) if target != "wild" else 0
            most = 0
            for left, twos2, jokers2, _, _ in self.outcomes(target, naturals, twos, jokers, melds.get(target, ""), own):
                points = self.value("2" * (twos - twos2) + "*" * (jokers - jokers2))
                if target != "wild":
                    points += self.value(target * (naturals - left))
                most = max(most, points + best(number + 1, twos2, jokers2))
            return most

        return best(0, hand.count("2"), hand.count("*"))

    def can_reach(self, deal, hand, melds, books, laid):
        """Rule 4, opening: can lay-downs from the hand still bring the points laid to the minimum?"""
        missing = self.opening_minimum(deal) - laid
        if missing <= 0:
            return True
        if self.value(hand) < missing:
            return False
        return self.most_points(canonical(hand), tuple(melds.items()), tuple(books)) >= missing

    def can_finish(self, deal, hand, melds, books):
        """Rule 7, binding_both: can lay-downs from the hand (perhaps none) end in going out, nothing else hindering?"""
        quota = self.quota(deal)
        need = tuple(quota.values())

        @cache
        def search(number, twos, jokers, left, types):
            if left > 1:
                return False
            if number == len(TARGETS):
                left += twos + jokers + hand.count("b")
                if any(have < wanted for have, wanted in zip(types, need, strict=True)):
                    return False
                return (left == 0 and self.final_discard != "required") or (left == 1 and self.final_discard != "forbidden")
            target = TARGETS[number]
            own = tuple(book for book in books if target_of(book) == target)
            naturals = hand.count(target) if target != "wild" else 0
            for left2, twos2, jokers2, _, own2 in self.outcomes(target, naturals, twos, jokers, melds.get(target, ""), own):
                made = [book_type(book) for book in own2]
                types2 = tuple(have + made.count(name) for have, name in zip(types, quota, strict=True))
                if search(number + 1, twos2, jokers2, left + left2, types2):
                    return True
            return False

        return search(0, hand.count("2"), hand.count("*"), 0, (0, 0, 0))


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
