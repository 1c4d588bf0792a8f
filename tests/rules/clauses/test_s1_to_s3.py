"""Cards, players and sides, the deal. Rule: docs/rules.md 1 to 3."""

import numpy as np
import pytest

from hf_env.engine.access import GameAccess
from hf_env.engine.cards import format_counts
from hf_env.hand_and_foot_v0 import env as make_env
from hf_env.records import deck_for
from hf_env.rules import load_rules
from tests.rules.clauses.pairs import after, clause, legal, positions
from tests.rules.clauses.table import Game, at, position_of


def put(path, value):
    """A spoiler that sets an entry of a position's hand, foot or pile."""

    def spoil(position):
        *into, last = path
        for key in into:
            position = position[key]
        position[last] = value(position[last])

    return spoil


test_1_1_kinds = positions(
    "1.1",
    ("4 of each natural rank a deck", at("45", stock="K..."), put(["stock"], lambda s: "Q" + s[1:]), "cards: 21 of Q .* 20"),
    ("4 twos a deck", at("25"), put(["hands", 0], lambda s: "K5"), "cards: 21 of K .* 20"),
    ("2 jokers a deck", at("*5"), put(["hands", 0], lambda s: "25"), "cards: 21 of 2 .* 20"),
    ("2 black 3s a deck", at("b5"), put(["hands", 0], lambda s: "*5"), "cards: 11 of \\* .* 10"),
    ("2 red 3s a deck", at(red3=2), put(["sides", 0, "red3"], lambda n: n - 1), "cards: 9 of r .* 10"),
    ("15 kinds", at("45"), put(["hands", 0], lambda s: "35"), "is no card"),
)
test_1_2_decks = positions(
    "1.2",
    ("five decks for four", at(decks=5), put(["rules", "decks"], lambda n: n + 1), "decks = 6 hold 24"),
    ("four decks", at(decks=4), put(["rules", "decks"], lambda n: n + 1), "decks = 5 hold 20"),
    ("players + 1", at(preset="two-player"), put(["rules", "decks"], lambda n: n - 1), "decks = 2 hold 8"),
)

LONE = {"seating": "alone", "partner_foot": False, "permission": "none", "books_to_go_out": [1, 1, 0]}
SIZES = [(2, 162, 110), (3, 216, 138), (4, 270, 166), (5, 324, 194), (6, 378, 222)]


@clause("1.2")
@pytest.mark.parametrize(("players", "cards", "left"), SIZES)
def test_1_2_one_deck_more_than_players(players, cards, left):
    """The table of cards and of what is left after dealing, the upcard still among it."""
    deck = deck_for({"players": players, **LONE}, 3, 1)
    assert len(deck) == cards and len(deck) - 26 * players == left


CARD_POINTS = {"joker": 50, "two": 20, "ace": 20, "high": 10, "low": 5}
PER_KIND = [("*", "joker", "KK*", 70), ("2", "two", "KK2", 40), ("A", "ace", "AAA", 60), ("Q", "high", "QQQ", 30), ("6", "low", "666", 15)]
test_1_3_points = legal(
    "1.3",
    *((f"{key}, exactly", f"meld {meld}", at(meld + "b", opening=[value]), dict(opening=[value + 5])) for _, key, meld, value in PER_KIND),
    ("9 as 10, 7 as 5", "meld 999", at("999b", opening=[30]), dict(hand="777b", opening=[30])),
    *(
        (
            f"points.{key}",
            f"meld {meld}",
            at(meld + "b", opening=[value + 5 * meld.count(card)], points={key: CARD_POINTS[key] + 5}),
            dict(points={}),
        )
        for card, key, meld, value in PER_KIND
    ),
)


@after("1.3", ("a black 3 in the hand", at("b5", points={"black3": 5}), dict(points={"black3": 50})))
def test_1_3_black_three(game, is_five):
    """A black 3 has points too, though only held ones count."""
    points = game.scores[0]
    game.play("discard b")
    assert game.scores[0] - points == (5 if is_five else 50)


@after("1.4", ("three black 3s", at("KKKbbb", melds="444"), dict(hand="KKbbbb")))
def test_1_4_never_melded(game, has_kings):
    """No number of black 3s makes a meld."""
    assert game.lay_downs == ({"meld KKK"} if has_kings else set())
    game.play("discard b")


test_1_4_discarded = legal("1.4", ("like any card", "discard b", at("b5"), dict(hand="45")))


def red_three_into_the_hand(position):
    """The red 3 of side 0 goes to seat 0's hand."""
    position["sides"][0]["red3"] -= 1
    position["hands"][0] += "r"


test_1_5_not_in_a_hand = positions(
    "1.5",
    ("a red 3 lies on the table", at("45", red3=1), red_three_into_the_hand, "never in a hand"),
)


@after("1.5", ("drawn", at("5", stock="r67...", phase="draw"), dict(stock="67r...")))
def test_1_5_laid_at_once(game, is_drawn):
    """A red 3 is on the table before the player decides anything."""
    game.play("draw")
    assert game.hand() == "567" and game.side()["red3"] == is_drawn


SIDE0 = {0: dict(melds="444")}
test_2_1_sides = legal(
    "2.1",
    ("pairs of 4: seats 0 and 2", "add 4", at("45", seat=2, sides=SIDE0), dict(seat=1)),
    ("pairs of 6: seats 0 and 3", "add 4", at("45", preset="six-pairs", seat=3, sides=SIDE0), dict(seat=2)),
    ("threes: seats 0, 2 and 4", "add 4", at("45", preset="six-threes", seat=4, sides=SIDE0), dict(seat=3)),
    ("the same seats otherwise", "add 4", at("45", preset="six-threes", seat=2, sides=SIDE0), dict(preset="six-pairs")),
    ("4 alone", "add 4", at("45", seat=0, sides=SIDE0, **LONE), dict(seat=2)),
    ("6 alone", "add 4", at("45", players=6, seat=0, sides=SIDE0, **LONE), dict(seat=3)),
    ("2 alone", "add 4", at("45", preset="two-player", sides=SIDE0), dict(seat=1)),
    ("3 alone", "add 4", at("45", preset="three-player", sides=SIDE0), dict(seat=2)),
    ("5 alone", "add 4", at("45", preset="five-player", sides=SIDE0), dict(seat=4)),
)

OUT = at("44", melds="444", books="8888888 TTTTT22", books_to_go_out=[1, 1, 0], in_foot=(0,))
ALONE = OUT.but(seating="alone", partner_foot=False, permission="none")
test_2_2_no_partner_conditions = legal(
    "2.2",
    ("no permission", "add 4", ALONE, dict(seating="pairs", permission="binding_no")),
    ("no partner's foot", "add 4", ALONE, dict(seating="pairs", partner_foot=True)),
    ("nobody to ask", "ask", OUT.but(hand="445", in_foot=(0, 2)), dict(seating="alone", partner_foot=False, permission="none")),
)


@after("2.3", ("the last seat", at("45", seat=3), dict(seat=2)))
def test_2_3_order_of_turns(game, is_last):
    """Turns go by rising seat, after the last to seat 0."""
    game.play("discard 4")
    assert game.to_move == (0 if is_last else 3)


@after("2.3", ("dealt by seat 1", at(dealer=1, stock="4", phase="draw"), dict(dealer=3)))
def test_2_3_the_deal_moves_on(game, is_one):
    """The next seat deals, and the seat after it begins."""
    game.play("draw").engine.next_deal()
    dealer = 2 if is_one else 0
    assert game.engine.game["dealer"] == dealer and game.to_move == dealer + 1


def dealt(seed=1, deal=1, **options):
    """The game at the first turn of a deal."""
    access = GameAccess(load_rules(options).to_record())
    access.start(seed, deal)
    return access


@clause("2.3")
@pytest.mark.parametrize("preset", ["two-player", "three-player", "whitnack", "five-player", "six-threes"])
def test_2_3_first_dealer_of_the_seed(preset):
    """The first dealer follows from the seed; every seat deals under some seed; the next one begins."""
    dealers, players = [], load_rules(preset).players
    for seed in range(40):
        g = dealt(seed, preset=preset).game
        assert g["to_move"] == (g["dealer"] + 1) % players and g["dealer"] == dealt(seed, preset=preset).game["dealer"]
        dealers.append(int(g["dealer"]))
    assert set(dealers) == set(range(players))


def shorten_foot(position):
    """A card of seat 1's foot goes to the stock."""
    position["stock"] += position["feet"][1][-1]
    position["feet"][1] = position["feet"][1][:-1]


test_3_1_sizes = positions(
    "3.1",
    ("a foot of 13", at(), shorten_foot, "has 12 cards, and foot_size = 13"),
    ("a foot of 11", at(foot_size=11), put(["rules", "foot_size"], lambda n: 13), "has 11 cards, and foot_size = 13"),
)


@clause("3.1")
@pytest.mark.parametrize(("hand_size", "foot_size"), [(13, 13), (11, 11), (13, 11), (3, 26)])
def test_3_1_hands_and_feet(hand_size, foot_size):
    """Every player gets so many cards; a red 3 in a hand is replaced, one in a foot is not yet."""
    g = dealt(hand_size=hand_size, foot_size=foot_size).game
    assert list(g["hand_sizes"][:4]) == [hand_size] * 4 and list(g["foot_sizes"][:4]) == [foot_size] * 4


def upcards(bury):
    """The upcards of 150 deals."""
    at_card = 4 * 26
    return {deck_for({"bury_upcard": bury}, seed, 1)[at_card] for seed in range(150)}


@clause("3.2")
def test_3_2_kinds_buried():
    """Each kind is an upcard where it is not buried, and never where it is; a black 3 stays by default."""
    everything = upcards([])
    assert set("r2*b") < everything and len(everything) == 15
    assert set("r2*") & upcards(["red3", "wild"]) == set() and "b" in upcards(["red3", "wild"])
    assert "b" not in upcards(["black3"]) and set("r2*") < upcards(["black3"])
    assert upcards(["red3", "wild", "black3"]) == set("456789TJQKA")


@clause("3.2")
def test_3_2_only_the_buried_card_moves():
    """The cards before the upcard stay, the buried one lies further back, all others keep their order."""
    places = set()
    for seed in range(400):
        plain, buried = (deck_for({"bury_upcard": bury}, seed, 1) for bury in ([], ["red3", "wild"]))
        assert plain[:104] == buried[:104] and sorted(plain) == sorted(buried)
        if plain[104] not in "r2*":
            assert plain == buried
        elif plain[105] not in "r2*":
            assert buried[104] == plain[105]
            place = next(i for i in range(105, 270) if i == 269 or buried[i] != plain[i + 1])
            assert buried[place] == plain[104] and buried[place + 1 :] == plain[place + 1 :]
            places.add(place)
    assert min(places) < 120 and max(places) > 250 and len(places) > 30


test_3_2_upcards_in_play = positions(
    "3.2",
    (
        "a red 3 lies in the pile only where it is not buried",
        at(discard="9r", bury_upcard=["wild"]),
        put(["rules", "bury_upcard"], lambda _: ["red3"]),
        "discard: holds a red 3",
    ),
)


@clause("3.3")
@pytest.mark.parametrize("preset", ["whitnack", "family", "five-player", "six-threes", "mini"])
def test_3_3_order_of_dealing(preset):
    """Hands, feet, upcard and stock lie in the shuffled order one after the other, from the seat that begins."""
    rules = load_rules(preset)
    checked = 0
    for seed in range(12):
        deck, g = deck_for(preset, seed, 1), dealt(seed, preset=preset).game
        cards = {}
        for packet, size in (("hand", rules.hand_size), ("foot", rules.foot_size)):
            for step in range(rules.players):
                cards[packet, (int(g["dealer"]) + 1 + step) % rules.players], deck = deck[:size], deck[size:]
        assert "456789TJQKA2*br"[g["discard"][0]] == deck[0] and g["discard_size"] == 1
        for seat in range(rules.players):
            assert format_counts(g["feet"][seat]) == format_counts([cards["foot", seat].count(c) for c in "456789TJQKA2*br"])
        if not any("r" in cards["hand", seat] for seat in range(rules.players)):
            checked += 1
            assert "".join("456789TJQKA2*br"[kind] for kind in g["stock"][g["stock_next"] : g["stock_end"]]) == deck[1:]
    assert checked or preset != "mini"


@clause("3.3")
def test_3_3_seed_and_deal_alone():
    """The same seed and deal give the same order, whatever was played before; others give another."""
    assert deck_for("whitnack", 5, 2) == deck_for("whitnack", 5, 2)
    assert len({deck_for("whitnack", seed, deal) for seed in (5, 6) for deal in (1, 2, 3)}) == 6
    decks = set()
    for label in ("discard 4", "discard 5"):
        game = Game(at("45", stock="4", seed=5)).play(label, "draw")
        game.engine.next_deal()
        decks.add(game.engine.game["stock"].tobytes())
    assert len(decks) == 1


@after("3.3", ("the seed of the game", at(seed=6, stock="4", phase="draw"), dict(seed=7)))
def test_3_3_next_deal(game, has_seed_6):
    """The next deal of a game follows from its seed and the deal's number, here those of seed 6, deal 2."""
    deck = deck_for("whitnack", 6, 2)
    game.play("draw").engine.next_deal()
    g, feet = game.engine.game, deck[4 * 13 : 8 * 13]
    first = "".join(sorted(feet[:13], key="456789TJQKA2*br".index))  # the foot of the seat that begins
    assert (format_counts(g["feet"][int(g["to_move"])]) == first) == has_seed_6


@after("3.4", ("kings or queens in the foot", at("AAA5", foot="KKKKKKKKKKKKK", melds="444"), dict(hand="AAA")))
def test_3_4_unseen_until_picked_up(game, is_unseen):
    """The owner is shown the same whatever lies in the foot, until it is picked up."""
    shown = []
    for foot in ("KKKKKKKKKKKKK", "QQQQQQQQQQQQQ"):
        table = make_env(rules="whitnack")
        table.reset(seed=0)
        table.set_position(position_of(game.state.but(foot=foot)))
        table.step(5 + 6 * "456789TJQKA".index("A"))
        shown.append(table.observe(table.possible_agents[0])["observation"])
    assert np.array_equal(*shown) == is_unseen


# The hands of deal 2 hold three red 3s under seed 48, whose stock begins with another one, and none under seed 8.
@after("3.5", ("red 3s in the hands", at(seed=48, stock="4", phase="draw"), dict(seed=8)))
def test_3_5_laid_before_the_first_turn(game, has_red3s):
    """A deal begins with full hands and the red 3s of the hands laid."""
    deck = deck_for("whitnack", game.state["seed"], 2)
    assert deck[:52].count("r") == (3 if has_red3s else 0) and deck[105].startswith("r") == has_red3s
    game.play("draw").engine.next_deal()
    g = game.engine.game
    assert list(g["hand_sizes"][:4]) == [13] * 4 and g["hands"][:, -1].sum() == 0
    assert g["red3"].sum() >= 4 if has_red3s else g["red3"].sum() == 0
    assert g["stock_end"] - g["stock_next"] == 270 - 105 - g["red3"].sum()


def plain_deal(rules, deck, first):
    """Clause 3.5 once more: the hands and the red 3s of each seat after laying and replacing."""
    order = [(first + step) % rules.players for step in range(rules.players)]
    hands = {seat: deck[step * rules.hand_size : (step + 1) * rules.hand_size] for step, seat in enumerate(order)}
    stock = list(deck[rules.players * (rules.hand_size + rules.foot_size) + 1 :])
    red3s = dict.fromkeys(order, 0)
    for seat in order:
        missing = hands[seat].count("r")
        hands[seat] = hands[seat].replace("r", "")
        red3s[seat] = missing
        while missing:
            card = stock.pop(0)
            red3s[seat] += card == "r"
            missing -= card != "r"
            hands[seat] += card.replace("r", "")
    return hands, red3s, "".join(stock)


@clause("3.5")
@pytest.mark.parametrize("has_red3s", [True, False], ids=["red 3s dealt", "none dealt"])
def test_3_5_red_threes_in_the_deal(has_red3s):
    """All red 3s of the hands are laid and replaced before the first turn, seat by seat from the beginning one."""
    rules, seen = load_rules("whitnack"), 0
    for seed in range(60):
        deck, g = deck_for("whitnack", seed, 1), dealt(seed).game
        if ("r" in deck[: 4 * 13]) != has_red3s:
            continue
        seen += 1
        hands, red3s, stock = plain_deal(rules, deck, int(g["to_move"]))
        for seat in range(4):
            assert format_counts(g["hands"][seat]) == "".join(sorted(hands[seat], key="456789TJQKA2*br".index))
        assert [int(n) for n in g["red3"][:2]] == [red3s[0] + red3s[2], red3s[1] + red3s[3]]
        assert "".join("456789TJQKA2*br"[kind] for kind in g["stock"][g["stock_next"] : g["stock_end"]]) == stock
    assert seen > 2
