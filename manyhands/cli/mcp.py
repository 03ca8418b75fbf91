"""`manyhands mcp`: one seat of a game as tools for any host of agents."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from manyhands.cli.common import CONFIG, SEATS, add_environment, build, command
from manyhands.core.registry import seat as make_seat


def add(commands: Any) -> None:
    parser = command(
        commands,
        "mcp",
        run,
        "Serve one seat of a game as tools (MCP): rules, look, choices, act, say, new_game.",
        "A host of agents starts this command and speaks to it over standard input and output.\n"
        "The totals of each game go to standard error, as JSON. Needs the package mcp>=2."
        f"\n\n{CONFIG}\n{SEATS}",
    )
    add_environment(parser)
    parser.add_argument("--seat", default="0", help="name or number of the agent (default 0)")
    parser.add_argument(
        "--partners", nargs="+", metavar="SEAT", help="the other seats (default: the game's own)"
    )
    parser.add_argument("--seed", type=int, help="of the first game (default: drawn)")
    parser.add_argument(
        "--retries", type=int, default=2, help="after an illegal answer, before it forfeits (2)"
    )


def run(options: argparse.Namespace) -> int:
    from manyhands.integrations.mcp import serve

    env = build(options)
    partners = options.partners
    if partners is not None:
        names = [name for word in partners for name in word.split()]
        partners = names[0] if len(names) == 1 else names
        for name in names:
            make_seat(name, env)  # an unknown one is refused before anybody connects
    seat = int(options.seat) if options.seat.isdigit() else options.seat
    serve(
        env,
        seat,
        partners,
        seed=options.seed,
        retries=options.retries,
        on_end=lambda totals: print(json.dumps(totals), file=sys.stderr, flush=True),
    )
    return 0
