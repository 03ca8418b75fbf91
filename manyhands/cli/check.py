"""`manyhands check`: whether an environment keeps its contract."""

from __future__ import annotations

import argparse
from typing import Any

from manyhands.cli.common import add_environment, build, command


def add(commands: Any) -> None:
    parser = command(
        commands,
        "check",
        run,
        "Check that an environment keeps the contract, with random play.",
        "Prints each problem as one line; exit status 1 if there are any. docs/extending.md says\n"
        "what each of them means.\n\n"
        "  manyhands check matching_pennies           a game of an installed package\n"
        "  manyhands check my_module:my_game size=5   imports the module, which registers it",
    )
    add_environment(parser)
    parser.add_argument("--steps", type=int, default=16, help="of random play (default 16)")


def run(options: argparse.Namespace) -> int:
    from manyhands.testing import CHECKS, problems_of

    env, count = build(options), 0
    for problem in problems_of(env, options.steps):
        print(" ".join(problem.split()), flush=True)
        count += 1
    if count:
        print(f"{env!r}: {count} of {len(CHECKS)} checks failed")
        return 1
    print(f"{env!r}: {len(CHECKS)} checks passed")
    return 0
