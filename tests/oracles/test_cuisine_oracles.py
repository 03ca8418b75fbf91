"""Cuisines beside a small kitchen in plain Python, written from the rules of CuisineWorld as they
are published and from the JSON files, and sharing nothing with the package: states, legal actions,
rewards and ends of the same steps."""

import json
import random
from collections import Counter
from pathlib import Path

import jax
import numpy as np
import pytest

import manyhands

ASSETS = Path(manyhands.__file__).parent / "assets" / "cuisine"
BOOK = json.loads((ASSETS / "cookbook.json").read_text())


class Kitchen:
    """One kitchen; tools are named like "pan 2", items as in the files."""

    def __init__(self, level, chefs, interval, lifetime, coming, extra=None, max_orders=6):
        extra = extra or {}
        self.kinds = {**BOOK["tools"], **extra.get("tools", {})}
        every = {**BOOK["recipes"], **extra.get("recipes", {})}
        self.dishes = level["dishes"]
        # Only the recipes that the dishes of the level need.
        self.recipes, pending = {}, list(self.dishes)
        while pending:
            item = pending.pop()
            if item in every:
                self.recipes[item] = every[item]
                pending += every[item]["from"]
        used = {each for recipe in self.recipes.values() for each in recipe["from"]}
        self.stock = used - set(self.recipes)
        counts = Counter()
        self.tools = {}
        for kind in level["tools"]:
            counts[kind] += 1
            self.tools[kind, counts[kind]] = {"inside": Counter(), "busy": 0, "ready": False}
        self.at = ["serving_table"] * chefs
        self.held = [None] * chefs
        self.bound = [0] * chefs
        self.table = Counter()
        self.interval, self.lifetime, self.most = interval, lifetime, max_orders
        self.coming = list(coming)
        self.orders = [[self.coming.pop(0), lifetime]]
        self.time = self.served = self.expired = self.missed = 0

    def makes(self, kind, inside):
        return [
            item
            for item, recipe in self.recipes.items()
            if recipe["tool"] == kind and Counter(recipe["from"]) == inside
        ]

    def can(self, chef, action):
        """Whether an action is possible now."""
        what, *rest = action
        if what == "wait":
            return True
        if self.bound[chef]:
            return False
        at, held = self.at[chef], self.held[chef]
        tool = self.tools.get(at) if isinstance(at, tuple) else None
        if what == "go":
            return rest[0] != at and (rest[0] in ("storage", "serving_table", *self.tools))
        if what == "get":
            if held is not None:
                return False
            if at == "storage":
                return rest[0] in self.stock
            if tool is None or tool["busy"] or not tool["inside"][rest[0]]:
                return False
            return tool["ready"] or self.kinds[at[0]].get("take_back", False)
        if what == "put":
            if held is None:
                return False
            if at == "storage":
                return True
            if at == "serving_table":
                return held in self.dishes
            if tool["busy"] or tool["ready"]:
                return False
            after = tool["inside"] + Counter([held])
            return any(
                recipe["tool"] == at[0] and after <= Counter(recipe["from"])
                for recipe in self.recipes.values()
            )
        if tool is None or held is not None or tool["busy"] or tool["ready"]:
            return False
        return bool(self.makes(at[0], tool["inside"]))

    def act(self, chef, action):
        what, *rest = action
        at = self.at[chef]
        tool = self.tools.get(at) if isinstance(at, tuple) else None
        if what == "go":
            self.at[chef] = rest[0]
        elif what == "get":
            if tool:
                tool["inside"] -= Counter([rest[0]])
                tool["ready"] = False
            self.held[chef] = rest[0]
        elif what == "put":
            if at == "serving_table":
                self.table[self.held[chef]] += 1
            elif tool:
                tool["inside"][self.held[chef]] += 1
            self.held[chef] = None
        elif what == "activate":
            (made,) = self.makes(at[0], tool["inside"])
            kind = self.kinds[at[0]]
            tool.update(inside=Counter([made]), busy=kind["time"], ready=True)
            if kind.get("watched"):
                self.bound[chef] = kind["time"]

    def step(self, actions):
        """(orders served, orders expired, actions that were illegal)"""
        legal = [self.can(i, action) for i, action in enumerate(actions)]
        for i, action in enumerate(actions):
            if legal[i] and self.can(i, action):
                self.act(i, action)
        self.bound = [max(steps - 1, 0) for steps in self.bound]
        for tool in self.tools.values():
            tool["busy"] = max(tool["busy"] - 1, 0)
        served = 0
        for order in list(self.orders):  # the most urgent first
            if self.table[order[0]]:
                self.table[order[0]] -= 1
                self.orders.remove(order)
                served += 1
        self.time += 1
        for order in self.orders:
            order[1] -= 1
        expired = [order for order in self.orders if order[1] == 0]
        self.orders = [order for order in self.orders if order[1] > 0]
        if self.time % self.interval == 0:
            dish = self.coming.pop(0)
            if len(self.orders) < self.most:
                self.orders.append([dish, self.lifetime])
            else:
                self.missed += 1
        self.served += served
        self.expired += len(expired)
        return served, len(expired), legal.count(False)

    def useful(self, chef, where):
        """Whether something but throwing away could be done at a place."""
        before, self.at[chef] = self.at[chef], where
        deeds = [("put",), ("activate",), *(("get", item) for item in (*self.stock, *self.recipes))]
        found = any(self.can(chef, deed) for deed in deeds)
        self.at[chef] = before
        return found and (where != "storage" or self.held[chef] is None)


def plain(name):
    return name.replace(" ", "_")


def place(env, number):
    kind, index = env.book.places[number]
    return kind if kind in ("storage", "serving_table") else (kind, index)


def named(env, action):
    """An action's number in words of the oracle."""
    places, items = len(env.book.places), env.book.items
    if action == 0:
        return ("wait",)
    if action <= places:
        return ("go", place(env, action - 1))
    if action <= places + len(items):
        return ("get", items[action - 1 - places])
    return (("put",), ("activate",))[action - 1 - places - len(items)]


def compare(env, kitchen, state, told):
    assert [place(env, int(p)) for p in state.place] == kitchen.at
    assert [plain(chef["holding"]) or None for chef in told["chefs"].values()] == kitchen.held
    assert [chef["bound"] for chef in told["chefs"].values()] == kitchen.bound
    for (kind, number), tool in kitchen.tools.items():
        several = sum(other == kind for other, _ in env.book.places) > 1
        found = told["tools"][kind.replace("_", " ") + f" {number}" * several]
        inside = Counter({plain(item): count for item, count in found["inside"].items()})
        assert (inside, found["busy"], found["ready"]) == (
            +tool["inside"],
            tool["busy"],
            tool["ready"],
        )
    table = {plain(dish): count for dish, count in told["serving_table"].items() if count}
    assert Counter(table) == +kitchen.table
    assert [[plain(o["dish"]), o["steps_left"]] for o in told["orders"]] == kitchen.orders
    assert (told["served"], told["expired"], told["missed"], told["time"]) == (
        kitchen.served,
        kitchen.expired,
        kitchen.missed,
        kitchen.time,
    )


OWN = {
    "name": "own",
    "dishes": ["crisps", "double_egg"],
    "tools": ["slicer", "pan", "griddle", "pan"],
    "cookbook": {
        "tools": {
            "slicer": {"time": 3, "watched": True, "take_back": True},
            "griddle": {"time": 0},
        },
        "ingredients": ["salt"],
        "recipes": {
            "crisps": {"tool": "slicer", "from": ["potato", "salt", "salt"]},
            "double_egg": {"tool": "griddle", "from": ["fried_egg", "fried_egg"]},
        },
    },
}


@pytest.mark.parametrize(
    ("level", "options"),
    [
        ("level_4", {"chefs": 3, "interval": 4, "lifetime": 40, "max_orders": 2}),
        ("level_10", {"chefs": 6, "alpha": 1.0}),
        (OWN, {"chefs": 4, "interval": 3, "lifetime": 14, "max_orders": 3}),
    ],
)
def test_every_step_is_that_of_the_oracle(level, options):
    env = manyhands.make("cuisine", level=level, reachable=False, max_steps=120, **options)
    fields = (
        level if isinstance(level, dict) else json.loads((ASSETS / f"{level}.json").read_text())
    )
    step = jax.jit(env.step)
    reset, legal, key = jax.jit(env.reset), jax.jit(env.legal), jax.random.key(0)
    seen = Counter()
    for seed in range(3):
        draw = random.Random(seed)
        state = jax.device_get(reset(jax.random.key(seed)))
        names = [env.book.items[dish] for dish in env.book.dishes]
        coming = [names[dish - 1] for dish in np.asarray(state.coming).tolist()]
        kitchen = Kitchen(
            fields,
            env.chefs,
            env.intervals[0],
            env.lifetimes[0],
            coming,
            fields.get("cookbook"),
            env.max_orders,
        )
        compare(env, kitchen, state, env.to_dict(state))
        for _ in range(120):
            mask = np.asarray(legal(state))
            every = [named(env, action) for action in range(mask.shape[1])]
            for i in range(env.chefs):
                open_ = {every[action] for action in np.flatnonzero(mask[i])}
                assert open_ == {action for action in every if kitchen.can(i, action)}
            # Legal actions, those that get on with the work more often; sometimes any at all.
            rows = []
            for i in range(env.chefs):
                open_now = np.flatnonzero(mask[i]).tolist()
                work = [action for action in open_now if every[action][0] not in ("wait", "go")]
                if kitchen.at[i] == "storage" and kitchen.held[i] is not None:
                    work = []
                if not work:
                    goes = [action for action in open_now if every[action][0] == "go"]
                    work = [action for action in goes if kitchen.useful(i, every[action][1])]
                if not work and kitchen.held[i] is not None:  # it is in the way
                    work = [a for a in open_now if every[a] in (("put",), ("go", "storage"))]
                pool = work if work and draw.random() < 0.9 else open_now
                rows.append(draw.choice(pool if draw.random() < 0.97 else range(mask.shape[1])))
            deeds = [every[action] for action in rows]
            state, outcome = jax.device_get(step(key, state, np.array(rows, np.int32)))
            served, expired, illegal = kitchen.step(deeds)
            compare(env, kitchen, state, env.to_dict(state))
            assert outcome.reward.tolist() == [served - expired] * env.chefs
            assert outcome.metrics["illegal"] == illegal
            assert bool(outcome.truncated.all()) == (kitchen.time == 120)
            assert not outcome.terminated.any()
            seen["failed"] += int(outcome.metrics["failed"])
            seen["illegal"] += illegal
            seen["served"] += served
            seen["expired"] += expired
            seen["activated"] += int(outcome.metrics["activations"])
        seen["missed"] += kitchen.missed
    # What was compared is worth comparing.
    assert seen["activated"] > 30 and seen["illegal"] > 5 and seen["expired"] > 5
    if isinstance(level, dict):
        assert seen["served"] > 0 and seen["missed"] > 0
    else:
        assert seen["failed"] > 0
