"""Values that are computed once for an object."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    kept = functools.cached_property
else:

    class kept(functools.cached_property):
        """`functools.cached_property` without a lock, as it is from Python 3.12 on. Before, one
        lock serves all objects of a class: of many games in threads, each waited for the texts of
        all others. Two threads that ask one object at once may both compute its value."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value
