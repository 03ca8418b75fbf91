"""A cuisine's state and its fixed configuration.

Every function of the rules (`rules.py`) and of the observations (`observe.py`) takes a
`CuisineConfig` and a `CuisineState`, with any number of trailing batch axes (none, or one).
"""

from __future__ import annotations

from manyhands.core.env import Array, state_dataclass
from manyhands.envs.cuisine.menu import Book

STORE, TABLE, TOOLS = range(3)  # places: the storage, the serving table, and the first tool
WAIT = 0  # actions: wait, go to each place, get each item, put, activate
# `CuisineState.recent`: what a chef did in the last step.
NOTHING, WENT, GOT, PUT, THREW, ACTIVATED, SERVED, FAILED = range(8)
MOST_ORDERS, MOST_STEPS, MOST_WAITING = 10, 1000, 99


@state_dataclass
class CuisineState:
    """One kitchen at one moment; P places, T tools, K items, D dishes, Q orders at most.

    Attributes:
        level: u8[], number of the level among those that the environment has.
        place: u8[N], where each chef is: 0 the storage, 1 the serving table, then the tools.
        held: u8[N], what each chef holds: 0 nothing, else the number of the item plus 1.
        bound: u8[N], steps for which a chef still has to wait beside a watched tool.
        waiting: u8[D], dishes on the serving table that nobody has ordered yet.
        inside: u8[T, K], how many of each item are in each tool.
        busy: u8[T], steps for which a tool still works.
        ready: bool[T], whether its contents are what it made.
        order: u8[Q], the open orders, most urgent first: 0 none, else the number of the dish
            plus 1.
        left: i16[Q], the next steps in which the order can be served.
        coming: u8[S], the dishes that will be ordered, one for each interval of the episode, the
            first at its start, numbered as in `order`.
        served, expired, missed: i16[], orders served, expired, and not taken since the queue was
            full.
        time: i16[], steps played.
        recent: u8[2 N + 2 D + 1]: what each chef did in the last step, with what (the item plus 1,
            or the place for `WENT` and `ACTIVATED`), how many orders of each dish were served, how
            many expired, and the dish that was newly ordered (plus 1).
    """

    level: Array
    place: Array
    held: Array
    bound: Array
    waiting: Array
    inside: Array
    busy: Array
    ready: Array
    order: Array
    left: Array
    coming: Array
    served: Array
    expired: Array
    missed: Array
    time: Array
    recent: Array


class CuisineConfig:
    """What the rules and observations read of a cuisine, fixed while it is played; `Cuisine`
    (`env.py`) is one.

    Attributes:
        book: items, places and recipes of its levels.
        chefs: how many chefs, N.
        intervals: steps between two orders, for each level.
        lifetimes: steps in which an order can be served, for each level.
        max_orders: open orders at most, Q.
        max_steps: steps after which an episode is truncated.
    """

    book: Book
    chefs: int
    intervals: tuple[int, ...]
    lifetimes: tuple[int, ...]
    max_orders: int
    max_steps: int


def actions_of(book: Book) -> tuple[int, int, int, int]:
    """The numbers of the first `go to` and `get`, of `put` and of `activate`."""
    go, get = 1, 1 + len(book.places)
    put = get + len(book.items)
    return go, get, put, put + 1
