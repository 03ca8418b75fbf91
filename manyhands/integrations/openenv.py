"""Seats behind an OpenEnv server: one seat for each session, or a table whose seats are taken by
sessions with tokens.

`app(game)` is a FastAPI application for uvicorn; OpenEnv's `GenericEnvClient` plays it. Tested with
openenv 0.10.0.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State

from manyhands.core.env import ConfigError, Env
from manyhands.wrappers.text_seat import TextSeat, TextTable, text_seat


class Move(Action):
    """An answer in words. An empty one at a table waits: it only looks."""

    action: str


class Sight(Observation):
    """What the seat reads.

    Attributes:
        text: the observation and the legal actions.
        rules: of the game, with the first observation of an episode.
        legal: the legal actions, a line each; empty where the seat is not to move.
        status: how the last answer was taken (`TextTable.act`); "none" after a reset.
        info: after the last step, the totals of the episode (`TextSeat.summary`).
    """

    text: str = ""
    rules: str = ""
    legal: list[str] = []  # noqa: RUF012 - pydantic copies it
    status: str = "none"
    info: dict[str, Any] = {}  # noqa: RUF012


class SeatState(State):
    """The seat that a session plays."""

    agent: str = ""
    seed: int | None = None


class _Seated(Environment[Move, Sight, SeatState]):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._state = SeatState()

    @property
    def state(self) -> SeatState:
        return self._state

    def _sight(self, seat: TextSeat, rules: bool, **more: Any) -> Sight:
        return Sight(
            text=seat.look(),
            rules=seat.rules if rules else "",
            legal=[str(choice) for choice in seat.choices],
            done=seat.done,
            info=seat.summary() if seat.done else {},
            **more,
        )


def environment(
    game: str | Env, seat: int | str = 0, partners: Any = None, **options: Any
) -> Callable[[], Environment[Move, Sight, SeatState]]:
    """A class of environments for OpenEnv: each session plays one seat of a game of its own.
    `reset` takes a `seed`, a `member` (of a group with this seed), and the game's reset options.

    Args:
        game, seat, partners, options: as in `text_seat`.
    """
    text_seat(game, seat, partners, **options).close()  # mistakes are reported before it is served

    class ManyhandsSeat(_Seated):
        def __init__(self) -> None:
            super().__init__()
            self._seat = text_seat(game, seat, partners, **options)

        def reset(
            self,
            seed: int | None = None,
            episode_id: str | None = None,
            member: int = 0,
            options: Mapping[str, Any] | None = None,
            **ignored: Any,
        ) -> Sight:
            self._seat.reset(seed, member, **(options or {}))
            self._state = SeatState(
                episode_id=episode_id,
                agent=self._seat.agent,
                seed=self._seat.table.episode.seed,
            )
            return self._sight(self._seat, rules=True)

        def step(self, action: Move, timeout_s: float | None = None, **ignored: Any) -> Sight:
            _, reward, _, info = self._seat.act(action.action)
            self._state.step_count += 1
            return self._sight(self._seat, rules=False, reward=reward, status=info["status"])

        def close(self) -> None:
            self._seat.close()

    return ManyhandsSeat


def app(game: str | Env, seat: int | str = 0, partners: Any = None, **options: Any) -> Any:
    """A FastAPI application that serves `environment`; `max_sessions=` at once, 64 by default."""
    sessions = options.pop("max_sessions", 64)
    made = environment(game, seat, partners, **options)
    return create_app(
        made, Move, Sight, env_name="manyhands", max_concurrent_envs=sessions, state_cls=SeatState
    )


# ---- a table -------------------------------------------------------------------------------------


class Table:
    """One table whose seats are played by different sessions: `tokens` opens each.

    A session gives its token to `reset`, then looks and answers by `step`; its sights tell whether
    it is to move. An empty answer only looks. The episode goes on when the seats that are to move
    have answered. `begin(seed)`, on the server's side, begins the next episode for all; a session's
    `reset` joins the one that is played.

    Args:
        game, seats, partners, options: as in `TextTable`.

    Attributes:
        tokens: by agent.
    """

    def __init__(
        self,
        game: str | Env,
        seats: Sequence[int | str] | None = None,
        partners: Any = None,
        seed: int | None = None,
        **options: Any,
    ):
        self.table = TextTable(game, seats, partners, **options)
        self.lock = threading.RLock()  # sessions answer from several threads
        agents = self.table.env.agents
        self.tokens = {agents[i]: secrets.token_urlsafe(16) for i in self.table.outside}
        self.begin(seed)

    def begin(self, seed: int | None = None, member: int = 0) -> None:
        with self.lock:
            self.table.reset(seed, member)

    def seat(self, token: str) -> TextSeat:
        for agent, own in self.tokens.items():
            if secrets.compare_digest(own.encode(), token.encode()):
                return TextSeat(self.table, agent)
        raise ConfigError("no seat of this table has this token; reset(token=...) takes one")

    def app(self, max_sessions: int = 64) -> Any:
        """A FastAPI application that serves this table."""
        table = self

        class ManyhandsTable(_Seated):
            def __init__(self) -> None:
                super().__init__()
                self._seat: TextSeat | None = None
                self._paid = 0.0  # of the return, handed out as rewards

            def reset(
                self,
                seed: int | None = None,
                episode_id: str | None = None,
                token: str = "",
                **ignored: Any,
            ) -> Sight:
                with table.lock:
                    self._seat, self._paid = table.seat(token), 0.0
                    self._state = SeatState(
                        episode_id=episode_id,
                        agent=self._seat.agent,
                        seed=table.table.episode.seed,
                    )
                    return self._sight(self._seat, rules=True)

            def step(self, action: Move, timeout_s: float | None = None, **ignored: Any) -> Sight:
                with table.lock:
                    if self._seat is None:
                        raise ConfigError("reset(token=...) first")
                    status = "none"
                    if action.action:
                        status = self._seat.act(action.action)[3]["status"]
                        self._state.step_count += 1
                    reward, self._paid = self._seat.total - self._paid, self._seat.total
                    return self._sight(self._seat, rules=False, reward=reward, status=status)

        return create_app(
            ManyhandsTable,
            Move,
            Sight,
            env_name="manyhands",
            max_concurrent_envs=max_sessions,
            state_cls=SeatState,
        )
