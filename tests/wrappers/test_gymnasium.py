"""One seat of an environment, alone and in batches, against Gymnasium's checker and its own
vector environments."""

import copy
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode

import manyhands
from manyhands.core.env import ConfigError, EpisodeOver, IllegalAction, SeatError
from manyhands.core.view import Reply
from manyhands.wrappers.gymnasium import SeatEnv, SeatVectorEnv
from manyhands.wrappers.pettingzoo import Parallel

sys.path.append(str(Path(__file__).parents[1] / "core"))
from coins import Coins

ID = "manyhands/Kitchen-v0"


class Walker:
    """A device policy that remembers how often it was asked, and walks in a circle."""

    def init(self, env, agent):
        return jnp.int32(0)

    def apply(self, env, agent, memory, key, view):
        return jnp.array([2, 0, 3, 1])[memory % 4], memory + 1


@pytest.mark.parametrize("observe", ("vector", "text", "both"))
def test_checker(observe):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gym.make(ID, observe=observe, partners="random").unwrapped)


def test_compact_observations_pass_too():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gym.make(ID, observation="compact", seat="chef_1", partners="random")
        check_env(env.unwrapped, skip_render_check=True)


def test_a_seat_plays_the_same_game_as_everybody():
    seat = SeatEnv("kitchen", seat=1, partners=Walker(), max_steps=12)
    both = Parallel(manyhands.make("kitchen", max_steps=12))
    observation, info = seat.reset(seed=4)
    assert (observation == both.reset(seed=4)[0]["chef_1"]).all()
    assert info["parse"] == {"status": "none"}
    truncated, step = False, 0
    while not truncated:
        action = ["interact", 3, "west", 0][step % 4]
        expected = both.step({"chef_0": (2, 0, 3, 1)[step % 4], "chef_1": action})
        observation, reward, terminated, truncated, info = seat.step(action)
        assert data_equivalence(
            (observation, reward, terminated, truncated, info),
            tuple(part["chef_1"] for part in expected),
        )
        step += 1
    assert step == 12
    with pytest.raises(EpisodeOver):
        seat.step(0)


def test_partners_of_any_kind():
    seen = []

    async def patient(view):
        seen.append((view.agent, view.text))
        return "east"

    class Talker:
        def act(self, views):
            return [Reply("walk on the ceiling, please") for _ in views]

    env = SeatEnv("kitchen", chefs=None, layout="cramped_room", partners=patient)
    env.reset(seed=0)
    before = int(env.current.position[1])
    env.step("stay")
    env.step("stay")
    assert [agent for agent, _ in seen] == ["chef_1", "chef_1"] and "chef_1" in seen[0][1]
    assert int(env.current.position[1]) == before and env.current.facing[1] == 2
    env.close()

    env = SeatEnv("kitchen", partners=[Talker()])
    env.reset(seed=0)
    for _ in range(3):  # nonsense is played as the no-op
        env.step("stay")
    assert int(env.current.position[1]) == before and env.current.facing[1] == 0
    env = SeatEnv(Coins(players=3), seat=1, partners={"player_0": Talker(), "player_2": "random"})
    env.reset(seed=0)
    assert env.step(1)[1] > 1.0

    with pytest.raises(ConfigError, match="2 partners"):
        SeatEnv(Coins(players=3), partners=["random"])
    with pytest.raises(ConfigError, match="player_1"):
        SeatEnv(Coins(players=3), seat=1, partners={"player_1": "random"})
    with pytest.raises(ConfigError, match="cannot play"):
        SeatEnv("kitchen", partners=[17])
    with pytest.raises(ConfigError, match="configured already"):
        SeatEnv(Coins(), players=3)


def test_illegal_actions():
    env = SeatEnv("kitchen", partners="random")
    with pytest.raises(EpisodeOver, match="reset"):
        env.step(0)
    env.reset(seed=0)
    with pytest.raises(IllegalAction):
        env.step("fly")
    env = SeatEnv("kitchen", partners="random", on_illegal="noop")
    env.reset(seed=0)
    assert env.step(9)[4]["parse"]["status"] == "illegal" and env.current.time == 1
    env = SeatEnv("kitchen", partners="random", on_illegal="forfeit")
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step("fly")
    assert (reward, terminated, truncated) == (0.0, True, False)
    assert info["parse"]["status"] == "forfeit" and env.current.time == 0
    with pytest.raises(EpisodeOver):
        env.step(0)


class Taker:
    """Takes two coins where it can."""

    def init(self, env, agent):
        return ()

    def apply(self, env, agent, memory, key, view):
        return jnp.where(view.legal[2], 2, 0), memory


@pytest.mark.parametrize("seat", (0, 2))
def test_turns_are_summed(seat):
    game = Coins(players=3, pile=11, max_steps=20)
    env, everybody = SeatEnv(game, seat=seat, partners=Taker()), Parallel(game)
    env.reset(seed=1), everybody.reset(seed=1)
    me = game.agents[seat]

    def others(gains):
        while everybody.agents and not everybody.frame.acting[seat]:
            mover = int(np.argmax(everybody.frame.acting))
            action = 2 if everybody.frame.legal[mover, 2] else 0
            result = everybody.step({game.agents[mover]: action})
            gains += [result[1][me], result[4][me]["metrics"]["coins"]]
        return gains

    others(np.zeros(2))
    over = False
    while not over:
        result = everybody.step({me: 1})
        gains = others(np.array([result[1][me], result[4][me]["metrics"]["coins"]]))
        observation, reward, terminated, truncated, info = env.step(1)
        over = terminated or truncated
        assert np.allclose([reward, info["metrics"]["coins"]], gains)
        assert over or info["action_mask"].any()
        assert (observation == everybody.observation(me)).all()
    assert everybody.agents == []


def pair(mode, game="kitchen", **options):
    """Our batch, and Gymnasium's own of the same environment."""
    options = {"partners": Walker(), **options}
    ours = SeatVectorEnv(game, 3, autoreset_mode=mode, **options)
    theirs = gym.vector.SyncVectorEnv([lambda: SeatEnv(game, **options)] * 3, autoreset_mode=mode)
    return ours, theirs


def plain(tree):
    """Without the dtypes, and without what only single environments tell."""
    if isinstance(tree, dict):
        return {k: plain(v) for k, v in tree.items() if k not in ("parse", "_parse")}
    if isinstance(tree, tuple) or (isinstance(tree, np.ndarray) and tree.dtype == object):
        return [plain(item) for item in tree]
    return tree.tolist() if isinstance(tree, np.ndarray) else tree


@pytest.mark.parametrize("mode", ("SameStep", "NextStep"))
def test_batches_are_as_gymnasium_has_them(mode):
    ours, theirs = pair(mode, max_steps=4)
    assert ours.metadata["autoreset_mode"] is AutoresetMode(mode)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    first, info = ours.reset(seed=7)
    expected, expected_info = theirs.reset(seed=7)
    assert (first == expected).all() and first.dtype == expected.dtype
    assert plain(info) == {k: v for k, v in plain(expected_info).items() if "action" in k}
    rng = np.random.default_rng(0)
    for _ in range(11):
        actions = rng.integers(0, 6, 3)
        assert plain(ours.step(actions)) == plain(theirs.step(actions))
    assert ours._vector._program.step._cache_size() == 1


@pytest.mark.slow
def test_batches_without_automatic_resets():
    ours, theirs = pair("Disabled", max_steps=3)
    ours.reset(seed=7), theirs.reset(seed=7)
    for _ in range(3):
        assert plain(ours.step([0, 1, 5])) == plain(theirs.step(np.array([0, 1, 5])))
    with pytest.raises(EpisodeOver, match="0, 1, 2"):
        ours.step([0, 0, 0])
    for mask in ([True, False, True], [False, True, False]):
        mask = np.array(mask)
        got = ours.reset(seed=3, options={"reset_mask": mask})[0]
        assert (got == theirs.reset(seed=3, options={"reset_mask": mask.copy()})[0]).all()
    assert plain(ours.step([1, 2, 3])) == plain(theirs.step(np.array([1, 2, 3])))


@pytest.mark.parametrize("seat", (0, 1))
def test_batches_take_turns(seat):
    game = Coins(players=3, pile=11, max_steps=20)
    batch = SeatVectorEnv(game, 4, seat=seat, partners=["random", Taker()])
    singles = [SeatEnv(game, seat=seat, partners=["random", Taker()]) for _ in range(4)]
    first, _ = batch.reset(seed=2)
    assert (first == [env.reset(seed=2 + i)[0] for i, env in enumerate(singles)]).all()
    running = [True] * 4
    for _ in range(4):
        _, reward, terminated, truncated, info = batch.step(np.ones(4, int))
        for i, env in enumerate(singles):
            if not running[i]:
                continue
            single = env.step(1)
            assert np.isclose(single[1], reward[i])
            assert single[2:4] == (terminated[i], truncated[i])
            running[i] = not (single[2] or single[3])
            if running[i]:
                assert single[4]["action_mask"].tolist() == info["action_mask"][i].tolist()
            else:
                assert (single[0] == info["final_obs"][i]).all()
    assert not any(running)
    assert batch.step(np.zeros(4, int))[4]["action_mask"].any(axis=1).all()


@pytest.mark.slow
def test_jax_arrays_stay_on_the_device():
    env = gym.make_vec(ID, num_envs=4, partners="random", arrays="jax", max_steps=3)
    twin = gym.make_vec(ID, num_envs=4, partners="random", max_steps=3)
    observation, _ = env.reset(seed=1)
    assert isinstance(observation, jax.Array) and env.metadata["autoreset_mode"]
    assert (observation == twin.reset(seed=1)[0]).all()
    for step in range(4):
        with jax.transfer_guard("disallow"):
            result = env.step(jax.device_put(np.full(4, step, np.int32)))
        expected = twin.step(np.full(4, step))
        assert all((a == b).all() for a, b in zip(result[:4], expected[:4], strict=True))
        assert (result[4]["_final_obs"] == (step == 2)).all()
    assert all(isinstance(leaf, jax.Array) for leaf in jax.tree_util.tree_leaves(result))
    assert env.unwrapped._vector._program.step._cache_size() == 1


def test_wrappers_of_gymnasium_work():
    env = gym.make_vec(ID, num_envs=2, partners="random", max_steps=3, render_mode="rgb_array")
    env = gym.wrappers.vector.RecordEpisodeStatistics(env)
    env.reset(seed=0)
    for _ in range(3):
        info = env.step(env.action_space.sample())[4]
    assert info["episode"]["l"].tolist() == [3, 3]
    pictures = env.render()
    assert len(pictures) == 2 and pictures[0].ndim == 3 and pictures[0].dtype == np.uint8


def test_what_cannot_be_batched():
    with pytest.raises(ConfigError, match="sync"):
        gym.make_vec(ID, num_envs=2, partners="random", observe="text")
    with pytest.raises(ConfigError, match="compiled"):
        gym.make_vec(ID, num_envs=2, partners=[lambda view: 0])
    env = gym.make_vec(ID, num_envs=2, vectorization_mode="sync", partners="random", observe="text")
    assert isinstance(env.reset(seed=0)[0][1], str)


def test_illegal_answers_of_partners_are_forfeits():
    env = SeatEnv("kuhn_poker", partners=lambda view: "hm", on_illegal="forfeit")
    env.reset(seed=3)
    _, reward, terminated, _, _ = env.step("bet 1")
    assert terminated and reward == 1.0 and env._episode.forfeits == (1,)
    second = SeatEnv("kuhn_poker", seat=1, partners=lambda view: "hm", on_illegal="forfeit")
    with pytest.raises(SeatError, match="first move"):
        second.reset(seed=3)


def test_a_partner_cannot_stall_a_game_of_turns():
    env = SeatEnv("connect_four", partners=lambda view: "hm", on_illegal="raise")
    env.reset(seed=0)
    _, reward, terminated, _, _ = env.step(3)  # a no-op leaves the turn to the partner
    assert terminated and reward == 1.0 and env._episode.forfeits == (1,)
    assert env._episode.illegal == [0, 4]


@pytest.mark.parametrize("copied", (copy.deepcopy, copy.copy, pickle.dumps))
def test_batches_say_that_they_cannot_be_copied(copied):
    for batch in (
        manyhands.vector("kuhn_poker", num_envs=2),
        SeatVectorEnv("kuhn_poker", 2, partners="random"),
    ):
        with pytest.raises(TypeError, match="neither pickled nor copied"):
            copied(batch)


@pytest.mark.parametrize("copied", (copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))))
def test_a_copy_goes_on_by_itself_with_its_partners(copied):
    env = gym.make(ID, partners=[Walker()]).unwrapped
    env.reset(seed=1)
    env.step(0)
    fork = copied(env)
    after = [env.step(action)[0] for action in (3, 5)]
    for expected, action in zip(after, (3, 5), strict=True):
        np.testing.assert_array_equal(fork.step(action)[0], expected)


# ---- options of the view -------------------------------------------------------------------------


def test_the_form_of_infos_masks_and_vectors():
    options = {"infos": "flat", "mask": "observation", "dtype": "float32", "on_illegal": "noop"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checked = gym.make("manyhands/KuhnPoker-v0", partners="random", **options).unwrapped
        check_env(checked, skip_render_check=True)
    game = Coins(players=2, pile=1, max_steps=99)
    env = SeatEnv(game, partners="random", empty_mask="noop", **options)
    seen, info = env.reset(seed=0)
    over = False
    while not over:
        assert seen in env.observation_space and "action_mask" not in info
        assert seen["observation"].dtype == np.float32
        assert all(type(value) in (int, float) for value in info.values())
        np.testing.assert_array_equal(seen["action_mask"], env.action_masks())
        seen, _, terminated, truncated, after = env.step(9)
        assert after.keys() == info.keys() and after["illegal"] == 1
        over = terminated or truncated
    assert terminated and seen["action_mask"].tolist() == [1, 0, 0, 0]
    with pytest.raises(ConfigError, match="mask"):
        SeatEnv(Coins(players=2, space="box"), partners="random", mask="observation")
    with pytest.raises(ConfigError, match="sync"):
        gym.make_vec(ID, num_envs=2, partners="random", mask="observation")


def test_flat_infos_of_batches():
    game = Coins(players=2, max_steps=2)
    nested, flat = (SeatVectorEnv(game, 3, infos=infos) for infos in ("nested", "flat"))
    nested.reset(seed=0), flat.reset(seed=0)
    expected, info = nested.step([1, 0, 2])[4], flat.step([1, 0, 2])[4]
    for found, last in ((info, expected), (info["final_info"], expected["final_info"])):
        for kind, name in (("terms", "taken"), ("metrics", "coins")):
            np.testing.assert_array_equal(found[f"{kind}/{name}"], last[kind][name])
            np.testing.assert_array_equal(found[f"_{kind}/{name}"], last[kind][f"_{name}"])
            assert kind not in found


def test_masks_for_maskable_learners():
    env = SeatEnv(Coins(players=2), partners="random")
    with pytest.raises(EpisodeOver, match="reset"):
        env.action_masks()
    _, info = env.reset(seed=0)
    assert env.action_masks().dtype == bool
    assert env.action_masks().tolist() == info["action_mask"].astype(bool).tolist()
    assert env.get_wrapper_attr("action_masks")().any()
    with pytest.raises(IllegalAction, match=r"on_illegal.*action_masks") as caught:
        env.step(9)
    assert "on_illegal" not in caught.value.reason
    boxes = SeatEnv(Coins(players=2, space="box"), partners="random")
    boxes.reset(seed=0)
    with pytest.raises(ConfigError, match="masked"):
        boxes.action_masks()


def test_mistyped_options_are_named():
    for make, name, known in (
        (gym.make, "obzerve", "observe"),
        (gym.make, "layuot", "layout"),
        (gym.make, "partnets", "partners.*layout"),
        (lambda *args, **options: gym.make_vec(*args, num_envs=2, **options), "arays", "arrays"),
    ):
        with pytest.raises(ConfigError, match=known):
            make(ID, **{name: "text"})
    with pytest.raises(ConfigError, match="greedy"):  # a partner that would work in a batch
        gym.make_vec(ID, num_envs=2, partners="reader")


def test_reset_options_are_checked():
    single, batch = SeatEnv(Coins(), partners="random"), SeatVectorEnv(Coins(), 2)
    for env in (single, batch):
        for wrong, words in ((5, "5"), ({"membr": 1}, "member"), ({"member": -1}, "member")):
            with pytest.raises(ConfigError, match=words):
                env.reset(seed=0, options=wrong)


def test_partners_of_members_play_differently():
    """As members of a group in `play`: the same beginning, other draws; in a batch, too."""
    game = Coins(players=3, turns=False, pile=300)

    def numbers(view):
        return view.seed % 4

    for partners in ("random", numbers):
        env = SeatEnv(game, partners=partners)
        played = []
        for member in (0, 1, 1, 2):
            first, _ = env.reset(seed=7, options={"member": member})
            steps = [env.step(0)[0].tolist() for _ in range(5)]
            played.append((first.tolist(), steps))
        assert played[1] == played[2]
        assert len({str(first) for first, _ in played}) == 1
        assert len({str(steps) for _, steps in played}) == 3
        if partners == "random":
            batch = SeatVectorEnv(game, 4, partners="random")
            batch.reset(seed=[7] * 4, options={"member": [0, 1, 1, 2]})
            together = [batch.step(np.zeros(4, int))[0].copy() for _ in range(5)]
            for i, (_, steps) in enumerate(played):
                assert [rows[i].tolist() for rows in together] == steps
    result = manyhands.play(game, [lambda view: 0, numbers, numbers], group=3, episodes=3, seed=7)
    assert len({episode.rewards for episode in result.episodes}) > 1


# ---- processes -----------------------------------------------------------------------------------

WORKERS = """
import warnings

import gymnasium  # and not manyhands: the prefix of the id imports it where it is needed

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    envs = gymnasium.make_vec(
        "manyhands:manyhands/KuhnPoker-v0",
        num_envs=1,
        vectorization_mode="async",
        vector_kwargs={"context": "spawn"},
        partners="random",
    )
    print(envs.reset(seed=0)[0].shape, envs.step([0])[1].shape)
    envs.close()
"""


@pytest.mark.slow
def test_children_find_the_ids(tmp_path):
    script = tmp_path / "workers.py"
    script.write_text(WORKERS)
    done = subprocess.run(
        [sys.executable, str(script)],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout.strip().endswith("(1,)"), done.stderr[-2000:]


def test_closing_closes_partners_that_hold_connections():
    class Connected:
        closed = 0

        async def act(self, views):
            return [Reply(view.choices[0]) for view in views]

        async def aclose(self):
            self.closed += 1

    partner = Connected()
    env = SeatEnv("tic_tac_toe", seat=1, partners=partner)
    env.reset(seed=0)
    env.close()
    assert partner.closed == 1
