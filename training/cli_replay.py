"""``handfoot replay``: recorded games, read and verified."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from training.cli_common import Mistake

_ENDS = {
    "out": "gone out",
    "stock_draw": "the stock ran out",
    "stock_red3": "no card left to replace a red 3",
    "max_turns": "the most turns were played",
}


@click.command()
@click.argument("file")
@click.option("--verify", is_flag=True, help="Only verify: a line a game.")
@click.option("--game", "wanted", type=click.IntRange(1), help="Only this game of the file, counted from 1.")
def replay(file: str, verify: bool, wanted: int | None) -> None:
    """Show the games recorded in FILE, a line a turn, and verify every deck, action and score.

    Each draw and take shows the cards that it brought into the hand. Exit code 2, with what differs first, where a game
    does not replay.
    """
    from hf_env.records import RecordError, read

    number = 0
    try:
        for number, record in enumerate(read(file), 1):
            if wanted not in (None, number):
                continue
            for line in _verified(record, number) if verify else _told(record, number):
                click.echo(line)
            if wanted == number:
                return
    except RecordError as error:
        where = f"game {number}: " if number and not str(error).startswith("line ") else ""
        raise Mistake(f"{file}: {where}{error}") from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Mistake(f"{file}: {error.strerror}") from None
    if number == 0:
        raise Mistake(f"{file} holds no game")
    if wanted is not None:
        raise Mistake(f"{file} holds {number} game{'s' * (number != 1)}, not {wanted}")


def _verified(record: Mapping[str, Any], number: int) -> Iterator[str]:
    from hf_env.records import replay as play_again

    play_again(record)
    actions = sum(len(deal["actions"]) for deal in record["deals"])
    deals = len(record["deals"])
    yield f"game {number}: {deals} deal{'s' * (deals != 1)}, {actions:,} action{'s' * (actions != 1)}, all as the rules and the seed have it"


def _told(record: Mapping[str, Any], number: int) -> Iterator[str]:
    """The game in lines; an error of the record comes after the lines before it."""
    from hf_env.records import steps

    turn: _Turn | None = None
    told = totals = None
    for step in steps(record):
        g = step.games[0]
        if told is None:
            names = record.get("players") or [f"player_{seat}" for seat in range(step.rules.players)]
            yield f"game {number}: rules {step.rules.name}, seed {record['seed']}, players {', '.join(map(str, names))}"
            totals = [0] * step.rules.num_sides
        if turn is not None:
            turn.note_cards(g)
        if told != step.deal:
            told = step.deal
            yield f"\ndeal {step.deal}: dealer seat {int(g['dealer'])}, opening from {step.rules.opening_minimum(step.deal)}"
        if turn is not None and (step.action is None or turn.number != int(g["turns"])):
            yield turn.line()
            turn = None
        if step.action is None:
            yield from _end(g, step.rules, totals)
            continue
        turn = turn or _Turn(int(g["turns"]), int(g["turn_seat"]))
        turn.add(step.label, step.seat, g)


class _Turn:
    """The actions of one turn, while they are collected. number: turns completed before it."""

    def __init__(self, number: int, seat: int) -> None:
        self.number, self.seat = number, seat
        self._words: list[str] = []
        self._before = None

    def add(self, label: str, seat: int, g) -> None:
        """An action is about to be played by `seat`."""
        self._words.append(label if seat == self.seat else f"{label} (seat {seat})")
        self._before = g["hands"][seat].astype(int) if label == "draw" or label.startswith("take") else None

    def note_cards(self, g) -> None:
        """The last action has been played: say which cards a draw or take brought."""
        from hf_env.engine.cards import KIND_CHARS

        if self._before is None or int(g["turns"]) != self.number:
            return
        gained = g["hands"][self.seat].astype(int) - self._before
        cards = "".join(KIND_CHARS[kind] * int(count) for kind, count in enumerate(gained) if count > 0)
        self._words[-1] += f" [{cards}]" if cards else ""
        self._before = None

    def line(self) -> str:
        """The turn as a line."""
        return f"  {self.number + 1:4}  seat {self.seat}: {', '.join(self._words)}"


def _end(g, rules, totals: list[int]) -> Iterator[str]:
    from hf_env.position_shape import END_REASONS

    reason = END_REASONS[int(g["end_reason"])] if int(g["end_reason"]) else None
    if reason is None:
        yield "  broken off here"
        return
    who = f" by seat {int(g['out_seat'])}" if reason == "out" else ""
    yield f"  ended after {int(g['turns'])} turns: {_ENDS.get(reason, reason)}{who}"
    for side in range(rules.num_sides):
        score = int(g["deal_scores"][side])
        totals[side] += score
        seats = ", ".join(str(seat) for seat in range(rules.players) if rules.side_of(seat) == side)
        yield f"  side {side} (seats {seats}): {score:+,} points, {totals[side]:,} in all"
