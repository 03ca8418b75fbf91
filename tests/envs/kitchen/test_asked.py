"""Kitchens in which one recipe is asked for at a time: rules by hand, words, promises, sight.

That the rules are those of OvercookedV2 is tested in tests/oracles/test_overcooked_v2.py.
"""

import dataclasses
import re
from typing import Any

import jax
import numpy as np
import pytest
from kitchen_states import any_states, at_stations, count, one, played_states

from manyhands.core.env import ConfigError, IllegalAction
from manyhands.core.pack import fingerprint, restore, snapshot, stepper
from manyhands.core.registry import from_spec
from manyhands.envs.kitchen import asked as ask
from manyhands.envs.kitchen.env import Kitchen
from manyhands.envs.kitchen.levels import BUTTON, COUNTER, FLOOR, INDICATOR, SERVING, VOID
from manyhands.envs.kitchen.state import ACTIONS, INTERACT, PRESSED, STAY, WIDE, KitchenState
from manyhands.testing import broken_facts

KEY = np.zeros(2, np.uint32)
# All there is within a few steps: pots, every dispenser, an indicator and a button.
SMALL = "XXOTPX\nX1   S\nR    P\nB   2M\nXDCXXX"
CROWD = "XXOTPX\nX1 2 S\nR 3  P\nB4   M\nXDCXXX"
RING = "grounded_coord_ring"


def begin(env: Kitchen, recipe: tuple[int, ...], seed: int = 0) -> KitchenState:
    state = jax.device_get(jax.jit(env.reset)(jax.random.key(seed)))
    asked = dataclasses.replace(state.asked, recipe=np.uint16(ask.soup_code(recipe)))
    return dataclasses.replace(state, asked=asked)


def play(env: Kitchen, state: KitchenState, words: str) -> tuple[KitchenState, Any]:
    """What chef 0 comes to with these actions, the others staying; the last frame."""
    frame = None
    for word in words.split():
        actions = np.full(env.num_agents, STAY, np.int32)
        actions[0] = ACTIONS.index(word)
        frame = stepper(env).step(KEY, int(state.time), state, actions)
        state = frame.state
    return state, frame


# ---- rules ---------------------------------------------------------------------------------------


# Chef 0 fetches from the dispensers to the north, fills the northern pot, and comes back.
ONION = "east north interact east east north interact west west west "
TOMATO = "east east north interact east north interact west west west "
POTTED = ONION + ONION + TOMATO


def test_a_mixed_soup_is_cooked_plated_and_judged_at_the_window():
    env = Kitchen(SMALL, times=2, values=7, penalty=True)
    state, _ = play(env, begin(env, (2, 1)), POTTED)
    assert state.objects[4] == ask.soup_code((2, 1)) and state.timer[4] == 1
    dish = "south south south interact north north east east east north interact east "
    state, _ = play(env, state, dish)
    assert state.held[0] == ask.soup_code((2, 1)) and state.objects[4] == 0
    for recipe, points, soups in (((2, 1), 7, 1), ((1, 2), -7, 0)):
        asked = dataclasses.replace(state.asked, recipe=np.uint16(ask.soup_code(recipe)))
        after, frame = play(env, dataclasses.replace(state, asked=asked), "interact")
        assert frame.reward.tolist() == [points, points] and after.score == points
        assert (after.soups, after.held[0]) == (soups, 0)
        assert bool(after.asked.delivered) == bool(soups)
        told = env.describe(after, 0)
        assert f"you served a soup of 2 onions and 1 tomato ({points} points)" in told


def test_a_button_shows_the_recipe_for_a_while_and_costs_points():
    env = Kitchen(SMALL.replace("R", "X"), button_cost=3, button_steps=4)
    state = begin(env, (1, 1, 0, 1))
    assert "Asked for: unknown" in env.describe(state, 0)
    state, frame = play(env, state, "south south west interact")
    assert frame.reward.tolist() == [-3, -3] and frame.metrics["presses"] == 1
    assert state.event[0] == PRESSED
    for left in (3, 2, 1):
        for agent in (0, 1):
            told = env.describe(state, agent)
            assert "Asked for: soup of 1 onion and 1 tomato and 1 mushroom." in told
            assert f"shows it, {left} step" in told
        state, frame = play(env, state, "stay")
        assert frame.reward.tolist() == [0, 0]
    assert "Asked for: unknown" in env.describe(state, 0) and "is off" in env.describe(state, 0)
    # With something in hand it is of no use.
    held = dataclasses.replace(state, held=np.array([3, 0], np.uint16))
    assert not play(env, held, "interact")[1].reward.any()


def test_recipes_are_drawn_from_the_orders_by_episode_and_by_delivery():
    orders = ["onion+onion+onion", "carrot+tomato+mushroom", "mushroom+mushroom+mushroom"]
    env = Kitchen(SMALL, orders=orders, resample=True)
    codes = {ask.soup_code(r) for r in ((3, 0), (0, 1, 1, 1), (0, 0, 0, 3))}
    keys = jax.vmap(jax.random.key)(np.arange(300))
    drawn = np.asarray(jax.jit(jax.vmap(env.reset))(keys).asked.recipe)
    assert set(drawn.tolist()) == codes
    assert min(np.unique(drawn, return_counts=True)[1]) > 70
    states = jax.device_get(jax.jit(env.batch_reset)(keys))
    facing = np.full((2, 300), 2, np.uint8)
    held = np.stack([drawn, drawn])
    states = dataclasses.replace(
        states, position=np.full((2, 300), 10, np.uint8) + np.array([[0], [12]], np.uint8),
        facing=facing, held=held,
    )  # fmt: skip
    actions = np.array([[INTERACT] * 300, [STAY] * 300], np.int32)
    step = jax.jit(env.batch_step)
    after, outcome = jax.device_get(step(keys, states, actions))
    assert (outcome.reward == 20).all() and after.asked.delivered.all()
    drawn_anew = after.asked.recipe
    assert set(drawn_anew.tolist()) == codes
    assert 60 < (drawn_anew == drawn).sum() < 140  # one of three is the same again
    later, _ = jax.device_get(step(keys, after, np.full((2, 300), STAY, np.int32)))
    assert (later.asked.recipe == drawn_anew).all() and not later.asked.delivered.any()
    single = jax.jit(env.step)
    for i in (0, 7):  # alone as in the batch
        alone, _ = single(keys[i], one(states, i), actions[:, i])
        assert alone.asked.recipe == drawn_anew[i]
    keeps = Kitchen(SMALL, orders=orders)
    after, _ = jax.device_get(jax.jit(keeps.batch_step)(keys, states, actions))
    assert (after.asked.recipe == drawn).all()


@pytest.mark.parametrize("manual", [False, True])
def test_shaping_is_for_what_is_asked_for(manual):
    env = Kitchen(SMALL, dynamics="manual" if manual else "classic", times=2)
    state, found = begin(env, (2, 1)), []
    for word in POTTED.split() + ["east", "east", "east", "north", "interact"] * manual:
        state, frame = play(env, state, word)
        found.append({n: float(v[0]) for n, v in frame.terms.items() if v[0]})
    places = [one for one in found if one]
    placed = [{"pot_placement": 3.0}] * 3
    assert places == placed + ([{"pot_start": 5.0}] if manual else [])
    other = begin(env, (1, 2))
    second = (ONION + ONION).split()[:-3]
    _, frame = play(env, other, " ".join(second))
    assert not frame.terms["pot_placement"].any()  # the second onion is one too many
    assert ("pot_start" in env.terms) == manual


# ---- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"layout": "cramped_room", "resample": True}, "resample"),
        ({"layout": "cramped_room", "button_cost": 4}, "button_cost"),
        ({"layout": SMALL, "asked": False}, "recipe indicator"),
        ({"layout": SMALL, "asked": "yes"}, "asked"),
        ({"layout": SMALL, "button_steps": 0}, "button_steps"),
        ({"layout": SMALL, "observation": "features"}, "features"),
        ({"layout": SMALL, "statistics": True}, "statistics"),
        ({"layout": SMALL, "reward_weights": {"potential": 1.0}}, "potential"),
        ({"layout": SMALL, "bonus_orders": ["onion+onion+onion"]}, "bonus_orders"),
        ({"layout": SMALL, "onion_value": 3}, "onion_value"),
        ({"layout": SMALL, "orders": ["onion+cheese+onion"]}, "cheese"),
        ({"layout": RING, "orders": ["onion+onion+mushroom"]}, "solved"),
        ({"layout": ["cramped_room", RING]}, "cramped_room"),
        ({"layout": "generated", "asked": True}, "generated"),
        ({"layout": "cramped_room", "orders": ["carrot+carrot+carrot"]}, "carrot"),
        ({"layout": "grounded_coord_rings"}, RING),
        ({"layout": "cramped_room", "random_reset": True}, "random_reset"),
        ({"layout": "cramped_room", "relabel": ["onion", "tomato"]}, "relabel"),
        ({"layout": RING, "relabel": ["onion"]}, "two or more"),
        ({"layout": RING, "relabel": ["onion", "cheese"]}, "cheese"),
        ({"layout": RING, "relabel": ["onion", "mushroom"]}, "no dispenser of mushroom"),
        ({"layout": RING, "relabel": ["onion", "carrot"]}, "onion and carrot exchanged"),
    ],
)
def test_bad_options_are_refused(options, said):
    with pytest.raises(ConfigError) as error:
        Kitchen(**options)
    assert said in str(error.value)


def test_specs_snapshots_and_fingerprints_know_the_recipe():
    env = Kitchen(RING, resample=True, view_radius=2, orders=["onion+tomato+carrot", (0, 3)])
    again = from_spec(env.spec())
    assert again == env and again.levels[0].orders == ((1, 1, 1, 0), (0, 3, 0, 0))
    assert Kitchen(RING) == Kitchen("overcooked_v2/" + RING) != env
    one_, other = begin(env, (1, 1, 1)), begin(env, (0, 3))
    assert fingerprint(env, one_) != fingerprint(env, other)
    assert restore(env, snapshot(env, other)).asked.recipe == ask.soup_code((0, 3))
    assert Kitchen("cramped_room", asked=True).deterministic_reset
    assert not env.deterministic_reset


def test_other_kitchens_have_no_such_fields():
    state = Kitchen().reset(jax.random.key(0))
    assert state.asked is None and state.objects.dtype == state.held.dtype == np.uint8
    assert set(Kitchen().config()) == {
        "layout", "starts", "dynamics", "observation", "max_steps",
    }  # fmt: skip


# ---- starts amid a game, and exchanged names -----------------------------------------------------


def test_a_pot_that_stood_full_from_the_start_is_started_by_any_use():
    env = Kitchen(SMALL, random_reset=True, times=9)
    state = begin(env, (2, 1))
    objects, timer = np.zeros_like(state.objects), np.zeros_like(state.timer)
    objects[4] = ask.soup_code((1, 1, 1))
    ready = dataclasses.replace(
        state,
        objects=objects,
        timer=timer,
        position=np.array([10, 7], np.uint8),
        facing=np.array([0, 0], np.uint8),
    )
    assert "full from the start" in env.rules(0)
    for held in (0, 1, 3, ask.soup_code((2, 1))):
        one_ = dataclasses.replace(ready, held=np.array([held, 0], np.uint16))
        choice = env.choices(one_, 0)[INTERACT]
        assert "start cooking" in str(choice) and choice.certain
        after, frame = play(env, one_, "interact")
        assert (after.timer[4], after.objects[4], after.held[0]) == (9, objects[4], held)
        assert choice.facts and not broken_facts(env, choice, frame)
    usual, _ = play(Kitchen(SMALL, times=9), one_, "interact")
    assert usual.timer[4] == 0


def test_starts_amid_a_game_differ_by_episode_and_are_told_in_full():
    env = Kitchen("test_time_wide", random_reset=True, relabel=["onion", "tomato"], resample=True)
    assert env.random_starts and not env.deterministic_reset
    assert from_spec(env.spec()) == env
    states = jax.device_get(jax.jit(env.batch_reset)(jax.random.split(jax.random.key(4), 40)))
    compact = Kitchen(**env.config() | {"observation": "compact"})
    codes = np.asarray(jax.jit(compact.batch_observe)(states))
    assert len({states.objects[:, i].tobytes() for i in range(40)}) == 40
    assert len({states.position[:, i].tobytes() for i in range(40)}) > 20
    for i in range(40):
        for agent in range(2):
            told = decode(env.describe(one(states, i), agent))
            np.testing.assert_array_equal(told, codes[agent, ..., i])


def test_each_chef_sees_its_own_names():
    """Both play the same game: what they do is the same, what they are told is exchanged."""
    env = Kitchen("test_time_wide", relabel=["onion", "tomato"], orders=[(3, 0), (0, 3)])
    states = jax.device_get(jax.jit(env.batch_reset)(jax.random.split(jax.random.key(4), 60)))
    seen = states.asked.seen_as
    assert set(map(tuple, seen[0].T.tolist())) == {(0, 1, 2, 3), (1, 0, 2, 3)}
    assert 10 < (seen[0] != seen[1]).any(0).sum() < 50  # each draws its own
    plain = Kitchen("test_time_wide")
    for i in range(60):
        state = one(states, i)
        state = dataclasses.replace(
            state,
            position=np.array([7, 25], np.uint8),
            facing=np.array([3, 3], np.uint8),
            asked=dataclasses.replace(state.asked, recipe=np.uint16(ask.soup_code((3, 0)))),
        )
        exchanged = seen[:, 0, i] == 1
        after, frame = play(env, state, "interact")
        assert not broken_facts(env, env.choices(state, 0)[INTERACT], frame)
        assert after.held[0] == 1 and after.asked.recipe == ask.soup_code((3, 0))
        assert env.to_dict(after)["recipe"] == plain.to_dict(after)["recipe"]
        for agent in range(2):
            name, other = ("tomato", "onion") if exchanged[agent] else ("onion", "tomato")
            told = env.describe(after, agent)
            assert f"holding {'an' if name == 'onion' else 'a'} {name}" in told
            assert f"soup of 3 {other}" not in told
            assert env.last_events(after, agent)[0]["thing"] == name
        assert ("take a tomato" in str(env.choices(state, 0)[INTERACT])) == exchanged[0]
        assert env.last_events(after)[0]["thing"] == "onion"


# ---- words ---------------------------------------------------------------------------------------

BODY = re.compile(
    r"(?:You are )?(chef_\d)(?: is)? at \((\d+), (\d+)\), facing (\w+) to .+, holding (.+?)\. "
    r"(?:Last step (?:you|it) .+|You have just arrived|It has just arrived)\."
)
SYMBOLS = "X.OTDPS?CMRB"


def amount(words: str) -> int:
    counts = [0, 0, 0, 0]
    for number, name in re.findall(r"(\d) (onion|tomato|carrot|mushroom)", words):
        counts[ask.KINDS.index(name)] = int(number)
    return ask.soup_code(tuple(counts))


def thing(words: str) -> int:
    words = re.sub(r"^an? ", "", words)
    if "soup" in words:
        return amount(words)
    return ("nothing", "onion", "tomato", "dish", "carrot", "mushroom").index(words)


def decode(text: str) -> np.ndarray:
    """The compact observation i32[H, W], from the text alone."""
    lines = text.split("\n")
    left = int(re.match(r"Step \d+ of \d+, (\d+) left", lines[0])[1])
    rows = [m[1] for line in lines if (m := re.fullmatch(r" *\d+ ([X.OTDPSCMRB?@0-9]+)", line))]
    codes = np.array(
        [[SYMBOLS.index(s) if s in SYMBOLS else FLOOR for s in row] for row in rows], np.int32
    )
    terrain = codes.copy()
    bodies = [m.groups() for line in lines if (m := BODY.fullmatch(line))]
    hidden = [m[1] for line in lines if (m := re.fullmatch(r"(chef_\d) is out of sight\.", line))]
    others = sorted({name for name, *_ in bodies[1:]} | set(hidden))
    for name, x, y, facing, holding in bodies:
        order = 1 if name == bodies[0][0] else 2 + others.index(name)
        chef = order << WIDE.chef | ACTIONS.index(facing) << WIDE.facing
        codes[int(y), int(x)] |= chef | thing(holding) << WIDE.thing
    for line in lines:
        pot = re.fullmatch(r"Pot [A-Z]+ at \((\d+), (\d+)\): (.+)\.", line)
        if pot and pot[3] != "empty":
            clock = re.search(r"ready in (\d+) step", pot[3])
            timer = int(clock[1]) + 1 if clock else int("ready to plate" in pot[3])
            inside = amount(pot[3]) << WIDE.thing | timer << WIDE.timer
            codes[int(pot[2]), int(pot[1])] |= inside
        if line.startswith("On counters: "):
            for kind, places in re.findall(r"([a-z0-9 ]+?) ((?:\(\d+, \d+\) ?)+)", line):
                for x, y in re.findall(r"\((\d+), (\d+)\)", places):
                    codes[int(y), int(x)] |= thing(kind.strip()) << WIDE.thing
        for x, y, shown in re.findall(r"\((\d+), (\d+)\) shows it, (\d+) step", line):
            codes[int(y), int(x)] |= int(shown) << WIDE.timer
    recipe = re.search(r"Asked for: soup of (.+)\.", text)
    shows = (terrain == INDICATOR) | ((terrain == BUTTON) & (codes >> WIDE.timer > 0))
    assert bool(recipe) == shows.any()
    if recipe:
        codes = np.where(shows, codes | amount(recipe[1]) << WIDE.thing, codes)
    if "What was asked for was just served." in lines:
        codes = np.where(terrain == SERVING, codes | 1 << WIDE.delivered, codes)
    return codes | (left < 40) << WIDE.urgent


@pytest.mark.parametrize("radius", [None, 2])
def test_vectors_are_rebuilt_from_text_in_every_layout(radius):
    layouts = [name for name, (text, _) in ask.LAYOUTS.items() if "2" in text]
    view = {"view_radius": radius} if radius else {}
    env = Kitchen(layouts, observation="compact", show_delivery=True, dynamics="manual", **view)
    states = any_states(env, 3 * len(layouts), 1)
    codes = np.asarray(jax.jit(env.batch_observe)(states))
    assert codes.max() < 2**28 and codes.min() >= 0
    for i in range(count(states)):
        for agent in range(2):
            told = decode(env.describe(one(states, i), agent))
            np.testing.assert_array_equal(told, codes[agent, ..., i])


def test_what_is_out_of_view_changes_nothing():
    """In words and in vectors: nor the recipe, where nothing in view shows it."""
    env = Kitchen("grounded_coord_simple", view_radius=2, show_delivery=True, resample=True)
    before, after = any_states(env, 200, 3), any_states(env, 200, 4)
    observe, checked = jax.jit(env.observe), {True: 0, False: 0}
    for i in range(200):
        state, other = one(before, i), one(after, i)
        own, cells = int(state.position[0]), np.arange(len(state.terrain))
        far = np.maximum(abs(cells % 8 - own % 8), abs(cells // 8 - own // 8)) > 2
        if not all(far[int(s.position[1])] for s in (state, other)):
            continue
        shows = (state.terrain == INDICATOR) | ((state.terrain == BUTTON) & (state.timer > 0))
        sees = bool((shows & ~far).any())
        window = bool(((state.terrain == SERVING) & ~far).any())
        checked[sees] += 1
        asked = dataclasses.replace(
            state.asked if sees else other.asked,
            delivered=state.asked.delivered if window else other.asked.delivered,
        )
        changed = dataclasses.replace(
            state,
            asked=asked,
            terrain=np.where(far, VOID, state.terrain).astype(np.uint8),
            objects=np.where(far, other.objects, state.objects),
            timer=np.where(far, other.timer, state.timer),
            **{
                name: np.array([getattr(state, name)[0], getattr(other, name)[1]])
                for name in ("position", "facing", "held", "event")
            },
        )
        assert env.describe(changed, 0) == env.describe(state, 0)
        assert env.choices(changed, 0) == env.choices(state, 0)
        np.testing.assert_array_equal(observe(changed)[0], observe(state)[0])
    assert min(checked.values()) > 10


@pytest.mark.parametrize(
    ("layout", "options"),
    [
        (SMALL, {"dynamics": "manual", "times": 2, "penalty": True}),
        (CROWD, {"resample": True, "view_radius": 1}),
        (RING, {"view_radius": 2, "resample": True, "penalty": True}),
    ],
    ids=["small", "crowd", "ring"],
)
def test_choices_promise_what_happens_whatever_the_others_do(layout, options):
    env, rng = Kitchen(layout, max_steps=50, **options), np.random.default_rng(1)
    made, played = any_states(env, 30, 2), played_states(env, 4, 60)
    states = [one(made, i) for i in range(30)] + [
        one(played, i) for i in range(0, count(played), 4)
    ]
    certain, presses = 0, 0
    for state in states:
        for agent in range(env.num_agents):
            for choice in env.choices(state, agent):
                certain += choice.certain
                presses += "press the recipe button" in choice
                assert bool(choice.facts) or not choice.certain
                assert env.parse(choice, state, agent) == choice.action
                for _ in range(4 if choice.facts else 0):
                    actions = rng.choice(8, env.num_agents).clip(0, INTERACT).astype(np.int32)
                    actions[agent] = choice.action
                    key = rng.integers(0, 2**32, 2, dtype=np.uint32)
                    new = stepper(env).step(key, int(state.time), state, actions)
                    broken = broken_facts(env, choice, new)
                    assert not broken, (agent, str(choice), actions, env.describe(state, agent))
    assert certain > 200


def test_events_are_data_words_and_numbers():
    env = Kitchen(SMALL, penalty=True, view_radius=2)
    codes, kinds = jax.jit(env.event_codes), set()
    states = at_stations(env, any_states(env, 150, 5), chef=1)
    for i in range(150):
        state = one(states, i)
        if i % 3 == 0 and state.position[1] != 19:  # chef 0 before the button
            spot = {"position": 19, "facing": 3, "held": int(state.held[0]) % 2 * 3}
            state = dataclasses.replace(
                state,
                **{
                    name: np.array([value, getattr(state, name)[1]], getattr(state, name).dtype)
                    for name, value in spot.items()
                },
            )
        actions = np.array([INTERACT, INTERACT], np.int32)
        new = stepper(env).step(KEY, int(state.time), state, actions).state
        events = env.last_events(new)
        kinds |= {event["event"] for event in events}
        points = sum(event.get("points", 0) for event in events)
        assert points == int(new.score) - int(state.score)
        numbers = np.asarray(codes(new))
        for agent in range(2):
            row = dict(zip(env.event_names, numbers[agent].tolist(), strict=True))
            own = [e for e in env.last_events(new, agent) if e.get("agent") == env.agents[agent]]
            assert row["own_points"] == sum(e.get("points", 0) for e in own)
            assert row["own_pressed"] == sum(e["event"] == "press" for e in own)
            taken = [e["thing"] for e in own if e["event"] == "take"]
            for name in ("carrot", "mushroom"):
                assert row[f"own_took_{name}"] == taken.count(name)
    assert kinds >= {"press", "take", "serve", "plate", "fill pot"}


def test_rules_tell_what_is_asked_for():
    text = Kitchen(RING, resample=True, penalty=True, show_delivery=True, button_cost=4).rules(0)
    for fact in (
        "soup of 3 onions: 20 points",
        "soup of 3 tomatoes: 20 points",
        "Only ONE of these is asked for at a time",
        "the next one is drawn",
        "R recipe indicator, B recipe button",
        "C carrot dispenser",
        "costs 4 points",
        "for 9 steps",
        "Any other soup costs its points",
        "Serving windows show",
    ):
        assert fact in text
    plain = Kitchen("overcooked_v2/cramped_room_v2").rules(0)
    assert "It stays the same until the end" in plain and "Any other soup earns 0 points" in plain
    assert "button," in plain and "EMPTY HANDS: press" not in plain


@pytest.mark.parametrize(
    "answer",
    ["press the button", "Push the recipe button.", "press it", "show the recipe", "I press the "
     "button to see the recipe", "interact", "press the recipe button (-5 points), shows it for 9 "
     "steps"],
)  # fmt: skip
def test_buttons_are_pressed_in_words(answer):
    env = Kitchen(SMALL)
    state = begin(env, (3, 0))
    state = dataclasses.replace(
        state, position=np.array([19, 22], np.uint8), facing=np.array([3, 0], np.uint8)
    )
    assert env.parse(answer, state, 0) == INTERACT
    with pytest.raises(IllegalAction):
        env.parse("take a carrot", state, 0)
    with pytest.raises(IllegalAction):
        env.parse("I do not press the button", state, 0)
    at = dataclasses.replace(
        state, position=np.array([20, 22], np.uint8), facing=state.facing * 0 + 1
    )
    assert at.terrain[26] != COUNTER and env.parse("take a carrot", at, 0) == INTERACT
