"""Fair comparison of policies: duplicate games, intervals clustered by game seed, verdicts."""

from training.evaluation.anchors import ANCHORS, anchor_evaluation
from training.evaluation.contests import Plan, crossplay, tournament
from training.evaluation.crossplay import CrossplayResult
from training.evaluation.duplicate import EvaluationResult, evaluate
from training.evaluation.statistics import MIN_CLUSTERS, Interval, clustered_interval, verdict
from training.evaluation.tournament import TournamentResult

__all__ = [
    "ANCHORS",
    "MIN_CLUSTERS",
    "CrossplayResult",
    "EvaluationResult",
    "Interval",
    "Plan",
    "TournamentResult",
    "anchor_evaluation",
    "clustered_interval",
    "crossplay",
    "evaluate",
    "tournament",
    "verdict",
]
