"""What is said is understood or refused, and never guessed.

`tests/corpus/answers/*.jsonl` hold sentences as people and language models write them, each with
the choice that it must mean, or null where it must be refused. A line is a situation (an
environment, and what was played in it) or a sentence said in one. Further sentences are made of
templates, every choice and every way to deny it.
"""

from __future__ import annotations

import collections
import functools
import json
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from manyhands.core.env import Env, IllegalAction, episode_key
from manyhands.core.pack import no_actions, stepper
from manyhands.core.registry import from_spec

CORPUS = Path(__file__).parent / "corpus" / "answers"
FILES = sorted(CORPUS.glob("*.jsonl"))
UNDERSTOOD = 0.95  # the least share of sentences with a meaning that are read
MOST_CHARACTERS = 400  # of a refusal
CHOICES = 3  # of a situation, that templates are tried with

PLAIN = (
    "{}", "{}.", "  {}\n", "**{}**", "`{}`", '"{}"', "{}, please", "I'll {}", "Okay, {}!",
    "ACTION: {}", "Action: {}", "**ACTION:** {}", "action = {}", "My action: {}",
    "Let me think about it. The others may do anything.\n\nACTION: {}", "Why not? ACTION: {}",
    '{{"action": "{}"}}', '```json\n{{"thought": "it is good", "action": "{}"}}\n```',
    '{{"name": "act", "arguments": {{"action": "{}"}}}}', "<answer>{}</answer>",
    "I see.\n<answer> {} </answer>", "So it is \\boxed{{{}}}.", "<think>hm</think>{}",
    "```\n{}\n```", "[{}]", "I am sure of it. [{}]", "ACTION: {}\nACTION: {}",
)  # fmt: skip
# An action that is chosen for some reason; what is said aloud is not.
CHOSEN = (
    "After weighing the options, I choose {}.", "The best move is to {}", "{} seems best.",
    "Selected: {}", "{} is what I do.", "Without hesitation: {}", "That leaves one thing: {}",
    "Based on all that, the best action is:\n{}", "{}\n\nThis is the best I can do.",
)  # fmt: skip
REFUSED = (
    "I won't {}", "don't {}", "do not {}", "never {}", "I would never {}", "not {}",
    "{} or not?", "should I {}?", "{}?", "shall we {}?", "you said {}", "you {}",
    "if you agree, {}", "{} if you do the same", "{} unless it is bad", "when I can, {}",
    "maybe {}", "perhaps I {}", "I might {}", "anything but {}", "{} is too risky",
    "it is better than to {}", "they want me to {}", "I refuse to {}", "ACTION: do not {}",
    '{{"action": "not {}"}}', "<answer>{}?</answer>", "instead of that, they {}",
    "{} was a bad idea",
    "I could {}, or wait and see", "either {} or nothing", "ich will {}", "я хочу {}",
    "oh sure, as if I would {}", "e.g. {}", "next turn I {}", "I was about to {} but no",
    "it is tempting to {}", "It's too early to {}", "the opponent: {}", "my rival's plan: {}",
    "example: {}", "I'd {} if I could", "I hesitate to {}", '{{"avoid": "{}"}}', "opposite of {}",
)  # fmt: skip
# Who says that of an offer's acceptance rejects the offer.
REJECTS = (
    "I won't {}", "don't {}", "do not {}", "not {}", "I refuse to {}", "ACTION: do not {}",
    '{{"action": "not {}"}}', "I was about to {} but no",
)  # fmt: skip


@functools.cache
def corpus(path: Path) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    situations = {line["situation"]: line for line in lines if "situation" in line}
    return situations, [line for line in lines if "text" in line]


@functools.cache
def environment(spec: str) -> Env[Any]:
    parts = json.loads(spec)
    inner = parts["config"].pop("env", None)  # of a wrapper
    return from_spec({**parts, **({"env": inner} if inner else {})})


@functools.cache
def situation(path: Path, name: str) -> tuple[Env[Any], Any, int]:
    """(environment, state, agent) of a situation."""
    line = corpus(path)[0][name]
    env = environment(json.dumps({"id": line["id"], "config": line.get("config", {})}))
    key, played = episode_key(line.get("seed", 0)), line.get("play", ())
    if not played:  # the rest need not be compiled
        state = jax.device_get(jax.jit(env.reset)(key))
        return env, state, env.index(line.get("agent", int(np.flatnonzero(env.acting(state))[0])))
    data, frame = np.asarray(jax.random.key_data(key)), stepper(env).reset(key)
    for t, said in enumerate(played):
        rows = no_actions(env)
        movers = np.flatnonzero(frame.acting)
        for agent, text in zip(movers, [said] if isinstance(said, str) else said, strict=True):
            rows[agent] = env.parse(text, frame.state, int(agent))
        frame = stepper(env).step(data, t, frame.state, rows)
        assert not frame.over, f"{name}: the episode is over before the situation"
    return env, frame.state, env.index(line.get("agent", int(np.flatnonzero(frame.acting)[0])))


def read(env: Env[Any], state: Any, agent: int, text: str) -> Any:
    """The action that a text means, as plain numbers, or None if it is refused, briefly."""
    try:
        return np.asarray(env.parse(text, state, agent)).tolist()
    except IllegalAction as refused:
        assert refused.reason, text
        assert len(refused.reason) <= MOST_CHARACTERS, (text, len(refused.reason), refused.reason)
        return None


@functools.cache
def meaning(path: Path, name: str, means: str | None) -> Any:
    """The action that a sentence of the corpus must mean, None if it must be refused."""
    if means is None:
        return None
    right = read(*situation(path, name), means)
    assert right is not None, f"{means!r} is no choice in {name!r}"
    return right


def confusion(path: Path) -> tuple[dict[str, collections.Counter[str]], list[str], list[str]]:
    """(counts by kind, wrong moves, sentences that are refused although they mean something)."""
    table: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    wrong, missed = [], []
    for line in corpus(path)[1]:
        env, state, agent = situation(path, line["in"])
        found = read(env, state, agent, line["text"])
        means = line["means"]
        right = meaning(path, line["in"], means)
        if found == right:
            outcome = "right"
        elif found is None:
            outcome = "refused"
            missed.append(f"{line['in']}: {line['text']!r}")
        else:
            outcome = "wrong"
            wrong.append(f"{line['in']}: {line['text']!r} -> {found}, expected {means!r}")
        table[line["kind"]][outcome] += 1
    return table, wrong, missed


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_said_is_understood_or_refused(path):
    _, wrong, missed = confusion(path)
    meaningful = sum(line["means"] is not None for line in corpus(path)[1])
    assert not wrong, "\n".join(wrong)
    assert len(missed) <= (1 - UNDERSTOOD) * meaningful, "\n".join(missed)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_choices_are_understood_in_every_frame_and_in_no_denial(path):
    """In every situation every frame and every denial, of some choice."""
    wrong = framed(path)
    assert not wrong, f"{len(wrong)} wrong:\n" + "\n".join(wrong[:60])


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_choice_is_understood_in_every_frame(path):
    wrong = framed(path, every=True)
    assert not wrong, f"{len(wrong)} wrong:\n" + "\n".join(wrong[:60])


def framed(path: Path, every: bool = False) -> list[str]:
    """What templates make of choices, and is read otherwise than it should be: all templates of
    every choice, or of each situation, which then has its choices take turns."""
    wrong = []
    for number, name in enumerate(corpus(path)[0]):
        env, state, agent = situation(path, name)
        choices = env.choices(state, agent)
        for choice in choices:
            for line in dict.fromkeys((str(choice), choice.text)):
                found = read(env, state, agent, line)
                if found is None or found != np.asarray(choice.action).tolist():
                    wrong.append(f"{name}: {line!r} is read as {found}, it is {choice.action}")
        chosen = choices[:: max(len(choices) // CHOICES, 1)]
        for k, choice in enumerate(chosen):
            right = read(env, state, agent, choice)
            said_aloud = choice.startswith("say:")
            plain, refused = PLAIN if said_aloud else PLAIN + CHOSEN, REFUSED
            if not every:
                turn = (number + k) % len(chosen)
                plain, refused = plain[turn :: len(chosen)], refused[turn :: len(chosen)]
            for template in plain:
                said = choice.replace('"', '\\"') if template.startswith(("{{", "```j")) else choice
                text = template.format(said, said)
                if read(env, state, agent, text) != right:
                    wrong.append(f"{name}: {text!r}, expected {choice!r}")
            for template in refused:
                if said_aloud and template.startswith(("{}", "<answer>")):
                    continue  # whatever follows is said aloud
                text = template.format(choice)
                found = read(env, state, agent, text)
                rejects = choice.startswith("accept:") and template in REJECTS
                other = read(env, state, agent, "reject") if rejects else None
                if found not in (None, other):
                    wrong.append(f"{name}: {text!r}, expected a refusal")
    return wrong


def test_a_slip_of_the_pen_is_mended_and_changes_no_action():
    """Letters that are left out or swapped may be understood, but never as something else, and
    what is refused stays so with such a slip."""
    for path in FILES:
        env, state, agent = situation(path, next(iter(corpus(path)[0])))
        for choice in env.choices(state, agent)[:CHOICES]:
            if choice.text.startswith("say:"):
                continue
            right = read(env, state, agent, choice.text)
            for word in {word for word in choice.text.split() if len(word) > 4 and word.isalpha()}:
                for k in range(1, len(word) - 1):
                    for slip in (
                        word[:k] + word[k + 1 :],
                        word[:k] + word[k:][1::-1] + word[k + 2 :],
                    ):
                        said = choice.text.replace(word, slip)
                        assert read(env, state, agent, said) in (None, right), (path.stem, said)
                    trap = REFUSED[k * len(word) % len(REFUSED)].format(said)
                    found = read(env, state, agent, trap)
                    assert found is None or choice.text.startswith("accept"), (path.stem, trap)
    env, state, agent = situation(CORPUS / "kitchen.jsonl", "start")
    assert read(env, state, agent, "nroth") == read(env, state, agent, "north")
    with pytest.raises(IllegalAction, match='perhaps "north" was meant'):
        env.parse("don't go nroth", state, agent)
    with pytest.raises(IllegalAction, match=r"names no action[.]"):
        env.parse("fork", state, agent)


def test_every_world_has_a_corpus():
    assert len(FILES) >= 6 and all(len(corpus(path)[1]) >= 120 for path in FILES)


if __name__ == "__main__":  # the table of all worlds
    for path in FILES:
        table, wrong, missed = confusion(path)
        total = sum(table.values(), collections.Counter())
        print(f"{path.stem}: {sum(total.values())} sentences, {dict(total)}")
        for kind in sorted(table):
            print(f"  {kind:14} {dict(table[kind])}")
        print(*[f"  wrong: {line}" for line in wrong], sep="\n")
        print(*[f"  refused: {line}" for line in missed], sep="\n")
