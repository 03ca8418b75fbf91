"""What texts promise and tell: events, choices with effects, budgets, and ways to say things."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import manyhands
from manyhands.core.choices import HEDGES
from manyhands.core.env import DETAILS, IllegalAction, episode_key
from manyhands.envs.volleyball import Volleyball
from manyhands.wrappers.events import Events
from manyhands.wrappers.skills import Skills

HOVER = "hold"
WAITS = ("wait", "keep waiting", "wait until something happens", "wait for a change",
         "wait until something concerns me", "wait 5 steps", "wait for an event")  # fmt: skip


@functools.cache
def game(task: str, actions: str = "velocity", **options: Any) -> Volleyball:
    return Volleyball(task, actions=actions, **options)


@functools.cache
def stepping(env: Any) -> Any:
    return jax.jit(env.step)


def step(env: Volleyball, state: Any, actions: Any = None) -> Any:
    """The state after one step, of drones that hold where nothing else is said."""
    if actions is None:
        actions = np.zeros((env.num_agents, 4), np.float32)
    return jax.device_get(stepping(env)(jax.random.key(0), state, actions)[0])


def kinds(env: Any, state: Any) -> list[str]:
    return [event["event"] for event in env.last_events(state)]


def drop_on(env: Volleyball, agent: str, **situation: Any) -> Any:
    """The state in which the ball has just come down on a drone's racket."""
    x, y, z = 1.5 if agent.startswith("near") else -1.5, 0.0, 2.0
    state = env.place(
        positions={agent: (x, y, z)},
        ball=(x, y, z + 0.4),
        ball_velocity=(0, 0, -4),
        **situation,
    )
    for _ in range(8):
        state = step(env, state)
        if env.last_events(state):
            return state
    raise AssertionError("the ball has missed the drone")


# ---- what happened -------------------------------------------------------------------------------


def test_a_touch_is_told_by_whom_and_whether_it_was_lawful():
    env = game("1v1")
    fair, foul = (drop_on(env, "near_0", turn=turn) for turn in ("near", "far"))
    assert env.last_events(fair) == [
        {"event": "touched", "agent": "near_0", "legal": True, "with": "racket"}
    ]
    assert "Last step: you touched the ball." in env.describe(fair, 0)
    assert "Last step: near_0 touched the ball." in env.describe(fair, 1)
    assert not env.concerns(fair, 0) and env.concerns(fair, 1)
    touch, fault, point = env.last_events(foul)
    assert touch == {"event": "touched", "agent": "near_0", "legal": False, "with": "racket"}
    assert fault == {"event": "fault", "fault": "wrong_turn", "team": "near", "agent": "near_0"}
    assert point == {"event": "point", "winner": "far", "score": {"near": 0, "far": 1}}
    assert "out of turn" in env.describe(foul, 0) and "the point is yours" in env.describe(foul, 1)


def test_crossings_landings_and_the_net_are_told():
    env = game("1v1")
    state = env.place(ball=(-0.05, 0, 4), ball_velocity=(5, 0, 0), turn="near")
    crossed = step(env, state)
    assert env.last_events(crossed) == [{"event": "crossed", "to": "near"}]
    assert env.concerns(crossed, 0) and env.concerns(crossed, 1)
    assert "into your half" in env.describe(crossed, 0)
    assert "into the other half" in env.describe(crossed, 1)
    down = step(env, env.place(ball=(-2, 0.5, 0.25), ball_velocity=(0, 0, -4), turn="far"))
    landed, fault, point = env.last_events(down)
    assert (landed["half"], landed["in"], landed["at"]) == ("far", True, [-2.0, 0.5])
    assert (fault["fault"], fault["team"], point["winner"]) == ("own_floor", "far", "near")
    assert "in your half at (2.00, -0.50) m" in env.describe(down, 1)
    net = step(env, env.place(ball=(0.2, 0, 1), ball_velocity=(-9, 0, 0), turn="far"))
    assert {"event": "fault", "fault": "net", "team": "near", "agent": "near_0"} in env.last_events(
        net
    )
    assert not env.last_events(env.place())


@pytest.mark.parametrize("task", ["1v1", "3v3"])
def test_of_a_point_that_is_over_nothing_is_forecast(task):
    env = game(task)
    state = env.place(ball=(-2, 0.5, 0.25), ball_velocity=(0, 0, -4), last="near_0")
    over = step(env, state)
    assert over.over
    for detail in DETAILS:
        before, after = (env.describe(s, 0, detail=detail) for s in (state, over))
        assert "Untouched" in before and re.search("[Nn]ext touch|touch it next", before)
        assert "Untouched" not in after and not re.search("[Nn]ext touch|touch it next", after)


def test_rules_of_a_drill_are_its_own():
    rules = {task: game(task).rules(0) for task in ("hit", "back_and_forth", "bump_and_pass")}
    assert "points anywhere" in rules["hit"] and "away from the net" in rules["bump_and_pass"]
    assert "more than 1 m off your place" in rules["hit"] and "drill ends" in rules["hit"]
    assert "beyond 0.5 m" in rules["bump_and_pass"]
    assert "first target is (9.00, 4.50, 2.00)" in rules["back_and_forth"]
    flying = game("back_and_forth")
    assert "touches" not in flying.describe(flying.place(), 0)
    for task in ("set_and_spike", "set_and_spike_hard"):
        assert "0.15 m, but where it lands in the far half" in Volleyball(task).rules(0)
    for rulebook in ("manyhands", "volleybots"):
        told = Volleyball("1v1", rules=rulebook).rules(0)
        assert "0.5 m to the net's plane" in told
        assert ("y = 0 or a side line" in told) == (rulebook == "volleybots")


def test_a_fault_has_its_drone_and_a_match_remembers_it_at_the_next_point():
    env = game("3v3", points=3, serve="near")
    state = step(env, env.place(positions={"far_1": (-3, -1.5, 0.2)}))
    assert state.match.number == 1 and state.clock == 0  # the next point has begun
    assert env.last_events(state) == [
        {"event": "fault", "fault": "crash", "team": "far", "agent": "far_1"},
        {"event": "point", "winner": "near", "score": {"near": 1, "far": 0}},
    ]
    text = env.describe(state, 0)
    assert "the point is yours" in text and "crashed a drone (far_1)" in text
    assert not env.last_events(step(env, state))
    close = env.place(positions={"near_0": (3, 0, 2), "near_1": (3, 0.5, 2)})
    guilty = [event.get("agent") for event in env.last_events(step(env, close))]
    assert guilty == ["near_0", "near_1", None]


def test_drills_tell_what_was_gained():
    env = game("back_and_forth")
    state = env.place(positions=[[9, 4.5, 2]])
    found = []
    for _ in range(6):
        state = step(env, state)
        found += env.last_events(state)
    assert found == [{"event": "target_reached", "count": 1}]
    assert env.event_names[-4:] == ("done", "fault_drone_low", "fault_drone_high", "fault_far_away")


def test_where_sensors_are_noisy_nobody_is_told_where_it_landed():
    env = Volleyball("1v1", actions="velocity", randomise={"position_noise": (0.1, 0.1)})
    state = step(env, env.place(ball=(-2, 0.5, 0.25), ball_velocity=(0, 0, -4), turn="far"))
    (true, *_), (known, *_) = env.last_events(state), env.last_events(state, 0)
    assert "at" in true and "at" not in known and known.items() <= true.items()


@pytest.mark.parametrize("task", ["1v1", "3v3"])
def test_numbers_tell_the_same_events(task):
    """Random play, with points that end often: codes and events agree, for every agent."""
    env, rng = game(task, points=50), np.random.default_rng(1)
    state, seen = env.place(), set()
    for t in range(250):
        if t % 12 == 0:  # a ball that soon meets a drone, the net or the floor
            i = int(rng.integers(env.num_agents))
            place = np.asarray(state.bodies.position)[i] + rng.normal(0, 0.08, 3) + [0, 0, 0.5]
            bodies = type(state.bodies)(
                **{
                    **{name: getattr(state.bodies, name) for name in vars(state.bodies)},
                    "ball": place.astype(np.float32),
                    "ball_velocity": rng.normal(0, [3, 1, 2]).astype(np.float32),
                }
            )
            state = type(state)(**{**vars(state), "bodies": bodies})
        state = step(env, state, rng.uniform(-1, 1, (env.num_agents, 4)).astype(np.float32))
        codes, events = np.asarray(env.event_codes(state)), env.last_events(state)
        assert json.loads(json.dumps(events)) == events
        for i, name in enumerate(env.agents):
            code = dict(zip(env.event_names, codes[i].tolist(), strict=True))
            touches = {e["agent"]: e["legal"] for e in events if e["event"] == "touched"}
            assert code["own_touch"] == {None: 0, True: 1, False: -1}[touches.get(name)]
            to = next((e["to"] for e in events if e["event"] == "crossed"), None)
            own = name.split("_")[0]
            assert (code["ball_came"], code["ball_left"]) == (to == own, to not in (own, None))
            point = next((e for e in events if e["event"] == "point"), {"winner": ""})
            assert code["point_won"] == (point["winner"] == own)
            assert code["point_drawn"] == (point["winner"] is None)
            faults = {(e["fault"], e["team"] == own) for e in events if e["event"] == "fault"}
            told = {
                (fault, whose == "own")
                for fault, whose in itertools.product(env.faults, ("own", "other"))
                if code[f"{whose}_{fault}"]
            }
            assert told == faults
        seen |= {event["event"] for event in events}
    assert seen >= {"touched", "point", "fault"}


# ---- what choices promise, and how long texts are ------------------------------------------------


def modes() -> list[Any]:
    teams, duel = Volleyball("3v3"), Volleyball("1v1")
    velocity = [game(task) for task in ("1v1", "3v3", "hit", "set_and_spike_hard")]
    rotors = [duel, teams, game("1v1", "ctbr"), game("back_and_forth", "rotors")]
    return [
        *velocity,
        *rotors,
        Events(duel),
        Events(teams),
        Events(teams, per="team"),
        Skills(duel),
    ]


@pytest.mark.parametrize("env", modes(), ids=str)
def test_texts_are_short_honest_and_read_again(env):
    state = jax.device_get(env.reset(episode_key(1)))
    for i in range(env.num_agents):
        choices = env.choices(state, i)
        assert len("\n".join(choices)) <= 800 and len(env.rules(i)) <= 5000
        assert len(env.describe(state, i)) <= 1200
        sizes = [len(env.describe(state, i, detail=detail)) for detail in DETAILS]
        assert sizes == sorted(sizes) and sizes[0] < 700
        for choice in (*choices, *env.choices(state, i, None)):
            words = set(re.findall("[a-z]+", choice.effect))
            assert choice.certain or words & set(HEDGES), choice
            assert not choice.certain or not choice.effect, choice
            found = env.parse(choice.text, state, i)
            np.testing.assert_array_equal(env.parse(choice, state, i), found)
            np.testing.assert_array_equal(env.parse(f"Hm.\nACTION: {choice}", state, i), found)
        if env.acting(state)[i]:
            waits = [np.asarray(env.parse(text, state, i)).tolist() for text in WAITS]
            names = ("hover", "hold", "receiver: hover; setter: hover; attacker: hover")
            still = [c.action for c in env.choices(state, i, None) if c.text in names]
            assert all(wait == np.asarray(still[0]).tolist() for wait in waits)


def test_motions_that_lead_to_a_fault_say_so():
    env = game("1v1")
    state = env.place(positions={"near_0": (0.5, 0, 0.8)})
    told = {choice.text: choice.effect for choice in env.choices(state, 0)}
    assert "0.50 m away, loses the point" in told["to the net"]
    assert "lower than 0.3 m loses the point" in told["down"] and "loses" not in told["left"]
    safe = {choice.text: choice.effect for choice in env.choices(env.place(), 0)}
    assert not any("loses" in effect for effect in safe.values())


def test_skills_say_what_the_rules_make_of_a_touch():
    duel, teams = (Volleyball(task, skills="plain") for task in ("1v1", "3v3"))
    flying = dict(ball=(1, 0, 4), served=True)
    theirs, mine = (duel.place(turn=turn, **flying) for turn in ("far", "near"))

    def effects(env: Volleyball, state: Any, agent: int) -> dict[str, str]:
        row = np.asarray(env.perceive(state))[agent]
        return {choice.text: choice.effect for choice in env.skill_set().offers(row)}

    assert "loses the point" in effects(duel, theirs, 0)["block"]
    found = effects(duel, mine, 0)
    assert "loses the point" not in found["block"]
    spike = next(effect for name, effect in found.items() if name.startswith("spike to"))
    assert "often goes out" in spike and "meet the ball in about" in spike
    touched = teams.place(touched=["near_0"], last="near_0", **flying)
    assert "another one now loses the point" in effects(teams, touched, 0)["block"]
    assert not any(name.startswith("bump") for name in effects(teams, touched, 0))
    assert any(name.startswith("set to") for name in effects(teams, touched, 1))
    past = duel.place(turn="near", ball=(2.8, 1.4, 0.4), ball_velocity=(0, 0, -3))
    late = effects(duel, past, 0)["receive"]
    assert "can no longer be met" in late or "too late" in late
    # Where nobody may block, it is not offered, and a bump that comes too late is no choice.
    attack = Volleyball("1v1")
    assert "block" not in effects(attack, attack.place(turn="near", **flying), 0)
    late = effects(attack, past, 0)
    assert "receive" in late and not any(name.startswith("bump") for name in late)


def test_rules_of_skills_hold_only_what_can_be_answered_there():
    for env in (Events(Volleyball("1v1")), Events(Volleyball("3v3")), Skills(Volleyball("1v1"))):
        text = env.rules(0)
        assert "bump to (x, y)" in text and text.count("HOW TO ANSWER") == 1
        for words in ("each rotor", "Four numbers", "nose", "climb"):
            assert words not in text
    for words in ("set to", "team-mate"):
        assert words not in Events(Volleyball("1v1")).rules(0)


def test_a_team_reads_of_itself():
    env = Events(Volleyball("3v3", serve="far"), per="team")
    state = env.reset(episode_key(0))
    for i, name in enumerate(env.agents):
        text, rules = env.describe(state, i), env.rules(i)
        assert f"You are the {name} team" in text and f"You are the {name} team" in rules
        assert "You are near_0" not in text + rules and "\nYou: " not in text
        assert "Four numbers" not in rules and "bump to" not in rules
        assert all(f"{name}_{k}: at" in text for k in range(3))
        assert "attitude" in env.describe(state, i, detail="full")
    flying = env.env.place(ball=(3, 1, 4), last="far_0", touched=["near_1"])
    row = np.asarray(env.env.perceive(flying))[0]
    told = env.skills.cast(row, env.env.agents)
    roles = env.skills.roles(env.skills.parse_observation(jnp.asarray(row)))
    setter, attacker = (env.env.agents[int(np.argmax(role))] for role in roles[1:3])
    assert f"{setter} is the setter" in told and f"{attacker} is the attacker" in told
    assert "the next touch is the setter's" in told and "receiver" not in told


def test_drones_may_be_named_for_the_roles_that_they_have():
    env = Events(Volleyball("3v3"), per="team")

    def said(text: str, **situation: Any) -> str:
        state = env.begin(env.env.place(**situation))
        return env.table[int(env.parse(text, state, "near"))]

    coming = dict(ball=(-2, 0.75, 4), ball_velocity=(4.7, 0.6, 3), served=True, last="far_0")
    told = env.describe(env.begin(env.env.place(**coming)), 0)
    receiver, setter, attacker = re.findall(r"(near_\d) is the", told)
    plain = "receiver: pass high; setter: set; attacker: spike left"
    whole = f"{receiver} passes high, {setter} sets, {attacker} spikes left"
    assert said(whole, **coming) == plain
    assert said(f'{{"{receiver}": "pass high", "{setter}": "set"}}', **coming).endswith("hover")
    for wrong in (f"{setter} passes high", f"{receiver} sets", "far_0 sets"):
        with pytest.raises(IllegalAction):
            said(wrong, **coming)
    passed = dict(ball=(3, 1, 4), last=receiver, touched=[receiver], served=True)
    with pytest.raises(IllegalAction):  # its touch is past
        said(whole, **passed)
    with pytest.raises(IllegalAction):  # nobody has a role
        said(f"{setter} sets", ball=(-3, 0, 3), served=True)


def test_the_team_env_tells_events_by_team():
    env = Events(Volleyball("3v3", serve="near"), per="team")
    inner = drop_on(game("3v3"), "near_1", served=True)
    state = env.begin(inner)
    assert env.last_events(state, "far") == env.last_events(state)
    assert env.concerns(state, "near") and env.concerns(state, "far")
    assert np.asarray(env.event_codes(state)).shape == (2, len(env.event_names))


# ---- ways to say skills --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "skill"),
    [
        ("bump it deep left", "bump to (-2.4, -0.75)"),
        ("I bump the ball to the deep right corner", "bump to (-2.4, 0.75)"),
        ("bump short to the middle", "bump to (-0.9, 0)"),
        ("bump to the middle of the far half", "bump to (-1.65, 0)"),
        ("Bump it over the net to (-2.4, 0).", "bump to (-2.4, 0)"),
        ("lob it deep to the right", "bump to (-2.4, 0.75)"),
        ("spike it short left", "spike to (-0.9, -0.75)"),
        ("smash the ball to the back left corner of the far court", "spike to (-2.4, -0.75)"),
        ("receive the serve", "receive"),
        ("receive it", "receive"),
        ("pass the ball", "receive"),
        ("bump up to (-2.4, 0)", "bump to (-2.4, 0)"),
        ("bump to x=-2.4, y=0", "bump to (-2.4, 0)"),
        ("bump toward (-1.65, 0.75)", "bump to (-1.65, 0.75)"),
        ("spike deep and to the right", "spike to (-2.4, 0.75)"),
        ("bump deep middle", "bump to (-2.4, 0)"),
        ("bump deep left, not right", "bump to (-2.4, -0.75)"),
        ("bump deep left, not short", "bump to (-2.4, -0.75)"),
        ("bump it deep into the right corner, away from far_0", "bump to (-2.4, 0.75)"),
        ("a short bump to the left", "bump to (-0.9, -0.75)"),
        ("bump it to (-2.4, 0.75), the deep right corner", "bump to (-2.4, 0.75)"),
        ("bump it back to the centre of the far court", "bump to (-1.65, 0)"),
        ("let it go out", "hover"),
        ("recover to the middle of my half", "go to (1.5, 0, 1.6)"),
        ("go back to the middle", "go to (1.5, 0, 1.6)"),
        ("I fly back to the centre and wait", "go to (1.5, 0, 1.6)"),
    ],
)
def test_places_in_words_name_a_skill(words, skill):
    skills = Volleyball("1v1").skill_set()
    assert skills.names[skills.parse(words)] == skill


@pytest.mark.parametrize(
    "words",
    ["bump left", "bump deep", "spike", "bump it to the net", "bump not left",
     "bump deep left or right", "they bump deep left", "bump deep left if it is mine",
     "bump deep left and right", "bump deep left, not left", "bump to (-2.4, 0.75), deep left",
     "bump it away from far_0", "let far_0 have it", "I return to my place at (0.5, 1, 2)",
     "go back to the middle of the far half", "go to the middle", "go back", "return"],
)  # fmt: skip
def test_no_place_is_guessed(words):
    skills = Volleyball("1v1").skill_set()
    try:
        assert skills.parse(words) is None
    except IllegalAction as refused:
        assert "say where" in refused.reason


def test_home_is_the_own_place():
    env = Volleyball("3v3")
    row = np.asarray(jax.jit(lambda: env.perceive(env.place()))())[2]
    skills = env.skill_set()
    assert skills.names[skills.parse("go back to my place", row)].startswith("go to (4.8, 0,")
    assert skills.parse("go back to my place") is None
    same = skills.parse("go back to my place at (6, 0, 2)", row)
    assert same == skills.parse("go back to my place", row)
    assert skills.parse("go back to my place at (2, 0, 2)", row) is None


def test_flights_take_about_as_long_as_they_say():
    env = Volleyball("1v1", serve="far")
    skills, state = env.skill_set(), env.place(turn="far")
    state = dataclasses.replace(
        state, bodies=dataclasses.replace(state.bodies, ball=np.array([-1.5, 0, 60], np.float32))
    )
    effects = skills.words(np.asarray(env.perceive(state))[0])
    fly = jax.jit(
        lambda state, order: env.step(
            jax.random.key(0),
            state,
            skills.follow(skills.parse_observation(env.perceive(state).T), order).T,
        )[0]
    )
    for name in ("go to (2.4, 0.52, 1.6)", "go to (0.6, 0, 1.6)"):
        k = skills.names.index(name)
        told = float(re.search("([0-9.]+) s$", effects[k])[1])
        order = skills.order(jnp.array([k, skills.wait]))
        moving, steps = state, 0
        while np.linalg.norm(np.asarray(moving.bodies.position)[0] - skills.goals[k]) > 0.2:
            moving, steps = fly(moving, order), steps + 1
            assert steps < 100
        assert abs(0.02 * steps - told) < 0.25, (name, told, steps)


def test_rules_tell_where_a_team_serves_to():
    for task, told in (("3v3", "and serve, over the net;"), ("6v6", "to the front of your half")):
        env = manyhands.make("events", env=manyhands.make("volleyball", task=task), per="team")
        assert told in env.rules(0)


def test_rules_of_a_match_of_one_against_one():
    rules = manyhands.make("volleyball", task="1v1", points=2).rules(0)
    assert "when one first has 1 point. " in rules and "rotates" not in rules
    rules = manyhands.make("volleyball", task="3v3", points=25).rules(0)
    assert "when one first has 13 points. " in rules and "rotates by one place" in rules
