"""What lay-downs from a hand can lead to: the most points, and going out.

Whether a lay-down on one rank fits depends on that rank's meld and books and on the cards in the hand only. So
lay-downs on different ranks can be put in any order, and it is enough to look at the ranks one after the other
(the wild meld last), each time at everything that can become of that rank. They share only the wilds.
"""

from functools import cache

from .cards import LAYDOWNS, LAYDOWNS_ON, TARGETS, book_type, canonical, target_of, without


class Searches:
    """The searches of `Options`, which gives them `lay`, `value` and the options themselves."""

    def _outcomes(self, target, naturals, twos, jokers, meld, books, adds_only=False):
        """Everything that lay-downs on one target can lead to, none at all included.

        `naturals` of the rank, `twos` and `jokers` are in the hand, `meld` is the open meld ("" if none), `books` the
        books of the target; with `adds_only` no new meld is started. Gives a set of (naturals, twos, jokers, meld, books).
        """
        labels = [label for label in LAYDOWNS_ON[target] if label.startswith("add") or not adds_only]
        start = (naturals, twos, jokers, meld, books)
        found, todo = {start}, [start]
        while todo:
            naturals, twos, jokers, meld, books = todo.pop()
            hand = ("" if target == "wild" else target * naturals) + "2" * twos + "*" * jokers
            for label in labels:
                left = without(hand, LAYDOWNS[label][1])
                if left is None:
                    continue
                after = self.lay(label, {target: meld} if meld else {}, books)
                if after is None:
                    continue
                twos_left, jokers_left = left.count("2"), left.count("*")
                state = (len(left) - twos_left - jokers_left, twos_left, jokers_left, after[0].get(target, ""), tuple(after[1]))
                if state not in found:
                    found.add(state)
                    todo.append(state)
        return frozenset(found)

    def outcomes_on(self, target, hand, wilds, melds, books, adds_only=False):
        """`outcomes` of a target for a hand's cards of its rank, (twos, jokers) still there, and the side's table."""
        naturals = hand.count(target) if target != "wild" else 0
        own = tuple(book for book in books if target_of(book) == target)
        return self.outcomes(target, naturals, *wilds, melds.get(target, ""), own, adds_only)

    def _most_points(self, hand, melds, books):
        """The most card points that lay-downs from the hand can bring onto the table."""
        melds = dict(melds)

        @cache
        def best(number, twos, jokers):
            if number == len(TARGETS):
                return 0
            target = TARGETS[number]
            naturals = hand.count(target) if target != "wild" else 0
            most = 0
            for left, twos2, jokers2, _, _ in self.outcomes_on(target, hand, (twos, jokers), melds, books):
                points = self.value("2" * (twos - twos2) + "*" * (jokers - jokers2))
                if target != "wild":
                    points += self.value(target * (naturals - left))
                most = max(most, points + best(number + 1, twos2, jokers2))
            return most

        return best(0, hand.count("2"), hand.count("*"))

    def can_reach(self, deal, hand, melds, books, laid, total=0):
        """Rule 4, opening: can lay-downs from the hand still bring the points laid to the minimum?"""
        missing = self.opening_minimum(deal, total) - laid
        if missing <= 0:
            return True
        if self.value(hand) < missing:
            return False
        return self.most_points(canonical(hand), tuple(melds.items()), tuple(books)) >= missing

    def can_finish(self, deal, hand, melds, books):
        """Rule 7, binding_both: can lay-downs from the hand (perhaps none) end in going out, nothing else hindering?"""
        needed = self.ranks_needed()

        @cache
        def search(number, twos, jokers, left, counts):
            if left > 1:
                return False
            if number == len(TARGETS):
                left += twos + jokers + hand.count("r")
                return self.counts_met(deal, counts) and self._empties(left, hand.count("b"), "b" in melds)
            target = TARGETS[number]
            for left2, twos2, jokers2, _, own in self.outcomes_on(target, hand, (twos, jokers), melds, books):
                if target in needed and not own:
                    continue
                made = [book_type(book) for book in own]
                counts2 = tuple(have + made.count(name) for have, name in zip(counts, ("clean", "dirty", "wild"), strict=True))
                if search(number + 1, twos2, jokers2, left + left2, counts2):
                    return True
            return False

        return search(0, hand.count("2"), hand.count("*"), 0, (0, 0, 0))

    def _empties(self, others, blacks, black_meld):
        """Can a hand of so many black 3s and others that are not laid be emptied? 12.10: black 3s may be laid last."""
        blacks_left = {blacks}
        if self.black3_melds == "going_out":
            fewest = 1 if black_meld else 3
            blacks_left |= {blacks - laid for laid in range(fewest, blacks + 1)}
        return any(self.ends_with(others + left) for left in blacks_left)

    def ends_with(self, left):
        """Is a hand with so many cards left, of which none can be laid, one to go out with?"""
        return (left == 0 and self.final_discard != "required") or (left == 1 and self.final_discard != "forbidden")
