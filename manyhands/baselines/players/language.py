"""A seat for language models: any OpenAI-compatible endpoint plays in words.

The system message holds the rules and the answer format; each step adds the text observation, the
messages of others and (by default) the legal actions (`dialogue.py`). Of a reply counts its
decisive part (an `ACTION: ...` line, a JSON object or a tool call, a tag; `core/reading/parts.py`),
with what is marked as said; reasoning around them is ignored. With `mode="score"` nothing is
generated: the choices are compared by their likelihood (`likelihood.py`).

Past turns, summaries and notes are in `memory.py`, costs and budgets in `budget.py`, requests and
their retries in `client.py`.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium

from manyhands.baselines.players import prompts
from manyhands.baselines.players.budget import Budget, Usage, read_price
from manyhands.baselines.players.client import Call, Client, Log
from manyhands.baselines.players.dialogue import Dialogue, Line, transcript
from manyhands.baselines.players.dispatch import NO_LINE, TeamText
from manyhands.baselines.players.likelihood import log_likelihood, policy_of
from manyhands.baselines.players.memory import (
    History,
    Notes,
    Summary,
    Talk,
    Talks,
    note_text,
    summary_request,
    summary_text,
)
from manyhands.baselines.players.patient import Patience
from manyhands.baselines.players.prompts import quote
from manyhands.core.config import boolean, number, one_of, whole
from manyhands.core.env import DETAILS, ConfigError, Env, IllegalAction, SeatError
from manyhands.core.episode import EpisodeResult
from manyhands.core.probes import Question
from manyhands.core.reading.parts import divide
from manyhands.core.view import BudgetSpent, Reply, View

__all__ = ["MODES", "NORMALISE", "Language", "quote"]

MODES, NORMALISE = ("generate", "score"), ("length", "sum")
_SENT_BACK = 2_000  # characters of a refused reply that are repeated in the next prompt
_AT_ONCE = 16  # choices in one request of a list of prompts
_MOST = 512  # choices that are scored


class Language:
    """A language model as a player.

    Args:
        env: the environment; wrap it in skills to have the model choose skills.
        model: the name of the model at the endpoint; by default the variable MANYHANDS_MODEL.
        base_url: the endpoint; by default OPENAI_BASE_URL, and without it OpenAI's own.
        api_key: by default OPENAI_API_KEY. It is never part of a record, a repr or an error.
        mode: "generate": the model answers in words. "score": the endpoint is asked for the
            log-probabilities of prompts (`/completions` with `echo`), one for each legal action;
            the action is drawn from their distribution, which is in the record
            (`Reply.info["policy"]`). It needs discrete actions.
        answers: the form of answers: "text" (an ACTION line), "tool" (a call of the function
            `act`), "json" (a JSON object), or "schema" (one whose action is one of the choices).
        show_choices: list the legal actions in the prompt.
        detail: how much the texts tell: "brief", "normal" or "full"; by default as the environment
            is configured.
        patience: for how many steps an answer like "wait until something happens" or "go on" holds
            at most, without a request (`players/patient.py`); 0: one step.
        history: past turns of the episode in the prompt: a number k or "window=k", the last k
            turns; "last", none; "full", all, each prompt an extension of the last one;
            "summary" or "summary=k", all, but of more than k (16) turns the model summarises the
            older half, while it plays on.
        shots: example turns in the prompt, from random play, which show the form of answers.
        notes: True or a file: after each episode the model writes notes, which are in the system
            message of later ones. A file (JSON lines) keeps them, and those before, for later runs.
        notes_length: characters of notes at most.
        dispatch: one request for all agents of an episode that this seat plays, with a line for
            each in the reply (`players/dispatch.py`). It holds their present views alone, whatever
            `history` is. `play` makes one player of equal names.
        normalise: of a choice's log-likelihood in mode "score": "length", its mean per token, or
            "sum", which favours short choices.
        score_batch: in mode "score", send the choices as one request with a list of prompts.
        retries: further prompts, with the reason, after a reply that is empty, cut off, without
            an action in the form of answers, or illegal. After that the loop's `on_illegal`
            applies.
        timeout: time limit of one request, seconds.
        tries: attempts of one request, after timeouts, lost connections, unreadable responses, and
            status 408, 409, 429 or 5xx; then the seat fails (`SeatError`), as it does at once on
            any other error status.
        backoff: seconds before the second attempt; doubled before each further one, with jitter.
        max_wait: longest wait in seconds. If an endpoint's Retry-After asks for more, the seat
            fails.
        max_tokens: limit of one reply; None is the endpoint's default.
        max_reply: characters of a reply that are read and recorded, counted from its end.
        temperature: of sampling; None is the endpoint's default, in mode "score" 1.
        prices: of a million tokens: "in/out" or "in/out/cached", or a file of prices by model
            (`players/budget.py`); costs are then in the record (`Reply.info["cost"]`).
        max_total_tokens, max_cost, max_seconds: budgets of this seat, for all its episodes. Once
            one is spent no further request is made, and `play` stops (`BudgetSpent`).
        extra: further fields of the request, e.g. `{"reasoning_effort": "low"}`.

    Attributes:
        budget: what was spent (`budget.tokens`, `budget.cost`).
    """

    def __init__(
        self,
        env: Env,
        *,
        model: str | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        mode: str = "generate",
        answers: str = "text",
        show_choices: bool = True,
        detail: str | None = None,
        patience: int = 0,
        history: int | str = 4,
        shots: int = 0,
        notes: bool | str = False,
        notes_length: int = 1000,
        dispatch: bool = False,
        normalise: str = "length",
        score_batch: bool = False,
        retries: int = 2,
        timeout: float = 60.0,
        tries: int = 5,
        backoff: float = 0.5,
        max_wait: float = 60.0,
        max_tokens: int | None = 1024,
        max_reply: int = 20_000,
        temperature: float | None = None,
        prices: str | None = None,
        max_total_tokens: int | None = None,
        max_cost: float | None = None,
        max_seconds: float | None = None,
        extra: Mapping[str, Any] | None = None,
    ):
        for option, text in (("model", model), ("base_url", base_url), ("api_key", api_key)):
            if text is not None and not isinstance(text, str):  # it may be a secret
                raise SeatError(
                    f"{option} is text, given a value of type {type(text).__name__}; in the name "
                    f"of a seat, parentheses make text of a number: {option}=(...)"
                )
        self.env = env
        self.model = model or os.environ.get("MANYHANDS_MODEL", "")
        self.name = f"language:model={self.model}"  # in results and records
        base_url = base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
        key = (api_key or os.environ.get("OPENAI_API_KEY", "")).strip()
        if not self.model:
            raise SeatError("no model is named: pass model=, or set MANYHANDS_MODEL")
        if not key:
            raise SeatError(
                "no key is given: pass api_key=, or set OPENAI_API_KEY "
                "(for a local server that asks for none, any word will do)"
            )
        if extra is not None and not isinstance(extra, Mapping):  # it may hold secrets
            raise SeatError(
                'extra is a dict of further fields of the request, such as {"reasoning_effort": '
                f'"low"}}, given a value of type {type(extra).__name__}'
            )
        try:
            self._extra = json.loads(json.dumps(dict(extra or {})))
        except (TypeError, ValueError) as error:
            raise SeatError(f"extra holds what JSON cannot: {error}") from None
        price = read_price(prices, self.model)
        self.budget = Budget(price, max_total_tokens, max_cost, max_seconds)
        self.client = Client(
            self.model,
            base_url,
            key,
            self.budget,
            timeout=timeout,
            tries=tries,
            backoff=backoff,
            max_wait=max_wait,
            max_reply=max_reply,
        )
        self.history = History(history)
        try:
            self.retries = whole("retries", retries, 0)
            self.score_batch = boolean("score_batch", score_batch)
            whole("notes_length", notes_length, 1)
            self.team = boolean("dispatch", dispatch)  # `play` asks for all of this seat's agents
            if detail is not None:
                one_of("detail", detail, DETAILS)
            if max_tokens is not None:
                max_tokens = whole("max_tokens", max_tokens, 1)
            self.mode = one_of("mode", mode, MODES)
            self.normalise = one_of("normalise", normalise, NORMALISE)
            self.patience = Patience(env, patience)
            self.dialogue = Dialogue(env, answers, show_choices, detail, shots, self.patience)
            if temperature is not None:
                number("temperature", temperature, 0)
        except ConfigError as error:
            raise SeatError(str(error)) from None
        self.notes = Notes(notes, notes_length) if notes is not False else None
        if mode == "score":
            self._check_score(answers, patience)
        if self.team:
            self._check_dispatch(shots)
        self.temperature, self._chat = temperature, env.chat
        self._fields: dict[str, Any] = {"model": self.model}
        if max_tokens is not None and mode == "generate":
            self._fields["max_tokens"] = max_tokens
        if temperature is not None and mode == "generate":
            self._fields["temperature"] = temperature
        self._plain = self._encoded({})  # the fields of a request that asks for text
        self._talks = Talks()

    def _check_score(self, answers: str, patience: int) -> None:
        space = self.env.action_space
        if not isinstance(space, gymnasium.spaces.Discrete):
            raise SeatError(
                f'mode="score" needs discrete actions, given {self.env!r} with {space}; leave out '
                "the channel, or wrap it in skills"
            )
        if answers != "text" or patience:
            raise SeatError(
                f'with mode="score" nothing is answered in words: leave out answers={answers!r} '
                f"and patience={patience!r}"
            )

    def _check_dispatch(self, shots: int) -> None:
        plain = self.mode == "generate" and self.dialogue.answers == "text"
        if not plain or shots or self.patience.steps or self.notes is not None:
            raise SeatError(
                "dispatch=true asks for one reply in words for all agents: leave out mode, "
                "answers, shots, patience and notes"
            )

    def __repr__(self) -> str:
        return f"Language(model={self.model!r}, base_url={self.client.place()!r})"

    async def act(self, views: Sequence[View]) -> list[Reply]:
        """One reply for each view; the requests run concurrently."""
        if self.team:
            return await self._together(views)
        if len(views) == 1:
            return [await self._answer(views[0])]
        replies = await asyncio.gather(*map(self._answer, views), return_exceptions=True)
        for reply in replies:
            if isinstance(reply, BaseException):
                raise reply
        return list(replies)  # type: ignore[arg-type]

    async def _together(self, views: Sequence[View]) -> list[Reply]:
        """The answers for several agents of an episode, of one request for all of them."""
        log = self.client.log()

        async def complete(messages: list[dict[str, str]]) -> str:
            lines = [Line(message["role"], message["content"]) for message in messages]
            call = await self.client.chat(_body(lines, self._plain), log)
            status = "truncated" if call.finish == "length" else "ok"
            log.add(call, status if call.reply.strip() else "empty", None)
            # Of a reply that was cut off the last line says perhaps another thing than it begins.
            return call.reply if status == "ok" else call.reply.rpartition("\n")[0]

        speech = self._chat.max_length if self._chat is not None else 0
        team = TeamText(complete, self.retries, self.dialogue.detail, speech)
        answers = await team.act(views)
        first, *rest = views
        answers[first.agent].info.update(
            {"model": self.model, **log.info(), "attempts": log.attempts}
        )
        for view in rest:
            reply = answers.setdefault(view.agent, Reply(None, error=NO_LINE))
            reply.info.update({"model": self.model, "answered_with": first.agent})
        return [answers[view.agent] for view in views]

    async def probe(self, views: Sequence[View], questions: Sequence[Question]) -> list[Reply]:
        """The model's answers to questions outside of the game (`core/probes.py`): each is one
        request, with what the model remembers of the episode, which is not changed by it."""

        async def one(view: View, asked: Question) -> Reply:
            talk, log = self._talks.get(view.episode, view.index), self.client.log()
            before = talk.lines() if talk is not None and view.turn else list(self._opening(view))
            seen = prompts.situation(view, self.dialogue.detail)
            lines = [*before, Line("user", f"{seen}\n\n{prompts.question(asked)}")]
            call = await self._write(lines, log)
            return Reply(call.reply, info=log.info())

        return list(await asyncio.gather(*map(one, views, questions)))

    async def ended(
        self, views: Sequence[View], result: EpisodeResult
    ) -> dict[int, dict[str, Any]]:
        """The end of an episode, which `play` announces: time to write notes.

        Args:
            views: the last view of each agent that this seat played.
            result: of the episode.

        Returns:
            What the record holds of it, by agent index.
        """
        found: dict[int, dict[str, Any]] = {}
        for view in views:
            talk = self._talks.get(view.episode, view.index)
            if talk is None:
                continue
            info: dict[str, Any] = {}
            if talk.summary is not None:
                await self._settle(talk, self.client.log(), info, last=True)
            if self.notes is not None:
                info["new_notes"] = await self._reflect(self.notes, talk, view, result)
            if info:
                found[view.index] = info
        return found

    async def aclose(self) -> None:
        """Close the connections, and forget episodes; `play` does so at its end. A later request
        opens new ones."""
        self._talks.clear()
        await self.client.aclose()

    def system(self, view: View) -> str:
        """The system message: the model's role, the rules, the answer format, and its notes."""
        return self._opening(view)[0].content

    def prompt(self, view: View, error: str | None = None) -> tuple[str, str]:
        """The user message of a step: the part that is kept as history, and the whole."""
        return self.dialogue.step(view, error, self.mode == "score")

    def _opening(self, view: View) -> tuple[Line, ...]:
        return self.dialogue.opening(view, self.notes.text if self.notes is not None else "")

    # ---- one step -----------------------------------------------------------------------------

    async def _answer(self, view: View) -> Reply:
        reply = self.patience.due(view)
        if reply is None:
            reply = self.patience.note(view, await self._ask(view))
        return reply

    async def _ask(self, view: View) -> Reply:
        info: dict[str, Any] = {"model": self.model}
        talk, log = self._talk(view, info), self.client.log()
        if self.history.mode == "summary":
            await self._settle(talk, log, info)
        play = self._score if self.mode == "score" else self._generate
        action, say, error = await play(view, talk, log, info)
        talk.error = error
        talk.count += 1
        info |= {**log.info(), "attempts": log.attempts}
        return Reply(action, say, error, info)

    def _talk(self, view: View, info: dict[str, Any]) -> Talk:
        """The conversation so far; a new one at the first turn of an episode."""
        talk = self._talks.get(view.episode, view.index)
        if view.turn == 0 or talk is None:
            talk = Talk(self._opening(view), deque(maxlen=self.history.turns))
            self._talks.put(view.episode, view.index, talk)
            if self.notes is not None and self.notes.text:
                info["notes"] = {**self.notes.source, "text": self.notes.text}
        return talk

    async def _generate(
        self, view: View, talk: Talk, log: Log, info: dict[str, Any]
    ) -> tuple[str | None, str | None, str | None]:
        """(action, say, error) as the model answers."""
        seen, prompt = self.dialogue.step(view, talk.error)
        before = talk.lines()
        lines = [*before, Line("user", prompt)]
        fields = self._plain
        if self.dialogue.answers != "text":
            fields = self._encoded(self.dialogue.fields(view))
        action = say = error = None
        for _ in range(self.retries + 1):
            call = await self.client.chat(_body(lines, fields), log)
            action, say, status, error = self._read(call, view)
            log.add(call, status, error)
            if error is None:
                break
            # Half of a long thought does not help the model; the end of other replies shows the
            # error.
            if status in ("unparsable", "illegal"):
                lines.append(Line("assistant", call.reply[-_SENT_BACK:]))
            lines.append(Line("user", error))
        if error is None:
            assert action is not None
            self._keep(
                talk, seen, lines[len(before) :], self.dialogue.answer(action, say, talk.count)
            )
            return action, say, None
        if self.history.appends:
            sent = lines[len(before) : -1]  # the next prompt repeats the error
            answer = [] if sent[-1].role == "assistant" else [Line("assistant", "(no answer)")]
            self._keep(talk, seen, sent, answer)
        return None, None, error

    def _keep(self, talk: Talk, seen: str, sent: list[Line], answer: list[Line]) -> None:
        """Remember a turn: what was sent, or the part of it that windows repeat."""
        if self.history.appends:
            talk.starts.append(len(talk.sent))
            talk.sent += [*sent, *answer]
        elif self.history.turns:
            talk.turns.append([Line("user", seen), *answer])

    def _read(self, call: Call, view: View) -> tuple[str | None, str | None, str, str | None]:
        """(action, say, status, error) of one reply."""
        if call.finish == "length":
            return None, None, "truncated", self.dialogue.hint("truncated")
        if not call.reply.strip():
            return None, None, "empty", self.dialogue.hint("empty")
        rest, say, marked = divide(call.reply)
        action = marked or (f"SAY: {say}" if say and not rest.strip() else rest)
        if marked and "\n" not in marked:
            action = marked.removeprefix("ACTION: ")
        if self.patience.steps and self.patience.read(action):
            return action, say if self._chat is not None else None, "ok", None
        try:
            view.parse(action)
        except IllegalAction as illegal:
            if marked is None:
                return None, None, "unparsable", self.dialogue.hint("unparsable")
            reason = (
                f"Your action {json.dumps(action[:200], ensure_ascii=False)} was not accepted: "
            )
            return None, None, "illegal", reason + illegal.reason
        return action, say if self._chat is not None else None, "ok", None

    def _encoded(self, fields: dict[str, Any]) -> bytes:
        return json.dumps({**self._fields, **fields, **self._extra}).encode()

    # ---- by likelihood ------------------------------------------------------------------------

    async def _score(
        self, view: View, talk: Talk, log: Log, info: dict[str, Any]
    ) -> tuple[str | None, str | None, str | None]:
        """(action, None, None), drawn by the likelihood of the choices."""
        seen, prompt = self.dialogue.step(view, talk.error, scored=True)
        choices = [choice.text for choice in view.all_choices]
        if len(choices) > _MOST:
            raise SeatError(
                f'mode="score" compares up to {_MOST} choices, and {view.agent} has {len(choices)}'
            )
        line = Line("user", prompt)
        scores = [(0.0, 1)]
        if len(choices) > 1:
            try:
                scores = await self._scores(transcript([*talk.lines(), line]), choices, log)
            except BudgetSpent:
                raise
            except SeatError as error:
                raise SeatError(
                    f'{error}; mode="score" needs an endpoint whose /completions takes echo, '
                    "max_tokens=0 and logprobs=1 (as vLLM's does)"
                ) from error
        temperature = 1.0 if self.temperature is None else self.temperature
        policy = policy_of(scores, self.normalise == "length", temperature)
        chosen = choices[int(view.rng().choice(len(choices), p=policy))]
        info |= {"policy": policy.tolist(), "scores": [total for total, _ in scores]}
        self._keep(talk, seen, [line], self.dialogue.answer(chosen, None, talk.count))
        return chosen, None, None

    async def _scores(self, prompt: str, choices: list[str], log: Log) -> list[tuple[float, int]]:
        """The log-likelihood of each choice and its number of tokens."""
        size = _AT_ONCE if self.score_batch else 1
        groups = [choices[k : k + size] for k in range(0, len(choices), size)]
        tasks = [asyncio.ensure_future(self._scored(prompt, group, log)) for group in groups]
        try:
            calls = await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
        total = Call(seconds=max(call.seconds for call in calls))
        used = [call.usage or Usage() for call in calls]
        total.usage = Usage(
            sum(u.prompt for u in used),
            sum(u.completion for u in used),
            sum(u.cached for u in used),
        )
        total.cost = sum(call.cost for call in calls)
        log.add(total, "ok", None)
        return [score for call in calls for score in call.scores]

    async def _scored(self, prompt: str, group: list[str], log: Log) -> Call:
        """One request: the log-likelihoods of some choices."""
        # The end counts: one choice may be the beginning of another.
        texts = [f"{prompt} {choice}\n" for choice in group]
        given = texts if self.score_batch else texts[0]
        fields = {"prompt": given, "echo": True, "max_tokens": 0, "logprobs": 1}

        def unpack(answer: Any) -> Call:
            found = answer["choices"]
            if len(found) != len(group):
                raise SeatError(f"{len(found)} completions were given to {len(group)} prompts")
            found = sorted(found, key=lambda one: one.get("index", 0))
            scores = []
            for one, choice in zip(found, group, strict=True):
                score = log_likelihood(one, prompt, f" {choice}\n")
                if score is None:
                    raise SeatError(
                        f"the model {self.model!r} at {self.client.place()} gave no "
                        "log-probabilities of the prompt"
                    )
                scores.append(score)
            return Call(scores=scores)

        return await self.client.complete(self._encoded(fields), unpack, log)

    # ---- summaries and notes -------------------------------------------------------------------

    async def _settle(self, talk: Talk, log: Log, info: dict[str, Any], last: bool = False) -> None:
        """Take over a summary that is finished, and begin one that is due; after the `last` turn,
        only the former."""
        summary = talk.summary
        if summary is not None and summary.task.cancelled():  # with the loop that it ran in
            summary = talk.summary = None
        overdue = len(talk.starts) >= 2 * self.history.turns
        if summary is not None and (last or overdue or summary.task.done()):
            talk.summary = None
            try:
                text, own = await summary.task
            except SeatError:
                if last:  # the episode is over, and needs it no more
                    return
                raise
            log.include(own)
            talk.replace(summary.lines, summary.turns, text)
            info["summary"] = {"text": text, "turns": summary.turns, **own.info()}
        if not last and talk.summary is None and len(talk.starts) >= self.history.turns:
            older, turns = talk.older()
            lines = [*talk.opening, *older, summary_request()]
            task = asyncio.create_task(self._summarise(lines))
            talk.summary = Summary(len(older), turns, task)

    async def _summarise(self, lines: list[Line]) -> tuple[str, Log]:
        log = self.client.log()
        call = await self._write(lines, log)
        return summary_text(call.reply), log

    async def _reflect(
        self, notes: Notes, talk: Talk, view: View, result: EpisodeResult
    ) -> dict[str, Any]:
        """New notes, written after an episode; what the record holds of them. If the endpoint fails
        or a budget is spent the notes stay as they are: the episode is played, and counts."""
        log = self.client.log()
        rewards = dict(zip(self.env.agents, result.rewards, strict=True))
        async with notes.lock():
            lines = [*talk.lines(), notes.request(view.text, rewards, view.agent, result)]
            try:
                call = await self._write(lines, log)
            except SeatError as error:
                return {"error": str(error), **log.info()}
            text = note_text(call.reply, notes.limit)
            source = {
                "model": self.model,
                "env": self.env.id,
                "agent": view.agent,
                "episode": result.episode,
                "seed": result.seed,
                "reward": rewards[view.agent],
            }
            if text:
                notes.put(text, source)
        return {"text": text, **log.info()}

    async def _write(self, lines: list[Line], log: Log) -> Call:
        """A reply in free words; in mode "score", a completion of the text."""
        if self.mode == "generate":
            call = await self.client.chat(_body(lines, self._plain), log)
        else:
            prompt = "\n\n".join(line.content for line in lines) + "\n\n"
            fields = {"prompt": prompt, "max_tokens": 256}
            call = await self.client.complete(
                self._encoded(fields), lambda answer: self._completion(answer), log
            )
        log.count(call)
        return call

    def _completion(self, answer: Any) -> Call:
        choice = answer["choices"][0]
        text: str = self.client.clean(choice["text"])
        return Call(text, choice.get("finish_reason"))


def _body(lines: Sequence[Line], fields: bytes) -> bytes:
    """A request for a chat completion: messages that are encoded already, and the other fields."""
    return b'{"messages": [' + b", ".join([line.data for line in lines]) + b"], " + fields[1:]
