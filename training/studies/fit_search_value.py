"""Fits the value with which ``search`` cuts its playouts: ``python -m training.studies.fit_search_value --player greedy``.

Deals of the player against itself, with some random moves up to a turn drawn at random and none after it; a small
network learns the deal's final score difference from the features of the state at that turn. One network for several
rule sets, whose numbers are among the features. The result is one file of numbers in agents/search/fitted.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

import click
import numpy as np

from training.cli.extras import require_extra

if __name__ == "__main__":
    require_extra("fitting a value needs", "train", "torch")
import torch
from torch import nn

from agents.scripted.dispatch import work_for
from agents.scripted.playout import draw_numbers
from agents.scripted.table import PLAYER_IDS
from agents.search.features import NUM_FEATURES
from agents.search.playouts import OK, Leaves, sample_leaves
from agents.search.values import FOLDER, HIDDEN, save_fitted
from hf_env.rules import RuleSet, load_rules

RULES = ("whitnack", "bicycle", "family")
# What the streams of numbers are for, beside those of hf_env.engine.rng.
_SEEDS, _DEALS, _KEYS, _NOISE, _TURNS, _SIDES = range(101, 107)
# A deal in which nobody errs is not all that a search sees: it is one wrong move away from its candidates.
_LEAST_NOISE, _MOST_NOISE = 0.01, 0.15
# Turns a seat that deals last at most, near enough; what is drawn beyond a deal's end is left out.
_TURNS_A_SEAT = 26
_VALIDATION_SHARE = 16
_LEARNING_RATE = 2e-3
_WEIGHT_DECAY = 1e-5
_BATCH = 1024


def draw_leaves(rules: RuleSet, player: str, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Features (N, F) float32 and score differences in points (N,) float32 of `count` deals, fewer where deals ended early."""
    record = rules.to_record()
    features, returns = np.zeros((count, NUM_FEATURES)), np.empty(count)
    fraction = draw_numbers(seed, _NOISE, count, 1 << 20) / (1 << 20)
    leaves = Leaves(
        seeds=draw_numbers(seed, _SEEDS, count),
        deals=1 + draw_numbers(seed, _DEALS, count, int(record[0]["deals"])),
        keys=draw_numbers(seed, _KEYS, count).astype(np.uint64),
        noise=_LEAST_NOISE + fraction * (_MOST_NOISE - _LEAST_NOISE),
        turns=1 + draw_numbers(seed, _TURNS, count, _TURNS_A_SEAT * rules.players),
        sides=draw_numbers(seed, _SIDES, count, rules.num_sides),
        features=features,
        returns=returns,
    )
    number = PLAYER_IDS[player]
    code = sample_leaves(record, np.int64(0), np.int64(number), work_for([number]), leaves)
    if code != OK:
        raise RuntimeError(f"the player {player!r} chose an illegal action")
    kept = ~np.isnan(returns)
    return features[kept].astype(np.float32), returns[kept].astype(np.float32)


class _Value(nn.Module):
    mean: torch.Tensor
    scale: torch.Tensor

    def __init__(self, mean: torch.Tensor, scale: torch.Tensor) -> None:
        super().__init__()
        self.mean, self.scale = mean, scale
        self.layers = nn.Sequential(nn.Linear(NUM_FEATURES, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.layers((features - self.mean) / self.scale).squeeze(-1)


def fit(features: np.ndarray, returns: np.ndarray, epochs: int, seed: int, say=print) -> dict[str, np.ndarray]:
    """The weights of agents.search.values.ValueWeights by name, float32; says the share of variance explained on held-out rows."""
    torch.manual_seed(seed)
    unit = 1000.0
    order = torch.randperm(len(features))
    x, y = torch.from_numpy(features)[order], torch.from_numpy(returns / unit)[order]
    held_out = len(x) // _VALIDATION_SHARE
    # A number that never changes (one rule set) gets scale 1: it is 0 after the mean.
    scale = x.std(0)
    network = _Value(x.mean(0), torch.where(scale > 1e-6, scale, torch.ones_like(scale)))
    optimiser = torch.optim.AdamW(network.parameters(), _LEARNING_RATE, weight_decay=_WEIGHT_DECAY)
    steps = epochs * ((len(x) - held_out) // _BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, _LEARNING_RATE, total_steps=steps)
    for epoch in range(epochs):
        rows = held_out + torch.randperm(len(x) - held_out)
        for chosen in rows[: len(rows) // _BATCH * _BATCH].split(_BATCH):
            loss = nn.functional.mse_loss(network(x[chosen]), y[chosen])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
        with torch.no_grad():
            left = float(nn.functional.mse_loss(network(x[:held_out]), y[:held_out]) / y[:held_out].var())
        say(f"epoch {epoch + 1} of {epochs}: {1 - left:.3f} of the held-out variance explained")
    return _weights(network, unit)


def _weights(network: _Value, unit: float) -> dict[str, np.ndarray]:
    first, second, last = (cast(nn.Linear, network.layers[place]) for place in (0, 2, 4))
    w1 = (first.weight / network.scale).T
    named = {
        "w1": w1, "b1": first.bias - network.mean @ w1, "w2": second.weight.T, "b2": second.bias,
        "w3": last.weight[0] * unit, "b3": last.bias * unit,
    }  # fmt: skip
    return {name: value.detach().numpy().astype(np.float32) for name, value in named.items()}


@click.command()
@click.option("--player", type=click.Choice(sorted(PLAYER_IDS)), required=True, help="Whose play the value is of.")
@click.option("--rules", multiple=True, default=RULES, show_default=True, help="A rule set to fit on; may be repeated.")
@click.option("--deals", type=click.IntRange(10_000), default=400_000, show_default=True, help="Deals a rule set.")
@click.option("--epochs", type=click.IntRange(1), default=8, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="No seed of an evaluation: its streams are its own.")
@click.option("--out", type=click.Path(path_type=Path), help="File to write; by default the one that search loads.")
def main(player: str, rules: tuple[str, ...], deals: int, epochs: int, seed: int, out: Path | None) -> None:
    """Fit the value of a scripted player's play."""
    sets = [load_rules(name) for name in rules]
    leaves = []
    for rule_set in sets:
        leaves.append(draw_leaves(rule_set, player, deals, seed))
        click.echo(f"{rule_set.name}: {len(leaves[-1][1]):,} states")
    features, returns = (np.concatenate(part) for part in zip(*leaves, strict=True))
    weights = fit(features, returns, epochs, seed, click.echo)
    records = np.concatenate([rule_set.to_record() for rule_set in sets])
    path = out or FOLDER / f"{player}.npz"
    save_fitted(path, weights, records)
    click.echo(f"written to {path}")


if __name__ == "__main__":
    main()
