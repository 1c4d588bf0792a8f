"""The pictures of the reports, as SVG."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_DPI = 100


def svg(draw: Callable[[Any], None], width: float, height: float) -> str:
    """The picture that `draw(figure)` draws, width x height inches; equal pictures give equal text."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.hashsalt": "handfoot", "font.size": 10}):
        figure = Figure(figsize=(width, height), dpi=_DPI, layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def heat_map(
    values: np.ndarray, texts: Sequence[Sequence[str]], rows: Sequence[str], columns: Sequence[str], labels: tuple[str, str, str],
    centre: float = 0.0,
) -> str:  # fmt: skip
    """A matrix (R, C) as colours around `centre`, nan left white, with a text in each cell.

    Args:
        labels: of rows, columns, colours.
    """

    def draw(figure) -> None:
        axes = figure.subplots()
        reach = float(np.nanmax(np.abs(values - centre))) or 1.0
        image = axes.imshow(values, cmap="RdBu", vmin=centre - reach, vmax=centre + reach)
        axes.set_xticks(range(len(columns)), columns, rotation=30, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(len(rows)), rows)
        for (row, column), value in np.ndenumerate(values):
            dark = np.isfinite(value) and abs(value - centre) > 0.6 * reach
            axes.text(column, row, texts[row][column], ha="center", va="center", fontsize=9, color="white" if dark else "black")
        axes.set_ylabel(labels[0])
        axes.set_xlabel(labels[1])
        for spine in axes.spines.values():
            spine.set_visible(False)
        figure.colorbar(image, ax=axes, label=labels[2], shrink=0.8)

    return svg(draw, 3.2 + 1.0 * len(columns), 1.9 + 0.62 * len(rows))


def dots(names: Sequence[str], means, lows, highs, label: str, zero: float | None = 0.0) -> str:
    """Means with intervals, one row a name, from top to bottom."""

    def draw(figure) -> None:
        axes = figure.subplots()
        y = np.arange(len(names))
        middle = np.asarray(means, float)
        errors = np.nan_to_num(np.stack([middle - lows, highs - middle]), nan=0.0, posinf=0.0, neginf=0.0)
        axes.errorbar(middle, y, xerr=np.maximum(errors, 0.0), fmt="o", capsize=4, color="#2166ac")
        if zero is not None:
            axes.axvline(zero, color="black", linewidth=0.8)
        axes.set_yticks(y, names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlabel(label)
        axes.grid(axis="x", alpha=0.3)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)

    return svg(draw, 7.0, 1.1 + 0.4 * len(names))


def histogram(values: np.ndarray, label: str, mean: float) -> str:
    """How values spread, with 0 and their mean."""

    def draw(figure) -> None:
        axes = figure.subplots()
        axes.hist(values, bins=min(40, max(5, round(len(values) ** 0.5) * 2)), color="#92c5de", edgecolor="white")
        axes.axvline(0.0, color="black", linewidth=0.8)
        axes.axvline(mean, color="#b2182b")
        axes.set_title(f"mean {mean:+,.0f}", color="#b2182b", loc="left", fontsize=10)
        axes.set_xlabel(label)
        axes.set_ylabel("game seeds")
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)

    return svg(draw, 7.0, 2.8)
