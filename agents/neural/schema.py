"""What the JSON of a policy must hold, whoever has written it: kinds and ranges of its values."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, field_validator

from hf_env.engine.cards import MAX_SEATS
from hf_env.reading import Count, Digest

# A section's name and its number of values.
Section = Annotated[tuple[StrictStr, Annotated[StrictInt, Field(ge=0, le=100_000)]], Field(strict=False)]
Sections = Annotated[list[Section], Field(max_length=1000)]


class Pointer(BaseModel):
    """What latest.json says."""

    model_config = ConfigDict(strict=True)

    checkpoint: str

    @field_validator("checkpoint")
    @classmethod
    def _lies_in_the_run_folder(cls, name: str) -> str:
        path = PurePath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise ValueError("it must be a path in the run folder")
        return name


class ValueOf(BaseModel):
    """The reward that a policy's value is of."""

    model_config = ConfigDict(strict=True, extra="allow")

    reward: str | None = None
    shaping: str | None = None


class Lineage(BaseModel):
    """Where a policy comes from."""

    model_config = ConfigDict(strict=True, extra="allow")

    decisions: Count = 0


class PolicyFile(BaseModel):
    """What policy.json says."""

    model_config = ConfigDict(strict=True, extra="allow")

    versions: dict[str, int]
    network: dict[str, Any]
    observation_width: Annotated[int, Field(ge=1, le=1_000_000)]
    num_actions: Annotated[int, Field(ge=1, le=100_000)]
    sha256: Digest
    json_sha256: Digest | None = None
    # May be missing; null is neither.
    num_seats: Annotated[int, Field(ge=2, le=MAX_SEATS)] = 2
    num_sides: Annotated[int, Field(ge=2, le=MAX_SEATS)] = 2
    sections: Sections = []
    reads: list[str] = []
    rules: list[str] = []
    rules_names: list[str] = []
    rules_fingerprints: list[str] = []
    value_of: ValueOf = ValueOf()
    lineage: Lineage = Lineage()
