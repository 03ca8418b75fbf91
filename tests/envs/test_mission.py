"""Missions: scenarios, rules by hand, parity of text and vector, and the scripted player."""

import functools
import json
import re
from pathlib import Path

import jax
import numpy as np
import pytest

import manyhands
from manyhands.baselines.evaluation import held_out
from manyhands.baselines.evaluation.league import league
from manyhands.core.env import ConfigError, describe_with
from manyhands.core.registry import seat as seat_of
from manyhands.envs.mission import scenarios
from manyhands.envs.mission.field.scenario import SHIPPED
from manyhands.envs.mission.state import EAST, LOAD, NORTH, SOUTH, STAY, WEST, MissionState


@functools.lru_cache
def make(scenario="foraging-8x8-3p-2f"):
    return manyhands.make("mission", scenario=scenario)


@functools.lru_cache
def step(env):
    return jax.jit(lambda state, actions: env.step(jax.random.key(0), state, actions))


def state(players, food):
    """Of (row, column, level) each."""
    row, column, level = np.array(players, np.int8).T
    y, x, levels = np.array(food, np.int8).T
    return MissionState(
        row, column, level, y, x, levels, np.int16(levels.sum()), np.int16(0), np.zeros(3, np.uint8)
    )


FOOD = [(4, 4, 3), (6, 1, 1)]


@pytest.mark.parametrize(
    ("players", "actions", "after"),
    [
        ([(0, 0), (0, 2), (7, 7)], [EAST, WEST, STAY], [(0, 0), (0, 2), (7, 7)]),  # one cell
        ([(0, 0), (0, 1), (7, 7)], [EAST, WEST, STAY], [(0, 1), (0, 0), (7, 7)]),  # they swap
        ([(0, 0), (0, 1), (0, 2)], [EAST, EAST, EAST], [(0, 1), (0, 2), (0, 3)]),  # a queue
        ([(0, 0), (0, 1), (0, 2)], [EAST, EAST, STAY], [(0, 1), (0, 1), (0, 2)]),  # they share
        ([(0, 0), (3, 4), (7, 7)], [NORTH, SOUTH, SOUTH], [(0, 0), (3, 4), (7, 7)]),  # illegal
    ],
)
def test_moves(players, actions, after):
    before = state([(*place, 1) for place in players], FOOD)
    new, outcome = step(make())(before, np.array(actions))
    assert list(zip(new.row.tolist(), new.column.tolist(), strict=True)) == after
    assert outcome.metrics["illegal"] == (3 if actions[0] == NORTH else 0)


def test_food_is_shared_by_levels():
    before = state([(3, 4, 2), (4, 3, 1), (5, 1, 2)], FOOD)
    new, outcome = step(make())(before, np.array([LOAD, LOAD, STAY]))
    assert new.food_level.tolist() == [0, 1]
    np.testing.assert_allclose(outcome.reward, [2 / 4, 1 / 4, 0], rtol=1e-6)
    new, outcome = step(make())(before, np.array([LOAD, STAY, LOAD]))
    assert new.food_level.tolist() == [3, 0] and outcome.terms["failed_load"].tolist() == [1, 0, 0]
    new, outcome = step(make())(new, np.array([LOAD, LOAD, STAY]))
    assert outcome.terminated.all() and not make().legal(new).any()


@pytest.mark.parametrize("scenario", ["foraging-8x8-3p-2f", "foraging-2s-8x8-3p-2f"])
def test_the_vector_can_be_read_from_the_text(scenario):
    env = make(scenario)
    states = jax.jit(env.batch_reset)(jax.vmap(jax.random.key)(np.arange(12)))
    seen = np.asarray(env.batch_observe(states))
    for k in range(12):
        one = jax.tree.map(lambda leaf, k=k: np.asarray(leaf)[..., k], states)
        for agent in range(3):
            text = describe_with(env, one, agent, "normal")
            numbers = r"level (\d+),? at row (\d+), column (\d+)"
            lines = {line.split(":")[0]: line for line in text.splitlines() if ":" in line}
            found = []
            for line, most in (
                (lines["Food in view"], 2),
                (text.splitlines()[0], 1),
                (lines["Other players in view"], 2),
            ):
                listed = [(y, x, level) for level, y, x in re.findall(numbers, line)]
                found += listed + [(-1, -1, 0)] * (most - len(listed))
            assert np.array(found, int).ravel().tolist() == seen[agent, :, k].tolist()
            open_ = lines["Open to you"].split(": ")[1].rstrip(".").split(", ")
            assert len(open_) == np.asarray(env.legal(one))[agent].sum()


def test_published_names_and_files_are_one_scenario(tmp_path):
    env = make("foraging-2s-10x12-3p-4f-coop")
    assert (env.size, env.players, env.foods, env.sight, env.coop) == ((10, 12), 3, 4, 2, True)
    assert env.observation_space.shape == (21,)
    assert make("foraging-10x12-3p-4f-coop-2s") == env
    file = tmp_path / "own.json"
    file.write_text(json.dumps(env.scenario))
    assert manyhands.make("mission", scenario=str(file)) == env
    assert make("foraging-8x8-2p-2f-coop").observation_space.shape == (12,)


@pytest.mark.parametrize(
    ("scenario", "match"),
    [
        ("forraging", "foraging"),
        ({"foood": 1}, "foods"),
        ({"players": 11}, "11"),
        ({"food_levels": [1, 9]}, "9"),
        ({"size": [2, 8]}, "2"),
        ({"stages": ["loads"]}, "loads"),
        ({"conflict": "chain"}, "chain"),
        ({"player_levels": [2, 1]}, "2, 1"),
        ({"requests": 2}, "deliveries"),
        ({"stages": ["moves", "deliveries"]}, "deliveries"),
        ("nowhere.json", "nowhere"),
    ],
)
def test_wrong_scenarios_are_refused(scenario, match):
    with pytest.raises(ConfigError, match=match):
        manyhands.make("mission", scenario=scenario)


def test_players_are_listed_with_and():
    for scenario in ("foraging-8x8-3p-2f", "warehouse-tiny-3ag"):
        env = make(scenario)
        first, *others = env.agents
        assert f"{others[0]} and {others[1]}" in env.rules(first)


@pytest.mark.parametrize("scenario", ["foraging-8x8-3p-2f", "warehouse-tiny-3ag"])
def test_keys_are_choices(scenario):
    env = make(scenario)
    said = {choice.text for t in range(8) for i in range(3) for choice in listed(env, t, i)}
    known = set(env.keys.values()) - {"unload"}  # with a load only
    assert len(known) >= 5 and known <= said


def listed(env, seed, agent):
    return env.choices(env.reset(jax.random.key(seed)), agent)


@pytest.mark.parametrize("name", ["foraging", "warehouse"])
def test_the_schema_knows_each_field_of_shipped_scenarios(name):
    schema = scenarios.KINDS[name]
    shipped = dict(scenarios.shipped(name))
    assert list(shipped) == list(schema)
    assert (
        scenarios.SCHEMA["else"]["then" if name == "warehouse" else "else"]["properties"] == schema
    )
    checked = scenarios.check(shipped)
    assert checked["stages"] == schema["stages"]["const"]
    assert scenarios.check(json.loads(json.dumps(checked))) == checked
    # Stages and the rule of conflicts belong together.
    other = {"foraging": "chain", "warehouse": "cancel"}[name]
    for field, value in (("conflict", other), ("stages", shipped["stages"][:1])):
        with pytest.raises(ConfigError, match=str(value).strip("[]")):
            scenarios.check({**shipped, field: value})


def test_foragers_clear_more_than_random_players():
    env = make("foraging-8x8-2p-2f-coop")
    loads = {}
    for seat in ("forager", "random"):
        result = manyhands.rollout(
            env, seat, num_envs=16, num_steps=50, key=jax.random.key(1), collect="statistics"
        )
        loads[seat] = float(np.sum(result.statistics.terms["load"]))
    assert loads["forager"] > loads["random"] + 3


CARDS = sorted(Path(manyhands.__file__).parent.glob("assets/policies/mission/*-ippo.json"))


@pytest.mark.parametrize(
    "card",
    [pytest.param(card, marks=[pytest.mark.slow] * (n > 0)) for n, card in enumerate(CARDS)],
    ids=lambda card: card.stem,
)
def test_shipped_networks_score_what_their_cards_say(card):
    about = json.loads(card.read_text())
    env = manyhands.make("mission", **about["environment"]["config"])
    result = manyhands.rollout(
        env,
        "ippo",
        num_envs=64,
        num_steps=env.max_steps,
        key=jax.random.key(1),
        collect="statistics",
    )
    # Few episodes, of which those that last are not finished twice.
    assert result.statistics.returns.mean() > about["score"]["return"] - 0.1
    assert card.with_suffix(".safetensors").stat().st_size < 300_000


STRATEGIES = sorted(Path(manyhands.__file__).parent.glob("assets/policies/mission/*-psro.json"))


@pytest.mark.slow
@pytest.mark.parametrize("card", STRATEGIES, ids=lambda card: card.stem)
def test_shipped_strategies_beat_the_scripted_player_over_both_sides(card):
    about = json.loads(card.read_text())
    env = manyhands.make("mission", **about["environment"]["config"])
    found = league(env, ["psro", "ranger"], 64, seed=3)
    assert found.payoffs[0, 1] > about["margin_over_ranger"] / 2 > 0
    assert card.with_suffix(".safetensors").stat().st_size < 300_000


@pytest.mark.parametrize("scenario", ["foraging-8x8-3p-2f", "warehouse-1x3-2h-3ag-2req"])
def test_an_episode_begins_where_one_says(scenario):
    env = make(scenario)
    draws, now = np.random.default_rng(0), env.reset(jax.random.key(1))
    for _ in range(25):
        legal = np.asarray(env.legal(now))
        chance = np.where(legal, draws.random(legal.shape), 0)
        now, _ = step(env)(now, chance.argmax(1).astype(np.int32))
    told = env.to_dict(now)
    again = env.to_dict(env.reset_to(jax.random.key(5), {"start": told}))
    agents = "players" if "players" in told else "robots"
    for name, fields in told[agents].items():
        assert {**again[agents][name], "did": ""} == {**fields, "did": ""}
    assert again["time"] == 0
    for name in ("food", "map", "requested"):
        assert again.get(name) == told.get(name)
    game = manyhands.envs.mission.parallel_env(scenario)
    game.reset(seed=3, options={"start": told})
    assert env.to_dict(game.current)[agents] == again[agents]


ROBOTS = ("robot_0", "robot_1", "robot_2")
ROBOT = {"position": [0, 0], "heading": "north"}


@pytest.mark.parametrize(
    ("scenario", "start", "match"),
    [
        ("foraging-8x8-3p-2f", {"foods": []}, "food"),
        ("foraging-8x8-3p-2f", {"food": [{"position": [0, 3], "level": 1}]}, "border"),
        ("foraging-8x8-3p-2f", {"food": [{"position": [3, 3], "level": 9}]}, "9"),
        ("foraging-8x8-3p-2f", {"food": [{"position": [3, 8], "level": 1}]}, "8"),
        ("foraging-8x8-3p-2f", {"players": {"player_0": {}}}, "player_2"),
        ("warehouse-1x3-2h-3ag-2req", {"map": ["..."]}, "5 lines of 10"),
        ("warehouse-1x3-2h-3ag-2req", {"robots": dict.fromkeys(ROBOTS, ROBOT)}, "distinct"),
        ("warehouse-1x3-2h-3ag-2req", {"robots": {r: {} for r in ROBOTS}}, "robot_0"),
    ],
)
def test_wrong_starts_are_refused(scenario, start, match):
    with pytest.raises(ConfigError, match=match):
        make(scenario).reset_to(jax.random.key(0), {"start": start})


def test_each_scenario_has_partners_that_nobody_has_met():
    for name in ("foraging", "warehouse", *SHIPPED):
        env = manyhands.make("mission", scenario=name)
        partners = held_out(env)
        assert {"random", env.scripted_policy} < set(partners) and len(partners) >= 6
        for partner in partners.values():
            seat_of(partner, env)
    assert "guard" in held_out(manyhands.make("mission", scenario="flag"))
