"""Evaluation: scores, zero-shot coordination, cross-play, leagues."""

from manyhands.baselines.evaluation.matches import Match, play_matches
from manyhands.baselines.evaluation.scores import (
    Evaluation,
    ZeroShot,
    evaluate,
    held_out,
    zero_shot,
)
from manyhands.baselines.evaluation.tables import Estimate

__all__ = [
    "Estimate",
    "Evaluation",
    "Match",
    "ZeroShot",
    "evaluate",
    "held_out",
    "play_matches",
    "zero_shot",
]
