"""`manyhands replay`: a recorded episode in a window or as a film."""

from __future__ import annotations

import argparse
from typing import Any

from manyhands.cli.common import (
    add_record,
    add_window,
    check_film,
    command,
    moments_of,
    write_film,
)
from manyhands.core.export import check_out


def add(commands: Any) -> None:
    parser = command(
        commands,
        "replay",
        run,
        "Open a recorded episode in a window: play, step, scrub, and read what each seat saw.",
        "space plays and pauses, the arrows step, home and end jump, the mouse scrubs, + and -\n"
        "change the speed, tab changes the seat whose texts are shown, q quits. With --headless\n"
        "it writes the film that the window would show.",
    )
    add_record(parser)
    add_window(parser, "replay.gif")


def run(options: argparse.Namespace) -> int:
    if options.headless:
        check_out(options.file, options.out)
        check_film(options)
    moments = list(moments_of(options))
    if options.headless:
        write_film(moments, options.out, options.speed)
        return 0
    from manyhands.viewer.scenes import scenes
    from manyhands.viewer.window import Replay

    Replay(list(scenes(moments)), speed=options.speed, title=str(options.file)).run()
    return 0
