"""Presets as data: what those of the package make stays as it was, to the byte, and another one can
have items, tools and achievements of its own."""

import dataclasses
import hashlib
from pathlib import Path

import jax
import numpy as np
import pytest

from manyhands.core.env import ConfigError, IllegalAction, episode_key
from manyhands.core.pack import fingerprint, snapshot
from manyhands.core.play import play
from manyhands.core.registry import from_spec
from manyhands.envs.craftworld import CraftWorld, tasks
from manyhands.envs.craftworld import rules as rl

MAP = "TTT.WW__\n.0B.zS<_\n.c1.SIkp\nPXGO*#=F\n....LLDC\n........\n........"
START = {"inventory": {"wood": 6, "stone": 3, "sapling": 1}, "vitals": {"energy": 4}}


@pytest.fixture(scope="module", params=["crafter", "craftax_classic"])
def played(request):
    """(environment, states and outcomes of 30 steps of two players who try everything)."""
    env = CraftWorld(request.param, map=MAP, start=START, spawning=True, roles="specialists")
    key, rng, made = episode_key(11), np.random.default_rng(11), []
    state = env.reset(key)
    for time in range(30):
        actions = rng.integers(0, len(env.actions), 2, dtype=np.int32)
        state, outcome = env.step(jax.random.fold_in(key, time), state, actions)
        made.append(jax.device_get((state, outcome)))
    return env, made


DIGESTS = {
    "crafter": ("78a34e66ec85fdf8", "bd257215193973b5", "bba7553c542b3284"),
    "craftax_classic": ("2c847b01899a5274", "98333f793170ece8", "2bdcd40079b65b6c"),
}


def test_what_the_presets_make_keeps_its_bytes(played):
    env, made = played
    spec = hashlib.sha256(env.spec_json().encode()).hexdigest()[:16]
    # Of states, what the future depends on.
    lasting = [(dataclasses.replace(state, recent=()), outcome) for state, outcome in made]
    leaves = jax.tree_util.tree_leaves(lasting)
    steps = hashlib.sha256(b"".join(np.asarray(leaf).tobytes() for leaf in leaves)).hexdigest()
    found = spec, steps[:16], fingerprint(env, made[-1][0])[:16]
    assert found == DIGESTS[env.craft.name]


# ---- a preset of one's own -----------------------------------------------------------------------


@pytest.fixture
def pottery(monkeypatch):
    """Craftax-Classic with clay, which is dug from sand with a wooden pickaxe, and a clay sword."""
    contents = dataclasses.replace(
        rl.CONTENTS["craftax_classic"],
        items=(*rl.ITEMS, "clay", "clay_sword"),
        achievements=(*rl.ACHIEVEMENTS, "collect_clay", "make_clay_sword"),
        collect={**rl.COLLECT, rl.SAND: ("clay", "wood_pickaxe", rl.GRASS)},
        recipes={**rl.RECIPES, "clay_sword": rl.Recipe({"wood": 1, "clay": 2}, role=rl.WARRIOR)},
        swords=("wood_sword", "clay_sword", "stone_sword", "iron_sword"),
    )
    preset = dataclasses.replace(
        rl.PRESETS["craftax_classic"], name="pottery", damage=(1, 2, 2, 3, 5)
    )
    monkeypatch.setitem(rl.CONTENTS, "pottery", contents)
    monkeypatch.setitem(rl.PRESETS, "pottery", preset)
    start = {"inventory": {"wood": 2, "wood_pickaxe": 1, "clay": 1}}
    yield CraftWorld("pottery", map="..,..\n.B0..\n..1..", start=start, goal="collect 3 clay")


@pytest.mark.slow
def test_a_preset_has_items_and_achievements_of_its_own(pottery):
    env = pottery
    assert from_spec(env.spec()) == env
    assert env.actions[17] == "make_clay_sword" and env.actions[18] == "give_food"
    assert env.actions.index("request_clay_sword") == len(env.actions) - 1
    state = env.reset(episode_key(0))
    names = env.contents.achievements

    def step(*answers):
        nonlocal state
        actions = np.array([env.parse(a, state, i) for i, a in enumerate(answers)], np.int32)
        state, outcome = env.step(jax.random.key(0), state, actions)
        return outcome

    with pytest.raises(IllegalAction, match="1 more clay"):
        env.parse("make clay sword", state, 0)
    step("noop", "noop")
    assert "do: take 1 clay" in env.choices(state, 0)
    outcome = step("do", "noop")
    assert outcome.metrics["collect_clay"] == 1 and outcome.metrics["steps_to_goal"] == 2
    outcome = step("make a clay sword", "noop")
    assert outcome.metrics["make_clay_sword"] == 1 and outcome.reward[0] == 1
    unlocked = dict(zip(names, np.asarray(state.achievements)[0], strict=True))
    assert unlocked["make_clay_sword"] and not unlocked["make_iron_sword"]
    assert env.to_dict(state)["players"][0]["inventory"]["clay_sword"] == 1
    assert "1 clay sword" in env.describe(state, 0) and "(2 of 24)" in env.describe(state, 0)
    book = env.rules(0)
    assert "17 make_clay_sword: costs 1 wood and 2 clay; needs a table" in book
    assert "2 with a clay sword" in book and "- sand: 1 clay (needs a wood pickaxe)" in book
    assert tasks.depths(env.craft)["make_clay_sword"] == tasks.depths(env.craft)["collect_clay"] + 1
    skills = env.skill_set().names
    assert "collect clay until you hold 3" in skills and "make clay sword" in skills
    assert "give clay sword to player_1 until you hold 0" in skills
    assert env.observation_space.contains(np.asarray(env.observe(state))[0])


def test_the_page_shows_the_layouts():
    page = (Path(__file__).parents[3] / "docs" / "craftworld.md").read_text()
    env = CraftWorld(players=2)
    assert env.layout.table() in page and env.symbols.table() in page


def test_what_a_preset_cannot_show_is_refused(pottery):
    with pytest.raises(ConfigError, match="room for 12 items"):
        CraftWorld("pottery", map="0", observation="pixels")
    with pytest.raises(ConfigError, match="'clay': 1"):
        CraftWorld("crafter", map="0", start={"inventory": {"clay": 1}})
    with pytest.raises(ConfigError, match='did you mean "crafter"'):
        CraftWorld("craftr")


# ---- forks ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_fork_under_its_own_seed_meets_the_same_luck(tmp_path):
    env = CraftWorld(map=MAP, start=START | {"clock": 40}, spawning=True, max_steps=30)
    whole, rest = [], []
    play(env, "random", seed=7, on_step=whole.append)
    fork = snapshot(env, whole[10].frame.state)
    play(env, "random", seed=7, fork=fork, on_step=rest.append)
    assert [made.step for made in rest] == [made.step for made in whole[10:]]
    for a, b in zip(rest, whole[10:], strict=True):
        assert fingerprint(env, a.frame.state) == fingerprint(env, b.frame.state)
