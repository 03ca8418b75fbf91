"""Checks of what learners are set to."""

from __future__ import annotations

import dataclasses
from typing import Any

from manyhands.core.config import boolean, number, positive, whole
from manyhands.core.env import ConfigError

# Numbers of learners' settings that are kept between bounds, whichever learner has them.
_AT_MOST_1 = (
    *("discount", "gae_lambda", "td_lambda", "role_decay", "shaping_share", "start_share"),
    *("epsilon", "epsilon_end", "epsilon_share", "clone_average"),
)
_AT_LEAST_0 = (
    *("learning_rate", "learning_rate_end", "value_weight", "weight_decay", "clip"),
    *("clone_rate", "illegal_cost", "kl", "value", "minutes_to_checkpoint"),
    *_AT_MOST_1,
)


def check_settings(config: Any) -> None:
    """That the settings of a learner, a dataclass, have the types of its fields, and that numbers
    are finite and within bounds: training would go on with NaN until its first update is refused.

    Raises:
        ConfigError: of the first one that cannot be.
    """
    for field in dataclasses.fields(config):
        name, value = field.name, getattr(config, field.name)
        if field.type == "int":
            whole(name, value, 0)
        elif field.type == "bool":
            boolean(name, value)
        elif field.type == "str" and not isinstance(value, str):
            raise ConfigError(f"{name} is a word, given {value!r}")
        elif field.type == "float" and name == "max_grad_norm":
            positive(name, value)
        elif field.type == "float":
            low, high = (0 if name in _AT_LEAST_0 else None), (1 if name in _AT_MOST_1 else None)
            number(name, value, low, high)
