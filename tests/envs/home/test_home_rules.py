"""Rules of homes, case by case."""

from __future__ import annotations

import dataclasses
import itertools

import jax
import numpy as np
import pytest
from homes import KEY, KITCHEN, Table, goal

import manyhands
from manyhands.core.env import ConfigError, episode_key
from manyhands.core.pack import restore, snapshot
from manyhands.envs.home import generator
from manyhands.envs.home.state import (
    CLEAN,
    COOL,
    HOT,
    NONE,
    OPEN,
    SHUT,
    SLICED,
    UNSEEN,
)

SMALL = {"receptacles": 8, "objects": 8}
HAND = 17  # of the second player in `house`
ROOMS = {"task": "chore", "rooms": 4, "receptacles": 16, "objects": 8}


@pytest.fixture(scope="module")
def one():
    return Table(task="chore", players=2, slicing=True, **SMALL)


@pytest.fixture(scope="module")
def two():
    return Table(task="chore", hands=2, **SMALL)


@pytest.fixture(scope="module")
def house():
    return Table(players=2, travel="steps", view="room", **ROOMS)


@pytest.fixture(scope="module")
def transport():
    return Table(task="transport", rooms=2, receptacles=12, objects=10, max_steps=40)


def kitchen(*conditions, objects=(), **more):
    return {**KITCHEN, "objects": [*KITCHEN["objects"], *objects], "goal": [*conditions], **more}


# ---- chores --------------------------------------------------------------------------------------


def test_what_is_shut_in_cannot_be_taken(one):
    visit = one.start(kitchen(*goal("apple", "dining_table"))).alone("go fridge 1")
    assert not visit.can("take apple 1")
    assert visit.known("apple 1") == NONE
    visit.alone("open")
    assert visit.known("apple 1") == visit.places.index("fridge 1")
    visit.alone("take apple 1", "close")
    assert visit.place("apple 1") == 8  # the first hand of the first player
    assert not visit.can("put")
    assert visit.can("open")


def test_hands_are_few(one, two):
    visit = one.start(kitchen(*goal("mug", "cabinet"))).alone("go counter top 1", "take mug 1")
    assert not visit.can("take mug 2")
    visit = two.start(kitchen(*goal("mug", "cabinet"))).alone("go counter top 1", "take mug 1")
    visit.alone("take mug 2")
    assert [visit.place("mug 1"), visit.place("mug 2")] == [8, 9]
    assert not visit.can("take cup 1")
    visit.alone("put 0", "take cup 1")
    assert [visit.place("cup 1"), visit.place("mug 2")] == [8, 9]


def test_heat_and_cool_undo_each_other(one):
    visit = one.start(kitchen(*goal("apple", "dining_table", "hot")))
    visit.alone("go fridge 1", "open", "take apple 1", "go microwave 1", "heat")
    assert visit.bits("apple 1") == HOT
    visit.alone("go fridge 2", "cool")
    assert visit.bits("apple 1") == COOL
    visit.alone("go dining table 1", "put")
    assert not visit.won
    visit.alone("take apple 1", "go microwave 1", "heat", "go dining table 1", "put")
    assert visit.won
    assert visit.outcome.reward.tolist() == [1, 1]


def test_things_are_cleaned_in_sinks_alone(one):
    visit = one.start(kitchen(*goal("mug", "cabinet", "clean"))).alone("go counter top 1")
    visit.alone("take mug 1")
    assert not visit.can("clean")
    visit.alone("go sink basin 1", "clean")
    assert visit.bits("mug 1") == CLEAN
    visit.alone("go counter top 1", "put", "take book 1", "go sink basin 1")
    assert not visit.can("clean")
    visit.alone("go microwave 1")
    assert not visit.can("heat")


def test_receptacles_take_some_kinds(one):
    visit = one.start(kitchen(*goal("cup", "cabinet"))).alone("go counter top 1", "take cup 1")
    visit.alone("go coffee machine 1")
    assert not visit.can("put")
    visit.alone("go counter top 1", "put", "take mug 1", "go coffee machine 1", "put")


def test_the_second_of_two_wins(one):
    visit = one.start(kitchen(*goal("mug", "coffee_machine", count=2)))
    visit.alone("go counter top 1", "take mug 1", "go coffee machine 1", "put")
    assert visit.metric("met") == 0.5
    assert not visit.won
    visit.alone("take mug 1")
    assert visit.metric("met") == 0
    visit.alone("put")
    assert visit.metric("met") == 0.5
    assert float(visit.outcome.terms["subgoal"][0]) == 0  # only the first time
    visit.alone("go counter top 1", "take mug 2", "go coffee machine 1", "put")
    assert visit.won
    assert float(visit.outcome.terms["subgoal"][0]) == 1


def test_a_lamp_elsewhere_lights_nothing(one):
    start = {
        "rooms": ["bedroom"],
        "receptacles": [{"kind": "desk"}, {"kind": "bed"}, {"kind": "drawer"}],
        "objects": [{"kind": "book", "in": "bed 1"}, {"kind": "desk_lamp", "in": "desk 1"}],
        "task": "look",
        "goal": goal("book", "lamp"),
    }
    visit = one.start(start).alone("go desk 1")
    assert not visit.can("take desk lamp 1")
    visit.alone("use")
    assert not visit.can("use")
    visit.alone("go bed 1", "take book 1")
    assert not visit.won
    visit.alone("go desk 1")
    assert visit.won


def test_either_fridge_is_a_fridge(one):
    for number in (1, 2):
        visit = one.start(kitchen(*goal("plate", "fridge"))).alone("go dining table 1")
        visit.alone("take plate 1", f"go fridge {number}", "open", "put")
        assert visit.won


def test_knives_slice(one):
    knife = {"kind": "butter_knife", "in": "counter top 1"}
    apple = {"kind": "apple", "in": "counter top 1"}
    visit = one.start(kitchen(*goal("apple", "fridge", "sliced"), objects=[knife, apple]))
    visit.alone("go counter top 1")
    assert not visit.can("slice apple 1")
    visit.alone("take butter knife 1")
    assert not visit.can("slice apple 1")  # in the fridge
    visit.alone("slice apple 2")
    assert visit.bits("apple 2") == SLICED
    assert not visit.can("slice apple 2")
    visit.alone("put", "take apple 2", "go fridge 2", "open", "put")
    assert visit.won


def test_progress_is_paid_once(one):
    visit = one.start(kitchen(*goal("mug", "cabinet", "hot"))).alone("go counter top 1")
    paid = []
    for said in ("take mug 1", "put", "take mug 1", "go microwave 1", "heat", "heat"):
        visit.alone(said)
        paid.append(visit.outcome.terms["progress"].tolist())
    assert paid == [[1, 0], [0, 0], [0, 0], [0, 0], [1, 0], [0, 0]]


# ---- several players, and what they know ---------------------------------------------------------


def test_beliefs_go_stale(one):
    visit = one.start(kitchen(*goal("apple", "dining_table"))).do("go dining table 1")
    visit.do("go counter top 1", "go dining table 1").do("wait", "take plate 1")
    visit.do("wait", "go counter top 1")
    # Both are in the room, so what the other holds is seen.
    assert visit.known("plate 1") == 9
    visit = one.start(kitchen(*goal("apple", "dining_table"))).do("go dining table 1")
    table = visit.places.index("dining table 1")
    assert (visit.known("plate 1"), visit.seen("plate 1")) == (table, 1)
    assert visit.known("plate 1", 1) == NONE


def test_nobody_knows_what_happened_in_another_room(house):
    start = {
        "rooms": ["bedroom", "kitchen"],
        "receptacles": [
            {"kind": "cabinet", "room": "kitchen"},
            {"kind": "counter_top", "room": "kitchen"},
            {"kind": "bed", "room": "bedroom"},
        ],
        "objects": [
            {"kind": "plate", "in": "counter top 1"},
            {"kind": "mug", "in": "cabinet 1"},
            {"kind": "book", "in": "bed 1"},
        ],
        "players": [{"room": "kitchen"}, {"at": "cabinet 1"}],
        "goal": goal("book", "bed", count=1),
    }
    with pytest.raises(ConfigError, match="already"):
        house.start(start)
    start["goal"] = goal("plate", "cabinet")
    visit = house.start(start)
    cabinet, counter = (visit.places.index(name) for name in ("cabinet 1", "counter top 1"))
    # View "room": what is open is seen on arrival, what is shut by nobody.
    assert (visit.known("plate 1"), visit.seen("plate 1")) == (counter, 0)
    assert visit.known("mug 1") == NONE == visit.known("book 1")
    visit.do("room bedroom", "open")
    assert visit.known("book 1") == visit.places.index("bed 1")
    assert visit.known("mug 1", 1) == cabinet
    visit.do("wait", "go counter top 1").do("wait", "take plate 1").do("wait", "go cabinet 1")
    visit.do("wait", "close")
    assert (visit.known("plate 1"), visit.seen("plate 1")) == (counter, 0)  # stale
    assert visit.place("plate 1") == visit.known("plate 1", 1) == HAND
    assert visit.known("mug 1") == NONE
    assert visit.state.known_open[0, cabinet] == SHUT  # as it was last seen
    visit.do("room kitchen")
    assert visit.known("plate 1") == HAND
    assert visit.known("mug 1") == NONE
    visit.do("room bedroom", "open").do("wait", "put")
    assert visit.won
    assert visit.known("plate 1") == HAND


def test_what_is_gone_is_seen_to_be_gone(house):
    start = {
        "rooms": ["bedroom", "kitchen"],
        "receptacles": [
            {"kind": "counter_top", "room": "kitchen"},
            {"kind": "desk", "room": "bedroom"},
        ],
        "objects": [{"kind": "mug", "in": "counter top 1"}, {"kind": "book", "in": "desk 1"}],
        "players": [{"room": "kitchen"}, {"at": "counter top 1"}],
        "goal": goal("book", "counter_top"),
    }
    visit = house.start(start).do("room bedroom")
    counter, desk = (visit.places.index(name) for name in ("counter top 1", "desk 1"))
    visit.do("wait", "take mug 1").do("room kitchen", "room bedroom")
    # The counter is seen to be empty, and who has the mug is not.
    assert visit.known("mug 1") == NONE
    assert visit.seen("mug 1") == 0
    visit.do("wait", "go desk 1").do("wait", "put")
    assert visit.known("mug 1") == NONE
    visit.do("room bedroom")
    assert (visit.known("mug 1"), visit.seen("mug 1")) == (desk, 6)
    assert visit.known("mug 1", 1) == desk != counter


def test_the_turn_decides_races(one):
    for early in (0, 1):
        visit = one.start(kitchen(*goal("mug", "cabinet")))
        visit.do("go counter top 1", "go counter top 1")
        for _ in range(early):
            visit.do()
        first = min(range(2), key=lambda n: (n + int(visit.state.time)) % 2)
        visit.do("take mug 1", "take mug 1")
        assert visit.place("mug 1") == 8 + first
        assert visit.metric("raced") == 1
        assert visit.metric("grounded") == 0.5
        assert visit.metric("illegal") == 0


def test_the_order_of_a_race_is_that_of_the_rules():
    """The last of one step is the first of the next."""
    table = Table(task="chore", players=3, **SMALL)
    assert "in step 0 player_0 comes first and player_2 last, and" in table.env.rules(1)
    order = [0, 1, 2]
    for early in range(4):
        visit = table.start(kitchen(*goal("mug", "cabinet")))
        visit.do(*3 * ["go counter top 1"])
        for _ in range(early):
            visit.do()
        order = [order[-1], *order[:-1]]
        visit.do(*3 * ["take mug 1"])
        assert visit.place("mug 1") == 8 + order[0]


def test_who_closes_first_shuts_the_other_out(one):
    for wait in (0, 1):
        visit = one.start(kitchen(*goal("mug", "cabinet")))
        visit.do("go fridge 1", "go fridge 1").do("open")
        for _ in range(wait):
            visit.do()
        first = min(range(2), key=lambda n: (n + int(visit.state.time)) % 2)
        visit.do("close", "take apple 1")
        assert visit.metric("raced") == (first == 0)
        assert visit.place("apple 1") == (visit.places.index("fridge 1") if first == 0 else 9)


# ---- travel --------------------------------------------------------------------------------------


def test_two_doors_take_two_steps_and_one_more(house):
    start = {
        "rooms": ["bathroom", "bedroom", "kitchen"],
        "doors": [["bathroom", "bedroom"], ["bedroom", "kitchen"]],
        "receptacles": [
            {"kind": "toilet", "room": "bathroom"},
            {"kind": "bed", "room": "bedroom"},
            {"kind": "counter_top", "room": "kitchen"},
        ],
        "objects": [{"kind": "book", "in": "bed 1"}],
        "players": [{"room": "bathroom"}, {"room": "kitchen"}],
        "goal": goal("book", "counter_top"),
    }
    visit = house.start(start)
    rooms, at = [], []
    for _ in range(3):
        visit.alone("go counter top 1")
        rooms.append(visit.rooms[int(visit.state.player_room[0])])
        at.append(int(visit.state.at[0]))
    assert rooms == ["bedroom", "kitchen", "kitchen"]
    assert at == [NONE, NONE, visit.places.index("counter top 1")]
    assert not visit.can("go counter top 1")
    # Half-way one can turn round.
    visit = house.start(start).alone("go counter top 1", "go toilet 1")
    assert visit.rooms[int(visit.state.player_room[0])] == "bathroom"
    visit.alone("go toilet 1", "room bathroom")
    assert int(visit.state.at[0]) == NONE
    assert not visit.can("room bathroom")


# ---- transport -----------------------------------------------------------------------------------


def test_containers_hold_three_and_are_used_up(transport):
    start = {
        "rooms": ["bedroom", "kitchen"],
        "receptacles": [
            {"kind": "bed", "room": "bedroom"},
            {"kind": "counter_top", "room": "kitchen"},
        ],
        "objects": [
            {"kind": "basket", "in": "counter top 1"},
            *({"kind": "apple", "in": "counter top 1", "target": True} for _ in range(4)),
            {"kind": "mug", "in": "counter top 1"},
        ],
        "players": [{"room": "kitchen"}, {"room": "kitchen"}],
    }
    visit = transport.start(start)
    visit.alone("go counter top 1", "take basket 1")
    assert not visit.can("pack")
    for i in (1, 2, 3):
        visit.alone(f"take apple {i}", "pack 1")
    assert (
        visit.known("apple 1", 1) == visit.place("apple 1") == 16 + visit.things.index("basket 1")
    )
    visit.alone("take apple 4")
    assert not visit.can("pack 1")
    visit.alone("go bed 1", "go bed 1", "put 0")
    assert visit.metric("delivered") == 3
    assert visit.place("basket 1") == NONE == visit.known("basket 1")
    text = visit.table.env.describe(visit.state, 0)
    assert "you emptied basket 1 on bed 1, and used it up" in text
    assert visit.place("apple 2") == visit.places.index("bed 1")
    assert not visit.can("take apple 2")
    visit.alone("put 1")
    assert visit.won
    assert visit.metric("met") == 1
    assert float(visit.outcome.reward[1]) == 2  # the last one, and success


# ---- following, instructors, talk ----------------------------------------------------------------


def test_followers_are_paid_for_sight():
    table = Table(task="follow", rooms=2, receptacles=10, objects=1)
    start = {
        "rooms": ["bedroom", "kitchen"],
        "receptacles": [
            {"kind": "bed", "room": "bedroom"},
            {"kind": "desk", "room": "bedroom"},
            {"kind": "counter_top", "room": "kitchen"},
        ],
        "objects": [],
        "players": [{"room": "bedroom"}, {"room": "bedroom"}],
        "errands": ["bed 1", "counter top 1"] * 6,
    }
    visit = table.start(start)
    first = table.env.observation_layout["errand"]
    told = np.asarray(table.observe(visit.state))[:, first]
    assert told.tolist() == [[1 + visit.places.index("bed 1"), 0], [0, 0]]
    visit.do("go bed 1")
    assert visit.outcome.reward.tolist() == [1, 1]  # an errand, and in sight
    visit.do("wait", "go bed 1")
    assert visit.outcome.reward.tolist() == [0, 0]  # too near
    visit.do("room kitchen")
    assert visit.outcome.reward.tolist() == [0, 0]
    visit.do("go counter top 1", "room kitchen")
    assert visit.outcome.reward.tolist() == [1, 1]
    assert visit.metric("errands") == 2


def test_instructors_alone_know_what_is_hidden():
    table = Table(task="put", told="instructor", hidden=["object", "state"], discussion=2, **SMALL)
    assert table.env.agents == ("player_0", "instructor")
    visit = table.start(kitchen(*goal("mug", "cabinet", "hot"), task="put"))
    pieces = table.env.observation_layout
    rows = np.asarray(table.observe(visit.state))
    mug = table.env.catalog.object_kinds.index("mug") + 1
    assert rows[:, pieces["goal kinds"]].ravel().tolist() == [254, mug]
    assert rows[:, pieces["goal bits"]].ravel().tolist() == [128, HOT]
    assert (rows[0, pieces["goal places"]] == rows[1, pieces["goal places"]]).all()
    legal = np.asarray(table.legal(visit.state))
    assert legal.sum(axis=1).tolist() == [1, 1]  # they talk
    visit.do("go fridge 1")
    assert visit.metric("illegal") == 1
    visit.do()
    assert np.asarray(table.legal(visit.state)).sum(axis=1)[0] > 1
    assert np.asarray(table.legal(visit.state))[1].sum() == 1


# ---- long walks ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "config",
    [
        {"task": "chore_small", "players": 2, "slicing": True, "max_steps": 250},
        {"task": "transport", "rooms": 3, "receptacles": 14, "objects": 12, "players": 3},
    ],
    ids=["chores", "transport"],
)
def test_every_object_is_in_one_place(config):
    env = manyhands.make("home", **config)
    keys = jax.vmap(jax.random.key)(np.arange(50, dtype=np.uint32))
    state = jax.jit(env.batch_reset)(keys)
    step, legal = jax.jit(env.step), jax.jit(env.legal)
    rng = np.random.default_rng(0)
    first = env.receptacles
    inside = first + env.players * env.hands
    slots = np.arange(env.objects)[:, None]
    for t in range(80):
        mask = np.asarray(legal(state))
        actions = np.argmax(mask * rng.random(mask.shape), axis=1)
        state, outcome = step(keys, state, actions.astype(np.int32))
        assert not outcome.metrics["illegal"].any()
        place = np.asarray(state.place)
        there = np.asarray(state.object_kind) != NONE
        assert (place[~there] == NONE).all()
        holders = np.isin(env.catalog.object_kinds, ["basket", "tray", "crate"])
        container = there & holders[np.minimum(state.object_kind, len(holders) - 1)]
        assert (place[there & ~container] < inside + env.objects).all()
        assert (place != inside + slots).all()
        for code in range(first, inside):
            assert ((place == code).sum(axis=0) <= 1).all()
        for o in range(env.objects):
            assert ((place == inside + o).sum(axis=0) <= 3).all()
        believed, seen = np.asarray(state.known_place), np.asarray(state.seen)
        assert (seen <= t + 1).all()
        now = seen == t + 1
        assert (believed[now] == np.broadcast_to(place, believed.shape)[now]).all()
        bits = np.asarray(state.bits)
        assert not ((bits & HOT > 0) & (bits & COOL > 0)).any()


def test_snapshots_go_on_as_they_were(one):
    visit = one.start(kitchen(*goal("mug", "cabinet"))).do("go counter top 1", "go fridge 1")
    again = restore(one.env, snapshot(one.env, visit.state))
    for said in (("take mug 1", "open"), ("go cabinet 1", "take apple 1"), ("open", "close")):
        visit.do(*said)
        actions = np.array([visit.number(each) for each in said], np.int32)
        again, _ = one.step(KEY, again, actions)
    for a, b in zip(jax.tree.leaves(visit.state), jax.tree.leaves(again), strict=True):
        assert np.array_equal(a, b)


# ---- homes that are drawn ------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["chore", "house", "transport", "follow"])
def test_drawn_homes_can_be_described(task):
    env = manyhands.make("home", task=task)
    states = jax.jit(env.batch_reset)(jax.vmap(jax.random.key)(np.arange(40, dtype=np.uint32)))
    names = [field.name for field in dataclasses.fields(states)]
    seen = set()
    for i in range(40):
        state = jax.tree.map(lambda leaf, i=i: np.asarray(leaf)[..., i], states)
        seen.add(int(state.task))
        text = env.task_space.describe(state)
        code = env.task_space.encode(text)  # which checks that the goal can be reached
        assert env.task_space.decode(code) == text
        if i < 3:
            again = env.reset_to(KEY, {"start": text})
            for name in names:
                assert np.array_equal(getattr(again, name), getattr(state, name)), name
        if task == "follow":
            continue
        wanted = [each["count"] for each in text["goal"]]
        if task == "house":
            assert 3 <= sum(wanted) <= 5
        if task == "transport":
            assert wanted == [10]
            assert sum(each["kind"] in ("basket", "tray", "crate") for each in text["objects"]) == 4
    assert len(seen) == len(env.tasks)


def test_equal_seeds_are_equal_homes():
    env = manyhands.make("home")
    reset = jax.jit(env.reset)
    first, again, other = (reset(episode_key(seed)) for seed in (5, 5, 6))
    assert all(
        itertools.starmap(np.array_equal, zip(*map(jax.tree.leaves, (first, again)), strict=True))
    )
    assert not np.array_equal(first.place, other.place)


def test_held_out_pairs_are_never_seen():
    pairs = {}
    for split in ("seen", "unseen"):
        env = manyhands.make("home", split=split)
        plans = env.plans
        kinds = env.catalog
        pairs[split] = {
            (kinds.object_kinds[thing], where)
            for thing, where in zip(plans.object.tolist(), plans.where.tolist(), strict=True)
        }
        states = jax.jit(env.batch_reset)(jax.vmap(jax.random.key)(np.arange(64, dtype=np.uint32)))
        drawn = zip(states.goal_kind[0].tolist(), states.goal_where[0].tolist(), strict=True)
        assert {(kinds.object_kinds[thing], where) for thing, where in drawn} <= pairs[split]
    assert not pairs["seen"] & pairs["unseen"]
    assert 0.1 < len(pairs["unseen"]) / len(pairs["seen"]) < 0.5
    sets = [
        {
            tuple(row)
            for row in manyhands.make("home", task="house", split=split).plans.sets.tolist()
        }
        for split in generator.SPLITS
    ]
    assert sets[0] == sets[1] | sets[2] and not sets[1] & sets[2] and sets[2]


def test_a_closed_receptacle_was_not_looked_into(one):
    visit = one.start(kitchen(*goal("mug", "cabinet")))
    fridge, counter = visit.places.index("fridge 1"), visit.places.index("counter top 1")
    assert visit.state.known_open[0, fridge] == UNSEEN
    assert visit.state.known_open[0, counter] == OPEN
    visit.alone("go fridge 1")
    assert visit.state.known_open[0, fridge] == SHUT
    assert visit.state.looked[0, fridge] == -1
    visit.alone("open")
    assert visit.state.looked[0, fridge] == 2


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"rooms": ["cellar"]}, "cellar"),
        ({"rooms": []}, "rooms"),
        ({"doors": [["kitchen", "kitchen"]]}, "two rooms"),
        ({"receptacles": [{"kind": "fridge", "colour": 1}]}, "colour"),
        ({"objects": [{"kind": "apple", "in": "moon 1"}]}, "moon"),
        ({"objects": [{"kind": "book", "in": "fridge 1"}]}, "book"),
        ({"objects": [{"kind": "apple", "in": "fridge 1", "state": ["hot", "cool"]}]}, "hot"),
        ({"objects": [{"kind": "apple", "in": "fridge 1", "target": True}]}, "target"),
        ({"goal": goal("apple", "bed")}, "bed"),
        ({"goal": goal("apple", "cabinet")}, "cabinet"),
        ({"goal": goal("mug", "cabinet", count=3)}, "3"),
        ({"goal": goal("book", "counter_top", "hot")}, "hot"),
        ({"goal": goal("mug", "cabinet", "sliced")}, "sliced"),
        ({"goal": goal("mug", "counter_top")}, "already"),
        ({"goal": goal("mug", "lamp")}, "lamp"),
        ({"goal": goal("mug", "cabinet") * 2}, "1"),
        ({"players": [{"room": "kitchen"}]}, "players"),
        ({"players": [{"at": "fridge 3"}, {}]}, "fridge 3"),
        ({"task": "wash"}, "wash"),
        ({"hello": 1}, "hello"),
    ],
)
def test_descriptions_that_are_no_homes_are_refused(one, change, match):
    start = {**kitchen(*goal("mug", "cabinet")), **change}
    with pytest.raises(ConfigError, match=match):
        one.env.reset_to(KEY, {"start": start})


@pytest.mark.parametrize(
    ("config", "match"),
    [
        ({"task": "cook"}, "cook"),
        ({"task": ["put", "tea"]}, "one family"),
        ({"task": []}, "list"),
        ({"players": 7}, "players"),
        ({"rooms": [3, 2]}, "least"),
        ({"rooms": 9}, "rooms"),
        ({"objects": 2}, "objects"),
        ({"hidden": ["object"]}, "hidden"),
        ({"told": "first", "hidden": ["colour"]}, "colour"),
        ({"task": "transport", "slicing": True}, "slicing"),
        ({"task": "house", "receptacles": 8}, "receptacles"),
        ({"task": "follow", "players": 1}, "players"),
        ({"view": "al"}, "all"),
    ],
)
def test_options_are_checked(config, match):
    with pytest.raises(ConfigError, match=match):
        manyhands.make("home", **config)


def test_codes_are_checked(one):
    space = one.env.task_space
    code = space.encode(kitchen(*goal("mug", "cabinet")))
    assert space.low.shape == space.high.shape == code.shape == (len(space.names),)
    for wrong in (code[1:], code.astype(float), code * 0 + 300):
        with pytest.raises(ConfigError, match="code"):
            space.decode(wrong)
    code[space.names.index("goal_kind")] = 60
    with pytest.raises(ConfigError):
        space.decode(code)
