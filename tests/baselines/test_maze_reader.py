"""The text player of the maze for two: what it reads and says, and that a pair of them wins."""

import jax
import pytest

import manyhands
from manyhands.baselines.players.maze_reader import proposal_in, walls_in
from manyhands.core.env import SeatError


def maze(talks=True, **fields):
    env = manyhands.make("mission", scenario={"like": "maze_pair", **fields})
    return manyhands.make("chat", env=env) if talks else env


@pytest.mark.parametrize(
    ("message", "cells"),
    [
        ("I see walls at r0 c2, r3 c0, r12 c5", [(0, 2), (3, 0), (12, 5)]),
        ("wall at r1 c5", [(1, 5)]),
        ("There's a wall at row 2, column 3, but r4 c4 is open.", [(2, 3)]),
        ("(1, 2) and (3,4) are blocked. Is r0 c0 free?", [(1, 2), (3, 4)]),
        ("no wall at r1 c1; r2 c2 isn't blocked", []),
        ("let us go north", []),
    ],
)
def test_walls_are_read_out_of_free_words(message, cells):
    assert list(walls_in(message)) == cells


@pytest.mark.parametrize(
    ("message", "way"),
    [
        ("let us go north", "north"),
        ("Shall we move East together?", "east"),
        ("I see a wall at r1 c1. Let's head south then", "south"),
        ("don't go west", None),
        ("go north or go east", None),
        ("north is a wall", None),
    ],
)
def test_proposals_are_read_out_of_free_words(message, way):
    assert proposal_in(message) == way


@pytest.mark.parametrize("coordinates", ["shared", "turned"])
def test_a_pair_that_tells_all_walls_takes_a_shortest_way(coordinates):
    env = maze(coordinates=coordinates)
    first, late = {}, []

    def watch(moment):
        first.setdefault(moment.episode, moment.frame.state)
        for view in moment.views:
            if view.turn == 1:
                late.append([m.text for m in view.talk])

    result = manyhands.play(env, "text", 6, seed=1, on_step=watch, progress=False)
    inner = env.unwrapped
    for episode in result.episodes:
        fewest = inner.optimal_steps(first[episode.episode].inner)
        # What is not known before the first messages costs a step, or a step back.
        assert fewest <= episode.steps <= fewest + 2
        assert episode.illegal == (0, 0)
    assert all(len(said) == 2 and all(map(list, map(walls_in, said))) for said in late)


def test_maps_without_the_columns_of_which_nothing_is_known_are_read():
    env = maze()
    reset = jax.jit(env.reset)
    for seed in range(200):
        state = jax.device_get(reset(jax.random.key(seed)))
        if "\n   1 2 3 4 5\n" in env.describe(state, 1):
            break
    else:
        pytest.fail("no map has less than all columns")
    (episode,) = manyhands.play(
        env, "text", 1, fork=manyhands.snapshot(env, state), progress=False
    ).episodes
    fewest = env.unwrapped.optimal_steps(state.inner)
    assert fewest <= episode.steps <= fewest + 2


def test_it_goes_where_the_other_proposes_unless_a_wall_is_known_there():
    env = maze()
    seen, outcomes = [], set()

    class Guide:
        name = "guide"

        def act(self, views):
            return [manyhands.Reply("stay", say="Let us go south, please.") for _ in views]

    def watch(moment):
        if moment.views[0].turn == 1:
            seen.append(moment.views[0])

    manyhands.play(env, ["text", Guide()], 8, seed=4, max_steps=2, on_step=watch, progress=False)
    for view in seen:
        (reply,) = manyhands.seat("text", env).act([view])
        effects = {choice.text: choice.effect for choice in view.all_choices}
        wall = "south" not in effects or "a wall is there:" in effects["south"]
        assert reply.action.endswith("ACTION: south") or wall
        outcomes.add(wall)
    assert outcomes == {False, True}


def test_it_needs_a_channel_and_a_maze():
    with pytest.raises(SeatError, match="channel"):
        manyhands.seat("text", maze(talks=False))
    with pytest.raises(SeatError, match="maze_pair"):
        manyhands.seat("text", manyhands.make("mission"))
