"""The settings of a training run: what each means, what more and less of it does, and why this default.

The defaults are chosen for a first policy after five minutes on two cores. A config is written to the run
folder as JSON and read back from there by ``handfoot train --resume``.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.neural.base import NetworkConfig
from agents.neural.factory import NETWORKS
from agents.registry import SCRIPTED
from hf_env.vector.game import EPISODES, REWARDS, SHAPINGS
from training.league.lineups import LineupError, check_lineup

CRITICS = ("seat", "all_cards")
PRECISIONS = ("float32", "bfloat16")


class ConfigError(ValueError):
    """A setting that makes no sense; the message is one line for a user."""


@dataclass(frozen=True)
class TrainConfig:
    """Settings of one run. Budgets: at least one of the two; schedules run to whichever ends first.

    The game:
    rules: a preset's name, a path, a dict of overrides, or a list of those, of which each game draws one.
    reward, episode, shaping: as in ``hf_env.VectorGame``; a file says "none" for None. Shaping "full" pays for progress
        when it is made, with the same sum a deal; without it almost the whole return arrives at the deal's end, some
        hundred decisions late. Episode "game" lets the network see all deal numbers and running scores that it will be asked about.
    num_games: games side by side. More fills the cores better and makes an update's data more varied; fewer
        gives more updates a second.
    seed: of everything: deals, weights, sampling, minibatches, line-ups.

    The budget:
    time_budget_seconds: wall time of the run, evaluations included. None: no limit.
    decisions_budget: decisions of all seats. A run with this budget alone repeats exactly. None: no limit.

    Learning (Schulman et al. 2017):
    rollout_steps: decisions of each game between two updates. Longer is less cut by bootstrapping and staler.
    learning_rate, final_learning_rate_share: Adam's step at the start, and its share left at the end (linear).
    epochs, minibatch_size: passes over a rollout, rows a gradient step. More epochs use the data more and move
        further from the policy that made it.
    clip: of the probability ratio. gae_lambda: 1 trusts returns alone (noisy), less trusts the value more (biased).
    entropy_start, entropy_end: bonus per nat, in units of the normalised advantage, linear over the run.
        Too little freezes early habits; too much keeps it from playing a won position out.
    critic: "seat", the value of the policy's own observation; or "all_cards", a second network that sees all hands and feet
        (training/learning/critic.py): less noise in the advantages, for the time that another network takes.
    value_coefficient: weight of the value loss, whose targets have unit scale.
    max_gradient_norm: longer gradients are shortened to this.
    max_kl: nats that one update may move the policy; beyond, the run stops and keeps the batch. Ordinary updates
        move it by less than a tenth of a nat.
    value_decay: how much of the value targets' running mean and variance is kept at each update.
    skip_forced: decisions with one legal action carry no gradient; True leaves them out of the streams too: their
        rewards go to the seat's decision before, and neither inference nor learning spends time on them.

    initial_policy: a policy to go on from, as ``pretrained`` or the path of a run or checkpoint, of a network of the same kind
        and size that sees the same numbers. None: begin with nothing learned.

    The teacher (kickstarting: Schmitt et al. 2018, equation 4):
    teacher: a scripted player whose choice in each of the learner's positions is learned too, as a cross-entropy beside
        PPO's loss. None: the learner finds everything by itself (docs/training.md compares).
    teacher_weight: of that cross-entropy at the start, falling linearly to 0 at the share teacher_end of the run.

    The league (training/league/league.py):
    seats: who sits at each seat, one entry a seat (training/league/lineups.py): ``learner``, ``past``, a scripted player as
        ``greedy:noise=0.1``, ``pool:NAME`` drawn for each seat, ``team:NAME`` drawn once a side. Seats of the same side are
        partners. Each game turns the line-up round the table by chance. Empty: the learner on all sides but the
        last, which is ``team:opponents``. Only the learner's seats learn.
    pools: name -> {player: weight}. By default a fifth of the games have a past self on one side: more guards against
        forgetting, but such games teach one side only.
    pool_size: past selves to draw from. Each costs a small inference a step.
    pool_interval: share of the run between two past selves.
    hardness: a past self is drawn in proportion to (1 - x) to this power, x being the share of games that the learner
        wins against it. 0 draws all alike; more looks for the hardest.

    The run:
    num_evaluations: measurements against the anchors during the run.
    checkpoint_seconds: between two checkpoints; one is always written at the end and on Ctrl-C.
    processes: that share the games and each minibatch among them, so that as many cores work side by side
        (training/processes.py). A run repeats exactly for the same number; more are faster, up to the cores. 0: as many as
        there are cores, at most 8. device: torch's name, ``cpu`` or ``cuda``, for which 0 processes are 1.
    precision: of the products of matrices, "float32" or "bfloat16". compiled: run the networks that learn through torch.compile.
        Neither pays for a network of this size on a CPU (docs/performance.md).
    """

    rules: Any = "whitnack"
    reward: str = "score_difference"
    episode: str = "game"
    shaping: str | None = "full"
    num_games: int = 512
    seed: int = 0

    time_budget_seconds: float | None = 300.0
    decisions_budget: int | None = None

    network: NetworkConfig = field(default_factory=NetworkConfig)
    rollout_steps: int = 64
    learning_rate: float = 3e-3
    final_learning_rate_share: float = 0.1
    epochs: int = 3
    minibatch_size: int = 4096
    clip: float = 0.2
    gae_lambda: float = 0.95
    entropy_start: float = 0.01
    entropy_end: float = 0.0
    critic: str = "seat"
    value_coefficient: float = 0.5
    max_gradient_norm: float = 0.5
    max_kl: float = 1.0
    value_decay: float = 0.9
    skip_forced: bool = True
    initial_policy: str | None = None

    teacher: str | None = None
    teacher_weight: float = 1.0
    teacher_end: float = 0.5

    seats: tuple[str, ...] = ()
    pools: dict[str, dict[str, float]] = field(default_factory=lambda: {"opponents": {"learner": 4, "past": 1}})
    pool_size: int = 4
    pool_interval: float = 0.1
    hardness: float = 2.0

    num_evaluations: int = 4
    checkpoint_seconds: float = 60.0
    processes: int = 0
    device: str = "cpu"
    precision: str = "float32"
    compiled: bool = False

    def __post_init__(self) -> None:
        """Raises ConfigError naming the first setting that makes no sense."""
        if self.time_budget_seconds is None and self.decisions_budget is None:
            raise ConfigError("a run needs time_budget_seconds or decisions_budget")
        for name in ("num_games", "rollout_steps", "epochs", "minibatch_size"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("time_budget_seconds", "decisions_budget", "learning_rate", "clip", "max_gradient_norm", "max_kl"):
            if getattr(self, name) is not None and not getattr(self, name) > 0:
                raise ConfigError(f"{name} must be above 0, got {getattr(self, name)}")
        for name in ("gae_lambda", "teacher_end", "value_decay", "final_learning_rate_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} must be within 0 and 1, got {getattr(self, name)}")
        for name in (
            "pool_size",
            "hardness",
            "num_evaluations",
            "processes",
            "entropy_start",
            "entropy_end",
            "value_coefficient",
            "teacher_weight",
        ):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must not be negative, got {getattr(self, name)}")
        if self.processes > self.num_games:
            raise ConfigError(f"processes must be at most num_games, got {self.processes} for {self.num_games} games")
        if not 0 < self.pool_interval <= 1:
            raise ConfigError(f"pool_interval must be above 0 and at most 1, got {self.pool_interval}")
        # JSON and TOML know no tuples.
        object.__setattr__(self, "seats", tuple(self.seats))
        # TOML knows no null.
        object.__setattr__(self, "shaping", None if self.shaping == "none" else self.shaping)
        known = {"critic": CRITICS, "reward": REWARDS, "shaping": [name or "none" for name in SHAPINGS], "episode": EPISODES}
        known["precision"] = PRECISIONS
        for name, allowed in known.items():
            if (getattr(self, name) or "none") not in allowed:
                raise ConfigError(f"{name} must be {' or '.join(allowed)}, got {getattr(self, name)!r}")
        if self.network.kind not in NETWORKS:
            raise ConfigError(f"network.kind must be {' or '.join(NETWORKS)}, got {self.network.kind!r}")
        if self.teacher is not None and self.teacher not in SCRIPTED:
            raise ConfigError(f"teacher must be one of {', '.join(SCRIPTED)}, or left out, got {self.teacher!r}")
        try:
            check_lineup(self.seats, self.pools)
        except LineupError as error:
            raise ConfigError(str(error)) from None

    def teacher_share(self, progress: float) -> float:
        """Weight of the teacher's cross-entropy at ``progress`` 0 to 1 of the run."""
        if self.teacher is None or progress >= self.teacher_end:
            return 0.0
        return self.teacher_weight * (1.0 - progress / self.teacher_end)

    def replace(self, **changes: Any) -> TrainConfig:
        """A copy with some settings changed; raises ConfigError as the constructor does."""
        return dataclasses.replace(self, **changes)

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> TrainConfig:
        """The config of ``to_json``'s values. Raises ConfigError for an unknown setting."""
        try:
            # A run of before processes was one process, whose threads had parts of the rows.
            kept = {"processes": 1} | {name: value for name, value in values.items() if name not in ("parts", "threads")}
            return cls(**(kept | {"network": NetworkConfig(**values["network"])}))
        except (TypeError, KeyError) as error:
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
        """The settings that a resumed run must share with its checkpoint: all but budgets and the run's upkeep."""
        free = ("max_kl", "time_budget_seconds", "decisions_budget", "num_evaluations", "checkpoint_seconds", "device")
        values = json.loads(json.dumps(self.to_json()))
        return {name: value for name, value in values.items() if name not in free}


_CONFIGS = Path(__file__).with_name("configs")


def shipped_configs() -> dict[str, Path]:
    """The configs that come with the package, by name."""
    return {path.stem: path for path in sorted(_CONFIGS.glob("*.toml"))}


def read_toml(path: Path) -> dict[str, Any]:
    """The table of a TOML file. Raises ConfigError, one line that names the file and what is wrong."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:  # TOML and UTF-8 alike
        raise ConfigError(f"{path} is no TOML: {error}") from None


def load_config(source: Path | str) -> TrainConfig:
    """The config of that name in the package, or of a TOML file that gives some of the settings.

    In such a file a setting is as in ``seats = ["learner", "pool:opponents"]``.

    A file with ``decisions_budget`` and no ``time_budget_seconds`` has no limit of time.
    Raises ConfigError, one line that names the file and what is wrong.
    """
    path = shipped_configs().get(str(source), Path(source))
    if not path.exists() and not path.suffix:
        raise ConfigError(f"no config {str(source)!r}; the package has {', '.join(shipped_configs())}, others are TOML files")
    table = read_toml(path)
    if "decisions_budget" in table:
        table = {"time_budget_seconds": None} | table
    try:
        network = NetworkConfig(**_checked(NetworkConfig, table.pop("network", {}), "network."))
        return TrainConfig(**_checked(TrainConfig, table, ""), network=network)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


# What a setting's value may be, by the type that it is declared with.
_KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "bool": (bool,),
    "tuple": (list,),
    "dict": (dict,),
}


def _checked(config_type: type, table: Any, prefix: str) -> dict[str, Any]:
    """``table`` itself. Raises ConfigError naming the first setting that is unknown or of another type."""
    if not isinstance(table, dict):
        raise ConfigError(f"{prefix.rstrip('.')} must be a table, got {table!r}")
    declared = {each.name: str(each.type) for each in dataclasses.fields(config_type)}
    for name, value in table.items():
        if name not in declared:
            close = difflib.get_close_matches(name, declared, n=1)
            hint = f"did you mean {prefix}{close[0]}?" if close else f"known: {', '.join(declared)}"
            raise ConfigError(f"unknown setting {prefix}{name}; {hint}")
        kind = declared[name].split(" | ")[0].split("[")[0]
        if value is None or kind not in _KINDS:
            continue
        if not isinstance(value, _KINDS[kind]) or (isinstance(value, bool) and kind != "bool"):
            raise ConfigError(f"{prefix}{name} must be of the type {kind}, got {value!r}")
    return table
