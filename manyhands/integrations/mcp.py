"""A seat as an MCP server: any host of agents plays through the tools `rules`, `new_game`, `look`,
`choices`, `act` and `say`. `manyhands mcp GAME` serves one over standard input and output.

Tested with mcp 2.3.0; the package mcp>=2 is needed.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from manyhands.core.config import whole
from manyhands.core.env import Env, ManyhandsError, SeatError
from manyhands.wrappers.text_seat import text_seat

_INSTRUCTIONS = """\
You play one seat of the game {game}. Read `rules`, then call `act` with your move, in words, until
the game is over; `look` and `choices` show where the game stands. `new_game` begins another game. A
game that you leave counts as lost."""


def server(
    game: str | Env,
    seat: int | str = 0,
    partners: Any = None,
    *,
    seed: int | None = None,
    on_end: Callable[[dict[str, Any]], None] | None = None,
    **options: Any,
) -> Any:
    """An `MCPServer` with one seat of one game; its `run()` serves it. A game has begun already.

    Args:
        game, seat, partners, options: as in `text_seat`. Where the game has no channel, there is no
            tool `say`.
        seed: of the first game; the next ones continue from it.
        on_end: called with the totals of each game that ends (`TextSeat.summary`).

    Raises:
        SeatError: the package mcp is missing or too old.
    """
    return _built(game, seat, partners, seed, on_end, options)[0]


def serve(
    game: str | Env,
    seat: int | str = 0,
    partners: Any = None,
    *,
    seed: int | None = None,
    on_end: Callable[[dict[str, Any]], None] | None = None,
    **options: Any,
) -> None:
    """`server`, run over standard input and output until the host leaves; a game that it leaves
    unfinished is forfeited, and `on_end` is called with its totals, too."""
    app, leave = _built(game, seat, partners, seed, on_end, options)
    try:
        app.run()
    finally:
        leave()


def _built(
    game: str | Env,
    seat: int | str,
    partners: Any,
    seed: int | None,
    on_end: Callable[[dict[str, Any]], None] | None,
    options: dict[str, Any],
) -> tuple[Any, Callable[[], None]]:
    """The server, and what ends its game."""
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError as error:
        raise SeatError(
            'an MCP server needs the package mcp, 2.0 or newer: pip install "mcp>=2"'
        ) from error

    player = text_seat(game, seat, partners, **options)
    env = player.table.env
    lock = threading.Lock()  # hosts may call several tools at once
    words: list[str] = []  # said with the next action
    reported = False

    @contextlib.contextmanager
    def alone() -> Iterator[None]:
        """One call at a time. Of errors that are not named so, a client learns nothing."""
        try:
            with lock:
                yield
        except ManyhandsError as error:
            raise ToolError(str(error)) from error

    def begin(seed: int | None) -> str:
        nonlocal reported
        if seed is not None:  # before the game that is played counts as forfeited
            seed = whole("seed", seed, 0)
        leave()
        words.clear()
        text, reported = player.reset(seed), False
        if player.done:
            report()
        return text

    def leave() -> None:
        if player.table.begun and not reported:
            player.finish()
            report()

    def report() -> None:
        nonlocal reported
        reported = True
        if on_end is not None:
            on_end(player.summary())

    begin(seed)
    app = MCPServer(
        f"manyhands-{env.id}", instructions=_INSTRUCTIONS.format(game=env.id), log_level="WARNING"
    )

    @app.tool()
    def rules() -> str:
        """The rules of the game, and how to answer."""
        return player.rules

    @app.tool()
    def look() -> str:
        """What you see now, and what you may do."""
        with alone():
            return player.look()

    @app.tool()
    def choices() -> list[str]:
        """The legal actions, in words; none if the game is over."""
        with alone():
            return [str(choice) for choice in player.choices]

    @app.tool()
    def act(action: str) -> dict[str, Any]:
        """Take your turn, in the words of a legal action.

        Gives what you see next, the reward of this turn, your return so far, whether the game is
        over, and the status: "ok", "illegal" (answer again), "forfeit" or "over".
        """
        with alone():
            said = " ".join(words) or None
            was_over = player.done
            text, reward, done, info = player.act(action, said)
            if info["status"] == "ok":
                words.clear()
            if done and not was_over:
                report()
            return {
                "text": text,
                "reward": reward,
                "return": player.total,
                "done": done,
                "status": info["status"],
            }

    if env.chat is not None:

        @app.tool()
        def say(message: str) -> str:
            """Say something to the others. It is heard together with your next action."""
            with alone():
                if player.done:
                    return "The game is over: nobody hears it. `new_game` begins another."
                words.append(message)
                return "It will be heard with your next action."

    @app.tool()
    def new_game(seed: int | None = None) -> str:
        """Begin a new game; an unfinished one counts as forfeited. Gives what you see."""
        with alone():
            return begin(seed)

    return app, leave
