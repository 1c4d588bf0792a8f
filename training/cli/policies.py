"""Policies that the subcommands are given by name: checked or loaded, with errors of one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from agents.policy import Policy
from agents.registry import PolicySpec, check_spec, load, parse_spec
from agents.shipped import chooses, chosen_spec
from hf_env.rules import RuleSet
from training.cli.common import Mistake


def check_policy(text: str) -> PolicySpec:
    """Parse and check the name of a policy that other processes will load.

    Args:
        text: as the user wrote it.

    Returns:
        The spec.

    Raises:
        Mistake: no policy has that name or those options; it names the nearest name for an unknown one.
    """
    with _one_line_errors():
        spec = parse_spec(text)
        check_spec(spec)
        return spec


def load_policy(text: str) -> Policy:
    """Load a policy that this process will play.

    Args:
        text: its name, as the user wrote it.

    Returns:
        The policy.

    Raises:
        Mistake: as ``check_policy``, or the policy cannot be loaded.
    """
    with _one_line_errors():
        return load(text)


def chosen_policy(text: str, rules: RuleSet) -> str:
    """Name the policy that plays under these rules: the shipped player that ``pretrained`` chooses, any other as it is.

    Args:
        text: the name, as the user wrote it.
        rules: of the table.

    Returns:
        The name.

    Raises:
        Mistake: no policy has that name, or none was made for this table.
    """
    with _one_line_errors():
        spec = parse_spec(text)
        if not chooses(spec):
            return text
        try:
            return str(chosen_spec(spec, rules))
        except ValueError as error:
            raise Mistake(f"policy {text!r} cannot play here: {error}") from None


def announce_chosen(texts: Sequence[str], rules: Sequence[RuleSet]) -> None:
    """Say on stderr who plays for policies that are chosen by the rules; the results say it again.

    Args:
        texts: names of policies, as the user wrote them.
        rules: of the match.

    Raises:
        Mistake: no shipped player was made for this table.
    """
    for text in dict.fromkeys(texts):
        players = dict.fromkeys(chosen_policy(text, each) for each in rules)
        if list(players) != [text]:
            click.echo(f"{text} plays as {' and '.join(players)}", err=True)


@contextmanager
def _one_line_errors() -> Iterator[None]:
    try:
        yield
    except (ValueError, OSError) as error:  # an unknown name, or a damaged checkpoint
        raise Mistake(str(error)) from None
