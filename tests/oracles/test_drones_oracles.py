"""Drones against rules written again in NumPy, and against MuJoCo's engine."""

import itertools

import jax
import numpy as np
import pytest

import manyhands
from manyhands.core.env import episode_key


def hausdorff(places, slots):
    """The error of a shape, by its definition."""
    off, slots = places - places.mean(0), slots - slots.mean(0)
    there = max(min(np.linalg.norm(a - b) for b in slots) for a in off)
    back = max(min(np.linalg.norm(a - b) for a in off) for b in slots)
    return max(there, back)


def sees(own, prey, posts, radius):
    """Whether no point of the way is inside a cylinder."""
    way = np.linspace(own, prey, 2001)[:, :2]
    return all(np.linalg.norm(way - post, axis=1).min() > radius for post in posts)


def play(env, actions, steps):
    """(state, outcome) of each step; `actions` gives those of a step."""
    step, key = jax.jit(env.step), episode_key(4)
    state, found = jax.device_get(jax.jit(env.reset)(key)), []
    for t in range(steps):
        after, outcome = jax.device_get(step(key, state, actions(t, state)))
        found.append((state, after, outcome))
        state = after
    return found


def flat(v):
    return v / max(1.0, np.linalg.norm(v))


def test_formation():
    env = manyhands.make("drones", cylinders=2, max_steps=120, repeat=10)
    slots, seconds = np.asarray(env.slots, float), 10 * 0.02

    def actions(t, state):
        """To the goal, straight on, and now and then by chance."""
        places = np.asarray(state.bodies.position, float)
        goal = state.goals[min(int(state.reached), 2)] + slots
        rows = np.zeros((3, 4), np.float32)
        for i, (place, wanted) in enumerate(zip(places, goal, strict=True)):
            rows[i, :3] = flat(0.8 * (wanted - place))
        if t % 7 == 3:
            rows[t % 3, :3] = np.random.default_rng(t).uniform(-1, 1, 3)
        return rows

    total = 0
    for before, after, outcome in play(env, actions, 120):
        places = np.asarray(after.bodies.position, float)
        if before.over:
            assert not outcome.reward.any() and np.array_equal(places, before.bodies.position)
            continue
        error = hausdorff(places, slots)
        assert abs(outcome.metrics["shape_error"] - error) < 1e-4
        goal = before.goals[int(before.reached)]
        was, now = (
            np.linalg.norm(np.asarray(state.bodies.position, float).mean(0) - goal)
            for state in (before, after)
        )
        gained = int(after.reached) - int(before.reached)
        total += gained
        assert np.allclose(outcome.terms["progress"], was - now, atol=1e-4)
        assert np.allclose(outcome.terms["shape"], error * seconds, atol=1e-4)
        assert np.allclose(outcome.terms["reached"], gained)
        if gained:  # it was reached on the way
            assert now < 0.5 + 2 * seconds * 2 and error < 0.8
        elif not after.over:
            assert not (now < 0.5 and error < 0.4)
        assert np.allclose(outcome.terms["collision"], after.touched[:3] * seconds)
        reach = env.plan.radius + env.body
        off = np.linalg.norm(places[:, None, :2] - after.cylinders[None], axis=2)
        assert off.min() > reach - 1e-4  # nobody is inside a cylinder
        assert outcome.terminated.all() == (after.reached == 3)
    assert total == 3


def test_pursuit():
    env = manyhands.make("drones", task="pursuit", cylinders=5, max_steps=150, repeat=10, sight=5.0)
    radius, caught = env.plan.radius, False

    def actions(t, state):
        """Straight to where the evader is."""
        places = np.asarray(state.bodies.position, float)
        rows = np.zeros((3, 4), np.float32)
        for i in range(3):
            rows[i, :3] = flat(places[-1] - places[i])
        return rows

    for before, after, outcome in play(env, actions, 60):
        if before.over:
            break
        places = np.asarray(after.bodies.position, float)
        gaps = np.linalg.norm(places[:-1] - places[-1], axis=1)
        was = np.asarray(before.bodies.position, float)
        was = np.linalg.norm(was[:-1] - was[-1], axis=1)
        caught = bool(gaps.min() < env.capture)
        assert outcome.terminated.all() == caught == (after.catcher > 0)
        assert outcome.metrics["captured"] == caught
        assert np.allclose(outcome.terms["approach"], was - gaps, atol=1e-4)
        assert np.allclose(outcome.terms["capture"], caught)
        for i in range(3):
            way = np.linspace(places[i], places[-1], 2001)[:, :2]
            margin = [
                abs(np.linalg.norm(way - post, axis=1).min() - radius) for post in after.cylinders
            ]
            if min(margin) > 1e-2 and abs(gaps[i] - 5) > 1e-3:
                wanted = sees(places[i], places[-1], after.cylinders, radius) and gaps[i] < 5
                assert bool(after.seen[i]) == wanted
        if after.seen.any():
            assert np.allclose(after.known[:3], places[-1]) and after.unseen == 0
        speed = np.linalg.norm(np.asarray(after.bodies.velocity, float), axis=1)
        assert speed[-1] < 1.5 * env.speeds[-1] and (speed[:-1] < 1.5 * env.speed).all()
        pairs = itertools.combinations(range(4), 2)
        assert all(np.linalg.norm(places[a] - places[b]) > 0.25 for a, b in pairs)


@pytest.mark.slow  # the engines themselves are compared in test_volleyball_oracles.py
def test_both_engines_agree():
    ours, mujoco = (
        manyhands.make("drones", drones=2, repeat=2, max_steps=20, physics=name)
        for name in ("jax", "mujoco")
    )
    key = episode_key(1)
    state = jax.jit(ours.reset)(key)
    rows = np.array([[1, 0.5, 0.2, 0.3], [-0.5, 1, 0, -1]], np.float32)
    one = other = state
    for _ in range(5):
        one, other = (
            jax.jit(env.step)(key, now, rows)[0] for env, now in ((ours, one), (mujoco, other))
        )
    for name in ("position", "quaternion", "velocity", "rates"):
        a, b = (np.asarray(getattr(found.bodies, name)) for found in (one, other))
        assert np.abs(a - b).max() < 1e-3, name
