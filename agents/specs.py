"""What a policy's name says, parsed; and the error of a name that says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


class UnknownPolicyError(ValueError):
    """A spec that names no policy, or an option that it does not have; the message is one line for a user."""


@dataclass(frozen=True)
class PolicySpec:
    """What a policy's name says, parsed once and passed on, to other processes too; its text is ``str(spec)``.

    Args:
        name: of ``known_policies()``, a path, or ``python:MODULE:NAME``.
        options: by name, as text.
        inner: the policy inside a search; None where there is none.
    """

    name: str
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    inner: PolicySpec | None = None

    def __str__(self) -> str:
        inside = {} if self.inner is None else {"policy": self.inner.name, **self.inner.options}
        options = ",".join(f"{key}={value}" for key, value in {**self.options, **inside}.items())
        return f"{self.name}:{options}" if options else self.name
