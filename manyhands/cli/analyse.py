"""`manyhands analyse`: the players of a record of poker."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from manyhands.cli.common import command
from manyhands.core.export import check_out
from manyhands.core.files import replace


def add(commands: Any) -> None:
    parser = command(
        commands,
        "analyse",
        run,
        "Judge the players of a record of poker: how exploitable, and what they do wrong.",
        "For every seat, a network's or a language model's: chips a hand with a 95 % confidence\n"
        "interval, the exploitability of the policy that was seen, dominated actions, and bluffs\n"
        "and calls beside equilibrium.",
    )
    parser.add_argument("file", type=Path, help="a record (.jsonl)")
    parser.add_argument(
        "--fill",
        default="uniform",
        choices=("uniform", "equilibrium"),
        help="what to assume where a seat never acted (default uniform)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write all of it as JSON, too")


def run(options: argparse.Namespace) -> int:
    from manyhands.baselines.game_theory.analysis import analyse

    if options.out is not None:
        check_out(options.file, options.out)
    analysis = analyse(options.file, options.fill)
    analysis.show()
    if options.out is not None:
        replace(options.out, (json.dumps(analysis.to_dict(), indent=1) + "\n").encode())
        print(f"wrote {options.out}")
    return 0
