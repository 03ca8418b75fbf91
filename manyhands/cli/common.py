"""What several commands share: environments on the command line, films, records, transcripts."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from manyhands.cli.parser import is_pair
from manyhands.core.config import positive
from manyhands.core.env import ConfigError, Env
from manyhands.core.registry import make_wrapped, registered

CONFIG = """\
An environment is an id, or module:id of one that the module registers, and, after it, its
configuration as NAME=VALUE pairs, the keyword arguments of its class; values are JSON, or else
words:

  kitchen
  kitchen layout=coordination_ring dynamics=manual max_steps=200
  kitchen 'layout=["cramped_room","coordination_ring"]' view_radius=2

--chat adds the chat channel, --skills lets seats act by named skills instead of single moves, and
--events has them choose a skill only when something has happened.
"""
SEATS = """\
Seats are named in the order of the agents (with spaces or commas between them), or once for all of
them: random; bot (the scripted player that fits); text (one that reads text and answers in words);
greedy, onion_only, plate_only and stationary (scripted chefs); greedy and dispatched (cuisines);
hover, rally, duel, team and spiker (volleyball); keeper, chaser and surround (drones); ippo, psro,
self_play_pool and hsp (trained networks that come with the package); policy:file=FILE (what
`manyhands train` made); reader (text, for kitchens); language (a model behind any OpenAI-compatible
endpoint: OPENAI_BASE_URL, OPENAI_API_KEY); local:model=FOLDER (a model of transformers in this
process, mode=score or mode=generate); human (a person at a window, or at the terminal where there
is no display); terminal (a person at the terminal); equilibrium (perfect two-player Kuhn poker);
table:file=FILE (what `manyhands solve` found); perfect and solver:depth=6 (boards); fair,
tit_for_tat, boulware and conceder (negotiation); barter (trade); forager and porter (missions);
tidy, helper, follower, leader and instructor (homes).
Options follow a colon:
greedy:noise=0.2  language:model=NAME,temperature=0.7
"""
FILES = """\
A name that ends in .safetensors is the file of a trained policy.
"""


def command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], summary: str, more: str = ""
) -> argparse.ArgumentParser:
    """Add a command, whose help begins with `summary`; returns the parser of its arguments."""
    added: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary[0].lower() + summary[1:].split(".")[0],
        description=f"{summary}\n\n{more}".strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    added.set_defaults(run=run, command=name)
    return added


# ---- arguments -----------------------------------------------------------------------------------


def add_environment(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="an environment, see `manyhands list`")
    parser.add_argument(
        "config", nargs="*", default=[], metavar="NAME=VALUE", help="its configuration"
    )
    add_wrappers(parser)


def add_wrappers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--chat", action="store_true", help="let the agents talk")
    parser.add_argument("--skills", action="store_true", help="act by named skills")
    parser.add_argument(
        "--events",
        nargs="?",
        const="agent",
        default="",
        choices=("agent", "team"),
        help='choose a skill only when something has happened: everybody for itself ("agent", if '
        'nothing is said), or "team"',
    )


def add_measure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--episodes", type=int, default=100, help="of each seat order (default 100)"
    )
    parser.add_argument("--seed", type=int, default=0)


def add_record(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a record (.jsonl)")
    parser.add_argument("--episode", type=int, help="number of the episode (default: the first)")


def add_window(parser: argparse.ArgumentParser, film: str) -> None:
    parser.add_argument(
        "--speed", type=float, help="steps per second (default: the environment's pace)"
    )
    parser.add_argument("--headless", action="store_true", help="write --out instead of a window")
    parser.add_argument("--out", type=Path, default=Path(film), metavar="FILE")


# ---- environments --------------------------------------------------------------------------------


def build(options: argparse.Namespace) -> Env:
    """The environment that a command line names."""
    config = read_pairs(options.config)
    return make_env(options.id, config, options.skills, options.chat, options.events)


def make_env(
    id: str,
    config: Mapping[str, Any] = MappingProxyType({}),
    skills: bool = False,
    chat: bool = False,
    events: str = "",
) -> Env:
    """The environment called `id` in the wrappers that are asked for."""
    if id in registered(wrappers=True):
        how = f"and add --{id}" if id in ("skills", "chat", "events") else "which make() wraps"
        raise ConfigError(f"{id!r} is a wrapper; name an environment, {how}")
    return make_wrapped(id, config, skills=skills, events=events, chat=chat)


def read_pairs(pairs: Sequence[str]) -> dict[str, Any]:
    """A configuration from NAME=VALUE words."""
    for word in pairs:
        if not is_pair(word):
            raise ConfigError(f"{word!r} is not of the form NAME=VALUE")
    return {name: value_of(value) for name, _, value in (word.partition("=") for word in pairs)}


def value_of(text: str) -> Any:
    """JSON, or else words."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        # A layout's rows can be written on one line, as the shell has it.
        return text.replace("\\n", "\n")


# ---- seats ---------------------------------------------------------------------------------------


def seat_names(words: Sequence[str]) -> list[str]:
    """The seats that words name, of which one may name several: "text,bot". A word with a colon is
    one seat with its options, and a policy's file is one, too."""
    found = []
    for word in words:
        one = ":" in word or word.endswith(".safetensors")
        found += [word] if one else word.replace(",", " ").split()
    return found


# ---- episodes ------------------------------------------------------------------------------------


def moments_of(options: argparse.Namespace) -> Iterator[Any]:
    """The moments of the episode that a command line names."""
    from manyhands.core.record import frames, read

    numbers = []
    for episode in read(options.file):
        if options.episode is None or episode.result.episode == options.episode:
            return frames(episode)
        numbers.append(episode.result.episode)
    if not numbers:
        raise ConfigError(f"{options.file} holds no finished episode")
    raise ConfigError(
        f"{options.file} holds no episode {options.episode}; it holds {sorted(numbers)}"
    )


def check_film(options: argparse.Namespace) -> None:
    """Check what a film needs, before anything is played."""
    if options.out.suffix.lower() not in (".gif", ".mp4"):
        raise ConfigError(f"a film's name ends in .gif or .mp4, given {options.out}")
    if options.speed is not None:
        positive("speed", options.speed)


def write_film(moments: Sequence[Any], out: Path, fps: float | None) -> None:
    from manyhands.viewer.export import export_gif, export_mp4
    from manyhands.viewer.scenes import scenes

    write = export_gif if out.suffix.lower() == ".gif" else export_mp4
    write(scenes(moments), out, fps=fps, size=(960, 480), panel=True)
    print(f"wrote {out}")


class Transcript:
    """Prints episodes in words, step by step: what each seat did, said, and earned.

    Args:
        wanted: which moments are printed; by default all.
    """

    def __init__(self, wanted: Callable[[Any], bool] = lambda moment: True):
        self._wanted = wanted
        self._views: dict[int, Any] = {}  # what the agents of each episode saw when they acted

    def __call__(self, moment: Any) -> None:
        views = self._views.pop(moment.episode, None)
        if not moment.over:
            self._views[moment.episode] = moment.views
        if moment.turn is None:
            print(f"episode {moment.episode} (seed {moment.seed})")
        elif self._wanted(moment):
            self._print(moment, views)

    def _print(self, moment: Any, views: Any) -> None:
        turn = moment.turn
        for i, action in sorted(turn.actions.items()):
            words = turn.answers.get(i) or views[i].words(action)
            words = words.removesuffix("; say: nothing")  # beside a chat channel's silent choice
            line = f"{moment.step:4d}  {moment.env.agents[i]} ({moment.seats[i]}): {words}"
            if i in turn.said and turn.said[i] not in words:
                line += f'  says "{turn.said[i]}"'
            if i in turn.illegal:
                line += f"  REFUSED: {turn.illegal[i]}"
            print(line.replace("\n", " / "))
        for name, values in moment.frame.terms.items():
            if values.any():
                print(f"      {name}: {', '.join(f'{value:g}' for value in values.tolist())}")
