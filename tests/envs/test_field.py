"""Fields: scenarios as data, rules by hand, parity of text and vector, words, players, searches."""

import functools
import json
import re

import jax
import numpy as np
import pytest

import manyhands
from manyhands.baselines.evaluation.matches import Lineup
from manyhands.core.batch import seats_of, view_of
from manyhands.core.env import ConfigError, IllegalAction, describe_with
from manyhands.core.probes import NOT_KNOWN
from manyhands.envs.mission import scenarios
from manyhands.envs.mission.field import levels, observe, solve
from manyhands.envs.mission.field.events import body_name
from manyhands.envs.mission.field.places import between
from manyhands.envs.mission.field.scenario import SHIPPED
from manyhands.envs.mission.field.state import CELLS, CODES, HEADINGS, MARKS, End
from manyhands.testing import problems_of

# What compiles quickly and uses most of the rules; the other scenarios are left to the slow tests.
QUICK = ("door_key", "hide_and_seek", "capture", "maze_pair", "cleanup")


def marked(names, quick=QUICK):
    return [pytest.param(name, marks=[pytest.mark.slow] * (name not in quick)) for name in names]


@functools.lru_cache
def make(name, **options):
    return manyhands.make("mission", scenario=name, **options)


def own(like, **fields):
    """A field of its own, like a shipped one."""
    return manyhands.make("mission", scenario={"like": like, **fields})


host = jax.device_get  # texts take states apart: of JAX's arrays, that is a call for each number


@functools.lru_cache
def compiled(env, name="step"):
    return jax.jit(getattr(env, name))


def reset(env, seed=0):
    return host(compiled(env, "reset")(jax.random.key(seed)))


def legal_in(env, state):
    return np.asarray(compiled(env, "legal")(state))


def act(env, state, *names, seed=0):
    """The state and the outcome after actions by name; the last one stands for the rest."""
    words = [*names, *[names[-1]] * (env.num_agents - len(names))]
    actions = np.array([env.plan.actions.index(word) for word in words], np.int32)
    return host(compiled(env)(jax.random.key(seed), state, actions))


def begin(env, lines=None, **bodies):
    """A state with a map, and bodies at (row, column) or with fields."""
    fields = {
        name: given if isinstance(given, dict) else {"position": list(given)}
        for name, given in bodies.items()
    }
    start = {"bodies": fields} | ({"map": lines} if lines else {})
    return host(env.reset_to(jax.random.key(0), {"start": start}))


def at(env, state, name):
    return env.to_dict(state)["bodies"][name]["position"]


# ---- rules by hand -------------------------------------------------------------------------------


def test_of_several_who_want_a_cell_one_moves_by_turns():
    env = own("coins", map=["S,,,,", ",,,,,", "c,,,S"], growth=[], stages=["moves", "takes"])
    now = begin(env, player_0=(1, 1), player_1=(1, 3))
    after, outcome = act(env, now, "east", "west")
    assert at(env, after, "player_0") == [1, 2] and at(env, after, "player_1") == [1, 3]
    assert outcome.metrics["blocked"] == 1
    now, _ = act(env, now, "stay")  # the clock goes on, and it is the other's turn
    after, _ = act(env, now, "east", "west")
    assert at(env, after, "player_0") == [1, 1] and at(env, after, "player_1") == [1, 2]
    now = begin(env, player_0=(1, 1), player_1=(1, 2))
    after, _ = act(env, now, "east", "west")  # none swap
    assert at(env, after, "player_0") == [1, 1]
    after, _ = act(env, now, "east", "east")  # one follows
    assert at(env, after, "player_0") == [1, 2] and at(env, after, "player_1") == [1, 3]
    after, _ = act(env, now, "east", "stay")
    assert at(env, after, "player_0") == [1, 1]
    edge = legal_in(env, begin(env, player_0=(0, 4), player_1=(2, 0)))
    assert edge[:, 1:5].tolist() == [[False, True, True, False], [True, False, False, True]]


@pytest.mark.parametrize(
    ("conflict", "actions", "moved"),
    [
        ("cancel", ("east", "west"), []),
        ("share", ("east", "west"), [0, 1]),
        ("chain", ("east", "west"), [0]),
    ],
)
def test_conflicts_are_data(conflict, actions, moved):
    env = own("coins", map=["S,,,,", "c,,,S"], growth=[], stages=["moves", "takes"],
              conflict=conflict)  # fmt: skip
    now = begin(env, player_0=(0, 1), player_1=(0, 3))
    after, _ = act(env, now, *actions)
    there = [at(env, after, f"player_{i}") == [0, 2] for i in range(2)]
    assert np.flatnonzero(there).tolist() == moved


def test_coins_cost_their_owner():
    env = make("coins")
    lines = [",,,,,,,,,"] * 7
    lines[3] = ",,c,,d,,,"
    now = begin(env, lines, player_0=(3, 1), player_1=(3, 4))
    _, outcome = act(env, now, "east", "east")
    assert outcome.reward.tolist() == [1, 1]
    after, outcome = act(env, begin(env, lines, player_0=(2, 5), player_1=(6, 0)), "south", "stay")
    assert outcome.reward.tolist() == [1, -2]
    assert env.to_dict(after)["map"][3] == ",,c,,,,,,"


def test_boxes_are_pushed_and_locked():
    env = own("hide_and_seek", generator=None, size=None,
              map=["S.b..T", ".....T", "S....."])  # fmt: skip
    now = begin(env, hider_0=(0, 1), hider_1=(2, 3), seeker_0=(0, 5), seeker_1=(2, 5))
    pushed, _ = act(env, now, "east", "stay")
    assert env.to_dict(pushed)["map"][0] == "...b.." and at(env, pushed, "hider_0") == [0, 2]
    locked, _ = act(env, pushed, "lock", "stay")
    assert env.to_dict(locked)["map"][0][3] == "Z"
    assert "unlock" in [choice.text for choice in env.choices(locked, 0)]
    after, _ = act(env, locked, "east", "stay")
    assert at(env, after, "hider_0") == [0, 2]
    with pytest.raises(IllegalAction, match="locked"):
        env.parse("lock the box", locked, 0)
    # Nobody pushes onto a cell that another wants.
    both = begin(env, hider_0=(0, 1), hider_1=(1, 3), seeker_0=(1, 5), seeker_1=(2, 5))
    after, _ = act(env, both, "east", "north", "stay")
    assert env.to_dict(after)["map"][0] == "..b..." and at(env, after, "hider_1") == [0, 3]


def test_a_box_at_the_edge_is_not_offered_to_be_pushed():
    env = own("hide_and_seek", generator=None, size=None,
              map=["S....T", "...b.T", "S....."])  # fmt: skip
    now = begin(env, hider_0=(0, 0), hider_1=(1, 2), seeker_0=(0, 5), seeker_1=(2, 5))
    effects = []
    for _ in range(3):
        effects += [c.effect for c in env.choices(now, 1) if c.text == "east"]
        now, _ = act(env, now, "stay", "east")
    assert "push the box to row 1, column 4" in effects[0]
    assert "cannot be pushed: the edge of the field is behind it" in effects[2]
    assert env.to_dict(now)["map"][1] == ".....b" and at(env, now, "hider_1") == [1, 4]


def test_who_hides_is_seen_along_lines():
    env = own("hide_and_seek", generator=None, size=None, sight=4,
              map=["S.#..T", "..#..T", "S....b"])  # fmt: skip
    now = begin(env, hider_0=(0, 0), hider_1=(1, 0), seeker_0=(0, 4), seeker_1=(1, 4))
    for step in range(21):
        now, outcome = act(env, now, "stay")
        assert outcome.reward.tolist() == ([0] * 4 if step < 20 else [1, 1, -1, -1])
    now, outcome = act(env, now, "stay", "south", "stay", "stay")
    now, outcome = act(env, now, "stay", "stay", "stay", "south")
    assert outcome.reward.tolist() == [-1, -1, 1, 1]


def test_lines_of_sight_go_both_ways():
    lines, side = between(4), 9
    for cell in range(side * side):
        back = side * side - 1 - cell
        dy, dx = cell // side - 4, cell % side - 4
        there = {(k // side - 4, k % side - 4) for k in np.flatnonzero(lines[cell])}
        returning = {(k // side - 4 + dy, k % side - 4 + dx) for k in np.flatnonzero(lines[back])}
        assert there == returning
    assert lines[4 * side + 7].sum() == 2  # two cells between


def test_tags_freeze():
    env = own("tag", generator=None, size=None, map=["S....S", "..T..T", "......"])
    now = begin(env, tagger_0=(0, 2), tagger_1=(2, 5), runner_0=(1, 2), runner_1=(0, 5))
    for _ in range(3):
        assert not legal_in(env, now)[0, 1:].any()  # taggers wait
        now, _ = act(env, now, "stay")
    after, outcome = act(env, now, "tag", "stay")
    assert outcome.terms["hit"].tolist() == [1, 1, 0, 0]
    assert outcome.reward.tolist() == [1, 1, -1, -1]
    assert "cannot act for 6 steps" in env.choices(after, "runner_0")[0]
    legal = legal_in(env, after)
    assert not legal[2, 1:].any() and legal[0].tolist()[5] is False  # its beam cools down
    for step in range(6):
        assert not legal_in(env, after)[2, 1:].any(), step
        after, _ = act(env, after, "stay")
    assert legal_in(env, after)[2, 1:5].any()


@pytest.mark.parametrize("name", ["harvest", "cleanup", "mining", "tag"])
def test_choices_tell_what_a_beam_meets(name):
    """Where all others stay, it does to whom and to what its choice says."""
    env = make(name)
    plan, step, draw = env.plan, compiled(env), np.random.default_rng(0)
    now, key, said_so = reset(env, 3), jax.random.key(0), 0
    for _ in range(50):
        for agent in range(env.num_agents):
            for choice in env.choices(now, agent):
                verb = plan.actions[int(choice.action)]
                if verb not in plan.beams:
                    continue
                only = np.zeros(env.num_agents, np.int32)
                only[agent] = choice.action
                after = host(step(key, now, only)[0])
                said = choice.partition(": ")[2]
                found = {event["event"] for event in env.last_events(after, None)}
                if verb == "clean":
                    gone = np.sum(now.cells == CODES["dirt"]) - np.sum(after.cells == CODES["dirt"])
                    assert (f"{gone} cell" if gone else "there is none now") in said
                elif verb == "mine":
                    ore = re.search(r"strike the (\w+) ore at row", said)
                    assert bool(found) == bool(ore) or "now" not in said
                    assert not ore or ({"iron": "iron", "gold": "strike"}[ore[1]] in found)
                else:
                    struck = {event["agent"] for event in env.last_events(after, None)
                              if event["event"] == "struck"}  # fmt: skip
                    assert struck == set(re.findall(r"(\w+_\d) \(", said))
                    assert struck or "nobody is there now" in said
                said_so += bool(found)
        moves = [draw.choice(np.flatnonzero(row[: 1 + plan.moves])) for row in legal_in(env, now)]
        now = host(step(key, now, np.array(moves, np.int32))[0])
    assert said_so


def test_flags_are_fetched_and_brought_home():
    env = own("flag", generator=None, size=None, map=["::::;;;;", "P::;;;;Q", "::::;;;;"])
    now = begin(env, blue_0=(1, 6), blue_1=(0, 0), red_0=(0, 4), red_1=(2, 4))
    now, _ = act(env, now, "east", "stay")
    assert env.to_dict(now)["bodies"]["blue_0"]["carrying"] == "flag_1"
    assert env.to_dict(now)["map"][1][7] == "q"
    # It is caught on the land of red, and goes home with the flag going back.
    caught = begin(env, blue_0=(1, 6), blue_1=(0, 0), red_0=(1, 4), red_1=(2, 4))
    caught, _ = act(env, caught, "stay", "stay", "east", "stay")
    assert at(env, caught, "blue_0") == [1, 6]  # where it started here
    assert "caught" in env.to_dict(caught)["bodies"]["blue_0"]["did"]
    home = begin(env, blue_0={"position": [1, 1], "carrying": "flag_1"}, blue_1=(0, 0),
                 red_0=(0, 6), red_1=(2, 6))  # fmt: skip
    home, outcome = act(env, home, "west", "stay")
    assert outcome.terms["delivery"].tolist() == [1, 1, 0, 0]
    assert outcome.reward.tolist() == [1, 1, -1, -1]
    assert env.to_dict(home)["scores"] == {"blue": 1, "red": 0}


def test_doors_open_by_keys_and_plates():
    env = own("door_key", generator=None, size=None, map=["Sk.1.v2v", "S..#..#X"])
    now = begin(env, player_0=(0, 0), player_1=(1, 0))
    assert env.optimal_steps(now) == brute_force(env, now)
    now, _ = act(env, now, "east", "stay")
    assert env.to_dict(now)["bodies"]["player_0"]["carrying"] == "key_1"
    dropped, _ = act(env, now, "east", "stay")
    dropped, _ = act(env, dropped, "drop", "stay")
    assert env.to_dict(dropped)["map"][0] == "..k1.v2v"
    now, _ = act(env, now, "east", "east")
    assert legal_in(env, now)[1, env.plan.actions.index("north")]
    now, _ = act(env, now, "east", "stay")  # into the door, which is open for good
    found = env.to_dict(now)
    assert found["doors"] == {"1": 2, "2": 0} and found["bodies"]["player_0"]["carrying"] == ""
    now, _ = act(env, now, "east", "stay")
    now, _ = act(env, now, "east", "stay")  # on the plate of door 2
    assert env.to_dict(now)["doors"]["2"] == 1 and "2 open" in env.describe(now, 1)
    off, _ = act(env, now, "west", "stay")
    assert env.to_dict(off)["doors"]["2"] == 0


def brute_force(env, state):
    """The fewest steps to the goal, by the rules themselves."""
    words = ("stay", "north", "south", "west", "east")
    front, seen, step = [state], set(), 0
    moves = [(a, b) for a in range(len(words)) for b in range(len(words))]
    actions = np.array(moves, np.int32).T
    stepped = jax.jit(env.batch_step)
    keys = jax.random.split(jax.random.key(0), len(moves))
    while front:
        step += 1
        new = []
        for one in front:
            wide = jax.tree.map(lambda leaf: np.repeat(np.asarray(leaf)[..., None], 25, -1), one)
            after, outcome = jax.device_get(stepped(keys, wide, actions))
            if outcome.terms["win"][0].any():
                return step
            for k in range(25):
                each = jax.tree.map(lambda leaf, k=k: leaf[..., k], after)
                name = tuple(
                    np.asarray(v).tobytes()
                    for v in (each.row, each.column, each.cells, each.doors, each.carry)
                )
                if name not in seen:
                    seen.add(name)
                    new.append(each)
        front = new
    return None


def test_beams_take_out_and_walls_stop_them():
    env = own("harvest", map=["S.S.S#S", ".......", "S.....S"],
              teams=[{"name": "players", "member": "player", "count": 4, "verbs": ["zap"]}],
              growth=[{"what": "apple", "rates": [0]}])  # fmt: skip
    spots = {"player_1": (1, 3), "player_2": (2, 2), "player_3": (0, 6)}
    now = begin(env, player_0={"position": [1, 1], "heading": "east"}, **spots)
    after, _ = act(env, now, "zap", "stay")
    out = [env.to_dict(after)["bodies"][f"player_{i}"]["out"] for i in range(4)]
    assert out == [0, 4, 4, 0]  # 3 ahead and 1 to each side
    for _ in range(4):
        assert at(env, after, "player_1") is None
        after, _ = act(env, after, "stay")
    assert at(env, after, "player_1") == [1, 3]
    wall = begin(env, player_0={"position": [0, 4], "heading": "east"}, **spots)
    after, _ = act(env, wall, "zap", "stay")
    assert at(env, after, "player_3") is not None


def test_gold_takes_two_within_three_steps():
    env = own("mining", map=["S,*,S", ",,+,,", "S,,,S"], growth=[{"what": "iron", "rates": [0]}],
              beams={"mine": {"effect": "mine", "length": 1}})  # fmt: skip
    spots = {"miner_2": (2, 0), "miner_3": (2, 4)}
    east, west = {"heading": "east"}, {"heading": "west"}
    now = begin(env, miner_0={"position": [0, 1], **east}, miner_1={"position": [0, 3], **west},
                **spots)  # fmt: skip
    _, outcome = act(env, now, "mine", "mine", "stay")
    assert outcome.reward.tolist() == [8, 8, 0, 0]
    one, outcome = act(env, now, "mine", "stay")
    assert outcome.reward.tolist() == [0] * 4
    assert "strike at gold counts for 2 steps more" in env.describe(one, 1)
    for wait, paid in ((1, True), (2, False)):
        later = one
        for _ in range(wait):
            later, _ = act(env, later, "stay")
        assert f"counts {'for 1 step' if paid else 'no'} more" in env.describe(later, 0)
        _, outcome = act(env, later, "stay", "mine", "stay")
        assert (outcome.reward.tolist() == [8, 8, 0, 0]) is paid
    iron = begin(env, miner_0={"position": [1, 1], **east}, miner_1={"position": [1, 3], **west},
                 **spots)  # fmt: skip
    after, outcome = act(env, iron, "mine", "mine", "stay")
    assert outcome.reward.tolist() == [1, 0, 0, 0] and env.to_dict(after)["map"][1] == ",,,,,"


def test_a_pair_moves_by_agreement():
    env = make("maze_pair")
    now = begin(env, ["......", ".#....", "......", "......", "......", ".....X"],
                player_0=(0, 0), player_1=(0, 0))  # fmt: skip
    after, outcome = act(env, now, "east", "south")
    assert at(env, after, "player_0") == [0, 0] and outcome.metrics["agreed"] == 0
    after, outcome = act(env, now, "east", "east")
    assert at(env, after, "player_1") == [0, 1] and outcome.metrics["agreed"] == 1
    after, outcome = act(env, after, "south", "south")  # a wall
    assert at(env, after, "player_1") == [0, 1] and outcome.metrics["blocked"] == 2
    assert env.optimal_steps(now) == 10
    seen = env.to_dict(now)["sees"]
    both = np.array([[list(map(int, line)) for line in seen[name]] for name in env.agents]).sum(0)
    assert both[0, 0] == both[5, 5] == 2 and both.sum() == 36 + 2


def test_turned_maps_name_the_same_ways_otherwise():
    env = manyhands.make("mission", scenario="maze_pair", coordinates="turned")
    lines = ["......", ".#....", "......", "......", "......", ".....X"]
    now = begin(env, lines, player_0=(0, 1), player_1=(0, 1))
    assert "row 0, column 1" in env.describe(now, 0) and "row 5, column 4" in env.describe(now, 1)
    after, _ = act(env, now, "east", "west")
    assert at(env, after, "player_0") == [0, 2]
    after, _ = act(env, now, "east", "east")
    assert at(env, after, "player_0") == [0, 1]
    legal = legal_in(env, now)
    north, south = (env.plan.actions.index(way) for way in ("north", "south"))
    assert not legal[0, north] and legal[0, south] and legal[1, north] and not legal[1, south]


def test_an_evader_is_caught_by_two():
    env = own("pursuit", generator=None, size=None, map=["S..S", ".##.", "S..."],
              teams=[{"name": "chasers", "member": "chaser", "count": 2},
                     {"name": "evaders", "member": "evader", "count": 1, "mind": "flee",
                      "rest": 1}])  # fmt: skip
    now = begin(env, chaser_0=(0, 0), chaser_1=(2, 3), evader=(0, 2))
    now, outcome = act(env, now, "east", "stay")
    assert not outcome.terminated.any()
    now, outcome = act(env, now, "stay", "north")
    now, outcome = act(env, now, "stay", "north")
    assert outcome.terminated.all() and outcome.terms["win"].tolist() == [1, 1]
    assert env.to_dict(now)["bodies"]["evader"]["position"] is None
    assert not env.legal(now).any() and "over" in env.describe(now, 0)


def test_walkers_meet():
    env = make("rendezvous")
    now = begin(env, ["........"] * 8, walker_0=(0, 0), walker_1=(0, 2), walker_2=(0, 1))
    assert env.optimal_steps(now) == 1
    _, outcome = act(env, now, "east", "west", "stay")
    assert outcome.terminated.all() and outcome.terms["win"].tolist() == [1, 1, 1]


# ---- growth --------------------------------------------------------------------------------------


def grown(env, lines, steps=1, count=4000):
    """Shares of how often each cell has another mark after some steps of staying."""
    now = begin(env, lines)
    keys = jax.random.split(jax.random.key(7), count)
    wide = jax.tree.map(lambda leaf: np.repeat(np.asarray(leaf)[..., None], count, -1), now)
    stay = np.zeros((env.num_agents, count), np.int32)
    after, _ = jax.jit(env.batch_step)(keys, wide, stay)
    different = np.asarray(after.cells) != np.asarray(now.cells)[:, None]
    return different.mean(-1).reshape(env.size), np.asarray(after.cells)


def test_apples_grow_as_published():
    env = own(
        "harvest",
        map=["S......", ",,,,,,,", ",,,,,,,", ",,,,,,,"],
        teams=[{"name": "players", "member": "player", "count": 1, "verbs": ["zap"]}],
    )
    rates, _ = grown(env, ["S......", "o,,,,,,", ",,,o,o,", ",,,,,o,"], count=60_000)
    deviation = 4 * np.sqrt(0.025 / 60_000)
    for (y, x), rate in {(1, 1): 0.0025, (2, 1): 0.005, (2, 4): 0.025, (3, 0): 0.0025,
                         (3, 1): 0.0}.items():  # fmt: skip
        expected = 0.005 if (y, x) == (2, 1) else rate
        assert abs(rates[y, x] - expected) < deviation, (y, x, rates[y, x])
    assert rates[2, 3] == 0  # an apple stays


def test_apples_need_a_clean_river():
    fields = {"growth": [{"what": "apple", "rates": [0.05], "dirt_limit": 0.4},
                         {"what": "dirt", "rates": [0.5], "after": 0, "one": True}],
              "teams": [{"name": "players", "member": "player", "count": 1,
                         "verbs": ["clean", "zap"]}]}  # fmt: skip
    env = own("cleanup", map=["~~~~~~~~~~", "S.........", ",,,,,,,,,%"], **fields)
    for dirty, factor in ((0, 1.0), (2, 0.5), (4, 0.0), (6, 0.0)):
        lines = ["%" * dirty + "~" * (10 - dirty), "..........", ",,,,,,,,,."]
        rates, cells = grown(env, lines)
        mean = rates[2, :9].mean()
        assert abs(mean - 0.05 * factor) < 4 * np.sqrt(0.05 / 36_000), (dirty, mean)
        new = (cells[:10] == CODES["dirt"]).sum(0) - dirty
        assert set(np.unique(new)) <= {0, 1} and abs(new.mean() - 0.5) < 0.04


def test_a_beam_cleans_the_river():
    env = own("cleanup", map=["%%%%", "%%%%", "S..,"],
              teams=[{"name": "players", "member": "player", "count": 1,
                      "verbs": ["clean", "zap"]}])  # fmt: skip
    now = begin(env, player_0={"position": [2, 1], "heading": "north"})
    after, _ = act(env, now, "clean")
    assert env.to_dict(after)["map"][:2] == ["~~~%", "~~~%"]


# ---- rooms: graph machines written from the published rules --------------------------------------

CAPTURE = {1: (2, 6), 2: (1, 3), 3: (2, 4), 4: (3, 5), 5: (4, 6, 7), 6: (1, 5, 9), 7: (5, 8),
           8: (7,), 9: (6,)}  # fmt: skip
ESCAPE = {1: (2, 10), 2: (1, 3), 3: (2, 4, 8), 4: (3, 5), 5: (4, 6), 6: (5, 7), 7: (6, 8),
          8: (3, 7, 9), 9: (8, 10), 10: (1, 9)}  # fmt: skip


class Capture:
    """Two hunters, a thief who knows their plans, and two doors with buttons."""

    def __init__(self):
        self.rooms, self.thief = [1, 6], 2
        self.open = {frozenset((1, 2)): False, frozenset((3, 4)): True}

    def exits(self, room):
        return [other for other in CAPTURE[room] if self.open.get(frozenset((room, other)), True)]

    def actions(self, i):
        room = self.rooms[i]
        return ["stay", *(f"go to room {k}" for k in self.exits(room)),
                *["press"] * (room in (8, 9))]  # fmt: skip

    def step(self, said):
        for room, word in zip(self.rooms, said, strict=True):
            if word == "press":
                door = frozenset((3, 4)) if room == 8 else frozenset((1, 2))
                self.open[door] = not self.open[door]
        planned = [int(word.split()[-1]) if word.startswith("go") else room
                   for room, word in zip(self.rooms, said, strict=True)]  # fmt: skip
        new = [to if to in [room, *self.exits(room)] else room
               for room, to in zip(self.rooms, planned, strict=True)]  # fmt: skip
        options = sorted(self.exits(self.thief))
        flees = self.thief
        if options:
            flees = max(options, key=lambda k: (min(abs(k - plan) for plan in planned), -k))
        caught = any(to == flees or (to == self.thief and room == flees)
                     for room, to in zip(self.rooms, new, strict=True))  # fmt: skip
        self.rooms, self.thief = new, flees
        return caught


def test_capture_is_the_published_game():
    env, draws, catches = make("capture"), np.random.default_rng(0), 0
    may = compiled(env, "legal")
    for _ in range(40):
        machine, now = Capture(), reset(env)
        for _ in range(15):
            legal = np.asarray(may(now))
            for i in range(2):
                open_ = [env.plan.actions[k] for k in np.flatnonzero(legal[i])]
                assert sorted(open_) == sorted(machine.actions(i))
            said = [str(draws.choice(machine.actions(i))) for i in range(2)]
            caught = machine.step(said)
            now, outcome = act(env, now, *said)
            found = env.to_dict(now)
            rooms = [int(found["bodies"][name]["room"]) for name in env.agents]
            doors = [bool(found["doors"][k]) for k in "12"]
            assert rooms == machine.rooms and doors == list(machine.open.values())
            assert outcome.terminated.all() == caught
            if caught:
                catches += 1
                break
            assert int(found["bodies"]["thief"]["room"]) == machine.thief
    assert catches > 5


def test_escape_is_the_published_game():
    env, draws, ended = make("escape"), np.random.default_rng(1), set()
    for _ in range(60):
        now, rooms, killer = reset(env), [1, 2], 6
        fixed, broken, after_whom = {1: 0, 6: 0}, {1, 6}, None
        for step in range(25):
            said = []
            for room in rooms:
                words = [f"go to room {k}" for k in ESCAPE[room]]
                fix = ["repair"] * 3 if room in broken else []
                said.append(str(draws.choice(["stay", *words, *fix])))
            now, outcome = act(env, now, *said, seed=int(draws.integers(1000)))
            found = env.to_dict(now)
            new = [int(w.split()[-1]) if w.startswith("go") else room
                   for room, w in zip(rooms, said, strict=True)]  # fmt: skip
            near = [i for i, room in enumerate(rooms) if room in ESCAPE[killer]]
            moved = int(found["bodies"]["killer"]["room"])
            if near:
                after_whom = after_whom if after_whom in near else near[0]
                assert moved == rooms[after_whom]
            else:
                after_whom = None
                assert moved in ESCAPE[killer]
            met = {i for i, to in enumerate(new) if to == moved}
            for machine in (1, 6):
                works = any(
                    room == machine and w == "repair" and i not in met
                    for i, (room, w) in enumerate(zip(rooms, said, strict=True))
                )
                fixed[machine] = fixed[machine] + 1 if works else 0
                if fixed[machine] >= 2:
                    broken.discard(machine)
            escaped = not met and not broken and 7 in new
            assert outcome.terminated.all() == bool(met or escaped), (step, said)
            assert outcome.reward.tolist() == [1.0 * escaped - bool(met)] * 2
            rooms, killer = new, moved
            if met or escaped:
                ended.add(bool(escaped))
                break
            there = {int(k) for k, what in found["rooms"].items() if what == "machine"}
            assert there == broken
    assert ended  # somebody was caught, at least


# ---- scenarios -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_scenarios_are_files(name, tmp_path):
    found = scenarios.load(name)
    assert found["name"] == name and found["aim"]
    file = tmp_path / "own.json"
    file.write_text(json.dumps(found))
    env = manyhands.make("mission", scenario=str(file))
    assert env == make(name) and env == manyhands.make(**{"id": "mission", **env.config()})
    assert len(env.rules(0)) <= 5000 and env.agents[0] in env.rules(0)
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(found, scenarios.SCHEMA)


TEAMS = [{"name": "players", "member": "player", "count": 2}]


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"like": "pursuits"}, "pursuit"),
        ({"teams": TEAMS}, "stages"),
        ({"like": "pursuit", "sigth": 3}, "sight"),
        ({"like": "pursuit", "sight": "far"}, "far"),
        ({"like": "pursuit", "stages": ["moves", "fly"]}, "fly"),
        ({"like": "pursuit", "stages": ["moves"]}, "minds"),
        ({"like": "pursuit", "rewards": {"winn": 1}}, "winn"),
        ({"like": "pursuit", "rewards": {"win": "much"}}, "much"),
        ({"like": "pursuit", "captures": [{"team": "evaders", "by": "wolves"}]}, "wolves"),
        ({"like": "pursuit", "generator": {"kind": "open", "density": 2}}, "density"),
        ({"like": "pursuit", "generator": {"kind": "moon"}}, "moon"),
        ({"like": "pursuit", "map": ["S.S", "S.."]}, "map"),
        ({"like": "coins", "map": ["S?,", ",,S"]}, "[?]"),
        ({"like": "coins", "map": ["S,", ",,S"]}, "2, 3"),
        ({"like": "coins", "map": ["S#,", "##S"]}, "no way"),
        ({"like": "coins", "players": 1}, "coin_1"),
        ({"like": "door_key", "map": ["S1X"], "generator": None, "size": None}, "goal"),
        ({"like": "capture", "rooms": {"exits": {"1": ["2"], "2": []}, "starts": {}}}, "starts"),
        ({"like": "harvest", "teams": [{**TEAMS[0], "verbs": ["zapp"]}]}, "zapp"),
        ({"like": "harvest", "teams": [{**TEAMS[0], "count": 11}]}, "11"),
        ({"like": "maze_pair", "players": 3}, "two"),
        ({"like": "hide_and_seek", "sight": None}, "sight"),
        # What would do nothing, or does not go together.
        ({"like": "coins", "rewards": {"apple": 1}}, "apple"),
        ({"like": "coins", "ends": [{"when": "meet", "team": "players"}],
          "stages": ["moves", "takes", "growth", "ends"]}, "share"),
        ({"like": "harvest", "beams": {"zap": {"effect": "clean", "around": 1}}}, "dirt"),
        ({"like": "harvest", "beams": {"zap": {"effect": "out"}}}, "0 steps"),
        ({"like": "pursuit", "captures": [{"team": "evaders", "by": "chasers",
                                           "effect": "home"}]}, "for good"),
        ({"like": "pursuit", "captures": [{"team": "evaders", "by": "chasers",
                                           "land": True}]}, "land"),
        ({"like": "capture", "captures": [{"team": "thieves", "by": "hunters"}]}, "reach"),
        ({"like": "capture", "sight": 2}, "sight"),
        ({"like": "rendezvous", "masks": True, "players": 2}, "agree"),
        ({"like": "hide_and_seek", "generator": {"kind": "open", "density": 0.2}}, "box"),
        ({"like": "pursuit", "teams": [TEAMS[0], {**TEAMS[0], "name": "others",
                                                  "member": "other", "mind": "thief"}],
          "captures": [{"team": "others", "by": "players"}],
          "ends": [{"when": "caught", "team": "others"}], "rewards": {}}, "thief"),
    ],
)  # fmt: skip
def test_wrong_fields_are_refused(fields, match):
    with pytest.raises(ConfigError, match=match):
        manyhands.make("mission", scenario=fields)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"scenario": "pursuit", "observation": "whole"}, "whole"),
        ({"scenario": "pursuit", "foods": 3}, "foods"),
        ({"scenario": "pursuit", "egocentric": True}, "grid"),
        ({"scenario": "foraging", "levels": 3}, "levels"),
        ({"scenario": "pursuit", "levels": 0}, "levels"),
    ],
)
def test_wrong_options_are_refused(options, match):
    with pytest.raises(ConfigError, match=match):
        manyhands.make("mission", **options)


# ---- scenarios of one's own ----------------------------------------------------------------------


def team(name, count, *verbs, **more):
    return {"name": name, "member": name[:-1], "count": count, "verbs": list(verbs), **more}


OWN = {
    # Sweepers who clean all around them, and rats that eat their apples.
    "sweepers": {
        "teams": [team("sweepers", 2, "sweep"), team("rats", 1, mind="wander", rest=3)],
        "stages": ["minds", "moves", "beams", "captures", "takes", "growth", "ends"],
        "map": ["S~%~,", "..%.,", "S...T", "oo.%~"],
        "beams": {"sweep": {"effect": "clean", "around": 2, "cooldown": 1}},
        "captures": [{"team": "rats", "by": "sweepers", "reach": 1, "effect": "home"}],
        "growth": [{"what": "dirt", "rates": [0.05]}, {"what": "apple", "rates": [0.02]}],
        "ends": [{"when": "gone", "what": "dirt", "wins": "sweepers"}],
        "rewards": {"clean": 0.5, "apple": 1, "win": 3, "capture": 0.2},
    },
    # Miners who strike what is near, whatever way they face, behind a door with a plate.
    "vault": {
        "teams": [team("miners", 3, "dig", "hook")],
        "stages": ["presses", "moves", "beams", "growth", "plates"],
        "conflict": "cancel",
        "map": ["S.u1+*", "S..##.", "S...#+"],
        "beams": {
            "dig": {"effect": "mine", "around": 2},
            "hook": {"effect": "home", "length": 2, "cooldown": 3},
        },
        "growth": [{"what": "iron", "rates": [0.01]}],
        "mining": [2, 2],
        "rewards": {"iron": 1, "gold": 4, "struck": -1},
        "sight": 3,
    },
    # Three teams: cats freeze hens beside them, hens run to goals, a dog chases all.
    "yard": {
        "teams": [
            team("cats", 1, "bite", wait=2),
            team("hens", 2),
            team("hounds", 1, mind="chase", rest=2),
        ],
        "stages": ["minds", "moves", "beams", "captures", "goals", "ends"],
        "conflict": "chain",
        "map": ["S..#X", ".T.#.", ".T...", "U...X"],
        "beams": {"bite": {"effect": "freeze", "around": 1, "steps": 3, "cooldown": 4}},
        "captures": [{"team": "cats", "by": "hounds", "reach": 1, "effect": "freeze", "steps": 2}],
        "ends": [{"when": "goal", "team": "hens", "all": False, "wins": "hens"}],
        "rewards": {"hit": 1, "struck": -1, "caught": -1, "win": 2, "loss": -2},
        "sight": 2,
        "lines": True,
    },
    # Several may be on one cell: they carry keys to a vault and meet there.
    "couriers": {
        "teams": [team("couriers", 2, "drop")],
        "stages": ["presses", "moves", "takes", "drops", "goals", "ends"],
        "conflict": "share",
        "map": ["S.k.#.", "..l.1X", "S...2."],
        "ends": [{"when": "meet", "team": "couriers"}, {"when": "goal", "team": "couriers"}],
        "rewards": {"key": 0.1, "open": 0.5, "goal": 1, "drop": -0.1},
    },
    # Rooms with a generator, a button and a hunter who wanders.
    "cellar": {
        "teams": [team("workers", 2, "press", "repair"), team("ghosts", 1, mind="wander")],
        "stages": ["minds", "presses", "moves", "captures", "repairs", "ends"],
        "conflict": "share",
        "rooms": {
            "exits": {"a": ["b", "c"], "b": ["a", "d"], "c": ["a"], "d": ["b"]},
            "doors": [["b", "d", 1]],
            "marks": {"c": "r", "d": "M"},
            "starts": {"workers": ["a", "b"], "ghosts": ["c"]},
        },
        "work": 2,
        "captures": [{"team": "workers", "by": "ghosts", "reach": 0}],
        "ends": [
            {"when": "caught", "team": "workers"},
            {"when": "goal", "team": "workers", "repaired": True},
        ],
        "rewards": {"repair": 1, "caught": -1},
    },
}
OWN["cellar"]["rooms"]["marks"]["a"] = "X"


@pytest.mark.parametrize("name", marked(OWN, ()))
def test_odd_scenarios_keep_the_contract(name):
    env = manyhands.make("mission", scenario={**OWN[name], "max_steps": 20})
    assert not list(problems_of(env, steps=8))


def test_verbs_around_one_reach_what_is_on_cells():
    still = [{"what": "apple", "rates": [0]}]
    env = manyhands.make("mission", scenario={**OWN["sweepers"], "growth": still})
    lines = ["~~%~~", "..%.,", ".....", "%%.%~"]
    now = begin(env, lines, sweeper_0=(1, 1), sweeper_1=(2, 4), rat=(2, 0))
    after, outcome = act(env, now, "sweep", "stay")
    assert outcome.terms["clean"].tolist() == [3, 0]  # (0, 2), (1, 2), (3, 1); not (3, 0), (3, 3)
    left = env.to_dict(after)["map"]
    assert left[0][2] == left[1][2] == left[3][1] == "~" and left[3][0] == left[3][3] == "%"

    env = manyhands.make("mission", scenario=OWN["vault"])
    lines = ["..u1+*", "+..##.", "....#+"]
    now = begin(env, lines, miner_0=(2, 0), miner_1=(0, 0), miner_2=(1, 5))
    after, outcome = act(env, now, "dig", "stay", "dig")
    # Of two beside one, the first in reading order: gold, which takes two.
    assert outcome.terms["iron"].tolist() == [1, 0, 0]
    assert env.to_dict(after)["map"][1][0] == ","


# ---- parity --------------------------------------------------------------------------------------


def decoded(env, text, agent):
    """The vector that a description tells (of a scenario with a map)."""
    plan = env.plan
    layout = observe.codes(env)
    words = {}
    for code in plan.used:
        names = {f"team_{k}": team.name for k, team in enumerate(plan.teams)}
        names |= {f"agent_{k}": name for k, name in enumerate(env.agents)}
        pattern = CELLS[code].words
        for key, name in names.items():
            pattern = pattern.replace("{" + key + "}", name)
        words[pattern] = code
    cells = np.full(plan.size, -1, int)
    lines = text.splitlines()
    letters = {}
    if plan.exits is None:
        head = next((k for k, line in enumerate(lines) if re.fullmatch(r" +[0-9 ]+", line)), None)
        columns = [int(x) for x in lines[head].split()] if head is not None else []
        for line in lines[head + 1 :] if head is not None else []:
            row, *marks = line.split()
            if not row.isdigit():
                break
            for x, mark in zip(columns, marks, strict=True):
                if mark in "ABCDEFGHIJ":
                    letters[int(row), x] = mark
                    cells[int(row), x] = 0
                elif mark != "?":
                    cells[int(row), x] = MARKS[mark]
    elif not text.count("You see nothing"):
        cells[:] = 0
        for part in re.findall(r"(?:Rooms: |; )([^:;]+): ([^;.(]+)", "\n".join(lines[:2])):
            cells[0, plan.room_names.index(part[0])] = words[part[1].strip()]

    def body(part):
        values = dict.fromkeys(("row", "column", *plan.features), 0)
        values["row"] = values["column"] = -1
        place = re.search(r"at row (\d+), column (\d+)", part)
        room = re.search(r"in room (\w+)", part)
        if place:
            values["row"], values["column"] = int(place[1]), int(place[2])
            on = re.search(r"column \d+, on (.*?)(?:, facing|, carrying|, unable|, able|, whose|$)",
                           part)  # fmt: skip
            if on:
                cells[values["row"], values["column"]] = words[on[1]]
        elif room:
            values["row"], values["column"] = 0, plan.room_names.index(room[1])
        for name, pattern, read in (
            ("heading", r"facing (\w+)", HEADINGS.index),
            ("carry", r"carrying ([^,;.]+)", lambda said: carried(plan, said)),
            ("out", r"unable to act for (\d+)", int),
            ("out", r"back at the start in (\d+)", int),
            ("cool", r" again in (\d+)", int),
            ("ago", r"counts (for \d+|no) ", lambda said: int(said[4:] or 0) + 1),
        ):
            found = re.search(pattern, part)
            if name in plan.features and found:
                values[name] = read(found[1])
        if "out for good" in part:
            values["out"] = -1
        return list(values.values())

    numbers = {"self": body(lines[0].rstrip("."))}
    clock = re.match(r"Step (\d+) of (\d+)", lines[0])
    numbers["clock"] = [int(clock[2]) - int(clock[1])]
    numbers["number"] = [env.agents.index(re.search(r"You are (\w+)", lines[0])[1])]
    others = {}
    listed = next((line for line in lines if line.startswith("Others in view: ")), "")
    for part in listed.removeprefix("Others in view: ").rstrip(".").split("; "):
        if part and part != "none":
            others[part.split()[0]] = body(part)
    found = []
    for k in range(plan.bodies):
        if k != agent and not plan.token:
            empty = [-1, -1, *(0 for _ in plan.features)]
            found += others.get(body_name(plan, k), empty)
    numbers["others"] = found
    doors = next((line for line in lines if line.startswith("Doors: ")), "")
    numbers["doors"] = [int("open" in part) for part in doors.split(",")] if doors else []
    flags = next((line for line in lines if line.startswith("Flags brought home: ")), "")
    numbers["scores"] = [int(n) for n in re.findall(r" (\d+)", flags)]
    work = [0] * (plan.size[1] if plan.work else 0)
    for name, done in re.findall(r"(\w+): a broken generator \(worked on for (\d+)", text):
        work[plan.room_names.index(name)] = int(done)
    numbers["work"] = work
    numbers["cells"] = cells.ravel().tolist()
    return [n for name in layout for n in numbers[name]]


def carried(plan, said):
    if said == "nothing":
        return 0
    if "flag" in said:
        return CODES["flag_0"] + [team.name for team in plan.teams].index(said.split()[-1])
    return CODES[f"key_{said.split()[-1]}"]


@pytest.mark.parametrize("name", marked(SHIPPED))
def test_the_vector_can_be_read_from_the_text(name):
    env = make(name)
    draws = np.random.default_rng(4)
    now = reset(env, 2)
    for step in range(30):
        seen = np.asarray(compiled(env, "observe")(now))
        for agent in {0, 1, env.num_agents - 1}:
            text = describe_with(env, now, agent, "normal")
            assert decoded(env, text, agent) == seen[agent].tolist(), (step, agent, text)
            limit = 1200 if env.size[0] * env.size[1] < 200 else 1500
            assert len(text) <= limit, (len(text), text)
            assert sum(map(len, env.choices(now, agent))) <= 800
        legal = legal_in(env, now)
        if not legal.any():
            break
        chance = draws.random(legal.shape) + 0.3 * (np.arange(legal.shape[1]) > 4)
        actions = np.where(legal, chance, -1).argmax(1).astype(np.int32)
        now, _ = host(compiled(env)(jax.random.key(step), now, actions))


def test_what_is_hidden_is_in_neither():
    env = make("hide_and_seek")
    now = reset(env, 5)
    found = env.to_dict(now)
    sees = np.array([[int(c) for c in line] for line in found["sees"]["hider_0"]])
    seen = env.observation_layout.part(np.asarray(compiled(env, "observe")(now))[0], "cells")
    assert ((seen >= 0) == sees.astype(bool)).all() and 0 < sees.sum() < sees.size
    for name, body in found["bodies"].items():
        y, x = body["position"]
        if name != "hider_0" and not sees[y, x]:
            assert name not in env.describe(now, 0)


def test_planes_hold_what_the_vector_holds():
    for name, options in (("hide_and_seek", {"egocentric": True}), ("door_key", {})):
        env = make(name, observation="grid", **options)
        now = reset(env, 1)
        planes, layout = np.asarray(compiled(env, "observe")(now)), env.observation_layout
        plain = observe.codes(env)
        vector = np.asarray(jax.jit(lambda state, env=env: observe.vector(env, state))(now))
        for agent in range(env.num_agents):
            cells = plain.part(vector[agent], "cells")
            assert planes[agent][layout["seen"]].sum() == (cells >= 0).sum()
            for code in env.plan.used[1:]:
                plane = planes[agent][layout[CELLS[code].name]]
                assert plane.sum() == (cells == code).sum()
            assert planes[agent][layout["self"]].sum() == 1


# ---- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scenario", "said", "action"),
    [
        ("door_key", "I go north, please", "north"),
        ("door_key", "wait", "stay"),
        ("door_key", "drop the key", None),
        ("door_key", "go north and then east", None),
        ("door_key", "don't go south", None),
        ("capture", "go to room 2", None),
        ("capture", "walk to room 6", "go to room 6"),
        ("capture", "room 6", "go to room 6"),
        ("capture", "press the button", None),
        ("cleanup", "clean the river", "clean"),
        ("cleanup", "zap", "zap"),
        ("cleanup", "turn left and zap", None),
    ],
)
def test_answers(scenario, said, action):
    env = make(scenario)
    if scenario == "door_key":
        lines = ["....1....", "....#....", "k...#....", "v...#....", "....#....", "....#...X"]
        now = begin(env, lines, player_0=(1, 1), player_1=(2, 2))
    else:
        now = reset(env)
    if action is None:
        with pytest.raises(IllegalAction):
            env.parse(said, now, 0)
    else:
        assert env.plan.actions[env.parse(said, now, 0)] == action


@pytest.mark.parametrize("name", SHIPPED)
def test_phrases_fit_a_channel(name):
    chat = manyhands.make("chat", env=make(name))
    assert set(make(name).phrases) <= set(chat.chat.phrases)
    assert len(set(make(name).phrases)) == len(make(name).phrases) >= 6


# ---- levels, tasks, searches ---------------------------------------------------------------------


def test_levels_follow_their_seeds_alone():
    first, second = make("door_key", levels=6), make("door_key", levels=3, level_seed=3)
    assert (first.plan.cells[3:] == second.plan.cells).all()
    assert len({cells.tobytes() for cells in first.plan.cells}) == 6


def test_tasks_are_levels():
    env = make("maze_pair")
    space = env.task_space()
    draws = np.random.default_rng(0)
    for held in (False, True):
        task = space.sample(draws, held_out=held)
        assert space.decode(space.encode(task)) == pytest.approx(task)
        assert space.held_out(task) is held
        values = space.encode(task)
        assert (space.low <= values).all() and (values <= space.high).all()
    task = {"seed": 11, "density": 0.25}
    now = env.reset_to(jax.random.key(0), {"task": task})
    grid, _ = space.level(task)
    assert (np.asarray(now.cells).reshape(6, 6) == grid).all()
    assert 6 <= env.optimal_steps(now) <= 9
    after, _ = act(env, now, "stay")
    assert after.level == -1
    for wrong in ({}, {"seed": -1}, {"seed": 1, "density": 3}, {"seed": 1, "walls": 2}, 3):
        with pytest.raises(ConfigError):
            env.reset_to(jax.random.key(0), {"task": wrong})
    with pytest.raises(ConfigError, match="coins"):
        make("coins").task_space()


def test_a_start_is_what_to_dict_says():
    env = make("door_key")
    now = reset(env, 3)
    for step in range(5):
        now, _ = host(compiled(env)(jax.random.key(step), now, np.array([4, 2], np.int32)))
    told = env.to_dict(now)
    again = env.to_dict(env.reset_to(jax.random.key(9), {"start": told}))
    assert again["map"] == told["map"] and again["doors"] == told["doors"]
    for name, body in told["bodies"].items():
        assert again["bodies"][name]["position"] == body["position"]
        assert again["bodies"][name]["carrying"] == body["carrying"]
    for wrong in (
        {"map": ["..."]},
        {"bodies": {"nobody": {}}},
        {"bodies": {"player_0": {"position": [99, 0]}}},
        {"bodies": {"player_0": {"colour": "red"}}},
        {"maps": []},
    ):
        with pytest.raises(ConfigError):
            env.reset_to(jax.random.key(0), {"start": wrong})


def test_searches_agree_with_hand_counts():
    end = End("goal", 0, True, 1, 0, False, -1)
    grid, _ = levels.read(["S.#X", "..#.", "...."])
    assert solve.to_goal(grid, [(0, 0)], end) == 7
    assert solve.meeting(grid, [(0, 0), (2, 3)]) == 3
    # One holds the plate, the other goes; then it holds the plate beyond.
    grid, _ = levels.read(["Su.1.uX"])
    assert solve.to_goal(grid, [(0, 0)], end) is None
    assert solve.to_goal(grid, [(0, 1), (0, 0)], end) == 8
    grid, _ = levels.read(["Sk1X"])
    assert solve.to_goal(grid, [(0, 0)], end) == 3
    grid, _ = levels.read(["S.1Xk"])
    assert solve.to_goal(grid, [(0, 0)], end) is None


# ---- players -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "steps", "better"),
    [
        pytest.param("door_key", 80, "win"),
        pytest.param("maze_pair", 40, "win", marks=pytest.mark.slow),
        pytest.param("pursuit", 60, "win", marks=pytest.mark.slow),
        pytest.param("rendezvous", 60, "win", marks=pytest.mark.slow),
        pytest.param("escape", 60, "win", marks=pytest.mark.slow),
        pytest.param("capture", 30, "win", marks=pytest.mark.slow),
        pytest.param("coins", 100, "coin", marks=pytest.mark.slow),
        pytest.param("mining", 100, "gold", marks=pytest.mark.slow),
        pytest.param("harvest", 200, "apple", marks=pytest.mark.slow),
        pytest.param("cleanup", 200, "apple", marks=pytest.mark.slow),
        pytest.param("tag", 60, "hit", marks=pytest.mark.slow),
    ],
)
def test_rangers_play_better_than_chance(name, steps, better):
    env, found = make(name), {}
    for seat in ("ranger", "random"):
        result = manyhands.rollout(
            env, seat, num_envs=16, num_steps=steps, key=jax.random.key(1), collect="statistics"
        )
        found[seat] = float(np.sum(result.statistics.terms[better]))
    assert found["ranger"] > 1.3 * found["random"] + 8, found


def test_rangers_of_different_noise_are_one_program():
    """Others are not: what a role plans is compiled."""
    env = make("tag")
    names = ("ranger", "ranger:noise=1", "ranger:role=wanderer")
    rangers = [manyhands.seat(name, env) for name in names]
    lineup, _ = Lineup.of(rangers, [[0, 1, 2, 0]])
    assert lineup.kinds == ((0, 0), (0, 1), (1, 0))
    # The noise of the second is its own: all that is legal is done in the end.
    state = reset(env)
    view = view_of(env, state).row(2)
    keys = jax.random.split(jax.random.key(1), 64)

    @jax.jit
    def act(noise):
        ranger = lineup.programs[0].policy([noise])
        return jax.vmap(lambda key: ranger.apply(env, 2, ranger.init(env, 2), key, view)[0])(keys)

    done = [set(np.asarray(act(np.float32(noise))).tolist()) for noise in (0.0, 1.0)]
    assert len(done[0]) < len(done[1]) == np.asarray(view.legal).sum()


@pytest.mark.parametrize("coordinates", ["shared", "turned"])
def test_a_pair_that_talks_is_faster_than_a_silent_one(coordinates):
    """Fewer than 10 steps; `benchmarks/mission_learning.py` has 8.0 for it, 13.4 if silent."""
    env = manyhands.make("chat", env=make("maze_pair", coordinates=coordinates))
    found = manyhands.rollout(
        env, "ranger", num_envs=24, num_steps=40, key=jax.random.key(0), collect="statistics"
    )
    assert int(np.sum(found.statistics.episodes)) > 24 * 40 / 10


def test_what_is_told_of_walls_is_true():
    """Of a turned map each names places as it counts them."""
    env = manyhands.make("chat", env=make("maze_pair", coordinates="turned"))
    result = manyhands.play(env, ["ranger", "ranger"], episodes=1, seed=3)
    assert result.episodes[0].terms["win"][0] == 1
    now, told = reset(env, 5), 0
    seats = seats_of(env, "ranger")

    @jax.jit
    def choose(memory, key, state, first):
        one = jax.tree_util.tree_map(lambda leaf: leaf[..., None], state)
        view = view_of(env, one, first, np.arange(1))
        return seats.apply(env, memory, jax.random.split(key, 1), view)

    memory = seats.init(env, 1)
    for t in range(8):
        actions, memory = choose(memory, jax.random.key(t), now, np.full(1, t == 0))
        actions = np.asarray(actions)[..., 0]
        lines = env.to_dict(now)["map"]
        for agent, (_, token) in enumerate(actions):
            found = re.fullmatch(r"wall at r(\d+) c(\d+)", env.phrases[token - 1])
            if found:
                y, x = (int(n) for n in found.groups())
                y, x = (5 - y, 5 - x) if agent else (y, x)
                assert lines[y][x] == "#"
                told += 1
        now, outcome = host(compiled(env)(jax.random.key(t), now, actions))
        if outcome.terminated.all():
            break
    assert told


def test_questions_are_about_what_is_not_seen():
    """In a maze one of the two knows what the other does not; elsewhere those in view are known."""
    maze = manyhands.make("mission", scenario="maze_pair")
    known = []
    for seed in range(4):
        state = reset(maze, seed)
        for one, two in zip(*(maze.questions(state, i) for i in range(2)), strict=True):
            assert (one.text, one.true) == (two.text, two.true)
            believed = {one.believed, two.believed} - {NOT_KNOWN}
            assert believed == {one.true}
            known += [one.believed == NOT_KNOWN, two.believed == NOT_KNOWN]
    assert True in known and False in known

    walkers = manyhands.make("mission", scenario="rendezvous")
    found = []
    for seed in range(4):
        state = reset(walkers, seed)
        text = walkers.describe(state, 0)
        for question in walkers.questions(state, 0):
            name = question.text.split()[1]
            in_view = name in text.split("Others in view:")[1].splitlines()[0]
            assert (question.believed == question.true) == in_view
            assert in_view or question.believed == NOT_KNOWN
            found.append(in_view)
    assert True in found and False in found
    assert manyhands.make("mission", scenario="tag").questions(None, 0) == []


def test_a_wall_that_is_seen_is_no_step():
    env = make("maze_pair")
    now = begin(env, ["......", ".#....", "......", "......", "......", ".....X"],
                player_0=(0, 1), player_1=(0, 1))  # fmt: skip
    told = [{choice.text: choice for choice in env.choices(now, agent)} for agent in env.agents]
    seen = [one["south"] for one in told if "do not see" not in one["south"].effect]
    assert len(seen) == 1 and seen[0].certain and "wall" in seen[0].effect
    assert "step" not in seen[0].effect
    after, _ = act(env, now, "south", "south")
    assert at(env, after, "player_0") == at(env, after, "player_1") == [0, 1]
