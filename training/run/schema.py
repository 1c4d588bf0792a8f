"""What the JSON of a run must hold, whoever has written it: kinds and ranges of its values."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel, model_validator

from agents.neural.schema import Sections
from hf_env.reading import Count, Digest, Finite, NotNegative

_STRICT = ConfigDict(strict=True)
_In128Bits = Annotated[int, Field(ge=0, le=(1 << 128) - 1)]
# Older results count 0.99 less each, so that their sum stays below 100; and some rounding.
_Recent = Annotated[float, Field(ge=0, le=101)]


class _GeneratorWords(BaseModel):
    model_config = _STRICT

    state: _In128Bits
    inc: _In128Bits


class GeneratorState(BaseModel):
    """The state of a generator of NumPy's."""

    model_config = _STRICT

    bit_generator: Literal["PCG64"]
    state: _GeneratorWords
    has_uint32: Annotated[int, Field(ge=0, le=1)]
    uinteger: Annotated[int, Field(ge=0, le=(1 << 32) - 1)]


class MemberEntry(BaseModel):
    """A frozen self of a league."""

    model_config = _STRICT

    number: Annotated[int, Field(ge=0, lt=1 << 31)]
    decisions: Count
    digest: Digest


class RecordEntry(BaseModel):
    """What the learner has reached against a player."""

    model_config = ConfigDict(strict=True, extra="forbid")

    name: str
    decisions: Count = 0
    games: Count = 0
    wins: NotNegative = 0.0
    recent_games: _Recent = 0.0
    recent_wins: _Recent = 0.0

    @model_validator(mode="after")
    def _no_more_wins_than_games(self) -> RecordEntry:
        if self.wins > self.games or self.recent_wins > self.recent_games + 1e-6:
            raise ValueError("more games are won than played")
        return self


class LeagueValues(BaseModel):
    """The state of a league beside its arrays."""

    model_config = _STRICT

    next_number: Annotated[int, Field(ge=0, lt=1 << 31)]
    candidates: list[int]
    members: list[MemberEntry]
    records: dict[Digest, RecordEntry]
    generator: GeneratorState

    @model_validator(mode="after")
    def _names_what_is_there(self) -> LeagueValues:
        numbers = [member.number for member in self.members]
        if len(set(numbers)) != len(numbers) or len(set(self.candidates)) != len(self.candidates):
            raise ValueError("a frozen self is named twice")
        if not set(self.candidates) <= set(numbers) or max(numbers, default=-1) >= self.next_number:
            raise ValueError("the numbers of the frozen selves contradict each other")
        missing = [member.digest for member in self.members if member.digest not in self.records]
        if missing:
            raise ValueError(f"there are no results against {missing[0]}")
        return self


class NormaliserValues(BaseModel):
    """The state of the values' unit."""

    model_config = _STRICT

    weight: Annotated[float, Field(ge=0, le=2)]
    mean: Finite
    mean_square: NotNegative


class StrengthValues(BaseModel):
    """The measurements on the way."""

    model_config = _STRICT

    best: dict[str, Annotated[list[Finite], Field(min_length=3, max_length=3)]]
    fallen: dict[str, str]


class RankValues(BaseModel):
    """What each process of a run has for itself."""

    model_config = _STRICT

    minibatches: GeneratorState
    league: LeagueValues


class RunValues(RankValues):
    """The values of a checkpoint's state."""

    arrays: list[str]
    seeds: Count | None = None
    config: dict[str, Any]
    rules: list[dict[str, Any]]
    sections: Sections
    iteration: Count
    decisions: Count
    seconds: NotNegative
    step_number: Count
    num_rollouts: Count
    evaluations: Count
    pool_additions: Count
    normaliser: NormaliserValues
    strength: StrengthValues
    ranks: list[RankValues] = []


class StateFile(BaseModel):
    """What state.json says."""

    model_config = _STRICT

    sha256: Digest
    policy_sha256: Digest
    policy_json_sha256: Digest
    values_sha256: Digest
    values: dict[str, Any]


class _NamedMember(BaseModel):
    model_config = _STRICT

    digest: Digest


class _NamedMembers(BaseModel):
    model_config = _STRICT

    members: list[_NamedMember] = []


class NamedLeagues(BaseModel):
    """The frozen selves that a checkpoint's values name, and nothing else of them."""

    model_config = _STRICT

    league: _NamedMembers = _NamedMembers()
    ranks: list[NamedLeagues] = []

    def digests(self) -> list[str]:
        """Their hashes, those of each process."""
        return [member.digest for own in (self, *self.ranks) for member in own.league.members]


class LeagueEntry(RecordEntry):
    """A player in league.json."""

    digest: Digest
    rating: Finite


class LeagueTable(RootModel[list[LeagueEntry]]):
    """What league.json says."""


class LogLine(RootModel[dict[str, float]]):
    """An iteration's metrics in metrics.jsonl."""

    model_config = _STRICT

    @model_validator(mode="after")
    def _is_placed(self) -> LogLine:
        for name in ("run/iteration", "run/decisions", "run/seconds"):
            if not 0 <= self.root.get(name, -1.0) <= 1e18:
                raise ValueError(f"{name} is out of its range")
        if any(abs(value) > 1e18 for value in self.root.values() if value == value and abs(value) != float("inf")):
            raise ValueError("a number is out of its range")
        return self


class GamesLine(BaseModel):
    """A line-up in games.jsonl, and in how many games of an iteration it sat."""

    model_config = _STRICT

    iteration: Count
    seats: list[str]
    games: Count
