"""Two players in one seat, one after the other: a relay."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from manyhands.core.config import nearest, whole
from manyhands.core.env import Env, SeatError, names_of
from manyhands.core.seats import seat_policy
from manyhands.core.view import View

_EPISODES = 4096  # hand-overs that are remembered; the least recently used is dropped first


class Relay:
    """First one player, then another one in its place, for the rest of the episode.

    Args:
        first, then: the players: policies, device policies, or functions of one `View`. A seat's
            name needs `env`.
        after: the number of the step from which `then` plays; None: only `at` decides.
        at: an event of `View.events` (its "event", one of `Env.event_kinds`) after which `then`
            plays, or a function of a `View` that is true from where on it does. An event needs
            `env`, and a game that has `event_kinds`: one that never happens would go unnoticed.
        env: the environment, where players or an event are given by name.

    Each player keeps its own memory, which begins when it is first asked: `then` has not seen what
    was before, but for what its views tell.
    """

    def __init__(
        self,
        first: Any,
        then: Any,
        after: int | None = None,
        at: str | Callable[[View], bool] | None = None,
        env: Env | None = None,
    ):
        if after is None and at is None:
            raise SeatError("a relay hands over after=STEP, at=EVENT, or at whichever comes first")
        if at is not None and not isinstance(at, str) and not callable(at):
            raise SeatError(f"at is the kind of an event, or a function of a view, given {at!r}")
        if isinstance(at, str):
            _check_event(env, at)
        if env is None and (isinstance(first, str) or isinstance(then, str)):
            raise SeatError("players given by name need env=, the environment that they play in")
        self.after = None if after is None else whole("after", after, 0)
        self.at = at
        (self.first, one), (self.then, two) = (
            seat_policy(env, player)  # type: ignore[arg-type]
            for player in (first, then)
        )
        self.name = f"relay:first=({one}),then=({two})"
        self._handed: OrderedDict[tuple[int, int], int] = OrderedDict()

    def route(self, view: View) -> Any:
        """Who answers this view."""
        where = view.episode, view.index
        if view.turn == 0:
            self._handed.pop(where, None)
        over = where in self._handed and view.step >= self._handed[where]
        if not over and (self._due(view)):
            over = True
            self._handed[where] = view.step
            if len(self._handed) > _EPISODES:
                self._handed.popitem(last=False)
        return self.then if over else self.first

    def _due(self, view: View) -> bool:
        if self.after is not None and view.step >= self.after:
            return True
        if isinstance(self.at, str):
            return any(event.get("event") == self.at for event in view.events)
        if self.at is None:
            return False
        try:
            return bool(self.at(view))
        except Exception as error:
            raise SeatError(
                f"the relay's at(view) failed (agent {view.agent}, episode {view.episode}, step "
                f"{view.step}): {type(error).__name__}: {error}"
            ) from error

    def act(self, views: Any) -> Any:
        """Not called: `play` asks who `route` names."""
        raise SeatError("a relay plays in `play` and as a partner in Gymnasium, which ask `route`")

    async def aclose(self) -> None:
        """Close both players, if they can be closed."""
        for policy in (self.first, self.then):
            if hasattr(policy, "aclose"):
                await policy.aclose()


def _check_event(env: Env | None, at: str) -> None:
    if env is None:
        raise SeatError(
            f"at={at!r} needs env=, the environment whose events it is looked up in; or give a "
            "function of a view"
        )
    if not env.event_kinds:
        raise SeatError(
            f"at={at!r} cannot be looked up: {env.id} does not name its events. Its class has to "
            "set event_kinds to them; or hand over after=STEP, or, from Python, at a function of "
            "a view"
        )
    if at not in env.event_kinds:
        raise SeatError(
            f"there is no event {at!r} in {env.id};{nearest(at, env.event_kinds)} the events "
            f"are {names_of(env.event_kinds)}"
        )


def relay(env: Env, first: str, then: str, after: int | None = None, at: str = "") -> Relay:
    """The seat `relay:first=(SEAT),then=(SEAT),after=STEP` or `at=EVENT`."""
    return Relay(str(first), str(then), after, at or None, env)
