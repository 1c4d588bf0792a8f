"""How well policies play with partners that they do not know: all pairings of a list, against fixed opponents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from agents.play.games import Forfeit
from agents.play.remarks import Remark
from hf_env.rules import RuleSet
from training.evaluation.duplicate import rules_json, versions_json
from training.evaluation.matches import ClusterBatch, Match, MatchTotals, cluster_seeds, match_totals, partnership
from training.evaluation.statistics import CONFIDENCE, Interval, clustered_interval, combined_interval, share_interval
from training.evaluation.tournament import forfeit_json, forfeits_of

FORMAT = "hf-crossplay/1"


class NoPartnersError(ValueError):
    """The rules have no partners; one line."""


def crossplay_matches(names: Sequence[str], rules: RuleSet) -> tuple[Match, ...]:
    """Each pairing once, self-play too; the last of the names is the opponents'.

    Raises:
        NoPartnersError: For rules where every side is one seat.
    """
    if rules.players == rules.num_sides:
        raise NoPartnersError(f"cross-play needs partners, but under {rules.name} each side is one seat")
    last = len(names) - 1
    return tuple(partnership(p, q, last, names, rules) for p, q in combinations_with_replacement(range(last), 2))


@dataclass(frozen=True)
class PartnerFigures:
    """A policy and its partners, points a deal against the opponents.

    Attributes:
        with_itself, with_others: with a copy, and the mean over the other policies.
        gap: the first less the second.
        worst: index of the partner with which it makes least
        with_worst: how much, at a confidence at which the intervals of all its partners hold together, since the worst was
            picked.
    """

    with_itself: Interval
    with_others: Interval
    gap: Interval
    worst: int
    with_worst: Interval


@dataclass(frozen=True, kw_only=True)
class CrossplayResult:
    """What a cross-play came to.

    Attributes:
        names: of the P policies.
        cells: by (p, q), both orders, the same interval.
        self_play, cross_play, gap: means over the policies with themselves and over the pairs of different ones.
        remarks: on the policies and the opponents.
    """

    names: tuple[str, ...]
    opponents: str
    rules: tuple[RuleSet, ...]
    seed: int
    asked_deals: int
    forfeit_points: int
    matches: tuple[Match, ...]
    totals: dict[tuple[int, int], MatchTotals]
    cells: dict[tuple[int, int], Interval]
    won: dict[tuple[int, int], Interval]
    self_play: Interval
    cross_play: Interval
    gap: Interval
    partners: tuple[PartnerFigures, ...]
    forfeits: tuple[tuple[Match, int, Forfeit], ...]
    remarks: tuple[Remark, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values, with the versions and rules that it depends on."""
        longest = max(table.num_clusters for table in self.totals.values())
        every = (*self.names, self.opponents)
        return {
            "format": FORMAT, "policies": list(self.names), "opponents": self.opponents, "rules": rules_json(self.rules),
            "versions": versions_json(), "seed": self.seed, "asked_deals": self.asked_deals,
            "forfeit_points": self.forfeit_points,
            "matches": [self._match_json(match, p, q) for match, (p, q) in zip(self.matches, self.totals, strict=True)],
            "self_play": self.self_play.to_json(), "cross_play": self.cross_play.to_json(), "gap": self.gap.to_json(),
            "partners": {
                name: {
                    "with_itself": partners.with_itself.to_json(), "with_others": partners.with_others.to_json(),
                    "gap": partners.gap.to_json(), "worst_partner": self.names[partners.worst], "with_worst": partners.with_worst.to_json(),
                }
                for name, partners in zip(self.names, self.partners, strict=True)
            },
            "forfeits": [forfeit_json(*entry, every) for entry in self.forfeits],
            "remarks": [remark.to_json() for remark in self.remarks],
            "clusters": {"game_seeds": cluster_seeds(self.seed, 0, longest).tolist()},
        }  # fmt: skip

    def _match_json(self, match: Match, p: int, q: int) -> dict[str, Any]:
        table = self.totals[p, q]
        return {
            "title": match.title, "partners": [self.names[p], self.names[q]], "num_deals": table.num_deals,
            "num_games": int(table.won.size), "num_clusters": table.num_clusters, "num_decisions": table.num_decisions,
            "points_a_deal": self.cells[p, q].to_json(), "games_won": self.won[p, q].to_json(),
            "num_forfeits": table.num_forfeits,
            "clusters": table.clusters_json(),
        }  # fmt: skip

    def forfeit_counts(self) -> Counter:
        """Forfeited games by the name of the policy."""
        return Counter((*self.names, self.opponents)[forfeit.policy] for _, _, forfeit in self.forfeits)


def crossplay_result(
    names: Sequence[str], matches: Sequence[Match], parts: Sequence[Sequence[ClusterBatch]], rules: Sequence[RuleSet],
    seed: int, asked_deals: int, forfeit_points: int,
) -> CrossplayResult:  # fmt: skip
    """The result from the parts of each match; the last name is the opponents'."""
    n = len(names) - 1
    pairings = list(combinations_with_replacement(range(n), 2))
    totals = {pairing: match_totals(own) for pairing, own in zip(pairings, parts, strict=True)}
    means = _Means(totals)
    cells, won = {}, {}
    for (p, q), table in totals.items():
        cells[p, q] = cells[q, p] = clustered_interval(table.differences.sum(1), table.deals.sum(1))
        games = np.full(table.num_clusters, table.won.shape[1])
        won[p, q] = won[q, p] = share_interval(table.won.sum(1), games)
    own, others = [(p, p) for p in range(n)], [pairing for pairing in pairings if pairing[0] != pairing[1]]
    return CrossplayResult(
        names=tuple(names[:n]), opponents=names[n], rules=tuple(rules), seed=seed, asked_deals=asked_deals,
        forfeit_points=forfeit_points, matches=tuple(matches), totals=totals, cells=cells, won=won,
        self_play=means.interval(own), cross_play=means.interval(others), gap=means.interval(own, others),
        partners=tuple(_partners(means, cells, n, p) for p in range(n)),
        forfeits=tuple(entry for own_parts in parts for entry in forfeits_of(own_parts)),
    )  # fmt: skip


def _partners(means: _Means, cells, n: int, p: int) -> PartnerFigures:
    others = [(min(p, q), max(p, q)) for q in range(n) if q != p]
    worst = min((q for q in range(n) if q != p), key=lambda q: cells[p, q].mean)
    confidence = 1 - (1 - CONFIDENCE) / (n - 1)
    return PartnerFigures(
        with_itself=cells[p, p], with_others=means.interval(others), gap=means.interval([(p, p)], others), worst=worst,
        with_worst=means.interval([(min(p, worst), max(p, worst))], confidence=confidence),
    )  # fmt: skip


class _Means:
    """Means over pairings, and their intervals: all pairings play the same game seeds, so they vary together."""

    def __init__(self, totals: dict[tuple[int, int], MatchTotals]) -> None:
        clusters = min(table.num_clusters for table in totals.values())
        self._places = {pairing: place for place, pairing in enumerate(totals)}
        self._sums = np.stack([table.differences.sum(1)[:clusters] for table in totals.values()])
        self._counts = np.stack([table.deals.sum(1)[:clusters] for table in totals.values()])

    def interval(self, pairings, less=(), confidence: float = CONFIDENCE) -> Interval:
        """The mean over `pairings`, less the mean over `less` where given."""
        weights = np.zeros(len(self._places))
        for group, sign in ((pairings, 1.0), (less, -1.0)):
            for pairing in group:
                weights[self._places[pairing]] += sign / len(group)
        return combined_interval(weights, self._sums, self._counts, confidence)
