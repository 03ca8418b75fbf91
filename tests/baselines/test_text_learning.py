"""Text policies: tokens, the network's cache, cloning, play, files and the seat."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
import time
from collections import Counter
from types import SimpleNamespace

import jax
import jax.flatten_util
import numpy as np
import pytest

import manyhands
from manyhands.baselines.bots.barter import RESERVE
from manyhands.baselines.game_theory import policies as tables
from manyhands.baselines.learners import text as learning
from manyhands.baselines.learners import text_network as tn
from manyhands.baselines.learners.algorithms import ALGORITHMS, grow, told
from manyhands.baselines.learners.text import (
    TextConfig,
    TextLearner,
    _Decision,
    text,
)
from manyhands.baselines.learners.text_lessons import demonstrate, lineups_of, tabulate
from manyhands.baselines.learners.text_network import TextNetwork
from manyhands.baselines.learners.text_pairs import paired
from manyhands.baselines.learners.text_tokens import END, START, Tokenizer, train_tokenizer
from manyhands.baselines.players import network
from manyhands.baselines.players import text_policy as words
from manyhands.core.env import ConfigError, PolicyError, SeatError, TrainingError
from manyhands.core.reading.spelling import Speller, listed
from manyhands.core.view import View

TINY = TextConfig(
    demonstrations=100,
    clone_updates=300,
    clone_rate=1e-2,
    updates=3,
    episodes_per_update=48,
    learning_rate=1e-4,
    average=2,
    vocabulary=448,
    width=16,
    layers=1,
    heads=2,
)


SHAPE = TextNetwork(vocabulary=320, width=16, layers=1, heads=2)


@pytest.fixture(scope="module")
def kuhn():
    return manyhands.make("kuhn_poker")


@pytest.fixture(scope="module")
def run(kuhn, tmp_path_factory):
    """A whole run, and its folder."""
    folder = tmp_path_factory.mktemp("run")
    return text(kuhn, TINY, folder), folder


@pytest.fixture(scope="module")
def cloned(kuhn, run):
    """The learner of that run."""
    learner = TextLearner([kuhn], TINY)
    learner.resume(run[1] / "checkpoint.safetensors")
    return learner


# ---- tokens --------------------------------------------------------------------------------------


def test_texts_are_read_back():
    lines = ["THE RULES OF THIS GAME", "one chip each"]
    rules = {"a": ["\n".join(lines)]}
    prompts = {"a": ["Your card: K.\nIt is your turn.", "Your card: Q.\nIt is your turn."] * 4}
    tokens = train_tokenizer(rules, prompts, 320)
    for given in (*rules["a"], *prompts["a"], "never seen: ü\t, \n\n two  blanks", ""):
        assert tokens.decode(tokens.encode(given)) == given
    assert len(tokens.encode(lines[0])) == 1  # a line that is always the same
    assert "It is your turn." in tokens.lines
    again = Tokenizer.from_json(json.loads(json.dumps(tokens.to_json())))
    assert again == tokens and again.encode(prompts["a"][0]) == tokens.encode(prompts["a"][0])
    assert tokens.decode([tokens.size + 5]) == "\ufffd"


def test_clauses_that_come_again_are_one_token():
    where = [
        f"You are at ({x}, 1), holding {what}. Step {x}{what} is over."
        for x in range(4)
        for what in ("nothing", "an onion, uncooked")
    ] * 4
    tokens = train_tokenizer({"a": ["Rules."]}, {"a": where}, 400)
    assert {"\nYou are at (2, 1),", " holding nothing.", " uncooked."} - set(tokens.phrases) == {
        " uncooked."  # a word is none
    }
    assert all(tokens.decode(tokens.encode(text)) == text for text in where)
    assert len(tokens.encode("You are at (2, 1), holding nothing.")) == 2
    again = Tokenizer.from_json(json.loads(json.dumps(tokens.to_json())))
    assert again == tokens and again.encode(where[0]) == tokens.encode(where[0])


def test_words_apart_are_the_same_wherever_they_stand():
    kinds, places = ("mug", "pen", "egg", "box"), ("coffee table", "dining table", "desk")
    prompts = [
        f"Step {i}. Goal: put a {thing} on a {place}.\nYou see on {there} {i % 3}: {thing} 1.\n"
        f"What you may do now:\n- wait: do nothing\n- take {thing} 1 from {there} {i % 3}: hold it"
        for i, (thing, place, there) in enumerate(itertools.product(kinds, places, places))
    ]
    answers = [
        f"ACTION: take {thing} 1 from {there} 1"
        for thing, there in itertools.product(kinds, places)
    ] * 3
    rules = {"a": ["RULES\nThere are things."]}
    tokens = train_tokenizer(rules, {"a": prompts + answers}, 420, apart=True)
    for given in (*rules["a"], *prompts, *answers, "never: \u00fc\t, \n\n two  x-2's", ""):
        assert tokens.decode(tokens.encode(given)) == given
    assert len(tokens.encode("RULES")) == 1
    own = dict.fromkeys([" mug", " coffee table", " desk"])
    for name in own:
        (own[name],) = {t for t in range(tokens.size) if tokens.decode([t]) == name}
    # In the goal, where it is seen, among the choices, and in the answer.
    read = tokens.encode(prompts[0])
    assert read.count(own[" mug"]) == 3 and read.count(own[" coffee table"]) == 3
    assert tokens.encode(answers[0])[1:5:3] == [own[" mug"], own[" coffee table"]]
    # What never comes apart is one token; numbers stand by themselves.
    assert "\nWhat you may do now:" in {"\n" + line for line in tokens.lines} | {*tokens.phrases}
    assert not [
        p for p in tokens.phrases if any(c.isdigit() for c in p) and not p.strip().isdigit()
    ]
    again = Tokenizer.from_json(json.loads(json.dumps(tokens.to_json())))
    assert again == tokens and again.encode(prompts[5]) == tokens.encode(prompts[5])


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"lines": [], "pairs": [], "apart": 1},
        {"lines": [], "pairs": [], "phrases": [1]},
        {"lines": [1], "pairs": []},
        {"lines": [], "pairs": [[1]]},
        {"lines": [], "pairs": [[3, 999]]},
    ],
)
def test_what_is_no_tokenizer_is_refused(data):
    with pytest.raises(PolicyError):
        Tokenizer.from_json(data)


# ---- the network ---------------------------------------------------------------------------------


def test_parts_are_one_text():
    """Rules, prompt and answer, read one after the other with padding between them, are what one
    text is; and generation step by step gives the same."""
    shape = TextNetwork(40, 16, 2, 2)
    params = shape.init(1)
    rng = np.random.default_rng(0)
    rules, prompt, answer = (rng.integers(3, 40, n).tolist() for n in (5, 7, 3))
    whole = np.array([[*rules, *prompt, START, *answer]])

    @jax.jit
    def at_once(params):
        hidden, _, _ = tn.Decoder(shape).apply({"params": params}, whole, None)
        return jax.nn.log_softmax(tn._written(params, hidden))

    logs = np.asarray(at_once(params))[0, 12:15]
    expected = logs[np.arange(3), answer]
    cache = tn.read_prompts(
        shape,
        params,
        tn.padded([[9], rules], (8,), (2,)),
        np.array([0, 1], np.int32),
        tn.padded([[4, 4], prompt], (16,), (2,)),
    )
    own = tn.likelihoods(shape, params, cache, np.array([1], np.int32), np.array([[*answer, 0]]))
    assert np.asarray(own)[0] == pytest.approx(expected.sum(), abs=1e-4)
    written, last = tn.room(shape, 1, 4), START
    for place, token in enumerate(answer):
        chances, written = tn.next_token(
            shape, params, cache, np.array([1]), written, np.int32(place), np.array([last])
        )
        assert np.log(chances[0, token]) == pytest.approx(expected[place], abs=1e-4)
        last = token


def test_shapes_that_are_none_are_refused():
    with pytest.raises(ConfigError, match="30"):
        TextNetwork(width=30, heads=4)
    with pytest.raises(ConfigError, match="layers"):
        TextNetwork(layers=0)


# ---- learning ------------------------------------------------------------------------------------


def test_prompts_are_those_of_language_models(kuhn):
    pytest.importorskip("aiohttp")
    seats = manyhands.seat("language", kuhn, model="m", api_key="k")
    seen = []

    def watch(view):
        seen.append((words.texts(kuhn, view), (seats.system(view), seats.prompt(view)[1])))
        return int(np.flatnonzero(view.legal)[0])

    manyhands.play(kuhn, watch, 3)
    assert len(seen) >= 6
    for ours, theirs in seen:
        assert ours == theirs


def test_a_clone_answers_as_its_teachers(cloned, kuhn):
    tree, views = cloned.infosets(0)
    assert len(views) == 12
    assert [tree.find(view.vector, view.index) for view in views] == list(range(12))
    table, mass = tabulate(cloned.model, tree, views)
    assert mass.min() > 0.5
    tables.check(tree, table)


def test_equal_answers_are_one_row():
    question = [words.Question((3,), (4,)), words.Question((3,), (5,))]
    rows = [(question[0], (5,), (1.0, 2.0)), (question[0], (6,), (1.0, 0.0))]
    rows += [(question[1], (5,), (1.0, 4.0)), (question[0], (5,), (1.0, 1.0))]
    pairs = paired(rows)
    assert len(pairs.questions) == 2 and pairs.owner == [0, 0, 1]
    assert pairs.sums.tolist() == [[2, 3], [1, 0], [1, 4]]
    parts = list(pairs.chunks(1))
    assert sum(len(part.answers) for part in parts) == 3


@pytest.mark.parametrize(
    ("baseline", "expected"),
    [
        ("none", [1.0, -1.0, 3.0, 1.0]),
        ("shared", [1.0, -1.0, 3.0, 1.0]),
        ("role", [1.0, -1.0, 3.0, 1.0]),
        ("group", [0.0, 0.0, 0.0, 0.0]),
    ],
)
def test_advantages(kuhn, baseline, expected):
    config = TextConfig(baseline=baseline, scale=False, group=2, decay=0.5)
    learner = TextLearner([kuhn], config)
    question = words.Question((3,), (4,))
    gained = [1.0, -1.0, 3.0, 1.0]
    decisions = [
        _Decision(0, (0, 0, k % 2), (0, k), question, (END,), "", value, value)
        for k, value in enumerate(gained)
    ]
    assert learner.advantages(decisions).tolist() == pytest.approx(expected)
    again = learner.advantages(decisions)
    means = {"role": [2.0, 0.0, 2.0, 0.0], "shared": [1.0] * 4}.get(baseline, [0.0] * 4)
    wanted = expected if baseline == "group" else np.array(gained) - means
    assert again.tolist() == pytest.approx(list(wanted))


def test_means_by_prompt_sum_to_zero(kuhn):
    """Each answer is compared with the others to its prompt: in large numbers nothing is left of a
    prompt's luck; alone, an answer is compared with its role's mean."""
    learner = TextLearner([kuhn], TextConfig(baseline="prompt", scale=False))
    bad, good, alone = (words.Question((3,), (n,)) for n in (4, 5, 6))
    rows = [(bad, -1.0), (bad, -2.0)] * 50 + [(good, 2.0), (good, 1.0)] * 50 + [(alone, 2.0)]
    decisions = [_Decision(0, (0, 0, 0), (), q, (END,), "", v, v) for q, v in rows]
    found = learner.advantages(decisions)
    assert found[:2].tolist() == pytest.approx([0.5, -0.5], abs=0.03)
    assert found[100:102].tolist() == pytest.approx([0.5, -0.5], abs=0.03)
    assert found[-1] == 2.0


def test_illegal_answers_cost_more_than_a_fold(kuhn):
    learner = TextLearner([kuhn], TextConfig(baseline="none", scale=False, illegal_cost=2.0))
    question = words.Question((3,), (4,))
    decisions = [_Decision(0, (0, 0, 0), (), question, (END,), "", -1.0, -1.0) for _ in range(2)]
    decisions[1].illegal = True
    assert learner.advantages(decisions).tolist() == [-1.0, -3.0]


def test_teachers_of_one_game_or_of_all():
    given = "kuhn_poker=equilibrium; random; kitchen=text:skills=true"
    assert lineups_of("kuhn_poker", given) == ["equilibrium", "random"]
    assert lineups_of("kitchen", given) == ["random", "text:skills=true"]
    assert lineups_of("tic_tac_toe", "text:skills=true") == ["text:skills=true"]
    assert lineups_of("tic_tac_toe", "kuhn_poker=random")[0] == "solver:depth=9 random"
    assert lineups_of("kuhn_poker", "") == ["random"]


def test_frequent_questions_come_more_often():
    """An epoch shows every question, the frequent ones several times for as much in all."""
    rows = [(words.Question((3,), (n,)), (END,), (1.0,)) for n in range(10)]
    rows += [rows[0]] * 4
    pairs = paired(rows)
    assert pairs.repeats().tolist() == [5] + [1] * 9
    parts = list(pairs.chunks(4, np.random.default_rng(0)))
    assert len(parts) == 4
    seen = [(q.prompt[0], part.sums[k, 0]) for part in parts for k, q in enumerate(part.questions)]
    assert sorted(seen) == [(0, 1.0)] * 5 + [(n, 1.0) for n in range(1, 10)]


def test_positions_to_which_a_teacher_can_come():
    """On a strip of four squares, where two in a row win."""
    env = manyhands.make("tic_tac_toe", rows=1, columns=4, connect=2)
    config = dataclasses.replace(TINY, positions=3, teachers="solver:depth=4,draw=false")
    found = demonstrate(env, config, 0)
    assert found == demonstrate(env, config, 1)
    times = Counter((re.search(r"^1 (.*)$", x.prompt, re.M)[1], x.answer) for x in found)
    assert times[". . . .", "ACTION: b1"] == 3
    # X, beside the middle, wins wherever O goes.
    assert times["O X . .", "ACTION: c1"] == times[". X . O", "ACTION: c1"] == 3
    # The teacher never opens in the corner: what follows is shown once.
    assert times["X . O .", "ACTION: b1"] == 1
    assert set(Counter(found).values()) == {1, 3}
    with pytest.raises(ConfigError, match="perfect"):
        demonstrate(env, dataclasses.replace(config, teachers="perfect"), 0)


def test_a_sharpened_model_has_a_lower_temperature(cloned):
    model = cloned.model
    prompts = words.packed([model.question("Rules.", "Your card: K.")])
    chances = []
    for own in (model, model.sharpened(3.0)):
        cache = tn.read_prompts(own.shape, own.params, *prompts)
        none, start = np.array([0]), np.array([START])
        room = tn.room(own.shape, 1, 4)
        found = tn.next_token(own.shape, own.params, cache, none, room, np.int32(0), start)[0]
        chances.append(np.asarray(found[0], np.float64))
    expected = chances[0] ** 3 / (chances[0] ** 3).sum()
    assert chances[1] == pytest.approx(expected, abs=1e-4)
    assert chances[1].max() > chances[0].max()


class _LastChoice:
    """A model that always writes the last of the choices."""

    tokenizer = SimpleNamespace(decode=lambda answer: answer)

    def question(self, system, prompt):
        return words.Question((), prompt)

    def generate(self, questions, draws):
        return [f"ACTION: {re.findall(r'^- (..)$', q.prompt, re.M)[-1]}" for q in questions]


class _Waiting:
    """A model that does nothing.

    Attributes:
        draws: the random numbers that its answers were given.
    """

    tokenizer = SimpleNamespace(decode=lambda answer: "ACTION: wait")

    def __init__(self):
        self.draws = []

    def question(self, system, prompt):
        return words.Question((), tuple(prompt.encode()))

    def generate(self, questions, draws):
        self.draws.append(draws)
        return [(5,)] * len(questions)


class _Drafts:
    """A model whose first answers are refused: it asks for more than there is, then for less."""

    tokenizer = SimpleNamespace(decode=lambda answer: answer)

    def __init__(self):
        self.written = 0

    def question(self, system, prompt):
        return words.Question((), prompt)

    def generate(self, questions, draws):
        self.written += len(questions)
        amounts = [("99", "1")[int(row[0] > 0.3)] for row in draws]
        return [f"ACTION: offer {amount} wheat for 1 wood" for amount in amounts]


@pytest.mark.parametrize("constrained", [False, True])
def test_constrained_answers_are_written_until_one_is_legal(constrained, monkeypatch):
    monkeypatch.setattr(View, "spelling", None)
    env = manyhands.make("negotiation", scenario="trade", max_steps=4)
    model = _Drafts()
    policy = words.TextPolicy(env, model, constrained=constrained, policy=False)
    result = manyhands.play(env, policy, 4, 2, progress=False)
    if constrained:
        assert result.refused(0) == (0, 0) and model.written > 16
    else:
        assert result.refused(0)[0] > 0


@pytest.mark.parametrize("greedy", [False, True])
def test_constrained_answers_of_a_network_that_knows_nothing_are_legal(greedy):
    """Of a trade, whose offers are too many to be listed: token by token, by the spelling."""
    env = manyhands.make("negotiation", scenario="trade", max_steps=4)
    texts = ["ACTION: offer 3 wheat and 2 ore for 1 wood", "ACTION: pass", "ACTION: accept"]
    tokenizer = train_tokenizer({"trade": ["rules"]}, {"trade": texts * 5}, 300)
    model = words.TextModel(SHAPE, SHAPE.init(3), tokenizer)
    policy = words.TextPolicy(env, model, greedy=greedy, constrained=True, policy=False)
    result = manyhands.play(env, policy, 4, 2, progress=False)
    assert all(result.refused(k) == (0, 0) for k in range(2))
    assert not greedy or result.episodes[0].steps == env.max_steps


def test_only_tokens_that_lead_to_an_answer_are_written(cloned):
    """Each by its share; what becomes too long is ended by the shortest way."""
    model = cloned.model
    question = model.question("rules", "What you may do now:")
    answers = ["ACTION: bet", "ACTION: by all means " + "x" * 60]
    speller = Speller(listed("\n" + answer for answer in answers))
    draws = np.random.default_rng(0).random((64, words.LONGEST))
    found = model.generate([question] * 64, draws, [speller] * 64)
    written = Counter(model.tokenizer.decode(own) for own in found)
    assert set(written) == set(answers)
    leads = model.tokenizer.leading(speller.start)
    assert all(b"\nACTION: b".startswith(model.tokenizer._bytes[token]) for token in leads)


def test_thoughts_of_a_teacher_are_learned_before_its_answer():
    env = manyhands.make("negotiation", scenario="trade", max_steps=4)
    config = dataclasses.replace(TINY, demonstrations=8, teachers="barter:thinks=true", wander=1)
    lessons = demonstrate(env, config, 0)
    thinking = [lesson.answer for lesson in lessons if "ACTION: offer" in lesson.answer]
    assert thinking
    for answer in thinking:
        thoughts, action = answer.split("\n")
        held, exchange = thoughts.split(": ")
        numbers = re.findall(r"([a-z]+) (\d+) (\d+)", held)
        assert sorted(good for good, _, _ in numbers) == sorted(env.scenario.goods)
        owned = {good: (int(own), int(most)) for good, own, most in numbers}
        found = re.fullmatch(r"(\d+) (\w+) for (\d+) (\w+) at most\.", exchange)
        limit, give, most, want = found.groups()
        assert int(limit) == int(RESERVE * owned[give][0]) and int(most) == owned[want][1]
        offered = re.search(rf"offer (\d+) {give} for (\d+) {want}$", action)
        assert int(offered[1]) <= int(limit) and int(offered[2]) <= int(most)
    # What wandering says aloud is nothing that the teacher meant.
    assert not any("SAY:" in lesson.answer for lesson in lessons)


def test_seats_in_brackets_only_play():
    env = manyhands.make("negotiation", scenario="trade", max_steps=4)
    config = dataclasses.replace(TINY, demonstrations=6, teachers="barter (honest)", wander=0)
    lessons = demonstrate(env, config, 0)
    assert len(lessons) >= 6
    assert all("You are player_0." in lesson.prompt for lesson in lessons)
    with pytest.raises(ConfigError, match="none is learned from"):
        demonstrate(env, dataclasses.replace(config, teachers="(barter) (honest)"), 0)


@pytest.mark.parametrize(("ignored", "repeated"), [(r"Step \d+|\nLast step.*", 1 / 2), ("", 0)])
def test_sights_are_compared_without_what_is_ignored(ignored, repeated):
    env = manyhands.make("home", task="put", receptacles=6, objects=4, max_steps=2)
    config = dataclasses.replace(TINY, baseline="anchor", group=2, anchor_ignores=ignored)
    learner = TextLearner([env], dataclasses.replace(config, episodes_per_update=2))
    learner.model = _Waiting()
    decisions, about = learner.collect()
    assert about["repeated/0"] == repeated and len(decisions) == 4


@pytest.mark.parametrize(("starts", "same"), [(0, [0]), (1, [0, 1, 2]), (2, [0, 2])])
def test_starts_come_again(starts, same):
    """After so many updates, with other draws of the players and as groups of their own."""
    env = manyhands.make("home", task="put", receptacles=6, objects=4, max_steps=2)
    config = dataclasses.replace(TINY, baseline="group", group=2, starts=starts)
    learner = TextLearner([env], dataclasses.replace(config, episodes_per_update=4))
    learner.model = model = _Waiting()
    asked, draws, groups = [], [], set()
    for learner.update in range(3):
        model.draws = []
        decisions, _ = learner.collect()
        assert len(decisions) == 8 and len({d.group for d in decisions}) == 2
        groups |= {d.group for d in decisions}
        asked.append({d.question.prompt for d in decisions})
        draws.append(np.concatenate(model.draws))
    assert len(groups) == 6
    assert [k for k in range(3) if asked[k] == asked[0]] == same
    assert len(np.unique(np.concatenate(draws)[:, 0])) == 24


def test_the_gradient_is_that_of_the_log_probabilities(kuhn, cloned):
    """Its product with a small step is by how much they change."""
    shape, tokens = cloned.model.shape, cloned.model.tokenizer
    learner = TextLearner([kuhn], TINY)
    learner.model = words.TextModel(shape, cloned.model.params, tokens)
    decisions = learner.collect()[0][:16]
    worth = np.linspace(-1, 1, 16)
    gradient = learner.gradient(decisions, worth)
    flat, back = jax.flatten_util.ravel_pytree(cloned.model.params)

    def weighted(params) -> float:
        model = words.TextModel(shape, params, tokens)
        total = 0.0
        for decision, weight in zip(decisions, worth, strict=True):
            answer = tokens.decode(decision.answer[:-1])
            found = model.likelihoods([decision.question], [[answer]])
            total += weight * float(found[0][0])
        return total / len(decisions)

    step = 1e-3 * gradient / np.linalg.norm(gradient)
    change = weighted(back(flat + step)) - weighted(back(flat - step))
    assert change == pytest.approx(2 * float(gradient @ step), rel=0.05)


def test_teachers_answer_where_the_learner_leads():
    """Who always takes the last square plays one game only; the teacher sees the gaps in it."""
    env = manyhands.make("tic_tac_toe")
    config = dataclasses.replace(TINY, demonstrations=28, teachers="solver:depth=9")
    found = demonstrate(env, config, 3, _LastChoice(), 1.0)
    free = {re.search(r"^Free: (.*)\.$", lesson.prompt, re.M)[1] for lesson in found}
    assert sorted(map(len, free)) == [len("a1, ") * n - 2 for n in range(3, 10)]
    winning = {x.answer for x in found if "Free: a1, b1, c1." in x.prompt}
    assert winning and winning <= {"ACTION: a1", "ACTION: c1"}


def test_what_was_relabelled_is_kept(tmp_path):
    env = manyhands.make("tic_tac_toe")
    config = dataclasses.replace(
        TINY, demonstrations=24, clone_updates=3, updates=0, relabel=2, teachers="solver:depth=9"
    )
    learner = TextLearner([env], config)
    learner.prepare()
    learner.revisit()  # as within cloning
    assert learner.relabelled == 1 and len(learner._added) >= 12
    learner.save(tmp_path / "checkpoint.safetensors")
    again = TextLearner([env], config)
    again.resume(tmp_path / "checkpoint.safetensors")
    assert (again.relabelled, again._added) == (learner.relabelled, learner._added)
    assert [len(own.owner) for own in again.lessons()] == [
        len(own.owner) for own in learner.lessons()
    ]


def test_play_raises_the_return(kuhn, cloned):
    """Against an opponent that never changes, some updates are enough."""
    config = TextConfig(
        **{
            **vars(TINY),
            "opponents": "random",
            "updates": 8,
            "learning_rate": 5e-3,
            "episodes_per_update": 64,
            "kl": 0.0,
        }
    )
    learner = TextLearner([kuhn], config)
    learner.model = words.TextModel(cloned.model.shape, cloned.model.params, cloned.model.tokenizer)
    learner.begin_play()
    tree, views = learner.infosets(0)

    def worth() -> float:
        own, _ = tabulate(learner.model, tree, views)
        other = tables.uniform(tree)
        first = np.where(tree.owner[:, None] == 0, own, other)
        second = np.where(tree.owner[:, None] == 1, own, other)
        return float(
            tables.expected_values(tree, first)[0] + tables.expected_values(tree, second)[1]
        )

    before = worth()
    lines = [learner.improve() for _ in range(8)]
    assert worth() > before + 0.2
    assert all(np.isfinite(line["loss"]) for line in lines)
    assert len(learner.snapshots["0"]) >= 2


@pytest.mark.parametrize("credit", ["episode", "turn"])
def test_predicted_is_what_answers_are_credited_with(kuhn, cloned, monkeypatch, credit):
    config = dataclasses.replace(TINY, baseline="critic", credit=credit, discount=0.5)
    learner = TextLearner([kuhn], config)
    learner.model = words.TextModel(cloned.model.shape, cloned.model.params, cloned.model.tokenizer)
    learner.begin_play()
    decisions, about = learner.collect()
    monkeypatch.setattr(learner, "collect", lambda: (decisions, about))
    given: list[float] = []

    def noted(rows):
        given[:] = [values[3] for _, _, values in rows if len(values) == 4] or given
        return paired(rows)

    monkeypatch.setattr(learning, "paired", noted)
    learner.improve()
    spread = learner.means["spread 0"]
    own = [d.gained if credit == "episode" else d.to_come for d in decisions]
    assert np.allclose(given, np.array(own) / spread)
    assert not np.allclose([d.gained for d in decisions], [d.to_come for d in decisions])


@pytest.mark.slow
def test_a_run_that_was_stopped_goes_on_as_if_it_were_not(kuhn, run, tmp_path):
    card, folder = run

    def stop(line: str) -> None:
        if line.startswith("update 2"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        text(kuhn, TINY, tmp_path, log=stop)
    with pytest.raises(TrainingError, match="resume"):
        text(kuhn, TINY, tmp_path)
    with pytest.raises(TrainingError, match="settings"):
        text(kuhn, TextConfig(**{**vars(TINY), "kl": 0.5}), tmp_path, resume=True)
    metadata = network.read_tensors(tmp_path / "checkpoint.safetensors")[1]
    before = json.loads(metadata["about"])["spent"]  # (wall-clock, CPU) seconds
    assert min(before) > 0
    wall, cpu = time.monotonic(), time.process_time()
    resumed = grow(kuhn, "text", TINY, tmp_path, 0, resume=True)
    assert resumed["updates"] == card["updates"] == 3
    spans = time.monotonic() - wall, time.process_time() - cpu
    for name, earlier, span in zip(("seconds", "cpu_seconds"), before, spans, strict=True):
        assert earlier < resumed[name] <= earlier + span + 0.1  # added up
    name = "policy-0.safetensors"
    assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()
    assert "text" in ALGORITHMS


def test_an_answer_that_is_too_long_to_be_learned_is_told(kuhn, tmp_path, monkeypatch):
    monkeypatch.setattr("manyhands.baselines.learners.text.LONGEST", 1)
    with pytest.raises(ConfigError, match="fewer than 1 can be learned"):
        text(kuhn, dataclasses.replace(TINY, clone_updates=1, updates=0), tmp_path)


def test_cloning_may_be_made_longer_before_play(kuhn, tmp_path):
    few = dataclasses.replace(TINY, clone_updates=4, updates=0)
    text(kuhn, few, tmp_path)
    more = dataclasses.replace(few, clone_updates=6, relabel=1, updates=1)
    card = text(kuhn, more, tmp_path, resume=True)
    assert (card["cloned"], card["updates"]) == (6, 1)
    with pytest.raises(TrainingError, match="settings"):
        text(kuhn, dataclasses.replace(more, clone_updates=8), tmp_path, resume=True)


def test_a_clone_may_be_the_mean_of_its_last_weights(kuhn, tmp_path):
    few = dataclasses.replace(TINY, clone_updates=5, updates=0)
    plain = TextLearner([kuhn], few)
    plain.prepare()
    seen = []
    plain.clone(tick=lambda: seen.append(jax.device_get(plain.model.params)))
    learner = TextLearner([kuhn], dataclasses.replace(few, clone_average=0.4))
    learner.prepare()
    file = tmp_path / "checkpoint.safetensors"
    learner.clone(tick=lambda: learner.save(file) if learner.cloned == 4 else None)
    resumed = TextLearner([kuhn], learner.config)
    resumed.resume(file)
    assert resumed.cloned == 4
    resumed.clone()
    mean = jax.tree_util.tree_map(lambda *two: (two[0] + two[1]) / 2, *seen[3:])
    for own in (learner, resumed):
        same = jax.tree_util.tree_map(
            lambda a, b: np.allclose(a, b, atol=1e-6), own.model.params, mean
        )
        assert all(jax.tree_util.tree_leaves(same))
    same = jax.tree_util.tree_map(np.array_equal, learner.model.params, seen[-1])
    assert not all(jax.tree_util.tree_leaves(same))


def test_what_cannot_be_learned_from_is_told_before_cloning(kuhn, tmp_path, monkeypatch):
    def late(*_):
        raise AssertionError("cloning had begun")

    monkeypatch.setattr(TextLearner, "prepare", late)
    board = manyhands.make("tic_tac_toe")
    for given, words_ in (
        ({"opponents": "nobody"}, ["'nobody'"]),
        ({"opponents": "random solver:dept=2"}, ["dept", '"depth"']),
        ({"teachers": "kunh_poker=equilibrium"}, ["'kunh_poker'", '"kuhn_poker"']),
        ({"teachers": "random; tic_tac_toe=random"}, ["'tic_tac_toe'", "kuhn_poker"]),
        ({"positions": 4}, ["positions=4", "kuhn_poker"]),
    ):
        with pytest.raises((ConfigError, SeatError)) as caught:
            text(kuhn, dataclasses.replace(TINY, **given), tmp_path / "run")
        assert all(word in str(caught.value) for word in words_), str(caught.value)
        assert not (tmp_path / "run").exists()
    with pytest.raises(AssertionError, match="begun"):  # of several games one is a board
        text([kuhn, board], dataclasses.replace(TINY, positions=4), tmp_path / "run")


@pytest.mark.parametrize(
    "name", ["illegal_cost", "kl", "value", "clone_rate", "clone_average", "minutes_to_checkpoint"]
)
def test_weights_below_zero_are_refused(name):
    with pytest.raises(ConfigError, match=f"^{name} .*from 0.*-1"):
        TextConfig(**{name: -1.0})


def test_a_run_is_told_in_lines(kuhn, run, tmp_path):
    card, folder = run
    lines = told("text", card, folder).splitlines()
    assert "kuhn_poker" in lines[0] and "300" in lines[0] and "{" not in "".join(lines)
    assert any(re.match(r"  return in kuhn_poker, agent 1: -?\d", line) for line in lines)
    assert f"text:file={folder / 'policy-0.safetensors'}" in lines[-1]
    against = "return_against_text:file=runs/7/policy.safetensors/0/1"
    assert "policy.safetensors in kuhn_poker, agent 1: 0.5" in told(
        "text", {**card, "last": {against: 0.5}}, folder
    )


def test_a_run_starts_from_the_clone_of_another(kuhn, tmp_path):
    few = dataclasses.replace(TINY, clone_updates=4, updates=0)
    text(kuhn, few, tmp_path / "clone")
    config = dataclasses.replace(few, updates=1, baseline="role")
    card = text(kuhn, config, tmp_path / "play", 5, start=tmp_path / "clone")
    assert (card["cloned"], card["updates"], card["seed"]) == (4, 1, 5)
    learner = TextLearner([kuhn], config, 5)
    learner.resume(tmp_path / "clone" / "checkpoint.safetensors", clone=True)
    kept = TextLearner([kuhn], few)
    kept.resume(tmp_path / "clone" / "checkpoint.safetensors")
    same = jax.tree_util.tree_map(np.array_equal, learner.model.params, kept.model.params)
    assert all(jax.tree_util.tree_leaves(same)) and learner.update == 0
    with pytest.raises(TrainingError, match="another run: its settings"):
        other = dataclasses.replace(config, demonstrations=50)
        text(kuhn, other, tmp_path / "other", start=tmp_path / "clone")
    with pytest.raises(TrainingError, match="4 steps of cloning and 1 updates, expected"):
        text(kuhn, config, tmp_path / "other", start=tmp_path / "play")


def test_what_is_saved_plays_alike(kuhn, run):
    _, folder = run
    file = folder / "policy-0.safetensors"
    seats = [manyhands.seat(f"text:file={file}", kuhn) for _ in range(2)]
    model, games = words.load(file)
    assert [game["id"] for game in games] == ["kuhn_poker"]
    results = []
    for concurrency, policy in zip((1, 8), seats, strict=True):
        infos = {}

        def watch(moment, infos=infos):
            for i, info in (moment.turn.info if moment.turn else {}).items():
                infos[moment.episode, moment.step, i] = info

        result = manyhands.play(kuhn, policy, 8, 3, concurrency=concurrency, on_step=watch)
        results.append((result.rewards.tolist(), infos))
    assert results[0][0] == results[1][0]
    assert results[0][1].keys() == results[1][1].keys()
    for key, info in results[0][1].items():
        assert sum(info["policy"]) == pytest.approx(1)
        assert len(info["policy"]) == 2 and 0 < info["mass"] <= 1 + 1e-5
        assert info["policy"] == pytest.approx(results[1][1][key]["policy"], abs=1e-4)
    # The strategy of the file is that of the numbers in it, in half of the precision.
    assert isinstance(games, list) and model.shape.width == TINY.width
    table = manyhands.seat(f"table:file={folder / 'average-kuhn_poker.safetensors'}", kuhn)
    assert manyhands.play(kuhn, table, 2).rewards.shape == (2, 2)


def test_a_file_of_several_networks(kuhn, run, tmp_path):
    """A seat takes the one that knows its game."""
    model, games = words.load(run[1] / "policy-0.safetensors")
    shape = TextNetwork(model.shape.vocabulary, 8, 1, 1)
    other = words.TextModel(shape, shape.init(0), model.tokenizer)
    board = manyhands.make("tic_tac_toe")
    path = tmp_path / "two.safetensors"
    words.bundle(path, [(model, games), (other, [board.spec()])], {"card": 1})
    assert words.load(path, "kuhn_poker")[0].shape == model.shape
    assert words.load(path, "tic_tac_toe")[0].shape == shape
    seat = manyhands.seat(f"text:file={path}", kuhn)
    assert seat.model.params.keys() == model.params.keys()
    with pytest.raises(PolicyError, match=r"kuhn_poker, tic_tac_toe, not for leduc_holdem"):
        manyhands.seat(f"text:file={path}", manyhands.make("leduc_holdem"))
    with pytest.raises(PolicyError, match="several"):
        words.load(path)
    with pytest.raises(PolicyError, match="one network for a game"):
        words.bundle(path, [(model, games), (other, games)], {})


def test_constrained_and_greedy(kuhn, run):
    _, folder = run
    file = folder / "policy-0.safetensors"
    drawn = manyhands.seat(f"text:file={file},constrained=true", kuhn)
    assert manyhands.play(kuhn, drawn, 20).refused(0) == (0, 0)
    sure = manyhands.seat(f"text:file={file},constrained=true,greedy=true", kuhn)
    one, two = (manyhands.play(kuhn, sure, 4, 9).rewards.tolist() for _ in range(2))
    assert one == two


def test_errors_say_what_is_wrong(kuhn, run, tmp_path):
    _, folder = run
    file = folder / "policy-0.safetensors"
    with pytest.raises(PolicyError, match="kuhn_poker"):
        manyhands.seat(f"text:file={file}", manyhands.make("tic_tac_toe"))
    with pytest.raises(PolicyError, match="nothing"):
        manyhands.seat(f"text:file={tmp_path / 'nothing.safetensors'}", kuhn)
    with pytest.raises(SeatError, match="file"):
        manyhands.seat("text:greedy=true", manyhands.make("kitchen"))
    with pytest.raises(PolicyError, match="format"):
        words.load(folder / "checkpoint.safetensors")
    damaged = tmp_path / "damaged.safetensors"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    damaged.write_bytes(data)
    with pytest.raises(PolicyError, match="damaged"):
        words.load(damaged)
    for wrong in (
        {"baseline": "luck"},
        {"episodes_per_update": 0},
        {"baseline": "group"},
        {"decay": 2.0},
        {"tokens": "letters"},
    ):
        with pytest.raises(ConfigError):
            TextConfig(**wrong)


def test_the_command_takes_its_settings():
    from manyhands.cli.train import training_jobs

    words_ = ["kuhn_poker", "--algorithm", "text", "--kl", "0.5", "--episodes-per-update", "9"]
    [(env, options, config, out)] = training_jobs(words_)
    assert (env.id, options.algorithm, out.name) == ("kuhn_poker", "text", "kuhn_poker-text")
    assert config == TextConfig(kl=0.5, episodes_per_update=9)
