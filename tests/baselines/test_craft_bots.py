"""The scripted players of CraftWorld: what they unlock, what they say, and where they can play."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import numpy as np
import pytest

from manyhands.baselines.bots.craftworld import Survivor, crew, decide, survivor
from manyhands.baselines.players import network as policies
from manyhands.core.env import PolicyError, SeatError
from manyhands.core.registry import seat
from manyhands.core.rollout import rollout
from manyhands.envs.craftworld import CraftWorld
from manyhands.envs.craftworld.rules import ACHIEVEMENTS, ITEMS, VITALS
from manyhands.envs.craftworld.tasks import play_scores
from manyhands.envs.kitchen import Kitchen
from manyhands.wrappers.chat import Chat

SEEDS, STEPS = 8, 240
LUCK, NOBODY = np.uint32(1), np.zeros(0, np.uint8)


@pytest.fixture(scope="module")
def team() -> Chat:
    return Chat(CraftWorld(players=2, size=32, max_steps=STEPS, reward="team"))


@pytest.fixture(scope="module")
def played(team: Chat) -> Any:
    """What a crew's rollout gave."""
    return rollout(team, crew(team), SEEDS, STEPS, jax.random.key(3), pool=0)


@pytest.mark.slow
def test_a_crew_talks_and_gets_on(team: Chat, played: Any):
    assert played.statistics.metrics["illegal"] == 0
    # The first words are where each goes; then they tell of what they need or have found.
    words = np.asarray(played.trajectory.action)[:, :, 1]  # [T, N, B]
    first = {team.phrases[token - 1] for token in words[0].ravel()}
    assert first <= {"I go west", "I go east", "I go north", "I go south"}
    said = {team.phrases[token - 1] for token in np.unique(words[1:]) if token}
    assert {"trees here", "cows here"} <= said
    assert (words[1:] > 0).mean() < 0.2  # and not without end
    unlocked = sum(played.statistics.metrics[name] for name in ACHIEVEMENTS)
    assert unlocked / (SEEDS * 2) > 10


@pytest.mark.slow
def test_a_survivor_makes_what_it_can_and_looks_after_itself():
    env = CraftWorld(map="TTTT...\nTB0.W..\n.......", observation="compact")
    player, first = survivor(env), jax.jit(env.reset)(jax.random.key(0))
    act = jax.jit(lambda row, legal, memory: decide(env, False, memory, row, legal, LUCK, NOBODY))

    def chosen(**numbers: int) -> str:
        """Its first action with so much in its hands, or such needs."""
        inventory, vitals = np.array(first.inventory), np.array(first.vitals)
        for name, number in numbers.items():
            if name in ITEMS:
                inventory[0, ITEMS.index(name)] = number
            else:
                vitals[0, VITALS.index(name)] = number
        state = dataclasses.replace(first, inventory=inventory, vitals=vitals)
        row, legal = env.perceive(state)[0], env.legal(state)[0]
        action, _, _ = act(row, legal, player.init(env, 0))
        return env.actions[int(action)]

    assert chosen(wood=2) == "make_wood_pickaxe"
    assert chosen(wood=2, wood_pickaxe=1) == "make_wood_sword"
    assert chosen(wood=1, stone=1, wood_pickaxe=1, wood_sword=1) == "make_stone_pickaxe"
    assert chosen(drink=1) in ("move_right", "move_down")  # towards the water
    assert chosen(energy=1) == "sleep"  # nobody is in sight, and there is no rock


def test_only_who_can_talk_is_of_a_crew():
    world = CraftWorld(players=2)
    with pytest.raises(SeatError, match="chat channel"):
        crew(world)
    with pytest.raises(SeatError, match="craftworld"):
        survivor(Kitchen("cramped_room"))
    assert seat("bot", world) == Survivor(world)


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["craftax_classic", "crafter"])
def test_a_survivor_unlocks_more_than_half_of_all(rules: str):
    env = CraftWorld(rules, max_steps=2_000)
    scores = play_scores(env, survivor(env), 100)
    assert scores.unlocked.sum(2).mean() > 16


def test_the_trained_player_comes_with_the_package():
    policy = seat("ippo", CraftWorld(observation="compact"))
    assert policy.spec["id"] == "craftworld"
    with pytest.raises(PolicyError, match="there is one for craftax_classic"):
        policies.shipped(CraftWorld(players=2), "ippo")


@pytest.mark.slow
def test_the_trained_player_does_what_its_card_says():
    env = CraftWorld()
    scores = play_scores(env, seat("ippo", env), 32, seed=1_000)
    assert scores.returns.mean() > 12
