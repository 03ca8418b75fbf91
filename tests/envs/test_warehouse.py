"""Warehouses: scenarios, rules by hand, parity of text and vector, words, the scripted player."""

import functools
import json
import re

import jax
import numpy as np
import pytest

import manyhands
from manyhands.core.env import ConfigError, IllegalAction, SeatError, describe_with
from manyhands.envs.mission.warehouse.state import (
    DELIVERED,
    FORWARD,
    HEADINGS,
    LEFT,
    LOAD,
    REQUESTED,
    RIGHT,
    SHELF,
    STAY,
    WarehouseState,
)

UP, DOWN, WEST, EAST = range(4)
STAGES = ["drives", "loads", "deliveries"]
MAP = [".......", ".xx.xx.", ".xx.xx.", ".......", "..g...."]


@functools.lru_cache
def make(players=4, observation="vector", sharing="individual", sight=1):
    scenario = {"stages": STAGES, "map": MAP, "players": players, "requests": 2, "sight": sight}
    return manyhands.make("mission", scenario=scenario, observation=observation, reward=sharing)


@functools.lru_cache
def compiled(env):
    step = jax.jit(lambda state, actions: env.step(jax.random.key(0), state, actions))
    return lambda state, actions: jax.device_get(step(state, actions))  # texts take states apart


def state(robots, gone=(), wanted=((1, 1), (1, 2))):
    """Of (row, column, heading, load) each; no shelves stand on the cells `gone`."""
    row, column, heading, load = np.array(robots).T
    shelves = np.array([[int(mark == "x") for mark in line] for line in MAP], np.uint8)
    for cell in gone:
        shelves[cell] = 0
    for cell in wanted:
        shelves[cell] = REQUESTED if shelves[cell] else 0
    none = np.zeros(len(row), np.uint8)
    numbers = [array.astype(np.int8) for array in (row, column, heading)]
    clock = np.int16(0), np.int16(0)
    return WarehouseState(
        *numbers, load.astype(np.uint8), none.astype(bool), shelves.ravel(), *clock, none
    )


F = FORWARD


@pytest.mark.parametrize(
    ("robots", "actions", "moved"),
    [
        # Two face each other; both of a queue into one who turns; a queue that follows its first.
        ([(0, 0, EAST, 0), (0, 1, WEST, 0), (4, 6, 0, 0), (4, 5, 0, 0)], [F, F, 0, 0], []),
        ([(0, 0, EAST, 0), (0, 1, EAST, 0), (0, 2, UP, 0), (4, 5, 0, 0)], [F, F, LEFT, 0], []),
        (
            [(0, 0, EAST, 0), (0, 1, EAST, 0), (0, 2, EAST, 0), (4, 5, 0, 0)],
            [F, F, F, 0],
            [0, 1, 2],
        ),
        # A ring; and a ring with a wall in the place of the last.
        ([(3, 0, EAST, 0), (3, 1, DOWN, 0), (4, 1, WEST, 0), (4, 0, UP, 0)], [F] * 4, [0, 1, 2, 3]),
        ([(3, 0, EAST, 0), (3, 1, DOWN, 0), (4, 1, WEST, 0), (4, 0, WEST, 0)], [F] * 4, []),
        # One cell, wanted by a robot and by a queue of two; by two robots alone.
        ([(0, 0, EAST, 0), (0, 2, WEST, 0), (0, 3, WEST, 0), (4, 5, 0, 0)], [F, F, F, 0], [1, 2]),
        ([(0, 2, WEST, 0), (0, 0, EAST, 0), (4, 6, 0, 0), (4, 5, 0, 0)], [F, F, 0, 0], [0]),
        # With a load: into a standing shelf; after one whose own is driven away; without, below it.
        ([(3, 1, UP, 1), (3, 0, UP, 0), (4, 6, 0, 0), (4, 5, 0, 0)], [F, F, 0, 0], [1]),
        ([(3, 0, EAST, 1), (3, 1, EAST, 1), (4, 6, 0, 0), (4, 5, 0, 0)], [F, F, 0, 0], [0, 1]),
        ([(3, 1, UP, 0), (3, 0, UP, 0), (4, 6, 0, 0), (4, 5, 0, 0)], [F, 0, 0, 0], [0]),
    ],
)
def test_driving(robots, actions, moved):
    before = state(robots)
    after, outcome = compiled(make())(before, np.array(actions))
    places = np.stack([after.row, after.column], 1) != np.stack([before.row, before.column], 1)
    assert np.flatnonzero(places.any(1)).tolist() == moved
    loaded = [i for i, robot in enumerate(robots) if robot[3]]
    assert np.asarray(after.load)[loaded].all()
    illegal = robots[0] == (3, 1, UP, 1)
    wanted = sum(a == F for a in actions) - len(moved) - illegal - (robots[3][2] == WEST)
    assert outcome.metrics["blocked"] == wanted and outcome.metrics["illegal"] >= illegal


@pytest.mark.parametrize("sharing", ["individual", "global", "two_stage"])
def test_a_shelf_is_fetched_delivered_and_put_back(sharing):
    env = make(2, sharing=sharing)
    now = state([(2, 1, DOWN, 0), (0, 6, UP, 0)], wanted=[(2, 1), (1, 1)])
    rewards, events = [], []
    for action in (LOAD, F, LOAD, LEFT, F, RIGHT, F, LEFT, LEFT, F, F, LOAD):
        now, outcome = compiled(env)(now, np.array([action, STAY]))
        rewards.append(np.asarray(outcome.reward).tolist())
        events.append([e["event"] for e in env.last_events(now) if e["agent"] == "robot_0"])
        standing = np.asarray(now.shelves)
        requested = (standing == REQUESTED).sum() + (np.asarray(now.load) == REQUESTED).sum()
        assert requested == 2 and (standing > 0).sum() + (np.asarray(now.load) > 0).sum() == 8
    assert events[0] == ["load"] and events[6] == ["delivery"]
    assert events[2] == []  # it cannot be put down on a way
    whole = {"individual": [1, 0], "global": [1, 1], "two_stage": [0.5, 0]}[sharing]
    assert rewards[6] == whole
    # Back to a rack: here the one at row 2, column 2 is full, so that it cannot drive in.
    assert np.asarray(now.row)[0] == 3 and now.load[0] > 0


def test_a_shelf_is_put_down_on_an_empty_rack_only():
    env = make(2, sharing="two_stage")
    now = state([(3, 2, UP, REQUESTED), (0, 6, UP, 0)], gone=[(2, 2), (1, 2)])
    now = now.__class__(**{**vars(now), "delivered": np.array([True, False])})
    now, _ = compiled(env)(now, np.array([F, STAY]))
    now, outcome = compiled(env)(now, np.array([LOAD, STAY]))
    assert now.load[0] == 0 and now.shelves.reshape(5, 7)[2, 2] == REQUESTED
    assert outcome.terms["return"].tolist() == [1, 0] and outcome.reward[0] == 0.5
    now, outcome = compiled(env)(now, np.array([LOAD, STAY]))
    now, outcome = compiled(env)(now, np.array([LOAD, STAY]))
    assert outcome.terms["return"].tolist() == [0, 0]  # nothing was delivered in between


def test_requests_are_drawn_from_all_that_are_not_requested():
    env = make(2)
    before = state([(3, 2, DOWN, REQUESTED), (3, 4, UP, SHELF)], gone=[(1, 2), (2, 4)])
    step = jax.jit(jax.vmap(lambda key: env.step(key, before, np.array([F, STAY]))[0]))
    after = step(jax.random.split(jax.random.key(1), 2000))
    assert (np.asarray(after.recent)[:, 0] == DELIVERED).all()
    assert (np.asarray(after.load)[:, 0] == SHELF).all()  # never the one that was delivered
    before_wanted = before.shelves == REQUESTED
    new = (np.asarray(after.shelves) == REQUESTED) & ~before_wanted
    counts = [*new.sum(0)[new.any(0)], (np.asarray(after.load)[:, 1] == REQUESTED).sum()]
    assert sum(counts) == 2000 and len(counts) == 6
    assert min(counts) > 270 and max(counts) < 400


# ---- words ---------------------------------------------------------------------------------------


def play(env, episodes=6, steps=24):
    """States of random play that loads whenever it can."""
    draws = np.random.default_rng(3)
    reset, open_to = jax.jit(env.reset), jax.jit(env.legal)
    for episode in range(episodes):
        now = reset(jax.random.key(episode))
        for _ in range(steps):
            legal = np.asarray(open_to(now))
            chance = draws.random(legal.shape) + np.array([0, 1.5, 0.6, 0.6, 1.2])
            now, _ = compiled(env)(now, np.where(legal, chance, 0).argmax(1).astype(np.int32))
            yield now, legal


def marks(text):
    """(row, column) -> mark of the map in a description."""
    lines = text.splitlines()
    head = next(k for k, line in enumerate(lines) if re.fullmatch(r" *[0-9 ]+", line))
    columns = [int(x) for x in lines[head].split()]
    found = {}
    for line in lines[head + 1 :]:
        row, *cells = line.split()
        if not row.isdigit():
            break
        found |= {(int(row), x): mark for x, mark in zip(columns, cells, strict=True)}
    return found


def from_text(env, text, agent):
    """The vector (sight 1) that a description tells."""
    first = re.match(
        r"Step \d+ of \d+[.] You are robot_(\d), (\w) on the map, at row (\d+), column (\d+), "
        r"facing (\w+), on a "
        r"(way|rack|goal), carrying (nothing|a)",
        text,
    )
    row, column = int(first[3]), int(first[4])
    heading = [int(name == first[5]) for name in HEADINGS]
    numbers = [column, row, first[7] == "a", *heading, first[6] != "rack"]
    cells = marks(text)
    for y in range(row - 1, row + 2):
        for x in range(column - 1, column + 2):
            mark = cells.get((y, x), ".")
            robot = mark[0].isupper()
            facing = "^v<>".index(mark[1]) if robot else 0
            shelf = mark[-1] in "#!"
            numbers += [robot, *(int(k == facing) for k in range(4)), shelf, mark[-1] == "!"]
    return [int(number) for number in numbers]


def test_the_vector_can_be_read_from_the_text():
    env = make()
    seen, vector, legal = 0, jax.jit(env.observe), jax.jit(env.legal)
    for now, _ in play(env, episodes=3):
        observed, may = np.asarray(vector(now)), np.asarray(legal(now))
        for agent in range(4):
            for detail in ("brief", "normal", "full"):
                text = describe_with(env, now, agent, detail)
                assert from_text(env, text, agent) == observed[agent].tolist(), text
            open_ = re.search("Open to you: (.*)\\.", text)[1].split(", ")
            assert len(open_) == may[agent].sum()
            seen += "!" in text
    assert seen > 5


def test_the_whole_warehouse_can_be_read_from_the_text():
    env = make(observation="whole")
    vector = jax.jit(env.observe)
    for now, _ in play(env, episodes=2, steps=12):
        observed = np.asarray(vector(now))
        for agent in range(4):
            text = describe_with(env, now, agent, "normal")
            cells = np.zeros((5, 7), int)
            robots = {}
            for at, mark in marks(text).items():
                if mark[-1] in "#!":
                    cells[at] = 1 + (mark[-1] == "!")
                if mark[0].isupper():
                    robots["ABCD".index(mark[0])] = (*at, "^v<>".index(mark[1]))
            told = dict.fromkeys(range(4), 0)
            lines = {agent: text.splitlines()[0]}
            for part in re.search("Other robots in view: (.*)\\.", text)[1].split("; "):
                lines[int(part[6])] = part
            for i, line in lines.items():
                told[i] = 0 if "nothing" in line else 2 - ("not requested" in line)
                if told[i]:
                    cells[robots[i][:2]] = 0
            order = [agent, *(i for i in range(4) if i != agent)]
            numbers = [number for i in order for number in (*robots[i], told[i])]
            assert numbers + cells.ravel().tolist() == observed[agent].tolist()


@pytest.mark.parametrize("sight", [1, 2])
def test_choices_promise_what_happens_whatever_the_others_do(sight):
    env = make(sight=sight)
    draws, sure = np.random.default_rng(0), 0
    for now, _ in play(env, episodes=2, steps=8):
        for agent in range(4):
            for choice in env.choices(now, agent):
                for _ in range(choice.certain + 2 * (choice.action == FORWARD) * choice.certain):
                    actions = draws.choice(5, 4, p=[0.1, 0.6, 0.1, 0.1, 0.1]).astype(np.int32)
                    actions[agent] = choice.action
                    after, _ = compiled(env)(now, actions)
                    found = env.to_dict(after)
                    for path, value in choice.facts.items():
                        _, name, field = path.split(".")
                        assert found["robots"][name][field] == value, (choice, actions)
                    sure += choice.action == FORWARD
    assert sure > 10  # driving is certain at times, too


@pytest.mark.parametrize(
    ("said", "action"),
    [
        ("turn left", LEFT),
        ("rotate to the right by 90 degrees", RIGHT),
        ("forward", FORWARD),
        ("drive one cell ahead", FORWARD),
        ("go west", FORWARD),
        ("face north", RIGHT),
        ("unload the shelf", LOAD),
        ("put it down here", LOAD),
        ("I'll wait", STAY),
        ("load", None),
        ("go north", None),
        ("turn east", None),
        ("turn left and go forward", None),
        ("don't unload", None),
    ],
)
def test_answers(said, action):
    env = make(2)
    now = state([(2, 2, WEST, SHELF), (0, 6, UP, 0)], gone=[(2, 2), (2, 1), (1, 2)])
    if action is None:
        with pytest.raises(IllegalAction):
            env.parse(said, now, 0)
    else:
        assert env.parse(said, now, 0) == action


# ---- scenarios, names, players -------------------------------------------------------------------


def test_published_names_and_files_are_one_scenario(tmp_path):
    env = manyhands.make("mission", scenario="rware-small-4ag-hard-v2")
    assert (env.size, env.num_agents, env.requests, env.sight) == ((20, 10), 4, 2, 1)
    assert env == manyhands.make("mission", scenario="warehouse-2x3-8h-4ag-2req-indiv")
    assert env.observation_space.shape == (71,)
    file = tmp_path / "own.json"
    file.write_text(json.dumps(env.scenario))
    assert manyhands.make("mission", scenario=str(file)) == env
    sizes = {"tiny": (11, 32), "small": (20, 80), "medium": (20, 144), "large": (29, 224)}
    for name, (rows, shelves) in sizes.items():
        for players, level, requests in ((2, "", 2), (7, "-easy", 14), (9, "-hard", 4)):
            env = manyhands.make("mission", scenario=f"warehouse-{name}-{players}ag{level}")
            assert (env.size[0], env.racks.sum()) == (rows, shelves)
            assert (env.num_agents, env.requests) == (players, requests)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"scenario": "warehouse-tiny-1ag-hard"}, "requests"),
        ({"scenario": "warehouse", "foods": 2}, "foods"),
        ({"scenario": "foraging", "requests": 2}, "requests"),
        ({"scenario": "foraging", "observation": "whole"}, "whole"),
        ({"scenario": "warehouse", "requests": 32}, "32"),
        ({"scenario": "warehouse", "players": 20}, "20"),
        ({"scenario": "warehouse", "reward": "team"}, "team"),
        ({"scenario": {"stages": STAGES, "conflict": "cancel"}}, "cancel"),
        ({"scenario": {"stages": STAGES, "blocks": [1, 2]}}, "2"),
        ({"scenario": {"stages": STAGES, "map": ["xx.", "xxg"]}}, "row 0, column 0"),
        ({"scenario": {"stages": STAGES, "map": ["x.", "..."]}}, "2 and 3"),
        ({"scenario": {"stages": STAGES, "map": ["x.", ".."]}}, "goals"),
        ({"scenario": {"stages": STAGES, "map": ["x?", ".g"]}}, "[?]"),
        ({"scenario": {"stages": STAGES, "coop": True}}, "foraging"),
    ],
)
def test_wrong_warehouses_are_refused(options, match):
    with pytest.raises(ConfigError, match=match):
        manyhands.make("mission", **options)


def test_porters_deliver():
    env = manyhands.make("mission", scenario="warehouse-1x3-3h-4ag-4req")
    found = {}
    for seat in ("porter", "random"):
        result = manyhands.rollout(
            env, seat, num_envs=4, num_steps=100, key=jax.random.key(1), collect="statistics"
        )
        found[seat] = float(np.sum(result.statistics.terms["delivery"]))
    assert found["porter"] > 4 * 8 and found["random"] < 4
    with pytest.raises(SeatError, match="foraging"):
        manyhands.rollout(
            manyhands.make("mission"), "porter", num_envs=1, num_steps=1, key=jax.random.key(0)
        )
