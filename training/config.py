"""The settings of a training run, each in one row: value, what is allowed, what it means, what more and less of it does.

The defaults are chosen for a first policy after five minutes on two cores. A config is written to the run
folder as JSON and read back from there by ``handfoot train --resume``. What a user gives, as a file or as
``--set KEY=VALUE``, is read by training/settings.py; the table in docs/training.md is made by training/document.py.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from types import NoneType
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError, model_validator

from agents.neural.base import NetworkConfig
from agents.neural.devices import DEVICE_PATTERN, DEVICE_WORDS
from agents.registry import SCRIPTED
from hf_env.fields import choice, extra, number, positive, refusal, setting, whole, yes_no
from hf_env.rules import RuleSet
from hf_env.rules.errors import shown
from hf_env.rules.options import plain
from hf_env.seeds import MAX_SEED
from hf_env.vector.game import EPISODES, REWARDS, load_rule_sets
from training.league.lineups import LineupError, check_lineup

CRITICS = ("seat", "all_cards")
PRECISIONS = ("float32", "bfloat16")
# Names of before, in run folders and in files of settings; the values mean the same.
RENAMED = {
    "clip": "clip_coef",
    "entropy_start": "entropy_coef_start",
    "entropy_end": "entropy_coef_end",
    "epochs": "update_epochs",
    "max_gradient_norm": "max_grad_norm",
    "value_coefficient": "value_coef",
}
# Settings of before that nothing of today stands for, and what to give in their place.
GONE = dict.fromkeys(("parts", "threads"), "training runs in processes now, not in threads: give processes")
# About 10 GB of observations; several times that is needed while they are learned from.
_MAX_ROLLOUT = 1 << 22
_TEN_YEARS = 10 * 365 * 24 * 3600.0
_MANY = 1_000_000_000.0


class ConfigError(ValueError):
    """A setting that makes no sense; the message is one line for a user."""


def _rule_sets(value: Any) -> tuple[RuleSet, ...]:
    return load_rule_sets(list(value) if isinstance(value, tuple) else value)


def _seats(value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"seats = {shown(value)} is not allowed: it must be {extra(TrainConfig, 'seats', 'allowed')}")
    return tuple(value)


def _pools(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"pools = {shown(value)} is not allowed: it must be {extra(TrainConfig, 'pools', 'allowed')}")
    return {str(name): dict(pool) if isinstance(pool, Mapping) else pool for name, pool in value.items()}


class TrainConfig(BaseModel):
    """Settings of one run. Budgets: at least one of the two; schedules run to whichever ends first.

    ``rules`` takes what ``hf_env.load_rules`` takes, or a list of that, and holds the RuleSets.

    Raises:
        ConfigError: one line that names the setting, its value and what is allowed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    # The game.
    rules: Annotated[tuple[RuleSet, ...], PlainValidator(_rule_sets)] = setting(
        lambda: load_rule_sets("whitnack"), "a rule set (a name, a file, a table) or a list of them", "the rules",
        "of a list each game draws one; they must have equal numbers of seats and sides",
    )  # fmt: skip
    reward: Literal["score_difference", "score", "win"] = choice(
        "score_difference", tuple(REWARDS), "what is paid, as in `hf_env.VectorGame`", "see rewards.md"
    )
    episode: Literal["game", "deal"] = choice(
        "game", EPISODES, "what is played as one game",
        "`game` shows the network all deal numbers and running scores that it will be asked about",
    )  # fmt: skip
    shaping: Literal["table", "full"] | None = choice(
        "full", ("none", "table", "full"), "what is paid on the way, as in `hf_env.VectorGame`",
        "`full` pays for progress when it is made, with the same sum a deal; without it almost the whole return arrives at the "
        "deal's end, some hundred decisions late",
    )  # fmt: skip
    num_games: int = whole(
        512, 1, 65_536, "games side by side",
        "more fills the cores better and makes an update's data more varied; fewer gives more updates a second",
    )  # fmt: skip
    seed: int = whole(0, 0, MAX_SEED, "of everything: deals, weights, sampling, minibatches, line-ups")

    # The budget.
    time_budget_seconds: float | None = positive(
        300.0, _TEN_YEARS, "wall time of the run in seconds, evaluations included", "more is stronger", optional=True
    )
    decisions_budget: int | None = whole(
        None, 1, 1 << 60, "decisions of all seats", "a run with this budget alone repeats exactly"
    )  # fmt: skip

    # Learning (Schulman et al. 2017).
    network: NetworkConfig = setting(NetworkConfig, "a table", "what the network is built from", "the rows `network.` below")
    rollout_steps: int = whole(
        64, 1, 65_536, "decisions of each game between two updates", "longer is less cut by bootstrapping and staler"
    )
    learning_rate: float = positive(3e-3, 10, "Adam's step at the start", "more learns faster, until it breaks what was learned")
    final_learning_rate_share: float = number(
        0.1, 0, 1, "share of the learning rate left at the end, linear over the run", "less settles more"
    )
    update_epochs: int = whole(3, 1, 1000, "passes over a rollout", "more use the data more and move further from the policy that made it")
    minibatch_size: int = whole(4096, 1, 1 << 24, "rows of a gradient step", "more is steadier, with fewer steps")
    clip_coef: float = positive(0.2, 10, "clipping range of the probability ratio", "more lets an update move the policy further")
    gae_lambda: float = number(
        0.95, 0, 1, "lambda of generalised advantage estimation", "1 trusts returns alone (noisy), less trusts the value more (biased)"
    )
    entropy_coef_start: float = number(
        0.01, 0, 100, "weight of the entropy at the start, a nat in units of the normalised advantage, then linear to the end",
        "too little freezes early habits",
    )  # fmt: skip
    entropy_coef_end: float = number(0.0, 0, 100, "the same at the end", "too much keeps it from playing a won position out")
    critic: Literal["seat", "all_cards"] = choice(
        "seat", CRITICS, "what values: `seat`, the policy's own observation; `all_cards`, a second network that sees all hands and feet",
        "`all_cards` has less noise in the advantages, for the time that another network takes",
    )  # fmt: skip
    value_coef: float = number(0.5, 0, 1000, "weight of the value loss, whose targets have unit scale", "more learns values before habits")
    max_grad_norm: float = positive(0.5, _MANY, "longer gradients are shortened to this", "less is steadier and slower")
    max_kl: float = positive(
        1.0, _MANY, "nats that one update may move the policy; beyond, the run stops and keeps the batch",
        "ordinary updates move it by less than a tenth of a nat",
    )  # fmt: skip
    value_decay: float = number(
        0.9, 0, 1, "share of the value targets' running mean and variance that is kept at each update", "more follows the targets later"
    )
    skip_forced: bool = yes_no(
        True, "whether decisions with one legal action are left out of the streams: their rewards go to the seat's decision before",
        "they carry no gradient; left out, neither inference nor learning spends time on them",
    )  # fmt: skip
    initial_policy: str | None = setting(
        None, 'a policy such as "pretrained", the path of a run or checkpoint, or "none"', "a policy to go on from",
        "a network of the same kind and size that sees the same numbers",
    )  # fmt: skip

    # The teacher (kickstarting: Schmitt et al. 2018, equation 4).
    teacher: str | None = setting(
        None, f'one of {", ".join(SCRIPTED)}, or "none"',
        "a scripted player whose choice in each of the learner's positions is learned too, as a cross-entropy beside PPO's loss",
        "without one the learner finds everything by itself; compared below",
    )  # fmt: skip
    teacher_weight: float = number(
        1.0, 0, 1000, "of that cross-entropy at the start, falling linearly to 0", "more follows the teacher closer"
    )
    teacher_end: float = number(0.5, 0, 1, "share of the run at which the teacher's weight is 0", "later leaves less time of its own")

    # The league (training/league/league.py).
    seats: Annotated[tuple[str, ...], PlainValidator(_seats)] = setting(
        (), "a list of players, one a seat, or an empty list", "who sits at each seat: see the league below",
        "empty: the learner on all sides but the last, which is `team:opponents`; only the learner's seats learn",
    )  # fmt: skip
    pools: Annotated[dict[str, dict[str, float]], PlainValidator(_pools)] = setting(
        lambda: {"opponents": {"learner": 4.0, "past": 1.0}}, "a table of pools, each a table of players and weights",
        "pools that players are drawn from",
        "by default a fifth of the games have a past self on one side: more guards against forgetting, but such games teach one side only",
    )  # fmt: skip
    pool_size: int = whole(4, 0, 1000, "past selves to draw from", "each costs a small inference a step; 0 keeps none")
    pool_interval: float = positive(0.1, 1, "share of the run between two past selves", "less keeps more of them")
    hardness: float = number(
        2.0, 0, 16, "power p of a past self's chance (1 - x)^p, x being the share of games that the learner wins against it",
        "0 draws all alike; more looks for the hardest",
    )  # fmt: skip

    # The run.
    num_evaluations: int = whole(4, 0, 100_000, "measurements against the anchors during the run", "more draw a finer curve and take time")
    checkpoint_seconds: float = number(
        60.0, 0, _MANY, "between two checkpoints; one is always written at the end and on Ctrl-C", "less loses less when the machine stops"
    )
    processes: int = whole(
        0, 0, 1024, "that share the games and each minibatch, so that as many cores work side by side (training/processes.py)",
        "more are faster, up to the cores; a run repeats exactly for the same number; 0: as many as there are cores, at most 8",
    )  # fmt: skip
    device: str = setting(
        "cpu", DEVICE_WORDS, "where the networks learn",
        "a device other than the CPU takes a batch in one block, and 0 processes are 1 there",
        pattern=DEVICE_PATTERN,
    )  # fmt: skip
    precision: Literal["float32", "bfloat16"] = choice(
        "float32", PRECISIONS, "of the products of matrices", "`bfloat16` does not pay for a network of this size on a CPU"
    )
    compiled: bool = yes_no(
        False, "whether the networks that learn go through torch.compile", "does not pay for a network of this size on a CPU"
    )

    def __init__(self, **settings: Any) -> None:
        given = {name: _plain(name, value) for name, value in settings.items()}
        for name in given:
            if name in RENAMED:
                raise ConfigError(f"unknown setting {name}: it is called {RENAMED[name]} now")
            if name in GONE:
                raise ConfigError(f"unknown setting {name}: {GONE[name]}")
        try:
            if isinstance(given.get("network"), Mapping):
                given["network"] = NetworkConfig(**given["network"])
            super().__init__(**given)
        except ValidationError as error:
            raise ConfigError(refusal(error, type(self), given)) from None
        except (TypeError, ValueError) as error:  # of the network's
            raise ConfigError(str(error)) from None

    @model_validator(mode="after")
    def _check(self) -> TrainConfig:
        """What settings ask of one another."""
        if self.time_budget_seconds is None and self.decisions_budget is None:
            raise ValueError("a run needs time_budget_seconds or decisions_budget")
        if self.processes > self.num_games:
            raise ValueError(f"processes must be at most num_games, got {self.processes} for {self.num_games} games")
        if self.num_games * self.rollout_steps > _MAX_ROLLOUT:
            raise ValueError(
                f"num_games = {self.num_games} with rollout_steps = {self.rollout_steps} is not allowed: a rollout may hold "
                f"at most {_MAX_ROLLOUT:,} decisions"
            )
        if self.teacher is not None and self.teacher not in SCRIPTED:
            raise ValueError(f"teacher = {shown(self.teacher)} is not allowed: it must be {extra(type(self), 'teacher', 'allowed')}")
        try:
            check_lineup(self.seats, self.pools)
        except LineupError as error:
            raise ValueError(str(error)) from None
        return self

    def teacher_share(self, progress: float) -> float:
        """Weight of the teacher's cross-entropy at ``progress`` 0 to 1 of the run."""
        if self.teacher is None or progress >= self.teacher_end:
            return 0.0
        return self.teacher_weight * (1.0 - progress / self.teacher_end)

    def replace(self, **changes: Any) -> TrainConfig:
        """A copy with some settings changed; raises ConfigError as the constructor does."""
        return TrainConfig(**({name: getattr(self, name) for name in type(self).model_fields} | changes))

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON values; rule sets as names or tables, which do not depend on the files that they came from."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        held = [rules_to_json(rules) for rules in self.rules]
        return values | {
            "rules": held if len(held) > 1 else held[0],
            "network": self.network.model_dump(mode="json"),
            "seats": list(self.seats),
            "pools": {name: dict(pool) for name, pool in self.pools.items()},
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> TrainConfig:
        """The config of ``to_json``'s values, names of before too.

        Raises:
            ConfigError: Where it is of another version.
        """
        if not isinstance(values, Mapping):
            raise ConfigError(f"the config does not fit this version: it is {shown(values)}, no table of settings")
        try:
            return cls(**saved_settings(values))
        except (TypeError, ConfigError) as error:
            raise ConfigError(f"the config does not fit this version: {error}") from None

    def progress(self, seconds: float, decisions: int) -> float:
        """How far the run is, 0 to 1, by the budget that is nearer its end."""
        shares = [0.0]
        if self.time_budget_seconds is not None:
            shares.append(seconds / self.time_budget_seconds)
        if self.decisions_budget is not None:
            shares.append(decisions / self.decisions_budget)
        return min(1.0, max(shares))

    def fingerprint_values(self) -> dict[str, Any]:
        """The settings that a resumed run must share with its checkpoint: all but budgets and the run's upkeep.

        The rules are left out: a checkpoint names every option of each (training/run/state.py).
        """
        free = ("max_kl", "time_budget_seconds", "decisions_budget", "num_evaluations", "checkpoint_seconds", "device", "rules")
        values = json.loads(json.dumps(self.to_json()))
        return {name: value for name, value in values.items() if name not in free}


# The settings that may be none; JSON has null for it, TOML, which has none, says "none".
_OPTIONAL = {name for name, field in TrainConfig.model_fields.items() if NoneType in get_args(field.annotation)}


def _plain(name: str, value: Any) -> Any:
    """NumPy's numbers as Python's, "none" as None where that is allowed."""
    if name in ("rules", "network"):
        return value
    value = plain(value)
    return None if name in _OPTIONAL and isinstance(value, str) and value == "none" else value


def current_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings under today's names.

    Raises:
        ConfigError: Where one is given under both names.
    """
    for old, new in RENAMED.items():
        if old in values and new in values:
            raise ConfigError(f"{new} is given twice, also under its name of before, {old}")
    return {RENAMED.get(name, name): value for name, value in values.items()}


def saved_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a run folder under today's names. A run of before processes is of one, whose threads had parts of the rows."""
    kept = {name: value for name, value in values.items() if name not in GONE}
    return {"processes": 1} | current_names(kept)


def rules_to_json(rules: RuleSet) -> str | dict[str, Any]:
    """A rule set as a config holds it: a preset's name, or a table that does not depend on the file that it came from."""
    table = tomllib.loads(rules.to_toml())
    return table["preset"] if len(table) == 1 else table


# For help(TrainConfig): the rows in words.
TrainConfig.__doc__ = f"{TrainConfig.__doc__}\n    Settings:\n" + "\n".join(
    f"        {name}: {field.description} ({extra(TrainConfig, name, 'allowed')}). {extra(TrainConfig, name, 'effect')}".rstrip()
    for name, field in TrainConfig.model_fields.items()
)
