"""`manyhands solve`: equilibria of small games."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from manyhands.cli.common import CONFIG, add_environment, build, command


def add(commands: Any) -> None:
    parser = command(
        commands,
        "solve",
        run,
        "Find an equilibrium of a small game by counterfactual regret minimisation.",
        "Prints what each seat earns, and the exploitability: what a perfect opponent would gain.\n"
        "Writes FOLDER/policy.safetensors, which the seat table:file=... plays, result.json, and\n"
        "curve.png; and a checkpoint, so that --resume can go on from there.\n\n"
        f"{CONFIG}\nFor example: manyhands solve leduc_holdem --iterations 10000 --out leduc",
    )
    add_environment(parser)
    parser.add_argument(
        "--algorithm",
        default="cfr+",
        help="cfr, cfr+ (default), or mccfr, which samples the deal and the others' actions",
    )
    parser.add_argument("--iterations", type=int, default=1000, help="in all (default 1000)")
    parser.add_argument("--seed", type=int, default=0, help="of mccfr (default 0)")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where to write the results")
    parser.add_argument("--resume", action="store_true", help="go on with the run in FOLDER")


def run(options: argparse.Namespace) -> int:
    from manyhands.baselines.game_theory.cfr import solve

    solution = solve(
        build(options),
        options.algorithm,
        options.iterations,
        seed=options.seed,
        out=options.out,
        resume=options.resume,
        progress=sys.stderr.isatty(),
    )
    print(solution)
    if options.out is not None:
        print(f"wrote {options.out}: policy.safetensors, result.json, curve.png")
    return 0
