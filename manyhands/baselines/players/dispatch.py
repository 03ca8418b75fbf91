"""One policy that answers for all agents of a team in one call: a dispatcher."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

from manyhands.baselines.players.prompts import situation
from manyhands.core.coach import shown
from manyhands.core.config import one_of, whole
from manyhands.core.env import DETAILS, ConfigError, IllegalAction, SeatError, shorten
from manyhands.core.reading.objects import objects_in
from manyhands.core.reading.turns import spoken
from manyhands.core.view import Reply, View

NO_LINE = "the reply has no line for this agent"
_SENT_BACK = 2_000  # characters of a reply that are repeated to the model


class Dispatch:
    """A seat for every agent of a team, answered by one policy: seat the same object for all of
    them, `play(env, [dispatch, dispatch])`.

    At each step it gets the views of those agents of one episode that are to move, in agent order,
    and gives one answer for each.

    Args:
        policy: a function of the list of views, plain or a coroutine function, or an object with
            such an `act`. It gives a list of answers in the order of the views, or a mapping by
            agent name, in which a missing agent has no answer (an illegal one).
        agents: names of the agents that it may play; None: any.

    Raises:
        SeatError: the policy gave other answers than one an agent, or was seated elsewhere.
    """

    team = True

    def __init__(self, policy: Any, agents: Sequence[str] | None = None):
        act = getattr(policy, "act", policy)
        if isinstance(policy, (str, type)) or not callable(act):
            raise SeatError(
                f"{shorten(policy)} cannot dispatch: give a function of the views of a team, or an "
                "object with act(views)"
            )
        self.policy, self.agents = policy, None if agents is None else tuple(agents)
        name = getattr(policy, "name", getattr(policy, "__name__", type(policy).__name__))
        self.name = f"dispatch {name}"
        self._act: Callable[..., Any] = act

    async def act(self, views: Sequence[View]) -> list[Any]:
        """One answer for each view of an episode."""
        for view in views:
            if self.agents is not None and view.agent not in self.agents:
                raise SeatError(
                    f"this dispatcher plays {', '.join(self.agents)}; it was seated as {view.agent}"
                )
        answers = self._act(list(views))
        if inspect.isawaitable(answers):
            answers = await answers
        if isinstance(answers, Mapping):
            unknown = [name for name in answers if name not in [view.agent for view in views]]
            if unknown:
                raise SeatError(
                    f"answers are needed for {', '.join(view.agent for view in views)}; given "
                    f"{', '.join(map(str, answers))}"
                )
            none = Reply(None, error="the dispatcher gave no answer for this agent")
            return [answers.get(view.agent, none) for view in views]
        if isinstance(answers, str):  # a list of its letters would be
            raise SeatError(
                "a dispatcher gives a list of answers, or a mapping by agent; given the text "
                f"{shorten(answers)}"
            )
        answers = list(answers)
        if len(answers) != len(views):
            raise SeatError(f"{len(views)} answers are needed, one an agent; given {len(answers)}")
        return answers

    async def aclose(self) -> None:
        """Close the policy, if it can be closed."""
        if hasattr(self.policy, "aclose"):
            await self.policy.aclose()


class TeamText:
    """A dispatcher's policy in words: one prompt for the team, one reply for all of its agents.

    Args:
        complete: a function of chat messages (`[{"role": ..., "content": ...}]`), plain or a
            coroutine function, that gives the reply as text: one request to an endpoint of yours.
        retries: how often it is asked again, with the reasons, for agents without an answer that
            can be read.
        detail: of the views' texts: "brief", "normal" or "full"; by default as the environment is
            configured.
        speech: characters that an agent may say to others, where there is a channel.

    The reply names each agent on a line of its own, `chef_0: north`, or is a JSON object by agent.
    Each answer is then read as any other (`Env.parse`); an agent without one has none. The whole
    reply is recorded with the first agent's answer, `info["reply"]`.
    """

    name = "team"

    def __init__(
        self,
        complete: Callable[[list[dict[str, str]]], Awaitable[str] | str],
        retries: int = 0,
        detail: str | None = None,
        speech: int = 0,
    ):
        if not callable(complete):
            raise ConfigError(f"complete is a function of chat messages, given {shorten(complete)}")
        self.complete, self.retries = complete, whole("retries", retries, 0)
        self.detail = detail if detail is None else one_of("detail", detail, DETAILS)
        self.speech = whole("speech", speech, 0)

    async def act(self, views: Sequence[View]) -> dict[str, Reply]:
        """The answers by agent."""
        messages = team_messages(views, self.detail, self.speech)
        waiting = {view.agent: view for view in views}
        answers: dict[str, Reply] = {}
        for tries_left in range(self.retries, -1, -1):
            given = self.complete(messages)
            reply = await given if inspect.isawaitable(given) else given
            if not isinstance(reply, str):
                raise SeatError(f"complete gives the reply as text; given {shorten(reply)}")
            found = read_team(reply, list(waiting))
            answers |= {name: Reply(words) for name, words in found.items()}
            refused = dict(_refused(waiting, found)) if tries_left else {}
            if not refused:
                break
            waiting = {name: waiting[name] for name in refused}
            told = "\n".join(f"- {name}: {why}" for name, why in refused.items())
            again = f"Not accepted:\n{told}\nAnswer with a line for each of these agents again."
            messages = [
                *messages,
                {"role": "assistant", "content": reply[-_SENT_BACK:] or "(no answer)"},
                {"role": "user", "content": again},
            ]
        first = views[0].agent
        answers.setdefault(first, Reply(None, error=NO_LINE))
        answers[first].info["reply"] = reply
        return answers


def _refused(views: Mapping[str, View], found: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The agents whose answers cannot be read, and why."""
    for name, view in views.items():
        if name not in found:
            yield name, NO_LINE
            continue
        try:
            view.parse(found[name])
        except IllegalAction as illegal:
            yield name, illegal.reason


def team_messages(
    views: Sequence[View], detail: str | None = None, speech: int = 0
) -> list[dict[str, str]]:
    """Rules and views of a team as chat messages: what the agents have in common once, then each
    agent's text, what it heard, and its choices. The first message is the same at every step at
    which the same agents are asked, so that caches of endpoints work.

    Args:
        speech: characters that an agent may say to others, where there is a channel.
    """
    first, *rest = views
    names = ", ".join(view.agent for view in views)
    told = f"You decide for {names} at once. The rules, as {first.agent} is told them:"
    system = [f"{told}\n\n{first.rules}"]
    known = set(first.rules.splitlines())
    for view in rest:
        own = [line for line in view.rules.splitlines() if line not in known]
        if own:
            system.append(f"What {view.agent} is told instead:\n" + "\n".join(own))
    how = (
        "How to answer: think as briefly as you can, then end with one line for each agent, its "
        "name, a colon and its action. Each line is read by itself."
    )
    if speech:
        how += (
            f' To have an agent speak, add "; SAY: ..." (at most {speech} characters) to its line.'
        )
    system.append(how)
    parts = []
    for view in views:
        part = [f"== {view.agent} ==\n{situation(view, detail)}"]
        if view.advice:
            part.append(shown(view.advice))
        part.append("It may:\n" + "\n".join(f"- {choice}" for choice in view.choices))
        parts.append("\n".join(part))
    # Real actions: small models copy a placeholder to the letter.
    such = [
        f"{view.agent}: {view.choices[view.turn % len(view.choices)].text}"
        for view in views
        if view.choices
    ]
    parts.append("\n".join(["End your reply with a line for each agent, such as", *such]))
    return [
        {"role": "system", "content": "\n\n".join(system)},
        {"role": "user", "content": "\n\n".join(parts)},
    ]


_ANSWER = re.compile(
    r"\s*(?:[-*>\u2022]+\s*|\d+[.)]\s+)?[*_`]*(?P<name>[^:=]*?)[*_`\s]*(?:[:=]|-+>|\u2192)[*_`]*"
    r"(?P<words>.*)"
)
_HOLDS = ("actions", "answers", "moves", "action", "answer")  # of a JSON object: what is by agent


def read_team(reply: str, agents: Sequence[str]) -> dict[str, str]:
    """The answers in a reply, `agent: words` on lines of their own or a JSON object by agent; the
    last line of an agent counts, and the object before lines. Reasoning between tags is not read.
    """
    found, names = {}, {agent.lower(): agent for agent in agents}
    told = spoken(reply)
    for line in told.splitlines():
        answer = _ANSWER.match(line)
        if answer is None:
            continue
        name, words = names.get(answer["name"].lower()), answer["words"].strip()
        if name is not None and words:
            found[name] = words
    for value, _ in objects_in(told):
        found |= _by_agent(value, names)
    return found


def _by_agent(value: Any, names: Mapping[str, str]) -> dict[str, str]:
    """What a JSON object gives to agents; empty if it is none by agent."""
    if not isinstance(value, dict):
        return {}
    inner = next((value[key] for key in _HOLDS if isinstance(value.get(key), dict)), value)
    return {
        names[str(key).lower()]: words if isinstance(words, str) else json.dumps(words)
        for key, words in inner.items()
        if str(key).lower() in names and words not in (None, "")
    }
