"""``handfoot replay``: recorded games, read and verified."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import click

from hf_env import records
from hf_env.engine.cards import KIND_CHARS
from hf_env.files import write_file
from hf_env.positions.schema import END_REASONS
from hf_env.rendering import load_drawing
from training.cli.common import Mistake, check_writable, progress_bar
from training.evaluation.recount import Recount, counted, report_files

_ENDS = {
    "out": "gone out",
    "stock_draw": "the stock ran out",
    "stock_red3": "no card left to replace a red 3",
    "max_turns": "the most turns were played",
}


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--verify", is_flag=True, help="Only verify, and count the totals anew.")
@click.option("--game", "wanted", type=click.IntRange(1), help="Only this game of the file, counted from 1.")
@click.option("--video", type=click.Path(path_type=Path), metavar="OUT.gif|OUT.mp4", help="Draw the game and write an animation.")
@click.option("--seat", type=click.IntRange(0), help="With --video: only what this seat saw; by default all cards lie open.")
@click.option(
    "--each", type=click.Choice(("turn", "action")), default="turn", show_default=True, help="With --video: a picture each turn or action."
)  # fmt: skip
def replay(files: tuple[str, ...], verify: bool, wanted: int | None, video: Path | None, seat: int | None, each: str) -> None:
    """Show the games recorded in each FILE, a line a turn, and verify every deck, action and score.

    Each draw and take shows the cards that it brought into the hand. With --verify a line a game (of several files: a
    line a file) and then each match's totals, recomputed from the games; a FILE may then be the folder of a report,
    whose figures are compared with its records game seed by game seed. --video OUT.gif or OUT.mp4 draws one game (of several:
    the one named by --game) as an animation; it needs Pillow, and MP4 imageio-ffmpeg. A game recorded under other seeds
    than today's is replayed with the cards that its record says. Exit code 2, with what differs first, where a game does
    not replay.
    """
    if wanted is not None and len(files) > 1:
        raise Mistake("--game is of one file; several are given")
    if verify and video is not None:
        raise Mistake("--verify and --video exclude each other; an animation is verified anyway")
    if seat is not None and video is None:
        raise Mistake("--seat is of --video, which is not given")
    if video is not None:
        _film(files, wanted, video, seat, each)
    elif not verify:
        for file in files:
            _show(file, wanted)
    elif wanted is not None:
        for record, number in _records(files[0], wanted):
            with _named(files[0], number):
                records.replay(record)
            click.echo(_line(record, number))
    else:
        _verify(files)


def _show(file: str, wanted: int | None) -> None:
    for record, number in _records(file, wanted):
        with _named(file, number):
            for line in _describe_game(record, number):
                click.echo(line)


def _film(files: tuple[str, ...], wanted: int | None, video: Path, seat: int | None, each: str) -> None:
    """Write the animation of one game.

    Raises:
        Mistake: For what cannot be drawn or written.
    """
    if len(files) > 1:
        raise Mistake("--video is of one game of one file; several files are given")
    kind = video.suffix.lower()
    if kind not in (".gif", ".mp4"):
        raise Mistake(f"--video {video}: the name must end with .gif or .mp4, the kinds of animation that are written")
    try:
        animation = load_drawing("animation")
        if kind == ".mp4":
            load_drawing("video")
    except ImportError as error:
        raise Mistake(f"--video: {error}") from None
    check_writable(video)
    found = list(islice(_records(files[0], wanted), 2))
    if len(found) > 1:
        raise Mistake(f"{files[0]} holds several games; choose one for --video, as --game 1 for the first")
    record, number = found[0]
    with _named(files[0], number), progress_bar("pictures drawn") as progress:
        options = {"view": seat, "each": each, "on_progress": lambda done: progress(done, None)}
        try:
            if kind == ".mp4":
                pictures = animation.mp4(record, video, **options)
            else:
                gif, pictures = animation.gif(record, **options)
                write_file(video, gif)
        except IndexError as error:
            raise Mistake(f"--seat: {error}") from None
    click.echo(f"{video}: {pictures} pictures of game {number}, {video.stat().st_size / 1e6:.1f} MB")


def _records(file: str, wanted: int | None) -> Iterator[tuple[Mapping[str, Any], int]]:
    """The games of a file, or only the wanted one, and their numbers from 1.

    Raises:
        Mistake: Where there is none.
    """
    number = 0
    with _named(file, 0):
        for number, record in enumerate(records.read(file), 1):
            if wanted in (None, number):
                yield record, number
            if wanted == number:
                return
    if number == 0:
        raise Mistake(f"{file} holds no game")
    if wanted is not None:
        raise Mistake(f"{file} holds {number} game{'s' * (number != 1)}, not {wanted}")


@contextmanager
def _named(file: str, number: int) -> Iterator[None]:
    """Errors of a file, and of its game `number` (0: of none), as the command reports them."""
    try:
        yield
    except records.RecordError as error:
        raise Mistake(f"{file}: {f'game {number}: ' if number else ''}{error}") from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Mistake(f"{error.filename or file}: {error.strerror or error}") from None


def _verify(files: tuple[str, ...]) -> None:
    """Verify all games, count the totals anew, and compare them with the report where a folder is given."""
    total = Recount()
    for file in files:
        report, counts = None, total
        paths: list[str | Path] = [file]
        if Path(file).is_dir():
            with _named(file, 0):
                found, report = report_files(Path(file))
                paths = [*found]
            counts = Recount()
        with progress_bar("files verified") as progress:
            for place, path in enumerate(paths):
                _verify_file(str(path), counts, a_line_a_game=len(files) == 1 and report is None)
                progress(place + 1, len(paths))
        if report is not None:
            difference = counts.first_difference(report)
            if difference:
                raise Mistake(f"{file}: {difference}")
            for line in counts.lines():
                click.echo(line)
            click.echo(f"{file}: every figure of the report's matches is that of the records")
    for line in total.lines():
        click.echo(line)


def _verify_file(file: str, counts, a_line_a_game: bool) -> None:
    games, with_own_cards = 0, 0
    for record, number in _records(file, None):
        with _named(file, number):
            counts.add(record)
            with_own_cards += records.has_own_cards(record)
            if a_line_a_game:
                click.echo(_line(record, number))
        games = number
    if not a_line_a_game:
        own = f" ({with_own_cards:,} with the cards of their records)" if with_own_cards else ""
        click.echo(f"{file}: {counted(games, 'game')}, all as the rules and the seeds have it{own}")


def _line(record: Mapping[str, Any], number: int) -> str:
    of = "the cards of the record have" if records.has_own_cards(record) else "the seed have"
    deals, actions = len(record["deals"]), sum(len(deal["actions"]) for deal in record["deals"])
    return f"game {number}: {counted(deals, 'deal')}, {counted(actions, 'action')}, all as the rules and {of} it"


def _describe_game(record: Mapping[str, Any], number: int) -> Iterator[str]:
    """The game in lines; an error of the record comes after the lines before it."""
    turn: _Turn | None = None
    deal_shown: int | None = None
    totals: list[int] = []
    for step in records.steps(record):
        g = step.games[0]
        if deal_shown is None:
            names = record.get("players") or [f"player_{seat}" for seat in range(step.rules.players)]
            yield f"game {number}: rules {step.rules.name}, seed {record['seed']}, players {', '.join(map(str, names))}"
            totals = [0] * step.rules.num_sides
        if turn is not None:
            turn.note_cards(g)
        if deal_shown != step.deal:
            deal_shown = step.deal
            yield f"\ndeal {step.deal}: dealer seat {int(g['dealer'])}, opening from {step.rules.opening_minimum(step.deal)}"
        if turn is not None and (step.action is None or turn.number != int(g["turns"])):
            yield turn.line()
            turn = None
        if step.label is None:
            yield from _end(g, step.rules, totals)
            continue
        turn = turn or _Turn(int(g["turns"]), int(g["turn_seat"]))
        turn.add(step.label, step.seat, g)


class _Turn:
    """The actions of one turn, while they are collected.

    Args:
        number: turns completed before it.
    """

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
