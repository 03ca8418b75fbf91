"""The `manyhands` command. `manyhands --help` lists what it does."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import manyhands
from manyhands.core.env import ConfigError, Env, ManyhandsError
from manyhands.core.registry import load, make

_CONFIG = """\
An environment is an id and, after it, its configuration as NAME=VALUE pairs, the keyword arguments
of its class; values are JSON, or else words:

  kitchen
  kitchen layout=coordination_ring dynamics=manual max_steps=200
  kitchen 'layout=["cramped_room","coordination_ring"]' view_radius=2

--chat adds the chat channel, --skills lets seats act by named skills instead of single moves, and
--events has them choose a skill only when something has happened.
"""
_SEATS = """\
Seats are named in the order of the agents (with spaces or commas between them), or once for all of
them: random; bot (the scripted player that fits); text (one that reads text and answers in words);
greedy, onion_only, plate_only and stationary (scripted chefs); hover, rally and team (volleyball);
ippo, psro (trained networks that come with the package); policy:file=FILE (what `manyhands train`
made); reader (text, for kitchens); language (a model behind any OpenAI-compatible endpoint:
OPENAI_BASE_URL, OPENAI_API_KEY); human (the keyboard); equilibrium (perfect two-player Kuhn poker);
table:file=FILE (what `manyhands solve` found); perfect and solver:depth=6 (boards); fair,
tit_for_tat, boulware and conceder (negotiation). Options follow a colon:
greedy:noise=0.2  language:model=NAME,temperature=0.7
"""
_FILES = """\
A name that ends in .safetensors is the file of a trained policy.
"""
_TRAIN = """\
Train networks: several seeds at once, with curves, checkpoints and scores.

  manyhands train kitchen --layout cramped_room --algorithm mappo --seeds 4
  manyhands train kitchen layout=coordination_ring kitchen layout=forced_coordination --seeds 4

Environments come first, one or several, to be trained one after the other; each is followed by its
configuration as NAME=VALUE pairs. As flags (--layout NAME) it holds for every environment that
takes it.

Algorithms: {algorithms}; the flags of {algorithm} are below.
Configuration of {id}: {flags}
"""
_SHIPPED = ("gif", "mp4", "png", "chat", "arrays")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    options.own_process = arguments is None
    try:
        status: int = options.run(options)
        return status
    except ManyhandsError as error:
        print(f"manyhands: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("manyhands: stopped; finished episodes are kept", file=sys.stderr)
        return 130
    except BrokenPipeError:  # `manyhands ... | head`
        sys.stderr.close()
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="manyhands",
        description="Play, watch, record and measure multi-agent worlds.",
        epilog="`manyhands COMMAND --help` explains each command.",
    )
    parser.add_argument("--version", action="version", version=manyhands.__version__)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, run: Any, summary: str, more: str = "") -> argparse.ArgumentParser:
        added = commands.add_parser(
            name,
            help=summary[0].lower() + summary[1:].split(".")[0],
            description=f"{summary}\n\n{more}".strip(),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        added.set_defaults(run=run)
        return added

    listing = command(
        "list",
        _list,
        "List the environments, wrappers and seats; or explain one environment.",
        "`manyhands list kitchen` shows its configuration, its spaces and its layouts.",
    )
    listing.add_argument("id", nargs="?", help="an environment to explain")

    demo = command(
        "demo",
        _demo,
        "Show it all in two minutes, without a display.",
        "A trained network and a chef who reads text and answers in words cook together. Writes\n"
        "FOLDER/kitchen.jsonl (the record, which is then verified) and FOLDER/kitchen.gif, and\n"
        "measures a batched rollout.",
    )
    demo.add_argument("--out", type=Path, default=Path("demo"), metavar="FOLDER")

    playing = command(
        "play",
        _play,
        "Play episodes with any kind of player in any seat.",
        f"{_CONFIG}\n{_SEATS}\nFor example: manyhands play kitchen --seats human greedy",
    )
    _environment(playing)
    _episodes(playing)
    playing.add_argument("--watch", action="store_true", help="show a window while playing")
    playing.add_argument("--transcript", action="store_true", help="print each step in words")

    watch = command(
        "watch",
        _watch,
        "Play episodes, and show them in a window.",
        "With --headless it writes a film instead: --out FILE.gif or FILE.mp4.\n\n"
        f"{_CONFIG}\n{_SEATS}",
    )
    _environment(watch)
    _episodes(watch)
    _window(watch, "episode.gif")

    replay = command(
        "replay",
        _replay,
        "Open a recorded episode in a window: play, step, scrub, and read what each seat saw.",
        "space plays and pauses, the arrows step, home and end jump, the mouse scrubs, + and -\n"
        "change the speed, tab changes the seat whose texts are shown, q quits. With --headless\n"
        "it writes the film that the window would show.",
    )
    _record(replay)
    _window(replay, "replay.gif")

    verify = command(
        "verify",
        _verify,
        "Play a record again and compare every reward and fingerprint.",
        "Exit status 1 if anything differs.",
    )
    verify.add_argument("file", type=Path, help="a record (.jsonl)")

    export = command(
        "export",
        _export,
        "Turn a record into films, pictures, conversations or arrays.",
        "The form is that of OUT's ending, or --format:\n"
        "  gif, mp4   a film of one episode (--episode), with the texts beside it: --panel\n"
        "  png        a strip of --count pictures of one episode\n"
        "  chat       .jsonl: one conversation for each agent of each episode, in chat format,\n"
        "             with rewards, legal actions and parse status\n"
        "  arrays     .npz: observations, masks, actions, rewards and ends of all episodes",
    )
    _record(export)
    export.add_argument("out", type=Path, help="the file to write")
    export.add_argument("--format", choices=_SHIPPED)
    export.add_argument(
        "--fps", type=float, help="steps per second of a film (default: the environment's pace)"
    )
    export.add_argument("--count", type=int, default=4, help="pictures in a strip (default 4)")
    export.add_argument("--panel", action="store_true", help="show what a seat saw and said")
    export.add_argument("--agent", help="show what this agent sees")
    export.add_argument("--camera", help="how the world is shown: map, or whom to follow")
    export.add_argument("--size", type=_size, default=None, metavar="WIDTHxHEIGHT")

    solving = command(
        "solve",
        _solve,
        "Find an equilibrium of a small game by counterfactual regret minimisation.",
        "Prints what each seat earns, and the exploitability: what a perfect opponent would gain.\n"
        "Writes FOLDER/policy.safetensors, which the seat table:file=... plays, result.json, and\n"
        "curve.png; and a checkpoint, so that --resume can go on from there.\n\n"
        f"{_CONFIG}\nFor example: manyhands solve leduc_holdem --iterations 10000 --out leduc",
    )
    _environment(solving)
    solving.add_argument(
        "--algorithm",
        default="cfr+",
        help="cfr, cfr+ (default), or mccfr, which samples the deal and the others' actions",
    )
    solving.add_argument("--iterations", type=int, default=1000, help="in all (default 1000)")
    solving.add_argument("--seed", type=int, default=0, help="of mccfr (default 0)")
    solving.add_argument("--out", type=Path, metavar="FOLDER", help="where to write the results")
    solving.add_argument("--resume", action="store_true", help="go on with the run in FOLDER")

    judging = command(
        "analyse",
        _analyse,
        "Judge the players of a record of poker: how exploitable, and what they do wrong.",
        "For every seat, a network's or a language model's: chips a hand with a 95 % confidence\n"
        "interval, the exploitability of the policy that was seen, dominated actions, and bluffs\n"
        "and calls beside equilibrium.",
    )
    judging.add_argument("file", type=Path, help="a record (.jsonl)")
    judging.add_argument(
        "--fill",
        default="uniform",
        choices=("uniform", "equilibrium"),
        help="what to assume where a seat never acted (default uniform)",
    )
    judging.add_argument("--out", type=Path, metavar="FILE", help="write all of it as JSON, too")

    # Its flags depend on the environment and the algorithm: `_train` reads them.
    training = commands.add_parser(
        "train",
        help="train networks: several seeds at once, with curves, checkpoints and scores",
        add_help=False,
        prefix_chars="\0",
    )
    training.add_argument("words", nargs="*")
    training.set_defaults(run=_train)

    evaluate = command(
        "evaluate",
        _evaluate,
        "Measure how well a policy or a team plays: means with confidence intervals.",
        "One policy takes all seats; a team also plays in the other seat orders. --zero-shot\n"
        "pairs one policy with partners that it has not met, in every seat: by default the\n"
        f"held-out scripted players of the environment.\n\n{_CONFIG}\n{_SEATS}{_FILES}\n"
        "For example: manyhands evaluate kitchen layout=cramped_room --seats greedy --zero-shot",
    )
    _environment(evaluate)
    evaluate.add_argument("--seats", nargs="+", required=True, help="who plays")
    evaluate.add_argument(
        "--zero-shot", nargs="*", metavar="PARTNER", help="play with partners never met"
    )
    _measured(evaluate)
    evaluate.add_argument("--json", type=Path, metavar="FILE", help="write all of it as JSON, too")

    crossing = command(
        "crossplay",
        _crossplay,
        "Play every policy with every other, in every seat order.",
        "Writes FOLDER/crossplay.json, .csv, .md (tables with confidence intervals) and .png (a\n"
        f"heat map).\n\n{_CONFIG}\n{_SEATS}{_FILES}\n"
        "For example: manyhands crossplay kitchen layout=cramped_room greedy onion_only random",
    )
    crossing.add_argument("id", help="an environment, see `manyhands list`")
    crossing.add_argument(
        "config", nargs="*", metavar="NAME=VALUE | POLICY", help="its configuration; two policies+"
    )
    _wrapped(crossing)
    _measured(crossing)
    crossing.add_argument("--out", type=Path, default=Path("crossplay"), metavar="FOLDER")

    bench = command(
        "bench",
        _bench,
        "Measure how fast environments run on this machine.",
        "Batches with random actions, with every observation written to memory, and with a small\n"
        "network that chooses; and one environment alone. All environments, or those that are\n"
        "named; configured, if it is one. benchmarks/ in the repository measures more, beside\n"
        "other libraries.\n\n  manyhands bench\n  manyhands bench kuhn_poker leduc_holdem\n"
        "  manyhands bench kitchen layout=coordination_ring observation=compact",
    )
    bench.add_argument("what", nargs="*", metavar="ID or NAME=VALUE", help="default: all")
    _wrapped(bench)
    bench.add_argument("--num-envs", type=int, default=1024, help="size of the batch")
    bench.add_argument("--num-steps", type=int, default=256, help="steps of each environment")
    return parser


def _environment(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="an environment, see `manyhands list`")
    parser.add_argument("config", nargs="*", metavar="NAME=VALUE", help="its configuration")
    _wrapped(parser)


def _wrapped(parser: argparse.ArgumentParser) -> None:
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


def _episodes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seats", nargs="+", help="who plays (by default greedy chefs, or random players)"
    )
    parser.add_argument("--episodes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--only", type=int, nargs="+", metavar="EPISODE", help="only these episodes"
    )
    parser.add_argument(
        "--group", type=int, default=1, help="play each episode so often from one start (default 1)"
    )
    parser.add_argument(
        "--fork", type=Path, nargs="+", metavar="FILE", help="begin from snapshots, in turn"
    )
    parser.add_argument("--record", type=Path, metavar="FILE", help="write a record (.jsonl)")
    parser.add_argument("--resume", action="store_true", help="go on with the record")
    parser.add_argument(
        "--rotate", action="store_true", help="change seats from episode to episode"
    )
    parser.add_argument("--concurrency", type=int, default=16, help="episodes at once (default 16)")
    parser.add_argument(
        "--on-illegal",
        choices=("noop", "raise", "forfeit"),
        default="noop",
        help="what an illegal answer does (default noop)",
    )


def _measured(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--episodes", type=int, default=100, help="of each seat order (default 100)"
    )
    parser.add_argument("--seed", type=int, default=0)


def _record(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a record (.jsonl)")
    parser.add_argument("--episode", type=int, help="number of the episode (default: the first)")


def _window(parser: argparse.ArgumentParser, film: str) -> None:
    parser.add_argument(
        "--speed", type=float, help="steps per second (default: the environment's pace)"
    )
    parser.add_argument("--headless", action="store_true", help="write --out instead of a window")
    parser.add_argument("--out", type=Path, default=Path(film), metavar="FILE")


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal() and int(width) and int(height)):
        raise argparse.ArgumentTypeError(f"a size is written 640x480, given {text!r}")
    return int(width), int(height)


def build(options: argparse.Namespace) -> Env:
    """The environment that a command line names."""
    pairs = dict(map(_pair, options.config))
    config = {name: _value(value) for name, value in pairs.items()}
    return _build(options.id, config, options.skills, options.chat, options.events)


def _pair(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals or not name.isidentifier():
        raise ConfigError(f"{word!r} is not of the form NAME=VALUE")
    return name, value


def _value(text: str) -> Any:
    """JSON, or else words."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        # A layout's rows can be written on one line, as the shell has it.
        return text.replace("\\n", "\n")


def _build(id: str, config: dict[str, Any], skills: bool, chat: bool, events: str = "") -> Env:
    if id not in manyhands.registered():
        _unknown(id)
    try:
        env = make(id, **config)
    except TypeError as error:
        raise ConfigError(f"{id} cannot be configured so: {error}") from error
    if skills and events:
        raise ConfigError("--skills and --events are two ways of acting by skills; give one")
    if skills:
        env = make("skills", env=env)
    if events:
        env = make("events", env=env, per=events)
    if chat:
        env = make("chat", env=env)
    return env


# ---- the commands --------------------------------------------------------------------------------


def _list(options: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if options.id is None:
        table = Table("environment", "agents", "actions", "observation", "what it is")
        for name in manyhands.registered():
            env = make(name)
            table.add_row(
                name, str(env.num_agents), str(env.action_space), _shape(env), _summary(name)
            )
        console.print(table)
        console.print("wrappers:", ", ".join(manyhands.registered(wrappers=True)))
        console.print("seats:   ", ", ".join(manyhands.registered_seats()))
        return 0
    if options.id not in manyhands.registered():
        _unknown(options.id)
    env = make(options.id)
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


def _unknown(name: str) -> NoReturn:
    raise ConfigError(
        f"no environment is called {name!r}; there are {', '.join(manyhands.registered())}"
    )


def _shape(env: Env) -> str:
    space = env.observation_space
    return f"{space.dtype}{list(space.shape or ())}"


def _summary(name: str) -> str:
    return (load(name).__doc__ or "").strip().splitlines()[0]


def _play(options: argparse.Namespace) -> int:
    watch = None
    if options.watch:
        from manyhands.viewer.window import Watch

        watch = Watch()

    onlookers = [
        onlooker for onlooker in (Transcript() if options.transcript else None, watch) if onlooker
    ]

    def on_step(moment: Any) -> None:
        for onlooker in onlookers:
            onlooker(moment)

    print(_run(options, build(options), on_step if onlookers else None))
    return 0


def _run(options: argparse.Namespace, env: Env, on_step: Any) -> Any:
    given = [name for word in options.seats or [env.default_policy] for name in _names(word)]
    seats = given[0] if len(given) == 1 else given
    people = sum(seat.partition(":")[0] == "human" for seat in given)
    return manyhands.play(
        env,
        seats,
        options.episodes,
        options.seed,
        only=options.only,
        group=options.group,
        fork=[_bytes(file) for file in options.fork] if options.fork else None,
        record=options.record,
        resume=options.resume,
        rotate=options.rotate,
        concurrency=1 if people else options.concurrency,
        on_illegal=options.on_illegal,
        progress=False if people or on_step else None,
        on_step=on_step,
    )


def _names(word: str) -> list[str]:
    """Seats in one word: "text,bot"; commas after a colon divide the options of one seat."""
    return [word] if ":" in word else [name for name in word.split(",") if name]


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read {file}: {error.strerror}") from error


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
            if values.any() and not turn.forfeits:
                print(f"      {name}: {', '.join(f'{value:g}' for value in values.tolist())}")


def _watch(options: argparse.Namespace) -> int:
    env = build(options)
    if not options.headless:
        from manyhands.viewer.window import Watch

        print(_run(options, env, Watch(speed=options.speed)))
        return 0
    moments: list[Any] = []
    first = min(options.only) if options.only else 0
    print(_run(options, env, lambda m: moments.append(m) if m.episode == first else None))
    _film(moments, options.out, options.speed)
    return 0


def _film(moments: Sequence[Any], out: Path, fps: float | None) -> None:
    from manyhands.viewer.export import export_gif, export_mp4
    from manyhands.viewer.scenes import scenes

    write = {".gif": export_gif, ".mp4": export_mp4}.get(out.suffix.lower())
    if write is None:
        raise ConfigError(f"a film's name ends in .gif or .mp4, given {out}")
    write(scenes(moments), out, fps=fps, size=(960, 480), panel=True)
    print(f"wrote {out}")


def _moments(options: argparse.Namespace) -> Iterator[Any]:
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


def _replay(options: argparse.Namespace) -> int:
    moments = list(_moments(options))
    if options.headless:
        _film(moments, options.out, options.speed)
        return 0
    from manyhands.viewer.scenes import scenes
    from manyhands.viewer.window import Replay

    Replay(list(scenes(moments)), speed=options.speed, title=str(options.file)).run()
    return 0


def _verify(options: argparse.Namespace) -> int:
    from manyhands.core.record import verify

    result = verify(options.file)
    print(result)
    return 0 if result else 1


def _export(options: argparse.Namespace) -> int:
    endings = {".gif": "gif", ".mp4": "mp4", ".png": "png", ".jsonl": "chat", ".npz": "arrays"}
    form = options.format or endings.get(options.out.suffix.lower())
    if form is None:
        raise ConfigError(
            f"what to write cannot be told from {options.out}; pass --format, one of "
            f"{', '.join(_SHIPPED)}"
        )
    if form in ("chat", "arrays"):
        from manyhands.core.export import export_arrays, export_chat

        count = (export_chat if form == "chat" else export_arrays)(options.file, options.out)
        print(f"wrote {options.out}: {count} {'conversations' if form == 'chat' else 'steps'}")
        return 0
    from manyhands.viewer.export import export_gif, export_mp4, export_strip
    from manyhands.viewer.scenes import scenes

    moments = list(_moments(options))
    look: dict[str, Any] = {"panel": options.panel, "camera": options.camera or ""}
    if options.agent is not None:
        look["agent"] = look["seat"] = moments[0].env.index(options.agent)
    if options.size:
        look["size"] = options.size
    elif options.panel:
        look["size"] = (960, 480)
    if form == "png":
        export_strip(scenes(moments), options.out, count=options.count, **look)
    else:
        write = export_gif if form == "gif" else export_mp4
        write(scenes(moments), options.out, fps=options.fps, **look)
    print(f"wrote {options.out}")
    return 0


def _solve(options: argparse.Namespace) -> int:
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


@dataclasses.dataclass(frozen=True)
class TrainOptions:
    """How a run is made and kept."""

    algorithm: str = "ippo"
    """what learns"""
    seeds: str = "1"
    """how many seeds (0, 1, ...) train at once; or which, with commas: 3,5,8"""
    out: Path | None = None
    """the folder of the run, by default runs/ENVIRONMENT-ALGORITHM; of several, one folder each
    in it"""
    resume: bool = False
    """go on from the last checkpoint; begin if there is none"""
    overwrite: bool = False
    """delete the run that the folder holds"""
    config: Path | None = None
    """a JSON file of the algorithm's settings; flags go before it"""
    episodes: int = 100
    """played by each seed for its score"""
    checkpoint_minutes: float = 5.0
    """between checkpoints"""
    updates_per_report: int | None = None
    """by default a 200th of the run"""
    skills: bool = False
    """act by named skills"""
    events: str = ""
    """choose a skill only when something has happened: "agent", everybody for itself, or "team" """
    chat: bool = False
    """let the agents talk"""


def _train(options: argparse.Namespace) -> int:
    try:
        import tyro  # noqa: F401
        from rich.console import Console

        from manyhands.baselines.learners import training
    except ImportError as error:
        raise ManyhandsError(
            f'training needs the package {error.name!r}: pip install "manyhands[train]"'
        ) from error
    words = list(options.words)
    jobs = training_jobs(words)
    if len({out for _, _, _, out in jobs}) < len(jobs):
        raise ConfigError(
            "two environments of the same name would share a folder; train them apart"
        )
    console, status = Console(), 0
    for env, run, config, out in jobs:
        if training.ALGORITHMS[run.algorithm].run:
            seeds = _seeds(run.seeds)
            for seed in range(seeds) if isinstance(seeds, int) else seeds:
                options_of = {"resume": run.resume, "overwrite": run.overwrite, "log": print}
                folder = out if seeds == 1 else out / f"seed-{seed}"
                print(training.grow(env, run.algorithm, config, folder, seed, **options_of))
            continue
        learner = training.make_learner(env, run.algorithm, config)
        try:
            result = training.train(
                learner,
                _seeds(run.seeds),
                out,
                resume=run.resume,
                overwrite=run.overwrite,
                updates_per_report=run.updates_per_report,
                checkpoint_minutes=run.checkpoint_minutes,
                episodes=run.episodes,
                command=shlex.join(["manyhands", "train", *words]),
            )
        except training.TrainingError as error:
            if error.result is None:
                raise
            print(f"manyhands: {error}", file=sys.stderr)
            result, status = error.result, 1
        except KeyboardInterrupt:
            return 130
        console.print(training.summary(result))
    return status


def _seeds(text: str) -> int | list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts if part) or not parts[0]:
        raise ConfigError(f"seeds are a number, or numbers with commas (3,5,8), given {text!r}")
    return int(parts[0]) if len(parts) == 1 else [int(part) for part in parts if part]


def training_jobs(words: Sequence[str]) -> list[tuple[Env, TrainOptions, Any, Path]]:
    """(environment, options, the algorithm's configuration, folder) of each run that the words
    after `manyhands train` name."""
    import tyro

    from manyhands.baselines.learners import training

    count = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    named: list[tuple[str, dict[str, Any]]] = []
    for word in words[:count]:
        if "=" not in word:
            if word not in manyhands.registered():
                _unknown(word)
            named.append((word, {}))
        elif not named:
            raise ConfigError(f"{word!r} configures nothing: an environment comes before it")
        else:
            name, value = _pair(word)
            named[-1][1][name] = _value(value)
    flags = list(words[count:])
    if not named and not {"-h", "--help"} & set(flags):
        raise ConfigError(f"which environment? There are {', '.join(manyhands.registered())}")

    first = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    first.add_argument("--algorithm", default=TrainOptions.algorithm)
    first.add_argument("--config", type=Path)
    first.add_argument("--events", default=TrainOptions.events)
    known = first.parse_known_args(flags)[0]
    settings = training.config_class(known.algorithm)
    taken = {field.name for kind in (TrainOptions, settings) for field in dataclasses.fields(kind)}
    accepted = {
        id: [name for name in inspect.signature(load(id)).parameters if name not in taken]
        for id in dict(named or [("kitchen", {})])
    }
    given, flags = _environment_flags(
        flags, {name for names in accepted.values() for name in names}
    )

    jobs = []
    for id, pairs in named or [("kitchen", {})]:
        config = {name: value for name, value in given.items() if name in accepted[id]} | pairs
        chat, skills = (f"--{wrapper}" in flags for wrapper in ("chat", "skills"))
        env = _build(id, config, skills, chat, known.events)
        default = training.default_config(env, known.algorithm)
        if known.config is not None:
            default = training.configured(default, known.config)
        both = dataclasses.make_dataclass(
            "Both",
            [
                ("run", Annotated[TrainOptions, tyro.conf.arg(name="")], TrainOptions()),
                ("settings", Annotated[settings, tyro.conf.arg(name="")], default),
            ],
        )
        parsed: Any = tyro.cli(
            both,
            args=flags,
            prog=f"manyhands train {id}" if named else "manyhands train ENVIRONMENT",
            description=_TRAIN.format(
                algorithms=", ".join(training.ALGORITHMS),
                algorithm=known.algorithm,
                id=id,
                flags=" ".join(f"--{name.replace('_', '-')}" for name in accepted[id]),
            ),
        )
        name = training.folder_name(env)
        run = parsed.run
        if run.out is None:
            out = Path("runs") / f"{name}-{run.algorithm}"
        else:
            out = run.out if len(named) == 1 else run.out / name
        jobs.append((env, run, parsed.settings, out))
    return jobs


def _environment_flags(
    words: Sequence[str], names: Collection[str]
) -> tuple[dict[str, Any], list[str]]:
    """Those of `words` that are flags of `names` (`--max-steps 100`), read; and all others."""
    given: dict[str, Any] = {}
    rest, remaining = [], iter(words)
    for word in remaining:
        flag, equals, value = word.partition("=")
        name = flag.removeprefix("--").replace("-", "_")
        if not flag.startswith("--") or name not in names:
            rest.append(word)
            continue
        if not equals:
            value = next(remaining, "--")
            if value.startswith("--"):
                raise ConfigError(f"{flag} wants a value")
        given[name] = _value(value)
    return given, rest


def _analyse(options: argparse.Namespace) -> int:
    from manyhands.baselines.game_theory.analysis import analyse

    analysis = analyse(options.file, options.fill)
    analysis.show()
    if options.out is not None:
        options.out.write_text(json.dumps(analysis.to_dict(), indent=1) + "\n")
        print(f"wrote {options.out}")
    return 0


def _evaluate(options: argparse.Namespace) -> int:
    from manyhands.baselines.evaluation import evaluate, zero_shot

    env = build(options)
    result: Any
    if options.zero_shot is None:
        result = evaluate(env, options.seats, options.episodes, options.seed)
    else:
        if len(options.seats) != 1:
            raise ConfigError(
                f"--zero-shot evaluates one policy, {len(options.seats)} given with --seats; "
                "partners follow --zero-shot"
            )
        partners = options.zero_shot or None
        result = zero_shot(env, options.seats[0], partners, options.episodes, options.seed)
    print(result)
    if options.json is not None:
        from manyhands.baselines.players.network import replace

        replace(options.json, (json.dumps(result.to_dict(), indent=2) + "\n").encode())
        print(f"wrote {options.json}")
    return 0


def _crossplay(options: argparse.Namespace) -> int:
    from manyhands.baselines.evaluation.crossplay import crossplay

    given, options.config = options.config, []
    policies: list[str] = []
    for word in given:
        name, equals, _ = word.partition("=")
        (options.config if equals and name.isidentifier() else policies).append(word)
    result = crossplay(build(options), policies, options.episodes, options.seed)
    print(result)
    for path in result.save(options.out):
        print(f"wrote {path}")
    return 0


def _bench(options: argparse.Namespace) -> int:
    import importlib.util

    import jax

    from manyhands.baselines.learners.speed import Course, movers

    ids = [word for word in options.what if "=" not in word]
    config = [word for word in options.what if "=" in word]
    if config and len(ids) != 1:
        raise ConfigError(f"{config[0]!r} configures one environment; name it before")
    loads = {"none": "random actions", "observed": "and observations", "network": "a network"}
    if importlib.util.find_spec("flax") is None:
        del loads["network"]
        print('no networks: they need flax (pip install "manyhands[train]")')
    if options.own_process:  # a CPU as one device for each core: see docs/performance.md
        jax.config.update("jax_num_cpu_devices", os.cpu_count() or 1)
    device = jax.devices()[0]
    print(
        f"{options.num_envs} environments x {options.num_steps} steps on "
        f"{len(jax.devices())} x {device.device_kind}; steps a second:"
    )
    for id in ids or manyhands.registered():
        env = build(argparse.Namespace(**{**vars(options), "id": id, "config": config}))
        acting = movers(env)
        print(f"{id} ({acting:.2g} of {env.num_agents} agents act in a step)")
        for name, words in loads.items():
            speed, seconds = Course(env, name, options.num_envs, options.num_steps).measure()
            print(
                f"  {words + ':':18}{speed:14,.0f} env-steps {speed * acting:14,.0f} agent-steps"
                f"  (first call {seconds:.1f} s)",
                flush=True,
            )
        print(f"  {'one alone:':18}{measure_single(env):14,.0f} env-steps", flush=True)
    return 0


def measure_single(env: Env, steps: int = 1000) -> float:
    """Environment steps per second of one environment, with its observation and legal actions."""
    import jax
    import numpy as np

    from manyhands.core.env import episode_key
    from manyhands.core.pack import no_actions, stepper

    one, key = stepper(env), episode_key(0)
    key_data = np.asarray(jax.random.key_data(key))
    frame = one.step(key_data, 0, one.reset(key), no_actions(env))
    space, actions = env.action_space, no_actions(env)
    space.seed(0)
    choices = [np.stack([space.sample() for _ in env.agents]) for _ in range(64)]
    began = time.perf_counter()
    frame = one.reset(key)
    for t in range(steps):
        actions[:] = choices[t % 64]
        frame = one.step(key_data, t, frame, actions)
        if frame.over:
            frame = one.reset(key)
    return steps / (time.perf_counter() - began)


def _demo(options: argparse.Namespace) -> int:
    from manyhands.core.record import frames, read, verify
    from manyhands.viewer.export import export_gif
    from manyhands.viewer.scenes import scenes

    options.out.mkdir(parents=True, exist_ok=True)
    record, film = options.out / "kitchen.jsonl", options.out / "kitchen.gif"
    record.unlink(missing_ok=True)
    env = make("chat", env=make("kitchen", layout="coordination_ring"))
    print(
        "Two chefs in coordination_ring: chef_0 is a trained network, which reads vectors (IPPO),"
    )
    print("chef_1 reads the text below and answers in words. What it reads at the start:\n")

    def onlooker(moment: Any) -> None:
        if moment.step == 0:
            print("    " + moment.views[1].text.replace("\n", "\n    ") + "\n")
            print("\n".join(f"    - {choice}" for choice in moment.views[1].choices[:6]) + "\n")
        transcript(moment)

    transcript = Transcript(lambda m: m.step <= 8 or bool(m.frame.terms["delivery"].any()))
    began = time.perf_counter()
    result = manyhands.play(env, ["ippo", "reader"], record=record, on_step=onlooker)
    print(f"\n{result}\n  in {time.perf_counter() - began:.1f} s, compilation included")
    print(f"\n{record}: {verify(record)}")

    episode = next(read(record))
    moments = [moment for moment in frames(episode) if moment.step <= 150]
    export_gif(scenes(moments), film, fps=8, size=(880, 420), panel=True, seat=1)
    print(f"{film}: the first 150 steps, with what chef_1 reads and says")

    from manyhands.baselines.learners.speed import Course

    speed, seconds = Course(make("kitchen"), "none", 1024, 400).measure()
    print(
        f"\nBatched rollout, 1,024 kitchens x 400 steps, random actions: {speed:,.0f} env-steps/s"
    )
    print(f"(the first call took {seconds:.1f} s, compilation included)")
    print("\nNext: manyhands replay demo/kitchen.jsonl, or manyhands play --help")
    return 0


if __name__ == "__main__":
    sys.exit(main())
