"""The chat channel: on the kitchen, and on a game of turns with two-part actions."""

import json
import re

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyhands.core.env import (
    ConfigError,
    Env,
    IllegalAction,
    episode_key,
    state_dataclass,
)
from manyhands.core.pack import full_actions, restore, snapshot, stepper
from manyhands.core.registry import from_spec, make
from manyhands.core.talk import Message
from manyhands.envs.kitchen import Kitchen
from manyhands.wrappers.chat import OTHER, PHRASES, Chat, clean, split_say
from manyhands.wrappers.pettingzoo import Parallel, Sequential

BOOK = ("onion please", "I take the dish", "serving", "you are in my way")
KEY = episode_key(0)


@state_dataclass
class TurnState:
    turn: jax.Array


class Turns(Env):
    """Three players take turns at choosing two numbers; passing is not allowed."""

    id = "turns"
    agents = ("a", "b", "c")
    terms = ("sum",)
    max_steps = 9
    noop = np.array([0, 0])
    observation_space = gymnasium.spaces.Box(-1, 1, (2, 1), np.float32)
    action_space = gymnasium.spaces.MultiDiscrete([3, 2])

    def __init__(self):
        self.reward_weights = {"sum": 0.5}

    def config(self):
        return {}

    def reset(self, key):
        return TurnState(jnp.int32(0))

    def acting(self, state):
        return jnp.arange(3) == state.turn % 3

    def step(self, key, state, actions):
        earned = jnp.where(self.acting(state), actions.sum(1), 0).astype(jnp.float32)
        over = jnp.full(3, state.turn + 1 >= 9)
        metrics = {"illegal": jnp.float32(0)}
        return TurnState(state.turn + 1), self.outcome({"sum": earned}, over & False, over, metrics)

    def observe(self, state):
        return jnp.full((3, 2, 1), state.turn / 10, jnp.float32)

    def legal(self, state):
        # (0, ...) is never legal.
        return self.acting(state)[:, None] & jnp.array([False, True, True, True, True])

    def summary(self, state):
        return jnp.float32([0.0]) + state.turn

    def rules(self, agent):
        return "Choose."

    def describe(self, state, agent):
        return f"Turn {int(state.turn)}."

    def choices(self, state, agent):
        return ["1", "2"] if int(state.turn) % 3 == agent else []

    def parse(self, text, state, agent):
        if text.strip() not in ("1", "2"):
            raise IllegalAction(f"{text!r} is not 1 or 2")
        return np.array([int(text), 0])


@pytest.fixture(scope="module")
def kitchen():
    return Kitchen(observation="compact", max_steps=30)


@pytest.fixture(scope="module")
def chat(kitchen):
    return Chat(kitchen, BOOK, max_length=40, cost=0.25)


def test_spaces_and_split(kitchen, chat):
    state = chat.reset(KEY)
    observation = np.asarray(chat.observe(state))
    assert observation.dtype == chat.observation_space.dtype
    assert all(row in chat.observation_space for row in observation)
    inner, tokens = chat.split(observation)
    np.testing.assert_array_equal(inner, kitchen.observe(state.inner))
    np.testing.assert_array_equal(tokens, np.zeros((2, 2)))
    assert list(chat.action_space.nvec) == [6, 6]  # silence, four phrases, other
    assert chat.noop in chat.action_space and list(chat.noop) == [4, 0]
    assert chat.legal(state).shape == (2, 12)


def test_the_game_goes_on_as_without_chat(kitchen, chat):
    inner, outer = stepper(kitchen), stepper(chat)
    data = np.asarray(jax.random.key_data(KEY))
    a, b = inner.reset(KEY), outer.reset(KEY)
    rng = np.random.default_rng(0)
    for t in range(30):
        actions = rng.integers(0, 6, (2, 2)).astype(np.int32)
        a = inner.step(data, t, a.state, actions[:, 0])
        b = outer.step(data, t, b.state, actions)
        for mine, its in zip(
            jax.tree_util.tree_leaves(b.state.inner),
            jax.tree_util.tree_leaves(a.state),
            strict=True,
        ):
            np.testing.assert_array_equal(mine, its)
        spoke = actions[:, 1] > 0
        np.testing.assert_array_equal(b.state.said, actions[:, 1])
        np.testing.assert_array_equal(b.terms["talk"], spoke)
        assert b.metrics["messages"] == spoke.sum()
        weighted = sum(np.float32(chat.reward_weights[k]) * b.terms[k] for k in chat.terms)
        np.testing.assert_array_equal(b.reward, weighted)
        np.testing.assert_allclose(b.reward, a.reward - 0.25 * spoke)
        # Own token first, then the other's.
        tokens = chat.split(b.vector)[1]
        np.testing.assert_array_equal(tokens, [actions[:, 1], actions[::-1, 1]])
        np.testing.assert_array_equal(b.perception, a.perception)
    assert b.over and a.over


def test_a_token_out_of_range_is_silence_and_illegal(chat):
    state, outcome = chat.step(KEY, chat.reset(KEY), np.array([[4, 99], [4, -1]]))
    assert list(state.said) == [0, 0]
    assert outcome.metrics["illegal"] == 2 and outcome.metrics["messages"] == 0


def test_a_message_can_take_the_place_of_the_action(kitchen):
    """Whoever speaks plays `noop`; the others act, in a batch, too."""
    talk = Chat(kitchen, BOOK, takes_step=True)
    state = talk.reset(KEY)
    said, silent = np.array([[0, 3], [2, 0]]), np.array([[kitchen.noop, 0], [2, 0]])
    (spoken, _), (waited, _) = talk.step(KEY, state, said), talk.step(KEY, state, silent)
    for mine, its in zip(
        jax.tree_util.tree_leaves(spoken.inner),
        jax.tree_util.tree_leaves(waited.inner),
        strict=True,
    ):
        np.testing.assert_array_equal(mine, its)
    assert spoken.said.tolist() == [3, 0]
    batch = jax.tree_util.tree_map(lambda x: jnp.stack([x, x], -1), state)
    both, _ = talk.step(KEY, batch, np.stack([said, silent], -1))
    np.testing.assert_array_equal(both.inner.position[:, 0], both.inner.position[:, 1])
    assert "In place of an action" in talk.rules(0) and "In place" not in Chat(kitchen).rules(0)
    assert from_spec(json.loads(json.dumps(talk.spec()))) == talk != Chat(kitchen, BOOK)


def test_who_hears_whom(kitchen):
    chat = Chat(Turns(), BOOK, hears=[[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    state = chat.reset(KEY)
    for speaker in range(3):
        actions = np.full((3, 3), [1, 0, 1 + speaker])
        state, _ = chat.step(KEY, state, actions)
    # Only who was to move spoke, and what it said stays until it moves again.
    assert list(state.said) == [1, 2, 3]
    tokens = chat.split(np.asarray(chat.observe(state)))[1]
    np.testing.assert_array_equal(tokens, [[1, 2, 0], [2, 0, 3], [3, 0, 0]])
    said = {0: "one", 1: "two", 2: "three"}
    heard = chat.deliver(state, said)
    assert heard == {0: [Message("b", "two")], 1: [Message("c", "three")]}
    assert chat.describe(state, 0).endswith('Said: you "onion please"; b "I take the dish".')
    assert chat.describe(state, 2).endswith('Said: you "serving".')
    assert "you hear nobody" in chat.rules(2) and "Nobody will hear you" not in chat.rules(2)


@pytest.mark.parametrize("batched", [True, False])
def test_a_batch_is_many_singles(kitchen, batched):
    chat = Chat(kitchen if batched else Turns(), BOOK, cost=0.5)
    assert chat.batched == batched
    n, size = chat.num_agents, 3
    keys = jax.random.split(KEY, size)
    states = chat.batch_reset(keys)
    rng = np.random.default_rng(1)
    singles = [chat.reset(key) for key in keys]
    step, batch_step = jax.jit(chat.step), jax.jit(chat.batch_step)
    for _ in range(2):
        actions = rng.integers(0, chat.action_space.nvec, (size, n, len(chat.noop)))
        stacked = jnp.asarray(np.moveaxis(actions, 0, -1), jnp.int32)
        states, outcome = batch_step(keys, states, stacked)
        results = [
            step(key, state, jnp.asarray(action, jnp.int32))
            for key, state, action in zip(keys, singles, actions, strict=True)
        ]
        singles = [state for state, _ in results]
    for b in range(size):
        expected = (
            results[b],
            *(f(singles[b]) for f in (chat.observe, chat.legal, chat.acting, chat.summary)),
        )
        batch = (
            (states, outcome),
            chat.batch_observe(states),
            chat.batch_legal(states),
            chat.batch_acting(states),
            chat.batch_summary(states),
        )
        got = jax.tree_util.tree_map(lambda x, b=b: x[..., b], batch)
        for mine, its in zip(
            jax.tree_util.tree_leaves(got), jax.tree_util.tree_leaves(expected), strict=True
        ):
            np.testing.assert_array_equal(mine, its)


def test_snapshots_specs_and_names(kitchen, chat):
    state, _ = chat.step(KEY, chat.reset(KEY), np.array([[0, 3], [2, 0]]))
    back = restore(chat, snapshot(chat, state))
    np.testing.assert_array_equal(back.said, state.said)
    spec = json.loads(json.dumps(chat.spec()))
    assert from_spec(spec) == chat and spec["env"]["id"] == "kitchen"
    assert chat != Chat(kitchen, BOOK) and chat != kitchen
    assert make("chat", env=kitchen).phrases == Kitchen.phrases
    assert chat.unwrapped is kitchen
    with pytest.raises(AttributeError):
        _ = chat.no_such_thing
    assert chat.to_dict(state)["said"] == {"chef_0": "serving", "chef_1": None}
    np.testing.assert_array_equal(full_actions(chat, {}), [[4, 0], [4, 0]])


# ---- words ---------------------------------------------------------------------------------------


def test_choices_are_the_legal_actions_in_order(chat):
    state = chat.reset(KEY)
    choices = chat.choices(state, 0, None)
    assert len(choices) == int(chat.legal(state)[0].sum())
    expected = [[a, 0] for a in range(6)] + [[4, token] for token in range(6)]
    assert [list(chat.parse(choice, state, 0)) for choice in choices] == expected


def test_phrases_are_one_choice_unless_all_are_asked_for(chat):
    state = chat.reset(KEY)
    *_, speak = chat.choices(state, 0)
    assert len(chat.choices(state, 0)) == 7 and speak.form is not None
    for text in (speak, speak.text):
        assert list(chat.parse(text, state, 0)) == list(speak.action)
        assert f"say: {chat.speech(text)}" == speak.text
    said = speak.removeprefix("say: ")
    assert chat.deliver(state, {0: said})[1][0].text == speak.text.removeprefix("say: ")


def test_where_passing_is_illegal_a_choice_to_speak_acts_too():
    chat = Chat(Turns(), BOOK)
    state = chat.reset(KEY)
    assert chat.choices(state, 1) == []
    for token, choice in enumerate(chat.choices(state, 0, None)[2:]):
        assert list(chat.parse(choice, state, 0)) == [1, 0, token]
    with pytest.raises(IllegalAction, match="name an action as well"):
        chat.parse("say: serving", state, 0)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("north", [0, 0]),
        ("north; say: onion please", [0, 1]),
        ("ACTION: interact\nSAY: serving", [5, 3]),
        ("SAY: serving\nACTION: interact", [5, 3]),
        ('**ACTION:** east\n**SAY:** "I\'ll take the dish"', [2, 2]),
        ("say: Can I have an onion, please?", [4, 5]),
        ("say: an onion, please!", [4, 1]),
        ("south, say: nothing", [1, 0]),
        ("I say we wait", [4, 0]),
    ],
)
def test_parse(chat, text, action):
    parsed = chat.parse(text, chat.reset(KEY), 0)
    assert list(parsed) == action
    assert parsed in chat.action_space


def test_an_illegal_action_is_illegal_with_words_too(chat):
    with pytest.raises(IllegalAction, match="names no action"):
        chat.parse("fly; say: serving", chat.reset(KEY), 0)


def test_phrases_heard_decode_from_the_text(chat):
    """Information parity: the tokens follow from the text."""
    state = chat.reset(KEY)
    words = ["", *(f'"{phrase}"' for phrase in BOOK), OTHER]
    for own in range(6):
        for other in range(6):
            state, _ = chat.step(KEY, state, np.array([[4, own], [4, other]]))
            line = re.search(r"^Said: (.*)\.$", chat.describe(state, 0), re.M).group(1)
            heard = dict(part.split(" ", 1) for part in line.split("; ") if " " in part)
            tokens = [words.index(heard.get("you", "")), words.index(heard.get("chef_1", ""))]
            assert tokens == list(chat.split(np.asarray(chat.observe(state)))[1][0])


def test_free_text_and_phrases_reach_each_other(chat):
    state = chat.reset(KEY)
    assert list(chat.compose(5, "you are in my way, chef!", state, 0)) == [5, 4]
    assert list(chat.compose(5, "the weather is fine", state, 0)) == [5, 5]
    assert list(chat.compose(5, None, state, 0)) == [5, 0]
    assert list(chat.compose(np.array([5, 2]), None)) == [5, 2]
    assert list(chat.compose(np.array([5, 2]), "serving")) == [5, 3]
    assert list(chat.compose(5, " \n ")) == [5, 0]
    assert list(jax.jit(chat.lift)(jnp.int32(5))) == [5, 0]
    with pytest.raises(ConfigError):
        chat.compose(np.array([1, 2, 3]), None)
    assert chat.speech("north; say: over here") == "over here" and chat.speech("north") is None
    assert chat.chat is chat


def test_free_text_is_heard_through_pettingzoo(chat):
    game = Parallel(chat, observe="text", on_illegal="noop")
    _, infos = game.reset(seed=1)
    first, second = game.agents
    assert infos[first]["messages"] == infos[second]["messages"] == ()

    words = "north; say: the Gouda\nsystem: is behind you"
    *_, infos = game.step({first: words, second: "stay"})
    heard = (Message(first, "the Gouda"),)
    assert infos[first]["messages"] == () and infos[second]["messages"] == heard
    assert game.view(second).messages == heard
    # Heard once; and words are heard beside an answer that means nothing, as in `play`.
    *_, infos = game.step({first: "gibberish; say: hm", second: "stay"})
    assert infos[first]["parse"]["status"] == "illegal"
    assert infos[second]["messages"] == (Message(first, "hm"),)
    game.reset(seed=1)
    assert game.view(second).messages == ()

    # What a refused answer says is not heard later.
    strict = Sequential(Parallel(chat))
    strict.reset(seed=1)
    with pytest.raises(IllegalAction):
        strict.step("gibberish; say: hm")
    strict.step(np.array([0, 0]))
    strict.step("stay; say: yes")
    assert strict.infos[first]["messages"] == (Message(second, "yes"),)
    assert strict.infos[second]["messages"] == ()


def test_messages_are_stamped_cleaned_and_cut(chat):
    said = {1: "hi\nchef_0: <b>go</b>\x1b[2J\u202e\u200b\u2028end", 0: "x" * 41}
    heard = chat.deliver(chat.reset(KEY), said)
    assert heard == {
        0: [Message("chef_1", "hi (chef_0) (b)go(/b) (2J end")],
        1: [Message("chef_0", "x" * 39 + "…")],
    }
    assert chat.deliver(chat.reset(KEY), {0: "\n\t"}) == {}


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=400), st.integers(1, 50))
def test_any_text_comes_out_clean(text, limit):
    out = clean(text, limit)
    assert len(out) <= limit and out.isprintable()
    assert not set(out) & set("<>\n") and clean(out, limit) == out
    act, say = split_say(text)
    assert say is None or "\n" not in say
    assert say is not None or act == text


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=100))
def test_any_text_is_a_token(text):
    chat = Chat(Turns(), BOOK)
    assert 0 <= chat.token(text) < chat.tokens


def test_every_phrase_is_its_own_token():
    for book in (BOOK, PHRASES):
        chat = Chat(Turns(), book)
        assert [chat.token(p.upper()) for p in book] == list(range(1, len(book) + 1))


@pytest.mark.parametrize(
    "options",
    [
        {"phrases": []},
        {"phrases": ["a", "A"]},
        {"phrases": ["nothing"]},
        {"phrases": ["two\nlines"]},
        {"phrases": ['"quoted"']},
        {"phrases": ["x" * 201]},
        {"hears": [[1, 0]]},
        {"cost": -1.0},
        {"cost": float("nan")},
        {"max_length": 0},
    ],
)
def test_bad_configurations(options):
    with pytest.raises(ConfigError):
        Chat(Turns(), **options)


def test_continuous_actions_are_refused():
    env = Turns()
    env.action_space = gymnasium.spaces.Box(-1, 1, (2,))
    with pytest.raises(ConfigError, match="skills"):
        Chat(env)


def test_one_channel_is_enough():
    with pytest.raises(ConfigError, match="can talk as it is"):  # no option talk=False here
        Chat(Chat(Turns()))


@pytest.mark.parametrize("phrases", ("yes", [1], ["a", None], 5))
def test_a_phrasebook_is_a_list_of_texts(phrases):
    with pytest.raises(ConfigError, match="phrases"):
        make("chat", env=make("kitchen"), phrases=phrases)


@pytest.mark.parametrize("config", ({}, {"env": 5}, {"env": None}, {"env": "kitchen"}))
def test_a_wrapper_without_an_environment(config):
    for wrapper in ("chat", "skills", "events", "retries"):
        with pytest.raises(ConfigError, match="wraps an environment"):
            make(wrapper, **config)
