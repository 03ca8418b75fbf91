"""Functions of microseconds, compiled for the CPU as a single kernel.

XLA's CPU runtime is made for large arrays. Two of its costs are many times what a step of a small
game computes, and are avoided here:

- It starts a kernel for every few operations, and hands them to several threads. A call that
  carries the attribute `xla_cpu_small_call` is compiled as one kernel.
- In every call it makes an object for every buffer in the program, and the function that combines
  two elements in a reduction has three, one for each scalar. So reductions of a few elements are
  written out, element by element.

A sort is a call to a routine, which no such kernel can make. One of a few whole numbers is written
out, too: each is compared with each.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.xla_metadata import set_xla_metadata
from jax.extend.core import ClosedJaxpr, Literal

from manyhands.core.env import Array
from manyhands.core.processes import check_process, was_forked

# What XLA cannot put into a single kernel, by the beginnings of the primitives' names: these call a
# routine of the runtime, or need a kernel of their own.
_NOT_SMALL: tuple[str, ...] = (
    "sort",
    "top_k",
    "scatter",
    "fft",
    "conv_general",
    "cholesky",
    "lu",
    "qr",
    "eig",
    "svd",
)
_NOT_SMALL += ("schur", "hessenberg", "householder", "tridiagonal", "triangular", "ffi", "custom")
_NOT_SMALL += ("pure_callback", "io_callback", "debug_callback", "approx")

_COMBINES: dict[str, Callable[[Array, Array], Array]] = {
    "reduce_sum": jax.lax.add,
    "reduce_prod": jax.lax.mul,
    "reduce_max": jax.lax.max,
    "reduce_min": jax.lax.min,
    "reduce_or": jax.lax.bitwise_or,
    "reduce_and": jax.lax.bitwise_and,
}
_FEW, _SMALL = 16, 32  # elements that are combined, and of the whole array, to be written out
# Primitives that call a part of the program, by the name of the parameter that holds it.
_CALLS = {"jit": "jaxpr", "closed_call": "call_jaxpr", "custom_jvp_call": "call_jaxpr"}


class SmallCall:
    """A function from one array to one array, compiled for the CPU as a single kernel.

    Where XLA cannot do so, or does not know the attribute, the function is compiled as any other.
    """

    def __init__(self, function: Callable[[Array], Array], size: int, dtype: Any = np.uint8):
        check_process()
        cpu = jax.sharding.SingleDeviceSharding(jax.local_devices(backend="cpu")[0])
        jit = functools.partial(jax.jit, in_shardings=cpu, out_shardings=cpu)
        program = jax.make_jaxpr(function)(np.zeros(size, dtype))
        self._shape = program.out_avals[0].shape
        self._flat = len(self._shape) == 1

        # XLA ends the process if such a kernel's input is optimised away, as that of a reset that
        # draws one of one; so a part of it always comes out again, at the end.
        @jax.jit
        def inner(array: Array) -> Array:
            (made,) = _written_out(program, (array,))
            return jnp.append(made.ravel(), array[:1].astype(made.dtype))

        def tagged(array: Array) -> Array:
            return set_xla_metadata(inner(array), xla_cpu_small_call="true", inlineable="false")

        self._usual = jit(function)
        small = not any(map(_is_not_small, _primitives(program.jaxpr)))
        self._run = jit(tagged) if small else self._usual

    def __call__(self, array: np.ndarray) -> np.ndarray:
        # Programs compiled before a fork still work after it, unless `jax.clear_caches` was called.
        if was_forked() and not self.compilations:
            check_process()
        if self._run is not self._usual:
            try:
                made = np.asarray(self._run(array))[:-1]
                return made if self._flat else made.reshape(self._shape)
            except jax.errors.JaxRuntimeError:
                self._run = self._usual
        return np.asarray(self._run(array))

    @property
    def one_kernel(self) -> bool:
        return self._run is not self._usual

    @property
    def compilations(self) -> int:
        """How often it was compiled: 1 after the first call, whatever follows; 0 once forgotten."""
        return self._run._cache_size()  # type: ignore[attr-defined]


def _is_not_small(primitive: str) -> bool:
    return primitive.startswith(_NOT_SMALL) and not primitive.startswith(
        ("custom_jvp", "custom_vjp")
    )


def _primitives(jaxpr: Any) -> set[str]:
    """The names of all primitives in a jaxpr, nested ones included, sorts that are written out
    left out."""
    names = set()
    for equation in jaxpr.eqns:
        if _is_few_sorted(equation):
            continue
        names.add(equation.primitive.name)
        for value in jax.tree_util.tree_leaves(
            list(equation.params.values()), is_leaf=lambda leaf: hasattr(leaf, "eqns")
        ):
            nested = getattr(value, "jaxpr", value)
            if hasattr(nested, "eqns"):
                names |= _primitives(nested)
    return names


def _written_out(program: ClosedJaxpr, arguments: Sequence[Array]) -> list[Array]:
    """A program with its small reductions and sorts unrolled; traceable."""
    jaxpr = program.jaxpr
    values: dict[Any, Any] = dict(zip(jaxpr.constvars, program.consts, strict=True))
    values |= dict(zip(jaxpr.invars, arguments, strict=True))

    def value(atom: Any) -> Any:
        return atom.val if isinstance(atom, Literal) else values[atom]

    for equation in jaxpr.eqns:
        name, params = equation.primitive.name, equation.params
        operands = [value(atom) for atom in equation.invars]
        called = params.get(_CALLS.get(name, ""))
        if isinstance(called, ClosedJaxpr):
            made = _written_out(called, operands)
        elif name in _COMBINES and _few(operands[0], params["axes"]):
            made = [_reduced(_COMBINES[name], operands[0], params["axes"])]
        elif _is_few_sorted(equation):
            made = _sorted(operands)
        else:
            # Loops and branches hold programs of their own.
            params = {key: _rewritten(param) for key, param in params.items()}
            made = equation.primitive.bind(*operands, **equation.primitive.get_bind_params(params))
            if not equation.primitive.multiple_results:
                made = [made]
        values |= dict(zip(equation.outvars, made, strict=True))
    return [value(atom) for atom in jaxpr.outvars]


def _rewritten(param: Any) -> Any:
    """A parameter of a primitive, the programs in it rewritten."""
    if isinstance(param, ClosedJaxpr):
        return jax.make_jaxpr(lambda *given: _written_out(param, given))(*param.in_avals)
    if isinstance(param, tuple) and any(isinstance(part, ClosedJaxpr) for part in param):
        return tuple(map(_rewritten, param))  # of a branch
    return param


def _is_few_sorted(equation: Any) -> bool:
    """Whether an equation sorts a few whole numbers, and carries others along, by one key."""
    if equation.primitive.name != "sort" or equation.params["num_keys"] != 1:
        return False
    arrays = [atom.aval for atom in equation.invars]
    settled = equation.params["is_stable"] or len(arrays) == 1  # what equal keys carry along
    return settled and all(
        array.ndim == 1
        and 0 < array.size <= _FEW
        and any(jnp.issubdtype(array.dtype, kind) for kind in (np.integer, np.bool_))
        for array in arrays
    )


def _sorted(arrays: Sequence[Array]) -> list[Array]:
    """Arrays of a few whole numbers, in the order of the first; equal ones as they were."""
    key, numbers = jnp.asarray(arrays[0]), np.arange(arrays[0].shape[0])
    tied = (key[None] == key[:, None]) & (numbers[None] < numbers[:, None])
    before = (key[None] < key[:, None]) | tied  # [i, j]: j comes before i
    place = _reduced(jax.lax.add, before.astype(jnp.int32), (1,))
    here = place[:, None] == numbers[None]
    combines = [jax.lax.bitwise_or if a.dtype == bool else jax.lax.add for a in arrays]
    return [
        _reduced(combine, jnp.where(here, jnp.asarray(array)[:, None], array.dtype.type(0)), (0,))
        for combine, array in zip(combines, arrays, strict=True)
    ]


def _few(array: Array, axes: Sequence[int]) -> bool:
    count = math.prod(array.shape[axis] for axis in axes)
    return 0 < count <= _FEW and array.size <= _SMALL


def _reduced(combine: Callable[[Array, Array], Array], array: Array, axes: Sequence[int]) -> Array:
    """A reduction, in the order in which XLA's loop runs over the elements."""
    rows = jnp.moveaxis(array, sorted(axes), range(len(axes)))
    rows = rows.reshape(-1, *rows.shape[len(axes) :])
    parts = [jax.lax.index_in_dim(rows, i, keepdims=False) for i in range(rows.shape[0])]
    total = functools.reduce(combine, parts)
    if combine is jax.lax.add and len(parts) > 1 and jnp.issubdtype(total.dtype, jnp.floating):
        # XLA's sum begins with 0, so that it is never -0; an addition of 0 would be left out here.
        total = jnp.where(total == 0, jnp.zeros_like(total), total)
    return total
