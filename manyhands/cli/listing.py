"""`manyhands list`: environments, wrappers and seats."""

from __future__ import annotations

import argparse
import inspect
from typing import Any

import manyhands
from manyhands.cli.common import command, make_env
from manyhands.core.env import Env
from manyhands.core.registry import load, make


def add(commands: Any) -> None:
    parser = command(
        commands,
        "list",
        run,
        "List the environments, wrappers and seats; or explain one environment.",
        "`manyhands list kitchen` shows its configuration, its spaces and its layouts.",
    )
    parser.add_argument("id", nargs="?", help="an environment to explain")


def run(options: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    console = Console()
    if options.id is None:
        table = Table(
            Column("environment", no_wrap=True), "agents", "actions", "observation", "what it is"
        )
        for name in manyhands.registered():
            try:
                env = make(name)
                summary = (load(name).__doc__ or "").strip().partition("\n")[0]
                about = (str(env.num_agents), str(env.action_space), _shape(env), summary)
            except Exception as error:  # another package's game may be broken
                about = ("", "", "", f"cannot be made: {type(error).__name__}: {error}")
            table.add_row(name, *about)
        console.print(table)
        console.print("wrappers:", ", ".join(manyhands.registered(wrappers=True)))
        console.print("seats:   ", ", ".join(manyhands.registered_seats()))
        return 0
    env = make_env(options.id)
    print(f"{options.id}\n\n{inspect.cleandoc(type(env).__doc__ or '')}\n")
    print(f"agents: {', '.join(env.agents)}\nactions: {env.action_space}")
    print(f"observation: {_shape(env)}\nreward terms: {', '.join(env.terms)}\n")
    levels = env.shipped_levels()
    if levels:
        table = Table("layout", "agents", "map", show_lines=True)
        for name, agents, picture in levels:
            table.add_row(name, str(agents), Text(picture))
        console.print(table)
    return 0


def _shape(env: Env) -> str:
    space = env.observation_space
    return f"{space.dtype}{list(space.shape or ())}"
