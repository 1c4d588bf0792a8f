"""What a reader of figures must know of the policies: who played for one that is chosen by the rules, and who did not know them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from agents.play.judging import UnfitPolicyError
from agents.policy import untrained_rules
from agents.registry import PYTHON, PolicySpec, checkpoint_info
from agents.shipped import ChoosingPolicy, chosen_spec
from hf_env.rules import RuleSet


@dataclass(frozen=True)
class Remark:
    """A policy under a rule set.

    Attributes:
        policy: its name.
        rules: the rule set's name.
        player: who played for it, as a spec; empty where nobody was chosen.
        untrained: a sentence where it was not trained under these rules, else empty.
    """

    policy: str
    rules: str
    player: str
    untrained: str

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return asdict(self)


def remarks_on(policies: Sequence[Any], names: Sequence[str], rules: Sequence[RuleSet]) -> tuple[Remark, ...]:
    """Remarks on the policies of a match, each once; none on those of which there is nothing to say.

    Args:
        policies: specs, or policies.

    Raises:
        UnfitPolicyError: one is chosen by the rules, and there is none for this table.
        CheckpointError: a checkpoint has no JSON, or one of another format or version.
    """
    found = (_remark(policy, name, each) for policy, name in zip(policies, names, strict=True) for each in rules)
    return tuple(dict.fromkeys(remark for remark in found if remark.player or remark.untrained))


def _remark(policy: Any, name: str, rules: RuleSet) -> Remark:
    spec = policy.spec if isinstance(policy, ChoosingPolicy) else policy
    if not isinstance(spec, PolicySpec) or spec.name.startswith(PYTHON):
        return Remark(name, rules.name, "", policy.untrained(rules, name) if hasattr(policy, "untrained") else "")
    try:
        player = chosen_spec(spec, rules)
    except ValueError as error:
        raise UnfitPolicyError(f"policy {name!r} cannot play here: {error}") from None
    untrained = untrained_rules(checkpoint_info(player) or {}, rules, name)
    return Remark(name, rules.name, str(player) if player is not spec else "", untrained)


def remark_lines(remarks: Iterable[Remark]) -> list[str]:
    """The remarks as lines for a reader: what is the same under several rule sets once."""
    under: dict[tuple[str, str], list[str]] = {}
    for remark in remarks:
        if remark.player:
            under.setdefault((remark.policy, remark.player), []).append(remark.rules)
    lines = [f"{policy} played as {player} under {', '.join(dict.fromkeys(names))}" for (policy, player), names in under.items()]
    return lines + [remark.untrained for remark in remarks if remark.untrained]
