"""The network of text policies: a decoder-only transformer that reads a text in parts.

A decision is read as three parts, one after the other: the system message with the rules, the
prompt, and the answer. Each part attends to the keys and values of those before it, so that equal
parts are computed once: the rules once for all prompts of a game, a prompt once for all answers to
it. Answers are generated token by token with the same cache. What is computed is what one long
text would give.

The layers are those that are usual today: normalisation before each layer (RMSNorm, Zhang and
Sennrich 2019), rotary positions (Su et al. 2021), no biases, and one matrix for reading and writing
tokens (Press and Wolf 2017).
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.baselines.learners.text_tokens import PAD, START
from manyhands.core.env import Array, ConfigError

Cache = tuple[Array, Array, Array]  # keys, values [layers, B, P, heads, D]; bool[B, P], what counts


@dataclasses.dataclass(frozen=True)
class TextNetwork:
    """The shape of a decoder.

    Attributes:
        vocabulary: the number of tokens.
        width: of the layers; a multiple of twice `heads`.
        layers, heads: how many.
    """

    vocabulary: int = 2048
    width: int = 128
    layers: int = 4
    heads: int = 4

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if type(value) is not int or value < 1:
                raise ConfigError(f"{field.name} is a whole number from 1, given {value!r}")
        if self.width % (2 * self.heads):
            raise ConfigError(
                f"the width is a multiple of twice the heads, given {self.width} and {self.heads}"
            )

    def init(self, seed: int) -> Any:
        """Parameters to start from: nested dicts of f32."""
        tokens = jnp.zeros((1, 2), jnp.int32)
        start = jax.jit(functools.partial(Decoder(self).init, past=None))
        return start(jax.random.key(seed), tokens)["params"]


class Decoder(nn.Module):
    """Reads a part of a text: tokens i32[B, T], filled up with `PAD` at their ends, after `past`.

    Gives (hidden f32[B, T, width], the cache of this part, values f32[B, T]). A part that is only
    `kept` for what comes after it needs no more of the last layer than keys and values: of two
    layers that saves nearly half. Its hidden numbers and values mean nothing.
    """

    shape: TextNetwork
    kept: bool = False

    @nn.compact
    def __call__(self, tokens: Array, past: Cache | None) -> tuple[Array, Cache, Array]:
        shape = self.shape
        size = shape.width // shape.heads
        batch, length = tokens.shape
        own = tokens != PAD
        table = self.param(
            "tokens",
            nn.initializers.normal(shape.width**-0.5),
            (shape.vocabulary, shape.width),
            jnp.float32,
        )
        x = table[tokens]
        positions = jnp.broadcast_to(jnp.arange(length), (batch, length))
        # [B, T, P + T]: everything before this part, and in it what came earlier.
        earlier = jnp.tril(jnp.ones((length, length), bool))
        sees = jnp.broadcast_to(earlier, (batch, length, length))
        sees &= own[:, None, :] | jnp.eye(length, dtype=bool)
        if past is not None:
            counts = past[2]
            positions += counts.sum(axis=1, keepdims=True)
            before = jnp.broadcast_to(counts[:, None, :], (batch, length, counts.shape[1]))
            sees = jnp.concatenate([before, sees], axis=2)
        angles = positions[..., None] * (10_000.0 ** (-jnp.arange(size // 2) / (size // 2)))
        turn = jnp.cos(angles)[:, :, None], jnp.sin(angles)[:, :, None]

        def looks(x: Array, weights: Any, first: int) -> list[Array]:
            """Queries, keys and values, from the first that is wanted."""
            found = _normalised(x, weights["norm_a"]) @ weights["qkv"][:, first * shape.width :]
            parts = jnp.split(found, 3 - first, axis=-1)
            parts = [part.reshape(batch, length, shape.heads, size) for part in parts]
            return [*(_rotated(part, turn) for part in parts[:-1]), parts[-1]]

        def layer(x: Array, own: Any) -> tuple[Array, tuple[Array, Array]]:
            weights, before = own
            q, k, v = looks(x, weights, 0)
            keys, values = k, v
            if before is not None:
                keys = jnp.concatenate([before[0], k], axis=1)
                values = jnp.concatenate([before[1], v], axis=1)
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, keys) / size**0.5
            shares = jax.nn.softmax(jnp.where(sees[:, None], scores, -1e9), axis=-1)
            y = jnp.einsum("bhqk,bkhd->bqhd", shares, values)
            x += y.reshape(batch, length, shape.width) @ weights["out"]
            y = nn.gelu(_normalised(x, weights["norm_b"]) @ weights["up"])
            return x + y @ weights["down"], (k, v)

        # All layers are one loop: a fraction of the time to compile.
        through = self._layers(), past and past[:2]
        last = jax.tree_util.tree_map(lambda part: part[-1], through[0])
        if self.kept:
            through = jax.tree_util.tree_map(lambda part: part[:-1], through)
        x, (keys, values) = jax.lax.scan(layer, x, through)
        if self.kept:
            k, v = looks(x, last, 1)
            keys, values = jnp.concatenate([keys, k[None]]), jnp.concatenate([values, v[None]])
            return x, (keys, values, own), x[..., 0]
        x = _normalised(x, self.param("norm", nn.initializers.ones, (shape.width,)))
        value = nn.Dense(1, name="value", kernel_init=nn.initializers.zeros)(x)[..., 0]
        return x, (keys, values, own), value

    def _layers(self) -> dict[str, Array]:
        """The parameters of the layers, along a first axis."""
        count, width = self.shape.layers, self.shape.width
        fan_in = nn.initializers.variance_scaling(1.0, "fan_in", "normal", batch_axis=0)
        # Deep layers add less at first, so that a fresh network of any depth begins alike.
        small = nn.initializers.variance_scaling(0.5 / count, "fan_in", "normal", batch_axis=0)
        ones = nn.initializers.ones
        made = {
            "norm_a": (ones, (width,)),
            "qkv": (fan_in, (width, 3 * width)),
            "out": (small, (width, width)),
            "norm_b": (ones, (width,)),
            "up": (fan_in, (width, 4 * width)),
            "down": (small, (4 * width, width)),
        }
        return {name: self.param(name, how, (count, *size)) for name, (how, size) in made.items()}


def _normalised(x: Array, scale: Array) -> Array:
    return x * jax.lax.rsqrt(jnp.mean(x**2, axis=-1, keepdims=True) + 1e-6) * scale


def _rotated(x: Array, turn: tuple[Array, Array]) -> Array:
    """[B, T, H, D] by the angles of their positions."""
    cos, sin = turn
    one, two = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([one * cos - two * sin, one * sin + two * cos], axis=-1)


# ---- the three parts -----------------------------------------------------------------------------


def _take(cache: Cache, rows: Array) -> Cache:
    return cache[0][:, rows], cache[1][:, rows], cache[2][rows]


def _apply(
    shape: TextNetwork, params: Any, tokens: Array, past: Cache | None, kept: bool = False
) -> tuple[Array, Cache, Array]:
    """What `Decoder` gives for tokens i32[B, T] after a cache."""
    found: Any = Decoder(shape, kept).apply({"params": params}, tokens, past)
    return found


def _chain(one: Cache, two: Cache) -> Cache:
    return (
        jnp.concatenate([one[0], two[0]], axis=2),
        jnp.concatenate([one[1], two[1]], axis=2),
        jnp.concatenate([one[2], two[2]], axis=1),
    )


def read(shape: TextNetwork, params: Any, systems: Array, which: Array, prompts: Array) -> Cache:
    """The cache of prompts i32[P, T] after their system messages i32[G, S]; `which` i32[P] says
    which of them each prompt has."""
    _, rules, _ = _apply(shape, params, systems, None, kept=True)
    before = _take(rules, which)
    _, own, _ = _apply(shape, params, prompts, before, kept=True)
    return _chain(before, own)


def judge(
    shape: TextNetwork, params: Any, cache: Cache, owner: Array, answers: Array
) -> tuple[Array, Array]:
    """(log-probabilities f32[A, L, V] of every token at each place of answers i32[A, L], what their
    prompts are worth f32[A]); `owner` i32[A] says which prompt each answers."""
    inputs = jnp.concatenate(
        [jnp.full((answers.shape[0], 1), START, answers.dtype), answers[:, :-1]], axis=1
    )
    hidden, _, values = _apply(shape, params, inputs, _take(cache, owner))
    return jax.nn.log_softmax(_written(params, hidden)), values[:, 0]


def _written(params: Any, hidden: Array) -> Array:
    """What is written next, [..., V]; never what only fills up or begins."""
    logits = hidden @ params["tokens"].T
    return logits.at[..., : START + 1].set(-1e9)


def chosen(logs: Array, answers: Array) -> Array:
    """f32[A, L]: the log-probabilities of the tokens of answers; 0 where they are over."""
    own = jnp.take_along_axis(logs, answers[..., None], axis=-1)[..., 0]
    return jnp.where(answers == PAD, 0.0, own)


@functools.partial(jax.jit, static_argnums=0)
def read_prompts(
    shape: TextNetwork, params: Any, systems: Array, which: Array, prompts: Array
) -> Cache:
    """`read`, compiled."""
    return read(shape, params, systems, which, prompts)


@functools.partial(jax.jit, static_argnums=0)
def likelihoods(
    shape: TextNetwork, params: Any, cache: Cache, owner: Array, answers: Array
) -> Array:
    """f32[A]: the log-probabilities of whole answers."""
    return chosen(judge(shape, params, cache, owner, answers)[0], answers).sum(axis=1)


@functools.partial(jax.jit, static_argnums=0)
def next_token(
    shape: TextNetwork,
    params: Any,
    cache: Cache,
    owner: Array,
    written: Cache,
    place: Array,
    tokens: Array,
) -> tuple[Array, Cache]:
    """One step of generation.

    Args:
        cache: of the prompts.
        owner: i32[R], the prompt of each beginning of an answer.
        written: the cache of these beginnings, with room for all of an answer.
        place: their length so far.
        tokens: i32[R], the last token of each (`START` at first).

    Returns:
        The probabilities f32[R, V] of the next token, and `written` with this one.
    """
    past = _chain(_take(cache, owner), written)
    hidden, (k, v, _), _ = _apply(shape, params, tokens[:, None], past)
    at = (0, 0, place, 0, 0)
    written = (
        jax.lax.dynamic_update_slice(written[0], k, at),
        jax.lax.dynamic_update_slice(written[1], v, at),
        written[2].at[:, place].set(True),
    )
    return jax.nn.softmax(_written(params, hidden[:, 0])), written


def room(shape: TextNetwork, rows: int, length: int) -> Cache:
    """An empty cache for beginnings of answers."""
    size = shape.layers, rows, length, shape.heads, shape.width // shape.heads
    return jnp.zeros(size), jnp.zeros(size), jnp.zeros((rows, length), bool)


# ---- padding -------------------------------------------------------------------------------------


def size_for(count: int, sizes: tuple[int, ...]) -> int:
    """The least of some sizes that is enough; beyond them, multiples of the last."""
    for size in sizes:
        if count <= size:
            return size
    return -(-count // sizes[-1]) * sizes[-1]


# Few, so that few programs are compiled: rules, prompts and answers; tokens of each.
RULES = (2, 8, 32)
ROWS = (2, 12, 16, 32, 96)
ANSWERS = (16, 32, 96, 192, 512)
LENGTHS = (40, 56, 64, 96, 128, 192, 256, 384, 512, 768)
SHORT = (4, 8, 16, 32)
GROWN = (16, 64, 256)  # beginnings of answers, whose number changes with every token


def padded(
    rows: list[list[int]], lengths: tuple[int, ...], heights: tuple[int, ...] = ROWS
) -> np.ndarray:
    """i32[R, T]: rows of tokens, both sizes rounded up."""
    height = size_for(len(rows), heights)
    array = np.full((height, size_for(max(map(len, rows), default=1), lengths)), PAD, np.int32)
    for row, own in zip(array, rows, strict=False):
        row[: len(own)] = own
    # A row of nothing but filling would attend to nothing.
    array[len(rows) :, 0] = START
    return array
