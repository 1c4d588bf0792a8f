"""What the subcommands share: options, errors of one line, progress on stderr."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from hf_env.rules import RulesError, RuleSet, load_rules, parse_setting
from hf_env.rules.loading import load_rule_sets
from hf_env.seeds import MAX_SEED
from hf_env.suggest import did_you_mean

seed_option = click.option("--seed", type=click.IntRange(0, MAX_SEED), default=0, show_default=True, help="Of everything random.")
rules_option = click.option(
    "--rules", "rules", default="whitnack", show_default=True, metavar="NAME|FILE", help="Rule set: a name or a TOML file."
)
several_rules_option = click.option(
    "--rules", "rules", multiple=True, default=("whitnack",), show_default="whitnack", metavar="NAME|FILE",
    help="Rule set: a name or a TOML file. Several times: each game draws one of them.",
)  # fmt: skip
set_option = click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Change one rule, as deals=3; may be repeated.")


class CommandModules(dict[str, click.Command]):
    """The commands of a group, each of which is imported when it is first used."""

    def __init__(self, package: str, short_help: Mapping[str, str]) -> None:
        """Name the commands.

        Args:
            package: where a module of each command's name holds the command under that name.
            short_help: by name, in the order of the list, what the command does, to be told without importing it.
        """
        self.package = package
        self.listed: dict[str, click.Command] = {name: click.Command(name, help=text) for name, text in short_help.items()}
        super().__init__(self.listed)

    def __getitem__(self, name: str) -> click.Command:
        return getattr(importlib.import_module(f"{self.package}.{name}"), name)

    def get(self, name, default=None):
        """The command of that name, imported."""
        if name not in self:
            return default
        return self[name]


class Commands(click.Group):
    """A group that names the nearest command for one that it lacks."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Names of the commands, in the order of the help."""
        return list(self.commands)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help's list of commands without importing them."""
        if isinstance(self.commands, CommandModules):
            Commands(commands=self.commands.listed).format_commands(context, formatter)
        else:
            super().format_commands(context, formatter)

    def resolve_command(self, context: click.Context, args: list[str]):
        """The command that is named first; an unknown one is refused with the nearest name."""
        if args and self.get_command(context, args[0]) is None and not args[0].startswith("-"):
            hint = did_you_mean(args[0], self.commands) or f"; there are {', '.join(self.commands)}"
            raise click.UsageError(f"there is no command {args[0]!r}{hint}", context)
        return super().resolve_command(context, args)


def require_command(context: click.Context) -> None:
    """Show a group's help and raise UsageError where no command was given; called by groups that run without one."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
        raise click.UsageError("no command given")


class FiniteRange(click.FloatRange):
    """A range of numbers that leaves out nan, which no comparison does."""

    def convert(self, value, param, ctx):
        """The number that a text means."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return number


class Failure(click.ClickException):
    """Something went wrong that is neither the user's mistake nor a policy's: one line, exit code 1."""


class Mistake(click.ClickException):
    """The user asked for what cannot be done, or named a policy that fails: one line, exit code 2."""

    exit_code = 2


def oneline(text: Any) -> str:
    """The text on one line."""
    return " ".join(str(text).split())


def load_rule_set(source: Any, settings: tuple[str, ...]) -> RuleSet:
    """The RuleSet of ``--rules``, or a RuleSet, with the changes of ``--set``.

    Raises:
        Mistake: As the rules say.
    """
    try:
        return load_rules(source, **dict(parse_setting(setting) for setting in settings))
    except RulesError as error:
        raise Mistake(str(error)) from None


def load_rule_list(sources: tuple[str, ...], settings: tuple[str, ...]) -> list[RuleSet]:
    """The RuleSets of repeated ``--rules``.

    Raises:
        Mistake: Also where they cannot be played at one table.
    """
    sets = [load_rule_set(source, settings) for source in sources]
    try:
        load_rule_sets(sets)
    except ValueError as error:
        raise Mistake(str(error)) from None
    return sets


def check_writable(path: Path | None) -> None:
    """Raise Mistake now rather than after long work, where a file could not be written to this path."""
    if path is None:
        return
    if not path.parent.is_dir():
        raise Mistake(f"{path} cannot be written: there is no folder {path.parent}")
    existed = path.exists()
    try:
        with open(path, "a"):
            pass
    except OSError as error:
        raise Mistake(f"{path} cannot be written: {error.strerror}") from None
    if not existed:
        path.unlink()


@contextmanager
def progress_bar(description: str) -> Iterator[Callable[[float, float | None], None]]:
    """A bar on stderr, where that is a terminal; gives a function of (done, total)."""
    # Third-party, and not needed by --help.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:  # a bar that is only disabled leaves an empty line (rich before 15)
        yield lambda done, total: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(description, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
