"""Trained networks as players, and their files.

A policy may hold several snapshots of one network, taken during training, and draw one for each
episode: the average strategy of self-play, whose current policy may cycle around an equilibrium.

A policy is two files: NAME.safetensors holds the arrays and, in its header, what they are for and
a checksum of both (older files without checksums are read, too); NAME.json, the card, records their
origin: command, seeds, steps, time, scores. Reading either executes nothing.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import safetensors
import safetensors.numpy

from manyhands.baselines.learners.networks import (
    READS,
    Categorical,
    Network,
    NetworkConfig,
    actions_of,
    inputs,
)
from manyhands.core.env import Array, ConfigError, DeviceView, Env, PolicyError, layers, names_of
from manyhands.core.files import replace

FORMAT = "manyhands-policy-1"
# Options of an environment that do not matter to a network; and one that matters to those alone
# that play by skills, in a wrapper.
FREE = (
    *("observation", "max_steps", "reward_weights", "starts"),
    *("physics", "integrator", "rules", "points", "lead", "serve", "randomise"),
)
BY_SKILLS = "skills"


@dataclasses.dataclass(frozen=True, eq=False)
class NetworkPolicy:
    """A trained network as a `DevicePolicy`, for compiled rollouts, partners and `play`.

    Attributes:
        params: {"network": flax parameters, "mean": f32[K], "scale": f32[K]}: inputs are shifted
            and scaled first.
        network: its architecture.
        reads: "perception", which does not depend on the configured observation, or "vector", the
            configured observation (see `networks.inputs`).
        spec: `Env.spec()` of the environment that it was trained in.
        greedy: take the most likely (or most valued) action instead of drawing one.
        algorithm: of its training.
        snapshots: 0, or the number of snapshots along a first axis of all parameters: each seat
            draws one uniformly at the first step of an episode, and plays it to the end.
    """

    params: Any
    network: NetworkConfig
    reads: str
    spec: Mapping[str, Any]
    greedy: bool = False
    algorithm: str = ""
    snapshots: int = 0

    def init(self, env: Env, agent: int) -> Any:
        memory = jnp.zeros(self.network.width if self.network.recurrent else 0)
        return (jnp.int32(-1), memory) if self.snapshots else memory

    def apply(
        self, env: Env, agent: int, memory: Any, key: Array, view: DeviceView
    ) -> tuple[Array, Any]:
        inner, wrappers = _unwrapped(env, self.spec)
        actions = actions_of(inner.action_space)
        legal = functools.reduce(lambda row, wrapper: wrapper.lower(row), wrappers, view.legal)
        row = view.perception if self.reads == "perception" else view.vector
        params, chosen = self.params, None
        if self.snapshots:
            chosen, memory = memory
            draw = jax.random.randint(jax.random.fold_in(key, 1), (), 0, self.snapshots)
            chosen = jnp.where(chosen < 0, draw, chosen)
            params = jax.tree_util.tree_map(lambda leaf: jnp.asarray(leaf)[chosen], params)
        # Loops give each episode a fresh memory, so there is nothing to reset here.
        memory, outputs = self._advance(inner, params, memory, row)
        if self.greedy:
            action = actions.mode(outputs, legal)
        else:
            action = actions.sample(key, outputs, legal)
        action = actions.playable(action)
        for wrapper in reversed(wrappers):
            action = wrapper.lift(action)
        return action, memory if chosen is None else (chosen, memory)

    def _advance(self, env: Env, params: Any, memory: Array, row: Array) -> tuple[Array, Array]:
        """(memory, outputs) of one network."""
        x = (inputs(env, self.reads, row, 0) - params["mean"]) * params["scale"]
        network = Network(self.network, actions_of(env.action_space).size)
        return network.advance(params["network"], memory, x, jnp.bool_(False))

    def chances(self, env: Env, rows: Array, legal: Array) -> Array:
        """f32[max(snapshots, 1), B, A]: the probabilities of A discrete actions, for each snapshot,
        given rows [B, ...] of its input, and legal actions bool[B, A].

        Raises:
            PolicyError: it is of another environment.
            ConfigError: its actions depend on more than one row, since it is recurrent.
        """
        actions, wrappers = actions_of(env.action_space), _unwrapped(env, self.spec)[1]
        if self.network.recurrent or wrappers or not isinstance(actions, Categorical):
            raise ConfigError(
                "chances needs a network without memory, Discrete actions and no wrappers; given "
                f"{self.network} in {env!r}"
            )
        _check(self, env, "the policy")

        def of(params: Any, row: Array, legal: Array) -> Array:
            _, outputs = self._advance(env, params, jnp.zeros(0), row)
            every = jnp.arange(actions.size) + actions.first
            if self.greedy:
                return (every == actions.mode(outputs, legal)).astype(jnp.float32)
            return jnp.exp(jax.vmap(actions.log_prob, (None, None, 0))(outputs, legal, every))

        params = self.params
        if not self.snapshots:
            params = jax.tree_util.tree_map(lambda leaf: jnp.asarray(leaf)[None], params)
        each = jax.vmap(jax.vmap(of, (None, 0, 0)), (0, None, None))
        return jax.jit(each)(params, rows, legal)


@dataclasses.dataclass(frozen=True)
class _About:
    """The static part of a `NetworkPolicy`; equal for policies with the same program."""

    network: NetworkConfig
    reads: str
    greedy: bool
    snapshots: int
    spec: Mapping[str, Any] = dataclasses.field(compare=False)
    algorithm: str = dataclasses.field(compare=False)


# A pytree, so that compiled loops can take its arrays as arguments.
jax.tree_util.register_pytree_node(
    NetworkPolicy,
    lambda policy: (
        (policy.params,),
        _About(
            policy.network,
            policy.reads,
            policy.greedy,
            policy.snapshots,
            policy.spec,
            policy.algorithm,
        ),
    ),
    lambda about, children: NetworkPolicy(
        children[0],
        about.network,
        about.reads,
        about.spec,
        about.greedy,
        about.algorithm,
        about.snapshots,
    ),
)


def save(path: str | Path, policy: NetworkPolicy, card: Mapping[str, Any]) -> None:
    """Write a policy to `path` (.safetensors) and its card to the .json next to it.

    Raises:
        PolicyError: the path has another suffix.
        OSError: it cannot be written; earlier contents are kept.
    """
    about = {
        "network": dataclasses.asdict(policy.network),
        "reads": policy.reads,
        "spec": policy.spec,
        "greedy": policy.greedy,
        "algorithm": policy.algorithm,
        "snapshots": policy.snapshots,
    }
    write_policy(path, tensors_of(policy.params), FORMAT, about, card)


def load(path: str | Path, env: Env | None = None, *, greedy: bool | None = None) -> NetworkPolicy:
    """Read a policy, for `env` if that is given.

    Raises:
        PolicyError: no such file, no policy, cut off, damaged, not finite, or of another
            environment.
    """
    path = Path(path)
    tensors, metadata = read_tensors(path)
    if metadata.get("format") != FORMAT:
        raise PolicyError(
            f"{path} is not a policy that this version reads: its format is "
            f"{metadata.get('format', 'not given')!r}, expected {FORMAT!r}"
        )
    try:
        policy = _described(json.loads(metadata["about"]), tensors)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise PolicyError(f"{path} does not say what its arrays are for: {error!r}") from error
    check_finite(path, tensors)
    if greedy is not None:
        policy = dataclasses.replace(policy, greedy=greedy)
    if env is not None:
        _check(policy, env, path)
    return policy


def _described(about: Any, tensors: Mapping[str, np.ndarray]) -> NetworkPolicy:
    """The policy that a header describes; raises an ordinary error if it describes none."""
    network = NetworkConfig(**about["network"])
    for field in dataclasses.fields(network):
        if type(getattr(network, field.name)) is not type(field.default):
            raise TypeError(f"{field.name} is {getattr(network, field.name)!r}")
    widest = max((max(array.shape, default=1) for array in tensors.values()), default=0)
    wide = network.width > widest and (network.layers > 0 or network.recurrent)
    if network.layers > len(tensors) or wide:
        raise ValueError(f"{network} does not fit its arrays, too few or too small")
    policy = NetworkPolicy(
        params=tree_of(tensors),
        network=network,
        reads=about["reads"],
        spec=about["spec"],
        greedy=about["greedy"],
        algorithm=about["algorithm"],
        snapshots=about.get("snapshots", 0),
    )
    kinds = (policy.greedy, bool), (policy.algorithm, str), (policy.snapshots, int)
    if not all(type(value) is kind for value, kind in kinds) or policy.snapshots < 0:
        raise ValueError(f"it says {[value for value, _ in kinds]}")
    if policy.reads not in READS or not _is_spec(policy.spec):
        raise ValueError(f"it reads {policy.reads!r} of {policy.spec!r}")
    return policy


def _is_spec(spec: Any) -> bool:
    """Whether something from a file has the form of `Env.spec()`."""
    return (
        isinstance(spec, dict)
        and isinstance(spec.get("id"), str)
        and isinstance(spec.get("config", {}), dict)
        and ("env" not in spec or _is_spec(spec["env"]))
    )


def _unwrapped(env: Env, spec: Mapping[str, Any]) -> tuple[Env, Sequence[Any]]:
    """The environment that a policy of `spec` plays in `env`, and the wrappers around it, from the
    outside in; the innermost one that actions can be lifted from, if none has its id."""
    stack = layers(env)
    ids = [inner.id for inner in stack]
    depth = ids.index(spec["id"]) if spec["id"] in ids else len(stack) - 1
    return stack[depth], stack[:depth]


def _check(policy: NetworkPolicy, env: Env, name: Path | str) -> None:
    """That `policy`, called `name` in errors, can play `env`."""
    env, wrappers = _unwrapped(env, policy.spec)
    if wrappers and policy.reads == "vector":
        raise PolicyError(f"{name} reads the observation of {env.id!r}, which a wrapper changes")
    different = differences(policy.spec, env.spec())
    if different:
        raise PolicyError(f"{name} was trained for {'; '.join(different)}; choose another policy")

    def shapes() -> Any:
        state = env.reset(jax.random.key(0))
        row = (env.perceive if policy.reads == "perception" else env.observe)(state)[0]
        x = inputs(env, policy.reads, row, 0)
        network = Network(policy.network, actions_of(env.action_space).size)
        memory = network.start()
        params = network.init(jax.random.key(0), memory, x, jnp.bool_(False))
        return {"network": params, "mean": x, "scale": x}

    leading = (policy.snapshots,) * (policy.snapshots > 0)
    try:
        leaves = _leaves(jax.eval_shape(shapes))
    except (TypeError, ValueError, OverflowError) as error:
        raise PolicyError(f"{name}: {policy.network} does not fit here: {error}") from error
    expected = {leaf: (*leading, *spec.shape) for leaf, spec in leaves.items()}
    given = {leaf: np.shape(array) for leaf, array in _leaves(policy.params).items()}
    if expected != given:
        names = sorted(n for n in {*expected, *given} if expected.get(n) != given.get(n))
        one = names[0]
        raise PolicyError(
            f"{name} does not fit this environment's observation or actions: {one} has the shape "
            f"{given.get(one, 'of nothing')}, expected {expected.get(one, 'nothing')}"
            + (f" (and {len(names) - 1} more differ)" if len(names) > 1 else "")
            + (
                f"; it reads the observation of {policy.spec.get('config')!r}"
                if policy.reads == "vector"
                else ""
            )
        )


def differences(
    trained: Mapping[str, Any], played: Mapping[str, Any], *, vector: bool = False
) -> list[str]:
    """What keeps a network of the environment with the first spec from playing the second, in
    words; [] if nothing does. With `vector`, the configured observation matters, too."""
    versions = trained.get("version", 0), played.get("version", 0)
    if trained["id"] != played["id"]:
        return [f"the environment {trained['id']!r}, not {played['id']!r}"]
    if versions[0] != versions[1]:
        return [f"version {versions[0]!r} of its rules, not {versions[1]!r}"]
    before, now = _essence(trained), _essence(played)
    if vector:
        for essence, spec in ((before, trained), (now, played)):
            essence["observation"] = (spec.get("config") or {}).get("observation")
    found = []
    for option in sorted({*before, *now}):
        if before.get(option) != now.get(option):
            theirs = f"{before[option]!r}" if option in before else "the default"
            ours = f"{now[option]!r}" if option in now else "the default"
            found.append(f"{option}={theirs}, not {ours}")
    return found


def _essence(spec: Mapping[str, Any], wrapped: bool = False) -> dict[str, Any]:
    """The options of an environment that matter to a network, as JSON, since lists of a file are
    tuples elsewhere."""
    free = FREE if wrapped else (*FREE, BY_SKILLS)
    config = {k: v for k, v in (spec.get("config") or {}).items() if k not in free}
    if "env" in spec:
        config["env"] = {"id": spec["env"]["id"], "config": _essence(spec["env"], wrapped=True)}
    plain: dict[str, Any] = json.loads(json.dumps(config))
    return plain


# ---- players by name -----------------------------------------------------------------------------


def from_file(env: Env, file: str = "", greedy: bool | None = None) -> NetworkPolicy:
    """The seat `policy:file=PATH`."""
    if not file:
        raise PolicyError("which policy? name its file: policy:file=PATH.safetensors")
    return load(file, env, greedy=greedy)


def shipped(env: Env, algorithm: str, greedy: bool | None = None) -> NetworkPolicy:
    """The policy that comes with the package for this environment and algorithm."""
    inner = layers(env)[-1]
    folder = resources.files("manyhands") / "assets" / "policies" / inner.id
    tried = []
    for file in sorted(_files(folder), key=lambda file: file.name):
        if not file.name.endswith(f"-{algorithm}.safetensors"):
            continue
        tried.append(file.name.removesuffix(f"-{algorithm}.safetensors"))
        with resources.as_file(file) as path:
            policy = load(path, greedy=greedy)  # a damaged file is an error
            with contextlib.suppress(PolicyError):
                _check(policy, env, path)
                return policy
    there = f"there is one for {names_of(tried)}" if tried else "there is none for any"
    raise PolicyError(
        f"no {algorithm!r} policy comes with the package for {env!r}: {there}, otherwise as they "
        f"come; `manyhands train {inner.id} --algorithm {algorithm}` makes one, and "
        "policy:file=PATH seats it"
    )


def _files(folder: Any) -> list[Any]:
    return list(folder.iterdir()) if folder.is_dir() else []


ippo = functools.partial(shipped, algorithm="ippo")
psro = functools.partial(shipped, algorithm="psro")
self_play_pool = functools.partial(shipped, algorithm="self_play_pool")
hsp = functools.partial(shipped, algorithm="hsp")


# ---- files ---------------------------------------------------------------------------------------


def write_policy(
    path: str | Path, tensors: Mapping[str, np.ndarray], form: str, about: Any, card: Any
) -> None:
    """Write a policy's arrays to `path` (.safetensors), with its format and what they are for in
    the header, and its card to the .json next to it.

    Raises:
        PolicyError: the path has another suffix.
        OSError: it cannot be written; earlier contents are kept.
    """
    path = Path(path)
    if path.suffix != ".safetensors":
        raise PolicyError(f"policies are kept in .safetensors files, given {path}")
    write_tensors(path, dict(tensors), {"format": form, "about": json.dumps(about)})
    replace(path.with_suffix(".json"), (json.dumps(card, indent=2) + "\n").encode())


def check_finite(path: str | Path, tensors: Mapping[str, np.ndarray]) -> None:
    """Refuse arrays that are not of finite floating-point numbers.

    Raises:
        PolicyError: names the array.
    """
    for name, array in tensors.items():
        if not (array.dtype.kind == "f" and np.isfinite(array).all()):
            raise PolicyError(
                f"{path} is no trained network: {name} has values that are no numbers"
            )


def write_tensors(
    path: str | Path, tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str]
) -> None:
    """Write arrays as safetensors, with a checksum: to a temporary file, flushed to the disk, then
    renamed. Equal contents are equal bytes."""
    data = {name: np.asarray(array, order="C") for name, array in tensors.items()}
    about = {**metadata, "checksum": _checksum(data, metadata)}
    packed = safetensors.numpy.save(data, about)
    # The library orders metadata differently in each process.
    size = int.from_bytes(packed[:8], "little")
    header = json.dumps(json.loads(packed[8 : 8 + size]), sort_keys=True).encode()
    header += b" " * (-len(header) % 8)
    replace(path, len(header).to_bytes(8, "little") + header + packed[8 + size :])


def read_tensors(path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The arrays and the metadata of a safetensors file.

    Raises:
        PolicyError: there is no such file, or it is cut off, damaged or of another kind.
    """
    path = Path(path)
    if path.is_dir():
        raise PolicyError(f"{path} is a folder; name a .safetensors file in it")
    try:
        with safetensors.safe_open(str(path), framework="numpy") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            metadata = dict(file.metadata() or {})
    except FileNotFoundError:
        raise PolicyError(f"there is no file {path}") from None
    except Exception as error:  # the library does not document its errors for damaged headers
        raise PolicyError(
            f"{path} cannot be read as safetensors: it is damaged, cut off or something else "
            f"({error})"
        ) from error
    expected = metadata.pop("checksum", None)
    if expected is not None and expected != _checksum(tensors, metadata):
        raise PolicyError(
            f"{path} is damaged: its contents do not fit its checksum; fetch or train it again"
        )
    return tensors, metadata


def _checksum(tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> str:
    """A checksum of arrays, their names, shapes and types, and the metadata."""
    said = sorted((name, text) for name, text in metadata.items() if name != "checksum")
    digest = hashlib.blake2b(json.dumps(said).encode(), digest_size=16)
    for name, array in sorted(tensors.items()):
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        digest.update(np.asarray(array, order="C").tobytes())
    return digest.hexdigest()


def tensors_of(tree: Any) -> dict[str, np.ndarray]:
    """Nested dicts of arrays as one dict, the names joined by "/"."""
    return {name: np.asarray(leaf) for name, leaf in _leaves(jax.device_get(tree)).items()}


def tree_of(tensors: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The inverse of `tensors_of`."""
    tree: dict[str, Any] = {}
    for name, array in tensors.items():
        *path, last = name.split("/")
        branch = tree
        for part in path:
            branch = branch.setdefault(part, {})
        branch[last] = array
    return tree


def _leaves(tree: Any) -> dict[str, Any]:
    paths = jax.tree_util.tree_flatten_with_path(tree)[0]
    return {"/".join(str(key.key) for key in path): leaf for path, leaf in paths}
