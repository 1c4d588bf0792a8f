"""States of a game from the few cards that matter, all others put where they do not.

``at("KK2b", melds="444", discard="K...")`` is seat 0 of whitnack with that hand, a side that has opened, and the king on
top of all the cards that are nowhere else. Whatever is no field of a state is an option of the rule set. What is built
is a whole position: every card of the decks lies somewhere, and ``from_position`` checks it.

Fields: ``hand``, ``foot`` (of the seat to move), ``hands``, ``feet`` (by other seats), ``in_foot`` (seats whose foot is
picked up), ``known`` (by seats), ``melds``, ``books`` (texts such as ``"KKK2 22*"``), ``red3``, ``opened`` (of the side to
move; open where it has cards on the table or a foot picked up), ``sides`` (the same of other sides), ``stock``, ``discard``
(first card first, top card first; a text that ends with ``...`` takes the cards that are left, by default the stock), ``phase``, ``seat``,
``deal``, ``dealer``, ``turns``, ``answers`` (by seats; ``asked`` follows), ``laid``, ``taking``, ``scores``, ``seed``.
"""

from collections import Counter
from typing import Any

from hf_env.actions import ACTIONS
from hf_env.engine.access import GameAccess
from hf_env.engine.cards import CARDS_PER_DECK, KIND_CHARS
from hf_env.engine.invariants import MESSAGES
from hf_env.explanations import why_illegal
from hf_env.positions import from_position, to_position
from hf_env.positions.schema import END_REASONS, parse_meld
from hf_env.rules import RuleSet, load_rules
from tests.differential.harness import reshuffled
from tests.reference.game import ReferenceGame

OPTIONS = frozenset(RuleSet.model_fields)
FIELDS = frozenset(
    [
        "hand",
        "foot",
        "hands",
        "feet",
        "in_foot",
        "known",
        "melds",
        "books",
        "red3",
        "opened",
        "sides",
        "stock",
        "discard",
        "phase",
        "seat",
        "deal",
        "dealer",
        "turns",
        "asked",
        "answers",
        "laid",
        "taking",
        "scores",
        "seed",
    ]
)
SPECIAL = "2*br"
REST = "..."


class State(dict[str, Any]):
    """A partial description of a state: the fields and options that were given."""

    def but(self, **changes: Any) -> "State":
        """The same with other values of some fields."""
        return State(self | changes)

    @property
    def options(self) -> dict[str, Any]:
        """The options that differ from the preset."""
        return {key: value for key, value in self.items() if key in OPTIONS}

    @property
    def rules(self) -> RuleSet:
        """The rule set."""
        return load_rules(self.options)


def at(hand: str = "45", **fields: Any) -> State:
    """The state described; see the module."""
    unknown = set(fields) - FIELDS - OPTIONS
    assert not unknown, f"neither a field nor an option: {unknown}"
    return State(hand=hand, **fields)


def canonical(cards: str) -> str:
    """The cards in the order of kinds."""
    return "".join(sorted(cards, key=KIND_CHARS.index))


class _Deck:
    """The cards that have no place yet."""

    def __init__(self, decks: int) -> None:
        self.left = Counter({kind: n * decks for kind, n in zip(KIND_CHARS, CARDS_PER_DECK, strict=True)})

    def take(self, cards: str) -> str:
        """Cards asked for."""
        self.left.subtract(cards)
        assert min(self.left.values()) >= 0, f"the decks do not hold {[c for c, n in self.left.items() if n < 0]}"
        return canonical(cards)

    def filler(self, number: int) -> str:
        """So many natural cards, of those kinds of which most are left."""
        chosen = ""
        for _ in range(number):
            chosen += self.take(max((kind for kind in KIND_CHARS if kind not in SPECIAL), key=lambda kind: self.left[kind]))
        return canonical(chosen)

    def rest(self, red3s: bool) -> str:
        """All that is left, with or without the red 3s, which come last."""
        return self.take("".join(kind * n for kind, n in self.left.items() if red3s or kind != "r"))


def _side(given: dict[str, Any], deck: _Deck, up: bool) -> dict[str, Any]:
    melds = [deck.take(cards) for cards in given.get("melds", "").split()]
    books = [deck.take(cards) for cards in given.get("books", "").split()]
    red3 = len(deck.take("r" * given.get("red3", 0)))
    opened = given.get("opened", bool(melds or books or up))
    return {"melds": {parse_meld(cards)[0]: cards for cards in melds}, "books": books, "red3": red3, "opened": opened}


def position_of(state: State) -> dict[str, Any]:
    """The whole position of a state."""
    rules, deck = state.rules, _Deck(state.rules.decks)
    seat, players = state.get("seat", 0), rules.players
    side = rules.side_of(seat)
    up = state.get("in_foot", ())
    own = {name: state[name] for name in ("melds", "books", "red3", "opened") if name in state}
    given = state.get("sides", {}) | {side: state.get("sides", {}).get(side, {}) | own}
    sides = [_side(given.get(n, {}), deck, any(rules.side_of(s) == n for s in up)) for n in range(rules.num_sides)]
    hands = {seat: state["hand"]} | state.get("hands", {})
    feet = state.get("feet", {}) | ({seat: state["foot"]} if "foot" in state else {})
    feet = {s: cards for s, cards in feet.items() if s not in up}
    piles = {"stock": state.get("stock", REST), "discard": state.get("discard", "b")}
    if "stock" not in state and REST in "".join([piles["discard"], *hands.values()]):
        piles["stock"] = "4567" * 2
    if REST not in "".join([*piles.values(), *hands.values()]):
        assert "discard" not in state, "no place for the other cards"
        piles["discard"] += REST
    for cards in (*hands.values(), *feet.values(), *piles.values()):
        deck.take(cards.replace(REST, ""))
    all_hands = [hands.get(s) if s in hands else deck.filler(2) for s in range(players)]
    all_feet = [None if s in up else feet.get(s) or deck.filler(rules.foot_size) for s in range(players)]
    rest = deck.rest(red3s=piles["stock"].endswith(REST))
    sides[-1 if side != rules.num_sides - 1 else 0]["red3"] += len(deck.rest(red3s=True))
    answers = {str(s): answer for s, answer in state.get("answers", {}).items()}
    partners = players // rules.num_sides - 1
    return {
        "format": "hf-position/1",
        "rules": rules.resolved(),
        "seed": state.get("seed", 7),
        "deal": state.get("deal", 1),
        "dealer": state.get("dealer", players - 1),
        "scores": state.get("scores", [0] * rules.num_sides),
        "turns": state.get("turns", 2 * players + seat),
        "reshuffles": 0,
        "turn": {
            "seat": seat,
            "phase": state.get("phase", "play"),
            "asked": state.get("asked", bool(answers)),
            "answers": answers,
            "may_go_out": len(answers) == partners > 0 and "no" not in answers.values(),
            "laid": state.get("laid", 0),
            "taking": state.get("taking", 0),
        },
        "hands": [canonical(cards.replace(REST, rest)) for cards in all_hands],
        "feet": all_feet,
        "known": [canonical(state.get("known", {}).get(s, "")) for s in range(players)],
        "stock": piles["stock"].replace(REST, rest),
        "discard": piles["discard"].replace(REST, rest),
        "sides": sides,
    }


class Game:
    """The engine and the reference at a state, compared there and after every action."""

    def __init__(self, state: State, position: dict[str, Any] | None = None) -> None:
        self.state = state
        self.position = position or position_of(state)
        games, self.rules = from_position(self.position)
        self.engine = GameAccess(self.rules.to_record(), games)
        seed, deal = self.position["seed"], self.position["deal"]
        self.reference = ReferenceGame.from_position(
            self.rules.resolved(), self.position, lambda number, below: reshuffled(seed, deal, number, below)
        )
        self._compare()

    def _compare(self) -> None:
        code = self.engine.broken_invariant()
        assert code == 0, MESSAGES[code]
        self.position = to_position(self.engine.games, 0, self.rules, history=False)
        theirs = self.reference.position()
        for key in theirs:
            if key not in ("rules", "turn", "scores") or (key == "turn" and not self.over):
                assert self.position[key] == theirs[key], f"{key}: the reference differs"
        assert self.legal == self.reference.legal(), "legal actions: the reference differs"
        assert self.over == self.reference.over
        assert self.over or self.to_move == self.reference.to_move()
        if self.over:
            assert (self.end, self.out_seat) == (self.reference.end_reason, self.reference.out_seat)
        assert self.scores == self.reference.deal_scores(), "scores: the reference differs"

    def play(self, *labels: str) -> "Game":
        """Play legal actions, whoever is to move."""
        for label in labels:
            assert label in self.legal, f"{label} is illegal; legal: {sorted(self.legal)}"
            self.engine.play(ACTIONS.parse(label))
            self.reference.apply(label)
            self._compare()
        return self

    def pass_turn(self) -> "Game":
        """The seat to move draws and discards some card."""
        self.play("draw")
        return self.play(min(label for label in self.legal if label.startswith("discard")))

    def why_not(self, label: str) -> str:
        """The reason for which a label is illegal."""
        return why_illegal(self.engine.games, 0, self.engine.rules, ACTIONS.parse(label))

    @property
    def legal(self) -> set[str]:
        """The labels of the legal actions."""
        return {ACTIONS.label(action) for action in self.engine.legal()}

    @property
    def lay_downs(self) -> set[str]:
        """The legal lay-downs."""
        return {label for label in self.legal if label.startswith(("meld", "add"))}

    @property
    def over(self) -> bool:
        """Whether the deal is over."""
        return self.engine.is_over

    @property
    def game_over(self) -> bool:
        """Whether the game is over."""
        return bool(self.engine.game["game_over"])

    @property
    def end(self) -> str:
        """Why the deal ended."""
        return END_REASONS[int(self.engine.game["end_reason"])]

    @property
    def out_seat(self) -> int | None:
        """Who went out."""
        seat = int(self.engine.game["out_seat"])
        return None if seat < 0 else seat

    @property
    def scores(self) -> list[int]:
        """What each side scores in this deal, as if it ended now."""
        return self.engine.scores()

    @property
    def to_move(self) -> int:
        """Who decides."""
        return int(self.engine.game["to_move"])

    @property
    def turn(self) -> dict[str, Any]:
        """The turn's fields of the position."""
        return self.position["turn"]

    def hand(self, seat: int = 0) -> str:
        """A seat's hand."""
        return self.position["hands"][seat]

    def up(self, seat: int = 0) -> bool:
        """Whether a seat's foot is picked up."""
        return self.position["feet"][seat] is None

    def side(self, side: int = 0) -> dict[str, Any]:
        """A side's melds, books, red3, opened."""
        return self.position["sides"][side]

    def melds(self, side: int = 0) -> set[str]:
        """A side's open melds."""
        return set(self.side(side)["melds"].values())

    def books(self, side: int = 0) -> list[str]:
        """A side's books in the order of completion."""
        return self.side(side)["books"]
