"""Who plays: the policies of seats, and the queues in which many episodes ask them."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from manyhands.core.env import (
    DeviceView,
    Env,
    SeatError,
    agent_key,
    fixed_seat,
    is_device_policy,
    shorten,
    wrap_key,
)
from manyhands.core.episode import Game, ask_policy, routed
from manyhands.core.processes import check_process
from manyhands.core.redact import redact
from manyhands.core.registry import seat
from manyhands.core.view import View

# Device policies are always called with this many episodes, padded if there are fewer: one
# compilation, and the same rounding for any number of concurrent episodes.
BLOCK = 16


class _Function:
    """A function of one view, as a policy."""

    def __init__(self, function: Callable[[View], Any]):
        self.name = getattr(function, "__name__", type(function).__name__)
        self._function = function

    def act(self, views: Sequence[View]) -> list[Any]:
        return [self._function(view) for view in views]


class _AsyncFunction(_Function):
    async def act(self, views: Sequence[View]) -> list[Any]:  # type: ignore[override]
        return [await self._function(view) for view in views]


def seat_policies(env: Env, seats: Any) -> tuple[list[Any], tuple[str, ...]]:
    """The policies of the seats and their names, from the argument of `play`."""
    if isinstance(seats, Mapping):
        if set(seats) != set(env.agents):
            raise SeatError(
                f"seats are needed for {', '.join(env.agents)}; "
                f"given {', '.join(map(str, seats)) or 'none'}"
            )
        seats = [seats[agent] for agent in env.agents]
    elif isinstance(seats, str) or not isinstance(seats, Sequence):
        seats = [seats] * env.num_agents
    if len(seats) != env.num_agents:
        raise SeatError(
            f"{env.num_agents} seats are needed ({', '.join(env.agents)}), {len(seats)} given"
        )
    pairs: list[tuple[Any, str]] = []
    for given in seats:
        named = isinstance(given, str)
        # One that answers for a team is one player, however often it is named.
        same = [p for p, other in zip(pairs, seats, strict=False) if named and other == given]
        team = next((p for p in same if getattr(p[0], "team", False)), None)
        pairs.append(team or seat_policy(env, given))
    return [policy for policy, _ in pairs], tuple(name for _, name in pairs)


def seat_policy(env: Env, given: Any) -> tuple[Any, str]:
    """The policy of one seat of `play`, and its name, without secrets."""
    policy = seat(given, env) if isinstance(given, str) else given
    plain = not (is_device_policy(policy) or hasattr(policy, "act"))
    if plain and (isinstance(policy, type) or not callable(policy)):
        raise SeatError(
            f"{shorten(given)} cannot play: a seat is a name, a policy with act(views), a "
            "device policy with init and apply, or a function of one view"
        )
    if plain:
        asynchronous = inspect.iscoroutinefunction(policy)
        policy = _AsyncFunction(policy) if asynchronous else _Function(policy)
    name = given if isinstance(given, str) else getattr(policy, "name", None)
    name = name if isinstance(name, str) else type(policy).__name__
    return policy, redact(name)


class _Queue:
    """Batches the queries of one policy: those of one iteration of the event loop are answered in
    one call."""

    def __init__(self, loop: asyncio.AbstractEventLoop):
        self._loop = loop
        self._waiting: list[tuple[Game, View, asyncio.Future[Any]]] = []

    def ask(self, game: Game, view: View) -> asyncio.Future[Any]:
        if not self._waiting:
            self._loop.call_soon(self._flush)
        future = self._loop.create_future()
        self._waiting.append((game, view, future))
        return future

    def forget(self, episode: int) -> None:
        """An episode is over."""

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        try:
            self._answer(waiting)
        except Exception as error:
            failure: Exception = error
            if isinstance(error, StopIteration):  # no future takes one
                failure = RuntimeError("StopIteration was raised")
                failure.__cause__ = error
            for _, _, future in waiting:
                if not future.done():
                    future.set_exception(failure)

    def _answer(self, waiting: list[tuple[Game, View, asyncio.Future[Any]]]) -> None:
        raise NotImplementedError


class _HostQueue(_Queue):
    """A policy with a plain `act`."""

    def __init__(self, loop: asyncio.AbstractEventLoop, policy: Any):
        super().__init__(loop)
        self._policy = policy

    def _answer(self, waiting: list[tuple[Game, View, asyncio.Future[Any]]]) -> None:
        answers = ask_policy(self._policy, [(game, view) for game, view, _ in waiting])
        if inspect.isawaitable(answers):
            raise TypeError("act() gave an awaitable; declare it with `async def`")
        _settle(_counted(answers, len(waiting)), waiting)


class _DeviceQueue(_Queue):
    """A device policy in one agent's seat."""

    def __init__(self, loop: asyncio.AbstractEventLoop, env: Env, policy: Any, index: int):
        super().__init__(loop)
        check_process()
        self._start = jax.tree_util.tree_map(np.asarray, policy.init(env, index))
        self._memory: dict[int, Any] = {}
        try:
            apply = _compiled(policy, env, fixed_seat(policy, index))
        except TypeError:  # a policy that cannot be hashed
            apply = _compiled.__wrapped__(policy, env, fixed_seat(policy, index))
        self._apply = functools.partial(apply, np.int32(index))

    def forget(self, episode: int) -> None:
        self._memory.pop(episode, None)

    def _answer(self, waiting: list[tuple[Game, View, asyncio.Future[Any]]]) -> None:
        for start in range(0, len(waiting), BLOCK):
            block = waiting[start : start + BLOCK]
            rows = [
                (
                    self._memory.get(game.episode, self._start),
                    DeviceView(view.vector, view.perception, view.legal, np.True_),
                )
                for game, view, _ in block
            ]
            games = [game for game, _, _ in block]
            rows += [rows[0]] * (BLOCK - len(rows))
            games += [games[0]] * (BLOCK - len(games))
            memory, views = jax.tree_util.tree_map(lambda *leaf: np.stack(leaf, axis=-1), *rows)
            keys = np.stack([game.seat_key_data for game in games])
            times = np.array([game.step for game in games], np.int32)
            actions, memory = jax.device_get(self._apply(memory, keys, times, views))
            for k, (game, _, _) in enumerate(block):
                self._memory[game.episode] = jax.tree_util.tree_map(
                    lambda leaf, k=k: leaf[..., k], memory
                )
            _settle([actions[..., k] for k in range(len(block))], block)


@functools.lru_cache(maxsize=64)
def _compiled(policy: Any, env: Env, fixed: int | None) -> Callable[..., Any]:
    """`policy.apply` for a block of episodes, in the seat `fixed` alone or in any."""

    def block(index: Any, *rows: Any) -> Any:
        def one(memory: Any, key_data: Any, time: Any, view: DeviceView) -> Any:
            step_key = jax.random.fold_in(wrap_key(key_data), time)
            agent = index if fixed is None else fixed
            return policy.apply(env, agent, memory, agent_key(step_key, index), view)

        return jax.vmap(one, in_axes=(-1, 0, 0, -1), out_axes=-1)(*rows)

    return jax.jit(block)


def _counted(answers: Any, count: int) -> list[Any]:
    answers = list(answers)
    if len(answers) != count:
        raise ValueError(f"act() gave {len(answers)} answers to {count} views")
    return answers


def _settle(answers: Sequence[Any], waiting: list[tuple[Game, View, asyncio.Future[Any]]]) -> None:
    for answer, (_, _, future) in zip(answers, waiting, strict=True):
        if not future.done():
            future.set_result(answer)


class Table:
    """All seats of a run and their queues, for the event loop that created it."""

    def __init__(self, env: Env, policies: Sequence[Any]):
        self._env, self._policies = env, policies
        self._loop = asyncio.get_running_loop()
        self._queues: dict[Any, _Queue] = {}

    def ask(
        self, game: Game, asked: Sequence[int], players: Sequence[int]
    ) -> list[asyncio.Future[Any]]:
        """The answers of agents, of which agent `i` is played by seat `players[i]`."""
        policies = [routed(self._policies[players[i]], game.views[i]) for i in asked]
        teams: dict[int, list[int]] = {}
        for i, policy in zip(asked, policies, strict=True):
            if getattr(policy, "team", False):
                teams.setdefault(id(policy), []).append(i)
        answers: dict[int, asyncio.Future[Any]] = {}
        futures = []
        for i, policy in zip(asked, policies, strict=True):
            team = teams.get(id(policy))
            if team is None:
                futures.append(self.query(policy, game, game.views[i]))
                continue
            if id(policy) not in answers:
                answers[id(policy)] = self._loop.create_task(self._together(policy, game, team))
            futures.append(self._loop.create_task(_item(answers[id(policy)], team.index(i))))
        return futures

    def query(self, policy: Any, game: Game, view: View) -> asyncio.Future[Any]:
        """The answer of a policy to one view."""
        policy = routed(policy, view)
        if is_device_policy(policy):
            queue = self._queues.get((id(policy), view.index))
            if queue is None:
                queue = _DeviceQueue(self._loop, self._env, policy, view.index)
                self._queues[id(policy), view.index] = queue
            return queue.ask(game, view)
        if inspect.iscoroutinefunction(policy.act):
            return self._loop.create_task(self._alone(policy, game, view))
        queue = self._queues.get(id(policy))
        if queue is None:
            queue = self._queues[id(policy)] = _HostQueue(self._loop, policy)
        return queue.ask(game, view)

    def alone(
        self, game: Game, index: int, players: Sequence[int]
    ) -> Coroutine[Any, Any, Any] | None:
        """The answer of one agent that nobody else is asked with, as a coroutine to be awaited in
        place, where its policy is asked for each episode separately; else None."""
        policy = routed(self._policies[players[index]], game.views[index])
        if getattr(policy, "team", False) or is_device_policy(policy):
            return None
        if not inspect.iscoroutinefunction(policy.act):
            return None
        return self._alone(policy, game, game.views[index])

    def forget(self, episode: int) -> None:
        for queue in self._queues.values():
            queue.forget(episode)

    @staticmethod
    async def _alone(policy: Any, game: Game, view: View) -> Any:
        return _counted(await ask_policy(policy, [(game, view)]), 1)[0]

    @staticmethod
    async def _together(policy: Any, game: Game, team: Sequence[int]) -> list[Any]:
        answers = ask_policy(policy, [(game, game.views[i]) for i in team])
        if inspect.isawaitable(answers):
            answers = await answers
        return _counted(answers, len(team))


async def _item(answers: asyncio.Future[Any], number: int) -> Any:
    return (await answers)[number]
