"""Layouts of observations: slices, bounds, names and tables out of one declaration."""

from __future__ import annotations

import gymnasium
import jax.numpy as jnp
import numpy as np
import pytest

from manyhands.core.layout import Layout, Piece, labelled

PIECES = [
    Piece("cells", (2, 3), 0, 20, "material of each cell"),
    Piece("vitals", 2, 0, 9, labels=("food", "drink")),
    Piece("nobody", (0, 4)),
    Piece("gain", 1, -50, [30]),
]


def test_slices_are_a_mapping():
    layout = Layout(PIECES, np.int16)
    assert dict(layout) == {"cells": slice(0, 6), "vitals": slice(6, 8), "gain": slice(8, 9)}
    assert "nobody" not in layout and len(layout) == 3
    assert layout.size == 9 and layout.shape == (9,)


def test_bounds_of_a_vector():
    layout = Layout(PIECES, np.int16)
    low, high = [0] * 8 + [-50], [20] * 6 + [9, 9, 30]
    assert layout.space() == gymnasium.spaces.Box(
        np.array(low, np.int16), np.array(high, np.int16), dtype=np.int16
    )
    assert layout.divisors.tolist() == [20] * 6 + [9, 9, 50]
    divided = layout.space(divided=True)
    assert divided.dtype == np.float32
    np.testing.assert_allclose(divided.low, [0] * 8 + [-1])
    np.testing.assert_allclose(divided.high, [1] * 8 + [0.6])


def test_bounds_of_planes():
    planes = Layout([Piece("own", 1), Piece("left", 1, 0, 9)], np.uint8, (6, 7))
    space = planes.space()
    assert isinstance(space, gymnasium.spaces.Box)
    assert space.shape == (2, 6, 7) and (space.high[1] == 9).all() and (space.high[0] == 1).all()
    alike = Layout([Piece("own"), Piece("other")], np.uint8, (6, 7))
    assert alike.space() == gymnasium.spaces.Box(0, 1, (2, 6, 7), np.uint8)
    anything = Layout([Piece("x", 3, -np.inf, np.inf)], np.float32)
    assert anything.space() == gymnasium.spaces.Box(-np.inf, np.inf, (3,), np.float32)


def test_names():
    layout = Layout(PIECES, np.int16)
    assert layout.names[5:] == ("cells 5", "vitals: food", "vitals: drink", "gain")
    assert len(layout.names) == layout.size
    assert labelled(("a", "b"), range(2)) == ["a 0", "a 1", "b 0", "b 1"]
    with pytest.raises(ValueError, match=r"vitals.*4.*1"):
        Piece("vitals", (2, 2), labels=["food"])


@pytest.mark.parametrize("xp", [np, jnp])
def test_parts_have_their_own_shape(xp):
    layout = Layout(PIECES, np.int16)
    row = xp.arange(18).reshape(9, 2)
    assert layout.part(row, "cells").shape == (2, 3, 2)
    assert layout.part(row, "cells")[1, 0].tolist() == [6, 7]
    assert layout.part(row, "vitals").tolist() == [[12, 13], [14, 15]]


def test_ordered_checks_sizes():
    layout = Layout(PIECES, np.int16)
    parts = {"gain": np.zeros(1), "cells": np.ones(6), "vitals": np.zeros(2), "more": np.zeros(5)}
    assert [part.shape[0] for part in layout.ordered(parts)] == [6, 2, 1]
    with pytest.raises(ValueError, match=r"vitals.*2.*3"):
        layout.ordered(parts | {"vitals": np.zeros(3)})
    with pytest.raises(ValueError, match="cells"):
        layout.ordered({"vitals": np.zeros(2)})
    with pytest.raises(ValueError, match="own"):
        Layout([Piece("own"), Piece("own")], np.uint8)


def test_table():
    lines = Layout(PIECES, np.int16).table().splitlines()
    assert len(lines) == 5
    assert [cell.strip() for cell in lines[2].split("|")[1:-1]] == [
        "0\u20135", "`cells`", "2 \u00d7 3", "0 to 20", "material of each cell",
    ]  # fmt: skip
    assert "food, drink" in lines[3] and "-50 to 30" in lines[4]
