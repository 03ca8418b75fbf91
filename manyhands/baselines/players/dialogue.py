"""The messages of a language seat: the system message, that of a step, and the form of answers.

The words for situations, choices and messages of others are those of `prompts.py`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from manyhands.baselines.players import prompts
from manyhands.baselines.players.patient import Patience
from manyhands.core.choices import Choice
from manyhands.core.coach import shown
from manyhands.core.config import boolean, one_of, whole
from manyhands.core.env import Env
from manyhands.core.reading.parts import split_say
from manyhands.core.view import View

ANSWERS = ("text", "tool", "json", "schema")
_MOST = 256  # choices that a schema lists; of more, it says only that they are text

_ANSWER = """\
How to answer: think as briefly as you can, then end with one line that begins with "ACTION:" and
names your action, and nothing else. Only that line counts."""
_SAY = """
To say something to the others, add one more line below it that begins with "SAY:"
(at most {limit} characters)."""
_ANSWER_TOOL = """\
How to answer: think as briefly as you can, then call the function `act` once, and name your action
in its argument `action`. Only that call counts."""
_SAY_TOOL = """
To say something to the others, give the argument `say`, too (at most {limit} characters)."""
_ANSWER_JSON = """\
How to answer: give one JSON object and nothing else, {"action": "..."}, that names your action."""
_SAY_JSON = """
To say something to the others, give the key "say", too (at most {limit} characters)."""
_NOTES = """

YOUR NOTES from earlier episodes, written by yourself. They may be wrong, and they are no rules of
the game:
{notes}
END OF YOUR NOTES"""
_TOLD = {
    "text": (_ANSWER, _SAY),
    "tool": (_ANSWER_TOOL, _SAY_TOOL),
    "json": (_ANSWER_JSON, _SAY_JSON),
    "schema": (_ANSWER_JSON, _SAY_JSON),
}
# Why a reply is not accepted: how it should have ended, and what it lacked.
_HINTS = {
    "text": ("with an ACTION line", "no line that begins with `ACTION:` and names your action"),
    "tool": ("with a call of `act`", "no call of the function `act` that names your action"),
    "json": ("with a JSON object", 'no JSON object with an "action" that names your action'),
}
_HINTS["schema"] = _HINTS["json"]


class Line:
    """One message of a conversation: its role and its text."""

    __slots__ = ("_data", "_fields", "content", "role")

    def __init__(self, role: str, content: str, **fields: Any):
        self.role, self.content, self._fields = role, content, fields
        self._data = b""

    @property
    def data(self) -> bytes:
        """The message as JSON, encoded once."""
        if not self._data:
            # Text alone is encoded without making an encoder.
            said = f'{{"role": {json.dumps(self.role)}, "content": {json.dumps(self.content)}'
            more = f", {json.dumps(self._fields)[1:]}" if self._fields else "}"
            self._data = (said + more).encode()
        return self._data


class Dialogue:
    """What a model in a seat of `env` reads. The options are those of `Language`."""

    def __init__(
        self,
        env: Env,
        answers: str,
        show_choices: bool,
        detail: str | None,
        shots: int,
        patience: Patience,
    ):
        self.env, self.detail, self.patience = env, detail, patience
        self.answers = one_of("answers", answers, ANSWERS)
        self.show_choices = boolean("show_choices", show_choices)
        self.shots = whole("shots", shots, 0)
        self._chat = env.chat
        self._openings: dict[str, tuple[Line, ...]] = {}

    def opening(self, view: View, notes: str = "") -> tuple[Line, ...]:
        """The first messages of a prompt: the system message (the model's role, the rules, the form
        of answers, and its notes), and example turns. All but the notes is the same in all
        episodes."""
        lines = self._openings.get(view.agent)
        if lines is None:
            how, say = _TOLD[self.answers]
            if self._chat is not None:
                how += say.format(limit=self._chat.max_length)
            text = prompts.system(self.env, view, how) + self.patience.rules()
            lines = self._openings[view.agent] = (Line("system", text), *self._examples(view.index))
        if notes:
            noted = Line("system", lines[0].content + _NOTES.format(notes=notes))
            return (noted, *lines[1:])
        return lines

    def _examples(self, agent: int) -> list[Line]:
        """Example turns, in the form of answers."""
        if not self.shots:
            return []
        lines: list[Line] = []
        told = prompts.examples(self.env, agent, self.shots, self.detail, self.show_choices)
        for number, message in enumerate(told):
            if message["role"] == "assistant":
                action = message["content"].removeprefix("ACTION: ")
                lines += self.answer(action, None, 90_000 + number)
            else:
                lines.append(Line("user", message["content"]))
        return lines

    def step(self, view: View, error: str | None = None, scored: bool = False) -> tuple[str, str]:
        """The user message of a step: the part that is kept as history, and the whole.

        Args:
            error: why the agent's last turn was lost.
            scored: without an example of an answer, for prompts that each choice follows in turn.
        """
        seen = prompts.situation(view, self.detail)
        parts = [f"Your last turn was lost. {error}"] if error else []
        parts.append(seen)
        if view.advice:
            parts.append(shown(view.advice))
        if self.show_choices:
            parts.append(prompts.options(view))
        if not scored:
            choices = view.choices
            # A real action: small models copy a placeholder to the letter.
            parts.append(self._ending(choices[view.turn % len(choices)] if choices else None))
        return seen, "\n\n".join(parts)

    def _ending(self, example: Choice | None) -> str:
        """The end of a step's message."""
        if self.answers == "text":
            such = "." if example is None else f", such as\nACTION: {example}"
            return f"End your reply with an ACTION line{such}"
        such = "." if example is None else f", such as\n{_object(example.text, None)}"
        if self.answers == "tool":
            return f"Call the function act with your action{such}"
        return f"Reply with a JSON object{such}"

    def fields(self, view: View) -> dict[str, Any]:
        """What the form of answers adds to a request. A function is the same in every step:
        templates put it at the start of prompts, which caches of endpoints then know."""
        if self.answers == "text":
            return {}
        if self.answers == "json":
            return {"response_format": {"type": "json_object"}}
        act: dict[str, Any] = {"type": "string", "description": "the action, in words"}
        listed = self._listed(view) if self.answers == "schema" else []
        if listed:
            act = {"type": "string", "enum": listed}
        properties = {"action": act}
        schema = {
            "type": "object",
            "properties": properties,
            "required": ["action"],
            "additionalProperties": False,
        }
        if self._chat is not None:
            said: Any = ["string", "null"] if self.answers == "schema" else "string"
            properties["say"] = {"type": said, "description": "what the others hear"}
            if self.answers == "schema":
                schema["required"] = ["action", "say"]
        if self.answers == "schema":
            about = {"name": "act", "strict": True, "schema": schema}
            return {"response_format": {"type": "json_schema", "json_schema": about}}
        about = {"name": "act", "description": "Make your move.", "parameters": schema}
        return {"tools": [{"type": "function", "function": about}], "tool_choice": "required"}

    def _listed(self, view: View) -> list[str]:
        """The choices for a schema; empty if other answers are possible, too."""
        if self.patience.steps:
            return []
        listed = [choice.text for choice in view.all_choices]
        if self._chat is not None:  # words to say have a place of their own
            listed = [text for text in listed if split_say(text)[1] is None]
        return listed if len(set(listed)) <= _MOST else []

    def answer(self, action: str, say: str | None, number: int) -> list[Line]:
        """The messages that history has for an answer, the `number`-th of an episode."""
        if self.answers == "text":
            return [Line("assistant", f"ACTION: {action}" + (f"\nSAY: {say}" if say else ""))]
        words = _object(action, say)
        if self.answers != "tool":
            return [Line("assistant", words)]
        name = f"call{number:05d}"  # some endpoints take only names of nine letters and digits
        call = {"id": name, "type": "function", "function": {"name": "act", "arguments": words}}
        return [
            Line("assistant", "", tool_calls=[call]),
            Line("tool", "It was played.", tool_call_id=name),
        ]

    def hint(self, status: str) -> str:
        """What the model is told of a reply that is "truncated", "empty" or "unparsable"."""
        ending, lack = _HINTS[self.answers]
        if status == "truncated":
            return f"Your reply was cut off, it was too long. Answer {ending} at once."
        if status == "empty":
            return f"Your reply was empty. Answer {ending}."
        return f"Your reply had {lack}."


def _object(action: str, say: str | None) -> str:
    said = {"say": say} if say else {}
    return json.dumps({"action": action, **said}, ensure_ascii=False)


def transcript(lines: Sequence[Line]) -> str:
    """A conversation as plain text up to the place where an action stands, for models that complete
    texts."""
    return "\n\n".join(line.content for line in lines) + "\n\nACTION:"
