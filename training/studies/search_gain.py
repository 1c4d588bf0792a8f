"""What the choices of ``search`` are worth, with less noise than matches have.

The command is ``python -m training.studies.search_gain SPEC ...``.

Decisions are sampled from deals of a search against its rollout player, those oftener at which that search saw more at
stake, and weighted by the inverse of their chance. Each search of the list chooses anew at each of
them; its choice and the rollout player's are then played out to the deal's end by the rollout player, from the true
hands and feet, on many orders of the stock. By the performance difference lemma (Kakade, Langford 2002, Approximately
optimal approximate reinforcement learning, lemma 6.1) the points a deal by which a player beats the rollout player are
the sum, over its decisions of a deal, of how much better its choice is than the rollout player's if that one plays on.
So the table is in points a deal, as a match is. It is what a match would show only for the search whose decisions they
are: another one gains at them what that one missed, again and again (docs/search_player.md 6).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import click
import numpy as np

from agents.policy import PolicyBatch, SeatViews, decision_keys, uniforms
from agents.scripted.playout import Table
from agents.search import SearchPolicy
from agents.search.learned import LearnedRollouts
from agents.search.learned.rollouts import observed, table_layout
from agents.search.playouts import apply_actions
from agents.search.policy import SearchResult
from agents.search.scripted import ScriptedRollouts
from agents.search.worlds import Decision, sample_worlds
from agents.shipped import ChoosingPolicy
from hf_env.engine.state import GAME_DTYPE
from hf_env.rules import RuleSet
from hf_env.seeds import FOR_SEARCH_STUDY, generator, grow, grow_seed
from training.cli.common import FiniteRange, Mistake, load_rule_set, rules_option, seed_option
from training.cli.policies import load_policy
from training.evaluation.statistics import Interval, clustered_interval

# What the keys are for: playing the deals, sampling decisions, judging them, searching them.
_TO_PLAY, _TO_SAMPLE, _TO_JUDGE, _TO_SEARCH = 201, 202, 203, 204
# A decision at which nothing seemed to be at stake is sampled with this chance: the search may have been wrong.
_LEAST_CHANCE = 0.005


@dataclass(frozen=True)
class Decisions:
    """Decisions sampled from deals.

    Attributes:
        games: (N,) GAME_DTYPE, the true states; no search sees them.
        batch: of the same N rows, each with two legal actions or more.
        deals: (N,) int64, the deal of each.
        chances: (N,) float64 in 0..1, with which each was sampled.
        num_deals: played in all.
    """

    games: np.ndarray
    batch: PolicyBatch
    deals: np.ndarray
    chances: np.ndarray
    num_deals: int

    def a_deal(self, points: np.ndarray) -> Interval:
        """What points (N,) of the decisions come to in a deal, with the interval over deals."""
        sums = np.bincount(self.deals, points / self.chances, self.num_deals)
        return clustered_interval(sums, np.ones(self.num_deals))


def _batch(games: np.ndarray, masks: np.ndarray, seats: np.ndarray, keys: np.ndarray, rules: np.ndarray) -> PolicyBatch:
    """These decisions as a policy gets them."""
    views = SeatViews.of(games, rules, np.arange(len(games)), seats)
    observations = observed(games, rules, seats, table_layout(rules[int(games[0]["rule"])]))
    return PolicyBatch(observations, masks, np.arange(len(games)), seats, np.zeros(len(games), bool), keys, lambda: views)


def _chances(result: SearchResult, certain: float) -> np.ndarray:
    """Chances (N,) of decisions to be sampled: the most by which an action's mean is off the rollout player's, over `certain`."""
    rows = np.arange(len(result.base))
    stakes = np.abs(result.means - result.means[rows, result.base][:, None])
    return np.clip(np.where(np.isnan(stakes), 0.0, stakes).max(1) / certain, _LEAST_CHANCE, 1.0)


def sample_decisions(policy: SearchPolicy, rules: RuleSet, num_deals: int, certain: float, seed: int) -> Decisions:
    """Decisions of `policy`, on one side of each deal, the sides in turn, against its rollout player on the others.

    Args:
        certain: points at stake, by what the policy saw, with which a decision is sampled for sure; with half of them every
            other one.

    Raises:
        ValueError: Where none were met.
    """
    root = grow_seed(seed, FOR_SEARCH_STUDY, _TO_PLAY)
    table = Table(rules, ["random"] * rules.players, num_deals, root)  # for the cards
    side = np.arange(num_deals) % rules.num_sides
    other = policy.rollout_policy.base
    kept: list[tuple[np.ndarray, ...]] = []
    masks, seats = table.masks()
    made = 0
    while masks.any():
        keys = decision_keys(root, np.arange(num_deals), _TO_PLAY, seats, made)
        for seated in (True, False):
            rows = np.flatnonzero(masks.any(1) & ((seats % rules.num_sides == side) == seated))
            if not len(rows):
                continue
            games = table.games[rows]
            batch = _batch(games, masks[rows], seats[rows], keys[rows], table.rules)
            if seated:
                result = policy.search(batch)
                chances, actions = _chances(result, certain), result.actions
                some = (batch.action_masks.sum(1) > 1) & (uniforms(batch.keys, _TO_SAMPLE) < chances)
                kept.append((games[some], masks[rows[some]], seats[rows[some]], keys[rows[some]], rows[some], chances[some]))
            else:
                actions = other.act(batch)
            apply_actions(games, table.rules, actions.astype(np.int64))
            table.games[rows] = games
        made += 1
        masks, seats = table.masks()
    games, masks, seats, keys, deals, chances = (np.concatenate(column) for column in zip(*kept, strict=True))
    if not len(games):
        raise ValueError("no decision was sampled; play more deals, or take fewer points for certain")
    return Decisions(games, _batch(games, masks, seats, keys, table.rules), deals, chances, num_deals)


class Values:
    """What actions are worth if the rollout player plays on to the deal's end: means over orders of the stock.

    The hands and feet are the true ones, or such as the seat may believe in. What was asked before is remembered.

    Args:
        rollout_policy: of the playouts.
        num_orders: of the stock, or worlds believed in, the same for all actions of a decision.
    """

    def __init__(
        self, decisions: Decisions, rollout_policy: ScriptedRollouts | LearnedRollouts, num_orders: int, seed: int, believed: bool = False
    ) -> None:
        self.decisions, self.rollout_policy, self.num_orders, self.seed, self.believed = (
            decisions,
            rollout_policy,
            num_orders,
            seed,
            believed,
        )
        self.means = np.full(decisions.batch.action_masks.shape, np.nan)

    def of(self, row: int, action: int) -> float:
        """Mean score difference of the deal for the deciding side, in points."""
        if np.isnan(self.means[row, action]):
            self.means[row, action] = self._play(row, action).mean()
        return float(self.means[row, action])

    def _play(self, row: int, action: int) -> np.ndarray:
        rules = self.decisions.batch.views.rules
        games = self._worlds(row) if self.believed else self._orders(row)
        keys = generator(self.seed, FOR_SEARCH_STUDY, _TO_JUDGE, row, 1).integers(1 << 63, size=len(games), dtype=np.uint64)
        apply_actions(games, rules, np.full(len(games), action, np.int64))
        return self.rollout_policy.play_to_end(games, rules, int(self.decisions.batch.seats[row]), keys)

    def _worlds(self, row: int) -> np.ndarray:
        """Worlds (num_orders,) GAME_DTYPE that fit what the seat may know; no search meets the same."""
        batch = self.decisions.batch
        key = np.uint64(generator(self.seed, FOR_SEARCH_STUDY, _TO_JUDGE, row, 2).integers(1 << 63, dtype=np.uint64))
        worlds = np.empty(self.num_orders, GAME_DTYPE)
        if not sample_worlds(Decision.of(batch, row)._replace(key=key), worlds):
            return self._orders(row)
        return worlds

    def _orders(self, row: int) -> np.ndarray:
        """The decision's state (num_orders,) GAME_DTYPE, its stock shuffled, and reshuffles to come too."""
        rng = generator(self.seed, FOR_SEARCH_STUDY, _TO_JUDGE, row)
        games = np.repeat(self.decisions.games[row : row + 1], self.num_orders)
        left = slice(int(games[0]["stock_next"]), int(games[0]["stock_end"]))
        games["stock"][:, left] = rng.permuted(games["stock"][:, left], axis=1)
        games["seed"] = rng.integers(1 << 63, size=len(games))
        return games


def choices(policy: SearchPolicy, batch: PolicyBatch, num_keys: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Actions (K, N) that a search chooses with so many keys a decision, and the rollout player's (N,)."""
    rows, root = np.arange(len(batch)), grow(seed, FOR_SEARCH_STUDY, _TO_SEARCH)
    results = [policy.search(replace(batch, keys=decision_keys(root, rows, _TO_SEARCH, 0, number))) for number in range(num_keys)]
    return np.stack([result.actions for result in results]), results[0].base


def gains(chosen: np.ndarray, base: np.ndarray, values: Values) -> np.ndarray:
    """Points (N,) by which actions (K, N) are better than the rollout player's (N,), by the mean over K.

    An action that is the rollout player's own gains nothing, and is not played out.
    """
    points = np.zeros(chosen.shape)
    for key, row in zip(*np.nonzero(chosen != base), strict=True):
        points[key, row] = values.of(row, chosen[key, row]) - values.of(row, base[row])
    return points.mean(0)


def _searches(specs: tuple[str, ...], rules: RuleSet) -> list[SearchPolicy]:
    """The searches of these specs, as they play under the rules.

    Raises:
        Mistake: For others, and where their rollout players differ.
    """
    found = []
    for spec in specs:
        policy = load_policy(spec)
        if isinstance(policy, ChoosingPolicy):
            policy = policy.player_for(rules)
        if not isinstance(policy, SearchPolicy):
            raise Mistake(f"{spec} is not a search; give search:rollouts=N,...")
        found.append(policy)
    if len({_rollout_player(policy) for policy in found}) > 1:
        raise Mistake("the searches have different rollout players; what they gain is over one")
    return found


def _rollout_player(policy: SearchPolicy) -> tuple[str, str]:
    """What tells rollout players apart: the scripted one's name, or the path and rules of a policy, in whatever mode it plays."""
    if policy.policy is None:
        return policy.player, ""
    return policy.policy.name, policy.policy.options.get("rules", "")


def _cell(interval: Interval) -> str:
    return f"{interval.mean:+.0f} ({interval.low:+.0f} to {interval.high:+.0f})"


@click.command()
@click.argument("specs", nargs=-1, required=True)
@rules_option
@click.option("--states", "played", default="search:rollouts=50", show_default=True, metavar="SPEC", help="Whose decisions are sampled.")
@click.option("--deals", type=click.IntRange(2), default=360, show_default=True, help="Deals that it plays.")
@click.option(
    "--certain", type=FiniteRange(0, 1e9, min_open=True), default=3000.0, show_default=True, metavar="POINTS",
    help="So much at stake at a decision, and it is sampled for sure; with half of it, every other one.",
)  # fmt: skip
@click.option(
    "--orders", type=click.IntRange(1), default=150, show_default=True, help="Orders of the stock, or worlds, on which a choice is judged."
)
@click.option("--keys", type=click.IntRange(1), default=1, show_default=True, help="Times that each search chooses at a decision.")
@click.option("--believed", is_flag=True, help="Judge on worlds that the seat may believe in, not on the true cards: less noise.")
@seed_option
def main(
    specs: tuple[str, ...], rules: str, played: str, deals: int, certain: float, orders: int, keys: int, believed: bool, seed: int
) -> None:
    """Points a deal that searches gain over their rollout player; a row for each SPEC, search:rollouts=N,..."""
    rule_set = load_rule_set(rules, ())
    try:
        player, *policies = _searches((played, *specs), rule_set)
        decisions = sample_decisions(player, rule_set, deals, certain, seed)
    except ValueError as error:
        raise Mistake(str(error)) from None
    of_a_deal = (1 / decisions.chances).sum() / deals
    click.echo(f"{len(decisions.batch):,} decisions of {player.name} under {rule_set.name}, of about {of_a_deal:.0f} a deal\n")
    click.echo("| search | choices changed | points a deal | more than the row before | more than the first row |\n|---|--:|---|---|---|")
    values = Values(decisions, player.rollout_policy, orders, seed, believed)
    rows: list[np.ndarray] = []
    for spec, policy in zip(specs, policies, strict=True):
        chosen, base = choices(policy, decisions.batch, keys, seed)
        changed = np.average((chosen != base).mean(0), weights=1 / decisions.chances)
        rows.append(gains(chosen, base, values))
        before = [rows[-1]] + [rows[-1] - rows[other] for other in (-2, 0) if len(rows) > 1]
        cells = [_cell(decisions.a_deal(points)) for points in before] + ["", ""]
        click.echo(f"| {spec} | {changed:.1%} | " + " | ".join(cells[:3]) + " |")


if __name__ == "__main__":
    main()
