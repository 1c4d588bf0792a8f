"""A person as a policy: sees what the seat may know, types what is to be done.

Only the batch's views are shown, which are redacted for the deciding seat; the true game never comes here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO

import numpy as np

from agents.human.display import show_hand, show_help, show_options, show_table, spaced
from agents.human.hints import Adviser
from agents.human.narration import SeatNames, deal_result, first_event_kept, game_result, new_books, sentences
from agents.human.parsing import WishError, parse_wish, split_line
from agents.human.screen import Screen
from agents.policy import PolicyBatch, SeatViews, rule_sets
from hf_env.actions import ACTIONS
from hf_env.engine.action_ids import ASK, DISCARD, DRAW, MELD
from hf_env.engine.state import NUM_EVENTS, PHASE_ANSWER, PHASE_DRAW
from hf_env.explanations import IT_IS_LEGAL, why_illegal
from hf_env.rules import RuleSet

LEAVING = ("quit", "exit", "bye")


# Words of a wish that takes back the last lay-down.
TAKING_BACK = ("undo", "back", "take back", "takeback", "take it back")


class PersonLeft(Exception):
    """The person has left the table."""


class TakeBack(Exception):
    """The person takes back the last of ``HumanPolicy.laid``; whoever runs the table undoes it and asks again."""


@dataclass
class _Memory:
    """What a person has been told at one seat of one game, and the wishes still to be done."""

    deal: int = 0
    turn: tuple = ()
    events: int = 0
    books: int = 0
    hand: np.ndarray | None = None
    in_foot: bool = False
    scores: np.ndarray | None = None
    wishes: list[str] = field(default_factory=list)
    actions: list[int] = field(default_factory=list)
    # What was on the screen when the line was typed: numbers mean it, also those that come after the first.
    listed: tuple[int, ...] = ()

    def forget_wishes(self) -> str:
        """What was still to be done, as text; it will not be."""
        rest = [*(ACTIONS.label(action) for action in self.actions), *self.wishes]
        self.actions, self.wishes = [], []
        return "; ".join(rest)


@dataclass
class _Look:
    """One decision: the redacted game `g` of one row, its rules as record and as RuleSet, the seat, the legal actions."""

    row: PolicyBatch
    rules: RuleSet
    seat: int

    def __post_init__(self) -> None:
        self.games = self.row.views.games
        self.g = self.games[0]
        self.r = self.row.views.rules[int(self.g["rule"])]
        self.mask = self.row.action_masks[0]
        self.listed = tuple(int(action) for action in np.flatnonzero(self.mask))
        self.is_listed = False  # whether the list is on the screen

    @property
    def is_drawing(self) -> bool:
        """Whether the turn begins with this decision."""
        return int(self.g["phase"]) == PHASE_DRAW

    def why(self, action: int) -> str:
        """Why the action is illegal, or that it is legal."""
        return why_illegal(self.games, 0, self.row.views.rules, action)


class HumanPolicy:
    """A person at a pair of text streams, in any number of seats.

    Args:
        input, output: by default the process's own.
        names: of the players in the seats, for the sentences.
        passes_keyboard: several persons share the terminal, so that it is emptied and Enter awaited where the seat changes.
        hint: whom the person may ask: as for ``agents.load``; None: the shipped player that knows the rules best where one can
            sit, else `expert`. It is loaded when it is first asked.

    Attributes:
        laid: the actions of this turn that can be taken back, set by whoever runs a table that can undo them.
    """

    name = "human"

    def __init__(
        self,
        input: TextIO | None = None,
        output: TextIO | None = None,
        *,
        names: Sequence[str] | None = None,
        passes_keyboard: bool = False,
        hint: Any = None,
    ) -> None:
        self.screen = Screen(input, output)
        self._seat_names = names
        self._passes_keyboard = passes_keyboard
        self._adviser = Adviser(hint)
        self.laid: tuple[int, ...] = ()
        self._rules: tuple[RuleSet, ...] = ()
        self._memories: dict[tuple[int, int], _Memory] = {}
        self._num_games = 1
        self._last: tuple[int, int] | None = None

    def start(self, num_games: int, rules: RuleSet | Sequence[RuleSet], seed: int) -> None:
        """Before the first decision of a match.

        Args:
            rules: the rule set, or those that a game's `rule` counts.
        """
        self._rules = rule_sets(rules)
        self._memories.clear()
        self._num_games = num_games
        self._last = None

    def act(self, batch: PolicyBatch) -> np.ndarray:
        """Actions (N,) int64 that the person types, row after row.

        Raises:
            PersonLeft: When the person leaves or the input ends.
            RuntimeError: Without start().
            ValueError: For a game of a rule set that start() did not name.
        """
        return np.array([self._decide(batch.rows(slice(row, row + 1))) for row in range(len(batch))], np.int64)

    def deal_over(self, views: SeatViews, seats: Sequence[int]) -> None:
        """Tell the end of a deal and, with the last one, of the game. For whoever runs the table; `act` needs it not.

        Args:
            views: of one seat's row, the deal over.
            seats: those that persons sit in.
        """
        g, rules = views.games[0], self._rule_set(views, 0)
        me = seats[0] if len(seats) == 1 else None
        names = SeatNames(rules, self._seat_names)
        memories = [self._memories.get((0, seat), _Memory()) for seat in seats]
        memories = [memory for memory in memories if memory.deal == int(g["deal"])]
        since, books = max(((memory.events, memory.books) for memory in memories), default=(0, 0))
        self.screen.say()
        for line in (*sentences(g, rules, since, me, lambda seat: names.of(seat, me)), *new_books(g, books, me, names)):
            self.screen.say_wrapped(line, indent="  ")
        first, *table = deal_result(g, views.rules[int(g["rule"])], rules, me, names)
        self.screen.say(first, "bold green")
        self.screen.say("\n".join(table))
        if g["game_over"]:
            self.screen.say()
            self.screen.say_wrapped(game_result(g, rules, me, names), "bold green")
        for memory in memories:
            memory.scores = g["scores"].copy()

    def _rule_set(self, views: SeatViews, row: int) -> RuleSet:
        if not self._rules:
            raise RuntimeError("start(num_games, rules, seed) comes before act")
        index = int(views.games[row]["rule"])
        rules = self._rules[min(index, len(self._rules) - 1)]
        if rules.to_record()[0] != views.rules[index]:
            raise ValueError("a person plays games of the rule set that start() names, and this is another")
        return rules

    # ------------------------------------------------------------------------------------------------ a decision

    def _decide(self, row: PolicyBatch) -> int:
        look = _Look(row, self._rule_set(row.views, 0), int(row.seats[0]))
        key = (int(row.games[0]), look.seat)
        memory = self._memories.setdefault(key, _Memory())
        self._pass_keyboard(key)
        self._report(look, memory)
        action = self._next(look, memory)
        if action >= DISCARD:
            self.screen.say(f"You discard {ACTIONS.label(action)[-1]}.")
        memory.events = int(look.g["num_events"]) + 1
        memory.hand = look.g["hands"][look.seat].astype(int)
        memory.in_foot = bool(look.g["in_foot"][look.seat])
        return action

    def _pass_keyboard(self, key: tuple[int, int]) -> None:
        if self._passes_keyboard and self.screen.is_interactive and self._last not in (None, key):
            self.screen.clear()
            if self.screen.ask(f"Seat {key[1]} is next. Press Enter when you sit at the keyboard. ") is None:
                raise PersonLeft
        self._last = key

    def _next(self, look: _Look, memory: _Memory) -> int:
        """The next action: of the wishes already typed, else of what is typed now."""
        while True:
            while memory.actions or memory.wishes:
                action = self._take_up(look, memory)
                if action is not None:
                    return action
            if not look.is_listed:
                self._offer(look)
            line = self.screen.ask("> ")
            if line is None:
                raise PersonLeft
            self._read(look, memory, line)

    def _read(self, look: _Look, memory: _Memory, line: str) -> None:
        """Take in a typed line: answer a question, or keep its wishes."""
        word, _, rest = " ".join(line.lower().split()).partition(" ")
        if word.startswith("?") or word in ("help", "h"):
            show_help(self.screen, look.rules, int(look.g["deal"]))
        elif word in LEAVING:
            raise PersonLeft
        elif word == "q":
            self.screen.say("To leave the table type quit; to throw away a queen, discard Q.")
        elif word == "table":
            show_table(self.screen, look.games, look.rules, look.seat)
            self._offer(look)
        elif word in ("list", "options"):
            self._offer(look)
        elif word == "hint":
            self.screen.say("\n".join(self._adviser.advice(look.row, look.rules)))
        elif word == "why":
            self._why(look, rest)
        else:
            memory.wishes, memory.listed = split_line(line), look.listed

    def _take_up(self, look: _Look, memory: _Memory) -> int | None:
        """The next typed action if it is legal; else say why not and forget the rest of the line."""
        if not memory.actions:
            wish = memory.wishes.pop(0)
            if wish.lower() in TAKING_BACK:
                self._take_back(look, memory)
                return None
            try:
                memory.actions = parse_wish(wish, memory.listed, is_drawing=look.is_drawing)
            except WishError as error:
                self._refuse(look, memory, _sentence(error))
                return None
        action = memory.actions.pop(0)
        if look.mask[action]:
            return action
        self._refuse(look, memory, f"{ACTIONS.label(action)} is not allowed: {look.why(action)}.")
        return None

    def _refuse(self, look: _Look, memory: _Memory, reason: str) -> None:
        self.screen.say_wrapped(_capital(reason), "red", "  ")
        if rest := memory.forget_wishes():
            self.screen.say_wrapped(f"Not done either: {rest}.", "red", "  ")
        if look.is_listed:
            words = dict.fromkeys(ACTIONS.label(action).split()[0] for action in look.listed)
            self.screen.say_wrapped(f"You can {', '.join(words)}; list shows all, help more.", indent="  ")

    # --------------------------------------------------------------------------------------------------- answers

    def _take_back(self, look: _Look, memory: _Memory) -> None:
        """Have the last lay-down undone.

        Raises:
            TakeBack: Where there is one.
        """
        if not self.laid:
            seen = "a draw, a take, a foot picked up, a replacement drawn or an answer"
            self._refuse(look, memory, f"nothing can be taken back but what was laid in this turn, and only since {seen}.")
            return
        self.screen.say_wrapped(f"Taken back: {ACTIONS.label(self.laid[-1])}.", "bold", "  ")
        memory.hand = None  # nothing was gained by it
        raise TakeBack

    def _why(self, look: _Look, rest: str) -> None:
        try:
            if not rest:
                raise WishError("why what? as: why meld KKK")
            actions = parse_wish(rest, look.listed, is_drawing=look.is_drawing)
        except WishError as error:
            self.screen.say_wrapped(_capital(_sentence(error)), "red", "  ")
            return
        # Of several cards at once, only the first can be judged before it is laid.
        reason = look.why(actions[0])
        label = _capital(ACTIONS.label(actions[0]))
        verdict = f"{label} is allowed." if reason == IT_IS_LEGAL else f"{label} is not allowed: {reason}."
        self.screen.say_wrapped(verdict, indent="  ")

    # ---------------------------------------------------------------------------------------------------- telling

    def _report(self, look: _Look, memory: _Memory) -> None:
        """Say what has happened since the last decision at this seat."""
        g, screen = look.g, self.screen
        names = SeatNames(look.rules, self._seat_names)
        answering = int(g["phase"]) == PHASE_ANSWER
        memory.events = min(memory.events, int(g["num_events"]))  # fewer where something was taken back
        turn = (int(g["deal"]), int(g["turns"]), answering)
        if memory.deal != int(g["deal"]):
            self._new_deal(g, look.rules, memory)
        is_new = memory.turn != turn
        if is_new:
            self._heading(look, names, answering)
            if rest := memory.forget_wishes():
                screen.say_wrapped(f"Not done, as your turn was over: {rest}.", "red", "  ")
        turns = sentences(g, look.rules, memory.events, look.seat, lambda seat: names.of(seat, look.seat))
        for line in (*turns, *new_books(g, memory.books, look.seat, names)):
            screen.say_wrapped(line, indent="  ")
        self._own_cards(look, memory, is_new)
        memory.turn, memory.books = turn, int(g["num_books"])
        if is_new:
            screen.say()
            show_table(screen, look.games, look.rules, look.seat)
            screen.say()

    def _new_deal(self, g: np.void, rules: RuleSet, memory: _Memory) -> None:
        """Forget the last deal; tell its scores where nobody has (see deal_over)."""
        before = memory.scores if memory.scores is not None else np.zeros_like(g["scores"])
        if memory.deal and (g["scores"] != before).any():
            gained = ", ".join(f"side {side} {int(g['scores'][side] - before[side]):+,}" for side in range(rules.num_sides))
            self.screen.say_wrapped(f"Deal {memory.deal} is over: {gained}.", "bold green")
        memory.deal, memory.events, memory.books = int(g["deal"]), 0, 0
        memory.hand, memory.in_foot, memory.scores = None, False, g["scores"].copy()

    def _heading(self, look: _Look, names: SeatNames, answering: bool) -> None:
        g = look.g
        game = f"game {int(look.row.games[0])}, " if self._num_games > 1 else ""
        what = "a question to you" if answering else "your turn"
        self.screen.say()
        when = f"{game}deal {int(g['deal'])}, turn {int(g['turns']) + 1}"
        self.screen.say(f"--- {what} at seat {look.seat} ({when}) ---", "bold cyan")

    def _own_cards(self, look: _Look, memory: _Memory, is_new: bool) -> None:
        """The cards that the person's last action brought."""
        g, seat = look.g, look.seat
        if g["in_foot"][seat] and not memory.in_foot:
            self.screen.say("Your hand is empty: you pick up your foot.", "bold")
            return
        last = memory.events - 1
        if is_new or memory.hand is None or last < first_event_kept(g):
            return
        action, red3s = int(g["events"][last % NUM_EVENTS, 0]) & 255, int(g["events"][last % NUM_EVENTS, 1])
        if action < MELD:
            gained = np.maximum(g["hands"][seat].astype(int) - memory.hand, 0)
            laid = f"; {red3s} red 3{'s' * (red3s > 1)} laid" if red3s else ""
            if gained.any() or laid:
                self.screen.say(f"You {'drew' if action == DRAW else 'took'} {spaced(gained)}{laid}.", "bold")

    def _offer(self, look: _Look) -> None:
        """Hand and legal actions."""
        g = look.g
        look.is_listed = True
        if int(g["phase"]) == PHASE_ANSWER:
            asker = SeatNames(look.rules, self._seat_names).of(int(g["turn_seat"]), look.seat)
            self.screen.say_wrapped(f"{asker} asks you: may I go out?", "bold", "  ")
        show_hand(self.screen, g, look.rules, look.r, look.seat)
        show_options(self.screen, g, look.r, look.mask)
        if look.mask[ASK]:
            self.screen.say("You may ask to go out.", "yellow")


def _capital(text: str) -> str:
    """The text as a sentence begins."""
    return text[0].upper() + text[1:]


def _sentence(error: Exception) -> str:
    """An error's message with its stop."""
    text = str(error)
    return text if text.endswith("?") else f"{text}."
