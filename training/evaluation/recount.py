"""Totals of matches counted anew from the records of their games, and compared with a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from hf_env.files import UnreadableError
from hf_env.reading import Finite, read_model
from hf_env.records import RecordError, replay
from training.evaluation.contests import RESULT_NAME


class ReportedClusters(BaseModel):
    """What a report says of the game seeds of a match, each in their order."""

    model_config = ConfigDict(strict=True)

    deals: list[Finite] | None = None
    difference_sums: list[Finite] | None = None
    games_won: list[Finite] | None = None


class ReportedMatch(BaseModel):
    """A match of a report."""

    model_config = ConfigDict(strict=True)

    title: str
    clusters: ReportedClusters


class ReportFile(BaseModel):
    """What is compared of report.json, which is of a contest of matches or of an evaluation."""

    model_config = ConfigDict(strict=True)

    matches: list[ReportedMatch] = []
    policy_a: str = ""
    policy_b: str = ""
    clusters: ReportedClusters = ReportedClusters()


def counted(number: int, word: str) -> str:
    """A number with its word, as "1 game" or "2 games"."""
    return f"{number:,} {word}{'s' * (number != 1)}"


@dataclass
class MatchCount:
    """Games of one match.

    Attributes:
        by_cluster: cluster -> [deals, sum of the measured side's points less the mean of the others', games won].
        points: of the measured sides, and of a mean other side.
    """

    games: int = 0
    forfeits: int = 0
    points: list[float] = field(default_factory=lambda: [0.0, 0.0])
    by_cluster: dict[int, list[float]] = field(default_factory=dict)

    @property
    def deals(self) -> int:
        """Deals in all."""
        return int(sum(deals for deals, _, _ in self.by_cluster.values()))

    @property
    def difference(self) -> float:
        """Points a deal of the measured side more than the others'."""
        return sum(difference for _, difference, _ in self.by_cluster.values()) / self.deals

    @property
    def won(self) -> float:
        """Games won by the measured side."""
        return sum(won for _, _, won in self.by_cluster.values())


class Recount:
    """Counts games of matches, told apart by title; of a record without the field ``match`` by its players, side 0."""

    def __init__(self) -> None:
        self.matches: dict[str, MatchCount] = {}
        self.unfinished = 0

    def add(self, record: Mapping[str, Any]) -> None:
        """Replay a game and count it, unless it was broken off.

        Raises:
            RecordError: Where it does not replay.
        """
        game = replay(record)[0]
        if not game["game_over"] and "forfeit" not in record:
            self.unfinished += 1
            return
        place = record.get("match") or {"title": _title(record), "cluster": record["seed"], "side": 0}
        try:
            title, cluster, side = str(place["title"]), int(place["cluster"]), int(place["side"])
            scores = _scores(record)
            own, others = scores[:, side], np.delete(scores, side, axis=1)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise RecordError(f"match or forfeit: {type(error).__name__}: {error}") from None
        count = self.matches.setdefault(title, MatchCount())
        sums = count.by_cluster.setdefault(cluster, [0, 0.0, 0.0])
        totals = scores.sum(0)
        sums[0] += len(scores)
        # Of whole numbers, as the report counts, so that equal games give equal sums.
        sums[1] += float(others.shape[1] * own.sum() - others.sum()) / others.shape[1]
        sums[2] += float(totals[side] == totals.max()) / float((totals == totals.max()).sum())
        count.games += 1
        count.forfeits += "forfeit" in record
        count.points[0] += float(own.sum())
        count.points[1] += float(others.mean(1).sum())

    def lines(self) -> list[str]:
        """The totals, a line a match."""
        unfinished = [f"not counted, since broken off: {counted(self.unfinished, 'game')}"] if self.unfinished else []
        return unfinished + [
            f"{title}: {counted(match.games, 'game')}, {counted(match.deals, 'deal')}; "
            f"{match.points[0] / match.deals:,.1f} points a deal against "
            f"{match.points[1] / match.deals:,.1f}, {match.difference:+,.1f}; {match.won / match.games:.1%} of games won"
            + (f"; {match.forfeits:,} forfeited" if match.forfeits else "")
            for title, match in self.matches.items()
        ]

    def first_difference(self, report: ReportFile) -> str | None:
        """What differs first from a report (``report.json``), None where all matches agree game seed by game seed."""
        entries = report.matches or [ReportedMatch(title=f"{report.policy_a} against {report.policy_b}", clusters=report.clusters)]
        titles = [entry.title for entry in entries]
        if set(titles) != set(self.matches):
            odd = sorted(set(titles) ^ set(self.matches))[0]
            return f"the match {odd!r} is only in the {'report' if odd in titles else 'records'}"
        for entry in entries:
            count, clusters = self.matches[entry.title], entry.clusters.model_dump()
            counted = [count.by_cluster[number] for number in sorted(count.by_cluster)]
            for place, name in enumerate(("deals", "difference_sums", "games_won")):
                reported, found = clusters[name], [sums[place] for sums in counted]
                if reported is not None and (len(reported) != len(found) or not np.allclose(reported, found, rtol=0, atol=1e-6)):
                    return f"{entry.title}: {name} are others in the report than in the records"
        return None


def report_files(folder: Path) -> tuple[list[Path], ReportFile]:
    """The files of records of a report folder, in order, and its report.json.

    Raises:
        RecordError: Where it has none.
    """
    files = sorted((folder / "records").glob("*.jsonl.gz"))
    files = [path for path in files if not path.name.startswith("draft-")]
    if not files or not (folder / RESULT_NAME).is_file():
        raise RecordError("a directory, but no finished report with records")
    try:
        return files, read_model(folder / RESULT_NAME, ReportFile)
    except UnreadableError as error:
        raise RecordError(str(error)) from None


def _title(record: Mapping[str, Any]) -> str:
    return " ".join(["players", ", ".join(map(str, record.get("players") or ["unknown"])) + ",", "side 0"])


def _scores(record: Mapping[str, Any]) -> np.ndarray:
    """Points (deals, sides) for which the game counts."""
    forfeit = record.get("forfeit")
    if forfeit is not None:
        return np.tile(np.asarray(forfeit["scores"], np.int64), (int(forfeit["deals"]), 1))
    return np.asarray([deal["scores"] for deal in record["deals"]], np.int64)
