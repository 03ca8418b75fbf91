"""`manyhands judge`: a seat at every information set of a small game, without playing."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from manyhands.cli.common import CONFIG, add_environment, build, command
from manyhands.core.files import replace


def add(commands: Any) -> None:
    parser = command(
        commands,
        "judge",
        run,
        "Judge a seat exactly, at every information set of a small game, without playing.",
        "Asks for its probabilities, and prints how exploitable they are, the dominated actions,\n"
        "and bluffs and calls beside equilibrium. Of a seat that gives none, --samples answers to\n"
        "each information set are counted.\n\n"
        f"{CONFIG}\nFor example: manyhands judge kuhn_poker --seat local:model=FOLDER",
    )
    add_environment(parser)
    parser.add_argument("--seat", required=True, help="a name, with its options after a colon")
    parser.add_argument(
        "--samples",
        type=int,
        default=0,
        help="answers to count where it gives no probabilities (default 0: that is an error); 1 is "
        "enough for a seat that always answers alike",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the answers' random numbers")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write all of it as JSON, too")


def run(options: argparse.Namespace) -> int:
    from manyhands.baselines.game_theory.judging import judge

    judgement = judge(build(options), options.seat, options.samples, seed=options.seed)
    judgement.show()
    if options.out is not None:
        replace(options.out, (json.dumps(judgement.to_dict(), indent=1) + "\n").encode())
        print(f"wrote {options.out}")
    return 0
