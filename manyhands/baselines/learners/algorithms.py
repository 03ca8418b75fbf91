"""The algorithms by name: where their learners are found, and the settings they start from."""

from __future__ import annotations

import dataclasses
import importlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from manyhands.baselines.learners.presets import preset
from manyhands.baselines.learners.runs import (
    Learner,
)
from manyhands.core.env import (
    ConfigError,
    Env,
    names_of,
)


@dataclasses.dataclass(frozen=True)
class Algorithm:
    """Where a learner is found, and what makes it this algorithm.

    Attributes:
        learner, config: "package.module:Class" of the learner and of its configuration. An
            algorithm that learns more than one policy has no learner: `run` is its function.
        settings: what differs from the configuration's own defaults.
        base: another algorithm, whose presets it starts from.
        run: "package.module:function" of (environment, configuration, folder, seed), see `psro`.
        told: of (what `run` gave, the folder), its result in lines; by default `str`.
    """

    learner: str
    config: str
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    base: str = ""
    run: str = ""
    told: str = ""


_PPO = ("manyhands.baselines.learners.ppo:PPO", "manyhands.baselines.learners.ppo:PPOConfig")
_VALUES = (
    "manyhands.baselines.learners.value_decomposition:ValueDecomposition",
    "manyhands.baselines.learners.value_decomposition:ValueConfig",
)
ALGORITHMS: dict[str, Algorithm] = {
    "ippo": Algorithm(*_PPO),
    "mappo": Algorithm(*_PPO, {"centralised_critic": True}),
    "vdn": Algorithm(*_VALUES),
    "qmix": Algorithm(*_VALUES, {"mixer": "monotonic"}),
    "self_play_pool": Algorithm(
        "manyhands.baselines.learners.population:SelfPlayPool",
        "manyhands.baselines.learners.population:SelfPlayPoolConfig",
        base="ippo",
    ),
    "fcp": Algorithm(
        "manyhands.baselines.learners.population:FCP",
        "manyhands.baselines.learners.population:FCPConfig",
        {"num_envs": 384},  # 8 members, 3 checkpoints, 2 seats: 48 blocks
        base="ippo",
    ),
    "mep": Algorithm(
        "manyhands.baselines.learners.mep:MEP",
        "manyhands.baselines.learners.mep:MEPConfig",
        {"members": 5, "num_envs": 240},  # 3 checkpoints, itself, 2 seats: 40 blocks
        base="fcp",
    ),
    "hsp": Algorithm(
        "manyhands.baselines.learners.hsp:HSP",
        "manyhands.baselines.learners.hsp:HSPConfig",
        base="self_play_pool",
    ),
    "best_response": Algorithm(
        "manyhands.baselines.learners.population:BestResponse",
        "manyhands.baselines.learners.population:BestResponseConfig",
        base="ippo",
    ),
    "psro": Algorithm(
        "",
        "manyhands.baselines.learners.psro:PSROConfig",
        base="ippo",
        run="manyhands.baselines.learners.psro:psro",
    ),
    "bc": Algorithm(
        "manyhands.baselines.learners.cloning:Cloning",
        "manyhands.baselines.learners.cloning:CloningConfig",
    ),
    "text": Algorithm(
        "",
        "manyhands.baselines.learners.text:TextConfig",
        run="manyhands.baselines.learners.text:text",
        told="manyhands.baselines.learners.text_summary:summary",
    ),
}


def config_class(algorithm: str) -> Any:
    """The class of an algorithm's configuration."""
    return _load(_known(algorithm).config)


def default_config(env: Env, algorithm: str) -> Any:
    """The configuration that an algorithm starts from in an environment (see `presets`)."""
    return config_class(algorithm)(**_settings(env, algorithm))


def _settings(env: Env, algorithm: str) -> dict[str, Any]:
    known = _known(algorithm)
    base = _settings(env, known.base) if known.base else {}
    return {**base, **known.settings, **preset(env, algorithm)}


def configured(config: Any, path: str | Path) -> Any:
    """`config` with the settings in a JSON file."""
    try:
        data = json.loads(Path(path).read_text())
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{path} holds no JSON object of settings: {str(data)[:80]}")
    for name, value in data.items():
        if not hasattr(config, name):
            names = ", ".join(field.name for field in dataclasses.fields(config))
            raise ConfigError(f"{path} sets {name!r}; the settings are {names}")
        data[name] = _like(getattr(config, name), value, f"{name} in {path}")
    return dataclasses.replace(config, **data)


def _like(default: Any, value: Any, name: str) -> Any:
    """A value read from JSON, if it is of the default's type."""
    if isinstance(default, tuple) and isinstance(value, list):
        return tuple(tuple(item) if isinstance(item, list) else item for item in value)
    if isinstance(default, float) and type(value) is int:
        return float(value)
    if type(default) is not type(value):
        raise ConfigError(
            f"{name} is a {type(default).__name__} such as {json.dumps(default)}, given {value!r}"
        )
    return value


def make_learner(env: Env, algorithm: str, config: Any = None) -> Learner:
    """The learner of that name: `make_learner(env, "mappo")`, by default as `default_config`."""
    known = _known(algorithm)
    if not known.learner:
        raise ConfigError(f"{algorithm!r} learns more than one policy: call {known.run}")
    config = default_config(env, algorithm) if config is None else config
    learner: Learner = _load(known.learner)(env, config)
    return learner


def grow(
    env: Env, algorithm: str, config: Any, out: str | Path, seed: int = 0, **options: Any
) -> Any:
    """Run an algorithm that learns more than one policy; `options` are those of its function."""
    return _load(_known(algorithm).run)(env, config, out, seed, **options)


def told(algorithm: str, result: Any, out: str | Path) -> str:
    """What `grow` gave, in lines for a terminal."""
    known = _known(algorithm)
    return str(_load(known.told)(result, out) if known.told else result)


def folder_name(env: Env) -> str:
    """What a run's folder is called: the environment, and its layout or task if it has a name."""
    spec, wrappers = env.spec(), ""
    while "env" in spec:
        spec, wrappers = spec["env"], f"-{spec['id']}{wrappers}"
    layout = spec["config"].get("layout", spec["config"].get("task"))
    named = isinstance(layout, str) and re.fullmatch(r"\w+", layout)
    return f"{spec['id']}-{layout}{wrappers}" if named else f"{spec['id']}{wrappers}"


def _known(algorithm: str) -> Algorithm:
    if algorithm not in ALGORITHMS:
        raise ConfigError(
            f"no algorithm is called {algorithm!r}; there are {names_of(list(ALGORITHMS))}"
        )
    return ALGORITHMS[algorithm]


def _load(entry_point: str) -> Any:
    module, _, name = entry_point.partition(":")
    return getattr(importlib.import_module(module), name)
