"""``handfoot train``: self-play, then the evaluation against the anchors, and the report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel, ConfigDict

from hf_env.seeds import FOR_FINAL, FOR_MEASUREMENT, MAX_SEED, grow_seed
from training.cli.common import Failure, FiniteRange, Mistake, load_rule_list, load_rule_set
from training.cli.extras import TRAINING, missing_extra

DEFAULT_MINUTES = 5.0
# On the way: enough for a curve, 25 game seeds under whitnack, without taking much of the training's time.
_DEALS_ON_THE_WAY = 200


class _Evaluated(BaseModel):
    """What a file of the final evaluation says of the policy: its SHA-256. One of before says nothing."""

    model_config = ConfigDict(strict=True)

    policy_a_sha256: str | None = None


@click.command()
@click.option(
    "--rules", "rules", multiple=True, metavar="NAME|FILE", help="Rule set; several times: each game draws one.  [default: whitnack]"
)
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE",
    help="Change a setting (listed in docs/training.md), as num_games=256 or network.width=64, or a rule, as deals=3; may be repeated.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0, MAX_SEED), help="Of everything random.  [default: 0]")
@click.option(
    "--minutes", type=FiniteRange(0, 60 * 24 * 365, min_open=True),
    help=f"Training time; with --resume further time.  [default: {DEFAULT_MINUTES:g}, unless --decisions is given]",
)  # fmt: skip
@click.option(
    "--decisions", type=click.IntRange(1, 10**15),
    help="Decisions of all seats to train for, with --resume further ones. With this budget alone a run repeats exactly.",
)  # fmt: skip
@click.option(
    "--config",
    "config_file",
    metavar="NAME|FILE",
    help="quick (5 minutes, the default), standard (an hour), long (two), several (an hour, many rule sets), or a TOML file of settings; "
    "other options override it.",
)
@click.option(
    "--seats", metavar="PLAYER,...",
    help="Who sits at each seat: learner, past (a frozen past self), random, greedy:noise=0.1, expert, "
    "pool:NAME (drawn a seat), team:NAME (drawn a side).",
)  # fmt: skip
@click.option(
    "--pool", "pools", multiple=True, metavar="NAME=PLAYER*WEIGHT,...",
    help="A pool to draw from, as opponents=past*3,expert,greedy:noise=0.1; weight 1 where none is given. May be repeated.",
)  # fmt: skip
@click.option("--from", "initial", metavar="POLICY", help="Go on from this policy: pretrained, or the path of a run or checkpoint.")
@click.option("--out", type=click.Path(path_type=Path), help="Run folder.  [default: runs/RULES-DATE-TIME]")
@click.option("--resume", "resumed", type=click.Path(path_type=Path), metavar="RUN", help="Continue the run in this folder.")
@click.option(
    "--processes", type=click.IntRange(1), help="That share the games and each minibatch.  [default: as many as cores, at most 8]"
)
@click.option("--device", help="PyTorch's name of where to learn: cpu, cuda, cuda:1, xpu.  [default: cpu]")
@click.option(
    "--deals", type=click.IntRange(0, 10_000_000), default=4000, show_default=True,
    help="Deals of the final evaluation against each of expert, greedy and random; 0: none.",
)  # fmt: skip
@click.option("--quiet", is_flag=True, help="No progress.")
def train(
    rules: tuple, settings: tuple, seed: int | None, minutes: float | None, decisions: int | None,
    config_file: str | None, seats: str | None, pools: tuple, initial: str | None, out: Path | None, resumed: Path | None,
    processes: int | None, device: str | None, deals: int, quiet: bool,
) -> None:  # fmt: skip
    """Train a policy by self-play, evaluate it, and write a report.

    The run folder holds the config, checkpoints, a TensorBoard log, the learning curve and report.md. Ctrl-C ends the
    training and keeps what was learned.
    """
    check_installed()
    from agents.neural.checkpoint import CheckpointError
    from training.config import ConfigError
    from training.locks import FolderInUseError, only_writer
    from training.processes import ProcessError
    from training.run.guards import FAILURES

    if device is not None:
        check_device(device, "--device")
    try:
        if resumed is None:
            config = _config(
                config_file=config_file, rules=rules, settings=settings, seed=seed, minutes=minutes, decisions=decisions,
                seats=seats, pools=pools, initial=initial, device=device, processes=processes,
            )  # fmt: skip
            check_device(config.device, "device =")
            run_dir = out or Path("runs") / f"{config.rules[0].name}-{time.strftime('%Y%m%d-%H%M%S')}"
            with only_writer(run_dir):
                _end(_begin(config, run_dir, quiet), run_dir, config, deals)
        else:
            given = {"--rules": rules, "--set": settings, "--seed": seed is not None, "--out": out}
            given |= {"--config": config_file, "--seats": seats, "--pool": pools, "--from": initial, "--processes": processes}
            _refuse_with_resume(given)
            _check_is_run(resumed)
            with only_writer(resumed):
                result, config = _continue(resumed, minutes, decisions, device, quiet, deals)
                _end(result, resumed, config, deals)
    except (ConfigError, CheckpointError, FolderInUseError) as error:
        raise Mistake(str(error)) from None
    except (*FAILURES, ProcessError) as error:
        raise Failure(str(error)) from None
    except OSError as error:
        raise Failure(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from None


def check_installed() -> None:
    """Raise Mistake that says what to install where a package is missing that only training needs."""
    line = missing_extra("training needs", "train", *TRAINING)
    if line is not None:
        raise Mistake(line)


def check_device(device: str, where: str) -> None:
    """Raise Mistake for a device on which networks cannot learn or that this machine lacks.

    Args:
        where: it was given.
    """
    from agents.neural.devices import usable_device

    try:
        usable_device(device)
    except ValueError as error:
        raise Mistake(f"{where} {error}") from None


def _refuse_with_resume(given: dict[str, Any]) -> None:
    for name, value in given.items():
        if value:
            raise Mistake(f"{name} cannot be given with --resume: a run keeps the settings that it began with")


def _config(*, config_file, rules, settings, seed, minutes, decisions, seats, pools, initial, device, processes):
    """The config of the options over that of the file.

    Raises:
        ConfigError: For settings that make no sense, and one given twice.
    """
    from training.config import ConfigError, TrainConfig
    from training.settings import load_config, parse_settings, with_settings

    base = TrainConfig() if config_file is None else load_config(config_file)
    given, rule_settings = parse_settings(settings)
    changes: dict[str, Any] = {} if device is None else {"device": device}
    if processes:
        changes["processes"] = processes
    if seed is not None:
        changes["seed"] = seed
    if rules:
        changes["rules"] = load_rule_list(rules, rule_settings)
    if minutes or decisions:
        changes |= {"time_budget_seconds": 60 * minutes if minutes else None, "decisions_budget": decisions}
    if seats is not None:
        changes["seats"] = tuple(part.strip() for part in seats.split(","))
    if pools:
        changes["pools"] = dict(_parse_pool(pool) for pool in pools)
        if len(changes["pools"]) < len(pools):
            raise ConfigError("--pool gives a pool twice")
    if initial is not None:
        from training.learning.initial import chosen_initial, load_initial

        its_rules = changes.get("rules") or [load_rule_set(each, rule_settings) for each in base.rules]
        chosen = chosen_initial(initial, its_rules)
        if chosen != initial:
            click.echo(f"goes on from {chosen}")
        changes |= {"initial_policy": chosen, "network": load_initial(chosen, its_rules).config}
    for name in given:
        if name in changes:
            raise ConfigError(f"{name} is given twice: by --set and by the option for it")
    config = with_settings(base, given | changes)
    if rule_settings and not rules:
        config = config.replace(rules=[load_rule_set(each, rule_settings) for each in config.rules])
    return config


def _parse_pool(text: str) -> tuple[str, dict[str, float]]:
    """Name and players with weights of ``NAME=PLAYER*WEIGHT,...``.

    Raises:
        Mistake: For another form.
    """
    name, equals, players = text.partition("=")
    if not (name and equals and players):
        raise Mistake(f"--pool {text!r} is not of the form NAME=PLAYER*WEIGHT,...")
    pool = {}
    for part in players.split(","):
        player, star, weight = part.strip().partition("*")
        if player in pool:
            raise Mistake(f"--pool {text!r} gives {player!r} twice")
        try:
            pool[player] = float(weight) if star else 1.0
        except ValueError:
            raise Mistake(f"--pool {text!r}: {weight!r} is no weight of {player!r}") from None
    return name, pool


def _begin(config, run_dir: Path, quiet: bool):
    from training.sessions import train as run

    click.echo(f"run folder {run_dir}")
    return run(config, run_dir, _on_the_way(config), show_progress=not quiet)


def _end(result, run_dir: Path, config, deals: int) -> None:
    """Say how the training ended; evaluate what it has come to, unless it was interrupted.

    Args:
        result: None where no more was trained.
    """
    if result is not None:
        by = f"{result.processes} process{'es' if result.processes > 1 else ''}"
        click.echo(f"trained {result.decisions:,} decisions in {result.seconds:,.0f} s by {by}; checkpoint {result.checkpoint}")
        if result.stopped_by == "signal":
            click.echo(f"stopped early; evaluate it with: handfoot evaluate {run_dir}:mode=argmax greedy")
            raise click.exceptions.Exit(130)
    click.echo(f"report {finish(run_dir, config, deals)}")


def _check_is_run(run_dir: Path) -> None:
    from agents.neural.checkpoint import CheckpointError
    from training.run.folder import RunFolder

    file = RunFolder(run_dir).config
    if not file.is_file():
        raise CheckpointError(f"{run_dir} is no run folder: it has no {file.name}")


def _continue(run_dir: Path, minutes, decisions, device, quiet, deals: int):
    """How the run went on, None where only its end is missing: the final evaluation and the report; and its config."""
    from agents.neural.checkpoint import read_json
    from training.config import TrainConfig
    from training.run.folder import RunFolder
    from training.run.state import run_so_far
    from training.sessions import resume

    run = RunFolder(run_dir)
    config = TrainConfig.from_json(read_json(run.config))
    seconds, made = run_so_far(run_dir) if run.holds_run() else (0.0, 0)
    changes: dict[str, Any] = {} if device is None else {"device": device}
    if minutes or decisions:
        changes["time_budget_seconds"] = seconds + 60 * minutes if minutes else None
        changes["decisions_budget"] = made + decisions if decisions else None
    config = config.replace(**changes)
    if config.progress(seconds, made) >= 1:
        if not _is_finished(run_dir, deals):
            return None, config
        raise Mistake(f"{run_dir} has used up its budget; give further --minutes or --decisions")
    return resume(run_dir, _on_the_way(config), show_progress=not quiet, **changes), config


def _is_finished(run_dir: Path, deals: int) -> bool:
    """Whether nothing is left to do for a run that has used up its budget: its policy is evaluated, its report written."""
    from agents.neural.checkpoint import read_info, read_model
    from training.evaluation import ANCHORS
    from training.run.folder import RunFolder
    from training.run.report import num_final_results

    run, digest = RunFolder(run_dir), read_info(run_dir)[1]["sha256"]
    files = [run.evaluation(anchor) for anchor in ANCHORS] if deals else []
    # An evaluation of before names no policy.
    evaluated = all(file.is_file() and read_model(file, _Evaluated).policy_a_sha256 in (None, digest) for file in files)
    return evaluated and num_final_results(run_dir) >= len(files)


def _on_the_way(config):
    from training.evaluation import anchor_evaluation

    return anchor_evaluation(config.rules, grow_seed(config.seed, FOR_MEASUREMENT), _DEALS_ON_THE_WAY)


def finish(run_dir: Path, config, deals: int) -> Path:
    """Evaluate the run's policy against the anchors, print and save the results, and write the report."""
    from agents.neural.checkpoint import read_info
    from training.cli.evaluate import measure, summary, write_result
    from training.cli.policies import load_policy
    from training.evaluation import ANCHORS
    from training.run.folder import RunFolder
    from training.run.report import write_report

    if deals == 0:
        return write_report(run_dir)
    # As it plays best: by its likeliest actions, without the chance that it needed for learning.
    policy, name = load_policy(f"{run_dir}:mode=argmax"), f"{run_dir.name}:mode=argmax"
    results, texts, of_policy = {}, [], {"policy_a_sha256": read_info(run_dir)[1]["sha256"]}
    # Other cards than on the way: the last measurement must not be one that training could be stopped by.
    seed = grow_seed(config.seed, FOR_FINAL)
    for anchor in ANCHORS:
        result = measure((policy, load_policy(anchor)), (name, anchor), deals, seed, config.rules)
        write_result(RunFolder(run_dir).evaluation(anchor), result, of_policy)
        results[anchor] = (result.difference.mean, result.difference.half_width)
        texts.append(summary(result))
        click.echo(texts[-1])
    return write_report(run_dir, results, notes="\n\n".join(f"```\n{text}\n```" for text in texts))
