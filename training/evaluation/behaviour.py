"""How policies played: figures a deal, counted by the engine while the games are played."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from training.evaluation.matches import ClusterBatch

# name: (short label, meaning). A round is one turn of every seat; the first is 1.
BEHAVIOUR = {
    "opened": ("opened", "share of deals in which its side opened"),
    "opening_round": ("opening round", "round in which its side opened, of the deals in which it did"),
    "foot": ("reached the foot", "share of deals and seats in which it picked up its foot"),
    "foot_round": ("foot round", "round in which it did, of those"),
    "takes": ("takes", "takes of the discard pile, a deal and side"),
    "clean_books": ("clean books", "clean books, a deal and side"),
    "dirty_books": ("dirty books", "dirty books, a deal and side"),
    "wild_books": ("wild books", "wild books, a deal and side"),
    "gone_out": ("gone out", "share of deals that its side ended by going out"),
    "stranded": ("points stranded", "points that its side lost for cards held at the deal's end, a deal"),
    "asks": ("asks", "questions whether to go out, a deal and side"),
    "yes": ("answered yes", "answers yes, a deal and side"),
    "no": ("answered no", "answers no, a deal and side"),
    "rounds": ("rounds", "length of the deals in rounds"),
}


_SHARES = ("opened", "foot", "gone_out")


def format_figure(name: str, value: float | None) -> str:
    """A figure as text, with a dash for what was never counted."""
    if value is None:
        return "–"
    return f"{value:{'.1%' if name in _SHARES else ',.1f' if name == 'stranded' else ',.2f'}}"


def behaviour(parts: Sequence[ClusterBatch], policy: int) -> dict[str, float | int | None]:
    """Figures of BEHAVIOUR of a policy, by its index, and ``deals``: on how many deals and sides they stand.

    Forfeited games are left out. None where nothing was counted, such as the round of openings that never came.
    """
    sums: dict[str, np.ndarray] = {}
    for part in parts:
        for name, pair in _sums(part, policy).items():
            sums[name] = sums.get(name, np.zeros(2)) + pair
    figures: dict[str, float | int | None] = dict.fromkeys(BEHAVIOUR)
    figures |= {name: float(total / count) for name, (total, count) in sums.items() if count}
    return figures | {"deals": int(sums["opened"][1]) if sums else 0}


def _sums(part: ClusterBatch, policy: int) -> dict[str, np.ndarray]:
    """For each figure its sum and the number of what it is a mean of."""
    results, played = part.results, part.played
    sides = results.deal_scores.shape[1]
    lineups = np.asarray(part.match.lineups)[part.rotations[played]]
    seats = lineups == policy
    num_seats = seats.shape[1]
    mine = seats.reshape(len(seats), num_seats // sides, sides).any(1)
    data = {name: column[played] for name, column in results.behaviour.items()}
    by_side = {name: data[name][:, :sides] for name in ("opening_turn", "stranded", "book_counts")}
    by_seat = {name: data[name][:, :num_seats] for name in ("foot_turn", "num_takes", "num_asks", "num_yes", "num_no")}
    deals = mine.sum()

    def mean(values: np.ndarray, among: np.ndarray) -> np.ndarray:
        return np.array([values[among].sum(), among.sum()], float)

    def each(name: str) -> np.ndarray:
        return np.array([by_seat[name][seats].sum(), deals], float)

    opened, reached = by_side["opening_turn"] >= 0, by_seat["foot_turn"] >= 0
    out = results.out_seats[played]
    went_out = (out >= 0) & seats[np.arange(len(seats)), np.maximum(out, 0)]
    there = mine.any(1)
    books = {f"{kind}_books": mean(by_side["book_counts"][..., i], mine) for i, kind in enumerate(("clean", "dirty", "wild"))}
    return books | {
        "opened": mean(opened, mine),
        "opening_round": mean(by_side["opening_turn"] // num_seats + 1, mine & opened),
        "foot": mean(reached, seats),
        "foot_round": mean(by_seat["foot_turn"] // num_seats + 1, seats & reached),
        "takes": each("num_takes"),
        "gone_out": np.array([went_out.sum(), deals], float),
        "stranded": mean(by_side["stranded"], mine),
        "asks": each("num_asks"),
        "yes": each("num_yes"),
        "no": each("num_no"),
        "rounds": mean(data["turns"] / num_seats, there),
    }
