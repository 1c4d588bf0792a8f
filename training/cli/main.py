"""The command ``handfoot``. Each subcommand has a module of its name beside this one, which is imported when it is used.

Exit codes: 0 success; 1 something failed; 2 the user asked for what cannot be done, or a policy failed where that ends
the command, with one line on stderr; 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence

import click

from hf_env import __version__
from training.cli.common import CommandModules, Commands, oneline, require_command

# What each does, as the list of commands tells it: the first sentence of its own help, told without importing it.
SHORT_HELP = {
    "train": "Train a policy by self-play, evaluate it, and write a report.",
    "evaluate": "Compare the policies A and B: who makes more points a deal?",
    "tournament": "Play every POLICY against every other on duplicate deals, and rank them.",
    "crossplay": "Seat every two POLICYs as partners against fixed opponents: how well do they play with partners they do not know?",
    "play": "Play a game yourself against policies.",
    "replay": "Show the games recorded in each FILE, a line a turn, and verify every deck, action and score.",
    "rules": "List, show, check and compare rule sets.",
    "bench": "Measure the speed of the engine and its adapters by random legal play; the state that it ends in is checked.",
}


@click.group(cls=Commands, commands=CommandModules("training.cli", SHORT_HELP), invoke_without_command=True)
@click.version_option(__version__, prog_name="handfoot")
@click.pass_context
def handfoot(context: click.Context) -> None:
    """Hand and Foot: train agents, compare them, look at games and rules."""
    require_command(context)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (None: the process's own) and return its exit code."""
    format_before, warnings.formatwarning = warnings.formatwarning, _one_line
    try:
        # The code of an Exit, which click returns in this mode; commands return nothing.
        return handfoot.main(arguments, prog_name="handfoot", standalone_mode=False) or 0
    except click.ClickException as error:
        click.echo(f"handfoot: {oneline(error.format_message())}{_where_to_look(error)}", err=True)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt) as error:
        if isinstance(error.__cause__, EOFError):  # click's word for it, too
            click.echo("handfoot: the input ended before all was asked", err=True)
            return 2
        click.echo("handfoot: interrupted", err=True)
        return 130
    except MemoryError as error:
        click.echo(f"handfoot: there is too little memory: {oneline(error) or 'ask for less'}", err=True)
        return 1
    except BrokenPipeError:
        # The reader of our output has gone; nothing more can be written, at exit neither.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    finally:
        warnings.formatwarning = format_before


def _one_line(message, category, filename, lineno, line=None) -> str:
    """A warning as the command tells it: without the place in the code."""
    return f"handfoot: warning: {oneline(message)}\n"


def _where_to_look(error: click.ClickException) -> str:
    """The help that explains what was mistyped."""
    context = getattr(error, "ctx", None)
    return f" (see {context.command_path} --help)" if context is not None else ""


def main() -> None:
    """Entry point of the console script; exits with the command's code."""
    sys.exit(run())


if __name__ == "__main__":
    main()
