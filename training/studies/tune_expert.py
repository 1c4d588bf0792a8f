"""The recorded search for the weights of `expert`: CMA-ES over duplicate deals at engine speed.

    python -m training.studies.tune_expert --out runs/tuning --generations 100

Each candidate plays the same deals, both seatings, under every rule set, half of them against `greedy`, half against
the champion (the mean of the search when it was last renewed). The deals of a generation are new, and made from seeds
that no other command uses (SEED_BASE). log.jsonl holds every generation; the search goes on where it stopped.

Hansen, The CMA Evolution Strategy: A Tutorial, arXiv:1604.00772; diagonal start as in Ros and Hansen, 2008.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

from agents.scripted.dispatch import GREEDY, WEIGHTED, Players
from agents.scripted.expert.tuned import tuned_for
from agents.scripted.expert.weights import HIGH, LOW, NUM_WEIGHTS, WEIGHTS
from agents.scripted.playout import ILLEGAL, UNLIMITED, draw_numbers, play_games_on, start_games
from hf_env import load_rules
from hf_env.engine.purposes import FOR_DEAL_NUMBER, FOR_GAME, FOR_POLICY
from hf_env.engine.state import GAME_DTYPE
from hf_env.files import write_text
from hf_env.reading import read_json
from training.cli.extras import require_extra

# No judgement starts from seeds in this range.
SEED_BASE = 900_000_000
# Points that count alike: about the spread of one duplicate deal under each rule set.
SCALE = {"whitnack": 1350.0, "bicycle": 830.0, "family": 1290.0, "mini": 350.0}
RENEW_EVERY = 10


def _logged(log: Path) -> list[dict]:
    """The generations that a log holds, in order; a line cut off by an interruption is left out, and cut from the file."""
    if not log.exists():
        return []
    whole = [line for line in log.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")]
    write_text(log, "".join(whole))
    return [json.loads(line) for line in whole]


def duel(rules, weights: np.ndarray, opponent, num_deals: int, seed: int) -> np.ndarray:
    """Points of `weights` over `opponent` in each of num_deals duplicate deals, averaged over the seatings: (num_deals,).

    Args:
        rules: RuleSet.
        weights: (NUM_WEIGHTS,) float64.
        opponent: a number of agents.scripted.dispatch, or weights. With more than two sides the weights sit once on each
            side, the opponent on all others.
    """
    record, sides, seats = rules.to_record(), rules.num_sides, rules.players
    seeds = draw_numbers(seed, FOR_GAME, num_deals)
    deals = 1 + draw_numbers(seed, FOR_DEAL_NUMBER, num_deals, int(record[0]["deals"]))
    keys = draw_numbers(seed, FOR_POLICY, num_deals).astype(np.uint64)
    scripted = isinstance(opponent, int)
    total = np.zeros(num_deals)
    for side in range(sides):
        games = np.zeros(num_deals, GAME_DTYPE)
        start_games(games, record, deals, seeds, np.int64(1))
        own = np.arange(seats) % sides == side
        numbers = np.tile(np.where(own, WEIGHTED, opponent if scripted else WEIGHTED), (num_deals, 1))
        rows = np.ascontiguousarray(np.where(own[:, None], weights, np.zeros(NUM_WEIGHTS) if scripted else opponent))
        decisions = np.zeros(num_deals, np.int64)
        players = Players(numbers, np.zeros(numbers.shape), None, rows)
        play_games_on(games, record, players, keys, decisions, np.int64(UNLIMITED))
        wrong = np.flatnonzero(decisions == ILLEGAL)
        if len(wrong):
            raise RuntimeError(f"expert chose an illegal action in the deal of seed {seeds[wrong[0]]} under {rules.preset}")
        scores = games["deal_scores"][:, :sides].astype(np.float64)
        total += scores[:, side] - (scores.sum(1) - scores[:, side]) / (sides - 1)
    return total / sides


def fitness(weights: np.ndarray, champion: np.ndarray, rule_sets: dict, num_deals: int, seed: int) -> float:
    """Mean over the rule sets and both opponents of the points won, in units of SCALE: the higher the better."""
    parts = []
    for name, rules in rule_sets.items():
        for part, opponent in enumerate((GREEDY, champion)):
            points = duel(rules, weights, opponent, num_deals // 2, seed + part)
            parts.append(points.mean() / SCALE.get(name, 1300.0))
    return float(np.mean(parts))


def to_unit(weights: np.ndarray) -> np.ndarray:
    """Weights (NUM_WEIGHTS,) as shares of their ranges."""
    return (weights - LOW) / (HIGH - LOW)


def from_unit(shares: np.ndarray) -> np.ndarray:
    """The inverse of to_unit."""
    return LOW + np.clip(shares, 0.0, 1.0) * (HIGH - LOW)


def by_name(weights: np.ndarray) -> dict[str, float]:
    """Weights (NUM_WEIGHTS,) by name, as the log tells them."""
    return {weight.name: round(float(value), 4) for weight, value in zip(WEIGHTS, weights, strict=True)}


def search(
    out: Path, start: np.ndarray, rule_names: list[str], generations: int, num_deals: int, population: int, sigma: float, seed: int
) -> np.ndarray:
    """Run or continue the search in folder `out`; returns the mean of its last generation as weights (NUM_WEIGHTS,).

    Args:
        start: (NUM_WEIGHTS,) weights.
        generations: in all, those of earlier calls included.
        num_deals: duplicate deals a candidate and rule set.
        population: candidates a generation.
        sigma: the first step, as a share of each weight's range.
    """
    import cma

    out.mkdir(parents=True, exist_ok=True)
    rule_sets = {name: load_rules(name) for name in rule_names}
    normals = np.random.default_rng(seed).standard_normal
    options = {
        "bounds": [0.0, 1.0], "popsize": population, "seed": np.nan, "randn": lambda *shape: normals(shape), "verbose": -9,
        "CMA_diagonal": True,
    }  # fmt: skip
    strategy, champion, generation = cma.CMAEvolutionStrategy(to_unit(start), sigma, options), start, 0
    # What was played before is told again: its candidates come from the same numbers, their values stand in the log.
    for entry in _logged(out / "log.jsonl")[:generations]:
        strategy.tell(strategy.ask(), [-value for value in entry["values"]])
        generation += 1
        if generation % RENEW_EVERY == 0:
            champion = from_unit(strategy.result.xfavorite)
    while generation < generations:
        began = time.perf_counter()
        candidates = strategy.ask()
        deal_seed = SEED_BASE + seed * 1_000_000 + 2 * generation
        values = [fitness(from_unit(candidate), champion, rule_sets, num_deals, deal_seed) for candidate in candidates]
        strategy.tell(candidates, [-value for value in values])
        generation += 1
        mean = from_unit(strategy.result.xfavorite)
        entry = {
            "generation": generation, "values": values, "best": max(values), "mean_of_candidates": float(np.mean(values)),
            "sigma": float(strategy.sigma), "seconds": time.perf_counter() - began,
            "weights": by_name(mean),
        }  # fmt: skip
        if generation % RENEW_EVERY == 0:
            champion = mean
            check = SEED_BASE + seed * 1_000_000 + 500_000 + generation
            entry["over_greedy"] = {}
            for name, rules in rule_sets.items():
                points = duel(rules, mean, GREEDY, 2000, check)
                entry["over_greedy"][name] = [float(points.mean()), float(1.96 * points.std() / np.sqrt(len(points)))]
        with open(out / "log.jsonl", "a", encoding="utf-8") as log:
            log.write(json.dumps(entry) + "\n")
        line = f"generation {generation}: best {entry['best']:+.3f}, mean {entry['mean_of_candidates']:+.3f}"
        print(line, entry.get("over_greedy", ""), flush=True)
    return from_unit(strategy.result.xfavorite)


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(description="Search the weights of the player expert (needs the extra tune).")
    parser.add_argument("--out", type=Path, default=Path("runs/tuning"), help="folder of the log, from which a search goes on")
    parser.add_argument("--rules", nargs="+", default=["whitnack", "bicycle"], help="rule sets that count alike")
    parser.add_argument("--generations", type=int, default=100)
    parser.add_argument("--deals", type=int, default=400, help="duplicate deals a candidate and rule set")
    parser.add_argument("--population", type=int, default=16)
    parser.add_argument("--sigma", type=float, default=0.08, help="first step, as a share of each weight's range")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=Path, help="JSON file of weights by name; default: where the player stands")
    chosen = parser.parse_args(arguments)
    require_extra("the search needs", "tune", "cma")
    start = tuned_for(load_rules(chosen.rules[0]))
    if chosen.start is not None:
        given = read_json(chosen.start)
        start = np.array([given.get(weight.name, weight.start) for weight in WEIGHTS])
    weights = search(chosen.out, start, chosen.rules, chosen.generations, chosen.deals, chosen.population, chosen.sigma, chosen.seed)
    print(json.dumps(by_name(weights), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
