"""One game at a table of policies, persons among them, with what persons and records need to hear of it."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from agents.human.policy import HumanPolicy, TakeBack
from agents.play.judging import PolicyError, ask, describe_fault, start_policy
from agents.play.schedule import policy_name
from agents.policy import DecisionCounter, PolicyBatch, SeatViews, as_policy, player_seed
from hf_env.engine.access import GameAccess
from hf_env.engine.action_ids import ASK, MELD
from hf_env.records import GameRecorder
from hf_env.rules import RuleSet
from hf_env.vector.game import VectorGame

_ROW = np.zeros(1, np.int64)
# After so many seconds a person begins to wonder whether anything still happens; more lines would push the cards away.
_FIRST_WAIT_SECONDS = 5.0
_NEXT_WAIT_SECONDS = 30.0


class _Table:
    """A game as policies see it: the engine's record in the buffers of a VectorGame of one."""

    def __init__(self, rules: RuleSet, players: Sequence[int]) -> None:
        """A table before its first deal.

        Args:
            players: for each seat the seed that its player's ``start`` gets.
        """
        self._vec = VectorGame(1, rules, 0, autoreset="DISABLED")
        self.access = GameAccess(self._vec.rule_records, self._vec.games)
        self._counter = DecisionCounter(1, rules.players)
        self._counter.start(0, players, 0)

    def views(self, seat: int) -> SeatViews:
        """The game as a seat may know it."""
        return SeatViews.of(self._vec.games, self._vec.rule_records, _ROW, np.full(1, seat, np.int32))

    def batch(self) -> PolicyBatch:
        """The decision that is to be made now."""
        self._vec.refresh()
        return PolicyBatch.of(self._vec, _ROW, *self._counter.next(_ROW, self._vec.seats))


def play_at_table(
    policies: Sequence[Any],
    rules: RuleSet,
    seed: int,
    *,
    recorder: GameRecorder | None = None,
    names: Sequence[str] | None = None,
    on_deal_over: Callable[[SeatViews], None] | None = None,
    view_seat: int = 0,
    on_waiting: Callable[[int], None] | None = None,
) -> np.ndarray:
    """Play one game to its end; returns its record, (1,) GAME_DTYPE.

    What a HumanPolicy raises passes through, as do interruptions.

    Args:
        policies: one a seat, objects with ``act`` or functions; the same object may sit in several.
        seed: of the cards, and of the policies' keys.
        recorder: is told the game, and has what was played also when a policy raises.
        names: of the seats, for record and messages.
        on_deal_over: called after each deal with what `view_seat` may know.
        on_waiting: called, from another thread, with the seat of a policy that thinks for long, and again while it goes on.

    Raises:
        PolicyError: For any other policy that fails or answers with anything but a legal action.
        UnfitPolicyError: For one that refuses the rules.
    """
    names = [policy_name(policy) for policy in policies] if names is None else list(names)
    recorder = GameRecorder() if recorder is None else recorder
    policies = [as_policy(policy) for policy in policies]
    # The same object in several seats is one player.
    first = [next(seat for seat, other in enumerate(policies) if other is policy) for policy in policies]
    players = [player_seed(seed, seat) for seat in first]
    table = _Table(rules, players)
    for seat in sorted(set(first)):
        with _waiting(policies[seat], seat, on_waiting):
            failure = start_policy(policies[seat], names[seat], 1, [rules], players[seat])
        if failure is not None:
            raise failure
    recorder.start(rules, seed, names)
    access = table.access
    access.start(seed)
    while True:
        recorder.deal(access.games, 0)
        _play_deal(table, policies, names, recorder, on_waiting)
        if on_deal_over is not None:
            on_deal_over(table.views(view_seat))
        if access.game["game_over"]:
            return access.games.copy()
        access.next_deal()


def _play_deal(table: _Table, policies: Sequence[Any], names: Sequence[str], recorder: GameRecorder, on_waiting) -> None:
    """Play the deal that was dealt to its end; arguments as of ``play_at_table``."""
    access = table.access
    laid: list[_LayDown] = []
    while not access.is_over:
        batch = table.batch()
        seat = int(batch.seats[0])
        policy = policies[seat]
        try:
            with _waiting(policy, seat, on_waiting):
                action = _decide(policy, batch, access, names[seat], [each.action for each in laid])
        except TakeBack:
            access.games[:] = laid.pop().before
            recorder.take_back()
            continue
        before = access.games.copy()
        access.play(action)
        recorder.action(access.games, 0, action)
        laid = [*laid, _LayDown(action, before)] if _shows_nothing(action, before[0], access.game) else []


class _LayDown(NamedTuple):
    """A lay-down of the turn at hand, and the game before it, (1,) GAME_DTYPE."""

    action: int
    before: np.ndarray


def _shows_nothing(action: int, before: np.void, after: np.void) -> bool:
    """Whether an action lays cards and nothing else, so that it can be taken back.

    A foot picked up, a replacement drawn and the end of a deal have shown something, and so have a draw, a take and an answer.
    """
    hidden = ("deal", "phase", "to_move", "in_foot", "foot_sizes", "stock_next", "stock_end", "game_over")
    return MELD <= action < ASK and all(np.array_equal(before[name], after[name]) for name in hidden)


@contextlib.contextmanager
def _waiting(policy: Any, seat: int, tell: Callable[[int], None] | None) -> Iterator[None]:
    """Tell now and then that a seat's policy is still thinking; a person knows it."""
    if tell is None or isinstance(policy, HumanPolicy):
        yield
        return
    is_over = threading.Event()

    def watch() -> None:
        pause = _FIRST_WAIT_SECONDS
        while not is_over.wait(pause):
            with contextlib.suppress(OSError):  # of a screen that has gone; the game will meet it too
                tell(seat)
            pause = _NEXT_WAIT_SECONDS

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()  # or its line could come amid others


def _decide(policy: Any, batch: PolicyBatch, access: GameAccess, name: str, laid: Sequence[int]) -> int:
    """The action that a policy chooses.

    Args:
        laid: the actions that a person may take back, the last of which goes first.

    Raises:
        PolicyError: For anything but a legal one.
        TakeBack: A person takes back the last of `laid`.
    """
    if isinstance(policy, HumanPolicy):
        policy.laid = tuple(laid)
        return int(policy.act(batch)[0])
    # A copy: the policy may write into those of the batch.
    seat, legal = int(batch.seats[0]), batch.action_masks.copy()
    actions, faults = ask(policy, batch, legal)
    if faults:
        who = f"policy {name!r} in seat {seat}"
        raise PolicyError(describe_fault(faults[0], who, access.games, 0, access.rules)) from faults[0].error
    return int(actions[0])
