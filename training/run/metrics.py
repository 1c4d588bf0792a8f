"""Every metric that a run logs, defined once. A test compares the names that are logged with these."""

from __future__ import annotations

from training.league.league import League
from training.learning.rollout import RolloutStats

# Followed by an anchor's name: points a deal of the learner minus that policy's, and half the 95 % interval.
STRENGTH, STRENGTH_INTERVAL = "strength/", "strength_interval/"

METRICS = {
    "speed/decisions_per_second": "decisions of all seats, forced ones too, a second of wall time of the iteration",
    "speed/engine_share": "share of the iteration's time spent stepping the games",
    "speed/inference_share": "share spent choosing actions, valuing cuts and computing advantages",
    "speed/learning_share": "share spent in gradient steps",
    "play/points_a_deal": "mean score of a side in a finished deal between learners (points)",
    "play/gone_out_share": "share of finished deals between learners that a side ended by going out",
    "play/decisions_a_deal": "decisions of all seats in the rollout for each deal that finished in it",
    "play/forced_share": "share of decisions with a single legal action",
    "play/difference_to_others": "sides with a learner minus sides without one, in deals where both sat (points a deal)",
    "play/learner_share": "share of all decisions that the learner learned from",
    "play/truncated_games": "games cut short by the safety cap; anything but 0 is a fault",
    "learning/policy_loss": "clipped surrogate, negative: mean over the update's gradient steps",
    "learning/value_loss": "half the squared error of the value, in units of the targets' variance",
    "learning/entropy": "nats over the legal actions, mean over decisions with a choice",
    "learning/teacher_loss": "cross-entropy (nats) of the policy with the teacher's choices; 0 without a teacher",
    "learning/teacher_weight": "weight of the teacher's cross-entropy in the loss, falling to 0",
    "learning/approximate_kl": "estimated divergence (nats) of the updated policy from the one that played",
    "learning/clip_fraction": "share of decisions whose ratio had left the clipping range",
    "learning/gradient_norm": "norm of the gradient before it was shortened",
    "learning/first_ratio_error": "largest distance of a ratio from 1 in the first minibatch, before any step: rounding only",
    "learning/explained_variance": "share of the returns' variance that the values foresaw",
    "learning/value_std": "standard deviation of the value targets, the value head's unit (reward)",
    "learning/learning_rate": "Adam's step size",
    "learning/entropy_bonus": "weight of the entropy in the loss",
    "run/decisions": "decisions of all seats since the run began",
    "run/seconds": "wall time since the run began, pauses between resumptions left out",
    "run/iteration": "rollouts and updates since the run began",
    "run/anchors_fallen": "anchors against which the last measurement lies below the run's best, the 95 % intervals apart",
    "league/members": "frozen selves that a new game may meet",
    "league/games": "games that ended in the iteration",
    "league/win_share": "share of games won lately against the past selves that a new game may meet, their mean",
    "league/hardest_win_share": "the same against the hardest of them",
    STRENGTH + "*": "learner minus this anchor, points a deal over duplicate deals",
    STRENGTH_INTERVAL + "*": "half the 95 % interval of the same",
}


def definition(name: str) -> str:
    """What a logged metric means.

    Raises:
        KeyError: For a name that is not defined.
    """
    for prefix in (STRENGTH, STRENGTH_INTERVAL):
        if name.startswith(prefix):
            return METRICS[prefix + "*"]
    return METRICS[name]


def play_metrics(stats: RolloutStats) -> dict[str, float]:
    """The metrics ``play/...`` of a rollout; those of deals are left out where none finished."""
    metrics = {
        "play/forced_share": stats.forced / stats.decisions,
        "play/truncated_games": float(stats.truncated_games),
        "play/learner_share": stats.learner_decisions / stats.decisions,
    }
    if stats.deals:
        metrics["play/decisions_a_deal"] = stats.decisions / stats.deals
    if stats.self_play_deals:
        metrics["play/points_a_deal"] = stats.self_play_points / stats.self_play_deals
        metrics["play/gone_out_share"] = stats.deals_gone_out / stats.self_play_deals
    if stats.league_deals:
        metrics["play/difference_to_others"] = stats.league_difference / stats.league_deals
    return metrics


def league_metrics(league: League, lineups: list[dict]) -> dict[str, float]:
    """The metrics ``league/...``.

    Args:
        lineups: as of ``League.take_finished``.
    """
    shares = [league.records[league.members[number].digest].win_share for number in league.candidates]
    metrics = {"league/members": float(len(shares)), "league/games": float(sum(line["games"] for line in lineups))}
    if shares:
        metrics |= {"league/win_share": sum(shares) / len(shares), "league/hardest_win_share": min(shares)}
    return metrics


def speed_metrics(stats: RolloutStats, learning_seconds: float, seconds: float) -> dict[str, float]:
    """The metrics ``speed/...`` of an iteration that took ``seconds``."""
    return {
        "speed/decisions_per_second": stats.decisions / seconds,
        "speed/engine_share": stats.engine_seconds / seconds,
        "speed/inference_share": stats.inference_seconds / seconds,
        "speed/learning_share": learning_seconds / seconds,
    }
