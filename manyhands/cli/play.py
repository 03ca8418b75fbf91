"""`manyhands play`: episodes with any kind of player in any seat."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import manyhands
from manyhands.cli.common import (
    CONFIG,
    SEATS,
    Transcript,
    add_environment,
    build,
    command,
    seat_names,
)
from manyhands.core.env import ConfigError, Env


def add_episodes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seats", nargs="+", help="who plays (by default greedy chefs, or random players)"
    )
    parser.add_argument("--episodes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--only", type=int, nargs="+", metavar="EPISODE", help="only these episodes"
    )
    parser.add_argument(
        "--group", type=int, default=1, help="play each episode so often from one start (default 1)"
    )
    parser.add_argument(
        "--fork", type=Path, nargs="+", metavar="FILE", help="begin from snapshots, in turn"
    )
    parser.add_argument("--record", type=Path, metavar="FILE", help="write a record (.jsonl)")
    parser.add_argument("--resume", action="store_true", help="go on with the record")
    parser.add_argument(
        "--rotate", action="store_true", help="change seats from episode to episode"
    )
    parser.add_argument("--concurrency", type=int, default=16, help="episodes at once (default 16)")
    parser.add_argument(
        "--on-illegal",
        choices=("noop", "raise", "forfeit"),
        default="noop",
        help="what an illegal answer does (default noop)",
    )
    parser.add_argument(
        "--allow-illegal",
        type=int,
        metavar="K",
        help="illegal answers before a forfeit (default 0; with noop 3 in a row)",
    )
    parser.add_argument(
        "--clock",
        type=float,
        metavar="SECONDS",
        help="real time: a step takes so long, whether or not seats have answered",
    )


def add(commands: Any) -> None:
    parser = command(
        commands,
        "play",
        run,
        "Play episodes with any kind of player in any seat.",
        f"{CONFIG}\n{SEATS}\nFor example: manyhands play kitchen --seats human greedy",
    )
    add_environment(parser)
    add_episodes(parser)
    parser.add_argument("--watch", action="store_true", help="show a window while playing")
    parser.add_argument("--transcript", action="store_true", help="print each step in words")


def run(options: argparse.Namespace) -> int:
    watch = None
    if options.watch:
        from manyhands.viewer.window import Watch

        watch = Watch()

    onlookers = [
        onlooker for onlooker in (Transcript() if options.transcript else None, watch) if onlooker
    ]

    def on_step(moment: Any) -> None:
        for onlooker in onlookers:
            onlooker(moment)

    result = play_episodes(options, build(options), on_step if onlookers else None)
    print(result)
    return 1 if result.stopped else 0


def play_episodes(options: argparse.Namespace, env: Env, on_step: Any) -> Any:
    given = seat_names(options.seats or [env.default_policy])
    if any(_kind(seat) == "human" for seat in given) and not _has_display():
        print("There is no display: you play in the terminal.", file=sys.stderr)
        given = [_in_terminal(seat) for seat in given]
    seats = given[0] if len(given) == 1 else given
    people = sum(_kind(seat) in ("human", "terminal") for seat in given)
    return manyhands.play(
        env,
        seats,
        options.episodes,
        options.seed,
        only=options.only,
        group=options.group,
        fork=[_bytes(file) for file in options.fork] if options.fork else None,
        record=options.record,
        resume=options.resume,
        rotate=options.rotate,
        concurrency=1 if people else options.concurrency,
        on_illegal=options.on_illegal,
        allow_illegal=options.allow_illegal,
        clock=options.clock,
        progress=False if people or on_step else None,
        on_step=on_step,
    )


def _kind(seat: str) -> str:
    return seat.partition(":")[0]


def _in_terminal(seat: str) -> str:
    """The same seat in a terminal, if it is a person's at a window."""
    kind, colon, options = seat.partition(":")
    return f"terminal{colon}{options}" if kind == "human" else seat


def _has_display() -> bool:
    from manyhands.viewer.window import has_display

    return has_display()


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read {file}: {error.strerror}") from error
