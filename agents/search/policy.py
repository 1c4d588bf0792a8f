"""The player ``search``: samples hidden worlds, plays candidates out on them, and takes the best. Method: docs/search_player.md."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agents.policy import PolicyBatch, untrained_rules
from agents.registry import SCRIPTED, SEARCH, PolicySpec, UnknownPolicyError, check_spec, load, parse_spec
from agents.scripted.table import PLAYER_IDS
from agents.search.halving import CandidateReturns, sequential_halving
from agents.search.learned import LearnedRollouts
from agents.search.scripted import NoWorldError, ScriptedRollouts
from agents.shipped import NAME, PLAYERS, ChoosingPolicy
from hf_env.engine.rewards import POINTS_PER_REWARD
from hf_env.rules import RuleSet
from hf_env.suggest import did_you_mean

# The strongest scripted player that there is.
DEFAULT_PLAYER = "expert"
# A budget in time is cut after so many playouts a decision at the most: far beyond what any difference needs.
MOST_ROLLOUTS = 1_000_000


@dataclass(frozen=True)
class SearchResult:
    """What a search of N decisions found, a row each.

    Attributes:
        actions: (N,) int32, chosen.
        base: (N,) int32, the rollout player's own choices.
        counts: (N, A) int64, playouts of each action; all 0 in a row that was not searched.
        means: (N, A) float64, mean score difference of the deal in points, NaN where not played.
    """

    actions: np.ndarray
    base: np.ndarray
    counts: np.ndarray
    means: np.ndarray

    def evaluation(self) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities and values, as ``SearchPolicy.evaluate`` returns them."""
        rows = np.arange(len(self.actions))
        counts, values = self.counts.copy(), self.means[rows, self.actions] / POINTS_PER_REWARD
        # Where no consistent world was found: the player's own choice, and as if the sides were even.
        unplayed = counts.sum(1) == 0
        counts[unplayed, self.actions[unplayed]] = 1
        values[unplayed] = 0.0
        return (counts / counts.sum(1, keepdims=True)).astype(np.float32), values.astype(np.float32)


# Actions compared by default, and the budget from which on many are: docs/search_player.md, section 6.
FEW_CANDIDATES, MANY_CANDIDATES, MANY_ROLLOUTS = 8, 16, 500
# Depth and guard by default, with a scripted player inside and with a learned one, which is harder to improve on.
USUAL, USUAL_LEARNED = (8, 1.0), (16, 1.5)


class SearchPolicy:
    """Determinised search over what the seat may know.

    Args:
        rollouts: playouts a decision in total, 2 or more.
        ms: instead, the time a decision may take, in milliseconds of one thread; results then depend on the machine.
        player: the scripted player of the playouts and of the first choice (a key of ``agents.scripted.table.PLAYER_IDS``).
        policy: instead of that player a learned one, a path to a checkpoint or a policy with ``evaluate``, whose
            probabilities and value are used (agents/search/learned).
        depth: turns after which a playout is cut and the value fitted to the player's play stands for the rest; 0: never,
            and never where no value was fitted to that player and rule set; None: 8, with a learned policy 16.
        candidates: actions compared at most, in the player's own order, 2 or more; None: 8, or 16 with 500 rollouts or
            more, of which 8 do not make enough.
        guard: standard errors by which an action must beat the player's own choice, 0 or more; None: 1, with a learned
            policy 1.5.
        min_probability: of an action by the learned policy, 0..1: a less likely one is not compared.
        threads: decisions of a batch searched side by side; no effect on the results.

    Raises:
        KeyError: For an unknown player.
        ValueError: For a number out of range.
    """

    def __init__(
        self, rollouts: int = 200, player: str = DEFAULT_PLAYER, *, policy: Any = None, ms: float | None = None,
        depth: int | None = None, candidates: int | None = None, guard: float | None = None,
        min_probability: float = 0.01, threads: int = 1,
    ) -> None:  # fmt: skip
        usual_depth, usual_guard = USUAL if policy is None else USUAL_LEARNED
        depth, guard = usual_depth if depth is None else depth, usual_guard if guard is None else guard
        if candidates is None:
            candidates = MANY_CANDIDATES if ms is None and rollouts >= MANY_ROLLOUTS else FEW_CANDIDATES
        lowest = {
            "rollouts": (rollouts, 2), "depth": (depth, 0), "candidates": (candidates, 2), "guard": (guard, 0),
            "min_probability": (min_probability, 0), "threads": (threads, 1),
        }  # fmt: skip
        for name, (value, low) in lowest.items():
            if not value >= low:
                raise ValueError(f"{name}={value} must be {low} or more")
        if min_probability > 1:
            raise ValueError(f"min_probability={min_probability} must be at most 1: it is a probability")
        if ms is not None and not ms > 0:
            raise ValueError(f"ms={ms} must be above 0")
        self.policy = parse_spec(policy) if isinstance(policy, str | Path) else policy
        self.rollouts, self.ms, self.player, self.depth = rollouts, ms, player, depth
        self.candidates, self.guard, self.min_probability, self.threads = candidates, guard, min_probability, threads
        # The player of the playouts and of the first choice.
        self.rollout_policy: ScriptedRollouts | LearnedRollouts = (
            ScriptedRollouts(player, depth) if policy is None else _learned(self.policy, depth, min_probability)
        )

    @property
    def name(self) -> str:
        """As a spec of ``agents.load``."""
        budget = {"rollouts": str(self.rollouts)} if self.ms is None else {"ms": f"{self.ms:g}"}
        if self.policy is None:
            return str(PolicySpec(SEARCH, budget | {"player": self.player}))
        if isinstance(self.policy, PolicySpec):
            return str(PolicySpec(SEARCH, budget, self.policy))
        return str(PolicySpec(SEARCH, budget | {"policy": str(self.policy)}))

    @property
    def info(self) -> dict[str, Any]:
        """What the checkpoint of a learned policy inside says of itself; empty where there is none."""
        return getattr(getattr(self.rollout_policy, "policy", None), "info", {})

    @property
    def network(self) -> Any:
        """The network of a learned policy inside; None where there is none."""
        return getattr(getattr(self.rollout_policy, "policy", None), "network", None)

    def untrained(self, rules: RuleSet, who: str = "this policy") -> str:
        """As ``agents.policy.untrained_rules``, of a learned policy inside."""
        return untrained_rules(self.info, rules, who)

    def __repr__(self) -> str:
        return f"SearchPolicy({self.name!r})"

    def start(self, num_games: int, rules: Any, seed: int) -> None:
        """Check that a learned policy inside was made for this table.

        Raises:
            ValueError: Where not.
        """
        if hasattr(self.rollout_policy, "start"):
            self.rollout_policy.start(num_games, rules, seed)

    def act(self, batch: PolicyBatch) -> np.ndarray:
        """Actions (N,) int32. Reads the batch's views, masks and keys only."""
        return self.search(batch).actions

    def evaluate(self, batch: PolicyBatch) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities (N, A) float32, each action's share of the playouts, and values (N,) float32 in units of reward.

        The value is the mean score difference of the action that ``act`` chooses. A decision with one legal action is
        played out too, for its value.
        """
        return self.search(batch, forced_too=True).evaluation()

    def search(self, batch: PolicyBatch, forced_too: bool = False) -> SearchResult:
        """Search every decision with more than one legal action; `forced_too`: the others too, for their value."""
        n, num_actions = batch.action_masks.shape
        # Each round of halving plays whoever is left on one world at least, twice the candidates in all at most.
        most = min(self.candidates, max(2, self.rollouts // 2)) if self.ms is None else self.candidates
        order = self.rollout_policy.order(batch, most)
        result = SearchResult(
            order[:, 0].astype(np.int32), order[:, 0].astype(np.int32), np.zeros((n, num_actions), np.int64),
            np.full((n, num_actions), np.nan),
        )  # fmt: skip
        rows = range(n) if forced_too else np.flatnonzero(order[:, 1] >= 0)

        def decide(row: int | np.integer) -> None:
            self._decide(batch, int(row), order[row][order[row] >= 0], result)

        if self.threads == 1:
            for row in rows:
                decide(row)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(decide, rows))
        return result

    def _decide(self, batch: PolicyBatch, row: int, candidates: np.ndarray, result: SearchResult) -> None:
        """Search one decision and write its row of the result."""
        returns = CandidateReturns(len(candidates))

        def play(indices: np.ndarray, first: int, num_worlds: int) -> np.ndarray:
            return self.rollout_policy.play(batch, row, candidates[indices], first, num_worlds)

        try:
            chosen = self._run(returns, play)
        except NoWorldError:
            return  # the player's own choice stands
        result.actions[row] = candidates[chosen]
        result.counts[row, candidates] = returns.counts
        result.means[row, candidates] = returns.means()

    def _run(self, returns: CandidateReturns, play: Any) -> int:
        """Spend the budget; returns the index of the candidate to choose."""
        rollouts = self.rollouts
        if self.ms is not None:
            # The first world of all candidates tells how many playouts there is time for.
            started = time.perf_counter()
            returns.add(play(returns.left, 0, 1))
            each = (time.perf_counter() - started) / len(returns.left)
            rollouts = min(MOST_ROLLOUTS, int(self.ms / 1000.0 / each))
        if len(returns.left) == 1:
            returns.add(play(returns.left, returns.num_worlds, max(1, rollouts - returns.num_worlds)))
            return 0
        sequential_halving(returns, rollouts, play)
        return returns.choice(self.guard)


def _no_values(policy: Any) -> str:
    """What is wrong with a policy that a search cannot use."""
    return f"policy={policy} has no probabilities and values; give the path of a checkpoint"


def _learned(policy: Any, depth: int, min_probability: float) -> LearnedRollouts:
    """A learned policy inside the search.

    Raises:
        ValueError: For one that a search cannot use, and one that is chosen by the rules, which are not known here.
    """
    loaded = load(policy)
    if isinstance(loaded, ChoosingPolicy):
        raise ValueError(
            f"policy={policy} is chosen by the rules: use agents.load('search:policy={policy}'), or name the player, "
            f"as policy={NAME}:rules={PLAYERS[0]}"
        )
    if not hasattr(loaded, "evaluate"):
        raise ValueError(_no_values(policy))
    if isinstance(policy, PolicySpec) and "mode" not in policy.options and hasattr(loaded, "with_mode"):
        # Its likeliest actions are stronger than what it samples, and playouts by them are less noisy.
        loaded = loaded.with_mode("argmax")
    return LearnedRollouts(loaded, depth, min_probability)


_OPTIONS = {
    "rollouts": int,
    "ms": float,
    "player": str,
    "depth": int,
    "candidates": int,
    "guard": float,
    "min_probability": float,
    "threads": int,
}
_NAMES = (*_OPTIONS, "policy", "mode", "rules")
# Options by the name that they had before.
_RENAMED = {"least": "min_probability"}


def make(spec: PolicySpec) -> SearchPolicy:
    """The policy that ``agents.load("search:rollouts=200,...")`` returns.

    Args:
        spec: options as of SearchPolicy; the policy inside is ``spec.inner``.

    Returns:
        The policy.

    Raises:
        UnknownPolicyError: one line for a user, for an unknown option or a value that it does not take.
    """
    values = _values(spec)
    try:
        return SearchPolicy(**values, policy=spec.inner)
    except UnknownPolicyError:
        raise
    except ValueError as error:
        raise UnknownPolicyError(f"search: {error}") from None


def check(spec: PolicySpec) -> None:
    """Check a spec as ``make`` does, without loading the policy inside.

    Raises:
        UnknownPolicyError: As it does.
    """
    values = _values(spec)
    if spec.inner is not None:
        check_spec(spec.inner)
        if spec.inner.name in SCRIPTED:
            raise UnknownPolicyError(f"search: {_no_values(spec.inner)}")
    try:
        SearchPolicy(**values)  # the ranges do not depend on who plays inside
    except ValueError as error:
        raise UnknownPolicyError(f"search: {error}") from None


def _values(spec: PolicySpec) -> dict[str, Any]:
    """The options as values.

    Raises:
        UnknownPolicyError: For an unknown option, or a value that is none.
    """
    values: dict[str, Any] = {}
    for option, text in spec.options.items():
        if option in _RENAMED:
            raise UnknownPolicyError(f"search: {option} is called {_RENAMED[option]} now; write {_RENAMED[option]}={text}")
        if option not in _OPTIONS:
            raise UnknownPolicyError(f"search has no option {option!r}; it has {', '.join(_NAMES)}{did_you_mean(option, _NAMES)}")
        try:
            values[option] = _OPTIONS[option](text)
        except ValueError:
            kind = {int: "a whole number", float: "a number"}[_OPTIONS[option]]
            raise UnknownPolicyError(f"search: {option}={text} must be {kind}") from None
    if "rollouts" in values and "ms" in values:
        raise UnknownPolicyError("search: give rollouts or ms, not both")
    if "player" in values and spec.inner is not None:
        raise UnknownPolicyError("search: give player or policy, not both")
    player = values.get("player", DEFAULT_PLAYER)
    if player not in PLAYER_IDS:
        hint = did_you_mean(player, PLAYER_IDS)
        raise UnknownPolicyError(f"search: player={player} is not known; players are {', '.join(PLAYER_IDS)}{hint}")
    return values
