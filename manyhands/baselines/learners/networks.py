"""Networks, and the distributions over actions that come out of them.

Everything here takes any number of leading axes and features last: what a network sees is
`[..., K]`, from `inputs`.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple, Protocol

import flax.linen as nn
import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, ConfigError, Env, names_of, squash

ACTIVATIONS = {"tanh": nn.tanh, "relu": nn.relu}


class Slots(NamedTuple):
    """Where rows about alike things are among a network's inputs, and actions about them among its
    outputs.

    Attributes:
        first: the index of the first number of the first row.
        rows, columns: how many rows there are, one after the other, and how many numbers in each.
        actions: the index of the first action of each run of as many actions as rows.
    """

    first: int
    rows: int
    columns: int
    actions: tuple[int, ...]


def slots_of(env: Env) -> tuple[Slots, ...]:
    """The pieces of an environment's vector observation whose rows are about things that actions
    are about (`Piece.actions`).

    Raises:
        ConfigError: it has none.
    """
    layout: Any = env.observation_layout
    found = tuple(
        Slots(layout[name].start, piece.shape[0], piece.shape[1], piece.actions)
        for name, piece in (layout.pieces if layout else {}).items()
        if piece.actions
    )
    if not found:
        raise ConfigError(
            f"slots=True needs an observation with rows that actions are about (`Piece.actions`); "
            f"{env!r} has none"
        )
    return found


@dataclasses.dataclass(frozen=True)
class NetworkConfig:
    """The shape of a network.

    Attributes:
        width: units in each hidden layer, and in the memory of a recurrent network.
        layers: number of hidden layers.
        recurrent: whether a GRU (Cho et al. 2014) follows the hidden layers.
        activation: "tanh" or "relu".
        layer_norm: whether each hidden layer's sums are normalised before the activation (Ba et
            al. 2016).
        slots: rows of the input whose actions are also scored by weights that all rows of a piece
            share, from the row and the last hidden layer, as a pointer network does (Vinyals et al.
            2015).
        slot_width: hidden units in each such score.
    """

    width: int = 64
    layers: int = 2
    recurrent: bool = False
    activation: str = "tanh"
    layer_norm: bool = False
    slots: tuple[Slots, ...] = ()
    slot_width: int = 32

    def __post_init__(self) -> None:
        # From a file they are lists.
        slots = tuple(Slots(*each[:3], tuple(each[3])) for each in self.slots)
        object.__setattr__(self, "slots", slots)
        for each in slots:
            numbers = (*each[:3], *each.actions)
            if not all(type(k) is int and k >= 0 for k in numbers) or not each.rows * each.columns:
                raise ConfigError(f"slots are rows of inputs and their actions, given {each}")
        if self.activation not in ACTIVATIONS:
            raise ConfigError(
                f"activation is {names_of(list(ACTIVATIONS))}, given {self.activation!r}"
            )
        if self.width < 1 or self.layers < 0 or self.slot_width < 1:
            raise ConfigError(
                f"no network has width {self.width}, {self.layers} layers and slot_width "
                f"{self.slot_width}"
            )


def orthogonal(scale: float) -> Any:
    """An initialiser: a random matrix with orthonormal rows or columns, times `scale` (Saxe et al.
    2014). By Gram and Schmidt's method, twice for each column, which is exact enough; flax's own
    calls LAPACK, which can deadlock in batches on few cores."""

    def initialise(key: Array, shape: tuple[int, int], dtype: Any = jnp.float32) -> Array:
        drawn = jax.random.normal(key, (max(shape), min(shape)), dtype)

        def column(k: Array, done: Array) -> Array:
            rest = drawn[:, k]
            for _ in range(2):
                rest = rest - done @ (done.T @ rest)
            return done.at[:, k].set(rest / jnp.linalg.norm(rest))

        columns = jax.lax.fori_loop(0, min(shape), column, jnp.zeros_like(drawn))
        return scale * (columns if shape[0] >= shape[1] else columns.T)

    return initialise


class Network(nn.Module):
    """Hidden layers, a memory if there is to be one, and a linear head.

    `head_scale` scales the head's orthogonal initial weights: small for policies, so that they
    begin close to uniform (Andrychowicz et al. 2021). `head_bias` is what is added at first, by
    default nothing.
    """

    config: NetworkConfig
    outputs: int
    head_scale: float = 1.0
    head_bias: tuple[float, ...] = ()

    @nn.compact
    def __call__(
        self, memory: Array, x: Array, first: Array, moves: Array | bool = True
    ) -> tuple[Array, Array]:
        """One step: (memory [..., width], inputs [..., K], first bool[...]: forget before this
        step, moves bool[...]: remember it) -> (memory, outputs [..., outputs]). Loops ask those
        who are to move, and nobody else. Feed-forward networks pass memory through."""
        activation = ACTIVATIONS[self.config.activation]
        # One long axis of samples: products of matrices are much faster on a CPU than the same
        # contraction over several axes.
        leading, x = x.shape[:-1], x.reshape(-1, x.shape[-1])
        given = x
        for _ in range(self.config.layers):
            dense = nn.Dense(self.config.width, kernel_init=orthogonal(math.sqrt(2)))
            x = dense(x)
            if self.config.layer_norm:
                x = nn.LayerNorm()(x)
            x = activation(x)
        if self.config.recurrent:
            memory = jnp.where(first[..., None], 0.0, memory)
            cell = nn.GRUCell(self.config.width, recurrent_kernel_init=orthogonal(1.0))
            then, x = cell(memory.reshape(-1, self.config.width), x)
            memory = jnp.where(
                jnp.asarray(moves)[..., None], then.reshape(*leading, self.config.width), memory
            )
        bias = nn.initializers.zeros
        if self.head_bias:
            bias = lambda *_: jnp.array(self.head_bias, jnp.float32)  # noqa: E731
        head = nn.Dense(self.outputs, kernel_init=orthogonal(self.head_scale), bias_init=bias)
        outputs = head(x)
        for slots in self.config.slots:
            outputs = outputs + self._scores(given, x, slots)
        return memory, outputs.reshape(*leading, self.outputs)

    def _scores(self, given: Array, x: Array, slots: Slots) -> Array:
        """f32[samples, outputs], of the actions about each row; 0 of all others."""
        rows = given[:, slots.first : slots.first + slots.rows * slots.columns]
        rows = rows.reshape(-1, slots.rows, slots.columns)
        wide = {"features": self.config.slot_width, "kernel_init": orthogonal(1.0)}
        units = nn.Dense(**wide)(rows) + nn.Dense(**wide, use_bias=False)(x)[:, None]
        units = ACTIVATIONS[self.config.activation](units)
        scale = orthogonal(self.head_scale)
        scores = nn.Dense(len(slots.actions), kernel_init=scale, use_bias=False)(units)
        found = jnp.zeros((1, self.outputs))
        for k, first in enumerate(slots.actions):
            beside = first, self.outputs - first - slots.rows
            found = found + jnp.pad(scores[..., k], ((0, 0), beside))
        return found

    def start(self, *leading: int) -> Array:
        """The memory before the first step, f32[*leading, width]; of width 0 without a GRU."""
        return jnp.zeros((*leading, self.config.width if self.config.recurrent else 0))

    def advance(
        self, params: Any, memory: Array, x: Array, first: Array, moves: Array | bool = True
    ) -> tuple[Array, Array]:
        """`__call__` with these parameters."""
        return self.apply(params, memory, x, first, moves)  # type: ignore[return-value]

    def unroll(
        self, params: Any, memory: Array, x: Array, first: Array, moves: Array | bool = True
    ) -> tuple[Array, Array]:
        """`advance` over sequences: inputs [T, ..., K], first and moves [T, ...] -> (memory,
        outputs [T, ...]). Without a memory all steps are one call."""
        if not self.config.recurrent:
            return self.advance(params, memory, x, first)

        def step(memory: Array, at: tuple[Array, ...]) -> tuple[Array, Array]:
            return self.advance(params, memory, *at)

        return jax.lax.scan(step, memory, (x, first, jnp.broadcast_to(moves, x.shape[:-1])))


READS = ("perception", "vector")


def inputs(env: Env, reads: str, rows: Array, leading: int) -> Array:
    """What a network sees, f32[..., K], of rows with `leading` leading axes: rows of `Env.perceive`
    as `Env.network_input` gives them ("perception"), or of `Env.observe`, squashed ("vector")."""
    read = env.network_input if reads == "perception" else squash
    for _ in range(leading):
        read = jax.vmap(read)
    return read(rows)


# ---- distributions over actions ------------------------------------------------------------------


class Actions(Protocol):
    """A family of distributions over one agent's actions, given a network's `size` outputs.

    `legal` is bool[..., A]; where it allows nothing (an agent that is not to move) everything is
    taken as allowed, since the action is not used. Actions are as `raw` as they were drawn:
    `playable` makes them what the environment takes.
    """

    @property
    def size(self) -> int: ...

    def sample(self, key: Array, outputs: Array, legal: Array) -> Array: ...

    def mode(self, outputs: Array, legal: Array) -> Array: ...

    def log_prob(self, outputs: Array, legal: Array, action: Array) -> Array: ...

    def entropy(self, outputs: Array, legal: Array) -> Array: ...

    def divergence(self, outputs: Array, others: Array, legal: Array) -> Array:
        """Kullback and Leibler's, of the distribution of `outputs` from that of `others`."""

    def playable(self, action: Array) -> Array: ...


@dataclasses.dataclass(frozen=True)
class Categorical:
    """`Discrete`: one logit an action; actions i32[...]."""

    size: int
    first: int = 0

    def _logits(self, outputs: Array, legal: Array) -> Array:
        allowed = legal | ~jnp.any(legal, axis=-1, keepdims=True)
        return jax.nn.log_softmax(jnp.where(allowed, outputs, -1e9))

    def sample(self, key: Array, outputs: Array, legal: Array) -> Array:
        # One random number an action, against the cumulative probabilities. The last sum counts as
        # 1, so that rounding cannot lead past the last action that is possible.
        chances = jnp.exp(self._logits(outputs, legal))
        below = jnp.cumsum(chances, axis=-1)
        drawn = jax.random.uniform(key, outputs.shape[:-1]) * below[..., -1]
        return jnp.sum(below <= drawn[..., None], axis=-1, dtype=jnp.int32) + self.first

    def mode(self, outputs: Array, legal: Array) -> Array:
        return jnp.argmax(self._logits(outputs, legal), axis=-1).astype(jnp.int32) + self.first

    def log_prob(self, outputs: Array, legal: Array, action: Array) -> Array:
        # A select rather than a gather: several times faster on a CPU.
        chosen = (action - self.first)[..., None] == jnp.arange(self.size)
        return jnp.sum(jnp.where(chosen, self._logits(outputs, legal), 0.0), axis=-1)

    def entropy(self, outputs: Array, legal: Array) -> Array:
        logits = self._logits(outputs, legal)
        return -jnp.sum(jnp.exp(logits) * logits, axis=-1)

    def divergence(self, outputs: Array, others: Array, legal: Array) -> Array:
        logits, other = self._logits(outputs, legal), self._logits(others, legal)
        return jnp.sum(jnp.exp(logits) * (logits - other), axis=-1)

    def playable(self, action: Array) -> Array:
        return action


@dataclasses.dataclass(frozen=True)
class Independent:
    """`MultiDiscrete`: a categorical for each component; actions i32[..., components]. `legal` is
    the masks of all components, one after the other."""

    sizes: tuple[int, ...]
    first: tuple[int, ...]

    @property
    def size(self) -> int:
        return sum(self.sizes)

    def _parts(self, *arrays: Array) -> Any:
        ends = np.cumsum(self.sizes)[:-1].tolist()
        parts = [Categorical(n, start) for n, start in zip(self.sizes, self.first, strict=True)]
        return zip(parts, *(jnp.split(array, ends, axis=-1) for array in arrays), strict=True)

    def sample(self, key: Array, outputs: Array, legal: Array) -> Array:
        keys = jax.random.split(key, len(self.sizes))
        drawn = [
            part.sample(k, o, m)
            for k, (part, o, m) in zip(keys, self._parts(outputs, legal), strict=True)
        ]
        return jnp.stack(drawn, axis=-1)

    def mode(self, outputs: Array, legal: Array) -> Array:
        return jnp.stack([part.mode(o, m) for part, o, m in self._parts(outputs, legal)], axis=-1)

    def log_prob(self, outputs: Array, legal: Array, action: Array) -> Array:
        parts = enumerate(self._parts(outputs, legal))
        return sum(part.log_prob(o, m, action[..., i]) for i, (part, o, m) in parts)

    def entropy(self, outputs: Array, legal: Array) -> Array:
        return sum(part.entropy(o, m) for part, o, m in self._parts(outputs, legal))

    def divergence(self, outputs: Array, others: Array, legal: Array) -> Array:
        parts = self._parts(outputs, others, legal)
        return sum(part.divergence(o, other, m) for part, o, other, m in parts)

    def playable(self, action: Array) -> Array:
        return action


@dataclasses.dataclass(frozen=True)
class Gaussian:
    """`Box`: a diagonal normal distribution around the outputs' first half, with the logarithm of
    its standard deviation in the second; actions f32[..., D] in units of half the space's width
    from its middle (or of 1 from 0 where it has no bounds), clipped to the space when played."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def size(self) -> int:
        return 2 * len(self.low)

    def bias(self, noise: float) -> tuple[float, ...]:
        """Outputs of actions around the middle, with that standard deviation."""
        return (0.0,) * len(self.low) + (math.log(noise) + 0.5,) * len(self.low)

    def _moments(self, outputs: Array) -> tuple[Array, Array]:
        mean, log_std = jnp.split(outputs, 2, axis=-1)
        return mean, jnp.clip(log_std - 0.5, -5.0, 1.0)

    def sample(self, key: Array, outputs: Array, legal: Array) -> Array:
        mean, log_std = self._moments(outputs)
        return mean + jnp.exp(log_std) * jax.random.normal(key, mean.shape)

    def mode(self, outputs: Array, legal: Array) -> Array:
        return self._moments(outputs)[0]

    def log_prob(self, outputs: Array, legal: Array, action: Array) -> Array:
        mean, log_std = self._moments(outputs)
        z = (action - mean) * jnp.exp(-log_std)
        return -jnp.sum(0.5 * z * z + log_std + 0.5 * math.log(2 * math.pi), axis=-1)

    def entropy(self, outputs: Array, legal: Array) -> Array:
        _, log_std = self._moments(outputs)
        return jnp.sum(log_std + 0.5 * math.log(2 * math.pi * math.e), axis=-1)

    def divergence(self, outputs: Array, others: Array, legal: Array) -> Array:
        (mean, log_std), (other, log_other) = self._moments(outputs), self._moments(others)
        spread = jnp.exp(2 * (log_std - log_other))
        shift = ((mean - other) * jnp.exp(-log_other)) ** 2
        return jnp.sum(log_other - log_std + (spread + shift - 1) / 2, axis=-1)

    def playable(self, action: Array) -> Array:
        low, high = np.asarray(self.low, np.float32), np.asarray(self.high, np.float32)
        bounded = np.isfinite(low) & np.isfinite(high)
        bottom, top = np.where(bounded, low, -1.0), np.where(bounded, high, 1.0)
        middle, half = np.float32((bottom + top) / 2), np.float32((top - bottom) / 2)
        return jnp.clip(middle + half * action, low, high)


def actions_of(space: gymnasium.Space) -> Actions:
    """The distributions over the actions of a space, which may bring its own: `distribution()`."""
    if hasattr(space, "distribution"):
        own: Actions = space.distribution()
        return own
    if isinstance(space, gymnasium.spaces.Discrete):
        return Categorical(int(space.n), int(space.start))
    if isinstance(space, gymnasium.spaces.MultiDiscrete) and space.nvec.ndim == 1:
        return Independent(tuple(map(int, space.nvec)), tuple(map(int, space.start)))
    if isinstance(space, gymnasium.spaces.Box) and space.low.ndim == 1:
        low, high = map(float, space.low), map(float, space.high)
        if np.issubdtype(space.dtype, np.floating):
            return Gaussian(tuple(low), tuple(high))
    raise ConfigError(
        f"networks act in Discrete, in flat MultiDiscrete and in flat Box spaces of floats, "
        f"not in {space}"
    )
