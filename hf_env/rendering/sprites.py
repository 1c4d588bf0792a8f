"""The pieces of a drawn table: cards, backs, books, panels, type.

Each is drawn once, larger, and made smaller, so that its edges are smooth. The type is the one inside Pillow, so that pictures
do not depend on a machine's fonts.
"""

import math
from functools import lru_cache
from typing import cast

from PIL import Image, ImageDraw, ImageFont

from hf_env.engine.cards import BLACK3, JOKER, KIND_CHARS, RED3, TWO

_OVER = 4  # drawn so many times larger
Colour = tuple[int, int, int]

TABLE = (24, 66, 58)
PANEL = (33, 84, 74)
LINE = (62, 116, 104)
INK = (22, 26, 30)
WHITE = (250, 250, 246)
PALE = (190, 212, 204)
GOLD = (255, 205, 60)
# Okabe and Ito's palette, which people with any colour blindness tell apart; by side.
SIDES: tuple[Colour, ...] = ((86, 180, 233), (230, 159, 0), (204, 121, 167), (240, 228, 66), (0, 190, 140), (240, 110, 50))
HAND_BACK, FOOT_BACK = BACKS = (54, 78, 134), (134, 66, 40)
_RED, _WILD_FACE, _WILD_INK = (196, 30, 40), (255, 232, 150), (110, 60, 0)
# Books differ in lightness, pattern and word as well as in colour.
BOOKS: dict[str, tuple[Colour, Colour]] = {
    "clean": ((200, 44, 52), WHITE),
    "dirty": (INK, WHITE),
    "wild": (GOLD, (70, 36, 0)),
}


@lru_cache(None)
def font(size: int) -> ImageFont.FreeTypeFont:
    """The type of a height in pixels."""
    return cast(ImageFont.FreeTypeFont, ImageFont.load_default(size))  # with a size it is never the old bitmap type


def _sheet(width: int, height: int) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    image = Image.new("RGBA", (width * _OVER, height * _OVER), (0, 0, 0, 0))
    return image, ImageDraw.Draw(image)


def _reduced(image: Image.Image) -> Image.Image:
    return image.reduce(_OVER)


def _write(draw: ImageDraw.ImageDraw, xy: tuple[float, float], text: str, size: float, fill: Colour, anchor: str) -> None:
    """Bold type on an enlarged sheet; xy and size in pixels of the finished sprite."""
    draw.text(
        (xy[0] * _OVER, xy[1] * _OVER), text, fill, font(round(size * _OVER)), anchor=anchor,
        stroke_width=size * _OVER * 0.025, stroke_fill=fill,
    )  # fmt: skip


def _star(draw: ImageDraw.ImageDraw, x: float, y: float, radius: float, fill: Colour) -> None:
    points = []
    for i in range(10):
        reach = radius * (1 if i % 2 == 0 else 0.42)
        angle = math.pi * (i / 5 - 0.5)
        points.append(((x + reach * math.cos(angle)) * _OVER, (y + reach * math.sin(angle)) * _OVER))
    draw.polygon(points, fill)


def _pip(draw: ImageDraw.ImageDraw, x: float, y: float, radius: float, red: bool, fill: Colour) -> None:
    """A diamond for a red 3, a club for a black one, for whoever does not see the colour."""
    if red:
        corners = [(x, y - radius), (x + radius * 0.8, y), (x, y + radius), (x - radius * 0.8, y)]
        draw.polygon([(a * _OVER, b * _OVER) for a, b in corners], fill)
        return
    for dx, dy in ((0, -0.5), (-0.5, 0.2), (0.5, 0.2)):
        draw.circle(((x + dx * radius) * _OVER, (y + dy * radius) * _OVER), radius * 0.48 * _OVER, fill)
    draw.line((x * _OVER, y * _OVER, x * _OVER, (y + radius) * _OVER), fill, round(radius * 0.4 * _OVER))


@lru_cache(4096)
def words(text: str, size: int, fill: Colour, bold: bool) -> tuple[Image.Image, float, int]:
    """Type as a sprite, its width and the pixels above the middle of its capitals. Setting type takes long: keep it."""
    type_ = font(size)
    stroke = 0.4 if bold else 0
    _, _, right, _ = type_.getbbox(text, anchor="ls", stroke_width=stroke)
    image = Image.new("RGBA", (max(int(right) + 2, 1), int(size * 1.4) + 2), (*fill, 0))
    ImageDraw.Draw(image).text((0, size), text, fill, type_, anchor="ls", stroke_width=stroke, stroke_fill=fill)
    return image, type_.getlength(text), round(size * 0.65)


@lru_cache(None)
def panel(width: int, height: int, fill: Colour, outline: Colour | None = None, line: int = 1, radius: int = 7) -> Image.Image:
    """A rounded box (height, width) in pixels, RGBA."""
    image, draw = _sheet(width, height)
    box = (0, 0, width * _OVER - 1, height * _OVER - 1)
    draw.rounded_rectangle(box, radius * _OVER, fill, outline, line * _OVER if outline else 0)
    return _reduced(image)


def _blank(width: int, height: int, face: Colour, edge: Colour) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    image, draw = _sheet(width, height)
    box = (0, 0, width * _OVER - 1, height * _OVER - 1)
    draw.rounded_rectangle(box, width * _OVER * 0.13, face, edge, _OVER)
    return image, draw


def rank_text(kind: int) -> str:
    """What a card shows: "10" for T, "3" for both colours; nothing for a joker, which has a star."""
    return {JOKER: "", BLACK3: "3", RED3: "3"}.get(kind, KIND_CHARS[kind].replace("T", "10"))


@lru_cache(None)
def card(kind: int, width: int, height: int, covered: bool = False) -> Image.Image:
    """A card's face: its rank at the top left, where overlapping cards leave it to be seen, and large below.

    Args:
        covered: without the large one, of which another card would leave a piece.
    """
    wild = kind in (TWO, JOKER)
    face, ink = (_WILD_FACE, _WILD_INK) if wild else (WHITE, _RED if kind == RED3 else INK)
    image, draw = _blank(width, height, face, (120, 120, 116))
    small, large = width * 0.42, width * 0.68
    if kind == JOKER:
        _star(draw, width * 0.27, width * 0.26, width * 0.2, _WILD_INK)
        if not covered:
            _star(draw, width * 0.54, height * 0.66, width * 0.34, _WILD_INK)
    else:
        text = rank_text(kind)
        narrow = 0.72 if len(text) == 2 else 1.0
        _write(draw, (width * 0.1, width * 0.08), text, small * (0.85 if len(text) == 2 else 1.0), ink, "lt")
        if kind in (BLACK3, RED3) and covered:
            _pip(draw, width * 0.23, width * 0.68, width * 0.17, kind == RED3, ink)
        elif kind in (BLACK3, RED3):
            _pip(draw, width * 0.53, height * 0.64, width * 0.32, kind == RED3, ink)
        elif not covered:
            _write(draw, (width * 0.53, height * 0.66), text, large * narrow, ink, "mm")
    return _reduced(image)


@lru_cache(None)
def back(width: int, height: int, colour: Colour) -> Image.Image:
    """A card's back, with a lattice."""
    image, _ = _blank(width, height, WHITE, (120, 120, 116))
    inner = Image.new("RGBA", image.size, (*colour, 255))
    lines = ImageDraw.Draw(inner)
    light = tuple(min(255, int(part * 1.35) + 12) for part in colour)
    for at in range(-image.height, image.width + image.height, 5 * _OVER):
        lines.line((at, 0, at + image.height, image.height), light, _OVER)
        lines.line((at, 0, at - image.height, image.height), light, _OVER)
    margin = 2.5 * _OVER
    mask = Image.new("L", image.size, 0)
    ImageDraw.Draw(mask).rounded_rectangle((margin, margin, image.width - 1 - margin, image.height - 1 - margin), width * _OVER * 0.1, 255)
    image.paste(inner, (0, 0), mask)
    return _reduced(image)


@lru_cache(None)
def book(name: str, rank: int | None, width: int, height: int) -> Image.Image:
    """A closed book.

    Args:
        name: "clean", "dirty" or "wild"
        rank: None for a wild one.
    """
    face, ink = BOOKS[name]
    image, draw = _sheet(width, height)
    step = max(2, round(width * 0.07))
    for depth in (2, 1, 0):
        at = depth * step * _OVER
        box = (at // 2, at // 2, image.width - 1 - (step * _OVER) + at // 2, image.height - 1 - (step * _OVER) + at // 2)
        draw.rounded_rectangle(box, width * _OVER * 0.12, face if depth == 0 else WHITE, WHITE if depth == 0 else (90, 90, 90), _OVER)
    inner = (width - step, height - step)
    if name == "dirty":
        _stripes(image, inner, width)
    if rank is None:
        _star(draw, inner[0] / 2, inner[1] * 0.38, width * 0.28, ink)
    else:
        text = rank_text(rank)
        _write(draw, (inner[0] / 2, inner[1] * 0.4), text, width * (0.46 if len(text) == 2 else 0.58), ink, "mm")
    _write(draw, (inner[0] / 2, inner[1] * 0.82), name, width * 0.3, ink, "mm")
    return _reduced(image)


def _stripes(image: Image.Image, inner: tuple[int, int], width: int) -> None:
    """Slanting lines over a book's face, inside its edge."""
    lines = Image.new("RGBA", image.size, (0, 0, 0, 0))
    draw = ImageDraw.Draw(lines)
    for at in range(-image.height, image.width, 6 * _OVER):
        draw.line((at, image.height, at + image.height, 0), (84, 92, 100, 255), round(1.5 * _OVER))
    mask = Image.new("L", image.size, 0)
    edge = 2 * _OVER
    box = (edge, edge, inner[0] * _OVER - edge, inner[1] * _OVER - edge)
    ImageDraw.Draw(mask).rounded_rectangle(box, width * _OVER * 0.1, 255)
    image.paste(lines, (0, 0), Image.composite(lines.getchannel("A"), mask.point(lambda _: 0), mask))


@lru_cache(None)
def arrow(size: int, colour: Colour) -> Image.Image:
    """A triangle that points to the right."""
    image, draw = _sheet(size, size)
    edge = size * _OVER - 1
    draw.polygon([(0, 0), (edge, edge / 2), (0, edge)], colour)
    return _reduced(image)


@lru_cache(None)
def star(size: int, colour: Colour) -> Image.Image:
    """A star, for who leads."""
    image, draw = _sheet(size, size)
    _star(draw, size / 2, size / 2 + size * 0.04, size / 2, colour)
    return _reduced(image)
