"""PettingZoo's own checkers, and what the views promise beyond them."""

import copy
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import (
    api_test,
    parallel_api_test,
    parallel_seed_test,
    render_test,
    seed_test,
)

import manyhands
from manyhands.core.env import ConfigError, EpisodeOver, IllegalAction, episode_key
from manyhands.envs import board, kitchen, poker, volleyball
from manyhands.wrappers import pettingzoo as views
from manyhands.wrappers.pettingzoo import Parallel, Sequential, Words

sys.path.append(str(Path(__file__).parents[1] / "core"))
from coins import Coins

MODES = ("vector", "text", "both")


@pytest.mark.parametrize("observe", MODES)
def test_parallel_checkers(observe):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(kitchen.parallel_env(observe=observe, max_steps=20), 50)
        parallel_seed_test(lambda: kitchen.parallel_env(observe=observe, max_steps=20), 10)


# PettingZoo's api_test reads `observation.dtype`, so it takes no plain text.
@pytest.mark.parametrize("observe", ("vector", "both"))
def test_aec_checkers(observe):
    with warnings.catch_warnings():
        # It recommends arrays, and knows by name which environments may have dicts.
        warnings.simplefilter("error" if observe == "vector" else "ignore")
        api_test(kitchen.env(observe=observe, max_steps=20), 60)


@pytest.mark.parametrize("observe", MODES)
def test_seed_checker(observe):
    seed_test(lambda: kitchen.env(observe=observe, max_steps=20, starts="random"), 10)


def test_render_checker():
    render_test(kitchen.env)


def test_images_by_a_camera():
    made = {}
    for camera in ("", "south", "above"):
        env = views.parallel_env("drones", render_mode="rgb_array", camera=camera)
        env.reset(seed=0)
        made[camera] = env.render()
    np.testing.assert_array_equal(made[""], made["south"])
    assert (made["above"] != made["south"]).any()
    with pytest.raises(ConfigError, match=r"no camera is called 'over'; .*south, above"):
        views.parallel_env("drones", render_mode="rgb_array", camera="over")


def test_turn_taking_checkers():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        api_test(Sequential(Parallel(Coins(players=3))), 30)
        seed_test(lambda: Sequential(Parallel(Coins(players=3))), 10)


def test_registries():
    parallel = pettingzoo.make("parallel", "manyhands/kitchen-v0", layout="coordination_ring")
    assert parallel.game == manyhands.make("kitchen", layout="coordination_ring")
    one = pettingzoo.make("aec", "manyhands/kitchen-v0", max_cycles=7)
    assert isinstance(one, Sequential)
    assert one.game.max_steps == 7


def test_everything_is_at_hand_and_light():
    program = (
        "import sys, manyhands; assert 'manyhands.envs.kitchen' not in sys.modules; "
        "manyhands.envs.kitchen.parallel_env(); assert not hasattr(manyhands.envs, 'nothing'); "
        "assert 'pygame' not in sys.modules and 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parents[2])


def test_current_state_and_terms():
    env = kitchen.parallel_env(layout="cramped_room", starts="overcooked_ai", max_steps=400)
    env.reset(seed=0)
    chefs = env.game.to_dict(env.current)["chefs"]
    assert [(c["x"], c["y"], c["facing"], c["holding"]) for c in chefs] == [
        (1, 2, "north", None),
        (3, 1, "north", None),
    ]
    # chef_1 takes an onion to its right and brings it to the pot above the middle.
    for action in (2, 5, 3, 0, 5):
        _, rewards, _, _, infos = env.step({"chef_0": 4, "chef_1": action})
    assert infos["chef_1"]["terms"] == {
        "delivery": 0.0,
        "pot_placement": 3.0,
        "dish_pickup": 0.0,
        "soup_pickup": 0.0,
    }
    assert infos["chef_0"]["terms"]["pot_placement"] == 0.0
    assert all(type(v) is float for v in (*rewards.values(), *infos["chef_0"]["terms"].values()))
    assert env.game.to_dict(env.current)["pots"][0]["onions"] == 1


def test_numbers_and_words_in_one_step():
    words, numbers = kitchen.parallel_env(), kitchen.parallel_env()
    words.reset(seed=1), numbers.reset(seed=1)
    for name, number in (("north", 0), ("I go ACTION: west", 3), (np.int64(4), np.array(4))):
        got = words.step({"chef_0": name, "chef_1": 2})
        expected = numbers.step({"chef_0": number, "chef_1": 2})
        assert (got[0]["chef_0"] == expected[0]["chef_0"]).all()
        assert got[4]["chef_0"]["parse"] == {"status": "ok"}
    choice = words.view("chef_1").choices[5]
    assert words.step({"chef_0": 4, "chef_1": choice})[4]["chef_1"]["parse"]["status"] == "ok"


@pytest.mark.parametrize("action", ["fly", 6, -1, 2.5, None, "", [1, 2]])
def test_illegal_actions(action):
    env = kitchen.parallel_env()
    env.reset(seed=0)
    with pytest.raises(IllegalAction, match="chef_1"):
        env.step({"chef_0": 0, "chef_1": action})
    assert env.current.time == 0  # nothing has happened

    env = kitchen.parallel_env(on_illegal="noop")
    env.reset(seed=0)
    _, _, terminated, _, infos = env.step({"chef_0": 0, "chef_1": action})
    assert infos["chef_1"]["parse"]["status"] == "illegal" and infos["chef_1"]["parse"]["reason"]
    assert env.current.time == 1 and not terminated["chef_1"]

    env = kitchen.parallel_env(on_illegal="forfeit")
    env.reset(seed=0)
    _, rewards, terminated, truncated, infos = env.step({"chef_0": 0, "chef_1": action})
    assert terminated == {"chef_0": True, "chef_1": True} and not any(truncated.values())
    assert infos["chef_1"]["parse"]["status"] == "forfeit" and rewards["chef_1"] == 0.0
    assert infos["chef_0"]["parse"]["status"] == "ok" and env.agents == []
    with pytest.raises(EpisodeOver):
        env.step({"chef_0": 0, "chef_1": 0})


def test_forfeit_in_turns_ends_at_once():
    env = kitchen.env(on_illegal="forfeit")
    env.reset(seed=0)
    env.step("fly")
    assert env.terminations == {"chef_0": True, "chef_1": True}
    for _ in env.possible_agents:
        env.step(None)
    assert env.agents == []


def test_wrong_callers():
    env = kitchen.parallel_env(max_steps=1)
    with pytest.raises(EpisodeOver, match="reset"):
        env.step({"chef_0": 0, "chef_1": 0})
    with pytest.raises(EpisodeOver, match="reset"):
        kitchen.env().step(0)
    env.reset()
    with pytest.raises(ConfigError, match="no action for 'chef_1'"):
        env.step({"chef_0": 0})
    with pytest.raises(ConfigError, match="chef_7"):
        env.step({"chef_0": 0, "chef_1": 0, "chef_7": 0})
    _, _, _, truncated, _ = env.step({"chef_0": 0, "chef_1": 0})
    assert truncated == {"chef_0": True, "chef_1": True}
    with pytest.raises(EpisodeOver, match="over"):
        env.step({"chef_0": 0, "chef_1": 0})
    with pytest.raises(ConfigError, match="observe"):
        kitchen.parallel_env(observe="pixels")
    with pytest.raises(ConfigError, match="render_mode"):
        env.render()


def test_text_space_contains_all_text():
    space = Words()
    for text in ("", "Ω → 汤 🍲\n\t", "x" * space.max_length):
        assert text in space
    assert "x" * (space.max_length + 1) not in space and 3 not in space
    assert space.sample() in space
    small = Words(8)
    flat = gymnasium.spaces.flatten(small, "→ soup")
    assert gymnasium.spaces.unflatten(small, flat) == "? soup"


def test_seeds():
    env = kitchen.parallel_env(starts="random")
    env.reset(seed=5)
    assert (env.current.position == env.game.reset(episode_key(5)).position).all()
    series = []
    for _ in range(2):
        env.reset(seed=5)
        series.append([env.reset()[0]["chef_0"].tobytes() for _ in range(4)])
    assert series[0] == series[1]
    assert len(set(series[0])) > 1


def test_begin_from_a_snapshot():
    env = Parallel(Coins(turns=False))
    env.reset(seed=3)
    env.step({"player_0": 1, "player_1": 0})
    saved = manyhands.snapshot(env.game, env.current)
    after = env.step({"player_0": 2, "player_1": 1})
    for state in (saved, manyhands.restore(env.game, saved)):
        env.reset(seed=3, options={"state": state, "time": 1})
        again = env.step({"player_0": 2, "player_1": 1})
        assert again[1] == after[1]
        assert (again[0]["player_1"] == after[0]["player_1"]).all()


def test_observations_belong_to_the_caller():
    env = kitchen.parallel_env()
    first, _ = env.reset(seed=0)
    kept = first["chef_0"].copy()
    second = env.step({"chef_0": 3, "chef_1": 4})[0]
    second["chef_0"][:] = 77
    assert (first["chef_0"] == kept).all()
    assert (env.observation("chef_0") != 77).all()


def test_aec_plays_the_same_game():
    parallel, one = kitchen.parallel_env(max_steps=15), kitchen.env(max_steps=15)
    parallel.reset(seed=2), one.reset(seed=2)
    rng = np.random.default_rng(0)
    while parallel.agents:
        actions = {agent: int(rng.integers(6)) for agent in parallel.agents}
        observations, rewards, _, truncated, _ = parallel.step(actions)
        for agent in list(actions):
            assert one.agent_selection == agent
            one.step(actions[agent])
        assert one.rewards == rewards and one.truncations == truncated
        assert (one.observe("chef_1") == observations["chef_1"]).all()
    assert (one.state() == parallel.state()).all()
    assert one.state() in one.state_space


def test_turns():
    one = Sequential(Parallel(Coins(players=3)))
    one.reset(seed=0)
    order = []
    for agent in one.agent_iter(5):
        order.append(agent)
        one.step("take 1")
    assert order == ["player_0", "player_1", "player_2", "player_0", "player_1"]
    many = Parallel(Coins(players=3))
    many.reset(seed=0)
    _, _, _, _, infos = many.step({"player_0": 1})
    assert infos["player_1"]["parse"] == {"status": "none"}
    assert not infos["player_2"]["action_mask"].any() and infos["player_1"]["action_mask"].any()
    with pytest.raises(ConfigError, match="player_1"):
        many.step({"player_0": 1})


@pytest.mark.parametrize("copied", (copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))))
def test_a_copy_goes_on_by_itself(copied):
    game = manyhands.make("chat", env=manyhands.make("skills", env=manyhands.make("kitchen")))
    for env in (kitchen.parallel_env(), Parallel(game, observe="text")):
        env.reset(seed=1)
        first = {agent: env.action_space(agent).sample() * 0 for agent in env.agents}
        env.step(first)
        fork = copied(env)
        env.step({agent: env.game.noop for agent in env.agents})
        assert (fork.time, env.time) == (1, 2)
        fork.step({agent: env.game.noop for agent in env.agents})
        assert (fork.frame.buffer == env.frame.buffer).all()
        assert fork.view(0).text == env.view(0).text


# ---- the form of infos, masks and vectors --------------------------------------------------------


def test_flat_infos_are_numbers():
    env = kitchen.parallel_env(infos="flat", on_illegal="noop", max_steps=3)
    nested = kitchen.parallel_env(on_illegal="noop", max_steps=3)
    _, first = env.reset(seed=0)
    nested.reset(seed=0)
    for actions in ({"chef_0": 5, "chef_1": 4}, {"chef_0": "fly", "chef_1": 0}):
        infos, expected = env.step(actions)[4], nested.step(actions)[4]
        for agent, info in infos.items():
            assert list(info) == list(first[agent])  # the same keys in each step
            assert info["action_mask"].dtype == np.int8
            assert all(type(v) in (int, float) for k, v in info.items() if k != "action_mask")
            terms, metrics = expected[agent]["terms"], expected[agent]["metrics"]
            assert {f"terms/{k}": v for k, v in terms.items()}.items() <= info.items()
            assert {f"metrics/{k}": v for k, v in metrics.items()}.items() <= info.items()
    assert (infos["chef_0"]["illegal"], infos["chef_1"]["illegal"]) == (1, 0)
    turns = kitchen.env(infos="flat")
    turns.reset(seed=0)
    assert turns.infos["chef_1"].keys() == first["chef_1"].keys()


@pytest.mark.parametrize("observe", MODES)
def test_masks_in_observations(observe):
    game = Coins(players=2)
    env, usual = (
        Parallel(game, observe=observe, mask="observation"),
        Parallel(game, observe=observe),
    )
    seen, infos = env.reset(seed=0)
    expected, usual_infos = usual.reset(seed=0)
    for agent in env.agents:
        assert seen[agent] in env.observation_space(agent)
        assert "action_mask" not in infos[agent]
        np.testing.assert_equal(seen[agent]["observation"], expected[agent])
        np.testing.assert_equal(seen[agent]["action_mask"], usual_infos[agent]["action_mask"])
        seen[agent]["action_mask"][:] = 7  # it belongs to the caller
    np.testing.assert_equal(env.observation("player_0")["action_mask"], [1, 1, 1, 1])
    with pytest.raises(ConfigError, match="continuous"):
        Parallel(Coins(space="box"), mask="observation")


def test_checkers_take_masks_in_observations():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # dicts are recommended for games known by name
        api_test(Sequential(Parallel(Coins(players=3), mask="observation", infos="flat")), 30)
        parallel_api_test(kitchen.parallel_env(mask="observation", max_steps=20), 30)


@pytest.mark.parametrize("mask", ("info", "observation"))
def test_empty_masks_may_allow_the_noop(mask):
    env = Parallel(Coins(players=3), mask=mask, empty_mask="noop")
    seen, infos = env.reset(seed=0)
    masks = infos if mask == "info" else seen
    assert [masks[a]["action_mask"].tolist() for a in env.agents] == [
        [1, 1, 1, 1],
        [1, 0, 0, 0],
        [1, 0, 0, 0],
    ]
    # What a library then samples for agents that are not to move changes nothing.
    _, _, _, _, infos = env.step(dict.fromkeys(env.agents, 0))
    assert infos["player_1"]["parse"]["status"] == "none"
    many = Parallel(Coins(space="multi"), empty_mask="noop").reset(seed=0)[1]
    assert many["player_1"]["action_mask"].tolist() == [1, 0, 0, 0, 1, 0, 0]
    # The no-op of a board, -2, is outside of its actions.
    waiting = board.parallel_env(empty_mask="noop").reset(seed=0)[1]["player_1"]
    assert waiting["action_mask"].tolist() == [1] + [0] * 8
    assert not board.parallel_env().reset(seed=0)[1]["player_1"]["action_mask"].any()


@pytest.mark.parametrize("observe", ("vector", "both"))
def test_vectors_of_another_dtype(observe):
    env, usual = poker.parallel_env(dtype="float32", observe=observe), poker.parallel_env()
    seen, _ = env.reset(seed=1)
    expected, _ = usual.reset(seed=1)
    for agent in env.agents:
        assert seen[agent] in env.observation_space(agent)
        vector = seen[agent] if observe == "vector" else seen[agent]["vector"]
        assert vector.dtype == np.float32 and expected[agent].dtype != np.float32
        np.testing.assert_array_equal(vector, expected[agent])
    for wrong in ({"dtype": "float17"}, {"dtype": "float32", "observe": "text"}):
        with pytest.raises(ConfigError, match="dtype"):
            poker.parallel_env(**wrong)


def test_an_illegal_action_names_the_ways_out():
    env = kitchen.parallel_env()
    env.reset(seed=0)
    with pytest.raises(IllegalAction, match=r'on_illegal="noop".*action_mask') as caught:
        env.step({"chef_0": 0, "chef_1": 9})
    assert "on_illegal" not in caught.value.reason  # which is for the player
    copied = pickle.loads(pickle.dumps(caught.value))
    assert (copied.reason, str(copied)) == (caught.value.reason, str(caught.value))


# ---- what is wrong is said -----------------------------------------------------------------------


@pytest.mark.parametrize("actions", (None, [0, 0], 3))
def test_actions_are_a_dict(actions):
    env = kitchen.parallel_env()
    env.reset(seed=0)
    with pytest.raises(ConfigError, match="chef_0"):
        env.step(actions)


@pytest.mark.parametrize("make", (kitchen.parallel_env, kitchen.env))
def test_reset_options_are_checked(make):
    env = make()
    for wrong, words in (
        (5, "5"),
        ({"stat": b""}, "state"),
        ({"time": -1}, "time"),
        ({"member": 1.5}, "member"),
    ):
        with pytest.raises(ConfigError, match=words):
            env.reset(seed=0, options=wrong)


@pytest.mark.parametrize("name", ("manyhands/kitchen-v0", "manyhands/negotiation-v0"))
@pytest.mark.parametrize("kind", ("parallel", "aec"))
def test_mistyped_options_are_named(kind, name):
    with pytest.raises(ConfigError, match="observe"):
        pettingzoo.make(kind, name, obzerve="text")


def test_options_of_the_view_and_of_the_game_are_listed_together():
    with pytest.raises(ConfigError, match=r"empty_mask.*layout"):
        kitchen.parallel_env(colour="red")
    with pytest.raises(ConfigError, match="layout"):
        kitchen.parallel_env(layuot="cramped_room")


def test_the_folders_of_games():
    assert kitchen.raw_env is kitchen.env and views.raw_env is views.env
    assert poker.parallel_env().game.id == "kuhn_poker"
    assert poker.env("leduc_holdem").game.id == poker.env(game="leduc_holdem").game.id
    assert volleyball.parallel_env("hit").game == volleyball.parallel_env(task="hit").game
    assert pickle.loads(pickle.dumps(poker.env)) is poker.env
    for function, wrong in ((poker.env, "kitchen"), (board.parallel_env, "kuhn_poker")):
        with pytest.raises(ConfigError, match="game"):
            function(wrong)
    with pytest.raises(TypeError, match="parallel_env"):
        kitchen.parallel_env("kitchen")


def test_members_of_one_seed_draw_apart():
    env = kitchen.parallel_env()
    seeds = []
    for member in (0, 0, 1, 2):
        first, _ = env.reset(seed=3, options={"member": member})
        seeds.append((env.view("chef_1").seed, first["chef_1"].tobytes()))
    assert seeds[0] == seeds[1] and len({seed for seed, _ in seeds}) == 3
    assert len({first for _, first in seeds}) == 1


MODULE = """
import manyhands
from coins import Coins

class Pile(Coins):
    id = "test-pile"

manyhands.register("test-pile", __name__ + ":Pile")
"""


def test_ids_with_a_module(tmp_path, monkeypatch):
    (tmp_path / "pile_module.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    assert views.parallel_env("pile_module:test-pile", players=3).game.num_agents == 3
    assert manyhands.make("pile_module:test-pile-v0").id == "test-pile"
    seat = gymnasium.make("pile_module:manyhands/TestPile-v0", players=1)
    assert seat.unwrapped.game.id == "test-pile"
    # PettingZoo takes no module in an id, but finds what was imported.
    assert pettingzoo.make("aec", "manyhands/test-pile-v0").game.id == "test-pile"
    with pytest.raises(ConfigError, match="pile_modul:"):
        views.parallel_env("pile_modul:test-pile")


def test_unknown_agents_and_asking_too_early():
    parallel, turns = kitchen.parallel_env(), kitchen.env()
    for env in (parallel, turns):
        for wrong in ("nobody", None, 7):
            for space in (env.observation_space, env.action_space):
                with pytest.raises(ConfigError, match="chef_0, chef_1"):
                    space(wrong)
        assert env.observation_space("chef_1") is env.observation_spaces["chef_1"]
        assert env.action_space("chef_1") is not env.action_space("chef_0")
    with pytest.raises(EpisodeOver, match="reset"):
        turns.last()
