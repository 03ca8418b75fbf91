"""What the code says of each world: agents, actions, observation, options, rewards.

python docs/tools/reference.py kitchen     # prints the section that the site adds to its page
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from typing import Any

import jax

import manyhands
from manyhands.core import registry

SHOWN = 24  # actions of a list at most


@functools.cache
def pages() -> dict[str, tuple[str, ...]]:
    """Page -> the worlds on it: that of `manyhands.envs.poker` is poker.md."""
    found: dict[str, tuple[str, ...]] = {}
    for id in manyhands.registered():
        parts = registry.load(id).__module__.split(".")
        if parts[:2] == ["manyhands", "envs"]:
            found[f"{parts[2]}.md"] = (*found.get(f"{parts[2]}.md", ()), id)
    return found


def described(kind: type) -> dict[str, str]:
    """Option -> what the docstrings of a class and of those above it say of it."""
    found: dict[str, str] = {}
    for parent in reversed(kind.__mro__[:3]):
        text = inspect.cleandoc(parent.__dict__.get("__doc__") or "")
        block = re.search(r"^Args:\n((?:(?: +.*)?\n?)*)", text, re.M)
        for entry in re.split(r"\n(?= {4}\S)", block[1] if block else ""):
            names, _, words = " ".join(entry.split()).partition(": ")
            found |= dict.fromkeys(names.replace("*", "").split(", "), words)
    return found


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def options(id: str) -> list[str]:
    """A table of the options, by the signature of the class and its docstring."""
    kind = registry.load(id)
    words = described(kind)
    lines = ["| Option | Default | Meaning |", "|---|---|---|"]
    for name, parameter in inspect.signature(kind).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            lines.append(f"| `**{name}` | | {cell(words.get(name, ''))} |")
            continue
        meaning = cell(words.get(name, "")).replace("[", "\\[")
        lines.append(f"| `{name}` | `{parameter.default!r}` | {meaning} |")
    return lines


def actions(env: manyhands.Env) -> list[str]:
    """The legal actions of the first agent that moves at the start of an episode."""
    state = env.reset(jax.random.key(0))
    agent = next(i for i, moves in enumerate(env.acting(state)) if moves)
    choices = env.choices(state, agent)
    lines = [
        f"At the start of the episode with seed 0 `{env.agents[agent]}` can choose"
        + (f" (the first {SHOWN} of {len(choices)}):" if len(choices) > SHOWN else ":"),
        "",
        "| Action | In words | Effect |",
        "|---|---|---|",
    ]
    for choice in choices[:SHOWN]:
        action = getattr(choice, "action", None)
        number = "" if action is None or getattr(action, "ndim", 0) else f"`{int(action)}`"
        text, effect = getattr(choice, "text", str(choice)), getattr(choice, "effect", "")
        lines.append(f"| {number} | {cell(text)} | {cell(effect)} |")
    return lines


def section(ids: tuple[str, ...]) -> str:
    """ "From the code", in Markdown."""
    lines = [
        "## From the code",
        "",
        "Made from the classes, as they are without options; `manyhands list ID` prints the",
        "docstring.",
    ]
    for id in ids:
        env: Any = manyhands.make(id)
        kind = type(env)
        weights = ", ".join(f"`{name}` {env.reward_weights[name]:g}" for name in env.terms)
        space = env.observation_space
        lines += [
            "",
            f"### The class of {id}" if len(ids) > 1 else "### The class",
            "",
            f'`manyhands.make("{id}")` is a '
            f"`{kind.__module__.removesuffix('.env')}."
            f"{kind.__name__}`.",
            "",
            "| | |",
            "|---|---|",
            f"| Agents | {', '.join(f'`{agent}`' for agent in env.agents)} |",
            f"| Actions | `{cell(str(env.action_space))}` |",
            f"| Observation | `{space.dtype}{list(space.shape or ())}` |",
            f"| Rewards, with their weights | {weights} |",
            f"| Steps at most | {env.max_steps:,} |",
            f"| Version of the rules | `{env.id}-v{env.version}` |",
            "",
            *actions(env),
        ]
        if env.observation_layout is not None:
            lines += ["", "The observation of one agent:", "", env.observation_layout.table()]
        lines += ["", "Options:", "", *options(id)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(section(tuple(sys.argv[1:])))
