"""One deal of Hand and Foot, written from the rules for clarity. Slow; for comparison only."""

import copy

from . import going_out, lay_downs, openings, positions, taking, turns
from .cards import ALL_LAYDOWNS, canonical, without
from .laying import Options
from .positions import Side
from .scoring import side_score
from .stock import draw_cards, lay_red3s, receive_known


class ReferenceGame:
    """One deal. See `legal`, `apply`, `position`, `deal_scores`."""

    def __init__(self, rules, seed, deal, dealer, deck, reshuffle=None, scores=None):
        options = self._common(rules, seed, deal, dealer, reshuffle, scores)
        self.sides = [Side() for _ in range(options.num_sides())]
        players = options.players
        first = (dealer + 1) % players
        order = [(first + i) % players for i in range(players)]
        self.known = [""] * players
        rest = self._deal_packets(deck, order)
        if options.upcard:
            self.discard, self.stock = rest[0], rest[1:]
        else:  # 12 `upcard`: the pile begins empty
            self.discard, self.stock = "", rest
        self.seat = first
        for seat in order:  # Rule 3: red 3s in the hands are laid and replaced before the first turn
            if not self.over:
                lay_red3s(self, seat)

    def _deal_packets(self, deck, order):
        """All hands, then (12.23) all knees if there are three packets, then all feet. Gives the rest of the deck."""
        packets = []
        for size in self.options.packet_sizes():
            packets.append([None] * len(order))
            for seat in order:
                packets[-1][seat], deck = canonical(deck[:size]), deck[size:]
        self.hands, *knees, self.feet = packets
        self.knees = knees[0] if knees else None
        return deck

    def _common(self, rules, seed, deal, dealer, reshuffle, scores):
        self.rules = dict(rules)
        self.options = options = Options(rules)
        self.seed, self.deal, self.dealer = seed, deal, dealer
        self.reshuffle = reshuffle
        self.scores = list(scores) if scores is not None else [0] * options.num_sides()
        self.rules_name = rules.get("preset")
        self.turns = 0
        self.reshuffles = 0
        self.over = False
        self.end_reason = None
        self.out_seat = None
        self.turns_left = None  # 12 `last_round`: turns of it that are left, the present one among them
        self.last_turn = False  # 12 `short_draw`: the deal ends with this turn
        self.set_turn(0)
        return options

    @classmethod
    def from_position(cls, rules, position, reshuffle=None):
        if position["format"] != positions.FORMAT:
            raise ValueError(f"not {positions.FORMAT}")
        game = cls.__new__(cls)
        game._common(rules, position["seed"], position["deal"], position["dealer"], reshuffle, position["scores"])
        positions.read(game, position)
        return game

    def position(self):
        return positions.write(self)

    def copy(self):
        """The same state, to try something out."""
        other = copy.copy(self)
        other.hands, other.feet, other.known = list(self.hands), list(self.feet), list(self.known)
        other.knees = None if self.knees is None else list(self.knees)
        other.sides = [side.copy() for side in self.sides]
        other.answers = dict(self.answers)
        return other

    # ---------------------------------------------------------------------------------------- who, what

    def set_turn(self, seat):
        """The turn is this seat's, and nothing has happened in it."""
        self.seat = seat
        self.phase = "draw"
        self.asked = False
        self.answers = {}
        self.may_go_out = False
        self.laid = 0
        self.taking = 0
        self.must_use = ""  # 12.1: the kinds of which one must be laid

    def side(self, seat=None):
        return self.sides[self.options.side_of(self.seat if seat is None else seat)]

    def partners(self, seat):
        """The partners in turn order, from the seat after this one."""
        players = self.options.players
        others = [(seat + i) % players for i in range(1, players)]
        return [other for other in others if self.options.side_of(other) == self.options.side_of(seat)]

    def in_foot(self, seat):
        """Is the seat in its last packet?"""
        return self.feet[seat] is None

    def packet_follows(self, seat):
        return not self.in_foot(seat)

    def packets_to_come(self, seat):
        """The packets of a seat that are not picked up."""
        knee = None if self.knees is None else self.knees[seat]
        return [packet for packet in (knee, self.feet[seat]) if packet is not None]

    def stays_in_hand(self, cards):
        """Those of some cards that come that stay in the hand: red 3s are laid, unless 12 `red3` is penalty."""
        return cards if self.options.keeps_red3s() else cards.replace("r", "")

    def in_last_round(self):
        return self.turns_left is not None

    def opening_unfinished(self):
        side = self.side()
        return not side.opened and bool(side.melds or side.books)

    def to_move(self):
        if self.phase == "answer":
            return next(seat for seat in self.partners(self.seat) if seat not in self.answers)
        return self.seat

    # ------------------------------------------------------------------------------------ legal actions

    def legal(self):
        if self.over:
            return set()
        if self.phase == "answer":
            return {"yes", "no"}
        if self.phase == "draw":
            return {"draw"} | taking.legal(self)
        labels = lay_downs.legal(self)
        if self.opening_unfinished() or self.must_use:  # 12 `any_use`: before anything else than laying
            return labels
        if going_out.ask_legal(self):
            labels.add("ask")
        return labels | {f"discard {card}" for card in going_out.discards(self)}

    # -------------------------------------------------------------------------------------------- apply

    def apply(self, label):
        if label not in self.legal():
            raise ValueError(f"illegal: {label}")
        if label == "draw":
            self._apply_draw()
        elif label.startswith("take"):
            self._apply_take(label)
        elif label in ALL_LAYDOWNS:
            side = self.side()
            side.melds, side.books = self.options.lay(label, side.melds, side.books)
            self.must_use = ""
            self._play_from_hand(ALL_LAYDOWNS[label][1])
            self._after_laying()
        elif label == "ask":
            self.asked = True
            self.phase = "answer"
        elif label in ("yes", "no"):
            self._apply_answer(label)
        else:
            self._apply_discard(label[-1])

    def end(self, reason, out_seat=None):
        self.over = True
        if self.in_last_round():  # 12.9: whatever ends it, the reason stays
            reason, out_seat = "out", self.out_seat
        self.end_reason = reason
        self.out_seat = out_seat

    def _play_from_hand(self, cards):
        """Cards leave the hand; of each kind the publicly known ones first."""
        seat = self.seat
        for card in cards:
            self.hands[seat] = without(self.hands[seat], card)
            if card in self.known[seat]:
                self.known[seat] = without(self.known[seat], card)

    def _apply_draw(self):
        draw_cards(self)
        if not self.over:
            self.phase = "play"
            turns.end_if_stuck(self)

    def _apply_take(self, label):
        kind = taking.kind_of_take(self)
        if kind == "show":
            taking.take_after_showing(self)
        elif kind == "use":
            taking.take_to_use(self)
        else:
            self._take_by_melding(label)
        turns.end_if_stuck(self)

    def _take_by_melding(self, label):
        number = taking.number_taken(self)
        side = self.side()
        _, side.melds, side.books, laid_cards = taking.meld_key(self, label)
        self._play_from_hand(without(laid_cards, self.discard[0]))
        self.discard = self.discard[1:]
        self.taking = number - 1
        self.phase = "play"
        if self.options.take_opens == "counts":  # 12.4: right after the key is melded
            self._receive_what_is_owed()
        self._after_laying()

    def _receive_what_is_owed(self):
        owed, self.discard = self.discard[: self.taking], self.discard[self.taking :]
        self.taking = 0
        receive_known(self, self.seat, owed)

    def _after_laying(self):
        """Rule 4, opening; then the cards owed by a take; then what an empty hand means."""
        side, seat = self.side(), self.seat
        if not side.opened:
            opening = lay_downs.opening_of(self, self.discard[: self.taking])
            if not openings.is_complete(self.options, opening, self.hands[seat], side.melds, side.books):
                self.laid = self.options.opening_worth(side.melds, side.books)
                return
            side.opened = True
            self.laid = 0
        self._receive_what_is_owed()
        if not self.hands[seat]:
            turns.emptied(self, by_laying=True)

    def _apply_answer(self, answer):
        self.answers[self.to_move()] = answer
        if answer == "no":
            self.phase = "play"
        elif len(self.answers) == len(self.partners(self.seat)):
            self.phase = "play"
            self.may_go_out = True
        turns.end_if_stuck(self)

    def _apply_discard(self, card):
        self._play_from_hand(card)
        self.discard = card + self.discard
        if self.hands[self.seat]:
            turns.end(self)
        else:
            turns.emptied(self, by_laying=False)

    def deal_scores(self):
        return [side_score(self, number) for number in range(len(self.sides))]
