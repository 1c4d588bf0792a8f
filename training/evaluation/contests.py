"""A tournament or a cross-play from policies to a report folder: played, kept, counted."""

from __future__ import annotations

import json
import math
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agents.play.remarks import remarks_on
from agents.play.schedule import policy_name
from agents.policy import UntrainedRulesWarning
from agents.registry import PYTHON, PolicySpec, check_spec, checkpoint_info, load, parse_spec
from agents.shipped import chosen_spec
from hf_env.arguments import check_int
from hf_env.rules import RuleSet
from hf_env.rules.loading import load_rule_sets
from hf_env.seeds import MAX_SEED
from hf_env.vector.threads import available_cores
from training.evaluation.crossplay import CrossplayResult, crossplay_matches, crossplay_result
from training.evaluation.duplicate import MAX_DEALS, EvaluationResult, result_of, rules_json, versions_json
from training.evaluation.matches import duel
from training.evaluation.series import DEFAULT_FORFEIT_POINTS, DEFAULT_LIMIT_SECONDS, GAMES_A_BLOCK, play_series
from training.evaluation.store import Store
from training.evaluation.tournament import TournamentResult, tournament_matches, tournament_result
from training.evaluation.worker import Series, fingerprint, joined

RESULT_NAME = "report.json"
MAX_POLICIES = 100


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a contest is played. Fields: as the options of ``handfoot tournament``; processes None: one a core.

    Attributes:
        rules: one rule set or a list.
        out: the folder, None to keep nothing. specs of policies: of ``agents.load``, or policies that can be pickled.
        limit_seconds: 0 for none.
    """

    deals: int = 2000
    seed: int = 0
    rules: Any = "whitnack"
    out: Path | None = None
    with_records: bool = True
    processes: int | None = None
    forfeit_points: int | None = DEFAULT_FORFEIT_POINTS
    limit_seconds: float = DEFAULT_LIMIT_SECONDS
    on_progress: Callable[[int, int], None] | None = None


def tournament(policies: Sequence[Any], plan: Plan) -> TournamentResult:
    """Play every policy against every other on duplicate games.

    Raises:
        ValueError: For what cannot be played (its subclasses: RulesError, UnknownPolicyError, UnfitPolicyError,
            OtherSettingsError, FolderInUseError).
        PolicyError: For a checkpoint that changes meanwhile and for a policy that ends the processes that load it.
    """
    _check_list(policies, "a tournament")
    return _play("tournament", policies, plan, tournament_matches, tournament_result)


def crossplay(policies: Sequence[Any], opponents: Any, plan: Plan) -> CrossplayResult:
    """Play every pairing of partners against the opponents on duplicate games.

    Raises:
        NoPartnersError: Where no pairing can be seated; the others as of `tournament`.
    """
    _check_list(policies, "cross-play")
    return _play("crossplay", [*policies, opponents], plan, crossplay_matches, crossplay_result)


def evaluation(policy_a: Any, policy_b: Any, plan: Plan) -> EvaluationResult:
    """As ``duplicate.evaluate``, in processes of its own; the plan's forfeit points are not used.

    Raises:
        ValueError: As `tournament`.
        PolicyError: For a policy that does not play legally or not within the limit.
    """
    started = time.perf_counter()

    def result(names, matches, parts, rules, seed, deals, forfeit_points) -> EvaluationResult:
        return result_of(parts[0], names, rules, seed, deals, time.perf_counter() - started)

    plan = replace(plan, forfeit_points=None)
    return _play("evaluation", [policy_a, policy_b], plan, lambda names, rules: (duel(0, 1, names, rules),), result)


def _check_list(policies: Sequence[Any], what: str) -> None:
    if not 2 <= len(policies) <= MAX_POLICIES:
        raise ValueError(f"{what} needs 2 to {MAX_POLICIES} policies, not {len(policies)}")
    names = [policy_name(policy) for policy in policies]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name!r} is named {names.count(name)} times; name each policy once")


def _play(kind: str, specs: Sequence[Any], plan: Plan, matches_of, result_of):
    check_int("deals", plan.deals, 1, MAX_DEALS)
    check_int("seed", plan.seed, 0, MAX_SEED)
    rules = load_rule_sets(plan.rules)
    names = tuple(policy_name(spec) for spec in specs)
    matches = matches_of(names, rules[0])
    specs = [parse_spec(spec) if isinstance(spec, str | Path) else spec for spec in specs]
    loaded = [_checked(spec) for spec in specs]
    remarks = remarks_on(loaded, names, rules)
    # Here, once: the processes are silent on it.
    for sentence in dict.fromkeys(remark.untrained for remark in remarks if remark.untrained):
        warnings.warn(sentence, UntrainedRulesWarning, 3)
    fingerprints = tuple(_fingerprint(spec, policy, rules) for spec, policy in zip(specs, loaded, strict=True))
    series = Series(matches, tuple(specs), names, fingerprints, rules, plan.seed, plan.forfeit_points)
    store = Store(plan.out, plan.with_records) if plan.out is not None else None
    with store.opened(_settings(kind, series, plan)) if store is not None else nullcontext():
        parts = play_series(
            series, _deals(series, plan.deals), processes=plan.processes or available_cores(), store=store,
            limit_seconds=plan.limit_seconds, on_progress=plan.on_progress,
        )  # fmt: skip
        result = result_of(names, matches, parts, rules, plan.seed, plan.deals, plan.forfeit_points)
        result = replace(result, remarks=remarks)
        if store is not None:
            store.write(RESULT_NAME, json.dumps(result.to_json(), indent=1, allow_nan=False) + "\n")
        return result


def _checked(spec: Any) -> Any:
    """A spec that can be loaded, as it is; what ``python:MODULE:NAME`` names is loaded, since nothing else tells whether it is there.

    Raises:
        UnknownPolicyError, CheckpointError: Where it cannot be loaded.
    """
    if isinstance(spec, PolicySpec) and not spec.name.startswith(PYTHON):
        check_spec(spec)
        return spec
    return load(spec)


def _fingerprint(spec: Any, policy: Any, rules: Sequence[RuleSet]) -> str | None:
    """The fingerprint of a policy as ``fingerprint`` has it in the processes that play, which alone load a spec of this project.

    Args:
        policy: of ``_checked``.
    """
    if isinstance(policy, PolicySpec):
        infos = [checkpoint_info(chosen_spec(policy, each)) for each in rules]
        return joined(None if info is None else info["sha256"] for info in infos)
    return fingerprint(spec, policy, rules)


def _deals(series: Series, deals: int) -> list[int]:
    """Deals of each match: as asked for where a game seed has the most seatings, else fewer, so that all play equal seeds."""
    most = max(match.num_rotations for match in series.matches)
    return [math.ceil(deals * match.num_rotations / most) for match in series.matches]


def _settings(kind: str, series: Series, plan: Plan) -> dict[str, Any]:
    """All that the results depend on, in the order in which a difference is told."""
    return {
        "format": f"hf-{kind}-settings/1", "policies": list(series.names), "deals": plan.deals, "seed": plan.seed,
        "rules": rules_json(series.rules), "forfeit_points": plan.forfeit_points, "records": plan.with_records,
        "checkpoints": list(series.fingerprints), "versions": versions_json(), "games_a_block": GAMES_A_BLOCK,
    }  # fmt: skip
