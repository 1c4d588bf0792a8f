"""A game at a position, and the position of a game: plain dicts of the format `hf-position/1`.

12.33: `must_use`, `turns_left`, `out`, `last_turn` and `knees` are there only where they are used.
"""

from .cards import canonical

FORMAT = "hf-position/1"


class Side:
    def __init__(self, melds=None, books=(), red3=0, opened=False):
        self.melds = dict(melds or {})
        self.books = list(books)
        self.red3 = red3
        self.opened = opened

    def copy(self):
        return Side(self.melds, self.books, self.red3, self.opened)


def write(game):
    position = {
        "format": FORMAT,
        "rules": game.rules_name,
        "seed": game.seed,
        "deal": game.deal,
        "dealer": game.dealer,
        "scores": list(game.scores),
        "turns": game.turns,
        "reshuffles": game.reshuffles,
        "turn": _turn(game),
        "hands": list(game.hands),
        "feet": list(game.feet),
        "known": list(game.known),
        "stock": game.stock,
        "discard": game.discard,
        "sides": [{"melds": dict(s.melds), "books": list(s.books), "red3": s.red3, "opened": s.opened} for s in game.sides],
    }
    return position | _house_fields(game)


def _turn(game):
    return {
        "seat": game.seat,
        "phase": game.phase,
        "asked": game.asked,
        "answers": {str(seat): answer for seat, answer in game.answers.items()},
        "may_go_out": game.may_go_out,
        "laid": game.laid,
        "taking": game.taking,
    }


def _house_fields(game):
    """12.33."""
    fields = {}
    if game.must_use:
        fields["must_use"] = game.must_use
    if game.in_last_round() and not game.over:
        fields |= {"turns_left": game.turns_left, "out": game.out_seat}
    if game.last_turn and not game.over:
        fields["last_turn"] = True
    if game.knees is not None:
        fields["knees"] = list(game.knees)
    return fields


def read(game, position):
    """Set a game that has its options to the position."""
    p, turn = position, position["turn"]
    game.rules_name = p["rules"]
    game.turns = p["turns"]
    game.reshuffles = p["reshuffles"]
    game.seat = turn["seat"]
    game.phase = turn["phase"]
    game.asked = turn["asked"]
    game.answers = {int(seat): answer for seat, answer in turn["answers"].items()}
    game.may_go_out = turn["may_go_out"]
    game.laid = turn["laid"]
    game.taking = turn["taking"]
    game.hands = [canonical(hand) for hand in p["hands"]]
    game.feet = [_packet(foot) for foot in p["feet"]]
    game.known = [canonical(known) for known in p["known"]]
    game.stock = p["stock"]
    game.discard = p["discard"]
    game.sides = [Side(s["melds"], s["books"], s["red3"], s["opened"]) for s in p["sides"]]
    game.must_use = p.get("must_use", "")
    game.turns_left, game.out_seat = p.get("turns_left"), p.get("out")
    game.last_turn = p.get("last_turn", False)
    game.knees = [_packet(knee) for knee in p["knees"]] if "knees" in p else None


def _packet(cards):
    return None if cards is None else canonical(cards)
