"""The `manyhands` command. `manyhands --help` lists what it does; each command is a module, which
adds its arguments (`add`) and runs it (`run`)."""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from manyhands._version import __version__
from manyhands.cli.parser import CommandParser

# Name -> (module of this package, summary), in the order of the help. The module is imported when
# its command is asked for: most take JAX with them, and that takes longer than to read a help.
COMMANDS = {
    "list": ("listing", "list the environments, wrappers and seats; or explain one environment"),
    "demo": ("demo", "show it all in two minutes, without a display"),
    "play": ("play", "play episodes with any kind of player in any seat"),
    "watch": ("watch", "play episodes, and show them in a window"),
    "replay": (
        "replay",
        "open a recorded episode in a window: play, step, scrub, and read what each seat saw",
    ),
    "verify": ("verify", "play a record again and compare every reward and fingerprint"),
    "export": ("export", "turn a record into films, pictures, conversations or arrays"),
    "solve": ("solve", "find an equilibrium of a small game by counterfactual regret minimisation"),
    "analyse": (
        "analyse",
        "judge the players of a record of poker: how exploitable, and what they do wrong",
    ),
    "judge": (
        "judge",
        "judge a seat exactly, at every information set of a small game, without playing",
    ),
    "train": (
        "train",
        "train networks: several seeds at once, with curves, checkpoints and scores",
    ),
    "evaluate": (
        "evaluate",
        "measure how well a policy or a team plays: means with confidence intervals",
    ),
    "crossplay": ("crossplay", "play every policy with every other, in every seat order"),
    "arena": (
        "arena",
        "play a season: every player against the others, rated, with a report as a page",
    ),
    "bench": ("bench", "measure how fast environments run on this machine"),
    "check": ("check", "check that an environment keeps the contract, with random play"),
    "mcp": (
        "mcp",
        "serve one seat of a game as tools (MCP): rules, look, choices, act, say, new_game",
    ),
    "serve": ("serve", "play, watch, look at records, and hold studies in the browser"),
}


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
    from manyhands.core.env import ConfigError, ManyhandsError

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
    except OSError as error:  # a file of results that cannot be written, mostly
        where = f"{error.filename}: " if error.filename is not None else ""
        print(f"manyhands: {where}{error.strerror or error}", file=sys.stderr)
        return 1


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of a command line; the module of its command is imported, and no other."""
    parser = argparse.ArgumentParser(
        prog="manyhands",
        description="Play, watch, record and measure multi-agent worlds.",
        epilog="`manyhands COMMAND --help` explains each command.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument(
        "--no-cache",
        action="store_true",
        help="keep no compiled programs in the user's cache folder, as MANYHANDS_NO_CACHE=1 does; "
        "may stand anywhere",
    )
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=CommandParser
    )
    chosen = _chosen(arguments)
    if chosen and chosen not in COMMANDS:
        near = difflib.get_close_matches(chosen, COMMANDS, 1)
        hint = f'did you mean "{near[0]}"? ' if near else ""
        parser.error(f"no command is called {chosen!r}; {hint}there are {', '.join(COMMANDS)}")
    for name, (module, summary) in COMMANDS.items():
        if name == chosen:
            importlib.import_module(f"manyhands.cli.{module}").add(commands)
        else:
            commands.add_parser(name, help=summary)
    options = parser.parse_args([word for word in arguments if word != "--no-cache"])
    options.no_cache |= "--no-cache" in arguments
    return options


def _chosen(arguments: Sequence[str]) -> str:
    """The command of a command line, "" if it has none or asks for help before."""
    for word in arguments:
        if word in ("-h", "--help", "--version"):
            return ""
        if not word.startswith("-"):
            return word
    return ""


def use_cache() -> None:
    """Keep what JAX compiles in the user's cache folder, so that the next command can load it,
    unless MANYHANDS_NO_CACHE is set, or the user has told JAX where to keep it."""
    if os.environ.get("MANYHANDS_NO_CACHE") or "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    import jax

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
