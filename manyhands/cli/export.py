"""`manyhands export`: films, pictures, conversations and arrays of a record."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from manyhands.cli.common import add_record, command, moments_of
from manyhands.core.env import ConfigError
from manyhands.core.export import check_out, export_arrays, export_chat, export_pairs

_SHIPPED = ("gif", "mp4", "png", "chat", "arrays", "pairs", "errors")


def add(commands: Any) -> None:
    parser = command(
        commands,
        "export",
        run,
        "Turn a record into films, pictures, conversations or arrays.",
        "The form is that of OUT's ending, or --format:\n"
        "  gif, mp4   a film of one episode (--episode), with the texts beside it: --panel\n"
        "  png        a strip of --count pictures of one episode\n"
        "  chat       .jsonl: one conversation for each agent of each episode, in chat format,\n"
        "             with rewards, legal actions and parse status\n"
        "  arrays     .npz: observations, masks, actions, rewards and ends of all episodes\n"
        "  pairs      .jsonl: a better and a worse answer to the same input, for DPO, of episodes\n"
        "             with one start (play --group); --gap\n"
        "  errors     .jsonl: the first answer of each agent of each episode that gave something\n"
        "             away, by perfect play (boards) or an equilibrium (poker)",
    )
    add_record(parser)
    parser.add_argument("out", type=Path, help="the file to write")
    parser.add_argument("--format", choices=_SHIPPED)
    parser.add_argument(
        "--fps", type=float, help="steps per second of a film (default: the environment's pace)"
    )
    parser.add_argument("--count", type=int, default=4, help="pictures in a strip (default 4)")
    parser.add_argument("--panel", action="store_true", help="show what a seat saw and said")
    parser.add_argument("--agent", help="show what this agent sees")
    parser.add_argument(
        "--camera",
        help="how the world is shown, without --agent: behind or side (volleyball), south or above "
        "(drones), map or the name of an agent to follow (craftworld)",
    )
    parser.add_argument(
        "--gap", type=float, help="least difference of the returns of a pair (default 0)"
    )
    parser.add_argument("--size", type=_size, default=None, metavar="WIDTHxHEIGHT")


def run(options: argparse.Namespace) -> int:
    endings = {".gif": "gif", ".mp4": "mp4", ".png": "png", ".jsonl": "chat", ".npz": "arrays"}
    form = options.format or endings.get(options.out.suffix.lower())
    if form is None:
        raise ConfigError(
            f"what to write cannot be told from {options.out}; pass --format, one of "
            f"{', '.join(_SHIPPED)}"
        )
    if options.gap is not None and form != "pairs":
        raise ConfigError(
            f"--gap={options.gap:g} is the least difference of pairs, and {options.out} would be "
            f"written as {form}; leave it out, or add --format pairs"
        )
    check_out(options.file, options.out)
    if form in ("chat", "arrays"):
        count = (export_chat if form == "chat" else export_arrays)(options.file, options.out)
        print(f"wrote {options.out}: {count} {'conversations' if form == 'chat' else 'steps'}")
        return 0
    if form == "pairs":
        count = export_pairs(options.file, options.out, options.gap or 0.0)
        print(f"wrote {options.out}: {count} pairs")
        return 0
    if form == "errors":
        from manyhands.baselines.evaluation.errors import export_errors

        print(f"wrote {options.out}: {export_errors(options.file, options.out)} first errors")
        return 0
    from manyhands.viewer.export import export_gif, export_mp4, export_strip
    from manyhands.viewer.scenes import scenes

    moments = list(moments_of(options))
    if options.camera and options.agent is not None:
        raise ConfigError(
            f"--camera {options.camera} shows the whole world and --agent {options.agent} what one "
            "agent sees: give one of them"
        )
    look: dict[str, Any] = {"panel": options.panel, "camera": options.camera or ""}
    if options.agent is not None:
        look["agent"] = look["seat"] = moments[0].env.index(options.agent)
    if options.size:
        look["size"] = options.size
    elif options.panel:
        look["size"] = (960, 480)
    if form == "png":
        export_strip(scenes(moments), options.out, count=options.count, **look)
    else:
        write = export_gif if form == "gif" else export_mp4
        write(scenes(moments), options.out, fps=options.fps, **look)
    print(f"wrote {options.out}")
    return 0


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal() and int(width) and int(height)):
        raise argparse.ArgumentTypeError(f"a size is written 640x480, given {text!r}")
    return int(width), int(height)
