"""Every environment lowers for devices that this machine does not have: what `jax.export` makes of
it for `cuda` and `tpu` needs no callback to the host and nothing that a CPU alone can do.

It does not show that their compilers accept it, only that nothing is missing before they begin.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

import manyhands
from manyhands.core.batch import fresh_states, play_step, restart, rollout_keys, seats_of
from manyhands.core.pack import no_actions

PLATFORMS = ("cuda", "tpu")
BATCH, STEPS = 4, 2
KITCHEN: dict[str, Any] = {"max_steps": 24}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "kitchen": ("kitchen", KITCHEN),
    "kitchen, several layouts": (
        "kitchen",
        {
            "layout": ["cramped_room", "two_rooms"],
            "starts": "random",
            "observation": "features",
            "dynamics": "manual",
            "view_radius": 2,
        },
    ),
    "kuhn_poker": ("kuhn_poker", {"players": 3, "hands": 2}),
    "leduc_holdem": ("leduc_holdem", {"hands": 4, "duplicate": True}),
    "tic_tac_toe": ("tic_tac_toe", {}),
    "connect_four": ("connect_four", {}),
    "negotiation": ("negotiation", {"protocol": "offers", "discount": 0.9}),
    "negotiation, trade": ("negotiation", {"scenario": "trade"}),
    "negotiation, commons": ("negotiation", {"scenario": "commons", "players": 3}),
    "volleyball": ("volleyball", {"points": 2, "randomise": {"mass": [0.9, 1.1]}}),
    "volleyball 3v3": ("volleyball", {"task": "3v3", "actions": "velocity", "drag": True}),
    "drones": ("drones", {"task": "pursuit", "actions": "moves", "repeat": 2}),
    "craftworld": ("craftworld", {"size": 16, "players": 2, "roles": "specialists"}),
    "craftworld, crafter": (
        "craftworld",
        {"rules": "crafter", "size": 16, "players": 2, "joint": "gate"},
    ),
    "mission": ("mission", {"scenario": "foraging-2s-6x6-3p-2f"}),
    "mission, warehouse": ("mission", {"scenario": "warehouse-1x3-2h-3ag"}),
    "mission, field": ("mission", {"scenario": "cleanup"}),
    "cuisine": ("cuisine", {"level": [3, 6], "max_steps": 24}),
    "home": ("home", {"task": "chore_small", "players": 2, "slicing": True}),
    "home, transport": ("home", {"task": "transport", "rooms": 2, "receptacles": 10, "objects": 7}),
    "chat": ("chat", {"env": ("kitchen", KITCHEN)}),
    "skills": ("skills", {"env": ("kitchen", KITCHEN)}),
    "events": ("events", {"env": ("volleyball", {}), "patience": 3}),
    "retries": ("retries", {"env": ("kuhn_poker", {}), "attempts": 2}),
}
SLOW = {
    "kitchen, several layouts",
    "negotiation, trade",
    "negotiation, commons",
    "volleyball",
    "volleyball 3v3",
    "drones",
    "craftworld, crafter",
    "skills",
    "events",
}


def make(id: str, config: dict[str, Any]) -> Any:
    inner = {"env": make(*config["env"])} if "env" in config else {}
    return manyhands.make(id, **{**config, **inner})


@pytest.fixture(
    params=[pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in CASES]
)
def env(request: Any) -> Any:
    return make(*CASES[request.param])


def lower(function: Any, *arguments: Any) -> None:
    exported = jax.export.export(jax.jit(function), platforms=PLATFORMS)(*arguments)
    assert exported.platforms == PLATFORMS
    assert "callback" not in exported.mlir_module()


def test_every_environment_is_covered():
    shipped = {name for name in manyhands.registered() if not name.startswith("test-")}
    wrappers = set(manyhands.registered(wrappers=True)) - {"recent"}  # its texts are the game's
    assert {id for id, _ in CASES.values()} == shipped | wrappers


def test_what_calls_the_host_is_found():
    def asks(x: Any) -> Any:
        return jax.pure_callback(np.sin, x, x)

    with pytest.raises((AssertionError, NotImplementedError, ValueError)):
        lower(asks, jax.ShapeDtypeStruct((2,), np.float32))


def test_single_functions_lower_for_other_devices(env):
    data = jax.ShapeDtypeStruct((2,), np.uint32)
    state = jax.eval_shape(env.reset, jax.random.key(0))

    def reset(data: Any) -> Any:
        return env.reset(jax.random.wrap_key_data(data))

    def step(data: Any, state: Any, actions: Any) -> Any:
        return env.step(jax.random.wrap_key_data(data), state, actions)

    def observe(state: Any) -> Any:
        seen = env.observe(state), env.perceive(state), env.legal(state), env.acting(state)
        return *seen, env.summary(state)

    lower(reset, data)
    lower(step, data, state, no_actions(env))
    lower(observe, state)


def test_rollouts_lower_for_other_devices(env):
    """The loop of `manyhands.rollout`, with random players and automatic resets."""
    seats = seats_of(env, "random")
    player = functools.partial(seats.apply, env)

    def rollout(data: Any) -> Any:
        key = jax.random.wrap_key_data(data)
        index = jnp.arange(BATCH, dtype=jnp.uint32)
        fresh = fresh_states(env, key, min(env.reset_pool, BATCH))

        def step(carry: Any, _: Any) -> Any:
            states, memory, time, episode = carry
            keys = rollout_keys(key, index, episode)
            made = play_step(env, player, states, memory, keys, time, index=index)
            states, time, episode = restart(
                env, fresh, made.over, made.state, time + 1, key, index, episode
            )
            return (states, made.memory, time, episode), made.outcome.reward

        episode = jnp.zeros(BATCH, jnp.uint32)
        states = env.batch_reset(rollout_keys(key, index, episode))
        start = (states, seats.init(env, BATCH), jnp.zeros(BATCH, jnp.int32), episode)
        return jax.lax.scan(step, start, None, STEPS)[1]

    lower(rollout, jax.ShapeDtypeStruct((2,), np.uint32))
