"""Reports of results as one HTML file each, which opens offline: texts, tables and pictures are all in it."""

from __future__ import annotations

import base64
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from agents.play.remarks import remark_lines
from training.evaluation import plots
from training.evaluation.behaviour import BEHAVIOUR, format_figure
from training.evaluation.crossplay import CrossplayResult
from training.evaluation.duplicate import PRECISIONS, EvaluationResult, place_names, versions_json
from training.evaluation.statistics import MIN_CLUSTERS
from training.evaluation.tournament import TournamentResult, seated

REPORT_NAME = "report.html"
# Longer names make columns too wide; then numbers stand above them.
_LONGEST_COLUMN, _LONGEST_ROW = 16, 32


def keyed(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Headings of the rows and of the columns of a matrix: the names, or, where some are long, numbered names and numbers."""
    if max(map(len, names)) <= _LONGEST_COLUMN:
        return list(names), list(names)
    return [f"{number}. {name}" for number, name in enumerate(names, 1)], [f"{number}." for number in range(1, len(names) + 1)]


def _short(heading: str) -> str:
    """A row's heading, short enough for a picture."""
    number, _, name = heading.rpartition(" ")
    return heading if len(heading) <= _LONGEST_ROW else f"{number} …{name[len(number) + 2 - _LONGEST_ROW :]}"


def tournament_html(result: TournamentResult, *, out: bool = True, records: bool = True) -> str:
    """The report of a tournament.

    Args:
        out: whether it lies in a folder with the other files.
        records: whether games are kept.
    """
    names = result.names
    n = len(names)
    rows, columns = keyed(names)
    points = np.full((n, n), np.nan)
    texts = [["" for _ in names] for _ in names]
    for (a, b), pair in result.pairs.items():
        points[a, b] = pair.points.mean
        texts[a][b] = _cell(pair.points)
    order = list(result.ranking.order)
    ratings = result.ratings
    counts = Counter(forfeit.policy for _, _, forfeit in result.forfeits)
    return _render(
        "tournament.html", f"Tournament of {n} policies", result, out, records,
        total_deals=sum(_pair_of(result, match).totals.num_deals for match in result.matches),
        points_plot=plots.heat_map(
            points[np.ix_(order, order)], [[texts[a][b] for b in order] for a in order], [_short(rows[i]) for i in order],
            [columns[i] for i in order], ("policy", "against", "points a deal"),
        ),
        ratings_plot=plots.dots([_short(rows[i]) for i in order], ratings.ratings[order], ratings.low[order], ratings.high[order],
                                "rating, Elo points"),
        forfeit_counts=[counts[i] for i in range(n)], misfits=misfits(result),
        matches=[(match, _pair_of(result, match)) for match in result.matches],
        num_sides=result.rules[0].num_sides, min_clusters=MIN_CLUSTERS,
    )  # fmt: skip


def misfits(result: TournamentResult) -> list[str]:
    """Matches whose interval of games won does not hold what the ratings expect, in words; only with two sides."""
    lines: list[str] = []
    if result.rules[0].num_sides != 2:
        return lines
    for match in result.matches:
        pair = _pair_of(result, match)
        expected = float(result.ratings.expected[pair.a, pair.b])
        if not pair.won.low <= expected <= pair.won.high:
            a, b = result.names[pair.a], result.names[pair.b]
            lines.append(f"{a} won {pair.won.mean:.1%} of its games against {b}; the ratings expect {expected:.1%}.")
    return lines


def crossplay_html(result: CrossplayResult, *, out: bool = True, records: bool = True) -> str:
    """The report of a cross-play; arguments as of `tournament_html`."""
    n = len(result.names)
    rows, columns = keyed(result.names)
    values = np.array([[result.cells[p, q].mean for q in range(n)] for p in range(n)])
    texts = [[_cell(result.cells[p, q]) for q in range(n)] for p in range(n)]
    return _render(
        "crossplay.html", f"Cross-play of {n} policies against {result.opponents}", result, out, records,
        total_deals=sum(table.num_deals for table in result.totals.values()),
        heat=plots.heat_map(values, texts, [*map(_short, rows)], columns, ("policy", "partner", "points a deal")),
    )  # fmt: skip


def evaluation_html(result: EvaluationResult, *, out: bool = True, records: bool = True) -> str:
    """The report of an evaluation; arguments as of `tournament_html`."""
    a, b = place_names(result)
    said = f"{a} is {result.verdict} than {b}." if result.verdict != "inconclusive" else f"Inconclusive: {result.why_inconclusive()}."
    return _render(
        "evaluation.html", f"{a} against {b}", result, out, records, a=a, b=b, verdict=said, precisions=PRECISIONS,
        spread=plots.histogram(result.cluster_differences / result.cluster_deals, "points a deal", result.difference.mean),
    )  # fmt: skip


def _pair_of(result: TournamentResult, match):
    return result.pairs[seated(match)]


def _cell(interval) -> str:
    half = "" if math.isinf(interval.half_width) else f"\n± {interval.half_width:,.0f}"
    return f"{interval.mean:+,.0f}{half}"


def _render(template: str, title: str, result: Any, out: bool, records: bool, **values: Any) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from hf_env import __version__

    environment = Environment(
        loader=PackageLoader("training.evaluation"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "number": _number,
        "figure": lambda value, key: format_figure(key, value),
        "count": lambda value: "unknown" if value is None else f"{value:,}",
        "saving": lambda errors: f"{(errors[1] / errors[0]) ** 2:.1f}" if errors[0] > 0 else "–",
        "data_uri": lambda svg: "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode(),
    }
    return environment.get_template(template).render(
        title=title, result=result, json=result.to_json(), out=out, records=records, version=__version__,
        versions=versions_json(), behaviour_table=BEHAVIOUR, keyed=keyed, remarks=remark_lines(result.remarks), **values,
    )  # fmt: skip


def _number(value: float | None, form: str) -> str:
    """A number with a true minus sign; a dash for what is not known."""
    return "–" if value is None or not math.isfinite(value) else f"{value:{_without_minus_zero(form)}}".replace("-", "−")


def _without_minus_zero(form: str) -> str:
    return f"+z{form[1:]}" if form.startswith("+") else f"z{form}"
