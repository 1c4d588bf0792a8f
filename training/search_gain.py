"""What the choices of ``search`` are worth, with less noise than matches have: ``python -m training.search_gain SPEC ...``

Decisions are sampled from games of a search against its rollout player. Each search of the list chooses anew at each of
them; its choice and the rollout player's are then played out to the deal's end on many common worlds. By the
performance difference lemma (Kakade, Langford 2002, Approximately optimal approximate reinforcement learning, lemma
6.1) the points a deal by which a player beats the rollout player are the sum, over its decisions of a deal, of how much
better its choice is than the rollout player's if that one plays on. So the table is in points a deal, as a match is;
it differs in where the decisions come from: from the play of one search for all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import click
import numpy as np

from agents.catalogue import UnknownPolicyError, load
from agents.policy import PolicyBatch, SeatViews, decision_keys, mix64, uniforms
from agents.search import SearchPolicy
from agents.search.scripted import ScriptedRollouts
from hf_env.rules import RuleSet, list_rules, load_rules
from training.evaluation.matches import duel, play_part
from training.evaluation.statistics import Interval, clustered_interval

# What the keys are for: choosing decisions, judging them, searching them.
_TO_CHOOSE, _TO_JUDGE, _TO_SEARCH = 201, 202, 203


@dataclass(frozen=True)
class Decisions:
    """Decisions sampled from games.

    batch: of N rows, each with two legal actions or more. clusters: (N,) int64, the game seed of each, by number.
    deals: (C,) int64, deals played on each game seed, all seatings together. share: of the games' decisions, in 0..1.
    """

    batch: PolicyBatch
    clusters: np.ndarray
    deals: np.ndarray
    share: float

    def a_deal(self, points: np.ndarray) -> Interval:
        """What points (N,) of the decisions come to in a deal, with the interval over game seeds."""
        sums = np.bincount(self.clusters, points, len(self.deals)) / self.share
        return clustered_interval(sums, self.deals)


class _Collector:
    """Plays as another policy does and keeps a share of the decisions that have a choice."""

    def __init__(self, policy: SearchPolicy, share: float) -> None:
        self.policy, self.share = policy, share
        self.kept: list[PolicyBatch] = []

    def act(self, batch: PolicyBatch) -> np.ndarray:
        chosen = (uniforms(batch.keys, _TO_CHOOSE) < self.share) & (batch.action_masks.sum(1) > 1)
        if chosen.any():
            rows = batch.rows(chosen)
            # Made now: the games behind them go on.
            assert rows.views is not None
            self.kept.append(rows)
        return self.policy.act(batch)


def sample_decisions(policy: SearchPolicy, rules: RuleSet, num_seeds: int, share: float, seed: int) -> Decisions:
    """Decisions of `policy` in duplicate games against its rollout player on `num_seeds` game seeds.

    Raises ValueError where none were met.
    """
    collector = _Collector(policy, share)
    names = [policy.name, policy.player]
    match = duel(0, 1, names, rules)
    part = play_part(match, [collector, load(policy.player)], names, [rules], seed, 0, num_seeds)
    kept = collector.kept
    if not kept:
        raise ValueError("no decision was sampled; play more game seeds or sample a larger share")
    games = np.concatenate([one.views.games for one in kept])
    columns = ("observations", "action_masks", "games", "seats", "game_starts", "keys")
    views = SeatViews(games, kept[0].views.rules)
    batch = PolicyBatch(*(np.concatenate([getattr(one, name) for one in kept]) for name in columns), make_views=lambda: views)
    deals = np.bincount(part.results.deal_games // match.num_seatings, minlength=num_seeds)
    return Decisions(batch, batch.games // match.num_seatings, deals, share)


class Values:
    """What actions are worth if a scripted player plays on to the deal's end: means over worlds, played when first asked for.

    player: its name. num_worlds: of each action, the same for all actions of a decision, and none that a search met.
    """

    def __init__(self, batch: PolicyBatch, player: str, num_worlds: int) -> None:
        self.batch = replace(batch, keys=mix64(batch.keys ^ np.uint64(_TO_JUDGE)))
        self.num_worlds = num_worlds
        self._rollouts = ScriptedRollouts(player, 0)
        self._means = np.full(batch.action_masks.shape, np.nan)

    def of(self, row: int, action: int) -> float:
        """Mean score difference of the deal, in points."""
        if np.isnan(self._means[row, action]):
            played = self._rollouts.play(self.batch, row, np.array([action], np.int64), 0, self.num_worlds)
            self._means[row, action] = played.mean()
        return float(self._means[row, action])


def choices(policy: SearchPolicy, batch: PolicyBatch, num_keys: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Actions (K, N) that a search chooses with so many keys a decision, and the rollout player's (N,)."""
    rows = np.arange(len(batch))
    results = [policy.search(replace(batch, keys=decision_keys(seed, rows, _TO_SEARCH, 0, number))) for number in range(num_keys)]
    return np.stack([one.actions for one in results]), results[0].base


def gains(chosen: np.ndarray, base: np.ndarray, values: Values) -> np.ndarray:
    """Points (N,) by which actions (K, N) are better than the rollout player's (N,), by the mean over K.

    An action that is the rollout player's own gains nothing, and is not played out.
    """
    points = np.zeros(chosen.shape)
    for key, row in zip(*np.nonzero(chosen != base), strict=True):
        points[key, row] = values.of(row, chosen[key, row]) - values.of(row, base[row])
    return points.mean(0)


def _searches(specs: tuple[str, ...]) -> list[SearchPolicy]:
    """The searches of these specs. Raises click.UsageError for others, and where their rollout players differ."""
    found = []
    for spec in specs:
        try:
            policy = load(spec)
        except (UnknownPolicyError, OSError) as error:
            raise click.UsageError(str(error)) from None
        if not isinstance(policy, SearchPolicy) or policy.policy is not None:
            raise click.UsageError(f"{spec} is not a search with a scripted player; give search:rollouts=N,...")
        found.append(policy)
    if len({policy.player for policy in found}) > 1:
        raise click.UsageError("the searches have different rollout players; what they gain is over one")
    return found


def _cell(interval: Interval) -> str:
    return f"{interval.mean:+.0f} ({interval.low:+.0f} to {interval.high:+.0f})"


@click.command()
@click.argument("specs", nargs=-1, required=True)
@click.option("--rules", type=click.Choice(list_rules()), default="whitnack", show_default=True)
@click.option("--player", "states_by", default="search:rollouts=50", show_default=True, metavar="SPEC", help="Whose decisions are sampled.")
@click.option("--seeds", type=click.IntRange(2), default=40, show_default=True, help="Game seeds that decisions are sampled from.")
@click.option("--share", type=click.FloatRange(0, 1, min_open=True), default=0.1, show_default=True, help="Of the decisions, sampled.")
@click.option("--worlds", type=click.IntRange(1), default=400, show_default=True, help="Worlds on which a choice is judged.")
@click.option("--keys", type=click.IntRange(1), default=2, show_default=True, help="Times that each search chooses at a decision.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
def main(specs: tuple[str, ...], rules: str, states_by: str, seeds: int, share: float, worlds: int, keys: int, seed: int) -> None:
    """Points a deal that searches gain over their rollout player; a row a SPEC, search:rollouts=N,..."""
    states_by_policy, *policies = _searches((states_by, *specs))
    try:
        decisions = sample_decisions(states_by_policy, load_rules(rules), seeds, share, seed)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    number = len(decisions.batch)
    click.echo(f"{number:,} decisions of {states_by_policy.name} under {rules}, {number / share / decisions.deals.sum():.0f} a deal\n")
    click.echo("| search | choices changed | points a deal | more than the first |\n|---|--:|---|---|")
    values = Values(decisions.batch, states_by_policy.player, worlds)
    first = None
    for spec, policy in zip(specs, policies, strict=True):
        chosen, base = choices(policy, decisions.batch, keys, seed)
        points = gains(chosen, base, values)
        more = "" if first is None else _cell(decisions.a_deal(points - first))
        click.echo(f"| {spec} | {(chosen != base).mean():.1%} | {_cell(decisions.a_deal(points))} | {more} |")
        first = points if first is None else first


if __name__ == "__main__":
    main()
