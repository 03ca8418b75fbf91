"""`manyhands evaluate`: how well a policy or a team plays."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from manyhands.cli.common import (
    CONFIG,
    FILES,
    SEATS,
    add_environment,
    add_measure,
    build,
    command,
    seat_names,
)
from manyhands.core.env import ConfigError


def add(commands: Any) -> None:
    parser = command(
        commands,
        "evaluate",
        run,
        "Measure how well a policy or a team plays: means with confidence intervals.",
        "One policy takes all seats; a team also plays in the other seat orders. --zero-shot\n"
        "pairs one policy with partners that it has not met, in every seat: by default the\n"
        f"held-out scripted players of the environment.\n\n{CONFIG}\n{SEATS}{FILES}\n"
        "For example: manyhands evaluate kitchen layout=cramped_room --seats greedy --zero-shot",
    )
    add_environment(parser)
    parser.add_argument("--seats", nargs="+", required=True, help="who plays")
    parser.add_argument(
        "--zero-shot", nargs="*", metavar="PARTNER", help="play with partners never met"
    )
    add_measure(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all of it as JSON, too")


def run(options: argparse.Namespace) -> int:
    from manyhands.baselines.evaluation import evaluate, zero_shot

    env, seats = build(options), seat_names(options.seats)
    result: Any
    if options.zero_shot is None:
        result = evaluate(env, seats, options.episodes, options.seed)
    else:
        if len(seats) != 1:
            raise ConfigError(
                f"--zero-shot evaluates one policy, {len(seats)} given with --seats; "
                "partners follow --zero-shot"
            )
        partners = options.zero_shot or None
        result = zero_shot(env, seats[0], partners, options.episodes, options.seed)
    print(result)
    if options.json is not None:
        from manyhands.core.files import replace

        replace(options.json, (json.dumps(result.to_dict(), indent=2) + "\n").encode())
        print(f"wrote {options.json}")
    return 0
