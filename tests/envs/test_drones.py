"""Drones: starts, words and moves; the rules are in tests/oracles/test_drones_oracles.py."""

import dataclasses
import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pygame
import pytest

import manyhands
from manyhands.core.env import ConfigError, DeviceView, episode_key
from manyhands.core.pack import fingerprint, restore, snapshot
from manyhands.core.registry import seat
from manyhands.envs.drones import moves, start
from manyhands.envs.drones import observe as views
from manyhands.envs.drones.state import SHAPES, SPACING, slots
from manyhands.envs.volleyball.model import DRAG, MASS
from manyhands.envs.volleyball.physics import trim

GUSTS = {"gusts": (1.0, 3.0)}
PUSHES = {"push": (0.76, 0.76), "push_rate": (10.0, 10.0)}


@functools.cache
def game(**options):
    return manyhands.make("drones", **options)


@functools.cache
def reset(env):
    return jax.jit(env.reset)


def first(env, seed=0):
    return jax.device_get(reset(env)(episode_key(seed)))


# ---- shapes and starts ---------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_keep_their_distance(shape):
    for count in range(2, 7):
        places = slots(shape, count)
        assert places.shape == (count, 3)
        assert np.allclose(places.mean(0), 0)
        gaps = np.linalg.norm(places[:, None] - places[None], axis=2)[~np.eye(count, dtype=bool)]
        assert 0.85 * SPACING <= gaps.min() <= 1.01 * SPACING


@pytest.mark.parametrize("options", [
    {"drones": 6, "shape": "line", "cylinders": 8}, {"drones": 6, "shape": "column"},
    {"task": "pursuit", "drones": 6, "cylinders": 8},
])  # fmt: skip
def test_starts_and_goals_are_free(options):
    env = game(**options)
    states = jax.device_get(jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(1), 200)))
    reach = env.plan.radius + env.body
    low, high = env.room
    for i in range(200):
        posts, places = states.cylinders[i], states.bodies.position[i]
        gaps = np.linalg.norm(posts[:, None] - posts[None], axis=2) + 9 * np.eye(len(posts))
        assert gaps.min() - 2 * env.plan.radius > 2 * 0.2 + 0.1  # a drone is less than 0.4 m wide
        if not env.pursuit:
            goals = states.goals[i][:, None] + env.slots[None]
            places = np.concatenate([places, goals.reshape(-1, 3)])
        assert (places > low).all() and (places < high).all()
        off = np.linalg.norm(places[:, None, :2] - posts[None], axis=2)
        assert off.min() > reach


def test_starts_as_asked():
    env = game(task="pursuit", drones=2, cylinders=1)
    asked = {"drones": [[-1, 0, 1], [-1, 1, 1]], "evader": [2, 0, 1.5], "cylinders": [[0, 0]]}
    state = env.reset_to(episode_key(0), asked)
    assert np.allclose(state.bodies.position, [[-1, 0, 1], [-1, 1, 1], [2, 0, 1.5]])
    assert np.asarray(state.seen).tolist() == [False, True]  # the cylinder is between
    for wrong, why in (
        ({"evader": [0.2, 0, 1]}, "cylinder"),
        ({"evader": [9, 0, 1]}, "within"),
        ({"evader": [9, 0]}, r"'evader' is 1 place of 3 numbers in m, given \[9, 0\]"),
        ({"evader": 10**400}, "'evader' is 1 place"),
        ({"drones": [[-1, 0, 1]]}, "2 places"),
        ({"drones": [[-1, 0, 1], [-1, 0.1, 1]]}, "another drone"),
        ({"goals": [[0, 0, 1]]}, "no reset option"),
        ({"cylinders": [[float("nan"), 0]]}, "finite"),
        ({"cylinders": [[0, 5]]}, r"4.5 m .*\(0.00, 5.00\)"),
        ({"cylinders": [[-1.2, 0.1]]}, r"drone 0 is inside the cylinder at \(-1.20, 0.10\)"),
    ):
        with pytest.raises(ConfigError, match=why):
            env.reset_to(episode_key(0), {**asked, **wrong})
    two = game(task="pursuit", drones=2, cylinders=2)
    posts = [[0, 0], [0, 0.8]]  # 0.4 m in radius: they touch
    assert np.allclose(two.reset_to(episode_key(0), {**asked, "cylinders": posts}).cylinders, posts)
    for near in (0.0, 0.01, 0.79):
        with pytest.raises(ConfigError, match=r"0.8 m apart.*\(0.00, 0.00\) and"):
            two.reset_to(episode_key(0), {**asked, "cylinders": [[0, 0], [0, near]]})


@pytest.mark.parametrize(("options", "why"), [
    ({"drones": 1}, "from 2 to 6"), ({"evader": "agent"}, 'task="pursuit"'),
    ({"task": "pursuit", "shape": "ring"}, 'task="formation"'),
    ({"randomise": {"ball_mass": (1, 2)}}, "no 'ball_mass'.*thrust"),
    ({"randomise": {"winds": (0, 1)}}, 'no \'winds\'.*"wind".*mass, .* push_rate or dropout$'),
    ({"randomise": {"push": (0, 1)}}, "push .*push_rate .*drawn together"),
    ({"randomise": {"push_rate": (0, 1)}}, "push .*push_rate .*drawn together"),
    ({"randomise": {"push": (0, 1), "push_rate": (0, 60)}}, "push_rate .*up to 50 from 0"),
    ({"randomise": {"gusts": (-1, 1)}}, "gusts .*up to 20 from 0"),
    ({"randomise": {"dropout": (0, 1.5)}}, "dropout .*up to 1 from 0"),
    ({"randomise": []}, "mapping"), ({"actions": "ctbr", "speed": 3.0}, "speed= .*'ctbr'"),
    ({"actions": "discrete"}, "actions is"),
])  # fmt: skip
def test_options_that_make_no_sense_are_refused(options, why):
    with pytest.raises(ConfigError, match=why):
        manyhands.make("drones", **options)


def test_an_unknown_camera_is_refused():
    env = game(task="pursuit")
    state = env.reset(episode_key(0))
    with pytest.raises(ConfigError, match="south or above, given 'behind'"):
        env.draw(state, pygame.Surface((160, 120)), None, "behind")


# ---- gusts and pushes ----------------------------------------------------------------------------


def hover(env, size):
    """Actions of drones that hang in still air, of a batch; there is a scripted evader."""
    rows = np.asarray(2 * trim(env.params) - 1, np.float32)[: env.players]
    return jnp.stack([jnp.asarray(rows)] * size, -1)


def many(size, first=0):
    return jax.vmap(jax.random.key)(np.arange(size) + first)


def test_gusts_have_their_deviation_and_last_a_second():
    env = manyhands.make(
        "drones", actions="rotors", repeat=5, drones=2, cylinders=0, randomise=GUSTS
    )
    size = 512
    states = jax.jit(env.batch_reset)(many(size))
    step, level = jax.jit(env.batch_step), np.asarray(states.disturbance.gusts)
    assert level.min() >= 1 and level.max() <= 3 and level.std() > 0.4  # drawn for each episode
    series, speeds = [np.asarray(states.disturbance.gust) / level], []
    for t in range(10):
        states, _ = step(many(size, size * (t + 1)), states, hover(env, size))
        series.append(np.asarray(states.disturbance.gust) / level)
        speeds.append(np.asarray(states.bodies.velocity))
    assert np.array_equal(states.disturbance.gusts, level)
    for gust in (series[0], series[-1]):
        assert abs(gust.mean()) < 0.08 and gust.std() == pytest.approx(1, rel=0.06)
    for steps in (1, 5, 10):  # of 0.1 s each
        kept = np.corrcoef(series[0].ravel(), series[steps].ravel())[0, 1]
        assert kept == pytest.approx(np.exp(-0.1 * steps), abs=0.07)
    # Drones drift with the air that was: the first drone at the end, along x.
    blown = np.mean(series, axis=0)[0] * level
    assert np.corrcoef(blown, speeds[-1][0, 0])[0, 1] > 0.9


@pytest.mark.parametrize("physics", ["jax", "mujoco"])
@pytest.mark.parametrize("task", ["formation", "pursuit"])
def test_pushes_have_their_rate_and_size(task, physics):
    evader = {"evader": "agent"} if task == "pursuit" else {}
    options = {"task": task, "physics": physics, "randomise": PUSHES, **evader}
    env = manyhands.make("drones", actions="rotors", drones=2, cylinders=0, **options)
    size, times = 128, 20
    states = jax.jit(env.batch_reset)(many(size))
    step, gained = jax.jit(env.batch_step), []
    for t in range(times):
        before = np.asarray(states.bodies.velocity)
        states, _ = step(many(size, size * t), states, hover(env, size))
        gained.append(np.asarray(states.bodies.velocity) - before)
    change = np.stack(gained)  # [T, D, 3, B]
    speed = np.linalg.norm(change, axis=2)
    pushed = speed > 0.25
    # 10 a second, in steps of 20 ms; 0.76 N s at 1.52 kg.
    rate = pushed.mean(axis=(0, 2))
    assert rate.shape == (env.count,) and rate == pytest.approx(0.2, abs=0.03)
    assert np.median(speed[pushed]) == pytest.approx(0.5, abs=0.01)
    assert speed[~pushed].max() < 0.1
    ways = np.moveaxis(change, 2, -1)[pushed] / speed[pushed][:, None]
    assert np.abs(ways.mean(0)).max() < 0.08  # from anywhere


@pytest.mark.parametrize("physics", ["jax", "mujoco"])
def test_gusts_blow_with_both_engines(physics):
    """In a gust of one second the drift of a hovering drone is that of its drag."""
    env = manyhands.make(
        "drones", actions="rotors", drones=2, cylinders=0, physics=physics, randomise=GUSTS
    )
    state = first(env, 3)
    gust = np.asarray(state.disturbance.gust)
    step = jax.jit(env.step)
    for t in range(5):
        state, _ = step(episode_key(t), state, hover(env, 1)[..., 0])
    gust = (gust + np.asarray(state.disturbance.gust)) / 2
    drift = gust * (1 - np.exp(-0.1 * DRAG / MASS))
    assert np.allclose(state.bodies.velocity, drift, atol=0.4 * np.abs(drift).max())
    assert np.abs(drift).max() > 0.01


def test_without_disturbances_the_state_is_what_it_was():
    plain, heavy = game(), manyhands.make("drones", randomise={"mass": (0.9, 1.1)})
    assert first(plain).disturbance == () and first(heavy).disturbance == ()
    assert "random_" not in str(jax.make_jaxpr(plain.step)(
        episode_key(0), first(plain), np.zeros((3, 4), np.float32)))  # fmt: skip
    both = manyhands.make("drones", randomise={"mass": (0.9, 1.1)} | GUSTS | PUSHES)
    assert np.allclose(first(both).params.mass, first(heavy).params.mass, atol=1e-5)
    assert np.array_equal(first(both).bodies.position, first(plain).bodies.position)
    calm = manyhands.make("drones", randomise={"gusts": (0, 0)}, drag=True)
    still = manyhands.make("drones", drag=True)
    states = [jax.jit(env.step)(episode_key(0), first(env), np.ones((3, 4), np.float32))[0]
              for env in (calm, still)]  # fmt: skip
    assert np.allclose(states[0].bodies.velocity, states[1].bodies.velocity, atol=1e-6)


def test_disturbed_episodes_are_restored_and_start_as_asked():
    env = manyhands.make("drones", randomise=GUSTS | PUSHES | {"mass": (0.9, 1.1)})
    state = first(env)
    asked = env.reset_to(episode_key(0), {"goals": [[6, 0, 1.5]] * 3})
    for name in ("params", "disturbance"):
        assert jax.tree.all(jax.tree.map(
            np.array_equal, getattr(asked, name), getattr(state, name)))  # fmt: skip
    after, _ = env.step(episode_key(1), state, np.zeros((3, 4), np.float32))
    again = restore(env, snapshot(env, after))
    assert fingerprint(env, again) == fingerprint(env, after)
    assert np.array_equal(again.disturbance.gust, after.disturbance.gust)
    told = env.rules(0)
    assert "gusts of 1 to 3 m/s" in told and "10 times a second, with 0.76 N s" in told


# ---- lost readings -------------------------------------------------------------------------------


def pieces(env, state):
    rows, layout = np.asarray(jax.jit(env.observe)(state)), env.observation_layout
    return [{name: row[layout[name]] for name in layout.pieces} for row in rows]


@pytest.mark.parametrize("task", ["formation", "pursuit"])
def test_lost_readings_are_the_last_ones(task):
    env = manyhands.make("drones", task=task, drones=3, cylinders=0, randomise={"dropout": (1, 1)})
    state = after = first(env, 2)
    step = jax.jit(env.step)
    actions = np.array([[1, 0.5, 0.2, 0], [0, -1, 0, 0], [-1, 0, 0, 0]], np.float32)
    for t in range(4):
        after, _ = step(episode_key(t), after, actions)
    before, now = np.asarray(state.bodies.position), np.asarray(after.bodies.position)
    assert (np.linalg.norm(now - before, axis=1) > 0.1).all()
    for i, found in enumerate(pieces(env, after)):
        # Each reads itself as it is, and the others where they were.
        assert np.allclose(found["place"], now[i])
        assert np.allclose(found["velocity"], after.bodies.velocity[i])
        others = np.reshape(found["others"], (-1, 6))
        for k in range(1, 3):
            other = (i + k) % 3
            assert np.allclose(others[k - 1], [*(before[other] - now[i]), 0, 0, 0], atol=1e-5)
        text, rounded = env.describe(after, i), 0.0051
        for k in range(1, 3):
            told = numbers(line(text, f"^{env.agents[(i + k) % 3]} is at"))
            assert np.allclose(told, [*before[(i + k) % 3], 0, 0, 0], atol=rounded)
        assert np.allclose(numbers(line(text, "^You are"))[:3], now[i], atol=rounded)
        held = before.copy()
        held[i] = now[i]
        if env.pursuit:
            assert np.allclose(found["evader"], [*(before[-1] - now[i]), 0, 0, 0], atol=1e-5)
            told = numbers(line(text, "^The evader is in sight"))
            assert np.allclose(told, [*before[-1], 0, 0, 0], atol=rounded)
        else:
            error = views.slot_error(env, held)
            assert np.allclose(found["error"], error, atol=1e-5)
            assert np.allclose(numbers(line(text, "The error")), error, atol=rounded)
            middle = numbers(line(text, "^The drones' middle"))[:3]
            assert np.allclose(middle, held.mean(0), atol=rounded)
    assert "as you saw them last" in env.rules(0)
    # Rules go by the bodies as they are.
    assert np.allclose(env.to_dict(after)["drones"][env.agents[0]]["place"], now[0])


def test_what_is_told_of_the_evader_is_held():
    """By the vector, the text, the moves, the events and what a pursuer can believe."""
    env = manyhands.make("drones", task="pursuit", drones=2, cylinders=1, actions="moves",
                         repeat=10, evader="agent", randomise={"dropout": (1, 1)})  # fmt: skip
    asked = {"drones": [[-2, 0, 1], [-3, 0, 1]], "evader": [2, 1.8, 1], "cylinders": [[0, 0]]}
    state = env.reset_to(episode_key(0), asked)
    assert np.asarray(state.seen).all()
    south = moves.move_names(env).index("south")
    step, after = jax.jit(env.step), state
    for t in range(12):  # behind the cylinder
        after, _ = step(episode_key(t), after, np.array([0, 0, south]))
        gone = np.asarray(env.event_codes(after))[:, 4]
        if int(after.sighting) < 0:
            assert not gone.any() and np.asarray(after.lost).all()
            assert {"event": "lost"} in env.last_events(after)
            assert {"event": "lost"} not in env.last_events(after, 0)
            break
    assert int(after.sighting) < 0 and not np.asarray(after.seen).any()
    found = pieces(env, after)
    assert found[0]["seen"] == 1 and found[0]["unseen"] == 0
    own = np.asarray(after.bodies.position)[0]
    assert np.allclose(found[0]["evader"], [*(np.array([2, 1.8, 1]) - own), 0, 0, 0], atol=1e-5)
    assert "in sight, at (2.00, 1.80, 1.00)" in env.describe(after, 0)
    assert "They see you." in env.describe(after, 2)
    assert found[2]["evader"][3:] == pytest.approx(after.bodies.velocity[-1])  # it knows itself
    sight = {q.text: q for q in env.questions(after, 0)}
    mine = sight["Do you see the evader yourself?"]
    assert (mine.believed, mine.true) == ("yes", "no")
    env.draw(after, pygame.Surface((160, 120)), 0)


def test_a_share_of_the_readings_is_lost():
    env = manyhands.make("drones", drones=2, cylinders=0, actions="rotors", repeat=5,
                         randomise={"dropout": (0.25, 0.25)})  # fmt: skip
    size = 512
    states = jax.jit(env.batch_reset)(many(size))
    assert not np.asarray(states.lost).any()
    states, _ = jax.jit(env.batch_step)(many(size, size), states, hover(env, size) + 0.1)
    lost, held = np.asarray(states.lost), np.asarray(states.held.velocity)  # [A, B], [A, D, 3, B]
    assert lost.mean() == pytest.approx(0.25, abs=0.05)
    assert (lost[0] != lost[1]).any()  # each agent for itself
    now = np.asarray(states.bodies.velocity)
    for i in range(2):
        last = np.where(lost[i], 0.0, now[1 - i])
        assert np.allclose(held[i, 1 - i], last) and np.abs(last).max() > 0.01
    rows = env.observation_layout.part(np.moveaxis(np.asarray(
        jax.jit(env.batch_observe)(states)), 0, 1), "others")  # fmt: skip
    assert np.allclose(rows[0, 3:, 1], held[1, 0])
    alone = jax.tree.map(lambda leaf: leaf[..., 7], states)
    assert np.allclose(env.observe(alone)[1][env.observation_layout["others"]], rows[0, :, 1, 7])


@pytest.mark.parametrize("task", ["formation", "pursuit"])
def test_readings_that_are_never_lost_change_nothing(task):
    options = {"task": task, "actions": "moves", "repeat": 5}
    plain = manyhands.make("drones", **options)
    never = manyhands.make("drones", **options, randomise={"dropout": (0, 0)})
    found = []
    for env in (plain, never):
        state, step = first(env), jax.jit(env.step)
        assert (state.held == () and state.lost == ()) == (env is plain)
        for t in range(3):
            state, _ = step(episode_key(t), state, np.array([1, 2, 1]))
        found.append((np.asarray(state.bodies.position), np.asarray(env.observe(state)),
                      env.describe(state, 0), env.questions(state, 0)))  # fmt: skip
    assert np.allclose(found[0][0], found[1][0], atol=1e-5)
    assert np.allclose(found[0][1], found[1][1], atol=1e-5)
    assert found[0][2:] == found[1][2:]
    again = restore(never, snapshot(never, state))
    assert fingerprint(never, again) == fingerprint(never, state)


# ---- text ----------------------------------------------------------------------------------------


def numbers(text):
    return [float(n) for n in re.findall(r"-?\d+\.\d+", text)]


def line(text, pattern):
    found = [row for row in text.splitlines() if re.search(pattern, row)]
    assert len(found) == 1, (pattern, text)
    return found[0]


@pytest.mark.parametrize("task", ["formation", "pursuit"])
def test_text_says_what_vectors_say(task):
    """Every number of an observation from `describe`, to the digits printed."""
    env = game(task=task, actions="rotors")
    state = first(env, 2)
    draw = np.random.default_rng(0)
    bodies = dataclasses.replace(
        state.bodies,
        position=state.bodies.position + draw.normal(0, 0.1, (env.count, 3)).astype(np.float32),
        velocity=draw.normal(0, 1, (env.count, 3)).astype(np.float32),
        rates=draw.normal(0, 1, (env.count, 3)).astype(np.float32),
    )
    state = dataclasses.replace(state, bodies=bodies, time=np.int32(7))
    if env.pursuit:
        known = draw.normal(0, 1, 6).astype(np.float32)
        state = dataclasses.replace(state, known=known, unseen=np.int16(35), seen=np.zeros(3, bool))
    rows = np.asarray(env.observe(state))
    layout = env.observation_layout
    for i, name in enumerate(env.agents):
        text = env.describe(state, i)
        own = numbers(line(text, f"^You are {name}"))
        place, velocity, heading = np.array(own[:3]), own[3:6], np.radians(own[6])
        others = []
        for k in range(1, env.team):
            told = numbers(line(text, f"^{env.agents[(i + k) % env.team]} is at"))
            others.append([*(told[:3] - place), *told[3:]])
        posts = np.array(numbers(line(text, "^Cylinders"))).reshape(-1, 2) - place[:2]
        found = {
            "who": np.eye(env.team)[i],
            "place": place,
            "velocity": velocity,
            "heading": [np.cos(heading), np.sin(heading)],
            "up": own[7:10],
            "rates": own[10:13],
            "thrust": own[13:17],
            "others": np.ravel(others),
            "cylinders": posts.ravel(),
            "time left": numbers(line(text, "^[0-9.]+ s are left")),
        }
        if env.pursuit:
            last = numbers(line(text, "seen last"))
            found |= {
                "seen": ["in sight" in text],
                "unseen": numbers(line(text, "nothing of the evader")),
                "evader": [*(last[:3] - place), *last[3:]],
            }
        else:
            goal = numbers(line(text, "middle is to be at"))
            places = np.array(numbers(line(text, "Its places there"))).reshape(-1, 3)
            found |= {
                "goal": goal - place,
                "slots": (np.roll(places, -i, axis=0) - place).ravel(),
                "error": numbers(line(text, "The error")),
                "goals left": [int(line(text, "middle is to be").split()[0])],
            }
        row = np.concatenate([np.ravel(found[piece]) for piece in layout])
        assert np.abs(row - rows[i]).max() < 0.0101, layout.names[np.abs(row - rows[i]).argmax()]


def test_rules_say_what_moves_see_to_and_that_wind_blows():
    wind = manyhands.make("drones", actions="moves", randomise={"wind": (1, 3)})
    windy = wind.rules(0)
    assert "wind of 1 to 3 m/s" in windy and "ball" not in windy and "lead around" in windy
    assert "lead around" not in game(actions="moves", cylinders=0).rules(0)
    assert "keep off" not in game(task="pursuit", drones=1, actions="moves").rules(0)
    assert "wind" not in game().rules(0)
    hunt = game(task="pursuit", actions="moves")
    told = [line(hunt.rules(i), "^- surround") for i in range(3)]
    assert [int(re.search(r"(\d+) degrees", row)[1]) for row in told] == [0, 120, 240]
    # ... which is where it leads to.
    alone = game(task="pursuit", actions="moves", cylinders=0)
    asked = {"drones": [[0, -4, 1], [0, 4, 1], [-4, 0, 1]], "evader": [0, 0, 1]}
    state = alone.reset_to(episode_key(0), asked)
    view = moves.view_of(alone, alone.observation_layout, np.asarray(alone.observe(state)).T)
    asks = np.asarray(moves.velocities(alone, view))[moves.move_names(alone).index("surround")]
    for i in range(3):
        side = moves.RING * np.array([np.cos(2 * np.pi * i / 3), np.sin(2 * np.pi * i / 3)])
        way = side - np.asarray(state.bodies.position)[i, :2]
        assert np.allclose(asks[:2, i] / np.linalg.norm(asks[:2, i]), way / np.linalg.norm(way))


def test_the_last_move_is_told_and_that_moves_do_not_stop_a_drone_at_once():
    env = game(task="pursuit", actions="moves")
    state = first(env)
    assert "Your last move" not in env.describe(state, 0)
    names = moves.move_names(env)
    rows = np.array([names.index(name) for name in ("cut off", "chase", "left of pursuer_0")])
    after, _ = env.step(episode_key(0), state, rows)
    for i, name in enumerate(("cut off", "chase", "left of pursuer_0")):
        assert f"Your last move: {name}." in env.describe(after, i)
    # ... which the future does not depend on.
    other = dataclasses.replace(after, recent=np.zeros_like(after.recent))
    assert fingerprint(env, after) == fingerprint(env, other)
    assert "drifts on" in env.rules(0) and "may still touch it" in env.rules(0)
    assert "lead around cylinders (from 0.7 m of one on: at full speed" in env.rules(0)
    assert "may still touch it" not in game(actions="moves", cylinders=0).rules(0)


def test_rules_name_the_limits_and_prices_that_hold():
    """Whoever turns rotors has no greatest speed; what is paid for coming nearer is lost again."""
    flown, turned = (game(task="pursuit", actions=kind) for kind in ("velocity", "rotors"))
    assert "2.6 m/s at most, pursuers at 2." in flown.rules(0)
    assert "full speed is 2 m/s" in flown.rules(0)
    assert "2.6 m/s at most." in turned.rules(0) and "pursuers at" not in turned.rules(0)
    assert "full speed" not in turned.rules(0)
    assert "m/s at most" not in game(task="pursuit", actions="ctbr", evader="agent").rules(0)
    step = jax.jit(flown.step)
    state = flown.reset(episode_key(0))
    back = np.zeros((flown.num_agents, 4), np.float32)
    away = np.asarray(state.bodies.position[:-1] - state.bodies.position[-1])
    back[:, :2] = away[:, :2] / np.linalg.norm(away[:, :2], axis=1)[:, None]
    for _ in range(3):
        state, outcome = step(episode_key(0), state, back)
    assert (np.asarray(outcome.terms["approach"]) < 0).all()
    assert "as much less for each m that you fall behind" in flown.rules(0)
    assert "last move" not in game().describe(first(game()), 0)


def test_texts_say_how_an_episode_ended():
    env = game(goals=1)
    state = first(env)
    late = dataclasses.replace(state, time=np.int32(env.max_steps))
    done = dataclasses.replace(state, over=np.bool_(True), reached=np.int8(1))
    assert "is up" in env.describe(late, 0) and "is over" in env.describe(done, 0)
    assert "is to be at" not in env.describe(done, 0) and "is over" not in env.describe(state, 0)
    hunt = game(task="pursuit")
    late = dataclasses.replace(first(hunt), time=np.int32(hunt.max_steps))
    assert "got away" in hunt.describe(late, 0) and "start" in hunt.rules(0)


@pytest.mark.parametrize("who", ["evader", "pursuer"])
def test_a_crash_against_an_agent_costs_the_side_whose_drone_it_was(who):
    """Or an evader that is nearly caught would fly into a wall, and take the pursuers along."""
    env = game(task="pursuit", drones=2, cylinders=0, evader="agent", collisions="end")
    drones = [[-4 if who == "pursuer" else -1, 0, 1], [-1, 2, 1]]
    evader = [4 if who == "evader" else 1, -2, 1.5]
    state = env.reset_to(episode_key(0), {"drones": drones, "evader": evader, "cylinders": []})
    step, actions = jax.jit(env.step), np.zeros((3, 4), np.float32)
    actions[0, 0], actions[2, 0] = -1, 1  # to the walls behind them
    while not bool(state.over):
        assert int(state.time) < 20
        state, outcome = step(episode_key(0), state, actions)
    crash = np.asarray(outcome.terms["crash"]).tolist()
    assert crash == ([0, 0, 1] if who == "evader" else [1, 1, 0])
    assert "for all of that side" in env.rules(2)
    assert "for all." in game(collisions="end").rules(0)


def test_a_touch_tells_what_is_near():
    env = game(cylinders=1, goals=1)
    asked = {"drones": [[-3, 0, 1], [0, 3, 1], [0, -3, 1]], "cylinders": [[-2.3, 0]]}
    state = env.reset_to(episode_key(0), {**asked, "goals": [[6, 0, 1.5]]})
    assert "touched" not in env.describe(state, 0)
    east = np.array([[1, 0, 0, 0]] + [[0, 0, 0, 0]] * 2, np.float32)
    for _ in range(5):
        state, _ = env.step(episode_key(0), state, east)
    assert "you touched something (nearest now: a cylinder, 0.0" in env.describe(state, 0)
    assert "drone_0 touched something." in env.describe(state, 1)
    middle = np.asarray(state.bodies.position).mean(0)
    told = numbers(line(env.describe(state, 0), "^The drones' middle is at"))
    assert np.allclose(told[:3], middle, atol=0.0051)


def test_who_loses_sight_is_told_no_more():
    env = game(task="pursuit", drones=1, cylinders=1)
    asked = {"drones": [[-2, 0, 1]], "cylinders": [[0, 0]]}
    one, other = (env.reset_to(episode_key(0), {**asked, "evader": [2, y, 1]}) for y in (0.0, 0.05))
    other = dataclasses.replace(other, known=one.known)
    assert env.describe(one, 0) == env.describe(other, 0)
    assert np.array_equal(env.observe(one), env.observe(other))
    assert "nothing of the evader" in env.describe(one, 0)
    alone = game(task="pursuit", drones=1, cylinders=1)
    asked = {"drones": [[-3, 0, 1]], "evader": [3, 0, 1], "cylinders": [[0, 0]]}
    assert "You see nothing" in alone.describe(alone.reset_to(episode_key(0), asked), 0)


@pytest.mark.parametrize("actions", ["velocity", "position", "rotors", "ctbr"])
def test_numbers_are_read(actions):
    env = game(actions=actions)
    state = first(env)
    said = "1.5, -2, 1.2, 90" if actions == "position" else "0.5, -0.2, 0, 0.1"
    action = env.parse(said, state, 0)
    if actions == "position":
        assert env.words(action, state, 0) == "1.50, -2.00, 1.20, 90.00"
    else:
        assert np.allclose(action, [0.5, -0.2, 0, 0.1])
    for text in ("9, 99, 9, 999", "1, 2", "nan, 0, 0, 0"):
        with pytest.raises(manyhands.IllegalAction):
            env.parse(text, state, 0)


# ---- moves and players ---------------------------------------------------------------------------


def test_to_shadow_the_evader_is_to_chase_it():
    env = game(task="pursuit", actions="moves")
    chase = env.parse("chase", first(env), 0)
    assert env.parse("I shadow it.", first(env), 0) == chase
    with pytest.raises(manyhands.IllegalAction):
        env.parse("pursuer_1 shadows it", first(env), 0)


def test_moves_point_where_they_say():
    """In an arena without cylinders, from places where nobody is near."""
    env = game(task="pursuit", actions="moves", cylinders=0)
    asked = {"drones": [[-3, 0, 1], [0, 3, 1], [0, -3, 1]], "evader": [3, 0, 2]}
    state = env.reset_to(episode_key(0), asked)
    row = env.observe(state)[0]
    view = moves.view_of(env, env.observation_layout, row)
    asked_for = dict(zip(moves.move_names(env), moves.velocities(env, view), strict=True))
    own, prey = np.array([-3, 0, 1]), np.array([3, 0, 2])
    to = prey - own
    for name in ("chase", "cut off"):
        assert np.allclose(asked_for[name], 2 * to / np.linalg.norm(to), atol=1e-3)
    for name, way in moves.DIRECTIONS.items():
        assert np.allclose(asked_for[name], 2 * np.array(way))
    mate = np.array([0, 3, 1])  # it looks along (3, -3), so that its left is (3, 3)
    place = mate + moves.ASIDE * np.array([1, 1, 0]) / np.sqrt(2)
    found = np.asarray(asked_for["left of pursuer_1"])
    assert np.allclose(found / np.linalg.norm(found), (place - own) / np.linalg.norm(place - own),
                       atol=1e-3)  # fmt: skip
    assert not moves.allowed(env)[0][moves.move_names(env).index("left of pursuer_0")]


def test_velocities_lead_around_cylinders():
    env = game(drones=2, cylinders=1)
    state = env.reset_to(
        episode_key(0), {"drones": [[-0.8, 0.05, 1], [-4, 3, 1]], "cylinders": [[0, 0]],
                         "goals": [[5, 0, 1]] * 3})  # fmt: skip
    view = moves.view_of(env, env.observation_layout, env.observe(state)[0])
    x, y, _ = np.asarray(moves.steer(env, view, jnp.array([2.0, 0, 0])))
    assert y > 0.5 and x < 1.5


@pytest.mark.parametrize("actions", ["moves", "velocity", "position"])
@pytest.mark.parametrize(
    ("task", "style"),
    [("formation", "keeper"), ("pursuit", "chaser"), ("pursuit", "surround")],
)
def test_players_act_within_the_space(task, style, actions):
    env = game(task=task, actions=actions)
    player, state = seat(style, env), first(env)
    rows, legal = env.observe(state), env.legal(state)
    for i in range(env.num_agents):
        view = DeviceView(rows[i], rows[i], legal[i], jnp.bool_(True))
        action, _ = player.apply(env, i, player.init(env, i), jax.random.key(0), view)
        assert env.action_space.contains(np.asarray(action))
    with pytest.raises(manyhands.SeatError, match="task="):
        seat("surround" if task == "formation" else "keeper", env)


def test_starts_are_told():
    assert start.options_of(game()) == ("drones", "cylinders", "goals")
    assert start.options_of(game(task="pursuit")) == ("drones", "cylinders", "evader")
