"""The worlds: one folder a game."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from manyhands.core.config import one_of

if TYPE_CHECKING:  # at run time they are loaded on first use, below
    from manyhands.envs import board as board
    from manyhands.envs import craftworld as craftworld
    from manyhands.envs import cuisine as cuisine
    from manyhands.envs import drones as drones
    from manyhands.envs import home as home
    from manyhands.envs import kitchen as kitchen
    from manyhands.envs import mission as mission
    from manyhands.envs import negotiation as negotiation
    from manyhands.envs import poker as poker
    from manyhands.envs import volleyball as volleyball
    from manyhands.wrappers.pettingzoo import Parallel, Sequential
else:  # a type checker would take any name for a member

    def __getattr__(name: str) -> Any:
        # So that `manyhands.envs.kitchen` works after `import manyhands`, and loads it alone.
        module = f"{__name__}.{name}"
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


_Made = TypeVar("_Made", covariant=True)


class PettingZooView(Protocol[_Made]):
    """`manyhands.wrappers.pettingzoo.parallel_env` or `env`, for the games of one folder."""

    def __call__(
        self,
        game: str = ...,
        /,
        *,
        observe: str = ...,
        infos: str = ...,
        mask: str = ...,
        empty_mask: str = ...,
        dtype: str | None = ...,
        on_illegal: str = ...,
        allow_illegal: int | None = ...,
        render_mode: str | None = ...,
        max_cycles: int | None = ...,
        **config: Any,
    ) -> _Made: ...


def pettingzoo_views(
    module: str, *ids: str, leading: str = ""
) -> tuple[PettingZooView[Parallel], PettingZooView[Sequential], PettingZooView[Sequential]]:
    """`parallel_env`, `env` and `raw_env` of a folder of games, as PettingZoo's own folders have
    them; the wrappers are loaded on first use.

    Args:
        module: the `__name__` of the folder.
        ids: its games. Of several, the first argument, `game`, names one (default: the first).
        leading: the option of a single game that may be given first, without its name.
    """
    leading = "game" if len(ids) > 1 else leading

    def view(kind: str, what: str) -> Any:
        def make(*first: str, **options: Any) -> Any:
            if len(first) > bool(leading) or (first and leading in options):
                given = "one argument without a name" if leading else "keyword arguments only"
                raise TypeError(f"{kind}() takes {given}{leading and f', {leading!r}'}")
            if first:
                options[leading] = first[0]
            game = ids[0]
            if len(ids) > 1:
                game = one_of("game", options.pop("game", game), ids)
            wrappers = importlib.import_module("manyhands.wrappers.pettingzoo")
            return getattr(wrappers, kind)(game, **options)

        make.__name__ = make.__qualname__ = kind
        make.__module__ = module  # where pickle finds it
        make.__doc__ = (
            f"{' or '.join(ids)} as {what}: options of `manyhands.wrappers.pettingzoo.{kind}`, and "
            f"of the game.{leading and f' The first argument is `{leading}`.'}"
        )
        return make

    turns = view("env", "a PettingZoo AEC environment")
    return view("parallel_env", "a PettingZoo parallel environment"), turns, turns
