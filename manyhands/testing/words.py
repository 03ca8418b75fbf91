"""Checks of words and pictures."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete

from manyhands.core.choices import HEDGES, Choice, choices_of
from manyhands.core.env import (
    DETAILS,
    Env,
    IllegalAction,
    describe_with,
)
from manyhands.core.pack import Frame, restore, snapshot, stepper
from manyhands.testing.random_play import SEED, Play, fail, random_actions

# ---- words and pictures --------------------------------------------------------------------------

_NONSENSE = ("", " ", "\n", "\x00", "ACTION:", "ACTION: ", "99999999999999999999", "-1", "{}", "[]")


def check_choices(play: Play) -> None:
    """Every choice parses to its action, alone and behind some thoughts."""
    env, space = play.env, play.env.action_space
    for t, i in itertools.product(range(0, len(play.frames), 3), range(env.num_agents)):
        frame = play.frames[t]
        where = f"choices: agent {env.agents[i]}, step {t}"
        choices = choices_of(env, frame.state, i, None)
        legal: Any = np.flatnonzero(frame.legal[i])
        if len(set(choices)) != len(choices):
            fail(f"{where}: one choice twice; every legal action has words of its own")
        if isinstance(space, Box):  # choices are some of what is legal
            if bool(choices) != bool(frame.acting[i]):
                fail(f"{where}: {len(choices)} choices, although acting is {frame.acting[i]}")
            legal = range(len(choices))
        if len(choices) != len(legal):
            fail(
                f"{where}: {len(choices)} choices for {len(legal)} legal actions; give one for "
                "each, in action order"
            )
        for choice, number in zip(choices, legal, strict=True):
            for text in (choice, f"Let me think.\nACTION: {choice}"):
                try:
                    action = env.parse(text, frame.state, i)
                except IllegalAction as error:
                    fail(f"{where}: parse refuses {text!r}, which is offered: {error.reason}")
                if isinstance(space, Discrete):
                    right = action == number
                elif isinstance(space, Box):
                    right = space.contains(action)
                else:  # a choice of one part, beside a choice of each other part
                    firsts = np.cumsum([0, *space.nvec[:-1]])  # type: ignore[attr-defined]
                    right = number in action + firsts
                    right = right and space.contains(np.asarray(action, space.dtype))
                if not right:
                    fail(f"{where}: {text!r} parses to {action!r}, expected action {number}")


def check_effects(play: Play) -> None:
    """What choices call certain happens, whatever the others do and whatever chance brings; and
    effects that are not certain say what they depend on."""
    env, draws = play.env, np.random.default_rng(SEED)
    for t, i in itertools.product(range(0, len(play.frames), 4), range(env.num_agents)):
        frame = play.frames[t]
        for choice in choices_of(env, frame.state, i):
            where = f"choices: agent {env.agents[i]}, step {t}: {str(choice)!r}"
            words = set(re.findall(r"[a-z]+", choice.effect.lower()))
            plain = choice.action is None and not choice.facts  # a game that lists strings
            if not plain and not choice.certain and words.isdisjoint(HEDGES):
                fail(
                    f"{where} is not certain, and does not say what it depends on, by one of "
                    f"{', '.join(HEDGES)}"
                )
            if choice.certain and choice.effect and not choice.facts:
                fail(f"{where} is called certain, without `facts` that could be checked")
            for _ in range(2 if choice.certain and choice.facts else 0):
                rows = random_actions(env, frame)
                rows[i] = env.parse(choice.text, frame.state, i)
                key = draws.integers(0, 2**32, 2, np.uint32)
                after = stepper(env).step(key, t, frame.state, rows)
                broken = broken_facts(env, choice, after)
                if broken:
                    fail(f"{where}: {broken}, when the agents play {rows.tolist()}")


def broken_facts(env: Env[Any], choice: Choice, after: Frame) -> str:
    """The first of a choice's facts that does not hold after the step, in words; empty if all do.
    For tests of a game's own."""
    found: dict[str, Any] = env.to_dict(after.state)
    rewards = after.reward.tolist()
    found |= {"reward": dict(zip(env.agents, rewards, strict=True)), "over": after.over}
    for path, expected in choice.facts.items():
        value: Any = found
        for name in path.split("."):
            try:
                value = value[int(name) if isinstance(value, list) else name]
            except (LookupError, TypeError, ValueError):
                return f"after it there is no {path!r} in to_dict"
        close = isinstance(expected, float) and isinstance(value, float | int)
        if close and abs(value - expected) <= 1e-4 * max(1.0, abs(expected)):
            continue
        if value != expected:
            return f"after it {path} is {value!r}, not {expected!r}"
    return ""


def check_events(play: Play) -> None:
    """What happened is ready for JSON, no agent is told of what did not happen, and the numbers
    have names."""
    env = play.env
    names = len(env.event_names)
    for t in range(0, len(play.frames), 4):
        state = play.frames[t].state
        events = env.last_events(state)
        if json.loads(json.dumps(events, allow_nan=False)) != events:
            fail(f"last_events: step {t}: JSON changes it; use Python's own values and lists")
        if not all(isinstance(event.get("event"), str) for event in events):
            fail(f"last_events: step {t}: each has an 'event', its kind; given {events}")
        unknown = {event["event"] for event in events} - set(env.event_kinds)
        if unknown and env.event_kinds:
            fail(f"last_events: step {t}: {sorted(unknown)} are not in event_kinds")
        for i, name in enumerate(env.agents):
            for event in env.last_events(state, i):
                if not any(event.items() <= true.items() for true in events):
                    fail(f"last_events: agent {name}, step {t}: {event} is none of {events}")
        codes = np.asarray(env.event_codes(state))
        if codes.shape != (env.num_agents, names) or not np.isfinite(codes).all():
            fail(
                f"event_codes: step {t}: shape {codes.shape}, expected finite numbers of shape "
                f"({env.num_agents}, {names}), as many as event_names"
            )


def check_texts(play: Play) -> None:
    """Texts are deterministic, by name or index, and any text is an action or refused."""
    env = play.env
    for t in range(0, len(play.frames), 4):
        state = play.frames[t].state
        again = restore(env, snapshot(env, state))
        for i, name in enumerate(env.agents):
            where = f"agent {name}, step {t}"
            for detail in DETAILS:
                text = describe_with(env, state, i, detail)
                if text != describe_with(env, again, name, detail):
                    fail(f"describe: {where}, {detail}: not the same text for equal states")
            if env.choices(state, i) != env.choices(again, name):
                fail(f"choices: {where}: not the same for equal states")
    for i, name in enumerate(env.agents):
        if env.rules(i) != env.rules(name) or name not in env.rules(i):
            fail(f"rules: agent {name}: the rule book tells its reader who it is, by name")
    frame = play.frames[0]
    actor = int(np.flatnonzero(frame.acting)[0])
    for text in _NONSENSE:
        try:
            action = env.parse(text, frame.state, actor)
        except IllegalAction as error:
            if not error.reason:
                fail(f"parse: {text!r} is refused without a reason")
        except Exception as error:
            fail(f"parse: {text!r} raises {error!r}; raise IllegalAction with a reason")
        else:
            if not env.action_space.contains(np.asarray(action, env.action_space.dtype)):
                fail(f"parse: {text!r} gives {action!r}, which is not in action_space")


def check_json(play: Play) -> None:
    """True states are ready for JSON."""
    for t in range(0, len(play.frames), 5):
        found = play.env.to_dict(play.frames[t].state)
        try:
            again = json.loads(json.dumps(found, allow_nan=False))
        except (TypeError, ValueError) as error:
            fail(f"to_dict: step {t}: {error}; give Python's own numbers, strings, lists, dicts")
        if again != found:
            fail(f"to_dict: step {t}: JSON changes it; use strings as keys, and lists")


def check_pictures(play: Play) -> None:
    """Pictures can be made in any size, by each camera, and do not depend on what was there."""
    from manyhands.core.render import load_pygame

    env, frame = play.env, play.frames[len(play.frames) // 2]
    pygame = load_pygame()
    for size, agent in (((320, 240), None), ((200, 320), 0)):
        pictures = []
        for colour in ((0, 0, 0), (255, 0, 255)):
            canvas = pygame.Surface(size)
            canvas.fill(colour)
            env.draw(frame.state, canvas, agent)
            pictures.append(pygame.surfarray.array3d(canvas))
        if (pictures[0] != pictures[1]).any():
            fail(f"draw: agent {agent}: leaves parts of a {size} canvas as they were; fill it")
    for camera in env.cameras:
        env.draw(frame.state, pygame.Surface((320, 240)), None, camera)
