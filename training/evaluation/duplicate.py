"""Duplicate evaluation: two policies meet on the same cards in every seating, so that the luck of the deal cancels.

Each game seed is a cluster: with S sides it is played S times, A once on each side and B on all the others. Equal in
all seatings are the decks of all deals, the first dealer and the minimums; the policies' keys differ between seatings,
so that a random player against itself is two independent draws, and a deterministic one gets a difference of exactly 0.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents import load
from agents.policy import decision_keys
from agents.seating import DEFAULT_NUM_SLOTS, GameResults, play_games, policy_name
from hf_env.rules import RULES_VERSION, RuleSet
from hf_env.vector_game import check_int, load_rule_sets
from training.evaluation.statistics import Interval, clustered_interval, verdict

FORMAT = "hf-evaluation/1"
MAX_DEALS = 100_000_000
# Keeps the game seeds of an evaluation apart from every policy key, whose second number is a seating.
_FOR_GAME_SEEDS = 1 << 40


@dataclass(frozen=True)
class EvaluationResult:
    """A against B.

    difference: points a deal by which A's side is better than the mean of the others. games_won: share of whole games
    won by A; a tie of m sides counts 1/m, so 1/num_sides is even. gone_out: share of deals that a side ended by going
    out; gone_out_a, gone_out_b: a deal and side of that policy. points_a, points_b: a deal and side. verdict: "better",
    "worse" or "inconclusive", on A. asked_deals: what was asked for; num_deals is that rounded up to whole clusters.
    cluster_seeds (C,), cluster_deals (C,) and cluster_differences (C,): game seed, number of deals and sum of the
    differences of each cluster.
    """

    policy_a: str
    policy_b: str
    rules: tuple[RuleSet, ...]
    seed: int
    asked_deals: int
    num_deals: int
    num_games: int
    num_seatings: int
    difference: Interval
    games_won: Interval
    points_a: float
    points_b: float
    gone_out: float
    gone_out_a: float
    gone_out_b: float
    verdict: str
    num_decisions: int
    seconds: float
    cluster_seeds: np.ndarray
    cluster_deals: np.ndarray
    cluster_differences: np.ndarray

    @property
    def num_clusters(self) -> int:
        """Number of game seeds."""
        return self.difference.num_clusters

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values, with the versions and rules that it depends on."""
        from hf_env.actions import ACTIONS_VERSION
        from hf_env.observation.layout import LAYOUT_VERSION

        names = (
            "policy_a", "policy_b", "verdict", "seed", "asked_deals", "num_deals", "num_games", "num_clusters",
            "num_seatings", "points_a", "points_b", "gone_out", "gone_out_a", "gone_out_b", "num_decisions", "seconds",
        )  # fmt: skip
        values: dict[str, Any] = {"format": FORMAT} | {name: getattr(self, name) for name in names}
        values["difference_a_deal"] = self.difference.to_json()
        values["games_won"] = self.games_won.to_json()
        values["rules"] = [
            {"name": one.name, "fingerprint": one.fingerprint, "toml": one.to_toml()} for one in self.rules
        ]
        values["versions"] = {"rules": RULES_VERSION, "observation": LAYOUT_VERSION, "actions": ACTIONS_VERSION}
        values["clusters"] = {
            "game_seeds": self.cluster_seeds.tolist(),
            "deals": self.cluster_deals.tolist(),
            "difference_sums": self.cluster_differences.tolist(),
        }
        return values


def cluster_seeds(seed: int, first: int, count: int) -> np.ndarray:
    """Game seeds (count,) int64 of the clusters from number `first`: a function of seed and number only."""
    keys = decision_keys(seed, np.arange(first, first + count), _FOR_GAME_SEEDS, 0, 0)
    return (keys >> np.uint64(1)).astype(np.int64)


def deals_in_a_game(rules: tuple[RuleSet, ...]) -> int | None:
    """Number of deals of every game under these rules; None where it depends on the play."""
    numbers = {one.deals if one.target is None else None for one in rules}
    return numbers.pop() if len(numbers) == 1 else None


def evaluate(
    policy_a: Any,
    policy_b: Any,
    deals: int = 2000,
    seed: int = 0,
    rules: Any = "whitnack",
    *,
    names: tuple[str, str] | None = None,
    num_slots: int = DEFAULT_NUM_SLOTS,
    on_progress: Callable[[int, int], None] | None = None,
) -> EvaluationResult:
    """Play A against B on duplicate games.

    policy_a, policy_b: specs of ``agents.load``, policies, or functions of (observations, action_masks). deals: in
    total, all seatings counted; rounded up to whole clusters (under whitnack 2 seatings of 4 deals). seed: of the cards
    and of the policies' keys. rules: one rule set or a list, as for VectorGame. names: of A and B in the result.
    num_slots: games side by side; no effect on the result. on_progress: called with deals finished and deals in all.

    Raises ValueError for bad numbers, rules or specs (their subclasses), PolicyError for a policy that does not play
    legally.
    """
    check_int("deals", deals, 1, MAX_DEALS)
    check_int("seed", seed, 0, 2**63 - 1)
    rule_sets = load_rule_sets(rules)
    names = names or (policy_name(policy_a), policy_name(policy_b))
    policies = [load(policy_a), load(policy_b)]
    started = time.perf_counter()
    parts: list[_Part] = []
    while (count := _next_clusters(parts, deals, rule_sets)) > 0:
        first = sum(part.num_clusters for part in parts)
        parts.append(_play_clusters(policies, names, rule_sets, seed, first, count, num_slots, _shifted(on_progress, parts, deals)))
    return _result(parts, names, rule_sets, seed, deals, time.perf_counter() - started)


@dataclass(frozen=True)
class _Part:
    """Clusters played together. seatings: (G,) side of A in each game; a cluster's games follow each other."""

    num_clusters: int
    seeds: np.ndarray
    seatings: np.ndarray
    results: GameResults


def _next_clusters(parts: list[_Part], deals: int, rules: tuple[RuleSet, ...]) -> int:
    """How many clusters to play next; 0 once there are deals enough.

    Where the length of a game is known there is one part. Else parts follow until there are deals enough, each as large
    as the games so far make likely. Whole parts count, whatever they brought: no cluster is left out for its length.
    """
    seatings = rules[0].num_sides
    fixed = deals_in_a_game(rules)
    if fixed is not None:
        return 0 if parts else math.ceil(deals / (seatings * fixed))
    done = sum(len(part.results.deal_games) for part in parts)
    if not parts:
        longest = max(one.deals if one.target is None else one.max_deals for one in rules)
        return math.ceil(deals / (seatings * longest))
    clusters = sum(part.num_clusters for part in parts)
    return max(0, math.ceil((deals - done) * clusters / done))


def _shifted(on_progress, parts: list[_Part], deals: int):
    """Progress of a part as progress of the whole."""
    if on_progress is None:
        return None
    before = sum(len(part.results.deal_games) for part in parts)
    return lambda done: on_progress(before + done, max(deals, before + done))


def _play_clusters(policies, names, rules, seed, first, count, num_slots, on_progress) -> _Part:
    sides, seats = rules[0].num_sides, rules[0].players
    clusters = np.repeat(np.arange(count), sides)
    seatings = np.tile(np.arange(sides), count)
    lineups = (np.arange(seats)[None, :] % sides != seatings[:, None]).astype(np.int64)
    seeds = cluster_seeds(seed, first, count)
    results = play_games(
        policies, lineups, seeds[clusters], rules=list(rules), seed=seed, key_games=first + clusters, seatings=seatings,
        names=names, num_slots=num_slots, on_progress=on_progress,
    )  # fmt: skip
    return _Part(count, seeds, seatings, results)


def _result(parts: list[_Part], names, rules, seed, asked_deals, seconds) -> EvaluationResult:
    sides = rules[0].num_sides
    tables = [_tables(part, sides) for part in parts]
    scaled, deals, won, points, outs = (np.concatenate(column) for column in zip(*tables, strict=True))
    # Integers up to here, so that what cancels cancels exactly.
    differences = scaled / (sides - 1)
    num_deals = int(deals.sum())
    difference = clustered_interval(differences, deals)
    points_a, points_b = points.sum(0)
    outs_a, outs_b = outs.sum(0)
    return EvaluationResult(
        policy_a=names[0], policy_b=names[1], rules=rules, seed=seed, asked_deals=asked_deals, num_deals=num_deals,
        num_games=sides * len(deals), num_seatings=sides, difference=difference,
        games_won=clustered_interval(won, np.full(len(deals), sides)), points_a=float(points_a / num_deals),
        points_b=float(points_b / num_deals / (sides - 1)), gone_out=float((outs_a + outs_b) / num_deals),
        gone_out_a=float(outs_a / num_deals), gone_out_b=float(outs_b / num_deals / (sides - 1)),
        verdict=verdict(difference), num_decisions=sum(part.results.num_decisions for part in parts), seconds=seconds,
        cluster_seeds=np.concatenate([part.seeds for part in parts]), cluster_deals=deals,
        cluster_differences=differences,
    )  # fmt: skip


def _tables(part: _Part, sides: int):
    """By cluster: sum over deals of (sides - 1) x A's points less all others' (C,), deals (C,), games won by A (C,),
    points of A and of the others together (C, 2), deals gone out by A and by others (C, 2)."""
    results = part.results
    own_side = part.seatings[results.deal_games]
    clusters = results.deal_games // sides
    own = results.deal_scores[np.arange(len(own_side)), own_side]
    others = results.deal_scores.sum(1) - own
    out_side = np.where(results.out_seats < 0, -1, results.out_seats % sides)
    by_deal = np.stack(
        [(sides - 1) * own - others, np.ones_like(own), own, others, out_side == own_side, (out_side >= 0) & (out_side != own_side)],
        axis=1,
    )  # fmt: skip
    sums = np.zeros((part.num_clusters, by_deal.shape[1]), np.int64)
    np.add.at(sums, clusters, by_deal)
    best = results.totals == results.totals.max(1, keepdims=True)
    share = best[np.arange(len(best)), part.seatings] / best.sum(1)
    won = share.reshape(part.num_clusters, sides).sum(1)
    return sums[:, 0], sums[:, 1], won, sums[:, 2:4], sums[:, 4:6]
