"""What is told of the last step: against the difference of two states, who may know it, and the
same as numbers."""

import dataclasses

import jax
import numpy as np
import pytest
from craft_crowds import crowd_of

from manyhands.core.env import episode_key
from manyhands.core.pack import fingerprint, restore, snapshot, stepper
from manyhands.envs.craftworld import CraftWorld
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.state import HERE


@pytest.fixture(
    scope="module", params=[pytest.param("craftax_classic", marks=pytest.mark.slow), "crafter"]
)
def crowd(request):
    return crowd_of(request.param)


@pytest.fixture(scope="module")
def played(crowd):
    """(state, actions, next state) of random legal play."""
    rng, steps, found = np.random.default_rng(4), stepper(crowd), []
    frame = steps.reset(episode_key(4))
    for t in range(150):
        rows = np.array(
            [rng.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in frame.legal],
            np.int32,
        )
        # What matters oftener than a step here and there.
        does = (rng.random(8) < 0.4) & frame.legal[:, rl.DO]
        rows = np.where(does, rl.DO, rows).astype(np.int32)
        after = steps.step(rng.integers(0, 2**32, 2, np.uint32), t, frame.state, rows)
        found.append((frame.state, rows, after.state))
        frame = steps.reset(episode_key(t)) if after.over else after
    return found


def events_of(env, state, kind, agent=None):
    events = env.last_events(state)
    return [e for e in events if e["event"] == kind and (agent is None or e.get("agent") == agent)]


def test_health_is_the_sum_of_what_happened(crowd, played):
    env, kinds = crowd, set()
    for before, _, after in played:
        helped = {event["to"] for event in events_of(env, after, "helped")}
        for i, name in enumerate(env.agents):
            lost = {"player": 0, "creature": 0, "need": 0}
            for event in events_of(env, after, "hurt", name):
                kinds.add(event["by"])
                creature = "creature" if event["by"] in rl.CREATURES else "need"
                by = "player" if event["by"] in env.agents else creature
                lost[by] += event["amount"]
            won = sum(event["amount"] for event in events_of(env, after, "healed", name))
            health = int(before.vitals[i, rl.HEALTH])
            if name in helped:
                health = env.craft.revive_health
            health = max(health - lost["player"], 0) + won - lost["need"]
            if env.book.needs_first:
                health = max(health, 0)
            died = events_of(env, after, "died", name)
            lava = bool(died) and died[0].get("by") == "lava"
            expected = 0 if lava else max(health - lost["creature"], 0)
            assert int(after.vitals[i, rl.HEALTH]) == expected, (name, env.last_events(after))
            fell = before.alive[i] == rl.ALIVE != after.alive[i]
            gone = died or events_of(env, after, "went_down", name)
            assert bool(gone) == (bool(fell) or (name in helped and after.alive[i] != rl.ALIVE))
    assert {"zombie", "arrow"} <= kinds
    assert any(by.startswith("player_") for by in kinds)
    assert kinds & {"hunger", "thirst", "fatigue", "hunger and thirst"}


def test_what_was_unlocked_is_told_and_nothing_else(crowd, played):
    env, names, found = crowd, crowd.contents.achievements, 0
    for before, _, after in played:
        for i, name in enumerate(env.agents):
            new = set(np.flatnonzero(after.achievements[i] & ~before.achievements[i]))
            told = [event["thing"] for event in events_of(env, after, "unlocked", name)]
            assert {names[k] for k in new} == set(told) and len(told) == len(new)
            found += len(new)
    assert found > 10


def test_pockets_are_the_sum_of_what_happened(crowd, played):
    """What was collected, made, placed, paid, given and received is all that changes an inventory,
    and each of it does."""
    env, craft, kinds = crowd, crowd.craft, set()
    for before, _, after in played:
        change = after.inventory.astype(int) - before.inventory
        told = np.zeros_like(change)
        fed = np.zeros((8, 2), int)
        for event in env.last_events(after):
            kind, i = event["event"], env.agents.index(event.get("agent", "player_0"))
            if kind == "collected":
                told[i, rl.ITEMS.index(event["thing"])] += event["amount"]
            elif kind == "made":
                told[i, rl.ITEMS.index(event["thing"])] += event["amount"]
                for item, number in craft.make_cost(event["thing"]).items():
                    told[i, rl.ITEMS.index(item)] -= number
            elif kind == "placed":
                item, number = craft.place_cost(event["thing"])
                told[i, rl.ITEMS.index(item)] -= number
            elif kind == "gave":
                j = env.agents.index(event["to"])
                if event["thing"] in rl.ITEMS:
                    item = rl.ITEMS.index(event["thing"])
                    told[i, item] -= 1
                    told[j, item] += 1
                else:
                    fed[i, craft.gifts.index(event["thing"])] -= 1
                    fed[j, craft.gifts.index(event["thing"])] += 1
            else:
                continue
            kinds.add(kind)
        np.testing.assert_array_equal(told, change)
    assert kinds >= {"collected", "made", "placed", "gave"}


def test_maps_requests_sleep_and_places_are_told(crowd, played):
    env, seen = crowd, set()
    for before, actions, after in played:
        placed = events_of(env, after, "placed")
        for event in placed:
            code = rl.PLACED[rl.PLACES.index(event["thing"])]
            now = int(after.map[tuple(event["at"])])
            later = env.agents.index(event["agent"])
            assert now == code or len(env.last_events(after)) > 1, (event, now, later)
        for i, name in enumerate(env.agents):
            asked = events_of(env, after, "asked", name)
            assert bool(asked) == (after.request_left[i] == env.craft.request_steps), (
                env.last_events(after)
            )
            woke, slept = (events_of(env, after, kind, name) for kind in ("woke", "fell_asleep"))
            up = after.alive[i] == rl.ALIVE
            assert bool(woke) == bool(before.asleep[i] and not after.asleep[i] and up)
            assert bool(slept) == bool(after.asleep[i] and not before.asleep[i])
            moved = (before.position[i] != after.position[i]).any()
            assert bool(events_of(env, after, "moved", name)) == bool(moved)
            for event in events_of(env, after, "low", name):
                vital = rl.VITALS.index(event["thing"])
                assert after.vitals[i, vital] == event["amount"] <= 3
            drank = events_of(env, after, "drank", name)
            assert not drank or actions[i] == rl.DO
            seen |= {event["event"] for event in env.last_events(after, i)}
        for event in events_of(env, after, "ripened"):
            assert rl.MATERIALS[after.map[tuple(event["at"])]] == "ripe plant"
    assert seen >= {"asked", "placed", "moved", "turned", "failed", "low", "fell_asleep", "struck"}


def test_nobody_knows_more_than_it_sees(crowd, played):
    env = crowd
    for _, _, after in played[::5]:
        true = env.last_events(after)
        for i, name in enumerate(env.agents):
            for event in env.last_events(after, i):
                assert any(event.items() <= other.items() for other in true)
                assert "at" not in event  # without a compass
                whose = event.get("agent")
                if whose in (None, name) or name in (event.get("to"), event.get("by")):
                    continue
                assert event["event"] not in ("moved", "failed", "unlocked", "low", "healed")
                gap = abs(after.position[env.agents.index(whose)].astype(int) - after.position[i])
                anywhere = ("asked", "fell_asleep", "woke", "went_down", "died")
                assert event["event"] in anywhere or (gap <= HERE).all()
            own = [event for event in true if event.get("agent") == name]
            assert all(
                {k: v for k, v in event.items() if k != "at"} in env.last_events(after, i)
                for event in own
            )


def test_numbers_say_the_same(crowd, played):
    env, names = crowd, crowd.event_names
    assert len(set(names)) == len(names)
    states = [after for _, _, after in played]
    stacked = jax.tree_util.tree_map(lambda *leaves: np.stack(leaves, -1), *states)
    codes = np.asarray(jax.jit(env.event_codes)(stacked))
    single = np.asarray(jax.jit(env.event_codes)(states[7]))
    np.testing.assert_array_equal(codes[..., 7], single)
    column = {name: k for k, name in enumerate(names)}

    for b, state in enumerate(states):
        for i, name in enumerate(env.agents):
            value = {key: float(codes[i, k, b]) for key, k in column.items()}
            mine = [e for e in env.last_events(state, i) if e.get("agent") == name]
            kinds = {e["event"] for e in mine}
            for kind in ("moved", "failed", "drank", "ate", "healed", "woke", "died", "gave"):
                assert bool(value[kind]) == (kind in kinds), (kind, mine)
            assert bool(value["fell asleep"]) == ("fell_asleep" in kinds)
            assert bool(value["went down"]) == ("went_down" in kinds)
            for event in mine:
                if event["event"] in ("collected", "placed", "made", "unlocked", "low"):
                    assert value[f"{event['event']} {event['thing']}"] == 1
            for by in ("zombie", "arrow"):
                amount = sum(e["amount"] for e in mine if e["event"] == "hurt" and e["by"] == by)
                assert value[f"hurt by {by}"] == pytest.approx(amount / 9)
            hit = sum(e["amount"] for e in mine if e["event"] == "hurt" and e["by"] in env.agents)
            assert value["hurt by player"] == pytest.approx(hit / 9)
            known = env.last_events(state, i)
            got = {e["thing"] for e in known if e["event"] == "gave" and e["to"] == name}
            assert got == {g for g in env.craft.gifts if value[f"received {g}"]}
            others = [other for other in env.agents if other != name]
            for k, other in enumerate(others, 1):
                theirs = {e["event"] for e in known if e.get("agent") == other}
                for kind in ("collected", "made", "placed", "asked", "woke"):
                    assert bool(value[f"other {k}: {kind}"]) == (kind in theirs)
                near = (abs(state.position[env.agents.index(other)].astype(int)
                            - state.position[i]) <= HERE).all()  # fmt: skip
                if near:
                    assert bool(value[f"other {k}: hurt"]) == ("hurt" in theirs)


# ---- single cases --------------------------------------------------------------------------------


def stepped(env, state, *names, clock=None):
    """The state after actions by name."""
    if clock is not None:
        state = dataclasses.replace(state, clock=np.int32(clock))
    rows = np.int32([env.actions.index(name) for name in names])
    return stepper(env).step(np.uint32([5, 6]), 0, state, rows).state


@pytest.fixture(scope="module")
def pair():
    env = CraftWorld(
        map="..TGO..\n..01...\n...L...\n.......",
        start={"inventory": {"wood": 3}},
        goal="collect 7 wood",
    )
    return env, jax.device_get(env.reset(episode_key(0)))


def told(env, state, agent):
    (line,) = [x for x in env.describe(state, agent).split("\n") if x.startswith("Last step: ")]
    return line


def test_gifts_and_requests_concern_who_gets_and_who_could_give(pair):
    env, state = pair
    state = dataclasses.replace(state, facing=np.uint8([1, 0]))
    after = stepped(env, state, "give_wood", "request_iron")
    assert {"event": "gave", "agent": "player_0", "thing": "wood", "to": "player_1"} in (
        env.last_events(after, 1)
    )
    assert "player_0 gave you 1 wood" in told(env, after, 1)
    assert "you gave player_1 1 wood" in told(env, after, 0)
    assert "player_1 asked for iron" in told(env, after, 0)
    assert env.concerns(after, 0) and env.concerns(after, 1)
    idle = stepped(env, after, "noop", "noop")
    assert not env.last_events(idle) and "Last step" not in env.describe(idle, 0)
    assert not env.concerns(idle, 0) and not env.concerns(idle, 1)


def test_the_one_who_comes_second_is_told(pair):
    env, state = pair
    state = dataclasses.replace(
        state,
        map=np.where(np.asarray(state.map) == rl.GATE, rl.TREE, state.map).astype(np.uint8),
        facing=np.uint8([2, 2]),
    )
    after = stepped(env, state, "do", "do", clock=0)
    assert [event["agent"] for event in events_of(env, after, "collected")] == list(env.agents)
    assert "player_1 took wood" in told(env, after, 0)
    again = stepped(env, dataclasses.replace(after), "noop", "do")
    assert events_of(env, again, "failed") or events_of(env, again, "collected")


def test_joint_efforts_are_told(pair):
    env, state = pair
    state = dataclasses.replace(state, position=np.uint8([[1, 3], [1, 4]]), facing=np.uint8([2, 2]))
    alone = stepped(env, state, "do", "noop")
    assert events_of(env, alone, "worked") == [
        {"event": "worked", "agent": "player_0", "thing": "gate"}
    ]
    assert env.concerns(alone, 1) and "2 players" in told(env, alone, 1)
    both = dataclasses.replace(state, position=np.uint8([[1, 3], [0, 2]]), facing=np.uint8([2, 1]))
    after = stepped(env, both, "do", "do")
    assert [event["thing"] for event in events_of(env, after, "joined")] == ["path", "path"]


def test_death_in_lava_and_the_goal_are_told(pair):
    env, state = pair
    after = stepped(env, state, "noop", "move_down")
    assert {"event": "died", "agent": "player_1", "by": "lava"} in env.last_events(after, 0)
    assert "player_1 died in lava" in told(env, after, 0) and env.concerns(after, 0)
    near = dataclasses.replace(state, facing=np.uint8([2, 1]))
    reached = stepped(env, near, "do", "noop")
    assert events_of(env, reached, "goal_reached") and "goal" in told(env, reached, 1)


def test_a_zombie_beside_one_concerns_it():
    env = CraftWorld(map=".....\n..0z.\n.....")
    state = jax.device_get(env.reset(episode_key(0)))
    assert env.concerns(state, 0) and not env.last_events(state)
    away = dataclasses.replace(state, place=np.where(state.place > 0, 0, state.place))
    assert not env.concerns(away, 0)


def test_what_happened_is_no_part_of_a_position(pair):
    env, state = pair
    after = stepped(env, state, "move_left", "noop")
    bare = dataclasses.replace(after, recent=state.recent)
    assert fingerprint(env, after) == fingerprint(env, bare)
    again = restore(env, snapshot(env, after))
    assert env.last_events(again) == env.last_events(after) != env.last_events(bare)
    assert env.describe(again, 0) == env.describe(after, 0)
