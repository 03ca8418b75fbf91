"""A game as verifiers' v1 Taskset and Env: a seat an agent.

`SeatEnv` has one agent, `player`, whose opponents are partners; `PairEnv` has two, `first` and
`second`, one for each seat of a game for two:

    SeatEnv(SeatEnvConfig(taskset={"id": ID, "game": "kuhn_poker"}))

Tested with verifiers 0.4.0, which starts each rollout by a uv script.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import sys
from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf

from manyhands.core.episode import episode_seed
from manyhands.wrappers.text_seat import TextSeat, TextTable, text_seat


class GameConfig(vf.TasksetConfig):
    """Which game, and which episodes.

    Attributes:
        game, seat, partners, options: as in `text_seat`; `options` hold the configuration of the
            game, and `retries`, `on_illegal` and `detail`.
        seed: of the run: episode `e` has the seed `episode_seed(seed, e)`.
        member: of a group; rollouts of one task start alike, and each draws a member of its own
            unless one is given.
    """

    game: str = "kuhn_poker"
    seat: int = 0
    partners: str | list[str] | None = None
    options: dict[str, Any] = {}  # noqa: RUF012 - pydantic copies it
    seed: int = 0
    member: int | None = None


class GameData(vf.TaskData):
    """One episode: the configuration of its taskset, and its seed."""

    info: dict[str, Any]


class GameTask(vf.Task[GameData, vf.State, vf.TaskConfig]):
    """One episode."""


class GameTaskset(vf.Taskset[GameTask, GameConfig]):
    """Episodes without an end."""

    INFINITE = True

    def load(self) -> Iterator[GameTask]:
        config = self.config
        info = {name: getattr(config, name) for name in GameConfig.__annotations__}
        for e in itertools.count():
            seed = episode_seed(config.seed, e)
            data = GameData(name=f"{config.game}#{e}", info={**info, "seed": seed})
            yield GameTask(data, config.task)


def _agent() -> vf.AgentConfig:
    return vf.AgentConfig(harness={"id": "null"}, runtime={"type": "subprocess"})


class SeatEnvConfig(vf.EnvConfig):
    player: vf.AgentConfig = _agent()


class PairEnvConfig(vf.EnvConfig):
    first: vf.AgentConfig = _agent()
    second: vf.AgentConfig = _agent()


_members = itertools.count()  # of the rollouts of this process


async def _play(env: Any, task: GameTask, agents: list[Any], seats: list[TextSeat]) -> None:
    """Play an episode: each agent holds one conversation, which begins with its first turn."""
    table = seats[0].table
    start = task.data.info
    member = next(_members) if start["member"] is None else start["member"]
    await asyncio.to_thread(table.reset, start["seed"], member)
    async with contextlib.AsyncExitStack() as stack:
        opened = []
        for agent, seat in zip(agents, seats, strict=True):
            own = task.data.model_copy(update={"system_prompt": seat.rules, "prompt": None})
            interaction = agent.interaction(GameTask(own, env.taskset.config.task))
            opened.append(await stack.enter_async_context(interaction))
        while not table.done:
            for seat, interaction in zip(seats, opened, strict=True):
                if not seat.to_move:
                    continue
                segment = await interaction.turn(seat.look())
                if segment.terminated:  # a limit of the run
                    seat.finish()
                    break
                await asyncio.to_thread(seat.act, segment.last_reply)
        for seat, interaction in zip(seats, opened, strict=True):
            totals = seat.summary()
            interaction.trace.record_reward("return", totals["return"], 1.0)
            interaction.trace.info.update(totals)
    table.close()


class SeatEnv(vf.Env[SeatEnvConfig]):
    """One agent in one seat, the others taken by partners."""

    async def run(self, task: GameTask, agents: Any) -> None:
        info = task.data.info
        seat = text_seat(info["game"], info["seat"], info["partners"], **info["options"])
        await _play(self, task, [agents.player], [seat])


class PairEnv(vf.Env[PairEnvConfig]):
    """Two agents, one for each seat of a game for two."""

    async def run(self, task: GameTask, agents: Any) -> None:
        table = TextTable(task.data.info["game"], **task.data.info["options"])
        await _play(
            self, task, [agents.first, agents.second], [TextSeat(table, 0), TextSeat(table, 1)]
        )


# verifiers finds a taskset by the name of a module, in which it allows no dots.
ID = "manyhands_verifiers"
sys.modules.setdefault(ID, sys.modules[__name__])
# What it loads from there: one taskset, one environment.
__all__ = ["GameTaskset", "SeatEnv"]
