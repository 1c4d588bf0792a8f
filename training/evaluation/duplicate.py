"""Duplicate evaluation: two policies meet on the same cards in every rotation of the seats, so that the luck of the deal cancels.

Each game seed is a cluster: with S sides it is played S times, A once on each side and B on all the others. Equal in
all seatings are the decks of all deals, the first dealer and the minimums; the policies' keys differ between rotations,
so that a random player against itself is two independent draws, and a deterministic one gets a difference of exactly 0.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from agents import load
from agents.play.games import DEFAULT_NUM_SLOTS
from agents.play.remarks import Remark, remarks_on
from agents.play.schedule import policy_name
from hf_env.arguments import check_int
from hf_env.rules import RULES_VERSION, RuleSet
from hf_env.rules.loading import load_rule_sets
from hf_env.seeds import MAX_SEED, SEEDS_VERSION
from training.evaluation.behaviour import behaviour
from training.evaluation.matches import ClusterBatch, MatchTotals, cluster_seeds, duel, match_totals, next_clusters, play_clusters
from training.evaluation.statistics import (
    Interval,
    clustered_interval,
    clusters_needed,
    paired_variance,
    share_interval,
    verdict,
    why_nothing_shown,
)

FORMAT = "hf-evaluation/1"
MAX_DEALS = 100_000_000
# Half widths in points a deal for which a result says how many deals they need.
PRECISIONS = (100, 50, 25)


@dataclass(frozen=True)
class SeatFigures:
    """A in one seat.

    Attributes:
        difference: as for the whole, over the games in which A sits there.
        gone_out: share of the deals that this seat ended by going out.
    """

    seat: int
    difference: Interval
    gone_out: float

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return {"seat": self.seat, "difference_a_deal": self.difference.to_json(), "gone_out": self.gone_out}


@dataclass(frozen=True, kw_only=True)
class EvaluationResult:
    """A against B.

    Attributes:
        difference: points a deal by which A's side is better than the mean of the others.
        games_won: share of whole games won by A; a tie of m sides counts 1/m, so 1/num_sides is even.
        gone_out: share of deals that a side ended by going out
        gone_out_a, gone_out_b: a deal and side of that policy.
        points_a, points_b: a deal and side.
        verdict: "better", "worse" or "inconclusive", on A.
        asked_deals: what was asked for; num_deals is that rounded up to whole clusters.
        cluster_seeds (C,), cluster_deals (C,), cluster_differences (C,): game seed, number of deals and sum of the
            differences of each cluster.
        standard_error_unpaired: of the difference, had every game had cards of its own.
        behaviour_a, behaviour_b: figures of training/evaluation/behaviour.py.
        seats: what A made in each seat.
        remarks: on the policies.
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
    standard_error_unpaired: float
    behaviour_a: dict[str, Any]
    behaviour_b: dict[str, Any]
    seats: tuple[SeatFigures, ...]
    remarks: tuple[Remark, ...] = ()

    @property
    def num_clusters(self) -> int:
        """Number of game seeds."""
        return self.difference.num_clusters

    @property
    def saving(self) -> float | None:
        """How many times as many deals on cards of their own would give this precision; None where it is not known."""
        known = self.difference.standard_error > 0 and math.isfinite(self.standard_error_unpaired)
        return (self.standard_error_unpaired / self.difference.standard_error) ** 2 if known else None

    def more_deals(self, half_width: float) -> int | None:
        """About how many deals are still to be played for an interval of +- half_width points; None where unknown."""
        clusters = clusters_needed(self.difference, half_width)
        return None if clusters is None else max(0, math.ceil((clusters / self.num_clusters - 1) * self.num_deals))

    def why_inconclusive(self) -> str:
        """Why nothing is shown, and the deals that are missing, in words."""
        return why_nothing_shown(self.difference, self.num_deals / self.num_clusters)

    def to_json(self, precision: float | None = None) -> dict[str, Any]:
        """The result as JSON values, with the versions and rules that it depends on.

        Args:
            precision: a half width for which to say how many deals it needs, besides PRECISIONS.
        """
        names = (
            "policy_a", "policy_b", "verdict", "seed", "asked_deals", "num_deals", "num_games", "num_clusters",
            "num_seatings", "points_a", "points_b", "gone_out", "gone_out_a", "gone_out_b", "num_decisions", "seconds",
        )  # fmt: skip
        values: dict[str, Any] = {"format": FORMAT} | {name: getattr(self, name) for name in names}
        values["difference_a_deal"] = self.difference.to_json()
        values["games_won"] = self.games_won.to_json()
        values["variance"] = {
            "standard_error_paired": self.difference.to_json()["standard_error"],
            "standard_error_unpaired": self.standard_error_unpaired if self.num_clusters > 1 else None,
            "times_as_many_deals_unpaired": self.saving,
        }
        values["more_deals_for"] = {
            f"{points:g}": self.more_deals(points) for points in (*PRECISIONS, *([] if precision is None else [precision]))
        }
        values["behaviour"] = {"a": self.behaviour_a, "b": self.behaviour_b}
        values["seats"] = [seat.to_json() for seat in self.seats]
        values["remarks"] = [remark.to_json() for remark in self.remarks]
        values["rules"] = rules_json(self.rules)
        values["versions"] = versions_json()
        values["clusters"] = {
            "game_seeds": self.cluster_seeds.tolist(),
            "deals": self.cluster_deals.tolist(),
            "difference_sums": self.cluster_differences.tolist(),
        }
        return values


def place_names(result: EvaluationResult) -> tuple[str, str]:
    """The names of A and B; a policy against itself is told apart by its place."""
    a, b = result.policy_a, result.policy_b
    return (a, b) if a != b else (f"{a} (A)", f"{b} (B)")


def rules_json(rules: Sequence[RuleSet]) -> list[dict[str, str]]:
    """Rule sets as a result names them."""
    return [{"name": rule_set.name, "fingerprint": rule_set.fingerprint, "toml": rule_set.to_toml()} for rule_set in rules]


def versions_json() -> dict[str, int]:
    """Versions on which a result depends."""
    from hf_env.actions import ACTIONS_VERSION
    from hf_env.observation.layout import LAYOUT_VERSION

    return {"rules": RULES_VERSION, "observation": LAYOUT_VERSION, "actions": ACTIONS_VERSION, "seeds": SEEDS_VERSION}


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
    """Play A against B on duplicate games, in this process: a policy that does not return, or ends its process, is not stopped.

    Args:
        policy_a, policy_b: specs of ``agents.load``, policies, or functions of (observations, action_masks).
        deals: in total, all seatings counted; rounded up to whole clusters (under whitnack 2 seatings of 4 deals).
        seed: of the cards and of the policies' keys.
        rules: one rule set or a list, as for VectorGame.
        names: of A and B in the result.
        num_slots: games side by side; no effect on the result.
        on_progress: called with deals finished and deals in all.

    Raises:
        ValueError: For bad numbers, rules or specs (their subclasses).
        PolicyError: For a policy that does not play legally.
    """
    check_int("deals", deals, 1, MAX_DEALS)
    check_int("seed", seed, 0, MAX_SEED)
    rule_sets = load_rule_sets(rules)
    names = names or (policy_name(policy_a), policy_name(policy_b))
    policies = [load(policy_a), load(policy_b)]
    remarks = remarks_on(policies, names, rule_sets)
    match = duel(0, 1, names, rule_sets[0])
    started = time.perf_counter()
    parts: list[ClusterBatch] = []
    while True:
        clusters = sum(part.count for part in parts)
        done = sum(len(part.results.deal_games) for part in parts)
        count = next_clusters(clusters, done, deals, match.num_rotations, rule_sets)
        if count == 0:
            break
        report = _shifted(on_progress, done, deals)
        parts.append(play_clusters(match, policies, names, rule_sets, seed, clusters, count, num_slots=num_slots, on_progress=report))
    return replace(result_of(parts, names, rule_sets, seed, deals, time.perf_counter() - started), remarks=remarks)


def _shifted(on_progress, before: int, deals: int):
    """Progress of a part as progress of the whole."""
    if on_progress is None:
        return None
    return lambda done: on_progress(before + done, max(deals, before + done))


def result_of(
    parts: Sequence[ClusterBatch], names: tuple[str, str], rules: Sequence[RuleSet], seed: int, asked_deals: int, seconds: float
) -> EvaluationResult:
    """The evaluation of a duel of the policies 0 and 1 from its parts."""
    table = match_totals(parts)
    sides, deals, differences = table.num_sides, table.deals.sum(1), table.differences.sum(1)
    num_deals = table.num_deals
    difference = clustered_interval(differences, deals)
    points_a, points_b = table.points.sum(0)
    outs_a, outs_b = table.outs.sum(0)
    return EvaluationResult(
        policy_a=names[0], policy_b=names[1], rules=tuple(rules), seed=seed, asked_deals=asked_deals, num_deals=num_deals,
        num_games=sides * len(deals), num_seatings=sides, difference=difference,
        games_won=share_interval(table.won.sum(1), np.full(len(deals), sides)), points_a=float(points_a / num_deals),
        points_b=float(points_b / num_deals / (sides - 1)), gone_out=float((outs_a + outs_b) / num_deals),
        gone_out_a=float(outs_a / num_deals), gone_out_b=float(outs_b / num_deals / (sides - 1)),
        verdict=verdict(difference), num_decisions=table.num_decisions, seconds=seconds,
        cluster_seeds=np.concatenate([cluster_seeds(seed, part.first, part.count) for part in parts]),
        cluster_deals=deals, cluster_differences=differences,
        standard_error_unpaired=paired_variance(table.differences, table.deals)[1],
        behaviour_a=behaviour(parts, 0), behaviour_b=behaviour(parts, 1), seats=_seats(parts, table),
    )  # fmt: skip


def _seats(parts: Sequence[ClusterBatch], table: MatchTotals) -> tuple[SeatFigures, ...]:
    """A, the measured side, in each seat: with A on one side a rotation, a seat belongs to one rotation."""
    figures = []
    for seat in range(len(parts[0].match.lineups[0])):
        rotation = seat % table.num_sides
        outs = sum(int((part.results.out_seats[part.rotations == rotation] == seat).sum()) for part in parts)
        deals = table.deals[:, rotation]
        difference = clustered_interval(table.differences[:, rotation], deals)
        figures.append(SeatFigures(seat, difference, outs / int(deals.sum())))
    return tuple(figures)
