"""The jax that is installed computes right what versions that the package excludes do not."""

import tomllib
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


@pytest.mark.parametrize("rows", [1_000, 32_769])
def test_mapped_products_that_are_reduced_are_right(rows):
    """jax 0.10.2 fuses a mapped matrix-vector product with the sum after it, and, from about 32 k
    rows on, gets the last one wrong on a CPU (jax issue 39103)."""
    vectors = np.zeros((rows, 3), np.float32)
    vectors[:, 0] = np.arange(rows) % 4_096
    turn = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]], np.float32)

    def lengths(vectors):
        return jax.vmap(lambda vector: jnp.sum((turn @ vector) ** 2))(vectors)

    # Optimised as where nobody says how (tests/conftest.py does).
    lengths = jax.jit(lengths, compiler_options={"xla_backend_optimization_level": 3})

    # Whole numbers below 2^24: exact in float32 in any order of operations.
    np.testing.assert_array_equal(lengths(vectors), vectors[:, 0] ** 2)


def test_the_package_excludes_the_versions_that_compute_wrong_numbers():
    packaging = pytest.importorskip("packaging.requirements")
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    requirements = [packaging.Requirement(text) for text in project["dependencies"]]
    (allowed,) = [r.specifier for r in requirements if r.name == "jax"]
    for version in ("0.10.0", "0.10.2", "0.11.0", "0.11.1"):
        assert version not in allowed
    assert "0.10.1" in allowed and jax.__version__ in allowed
