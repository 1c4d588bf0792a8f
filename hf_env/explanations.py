"""Why an action is illegal, in one sentence with the numbers.

The engine says whether an action is legal; this module only finds the words, asking in the order in which a player
would. Rule clauses: docs/rules.md 4 to 7.
"""

import numpy as np

from hf_env.actions import ACTIONS
from hf_env.engine import action_ids as ids
from hf_env.engine.access import most_after, play_action, write_legal
from hf_env.engine.cards import BLACK3, JOKER, KIND_CHARS, NUM_NATURALS, RED3, TWO, WILD
from hf_env.engine.state import (
    ANY_MELD,
    AT_MOST,
    BINDING_BOTH,
    FINAL_FORBIDDEN,
    FINAL_REQUIRED,
    GROW_ANY,
    GROW_NONE,
    MAX_DEAL_ENTRIES,
    MORE_NATURALS,
    NATURAL_AND_WILD,
    NO_LIMIT,
    PERMISSION_NONE,
    PHASE_ANSWER,
    PHASE_DRAW,
    PHASE_OVER,
    TWO_TO_ONE,
)
from hf_env.engine.workspace import make_workspace

# What is said where no other sentence fits; tests show that it never is.
FALLBACK = "the rules do not allow it here"
IT_IS_LEGAL = "it is legal"
# Naturals, 2s and jokers of the hand that each take of a natural top card needs.
_KEYS = {ids.TAKE: (2, 0, 0), ids.TAKE_TWO: (1, 1, 0), ids.TAKE_JOKER: (1, 0, 1), ids.TAKE_MELD: (0, 0, 0)}
BOUND = "after the yes only lay-downs that can still end in going out are legal (permission = binding_both)"


def why_illegal(games: np.ndarray, i: int, rules: np.ndarray, action: int) -> str:
    """One sentence, without a full stop, on why the seat to move in games[i] may not play `action`.

    games: (N,) GAME_DTYPE; rules: (R,) RULES_DTYPE, indexed by a game's `rule`; action: 0 to 126. Nothing is changed.
    "it is legal" for a legal action. Raises ValueError for a number that is no action.
    """
    ACTIONS.label(action)
    return _Question(games, i, rules).answer(int(action))


def wild_limit_reason(r: np.void, cards: str, naturals: int, wilds: int, is_grown: bool) -> str | None:
    """Why `cards`, a meld of a natural rank, may not hold so many wilds; None if it may. Rule: docs/rules.md 4.7, 4.8."""
    if wilds == 0:
        return None
    if naturals < r["min_naturals"]:
        return f"{cards} would hold {_count(naturals, 'natural')} beside a wild; min_naturals = {r['min_naturals']}"
    has = f"{cards} would hold {_count(wilds, 'wild')} for {_count(naturals, 'natural')}"
    if r["wild_limit"] == TWO_TO_ONE and naturals < 2 * wilds:
        return f"{has}; two_to_one allows {naturals // 2}"
    if r["wild_limit"] == MORE_NATURALS and naturals <= wilds:
        return f"{has}; more_naturals allows {naturals - 1}"
    if r["wild_limit"] == AT_MOST and not is_grown and wilds > r["max_wilds"]:
        return f"{cards} would hold {_count(wilds, 'wild')}; max_wilds = {r['max_wilds']}"
    return None


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _lay_down(action: int) -> tuple[int, int, int, int]:
    """(rank, naturals, 2s, jokers) of a lay-down."""
    if action < ids.MELD_WILD:
        pattern = (action - ids.MELD) % ids.NUM_PATTERNS
        naturals, twos, jokers = (int(table[pattern]) for table in (ids.PATTERN_NATURALS, ids.PATTERN_TWOS, ids.PATTERN_JOKERS))
        return (action - ids.MELD) // ids.NUM_PATTERNS, naturals, twos, jokers
    if action < ids.ADD:
        jokers = action - ids.MELD_WILD
        return WILD, 0, 3 - jokers, jokers
    if action < ids.ADD_TWO:
        return action - ids.ADD, 1, 0, 0
    if action < ids.ADD_TWO_WILD:
        is_joker = action >= ids.ADD_JOKER
        rank = action - (ids.ADD_JOKER if is_joker else ids.ADD_TWO)
        return rank, 0, int(not is_joker), int(is_joker)
    return WILD, 0, int(action == ids.ADD_TWO_WILD), int(action == ids.ADD_JOKER_WILD)


def _cards(rank: int, naturals: int, twos: int, jokers: int) -> str:
    return (KIND_CHARS[rank] * naturals if rank != WILD else "") + KIND_CHARS[TWO] * twos + KIND_CHARS[JOKER] * jokers


class _Question:
    """One game and its seat to move."""

    def __init__(self, games: np.ndarray, i: int, rules: np.ndarray) -> None:
        self.games, self.i, self.rules = games, i, rules
        self.g = games[i]
        self.r = rules[int(self.g["rule"])]
        self.seat = int(self.g["to_move"])
        self.side = self.seat % int(self.r["sides"])
        self.hand = [int(count) for count in self.g["hands"][self.seat]]
        self.work = make_workspace()

    def answer(self, action: int) -> str:
        phase = int(self.g["phase"])
        if phase == PHASE_OVER:
            return "the deal is over"
        write_legal(self.games, self.i, self.rules, self.work)
        if self.work.mask[action]:
            return IT_IS_LEGAL
        if phase == PHASE_ANSWER:
            return f"seat {self.seat} must answer first whether seat {int(self.g['turn_seat'])} may go out"
        if action in (ids.YES, ids.NO):
            return "no partner has asked to go out"
        if phase == PHASE_DRAW:
            return self._take(action) if action < ids.MELD else "a turn begins with drawing or taking"
        if action < ids.MELD:
            return "drawing or taking begins a turn, and this one has begun"
        if action < ids.ASK:
            return self._lay_down(action)
        return self._ask() if action == ids.ASK else self._discard(action - ids.DISCARD)

    # ------------------------------------------------------------------------------------------------- taking

    def _take(self, action: int) -> str:
        g, r = self.g, self.r
        if r["take_count"] == 0:
            return "take_count = 0: nothing is taken from the discard pile"
        size = int(g["discard_size"])
        if size == 0:
            return "the discard pile is empty"
        if r["take_needs_open"] and not g["opened"][self.side]:
            return "the side has not opened on an earlier turn (take_needs_open)"
        top = int(g["discard"][size - 1])
        if top in (BLACK3, RED3):
            return f"a {'black' if top == BLACK3 else 'red'} 3 on top blocks the discard pile"
        reason = self._take_wild(action, top) if top in (TWO, JOKER) else self._take_natural(action, top)
        return reason or self._after(action)

    def _take_wild(self, action: int, top: int) -> str | None:
        r, card = self.r, KIND_CHARS[top]
        if not r["take_wild_top"]:
            return f"a wild on top ({card}) blocks the discard pile (take_wild_top = blocked)"
        if r["wild_discard_freezes"]:
            return f"a wild lies in the discard pile: two naturals take it, only under a natural top card, not {card}"
        if action != ids.TAKE:
            return f"only a pair of {card} takes the {card} on top"
        if self.hand[top] < 2:
            return f"the hand holds {self.hand[top]} of the two {card} needed"
        held = self._open(WILD)
        if sum(held) == 0:
            return self._no_wild_start()
        if sum(held) + 3 > r["book_size"]:
            return f"three cards do not fit: the wild meld has {sum(held)}, a book has {int(r['book_size'])}"
        return None

    def _take_natural(self, action: int, top: int) -> str | None:
        g, r, card = self.g, self.r, KIND_CHARS[top]
        if action != ids.TAKE and r["wild_discard_freezes"] and g["discard_kinds"][TWO] + g["discard_kinds"][JOKER] > 0:
            return "a wild lies in the discard pile: only two naturals take it (wild_discard_freezes)"
        naturals, twos, jokers = _KEYS[action]
        if action == ids.TAKE_MELD and r["take_key"] != ANY_MELD:
            return "the top card alone takes nothing (take_key is not any_meld)"
        if action in (ids.TAKE_TWO, ids.TAKE_JOKER) and r["take_key"] < NATURAL_AND_WILD:
            return "a natural and a wild take nothing (take_key = natural_pair)"
        missing = self._missing(top, naturals, twos, jokers)
        if missing:
            return missing
        held = self._open(top)
        if action == ids.TAKE_MELD and sum(held) == 0:
            return f"the side has no open meld of {card}"
        added = naturals + twos + jokers + 1
        if sum(held) + added > r["book_size"]:
            size = int(r["book_size"])
            return f"{_count(added, 'card')} do not fit: the meld of {card} has {sum(held)}, a book has {size}"
        after = (held[0] + naturals + 1, held[1] + twos, held[2] + jokers)
        return wild_limit_reason(r, f"the meld {_cards(top, *after)}", after[0], after[1] + after[2], False)

    # --------------------------------------------------------------------------------------------- laying down

    def _lay_down(self, action: int) -> str:
        rank, naturals, twos, jokers = _lay_down(action)
        missing = self._missing(rank, naturals, twos, jokers)
        if missing:
            return missing
        held = self._open(rank)
        name = "wild meld" if rank == WILD else f"meld of {KIND_CHARS[rank]}"
        if action < ids.ADD:
            if sum(held) > 0:
                return f"the side's {name} is open already ({_cards(rank, *held)}): add to it"
            reason = self._no_wild_start() if rank == WILD else None
        elif sum(held) == 0:
            reason = self._no_growth(rank, twos + jokers > 0, name)
        else:
            reason = None
        if reason is None and rank != WILD and (action < ids.ADD or sum(held) > 0):
            after = (held[0] + naturals, held[1] + twos, held[2] + jokers)
            reason = wild_limit_reason(self.r, f"the meld {_cards(rank, *after)}", after[0], after[1] + after[2], False)
        return reason or self._after(action)

    def _open(self, rank: int) -> tuple[int, int, int]:
        """Naturals, 2s and jokers of the side's open meld."""
        naturals, twos, jokers = (int(self.g[name][self.side, rank]) for name in ("naturals", "twos", "jokers"))
        return naturals, twos, jokers

    def _missing(self, rank: int, naturals: int, twos: int, jokers: int) -> str | None:
        for kind, needed in ((rank, naturals), (TWO, twos), (JOKER, jokers)):
            if needed and self.hand[kind] < needed:
                held = self.hand[kind]
                card = KIND_CHARS[kind]
                return f"the hand holds {f'only {held} of the {needed} {card} needed' if held else f'no {card}'}"
        return None

    def _no_wild_start(self) -> str | None:
        if not self.r["wild_melds"]:
            return "wild melds are not allowed (wild_melds = false)"
        books, cap = int(self.g["clean_books"][self.side, WILD]), int(self.r["wild_book_cap"])
        if cap != NO_LIMIT and books >= cap:
            return f"the side has {_count(books, 'wild book')}; wild_book_cap = {cap}"
        return None

    def _no_growth(self, rank: int, is_wild: bool, name: str) -> str | None:
        """Why a card without an open meld cannot go onto a book either."""
        g, grow = self.g, int(self.r["grow"])
        books = int(g["clean_books"][self.side, rank]) + int(g["dirty_books"][self.side, rank])
        if books == 0:
            return f"the side has no open {name}"
        if grow == GROW_NONE:
            return f"the side has no open {name}, and books are closed (add_to_complete = none)"
        if is_wild and grow != GROW_ANY:
            return f"the side has no open {name}, and books take naturals only (add_to_complete = naturals)"
        if is_wild and rank != WILD and not self._some_book_takes_a_wild(rank):
            return f"no book of {KIND_CHARS[rank]} may hold another wild within the wild limit"
        return None

    def _some_book_takes_a_wild(self, rank: int) -> bool:
        """Whether some book of the rank takes a wild."""
        g = self.g
        for book in range(int(g["num_books"])):
            if g["book_side"][book] != self.side or g["book_rank"][book] != rank:
                continue
            naturals = int(g["book_naturals"][book])
            wilds = int(g["book_twos"][book]) + int(g["book_jokers"][book])
            if wild_limit_reason(self.r, "", naturals, wilds + 1, True) is None:
                return True
        return False

    # ------------------------------------------------------------------- what a lay-down or take would lead to

    def _after(self, action: int) -> str:
        """The cards are held and fit; it is what comes after it that forbids it."""
        if not self.g["opened"][self.side]:
            return self._opening(action)
        if self.r["permission"] == BINDING_BOTH and self.g["may_go_out"]:
            return BOUND
        after = self.games[self.i : self.i + 1].copy()
        play_action(after, 0, self.rules, action)
        left = int(after[0]["hand_sizes"][self.seat])
        if not self.g["in_foot"][self.seat] or left > 1:
            return FALLBACK
        obstacle = self._obstacle_to_going_out(after[0])
        if left == 0 and self.r["final_discard"] == FINAL_REQUIRED:
            return "it would lay the last card, which must be discarded (final_discard = required)"
        if left == 1 and obstacle is None:
            return "it would leave 1 card, which can neither be laid nor discarded (final_discard = forbidden)"
        if obstacle is None:
            return FALLBACK
        return f"it would leave {_count(left, 'card')} in the foot, and going out is not allowed: {obstacle}"

    def _opening(self, action: int) -> str:
        most = int(most_after(self.games, self.i, self.rules, action, self.work))
        return f"the opening needs {self._minimum()} points, and with it the hand can lay {most} at most"

    def _minimum(self) -> int:
        r, deal = self.r, int(self.g["deal"])
        length = int(r["num_openings"])
        index = (deal - 1) % length if r["opening_cycles"] else min(deal, length) - 1
        return int(r["opening"][index])

    def _obstacle_to_going_out(self, g: np.void) -> str | None:
        """What forbids the seat to go out in a state of this game."""
        lack = self._quota_lack(g) or self._partner_lack()
        if lack is None and self.r["permission"] != PERMISSION_NONE and not self.g["may_go_out"]:
            answered = "a partner said no" if self.g["asked"] else "no partner was asked"
            return f"there is no permission, as {answered}"
        return lack

    def _quota_lack(self, g: np.void) -> str | None:
        quota = [int(n) for n in self.r["quota"][min(int(g["deal"]), MAX_DEAL_ENTRIES) - 1]]
        clean = int(g["clean_books"][self.side][:NUM_NATURALS].sum())
        books = (clean, int(g["dirty_books"][self.side].sum()), int(g["clean_books"][self.side, WILD]))
        for name, have, need in zip(("clean", "dirty", "wild"), books, quota, strict=True):
            if have < need:
                return f"the side would have {have} of {_count(need, f'{name} book')} needed"
        return None

    def _partner_lack(self) -> str | None:
        if not self.r["partner_foot"]:
            return None
        for other in range(self.side, int(self.r["players"]), int(self.r["sides"])):
            if other != self.seat and not self.g["in_foot"][other]:
                return f"seat {other} has not picked up the foot"
        return None

    # ------------------------------------------------------------------------------------- asking, discarding

    def _opening_unfinished(self) -> str | None:
        if self.g["opened"][self.side] or not self.g["table"][self.side].any():
            return None
        return f"the opening is not finished: {int(self.g['laid'])} of {self._minimum()} points are laid"

    def _ask(self) -> str:
        if self.r["permission"] == PERMISSION_NONE:
            return "nobody is asked (permission = none)"
        if self.g["asked"]:
            return "the question was asked this turn"
        unfinished = self._opening_unfinished()
        if unfinished:
            return unfinished
        if not self.g["in_foot"][self.seat]:
            return f"seat {self.seat} is not in the foot"
        lack = self._quota_lack(self.g) or self._partner_lack()
        if lack:
            return lack.replace("would have", "has")
        if self.r["permission"] == BINDING_BOTH:
            return "no sequence of lay-downs from this hand ends in going out (permission = binding_both)"
        return FALLBACK

    def _discard(self, kind: int) -> str:
        if self.hand[kind] == 0:
            return f"the hand holds no {KIND_CHARS[kind]}"
        unfinished = self._opening_unfinished()
        if unfinished:
            return unfinished
        if not self.g["in_foot"][self.seat]:
            return FALLBACK
        if sum(self.hand) == 1:
            obstacle = self._obstacle_to_going_out(self.g)
            if obstacle:
                lack = obstacle.replace("would have", "has")
                return f"it is the last card in the foot, and going out is not allowed: {lack}"
            if self.r["final_discard"] == FINAL_FORBIDDEN:
                return "the last card must be laid, not discarded (final_discard = forbidden)"
        if self.r["permission"] == BINDING_BOTH and self.g["may_go_out"]:
            return BOUND
        return FALLBACK
