"""Which positions play leads to: `check_state` on the fields, `check_legal` on the game built of them.

Every refusal is one line that begins with the field. Rule clauses: docs/rules.md.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from hf_env.engine.access import GameAccess
from hf_env.engine.cards import CARDS_PER_DECK, KIND_CHARS
from hf_env.engine.invariants import MESSAGES
from hf_env.explanations import wild_limit_reason
from hf_env.positions.schema import WILDS, PositionError, all_cards, parse_meld
from hf_env.rules import RuleSet
from hf_env.rules.errors import shown


def check_state(p: dict[str, Any], rules: RuleSet) -> None:
    """Check that play can lead to a position.

    Raises:
        PositionError: Naming the field and what no play leads to.
    """
    _check_cards(p, rules)
    _check_numbers(p, rules)
    for side in range(rules.num_sides):
        _check_table(p["sides"][side], f"sides[{side}]", rules)
    for seat in range(rules.players):
        _check_packets(p, seat, rules)
    _check_opening(p, rules)
    _check_turn(p, rules)
    _check_discard(p, rules)


def _check_cards(p: dict[str, Any], rules: RuleSet) -> None:
    cards = all_cards(p)
    for kind, number in zip(KIND_CHARS, CARDS_PER_DECK, strict=True):
        if cards[kind] == number * rules.decks:
            continue
        places = {
            "hands": "".join(p["hands"]).count(kind),
            "feet": "".join(foot or "" for foot in p["feet"]).count(kind),
            "stock": p["stock"].count(kind),
            "discard": p["discard"].count(kind),
        }
        places["sides"] = cards[kind] - sum(places.values())
        where = ", ".join(f"{name} {count}" for name, count in places.items())
        raise PositionError(f"cards: {cards[kind]} of {kind} ({where}), and decks = {rules.decks} hold {number * rules.decks}")


def _check_numbers(p: dict[str, Any], rules: RuleSet) -> None:
    most_deals = rules.deals if rules.target is None else rules.max_deals
    if p["deal"] > most_deals and not p["single_deal"]:
        raise PositionError(f"deal: {p['deal']} is beyond the {most_deals} deals of the game")
    if p["turns"] >= rules.max_turns:
        raise PositionError(f"turns: {p['turns']} turns end the deal, as max_turns = {rules.max_turns}")
    if p["reshuffles"] and rules.stock_out != "reshuffle":
        raise PositionError(f"reshuffles: {p['reshuffles']}, but stock_out = {rules.stock_out}")
    if rules.target is not None and not p["single_deal"] and max(p["scores"]) >= rules.target:
        raise PositionError(f"scores: {max(p['scores'])} has reached target = {rules.target}, so the game is over")
    for seat, cards in enumerate(p["recent_discards"]):
        if "r" in cards:
            raise PositionError(f"recent_discards[{seat}]: a red 3 is never discarded")


def _check_table(side: dict[str, Any], path: str, rules: RuleSet) -> None:
    wild_books = sum(parse_meld(book)[0] == "wild" for book in side["books"])
    for key, cards in side["melds"].items():
        where = f"{path}.melds.{key}"
        if len(cards) >= rules.book_size:
            raise PositionError(f"{where}: {shown(cards)} has {len(cards)} cards and is a book (book_size = {rules.book_size})")
        _check_meld(cards, where, rules, False)
        if key == "wild" and rules.wild_book_cap is not None and wild_books >= rules.wild_book_cap:
            raise PositionError(f"{where}: no wild meld is started with {wild_books} wild books (wild_book_cap = {rules.wild_book_cap})")
    for number, cards in enumerate(side["books"]):
        where = f"{path}.books[{number}]"
        grown = len(cards) > rules.book_size
        if len(cards) < rules.book_size:
            raise PositionError(f"{where}: {shown(cards)} has {len(cards)} cards, a book has {rules.book_size}")
        is_wild = parse_meld(cards)[0] == "wild"
        if grown and (rules.add_to_complete == "none" or (is_wild and rules.add_to_complete == "naturals")):
            raise PositionError(
                f"{where}: {shown(cards)} has {len(cards)} cards; add_to_complete = {rules.add_to_complete} allows {rules.book_size}"
            )
        _check_meld(cards, where, rules, grown)
    if rules.wild_book_cap is not None and wild_books > rules.wild_book_cap:
        raise PositionError(f"{path}.books: {wild_books} wild books, and wild_book_cap = {rules.wild_book_cap}")


def _check_meld(cards: str, path: str, rules: RuleSet, grown: bool) -> None:
    key, naturals, twos, jokers = parse_meld(cards)
    if key == "wild":
        if not rules.wild_melds:
            raise PositionError(f"{path}: {shown(cards)} is a wild meld, and wild_melds = false")
        return
    line = wild_limit_reason(rules.to_record(), 0, shown(cards), naturals, twos + jokers, grown)
    if line:
        raise PositionError(f"{path}: {line.replace('would hold', 'holds')}")


def _check_packets(p: dict[str, Any], seat: int, rules: RuleSet) -> None:
    hand, foot, known = p["hands"][seat], p["feet"][seat], p["known"][seat]
    opened = p["sides"][rules.side_of(seat)]["opened"]
    if foot is not None and len(foot) != rules.foot_size:
        raise PositionError(f"feet[{seat}]: has {len(foot)} cards, and foot_size = {rules.foot_size}")
    if "r" in hand:
        raise PositionError(f"hands[{seat}]: a red 3 is laid at once and never in a hand")
    extra = Counter(known) - Counter(hand)
    if extra:
        card = next(iter(extra))
        raise PositionError(f"known[{seat}]: {known.count(card)} of {card} are known and {hand.count(card)} held")
    if foot is None and not opened:
        raise PositionError(f"feet[{seat}]: picked up, but side {rules.side_of(seat)} has not opened")
    if hand:
        return
    if foot is None:
        raise PositionError(f"hands[{seat}]: empty in the foot, which ends the deal")
    if not opened:
        raise PositionError(f"hands[{seat}]: empty, but side {rules.side_of(seat)} has not opened")
    if seat == p["turn"]["seat"]:
        raise PositionError(f"hands[{seat}]: empty at its own turn, when the foot is picked up")


def _points(cards: Iterable[str], rules: RuleSet) -> int:
    record = rules.to_record()[0]
    return sum(int(record["card_points"][KIND_CHARS.index(card)]) for card in cards)


def _check_opening(p: dict[str, Any], rules: RuleSet) -> None:
    turn = p["turn"]
    mover = rules.side_of(turn["seat"])
    minimum = rules.opening_minimum(p["deal"])
    for number, side in enumerate(p["sides"]):
        cards = "".join(side["melds"].values()) + "".join(side["books"])
        if side["opened"] or not cards:
            continue
        if number != mover or turn["phase"] != "play":
            raise PositionError(f"sides[{number}]: has melds, but has not opened and is not in the middle of its opening")
        laid = _points(cards, rules)
        if laid != turn["laid"]:
            raise PositionError(f"turn.laid: {turn['laid']}, but the cards of the opening are worth {laid}")
        if laid >= minimum:
            raise PositionError(f"sides[{number}].opened: false, but {laid} points reach the minimum of {minimum}")
    side = p["sides"][mover]
    in_opening = not side["opened"] and bool(side["melds"] or side["books"])
    if turn["phase"] == "play" and len(p["hands"][turn["seat"]]) == 1 and not (side["opened"] or in_opening):
        # A hand that has laid nothing holds a card at least before the draw, by every rule set, and its draw besides.
        raise PositionError(
            f"hands[{turn['seat']}]: one card after the draw, but side {mover} has not opened; its discard would leave none"
        )
    for name in ("laid", "taking"):
        if turn[name] and not in_opening:
            raise PositionError(f"turn.{name}: {turn[name]}, but seat {turn['seat']} is not in the middle of an opening")
    if turn["taking"] > len(p["discard"]):
        raise PositionError(f"turn.taking: {turn['taking']} cards are owed, and the discard pile has {len(p['discard'])}")
    if turn["taking"] and rules.take_count != "all" and turn["taking"] > rules.take_count - 1:
        most = max(rules.take_count - 1, 0)
        raise PositionError(f"turn.taking: {turn['taking']} cards are owed; take_count = {rules.take_count} leaves {most}")


def _check_turn(p: dict[str, Any], rules: RuleSet) -> None:
    turn = p["turn"]
    seat, phase, answers = turn["seat"], turn["phase"], turn["answers"]
    if phase == "over" or p["end"] is not None:
        raise PositionError("turn.phase: the deal is over, so no seat has a legal action")
    partners = [(seat + step) % rules.players for step in range(rules.num_sides, rules.players, rules.num_sides)]
    _check_answers(answers, partners, seat)
    values = list(answers.values())
    all_yes = len(values) == len(partners) and "no" not in values
    if turn["may_go_out"] and not (turn["asked"] and all_yes):
        raise PositionError("turn.may_go_out: true, but not every partner has said yes")
    if rules.permission != "none" and p["feet"][seat] is None and phase != "draw" and not turn["may_go_out"]:
        # A draw brings a card to those kept, and 7.8 keeps two until somebody may go out.
        if len(p["hands"][seat]) == 1:
            raise PositionError(f"hands[{seat}]: one card in the foot after the draw, and nobody has said yes to going out")
    if not turn["asked"]:
        if answers:
            raise PositionError("turn.answers: given, but nothing was asked")
        if phase == "answer":
            raise PositionError("turn.phase: answer, but nothing was asked")
        return
    if rules.permission == "none":
        raise PositionError("turn.asked: true, but permission = none")
    if phase == "draw":
        raise PositionError("turn.asked: true, but the question comes after the draw")
    if p["feet"][seat] is not None:
        raise PositionError(f"turn.asked: true, but seat {seat} is not in the foot")
    if rules.partner_foot and any(p["feet"][other] is not None for other in partners):
        raise PositionError("turn.asked: true, but a partner has not picked up the foot")
    _check_quota(p, rules)
    decided = all_yes or "no" in values
    if phase == "answer" and decided:
        raise PositionError("turn.phase: answer, but the question has been answered")
    if phase == "play" and not decided:
        raise PositionError("turn.answers: the question has not been answered by every partner")
    if phase == "play" and turn["may_go_out"] != all_yes:
        raise PositionError("turn.may_go_out: false, but every partner has said yes")


def _check_quota(p: dict[str, Any], rules: RuleSet) -> None:
    """Whoever has asked had the books; later only a clean book can be lost, to a wild that makes it dirty."""
    books = p["sides"][rules.side_of(p["turn"]["seat"])]["books"]
    kinds: Counter[str] = Counter()
    for book in books:
        is_wild = parse_meld(book)[0] == "wild"
        kinds["wild" if is_wild else "dirty" if set(book) & set(WILDS) else "clean"] += 1
    for name, needed in zip(("clean", "dirty", "wild"), rules.quota(p["deal"]), strict=True):
        if kinds[name] < needed and not (name == "clean" and rules.add_to_complete == "any"):
            raise PositionError(f"turn.asked: true, but the side has {kinds[name]} of {needed} {name} books needed")


def _check_answers(answers: dict[str, str], partners: list[int], seat: int) -> None:
    for other in answers:
        if int(other) not in partners:
            raise PositionError(f"turn.answers.{other}: seat {other} is no partner of seat {seat}")
    order = [str(other) for other in partners]
    given = [other for other in order if other in answers]
    if given != order[: len(given)]:
        raise PositionError("turn.answers: partners answer in the order of turns")
    if any(answers[other] == "no" for other in given[:-1]):
        raise PositionError("turn.answers: the first no ends the question")


def _check_discard(p: dict[str, Any], rules: RuleSet) -> None:
    discard = p["discard"]
    if not discard and p["turn"]["phase"] == "draw":
        raise PositionError("discard: empty before the draw")
    if "r" in discard and ("red3" in rules.bury_upcard or "r" in discard[:-1]):
        raise PositionError("discard: holds a red 3, which lies there only at the bottom, as an upcard not buried")


def check_legal(access: GameAccess) -> None:
    """Check the built game against the engine's invariants.

    Raises:
        PositionError: Where it breaks one, or leaves its seat without a legal action.
    """
    code = access.broken_invariant()
    if code:
        raise PositionError(f"position: {MESSAGES[code]}")
    if len(access.legal()) == 0:
        g = access.game
        raise PositionError(f"turn: seat {int(g['to_move'])} has no legal action")
