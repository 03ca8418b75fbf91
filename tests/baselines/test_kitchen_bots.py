"""Scripted chefs: what they score, and where they must not fail."""

from __future__ import annotations

from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import manyhands
from manyhands.baselines.bots import kitchen as bots
from manyhands.baselines.evaluation.matches import play_matches, split
from manyhands.core.env import ConfigError, DeviceView, SeatError, agent_key
from manyhands.envs.kitchen import Kitchen
from manyhands.envs.kitchen.asked import LAYOUTS
from manyhands.wrappers.skills import Skills

CLASSICS = (
    "cramped_room",
    "asymmetric_advantages",
    "coordination_ring",
    "forced_coordination",
    "counter_circuit_o_1order",
)


def points(env: Any, policies: Any, episodes: int = 8, steps: int = 400) -> np.ndarray:
    """Points served in each of some episodes, f64[episodes]."""
    policies = policies if isinstance(policies, list) else [policies] * env.num_agents

    def play(key: Any) -> Any:
        def step(carry: Any, time: Any) -> Any:
            state, memory = carry
            step_key = jax.random.fold_in(key, time)
            sight, legal = env.perceive(state), env.legal(state)
            actions, memories = [], []
            for i, policy in enumerate(policies):
                view = DeviceView(sight[i], sight[i], legal[i], jnp.bool_(True))
                action, new = policy.apply(env, i, memory[i], agent_key(step_key, i), view)
                assert action.dtype == jnp.int32
                actions.append(action)
                memories.append(new)
            state, outcome = env.step(step_key, state, jnp.stack(actions))
            return (state, tuple(memories)), outcome.terms["delivery"][0]

        memory = tuple(policy.init(env, i) for i, policy in enumerate(policies))
        _, served = jax.lax.scan(step, (env.reset(key), memory), jnp.arange(steps))
        return served.sum()

    keys = jax.vmap(jax.random.key)(jnp.arange(episodes, dtype=jnp.uint32))
    return np.asarray(jax.jit(jax.vmap(play))(keys), np.float64)


@pytest.mark.slow
def test_scores_on_the_classics() -> None:
    """One compilation for all five: each episode draws its layout."""
    env = Kitchen(CLASSICS)
    keys = jax.vmap(jax.random.key)(jnp.arange(48, dtype=jnp.uint32))
    level = np.asarray(jax.vmap(lambda key: env.reset(key).level)(keys))
    served = points(env, bots.greedy(env), episodes=48)
    means = {name: served[level == i].mean() for i, name in enumerate(CLASSICS)}
    least = dict(zip(CLASSICS, (200, 340, 260, 220, 160), strict=True))
    assert all(means[name] >= least[name] for name in CLASSICS), means


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "least"),
    [
        ({"layout": "cramped_room", "chefs": 1, "dynamics": "manual"}, 140),
        ({"layout": "counter_circuit_tomato", "view_radius": 2, "starts": "random"}, 100),
        ({"layout": "multiplayer_schelling", "chefs": 3}, 200),
    ],
    ids=("alone, manual", "short-sighted, tomatoes", "three"),
)
def test_other_kitchens(config: dict[str, Any], least: int) -> None:
    env = Kitchen(**config)
    served = points(env, bots.greedy(env), episodes=4)
    assert served.mean() >= least, served


@pytest.mark.slow
def test_one_recipe_asked_for_at_a_time() -> None:
    """Chef 0 sees the recipe and tells it by the button; chef 1, who does not, cooks it."""
    env = Kitchen("grounded_coord_simple", view_radius=2)
    served = points(env, bots.greedy(env), 6)
    recipes = np.asarray(jax.vmap(env.reset)(jax.vmap(jax.random.key)(np.arange(6))).asked.recipe)
    assert len(set(recipes.tolist())) == 2
    assert served.min() >= 160  # and none is wrong: those are worth nothing


@pytest.mark.slow
def test_layouts_of_overcooked_v2() -> None:
    """With all in view chefs serve in every layout, whatever is asked for."""
    names = [name for name, (text, _) in LAYOUTS.items() if "2" in text]
    env = Kitchen(names, resample=True, penalty=True)
    keys = jax.vmap(jax.random.key)(jnp.arange(4 * len(names), dtype=jnp.uint32))
    level = np.asarray(jax.vmap(env.reset)(keys).level)
    served = points(env, bots.greedy(env), len(keys))
    for i in np.unique(level):
        assert served[level == i].mean() > 40, names[i]


@pytest.mark.slow
def test_generated_kitchens() -> None:
    """Most are played well; in a few, two chefs cannot pass each other where they would need to."""
    env = Kitchen("generated", num_levels=16)
    served = points(env, bots.greedy(env), episodes=32)
    assert served.mean() >= 100 and (served > 0).mean() >= 0.75, served


@pytest.mark.slow
def test_partners_of_graded_skill() -> None:
    env = Kitchen("asymmetric_advantages")
    policies = [
        bots.greedy(env),
        bots.greedy(env, noise=0.5),
        bots.onion_only(env),
        bots.plate_only(env),
        bots.stationary(env),
    ]
    greedy, noisy, onions, plates, still = range(5)
    pairs = [(greedy, still), (noisy, still), (onions, still), (plates, still), (onions, plates)]
    matches = play_matches(env, policies, pairs, episodes=4)
    alone, clumsy, cook, waiter, both = (match.returns[:, 0].mean() for match in matches)
    assert 0 < clumsy < alone
    # Neither serves anything by itself, both together do.
    assert cook == waiter == 0 and both > 100


@pytest.mark.slow
def test_skill_is_data() -> None:
    """Chefs of all skills are one program (`evaluation.split`), which plays as each alone does."""
    env = Kitchen("cramped_room", max_steps=60)
    seats = ["plate_only:noise=0.3", "onion_only"]
    policies = [manyhands.seat(name, env) for name in seats]
    assert split(policies[0])[0] == split(policies[1])[0] == split(bots.greedy(env))[0]
    (match,) = play_matches(env, policies, [(0, 1)], episodes=3)
    played = manyhands.play(env, seats, 3)
    assert np.array_equal(match.returns, played.rewards)
    for name, values in match.metrics.items():
        assert values.tolist() == [e.metrics[name] for e in played.episodes]
    assert match.metrics["soups"].sum() > 0


@pytest.mark.slow
def test_graded_chefs_are_partners_of_a_batch() -> None:
    for name in ("stationary", "onion_only:noise=0.5"):
        envs = gymnasium.make_vec("manyhands/Kitchen-v0", num_envs=2, partners=name, max_steps=8)
        envs.reset(seed=0)
        moved = [envs.unwrapped._vector.states.position[1]]
        for _ in range(8):
            envs.step(np.full(2, 4))
            moved.append(envs.unwrapped._vector.states.position[1])
        assert (np.ptp(np.array(moved), axis=0) > 0).all() == (name != "stationary")
        envs.close()


@pytest.mark.slow
def test_plays_through_a_wrapper() -> None:
    kitchen = Kitchen("cramped_room", chefs=1)
    env = Skills(kitchen)
    plain = points(kitchen, bots.greedy(kitchen), episodes=1, steps=120)
    assert points(env, bots.greedy(env), episodes=1, steps=120) == plain > 0


def test_the_seat_and_its_errors() -> None:
    env = Kitchen("cramped_room")
    policy = manyhands.seat("greedy:noise=0.25", env)
    assert policy.noise == 0.25
    assert policy == bots.greedy(env, noise=0.25) and hash(policy) == hash(bots.greedy(env, 0.25))
    with pytest.raises(ConfigError, match="probability"):
        bots.greedy(env, noise=2)
    with pytest.raises(SeatError, match="kitchen"):
        bots.greedy(object())  # type: ignore[arg-type]


def test_skills_at_random() -> None:
    """They get things done without a plan; whom tastes set apart differ more from each other."""
    env = manyhands.make("kitchen", layout="cramped_room")
    alike, apart = (
        points(env, manyhands.seat(f"random_skills:tastes={tastes}", env), 32) for tastes in (0, 3)
    )
    assert alike.mean() > 20 and apart.std() > alike.std()
    wrapped = Skills(env)
    assert points(wrapped, manyhands.seat("random_skills", wrapped), 2, 100).shape == (2,)
    for wrong in ("random_skills:tastes=-1", "random_skills:tastes=nan"):
        with pytest.raises(ConfigError, match="tastes is a finite number from 0"):
            manyhands.seat(wrong, env)
    with pytest.raises(SeatError):
        manyhands.seat("random_skills", manyhands.make("kuhn_poker"))
