"""The players of the seats that are not played from outside, asked one step at a time."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from manyhands.core.env import (
    Action,
    ConfigError,
    DeviceView,
    Env,
    IllegalAction,
    agent_key,
    fixed_seat,
    is_device_policy,
    wrap_key,
)
from manyhands.core.episode import Game, Turn, ask_policy, routed
from manyhands.core.registry import seat as make_seat
from manyhands.core.view import Reply
from manyhands.wrappers.pettingzoo import on_host
from manyhands.wrappers.vector import Absent


def fill(game: Env, outside: Sequence[int], partners: Any) -> list[Any]:
    """A player for each seat, by name or as given; `Absent` in those played from outside.

    Args:
        outside: indices of the agents that are played from outside.
        partners: one for all other seats, or a list or mapping with one for each; None is the
            game's `default_policy`.

    Raises:
        ConfigError: there are too few or too many.
    """
    others = [agent for i, agent in enumerate(game.agents) if i not in outside]
    if partners is None:
        partners = game.default_policy
    if isinstance(partners, Mapping):
        if set(partners) != set(others):
            raise ConfigError(
                f"partners are needed for {', '.join(others)}; "
                f"given {', '.join(map(str, partners)) or 'none'}"
            )
        partners = [partners[agent] for agent in others]
    elif isinstance(partners, str) or not isinstance(partners, Sequence):
        partners = [partners] * len(others)
    if len(partners) != len(others):
        raise ConfigError(
            f"{len(others)} partners are needed ({', '.join(others)}), {len(partners)} given"
        )
    rest = iter(partners)
    return [Absent() if i in outside else next(rest) for i in range(game.num_agents)]


class Partners:
    """The players of the other seats, asked one step at a time."""

    def __init__(self, game: Env, given: Sequence[Any]):
        made: dict[str, Any] = {}
        self.game, self.policies = game, []
        for policy in given:
            if isinstance(policy, str):
                if policy not in made:
                    made[policy] = make_seat(policy, game)
                policy = made[policy]
            if not (is_device_policy(policy) or hasattr(policy, "act") or callable(policy)):
                raise ConfigError(
                    f"{policy!r} cannot play: a partner is a name, a policy with act(views), a "
                    "device policy with init and apply, or a function of one view"
                )
            self.policies.append(policy)
        # Memories of device policies, by agent: pairs with the policy, so that copies keep them.
        self._memory: dict[int, list[list[Any]]] = {}
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_thread": None, "_loop": None}

    def begin(self, episode: Game) -> None:
        self._memory = {}

    def act(self, episode: Game) -> Turn:
        """The actions of the partners that are to move, and what they say. In place of an illegal
        one stands the no-op, or the partner forfeits, by the rule of the episode."""
        turn = Turn()
        chat, actions = self.game.chat, turn.actions
        asked = [i for i in episode.asked() if not isinstance(self.policies[i], Absent)]
        policies = {i: routed(self.policies[i], episode.views[i]) for i in asked}
        answers: dict[int, Any] = {}
        for i, policy in policies.items():
            if is_device_policy(policy):
                actions[i] = self._device_action(policy, i, episode)
                continue
            if i not in answers:
                answers |= self._answers(policy, i, policies, episode)
            answer = answers[i]
            say = answer.say if isinstance(answer, Reply) else None
            action = answer.action if isinstance(answer, Reply) else answer
            if say is None and chat is not None and isinstance(action, str):
                say = chat.speech(action)
            try:
                actions[i] = episode.read(i, action, say)
            except IllegalAction as error:
                actions[i], turn.illegal[i] = self.game.noop, error.reason
                if episode.forfeits_by(i):
                    turn.forfeits += (i,)
            if say is not None:
                turn.said[i] = say
        return turn

    def _answers(
        self, policy: Any, index: int, policies: dict[int, Any], episode: Game
    ) -> dict[int, Any]:
        """The answer of a host policy for an agent; of one that plays a team, for all of them."""
        if not hasattr(policy, "act"):
            answer = policy(episode.views[index])
            return {index: self._wait(answer) if inspect.isawaitable(answer) else answer}
        asked = [index]
        if getattr(policy, "team", False):
            asked = [i for i, other in policies.items() if other is policy]
        answer = ask_policy(policy, [(episode, episode.views[i]) for i in asked])
        answer = self._wait(answer) if inspect.isawaitable(answer) else answer
        return dict(zip(asked, answer, strict=True))

    def _device_action(self, policy: Any, index: int, episode: Game) -> Action:
        frame = episode.frame
        view = DeviceView(
            frame.vector[index], frame.perception[index], frame.legal[index], np.True_
        )
        known = self._memory.setdefault(index, [])
        own = next((pair for pair in known if pair[0] is policy), None)
        if own is None:
            own = [policy, policy.init(self.game, index)]
            known.append(own)
        act = _compiled(policy, self.game, fixed_seat(policy, index))
        step = np.int32(episode.step)
        action, own[1] = act(np.int32(index), own[1], episode.seat_key_data, step, view)
        return np.asarray(action)

    def _wait(self, answer: Any) -> Any:
        """The result of an awaitable, from a loop of our own: the caller's may be running."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
            self._thread.start()

        async def whole() -> Any:
            return await answer

        return asyncio.run_coroutine_threadsafe(whole(), self._loop).result()

    def close(self) -> None:
        """Close the policies that hold connections (`aclose`), and the loop that asked them."""
        for policy in {id(policy): policy for policy in self.policies}.values():
            if hasattr(policy, "aclose"):
                self._wait(policy.aclose())
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._loop = self._thread = None


@functools.lru_cache(maxsize=64)
def _compiled(policy: Any, game: Env, fixed: int | None) -> Any:
    """`policy.apply`, in the seat `fixed` alone or in any."""

    def act(index: Any, memory: Any, key_data: Any, time: Any, view: DeviceView) -> Any:
        step_key = jax.random.fold_in(wrap_key(key_data), time)
        agent = index if fixed is None else fixed
        return policy.apply(game, agent, memory, agent_key(step_key, index), view)

    return on_host(act)
