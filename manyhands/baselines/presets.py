"""Settings that learners start from in an environment: what the command line changes."""

from __future__ import annotations

from typing import Any

from manyhands.core.env import Env

# By environment id, algorithm and, where it matters, layout: the keyword arguments of the
# algorithm's configuration that differ from its own defaults. The layout's come on top of the
# environment's.
PRESETS: dict[tuple[str, ...], dict[str, Any]] = {}


def preset(env: Env, algorithm: str) -> dict[str, Any]:
    """The settings of `algorithm` in `env`, beyond the algorithm's own."""
    settings = dict(PRESETS.get((env.id, algorithm), {}))
    layout = env.config().get("layout")
    if isinstance(layout, str):
        settings.update(PRESETS.get((env.id, algorithm, layout), {}))
    return settings
