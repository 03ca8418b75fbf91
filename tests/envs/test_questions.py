"""What can be asked in each world that hides something: the kinds of questions, the truth of what
an agent is said to know, and where nothing is asked. `testing.questions` checks, for every game,
that they follow from what the agent is shown and change nothing."""

import dataclasses
import functools

import jax
import numpy as np
import pytest

import manyhands
from manyhands.core.env import seed_key
from manyhands.core.probes import NOT_KNOWN, Ranges, asks
from manyhands.envs.negotiation.scenarios import deal_scenarios

# Everybody sees everything there.
OPEN = {"tic_tac_toe", "connect_four"}
# Of each world: options under which something is hidden, and what can then be asked.
HIDDEN = [
    ("kuhn_poker", {"players": 6}, {"own card", "another's card"}),
    ("leduc_holdem", {}, {"own card", "another's card"}),
    ("negotiation", {}, {"values", "others"}),
    ("negotiation", {"scenario": "trade"}, {"values", "holdings"}),
    ("negotiation", {"scenario": "buy_sell"}, {"values"}),
    ("negotiation", {"scenario": "divide", "outside": [0, 30]}, {"outside"}),
    ("negotiation", {"scenario": "commons", "values": [1, 3]}, {"values"}),
    ("kitchen", {"view_radius": 1}, {"hands", "pots"}),
    ("cuisine", {}, {"orders"}),
    ("craftworld", {"size": 16, "players": 2}, {"map", "inventory"}),
    ("home", {"task": "house"}, {"others", "doors", "players", "objects", "states"}),
    ("mission", {"scenario": "rendezvous"}, {"place"}),
    ("drones", {"task": "pursuit"}, {"evader", "sight"}),
    ("volleyball", {"randomise": {"dropout": (1.0, 1.0)}}, {"ball"}),
]
NOTHING_HIDDEN = [
    ("negotiation", {"scenario": "commons"}),
    ("kitchen", {}),
    ("drones", {}),
    ("volleyball", {}),
]


@functools.lru_cache
def compiled(env, name):
    return jax.jit(getattr(env, name))


def first(env, seed=0):
    return jax.device_get(compiled(env, "reset")(seed_key(seed)))


def step(env, key, state, actions):
    return jax.device_get(compiled(env, "step")(key, state, np.stack(actions)))[0]


def asked(env, state, agent, kind):
    return {q.text: q for q in env.questions(state, agent) if q.kind == kind}


def test_every_game_has_questions_or_hides_nothing():
    ids = {id for id in manyhands.registered() if not id.startswith("test-")}
    without = {id for id in ids if not asks(manyhands.make(id))}
    assert without == OPEN


@pytest.mark.parametrize(("id", "options", "kinds"), HIDDEN)
def test_what_is_hidden_can_be_asked(id, options, kinds):
    env = manyhands.make(id, **options)
    state, found = first(env), []
    for agent in range(env.num_agents):
        found += env.questions(state, agent)
    assert kinds <= {q.kind for q in found}
    assert all({q.believed, q.true} <= set(q.options) for q in found)


@pytest.mark.parametrize(("id", "options"), NOTHING_HIDDEN)
def test_where_nothing_is_hidden_nothing_is_asked(id, options):
    env = manyhands.make(id, **options)
    assert not any(env.questions(first(env), agent) for agent in range(env.num_agents))


def test_ranges():
    assert Ranges(0, 3).options == ("0", "1", "2", "3", NOT_KNOWN)
    tens = Ranges(7, 118, most=12)
    assert tens.options[:2] == ("7 to 9", "10 to 19") and tens.options[-2] == "110 to 118"
    assert all(tens.of(k) == tens.known(k, k) for k in range(7, 119))
    assert (tens.known(20, 29), tens.known(19, 20)) == ("20 to 29", NOT_KNOWN)


# ---- negotiation ---------------------------------------------------------------------------------


def test_values_that_follow_from_the_constraints_of_a_deal_are_known():
    env, table = manyhands.make("negotiation"), deal_scenarios().astype(int)
    known = 0
    for seed in range(12):
        state = first(env, seed)
        pool, values = np.asarray(state.pool), np.asarray(state.values)
        for agent in range(2):
            mine, theirs = (slice(3 + 3 * k, 6 + 3 * k) for k in (agent, 1 - agent))
            alike = (table[:, :3] == pool).all(1) & (table[:, mine] == values[agent]).all(1)
            could = table[alike][:, theirs]
            questions = list(asked(env, state, agent, "values").values())
            for good, question in enumerate(questions):
                single = len(set(could[:, good].tolist())) == 1
                assert question.true == str(values[1 - agent, good])
                assert question.believed == (question.true if single else NOT_KNOWN)
                known += single
            # What the other can know: the same, from each of the places it may be in.
            for good, question in enumerate(asked(env, state, agent, "others").values()):
                knows = []
                for row in could:
                    same = (table[:, :3] == pool).all(1) & (table[:, theirs] == row).all(1)
                    knows.append(len(set(table[same][:, mine][:, good].tolist())) == 1)
                    if (row == values[1 - agent]).all():
                        assert question.true == ("yes" if knows[-1] else "no")
                expected = {(True,): "yes", (False,): "no"}.get(tuple(sorted(set(knows))))
                assert question.believed == (expected or NOT_KNOWN)
    assert known


def test_offers_and_exchanges_tell_what_the_other_owns():
    env = manyhands.make(
        "negotiation",
        scenario="trade",
        goods=["wood", "gold"],
        holdings=[[[3, 9], [3, 9]]] * 2,
        values=[[[1, 3], [2, 4]]] * 2,
    )
    state = next(s for s in (first(env, k) for k in range(99)) if int(s.holdings[0, 0]) == 9)
    key, text = seed_key(0), "How many units of wood does player_0 own?"

    def wood():
        return asked(env, state, 1, "holdings")[text]

    def play(agent, words):
        actions = [env.noop, env.noop]
        actions[agent] = env.parse(words, state, agent)
        return step(env, key, state, actions)

    assert wood().believed == NOT_KNOWN and wood().true == wood().options[9 // 2]
    state = play(0, "offer 9 wood for 1 gold")  # as much as it can own at first
    assert wood().believed == wood().true != NOT_KNOWN
    before = wood().true
    state = play(1, "accept")
    assert wood().believed == wood().true == wood().options[0] != before


def test_a_claim_is_true_false_or_open():
    env = manyhands.make("negotiation", scenario="buy_sell", cost=[10, 14], value=[30, 50])
    found = {}
    for stated in (10, 30, 50):
        state = first(env)
        action = env.parse(f"claim {stated}", state, 0)
        state = step(env, seed_key(0), state, [action, env.noop])
        (question,) = asked(env, state, 1, "claims").values()
        near = abs(int(state.values[0, 0]) - stated) <= env.scenario.slack
        assert question.true == ("yes" if near else "no")
        found[stated] = question.believed
    assert found == {10: NOT_KNOWN, 30: "no", 50: "no"}


def test_nothing_is_asked_when_a_negotiation_is_over():
    env = manyhands.make("negotiation")
    state = first(env)
    state = step(env, seed_key(0), state, [env.parse("walk away", state, 0), env.noop])
    assert env.questions(state, 0) == []


# ---- kitchens ------------------------------------------------------------------------------------


def test_the_next_dish_is_known_where_there_is_one():
    for level, knows in ((1, False), (0, True)):
        env = manyhands.make("cuisine", level=level)
        (question,) = asked(env, first(env), 0, "orders").values()
        assert (question.believed != NOT_KNOWN) == knows
    late = dataclasses.replace(first(env), time=np.int16(env.max_steps - 1))
    assert env.questions(late, 0) == []


def test_chefs_do_not_know_what_others_call_things():
    env = manyhands.make(
        "kitchen", layout="cramped_room_v2", asked=True, relabel=["onion", "tomato"]
    )
    truths = set()
    for seed in range(6):
        state = first(env, seed)
        mine, theirs = np.asarray(state.asked.seen_as)
        question = asked(env, state, 0, "names")["What does chef_1 call what you call onion?"]
        kind = mine[0]  # what it sees under that name
        assert question.true == ("onion", "tomato")[int(theirs[1] == kind)]
        assert question.believed == NOT_KNOWN
        truths.add(question.true)
    assert len(truths) == 2


def test_a_recipe_that_a_button_would_show_is_asked_for_without_a_view_radius():
    env = manyhands.make("kitchen", layout="overcooked_v2/grounded_coord_simple", view_radius=None)
    (question,) = asked(env, first(env), 0, "recipe").values()
    assert question.true != NOT_KNOWN


# ---- craftworld ----------------------------------------------------------------------------------

ISLE = """
WWWWWWWWWWWWWWWWWWWWW
W...................W
W.0.................W
W...................W
W..................CW
WWWWWWWWWWWWWWWWWWWWW
"""


def test_what_lies_around_is_known_as_far_as_the_view_and_the_edges_go():
    world = manyhands.make("craftworld", map=ISLE, spawning=False)
    state = first(world)

    def near():
        return {t.split()[2]: q for t, q in asked(world, state, 0, "map").items()}

    found = near()
    assert (found["water"].believed, found["water"].true) == ("yes", "yes")
    # To the right the world goes on; there is coal, too far away.
    assert (found["coal"].believed, found["coal"].true) == (NOT_KNOWN, "no")
    small = manyhands.make("craftworld", map="WWWWW\nW.0.W\nWWWWW", spawning=False)
    assert small.questions(first(small), 0)
    known = {q.believed for q in small.questions(first(small), 0) if q.kind == "map"}
    assert known == {"yes", "no"}


def test_what_others_carry_is_not_known():
    start = [{"inventory": {"wood": 3}}, {"inventory": {"stone": 4, "wood_pickaxe": 1}}]
    world = manyhands.make("craftworld", size=16, players=2, start=start)
    found = asked(world, first(world), 0, "inventory")
    assert {q.believed for q in found.values()} == {NOT_KNOWN}
    assert found["How many units of stone does player_1 carry?"].true == "4"
    assert found["Does player_1 carry a wood pickaxe?"].true == "yes"
    assert found["Does player_1 carry a wood sword?"].true == "no"


# ---- homes ---------------------------------------------------------------------------------------


def test_a_goal_that_is_hidden_can_be_asked_for():
    env = manyhands.make(
        "home", task="chore_small", players=2, told="first", hidden=["object", "where", "state"]
    )
    state = first(env, 3)
    state = dataclasses.replace(  # player_1 has seen everything
        state, seen=np.zeros_like(state.seen), known_place=np.stack([state.place] * 2)
    )
    assert asked(env, state, 0, "goal") == {}
    found = asked(env, state, 1, "goal")
    assert {q.believed for q in found.values()} == {NOT_KNOWN}
    kinds = [q for text, q in found.items() if "ask for a" in text and "put" not in text]
    places = [q for text, q in found.items() if "to put something" in text]
    assert [q.true for q in kinds].count("yes") == 1
    assert [q.true for q in places].count("yes") <= 1
    assert len(kinds) + len(places) + 3 == len(found)


# ---- drones, volleyball --------------------------------------------------------------------------


def test_pursuers_know_where_the_evader_is_while_one_sees_it():
    for sight in (0.5, 9.0):
        env = manyhands.make("drones", task="pursuit", sight=sight)
        state = first(env)
        seen = bool(np.asarray(state.seen).any())
        quarter = asked(env, state, 0, "evader")["In which quarter of the arena is the evader?"]
        assert (quarter.believed == quarter.true) == seen == (sight == 9.0)
        x, y = np.asarray(state.bodies.position)[-1, :2]
        assert quarter.true == f"{'north' if y >= 0 else 'south'}-{'east' if x >= 0 else 'west'}"
    versus = manyhands.make("drones", task="pursuit", evader="agent")
    assert versus.questions(first(versus), versus.team) == []


def test_a_ball_that_is_out_of_sight_is_believed_to_be_where_it_was():
    env = manyhands.make("volleyball", randomise={"dropout": (1.0, 1.0)})
    state = first(env)
    high = jax.tree_util.tree_map(lambda leaf: leaf, state.bodies)
    high = dataclasses.replace(high, ball=np.array([1.0, 0.0, 9.0], np.float32))
    thrown = dataclasses.replace(state, bodies=high)
    before, after = (asked(env, s, 0, "ball") for s in (state, thrown))
    text = "Is the ball higher than the net?"
    assert {t: q.believed for t, q in before.items()} == {t: q.believed for t, q in after.items()}
    assert after[text].true == "yes"
