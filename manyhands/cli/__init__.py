"""The `manyhands` command. `manyhands --help` lists what it does; each command is a module, which
adds its arguments (`add`) and runs it (`run`)."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import jax

import manyhands
from manyhands.cli.common import CommandParser
from manyhands.core.env import ConfigError, ManyhandsError

# Modules of this package, in the order of the help.
COMMANDS = (
    *("listing", "demo", "play", "watch", "replay", "verify", "export", "solve", "analyse"),
    *("judge", "train", "evaluate", "crossplay", "arena", "bench", "check", "mcp", "serve"),
)


# What the command says alone.
WELCOME = """\
Manyhands: multi-agent worlds for networks, language models, scripts and people.

Try:
  manyhands list                                       the worlds, and who can play in them
  manyhands demo                                       all of it in two minutes, without a display
  manyhands watch kitchen --text                       two scripted chefs, told in words
  manyhands play connect_four --seats human solver     you against a program
  manyhands play kitchen --seats human greedy          you and a scripted chef
  manyhands serve                                      the same in a browser, with others
  manyhands train kitchen                              your own network

`manyhands --help` lists all commands, and `manyhands COMMAND --help` explains one.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status: 2 where what was asked for cannot be, 1 where it
    fails."""
    words = sys.argv[1:] if arguments is None else arguments
    if not words:
        print(WELCOME, end="")
        return 0
    options = parse(words)
    options.own_process = arguments is None
    if options.own_process and not options.no_cache:
        use_cache()
    try:
        status: int = options.run(options)
        return status
    except ManyhandsError as error:
        print(f"manyhands: {error}", file=sys.stderr)
        return 2 if isinstance(error, ConfigError) else 1
    except KeyboardInterrupt:
        print("manyhands: stopped; finished episodes are kept", file=sys.stderr)
        return 130
    except BrokenPipeError:  # `manyhands ... | head`
        sys.stderr.close()
        return 0


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of a command line."""
    parser = argparse.ArgumentParser(
        prog="manyhands",
        description="Play, watch, record and measure multi-agent worlds.",
        epilog="`manyhands COMMAND --help` explains each command.",
    )
    parser.add_argument("--version", action="version", version=manyhands.__version__)
    parser.add_argument(
        "--no-cache",
        action="store_true",
        help="keep no compiled programs in the user's cache folder, as MANYHANDS_NO_CACHE=1 does; "
        "may stand anywhere",
    )
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=CommandParser
    )
    for name in COMMANDS:
        importlib.import_module(f"manyhands.cli.{name}").add(commands)

    options = parser.parse_args([word for word in arguments if word != "--no-cache"])
    options.no_cache |= "--no-cache" in arguments
    return options


def use_cache() -> None:
    """Keep what JAX compiles in the user's cache folder, so that the next command can load it,
    unless MANYHANDS_NO_CACHE is set, or the user has told JAX where to keep it."""
    if os.environ.get("MANYHANDS_NO_CACHE") or "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    try:
        folder = cache_folder() / "jax" / jax.__version__
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # read-only, or no home
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    for name, value in (
        ("jax_persistent_cache_min_compile_time_secs", 0.0),
        ("jax_persistent_cache_min_entry_size_bytes", 0),
    ):
        if name.upper() not in os.environ:
            jax.config.update(name, value)


def cache_folder() -> Path:
    """Where the command keeps files that can be made again."""
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "manyhands"
