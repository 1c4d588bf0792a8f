"""Scripted players as policies of the protocol in agents/policy.py."""

import numpy as np

from agents.policy import PolicyBatch
from agents.scripted.dispatch import NUMBERS, choose_batch, work_for


class ScriptedPolicy:
    """A scripted player by name; deterministic but for each decision's key.

    name: a key of ``agents.scripted.dispatch.NUMBERS``. Raises KeyError for another.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._number = np.int64(NUMBERS[name])
        self._work = work_for([self._number])

    def act(self, batch: PolicyBatch) -> np.ndarray:
        """Actions (N,) int32. Reads the batch's views: the redacted records of what each seat may know."""
        views = batch.views
        actions = np.empty(len(batch), np.int32)
        choose_batch(
            self._number,
            views.games,
            views.rules,
            np.ascontiguousarray(batch.seats, np.int32),
            np.ascontiguousarray(batch.action_masks, np.int8),
            np.ascontiguousarray(batch.keys, np.uint64),
            actions,
            self._work,
        )
        return actions

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class _Named(ScriptedPolicy):
    """A scripted player whose class says its name: what an entry point or a user makes without arguments."""

    player = ""

    def __init__(self) -> None:
        super().__init__(self.player)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class RandomPolicy(_Named):
    """Uniform over the legal actions."""

    player = "random"


class GreedyPolicy(_Named):
    """The plain sensible player: see agents/scripted/greedy.py."""

    player = "greedy"


class ExpertPolicy(_Named):
    """The strongest scripted player: see agents/scripted/expert.py and docs/players.md."""

    player = "expert"


class BeamPolicy(_Named):
    """Plans a turn's lay-downs by a beam: see agents/scripted/beam.py."""

    player = "beam"


_POLICIES = {policy.player: policy for policy in (RandomPolicy, GreedyPolicy, ExpertPolicy, BeamPolicy)}


def make(name: str, **options: str) -> ScriptedPolicy:
    """The policy that ``agents.load(name)`` returns. Raises KeyError for a name or option that does not exist."""
    if options:
        raise KeyError(f"no option {sorted(options)[0]}")
    return _POLICIES[name]()
