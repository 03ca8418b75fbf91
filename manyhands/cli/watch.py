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
    check_film,
    command,
    write_film,
)
from manyhands.cli.play import add_episodes, play_episodes
from manyhands.core.env import ConfigError


def add(commands: Any) -> None:
    parser = command(
        commands,
        "watch",
        run,
        "Play episodes, and show them in a window.",
        "With --headless it writes a film instead: --out FILE.gif or FILE.mp4.\n"
        "With --text it tells them in the terminal: what seats do and say, and what --agent sees."
        "\n\n"
        f"{CONFIG}\n{SEATS}",
    )
    add_environment(parser)
    add_episodes(parser)
    add_window(parser, "episode.gif")
    parser.add_argument("--text", action="store_true", help="tell the steps in the terminal")
    parser.add_argument(
        "--agent", help="whose text is told with --text (by default the first agent's)"
    )


def run(options: argparse.Namespace) -> int:
    env = build(options)
    if options.agent is not None and not options.text:
        raise ConfigError("--agent chooses whose text is told: give --text, too")
    if options.text:
        from manyhands.viewer.terminal import Spectator

        agent = 0 if options.agent is None else env.index(options.agent)
        speed = env.pace if options.speed is None else options.speed
        print(play_episodes(options, env, Spectator(speed=speed, agent=agent)))
        return 0
    if not options.headless:
        from manyhands.viewer.window import Watch

        print(play_episodes(options, env, Watch(speed=options.speed)))
        return 0
    check_film(options)
    moments: list[Any] = []
    first = min(options.only) if options.only else 0
    print(play_episodes(options, env, lambda m: moments.append(m) if m.episode == first else None))
    write_film(moments, options.out, options.speed)
    return 0
