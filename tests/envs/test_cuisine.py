"""Cuisines: menus, search, rules by hand, parity of text and vector, words, score, and players."""

import functools
import json
import re
from collections import Counter

import jax
import numpy as np
import pytest

import manyhands
from manyhands.baselines.players.dispatch import Dispatch, TeamText
from manyhands.core.env import ConfigError, IllegalAction, describe_with, episode_key
from manyhands.core.pack import fingerprint
from manyhands.core.paint import player_colour
from manyhands.envs.cuisine import collaboration_score, menu, shortest, success_rate
from manyhands.envs.cuisine.env import Cuisine
from manyhands.envs.cuisine.generator import STEPS, generate
from manyhands.envs.cuisine.menu import LEVEL_SCHEMA

EGGS = {"dishes": ["fried_egg"], "tools": ["pan"], "chefs": 1}


@functools.lru_cache
def make(**options):
    return manyhands.make("cuisine", **options)


@functools.lru_cache
def compiled(env):
    return jax.jit(env.reset), jax.jit(env.step)


def play(env, *steps, seed=0):
    """The state after some steps, each with the words of all chefs, and the last outcome."""
    reset, step = compiled(env)
    state, outcome = jax.device_get(reset(jax.random.key(seed))), None
    for words in steps:
        rows = [env.parse(said, state, i) for i, said in enumerate(words)]
        after = step(jax.random.key(0), state, np.array(rows, np.int32))
        state, outcome = jax.device_get(after)
    return state, outcome


# ---- menus ---------------------------------------------------------------------------------------


def test_shipped_levels_grow_harder_and_can_be_done():
    levels = [menu.shipped(name) for name in menu.SHIPPED]
    assert len(levels) == 13
    assert {len(level.dishes) for level in levels} == {1, 2, 3, 4, 5}
    assert min(len(level.tools) for level in levels) == 1
    assert max(len(level.tools) for level in levels) == 10  # 12 places
    assert {level.chefs for level in levels} == {2, 3, 4}
    hardest = [max(level.wait(dish) for dish in level.dishes) for level in levels]
    assert hardest[0] < hardest[3] < hardest[6] < hardest[12]
    for level in levels[:10]:
        for dish in level.dishes:
            assert level.wait(dish) < shortest.alone(level, dish) <= shortest.at_most(level, dish)
            assert shortest.together(level, dish) <= shortest.alone(level, dish)


def test_the_cookbook_is_as_large_as_that_of_the_original():
    book = menu.cookbook()
    assert len(book["ingredients"]) >= 27 and len(book["recipes"]) >= 63
    used = {each for recipe in book["recipes"].values() for each in recipe["from"]}
    assert set(book["ingredients"]) <= used


def test_a_level_from_a_file_is_the_level_of_its_fields(tmp_path):
    fields = {
        **EGGS,
        "name": "brunch",
        "cookbook": {
            "tools": {"toaster": {"time": 4}},
            "recipes": {"egg_toast": {"tool": "toaster", "from": ["bread", "fried_egg"]}},
        },
        "dishes": ["egg_toast"],
        "tools": ["pan", "toaster"],
    }
    file = tmp_path / "brunch.json"
    file.write_text(json.dumps(fields))
    env = manyhands.make("cuisine", level=str(file))
    assert env == manyhands.make("cuisine", level=fields)
    assert env == manyhands.make("cuisine", **env.config())
    assert env.book.place_names == ["storage", "serving table", "pan", "toaster"]
    assert env.book.items == ["egg", "bread", "fried_egg", "egg_toast"]
    _, outcome = play(
        env, ["go to storage"], ["get egg"], ["go to pan"], ["put"], ["fry it"], ["wait"],
        ["get it"], ["go to toaster"], ["put it in"], ["go to storage"], ["get bread"],
        ["go to toaster"], ["put"], ["use the toaster"], ["wait"], ["wait"], ["wait"], ["get"],
        ["go to table"], ["serve"],
    )  # fmt: skip
    assert outcome.metrics["served"] == 1 and outcome.reward.tolist() == [1]
    assert len(LEVEL_SCHEMA["properties"]) == 6


@pytest.mark.parametrize(
    ("level", "match"),
    [
        ("level_13", "level_12"),
        ("generate", "generated"),
        (13, "12"),
        ("nowhere.json", "nowhere"),
        ({"dishes": ["fried_egg"]}, "tools"),
        ({**EGGS, "dish": []}, "dishes"),
        ({**EGGS, "dishes": ["fryed_egg"]}, "fried_egg"),
        ({**EGGS, "dishes": ["egg"]}, "ingredient"),
        ({**EGGS, "dishes": ["fried_egg", "fried_egg"]}, "twice"),
        ({**EGGS, "dishes": ["eg"]}, "'eg' has no recipe.*there are .*fried_egg"),
        ({**EGGS, "dishes": ["egg"]}, "'egg' is an ingredient.*there are .*fried_egg"),
        ({**EGGS, "tools": ["pot"]}, "pan"),
        ({**EGGS, "tools": ["pam"]}, '"pan"'),
        ({**EGGS, "chefs": 7}, "7"),
        ({**EGGS, "cookbook": {"tools": {"storage": {"time": 1}}}}, "storage"),
        ({**EGGS, "cookbook": {"tools": {"grill": {"time": -1}}}}, "-1"),
        ({**EGGS, "cookbook": {"tools": {"grill": {"heat": 1, "time": 1}}}}, "heat"),
        ({**EGGS, "cookbook": {"recipes": {"egg": {"tool": "pan", "from": ["egg"]}}}}, "egg"),
        ({**EGGS, "cookbook": {"recipes": {"x": {"tool": "pan", "from": ["eg"]}}}}, '"egg"'),
        ({**EGGS, "cookbook": {"recipes": {"x": {"tool": "pn", "from": ["egg"]}}}}, '"pan"'),
        (
            {
                "dishes": ["ham", "spam"],
                "tools": ["pan"],
                "cookbook": {
                    "recipes": {
                        "ham": {"tool": "pan", "from": ["spam"]},
                        "spam": {"tool": "pan", "from": ["ham"]},
                    }
                },
            },
            "from itself",
        ),
        (
            {
                "dishes": ["fried_egg", "hot_egg"],
                "tools": ["pan"],
                "cookbook": {"recipes": {"hot_egg": {"tool": "pan", "from": ["egg"]}}},
            },
            "both made from",
        ),
        (
            {  # two fried eggs, and one pan for them: the first is in the way of the second
                "dishes": ["double_egg"],
                "tools": ["pan"],
                "cookbook": {
                    "recipes": {"double_egg": {"tool": "pan", "from": ["fried_egg", "fried_egg"]}}
                },
            },
            "one chef cannot make",
        ),
    ],
)
def test_wrong_levels_are_refused(level, match):
    with pytest.raises(ConfigError, match=match):
        manyhands.make("cuisine", level=level)


@pytest.mark.parametrize("option", ["num_levels", "level_seed", "difficulty"])
def test_options_of_generated_levels_are_refused_for_others(option):
    with pytest.raises(ConfigError, match=f"{option} is for generated levels"):
        manyhands.make("cuisine", level=5, **{option: 3})
    assert manyhands.make("cuisine", level="generated", **{option: 3}).config()[option] == 3


def test_wrong_times_are_refused():
    with pytest.raises(ConfigError, match="9 steps"):
        make(level=0, lifetime=8)
    assert make(level=0, lifetime=8, reachable=False).lifetimes == (8,)
    with pytest.raises(ConfigError, match="one for each of 2"):
        Cuisine(level=[0, 1], alpha=[1.0])


def test_times_are_those_of_the_original_where_one_chef_can_keep_them():
    # wait(fried egg) = 3 * 2 + 1: intervals ceil(0.3 * alpha * 7), lifetimes 2.5 times as long.
    assert make(level=0, alpha=2.0).intervals == (5,) and make(level=0).lifetimes == (11,)
    assert make(level=0, alpha=1.0, reachable=False).lifetimes == (6,)
    assert make(level=0, alpha=1.0).lifetimes == (9,)
    several = make(level=(0, 0, 3), alpha=(1.0, 3.0, 2.0))
    assert several.intervals == (3, 7, 9)


# ---- search --------------------------------------------------------------------------------------


def test_one_chef_cannot_be_faster_than_the_search_says():
    """Breadth-first over everything that the rules allow, in a kitchen small enough for that."""
    env = Cuisine(level={**EGGS, "dishes": ["omelette"]}, max_orders=1)
    level = env.book.levels[0]
    states, step = [play(env)[0]], compiled(env)[1]
    legal = jax.jit(env.legal)
    seen = {fingerprint(env, states[0])}
    for depth in range(1, 14):
        after = []
        for state in states:
            for action in np.flatnonzero(np.asarray(legal(state))[0]):
                new, outcome = jax.device_get(step(None, state, np.array([action], np.int32)))
                if outcome.metrics["served"]:
                    assert depth == shortest.alone(level, "omelette") == 13
                    return
                if (name := fingerprint(env, new)) not in seen:
                    seen.add(name)
                    after.append(new)
        states = after
    pytest.fail("not served within 13 steps")


def test_generated_levels_come_from_their_seed_and_can_be_done():
    for difficulty, (least, most) in enumerate(STEPS):
        level = generate(5, difficulty)
        assert level == generate(5, difficulty)
        steps = [shortest.alone(level, dish) for dish in level.dishes]
        assert all(number <= most for number in steps) and max(steps) >= min(least, 8)
    assert len({generate(seed, 3).dishes for seed in range(6)}) > 3
    env = make(level="generated", num_levels=3, level_seed=4, difficulty=1)
    assert [level.name for level in env.book.levels] == [f"generated-1-{s}" for s in (4, 5, 6)]
    for level, lifetime in zip(env.book.levels, env.lifetimes, strict=True):
        assert all(shortest.alone(level, dish) <= lifetime for dish in level.dishes)


# ---- rules by hand -------------------------------------------------------------------------------


def test_orders_come_are_served_and_expire():
    env = make(level=0, chefs=1, interval=4, lifetime=9, max_orders=2, max_steps=30)
    state, _ = play(env, *[["wait"]] * 8)
    told = env.to_dict(state)
    assert [order["steps_left"] for order in told["orders"]] == [1, 5] and told["missed"] == 1
    state, outcome = play(env, *[["wait"]] * 9)
    assert outcome.metrics["expired"] == 1 and outcome.reward.tolist() == [-1]
    assert [order["steps_left"] for order in env.to_dict(state)["orders"]] == [4]
    cook = ["go to storage", "get egg", "go to pan", "put", "activate pan", "wait", "get fried egg"]
    steps = [[said] for said in [*cook, "go to serving table", "deliver fried egg"]]
    state, outcome = play(env, *steps)  # in the last step in which it can be
    assert outcome.reward.tolist() == [1] and env.to_dict(state)["served"] == 1


def test_a_dish_waits_on_the_table_for_an_order():
    env = make(level=0, chefs=2, interval=20, lifetime=30)
    cook = ["go to storage", "get egg", "go to pan", "put", "activate pan", "wait", "get fried egg"]
    steps = [[said, "wait"] for said in [*cook, "go to table", "serve"]]
    state, outcome = play(env, *steps, *steps)
    assert outcome.metrics["served"] == 0 and env.to_dict(state)["serving_table"] == {
        "fried egg": 1
    }
    state, outcome = play(env, *steps, *steps, *[["wait", "wait"]] * 3)
    assert env.to_dict(state)["served"] == 2 and outcome.metrics["served"] == 1
    assert make(level=0, chefs=2).describe(state, 1).count("On the serving table: nothing") == 1


def test_the_chef_before_comes_first():
    env = make(level=3, chefs=3)
    both = [["go to storage"] * 3, ["get lettuce", "get cucumber", "wait"],
            ["go to chopping board 1", "go to chopping board 1", "wait"]]  # fmt: skip
    state, outcome = play(env, *both, ["put it down", "put it down", "wait"])
    assert outcome.metrics["failed"] == 1 and outcome.metrics["illegal"] == 0
    told = env.to_dict(state)
    assert told["chefs"]["chef_1"]["holding"] == "cucumber"
    assert told["tools"]["chopping board 1"]["inside"] == {"lettuce": 1}
    assert env.last_events(state, 1)[1] == {"event": "failed", "agent": "chef_1"}
    for agent, who in ((0, "you were"), (1, "chef_0 was")):
        told = env.describe(state, agent).split("Last step: ")[1]
        assert f"could not put cucumber down at chopping board 1, since {who} faster" in told
    here = [["go to storage", "wait", "wait"], ["get lettuce", "wait", "wait"],
            ["go to chopping board 1", "go to chopping board 1", "wait"],
            ["put it down", "wait", "wait"]]  # fmt: skip
    told = env.describe(play(env, *here, ["get lettuce", "get lettuce", "wait"])[0], 0)
    assert "chef_1 could not take or start anything at chopping board 1, since you were" in told
    choices = env.choices(play(env, *both)[0], 1)
    assert [choice.certain for choice in choices if choice.text.startswith("put")] == [False]


def test_what_was_put_in_comes_back_only_from_the_board():
    env = make(level=3, chefs=1)
    steps = [["go to storage"], ["get tomato"], ["go to chopping board 2"], ["put"]]
    state, _ = play(env, *steps, ["get tomato"])
    assert env.to_dict(state)["chefs"]["chef_0"]["holding"] == "tomato"
    state, _ = play(env, *steps, ["chop it"])
    with pytest.raises(IllegalAction, match="at chopping board 2, which holds chopped tomato"):
        env.parse("get lettuce", state, 0)
    state, _ = play(env, *steps, ["chop it"], ["get it"], ["go to mixer"], ["put it in"])
    with pytest.raises(IllegalAction, match="activated before"):
        env.parse("get chopped tomato", state, 0)
    with pytest.raises(IllegalAction, match="no complete recipe"):
        env.parse("mix it", state, 0)


def test_one_dish_leaves_nothing_to_chance():
    states = [compiled(make(level=0, chefs=1))[0](jax.random.key(seed)) for seed in range(4)]
    assert len({fingerprint(make(level=0, chefs=1), state) for state in states}) == 1
    assert make(level=0, chefs=1).deterministic_reset and not make(level=3).deterministic_reset
    assert not Cuisine([0, 0], chefs=1).deterministic_reset


def test_the_orders_of_a_seed_do_not_depend_on_what_chefs_do():
    env = make(level=7, max_steps=24)
    first, _ = play(env, seed=3)
    again, _ = play(env, *[["wait"] * 3] * 5, seed=3)
    assert first.coming.tolist() == again.coming.tolist()
    counts = Counter(dish for seed in range(40) for dish in play(env, seed=seed)[0].coming.tolist())
    assert set(counts) == {1, 2, 3} and min(counts.values()) > 0.2 * sum(counts.values())


# ---- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{"level": 7}, {"level": (3, 11), "chefs": 2}, {"level": 0, "chefs": 1}]
)
@pytest.mark.parametrize("detail", ["brief", "normal", "full"])
def test_the_vector_can_be_read_from_the_text(options, detail):
    env = make(**options)
    _, step = compiled(env)
    observe, draw = jax.jit(env.observe), np.random.default_rng(0)
    legal = jax.jit(env.legal)
    state, _ = play(env, seed=1)
    for _ in range(40):
        seen = np.asarray(observe(state))
        for agent in range(env.chefs):
            text = describe_with(env, state, agent, detail)
            assert decoded(env, text, agent).tolist() == seen[agent].tolist()
        mask = np.asarray(legal(state))
        rows = [draw.choice(np.flatnonzero(row)[1:]) for row in mask]
        state = jax.device_get(step(None, state, np.array(rows, np.int32))[0])


def decoded(env, text, agent):
    """The observation, from the text alone and what never changes."""
    book, layout = env.book, env.observation_layout
    names, items = book.place_names, book.item_names
    row = {name: np.zeros(piece.shape, int) for name, piece in layout.pieces.items()}
    lines = text.splitlines()
    step = int(re.match(r"Step (\d+) of", lines[0])[1])
    if "level" in row:
        name = re.search(r"\((level_\d+)\)\.$", lines[0])[1]
        row["level"][[level.name for level in book.levels].index(name)] = 1
    chefs = {}
    for who, said in [("You", lines[1].split(", ", 1)[1]), *others(lines[2])]:
        found = re.match(
            r"at (?:the )?(?P<at>.+?) (?:holding (?P<held>.+?)|with empty hands)"
            r"(?:, busy there for (?P<bound>\d+) steps? more)?\.?$", said
        )  # fmt: skip
        chefs[who] = found["at"], found["held"], int(found["bound"] or 0)
    at, held, bound = chefs.pop("You")
    row["place"][names.index(at)], row["bound"][0] = 1, bound
    if held:
        row["held"][items.index(held)] = 1
    for n, name in enumerate(sorted(chefs)):
        at, held, bound = chefs[name]
        row["others' places"][n, names.index(at)], row["others bound"][n] = 1, bound
        if held:
            row["others' hands"][n, items.index(held)] = 1
    dishes = [items[dish] for dish in book.dishes]
    for line in lines:
        found = re.match(r"- (.+?): (.+)$", line)
        if found:
            tool = names.index(found[1]) - 2
            contents = re.sub(r" \(.*\)$", "", found[2])
            ready = re.search(r", (ready to be taken|done in (\d+) steps?)$", contents)
            if ready:
                row["ready"][tool], row["busy"][tool] = 1, int(ready[2] or 0)
                contents = contents[: ready.start()]
            count(row["inside"][tool], items, contents)
        elif line.startswith("On the serving table: "):
            count(row["waiting"], dishes, line.split(": ")[1].rstrip("."))
        elif line.startswith("Orders"):
            for n, (dish, left) in enumerate(re.findall(r"([a-z ]+) \((\d+) steps? left\)", line)):
                row["orders"][n, dishes.index(dish.strip())], row["left"][n] = 1, int(left)
        elif line.startswith("The next order"):
            row["clock"][:] = int(re.search(r"\d+", line)[0]), env.max_steps - step
    return np.concatenate([row[name].ravel() for name in layout])


def others(line):
    return re.findall(r"(chef_\d) is (at .*?)(?:; |\.$)", line)


def count(into, names, said):
    for part in said.split(", "):
        found = re.match(r"(\d+) (.+)", part)
        amount, name = (int(found[1]), found[2]) if found else (1, part)
        if name not in ("empty", "nothing"):
            into[names.index(name)] = amount


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ("get beef", "serving table"),
        ("go to the chopping board", "chopping board 1"),
        ("put it into the pan", "there"),
        ("serve the dish", "empty"),
        ("activate the oven", "names no"),
    ],
)
def test_refusals_say_why(said, match):
    env = make(level=8, chefs=1)
    with pytest.raises(IllegalAction, match=match):
        env.parse(said, play(env)[0], 0)


def test_refusals_at_a_tool_say_what_it_waits_for():
    env = make(level=6, chefs=2)
    fetched = [["go to storage"] * 2, ["get mushroom", "get chicken"]]
    there = [*fetched, ["go to chopping board"] * 2]
    full = [*there, ["put mushroom into chopping board", "wait"]]
    for steps, agent, said, match in (
        (there, 0, "chop the mushroom", "put mushroom into the chopping board first"),
        (there, 0, "make sliced mushroom", "put mushroom into the chopping board first"),
        (there, 0, "chop the rice", "you hold mushroom"),
        (full, 1, "chop the chicken", "you hold chicken"),
        (full, 1, "put the chicken into the board", "chicken does not belong into the chopping"),
        (full, 0, "chop the chicken", "the chopping board holds mushroom, not that"),
        ([["go to pan"] * 2], 0, "grill the chicken strips", "the pan is empty"),
    ):
        with pytest.raises(IllegalAction, match=match):
            env.parse(said, play(env, *steps)[0], agent)


def test_a_refusal_quotes_the_answer_itself():
    """Not the name of the place that its words stand for."""
    env = make(level=8, chefs=1)
    with pytest.raises(IllegalAction) as refused:
        env.parse("Dance around the empty blender with me", play(env)[0], 0)
    assert "'Dance around the empty blender with me'" in str(refused.value)


def test_a_dispatcher_commands_all_chefs_from_one_seat():
    """With a function, and in words: one prompt, one reply with a line for each chef."""
    env, asked = make(level=0, chefs=3, max_steps=12), []

    def plan(views):
        asked.append([view.agent for view in views])
        cook = ["go to storage", "get egg", "go to pan", "put egg into pan", "activate pan", "wait",
                "get fried egg", "go to serving table", "deliver fried egg"]  # fmt: skip
        step = views[0].step
        return {view.agent: cook[step] if view.index == 0 and step < 9 else "wait"
                for view in views}  # fmt: skip

    async def complete(messages):
        assert all(name in messages[1]["content"] for name in env.agents)
        return "chef_0: go to storage\nchef_1: wait\nchef_2: go to pan"

    seat = Dispatch(plan)
    (result,) = manyhands.play(env, [seat] * 3, progress=False).episodes
    assert asked == [list(env.agents)] * 12 and result.metrics["served"] == 1
    words = Dispatch(TeamText(complete))
    states = []
    manyhands.play(env, [words] * 3, progress=False, max_steps=1,
                   on_step=lambda moment: states.append(moment.frame.state))  # fmt: skip
    assert states[-1].place.tolist() == [0, 1, 2]


# ---- score and players ---------------------------------------------------------------------------


def test_the_collaboration_score_is_the_mean_over_intervals():
    episodes = {
        1.0: [{"served": 1, "expired": 3}, {"served": 1, "expired": 1}],
        2.0: [{"served": 4, "expired": 0}],
        3.0: [{"served": 0, "expired": 0}],
    }
    assert success_rate(episodes[1.0]) == 2 / 6
    assert success_rate(episodes[1.0], unfinished=2) == 2 / 8
    assert collaboration_score(episodes) == (2 / 6 + 1) / 2
    with pytest.raises(ConfigError, match="no order"):
        collaboration_score({1.0: episodes[3.0]})
    with pytest.raises(ConfigError, match="cuisine"):
        success_rate([{"soups": 1}])


def served(seat, env, episodes=8):
    result = manyhands.rollout(
        env, seat, num_envs=episodes, num_steps=60, key=jax.random.key(1), collect="statistics"
    )
    assert result.statistics.metrics["illegal"] == 0
    return success_rate([result.statistics])


def test_players_are_graded_and_dividing_the_work_helps():
    env = make(level=3, chefs=2)
    rates = [served(seat, env) for seat in ("random", "greedy:noise=0.3", "greedy", "dispatched")]
    assert rates == sorted(rates) and rates[0] < 0.2 < 0.5 < rates[2] and rates[3] > 0.8


def test_wrong_players_are_refused():
    with pytest.raises(ConfigError, match="from 0 to 1"):
        manyhands.seat("dispatched:noise=2", make(level=0))
    with pytest.raises(manyhands.SeatError, match="cuisine"):
        manyhands.seat("dispatched", manyhands.make("kitchen"))


def test_what_is_missing_is_told_of_one_and_of_several():
    """Dough needs flour; bean buns need dough."""
    cuisine = manyhands.make("cuisine", level=9, chefs=1)
    reset, step = jax.jit(cuisine.reset), jax.jit(cuisine.step)
    for first, tool, told in (
        ("egg", "blender 1", "dough needs flour too"),
        ("shrimp", "steamer 1", "shrimp dumplings need dough too"),
    ):
        state = reset(episode_key(0))
        for said in ("go to storage", f"get {first}", f"go to {tool}", f"put {first} into {tool}"):
            action = np.array([cuisine.parse(said, state, 0)])
            state, _ = step(episode_key(0), state, action)
        assert f"{tool}: {first} ({told})" in cuisine.describe(state, 0)


ON_BOARD = ["get onion", "go to chopping board 1", "put onion into chopping board 1"]


@pytest.mark.parametrize(
    ("before", "said", "meant"),
    [
        ([], "take a tomato for the second tomato soup", "get tomato"),
        ([], "get an onion for the other tomato soup", "get onion"),
        ([], "grab a potato for the potato soup that comes next", "get potato"),
        (["get tomato"], "I walk the tomato over to the blender", "go to blender"),
        (["get tomato"], "run it to the blender", "go to blender"),
        ([*ON_BOARD, "activate"], "take the onion pieces", "get chopped onion"),
        ([*ON_BOARD, "activate"], "get onion slices", "get chopped onion"),
    ],
)
def test_what_a_thing_is_for_and_how_it_is_carried(before, said, meant):
    env = make(level=7, chefs=1)
    state, _ = play(env, ["go to storage"], *[[each] for each in before])
    assert env.parse(said, state, 0) == env.parse(meant, state, 0)


# ---- pictures ------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["serving table", "storage", "pan"])
def test_every_chef_of_a_crowd_is_seen(place):
    env = make(level=0, chefs=6)
    state, _ = play(env, [f"go to {place}"] * 6) if place != "serving table" else play(env)
    picture = manyhands.render(env, state, size=(800, 560)).reshape(-1, 3)
    for i in range(6):
        seen = (picture == np.array(player_colour(i))).all(1).sum()
        assert seen > 100, f"chef_{i}"
