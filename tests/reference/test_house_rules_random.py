"""Random play under random combinations of house rules: there is always a legal action, and nothing is lost."""

import random
from collections import Counter

import pytest

from .cards import LAYDOWNS, NAMES, canonical, without
from .game import ReferenceGame
from .options import HIGH
from .random_rules import house_rules_set, random_rules
from .tables import decks_of, reshuffle, shuffled


def choose(rng, game, legal, eager):
    """An eager player lays, takes, asks, says yes, and discards what it holds least of; others do anything."""
    if rng.random() > eager:
        return rng.choice(sorted(legal))
    busy = sorted(label for label in legal if not label.startswith(("discard", "draw", "no")))
    if busy:
        return rng.choice(busy)
    hand = game.hands[game.seat]
    return min(sorted(legal), key=lambda label: (label[-1] in "2*", hand.count(label[-1])))


def check_state(game, rules, all_cards, legal):
    """No dead end, no card lost, and the position says all there is to say."""
    assert legal, (rules, game.position())
    packets = "".join("".join(game.packets_to_come(seat)) for seat in range(rules["players"]))
    cards = Counter("".join(game.hands) + packets + game.stock + game.discard)
    for side in game.sides:
        cards.update("".join(side.melds.values()) + "".join(side.books) + "r" * side.red3)
    assert cards == all_cards
    for seat in range(rules["players"]):
        assert without(game.hands[seat], game.known[seat]) is not None
        assert rules.get("red3") == "penalty" or "r" not in game.hands[seat]
    position = game.position()
    again = ReferenceGame.from_position(rules, position, reshuffle)
    assert again.position() == position and again.legal() == legal and again.deal_scores() == game.deal_scores()


def make_late(game, rng):
    """Before the first draw: let seats be in the foot with few cards, and sides have something on the table."""
    loose = list(game.stock)
    for seat in range(game.options.players):
        if rng.random() < 0.7:
            if game.options.red3 != "lay_unreplaced":  # 12.26: with it a side may be there that has not opened
                game.side(seat).opened = True
            loose += "".join(game.packets_to_come(seat)) + game.hands[seat]
            game.feet[seat] = None
            if game.knees is not None:
                game.knees[seat] = None
            loose.sort(key=lambda card: card == "r")  # no red 3s in the hands
            game.hands[seat] = canonical(loose.pop(rng.randrange(len(loose) // 2)) for _ in range(rng.randrange(1, 4)))
    for side in game.sides:
        side.opened = side.opened or rng.random() < 0.5
        for label in rng.choices(list(LAYDOWNS), k=120) if side.opened else []:
            after = game.options.lay(label, side.melds, side.books)
            left = without(loose, LAYDOWNS[label][1])
            if after is not None and left is not None and len(left) > 20:
                loose, (side.melds, side.books) = list(left), after
    rng.shuffle(loose)
    game.stock = "".join(loose)


def play(rules, rng, deal, late=False):
    """One deal. Gives the game at its end and how often each kind of action was chosen."""
    players = rules["players"]
    number_of_sides = len(ReferenceGame(rules, 0, deal, 0, shuffled(rules, rng), reshuffle).sides)
    scores = [rng.choice([0, -50, 100, 250]) for _ in range(number_of_sides)]
    game = ReferenceGame(rules, 0, deal, rng.randrange(players), shuffled(rules, rng), reshuffle, scores)
    if late and not game.over:
        make_late(game, rng)
    all_cards = Counter(decks_of(rules))
    eager = rng.choice([0.5, 0.9, 1])
    seen = Counter()
    while not game.over:
        legal = game.legal()
        check_state(game, rules, all_cards, legal)
        label = choose(rng, game, legal, eager)
        seen[label if label in ("add b", "meld bbb", "discard r") else label.split()[0]] += 1
        turn = game.seat, game.turns
        game.apply(label)
        seen["last round"] += game.in_last_round()
        seen["last turn"] += game.last_turn
        seen["owed"] += bool(game.must_use)
        seen["without discard"] += turn[1] < game.turns and not label.startswith("discard")
        assert game.turns <= rules["max_turns"]
    seen[game.end_reason] += 1
    return game, seen


# ------------------------------------------------------------------------------- scores, another way


def points_of(rules, cards):
    table = rules["points"]
    worth = {char: table.get(name, table["high" if name in HIGH else "low"]) for char, name in NAMES.items()}
    return sum(worth.get(card, 0) * number for card, number in Counter(cards).items())


def bonus_of(rules, book):
    """What a book brings beside its cards."""
    counts = Counter(book)
    wilds = counts["2"] + counts["*"]
    if wilds == len(book):
        special = {"2": rules.get("twos_book"), "*": rules.get("jokers_book")}.get(book[0]) if len(counts) == 1 else None
        return rules["wild_book"] if special is None else special
    kind = "dirty" if wilds else "clean"
    rank = next(card for card in book if card not in "2*")
    ordinary = rules[f"{kind}_book"]
    if (rank, kind) == ("7", "clean") and rules.get("sevens_book") is not None:
        ordinary = rules["sevens_book"]
    return rules.get("rank_books", {}).get(NAMES[rank], {}).get(kind, ordinary)


def red3s_of(rules, side):
    if rules.get("red3") == "penalty":
        return 0
    bonuses = [bonus for number, bonus in rules.get("red3_bonus", []) if number <= side["red3"]]
    total = rules["red3_laid"] * side["red3"] + max(bonuses, default=0)
    how = "plus" if side["opened"] else rules.get("red3_unopened", "plus")
    return {"plus": total, "zero": 0, "minus": -abs(total)}[how]


def recomputed(rules, position, out_seat):
    """The scores of all sides, worked out from the position."""
    sides = position["sides"]
    scores = [red3s_of(rules, side) for side in sides]
    for number, side in enumerate(sides):
        scores[number] += points_of(rules, "".join(side["books"]) + "".join(side["melds"].values()))
        scores[number] += sum(bonus_of(rules, book) for book in side["books"])
        scores[number] -= rules["unfinished_wild_penalty"] * ("wild" in side["melds"])
        scores[number] -= rules.get("sevens_unfinished", 0) * ("7" in side["melds"])
    for packets in (position["hands"], position["feet"], position.get("knees", [])):
        for seat, cards in enumerate(packets):
            held = Counter(cards or "")
            loss = points_of(rules, held.elements()) + rules["red3_held"] * held["r"] + rules.get("sevens_held", 0) * held["7"]
            scores[seat % len(sides)] -= loss
    if out_seat is not None:
        scores[out_seat % len(sides)] += rules["going_out"]
    return scores


# ------------------------------------------------------------------------------------------- the tests


def play_many(seeds, crowded, late=False):
    seen = Counter()
    for seed in seeds:
        rng = random.Random(seed)
        rules = random_rules(rng, crowded)
        seen.update(house_rules_set(rules))
        for deal in (1, 2):
            game, found = play(rules, rng, deal, late)
            assert game.end_reason in {"out", "stock_draw", "stock_red3", "max_turns"}
            assert game.deal_scores() == recomputed(rules, game.position(), game.out_seat)
            seen.update(found)
    return seen


def test_few_house_rules_at_a_time():
    seen = play_many(range(30), crowded=False)
    assert min(seen[name] for name in ("out", "stock_draw", "max_turns", "take", "last round", "owed")) > 0, seen


def test_nearly_all_house_rules_at_once():
    seen = play_many(range(1000, 1030), crowded=True)
    assert min(seen[name] for name in ("out", "discard r", "without discard", "last turn")) > 0, seen


def test_late_in_a_deal():
    seen = play_many(range(2000, 2040), crowded=False, late=True)
    seen += play_many(range(3000, 3040), crowded=True, late=True)
    names = ("out", "ask", "no", "meld bbb", "last round", "without discard", "owed", "take", "last turn")
    assert min(seen[name] for name in names) > 0, seen


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_random_play_long(part):
    play_many(range(10_000 + 200 * part, 10_100 + 200 * part), crowded=False)
    play_many(range(10_100 + 200 * part, 10_200 + 200 * part), crowded=True)
    play_many(range(20_000 + 200 * part, 20_100 + 200 * part), crowded=False, late=True)
    play_many(range(20_100 + 200 * part, 20_200 + 200 * part), crowded=True, late=True)
