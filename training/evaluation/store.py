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
from typing import Any

import numpy as np

from agents.play.games import BEHAVIOUR_FIELDS, Forfeit, GameResults
from hf_env.files import PART, replacing, write_text
from training.evaluation.matches import ClusterBatch, Match
from training.locks import LOCK_NAME, only_writer

SETTINGS_NAME = "settings.json"
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
            there = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            raise OtherSettingsError(f"{path} is damaged; give another --out") from None
        if not isinstance(there, dict):
            raise OtherSettingsError(f"{path} is damaged; give another --out")
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

    def load(self, block: Block, matches: Sequence[Match]) -> ClusterBatch | None:
        """A finished block, None where it is not there."""
        path = self._result_path(block)
        if not path.is_file() or (self.with_records and not self.record_path(block).is_file()):
            return None
        with np.load(path, allow_pickle=False) as arrays:
            if int(arrays["count"]) != block.count:
                raise OtherSettingsError(f"{path} holds {int(arrays['count'])} game seeds, not {block.count}; give another --out")
            results = GameResults(
                **{name: arrays[name] for name in _COLUMNS},
                num_decisions=int(arrays["num_decisions"]),
                behaviour={name: arrays[f"behaviour_{name}"] for name in BEHAVIOUR_FIELDS},
                forfeits=tuple(Forfeit(**fields) for fields in json.loads(str(arrays["forfeits"]))),
            )
        return ClusterBatch(matches[block.match], block.first, block.count, results)

    def _result_path(self, block: Block) -> Path:
        return self.folder / "results" / f"{block.stem}.npz"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
