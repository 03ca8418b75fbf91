"""The seat `team` of CraftWorld: a plan and a joint task on a small map, what it says and hears."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import numpy as np
import pytest

from manyhands.baselines.bots.craftworld_atlas import UNSEEN, Atlas
from manyhands.baselines.bots.craftworld_refuge import is_closed
from manyhands.baselines.bots.craftworld_team import Player, Team
from manyhands.core.env import SeatError, episode_key
from manyhands.core.pack import snapshot
from manyhands.core.play import play
from manyhands.core.registry import seat
from manyhands.envs.craftworld import CraftWorld
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.kitchen import Kitchen
from manyhands.envs.volleyball import Volleyball
from manyhands.wrappers.chat import Chat

MAP = """
TTTO........
T...........
....0.1.....
............
.S..........
SSSS......WW
SSSS......WW
"""


@functools.lru_cache
def world() -> CraftWorld:
    return CraftWorld(map=MAP, observation="compact")


def played(goal: str | None, seeds: int, steps: int) -> Any:
    """Episodes of two players from the first state, with a goal."""
    env = world()
    options = {} if goal is None else {"goal": goal}
    start = snapshot(env, env.reset_to(episode_key(0), options))
    return play(env, [Team(env)] * 2, seeds, fork=start, max_steps=steps, progress=False).episodes


def test_two_meet_at_what_takes_two():
    for episode in played(None, 3, 30):
        assert episode.terms["joint"] == (1.0, 1.0)
        assert episode.illegal == (0, 0)


@pytest.mark.parametrize("plan", ["wall", "workshop", "fenced plant"])
def test_two_build_a_plan(plan: str):
    for episode in played(f"build {plan}", 3, 300):
        assert episode.terms["goal"] == (1.0, 1.0), f"not built in {episode.steps} steps"
        assert episode.illegal == (0, 0)


def test_the_seat_is_there_for_both_games_and_refuses_others():
    assert isinstance(seat("team", world()), Team)
    assert type(seat("team", Volleyball("3v3"))).__name__ == "Scripted"
    with pytest.raises(SeatError):
        seat("team", Kitchen("cramped_room"))


@functools.lru_cache
def compiled(env: CraftWorld) -> Any:
    """(perceptions, legal actions) of a state."""
    return jax.jit(lambda state: (env.perceive(state), env.legal(state)))


def row_of(env: CraftWorld, state: Any, agent: int) -> np.ndarray:
    return np.asarray(compiled(env)(state)[0])[agent]


def test_a_map_is_kept_in_coordinates_that_all_share():
    env = world()
    state = env.reset(episode_key(0))
    maps = [Atlas(env, i) for i in range(2)]
    for i, atlas in enumerate(maps):
        atlas.look(row_of(env, state, i), 0, False)
    offsets = [divmod(a.at, a.width)[1] - divmod(a.origin, a.width)[1] for a in maps]
    assert offsets == [0, 2]  # from where player 0 began
    assert maps[0].code(maps[0].place(0, 2)) == rl.GRASS
    assert maps[0].bodies == {maps[0].place(0, 2): 6}
    assert maps[0].code(maps[0].place(0, 6)) == UNSEEN - 1


def test_it_tells_where_things_are_and_notes_what_it_hears():
    env = world()
    state = env.reset(episode_key(0))
    players = [Player(env, i, True) for i in range(2)]
    legal = np.asarray(compiled(env)(state)[1])
    rng = np.random.default_rng(0)
    _, said = players[0].step(row_of(env, state, 0), legal[0], [], rng, 0)
    assert said is not None and said.endswith("of the start")
    news = [("player_0", "iron 9 down 3 right of the start")]
    players[1].step(row_of(env, state, 1), legal[1], news, rng, 0)
    atlas = players[1].atlas
    assert atlas.code(atlas.origin + 9 * atlas.width + 3) == rl.IRON
    # What it sees itself counts for more.
    news = [("player_0", "diamonds 0 down 2 right of the start")]
    players[1].step(row_of(env, state, 1), legal[1], news, rng, 1)
    assert rl.DIAMOND + 1 not in atlas.cells


def test_it_tells_the_goal_that_it_alone_knows_and_believes_it():
    env = CraftWorld(map=MAP, observation="compact", told="first", goal="build wall")
    state = env.reset(episode_key(0))
    players = [Player(env, i, True) for i in range(2)]
    rows, legal = map(np.asarray, compiled(env)(state))
    rng = np.random.default_rng(0)
    _, said = players[0].step(rows[0], legal[0], [], rng, 0)
    players[1].step(rows[1], legal[1], [], rng, 0)
    assert players[1].goal.kind == 0 and not players[1].cells_of_plan
    # Nobody else is believed, nor what is no goal.
    for sender, text in (("player_1", said), ("player_0", "the goal is to win")):
        players[1].step(rows[1], legal[1], [(sender, text)], rng, 1)
        assert players[1].goal.kind == 0
    players[1].step(rows[1], legal[1], [("player_0", said)], rng, 2)
    assert str(players[1].goal) == "build SSS"
    row, column = np.asarray(state.site).tolist()
    for player in players:
        first = divmod(player.atlas.origin, player.atlas.width)
        cells = [np.subtract(divmod(k, player.atlas.width), first) for k in player.cells_of_plan]
        own = np.asarray(state.position)[0]
        assert [(own + cell).tolist() for cell in cells] == [[row, column + x] for x in range(3)]


def test_it_steps_out_of_the_way_of_arrows_and_into_none():
    env = world()
    state = env.reset(episode_key(0))
    legal, rng = np.asarray(compiled(env)(state)[1])[0], np.random.default_rng(0)

    def after(*flight: tuple[int, int]) -> Player:
        player = Player(env, 0, False)
        for now, cell in enumerate(flight):
            kind, place = np.array(state.kind), np.array(state.place)
            kind[-1], place[-1] = rl.ARROW, cell
            player.walking = False
            row = row_of(env, dataclasses.replace(state, kind=kind, place=place), 0)
            player.step(row, legal, [], rng, now)
        return player

    left, right, up, down = range(rl.MOVE, rl.MOVE + 4)
    beside = after((1, 6), (1, 5))  # flies on to the cell above the player
    assert beside._out_of_shots(up) == rl.NOOP
    assert [beside._out_of_shots(action) for action in (left, down, rl.NOOP)] == [left, down, 0]
    ahead = after((2, 2), (2, 3))  # flies on to the player
    assert {ahead._out_of_shots(action) for action in (rl.NOOP, rl.DO, left)} <= {right, up, down}
    past = after((2, 2), (1, 2), (0, 2))
    assert past._out_of_shots(rl.NOOP) == rl.NOOP


def test_the_tired_close_themselves_in_and_sleep():
    env = world()
    state = env.reset_to(episode_key(0), {})
    inventory, vitals = np.array(state.inventory), np.array(state.vitals)
    for item, number in (("stone", 7), ("wood_pickaxe", 1)):
        inventory[:, env.contents.items.index(item)] = number
    vitals[:, rl.ENERGY] = 2
    start = snapshot(env, dataclasses.replace(state, inventory=inventory, vitals=vitals))
    team, asleep = Team(env), {}

    def on_step(moment: Any) -> None:
        for i in np.flatnonzero(np.asarray(moment.frame.state.asleep)).tolist():
            player = team._players[moment.episode, i]
            asleep.setdefault((moment.episode, i), is_closed(player.atlas))

    play(env, [team] * 2, 2, fork=start, max_steps=80, progress=False, on_step=on_step)
    assert asleep == {(episode, i): True for episode in range(2) for i in range(2)}


def test_water_is_a_wall_unless_arrows_may_come_over_it():
    atlas = Atlas(world(), 0)
    for step in atlas.steps[1:]:
        atlas.cells[atlas.at + step] = rl.STONE + 1
    beside = [atlas.at + k * atlas.steps[0] for k in range(1, 4)]

    def closed(*codes: int) -> bool:
        for cell, code in zip(beside, codes, strict=True):
            atlas.cells[cell] = code + 1
        return is_closed(atlas)

    assert closed(rl.STONE, rl.PATH, rl.PATH)
    assert closed(rl.WATER, rl.STONE, rl.PATH) and closed(rl.WATER, rl.WATER, rl.GRASS)
    assert not closed(rl.WATER, rl.WATER, rl.PATH) and not closed(rl.PATH, rl.PATH, rl.GRASS)
    assert not closed(rl.PATH, rl.STONE, rl.GRASS)  # open above and below
    for step in atlas.steps[2:]:
        atlas.cells[beside[0] + step] = rl.STONE + 1
    assert closed(rl.PATH, rl.STONE, rl.GRASS)
    atlas.bodies = {beside[0]: rl.ZOMBIE}
    assert not closed(rl.PATH, rl.STONE, rl.GRASS)


def test_it_looks_again_at_a_plan_that_seems_done():
    env = CraftWorld(map=MAP, observation="compact", goal="build wall")
    state = env.reset(episode_key(0))
    player, legal = Player(env, 0, False), np.asarray(compiled(env)(state)[1])[0]
    player.step(row_of(env, state, 0), legal, [], np.random.default_rng(0), 0)
    for cell, code in player.cells_of_plan.items():
        player.atlas.cells[cell] = code
    far = max(player.cells_of_plan, key=lambda cell: player.atlas.gap(cell, player.atlas.at))
    player.checked[far] = -1
    player.atlas.at -= 3  # where it does not see it
    action = player._build()
    assert action is not None and rl.MOVE <= action < rl.DO


@pytest.mark.slow
def test_it_plays_where_it_can_talk_and_sees_only_who_is_near():
    env = Chat(CraftWorld(players=3, size=24, goal="collect 3 stone", sees="near"))
    result = play(env, ["team"] * 3, 2, progress=False, max_steps=150)
    assert result.mean["goal"] == 1 and result.mean["messages"] > 0
