"""A recorded game as an animated GIF."""

import io
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from PIL import Image

from hf_env.engine.cards import NUM_KINDS
from hf_env.engine.state import PHASE_DRAW
from hf_env.records import ReplayStep, steps
from hf_env.rendering import sprites as s
from hf_env.rendering.rgb_array import HEIGHT, WIDTH, table_image

# How long a picture stays, in milliseconds: time to see what a turn or an action changed, and to read a deal's scores.
DURATIONS = {"turn": 900, "action": 400}
_DEAL_END = 4000


def gif(
    record: Mapping[str, Any],
    *,
    view: int | None = None,
    each: str = "turn",
    on_progress: Callable[[int], None] | None = None,
) -> tuple[bytes, int]:
    """A record (``hf-record/1``) as an animated GIF of 800 x 600 pixels; returns the file's bytes and its pictures' number.

    view: the seat whose hand is shown; None shows all. each: "turn" (a picture at each turn's beginning) or "action".
    The end of a deal is always shown. on_progress: called with the number of pictures drawn.

    Raises RecordError as `steps` does, IndexError for a seat that the game lacks.
    """
    durations: list[int] = []
    pictures = _pictures(record, view, each, durations, on_progress)
    first = next(pictures)
    out = io.BytesIO()
    # Pillow asks for the durations only when all pictures have been drawn.
    first.save(out, "GIF", save_all=True, append_images=pictures, duration=durations, loop=0, optimize=False)
    return out.getvalue(), len(durations)


def _pictures(record, view, each, durations: list[int], on_progress) -> Iterator[Image.Image]:
    palette = _palette()
    for step in steps(record):
        if view is not None and view >= step.rules.players:
            raise IndexError(f"seat {view} is not one of 0 to {step.rules.players - 1}")
        if each == "turn" and not _begins_turn(step):
            continue
        durations.append(_DEAL_END if step.action is None else DURATIONS[each])
        # Without dithering, which would make of each plain surface a pattern that flickers.
        yield table_image(step.games, 0, step.rules, view).quantize(palette=palette, dither=Image.Dither.NONE)
        if on_progress is not None:
            on_progress(len(durations))


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
