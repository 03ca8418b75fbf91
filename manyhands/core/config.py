"""Checks of options. Each gives the value back in its plain Python type, or raises `ConfigError`
with the option's name, what was expected and what was given.

All of them run while an environment is built, except `check_actions`, which looks at shapes and
dtypes alone: inside `jax.jit` it runs while tracing and leaves nothing in the compiled program.
"""

from __future__ import annotations

import difflib
import inspect
import json
import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from manyhands.core.env import Array, ConfigError, Env, names_of, shorten


def one_of(name: str, value: Any, allowed: Sequence[Any]) -> Any:
    """`value`, which must be one of `allowed` (of the same type, too: 1 is not True)."""
    if not any(type(value) is type(item) and value == item for item in allowed):
        known = names_of([str(item) for item in allowed])
        hint = nearest(value, allowed)
        raise ConfigError(f"{name} is {known}, given {value!r}{hint and ';' + hint}")
    return value


def whole(name: str, value: Any, low: int, high: int | None = None) -> int:
    """`value` as an int, from `low` to `high` (both included; None: no upper bound). NumPy's
    integers count as whole numbers; bools and floats do not."""
    fits = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not fits or value < low or (high is not None and value > high):
        span = f"from {low}" if high is None else f"from {low} to {high}"
        raise ConfigError(f"{name} is a whole number {span}, given {value!r}")
    return int(value)


def number(name: str, value: Any, low: float | None = None, high: float | None = None) -> float:
    """`value` as a finite float, from `low` to `high` (both included; None: no bound). Bools are
    refused."""
    fits = isinstance(value, numbers.Real) and not isinstance(value, bool)
    try:
        found = float(value) if fits else math.nan
    except OverflowError:
        found = math.inf
    below, above = low is not None and found < low, high is not None and found > high
    if not math.isfinite(found) or below or above:
        span = "" if low is None else f" from {low}"
        span += "" if high is None else f" to {high}" if span else f" up to {high}"
        raise ConfigError(f"{name} is a finite number{span}, given {value!r}")
    return found


def positive(name: str, value: Any) -> float:
    """`value` as a finite float above 0. Bools are refused."""
    try:
        found = number(name, value, 0.0)
    except ConfigError:
        found = 0.0
    if found == 0.0:
        raise ConfigError(f"{name} is a finite number above 0, given {value!r}")
    return found


def boolean(name: str, value: Any) -> bool:
    """`value` as a bool; numbers and words are refused, since `"no"` would be True."""
    if not isinstance(value, (bool, np.bool_)):
        raise ConfigError(f"{name} is True or False, given {value!r}")
    return bool(value)


def plain(value: Any) -> Any:
    """A copy in dicts, lists, numbers, strings and None, as JSON has them: arrays and tuples
    become lists, NumPy's scalars become Python's, and keys become strings."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value


def nearest(word: Any, known: Iterable[Any]) -> str:
    """`' did you mean "x"?'` for the known name that is closest to `word`, or `''`. To be written
    after a stop: `f"there is no model {name!r};{nearest(name, MODELS)} the models are ..."`."""
    names = {item.casefold(): item for item in known if isinstance(item, str)}
    if not isinstance(word, str) or len(word) > 100:
        return ""
    found = difflib.get_close_matches(word.casefold(), names, 1)
    return f' did you mean "{names[found[0]]}"?' if found else ""


def check_weights(
    given: Mapping[str, float] | None, defaults: Mapping[str, float]
) -> dict[str, float]:
    """Reward weights: `defaults` overridden by `given`, whose names must be terms and whose values
    finite numbers."""
    if given is not None and not isinstance(given, Mapping):
        raise ConfigError(f"reward_weights maps reward terms to numbers, given {given!r}")
    weights = dict(defaults)
    for name, weight in (given or {}).items():
        if name not in weights:
            raise ConfigError(
                f"reward_weights names {name!r}, which is no reward term;{nearest(name, weights)} "
                f"the terms are {', '.join(weights)}"
            )
        weights[name] = number(f"the weight of {name!r}", weight)
    return weights


def check_options(
    target: Callable[..., Any],
    given: Iterable[str],
    what: str | None = None,
    error: type[Exception] = ConfigError,
    also: Sequence[str] = (),
) -> None:
    """Check names of keyword options before `target(**given)` is called.

    Args:
        target: a class or a function. Where it takes `**options`, those are its own to check.
        given: the names.
        what: how the error calls the target; by default its name.
        error: what is raised, with the options that exist and the nearest of them.
        also: further options of the caller; the error lists them first.
    """
    parameters = inspect.signature(target).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return
    known = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    known = list(dict.fromkeys([*also, *known]))  # a name may be of both
    for name in given:
        if name not in known:
            there = f"the options are {', '.join(known)}" if known else "it has no options"
            raise error(
                f"{what or target.__name__} has no option {name!r};{nearest(name, known)} {there}"
            )


def check_reset_options(options: Any, known: Sequence[str]) -> Mapping[str, Any]:
    """The `options` of a `reset`, none of which may be unknown; None is the same as none."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ConfigError(f"the options of a reset are a dict, given {shorten(options)}")
    for name in options:
        if name not in known:
            there = f"there are {names_of(known)}" if known else "this game has none; leave it out"
            raise ConfigError(f"there is no reset option {name!r};{nearest(name, known)} {there}")
    return options


def check_actions(env: Env[Any], actions: Array, batch: Sequence[int] = ()) -> None:
    """Check the shape and the dtype of what `step` is given: one action for each agent, shaped
    [N, *action_space.shape, *batch], and whole numbers where the space is not a `Box`.

    Without it an array of one action would broadcast to all agents, and 1.9 would count as 1.
    """
    dtype = actions.dtype if hasattr(actions, "dtype") else np.asarray(actions).dtype
    shape = (env.num_agents, *(env.action_space.shape or ()), *batch)
    if np.shape(actions) != shape:
        raise ConfigError(
            f"actions have the shape {shape}, one row for each of {env.num_agents} agents, "
            f"given {np.shape(actions)}"
        )
    continuous = isinstance(env.action_space, gymnasium.spaces.Box)
    if dtype.kind not in ("iuf" if continuous else "iu"):
        kind = "numbers" if continuous else "whole numbers (an integer dtype)"
        raise ConfigError(f"actions are {kind}, given {dtype}")


def read_json(path: Path, what: str) -> Mapping[str, Any]:
    """The object in a JSON file.

    Args:
        what: the file is called so in errors: "the level".

    Raises:
        ConfigError: it cannot be read, or holds something else.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{what} {str(path)!r} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{what} {str(path)!r} is no JSON: {error}") from error
    if not isinstance(found, Mapping):
        raise ConfigError(f"{what} {str(path)!r} is a JSON object, given {shorten(found)}")
    return found
