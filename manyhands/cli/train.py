"""`manyhands train`: networks, several seeds at once."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import itertools
import shlex
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Any

import manyhands
from manyhands.cli.common import make_env, read_pairs, value_of
from manyhands.cli.parser import is_pair
from manyhands.core.env import ConfigError, Env, ManyhandsError
from manyhands.core.registry import load

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
    devices: int = 0
    """divide the run over so many devices of this machine, by default one; a CPU has as many as
    JAX_NUM_CPU_DEVICES says"""
    distributed: str = ""
    """train with other processes, each started by this command: ADDRESS,COUNT,NUMBER (host:port of
    the first, how many, which of them), or "auto" on a cluster that JAX knows"""


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "train",
        help="train networks: several seeds at once, with curves, checkpoints and scores",
        add_help=False,
        prefix_chars="\0",
    )
    parser.add_argument("words", nargs="*")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    try:
        import tyro  # noqa: F401
        from rich.console import Console

        from manyhands.baselines.learners import training
    except ImportError as error:
        raise ManyhandsError(
            f'training needs the package {error.name!r}: pip install "manyhands[train]"'
        ) from error
    words = list(options.words)
    _join(words)
    jobs = training_jobs(words)
    if len({out for _, _, _, out in jobs}) < len(jobs):
        raise ConfigError(
            "two environments of the same name would share a folder; train them apart"
        )
    console, status = Console(), 0
    for env, job, config, out in jobs:
        if training.ALGORITHMS[job.algorithm].run:
            seeds = _seeds(job.seeds)
            for seed in range(seeds) if isinstance(seeds, int) else seeds:
                options_of = {"resume": job.resume, "overwrite": job.overwrite, "log": print}
                folder = out if seeds == 1 else out / f"seed-{seed}"
                found = training.grow(env, job.algorithm, config, folder, seed, **options_of)
                print(training.told(job.algorithm, found, folder))
            continue
        learner = training.make_learner(env, job.algorithm, config)
        try:
            result = training.train(
                learner,
                _seeds(job.seeds),
                out,
                resume=job.resume,
                overwrite=job.overwrite,
                updates_per_report=job.updates_per_report,
                checkpoint_minutes=job.checkpoint_minutes,
                episodes=job.episodes,
                command=shlex.join(["manyhands", "train", *words]),
                devices=_devices(job),
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


def _join(words: Sequence[str]) -> None:
    """Join the other processes, before anything uses JAX."""
    first = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    first.add_argument("--distributed", default="")
    given = first.parse_known_args(words)[0].distributed
    if not given:
        return
    address, *numbers = given.split(",")
    if given != "auto" and (len(numbers) != 2 or not all(n.isdecimal() for n in numbers)):
        raise ConfigError(
            f"--distributed is ADDRESS,COUNT,NUMBER, such as 10.0.0.1:1234,2,0, or auto; "
            f"given {given!r}"
        )
    import jax

    jax.distributed.initialize(*([] if given == "auto" else [address, *map(int, numbers)]))


def _devices(job: TrainOptions) -> list[Any] | None:
    import jax

    if job.distributed:
        if job.devices:
            raise ConfigError("--distributed takes all devices; leave out --devices")
        return jax.devices()
    if not job.devices:
        return None
    found = jax.local_devices()
    if not 0 < job.devices <= len(found):
        raise ConfigError(
            f"--devices {job.devices}: this machine has {len(found)}; a CPU has as many as the "
            "environment variable JAX_NUM_CPU_DEVICES says"
        )
    return found[: job.devices]


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
            load(word)
            named.append((word, {}))
        elif not named:
            raise ConfigError(f"{word!r} configures nothing: an environment comes before it")
        else:
            named[-1][1].update(read_pairs([word]))
    flags = list(words[count:])
    for before, word in itertools.pairwise(flags):
        if is_pair(word) and not (before.startswith("-") and "=" not in before):
            raise ConfigError(
                f"{word!r} configures an environment, and follows an option; write it right after "
                f"the environment: manyhands train {shlex.join([*words[:count], word])} "
                f"{shlex.join(flag for flag in flags if flag != word)}"
            )
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
        env = make_env(id, config, skills, chat, known.events)
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
        job = parsed.run
        if job.out is None:
            out = Path("runs") / f"{name}-{job.algorithm}"
        else:
            out = job.out if len(named) == 1 else job.out / name
        jobs.append((env, job, parsed.settings, out))
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
        given[name] = value_of(value)
    return given, rest
