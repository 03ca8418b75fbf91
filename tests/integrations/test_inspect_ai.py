"""Inspect: task, solver and scorers, with its mock model.

Inspect counts tokens with tiktoken, whose tables it downloads when it first counts. Without a
network a stand-in is put in its place: it counts bytes.
"""

import random
import sys
import types

from measure import legal, overhead

import manyhands
from manyhands.core.episode import episode_seed


class Bytes:
    def encode(self, text, **_):
        return list(text.encode())


stub = types.ModuleType("tiktoken")
stub.get_encoding = stub.encoding_for_model = lambda name: Bytes()
stub.Encoding = Bytes
sys.modules["tiktoken"] = stub

from inspect_ai import eval as evaluate  # noqa: E402
from inspect_ai.model import ModelOutput, get_model  # noqa: E402

from manyhands.integrations.inspect_ai import manyhands_task  # noqa: E402

SEEN: list[str] = []


def player(choose):
    def answer(messages, tools, tool_choice, config):
        SEEN.append(messages[-1].text)
        return ModelOutput.from_content("mockllm/model", choose(messages[-1].text))

    return get_model("mockllm/model", custom_outputs=answer)


def run(tmp_path, choose, **options):
    (log,) = evaluate(
        manyhands_task("kuhn_poker", partners="random", **options),
        model=player(choose),
        display="none",
        log_dir=str(tmp_path),
    )
    assert log.status == "success", log.error
    return log


def test_scores_are_returns(tmp_path):
    log = run(tmp_path, lambda text: f"ACTION: {legal(text)[0]}", episodes=6, seed=3)
    own = manyhands.text_seat("kuhn_poker", partners="random")
    for e, sample in enumerate(log.samples):
        text = own.reset(episode_seed(3, e))
        assert sample.messages[1].text == text  # the seed reaches the game
        while not own.done:
            text, *_ = own.act(legal(text)[0])
        assert sample.scores["game_return"].value == own.total
        assert sample.scores["illegal_answers"].value == 0
    metrics = log.results.scores[0].metrics
    mean = sum(s.scores["game_return"].value for s in log.samples) / 6
    assert abs(metrics["mean"].value - mean) < 1e-9


def test_groups_and_illegal_answers(tmp_path):
    log = run(tmp_path, lambda text: "purple elephants", episodes=2, group=3, retries=1)
    first = [sample.messages[1].text for sample in log.samples]
    assert len(first) == 6 and len(set(first[:3])) == 1
    for sample in log.samples:
        totals = sample.scores["game_return"].metadata
        assert totals["forfeited"] and totals["return"] == -1
        assert sample.scores["illegal_answers"].value == 2


def test_overhead(tmp_path):
    SEEN.clear()
    rng = random.Random(0)
    with overhead("Inspect with its mock model, Kuhn poker") as count:
        run(tmp_path, lambda text: f"ACTION: {rng.choice(legal(text))}", episodes=60)
        count.n = len(SEEN)
