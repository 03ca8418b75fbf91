"""The collaboration score of MindAgent, from episodes.

Its formula, CoS = 1/M * sum over the M settings of the interval between orders of completed /
(completed + failed), leaves open how orders count that are still open at the end; here they do
not, unless they are given.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from manyhands.core.env import ConfigError

ALPHAS = (1.0, 1.5, 2.0, 2.5, 3.0)  # the settings of the original


def success_rate(episodes: Iterable[Any], unfinished: int = 0) -> float:
    """Orders served among those served and expired, of all episodes together; NaN without any.

    Args:
        episodes: results with `metrics` (`EpisodeResult`, rollout statistics), or such metrics.
        unfinished: orders that are counted as failed besides, such as those open at the end.
    """
    served = failed = 0.0
    for episode in episodes:
        metrics = episode if isinstance(episode, Mapping) else episode.metrics
        if not {"served", "expired"} <= set(metrics):
            raise ConfigError("these are no episodes of a cuisine: they count no orders")
        served += float(metrics["served"])
        failed += float(metrics["expired"])
    total = served + failed + unfinished
    return served / total if total else math.nan


def collaboration_score(settings: Mapping[Any, Iterable[Any]]) -> float:
    """CoS: the mean success rate over settings of the interval, each with its episodes; a setting
    without a finished order is left out."""
    rates = [success_rate(episodes) for episodes in settings.values()]
    known = [rate for rate in rates if not math.isnan(rate)]
    if not known:
        raise ConfigError("there is no order that was served or expired")
    return sum(known) / len(known)
