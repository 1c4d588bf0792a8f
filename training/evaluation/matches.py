"""Matches on duplicate games: who sits where, how many game seeds are played, and what they come to by game seed.

A match is a set of rotations: arrangements of policies on the seats. A cluster is one game seed, on which the match plays
one game in each rotation. Equal in all of them are the decks of all deals, the first dealer and the minimums; the policies' keys differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from agents.play.games import DEFAULT_NUM_SLOTS, GameResults, Judge, play_games
from hf_env.rules import RuleSet
from hf_env.seeds import FOR_EVALUATION, grow_seeds


@dataclass(frozen=True)
class Match:
    """Policies in several rotations on the same cards.

    Attributes:
        lineups: for each rotation, the index of the policy in each seat.
        sides: for each rotation, the side that is measured.
    """

    title: str
    lineups: tuple[tuple[int, ...], ...]
    sides: tuple[int, ...]

    @property
    def num_rotations(self) -> int:
        """Games of each game seed."""
        return len(self.lineups)


def duel(a: int, b: int, names: Sequence[str], rules: RuleSet) -> Match:
    """Policy a on each side once, b on all the others."""
    sides = range(rules.num_sides)
    lineups = (tuple(a if rules.side_of(seat) == side else b for seat in range(rules.players)) for side in sides)
    return Match(f"{names[a]} against {names[b]}", tuple(lineups), tuple(sides))


def partnership(p: int, q: int, opponents: int, names: Sequence[str], rules: RuleSet) -> Match:
    """Policies p and q in turn in the seats of each side once, and in the other order if they differ; opponents elsewhere."""
    lineups, measured = [], []
    for first, second in [(p, q), (q, p)] if p != q else [(p, p)]:
        for side in range(rules.num_sides):
            places = [
                (first, second)[seat // rules.num_sides % 2] if rules.side_of(seat) == side else opponents for seat in range(rules.players)
            ]
            lineups.append(tuple(places))
            measured.append(side)
    return Match(f"{names[p]} with {names[q]} against {names[opponents]}", tuple(lineups), tuple(measured))


def cluster_seeds(seed: int, first: int, count: int) -> np.ndarray:
    """Game seeds (count,) int64 of the clusters from number `first`: a function of seed and number only.

    So they are the same for whoever plays, and those of two seeds have nothing to do with each other.
    """
    return grow_seeds(seed, FOR_EVALUATION, first, count)


def deals_in_a_game(rules: Sequence[RuleSet]) -> int | None:
    """Number of deals of every game under these rules; None where it depends on the play."""
    numbers = {rule_set.deals if rule_set.target is None else None for rule_set in rules}
    return numbers.pop() if len(numbers) == 1 else None


def next_clusters(done_clusters: int, done_deals: int, deals: int, rotations: int, rules: Sequence[RuleSet]) -> int:
    """How many clusters to play next; 0 once there are deals enough.

    Where the length of a game is known all are played at once. Else waves follow until there are deals enough, each as
    large as the games so far make likely. Whole waves count, whatever they brought: no cluster is left out for its length.
    """
    fixed = deals_in_a_game(rules)
    if fixed is not None:
        return 0 if done_clusters else math.ceil(deals / (rotations * fixed))
    if not done_clusters:
        longest = max(rule_set.deals if rule_set.target is None else rule_set.max_deals for rule_set in rules)
        return math.ceil(deals / (rotations * longest))
    return max(0, math.ceil((deals - done_deals) * done_clusters / done_deals))


@dataclass(frozen=True)
class ClusterBatch:
    """Clusters of a match that were played together.

    Attributes:
        first: number of the first cluster; its games follow each other.
    """

    match: Match
    first: int
    count: int
    results: GameResults

    @cached_property
    def rotations(self) -> np.ndarray:
        """(D,) the rotation of each deal's game."""
        return self.results.deal_games % self.match.num_rotations

    @cached_property
    def played(self) -> np.ndarray:
        """(D,) bool: whether the deal belongs to a game that was not forfeited."""
        return ~np.isin(self.results.deal_games, [forfeit.game for forfeit in self.results.forfeits])


def play_clusters(
    match: Match,
    policies: Sequence[Any],
    names: Sequence[str],
    rules: Sequence[RuleSet],
    seed: int,
    first: int,
    count: int,
    *,
    num_slots: int = DEFAULT_NUM_SLOTS,
    judge: Judge | None = None,
    on_progress: Callable[[int], None] | None = None,
    on_record: Callable[[dict[str, Any]], object] | None = None,
) -> ClusterBatch:
    """Play `count` clusters of a match from number `first`.

    Args:
        policies, names: those that the match's lineups index.
        on_record: called with each game's record, which says in its field ``match`` the title, the cluster, the rotation
            (``seating``) and the measured side. Others and errors: as for ``play_games``.
    """
    rotations = np.tile(np.arange(match.num_rotations), count)
    clusters = np.repeat(np.arange(first, first + count), match.num_rotations)

    def record(game: int, values: dict[str, Any]) -> None:
        assert on_record is not None
        rotation = int(rotations[game])
        place = {"title": match.title, "cluster": int(clusters[game]), "seating": rotation, "side": match.sides[rotation]}
        on_record(values | {"match": place})

    results = play_games(
        policies, np.asarray(match.lineups)[rotations], cluster_seeds(seed, first, count)[clusters - first],
        rules=list(rules), seed=seed, key_games=clusters, rotations=rotations, names=names, num_slots=num_slots,
        on_progress=on_progress, judge=judge, on_record=record if on_record is not None else None,
    )  # fmt: skip
    return ClusterBatch(match, first, count, results)


@dataclass(frozen=True, kw_only=True)
class MatchTotals:
    """What a match came to, by cluster (C,) and where said by rotation (K,), in the order of the clusters.

    Attributes:
        numbers: of the clusters.
        deals (C, K): of each game.
        differences (C, K): sum over deals of the measured side's points less the mean of the others'.
        won (C, K): share of the game won by the measured side; a tie of m sides counts 1 / m.
        points (C, 2): of the measured side and of the others together.
        outs (C, 2): deals that the measured side, another side went out.
        num_sides: of the rules.
        num_forfeits: games forfeited.
    """

    numbers: np.ndarray
    deals: np.ndarray
    differences: np.ndarray
    won: np.ndarray
    points: np.ndarray
    outs: np.ndarray
    num_sides: int
    num_forfeits: int
    num_decisions: int

    @property
    def num_clusters(self) -> int:
        """Number of game seeds."""
        return len(self.numbers)

    @property
    def num_deals(self) -> int:
        """Deals in all."""
        return int(self.deals.sum())

    def clusters_json(self) -> dict[str, list]:
        """Deals, sums of differences and games won by cluster, as a report tells them."""
        return {
            "deals": self.deals.sum(1).tolist(), "difference_sums": self.differences.sum(1).tolist(),
            "games_won": self.won.sum(1).tolist(),
        }  # fmt: skip


def match_totals(parts: Sequence[ClusterBatch]) -> MatchTotals:
    """Count what a match's parts came to."""
    sides = parts[0].results.deal_scores.shape[1]
    columns = [np.concatenate(column) for column in zip(*(_by_cluster(part, sides) for part in parts), strict=True)]
    numbers, deals, scaled, won, points, outs = columns
    # Integers up to here, so that what cancels cancels exactly.
    return MatchTotals(
        numbers=numbers, deals=deals, differences=scaled / (sides - 1), won=won, points=points, outs=outs, num_sides=sides,
        num_forfeits=sum(len(part.results.forfeits) for part in parts),
        num_decisions=sum(part.results.num_decisions for part in parts),
    )  # fmt: skip


def _by_cluster(part: ClusterBatch, sides: int) -> tuple[np.ndarray, ...]:
    """Sums of a part's results by cluster.

    Returns:
        Cluster numbers (C,), deals (C, K), sums of (sides - 1) x own points less all others' (C, K), games won (C, K),
        points of the measured and of the other sides (C, 2), deals gone out by it and by others (C, 2).
    """
    results, rotations = part.results, part.match.num_rotations
    own_sides = np.asarray(part.match.sides)
    own_side = own_sides[part.rotations]
    own = results.deal_scores[np.arange(len(own_side)), own_side]
    others = results.deal_scores.sum(1) - own
    out_side = np.where(results.out_seats < 0, -1, results.out_seats % sides)
    by_deal = np.stack(
        [np.ones_like(own), (sides - 1) * own - others, own, others, out_side == own_side, (out_side >= 0) & (out_side != own_side)],
        axis=1,
    )  # fmt: skip
    by_game = np.zeros((part.count * rotations, by_deal.shape[1]), np.int64)
    np.add.at(by_game, results.deal_games, by_deal)
    sums = by_game.reshape(part.count, rotations, -1)
    best = results.totals == results.totals.max(1, keepdims=True)
    share = best[np.arange(len(best)), np.tile(own_sides, part.count)] / best.sum(1)
    numbers = np.arange(part.first, part.first + part.count)
    together = sums.sum(1)
    return numbers, sums[..., 0], sums[..., 1], share.reshape(part.count, rotations), together[:, 2:4], together[:, 4:6]
