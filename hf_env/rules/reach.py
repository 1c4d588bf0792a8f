"""How far play can get under a rule set: upper bounds, from the counts of cards alone.

A bound may be generous (it forgets, say, that the other sides hold cards too) but never too small, so that nothing
playable is refused. Rule: docs/rules.md 10.
"""

from typing import TYPE_CHECKING

from hf_env.engine.cards import CARDS_PER_DECK, DECK_SIZE, JOKER, NUM_NATURALS, TWO

if TYPE_CHECKING:
    from hf_env.rules.ruleset import RuleSet

SMALLEST_MELD = 3
_HIGH_RANKS, _LOW_RANKS = 6, 4
_UNLIMITED = 10_000


def naturals_of_a_rank(rules: "RuleSet") -> int:
    """Cards of each natural rank in play."""
    return CARDS_PER_DECK[0] * rules.decks


def wilds_in_play(rules: "RuleSet") -> int:
    """2s and jokers in play."""
    return (CARDS_PER_DECK[TWO] + CARDS_PER_DECK[JOKER]) * rules.decks


def wilds_allowed(rules: "RuleSet", size: int) -> int:
    """Most wilds in a meld of `size` cards (from 3) of a natural rank. Rule: docs/rules.md 4.7."""
    most = {"two_to_one": size // 3, "more_naturals": (size - 1) // 2, "at_most": rules.max_wilds}[rules.wild_limit]
    return max(0, min(most, size - rules.min_naturals))


def fewest_wilds(rules: "RuleSet", clean: int, dirty: int) -> int | None:
    """Wilds that `clean` clean and `dirty` dirty books together need at least; None where no cards suffice."""
    # best[c, d]: fewest wilds for c clean and d dirty books of the ranks looked at so far.
    best = {(0, 0): 0}
    choices = _books_of_one_rank(rules, clean, dirty)
    for _ in range(NUM_NATURALS):
        after: dict[tuple[int, int], int] = {}
        for (c, d), wilds in best.items():
            for (more_c, more_d), cost in choices.items():
                key = min(c + more_c, clean), min(d + more_d, dirty)
                after[key] = min(after.get(key, _UNLIMITED), wilds + cost)
        best = after
        if best.get((clean, dirty)) == dirty:  # cannot be fewer: every dirty book holds one
            break
    return best.get((clean, dirty))


def _books_of_one_rank(rules: "RuleSet", clean: int, dirty: int) -> dict[tuple[int, int], int]:
    """For each number of clean and dirty books, up to those asked, that one rank can supply: the fewest wilds."""
    size, naturals = rules.book_size, naturals_of_a_rank(rules)
    choices = {}
    for c in range(min(clean, naturals // size) + 1):
        for d in range(dirty + 1):
            cost = _dirty_cost(rules, naturals - c * size, d)
            if cost is not None:
                choices[c, d] = cost
    return choices


def _dirty_cost(rules: "RuleSet", naturals: int, count: int) -> int | None:
    """Fewest wilds in `count` dirty books of one rank, of which `naturals` are left for them."""
    size, allowed = rules.book_size, wilds_allowed(rules, rules.book_size)
    if count == 0:
        return 0
    if allowed:
        possible = count * (size - allowed) <= naturals
        return max(count, count * size - naturals) if possible else None
    if rules.add_to_complete != "any":
        return None
    # Only a finished clean book can become dirty: it grows to min_naturals first if need be. Wilds go to the earliest
    # dirty book while it can hold more, so a second one comes only after the first is full.
    grown = max(size, rules.min_naturals)
    full = {"two_to_one": grown // 2, "more_naturals": grown - 1, "at_most": _UNLIMITED}[rules.wild_limit]
    cost = (count - 1) * full + 1
    return cost if count * grown <= naturals and cost <= wilds_in_play(rules) else None


def most_cards_of_a_side(rules: "RuleSet", deal: int) -> int:
    """Meldable cards that one side can have on the table at most."""
    draw = rules.draw_count(deal)
    stock = DECK_SIZE * rules.decks - rules.players * (rules.hand_size + rules.foot_size) - 1
    turns, gain = rules.max_turns, draw
    if rules.take_count == "all":
        gain = _UNLIMITED
    elif rules.take_count:
        gain = max(draw, rules.take_count)
    elif rules.stock_out == "end_deal":
        turns = min(turns, stock // draw)
    side_turns = -(-turns // rules.num_sides)
    replaced_red3s = 2 * rules.decks
    # Each turn before the last ends with a discard.
    dealt = rules.seats_per_side * (rules.hand_size + rules.foot_size)
    got = dealt + gain * side_turns - (side_turns - 1) + replaced_red3s
    meldable = NUM_NATURALS * naturals_of_a_rank(rules) + wilds_in_play(rules)
    return min(meldable, got)


def most_opening_cards(rules: "RuleSet", deal: int) -> int:
    """Cards that one hand can lay at most in the turn in which it opens, a card taken included."""
    draw = rules.draw_count(deal)
    stock = DECK_SIZE * rules.decks - rules.players * (rules.hand_size + rules.foot_size) - 1
    turns = -(-rules.max_turns // rules.players)
    if rules.stock_out == "end_deal":
        turns = min(turns, stock // draw)
    # A side that has not opened only draws; each turn before ended with a discard.
    return rules.hand_size + (draw - 1) * (turns - 1) + draw


def most_opening_points(rules: "RuleSet", deal: int) -> int:
    """Points of the best cards that one hand can lay at once."""
    cards, decks = most_opening_cards(rules, deal), rules.decks
    points = rules.points
    wilds = [points.joker] * (2 * decks) + [points.two] * (4 * decks)
    wilds = sorted(wilds, reverse=True)[: _most_opening_wilds(rules, cards)]
    rank = naturals_of_a_rank(rules)
    naturals = [points.ace] * rank + [points.high] * (_HIGH_RANKS * rank) + [points.low] * (_LOW_RANKS * rank)
    return sum(sorted(wilds + naturals, reverse=True)[:cards])


def _most_opening_wilds(rules: "RuleSet", cards: int) -> int:
    """Wilds that can be among so many cards laid at once."""
    in_melds = {
        "two_to_one": cards // 3,
        "more_naturals": (cards - 1) // 2,
        "at_most": rules.max_wilds * (cards // SMALLEST_MELD),
    }[rules.wild_limit]
    if cards <= rules.min_naturals:
        in_melds = 0
    alone = cards if rules.wild_melds else 0
    if rules.wild_book_cap is not None:
        alone = min(alone, rules.wild_book_cap * rules.book_size)
    if rules.add_to_complete == "any":  # books laid at once may grow: at_most does not bind them, nor the cap
        in_melds = cards if rules.wild_limit == "at_most" else in_melds
        alone = cards if alone else 0
    return min(cards, in_melds + alone)


def bounds_of_score(rules: "RuleSet") -> tuple[int, int]:
    """Upper bounds of what a side can score in a deal, and of what it can lose."""
    decks, size, points = rules.decks, rules.book_size, rules.points
    rank = naturals_of_a_rank(rules)
    meldable = 2 * decks * points.joker + 4 * decks * points.two
    meldable += rank * (points.ace + _HIGH_RANKS * points.high + _LOW_RANKS * points.low)
    natural_books = (NUM_NATURALS * rank + wilds_in_play(rules)) // size
    natural_bonus = max(rules.clean_book, rules.dirty_book)
    best = meldable + natural_books * natural_bonus + 2 * decks * rules.red3_laid + rules.going_out
    if rules.sevens_book is not None:
        best += rank // size * max(0, rules.sevens_book - natural_bonus)
    if rules.wild_melds:
        best += wilds_in_play(rules) // size * rules.wild_book
    worst = meldable + 2 * decks * (points.black3 + rules.red3_held) + rules.unfinished_wild_penalty
    return best, worst
