"""`manyhands watch`: episodes in a window or as a film."""

from __future__ import annotations

import argparse
from typing import Any

from manyhands.cli.common import (
    CONFIG,
    SEATS,
    add_environment,
    add_window,
    build,
    command,
    write_film,
)
from manyhands.cli.play import add_episodes, play_episodes


def add(commands: Any) -> None:
    parser = command(
        commands,
        "watch",
        run,
        "Play episodes, and show them in a window.",
        "With --headless it writes a film instead: --out FILE.gif or FILE.mp4.\n\n"
        f"{CONFIG}\n{SEATS}",
    )
    add_environment(parser)
    add_episodes(parser)
    add_window(parser, "episode.gif")


def run(options: argparse.Namespace) -> int:
    env = build(options)
    if not options.headless:
        from manyhands.viewer.window import Watch

        print(play_episodes(options, env, Watch(speed=options.speed)))
        return 0
    moments: list[Any] = []
    first = min(options.only) if options.only else 0
    print(play_episodes(options, env, lambda m: moments.append(m) if m.episode == first else None))
    write_film(moments, options.out, options.speed)
    return 0
