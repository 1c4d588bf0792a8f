"""A recorded game as an animation: GIF, or MP4 where imageio-ffmpeg is installed."""

import io
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from PIL import Image

from hf_env.engine.cards import NUM_KINDS
from hf_env.engine.state import PHASE_DRAW
from hf_env.files import replacing
from hf_env.records import ReplayStep, steps
from hf_env.rendering import load_drawing
from hf_env.rendering import sprites as s
from hf_env.rendering.rgb_array import HEIGHT, WIDTH, table_image

# How long a picture stays, in milliseconds: time to see what a turn or an action changed, and to read a deal's scores.
DURATIONS = {"turn": 900, "action": 400}
_DEAL_END = 4000
FPS = 10  # of a film: divides all durations


def gif(
    record: Mapping[str, Any],
    *,
    view: int | None = None,
    each: str = "turn",
    on_progress: Callable[[int], None] | None = None,
) -> tuple[bytes, int]:
    """A record (``hf-record/1``) as an animated GIF of 800 x 600 pixels; returns the file's bytes and its pictures' number.

    Args:
        view: the seat whose hand is shown; None shows all.
        each: "turn" (a picture at each turn's beginning) or "action". The end of a deal is always shown.
        on_progress: called with the number of pictures drawn.

    Raises:
        RecordError: As `steps` does.
        IndexError: For a seat that the game lacks.
    """
    durations: list[int] = []

    def reduced() -> Iterator[Image.Image]:
        palette = _palette()
        for picture, duration in _pictures(record, view, each, on_progress):
            durations.append(duration)
            # Without dithering, which would make of each plain surface a pattern that flickers.
            yield picture.quantize(palette=palette, dither=Image.Dither.NONE)

    pictures = reduced()
    first = next(pictures)
    out = io.BytesIO()
    # Pillow asks for the durations only when all pictures have been drawn.
    first.save(out, "GIF", save_all=True, append_images=pictures, duration=durations, loop=0, optimize=False)
    return out.getvalue(), len(durations)


def mp4(
    record: Mapping[str, Any],
    path: str | os.PathLike[str],
    *,
    view: int | None = None,
    each: str = "turn",
    on_progress: Callable[[int], None] | None = None,
) -> int:
    """Write a record (``hf-record/1``) as MP4 (H.264, 800 x 600 pixels, FPS pictures a second).

    Arguments, pictures and errors are those of `gif`. A file of that name is replaced only by a whole film.

    Returns:
        The number of different pictures.

    Raises:
        ImportError: Without imageio-ffmpeg.
        OSError: Where the file cannot be written.
    """
    video = load_drawing("video")
    number = 0
    # ffmpeg goes by the ending.
    with replacing(path, ".mp4") as draft, video.writer(draft, (WIDTH, HEIGHT), FPS) as write:
        for picture, duration in _pictures(record, view, each, on_progress):
            number += 1
            write(picture, duration * FPS // 1000)
    return number


def _pictures(record, view, each, on_progress) -> Iterator[tuple[Image.Image, int]]:
    """The pictures in order, and for how many milliseconds each is shown."""
    for number, step in enumerate(_shown(record, view, each), 1):
        yield table_image(step.games, 0, step.rules, view), _DEAL_END if step.action is None else DURATIONS[each]
        if on_progress is not None:
            on_progress(number)


def _shown(record, view, each) -> Iterator[ReplayStep]:
    for step in steps(record):
        if view is not None and view >= step.rules.players:
            raise IndexError(f"seat {view} is not one of 0 to {step.rules.players - 1}")
        if each == "action" or _begins_turn(step):
            yield step


def _begins_turn(step: ReplayStep) -> bool:
    return step.action is None or int(step.games[0]["phase"]) == PHASE_DRAW


def _palette() -> Image.Image:
    """256 colours for all pictures of a game, from a sheet of all that may lie on a table."""
    sheet = Image.new("RGB", (WIDTH, HEIGHT // 2), s.TABLE)
    sheet.paste(s.PANEL, (0, 0, WIDTH, 40))
    for kind in range(NUM_KINDS):
        sheet.paste(s.card(kind, 46, 64), (kind * 50, 50))
    pieces = [s.book(name, None if name == "wild" else 0, 44, 60) for name in s.BOOKS]
    pieces += [s.back(44, 60, colour) for colour in s.BACKS]
    for i, piece in enumerate(pieces):
        sheet.paste(piece, (i * 50, 120), piece)
    for i, colour in enumerate((*s.SIDES, s.WHITE, s.PALE, s.GOLD)):
        sheet.paste(colour, (300 + i * 40, 120, 336 + i * 40, 160))
        for line, size in enumerate((12, 14, 22)):
            text = s.words("0123 Seat", size, colour, True)[0]
            sheet.paste(s.PANEL, (i * 88, 190 + line * 36, i * 88 + 86, 222 + line * 36))
            sheet.paste(text, (i * 88, 192 + line * 36), text)
    return sheet.quantize(256, Image.Quantize.MEDIANCUT)
