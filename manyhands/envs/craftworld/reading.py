"""Reading an answer: the one action that it names."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from manyhands.core import answers
from manyhands.core.env import IllegalAction, names_of
from manyhands.envs.craftworld.effects import effect, why_not
from manyhands.envs.craftworld.rules import DO, FACINGS, MOVE, NOOP, CraftRules
from manyhands.envs.craftworld.setting import Setting
from manyhands.envs.craftworld.state import CraftState
from manyhands.envs.craftworld.words import Observation, observe, spaced

_WAYS = {
    **dict(zip(FACINGS, range(4), strict=True)),
    "west": 0, "east": 1, "north": 2, "south": 3,
    "leftward": 0, "rightward": 1, "upward": 2, "downward": 3,
}  # fmt: skip
_SHORT = {"w": 0, "e": 1, "n": 2, "s": 3, "l": 0, "r": 1, "u": 2, "d": 3}
_WAY = "|".join(_WAYS)
_THE = r"(?: (?:a|an|the|my|one|1|some))*"
_WEAK = re.compile(
    r"(?<!to )\b(?:do(?! not)|interact|use|act|collect|gather|take|mine|chop|cut|dig|pick|attack"
    r"|hit|fight|kill|eat|drink|harvest|revive|help)(?:ing)?\b"
)
_DEEDS = (
    "do",
    "interact",
    "use",
    "act",
    "collect",
    "gather",
    "attack",
    "hit",
    "eat",
    "drink",
    "mine",
)


@functools.lru_cache(maxsize=16)
def _strong(craft: CraftRules) -> re.Pattern[str]:
    """What names an action in a sentence by itself. `_WEAK` counts only where nothing of this does:
    "I go left to collect wood" is a move."""
    gifts = "|".join(sorted((spaced(gift) for gift in craft.gifts), key=len, reverse=True))
    # "wooden pickaxe", "golden sword".
    tools = "|".join(re.sub(r"^(\w+)", r"\1(?:en)?", spaced(x)) for x in craft.contents.makes)
    return re.compile(
        rf"\b(?:mov(?:e|ing)|go(?:ing)?|walk(?:ing)?|step(?:ping)?|turn(?:ing)?|head(?:ing)?"
        r"|run(?:ning)?|fac(?:e|ing))(?: (?:one|1) step)?(?: to(?:wards?)?)?(?: the| my)? "
        rf"(?P<way>{_WAY})(?:s|wards?)?\b"
        rf"|\b(?:plac(?:e|ing)|put(?:ting)?(?: down)?|build(?:ing)?|plant(?:ing)?){_THE} "
        r"(?P<place>stone|table|furnace|plant|sapling)\b"
        rf"|\b(?:mak(?:e|ing)|craft(?:ing)?){_THE} (?P<make>{tools})\b"
        rf"|\b(?:giv(?:e|ing)|hand(?:ing)?(?: over)?){_THE} (?P<give>{gifts})\b"
        rf"|\b(?:request(?:ing)?|ask(?:ing)? for){_THE} (?P<ask>{gifts})\b"
        r"|\b(?P<sleep>(?:go(?:ing)? to )?sleep|fall asleep)\b"
        r"|\b(?P<noop>no-?op|do nothing|stand still|wait(?:ing)?|stay(?:ing)?|idle|pass)\b"
        r"|\b(?:action|option|choice) #?(?P<number>[0-9]{1,4})\b"
    )


def parse(env: Setting, text: Any, state: CraftState, agent: int) -> int:
    """The action that an answer names; `IllegalAction` if it names none, more than one, or one that
    is not possible now."""
    obs, legal = observe(env, state, agent)

    def refuse(reason: str) -> IllegalAction:
        actions = np.flatnonzero(legal[: env.craft.request]).tolist()
        return IllegalAction(
            f"{reason}. Answer with exactly one action, by name or number; possible now: "
            f"{', '.join(env.actions[action] for action in actions)}."
        )

    answer = answers.read(text, refuse)
    try:
        action = _read(env, obs, legal, " ".join(answer.plain.replace("_", " ").split()))
        if not legal[action]:
            reason = why_not(env, obs, action)
            raise _Unread(f"{env.actions[action]} is not possible now: {reason}")
    except _Unread as error:
        raise refuse(f"{answers.quoted(answer.text)}: {error}") from None
    return action


class _Unread(Exception):
    """Why an answer is no action."""


def _read(env: Setting, obs: Observation, legal: np.ndarray, plain: str) -> int:
    """The action of an answer in lower case, with single spaces and no underscores."""
    offered = {
        f"{env.actions[a]}: {effect(env, obs, a)}".lower().replace("_", " "): a
        for a in np.flatnonzero(legal).tolist()
    }
    if plain in offered:
        return offered[plain]
    number, numbered = answers.number(plain), answers.numbered(plain)
    if number is not None:
        return _numbered(env, number)
    if numbered is not None:  # "5. do: take wood": both must agree
        action = _worded(env, obs, offered, numbered[1])
        if numbered[0] != action:
            raise _Unread(f"the number {numbered[0]} and the words of {env.actions[action]} differ")
        return action
    return _worded(env, obs, offered, plain)


def _worded(env: Setting, obs: Observation, offered: Mapping[str, int], plain: str) -> int:
    """The action that words name, of which some are offered."""
    if plain in offered:
        return offered[plain]
    named = _named(env, plain)
    if named is not None:
        return named
    bodies = [text.partition(": ")[2] for text in offered]
    if bodies.count(plain) == 1:
        return list(offered.values())[bodies.index(plain)]
    return _sentence(env, obs, plain)


def _named(env: Setting, plain: str) -> int | None:
    """The action that is called so."""
    names = {spaced(name): i for i, name in enumerate(env.actions)}
    names |= {word: MOVE + way for word, way in (_WAYS | _SHORT).items()}
    names |= dict.fromkeys(_DEEDS, DO) | dict.fromkeys(("wait", "stay", "nothing", "no-op"), NOOP)
    # "move_left: whatever follows" is what choices look like; they change from step to step.
    return names.get(plain, names.get(plain.partition(":")[0]))


def _numbered(env: Setting, number: int) -> int:
    if number >= len(env.actions):
        raise _Unread(f"there is no action {number}, they go to {len(env.actions) - 1}")
    return number


def _sentence(env: Setting, obs: Observation, plain: str) -> int:
    """The one action that a sentence names and does not deny."""
    named = {_meant(env, obs, found) for found in answers.meant(_strong(env.craft), plain)}
    if not named and answers.meant(_WEAK, plain):
        named = {DO}
    if len(named) == 1:
        return named.pop()
    if named:
        several = names_of([env.actions[action] for action in sorted(named)])
        raise _Unread(f"it names more than one action ({several})")
    raise _Unread("it names no action")


def _meant(env: Setting, obs: Observation, found: re.Match[str]) -> int:
    """The action of a match of `_strong`."""
    words: Mapping[str, str | None] = found.groupdict()
    name = ""
    if words["way"]:
        return MOVE + _WAYS[words["way"]]
    if words["number"]:
        return _numbered(env, int(words["number"]))
    if words["place"]:
        name = f"place_{words['place'].replace('sapling', 'plant')}"
    elif words["make"]:
        name = "make_" + words["make"].replace(" ", "_")
        if name not in env.actions:
            name = name.replace("en_", "_", 1)
    elif words["give"]:
        name = "give_" + words["give"].replace(" ", "_")
        to = re.match(r" to (player \d+)", found.string[found.end() :])
        body = obs.at(obs.front)
        front = "" if body is None or body.kind else spaced(env.agents[body.player])
        if to and to[1] != front:
            raise _Unread(
                f"you do not face {to[1].replace(' ', '_')}: stand beside it and turn to it"
            )
    elif words["ask"]:
        name = "request_" + words["ask"].replace(" ", "_")
    else:
        name = "sleep" if words["sleep"] else "noop"
    if name not in env.actions:
        raise _Unread("there is no other player here")
    return env.actions.index(name)
