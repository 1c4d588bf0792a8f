"""Self-tests of the reference: its searches against plain ones, and random deals under many options."""

import random
from collections import Counter
from functools import cache

import pytest

from .game import ReferenceGame
from .laying import LAYDOWNS, NATURALS, WILDS, Options, book_type, canonical, without
from .tables import MINI, WHITNACK, decks_of, laydowns, opening_max, reshuffle, shuffled, table

# ------------------------------------------------------------------------- searches against plain search


def small_hand(rng, size):
    ranks = rng.sample(NATURALS, 3)
    return canonical(rng.choices(ranks + list(WILDS) + ["b"], [4, 4, 4, 3, 3, 0.5], k=size))


def random_options(rng):
    return {
        "book_size": rng.choice([3, 4, 5, 7]),
        "add_to_complete": rng.choice(["none", "naturals", "any"]),
        "wild_limit": rng.choice(["two_to_one", "more_naturals", "at_most"]),
        "max_wilds": rng.randrange(4),
        "min_naturals": rng.choice([1, 2, 2, 3]),
        "wild_melds": rng.random() < 0.8,
        "wild_book_cap": rng.choice([None, None, 0, 1]),
        "final_discard": rng.choice(["optional", "required", "forbidden"]),
    }


def test_opening_search_equals_plain_search():
    rng = random.Random(1)
    for _ in range(60):
        rules = WHITNACK | random_options(rng)
        options = Options(rules)
        hand = small_hand(rng, rng.randrange(3, 9))

        @cache
        def most(hand, melds, books, options=options):
            best = 0
            for label, (_, cards) in LAYDOWNS.items():
                left = without(hand, cards)
                after = left is not None and options.lay(label, dict(melds), list(books))
                if after:
                    best = max(best, options.value(cards) + most(left, tuple(after[0].items()), tuple(after[1])))
            return best

        assert opening_max(rules, 1, hand) == most(hand, (), ()), (rules, hand)


def test_going_out_search_equals_plain_search():
    rng = random.Random(2)
    found = Counter()
    for _ in range(90):
        rules = WHITNACK | random_options(rng) | {"books_to_go_out": [rng.randrange(2) for _ in range(3)]}
        options = Options(rules)
        hand = small_hand(rng, rng.randrange(2, 8))
        melds, books = {}, []
        for _ in range(3):  # something on the table, laid from another hand
            other = small_hand(rng, 8)
            for label in rng.sample(list(LAYDOWNS), len(LAYDOWNS)):
                left = without(other, LAYDOWNS[label][1])
                after = left is not None and options.lay(label, melds, books)
                if after:
                    other, (melds, books) = left, after
        side = {"melds": melds, "books": books, "opened": True}
        seen = set()

        def finishes(hand, melds, books, rules=rules, seen=seen):
            """Lay down while the game with the yes given allows it; is there an end by going out?"""
            if (hand, str(melds), str(books)) in seen:
                return False
            seen.add((hand, str(melds), str(books)))
            game = table(
                rules,
                hands=[hand],
                feet=[None, "4", None],
                sides=[{"melds": melds, "books": books, "opened": True}],
                asked=True,
                answers={"2": "yes"},
                may_go_out=True,
            )
            if len(hand) == 1 and f"discard {hand}" in game.legal():
                return True
            for label in laydowns(game):
                after = ReferenceGame.from_position(rules, game.position())
                after.apply(label)
                if after.over or finishes(after.hands[0], after.sides[0].melds, after.sides[0].books):
                    return True
            return False

        answer = options.can_finish(1, hand, side["melds"], side["books"])
        assert answer == finishes(hand, melds, books), (rules, hand, side)
        found[answer] += 1
    assert min(found[True], found[False]) > 8


# ------------------------------------------------------------------------------------------ random deals


def play_randomly(rules, rng, deal=1, check=True):
    players = rules["players"]
    game = ReferenceGame(rules, 0, deal, rng.randrange(players), shuffled(rules, rng), reshuffle)
    all_cards = Counter(decks_of(rules))
    decisions = 0
    eager = rng.random()
    while not game.over:
        legal = game.legal()
        assert legal
        if check:
            cards = Counter("".join(game.hands) + "".join(foot or "" for foot in game.feet) + game.stock + game.discard)
            for side in game.sides:
                cards.update("".join(side.melds.values()) + "".join(side.books) + "r" * side.red3)
            assert cards == all_cards
            for seat in range(players):
                assert without(game.hands[seat], game.known[seat]) is not None
                assert "r" not in game.hands[seat]
                assert game.feet[seat] is not None or game.hands[seat]
            position = game.position()
            copy = ReferenceGame.from_position(rules, position, reshuffle)
            assert copy.position() == position and copy.legal() == legal
        others = sorted(label for label in legal if not label.startswith(("discard", "draw", "no")))
        label = rng.choice(others) if others and rng.random() < eager else rng.choice(sorted(legal))
        game.apply(label)
        decisions += 1
    for side in game.sides:
        assert all(len(book) >= rules["book_size"] for book in side.books)
        assert all(3 <= len(meld) < rules["book_size"] for meld in side.melds.values())
    return game, decisions


def test_random_mini_deals():
    reasons = Counter(play_randomly(MINI, random.Random(seed))[0].end_reason for seed in range(60))
    assert reasons["out"] and reasons["stock_draw"]


def test_random_whitnack_deals():
    for seed in range(2):
        play_randomly(WHITNACK, random.Random(seed), deal=1 + seed)


SEATINGS = [(2, "alone"), (3, "alone"), (4, "pairs"), (4, "alone"), (6, "pairs"), (6, "threes")]


@pytest.mark.parametrize("seed", range(40))
def test_random_deals_under_random_options(seed):
    rng = random.Random(seed)
    players, seating = rng.choice(SEATINGS)
    partners = seating != "alone"
    rules = (
        MINI
        | random_options(rng)
        | {
            "players": players,
            "seating": seating,
            "decks": max(1, players // 2),
            "hand_size": rng.choice([4, 6]),
            "foot_size": rng.choice([2, 4]),
            "draw": rng.choice([1, 2, [2, 3]]),
            "opening": rng.choice([[0], [15], [50, 90]]),
            "bury_upcard": rng.choice([["red3", "wild"], [], ["wild", "black3"]]),
            "take_count": rng.choice([0, 1, 3, 7, "all"]),
            "take_key": rng.choice(["natural_pair", "natural_and_wild", "any_meld"]),
            "take_wild_top": rng.choice(["blocked", "matching_pair"]),
            "take_needs_open": rng.random() < 0.2,
            "wild_discard_freezes": rng.random() < 0.3,
            "books_to_go_out": rng.choice([[0, 1, 0], [1, 0, 0], [[1, 1, 0], [0, 0, 0]]]),
            "partner_foot": partners and rng.random() < 0.5,
            "permission": rng.choice(["none", "binding_no", "binding_both"]) if partners else "none",
            "stock_out": rng.choice(["end_deal", "reshuffle"]),
            "max_turns": rng.choice([60, 200]),
        }
    )
    for deal in (1, 2):
        game, _ = play_randomly(rules, rng, deal)
        assert game.end_reason in {"out", "stock_draw", "stock_red3", "max_turns"}
        assert all(isinstance(score, int) for score in game.deal_scores())


def test_book_types():
    assert [book_type(cards) for cards in ("KKK", "KK2", "2**")] == ["clean", "dirty", "wild"]


def test_illegal_action_is_refused():
    with pytest.raises(ValueError):
        table(hands=["45"]).apply("draw")
