"""Why an action is illegal, in one sentence with the numbers.

The engine says whether an action is legal, and what its rules come to here (hf_env/engine/questions.py); this module only
finds the words, asking in the order in which a player would. Rule clauses: docs/rules.md 4 to 7.
"""

import numpy as np

from hf_env.actions import ACTIONS
from hf_env.engine import action_ids as ids
from hf_env.engine.access import most_after, play_action, write_legal
from hf_env.engine.cards import BLACK3, JOKER, KIND_CHARS, RED3, TWO, WILD
from hf_env.engine.questions import ANSWERS_DTYPE, NOBODY, ask_rules, most_wilds
from hf_env.engine.state import (
    ANY_MELD,
    BINDING_BOTH,
    FINAL_FORBIDDEN,
    FINAL_REQUIRED,
    GROW_ANY,
    GROW_NONE,
    MORE_NATURALS,
    NATURAL_AND_WILD,
    PERMISSION_NONE,
    PHASE_ANSWER,
    PHASE_DRAW,
    PHASE_OVER,
    TWO_TO_ONE,
    WILD_BOOKS,
)
from hf_env.engine.workspace import make_workspace

# What is said where no other sentence fits; tests show that it never is.
FALLBACK = "the rules do not allow it here"
IT_IS_LEGAL = "it is legal"
BOUND = "after the yes only lay-downs that can still end in going out are legal (permission = binding_both)"


def why_illegal(games: np.ndarray, i: int, rules: np.ndarray, action: int) -> str:
    """One sentence, without a full stop, on why the seat to move in games[i] may not play `action`.

    Args:
        games: (N,) GAME_DTYPE
        rules: (R,) RULES_DTYPE, indexed by a game's `rule`
        action: 0 to 126. Nothing is changed. "it is legal" for a legal action.

    Raises:
        ValueError: For a number that is no action.
    """
    ACTIONS.label(action)
    return _Question(games, i, rules).answer(int(action))


def wild_limit_reason(rules: np.ndarray, rule: int, cards: str, naturals: int, wilds: int, is_grown: bool) -> str | None:
    """Why a meld of a natural rank may not hold so many wilds.

    Args:
        rules: (R,) RULES_DTYPE.
        rule: which of them holds.
        cards: the meld, in words or cards.
        naturals: of the meld, with the card in question.
        wilds: of the meld likewise.
        is_grown: whether it is a book that has grown.

    Returns:
        One sentence, or None if it may. Rule: docs/rules.md 4.7, 4.8.
    """
    most = int(most_wilds(rules, rule, naturals, is_grown))
    if wilds <= most:
        return None
    r = rules[rule]
    if naturals < r["min_naturals"]:
        return f"{cards} would hold {_count(naturals, 'natural')} beside a wild; min_naturals = {r['min_naturals']}"
    limit = {TWO_TO_ONE: "two_to_one", MORE_NATURALS: "more_naturals"}.get(int(r["wild_limit"]))
    if limit is None:
        return f"{cards} would hold {_count(wilds, 'wild')}; max_wilds = {r['max_wilds']}"
    return f"{cards} would hold {_count(wilds, 'wild')} for {_count(naturals, 'natural')}; {limit} allows {most}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _cards(rank: int, naturals: int, twos: int, jokers: int) -> str:
    return (KIND_CHARS[rank] * naturals if rank != WILD else "") + KIND_CHARS[TWO] * twos + KIND_CHARS[JOKER] * jokers


class _Question:
    """One game and its seat to move."""

    def __init__(self, games: np.ndarray, i: int, rules: np.ndarray) -> None:
        self.games, self.i, self.rules = games, i, rules
        self.g = games[i]
        self.rule = int(self.g["rule"])
        self.r = rules[self.rule]
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
        self.rules_say = self._asked_of(self.games, self.i, action)
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

    def _asked_of(self, games: np.ndarray, i: int, action: int) -> np.void:
        """What the rules say of this seat and an action in a state of this game: a record of ANSWERS_DTYPE."""
        answers = np.zeros(1, ANSWERS_DTYPE)
        ask_rules(games, i, self.rules, self.seat, action, answers)
        return answers[0]

    def _needed_cards(self) -> tuple[int, int, int]:
        """Naturals, 2s and jokers of the hand that the action needs."""
        naturals, twos, jokers = (int(self.rules_say[name]) for name in ("naturals", "twos", "jokers"))
        return naturals, twos, jokers

    def _wild_limit_reason(self, rank: int, melded: tuple[int, int, int]) -> str | None:
        return wild_limit_reason(self.rules, self.rule, f"the meld {_cards(rank, *melded)}", melded[0], melded[1] + melded[2], False)

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
        naturals, twos, jokers = self._needed_cards()
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
        return self._wild_limit_reason(top, (held[0] + naturals + 1, held[1] + twos, held[2] + jokers))

    # --------------------------------------------------------------------------------------------- laying down

    def _lay_down(self, action: int) -> str:
        rank = int(self.rules_say["rank"])
        naturals, twos, jokers = self._needed_cards()
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
            reason = self._wild_limit_reason(rank, (held[0] + naturals, held[1] + twos, held[2] + jokers))
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
        """Why the side may not start a wild meld."""
        if self.rules_say["may_start_wild_meld"]:
            return None
        if not self.r["wild_melds"]:
            return "wild melds are not allowed (wild_melds = false)"
        return (
            f"the side has {_count(int(self.rules_say['books'][WILD_BOOKS]), 'wild book')}; wild_book_cap = {int(self.r['wild_book_cap'])}"
        )

    def _no_growth(self, rank: int, is_wild: bool, name: str) -> str | None:
        """Why a card without an open meld cannot go onto a book either."""
        if self.rules_say["fits"]:
            return None
        g, grow = self.g, int(self.r["grow"])
        if int(g["clean_books"][self.side, rank]) + int(g["dirty_books"][self.side, rank]) == 0:
            return f"the side has no open {name}"
        if grow == GROW_NONE:
            return f"the side has no open {name}, and books are closed (add_to_complete = none)"
        if is_wild and grow != GROW_ANY:
            return f"the side has no open {name}, and books take naturals only (add_to_complete = naturals)"
        return f"no book of {KIND_CHARS[rank]} may hold another wild within the wild limit"

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
        obstacle = self._obstacle_to_going_out(self._asked_of(after, 0, action))
        if left == 0 and self.r["final_discard"] == FINAL_REQUIRED:
            return "it would lay the last card, which must be discarded (final_discard = required)"
        if left == 1 and obstacle is None:
            return "it would leave 1 card, which can neither be laid nor discarded (final_discard = forbidden)"
        if obstacle is None:
            return FALLBACK
        return f"it would leave {_count(left, 'card')} in the foot, and going out is not allowed: {obstacle}"

    def _opening(self, action: int) -> str:
        most = int(most_after(self.games, self.i, self.rules, action, self.work))
        return f"the opening needs {int(self.rules_say['minimum'])} points, and with it the hand can lay {most} at most"

    def _obstacle_to_going_out(self, rules_say: np.void) -> str | None:
        """What forbids the seat to go out where the rules say this."""
        lack = self._lack(rules_say)
        if lack is None and self.r["permission"] != PERMISSION_NONE and not self.g["may_go_out"]:
            answered = "a partner said no" if self.g["asked"] else "no partner was asked"
            return f"there is no permission, as {answered}"
        return lack

    def _lack(self, rules_say: np.void) -> str | None:
        """What the side lacks to go out, the permission apart."""
        if not rules_say["has_quota"]:
            for name, have, need in zip(("clean", "dirty", "wild"), rules_say["books"], rules_say["quota"], strict=True):
                if have < need:
                    return f"the side would have {have} of {_count(int(need), f'{name} book')} needed"
        partner = int(rules_say["unready_partner"])
        return None if partner == NOBODY else f"seat {partner} has not picked up the foot"

    # ------------------------------------------------------------------------------------- asking, discarding

    def _opening_unfinished(self) -> str | None:
        if self.g["opened"][self.side] or not self.g["table"][self.side].any():
            return None
        return f"the opening is not finished: {int(self.g['laid'])} of {int(self.rules_say['minimum'])} points are laid"

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
        lack = self._lack(self.rules_say)
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
            obstacle = self._obstacle_to_going_out(self.rules_say)
            if obstacle:
                lack = obstacle.replace("would have", "has")
                return f"it is the last card in the foot, and going out is not allowed: {lack}"
            if self.r["final_discard"] == FINAL_FORBIDDEN:
                return "the last card must be laid, not discarded (final_discard = forbidden)"
        if self.r["permission"] == BINDING_BOTH and self.g["may_go_out"]:
            return BOUND
        return FALLBACK
