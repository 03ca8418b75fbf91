"""The loop: who is asked, what they see, and that an episode is the same however it is played."""

import asyncio
import dataclasses
import gc
import os
import signal
import threading
import time

import coins
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from manyhands.baselines.players.random import Random
from manyhands.core.env import (
    ConfigError,
    IllegalAction,
    SeatError,
    agent_key,
    episode_key,
)
from manyhands.core.episode import check_action, episode_seed
from manyhands.core.pack import full_actions, stepper
from manyhands.core.play import play
from manyhands.core.record import read
from manyhands.core.seats import BLOCK
from manyhands.core.view import Reply

TURNS = coins.Coins()
TOGETHER = coins.Coins(turns=False)
ALONE = coins.Coins(players=1, max_steps=40)


@dataclasses.dataclass(frozen=True)
class Net:
    """A device policy with a memory and with matrix products, so that rounding could differ."""

    width: int = 33

    def init(self, env, agent):
        return {"hidden": jnp.zeros(self.width), "count": 0}

    def apply(self, env, agent, memory, key, view):
        weights = jax.random.normal(jax.random.key(agent), (self.width, self.width + 3))
        hidden = jnp.tanh(weights @ jnp.concatenate([memory["hidden"], view.vector]) / 6)
        logits = jax.random.normal(jax.random.key(9), (4, self.width)) @ hidden
        logits = jnp.where(view.legal, logits, -jnp.inf)
        memory = {"hidden": hidden, "count": memory["count"] + 1}
        return jax.random.categorical(key, logits).astype(jnp.int32), memory


class Host:
    """A plain policy that counts the views of each call."""

    name = "host"

    def __init__(self):
        self.calls = []

    def act(self, views):
        self.calls.append([(view.episode, view.agent, view.step) for view in views])
        return [int(view.rng().choice(np.flatnonzero(view.legal))) for view in views]


class Slow:
    """Coroutines: each answer takes a while, the first episode's much longer."""

    def __init__(self):
        self.asked, self.at_once, self.most = [], 0, 0

    async def act(self, views):
        (view,) = views
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await asyncio.sleep(0.3 if view.episode == 0 else 0.001)
        self.at_once -= 1
        self.asked.append(view.episode)
        return [Reply(view.choices[-1], info={"tokens": 3})]


def test_only_who_is_to_move_is_asked():
    host = Host()
    result = play(TURNS, [host, host], episodes=3, seed=1)
    asked = [entry for call in host.calls for entry in call]
    assert len(asked) == len(set(asked)) == sum(e.steps for e in result.episodes)
    assert all(agent == f"player_{step % 2}" for _, agent, step in asked)


def test_totals_follow_from_stepping_by_hand():
    moments = []
    result = play(TOGETHER, [Net(), "random"], seed=5, only=[2], on_step=moments.append)
    (episode,) = result.episodes
    assert episode.seed == episode_seed(5, 2)
    key_data = np.asarray(jax.random.key_data(episode_key(episode.seed)))
    frame = stepper(TOGETHER).reset(episode_key(episode.seed))
    rewards = np.zeros(2)
    for t, moment in enumerate(moments[1:]):
        actions = full_actions(TOGETHER, moment.turn.actions)
        frame = stepper(TOGETHER).step(key_data, t, frame.state, actions)
        rewards += frame.reward
    assert frame.over and moments[-1].over and not moments[-2].over
    assert episode.rewards == tuple(rewards)
    assert [moment.step for moment in moments] == list(range(episode.steps + 1))
    assert moments[0].turn is None
    assert moments[1].views[0].text == TOGETHER.describe(moments[1].frame.state, 0)


def test_device_policies_draw_from_the_key_that_compiled_loops_use():
    seen = []
    play(TOGETHER, Random(), seed=3, on_step=seen.append, max_steps=1)
    key = jax.random.fold_in(episode_key(episode_seed(3, 0)), 0)
    for agent in range(2):
        noise = jax.random.uniform(agent_key(key, agent), (4,))
        legal = seen[0].frame.legal[agent]
        assert seen[1].turn.actions[agent] == int(np.argmax(np.where(legal, noise, -1)))


@pytest.mark.parametrize("env", [TURNS, TOGETHER], ids=["turns", "together"])
def test_an_episode_is_the_same_alone_and_beside_any_others(env):
    seats = [Net(), Host()]
    many = play(env, seats, episodes=BLOCK + 4, seed=7, concurrency=64)
    few = play(env, seats, episodes=BLOCK + 4, seed=7, concurrency=3)
    alone = play(env, seats, seed=7, only=[BLOCK + 1])
    assert many.episodes == few.episodes
    assert alone.episodes == (many.episodes[BLOCK + 1],)
    assert len({e.rewards for e in many.episodes}) > BLOCK  # not all the same to begin with


def test_waiting_episodes_are_answered_in_one_call():
    host = Host()
    play(TOGETHER, [host, host], episodes=6, concurrency=6, max_steps=2)
    assert [len(call) for call in host.calls] == [12, 12]


def test_a_slow_seat_holds_up_only_its_own_episode():
    slow, finished = Slow(), []

    def note(moment):
        if moment.over:
            finished.append(moment.episode)

    result = play(TURNS, [slow, "random"], episodes=5, concurrency=5, max_steps=3, on_step=note)
    assert finished[-1] == 0 and sorted(finished) == [0, 1, 2, 3, 4]
    assert slow.most == 5
    assert [e.ended for e in result.episodes] == ["stopped"] * 5


def test_episodes_go_on_one_by_one_when_answers_come_together():
    """The next question of the first is asked before the answer to the second is read."""
    episodes, log = 6, []
    waiting, all_there = [], asyncio.Event()

    async def together(view):
        log.append((view.episode, view.turn, "asked"))
        if view.turn == 0:
            waiting.append(view.episode)
            if len(waiting) == episodes:
                all_there.set()
            await all_there.wait()
            await asyncio.sleep(0)
            log.append((view.episode, view.turn, "read"))
        elif view.turn == 1:
            await asyncio.sleep(0)
        return 0

    play(ALONE, together, episodes, concurrency=episodes, max_steps=2)
    for episode in range(episodes):
        read_at = log.index((episode, 0, "read"))
        assert log[read_at + 1] == (episode, 1, "asked")


def test_seats_that_never_wait_let_other_episodes_go_on():
    seen = []

    async def at_once(view):
        return 0

    play(ALONE, at_once, 2, concurrency=2, on_step=lambda moment: seen.append(moment.episode))
    assert len(seen) == 2 * (ALONE.max_steps + 1)
    assert seen.index(1) <= len(seen) // 2 - 10 and 0 in seen[seen.index(1) :]


@pytest.mark.parametrize("young", [700, 20_000, 0])  # 0: switched off
def test_many_episodes_keep_the_collector_from_running_often(young):
    before, seen = gc.get_threshold(), set()

    def fails(view):
        raise ValueError("no")

    def sees(view):
        seen.add(gc.get_threshold())
        return 0

    try:
        gc.set_threshold(young, *before[1:])
        for episodes, expected in ((8, young), (64, max(young, 10_000) if young else 0)):
            seen.clear()
            play(TURNS, sees, episodes, concurrency=episodes, max_steps=2)
            assert seen == {(expected, *before[1:])}
            with pytest.raises(SeatError):
                play(TURNS, fails, episodes, concurrency=episodes)
            assert gc.get_threshold() == (young, *before[1:]) and not gc.get_freeze_count()
    finally:
        gc.set_threshold(*before)


def test_coroutine_functions_and_functions_take_seats():
    async def patient(view):
        await asyncio.sleep(0)
        return "take 1"

    result = play(TURNS, {"player_1": lambda view: 2, "player_0": patient})
    assert result.seats == ("patient", "<lambda>")
    assert result.episodes[0].terms["taken"] == pytest.approx(
        np.array([4, 8]) * (1 + float(stepper(TURNS).reset(episode_key(episode_seed(0, 0)))
                                  .state.luck))
    )  # fmt: skip


def test_play_inside_a_running_event_loop():
    async def notebook():
        return play(TURNS, "random", episodes=2, seed=4)

    assert asyncio.run(notebook()).episodes == play(TURNS, "random", episodes=2, seed=4).episodes


@pytest.mark.parametrize(
    "answer, reason",
    [
        ("grab", "say 'take' and a number"),
        ("take 99", "you cannot take 99"),
        (7, "7 is no action; expected words, or a whole number from 0 to 3"),
        (-1, "-1 is no action"),
        (1.0, "1.0 is no action"),
        (True, "True is no action"),
        ({"take": 1}, "{'take': 1} is no action"),
        ([[1], [2, 3]], "is no action"),
        (None, "no action was given"),
        (Reply(None, error="the endpoint is silent"), "the endpoint is silent"),
    ],
)
def test_illegal_answers(answer, reason):
    def bad(view):
        return answer

    moments = []
    result = play(TURNS, [bad, lambda view: "take 1"], on_step=moments.append)
    assert result.episodes[0].illegal == (4, 0)
    assert reason in moments[1].turn.illegal[0]
    assert moments[1].turn.actions == {0: 0}
    with pytest.raises(IllegalAction) as caught:
        play(TURNS, [bad, "random"], on_illegal="raise")
    assert reason in str(caught.value) and "episode 0, step 0" in caught.value.__notes__[0]
    forfeit = play(TURNS, ["random", bad], on_illegal="forfeit").episodes[0]
    assert (forfeit.ended, forfeit.steps, forfeit.forfeits) == ("forfeit", 1, ("player_1",))


def test_an_action_that_the_mask_forbids():
    result = play(coins.Coins(pile=2), [lambda view: 3, lambda view: 1])
    assert result.episodes[0].illegal == (2, 0)
    assert result.mean["illegal"] == 0  # the loop refused it, the rules never saw it


def test_check_action_knows_each_space():
    multi, box = coins.Coins(space="multi"), coins.Coins(space="box")
    legal = np.array([1, 1, 0, 0, 1, 0, 1], bool)
    assert check_action(multi, legal, (1, 2)).tolist() == [1, 2]
    for wrong in [(2, 0), (1, 1), (1, 3), (0, 0, 0), 1, (0.0, 0.0), "x", (-1, 0)]:
        with pytest.raises(IllegalAction):
            check_action(multi, legal, wrong)
    assert check_action(box, legal[:1], [1, 2.5]).dtype == np.float32
    for wrong in [(4.0, 0.0), (np.nan, 0.0), (0.0,), 1.0, ("a", "b"), None]:
        with pytest.raises(IllegalAction):
            check_action(box, legal[:1], wrong)


@pytest.mark.parametrize("space", ["discrete", "multi", "box"])
def test_random_plays_every_space_and_only_legally(space):
    env = coins.Coins(space=space, turns=False, pile=5)
    moments = []
    result = play(env, "random", episodes=8, on_step=moments.append)
    assert sum(map(sum, (e.illegal for e in result.episodes))) == 0
    actions = np.array([moment.turn.actions[0] for moment in moments if moment.turn])
    assert len(np.unique(actions)) > 3


def test_words_said_within_an_answer_are_heard():
    heard = []

    def listener(view):
        heard.extend(view.messages)
        return 1

    play(coins.Talk(), [lambda view: "take 1; say: mine", listener], max_steps=2)
    assert [(m.sender, m.text) for m in heard] == [("player_0", "MINE")]


def test_messages_are_heard_by_the_others_until_they_act():
    heard = []

    def talker(view):
        return Reply("take 1", say=f"step {view.step}, please" if view.step != 1 else "ok")

    def listener(view):
        heard.append((view.step, [(m.sender, m.text) for m in view.messages]))
        return [1, 0]

    env = coins.Talk(players=3, pile=30)
    moments = []
    play(env, [talker, talker, listener], max_steps=6, on_step=moments.append)
    assert heard == [
        (2, [("player_0", "STEP 0, PLEASE"), ("player_1", "OK")]),
        (5, [("player_0", "STEP 3, PLEASE"), ("player_1", "STEP 4, PLEASE")]),
    ]
    assert [m.turn.actions[i].tolist() for m, i in zip(moments[1:4], range(3), strict=True)] == [
        [1, 1],
        [1, 2],
        [1, 0],
    ]
    # Without a channel, what is said is noted, and nobody hears it.
    play(TURNS, [talker, listener], max_steps=2, on_step=moments.append, on_illegal="noop")
    assert heard[-1] == (1, []) and moments[-2].turn.said == {0: "step 0, please"}


def test_rotation_seats_everyone_everywhere():
    greedy, idle = (lambda view: 3), (lambda view: 0)
    result = play(TURNS, [greedy, idle], episodes=4, rotate=True)
    assert [e.players for e in result.episodes] == [(0, 1), (1, 0), (0, 1), (1, 0)]
    taken = np.array([e.terms["taken"] for e in result.episodes])
    assert (taken[[0, 2], 0] > 0).all() and (taken[[1, 3], 1] > 0).all()
    assert (taken[[0, 2], 1] == 0).all()
    assert (result.seat_rewards[:, 0] > result.seat_rewards[:, 1]).all()
    assert "in turn in every seat" in str(result) and "reward" in str(result)


def test_a_failing_seat_is_named_and_others_finish():
    over = []

    def failing(view):
        if view.episode == 1 and view.step == 2:
            raise ZeroDivisionError("no such luck")
        return 1

    async def crash(view):
        await asyncio.sleep(0.001)
        return failing(view)

    with pytest.raises(SeatError) as caught:
        play(
            TURNS,
            [crash, "random"],
            episodes=50,
            concurrency=4,
            on_step=lambda moment: over.append(moment.episode) if moment.over else None,
        )
    assert "'crash'" in str(caught.value) and "no such luck" in str(caught.value)
    assert "agent player_0, episode 1, step 2" in str(caught.value)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert {0, 2, 3} <= set(over) and len(over) < 49 and 1 not in over


def test_a_seat_that_raises_stop_iteration_fails_too():
    with pytest.raises(SeatError, match="StopIteration was raised"):
        play(TURNS, lambda view: next(iter(())))


def test_wrong_numbers_of_answers():
    class Wrong:
        def act(self, views):
            return []

    with pytest.raises(SeatError, match="gave 0 answers to 1 views"):
        play(TURNS, [Wrong(), "random"])


def test_interrupting_ends_the_run_at_once():
    def interrupt(view):
        raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        play(TURNS, [interrupt, Slow()], episodes=9)
    assert time.monotonic() - start < 20 and threading.active_count() < 20


def test_interrupting_a_notebook(tmp_path):
    class Stuck:
        async def act(self, views):
            if views[0].episode == 1:
                await asyncio.sleep(60)
            return [1]

    def interrupt(moment):
        if moment.episode == 0 and moment.over:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()

    async def notebook():
        play(TURNS, Stuck(), episodes=2, record=tmp_path / "r", on_step=interrupt)

    # What is started from a shell's background ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    loop, start = asyncio.new_event_loop(), time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            loop.run_until_complete(notebook())
    finally:
        signal.signal(signal.SIGINT, before)
        loop.close()
    assert time.monotonic() - start < 30
    assert [e.result.episode for e in read(tmp_path / "r")] == [0]


def test_keys_are_kept_out_of_names():
    policy = Host()
    policy.name = "language:model=m,api_key=sk-123,timeout=3"
    assert play(TURNS, policy).seats[0] == "language:model=m,api_key=***,timeout=3"


@pytest.mark.parametrize(
    "seats, arguments, error",
    [
        (["random"], {}, SeatError),
        ({"player_0": "random"}, {}, SeatError),
        (["random", 3], {}, SeatError),
        (["random", Host], {}, SeatError),
        (["nobody", "random"], {}, SeatError),
        ("random", {"episodes": 0}, ConfigError),
        ("random", {"episodes": 1.5}, ConfigError),
        ("random", {"concurrency": 0}, ConfigError),
        ("random", {"on_illegal": "shrug"}, ConfigError),
        ("random", {"resume": True}, ConfigError),
    ],
)
def test_wrong_arguments(seats, arguments, error):
    with pytest.raises(error):
        play(TURNS, seats, **arguments)


def test_environments_by_id_and_spec(capsys):
    by_id = play("test-coins", "random", seed=2, progress=True)
    assert by_id.episodes == play(TURNS.spec(), "random", seed=2).episodes
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("name", "wrongs"),
    {
        "seed": (None, 1.5, "x", True, [1]),
        "only": (5, "12", [1.9], ["a"], [-1], [None], [True], {1: 2}),
        "rotate": (1, None, "no"),
        "resume": ("no", None),
        "record": (5, [], b"r.jsonl"),
        "on_step": (5, "x"),
        "clock": ("x", True, [1]),
    }.items(),
)
def test_options_of_wrong_types(name, wrongs):
    for wrong in wrongs:
        with pytest.raises(ConfigError, match=name):
            play("kuhn_poker", "random", **{name: wrong})


@pytest.mark.parametrize("extra", ({"info": 5}, {"info": None}, {"say": 5}))
def test_a_reply_that_cannot_be_recorded_names_its_seat(extra):
    def odd(view):
        return Reply("check", **extra)

    with pytest.raises(SeatError, match="'odd'"):
        play("kuhn_poker", odd)
