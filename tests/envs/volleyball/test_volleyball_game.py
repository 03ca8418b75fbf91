"""Volleyball's referee: hand-placed situations, one step each, judged in one batch; matches,
drills, observations, words, and bad input."""

from __future__ import annotations

import dataclasses
import functools
import re
from pathlib import Path
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test

import manyhands
from manyhands.core.env import ConfigError, IllegalAction
from manyhands.envs.volleyball import Volleyball, parallel_env
from manyhands.envs.volleyball import env as sequential
from manyhands.envs.volleyball.orders import commands
from manyhands.envs.volleyball.referee import allowed
from manyhands.envs.volleyball.state import BOARD, LONG_AGO, NOISES, TASKS
from manyhands.envs.volleyball.text import METRES, PARTS, landing

SIZES = {
    "1v1": 37,
    "3v3": 57,
    "6v6": 78,
    "back_and_forth": 26,
    "hit": 32,
    "solo_bump": 32,
    "bump_and_pass": 39,
    "set_and_spike": 40,
    "set_and_spike_hard": 40,
}
ROOM = 24  # situations in a batch: one compilation for any number of them


@functools.cache
def game(task: str, **config: Any) -> Volleyball:
    return Volleyball(task, **config)


@functools.cache
def stepping(env: Volleyball) -> Any:
    return jax.jit(env.batch_step)


@functools.cache
def seeing(env: Volleyball) -> Any:
    return jax.jit(env.observe)


@functools.cache
def knowing(env: Volleyball) -> Any:
    return jax.jit(lambda state: (env.perceive(state), env.summary(state)))


def judge(env: Volleyball, situations: list[Any], actions: Any = None) -> list[tuple[Any, Any]]:
    """One step from each situation, the drones hovering: (state, outcome) of each."""
    states = situations + [situations[0]] * (ROOM - len(situations))
    batch = jax.tree_util.tree_map(lambda *leaves: np.stack(leaves, -1), *states)
    hover = np.broadcast_to(2 * env.trim - 1, (env.num_agents, 4))
    rows = hover if actions is None else np.asarray(actions, np.float32)
    rows = np.repeat(rows[..., None], ROOM, axis=-1).astype(np.float32)
    keys = jax.vmap(jax.random.key)(np.arange(ROOM))
    found = jax.device_get(stepping(env)(keys, batch, rows))
    leaves, tree = jax.tree_util.tree_flatten(found)
    each = range(len(situations))
    return [jax.tree_util.tree_unflatten(tree, [leaf[..., i] for leaf in leaves]) for i in each]


def faults(env: Volleyball, state: Any) -> set[tuple[str, int]]:
    """(fault, team) of each."""
    return {(env.faults[f], int(t)) for f, t in np.argwhere(np.asarray(state.faults))}


def check(env: Volleyball, cases: list[tuple[dict[str, Any], set[tuple[str, int]]]]) -> list[Any]:
    """The situations' faults are the expected ones, and no others."""
    found = judge(env, [env.place(**situation) for situation, _ in cases])
    for (situation, expected), (state, outcome) in zip(cases, found, strict=True):
        assert faults(env, state) == expected, situation
        assert bool(state.over) == (bool(expected) and env.points == 1), situation
        for name in env.faults:
            told = sum(fault == name for fault, _ in expected)
            assert outcome.metrics[f"fault_{name}"] == told, situation
    return found


FALLING = {"ball_velocity": (0, 0, -3)}
AWAY = (1.0, 1.0, 4.0)  # where the ball is in nobody's way


# ---- points, one against one ---------------------------------------------------------------------

ONE_ON_ONE = [
    ({}, set()),
    ({"ball": AWAY, "turn": "far"}, set()),
    # The ball down in a half is that team's fault, whoever touched it last.
    ({"ball": (1, 0, 0.15), "turn": "near"}, {("own_floor", 0)}),
    ({"ball": (1, 0, 0.15), "turn": "far"}, {("own_floor", 0)}),
    ({"ball": (-1, 0, 0.15), "turn": "far"}, {("own_floor", 1)}),
    ({"ball": (-1, 0, 0.25), "turn": "far"}, set()),
    # Out at any height, charged to who touched it last.
    ({"ball": (3.2, 0, 3), "turn": "far"}, {("out", 0)}),
    ({"ball": (1, 1.6, 3), "turn": "near"}, {("out", 1)}),
    ({"ball": (-2, -1.6, 0.15), "turn": "far"}, {("out", 0)}),
    # In the net, through it, over it, beside it.
    ({"ball": (0.05, 0, 1), "turn": "near"}, {("net", 1)}),
    ({"ball": (0.05, 0, 1), "turn": "far"}, {("net", 0)}),
    ({"ball": (0.3, 0, 1), "ball_velocity": (-30, 0, 0), "turn": "far"}, {("net", 0)}),
    ({"ball": (0.05, 0, 3), "turn": "far"}, set()),
    ({"ball": (0.3, 0, 3), "ball_velocity": (-30, 0, 0), "turn": "far"}, set()),
    # Drones over the net's plane, at any height, and on the ground.
    ({"positions": {"near_0": (-0.2, 1, 5)}, "ball": AWAY}, {("crossed", 0)}),
    ({"positions": {"far_0": (0.2, 1, 5)}, "ball": AWAY}, {("crossed", 1)}),
    ({"positions": {"far_0": (-1, 1, 0.29)}, "ball": AWAY}, {("crash", 1)}),
    # Both at once.
    ({"positions": {"near_0": (1, 1, 0.29), "far_0": (-1, 1, 0.29)}, "ball": AWAY},
     {("crash", 0), ("crash", 1)}),
    # Touches: in turn, out of turn, with the body.
    ({"ball": (1.5, 0, 2.2), "turn": "near", **FALLING}, set()),
    ({"ball": (-1.5, 0, 2.2), "turn": "near", **FALLING}, {("wrong_turn", 1)}),
    ({"ball": (1.5, 0, 1.6), "turn": "near", "ball_velocity": (0, 0, 5)}, {("body", 0)}),
]  # fmt: skip


def test_points_of_one_against_one():
    env = game("1v1")
    found = check(env, ONE_ON_ONE)
    for (situation, expected), (state, outcome) in zip(ONE_ON_ONE, found, strict=True):
        losers = {team for _, team in expected}
        won = np.array([losers == {1}, losers == {0}])
        np.testing.assert_array_equal(state.score, won)
        np.testing.assert_array_equal(outcome.terms["win"], won.astype(float) - won[::-1])
        assert outcome.metrics["near_points"] == won[0], situation
        assert outcome.metrics["draws"] == (losers == {0, 1}), situation
        assert outcome.terminated.all() == bool(expected)
    hit, outcome = found[18]
    assert hit.hits == 1 and hit.turn == 1 and hit.last == 0 and hit.since[0] == 0
    assert outcome.metrics["hits"] == 1 and outcome.terms["hit"].tolist() == [1, 0]
    assert hit.bodies.ball_velocity[2] > 1.5  # 0.8 of 3 m/s, less a fall


@pytest.mark.slow
def test_published_points_of_one_against_one():
    env = game("1v1", rules="volleybots")
    found = check(
        env,
        [
            ({"ball": (1, 0, 0.15), "turn": "far"}, {("own_floor", 0)}),
            # The net is a slab of 0.6 m.
            ({"ball": (0.25, 0, 2), "turn": "far"}, {("net", 0)}),
            ({"ball": (0.35, 0, 2), "turn": "far"}, set()),
            # A crash has no winner.
            ({"positions": {"near_0": (1, 1, 0.29)}, "ball": AWAY}, {("crash", 0)}),
            # A touch is told from a jump of the ball's velocity, upwards or sideways, near a drone:
            # what bounces down off a drone's bottom has not been touched.
            ({"ball": (1.5, 0, 2.2), "turn": "near", **FALLING}, set()),
            ({"ball": (-1.5, 0, 2.2), "turn": "near", **FALLING}, {("wrong_turn", 1)}),
            ({"ball": (1.77, 0, 1.87), "turn": "near", "ball_velocity": (-4, 0, 0)}, {("body", 0)}),
            ({"ball": (1.5, 0, 1.6), "turn": "near", "ball_velocity": (0, 0, 5)}, set()),
        ],
    )
    assert [state.score.tolist() for state, _ in found] == [
        *([0, 1], [0, 1], [0, 0], [0, 0], [0, 0], [1, 0], [0, 1], [0, 0]),
    ]
    crash = found[3][1]
    assert crash.terms["ground"].tolist() == [-1, 0] and crash.metrics["draws"] == 1
    assert found[4][0].hits == 1


def test_touches_soon_after_each_other_are_one():
    env = game("1v1")
    state = env.place(ball=(1.5, 0, 2.2), turn="far", **FALLING)
    since = [np.array([ago, LONG_AGO], np.int16) for ago in (2, 3)]
    soon, later = judge(env, [dataclasses.replace(state, since=s) for s in since])
    assert not soon[0].over and soon[0].since[0] == 3
    assert faults(env, later[0]) == {("wrong_turn", 0)} and later[0].since[0] == 0


@pytest.mark.parametrize(
    ("rules", "middle"),
    [("manyhands", 0), pytest.param("volleybots", -1, marks=pytest.mark.slow)],
)
def test_rewards_of_one_against_one(rules, middle):
    env = game("1v1", rules=rules) if rules != "manyhands" else game("1v1")
    places = {"near_0": (1.5, 0.6, 2.0), "far_0": (-0.4, 0.2, 3.2)}
    ball = (1.0, 0.6, 5.0)
    (state, outcome), (_, still) = judge(
        env,
        [
            env.place(positions=places, ball=ball, turn="near"),
            env.place(positions={"near_0": (1.5, 0.1, 2.0)}, ball=ball),
        ],
    )
    flat = np.hypot(*(state.bodies.ball[:2] - state.bodies.position[0, :2]))
    np.testing.assert_allclose(outcome.terms["approach"], [1 / (1 + flat), 0], atol=1e-6)
    # far_0 is too near to the net, and more than 1 m off the height of its anchor.
    assert outcome.terms["position"].tolist() == [0, -1]
    assert still.terms["position"].tolist() == [middle, middle]
    expected = 0.5 * outcome.terms["approach"] + 0.2 * outcome.terms["position"]
    np.testing.assert_allclose(outcome.reward, expected, atol=1e-6)


def test_what_is_over_stays_as_it_is():
    env = game("1v1")
    ((over, first),) = judge(env, [env.place(ball=(1, 0, 0.15), turn="near")])
    ((again, outcome),) = judge(env, [over])
    jax.tree_util.tree_map(np.testing.assert_array_equal, again, over)
    assert first.reward.any() and not outcome.reward.any() and outcome.terminated.all()
    assert not any(value for value in outcome.metrics.values())
    assert env.choices(over, 0) == [] and not env.acting(over).any()
    with pytest.raises(IllegalAction, match="over"):
        env.parse("hover", over, 0)
    late = dataclasses.replace(env.place(), time=np.int32(999), clock=np.int16(999))
    ((state, outcome),) = judge(env, [late])
    assert outcome.truncated.all() and not outcome.terminated.any() and not state.over


def test_points_that_end_by_the_clock_are_draws():
    env = game("1v1")
    last = env.place(ball=AWAY, turn="far", clock=env.max_steps - 1)
    last = dataclasses.replace(last, crossings=np.int16(7))
    before = dataclasses.replace(last, time=np.int32(900), clock=np.int16(900))
    lost = env.place(ball=(1, 0, 0.15), turn="near", clock=env.max_steps - 1)
    (_, late), (_, early), (_, decided) = judge(env, [last, before, lost])
    assert late.truncated.all() and late.metrics["draws"] == 1 and late.metrics["rally"] == 7
    assert not late.terms["win"].any() and early.metrics["draws"] == early.metrics["rally"] == 0
    assert decided.metrics["draws"] == 0 and decided.metrics["far_points"] == 1


@pytest.mark.slow
def test_a_longer_point_ends_with_its_own_clock():
    env = game("3v3", max_steps=600)
    state = env.place(ball=(3, 0, 30.0), last="far_0", clock=550)
    ((_, outcome),) = judge(env, [state])
    assert outcome.metrics["draws"] == 0 and not outcome.truncated.any()
    row = np.asarray(env.perceive(state))[0]
    np.testing.assert_array_equal(row[env.layout["clock"]], [550, 50])
    assert "Step 550 of 600 of this point, 1.00 s left" in env.describe(state, 0)
    assert "longer than 12 s" in env.rules(0)


# ---- points between teams ------------------------------------------------------------------------


def over_drone(env: Volleyball, name: str, **more: Any) -> dict[str, Any]:
    """The ball falling on a drone's racket at its anchor."""
    x, y, z = env.place().bodies.position[env.index(name)]
    return {"ball": (x, y, z + 0.2), **FALLING, **more}


def teams() -> Volleyball:
    """One compilation for points and matches."""
    return game("3v3", points=4, lead=2)


@pytest.mark.slow
def test_points_between_teams():
    env = teams()
    cases = [
        # Until it has served, the server alone may touch the ball.
        (over_drone(env, "near_2"), set()),
        (over_drone(env, "near_0"), {("wrong_turn", 0)}),
        # Each drone once, while the ball is in its half.
        (over_drone(env, "near_0", touched=["near_2"]), set()),
        (over_drone(env, "near_0", touched=["near_0"]), {("wrong_turn", 0)}),
        (over_drone(env, "far_1", touched=["near_2"]), set()),
        # Out where it lands, charged to the team that touched it last.
        ({"ball": (3, 3.5, 2), "last": "near_1"}, set()),
        ({"ball": (3, 3.5, 0.15), "last": "near_1"}, {("out", 0)}),
        ({"ball": (6.5, 0, 0.15), "last": "far_1"}, {("out", 1)}),
        ({"ball": (6.5, 0, 0.15), "serving": "far"}, {("out", 1)}),
        ({"ball": (5.5, 0, 0.15), "last": "far_1"}, {("own_floor", 0)}),
        ({"ball": (0.05, 2.9, 2.3), "last": "far_1"}, {("net", 1)}),
        ({"ball": (0.05, 3.1, 2.3), "last": "far_1"}, set()),
        # Team-mates apart; opponents may be close.
        ({"positions": {"near_0": (3, 0, 2), "near_1": (3, 0.79, 2)}}, {("close", 0)}),
        ({"positions": {"near_0": (3, 0, 2), "near_1": (3, 0.85, 2)}}, set()),
        ({"positions": {"near_0": (0.3, 0, 2), "far_0": (-0.3, 0, 2)}}, set()),
    ]
    found = check(env, cases)
    assert [bool(state.clock) for state, _ in found] == [not expected for _, expected in cases]
    serve, outcome = found[0]
    assert serve.served and serve.touched.tolist() == [False, False, True, False, False, False]
    assert outcome.terms["hit"].tolist() == [1, 1, 1, 0, 0, 0]
    # Two have touched it now, the third may.
    assert found[2][0].touched.tolist() == [True, False, True, False, False, False]
    np.testing.assert_array_equal(allowed(env.setup, found[2][0]), [0, 1, 0, 0, 0, 0])
    assert found[12][1].terms["close"].tolist() == [-1, -1, 0, 0, 0, 0]
    assert found[12][0].score.tolist() == [0, 1]


def test_a_crossing_starts_the_touches_anew():
    env = teams()
    over = {"ball": (0.1, 0, 4), "ball_velocity": (-10, 0, 0), "touched": ["near_0", "near_2"]}
    back = {"ball": (-0.1, 0, 4), "ball_velocity": (10, 0, 0), "touched": ["far_0"]}
    (there, outcome), (here, _) = judge(env, [env.place(**over), env.place(**back)])
    assert there.possession == 1 and there.crossings == 1 and outcome.metrics["crossings"] == 1
    assert not there.touched.any() and not here.touched.any() and here.possession == 0
    np.testing.assert_array_equal(allowed(env.setup, there), [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(allowed(env.setup, here), [1, 1, 1, 0, 0, 0])


def test_rewards_between_teams():
    env = teams()
    places = {"near_0": (4.0, -1.5, 2.0), "near_2": (5.0, 0.0, 2.0)}
    situation = {"positions": places, "ball": (3.0, 0.0, 5.0), "touched": ["near_1"]}
    ((state, outcome),) = judge(env, [env.place(**situation)])
    b = state.bodies
    gap = np.linalg.norm(b.position - b.ball, axis=1)
    expected = np.where([1, 0, 1, 0, 0, 0], 1 / (1 + gap), 0)
    np.testing.assert_allclose(outcome.terms["approach"], expected, atol=1e-6)
    anchors = env.place().bodies.position
    expected = 1 / (1 + np.linalg.norm(b.position - anchors, axis=1))
    np.testing.assert_allclose(outcome.terms["anchor"], expected, atol=1e-6)
    assert env.reward_weights == {
        "win": 100, "hit": 10, "approach": 0.5, "anchor": 0.05, "ground": 100, "close": 100,
    }  # fmt: skip


@pytest.mark.slow
def test_published_points_between_teams():
    env = game("3v3", rules="volleybots")
    found = check(
        env,
        [
            ({"positions": {"near_0": (3, 0, 2), "near_1": (3, 0.7, 2)}}, {("close", 0)}),
            ({"positions": {"far_0": (-3, 0, 0.2)}}, {("crash", 1)}),
            (over_drone(env, "near_0"), {("wrong_turn", 0)}),
        ],
    )
    assert [state.score.tolist() for state, _ in found] == [[0, 0], [0, 0], [0, 1]]


# ---- matches -------------------------------------------------------------------------------------


def test_a_match_rotates_serves_and_changes_sides():
    env = teams()
    far_wins = {"ball": (3, 0, 0.15), "last": "far_0"}  # with the near team on the near side
    cases = [
        {**far_wins, "serving": "near"},
        {**far_wins, "serving": "far", "rotation": (0, 1)},
        {**far_wins, "serving": "near", "score": (0, 1)},  # the far team's second: half of four
        {**far_wins, "score": (2, 3)},
        {**far_wins, "score": (3, 3)},
        {**far_wins, "score": (3, 4)},
        {**far_wins, "score": (1, 2), "swapped": True, "ball": (3, 0, 0.15)},
        {"positions": {"near_0": (3, 0, 0.2), "far_0": (-3, 0, 0.2)}, "serving": "far"},
    ]
    found = [state for state, _ in judge(env, [env.place(**case) for case in cases])]
    gained, kept, half, won, tied, led, swapped, replayed = found
    # A side-out: the far team serves, one place on; its drone at the third place is far_1 now.
    assert gained.score.tolist() == [0, 1] and not gained.over
    assert gained.match.rotation.tolist() == [0, 1] and gained.server == env.index("far_1")
    np.testing.assert_allclose(gained.bodies.position[env.index("far_1")], (-6, 0, 2))
    np.testing.assert_allclose(gained.bodies.ball, (-6, 0, 5))
    assert gained.clock == 0 and not gained.served and faults(env, gained) == {("own_floor", 0)}
    # Who serves and wins serves on, without rotating.
    assert kept.match.rotation.tolist() == [0, 1] and kept.server == env.index("far_1")
    assert not kept.match.swapped and half.match.swapped
    np.testing.assert_allclose(half.bodies.position[0], (-3, 1.5, 2))
    np.testing.assert_allclose(half.bodies.ball, (6, 0, 5))  # far_1 serves from x > 0
    np.testing.assert_array_equal(allowed(env.setup, half)[3:], [0, 1, 0])
    assert won.over and won.score.tolist() == [2, 4]
    assert not tied.over and led.over and led.score.tolist() == [3, 5]
    assert swapped.score.tolist() == [2, 2]  # the far team plays in x > 0: its own floor
    assert replayed.score.tolist() == [0, 0] and replayed.server == env.index("far_2")
    assert replayed.match.rotation.tolist() == [0, 0] and replayed.match.number == 1


def test_a_match_is_played_to_its_end():
    env = teams()
    state, won = env.place(serving="far"), []
    while not state.over:
        sign = -1 if state.match.swapped else 1
        ball = np.array([-sign, 0.5, 0.15], np.float32)
        state = dataclasses.replace(state, bodies=dataclasses.replace(state.bodies, ball=ball))
        ((state, outcome),) = judge(env, [state])
        won.append(outcome.metrics["near_points"])
        assert outcome.metrics["fault_own_floor"] == 1
        assert outcome.terminated.all() == (len(won) == 4)
    assert won == [1] * 4 and state.score.tolist() == [4, 0]
    assert state.match.swapped  # since the second point, which is half of four
    text = env.describe(state, "near_0")
    assert "Score: you 4, they 0" in text and "The other team let the ball land" in text


# ---- drills --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_back_and_forth():
    env = game("back_and_forth")
    there = env.place(positions=[(9, 4.5, 2)])
    drill = dataclasses.replace(there.drill, streak=np.int16(4))
    cases = [
        env.place(),
        there,
        dataclasses.replace(there, drill=drill),
        env.place(positions=[(4.5, 0, 0.39)]),
        env.place(positions=[(4.5, 0, 5.1)]),
        env.place(positions=[(1.5, 4.5, 2)]),
        env.place(positions=[(1.4, 4.5, 2)]),
    ]
    found = judge(env, cases)
    away = np.hypot(4.5, 4.5)
    start, arrived, reached, *rest = found
    np.testing.assert_allclose(start[1].terms["approach"], 1 / (1 + away**2), rtol=1e-4)
    assert arrived[0].drill.streak == 1 and arrived[1].terms["stay"] == 1
    np.testing.assert_allclose(arrived[1].terms["approach"], 0.98, rtol=1e-4)
    assert reached[1].metrics["targets"] == 1 and reached[0].drill.done == 1
    np.testing.assert_allclose(reached[0].drill.target, (4.5, 0, 2))
    np.testing.assert_allclose(reached[1].reward, 2.5 * 5 + 0.5 * 0.02 * 45, rtol=1e-4)
    names = [faults(env, state) for state, _ in rest]
    assert names == [{("drone_low", 0)}, {("drone_high", 0)}, set(), {("far_away", 0)}]
    assert rest[0][1].terms["mistake"] == -1 and rest[0][1].terminated.all()


@pytest.mark.slow
def test_solo_bump():
    env = game("solo_bump")
    hit = env.place(ball=(4.5, 0, 2.2), **FALLING)
    served = dataclasses.replace(hit, served=np.bool_(True), hits=np.int16(2))
    high = dataclasses.replace(
        served, drill=dataclasses.replace(hit.drill, apex=np.float32(4.0), apexes=np.float32(3.2))
    )
    soon = dataclasses.replace(served, since=np.array([20], np.int16))
    found = judge(env, [hit, served, high, soon])
    assert [outcome.metrics["hits"] for _, outcome in found] == [1, 1, 1, 0]
    assert [outcome.metrics["high_hits"] for _, outcome in found] == [0, 0, 1, 0]
    state, outcome = found[2]
    np.testing.assert_allclose(state.drill.apexes, 7.2)  # a mean of 3.6 m between three touches
    ball, (x, y, z) = state.bodies.ball, state.bodies.position[0]
    lift = np.clip(ball[2] - max(z, 1), 0, 2)
    flat = np.hypot(ball[0] - x, ball[1] - y)
    np.testing.assert_allclose(outcome.reward, 2 + 8 + 1 / (1 + flat) + 0.5 * lift, rtol=1e-5)
    check(
        env,
        [
            ({"ball": (4.5, 1, 0.14)}, {("ball_low", 0)}),
            ({"ball": (4.5, 1, 4.55)}, {("ball_high", 0)}),
            ({"ball": (9.1, 0, 3)}, {("out", 0)}),
            ({"positions": [(4.5, 0, 2.6)], "ball": (4.5, 1, 3)}, {("drone_high", 0)}),
            ({"positions": [(4.5, 0, 0.39)], "ball": (4.5, 1, 3)}, {("drone_low", 0)}),
            ({"positions": [(0.005, 0, 2)], "ball": (4.5, 1, 3)}, {("drone_net", 0)}),
            ({"ball": (4.5, 0, 1.6), "ball_velocity": (0, 0, 5)}, {("body", 0)}),
        ],
    )
    assert faults(env, found[3][0]) == {("double", 0)}


@pytest.mark.slow
def test_hit():
    env = game("hit")
    flying = env.place(ball=(-3.0, 0, 2.0), ball_velocity=(-5, 0, -1))
    flown = dataclasses.replace(flying, served=np.bool_(True), hits=np.int16(1))
    far = env.place(positions=[(4.5, 1.2, 2)], ball=(4.5, 0, 16.1))
    touch = env.place(ball=(4.5, 0, 2.2), **FALLING)
    (never, _), (state, outcome), (_, lost), (_, hit) = judge(env, [flying, flown, far, touch])
    assert not never.over and state.over and not faults(env, state)
    np.testing.assert_allclose(outcome.metrics["distance"], 4.5 - state.bodies.ball[0], rtol=1e-6)
    np.testing.assert_allclose(outcome.reward, 2 * outcome.metrics["distance"], rtol=1e-6)
    np.testing.assert_allclose(lost.reward, -10 - 0.05, rtol=1e-6)
    assert hit.metrics["hits"] == 1 and hit.reward == 1


@pytest.mark.slow
def test_bump_and_pass():
    env = game("bump_and_pass")
    first = over_drone(env, "drone_0", turn="drone_0")
    wrong = over_drone(env, "drone_0", turn="drone_1")
    high = {"ball": (4.5, 0.05, 4.5), "turn": "drone_1"}
    found = check(
        env,
        [
            (first, set()),
            (wrong, {("wrong_turn", 0)}),
            (high, set()),
            ({"ball": (4.5, 0.05, 3.9), "turn": "drone_1"}, set()),
            ({"ball": (4.5, 0, 0.1)}, {("ball_low", 0)}),
            ({"ball": (4.5, 0, 16.1)}, {("ball_high", 0)}),
            ({"ball": (0.05, 0, 1)}, {("net", 0)}),
            ({"ball": (4.5, 4.6, 3)}, {("out", 0)}),
        ],
    )
    assert found[0][0].turn == 1 and found[0][1].terms["hit"].tolist() == [1, 1]
    assert found[2][1].metrics["passes"] == 1 and found[3][1].metrics["passes"] == 0
    ((_, again),) = judge(env, [found[2][0]])
    assert again.metrics["passes"] == 0  # the same pass


def test_set_and_spike():
    env = game("set_and_spike")
    landing_at = {"ball": (-4.0, 0.3, 0.22), "ball_velocity": (-1, 0, -3), "turn": "done"}
    wide = {**landing_at, "ball": (-8.0, 0.3, 0.22)}
    found = check(
        env,
        [
            (over_drone(env, "drone_0", turn="drone_0"), set()),
            (over_drone(env, "drone_1", turn="drone_1"), set()),
            (over_drone(env, "drone_1", turn="drone_0"), {("wrong_turn", 0)}),
            ({"ball": (0.1, 0, 3), "ball_velocity": (-10, 0, -1), "turn": "done"}, set()),
            ({"ball": (2, 0, 0.1), "turn": "done"}, {("ball_low", 0)}),
            ({"positions": {"drone_1": (-0.1, 2, 3)}}, {("crossed", 0)}),
        ],
    )
    assert found[0][0].turn == 1 and found[1][0].turn == 2
    assert found[1][1].metrics["spikes"] == 0  # it bounced upwards
    vz = found[1][0].bodies.ball_velocity[2]
    np.testing.assert_allclose(found[1][1].terms["power"], max(0, 5 - vz), rtol=1e-6)
    assert found[3][1].terms["cross"].tolist() == [1, 1]
    (state, outcome), (off, missed) = judge(env, [env.place(**landing_at), env.place(**wide)])
    assert state.over and not faults(env, state) and outcome.metrics["on_target"] == 1
    miss = np.hypot(*(state.bodies.ball[:2] - (-4.5, 0)))
    np.testing.assert_allclose(outcome.reward, 5 + 0.2 * (10 - miss), rtol=1e-5)
    assert off.over and missed.metrics["on_target"] == 0


@pytest.mark.slow
def test_the_returner_bats_the_ball_back():
    env = game("set_and_spike_hard")
    x, y, z = -3.0, 1.0, 4.0
    state, outcomes = env.place(ball=(x, y, z), ball_velocity=(-1, 0, 0), turn="done"), []
    before = state.drill.board.copy()
    while not state.over:
        boards = state.drill.board
        ((state, outcome),) = judge(env, [state])
        outcomes.append(outcome)
        assert np.linalg.norm(state.drill.board - boards) <= 8 * 0.02 + 1e-5
    assert outcomes[-1].metrics["returns"] == 1 and outcomes[-1].metrics["on_target"] == 0
    assert np.linalg.norm(state.drill.board - before) > BOARD[0]
    ball, velocity = state.bodies.ball.astype(float), state.bodies.ball_velocity
    # It is on its way to the middle of the near half, where it is 1.5 s later.
    end = ball + velocity * 1.5 - 0.5 * 9.81 * np.array([0, 0, 1.5**2])
    np.testing.assert_allclose(end[:2], (4.5, 0), atol=0.6)
    # Too far for it: the ball lands.
    away = env.place(ball=(-8.5, -4, 1.0), ball_velocity=(0, 0, -6), turn="done")
    while not away.over:
        ((away, outcome),) = judge(env, [away])
    assert outcome.metrics["on_target"] == 1 and outcome.metrics["returns"] == 0


# ---- observations --------------------------------------------------------------------------------


def anywhere(env: Volleyball, rng: np.random.Generator, **more: Any) -> Any:
    """A state with everything somewhere."""
    d = env.num_agents
    state = env.place(
        positions=rng.uniform(-3, 3, (d, 3)),
        quaternions=rng.normal(size=(d, 4)),
        velocities=rng.normal(size=(d, 3)),
        rates=rng.normal(size=(d, 3)),
        thrust=rng.uniform(0, 1, (d, 4)),
        ball=rng.uniform(-3, 3, 3),
        ball_velocity=rng.normal(size=3),
        **more,
    )
    touched = rng.integers(0, 2, d).astype(bool)
    return dataclasses.replace(state, touched=touched)


def rotation(q: np.ndarray) -> np.ndarray:
    """The matrix of a quaternion (w, x, y, z), by its action on the axes (v + 2 w u x v + ...)."""
    w, u = q[0], q[1:]
    return np.stack([v + 2 * np.cross(u, np.cross(u, v) + w * v) for v in np.eye(3)], 1)


def expected_observation(env: Volleyball, state: Any, i: int) -> np.ndarray:
    """The table of docs/volleyball.md, written out again with NumPy in double precision."""
    b, n = state.bodies, env.team_size
    half = np.diag([1.0, 1, 1]) if i < n else np.diag([-1.0, -1, 1])
    p, anchors = b.position @ half, env.place().bodies.position @ half
    q = b.quaternion[i].astype(float)
    if i >= n:  # the quaternion (0, 0, 0, 1), then the attitude
        q = np.array([-q[3], -q[2], q[1], q[0]])
    q = q if q[0] >= 0 else -q
    axes = rotation(q)
    own = [p[i], q, b.velocity[i] @ half, axes @ b.rates[i], axes[:, 0], axes[:, 2]]
    own += [2 * np.sqrt(b.thrust[i]) - 1]
    ball, ball_velocity = b.ball @ half, b.ball_velocity @ half
    me = np.eye(n)[i % n]
    if env.task == "back_and_forth":
        parts = [*own, state.drill.target - p[i]]
    elif env.num_agents == 1:
        parts = [*own, p[i] - anchors[i], p[i] - ball, ball_velocity]
    elif env.task in ("3v3", "6v6"):
        mine = int(state.possession) == i // n
        everyone = p if i < n else np.roll(p, n, axis=0)
        hit = bool(state.touched[i])
        parts = [*own, p[i] - anchors[i], ball - p[i], ball_velocity, [mine, not mine], me]
        parts += [[not hit, hit], everyone.ravel()]
    else:
        parts = [*own, p[i] - anchors[i], p[i] - p[1 - i], p[i] - ball, ball_velocity]
        turn = int(state.turn)
        if env.task == "1v1":
            parts += [[turn == i, turn != i]]
        else:
            parts += [np.eye(2 if env.task == "bump_and_pass" else 3)[turn], me]
    return np.concatenate([np.asarray(part, float).ravel() for part in parts])


@pytest.mark.parametrize("task", TASKS)
def test_observations_are_the_published_ones(task):
    env, rng = game(task), np.random.default_rng(0)
    assert env.observation_space.shape == (SIZES[task],)
    more = {"turn": "far"} if task == "1v1" else {"turn": "drone_1"} if "and_" in task else {}
    state = anywhere(env, rng, **({} if task == "back_and_forth" else more))
    rows = seeing(env)(state)
    for i in range(env.num_agents):
        np.testing.assert_allclose(rows[i], expected_observation(env, state, i), atol=2e-5)
    seen = jax.eval_shape(env.perceive, state)
    assert sum(part.stop - part.start for part in env.layout.values()) == seen.shape[1]
    assert env.layout["observation"] == slice(0, SIZES[task])


def test_the_documentation_has_the_layouts():
    page = (Path(__file__).parents[3] / "docs" / "volleyball.md").read_text()
    for task in TASKS:
        pieces = game(task).observation_layout
        tasks = rf"^\|(?: `\w+`,)* `{task}`(?:, `\w+`)*"
        (row,) = re.findall(rf"{tasks} \| ([0-9]+) \| (23.*) \|$", page, re.M)
        expected = [
            f"{where.start}\u2013{where.stop - 1} {pieces.pieces[name].meaning}"
            for name, where in pieces.items()
            if where.start >= 23
        ]
        assert row == (str(pieces.size), "; ".join(expected)), task


def test_both_sides_see_the_same_of_turned_states():
    env, rng = teams(), np.random.default_rng(1)
    state = anywhere(env, rng, score=(2, 5), serving="near", last="near_1")
    b, n = state.bodies, env.team_size
    turn, swap = np.array([-1, -1, 1], np.float32), np.r_[n : 2 * n, :n]
    w, x, y, z = b.quaternion.T
    bodies = dataclasses.replace(
        b,
        position=(b.position * turn)[swap],
        quaternion=np.stack([-z, -y, x, w], 1)[swap],
        velocity=(b.velocity * turn)[swap],
        rates=b.rates[swap],
        thrust=b.thrust[swap],
        ball=b.ball * turn,
        ball_velocity=b.ball_velocity * turn,
    )
    turned = dataclasses.replace(
        state,
        bodies=bodies,
        touched=state.touched[swap],
        since=state.since[swap],
        possession=1 - state.possession,
        server=(state.server + n) % (2 * n),
        last=(state.last + n) % (2 * n),
        score=state.score[::-1],
    )
    np.testing.assert_allclose(
        knowing(env)(state)[0], np.asarray(knowing(env)(turned)[0])[swap], atol=1e-5
    )


def test_perception_tells_everything_in_the_own_frame():
    env, rng = teams(), np.random.default_rng(2)
    state = anywhere(env, rng, score=(2, 1), rotation=(1, 2), swapped=True, touched=["near_1"])
    rows, summary = jax.device_get(knowing(env)(state))
    parts, d = env.layout, env.num_agents

    def read(i: int, name: str, *shape: int) -> np.ndarray:
        return rows[i][parts[name]].reshape(*shape, -1) if shape else rows[i][parts[name]]

    b = state.bodies
    for i, order, sign in ((1, [0, 1, 2, 3, 4, 5], -1), (5, [3, 4, 5, 0, 1, 2], 1)):
        turn = np.array([sign, sign, 1])
        np.testing.assert_allclose(read(i, "position", d), (b.position * turn)[order], rtol=1e-6)
        np.testing.assert_allclose(read(i, "velocity", d), (b.velocity * turn)[order], rtol=1e-6)
        np.testing.assert_allclose(read(i, "rates", d), b.rates[order], rtol=1e-6)
        np.testing.assert_allclose(read(i, "ball"), b.ball * turn, rtol=1e-6)
        half = np.diag([sign, sign, 1])
        for told, j in zip(read(i, "quaternion", d), order, strict=True):
            np.testing.assert_allclose(rotation(told), half @ rotation(b.quaternion[j]), atol=1e-5)
        np.testing.assert_array_equal(read(i, "touched"), state.touched[order])
        assert read(i, "me").tolist() == [i % 3 == k for k in range(3)]
    # near_1 stands one place on, far_2 two; each on the other side now, in its own frame as ever.
    np.testing.assert_allclose(read(1, "anchor", d)[1], (6, 0, 2))
    np.testing.assert_allclose(read(5, "anchor", d)[2], (3, 1.5, 2))
    assert read(1, "score").tolist() == [2, 1] and read(5, "score").tolist() == [1, 2]
    np.testing.assert_allclose(summary, rows[0], atol=1e-6)
    np.testing.assert_allclose(rows[:, :57], seeing(env)(state), atol=1e-6)
    np.testing.assert_array_equal(env.network_input(rows[4]), rows[4, :57])


# ---- words ---------------------------------------------------------------------------------------

NUMBER = r"-?[0-9]+\.[0-9]+"


def vectors(text: str) -> list[np.ndarray]:
    return [
        np.array([float(x) for x in found.split(", ")])
        for found in re.findall(rf"\(({NUMBER}(?:, {NUMBER})*)\)", text)
    ]


def told(env: Volleyball, text: str, i: int) -> np.ndarray:
    """The observation, from the text alone."""
    lines = text.split("\n")
    you = env.agents[i]
    n = env.team_size
    (own,) = (line for line in lines if line.startswith("You: at"))
    p, velocity, attitude, nose, up, turning, motors, anchor = vectors(own)
    places = {you: p}
    for line in lines:
        if re.match(r"\w+_\d+: at ", line):
            places[line.split(":")[0]] = vectors(line)[0]
    parts = [p, attitude, velocity, turning, nose, up, motors]
    if env.task == "back_and_forth":
        (target,) = (line for line in lines if line.startswith("Target:"))
        return np.concatenate([*parts, vectors(target)[0] - p])
    (line,) = (line for line in lines if line.startswith("Ball:"))
    ball, ball_velocity = vectors(line)[:2]
    me = np.eye(n)[i % n]
    if env.task in ("3v3", "6v6"):
        (turn,) = (line for line in lines if line.startswith("The ball is in"))
        mine = "in your half" in turn
        touched = turn.split("since it came: ")[1].split(".")[0].split(", ")
        hit = "you" in touched
        team = i // n
        order = [*env.agents[team * n : (team + 1) * n], *env.agents[(1 - team) * n :][:n]]
        everyone = np.concatenate([places[name] for name in order])
        parts += [p - anchor, ball - p, ball_velocity, [mine, not mine], me, [not hit, hit]]
        return np.concatenate([*parts, everyone])
    if env.num_agents == 1:
        return np.concatenate([*parts, p - anchor, p - ball, ball_velocity])
    other = places[env.agents[1 - i]]
    parts += [p - anchor, p - other, p - ball, ball_velocity]
    (turn,) = (line for line in lines if line.startswith("The next touch must be"))
    whose = turn.split("must be ")[1].removesuffix(".").removesuffix("'s")
    if env.task == "1v1":
        return np.concatenate([*parts, [whose == "yours", whose != "yours"]])
    number = 2 if whose == "nobody" else i if whose == "yours" else env.agents.index(whose)
    return np.concatenate([*parts, np.eye(2 if env.task == "bump_and_pass" else 3)[number], me])


@pytest.mark.parametrize("task", TASKS)
def test_the_text_tells_the_vector(task):
    env, rng = game(task), np.random.default_rng(3)
    for k in range(3):
        more: dict[str, Any] = {}
        if task == "1v1":
            more = {"turn": ("near", "far")[k % 2]}
        elif "and_" in task and task != "back_and_forth":
            more = {"turn": ("drone_0", "drone_1", "done" if "spike" in task else "drone_0")[k]}
        state = anywhere(env, rng, **more)
        rows = np.asarray(seeing(env)(state))
        for i in range(env.num_agents):
            found = told(env, env.describe(state, i), i)
            # A difference of two rounded numbers is off by at most their precision; attitude,
            # axes and motors are told to a finer one.
            np.testing.assert_allclose(found, rows[i], atol=METRES + 1e-5)
            np.testing.assert_allclose(found[3:7], rows[i, 3:7], atol=PARTS / 2 + 1e-5)
            np.testing.assert_allclose(found[13:23], rows[i, 13:23], atol=PARTS / 2 + 1e-5)


def test_texts_say_what_a_court_calls_it():
    env = game("3v3")
    state = env.place(
        ball=(1.2, -2.0, 3.0), ball_velocity=(-4, 1, 2), touched=["near_2"], last="near_2",
        score=(3, 4),
    )  # fmt: skip
    near, far = env.describe(state, "near_0"), env.describe(state, "far_2")
    assert "Ball: at (1.20, -2.00, 3.00) m, near-left, 1.20 m from the net" in near
    assert "Ball: at (-1.20, 2.00, 3.00) m, far-right, 1.20 m from the net" in far
    assert "Score: you 3, they 4" in near and "Score: you 4, they 3" in far
    assert "The last touch was by near_2" in near and "May touch it next: you, near_1." in near
    assert "The ball is in their half." in far and "you" not in far.split("next: ")[1][:20]
    # 3.0 + 2 t - 4.905 t² = 0.1, by hand.
    time = (2 + np.sqrt(4 + 4 * 4.905 * 2.9)) / 9.81
    assert f"in {time:.2f} s" in near or f"in {time + 0.005:.2f} s" in near
    spot, when, net = landing(
        env, np.array([1.2, -2.0, 3.0]), np.array([-4.0, 1.0, 2.0]), env.params
    )
    np.testing.assert_allclose(spot[:2], (1.2 - 4 * time, -2 + time), atol=0.05)
    assert abs(when - time) < 0.01 and not net
    _, when, net = landing(env, np.array([1.2, 0, 2.0]), np.array([-4.0, 0, 0]), env.params)
    assert net and abs(when - 0.3) < 0.01
    real = game("3v3", ball="real")
    slower, _, _ = landing(
        real, np.array([1.2, -2.0, 3.0]), np.array([-4.0, 1.0, 2.0]), real.params
    )
    assert spot[0] < slower[0] < 0  # the air holds it back


def test_rules_name_what_counts():
    for task in TASKS:
        env = game(task)
        text = env.rules(0)
        assert env.agents[0] in text and "HOW TO ANSWER" in text
        for name, weight in env.reward_weights.items():
            assert f"{weight:g} " in text, (task, name)
        assert text.count("\n- ") == len(env.faults)


@pytest.mark.parametrize("actions", ["rotors", "ctbr", "velocity"])
def test_answers_in_words_and_numbers(actions):
    env = game("1v1", actions=actions)
    state = env.place()
    named = list(commands(env))
    assert [choice.text for choice in env.choices(state, 0)] == named
    for text in ("0.1, -0.2, 0, 1", "[0.1, -0.2, 0, 1]", "ACTION: 0.1 -0.2 0 1", "(.1,-.2,0,1.)"):
        np.testing.assert_allclose(env.parse(text, state, 0), (0.1, -0.2, 0, 1), rtol=1e-6)
    word = named[3]
    np.testing.assert_array_equal(env.parse(f"I choose {word}.", state, 0), commands(env)[word])
    for text, reason in (
        ("nan, 0, 0, 0", "not within"),
        ("0, 0, inf, 0", "not within"),
        ("0, 0, 2, 0", "not within"),
        ("1e999, 0, 0, 0", "not within"),
        ("0, 0, 0", "four are needed"),
        ("", "empty"),
        (f"{named[1]} or {named[2]}", "choice open"),
        (f"I would not {named[1]}.", "denies"),
        ("x" * 30000, "characters"),
        (None, "not NoneType"),
    ):
        with pytest.raises(IllegalAction, match=reason):
            env.parse(text, state, 0)
    assert env.action_space.contains(env.parse(named[0], state, 1))


@pytest.mark.slow
@pytest.mark.parametrize("actions", ["ctbr", "velocity"])
def test_controlled_actions_do_what_they_say(actions):
    """Both drones are told the same, and do the same, each in its own frame."""
    env = game("1v1", actions=actions)
    state = env.place(ball=(2.9, 1.4, 30.0), turn="near")
    name = "nose down" if actions == "ctbr" else "to the net"
    for _ in range(10):
        ((state, _),) = judge(env, [state], [commands(env)[name]] * 2)
    sight = np.asarray(env.perceive(state))
    velocity, rates = (sight[:, env.layout[part]][:, :3] for part in ("velocity", "rates"))
    np.testing.assert_allclose(velocity[0], velocity[1], atol=1e-4)
    if actions == "ctbr":
        np.testing.assert_allclose(rates[0], (0, 0.25 * 0.8 * np.pi, 0), atol=0.05)
        assert (velocity[:, 0] > 0.02).all()  # the nose points away from the net
    else:
        assert (velocity[:, 0] < -0.1).all() and (np.abs(velocity[:, 1]) < 0.02).all()


# ---- configuration and bad input -----------------------------------------------------------------


def test_configurations_that_make_no_sense_are_refused():
    for config, reason in (
        ({"task": "2v2"}, "task is 1v1"),
        ({"task": "hit", "points": 3}, "points= and serve="),
        ({"actions": "keys"}, "actions is rotors"),
        ({"points": 0}, "points is a whole number"),
        ({"max_steps": 2.5}, "max_steps is a whole number"),
        ({"downwash": 1}, "downwash is True or False"),
        ({"randomise": {"colour": (0, 1)}}, "what can be drawn"),
        ({"randomise": {"mass": (2, 1)}}, "range of mass"),
        ({"randomise": {"action_delay": (0, 1.5)}}, "whole steps"),
        ({"randomise": {"position_noise": (0, float("nan"))}}, "range of position_noise"),
        ({"randomise": 3}, "mapping"),
        ({"randomise": 0}, "mapping"),
        ({"lead": 3}, "lead=3"),
        ({"skills": "attack", "task": "hit"}, "task='hit'"),
        ({"skills": "attack", "actions": "ctbr"}, "actions='ctbr'"),
        ({"skills": "attack", "airframe": "crazyflie"}, "airframe='crazyflie'"),
        ({"reward_weights": {"style": 1}}, "no reward term"),
        ({"reward_weights": {"hit": float("nan")}}, "finite number, given nan"),
        ({"reward_weights": {"hit": float("inf")}}, "finite number, given inf"),
    ):
        with pytest.raises(ConfigError, match=reason):
            Volleyball(**config)
    env = game("1v1")
    for situation, reason in (
        ({"ball": (0, 0)}, "ball is"),
        ({"ball": (0, 0, float("nan"))}, "ball is"),
        ({"positions": {"near_9": (0, 0, 0)}}, "no agent"),
        ({"quaternions": {"near_0": (0, 0, 0, 0)}}, "not zero"),
        ({"turn": "near_0"}, "turn is near or far"),
        ({"swapped": True}, "matches"),
        ({"swapped": "no"}, "swapped is True or False"),
        ({"rotation": 1}, "rotation is 2 whole numbers, given 1"),
        ({"served": "yes"}, "served is True or False"),
        ({"touched": "near_0"}, "list of drones"),
        ({"clock": "late"}, "clock is a whole number from 0 to 32767"),
        ({"clock": 40000}, "clock is a whole number from 0 to 32767"),
        ({"score": (1.5, 0)}, "score is a whole number"),
        ({"score": (1, 0, 0)}, "score is 2 whole numbers"),
        ({"ball": 10**400}, "ball is"),
    ):
        with pytest.raises(ConfigError, match=reason):
            env.place(**situation)
    for shape in ((2, 3), (3, 4), (4, 2), (2, 4, 1)):
        with pytest.raises(ConfigError, match=r"shape \(2, 4\), .*given"):
            env.step(jax.random.key(0), env.place(), np.zeros(shape, np.float32))
    for wrong in (2, -1, "near_1"):
        with pytest.raises(ConfigError, match="no agent"):
            env.describe(env.place(), wrong)


def test_what_is_no_number_is_a_counted_zero_in_batches():
    env = game("1v1")
    hover = np.broadcast_to(2 * env.trim - 1, (2, 4)).copy()
    zeros, broken, beyond = hover.copy(), hover.copy(), hover.copy()
    zeros[1], broken[1], beyond[1] = 0, (0.3, np.nan, np.inf, 7), (9, -9, 0, 0.5)
    state = env.place()
    ((expected, nothing),) = judge(env, [state], zeros)
    ((found, outcome),) = judge(env, [state], broken)
    jax.tree_util.tree_map(np.testing.assert_array_equal, found, expected)
    assert nothing.metrics["illegal"] == 0 and outcome.metrics["illegal"] == 1
    ((found, outcome),) = judge(env, [state], beyond)
    beyond[1] = (1, -1, 0, 0.5)
    ((expected, _),) = judge(env, [state], beyond)
    jax.tree_util.tree_map(np.testing.assert_array_equal, found, expected)
    assert outcome.metrics["illegal"] == 0


def test_single_interfaces_refuse_what_is_no_action():
    parallel = parallel_env(task="hit")
    parallel.reset(seed=0)
    for wrong in ([np.nan, 0, 0, 0], [np.inf, 0, 0, 0], [2, 0, 0, 0], [0, 0, 0], [[0, 0, 0, 0]]):
        with pytest.raises(IllegalAction, match="no action"):
            parallel.step({"drone_0": np.array(wrong, np.float32)})
    with pytest.raises(IllegalAction):
        parallel.step({"drone_0": 3})


def test_numbers_of_two_agents_are_checked_for_each():
    good = np.array([0.1, -0.2, 1, -1], np.float32)
    for wrong in ([np.nan, 0, 0, 0], [0, 0, 0, 1.01], [0, -np.inf, 0, 0]):
        parallel = parallel_env(task="1v1", serve="near")
        parallel.reset(seed=0)
        with pytest.raises(IllegalAction, match=r"far_0: .* is no action"):
            parallel.step({"near_0": good, "far_0": np.array(wrong, np.float32)})
        assert parallel.time == 0
        # What was refused leaves no trace in the step that is then played.
        parallel.step({"near_0": good, "far_0": good.tolist()})
        other = parallel_env(task="1v1", serve="near", on_illegal="noop")
        other.reset(seed=0)
        *_, infos = other.step({"near_0": good, "far_0": np.array(wrong, np.float32)})
        assert infos["near_0"]["parse"] == {"status": "ok"}
        assert infos["far_0"]["parse"]["status"] == "illegal"
        *_, infos = other.step({"near_0": good, "far_0": good})
        assert infos["far_0"]["parse"] == {"status": "ok"}
        parallel.reset(seed=0)
        parallel.step({"near_0": good, "far_0": np.zeros(4, np.float32)})
        parallel.step({"near_0": good.astype(np.float64), "far_0": good})
        jax.tree_util.tree_map(np.testing.assert_array_equal, parallel.current, other.current)


def extremes(env: Volleyball, steps: int, num_envs: int) -> Any:
    """Random corners, huge and unreal numbers as actions, for many steps of a rollout."""

    def act(key: Any, view: Any) -> Any:
        first, second = jax.random.split(key)
        shape = (env.num_agents, 4, num_envs)
        corners = jnp.where(jax.random.bernoulli(first, 0.5, shape), 1.0, -1.0)
        wild = jnp.asarray([1e30, -1e30, jnp.inf, -jnp.inf, jnp.nan, 3.0])
        drawn = wild[jax.random.randint(second, shape, 0, 60) % 6]
        return jnp.where(jax.random.bernoulli(second, 0.05, shape), drawn, corners)

    return manyhands.rollout(
        env, act, num_envs, steps, jax.random.key(0), collect="statistics", pool=64
    )


def all_finite(tree: Any) -> bool:
    leaves = jax.tree_util.tree_leaves(jax.device_get(tree))
    return all(np.isfinite(leaf).all() for leaf in leaves if leaf.dtype.kind == "f")


@pytest.mark.slow
@pytest.mark.parametrize(
    "config",
    [
        {"task": "1v1", "points": 3},
        {"task": "3v3", "ball": "real", "downwash": True, "drag": True},
        {"task": "set_and_spike_hard", "actions": "ctbr", "randomise": {"mass": (0.5, 2.0)}},
    ],
    ids=["match", "teams", "drill"],
)
def test_no_state_is_ever_unreal(config):
    env = Volleyball(**config)
    result = extremes(env, 10_000, 16)
    statistics = result.statistics
    assert all_finite(result.carry) and all(map(np.isfinite, statistics.metrics.values()))
    assert statistics.metrics["illegal"] > 1000 and statistics.episodes > 100


def test_a_body_that_breaks_stops():
    """Drones that turn faster than any physics can follow, and balls too fast to be a number."""
    env = game("1v1")
    state = env.place(
        rates={"near_0": (1e18, 1e19, -1e18)}, ball=(1, 0, 5), ball_velocity=(1e38, 0, 3e38)
    )
    for _ in range(3):
        ((state, outcome),) = judge(env, [state])
        assert all_finite((state, outcome))


# ---- randomised episodes -------------------------------------------------------------------------


@pytest.mark.slow
def test_episodes_draw_their_own_physics():
    env = Volleyball(
        "hit",
        randomise={"mass": (0.8, 1.2), "action_delay": (0, 3), "sensor_delay": (1, 2),
                   "position_noise": (0.01, 0.05), "rate_noise": (0.0, 0.0)},
    )  # fmt: skip
    keys = jax.vmap(jax.random.key)(np.arange(64))
    states = jax.device_get(jax.jit(env.batch_reset)(keys))
    mass = states.params.mass / env.params.mass[:, None]
    assert 0.8 <= mass.min() < 0.9 and 1.1 < mass.max() <= 1.2
    assert set(states.delays[0].tolist()) == {0, 1, 2, 3}
    assert set(states.delays[1].tolist()) == {1, 2}
    place = NOISES.index("position_noise")
    assert (states.noise[place] >= 0.01).all() and (
        states.noise[NOISES.index("rate_noise")] == 0
    ).all()
    error = states.seen.position[0] - states.bodies.position
    assert 0 < np.abs(error).mean() < 0.1
    np.testing.assert_array_equal(states.seen.velocity[0], states.bodies.velocity)
    assert env.to_dict(jax.tree_util.tree_map(lambda leaf: leaf[..., 0], states))["delays"]


@pytest.mark.slow
def test_delays_are_as_long_as_they_say():
    env = Volleyball("hit", randomise={"action_delay": (2, 2), "sensor_delay": (3, 3)})
    climb = np.ones((1, 4), np.float32)
    state, thrusts, truths, sensed = env.place(), [], [], []
    for _ in range(6):
        thrusts.append(state.bodies.thrust.sum())
        truths.append(state.bodies.position[0, 2])
        sensed.append(float(env.observe(state)[0, 2]))
        ((state, _),) = judge(env, [state], climb)
    # Two steps of zeros before the first climb; the heights of three steps ago.
    assert thrusts[1] < thrusts[0] and thrusts[2] < thrusts[1] < thrusts[4]
    np.testing.assert_allclose(sensed[3:], truths[:3])
    np.testing.assert_allclose(sensed[:3], truths[0])


# ---- ids -----------------------------------------------------------------------------------------


def test_every_task_has_its_ids():
    for task in TASKS:
        name = task.title().replace("V", "v").replace("_", "")
        spec = gymnasium.spec(f"manyhands/Volleyball{name}-v0")
        assert spec.kwargs == {"game": "volleyball", "task": task}
        for kind in ("parallel", "aec"):
            kwargs = pettingzoo.spec(kind, f"manyhands/volleyball_{task}-v0").kwargs
            assert kwargs == {"id": "volleyball", "task": task}
    env = gymnasium.make("manyhands/VolleyballHit-v0", disable_env_checker=True)
    parallel = pettingzoo.make("parallel", "manyhands/volleyball_hit-v0")
    assert env.unwrapped.game == parallel.unwrapped.game == game("hit")
    assert manyhands.make("volleyball") == game("1v1")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*observation space")
def test_the_checkers_of_others_are_content():
    parallel_api_test(parallel_env(max_steps=40), num_cycles=60)
    parallel_seed_test(lambda: parallel_env(max_steps=20), num_cycles=30)
    api_test(sequential(task="bump_and_pass", max_steps=40), num_cycles=60)
    seat = gymnasium.make("manyhands/VolleyballHit-v0", max_steps=30, disable_env_checker=True)
    check_env(seat.unwrapped, skip_render_check=True)
    _, info = seat.reset(seed=0)
    assert "action_mask" not in info  # a Box cannot be masked


@pytest.mark.slow
def test_both_engines_play_the_same_point():
    games = [parallel_env(physics=engine, serve="near") for engine in ("jax", "mujoco")]
    rng = np.random.default_rng(0)
    for one in games:
        one.reset(seed=1)
    for _ in range(60):
        hover = 2 * games[0].game.trim - 1 + 0.05 * rng.normal(size=(2, 4))
        actions = dict(zip(games[0].agents, hover.astype(np.float32), strict=True))
        ours, theirs = (one.step(actions) for one in games)
        for agent in actions:
            np.testing.assert_allclose(ours[0][agent], theirs[0][agent], atol=1e-4)
            np.testing.assert_allclose(ours[1][agent], theirs[1][agent], atol=1e-4)
    assert games[0].current.hits == games[1].current.hits == 1


@pytest.mark.slow
def test_text_play_through_the_loop():
    """Words and numbers mixed, and a record of nothing lost: one point through `play`."""
    env = game("1v1", max_steps=20)

    def talker(view: Any) -> str:
        assert "Ball: at" in view.text
        assert [choice.text for choice in view.choices] == list(commands(env))
        return "I hover."

    result = manyhands.play(env, [talker, "random"], episodes=1, seed=0, progress=False)
    assert [episode.steps for episode in result.episodes] == [20]
    vector = manyhands.vector(env, 2)
    vector.reset(seed=0)
    with pytest.raises(ConfigError, match="shape"):
        vector.step(np.zeros((2, 2, 3), np.float32))
    assert vector.step(np.zeros((2, 2, 4)))[0].shape == (2, 2, 37)
