"""CraftWorld in words: vectors can be rebuilt from them, what they promise happens, and what they
call impossible is."""

import copy
import dataclasses
import re

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyhands
from manyhands.core.env import ConfigError, IllegalAction, episode_key
from manyhands.core.pack import stepper
from manyhands.envs.craftworld import CraftWorld
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.setting import DETAILS
from manyhands.envs.craftworld.tasks import families, parse_goal
from manyhands.envs.craftworld.world import LETTERS

GIFTS, GIVE = rl.PRESETS["crafter"].gifts, rl.PRESETS["crafter"].give

SIZE = 13
ALONE = "\n".join(["." * SIZE] * 6 + ["......0......"] + ["." * SIZE] * 6)
THREE = ALONE.replace("0..", "012")
TEAM = {
    "map": THREE,
    "roles": "specialists",
    "joint": "beacon",
    "compass": True,
    "friendly_fire": True,
    "goal": "collect 2 iron",
}


# ---- states to describe --------------------------------------------------------------------------


def any_states(env: CraftWorld, count: int, seed: int) -> list:
    """States with everything everywhere; more than play can reach."""
    rng = np.random.default_rng(seed)
    start = jax.device_get(env.reset(episode_key(0)))
    n, slots = env.num_agents, len(start.kind)
    goals = [goal.row() for goal in families(env.craft)] + [parse_goal("build shelter").row()]
    # What there is of each kind: slots may be kept for one of them.
    kinds = [np.flatnonzero([env.slot_kinds[k][i] for k in range(1, 5)]) + 1 for i in range(slots)]
    made = []
    for _ in range(count):
        spots = np.stack(np.divmod(rng.choice(SIZE * SIZE, n + slots, replace=False), SIZE), 1)
        # Near each other, so that they meet.
        spots[:n] = np.clip(spots[:n] % 4 + 5, 0, SIZE - 1)
        spots[:n, 1] = 5 + np.arange(n)
        spots = spots.astype(np.uint8)
        there = rng.random(slots) < 0.7
        kind = np.array([rng.choice(options) for options in kinds]) * there
        request = rng.integers(0, len(GIFTS) + 1, n)
        made.append(
            dataclasses.replace(
                start,
                map=rng.integers(1, len(env.codes), (SIZE, SIZE), dtype=np.uint8),
                position=spots[:n],
                facing=rng.integers(0, 4, n, dtype=np.uint8),
                inventory=(rng.integers(0, 10, (n, 12)) * (rng.random((n, 12)) < 0.6)).astype(
                    np.uint8
                ),
                vitals=rng.integers(0, 10, (n, 4), dtype=np.uint8),
                asleep=rng.random(n) < 0.2,
                alive=rng.choice([1, 1, 1, 2, 0], n).astype(np.uint8) if n > 1 else np.uint8([1]),
                achievements=rng.random((n, 22)) < 0.3,
                request=request.astype(np.uint8),
                request_left=np.where(request > 0, rng.integers(1, 11, n), 0).astype(np.uint8),
                kind=kind.astype(np.uint8),
                place=spots[n:],
                health=np.where(there, rng.integers(1, 6, slots), 0).astype(np.uint8),
                heading=np.where(kind == rl.ARROW, rng.integers(0, 4, slots), 0).astype(np.uint8),
                clock=np.int32(rng.integers(0, 600)),
                goal=goals[rng.integers(len(goals))] if env.goal else start.goal,
                site=rng.integers(0, SIZE, 2, dtype=np.uint8),
            )
        )
    return made


# ---- reading a description back ------------------------------------------------------------------

ITEM_NAMES = {name.replace("_", " "): i for i, name in enumerate(rl.ITEMS)}
CREATURES = {name: 1 + i for i, name in enumerate(rl.CREATURES)}


def where(words: str) -> tuple[int, int]:
    """(rows down, columns right) of "3 right 2 up"."""
    rows = columns = 0
    for number, way in re.findall(r"(\d+) (left|right|up|down)", words):
        step = rl.DELTAS[rl.FACINGS.index(way)]
        rows, columns = rows + int(number) * step[0], columns + int(number) * step[1]
    return rows, columns


def material(name: str) -> int:
    return rl.MATERIALS.index(name)


def gift(words: str) -> int:
    return 1 + GIFTS.index(words.replace(" ", "_"))


def decode(env: CraftWorld, words: str) -> np.ndarray:
    """A row of `perceive`, from the text alone."""
    lines = words.split("\n")
    parts = {name: np.zeros(at.stop - at.start, np.int64) for name, at in env.layout.items()}
    head = re.fullmatch(
        r"You are player_(\d)(?:, an? (\w+))?(, down and helpless|, down for good, since "
        r"nobody is up|, dead)?(, asleep)?, standing on "
        r"(.+?), facing (\w+) to .+?\. Step \d+ of \d+\. Light (\d+) of 255 \([^)]+\)\."
        r"(?: You are at row (\d+), column (\d+)\.)?",
        lines[0],
    )
    assert head, lines[0]
    me = int(head[1])
    parts["role"][:] = rl.ROLES.index(head[2]) if head[2] else 0
    parts["alive"][:] = {None: 1, ", dead": 0}.get(head[3], 2)
    parts["asleep"][:] = head[4] is not None
    parts["facing"][:] = rl.FACINGS.index(head[6])
    parts["light"][:] = int(head[7])
    if head[8]:
        parts["position"][:] = int(head[8]), int(head[9])
    grid = lines[1:8]
    cells, bodies, headings = (
        parts[name].reshape(7, 9) for name in ("cells", "bodies", "headings")
    )
    for y, x in np.ndindex(7, 9):
        cells[y, x] = LETTERS.get(grid[y][x], 0) if grid[y][x] not in "zkc<>^v01234567@" else 255
    cells[3, 4] = material(head[5])
    if parts["alive"][0]:
        bodies[3, 4], headings[3, 4] = 5 + me, 1 + parts["facing"][0]
    for line in lines[8:]:
        if line.startswith("In view: "):
            for found in re.finditer(
                r"(zombie|skeleton|cow|arrow) ([^;]*?) on ([a-z ]+)(?:, flying (\w+))?(?=[;.])",
                line,
            ):
                rows, columns = where(found[2])
                at = 3 + rows, 4 + columns
                assert cells[at] == 255 or at == (3, 4), "the letter on the map is a body's"
                cells[at] = material(found[3])
                bodies[at] = CREATURES[found[1]]
                headings[at] = 1 + rl.FACINGS.index(found[4]) if found[4] else 0
        elif vitals := re.match(
            r"You have health (\d+), food (\d+), drink (\d+), energy (\d+)\.", line
        ):
            parts["vitals"][:] = [int(number) for number in vitals.groups()]
        elif line.startswith("You carry "):
            carried, _, near = line.partition(". Within reach: ")
            for number, name in re.findall(r"(\d) ([a-z ]+)", carried):
                parts["inventory"][ITEM_NAMES[name]] = int(number)
            parts["near"][:] = "a table" in near, "a furnace" in near
        elif asked := re.fullmatch(r"You ask for (.+) \((\d+) steps?\)\.", line):
            parts["request"][:] = gift(asked[1]), int(asked[2])
        elif line.startswith("Achievements "):
            for name in line.partition(": ")[2].rstrip(".").split(", "):
                if name != "none":
                    parts["achievements"][rl.ACHIEVEMENTS.index(name.replace(" ", "_"))] = 1
        elif line.startswith("Goal: "):
            parts["goal"][:] = parse_goal(line[6:-1], env.num_agents).row()
        elif line.startswith("Building site: "):
            parts["site"][:] = np.add(where(line), 128)
        elif mate := re.match(r"player_(\d)(?:, an? \w+)?(?::| is dead)", line):
            other = int(mate[1])
            row = parts["teammates"][10 * (other - (other > me)) :][:10]
            if line.endswith("is dead."):
                continue
            said = re.fullmatch(
                r"player_\d(?:, an? (\w+))?: (.+?)(?: on ([a-z ]+))?, "
                r"(asleep, )?(helpless \(help it up\), )?"
                r"facing (\w+), health (\d+), food (\d+)"
                r"(?:, asks for (.+) \((\d+) steps?\))?\.",
                line,
            )
            assert said, line
            rows, columns = where(said[2])
            facing = rl.FACINGS.index(said[6])
            row[:5] = rows + 128, columns + 128, 1, said[4] is not None, facing
            row[2] = 2 if said[5] else 1
            row[5:7] = int(said[7]), int(said[8])
            row[7:9] = (gift(said[9]), int(said[10])) if said[9] else (0, 0)
            if said[3]:
                at = 3 + rows, 4 + columns
                assert cells[at] == 255, "the letter on the map is a player's"
                cells[at], bodies[at], headings[at] = material(said[3]), 5 + other, 1 + facing
            row[9] = rl.ROLES.index(said[1]) if said[1] else 0
    assert not (cells == 255).any()
    return np.concatenate([parts[name] for name in env.layout]).astype(np.uint8)


@pytest.fixture(scope="module")
def alone() -> CraftWorld:
    return CraftWorld(map=ALONE)


@pytest.fixture(scope="module")
def team() -> CraftWorld:
    return CraftWorld(**TEAM)


@pytest.fixture(scope="module", params=["alone", "team", "crafter"])
def played(request, alone, team):
    """(an environment, states, rows of perceive, symbolic observations, legal actions)."""
    crafter = CraftWorld("crafter", map=ALONE)
    env = {"alone": alone, "team": team, "crafter": crafter}[request.param]
    states = any_states(env, 40 if env is team else 25, 3)
    see = jax.jit(jax.vmap(lambda s: (env.perceive(s), env.observe(s), env.legal(s))))
    stacked = jax.tree_util.tree_map(lambda *leaves: np.stack(leaves), *states)
    return (env, states, *jax.device_get(see(stacked)))


def told(env: CraftWorld, detail: str, state, agent: int) -> str:
    """A description of another length, by what is compiled for this environment already."""
    env.spec_json()
    other = copy.copy(env)
    other.detail = detail
    return other.describe(state, agent)


def test_vectors_are_rebuilt_from_text_of_every_length(played):
    env, states, rows, vectors, _ = played
    rebuilt = jax.jit(jax.vmap(env.symbolic))
    for detail in DETAILS:
        said = np.stack(
            [
                [decode(env, told(env, detail, state, i)) for i in range(env.num_agents)]
                for state in states
            ]
        )
        np.testing.assert_array_equal(said, rows)
        np.testing.assert_array_equal(rebuilt(said), vectors)


def test_longer_texts_say_more(alone):
    (state,) = any_states(alone, 1, 5)
    texts = [told(alone, detail, state, 0).split("\n") for detail in DETAILS]
    assert CraftWorld(map=ALONE, detail="full").describe(state, 0).split("\n") == texts[2]
    assert len(texts[0]) < len(texts[1]) < len(texts[2])
    assert set(texts[1]) <= set(texts[2])
    with pytest.raises(ConfigError, match="brief, normal or full"):
        CraftWorld(detail="chatty")


@pytest.mark.parametrize("clock", [0, 100, 140, 150, 151, 199, 200, 268, 271, 299])
def test_the_text_tells_the_step_and_when_it_grows_dark_or_light(clock):
    env = CraftWorld(map=ALONE, start={"clock": clock}, max_steps=400)
    state = jax.device_get(env.reset(episode_key(0)))
    state = dataclasses.replace(state, clock=state.clock + np.int32(7))
    head = env.describe(state, 0).split("\n")[0]
    assert "Step 7 of 400." in head
    found = re.search(r"Light (\d+) of 255 \((\w+), (dark|light again) in (\d+) steps?\)", head)
    level, hour, change, left = int(found[1]), found[2], found[3], int(found[4])

    def light(ahead):
        later = dataclasses.replace(state, clock=state.clock + np.int32(ahead))
        return round(255 * env.to_dict(later)["light"])

    assert light(0) == level and (change == "dark") == (level > 120)
    assert (light(left - 1) > 120) == (level > 120) != (light(left) > 120)
    if hour in ("dawn", "dusk"):
        assert (light(1) > level) == (hour == "dawn")


# ---- what is possible ----------------------------------------------------------------------------


def test_what_is_not_legal_is_refused_with_a_reason_and_the_rest_is_not(played):
    env, states, _, _, legal = played
    for k, state in enumerate(states):
        for i in range(env.num_agents):
            if not legal[k, i].any():
                continue
            why = told(env, "full", state, i).partition("Not possible now:")[2]
            for number, name in enumerate(env.actions):
                if legal[k, i, number]:
                    assert env.parse(name, state, i) == env.parse(str(number), state, i) == number
                    assert f"- {name}:" not in why
                    continue
                if name == "sleep" and state.asleep[i]:  # it sleeps on
                    assert env.parse(name, state, i) == rl.NOOP
                    continue
                with pytest.raises(IllegalAction, match=f"{name} is not possible now: ") as error:
                    env.parse(name, state, i)
                reason = re.search("possible now: (.*?)[.] Answer", error.value.reason)[1]
                assert len(reason) > 10
                if number < GIVE and "anything else" not in why:
                    assert f"- {name.replace('_', ' ')}: {reason}." in why
            assert bool(re.search("^- ", why, re.M)) == (not legal[k, i].all())


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("make stone pickaxe", "needs 1 more stone, and a table within reach"),
        ("make iron sword", "needs 1 more stone, 1 more coal and 1 more iron, and a table and a "
         "furnace within reach"),
        ("place furnace", "needs 1 stone, you have 0"),
        ("place plant", "needs 1 sapling, you have 0; needs free grass in front, there is a tree"),
        ("sleep", "your energy is 9, you are not tired"),
    ],
)  # fmt: skip
def test_reasons_say_what_is_missing(action, reason):
    env = CraftWorld(map=ALONE, start={"inventory": {"wood": 3}})
    state = jax.device_get(env.reset(episode_key(0)))
    ground = state.map.copy()
    ground[5, 6] = rl.TREE  # it faces up
    state = dataclasses.replace(state, map=ground)
    with pytest.raises(IllegalAction, match=re.escape(reason) + "(;|[.] Answer)"):
        env.parse(action, state, 0)
    assert env.choices(state, 0)[5] == "do: take 1 wood"


# ---- reading answers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ("move_left", "move_left"),
        ("3", "move_up"),
        ("north", "move_up"),
        ("I will go left to collect wood.", "move_left"),
        ("collect wood", "do"),
        ("chop the tree", "do"),
        ("do", "do"),
        ("wait", "noop"),
        ("do nothing", "noop"),
        ("place a table", "place_table"),
        ("Let me think about the trees on the left.\n**ACTION: place_table**", "place_table"),
        ("8. place table", "place_table"),
        ("take a step to the right", "move_right"),
        ("take wood from the tree", "do"),
    ],
)
def test_answers_are_read(answer, action):
    env = CraftWorld(map=ALONE.replace("......0......", ".....T0......"),
                     start={"inventory": {"wood": 3}})  # fmt: skip
    state = jax.device_get(env.reset(episode_key(0)))
    state = dataclasses.replace(state, facing=np.uint8([0]))
    if action == "place_table":
        state = dataclasses.replace(state, facing=np.uint8([1]))
    assert env.actions[env.parse(answer, state, 0)] == action


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "empty"),
        ("99", "no action 99"),
        ("the weather is fine", "names no action"),
        ("move left or move right", "a choice open"),
        ("I do not want to go left", "denies"),
        ("6. place table", "differ"),
        ("give wood", "no other player"),
        ("x" * 50000, "at most 20000"),
        (7, "not int"),
    ],
)
def test_other_answers_are_refused(alone, answer, reason):
    state = jax.device_get(alone.reset(episode_key(0)))
    with pytest.raises(IllegalAction, match=reason):
        alone.parse(answer, state, 0)


def test_the_end_is_called_the_end(alone, team):
    """Where nobody is left to help, a player who is down is not asked to wait for help."""
    for env in (alone, team):
        state = jax.device_get(env.reset(episode_key(0)))
        state = dataclasses.replace(state, alive=np.full_like(state.alive, rl.DOWN))
        assert "helpless," not in env.describe(state, 0).splitlines()[0]
        assert "down for good" in env.describe(state, 0)
        with pytest.raises(IllegalAction, match="the episode is over"):
            env.parse("do", state, 0)
    state = dataclasses.replace(state, alive=np.uint8([rl.DOWN, rl.ALIVE, rl.DOWN]))
    assert "down and helpless" in team.describe(state, 0)


def test_sleepers_are_not_told_to_sleep(alone):
    state = jax.device_get(alone.reset(episode_key(0)))
    vitals = state.vitals.copy()
    vitals[0, rl.ENERGY] = vitals[0, rl.DRINK] = 2
    state = dataclasses.replace(state, vitals=vitals)
    assert "energy is low, sleep" in alone.describe(state, 0)
    state = dataclasses.replace(state, asleep=np.ones_like(state.asleep))
    assert "WARNING: drink is low, drink water." in alone.describe(state, 0)


def test_dangers_say_once_where_they_are():
    env = CraftWorld(map=".....\n..0z.\n.....")
    text = env.describe(env.reset(episode_key(0)), 0)
    assert "a zombie next to you (right)" in text and "right beside" not in text


def test_a_gift_goes_to_whom_one_faces(team):
    state = jax.device_get(team.reset(episode_key(0)))
    state = dataclasses.replace(
        state, facing=np.uint8([1, 1, 1]), inventory=np.full_like(state.inventory, 2)
    )
    assert team.actions[team.parse("give 1 wood to player_1", state, 0)] == "give_wood"
    with pytest.raises(IllegalAction, match="you do not face player_2"):
        team.parse("give wood to player_2", state, 0)
    assert team.actions[team.parse("ask for a stone pickaxe", state, 0)] == "request_stone_pickaxe"


START = jax.device_get(CraftWorld(map=ALONE).reset(episode_key(0)))


@settings(deadline=None, max_examples=60)
@given(answer=st.text(max_size=80))
def test_any_answer_is_an_action_or_refused(alone, answer):
    try:
        assert 0 <= alone.parse(answer, START, 0) < len(alone.actions)
    except IllegalAction as error:
        assert "Answer with" in error.reason


# ---- the rule book -------------------------------------------------------------------------------


def test_what_is_next_counts_what_others_gave_and_leaves_out_what_they_must_do(alone, team):
    def following(env, agent, **changes):
        state = jax.device_get(env.reset(episode_key(0)))
        words = env.describe(dataclasses.replace(state, **changes), agent, detail="full")
        lines = re.findall(r"^(?:Next|After these): (.*)\.$", words, re.M)
        return ", ".join(lines)

    said = following(alone, 0)
    assert "collect wood" in said and "collect stone" not in said and "eat plant" not in said
    pockets = np.zeros((1, 12), np.uint8)
    pockets[0, rl.ITEMS.index("wood_pickaxe")] = 1
    assert "collect stone" in following(alone, 0, inventory=pockets)
    assert "place table (2 wood)" in following(alone, 0, achievements=np.ones((1, 22), bool)
                                               & (np.arange(22) != 20))  # fmt: skip
    assert following(alone, 0, achievements=np.ones((1, 22), bool)).startswith("nothing")
    forager, miner = (following(team, i) for i in (0, 1))
    assert "eat cow" in forager and "eat cow" not in miner


@pytest.mark.parametrize("preset", list(rl.PRESETS))
def test_the_rule_book_has_every_action_cost_and_achievement(preset):
    env = CraftWorld(preset, map=ALONE)
    book = env.rules(0)
    for number, name in enumerate(env.actions):
        assert re.search(rf"\b{number} {name.replace('_', ' ')}\b", book), name
    listed = book.partition("\nACHIEVEMENTS\n")[2].partition("\n")[0].rstrip(".").split("; ")
    verbs = dict(part.split(" ", 1) for part in listed)
    for name in rl.ACHIEVEMENTS:
        verb, _, noun = name.partition("_")
        said = "each tool" if verb == "make" else noun.replace("_", " ")
        assert said in verbs[verb].split(", "), name
    stone = {"crafter": 4, "craftax_classic": 1}[preset]
    assert f"place furnace: costs {stone} stone;" in book
    iron = {"crafter": "1 wood, 1 coal and 1 iron", "craftax_classic": "1 wood, 1 stone, 1 coal"}
    assert f"make iron pickaxe, 16 make iron sword: costs {iron[preset]}" in book
    assert f"after {env.craft.ripe} steps" in book
    # Zombies appear close to a sleeper in the open; none in view is no safety.
    assert "Sleep closed in" in book and "no zombie is in view" not in book
    assert "player_1" not in book and "give" not in book


def test_the_rule_book_follows_the_rules_in_force():
    odd = {"name": "crafter", "table_wood": 5, "sapling_chance": 0.25, "zombie_damage": 3,
           "hunger": 40, "damage": [2, 4, 6, 8]}  # fmt: skip
    book = CraftWorld(odd, map=ALONE).rules(0)
    for words in (
        "place table: costs 5 wood",
        "25%",
        "hits for 3 (7 if",
        "every 41 steps",
        "a hit takes 2 with bare hands, 4 with a wood sword",
    ):
        assert words in book, words


def test_the_rule_book_of_a_team_says_who_does_what(team):
    book = team.rules(1)
    assert book.startswith("CRAFTWORLD\nYou are player_1, a miner, in a wild land, together with")
    for words in (
        "17 give food to 30 give iron sword",
        "31 request food to 44 request iron sword",
        "only miners make pickaxes",
        "beacon: becomes lit beacon when 2 players",
        "The goal is: collect 2 iron",
        "a player who is up: you hurt it",
    ):
        assert words in book, words


def test_a_move_against_what_is_faced_already_is_no_turn():
    env = CraftWorld(map=".......\n..WTS..\n...0...\n.......")
    state = jax.jit(env.reset)(jax.random.key(0))
    told = {choice.text: choice.effect for choice in env.choices(state, 0)}
    assert told["move up"] == "stay facing a tree"  # players begin facing up
    state, _ = env.step(jax.random.key(1), state, np.array([env.parse("move_up", state, 0)]))
    assert "Last step: you did not step, and now face up to a tree." in env.describe(state, 0)
    assert env.parse("face the tree", state, 0) == env.parse("move_up", state, 0)
    with pytest.raises(IllegalAction, match="no such thing is beside you"):
        env.parse("face the table", state, 0)
    with pytest.raises(IllegalAction, match="to your left is grass"):
        env.parse("go left onto the stone", state, 0)


def test_choices_are_plain_words_and_names_of_actions_are_read_too():
    team = CraftWorld(players=2, map="....\n.01.\n....", start={"inventory": {"wood_pickaxe": 1}})
    state = jax.device_get(team.reset(jax.random.key(0)))
    state = dataclasses.replace(state, facing=np.uint8([1, 0]))
    found = team.choices(state, 0, None)
    assert "give wood pickaxe" in [choice.text for choice in found]
    for choice in found:
        assert "_" not in choice.text and "_" not in choice.effect.replace("player_", "")
        for said in (str(choice), choice.text, team.actions[choice.action]):
            assert team.parse(said, state, 0) == choice.action
    assert "_" not in re.sub(r"player_|_{3,}", "", "".join(map(str, team.choices(state, 0))))
    by_skill = manyhands.make("skills", env=team)
    frame = stepper(by_skill).reset(episode_key(0))
    for line in ("give wood pickaxe to player_1", "give wood_pickaxe to player_1"):
        skill = by_skill.parse(f"{line} until you hold 0", frame.state, 0)
        assert by_skill.skills.names[int(skill)] == "give wood pickaxe to player_1 until you hold 0"


@pytest.mark.parametrize("goal", ["", "defeat skeleton"])
def test_what_is_next_can_be_done_soon(goal):
    """Creatures that are not in view come behind what is at hand, skeletons last of them."""
    env = CraftWorld(map=".....\n..0T.\n.....", goal=goal)
    state = jax.device_get(env.reset(jax.random.key(0)))
    (line,) = re.findall("^Next: (.*)$", env.describe(state, 0), re.M)
    assert line.startswith("collect wood, collect sapling, ")
    assert ("defeat skeleton" in line) is bool(goal)  # what is asked for is among the first
    near = CraftWorld(map=".....\n.k0T.\n.....", goal=goal)
    state = jax.device_get(near.reset(jax.random.key(0)))
    (line,) = re.findall("^Next: (.*)$", near.describe(state, 0), re.M)
    assert line.startswith("defeat skeleton") is bool(goal)
