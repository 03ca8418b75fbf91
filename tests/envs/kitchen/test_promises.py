"""What choices call certain happens, whatever the others do; what events tell has happened."""

import itertools
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest
from kitchen_states import any_states, count, one, played_states, scripted_frames, scripted_states

import manyhands
from manyhands.core.pack import stepper
from manyhands.envs.kitchen.env import Kitchen
from manyhands.envs.kitchen.levels import DIRECTIONS, LAYOUTS, POT
from manyhands.envs.kitchen.state import ACTIONS, BLOCKED, INTERACT, STAY, KitchenState
from manyhands.testing import broken_facts

KEY = np.zeros(2, np.uint32)
# Everything stands beside everything.
CROWDED = "XXPXX\nX123O\nP4  X\nXDTSX"
CORRIDOR = "XXXXXX\nO1 2 P\nXXDSXX"
KITCHENS: dict[str, dict[str, Any]] = {
    "corridor": {"layout": CORRIDOR},
    "corridor, manual": {"layout": CORRIDOR, "dynamics": "manual", "times": 1},
    "cramped": {"dynamics": "manual"},
    "crowded": {"layout": CROWDED, "onion_value": 7, "tomato_value": 3},
    "crowded, manual": {"layout": CROWDED, "dynamics": "manual", "times": 1},
    "two rooms, far apart": {"layout": "forced_coordination"},
    "nothing far is seen": {"layout": CROWDED, "dynamics": "manual", "view_radius": 1},
    "two chefs, nothing far is seen": {"view_radius": 1},
    "short view": {"layout": CROWDED, "view_radius": 2},
}


def after(env: Kitchen, state: KitchenState, actions: Any) -> Any:
    return stepper(env).step(KEY, int(state.time), state, np.asarray(actions, np.int32))


def states_of(env: Kitchen, seed: int) -> list[KitchenState]:
    made = any_states(env, 40, seed)
    played = played_states(env, 4, 60)
    batches = ((made, 1), (played, max(1, count(played) // 20)))
    return [one(batch, i) for batch, every in batches for i in range(0, count(batch), every)]


def others_do(env: Kitchen, rng: np.random.Generator) -> np.ndarray:
    """Random actions; chefs interact about every third time."""
    return rng.choice(8, env.num_agents).clip(0, INTERACT)


@pytest.mark.parametrize("name", KITCHENS)
def test_what_is_certain_happens_whatever_the_others_do(name):
    env, rng = Kitchen(**KITCHENS[name], max_steps=50), np.random.default_rng(1)
    certain = 0
    # As many views in a crowd as in a corridor.
    for state in states_of(env, 2)[:: max(1, env.num_agents // 2)]:
        for agent in range(env.num_agents):
            for choice in env.choices(state, agent):
                certain += choice.certain
                assert bool(choice.facts) or not choice.certain
                for _ in range(6 if choice.facts else 0):
                    actions = others_do(env, rng)
                    actions[agent] = choice.action
                    broken = broken_facts(env, choice, after(env, state, actions))
                    assert not broken, (agent, str(choice), actions, env.describe(state, agent))
    assert certain > 200


@pytest.mark.parametrize("name", ["corridor", "corridor, manual", "cramped", "crowded"])
def test_what_is_not_certain_may_happen_or_not(name):
    """All that the others can do: a step that is not certain succeeds and fails; an interact has
    several results."""
    env = Kitchen(**KITCHENS[name], max_steps=50)
    others, found = env.num_agents - 1, 0
    states = states_of(env, 3)[:: 1 if others == 1 else 8]
    for state, agent in itertools.product(states, range(env.num_agents)):
        for choice in env.choices(state, agent):
            if choice.certain:
                continue
            results = set()
            for rest in itertools.product(range(6), repeat=others):
                new = after(env, state, np.insert(rest, agent, choice.action)).state
                if choice.action < STAY:
                    results.add(bool(new.event[agent] == BLOCKED))
                else:
                    results.add((int(new.event[agent]), int(new.held[agent])))
            assert len(results) > 1, (agent, str(choice), env.describe(state, agent))
            found += 1
    assert found > 10


# ---- events --------------------------------------------------------------------------------------


def truth(env: Kitchen, before: KitchenState, actions: Any, new: KitchenState) -> list[dict]:
    """What happened, worked out from both states and the actions: takes, puts, serves and pots."""
    found: list[dict] = []
    names = (None, "onion", "tomato", "dish")

    def thing(code: int) -> dict[str, Any]:
        soup = {"thing": "soup", "onions": code >> 2 & 3, "tomatoes": code & 3}
        return soup if code >= 16 else {"thing": names[code]}

    for i, action in enumerate(actions):
        had, has = int(before.held[i]), int(new.held[i])
        if action != INTERACT or had == has:
            continue
        dx, dy = DIRECTIONS[int(before.facing[i])]
        x, y = int(before.position[i]) % env.width + dx, int(before.position[i]) // env.width + dy
        kind = {0: "put down", 2: "take", 3: "take", 4: "take", 5: "fill pot", 6: "serve"}
        code = int(before.terrain[y * env.width + x])
        event = kind[code]
        if code == 0 and not had:
            event = "pick up"
        if code == POT and has >= 16:
            event = "plate"
        moved = thing(has or had) if event != "plate" else thing(has)
        entry = {"event": event, "agent": env.agents[i], **moved, "at": [x, y]}
        if event == "serve":
            level = env.levels[int(before.level)]
            entry["points"] = level.worth((had >> 2 & 3, had & 3))
        found.append(entry)
    return found


@pytest.mark.parametrize("name", KITCHENS)
def test_events_are_what_happened(name):
    env, rng = Kitchen(**KITCHENS[name], max_steps=50), np.random.default_rng(4)
    codes, kinds = jax.jit(env.event_codes), set()
    for state in 4 * states_of(env, 5)[:: max(1, env.num_agents // 2)]:
        actions = others_do(env, rng)
        new = after(env, state, actions).state
        events = env.last_events(new)
        told = [event for event in events if event["event"] in
                ("take", "put down", "pick up", "fill pot", "plate", "serve")]  # fmt: skip
        assert told == truth(env, state, actions, new)
        points = sum(event.get("points", 0) for event in events)
        assert points == int(new.score) - int(state.score)
        for event in events:
            kinds.add(event["event"])
            if event["event"] == "move":
                i, (x, y) = env.index(event["agent"]), event["to"]
                assert y * env.width + x == new.position[i] != state.position[i]
        # Pots that cooked their last step, and pots that began.
        cooked = {int(cell) for cell in np.flatnonzero(state.timer == 2)}
        begun = set(np.flatnonzero((state.timer == 0) & (new.timer > 0)).tolist())

        def at(kind: str, events: list[dict] = events) -> set[int]:
            cells = (event["at"] for event in events if event["event"] == kind)
            return {y * env.width + x for x, y in cells}

        assert at("pot starts") == begun
        assert at("pot ready") == cooked | {cell for cell in begun if new.timer[cell] == 1}
        numbers = np.asarray(codes(new))
        for i in range(env.num_agents):
            known = env.last_events(new, i)
            assert all(any(e.items() <= true.items() for true in events) for e in known)
            row = dict(zip(env.event_names, numbers[i].tolist(), strict=True))
            own = [e for e in known if e.get("agent") == env.agents[i]]
            assert len(own) == sum(row[n] for n in env.event_names[:15])
            assert row["own_points"] == sum(e.get("points", 0) for e in own)
            pots = sum(v for n, v in row.items() if n.startswith("pot_") and n.endswith("_ready"))
            assert pots == sum(e["event"] == "pot ready" for e in known)
            flags = sum(v for n, v in row.items() if "_soup_" not in n and "points" not in n)
            things = sum("thing" in e for e in known)
            assert flags == len(known) + things
    assert kinds >= {"move", "turn", "blocked", "put down", "wait", "no effect"}


@pytest.mark.parametrize("name", ["crowded, manual", "nothing far is seen"])
def test_numbers_of_a_batch_are_those_of_its_states(name):
    env = Kitchen(**KITCHENS[name])
    states = any_states(env, 12, 7)
    batch = np.asarray(env.batch_event_codes(states))
    for i in range(12):
        np.testing.assert_array_equal(batch[..., i], env.event_codes(one(states, i)))
    seen = manyhands.make("recent", env=Kitchen(observation="compact"))
    names = len(seen.event_names)
    state = scripted_frames(Kitchen(observation="compact"))[3].state
    assert (np.asarray(seen.observe(state))[:, -names:] == seen.event_codes(state)).all()


def test_who_was_in_the_way_is_told():
    env = Kitchen(CORRIDOR)
    state = jax.device_get(env.reset(jax.random.key(0)))  # chef_0 at (1, 1), chef_1 at (3, 1)
    east, west = ACTIONS.index("east"), ACTIONS.index("west")
    new = after(env, state, [east, west]).state
    blocked = [{"event": "blocked", "agent": f"chef_{i}", "at": [2, 1], "by": f"chef_{1 - i}"}
               for i in (0, 1)]  # fmt: skip
    assert env.last_events(new) == blocked == env.last_events(new, 0)
    assert "Last step you were blocked by chef_1 at (2, 1)." in env.describe(new, 0)
    assert "Last step it was blocked by you at (2, 1)." in env.describe(new, 0)
    assert env.concerns(new, 0) and env.concerns(new, 1)


def test_a_soup_is_told_from_the_onion_to_the_points():
    env = Kitchen()
    frames = scripted_frames(env)
    lines = [env.describe(frame.state, 1).split("Last step it ")[-1] for frame in frames[1:]]
    told = [line.partition(".")[0] for line in lines]
    for deed in (
        "took an onion",
        "put an onion into pot A",
        "took a dish",
        "plated a soup of 3 onions from pot A",
        "served a soup of 3 onions (20 points)",
    ):
        assert deed in told
    ready = [i for i, f in enumerate(frames) if "just got ready" in
             env.describe(f.state, 1)]  # fmt: skip
    assert len(ready) == 1 and {"event": "pot ready", "at": [2, 0]} in env.last_events(
        frames[ready[0]].state, 1
    )
    # Chef 1 waits: movements of the other do not concern it, what it does with pots does.
    concerned = [env.concerns(frame.state, 1) for frame in frames[1:]]
    assert sum(concerned) == 3 + 1 + 1 + 1  # onions, ready, plated, served


def test_states_of_earlier_versions_are_told_as_far_as_they_tell():
    env = Kitchen()
    last = scripted_frames(env)[-1].state
    zeros = jax.tree_util.tree_map(np.zeros_like, last.recent)
    old = SimpleNamespace(**{**vars(last), "recent": zeros})
    assert "Last step it served a soup." in env.describe(old, 1)
    assert env.last_events(old)[0] == {"event": "serve", "agent": "chef_0", "at": [3, 3]}


# ---- what is said is short -----------------------------------------------------------------------


# The smallest, one of two rooms, the widest, and the one with the most chefs; the rest are slow.
SHOWN = ("cramped_room", "multiplayer_schelling")


@pytest.mark.parametrize(
    "layout",
    [name if name in SHOWN else pytest.param(name, marks=pytest.mark.slow) for name in LAYOUTS],
)
def test_texts_are_short(layout):
    env = Kitchen(layout)
    assert len(env.rules(0)) <= 5_000
    states = scripted_states(env, 6)
    for i in range(0, count(states), 3):
        state = one(states, i)
        for agent in range(env.num_agents):
            sizes = [len(env.describe(state, agent, detail=d)) for d in ("brief", "normal", "full")]
            assert sizes[0] < sizes[1] < sizes[2]
            assert sizes[1] <= 1_200
            assert len("\n".join(env.choices(state, agent))) <= 800


def test_full_descriptions_hold_what_can_be_worked_out():
    env = Kitchen("forced_coordination", detail="full")
    text = env.describe(jax.device_get(env.reset(jax.random.key(0))), 0)
    assert env.config()["detail"] == "full" and "detail" not in Kitchen().config()
    for fact in (
        "soup of 3 onions 20 points",
        "Within reach of you: pots A B, serving window (3, 4); of chef_1: onion dispensers (0, 1)",
        "Counters between: (2, 1) (2, 2) (2, 3)",
        "pot A 0; pot B 1; serving window at (3, 4) 2",
    ):
        assert fact in text


def test_orders_are_told_where_kitchens_differ():
    env = Kitchen(["cramped_room", "counter_circuit_tomato"])
    for i in range(2):
        state = one(any_states(env, 2, 6), i)
        told = "55 points" in env.describe(state, 0)
        assert told == (env.levels[i].name == "counter_circuit_tomato")
