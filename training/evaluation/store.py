"""The folder of a series of matches: its settings, the finished blocks of games, their records, the report.

A block is on disk as a whole or not at all, so that a series that was broken off goes on with the blocks it lacks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from agents.play.games import BEHAVIOUR_FIELDS, Forfeit, GameResults
from agents.play.judging import FAULTS
from hf_env.engine.cards import MAX_SEATS
from hf_env.engine.state import END_MAX_TURNS, GAME_DTYPE
from hf_env.files import PART, UnreadableError, replacing, write_text
from hf_env.reading import Count, as_model, parse_json, read_arrays, read_json
from training.evaluation.matches import ClusterBatch, Match
from training.locks import LOCK_NAME, only_writer

SETTINGS_NAME = "settings.json"
# Of points and counters, far above any of a deal or a game.
_MOST = 1 << 40
_COLUMNS = ("deal_games", "deal_numbers", "deal_scores", "end_reasons", "out_seats", "totals")
# A block's files while they are written; the stem is of ``Block``.
_OWN_DRAFT = re.compile(rf"draft-\d{{3,}}-\d{{6,}}\.jsonl\.gz|\d{{3,}}-\d{{6,}}\.npz{re.escape(PART)}")


class OtherSettingsError(ValueError):
    """A folder holds something else than what was asked for; one line that names it."""


@dataclass(frozen=True)
class Block:
    """Clusters of one match, played as one piece of work.

    Attributes:
        match: its index in the series.
    """

    match: int
    first: int
    count: int

    @property
    def stem(self) -> str:
        """Name of its files, in the order of playing."""
        return f"{self.match:03d}-{self.first:06d}"


class Store:
    """A folder of results.

    Args:
        with_records: whether a block needs its file of records to count as finished.
    """

    def __init__(self, folder: Path, with_records: bool) -> None:
        self.folder, self.with_records = Path(folder), with_records

    @contextmanager
    def opened(self, settings: Mapping[str, Any]) -> Iterator[None]:
        """Write into the folder as its only writer: a new one, or one of the same settings that is gone on with.

        Where the block fails before anything was finished, nothing is left of a folder.

        Raises:
            OtherSettingsError: For a folder of other settings, or one that holds something else.
            FolderInUseError: Where another process writes into it.
        """
        path = self.folder / SETTINGS_NAME
        if self.folder.exists() and not path.is_file() and any(file.name != LOCK_NAME for file in self.folder.iterdir()):
            raise OtherSettingsError(f"{self.folder} is not empty and holds no series of matches; give another --out")
        with only_writer(self.folder):
            self._begin(path, json.loads(json.dumps(settings)))
            try:
                yield
            except BaseException:
                self._forget_if_nothing_is_finished()
                raise

    def _begin(self, path: Path, wanted: dict[str, Any]) -> None:
        if path.is_file():
            self._check_equal(path, wanted)
            self._remove_drafts()
        for name in self._subfolders:
            (self.folder / name).mkdir(exist_ok=True)
        if not path.is_file():
            self.write(SETTINGS_NAME, json.dumps(wanted, indent=1) + "\n")

    @property
    def _subfolders(self) -> tuple[str, ...]:
        return ("results", "records") if self.with_records else ("results",)

    def _forget_if_nothing_is_finished(self) -> None:
        self._remove_drafts()
        with suppress(OSError):  # the first that holds something ends it
            for name in self._subfolders:
                (self.folder / name).rmdir()
            (self.folder / SETTINGS_NAME).unlink()

    def _remove_drafts(self) -> None:
        """Remove what a process that was killed left half written: only files of the store's own naming."""
        for path in (*self.folder.glob("records/draft-*.jsonl.gz"), *self.folder.glob(f"results/*.npz{PART}")):
            if _OWN_DRAFT.fullmatch(path.name) and path.is_file():
                path.unlink()

    def _check_equal(self, path: Path, wanted: dict[str, Any]) -> None:
        try:
            there = read_json(path)
        except UnreadableError as error:
            raise OtherSettingsError(f"{error}; give another --out") from None
        if not isinstance(there, dict):
            raise OtherSettingsError(f"{path} holds no settings; give another --out")
        for name in dict.fromkeys([*wanted, *there]):
            if there.get(name) != wanted.get(name):
                old, new = (_short(settings.get(name)) for settings in (there, wanted))
                raise OtherSettingsError(
                    f"{self.folder} holds matches of other settings: {name} is {old} there and {new} now; give another --out"
                )

    def write(self, name: str, text: str) -> Path:
        """Write a text file of the folder as a whole; returns its path."""
        write_text(self.folder / name, text)
        return self.folder / name

    def record_path(self, block: Block) -> Path:
        """Where the records of a block's games are."""
        return self.folder / "records" / f"{block.stem}.jsonl.gz"

    def record_draft(self, block: Block) -> Path | None:
        """Where they are written until the block is finished; None where none are kept."""
        # Ends as the finished file, since the name says how it is packed.
        path = self.record_path(block)
        return path.with_name(f"draft-{path.name}") if self.with_records else None

    def save(self, block: Block, part: ClusterBatch) -> None:
        """Keep a finished block, and the records that were written for it."""
        draft = self.record_draft(block)
        if draft is not None:
            draft.replace(self.record_path(block))
        results = part.results
        arrays = {name: getattr(results, name) for name in _COLUMNS}
        arrays |= {f"behaviour_{name}": results.behaviour[name] for name in BEHAVIOUR_FIELDS}
        arrays["num_decisions"] = np.asarray(results.num_decisions)
        arrays["count"] = np.asarray(part.count)
        arrays["forfeits"] = np.asarray(json.dumps([asdict(forfeit) for forfeit in results.forfeits]))
        with replacing(self._result_path(block)) as result, open(result, "wb") as file:
            np.savez_compressed(file, **arrays)

    def load(self, block: Block, matches: Sequence[Match], num_sides: int) -> ClusterBatch | None:
        """A finished block, None where it is not there.

        Raises:
            OtherSettingsError: For a file that is damaged or of something else.
        """
        path = self._result_path(block)
        if not path.is_file() or (self.with_records and not self.record_path(block).is_file()):
            return None
        try:
            arrays = read_arrays(path)
            said = _said(arrays)
            if said.count != block.count:
                raise OtherSettingsError(f"{path} holds {said.count} game seeds, not {block.count}; give another --out")
            results = GameResults(
                **{name: arrays[name] for name in _COLUMNS},
                num_decisions=said.num_decisions,
                behaviour={name: arrays[f"behaviour_{name}"] for name in BEHAVIOUR_FIELDS},
                forfeits=tuple(Forfeit(**forfeit.model_dump()) for forfeit in said.forfeits),
            )
            part = ClusterBatch(matches[block.match], block.first, block.count, results)
            _check_results(part, num_sides)
        except OtherSettingsError:
            raise
        except (KeyError, ValueError) as error:
            reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            reason = reason if str(path) in reason else f"{path} holds no results of this series: {reason}"
            raise OtherSettingsError(f"{reason}; without that file its games are played again") from None
        return part

    def _result_path(self, block: Block) -> Path:
        return self.folder / "results" / f"{block.stem}.npz"


class _Forfeit(BaseModel):
    """A forfeit, as a block keeps it."""

    model_config = ConfigDict(strict=True, extra="forbid")

    game: Count
    policy: Count
    seat: Annotated[int, Field(ge=-1, le=MAX_SEATS)]
    deal: Annotated[int, Field(ge=0, le=1000)]
    decision: Annotated[int, Field(ge=-1, le=1 << 60)]
    kind: Literal[tuple(FAULTS)]  # type: ignore[valid-type]
    reason: str
    deals: Annotated[int, Field(ge=0, le=1000)]


class _Said(BaseModel):
    """What a block keeps beside its arrays."""

    model_config = ConfigDict(strict=True)

    count: Count
    num_decisions: Count
    forfeits: list[_Forfeit]


def _said(arrays: Mapping[str, np.ndarray]) -> _Said:
    """The single values of a block's arrays.

    Raises:
        ValueError: For others than a block keeps. KeyError: For what is missing.
    """
    single = {name: arrays[name] for name in ("count", "num_decisions", "forfeits")}
    for name, array in single.items():
        if array.shape or array.dtype.kind != ("U" if name == "forfeits" else "i"):
            raise ValueError(f"{name} is {list(array.shape)} of {array.dtype}")
    values = {name: array.item() for name, array in single.items()}
    return as_model(values | {"forfeits": parse_json(values["forfeits"].encode(), "forfeits")}, _Said, "the block")


def _check_results(part: ClusterBatch, sides: int) -> None:
    """Check results of a block from a file: shapes and ranges, and that they are of the block's games.

    Raises:
        ValueError: Naming the first array that cannot be.
    """
    results, match = part.results, part.match
    games, seats = part.count * match.num_rotations, len(match.lineups[0])
    deals = results.deal_games.size
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(_COLUMNS, (deals,)) | {"deal_scores": (deals, sides), "totals": (games, sides)}
    arrays = {name: getattr(results, name) for name in _COLUMNS}
    for name, shape in (shapes | dict.fromkeys(BEHAVIOUR_FIELDS, (deals,))).items():
        array = arrays[name] if name in arrays else results.behaviour[name]
        # A behaviour has seats, sides or kinds of books after its deals, as the engine's record has them.
        shape = shape + GAME_DTYPE[name].shape if name in BEHAVIOUR_FIELDS else shape
        if array.shape != shape or array.dtype.kind != "i":
            raise ValueError(f"{name} is {list(array.shape)} of {array.dtype}, not {list(shape)} of whole numbers")
    within = {"deal_games": (0, games - 1), "deal_numbers": (0, 1000), "end_reasons": (0, END_MAX_TURNS), "out_seats": (-1, seats - 1)}
    for name, array in (arrays | results.behaviour).items():
        low, high = within.get(name, (-_MOST, _MOST))
        if array.size and (array.min() < low or array.max() > high):
            raise ValueError(f"{name} holds numbers that are not from {low:,} to {high:,}")
    if not np.array_equal(np.unique(results.deal_games), np.arange(games)) or (np.diff(results.deal_games) < 0).any():
        raise ValueError(f"deal_games is not of {games} games in their order")
    sums = np.zeros((games, sides), np.int64)
    np.add.at(sums, results.deal_games, results.deal_scores)
    if not np.array_equal(sums, results.totals):
        raise ValueError("totals are not the sums of the deals' scores")
    for forfeit in results.forfeits:
        if forfeit.game >= games or forfeit.policy not in match.lineups[forfeit.game % match.num_rotations]:
            raise ValueError("forfeits names a game or a policy that is not there")


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
