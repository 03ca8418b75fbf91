"""`manyhands crossplay`: every policy with every other."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from manyhands.cli.common import CONFIG, FILES, SEATS, add_measure, add_wrappers, build, command
from manyhands.core.env import ConfigError


def add(commands: Any) -> None:
    parser = command(
        commands,
        "crossplay",
        run,
        "Play every policy with every other, in every seat order.",
        "Writes FOLDER/crossplay.json, .csv, .md (tables with confidence intervals) and .png (a\n"
        f"heat map).\n\n{CONFIG}\n{SEATS}{FILES}\n"
        "For example: manyhands crossplay kitchen layout=cramped_room greedy onion_only random",
    )
    parser.add_argument("id", help="an environment, see `manyhands list`")
    parser.add_argument(
        "policies",
        nargs="*",
        metavar="NAME=VALUE | POLICY",
        help="its configuration; two policies or more",
    )
    parser.set_defaults(config=[])
    add_wrappers(parser)
    add_measure(parser)
    parser.add_argument("--out", type=Path, default=Path("crossplay"), metavar="FOLDER")
    parser.add_argument(
        "--overwrite", action="store_true", help="replace the tables that are in the folder"
    )


def run(options: argparse.Namespace) -> int:
    from manyhands.baselines.evaluation.crossplay import crossplay

    there = options.out / "crossplay.json"
    if there.exists() and not options.overwrite:  # before the hours that playing may take
        raise ConfigError(
            f"{there} exists: name another folder (--out), or replace it (--overwrite)"
        )
    result = crossplay(build(options), options.policies, options.episodes, options.seed)
    print(result)
    for path in result.save(options.out):
        print(f"wrote {path}")
    return 0
