"""The reader plays whole games from words."""

from types import SimpleNamespace

import jax
import numpy as np
import pytest

import manyhands
from manyhands.baselines.players.macro import persist
from manyhands.baselines.players.reader import Reader
from manyhands.core.env import SeatError, episode_key
from manyhands.core.pack import full_actions, stepper
from manyhands.core.talk import Message
from manyhands.core.view import View
from manyhands.envs.kitchen import Kitchen
from manyhands.wrappers.chat import Chat


class Words(View):
    """A view of nothing but words: whatever else is read fails."""

    @property
    def vector(self):
        raise AssertionError("the reader looked at numbers")

    perception = legal = image = vector


def game(env, steps=400, deaf=()):
    """(final state, replies of every step) of the reader with itself; agents in `deaf` only
    wait."""
    policy, loop = Reader(env), stepper(env)
    data = np.asarray(jax.random.key_data(episode_key(0)))
    frame, replies = loop.reset(episode_key(0)), []
    for step in range(steps):
        players = [i for i in range(env.num_agents) if i not in deaf]
        views = [Words(env, frame, i, step=step) for i in players]
        replies.append(policy.act(views))
        actions = {
            view.index: view.parse(reply.action)
            for view, reply in zip(views, replies[-1], strict=True)
        }
        frame = loop.step(data, step, frame.state, full_actions(env, actions))
    return frame.state, replies


@pytest.mark.parametrize(
    ("layout", "score"),
    [
        ("cramped_room", 160),
        ("asymmetric_advantages", 300),
        pytest.param("coordination_ring", 200, marks=pytest.mark.slow),
        ("forced_coordination", 200),
        pytest.param("counter_circuit", 140, marks=pytest.mark.slow),
    ],
)
def test_two_readers_cook_in_every_classic(layout, score):
    state, _ = game(Kitchen(layout))
    assert int(state.score) >= score


@pytest.mark.parametrize(
    ("options", "score"),
    [
        ({"dynamics": "manual"}, 160),
        ({"chefs": 1}, 160),
        pytest.param(
            {"layout": "counter_circuit_tomato", "dynamics": "manual"}, 200, marks=pytest.mark.slow
        ),
        pytest.param({"layout": "two_rooms"}, 60, marks=pytest.mark.slow),  # back over the counter
    ],
)
def test_other_kitchens(options, score):
    state, _ = game(Kitchen(**options))
    assert int(state.score) >= score


def test_a_chef_who_stands_still_is_gone_around():
    state, _ = game(Kitchen("coordination_ring"), deaf=[0])
    assert int(state.score) >= 60


def test_the_answer_is_a_sentence_and_one_of_the_choices():
    env = Kitchen()
    view = Words(env, stepper(env).reset(episode_key(0)), 0)
    (reply,) = Reader(env).act([view])
    thought, action = reply.action.split("\n")
    assert thought == "The pots need onions."
    assert action.removeprefix("ACTION: ") in view.choices
    assert reply.say is None
    assert Reader(env).act([view, view]) == [reply, reply]  # it remembers nothing


def test_it_talks_where_there_is_a_channel():
    env = Chat(Kitchen(max_steps=120))
    state, replies = game(env, steps=120)
    assert int(state.inner.score) >= 40
    said = {reply.say for step in replies for reply in step}
    assert {"I take the dish", "serving"} <= said


def test_it_steps_aside_when_asked():
    env = Kitchen("asymmetric_advantages")
    loop, policy = stepper(env), Reader(env)
    data = np.asarray(jax.random.key_data(episode_key(0)))
    frame, asked_to_move = loop.reset(episode_key(0)), 0
    for step in range(60):
        views = [Words(env, frame, i, step=step) for i in range(2)]
        replies = policy.act(views)
        actions = {i: views[i].parse(replies[i].action) for i in range(2)}
        if actions[0] == 4:
            message = Message("chef_1", "you are in my way")
            (reply,) = policy.act([Words(env, frame, 0, step=step, messages=[message])])
            asked_to_move += "step to" in reply.action
        frame = loop.step(data, step, frame.state, full_actions(env, actions))
    assert asked_to_move


def test_cooks_by_skills_do_not_wait_for_each_other_for_ever():
    """Two skills that lead through each other: one of them makes way by single steps."""
    room = manyhands.make("kitchen", layout="cramped_room", max_steps=200)
    env = manyhands.make("skills", env=room)
    cook = persist(manyhands.seat("text:skills=true", env), env, 4)
    result = manyhands.play(env, [cook, cook], 1, progress=False)
    assert result.rewards[0, 0] >= 80
    assert cook.asked < 2 * 200 * 0.75


def test_text_of_another_game_is_refused():
    class Other:
        agents, chat = ("a",), None
        describe = rules = staticmethod(lambda *_: "It is raining")

    view = View(Other(), SimpleNamespace(state=None), 0)
    with pytest.raises(SeatError, match="no kitchen's text: 'It is raining'"):
        Reader(Other()).act([view])
