"""The resolved options as attributes, and the numbers that follow from them (Rule 2, 4, 7, 9, and 12)."""

from .cards import NAMES, RANK_NAMES, WILDS, book_type, by_deal, target_of

# The house rules of Rule 12 at their defaults: the game as it stands without them.
DEFAULTS = {
    "red3": "lay",
    "upcard": True,
    "opening_by": "deal",
    "opening_totals": [[0, 50]],
    "opening_books": False,
    "opening_meld": "any",
    "opening_waived": [],
    "take_opens": "after",
    "melds_a_rank": "reopen",
    "freeze_by": [],
    "wild_discard_freezes": False,
    "wilds_by_size": [1, 1, 1, 2, 2],
    "books_any": 0,
    "clean_as_dirty": False,
    "required_ranks": [],
    "rank_books": {},
    "take_min": 1,
    "last_round": "none",
    "floating": False,
    "foot_after_discard": "next_turn",
    "short_draw": "ends",
    "max_reshuffles": None,
    "black3_melds": "never",
    "no_discard": [],
    "sevens_unfinished": 0,
    "sevens_held": 0,
    "twos_book": None,
    "jokers_book": None,
    "red3_bonus": [],
    "red3_unopened": "plus",
    "packets": None,
}
HIGH = ("eight", "nine", "ten", "jack", "queen", "king")
LOW = ("four", "five", "six", "seven")
TAKE_KEYS = {
    "natural_pair": ("natural_pair",),
    "natural_and_wild": ("natural_pair", "natural_and_wild"),
    "any_meld": ("natural_pair", "natural_and_wild", "own_meld"),
}


def rank_char(name):
    """The character of a rank that an option gives by its name, such as "seven"."""
    return RANK_NAMES.get(name, name)


class Values:
    """What can be read off the options alone."""

    def __init__(self, rules):
        self.__dict__.update(DEFAULTS)
        self.__dict__.update(rules)
        self.card_values = {card: self._card_value(name) for card, name in NAMES.items()} | {"r": 0}

    # ------------------------------------------------------------------------------------- Rule 2, seats

    def side_of(self, seat):
        return seat % self.num_sides()

    def num_sides(self):
        return {"pairs": self.players // 2, "threes": 2, "fours": 2, "alone": self.players}[self.seating]

    # ------------------------------------------------------------------------------------ Rule 3, packets

    def packet_sizes(self):
        """Hand and foot, or hand, knee and foot (12 `packets`)."""
        return tuple(self.packets) if self.packets else (self.hand_size, self.foot_size)

    def keeps_red3s(self):
        """12 `red3`: is a red 3 a card like others that nobody lays?"""
        return self.red3 == "penalty"

    # ------------------------------------------------------------------------------------ Rule 4, opening

    def opening_minimum(self, deal, total=0):
        """The minimum of a side whose total at the start of the deal is this."""
        if self.opening_by == "total":
            return self._minimum_by_total(total)
        if self.opening_tail == "cycle":
            return self.opening[(deal - 1) % len(self.opening)]
        return by_deal(self.opening, deal)

    def _minimum_by_total(self, total):
        """12 `opening_by`: the last entry that is not above the total; below the first entry, the first."""
        reached = [minimum for at_least, minimum in self.opening_totals if at_least <= total]
        return reached[-1] if reached else self.opening_totals[0][1]

    def opening_worth(self, melds, books):
        """12.5: what the cards that lie there have reached toward the minimum."""
        worth = sum(self._opening_value(cards) for cards in (*melds.values(), *books))
        if self.opening_books:
            worth += sum(self.book_bonus(book) for book in books)
        return worth

    def _opening_value(self, cards):
        if self.opening_meld == "naturals":  # 12 `opening_meld`: points of natural cards only
            cards = [card for card in cards if card not in WILDS]
        return self.value(cards)

    # ---------------------------------------------------------------------------------- Rule 5, taking

    def take_keys(self):
        """The keys that hold; 12 `take_key`: a list names them itself."""
        return self.take_key if isinstance(self.take_key, (list, tuple)) else TAKE_KEYS[self.take_key]

    def freezing(self):
        """The cards that freeze the pile where they lie in it; 12.14: the old option adds the wilds."""
        cards = {"wild": WILDS, "red3": "r", "black3": "b"}
        kinds = {*self.freeze_by, *(["wild"] if self.wild_discard_freezes else [])}
        return {card for kind in kinds for card in cards[kind]}

    # -------------------------------------------------------------------------------- Rule 7, the quota

    def quota(self, deal):
        books = self.books_to_go_out
        if isinstance(books[0], (list, tuple)):
            books = by_deal(books, deal)
        return dict(zip(("clean", "dirty", "wild"), books, strict=True))

    def quota_met(self, deal, books):
        types = [book_type(book) for book in books]
        counts = tuple(types.count(name) for name in ("clean", "dirty", "wild"))
        ranks = {target_of(book) for book in books}
        return self.counts_met(deal, counts) and ranks >= self.ranks_needed()

    def ranks_needed(self):
        """12 `required_ranks`: ranks of which there must be a book of any kind."""
        return {rank_char(name) for name in self.required_ranks}

    def counts_met(self, deal, counts):
        """Are these numbers of clean, dirty and wild books enough? See 12.30."""
        clean, dirty, wild = counts
        need = self.quota(deal)
        if self.clean_as_dirty:
            dirty += max(0, clean - need["clean"])
        if sum(counts) < sum(need.values()) + self.books_any:
            return False
        return clean >= need["clean"] and dirty >= need["dirty"] and wild >= need["wild"]

    # ------------------------------------------------------------------------- Rule 6, discards kept back

    def barred_discards(self):
        """12 `no_discard`."""
        cards = {"wild": WILDS, "seven": "7", "ace": "A"}
        return "".join(cards[kind] for kind in self.no_discard)

    # --------------------------------------------------------------------------------- Rule 1, 9, points

    def value(self, cards):
        """Card points. A red 3 has no card value."""
        return sum(self.card_values[card] for card in cards)

    def _card_value(self, name):
        """12.22: a single rank wins over `high` and `low`."""
        if self.points.get(name) is not None:
            return self.points[name]
        return self.points["high" if name in HIGH else "low"]

    def book_bonus(self, book):
        kind, rank = book_type(book), target_of(book)
        if kind == "wild":
            return self._wild_book_bonus(book)
        for name, bonuses in self.rank_books.items():  # 12.31: before sevens_book
            if rank_char(name) == rank and bonuses.get(kind) is not None:
                return bonuses[kind]
        if kind == "clean" and rank == "7" and self.sevens_book is not None:
            return self.sevens_book
        return self.clean_book if kind == "clean" else self.dirty_book

    def _wild_book_bonus(self, book):
        """12.21: books of 2s alone and of jokers alone may have their own bonus."""
        if set(book) == {"2"} and self.twos_book is not None:
            return self.twos_book
        if set(book) == {"*"} and self.jokers_book is not None:
            return self.jokers_book
        return self.wild_book

    def red3_points(self, number, opened):
        """What the laid red 3s of a side count."""
        if self.keeps_red3s():  # 12 `red3`: there are none, and no bonus for them
            return 0
        bonus = 0
        for at_least, points in self.red3_bonus:
            if number >= at_least:
                bonus = points
        points = self.red3_laid * number + bonus
        if opened or self.red3_unopened == "plus":
            return points
        return 0 if self.red3_unopened == "zero" else -abs(points)  # 12.13
