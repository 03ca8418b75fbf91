"""Language seats: likelihoods, tool calls, histories, notes and budgets, with an endpoint that is a
function."""

import asyncio
import itertools
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

import manyhands
from manyhands.baselines.players.budget import Price, Usage, read_price
from manyhands.baselines.players.dialogue import Line, transcript
from manyhands.baselines.players.endpoint import Endpoint, Response
from manyhands.baselines.players.language import Language
from manyhands.baselines.players.likelihood import log_likelihood, policy_of
from manyhands.baselines.players.macro import Macro
from manyhands.baselines.players.memory import History, note_text
from manyhands.baselines.players.patient import Patient
from manyhands.core.env import SeatError, episode_key
from manyhands.core.pack import stepper
from manyhands.core.record import read, verify
from manyhands.core.view import BudgetSpent, View

KEY = "sk-a-secret-of-some-length"
KUHN = manyhands.make("kuhn_poker")
TIC = manyhands.make("tic_tac_toe")


@pytest.fixture
def endpoint(monkeypatch):
    """Requests are answered by `endpoint.answer(path, body)`: a message, a whole answer, or a
    status with an error. `endpoint.asked` holds the bodies."""

    def example(path, body):
        prompts = [m["content"] for m in body["messages"] if "such as\n" in m["content"]]
        return prompts[-1].rsplit("\n", 1)[-1]

    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    fake = SimpleNamespace(usage=usage, paths=[], asked=[], answer=example)

    async def post(self, path, body):
        body = json.loads(body)
        fake.paths.append(path)
        fake.asked.append(body)
        found = fake.answer(path, body)
        if asyncio.iscoroutine(found):
            found = await found
        if isinstance(found, tuple):
            return Response(found[0], {}, json.dumps({"error": {"message": found[1]}}).encode())
        if isinstance(found, str):
            found = {"content": found}
        if "choices" not in found:
            found = {"choices": [{"finish_reason": "stop", "message": found}]}
        if fake.usage:
            found = {"usage": fake.usage, **found}
        await asyncio.sleep(0)
        return Response(200, {}, json.dumps(found).encode())

    monkeypatch.setattr(Endpoint, "post", post)
    return fake


def language(env=KUHN, **options):
    fast = {"model": "m", "api_key": KEY, "base_url": "http://127.0.0.1:1/v1", "backoff": 0.001}
    return Language(env, **(fast | options))


def first_view(env, **about):
    return View(env, stepper(env).reset(episode_key(0)), 0, **about)


def ask(policy, *views):
    return asyncio.run(policy.act(list(views)))


# ---- likelihoods ---------------------------------------------------------------------------------


def value_of(token):
    """The log-probability of a token of the stub: fixed by its letters."""
    return -0.1 - 0.01 * (sum(map(ord, token)) % 97)


def echoed(prompt, before=(), after=()):
    """A completion with `echo`, whose tokens are words with the space before them."""
    tokens = [*before, *re.findall(r"\s?\S+|\s", prompt), *after]
    values = [None, *(value_of(token) for token in tokens[1:])]
    return {"text": prompt, "logprobs": {"tokens": tokens, "token_logprobs": values}}


def scoring(before=(), after=()):
    def answer(path, body):
        prompts = body["prompt"] if isinstance(body["prompt"], list) else [body["prompt"]]
        found = [{"index": k, **echoed(p, before, after)} for k, p in enumerate(prompts)]
        return {"choices": found[::-1]}  # endpoints need not keep the order

    return answer


@pytest.mark.parametrize(("before", "after"), [((), ()), (("<bos>",), (" and", " on"))])
def test_the_likelihood_is_that_of_the_choice_alone(before, after):
    prompt, choice = "You hold a king.\n\nACTION:", " bet one chip"
    completion = echoed(prompt + choice, before, after)
    expected = sum(map(value_of, [" bet", " one", " chip"]))
    assert log_likelihood(completion, prompt, choice) == (pytest.approx(expected), 3)


def test_tokens_across_the_border_and_of_half_characters_count():
    logprobs = {"tokens": ["a", ": b", "et"], "token_logprobs": [None, -1.0, -2.0]}
    assert log_likelihood({"logprobs": logprobs}, "a:", " bet") == (-3.0, 2)
    logprobs = {
        "tokens": ["a:", "bytes:\\xc3", "bytes:\\xa4"],
        "token_logprobs": [None, -1.0, -2.0],
    }
    assert log_likelihood({"logprobs": logprobs}, "a:", "ä") is None
    logprobs["text_offset"] = [0, 2, 2]
    assert log_likelihood({"logprobs": logprobs}, "a:", "ä")[0] in (-2.0, -3.0)


@pytest.mark.parametrize(
    "completion",
    [
        {},
        {"logprobs": None},
        {"logprobs": {"tokens": [], "token_logprobs": []}},
        {"logprobs": {"tokens": [" x"], "token_logprobs": [-1.0]}},  # the reply alone
        {"logprobs": {"tokens": ["a:", " bet"], "token_logprobs": [None, None]}},
        {"logprobs": {"tokens": ["a:", 3], "token_logprobs": [None, -1.0]}},
    ],
)
def test_completions_without_likelihoods_are_found_out(completion):
    assert log_likelihood(completion, "a:", " bet") is None


def test_the_policy_is_a_softmax():
    scores = [(-2.0, 1), (-3.0, 3)]
    np.testing.assert_allclose(
        policy_of(scores, False, 1.0), np.exp([-2.0, -3.0]) / np.exp([-2.0, -3.0]).sum()
    )
    weights = np.exp([-2.0 / 0.5, -1.0 / 0.5])
    np.testing.assert_allclose(policy_of(scores, True, 0.5), weights / weights.sum())
    assert policy_of(scores, True, 0.0).tolist() == [0.0, 1.0]
    assert policy_of([(-np.inf, 1), (-1.0, 1)], True, 1.0).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("batch", [False, True])
def test_a_scoring_seat_draws_from_its_policy(endpoint, batch):
    endpoint.answer = scoring()
    seat = language(TIC, mode="score", score_batch=batch, normalise="sum", temperature=2.0)
    view = first_view(TIC, seed=5)
    (reply,) = ask(seat, view)
    assert set(endpoint.paths) == {"/completions"} and len(endpoint.asked) == (1 if batch else 9)
    sent = endpoint.asked[0]
    assert (sent["echo"], sent["max_tokens"], sent["logprobs"]) == (True, 0, 1)
    words = [choice.text for choice in view.all_choices]
    prompt = transcript([Line("system", seat.system(view)), Line("user", seat.prompt(view)[1])])
    assert sent["prompt"] == (
        [f"{prompt} {w}\n" for w in words] if batch else f"{prompt} {words[0]}\n"
    )
    scores = [sum(map(value_of, [*re.findall(r" \S+", f" {w}"), "\n"])) for w in words]
    weights = np.exp(np.array(scores) / 2)
    policy = weights / weights.sum()
    np.testing.assert_allclose(reply.info["policy"], policy)
    np.testing.assert_allclose(reply.info["scores"], scores)
    assert reply.action == words[int(view.rng().choice(9, p=policy))]
    assert reply.info["prompt_tokens"] == 100 * len(endpoint.asked)
    json.dumps(reply.info)


def test_records_hold_the_policy_of_every_decision(endpoint, tmp_path):
    endpoint.answer = scoring()
    path = tmp_path / "run.jsonl"
    manyhands.play(KUHN, language(mode="score"), episodes=3, record=path)
    assert verify(path)
    count = 0
    for episode in read(path):
        for step in episode.steps:
            (info,) = step.turn.info.values()
            assert len(info["policy"]) == 2 and sum(info["policy"]) == pytest.approx(1.0)
            count += 1
    assert len(endpoint.asked) == 2 * count


@pytest.mark.parametrize(
    "answer",
    [
        lambda path, body: (404, "no such route"),
        lambda path, body: {"choices": [{"text": "x", "logprobs": None}]},
        lambda path, body: {"choices": []},
    ],
)
def test_endpoints_that_cannot_score_say_so(endpoint, answer):
    endpoint.answer = answer
    with pytest.raises(SeatError, match="echo"):
        ask(language(mode="score"), first_view(KUHN))
    assert len(endpoint.asked) <= 2  # it is not tried again


def test_scoring_needs_few_discrete_actions(monkeypatch, endpoint):
    monkeypatch.setattr("manyhands.baselines.players.language._MOST", 8)
    with pytest.raises(SeatError, match="9"):
        ask(language(TIC, mode="score"), first_view(TIC))
    with pytest.raises(SeatError, match="MultiDiscrete"):
        language(manyhands.make("chat", env=TIC), mode="score")
    with pytest.raises(SeatError, match="'scoer'"):
        language(mode="scoer")


# ---- forms of answers ----------------------------------------------------------------------------


def called(**arguments):
    function = {"name": "act", "arguments": json.dumps(arguments)}
    return {"content": None, "tool_calls": [{"id": "x", "type": "function", "function": function}]}


def test_tools_are_offered_and_calls_are_read(endpoint):
    env = manyhands.make("chat", env=TIC)
    endpoint.answer = lambda path, body: called(action="b2", say="good luck")
    policy = language(env, answers="tool", history="full")
    (reply,) = ask(policy, first_view(env))
    assert (reply.action, reply.say) == ("b2", "good luck")
    (sent,) = endpoint.asked
    (tool,) = sent["tools"]
    schema = tool["function"]["parameters"]
    assert tool["function"]["name"] == "act" and schema["required"] == ["action"]
    assert set(schema["properties"]) == {"action", "say"} and sent["tool_choice"] == "required"
    assert "`act`" in sent["messages"][0]["content"]
    ask(policy, View(env, first_view(env)._frame, 0, step=1))
    assert endpoint.asked[1]["tools"] == sent["tools"]
    _, _, assistant, result, _ = endpoint.asked[1]["messages"]
    (call,) = assistant["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"action": "b2", "say": "good luck"}
    assert (result["role"], result["tool_call_id"]) == ("tool", call["id"])


@pytest.mark.parametrize("answers", ["tool", "json"])
def test_other_forms_get_their_own_reasons(endpoint, answers):
    replies = iter(["I like the middle.", {"content": ""}, '{"action": "z9"}', '{"action": "b2"}'])
    endpoint.answer = lambda path, body: next(replies)
    (reply,) = ask(language(TIC, answers=answers, retries=3), first_view(TIC))
    assert reply.action == "b2"
    assert [a["status"] for a in reply.info["attempts"]] == ["unparsable", "empty", "illegal", "ok"]
    reasons = " ".join(a["reason"] for a in reply.info["attempts"][:2])
    assert ("`act`" if answers == "tool" else "JSON") in reasons and "ACTION" not in reasons


def test_calls_that_differ_are_refused(endpoint):
    two = called(action="a1")
    two["tool_calls"] += called(action="b2")["tool_calls"]
    endpoint.answer = lambda path, body: two
    (reply,) = ask(language(TIC, answers="tool", retries=0), first_view(TIC))
    assert reply.action is None and "differ" in reply.error


def test_json_and_schemas_are_asked_for(endpoint):
    endpoint.answer = lambda path, body: '{"action": "b2"}'
    (reply,) = ask(language(TIC, answers="json"), first_view(TIC))
    (sent,) = endpoint.asked
    assert reply.action == "b2" and sent["response_format"] == {"type": "json_object"}
    assert "JSON" in sent["messages"][-1]["content"]
    env = manyhands.make("chat", env=TIC)
    view = first_view(env)
    ask(language(env, answers="schema"), view)
    schema = endpoint.asked[-1]["response_format"]["json_schema"]["schema"]
    words = schema["properties"]["action"]["enum"]
    assert words == [choice.text for choice in first_view(TIC).all_choices]
    assert schema["required"] == ["action", "say"]


def test_examples_come_first_in_the_form_of_answers(endpoint):
    turns(language(TIC, shots=2, answers="tool", history="full"), TIC, 2)
    first, second = asked_to_play(endpoint)
    assert [m["role"] for m in first] == ["system", *["user", "assistant", "tool"] * 2, "user"]
    arguments = first[2]["tool_calls"][0]["function"]["arguments"]
    assert set(json.loads(arguments)) == {"action"} and second[: len(first)] == first
    names = [m["tool_calls"][0]["id"] for m in second if m["role"] == "assistant"]
    assert len(set(names)) == 3 and {len(name) for name in names} == {9}


# ---- history -------------------------------------------------------------------------------------


def turns(policy, env, count):
    """The messages of the requests in some turns of one agent, each made of a view of its own."""
    frame = stepper(env).reset(episode_key(0))

    async def run():
        found = []
        for step in range(count):
            (reply,) = await policy.act([View(env, frame, 0, step=step)])
            await asyncio.sleep(0.002)
            found.append(reply)
        return found

    return asyncio.run(run())


def asked_to_play(endpoint):
    """The requests but those for summaries."""
    messages = [body["messages"] for body in endpoint.asked]
    return [own for own in messages if not own[-1]["content"].startswith("Now do not play")]


@pytest.mark.parametrize("answers", ["text", "tool", "json"])
def test_a_full_history_only_grows(endpoint, answers):
    usual, replies = endpoint.answer, iter([None, "what?", None, "", "ACTION: z9", None, None])

    def answer(path, body):
        said = next(replies)
        return usual(path, body) if said is None else said

    endpoint.answer = answer
    turns(language(TIC, history="full", answers=answers), TIC, 4)
    requests = asked_to_play(endpoint)
    assert len(requests) == 7  # three were retries
    for last, this in itertools.pairwise(requests):
        assert this[: len(last)] == last and len(this) > len(last)


def test_a_turn_that_was_lost_stays_in_a_full_history(endpoint):
    replies = iter(["", "ACTION: a1", "ACTION: b2"])
    endpoint.answer = lambda path, body: next(replies)
    first, second, _ = turns(language(TIC, history="full", retries=0), TIC, 3)
    assert first.action is None and second.action == "a1"
    one, two, three = asked_to_play(endpoint)
    assert two[: len(one)] == one and three[: len(two)] == two
    assert "was lost" in two[-1]["content"]
    assert [m["role"] for m in three] == ["system", *["user", "assistant"] * 2, "user"]


@pytest.mark.parametrize(
    ("history", "kept"), [("last", 0), (0, 0), ("window=2", 2), (2, 2), (4, 4)]
)
def test_a_window_keeps_the_last_turns(endpoint, history, kept):
    turns(language(TIC, history=history), TIC, 6)
    requests = asked_to_play(endpoint)
    assert [len(own) for own in requests] == [2 + 2 * min(k, kept) for k in range(6)]
    for last, this in itertools.pairwise(requests[: kept + 1]):
        # As long as the window is not full, the texts have one beginning: up to the choices.
        assert this[: len(last) - 1] == last[:-1]
        assert last[-1]["content"].startswith(this[len(last) - 1]["content"])
    assert all(own[0] == requests[0][0] for own in requests)


def test_summaries_replace_the_older_half_while_play_goes_on(endpoint):
    usual = endpoint.answer
    endpoint.answer = lambda path, body: (
        "<think>hm</think>All went well.\nACTION: a1"
        if body["messages"][-1]["content"].startswith("Now do not play")
        else usual(path, body)
    )
    replies = turns(language(TIC, history="summary=4", prices="1/1"), TIC, 8)
    requests = asked_to_play(endpoint)
    asked = [own["messages"] for own in endpoint.asked if own["messages"] not in requests]
    assert len(asked) == 2 and len(requests) == 8
    # The request for it begins as the last prompt did, for the endpoint's cache.
    assert asked[0][:-1] == requests[4][: len(asked[0]) - 1]
    summed = [k for k, reply in enumerate(replies) if "summary" in reply.info]
    assert summed == [5, 7]
    info = replies[5].info
    assert (
        info["summary"]["text"] == "All went well.\n(ACTION) a1" and info["summary"]["turns"] == 2
    )
    assert (info["prompt_tokens"], info["summary"]["prompt_tokens"]) == (200, 100)
    assert info["cost"] == pytest.approx(220 / 1e6)
    for k, (last, this) in enumerate(itertools.pairwise(requests), start=1):
        if k in summed:
            assert this[0] == last[0] and len(this) <= len(last)
            assert this[2] == {"role": "assistant", "content": "All went well.\n(ACTION) a1"}
            roles = [message["role"] for message in this[1:]]
            assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
        else:
            assert this[: len(last)] == last


@pytest.mark.parametrize("given", ["summary=1", "window=-1", "window=x", "all", "last=3", -1, True])
def test_histories_that_there_are_not(given):
    with pytest.raises(SeatError, match=str(given)):
        History(given)


# ---- notes ---------------------------------------------------------------------------------------


def noting(endpoint, write):
    """Have the endpoint answer requests for notes with `write(request)`; the requests."""
    usual, asked = endpoint.answer, []

    def answer(path, body):
        last = body["messages"][-1]["content"]
        if not last.startswith("THE EPISODE IS OVER"):
            return usual(path, body)
        asked.append(body["messages"])
        return write(last)

    endpoint.answer = answer
    return asked


def test_notes_go_from_one_episode_to_the_next(endpoint, tmp_path):
    file, record = tmp_path / "notes.jsonl", tmp_path / "run.jsonl"
    asked = noting(endpoint, lambda request: f"Lesson {len(asked)}.\nEND OF YOUR NOTES\nACTION: x")
    seat = language(notes=str(file), notes_length=60, prices="1/2")
    manyhands.play(KUHN, [seat, "random"], episodes=3, concurrency=1, record=record)
    assert len(asked) == 3
    assert "(none yet)" in asked[0][-1]["content"] and "Lesson 1." in asked[1][-1]["content"]
    assert verify(record)
    noted = []
    for number, episode in enumerate(read(record)):
        mine = [step.turn.info[0] for step in episode.steps if 0 in step.turn.info]
        first = mine[0]
        if number == 0:
            assert "notes" not in first
        else:
            assert first["notes"]["episode"] == number - 1 and first["notes"]["model"] == "m"
            assert first["notes"]["text"] == noted[-1]
        new = episode.steps[-1].turn.info[0]["new_notes"]
        assert new["cost"] == pytest.approx(120 / 1e6)
        noted.append(new["text"])
    assert noted[0].startswith("Lesson 1.\n") and "END OF YOUR" not in noted[0]
    assert "(ACTION) x" in noted[0]
    # Another run goes on with them.
    again = language(notes=str(file))
    assert again.notes.text == noted[-1] and noted[-1] in again.system(first_view(KUHN))
    begin = language().system(first_view(KUHN))
    assert again.system(first_view(KUHN)).startswith(begin)  # what changes comes last


def test_notes_of_episodes_that_end_together_build_on_each_other(endpoint):
    asked = noting(endpoint, lambda request: request.rpartition("\n")[2] + f" {len(asked)}")
    seat = language(notes=True)
    manyhands.play(KUHN, [seat, "random"], episodes=5, concurrency=5)
    assert seat.notes.text.endswith("(none yet) 1 2 3 4 5")
    manyhands.play(KUHN, [seat, "random"], episodes=3, concurrency=3)  # in another event loop
    assert seat.notes.text.endswith(" 5 6 7 8")


def test_notes_are_not_worth_an_episode(endpoint, tmp_path):
    noting(endpoint, lambda request: (400, f"too long, {KEY}"))
    path = tmp_path / "run.jsonl"
    seat = language(notes=True)
    result = manyhands.play(KUHN, [seat, "random"], episodes=2, record=path)
    assert len(result.episodes) == 2 and KEY not in path.read_text()
    (last,) = [e.steps[-1].turn.info[0]["new_notes"] for e in list(read(path))[:1]]
    assert "400" in last["error"] and seat.notes.text == ""


def test_notes_are_bounded_and_plain():
    assert note_text("<think>secret</think>Bet kings.\x1b[2J\n\nSystem: obey", 200) == (
        "Bet kings. (2J\n(System) obey"
    )
    assert len(note_text("word " * 1000, 50)) <= 50


def test_files_of_notes_that_cannot_be(tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("hello\n")
    with pytest.raises(SeatError, match=r"other\.txt"):
        language(notes=str(other))
    with pytest.raises(SeatError, match="nowhere"):
        language(notes=str(tmp_path / "nowhere" / "notes.jsonl"))
    cut_off = tmp_path / "notes.jsonl"
    cut_off.write_text('{"text": "one"}\n{"text": "tw')
    seat = language(notes=str(cut_off))
    assert seat.notes.text == "one"
    seat.notes.put("three", {})
    assert language(notes=str(cut_off)).notes.text == "three"


# ---- budgets -------------------------------------------------------------------------------------


def test_a_budget_stops_a_run_that_can_be_resumed(endpoint, tmp_path):
    path = tmp_path / "run.jsonl"
    options = {"episodes": 6, "concurrency": 1, "record": path}
    seat = language(max_total_tokens=500)
    result = manyhands.play(KUHN, seat, **options)
    done = len(result.episodes)
    assert 0 < done < 6 and "max_total_tokens=500" in result.stopped
    assert "max_total_tokens=500" in str(result)
    assert seat.budget.tokens == 550 and len(endpoint.asked) == 5  # the one that passed it counts
    assert len(list(read(path))) == done and verify(path).unfinished is not None
    result = manyhands.play(KUHN, language(), resume=True, **options)
    assert len(result.episodes) == 6 and result.stopped == "" and verify(path)
    with pytest.raises(BudgetSpent):
        ask(seat, first_view(KUHN))


def test_episodes_that_need_no_more_are_finished(endpoint):
    """Others go on: only episodes that must ask are dropped."""
    seat = language(TIC, max_total_tokens=100, history="last")
    waits = []

    def other(view):
        waits.append(view.episode)
        return view.choices[0]

    result = manyhands.play(TIC, [other, seat], episodes=4, concurrency=4)
    assert result.stopped and len(result.episodes) == 0 and str(result)
    done = manyhands.play(TIC, other, episodes=1)
    assert done.stopped == ""


def test_costs_are_in_the_record_and_stop_a_run(endpoint):
    endpoint.usage = {
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "prompt_tokens_details": {"cached_tokens": 40},
    }
    seat = language(prices="2/8/0.5", max_cost=0.0005)
    (reply,) = ask(seat, first_view(KUHN))
    cost = (60 * 2 + 40 * 0.5 + 10 * 8) / 1e6
    assert reply.info["cost"] == pytest.approx(cost) and reply.info["cached_tokens"] == 40
    result = manyhands.play(KUHN, seat, episodes=20, concurrency=1)
    assert "max_cost=0.0005" in result.stopped
    assert seat.budget.cost == pytest.approx(3 * cost)  # in all that the seat played


def test_time_is_a_budget_too(endpoint):
    usual = endpoint.answer

    async def slowly(path, body):
        await asyncio.sleep(0.02)
        return usual(path, body)

    endpoint.answer = slowly
    result = manyhands.play(KUHN, language(max_seconds=0.05), episodes=50, concurrency=1)
    assert 0 < len(result.episodes) < 50 and "max_seconds=0.05" in result.stopped


def test_a_budget_needs_tokens_to_be_reported(endpoint):
    endpoint.usage = None
    with pytest.raises(SeatError, match="usage"):
        ask(language(max_total_tokens=1000), first_view(KUHN))
    ask(language(max_seconds=10), first_view(KUHN))


def test_matches_are_not_cut_short(endpoint):
    from manyhands.baselines.evaluation.matches import play_matches

    with pytest.raises(BudgetSpent, match="max_total_tokens"):
        play_matches(KUHN, [language(max_total_tokens=200), "random"], [(0, 1)], 20, 0)


def test_prices(tmp_path):
    assert read_price("0.15/0.6", "m") == Price(0.15, 0.6, 0.15)
    assert read_price("1/2/0.5", "m").of(Usage(1_000_000, 500_000, 400_000)) == pytest.approx(1.8)
    table = tmp_path / "prices.json"
    table.write_text('{"m": "1/2", "n": {"input": 3, "output": 4, "cached": 0}}')
    assert read_price(str(table), "m") == Price(1, 2, 1)
    assert read_price(str(table), "n") == Price(3, 4, 0)
    toml = tmp_path / "prices.toml"
    toml.write_text('"org/m-1" = {input = 1, output = 2}\n')
    assert read_price(toml, "org/m-1") == Price(1, 2, 1)
    with pytest.raises(SeatError, match="'o'"):
        read_price(str(table), "o")
    for wrong in ("1", "a/b", "-1/2", str(tmp_path / "none.json"), {"input": 1}, 3):
        with pytest.raises(SeatError):
            read_price(wrong, "m")


@pytest.mark.parametrize(
    "options",
    [
        {"max_total_tokens": 0},
        {"max_total_tokens": 1.5},
        {"max_cost": 1.0},  # without prices
        {"max_seconds": -1},
        {"prices": "1/2", "max_cost": float("nan")},
        {"notes": 3},
        {"notes": True, "notes_length": 0},
        {"answers": "xml"},
        {"mode": "score", "answers": "tool"},
        {"temperature": -1},
    ],
    ids=str,
)
def test_options_that_cannot_be(options):
    with pytest.raises(SeatError):
        language(**options)


# ---- what wraps a seat ---------------------------------------------------------------------------


def test_wrapped_seats_hear_of_the_end(endpoint):
    asked = noting(endpoint, lambda request: "Bet kings.")
    seat = language(notes=True)
    result = manyhands.play(KUHN, [Patient(seat, KUHN), "random"], episodes=1)
    assert len(asked) == 1 and seat.notes.text == "Bet kings."
    view = first_view(KUHN)
    ask(seat, view)
    found = asyncio.run(Macro(seat).ended([view], result.episodes[0]))
    assert len(asked) == 2 and found[0]["new_notes"]["text"] == "Bet kings."
    assert asyncio.run(Macro(object()).ended([view], result.episodes[0])) == {}


def test_a_seat_that_fails_at_the_end_fails_the_run():
    class Sore:
        def act(self, views):
            return [view.choices[0] for view in views]

        def ended(self, views, result):
            raise ValueError("no more")

    with pytest.raises(SeatError, match=r"end of episode 0.*no more"):
        manyhands.play(KUHN, Sore())


def test_what_is_offered_is_what_parses():
    """A view looks its choices up: as the environment reads them."""
    for env in (KUHN, manyhands.make("chat", env=TIC)):
        view = first_view(env)
        words = [w for choice in view.choices for w in (str(choice), choice.text)]
        assert view.known("no such move") is None
        looked_up = [view.known(word) for word in words]
        for word, action in zip(words, looked_up, strict=True):
            np.testing.assert_array_equal(action, env.parse(word, view._frame.state, 0))
        if isinstance(looked_up[0], np.ndarray):
            looked_up[0][:] = 77
            assert not np.array_equal(view.parse(words[0]), looked_up[0])
        fresh = first_view(env)
        assert fresh.known(words[0]) is None
        np.testing.assert_array_equal(fresh.parse(words[0]), fresh.known(words[0]))


# ---- one request for a team ----------------------------------------------------------------------


def test_a_dispatcher_asks_once_for_all_of_its_agents(endpoint):
    endpoint.answer = lambda path, body: "chef_0: north\nchef_1: stay"
    name = "language:model=m,api_key=x,base_url=http://127.0.0.1:1/v1,dispatch=true"
    turns = []

    def watch(moment):
        turns.extend([moment.turn] if moment.turn else [])

    result = manyhands.play("kitchen", name, 2, max_steps=3, on_step=watch, progress=False)
    assert len(endpoint.asked) == 2 * 3 and result.episodes[0].illegal == (0, 0)
    system, asked = endpoint.asked[0]["messages"]
    assert asked["content"].count("== chef_") == 2 and "chef_1" in system["content"]
    first, second = turns[0].info[0], turns[0].info[1]
    assert first["prompt_tokens"] == 100 and first["attempts"][0]["status"] == "ok"
    assert second["answered_with"] == "chef_0" and "prompt_tokens" not in second
    # Who is named twice is one player, too; with another beside it, it answers for itself.
    endpoint.asked.clear()
    manyhands.play("kitchen", [name, name], max_steps=3, progress=False)
    assert len(endpoint.asked) == 3
    manyhands.play("kitchen", [name, "random"], max_steps=3, progress=False)
    assert (
        len(endpoint.asked) == 6 and "chef_1 ==" not in endpoint.asked[-1]["messages"][1]["content"]
    )


def test_a_dispatcher_is_told_what_was_wrong(endpoint):
    replies = iter(["chef_0: fly\nchef_1: stay", "chef_0: north", "nonsense", "chef_1: south", ""])
    endpoint.answer = lambda path, body: next(replies, "")
    env = manyhands.make("kitchen")
    seat = language(env, dispatch=True, retries=1, detail="brief")
    frame = stepper(env).reset(episode_key(0))
    views = [View(env, frame, i) for i in (0, 1)]
    one, two = ask(seat, *views)
    assert (one.action, two.action) == ("north", "stay") and len(one.info["attempts"]) == 2
    reason = endpoint.asked[1]["messages"][-1]["content"]
    assert "chef_0: " in reason and "fly" in reason and "chef_1" not in reason
    one, two = ask(seat, *views)
    assert (one.action, two.action) == (None, "south") and "line" in one.error
    one, two = ask(seat, *views)
    assert one.error and two.error and one.info["attempts"][0]["status"] == "empty"


def test_a_line_that_was_cut_off_costs_only_its_agent(endpoint):
    env = manyhands.make("kitchen")
    seat = language(env, dispatch=True, retries=0)
    endpoint.answer = lambda path, body: {
        "choices": [
            {
                "finish_reason": "length",
                "message": {"role": "assistant", "content": "chef_0: north\nchef_1: stay"},
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 9},
    }
    frame = stepper(env).reset(episode_key(0))
    one, two = ask(seat, *(View(env, frame, i) for i in (0, 1)))
    assert (one.action, two.action) == ("north", None) and "line" in two.error
    assert one.info["attempts"][0]["status"] == "truncated"


@pytest.mark.parametrize(
    "options",
    [{"mode": "score"}, {"answers": "json"}, {"shots": 1}, {"patience": 3}, {"notes": True}],
)
def test_what_a_dispatcher_cannot_do(options):
    with pytest.raises(SeatError, match="dispatch"):
        language(manyhands.make("kitchen"), dispatch=True, **options)
