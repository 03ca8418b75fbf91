"""Functions compiled as one kernel."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from manyhands.core import kernel
from manyhands.core.kernel import SmallCall


@pytest.mark.parametrize(
    ("function", "one_kernel"),
    [
        (lambda x: jnp.cumsum(x) * 2, True),
        (lambda x: jax.lax.fori_loop(0, 5, lambda i, c: c + i * x, x), True),
        (lambda x: jax.random.uniform(jax.random.key(3), x.shape) + x, True),
        (lambda x: jax.lax.cond(x[0] > 2, lambda y: y + 1, lambda y: y - 1, x), True),
        (jnp.sort, False),
        (lambda x: x.at[jnp.array([1, 1])].add(x[:2]), False),
        (lambda x: jax.jit(jnp.argsort)(x).astype(jnp.float32), False),
        (lambda x: jnp.argsort(jnp.int32(2 * x)).astype(jnp.float32), True),
        (lambda x: jnp.sort(jnp.append(jnp.int8(x), jnp.int8(x))), False),
    ],
)
def test_small_calls_compute_what_plain_ones_do(function, one_kernel):
    x = np.linspace(3, -1, 16, dtype=np.float32)
    call = SmallCall(function, 16, np.float32)
    for _ in range(2):
        np.testing.assert_array_equal(call(x), jax.jit(function)(x))
    assert call.compilations == 1
    assert call.one_kernel == one_kernel


def test_a_small_call_that_cannot_be_compiled_is_compiled_as_usual(monkeypatch):
    monkeypatch.setattr("manyhands.core.kernel._NOT_SMALL", ("nothing",))
    call = SmallCall(jnp.sort, 4, np.float32)
    assert call.one_kernel
    np.testing.assert_array_equal(call(np.array([2, 1, 3, 0], np.float32)), [0, 1, 2, 3])
    assert not call.one_kernel


def test_one_kernel_whose_input_does_not_matter():
    """A draw of one of one: XLA would end the process, were its input optimised away."""

    def draw(data):
        key = jax.random.wrap_key_data(data.view(np.uint32)[:2])
        return jax.random.randint(key, (2, 3), 0, 1).astype(jnp.uint8)

    small = SmallCall(draw, 16)
    np.testing.assert_array_equal(small(np.arange(16, dtype=np.uint8)), np.zeros((2, 3)))
    assert small.one_kernel and small.compilations == 1


REDUCTIONS = [
    (jnp.sum, np.float32),
    (jnp.prod, np.float32),
    (jnp.max, np.float32),
    (jnp.min, np.int16),
    (jnp.sum, np.int8),
    (jnp.any, bool),
    (jnp.all, bool),
]


@pytest.mark.parametrize(("reduce", "dtype"), REDUCTIONS)
@pytest.mark.parametrize("axes", [0, 1, (0, 2), (1, 0), (0, 1, 2), ()])
def test_reductions_are_written_out_and_give_the_same(reduce, dtype, axes):
    values = np.random.default_rng(0).normal(size=(2, 3, 4)) * 3
    values = (values > 0) if dtype is bool else values.astype(dtype)

    def function(x):
        return reduce(x.reshape(2, 3, 4), axis=axes, keepdims=True)

    program = jax.make_jaxpr(function)(values.ravel())
    (made,) = kernel._written_out(program, (values.ravel(),))
    wanted = function(values.ravel())
    assert made.dtype == wanted.dtype
    # The compiler's own order of adding depends on how it is told to compile (conftest.py).
    np.testing.assert_allclose(made, wanted, rtol=1e-6 if dtype is np.float32 else 0)
    left = jax.make_jaxpr(lambda x: kernel._written_out(program, (x,)))(values.ravel())
    assert ("reduce_" in str(left)) == (np.size(np.zeros((2, 3, 4)).sum(axes)) == 1)  # 24 are many


def test_reductions_inside_loops_branches_and_calls_are_written_out():
    @jax.custom_jvp
    def squares(x):
        return jnp.sum(x * x)

    squares.defjvp(lambda x, dx: (squares(x[0]), 2 * jnp.sum(x[0] * dx[0])))

    def function(x):
        def body(i, at):
            more = jax.lax.cond(at[0] > 3, lambda y: jnp.max(y), lambda y: jnp.min(y), at)
            return at + more + jax.jit(jnp.sum)(at) * i

        looped = jax.lax.fori_loop(0, 3, body, x)
        scanned, ys = jax.lax.scan(lambda c, y: (c + jnp.sum(looped) * y, c), 0.5, x)
        kept = jax.lax.while_loop(lambda c: jnp.any(c < 9), lambda c: c + jnp.max(c) + 1, looped)
        return jnp.concatenate([looped, ys, kept, scanned[None], squares(x)[None]])

    x = np.array([1, 2, 0.5, 1.5], np.float32)
    program = jax.make_jaxpr(function)(x)
    assert str(program).count("reduce_") >= 6
    left = jax.make_jaxpr(lambda x: kernel._written_out(program, (x,)))(x)
    assert "reduce_" not in str(left)
    call = SmallCall(function, 4, np.float32)
    np.testing.assert_allclose(call(x), jax.jit(function)(x), rtol=1e-6)
    assert call.one_kernel and call.compilations == 1


@pytest.mark.parametrize("count", [1, 2, 3])
def test_sums_of_negative_zeros_have_the_sign_that_batches_give(count):
    x = np.full(4, -0.0, np.float32)

    def function(x):
        return jnp.sum(x[:count])[None]

    batch = jax.jit(jax.vmap(function))(np.stack([x] * 3))
    np.testing.assert_array_equal(
        np.signbit(SmallCall(function, 4, np.float32)(x)), np.signbit(batch[0])
    )


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint32, bool])
@pytest.mark.parametrize("count", [1, 2, 7, 16])
def test_sorts_of_a_few_are_written_out_and_give_the_same(dtype, count):
    rng = np.random.default_rng(count)

    def function(k, a):
        return jax.lax.sort((k, a, a > 0), num_keys=1)

    @jax.jit
    def written_out(*given):
        return kernel._written_out(jax.make_jaxpr(function)(*given), given)

    for _ in range(5):
        high = 2 if dtype is bool else np.iinfo(dtype).max
        key = rng.choice(rng.integers(0, high, 5), count).astype(dtype)
        also = rng.integers(-9, 9, count).astype(np.int8)
        made = written_out(key, also)
        wanted_all = jax.jit(function)(key, also)
        for given, wanted in zip(made, wanted_all, strict=True):
            assert given.dtype == wanted.dtype
            np.testing.assert_array_equal(given, wanted)


def test_long_reductions_stay_as_they_are():
    program = jax.make_jaxpr(jnp.sum)(np.zeros(17, np.float32))
    left = jax.make_jaxpr(lambda x: kernel._written_out(program, (x,)))(np.zeros(17, np.float32))
    assert "reduce_sum" in str(left)
