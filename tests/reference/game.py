"""One deal of Hand and Foot, written from the rules for clarity. Slow; for comparison only."""

from .laying import LAYDOWNS, Options, by_deal, canonical, without
from .scoring import side_score
from .taking import number_taken, take

FORMAT = "hf-position/1"


class Side:
    def __init__(self, melds=None, books=(), red3=0, opened=False):
        self.melds = dict(melds or {})
        self.books = list(books)
        self.red3 = red3
        self.opened = opened


class ReferenceGame:
    """One deal. See `legal`, `apply`, `position`, `deal_scores`."""

    def __init__(self, rules, seed, deal, dealer, deck, reshuffle=None, scores=None):
        options = self._common(rules, seed, deal, dealer, reshuffle, scores)
        self.sides = [Side() for _ in range(options.num_sides())]
        players = options.players
        first = (dealer + 1) % players
        order = [(first + i) % players for i in range(players)]
        self.hands = [""] * players
        self.feet = [None] * players
        self.known = [""] * players
        at = 0
        for seat in order:
            self.hands[seat] = canonical(deck[at : at + options.hand_size])
            at += options.hand_size
        for seat in order:
            self.feet[seat] = canonical(deck[at : at + options.foot_size])
            at += options.foot_size
        self.discard = deck[at]
        self.stock = deck[at + 1 :]
        self.seat = first
        for seat in order:  # Rule 3: red 3s in the hands are laid and replaced before the first turn
            self._lay_red3s_and_replace(seat)

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
        self._begin_turn(0)
        return options

    @classmethod
    def from_position(cls, rules, position, reshuffle=None):
        game = cls.__new__(cls)
        p, turn = position, position["turn"]
        if p["format"] != FORMAT:
            raise ValueError(f"not {FORMAT}")
        game._common(rules, p["seed"], p["deal"], p["dealer"], reshuffle, p["scores"])
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
        game.feet = [None if foot is None else canonical(foot) for foot in p["feet"]]
        game.known = [canonical(known) for known in p["known"]]
        game.stock = p["stock"]
        game.discard = p["discard"]
        game.sides = [Side(s["melds"], s["books"], s["red3"], s["opened"]) for s in p["sides"]]
        return game

    def position(self):
        return {
            "format": FORMAT,
            "rules": self.rules_name,
            "seed": self.seed,
            "deal": self.deal,
            "dealer": self.dealer,
            "scores": list(self.scores),
            "turns": self.turns,
            "reshuffles": self.reshuffles,
            "turn": {
                "seat": self.seat,
                "phase": self.phase,
                "asked": self.asked,
                "answers": {str(seat): answer for seat, answer in self.answers.items()},
                "may_go_out": self.may_go_out,
                "laid": self.laid,
                "taking": self.taking,
            },
            "hands": list(self.hands),
            "feet": list(self.feet),
            "known": list(self.known),
            "stock": self.stock,
            "discard": self.discard,
            "sides": [{"melds": dict(s.melds), "books": list(s.books), "red3": s.red3, "opened": s.opened} for s in self.sides],
        }

    # ---------------------------------------------------------------------------------------- who, what

    def _begin_turn(self, seat):
        self.seat = seat
        self.phase = "draw"
        self.asked = False
        self.answers = {}
        self.may_go_out = False
        self.laid = 0
        self.taking = 0

    def side(self, seat=None):
        return self.sides[self.options.side_of(self.seat if seat is None else seat)]

    def _partners(self, seat):
        """The partners in turn order, from the seat after this one."""
        players = self.options.players
        others = [(seat + i) % players for i in range(1, players)]
        return [other for other in others if self.options.side_of(other) == self.options.side_of(seat)]

    def _in_foot(self, seat):
        return self.feet[seat] is None

    def _opening_unfinished(self):
        side = self.side()
        return not side.opened and bool(side.melds or side.books)

    def to_move(self):
        if self.phase == "answer":
            return next(seat for seat in self._partners(self.seat) if seat not in self.answers)
        return self.seat

    # --------------------------------------------------------------------------------------- going out

    def _partners_ready(self):
        """Rule 7.2. A partner whose foot is picked up has played part of a turn from it, since it is not its turn now."""
        return not self.options.partner_foot or all(self._in_foot(seat) for seat in self._partners(self.seat))

    def _going_out_allowed(self, books):
        """Rule 7, 1 to 3, with these books of the side."""
        permitted = self.options.permission == "none" or not self._partners(self.seat) or self.may_go_out
        return permitted and self._partners_ready() and self.options.quota_met(self.deal, books)

    def _keeps_enough(self, hand, melds, books):
        """Rule 7, keeping a card: may a player in the foot be left with this hand before the discard?"""
        final_discard = self.options.final_discard
        if len(hand) >= 2:
            return True
        if len(hand) == 0:
            return final_discard != "required" and self._going_out_allowed(books)
        if final_discard != "forbidden" and self._going_out_allowed(books):
            return True
        if final_discard != "required":
            for label, (_, cards) in LAYDOWNS.items():
                if cards == hand:
                    after = self.options.lay(label, melds, books)
                    if after is not None and self._going_out_allowed(after[1]):
                        return True
        return False

    def _bound_to_go_out(self):
        return self.options.permission == "binding_both" and self.may_go_out

    # ------------------------------------------------------------------------------------ legal actions

    def legal(self):
        if self.over:
            return set()
        if self.phase == "answer":
            return {"yes", "no"}
        if self.phase == "draw":
            return {"draw"} | {label for label in ("take", "take+2", "take+*", "take>meld") if self._take_legal(label)}
        labels = {label for label in LAYDOWNS if self._laydown_legal(label)}
        if self._opening_unfinished():
            return labels
        if self._ask_legal():
            labels.add("ask")
        if self._discard_legal():
            labels |= {f"discard {card}" for card in set(self.hands[self.seat])}
        return labels

    def _laydown_legal(self, label):
        hand = without(self.hands[self.seat], LAYDOWNS[label][1])
        if hand is None:
            return False
        side = self.side()
        after = self.options.lay(label, side.melds, side.books)
        if after is None:
            return False
        return self._state_legal(hand, *after, LAYDOWNS[label][1], self.discard[: self.taking])

    def _state_legal(self, hand, melds, books, laid_cards, owed):
        """May a lay-down or take lead to this? `owed`: the cards of a take that come once the side is open."""
        if not self.side().opened:
            laid = self.laid + self.options.value(laid_cards)
            if laid < self.options.opening_minimum(self.deal):
                return self.options.can_reach(self.deal, hand, melds, books, laid)
        hand += owed.replace("r", "")
        if self._in_foot(self.seat):
            if not self._keeps_enough(hand, melds, books):
                return False
            if hand and self._bound_to_go_out():
                return self.options.can_finish(self.deal, hand, melds, books)
        return True

    def _ask_legal(self):
        side = self.side()
        if self.options.permission == "none" or self.asked or not self._partners(self.seat):
            return False
        if not (self._in_foot(self.seat) and self._partners_ready() and self.options.quota_met(self.deal, side.books)):
            return False
        if self.options.permission == "binding_both":
            return self.options.can_finish(self.deal, self.hands[self.seat], side.melds, side.books)
        return True

    def _discard_legal(self):
        """Any card of the hand, or none."""
        if not self._in_foot(self.seat):
            return True
        if len(self.hands[self.seat]) == 1:
            return self.options.final_discard != "forbidden" and self._going_out_allowed(self.side().books)
        return not self._bound_to_go_out()

    # ----------------------------------------------------------------------- Rule 5, taking the discards

    def _take_legal(self, label):
        taken = take(self, label)
        return taken is not None and self._state_legal(*taken, self.discard[1 : number_taken(self)])

    # -------------------------------------------------------------------------------------------- apply

    def apply(self, label):
        if label not in self.legal():
            raise ValueError(f"illegal: {label}")
        if label == "draw":
            self._apply_draw()
        elif label.startswith("take"):
            self._apply_take(label)
        elif label in LAYDOWNS:
            side = self.side()
            cards = LAYDOWNS[label][1]
            side.melds, side.books = self.options.lay(label, side.melds, side.books)
            self._play_from_hand(cards)
            self._after_laying(cards)
        elif label == "ask":
            self.asked = True
            self.phase = "answer"
        elif label in ("yes", "no"):
            self.answers[self.to_move()] = label
            if label == "no":
                self.phase = "play"
            elif len(self.answers) == len(self._partners(self.seat)):
                self.phase = "play"
                self.may_go_out = True
        else:
            self._apply_discard(label[-1])

    def _end(self, reason, out_seat=None):
        self.over = True
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
        self._draw_cards()
        if not self.over:
            self.phase = "play"

    def _draw_cards(self):
        number = by_deal(self.options.draw, self.deal)
        if self.options.stock_out == "end_deal" and len(self.stock) < number:
            self._end("stock_draw")
            return
        if self.options.stock_out == "end_deal":
            came = 0
            while came < number:
                card = self._next_card()
                if card is None:
                    self._end("stock_red3")  # the stock held enough for the draw, so a replacement is missing
                    return
                came += card != "r"
                self._receive(self.seat, card)
            return
        for _ in range(number):
            card = self._next_card()
            if card is None:
                self._end("stock_draw")
                return
            self._receive(self.seat, card)
            if card == "r" and not self._replace_one(self.seat):
                return

    def _next_card(self):
        """Rule 8: the next card of the stock, after a reshuffle if it must be and may be; None if there is none."""
        if not self.stock and self.options.stock_out == "reshuffle" and len(self.discard) > 1:
            cards = self.discard[1:]
            order = self.reshuffle(self.reshuffles, cards)
            assert sorted(order) == sorted(cards)
            self.reshuffles += 1
            self.discard = self.discard[0]
            self.stock = order
        if not self.stock:
            return None
        card, self.stock = self.stock[0], self.stock[1:]
        return card

    def _receive(self, seat, card):
        if card == "r":
            self.side(seat).red3 += 1
        else:
            self.hands[seat] = canonical(self.hands[seat] + card)

    def _replace_one(self, seat):
        """Draw the replacement of a red 3, again if it is one. False, and the deal is over, if there is none."""
        while True:
            card = self._next_card()
            if card is None:
                self._end("stock_red3")
                return False
            self._receive(seat, card)
            if card != "r":
                return True

    def _lay_red3s_and_replace(self, seat):
        """Lay all red 3s of a hand; then draw as many cards, one at a time."""
        number = self.hands[seat].count("r")
        self.hands[seat] = self.hands[seat].replace("r", "")
        self.side(seat).red3 += number
        for _ in range(number):
            if self.over or not self._replace_one(seat):
                return

    def _pick_up_foot(self, seat):
        self.hands[seat] = self.feet[seat]
        self.feet[seat] = None
        self._lay_red3s_and_replace(seat)

    def _apply_take(self, label):
        number = number_taken(self)
        side = self.side()
        _, side.melds, side.books, laid_cards = take(self, label)
        top = self.discard[0]
        self._play_from_hand(without(laid_cards, top))
        self.discard = self.discard[1:]
        self.taking = number - 1
        self.phase = "play"
        self._after_laying(laid_cards)

    def _after_laying(self, cards):
        """Rule 4, opening; then the cards owed by a take; then what an empty hand means."""
        side, seat = self.side(), self.seat
        if not side.opened:
            self.laid += self.options.value(cards)
            if self.laid < self.options.opening_minimum(self.deal):
                return
            side.opened = True
            self.laid = 0
        owed, self.discard = self.discard[: self.taking], self.discard[self.taking :]
        self.taking = 0
        for card in owed:
            self._receive(seat, card)
            if card != "r":
                self.known[seat] = canonical(self.known[seat] + card)
        if not self.hands[seat]:
            if self._in_foot(seat):
                self._end("out", seat)
            else:
                self._pick_up_foot(seat)

    def _apply_discard(self, card):
        seat = self.seat
        self._play_from_hand(card)
        self.discard = card + self.discard
        self.turns += 1
        if not self.hands[seat] and self._in_foot(seat):
            self._end("out", seat)
            return
        if self.turns >= self.options.max_turns:
            self._end("max_turns")
            return
        self._begin_turn((seat + 1) % self.options.players)
        if not self.hands[self.seat]:
            self._pick_up_foot(self.seat)

    def deal_scores(self):
        return [side_score(self, number) for number in range(len(self.sides))]
