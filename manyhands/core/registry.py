"""The registry of games, wrappers and seats, of this package and of others.

Installed packages with entry points in the groups `manyhands.games` (id = "module:Class") or
`manyhands.seats` (name = "module:factory") are found without an import. The id `"module:id"`
imports a module first, which registers its games, as in Gymnasium.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.metadata
import inspect
import re
import warnings
from collections.abc import Mapping
from typing import Any

import gymnasium
import pettingzoo

from manyhands.core.config import check_options, nearest
from manyhands.core.env import ConfigError, Env, SeatError, Wrapper

# ---- games and wrappers --------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Game:
    """One row of the table of games.

    Attributes:
        id: its name in `make`, `"matching_pennies"`.
        entry_point: its class, `"package.module:Class"`; loaded when it is first made.
        gym_id: its name in Gymnasium, `"manyhands/<gym_id>-v0"`; by default the id in CamelCase. In
            PettingZoo it is `"manyhands/<id>-v0"`.
        variants: configurations with their own names: `"1v1": {"task": "1v1"}` is
            `"manyhands/<gym_id>1v1-v0"` in Gymnasium and `"manyhands/<id>_1v1-v0"` in PettingZoo.
    """

    id: str
    entry_point: str
    gym_id: str = ""
    variants: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)


_GAMES: dict[str, Game] = {}
_WRAPPERS: dict[str, str] = {}
_NAME = re.compile(r"[A-Za-z][\w-]*")


def register(game: Game | str, entry_point: str = "", **about: Any) -> None:
    """Add a game: a row of the table, or its fields. After that the id works in `make`, `play` and
    the command line, and its names in `gymnasium.make` and `pettingzoo.make`.

    Raises:
        ConfigError: the id is no plain name, or the entry point is not "module:Class".
    """
    if isinstance(game, str):
        game = Game(game, entry_point, **about)
    _check_entry("game", game.id, game.entry_point)
    _GAMES[game.id] = game
    gym_id = game.gym_id or game.id.replace("_", " ").title().replace(" ", "").replace("-", "")
    for name, options in {"": {}, **game.variants}.items():
        suffix = name.title().replace("V", "v").replace("_", "")
        full = f"manyhands/{gym_id}{suffix}-v0"
        gymnasium.registry.pop(full, None)  # without a warning: a module may be loaded twice
        gymnasium.register(
            full,
            entry_point="manyhands.wrappers.gymnasium:SeatEnv",
            vector_entry_point="manyhands.wrappers.gymnasium:SeatVectorEnv",
            kwargs={"game": game.id, **options},
        )
        known = f"manyhands/{game.id}{name and f'_{name}'}-v0"
        for kind, listed, function in (
            ("parallel", pettingzoo.parallel_registry, "parallel_env"),
            ("aec", pettingzoo.aec_registry, "env"),
        ):
            listed.pop(known, None)
            pettingzoo.register(
                kind,  # type: ignore[arg-type]
                known,
                f"manyhands.wrappers.pettingzoo:{function}",
                kwargs={"id": game.id, **options},
            )


def register_wrapper(id: str, entry_point: str) -> None:
    """Add a wrapper: its class takes the environment that it wraps as `env=`."""
    _check_entry("wrapper", id, entry_point)
    _WRAPPERS[id] = entry_point


def _shipped() -> None:
    """Register what comes with the package, if nobody has: where this module was imported by the
    command line, which loads nothing before it has to."""
    importlib.import_module("manyhands.shipped")


def registered(*, wrappers: bool = False) -> tuple[str, ...]:
    """The ids of all games, or of all wrappers, sorted."""
    _shipped()
    return tuple(sorted(_WRAPPERS if wrappers else _GAMES))


def load(id: str) -> Any:
    """The class registered under `id`, which may be `"module:id"` and end in a version, `"-v0"`.

    Raises:
        ConfigError: nothing is registered under it, or with another version.
    """
    _shipped()
    if not isinstance(id, str):
        raise ConfigError(f"the id of an environment is text, given {id!r}")
    name, version = _parsed(id)
    entry_point = _entry_of(name)
    if entry_point is None:
        known = registered()
        raise ConfigError(
            f"no environment is called {name!r};{nearest(name, known)} there are {', '.join(known)}"
        )
    loaded = _load(entry_point)
    if version is not None and version != loaded.version:
        raise ConfigError(
            f"{name!r} has version {loaded.version} here, given {id!r}: its rules or observations "
            "have changed; leave out the version, or install the Manyhands that has it"
        )
    return loaded


def make(id: str, **config: Any) -> Env[Any]:
    """Build a registered environment: `make("kitchen", layout="coordination_ring")`.

    Args:
        id: `"kitchen"`, `"kitchen-v0"`, or `"module:id"`, which imports the module first.

    Raises:
        ConfigError: there is no such id or option, or the options make no environment.
    """
    made = load(id)
    check_options(made, config, id)
    wraps = isinstance(made, type) and issubclass(made, Wrapper)
    if wraps and not isinstance(config.get("env"), Env):
        given = f"given {config['env']!r}" if "env" in config else "none is given"
        raise ConfigError(f"{id!r} wraps an environment, env=make(...); {given}")
    env: Env[Any] = made(**config)
    return env


def make_wrapped(
    id: str,
    config: Mapping[str, Any],
    *,
    skills: bool = False,
    events: str = "",
    recent: bool = False,
    retries: Mapping[str, Any] | None = None,
    chat: bool = False,
) -> Env[Any]:
    """`make(id, **config)` in the wrappers that a command line or a season asks for, from the inner
    to the outer one.

    Args:
        skills: in the wrapper `skills`.
        events: in the wrapper `events`, `"agent"` or `"team"`; "" for none.
        recent: in the wrapper `recent`.
        retries: in the wrapper `retries`, with these options; None for none.
        chat: in the wrapper `chat`.

    Raises:
        ConfigError: as `make`; or both ways of acting by skills were asked for.
    """
    if skills and events:
        raise ConfigError("skills and events are two ways of acting by skills; give one")
    if "id" in config:
        raise ConfigError(f"the options of {id} name another id, {config['id']!r}; give one")
    try:
        env = make(id, **config)
    except TypeError as error:
        raise ConfigError(f"{id} cannot be configured so: {error}") from error
    if skills:
        env = make("skills", env=env)
    if events:
        env = make("events", env=env, per=events)
    if recent:
        env = make("recent", env=env)
    if retries is not None:
        env = make("retries", env=env, **retries)
    return make("chat", env=env) if chat else env


def configured(game: str | Env[Any], config: Mapping[str, Any], api: Any) -> Env[Any]:
    """The environment that an API was asked for: the one given, or `make(game, **config)`.

    Args:
        api: the class or function that was called, whose first parameter is the game. An unknown
            option is reported with its options and those of the game.

    Raises:
        ConfigError: as `make`; or `config` came with an environment, which is configured already.
    """
    parameters = list(inspect.signature(api).parameters.values())[1:]
    own = [
        parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD
    ]
    if isinstance(game, Env):
        if config:
            near = "".join(nearest(name, own) for name in config)
            raise ConfigError(
                f"{game!r} is configured already; {', '.join(config)} cannot be changed"
                f"{near and ';' + near}"
            )
        return game
    made = load(game)
    check_options(made, config, game, also=own)
    try:
        env: Env[Any] = made(**config)
    except ConfigError as error:
        # A class that takes any option has refused one that the API has under a similar name.
        known = inspect.signature(made).parameters
        near = "".join(nearest(name, own) for name in config if name not in known)
        if not near:
            raise
        raise ConfigError(f"{error};{near}") from None
    return env


def from_spec(spec: Mapping[str, Any]) -> Env[Any]:
    """The environment that `Env.spec()` described. Only registered ids are built."""
    if not isinstance(spec, Mapping) or not isinstance(spec.get("id"), str) or ":" in spec["id"]:
        raise ConfigError(f"an environment spec has an 'id' and a 'config'; given {spec!r}")
    config = spec.get("config") or {}
    if not isinstance(config, Mapping):
        raise ConfigError(f"the 'config' of an environment spec is a mapping, given {config!r}")
    config = {**load(spec["id"]).added, **config}
    if "env" in spec:
        config["env"] = from_spec(spec["env"])
    try:
        return make(spec["id"], **config)
    except TypeError as error:
        raise ConfigError(f"{spec['id']!r} cannot be built from {config!r}: {error}") from error


def _parsed(id: str) -> tuple[str, int | None]:
    """(the name of an id, its version), after importing the module that it names."""
    module, _, name = id.rpartition(":")
    if module:
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise ConfigError(f"the module of {id!r} cannot be imported: {error}") from error
    found = re.fullmatch(r"(.+)-v(\d+)", name)
    return (found[1], int(found[2])) if found and name not in _GAMES else (name, None)


def _entry_of(name: str) -> str | None:
    return _GAMES[name].entry_point if name in _GAMES else _WRAPPERS.get(name)


def _load(entry_point: str) -> Any:
    module, _, name = entry_point.partition(":")
    return getattr(importlib.import_module(module), name)


def _check_entry(kind: str, name: str, entry_point: str) -> None:
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"the id of a {kind} is one word of letters, digits and _, given {name!r}"
        )
    if not re.fullmatch(r"[\w.]+:\w+", entry_point):
        raise ConfigError(
            f'the entry point of the {kind} {name!r} is "module:name", given {entry_point!r}'
        )


# ---- seats ---------------------------------------------------------------------------------------


UPKEEP = frozenset(
    (
        "max_total_tokens",
        "max_cost",
        "max_seconds",
        "prices",
        "timeout",
        "tries",
        "backoff",
        "max_wait",
    )
)


_OPEN = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class SeatConfigError(SeatError, ConfigError):
    """A seat that does not exist, or cannot be set up with the options that it was given."""


_SEATS: dict[str, tuple[str, str]] = {}


def register_seat(name: str, entry_point: str, *, extra: str = "") -> None:
    """Make `seat(name, env, **options)` call `entry_point` ("package.module:factory") with the
    environment and the options; it returns a `Policy` (`core/play.py`) or a `DevicePolicy`. `extra`
    names the extra of this package that it cannot be loaded without."""
    _check_entry("seat", name, entry_point)
    _SEATS[name] = (entry_point, extra)


def registered_seats() -> tuple[str, ...]:
    """The names of all seats, sorted."""
    _shipped()
    return tuple(sorted(_SEATS))


def seat(name: str, env: Env[Any], **options: Any) -> Any:
    """The player registered under `name`; `"name:key=value,key=value"` passes options too, whose
    values are numbers, true, false or words. A value that holds commas, as another seat with
    options does, stands in parentheses: `"relay:first=(solver:depth=2),then=random,after=6"`.

    Raises:
        SeatConfigError: there is no such seat or option.
        SeatError: the seat needs an extra.
    """
    _shipped()
    name, _, rest = name.partition(":")
    if name not in _SEATS:
        known = registered_seats()
        raise SeatConfigError(
            f"no seat is called {name!r};{_divided(name)}{nearest(name, known)} "
            f"there are {', '.join(known)}"
        )
    for number, pair in enumerate(_options(name, rest), start=1):
        key, equals, value = pair.partition("=")
        if not equals:  # it is not shown: it may be a part of a secret key
            raise SeatConfigError(
                f"option {number} of the seat {name!r} is not of the form key=value; options are "
                "divided by commas, and seats, if it is meant for one, by spaces"
            )
        if key.strip() in options:
            raise SeatConfigError(f"the seat {name!r} is given its option {key.strip()!r} twice")
        options[key.strip()] = _value(value.strip())
    entry_point, extra = _SEATS[name]
    try:
        factory = _load(entry_point)
    except ModuleNotFoundError as error:
        if not extra:
            raise
        raise SeatError(
            f'the seat {name!r} needs the package {error.name!r}: pip install "manyhands[{extra}]"'
        ) from error
    signature = inspect.signature(factory)
    try:
        signature.bind(env, **options)
    except TypeError:
        # Only the names: a value may be a secret key.
        named = [p for p in list(signature.parameters.values())[1:] if p.kind not in _OPEN]
        theirs = [p.name for p in named]
        wrong = [key for key in options if key not in theirs]
        missing = [p.name for p in named if p.default is p.empty and p.name not in options]
        given = (("with", wrong), ("without", missing))
        what = " and ".join(f"{word} {', '.join(keys)}" for word, keys in given if keys)
        near = nearest(wrong[0], theirs) if wrong else ""
        raise SeatConfigError(
            f"the seat {name!r} cannot be set up {what};{near} its options are "
            f"{', '.join(theirs) or 'none'}"
        ) from None
    return factory(env, **options)


def _divided(name: str) -> str:
    """How several seats are given, to follow a stop, where a name looks like several; or ""."""
    parts = name.replace(",", " ").split()
    if not parts or parts == [name]:
        return ""
    command = f"--seats {' '.join(parts)}"
    return f" seats are a list of names, {parts}, and divided by spaces in a command: {command};"


def _options(name: str, rest: str) -> list[str]:
    """The parts of "key=value,key=(a,b)" between the commas that stand in no parentheses."""
    parts, depth = [""], 0
    for mark in rest:
        quoted = depth > 0 or parts[-1].rstrip().endswith("=")  # a value that begins with one
        depth += quoted * ((mark == "(") - (mark == ")" and depth > 0))
        if mark == "," and not depth:
            parts.append("")
        else:
            parts[-1] += mark
    if depth:
        raise SeatConfigError(
            f"the options of the seat {name!r} open {depth} parentheses that they do not close"
        )
    return [part for part in parts if part]


def player_of(name: str) -> str:
    """The name of a seat without the options that change none of its answers: what it may cost, how
    long one waits for it, and how often one tries (`UPKEEP`). A record is continued by whoever has
    the same."""
    kind, colon, rest = name.partition(":")
    try:
        options = _options(kind, rest)
    except SeatConfigError:  # of a player that was not made of a name
        return name
    kept = [option for option in options if option.partition("=")[0].strip() not in UPKEEP]
    return name if len(kept) == len(options) else f"{kind}{colon if kept else ''}{','.join(kept)}"


def _value(word: str) -> Any:
    if word.startswith("(") and word.endswith(")"):
        return word[1:-1]
    if word in ("true", "false"):
        return word == "true"
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word


# ---- other packages ------------------------------------------------------------------------------


def find_installed() -> None:
    """Register the entry points of installed packages without importing them; errors are warnings.
    Called by `manyhands.shipped`."""
    for group, known, add in (
        ("manyhands.games", _GAMES, register),
        ("manyhands.seats", _SEATS, register_seat),
    ):
        for point in importlib.metadata.entry_points(group=group):
            if point.name in known:
                continue
            try:
                add(point.name, point.value)  # type: ignore[operator]
            except ConfigError as error:
                warnings.warn(f"an entry point in {group} is left out: {error}", stacklevel=2)
