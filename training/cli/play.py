"""``handfoot play``: a table in the terminal."""

from __future__ import annotations

import contextlib
import secrets
import sys
from pathlib import Path
from typing import Any

import click

from agents.human import HumanPolicy, PersonLeft
from agents.play.judging import PolicyError, UnfitPolicyError
from agents.play.remarks import remark_lines, remarks_on
from agents.play.table import play_at_table
from agents.registry import parse_spec
from hf_env import records
from hf_env.records import GameRecorder
from hf_env.rules import RuleSet
from hf_env.seeds import MAX_SEED
from training.cli.common import Failure, Mistake, check_writable, load_rule_set, rules_option, set_option
from training.cli.policies import chosen_policy, load_policy


@click.command()
@click.option("--seat", "seats", type=click.IntRange(0), multiple=True, default=(0,), show_default="0",
              help="Yours; several times: several seats, played from this terminal.")  # fmt: skip
@click.option("--player", "players", multiple=True, metavar="SEAT=POLICY", help="Who sits in another seat, as 1=random.")
@click.option("--others", default="greedy", show_default=True, metavar="POLICY", help="Who sits in the seats not named.")
@click.option("--hint", metavar="POLICY", help="Whom you may ask for a hint. [default: pretrained where it can sit, else expert]")
@rules_option
@set_option
@click.option("--seed", type=click.IntRange(0, MAX_SEED), help="Of cards and players. [default: a new game each time]")
@click.option("--record", type=click.Path(dir_okay=False, path_type=Path), help="Append the game to this file, for replay.")
def play(
    seats: tuple, players: tuple, others: str, hint: str | None, rules: str, settings: tuple, seed: int | None, record: Path | None
) -> None:  # fmt: skip
    """Play a game yourself against policies.

    A POLICY is random, greedy, expert, pretrained, or the path of a run or checkpoint. Type help at the table: undo takes
    back what you have laid in this turn, hint asks another player. Input may be piped: a line holds one or more actions.
    quit, Ctrl-D and Ctrl-C leave the table.
    """
    rule_set = load_rule_set(rules, settings)
    given = _seated(seats, players, others, rule_set.players)
    specs = {seat: chosen_policy(spec, rule_set) for seat, spec in given.items()}
    if hint is not None:
        hint = chosen_policy(hint, rule_set)
        load_policy(hint)
    check_writable(record)
    loaded = {spec: load_policy(spec) for spec in sorted(set(specs.values()))}
    seed = secrets.randbelow(1 << 31) if seed is None else seed
    names = [specs.get(seat, "human") for seat in range(rule_set.players)]
    policies = [loaded[specs[seat]] if seat in specs else None for seat in range(rule_set.players)]
    person = HumanPolicy(names=names, passes_keyboard=len(seats) > 1, hint=hint)
    try:
        _play(rule_set, policies, names, seed, record, person)
    finally:
        # What was warned of in the beginning has scrolled by.
        remarks = remarks_on([parse_spec(spec) for spec in given.values()], list(given.values()), [rule_set])
        for line in remark_lines(remarks):
            person.screen.say_wrapped(f"{line}.", indent="  ")


def _seated(seats: tuple[int, ...], players: tuple[str, ...], others: str, number: int) -> dict[int, str]:
    """The policy's spec of each seat without a person.

    Raises:
        Mistake: For a seat that the rules lack, one given twice, or none left for a person.
    """
    specs: dict[int, str] = {}
    for option, values in (("--seat", seats), ("--player", [_seat_of(entry) for entry in players])):
        for seat in values:
            if seat >= number:
                raise Mistake(f"{option}: these rules have seats 0 to {number - 1}, not {seat}")
    for entry in players:
        seat, spec = _seat_of(entry), entry.partition("=")[2].strip()
        if seat in seats:
            raise Mistake(f"--player {entry}: seat {seat} is yours; choose another one for yourself with --seat")
        if seat in specs:
            raise Mistake(f"--player {entry}: seat {seat} has {specs[seat]} already")
        specs[seat] = spec
    return {seat: specs.get(seat, others) for seat in range(number) if seat not in seats}


def _seat_of(entry: str) -> int:
    seat, equals, spec = entry.partition("=")
    if not (equals and spec.strip() and seat.strip().isdecimal() and len(seat.strip()) < 10):
        raise Mistake(f"--player {entry}: must be SEAT=POLICY, as 1=random")
    return int(seat)


def _play(rules: RuleSet, policies: list[Any], names: list[str], seed: int, record: Path | None, person: HumanPolicy) -> None:
    """Play the game; None among the policies is the person."""
    _forgive_odd_bytes()
    seats = [seat for seat, policy in enumerate(policies) if policy is None]
    recorder = GameRecorder()
    person.screen.say(f"Hand and Foot, rules {rules.name}, seed {seed}. {_table_line(names, seats)} help explains, quit leaves.")
    try:
        play_at_table(
            [person if policy is None else policy for policy in policies], rules, seed, recorder=recorder, names=names,
            on_deal_over=lambda views: person.deal_over(views, seats), view_seat=seats[0],
            on_waiting=lambda seat: person.screen.say(f"{names[seat]} (seat {seat}) still thinks; Ctrl-C leaves."),
        )  # fmt: skip
    except (PersonLeft, KeyboardInterrupt):
        person.screen.say("\nYou have left the table.")
    except (UnfitPolicyError, PolicyError) as error:
        raise Mistake(str(error)) from None
    finally:
        _write(record, recorder, person)


def _table_line(names: list[str], seats: list[int]) -> str:
    others = [f"seat {seat} {name}" for seat, name in enumerate(names) if seat not in seats]
    you = f"You are in seat{'s' * (len(seats) > 1)} {' and '.join(map(str, seats))}"
    return f"{you}; {', '.join(others)}." if others else f"{you}."


def _forgive_odd_bytes() -> None:
    """Bytes that are no text become question marks; they are an unknown word, not the end of a game."""
    streams: tuple[Any, ...] = (sys.stdin, sys.stdout)
    for stream in streams:
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")


def _write(path: Path | None, recorder: GameRecorder, person: HumanPolicy) -> None:
    """Append what was played.

    Raises:
        Failure: Where the disk refuses.
    """
    if path is None:
        return
    with contextlib.suppress(RuntimeError):  # nothing was begun
        game = recorder.record()
        try:
            records.write(path, [game], append=True)
        except OSError as error:
            raise Failure(f"{path} cannot be written: {error.strerror}") from None
        person.screen.say(f"The game was added to {path}; handfoot replay shows it.")
