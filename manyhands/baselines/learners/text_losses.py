"""What a text policy's steps go down: the loss of cloning, the loss of play, and the optimiser."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.flatten_util
import jax.numpy as jnp
import optax

from manyhands.baselines.learners import text_network as tn
from manyhands.baselines.learners.text_network import TextNetwork
from manyhands.core.env import Array


def clone_loss(shape: TextNetwork, params: Any, batch: tuple[Any, ...]) -> tuple[Array, Any]:
    """Cross-entropy of an answer, mean over occurrences, and the sum of them."""
    systems, which, prompts, owner, answers, sums = batch
    cache = tn.read(shape, params, systems, which, prompts)
    logs, _ = tn.judge(shape, params, cache, owner, answers)
    own = tn.chosen(logs, answers).sum(axis=1)
    return -(own * sums[:, 0]).sum() / sums[:, 0].sum(), {}


def play_loss(
    shape: TextNetwork, kl: float, clip: float, value: float, params: Any, batch: tuple[Any, ...]
) -> tuple[Array, dict[str, Array]]:
    """The loss of policy gradient, summed over answers and divided by their number `total`."""
    systems, which, prompts, owner, answers, sums, old, reference, total = batch
    cache = tn.read(shape, params, systems, which, prompts)
    logs, values = tn.judge(shape, params, cache, owner, answers)
    own = tn.chosen(logs, answers)
    times, plus, minus, returns = sums.T
    ratio = jnp.exp(own - (jax.lax.stop_gradient(own) if old is None else old))
    gain = plus[:, None] * jnp.minimum(ratio, 1 + clip)
    gain -= minus[:, None] * jnp.maximum(ratio, 1 - clip)
    written = (answers != 0) * times[:, None]
    chances = jnp.exp(logs)
    # Of tokens that are impossible, the logarithms are huge and count for nothing.
    apart = jnp.where(chances > 1e-8, chances * (logs - reference), 0.0).sum(axis=-1)
    entropy = -jnp.where(chances > 1e-8, chances * logs, 0.0).sum(axis=-1)
    divergence = (apart * written).sum() / total
    loss = -(gain * (answers != 0)).sum() / total + kl * divergence
    about = {"kl": divergence, "entropy": (entropy * written).sum() / total}
    error = (times * values**2 - 2 * values * returns).sum() / total
    return loss + value * error, about


@functools.partial(jax.jit, static_argnums=0)
def step(
    loss: Any, rate: Any, params: Any, state: Any, *batch: Any
) -> tuple[Any, Any, dict[str, Array]]:
    """A gradient step. The learning rate is no constant of the program, so that a program that was
    compiled serves all of them."""
    (value, about), gradient = jax.value_and_grad(loss, has_aux=True)(params, batch)
    norm = optax.tree.norm(gradient)
    change, state = OPTIMISER.update(gradient, state, params)
    change = jax.tree_util.tree_map(lambda part: rate * part, change)
    new = optax.apply_updates(params, change)
    return new, state, {**about, "loss": value, "grad_norm": norm}


# Adam with clipped gradients.
OPTIMISER = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1.0, b2=0.98))


@functools.lru_cache(maxsize=16)
def cloning_rates(rate: float, steps: int) -> Any:
    """The learning rates of cloning: a warm-up, and a cosine to a tenth."""
    warm = max(1, min(steps // 10, 100))
    return optax.warmup_cosine_decay_schedule(0.0, rate, warm, max(steps, 2), rate / 10)


@jax.jit
def _mean_with(mean: Any, params: Any, count: Array) -> Any:
    return jax.tree.map(lambda old, new: old + (new - old) / count, mean, params)


def mean_with(mean: Any, params: Any, count: int) -> Any:
    """The mean of weights with one more, the `count`-th."""
    return _mean_with(params if mean is None else mean, params, jnp.float32(count))


@functools.partial(jax.jit, static_argnums=0)
def judged(shape: TextNetwork, params: Any, *batch: Any) -> tuple[Array, Array]:
    systems, which, prompts, owner, answers = batch
    cache = tn.read(shape, params, systems, which, prompts)
    return tn.judge(shape, params, cache, owner, answers)


@functools.partial(jax.jit, static_argnums=0)
def ascent(shape: TextNetwork, params: Any, *batch: Any) -> Array:
    """f32[parameters], the gradient of the sum of log-probabilities of answers, each weighted."""
    *given, owner, answers, weights = batch

    def likely(params: Any) -> Array:
        cache = tn.read(shape, params, *given)
        logs, _ = tn.judge(shape, params, cache, owner, answers)
        return (tn.chosen(logs, answers).sum(axis=1) * weights).sum()

    return jax.flatten_util.ravel_pytree(jax.grad(likely)(params))[0]


_LOSSES: dict[Any, Any] = {}


def static(loss: functools.partial[Any]) -> Any:
    """The same object for equal losses, so that they are compiled once."""
    return _LOSSES.setdefault((loss.func, loss.args), loss)
