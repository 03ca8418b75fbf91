"""Mistakes in a call that no type can know are refused in words.

What type checkers see is checked with the package itself, by `make lint`: tests/typing.
"""

from __future__ import annotations

import pytest

import manyhands
from manyhands.envs import kitchen


def test_options_that_no_type_can_know_are_refused_in_words():
    """An environment's own options pass through as keywords: the call itself refuses them."""
    with pytest.raises((TypeError, manyhands.ConfigError), match="arays"):
        manyhands.vector("kitchen", num_envs=4, arays="torch")
    with pytest.raises((TypeError, manyhands.ConfigError), match="obzerve"):
        kitchen.parallel_env(obzerve="text")
