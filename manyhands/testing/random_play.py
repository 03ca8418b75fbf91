"""Random legal play, which the checks look at, and how they compare."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from gymnasium.spaces import Discrete, MultiDiscrete

from manyhands.core.env import (
    Env,
    ManyhandsError,
    episode_key,
)
from manyhands.core.pack import Frame, no_actions, stepper

STEPS, SEED = 16, 5


class ContractError(ManyhandsError, AssertionError):
    """What an environment, a wrapper or a player does that its contract does not allow."""


@dataclasses.dataclass
class Play:
    """An environment, and random legal play in it.

    Attributes:
        env: the environment.
        frames: what each step yielded, the first state's frame first; frame t + 1 follows from
            frame t by `actions[t]`.
        actions: [N, *action_space.shape] each.
    """

    env: Env[Any]
    frames: list[Frame]
    actions: list[np.ndarray]

    @property
    def key(self) -> Any:
        return episode_key(SEED)

    @property
    def key_data(self) -> np.ndarray:
        return np.asarray(jax.random.key_data(self.key))


def play_at_random(env: Env[Any], steps: int = STEPS) -> Play:
    """Random legal play of `env` from the seed `SEED`: `steps` steps, or to the end."""
    env.action_space.seed(SEED)
    play = Play(env, [], [])
    play.frames.append(stepper(env).reset(play.key))
    while len(play.frames) <= steps and not play.frames[-1].over:
        rows = random_actions(env, play.frames[-1])
        t, state = len(play.actions), play.frames[-1].state
        play.actions.append(rows)
        play.frames.append(stepper(env).step(play.key_data, t, state, rows))
    return play


def random_actions(env: Env[Any], frame: Frame) -> np.ndarray:
    """A random legal action of each agent, [N, *action_space.shape]."""
    rows = no_actions(env)
    for i in range(env.num_agents):
        mask = frame.legal[i].astype(np.int8)
        if isinstance(env.action_space, Discrete):
            rows[i] = env.action_space.sample(mask if mask.any() else None)
        elif isinstance(env.action_space, MultiDiscrete):  # a mask for each part
            parts = np.split(mask, np.cumsum(env.action_space.nvec)[:-1])
            rows[i] = env.action_space.sample(tuple(parts))
        else:
            rows[i] = env.action_space.sample()
    return rows


# ---- comparing -----------------------------------------------------------------------------------


def fail(message: str) -> None:
    raise ContractError(message)


def same(found: Any, expected: Any, what: str, hint: str, exact: bool = True) -> None:
    """Equal pytrees, to the bit and to the dtype; where not `exact`, but for what rounding
    differently leaves in a few steps."""
    found, expected = jax.device_get(found), jax.device_get(expected)
    left, tree = jax.tree_util.tree_flatten_with_path(found)
    right, other = jax.tree_util.tree_flatten_with_path(expected)
    if str(tree) != str(other):
        fail(f"{what}: the fields are {tree}, expected {other}; {hint}")
    for (path, a), (_, b) in zip(left, right, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        name = f"{what}, field {jax.tree_util.keystr(path)}" if path else what
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            fail(
                f"{name}: {a.dtype}{list(a.shape)}, expected {b.dtype}{list(b.shape)}; keep shapes "
                f"and dtypes fixed, for example with `.astype`; {hint}"
            )
        if exact or a.dtype.kind != "f":
            equal = (a == b) | ((a != a) & (b != b))
        else:
            equal = np.isclose(a, b, rtol=1e-4, atol=1e-4, equal_nan=True)
        if not np.all(equal):
            first = tuple(int(k[0]) for k in np.nonzero(~np.atleast_1d(equal)))
            at = f" at index {list(first)}" if a.ndim else ""
            values = f"{np.atleast_1d(a)[first]!r}, expected {np.atleast_1d(b)[first]!r}"
            fail(f"{name}{at}: {values}; {hint}")


def parts_of(env: Env[Any], state: Any) -> dict[str, Any]:
    """Everything that agents and learners are given of a state."""
    return {
        "observe": env.observe(state),
        "perceive": env.perceive(state),
        "legal": env.legal(state),
        "acting": env.acting(state),
        "summary": env.summary(state),
    }


def batch_parts(env: Env[Any], states: Any) -> dict[str, Any]:
    return {
        "observe": env.batch_observe(states),
        "perceive": env.batch_perceive(states),
        "legal": env.batch_legal(states),
        "acting": env.batch_acting(states),
        "summary": env.batch_summary(states),
    }


def seen_in(frame: Frame) -> dict[str, Any]:
    """What `parts_of` gives of a frame's state, but for the summary."""
    return {
        "observe": frame.vector,
        "perceive": frame.perception,
        "legal": frame.legal,
        "acting": frame.acting,
    }


def outcome_of(frame: Frame) -> dict[str, Any]:
    names = ("reward", "terminated", "truncated", "terms", "metrics")
    return {name: getattr(frame, name) for name in names}


def fields_of(outcome: Any) -> dict[str, Any]:
    return {field.name: getattr(outcome, field.name) for field in dataclasses.fields(outcome)}


def without(parts: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in parts.items() if key != name}


def column(tree: Any, i: int) -> Any:
    return jax.tree_util.tree_map(lambda leaf: leaf[..., i], jax.device_get(tree))


def stacked(trees: Sequence[Any]) -> Any:
    """A batch, its axis last."""
    return jax.tree_util.tree_map(lambda *leaves: np.stack(leaves, -1), *trees)


PURE = "the functions of an environment are pure: state and key in, state and outcome out"
