"""Random positions at the thorny places: hands in the foot down to the last cards, and openings from hands of any size.

Games come there seldom; here every position is one. Rules are drawn with the position.
"""

import random
from collections import Counter
from typing import Any

from hf_env.engine.cards import CARDS_PER_DECK, KIND_CHARS
from hf_env.rules import RulesError, RuleSet, load_rules
from tests.reference.laying import NATURALS, WILDS, Options, book_type, canonical

SEATINGS = [(2, "alone"), (3, "alone"), (4, "pairs"), (4, "pairs"), (6, "threes")]


# Where a wild may cost a clean book and the way out: going out bound by a yes, wilds added to books.
GROWING = {"players": 4, "seating": "pairs", "decks": 5, "add_to_complete": "any", "permission": "binding_both"}


def random_rules(rng: random.Random, *, opening: bool, **fixed: Any) -> RuleSet:
    """Rules whose options are drawn among those that bear on lay-downs, takes and going out; `fixed` ones are not drawn."""
    players, seating = rng.choice(SEATINGS)
    partners = seating != "alone"
    minimum = 5 * rng.choice([rng.randrange(3, 20), rng.randrange(3, 60)]) if opening else 0
    while True:
        try:
            settings = dict(
                players=players,
                seating=seating,
                decks=rng.choice([2, 4, 5, 8]) if players < 4 else rng.choice([4, 5, 8]),
                hand_size=rng.choice([6, 13]),
                foot_size=rng.choice([2, 4]),
                opening=[minimum],
                book_size=rng.choice([3, 3, 4, 4, 5, 6, 7, 10]),
                add_to_complete=rng.choice(["none", "none", "none", "naturals", "any"]),
                wild_limit=rng.choice(["two_to_one", "more_naturals", "at_most"]),
                max_wilds=rng.choice([0, 1, 2, 2, 3, 9]),
                min_naturals=rng.choice([1, 2, 2, 3, 5]),
                wild_book_cap=rng.choice(["none", "none", 0, 1, 2]),
                take_count=rng.choice([1, 2, 7, "all"]),
                take_key=rng.choice(["natural_pair", "natural_and_wild", "any_meld", "any_meld"]),
                take_wild_top=rng.choice(["blocked", "matching_pair"]),
                take_needs_open=rng.random() < 0.1,
                wild_discard_freezes=rng.random() < 0.2,
                books_to_go_out=[rng.choice([0, 0, 1, 1, 2]), rng.choice([0, 0, 0, 1]), rng.choice([0, 0, 0, 0, 1])],
                partner_foot=partners and rng.random() < 0.3,
                permission=rng.choice(["none", "none", "binding_no", "binding_both", "binding_both"]) if partners else "none",
                final_discard=rng.choice(["optional", "required", "forbidden"]),
                stock_out=rng.choice(["end_deal", "reshuffle"]),
                bury_upcard=rng.choice([["red3", "wild"], []]),
            )
            return load_rules("whitnack", **(settings | fixed))
        except RulesError:  # a quota or minimum out of reach: other options
            minimum = minimum // 10 * 5


class Builder:
    """A position built by drawing cards from the decks."""

    def __init__(self, rules: RuleSet, rng: random.Random) -> None:
        self.rules, self.rng = rules, rng
        self.options = Options(rules.resolved())
        self.left = Counter({kind: n * rules.decks for kind, n in zip(KIND_CHARS, CARDS_PER_DECK, strict=True)})
        self.ranks = rng.sample(NATURALS, rng.randrange(1, 6))

    def take(self, cards: str) -> bool:
        """Draw these cards; False, and none is drawn, if they are not there."""
        wanted = Counter(cards)
        if any(self.left[kind] < number for kind, number in wanted.items()):
            return False
        self.left.subtract(wanted)
        return True

    def some(self, number: int, kinds: str) -> str:
        """So many cards of these kinds, or as many as there are."""
        cards = ""
        for _ in range(number):
            there = [kind for kind in kinds if self.left[kind] > 0]
            if not there:
                break
            kind = self.rng.choice(there)
            self.left[kind] -= 1
            cards += kind
        return canonical(cards)

    def group(self, target: str, size: int, *, grown: bool = False) -> str | None:
        """A meld or book of so many cards, if the rules and the decks have one like the one drawn."""
        rng, rules = self.rng, self.rules
        if target == "wild":
            cards = canonical("".join(rng.choice(WILDS) for _ in range(size)))
            fits = rules.wild_melds and not (grown and rules.add_to_complete != "any")
        else:
            wilds = rng.choice([0, 0, 1, 1, 2, 3])
            cards = target * (size - wilds) + canonical("".join(rng.choice(WILDS) for _ in range(min(wilds, size))))
            fits = wilds < size and self.options.wilds_fit(cards)
        return cards if fits and self.take(cards) else None

    def side(self, number_of_books: int, melds: int) -> dict[str, Any]:
        """An opened side's melds and books."""
        rng, size, cap = self.rng, self.rules.book_size, self.rules.wild_book_cap
        side: dict[str, Any] = {"melds": {}, "books": [], "red3": 0, "opened": True}
        targets = [*self.ranks, "wild"]
        for _ in range(number_of_books):
            target = rng.choice(targets)
            wild_books = sum(book[0] in WILDS for book in side["books"])
            if target == "wild" and cap is not None and wild_books >= cap:
                continue
            grown = self.rules.add_to_complete != "none" and rng.random() < 0.4
            book = self.group(target, size + (rng.randrange(1, 4) if grown else 0), grown=grown)
            if book:
                side["books"].append(book)
        wild_books = sum(book[0] in WILDS for book in side["books"])
        for target in rng.sample(targets, min(melds, len(targets))):
            if size <= 3 or (target == "wild" and cap is not None and wild_books >= cap):
                continue
            meld = self.group(target, rng.randrange(3, size))
            if meld:
                side["melds"][target] = meld
        order = (*NATURALS, "wild")
        side["melds"] = {key: side["melds"][key] for key in order if key in side["melds"]}
        return side

    def hand(self, size: int) -> str:
        """A hand of the ranks in play, wilds and now and then something else."""
        return self.some(size, "".join(self.ranks) * 3 + WILDS * self.rng.choice([1, 2, 4]) + "b")

    def finish(self, mover: dict[str, Any], hand: str, foot: bool, **turn: Any) -> dict[str, Any]:
        """The whole position: seat 0 moves, all else is filled up."""
        rules, rng = self.rules, self.rng
        partners = [seat for seat in range(1, rules.players) if rules.side_of(seat) == 0]
        feet: list[str | None] = []
        for seat in range(rules.players):
            reached = seat == 0 or (seat in partners and (rules.partner_foot or rng.random() < 0.8))
            feet.append(None if foot and reached else self.some(rules.foot_size, NATURALS))
        others = [self.some(2, NATURALS) for _ in range(1, rules.players)]
        top = ""
        if turn.get("phase") == "draw" and rng.random() < 0.6:  # something to take with this hand
            top = self.some(1, hand)
        top = top or self.some(1, "".join(self.ranks) * 4 + WILDS + "b")
        discard = top + self.some(rng.choice([0, 0, 1, 2, 8]), NATURALS + "b" + (WILDS if rng.random() < 0.5 else ""))
        red3s = self.left.pop("r")
        if "red3" not in rules.bury_upcard and rng.random() < 0.3:
            discard, red3s = discard + "r", red3s - 1
        stock = list(self.left.elements())
        rng.shuffle(stock)
        sides = [mover] + [{"melds": {}, "books": [], "red3": 0, "opened": False} for _ in range(rules.num_sides - 1)]
        sides[-1]["red3"] = red3s
        base = {"seat": 0, "phase": "play", "asked": False, "answers": {}, "may_go_out": False, "laid": 0, "taking": 0}
        return {
            "format": "hf-position/1", "rules": "whitnack", "seed": 3, "deal": 1, "dealer": rules.players - 1,
            "scores": [0] * rules.num_sides, "turns": 50, "reshuffles": 0, "turn": base | turn, "hands": [hand, *others],
            "feet": feet, "known": [""] * rules.players, "stock": "".join(stock), "discard": discard, "sides": sides,
        }  # fmt: skip


def last_cards(rng: random.Random) -> tuple[RuleSet, dict[str, Any]]:
    """A player in the foot with few cards, before or after the draw, asked or not. It may be impossible."""
    rules = random_rules(rng, opening=False, **(GROWING if rng.random() < 0.2 else {}))
    b = Builder(rules, rng)
    if rules.add_to_complete == "any":  # several books of a rank
        b.ranks = b.ranks[:2]
    side = b.side(rng.randrange(0, 6), rng.randrange(0, 4))
    rules = with_sharp_quota(rules, side["books"], rng)
    turn: dict[str, Any] = {"phase": rng.choice(["play", "play", "draw"])}
    pair = ""
    if turn["phase"] == "draw" and "wild" in side["melds"]:  # to take a wild with
        pair = b.some(2, rng.choice(WILDS))
    hand = canonical(pair + b.hand(rng.choice([1, 1, 2, 2, 3, 3, 4, 5, 6, 8])))
    if turn["phase"] == "play" and rules.permission != "none" and rng.random() < 0.7:
        partners = [str(seat) for seat in range(1, rules.players) if rules.side_of(seat) == 0]
        answer = rng.choice(["yes", "yes", "no"])
        said = [*["yes"] * (len(partners) - 1), answer]
        turn |= {"asked": True, "answers": dict(zip(partners, said, strict=True)), "may_go_out": answer == "yes"}
    return rules, b.finish(side, hand, True, **turn)


def with_sharp_quota(rules: RuleSet, books: list[str], rng: random.Random) -> RuleSet:
    """Mostly with another quota: the books that there are, or one less or more of a kind."""
    if rng.random() < 0.3:
        return rules
    kinds = [book_type(book) for book in books]
    quota = [max(0, kinds.count(kind) + rng.choice([-1, 0, 0, 0, 1])) for kind in ("clean", "dirty", "wild")]
    try:
        return rules.with_overrides(books_to_go_out=quota)
    except RulesError:  # out of reach, or over the cap
        return rules


def opening(rng: random.Random) -> tuple[RuleSet, dict[str, Any]]:
    """A player whose side has not opened, before the draw, after it, or in the middle of the opening. It may be impossible."""
    rules = random_rules(rng, opening=True)
    b = Builder(rules, rng)
    side: dict[str, Any] = {"melds": {}, "books": [], "red3": 0, "opened": False}
    turn: dict[str, Any] = {"phase": rng.choice(["play", "play", "draw"])}
    if turn["phase"] == "play" and rng.random() < 0.4:
        side = b.side(rng.choice([0, 0, 1, 2]), rng.randrange(1, 4)) | {"opened": False}
        turn["laid"] = b.options.value("".join(side["melds"].values()) + "".join(side["books"]))
    # The reference's search through growing books takes minutes for the largest hands.
    sizes = [4, 6, 8, 10, 13, 15, 20, 28] if rules.add_to_complete == "none" else [4, 6, 8, 10, 11]
    position = b.finish(side, b.hand(rng.choice(sizes)), False, **turn)
    if turn.get("laid") and rules.take_count != 1 and rng.random() < 0.5:
        most = len(position["discard"]) if rules.take_count == "all" else min(len(position["discard"]), rules.take_count - 1)
        position["turn"]["taking"] = rng.randrange(0, most + 1)
    return sharpened(rules, b.options, position, rng), position


def short_stock(rng: random.Random) -> tuple[RuleSet, dict[str, Any]]:
    """A stock of 0 to 5 cards with many red 3s, before the draw or with a foot about to be picked up."""
    rules = random_rules(rng, opening=False)
    b = Builder(rules, rng)
    side = b.side(rng.randrange(0, 2), rng.randrange(0, 3))
    phase = rng.choice(["draw", "play"])
    fitting = "".join(key for key in side["melds"] if key != "wild") or WILDS
    if side["melds"] and rng.random() < 0.7:  # cards that can be laid, so that the hand is emptied
        hand = b.some(rng.choice([1, 1, 2]), fitting)
    else:
        hand = b.hand(rng.choice([1, 1, 3, 4]))
    position = b.finish(side, hand, False, phase=phase)
    loose = list(position["stock"]) + ["r"] * position["sides"][-1]["red3"]
    rng.shuffle(loose)
    loose.sort(key=lambda card: card != "r" or rng.random() < 0.5)
    feet = position["feet"]
    for seat in (0, 1):  # red 3s in the feet that may be picked up
        if feet[seat] and rng.random() < 0.6:
            loose.append(feet[seat][0])
            feet[seat] = loose.pop(0) + feet[seat][1:]
    stock = [loose.pop(0) for _ in range(rng.randrange(0, 6))]
    rng.shuffle(stock)
    position["stock"] = "".join(stock)
    position["sides"][-1]["red3"] = loose.count("r")
    rest = [card for card in loose if card != "r"]
    filled = list(range(1, rules.players))
    if rng.random() < 0.4 and rules.num_sides < rules.players:  # a partner's hand, emptied by a discard
        rest += position["hands"][rules.num_sides]
        position["hands"][rules.num_sides] = ""
        filled.remove(rules.num_sides)
    for seat in filled:
        position["hands"][seat] += "".join(rest.pop() for _ in range(min(100, len(rest))))
    position["discard"] = position["discard"].replace("r", "") + "".join(rest) + "r" * position["discard"].count("r")
    position["hands"] = [canonical(hand) for hand in position["hands"]]
    position["feet"] = [foot and canonical(foot) for foot in feet]
    return rules, position


def sharpened(rules: RuleSet, options: Options, position: dict[str, Any], rng: random.Random) -> RuleSet:
    """Mostly with another minimum: the most that the hand can lay, or a little less, where each piece counts."""
    if rng.random() < 0.3:
        return rules
    side, hand = position["sides"][0], position["hands"][0]
    if position["turn"]["phase"] == "draw":  # half of these with the cards of a take
        hand += position["discard"][:1] * (rng.random() < 0.5)
    most = options.most_points(canonical(hand), tuple(side["melds"].items()), tuple(side["books"]))
    minimum = position["turn"]["laid"] + most - 5 * rng.choice([-1, 0, 0, 1, 2, 4])
    try:
        return rules.with_overrides(opening=[max(minimum, 5)])
    except RulesError:  # beyond what any hand could lay
        return rules
