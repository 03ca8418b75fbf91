"""Our kitchen replays what was played in Overcooked-AI and JaxMARL, and agrees at every step.

`record_kitchen.py` made the traces in data/; it says how, and with which versions.
"""

import base64
import functools
import gzip
import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from manyhands.envs.kitchen import Kitchen
from manyhands.envs.kitchen.levels import ALIASES, POT, load_level

DATA = Path(__file__).parent / "data"
INTERACT, DISH = 5, 3
SHAPED = ("pot_placement", "dish_pickup", "soup_pickup")
# Which of our rules a kind of trace was played by, and which of our start cells it has.
RULES = {
    "overcooked_ai": ("manual", "overcooked_ai"),
    "overcooked_ai_classic": ("classic", "overcooked_ai"),
    "overcooked_ai_orders": ("manual", "overcooked_ai"),
    "jaxmarl": ("classic", "jaxmarl"),
    "jaxmarl_v2": ("classic", "jaxmarl"),
}
CHANNELS = [
    *("own position", "other position", "own north", "own south", "own east", "own west"),
    *("other north", "other south", "other east", "other west", "pots", "counters"),
    *("onion dispensers", "tomato dispensers", "dish dispensers", "serving windows"),
    *("onions in pot", "tomatoes in pot", "onions in soup", "tomatoes in soup"),
    *("steps left to cook", "soup done", "dishes", "onions", "tomatoes", "urgent"),
]


@dataclass(frozen=True, eq=False)
class Trace:
    """Episodes of one layout, played elsewhere. T steps, E episodes, N = 2 chefs.

    Attributes:
        grid: rows of the layout, with the chefs' numbers on their start cells.
        orders: (onions, tomatoes, time, pays, is a bonus order) of each recipe, or None.
        played: int arrays: actions, x, y, facing, held, shaped [T, N, E]; sparse [T, E];
            objects, timer [T, cells, E]; observations u8[T // every, N, 26, H, W, E] or absent,
            after each `every` steps.
        start: observations before the first step, u8[N, 26, H, W], or None.
    """

    kind: str
    layout: str
    grid: tuple[str, ...]
    orders: tuple[tuple[int, int, int, int, bool], ...] | None
    every: int
    played: dict[str, np.ndarray]
    start: np.ndarray | None


def read(kind: str, given: dict[str, Any]) -> Trace:
    width, height = len(given["grid"][0]), len(given["grid"])
    pots = [c for c, symbol in enumerate("".join(given["grid"])) if symbol == "P"]
    episodes = []
    for one in given["episodes"]:
        columns = {n: np.array(one[n]).T for n in ("actions", "facing", "held", "shaped", "sparse")}
        cell = np.array(one["cell"]).T
        columns |= {"x": cell % width, "y": cell // width}
        objects = np.zeros((len(cell), width * height), int)
        timer = np.zeros_like(objects)
        lying: list[list[int]] = []
        for step in range(len(cell)):
            lying = one["counters"].get(str(step), lying)
            for place, thing in lying:
                objects[step, place] = thing
        for i, pot in enumerate(pots):
            onions, tomatoes = np.array(one["onions"][i]), np.array(one["tomatoes"][i])
            objects[:, pot] = np.where(onions + tomatoes, 16 | onions << 2 | tomatoes, 0)
            timer[:, pot] = one["timer"][i]
        columns |= {"objects": objects, "timer": timer}
        if "observations" in one:
            raw = zlib.decompress(base64.b85decode(one["observations"]))
            seen = np.frombuffer(raw, np.uint8).reshape(-1, 2, 26, height, width)
            columns["observations"] = seen
        episodes.append(columns)
    played = {name: np.stack([e[name] for e in episodes], -1) for name in episodes[0]}
    start = None
    if "observations" in played:
        start = played["observations"][0, ..., 0]
        played["observations"] = played["observations"][1:]
    return Trace(
        kind,
        given["layout"],
        tuple(given["grid"]),
        tuple(map(tuple, given["orders"])) if given["orders"] else None,
        given["observe_every"],
        played,
        start,
    )


@functools.cache
def traces(kind: str) -> tuple[Trace, ...]:
    recorded = json.loads(gzip.decompress((DATA / f"{kind}.json.gz").read_bytes()))
    return tuple(read(kind, given) for given in recorded)


def ids() -> list[tuple[str, int]]:
    return [(kind, i) for kind in RULES for i in range(4 if kind.endswith("orders") else 5)]


def kitchen(kind: str, group: tuple[Trace, ...]) -> Kitchen:
    """A kitchen of the layouts in `group`, with the orders that the first of them was played by."""
    options: dict[str, Any] = {"orders": [(3, 0)]}
    orders = group[0].orders
    if orders is not None:
        options = {
            "orders": [(o, t) for o, t, _, pays, _ in orders if pays],
            "bonus_orders": [(o, t) for o, t, _, pays, bonus in orders if pays and bonus],
            "values": {
                (o, t): pays // (2 if bonus else 1) for o, t, _, pays, bonus in orders if pays
            },
            "times": {(o, t): time for o, t, time, _, _ in orders},
        }
    return Kitchen(
        layout=["\n".join(trace.grid) for trace in group], dynamics=RULES[kind][0], **options
    )


@functools.cache
def replay(kind: str, index: int | None) -> dict[str, tuple[dict[str, np.ndarray], np.ndarray]]:
    """Play traces of a kind in our kitchen, all layouts in one batch (or the one at `index`).

    Returns, by layout: what `Trace.played` holds, as it went with us, and our first observation.
    """
    group = traces(kind) if index is None else (traces(kind)[index],)
    env = kitchen(kind, group)
    # A kitchen of several layouts draws one at reset: reset often, and pick one start of each.
    drawn = env.batch_reset(jax.random.split(jax.random.key(0), 64))
    levels = np.asarray(drawn.level)
    chosen = []
    for number, trace in enumerate(group):
        episodes = trace.played["actions"].shape[-1]
        chosen += [int(np.flatnonzero(levels == number)[0])] * episodes
    states = jax.tree.map(lambda leaf: leaf[..., np.array(chosen)], drawn)
    actions = np.concatenate([trace.played["actions"] for trace in group], -1)
    keys = jax.random.split(jax.random.key(1), len(chosen))

    def body(state: Any, action: Any) -> tuple[Any, Any]:
        state, outcome = env.batch_step(keys, state, action)
        shaped = sum(outcome.terms[name] for name in SHAPED)
        seen = env.batch_observe(state)
        return state, (state, outcome.terms["delivery"], shaped, outcome.truncated, seen)

    scan = jax.jit(lambda start: (env.batch_observe(start), jax.lax.scan(body, start, actions)[1]))
    first, stacked = jax.tree.map(np.asarray, scan(states))
    state, delivery, shaped, truncated, seen = stacked
    assert truncated[-1].all() and not truncated[:-1].any()
    by_layout, begin = {}, 0
    for trace in group:
        height, width = len(trace.grid), len(trace.grid[0])
        end = begin + trace.played["actions"].shape[-1]

        def crop(cells: np.ndarray, h: int = height, w: int = width) -> np.ndarray:
            shape = (len(cells), env.height, env.width, -1)
            return cells.reshape(shape)[:, :h, :w].reshape(len(cells), h * w, -1)

        mine = slice(begin, end)
        assert (delivery[:, 0] == delivery[:, 1]).all()  # the team's
        by_layout[trace.layout] = (
            {
                "x": state.position[..., mine] % env.width,
                "y": state.position[..., mine] // env.width,
                "facing": state.facing[..., mine],
                "held": state.held[..., mine],
                "sparse": delivery[:, 0, mine],
                "shaped": shaped[..., mine],
                "objects": crop(state.objects[..., mine]),
                "timer": crop(state.timer[..., mine]),
                "observations": seen[trace.every - 1 :: trace.every][..., mine],
            },
            first[..., begin],
        )
        begin = end
    return by_layout


def ours(kind: str, index: int) -> tuple[Trace, dict[str, np.ndarray], np.ndarray]:
    trace = traces(kind)[index]
    alone = kind == "overcooked_ai_orders"  # each has orders of its own: no common batch
    return (trace, *replay(kind, index if alone else None)[trace.layout])


def agree(name: str, theirs: np.ndarray, mine: np.ndarray) -> None:
    """Equal in all steps; else say where they part first. Axes: [step, ..., episode]."""
    assert theirs.shape == mine.shape
    wrong = np.argwhere(theirs != mine)
    if len(wrong):
        at = tuple(wrong[0])
        raise AssertionError(
            f"{name} differs {len(wrong)} times, first at step {at[0]} of episode {at[-1]}, "
            f"index {at[1:-1]}: theirs {theirs[at]}, ours {mine[at]}"
        )


def dish_corner(trace: Trace) -> np.ndarray:
    """bool[T, N, E]: the second chef takes a dish while the first interacts. Then Overcooked-AI,
    which we follow, judges the pots as they were before the step; JaxMARL after the first chef."""
    both = (trace.played["actions"] == INTERACT).all(1)
    held = trace.played["held"]
    before = np.concatenate([np.zeros_like(held[:1]), held[:-1]])
    took = (before[:, 1] == 0) & (held[:, 1] == DISH)
    corner = np.zeros(held.shape, bool)
    corner[:, 1] = both & took
    return corner


@pytest.mark.parametrize(("kind", "index"), ids())
def test_every_step_is_the_same(kind: str, index: int) -> None:
    trace, mine, _ = ours(kind, index)
    for name in ("x", "y", "facing", "held", "objects", "timer", "sparse"):
        agree(name, trace.played[name], mine[name])
    theirs, shaped = trace.played["shaped"], mine["shaped"]
    if kind.startswith("jaxmarl"):
        corner = dish_corner(trace)
        assert np.isin((theirs - shaped)[corner], (-3, 0, 3)).all()
        theirs, shaped = np.where(corner, 0, theirs), np.where(corner, 0, shaped)
    agree("shaped", theirs, shaped)


@pytest.mark.parametrize(("kind", "index"), [i for i in ids() if i[0] != "jaxmarl_v2"])
def test_grid_observation_is_the_lossless_encoding(kind: str, index: int) -> None:
    trace, mine, first = ours(kind, index)
    theirs, seen = trace.played["observations"], mine["observations"]
    height, width = theirs.shape[3:5]
    for number, name in enumerate(CHANNELS):
        channel = seen[:, :, number, :height, :width]
        if kind == "jaxmarl" and name == "counters":  # there, only counters with nothing on them
            lies = trace.played["objects"][trace.every - 1 :: trace.every] > 0
            channel = channel * ~lies.reshape(len(seen), 1, height, width, -1)
        agree(name, theirs[:, :, number], channel)
        assert trace.start is not None
        same = trace.start[:, number] == first[:, number, :height, :width]
        assert same.all(), f"{name} differs before the first step"
    # Beyond a layout smaller than its batch there is nothing to see, but for the urgency.
    outside = seen[:, :, :25].copy()
    outside[..., :height, :width, :] = 0
    assert not outside.any()


@pytest.mark.parametrize("kind", [k for k in RULES if k != "overcooked_ai_orders"])
def test_names_and_starts(kind: str) -> None:
    """Our layouts of these names have their walls, stations, start cells and orders."""
    for trace in traces(kind):
        level = load_level(trace.layout, starts=RULES[kind][1])
        text = "\n".join(trace.grid)
        flipped = text.translate(str.maketrans("12", "21"))  # V2 numbers some chefs otherwise
        assert level.text() in ((text, flipped) if kind == "jaxmarl_v2" else (text,))
        assert [recipe for recipe in level.values if level.worth(recipe)] == [(3, 0)]
        assert level.worth((3, 0)) == level.times[3, 0] == 20


def test_tomato_game_has_its_orders() -> None:
    (trace,) = (t for t in traces("overcooked_ai_orders") if t.layout == "counter_circuit")
    level = load_level("counter_circuit_tomato")
    assert level.text() == "\n".join(trace.grid)
    assert trace.orders is not None
    for onions, tomatoes, time, pays, _ in trace.orders:
        assert level.worth((onions, tomatoes)) == pays
        assert level.times[onions, tomatoes] == time


def test_aliases_are_the_other_packages_names() -> None:
    for trace in traces("jaxmarl"):
        assert load_level(trace.layout).name in (trace.layout, ALIASES.get(trace.layout))


@pytest.mark.parametrize("kind", RULES)
def test_traces_reach_the_corners(kind: str) -> None:
    """The comparison is worth something only if all of the game happens in the traces."""
    happened = dict.fromkeys(
        ("served", "useless dish", "useful dish", "one target", "clash", "dish lies", "two dishes"),
        0,
    )
    happened["dish while pots change"] = 0
    for trace in traces(kind):
        played = trace.played
        place = played["y"] * len(trace.grid[0]) + played["x"]
        held, facing = played["held"], played["facing"]
        width = len(trace.grid[0])
        before = np.concatenate([np.zeros_like(held[:1]), held[:-1]])
        acts = played["actions"]
        ahead = place + np.array([-width, width, 1, -1])[facing]
        took = (acts == INTERACT) & (before == 0) & (held == DISH)
        happened["served"] += int((played["sparse"] > 0).sum())
        happened["useful dish"] += int((took & (played["shaped"] == 3)).sum())
        happened["useless dish"] += int((took & (played["shaped"] == 0)).sum())
        both = (acts == INTERACT).all(1)
        happened["one target"] += int((both & (ahead[:, 0] == ahead[:, 1])).sum())
        # Nobody moved although someone walked towards floor: a clash, or a swap undone.
        floor = np.array([c in " 12" for c in "".join(trace.grid)])
        still = (place[1:] == place[:-1]).all(1)
        walks = ((acts[1:] < 4) & floor[ahead[1:]]).any(1)
        happened["clash"] += int((still & walks).sum())
        counters = np.array([c == "X" for c in "".join(trace.grid)])
        lies = (played["objects"] == DISH)[:, counters].any(1)
        happened["dish lies"] += int(lies.sum())
        busy = played["objects"][:, ~counters].astype(bool).sum(1)
        changed = np.concatenate([np.zeros_like(busy[:1]), busy[1:] != busy[:-1]])
        happened["dish while pots change"] += int((dish_corner(trace)[:, 1] & changed).sum())
        happened["two dishes"] += int((held == DISH).all(1).sum())
        assert (played["sparse"] > 0).any(), trace.layout
    assert min(happened.values()) >= 3, happened


def test_overcooked_ai_judges_dishes_by_the_pots_before_the_step() -> None:
    """The one rule in which the implementations part: chef 0 plates the only soup or puts the first
    onion into the pot, while chef 1 takes a dish."""
    env = Kitchen(layout="XXPXX\nO1 2D\nX   X\nXDXSX", orders=[(3, 0)])
    state = env.reset(jax.random.key(0))
    pot = int(np.flatnonzero(np.asarray(state.terrain) == POT)[0])
    below = pot + env.width
    ready = dict(
        position=jnp.array([below, below + 1], jnp.uint8), facing=jnp.array([0, 2], jnp.uint8)
    )

    def taken(held: int, contents: int, timer: int) -> float:
        at = jax.tree.map(lambda leaf: leaf, state)
        changed = {
            "held": jnp.array([held, 0], jnp.uint8),
            "objects": at.objects.at[pot].set(contents),
            "timer": at.timer.at[pot].set(timer),
            **ready,
        }
        at = type(at)(**{**vars(at), **changed})
        _, outcome = env.step(jax.random.key(0), at, jnp.array([INTERACT, INTERACT]))
        return float(outcome.terms["dish_pickup"][1])

    assert taken(held=1, contents=0, timer=0) == 0  # the first onion comes too late
    assert taken(held=DISH, contents=28, timer=1) == 3  # the plated soup still counts
    assert taken(held=1, contents=20, timer=0) == 3
    assert taken(held=DISH, contents=24, timer=0) == 0  # one dish in hand, one pot
