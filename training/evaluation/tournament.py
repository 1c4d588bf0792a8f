"""All policies of a list against each other: payoff matrix, ratings, ranks, behaviour, forfeits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import Any

import numpy as np

from agents.play.games import Forfeit
from agents.play.remarks import Remark
from hf_env.rules import RuleSet
from training.evaluation.behaviour import behaviour
from training.evaluation.duplicate import rules_json, versions_json
from training.evaluation.matches import ClusterBatch, Match, MatchTotals, cluster_seeds, duel, match_totals
from training.evaluation.ranking import Ranking, rank
from training.evaluation.ratings import Ratings, rate
from training.evaluation.statistics import (
    CONFIDENCE,
    Interval,
    clustered_interval,
    combined_interval,
    paired_variance,
    share_interval,
    shown_order,
    why_nothing_shown,
)

FORMAT = "hf-tournament/1"


def tournament_matches(names: Sequence[str], rules: RuleSet) -> tuple[Match, ...]:
    """Each pair once; with more than two sides twice, each policy being alone against the other on all other sides."""
    pairs = combinations if rules.num_sides == 2 else permutations
    return tuple(duel(a, b, names, rules) for a, b in pairs(range(len(names)), 2))


@dataclass(frozen=True)
class Pair:
    """One match of a tournament.

    Attributes:
        a, b: indices of the policies; a is the one whose side is measured.
    """

    a: int
    b: int
    totals: MatchTotals
    points: Interval
    won: Interval
    standard_errors: tuple[float, float]
    forfeits: Counter


@dataclass(frozen=True, kw_only=True)
class TournamentResult:
    """What a tournament came to.

    Attributes:
        names: of the P policies.
        pairs: by (a, b); with two sides also by (b, a), mirrored.
        differences: by (a, b), a < b: the interval that decides about the order, of the confidence `order_confidence`, so
            that all of them together hold with CONFIDENCE (Bonferroni).
        behaviour: of each policy over all its games.
        remarks: on the policies.
    """

    names: tuple[str, ...]
    rules: tuple[RuleSet, ...]
    seed: int
    asked_deals: int
    forfeit_points: int
    matches: tuple[Match, ...]
    pairs: dict[tuple[int, int], Pair]
    differences: dict[tuple[int, int], Interval]
    order_confidence: float
    ranking: Ranking
    ratings: Ratings
    behaviour: tuple[dict[str, Any], ...]
    forfeits: tuple[tuple[Match, int, Forfeit], ...]
    cluster_seeds: dict[str, list[int]]
    remarks: tuple[Remark, ...] = ()

    def mean_points(self, a: int) -> float:
        """Points a deal of a policy, the mean over its opponents."""
        return float(np.mean([self.pairs[a, b].points.mean for b in range(len(self.names)) if b != a]))

    def sentences(self) -> list[str]:
        """What the ranking says and does not say, in words, and what is missing where it says nothing."""

        def why(pair: tuple[int, ...]) -> str:
            a, b = pair
            table = self.pairs[a, b].totals
            return why_nothing_shown(self.differences[a, b], table.num_deals / table.num_clusters, self.order_confidence)

        return self.ranking.sentences(self.names, why)

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values, with the versions and rules that it depends on."""
        return {
            "format": FORMAT, "policies": list(self.names), "rules": rules_json(self.rules), "versions": versions_json(),
            "seed": self.seed, "asked_deals": self.asked_deals, "forfeit_points": self.forfeit_points,
            "matches": [self._pair_json(match) for match in self.matches],
            "order": {
                "confidence_each": self.order_confidence,
                "ranks": {n: [int(b), int(w)] for n, b, w in zip(self.names, self.ranking.best, self.ranking.worst, strict=True)},
                "above": [[self.names[a], self.names[b]] for a, b in np.argwhere(self.ranking.above).tolist()],
                "circles": [[self.names[i] for i in circle] for circle in self.ranking.circles],
                "in_words": self.sentences(),
            },
            "ratings": self.ratings.to_json(self.names),
            "behaviour": dict(zip(self.names, self.behaviour, strict=True)),
            "forfeits": [forfeit_json(*entry, self.names) for entry in self.forfeits],
            "remarks": [remark.to_json() for remark in self.remarks], "clusters": self.cluster_seeds,
        }  # fmt: skip

    def _pair_json(self, match: Match) -> dict[str, Any]:
        a, b = seated(match)
        pair = self.pairs[a, b]
        table = pair.totals
        paired, unpaired = (error if np.isfinite(error) else None for error in pair.standard_errors)
        return {
            "title": match.title, "a": self.names[a], "b": self.names[b], "num_deals": table.num_deals,
            "num_games": int(table.won.size), "num_clusters": table.num_clusters, "num_decisions": table.num_decisions,
            "points_a_deal": pair.points.to_json(), "games_won": pair.won.to_json(),
            "points_a": float(table.points[:, 0].sum() / table.num_deals),
            "points_b": float(table.points[:, 1].sum() / table.num_deals / (table.num_sides - 1)),
            "expected_games_won": float(self.ratings.expected[a, b]) if table.num_sides == 2 else None,
            "standard_error_paired": paired, "standard_error_unpaired": unpaired,
            "forfeits": {self.names[i]: count for i, count in sorted(pair.forfeits.items())},
            "clusters": table.clusters_json(),
        }  # fmt: skip


def seated(match: Match) -> tuple[int, int]:
    """The policy that is measured, and the other."""
    lineup, side = match.lineups[0], match.sides[0]
    a = lineup[side]
    return a, next(policy for policy in lineup if policy != a)


def forfeits_of(parts: Sequence[ClusterBatch]) -> list[tuple[Match, int, Forfeit]]:
    """All forfeits of a match, with the numbers of their clusters."""
    return [
        (part.match, part.first + forfeit.game // part.match.num_rotations, forfeit) for part in parts for forfeit in part.results.forfeits
    ]


def forfeit_json(match: Match, cluster: int, forfeit: Forfeit, names: Sequence[str]) -> dict[str, Any]:
    """A forfeit as a report tells it.

    Args:
        names: of all policies that the match's lineups index.
    """
    return {
        "match": match.title, "policy": names[forfeit.policy], "cluster": cluster, "seating": forfeit.game % match.num_rotations,
        "deal": forfeit.deal, "seat": forfeit.seat, "kind": forfeit.kind, "reason": forfeit.reason, "deals": forfeit.deals,
    }  # fmt: skip


def tournament_result(
    names: Sequence[str], matches: Sequence[Match], parts: Sequence[Sequence[ClusterBatch]], rules: Sequence[RuleSet],
    seed: int, asked_deals: int, forfeit_points: int,
) -> TournamentResult:  # fmt: skip
    """The result from the parts of each match."""
    pairs: dict[tuple[int, int], Pair] = {}
    for match, own_parts in zip(matches, parts, strict=True):
        pair = _pair(match, own_parts)
        pairs[pair.a, pair.b] = pair
        if pair.totals.num_sides == 2:
            pairs[pair.b, pair.a] = _mirrored(pair)
    n = len(names)
    confidence = 1 - (1 - CONFIDENCE) / (n * (n - 1) // 2)
    differences = {(a, b): _difference(pairs[a, b].totals, pairs[b, a].totals, confidence) for a, b in combinations(range(n), 2)}
    longest = max((pair.totals for pair in pairs.values()), key=lambda table: table.num_clusters)
    return TournamentResult(
        names=tuple(names), rules=tuple(rules), seed=seed, asked_deals=asked_deals, forfeit_points=forfeit_points,
        matches=tuple(matches), pairs=pairs, differences=differences, order_confidence=confidence,
        ranking=_ranking(differences, confidence, n), ratings=_ratings(pairs, n, seed),
        behaviour=tuple(
            behaviour([part for own in parts for part in own if policy in part.match.lineups[0]], policy) for policy in range(n)
        ),
        forfeits=tuple(entry for own in parts for entry in forfeits_of(own)),
        cluster_seeds={"game_seeds": cluster_seeds(seed, 0, longest.num_clusters).tolist()},
    )  # fmt: skip


def _pair(match: Match, parts: Sequence[ClusterBatch]) -> Pair:
    table = match_totals(parts)
    a, b = seated(match)
    deals = table.deals.sum(1)
    return Pair(
        a, b, table, clustered_interval(table.differences.sum(1), deals),
        share_interval(table.won.sum(1), np.full(table.num_clusters, match.num_rotations)),
        paired_variance(table.differences, table.deals),
        Counter(forfeit.policy for _, _, forfeit in forfeits_of(parts)),
    )  # fmt: skip


def _mirrored(pair: Pair) -> Pair:
    """The same match of two sides, seen from the other."""
    t = pair.totals
    table = replace(t, differences=-t.differences, won=1 - t.won, points=t.points[:, ::-1], outs=t.outs[:, ::-1])
    points, won = (
        Interval(origin - own.mean, origin - own.high, origin - own.low, own.standard_error, own.num_clusters)
        for origin, own in ((0.0, pair.points), (1.0, pair.won))
    )
    return Pair(pair.b, pair.a, table, points, won, pair.standard_errors, pair.forfeits)


def _difference(there: MatchTotals, back: MatchTotals, confidence: float) -> Interval:
    """By how much the first is better: half of what it makes alone less what the second makes alone, on common clusters."""
    n = min(there.num_clusters, back.num_clusters)
    sums = np.stack([table.differences.sum(1)[:n] for table in (there, back)])
    counts = np.stack([table.deals.sum(1)[:n] for table in (there, back)])
    return combined_interval([0.5, -0.5], sums, counts, confidence)


def _ranking(differences: dict[tuple[int, int], Interval], confidence: float, n: int) -> Ranking:
    means, better = np.zeros((n, n)), np.zeros((n, n), bool)
    for (a, b), interval in differences.items():
        means[a, b], means[b, a] = interval.mean, -interval.mean
        shown = shown_order(interval, confidence)
        better[a, b], better[b, a] = shown > 0, shown < 0
    return rank(means, better)


def _ratings(pairs: dict[tuple[int, int], Pair], n: int, seed: int) -> Ratings:
    clusters = min(pair.totals.num_clusters for pair in pairs.values())
    won = np.full((n, n, clusters), np.nan)
    for (a, b), pair in pairs.items():
        won[a, b] = pair.totals.won.sum(1)[:clusters]
    sides = next(iter(pairs.values())).totals.num_sides
    return rate(won, sides, sides, seed)
