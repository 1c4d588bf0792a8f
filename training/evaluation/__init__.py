"""Fair comparison of policies: duplicate games, intervals clustered by game seed, verdicts."""

from training.evaluation.anchors import ANCHORS, anchor_evaluation
from training.evaluation.duplicate import EvaluationResult, evaluate
from training.evaluation.statistics import MIN_CLUSTERS, Interval, clustered_interval, verdict

__all__ = [
    "ANCHORS",
    "MIN_CLUSTERS",
    "EvaluationResult",
    "Interval",
    "anchor_evaluation",
    "clustered_interval",
    "evaluate",
    "verdict",
]
