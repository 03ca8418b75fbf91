"""Skills: what each does, in words, in single steps and in batches."""

from __future__ import annotations

import functools
import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from manyhands.baselines.players.macro import Persist, persist
from manyhands.core.env import ConfigError, IllegalAction, episode_key
from manyhands.core.play import play
from manyhands.core.registry import from_spec, make
from manyhands.core.view import Reply
from manyhands.envs.kitchen import Kitchen
from manyhands.wrappers.skills import DONE, IMPOSSIBLE, UNDER_WAY, Skills


@functools.lru_cache
def game(layout: str = "cramped_room", **config: Any) -> tuple[Skills, Any]:
    env = Skills(Kitchen(layout, **config))
    return env, jax.jit(env.step)


def run(env: Skills, step: Any, state: Any, words: str, agent: int = 0, limit: int = 40) -> Any:
    """One agent does one skill until it is done, the others wait."""
    for _ in range(limit):
        actions = np.full(env.num_agents, env.noop, np.int32)
        actions[agent] = env.parse(words, state, agent)
        state, outcome = step(jax.random.key(0), state, actions)
        assert outcome.metrics["illegal"] == 0
        if state.status[agent] == DONE:
            return state
        assert state.status[agent] == UNDER_WAY
        assert "(under way)" in env.describe(state, agent)
    raise AssertionError(f"{words!r} was not done in {limit} steps")


def test_a_soup_by_skills() -> None:
    env, step = game()
    state = env.reset(jax.random.key(0))
    for _ in range(3):
        state = run(env, step, state, "fetch onion")
        state = run(env, step, state, "Put the onion in pot A.")
    state = run(env, step, state, "get a dish")
    state = run(env, step, state, "plate soup from pot A")
    assert env.to_dict(state)["chefs"][0]["holding"] == "soup"
    state = run(env, step, state, "put down")
    assert env.to_dict(state)["counters"][0]["object"] == "soup"
    state = run(env, step, state, "pick up the soup")
    state = run(env, step, state, "serve")
    assert env.to_dict(state)["score"] == 20
    assert "Your last skill: serve (done)." in env.describe(state, 0)
    assert "Your last skill: wait (done)." in env.describe(state, 1)


def test_a_chef_before_a_pot_is_told_when_its_soup_is_ready() -> None:
    """And not to plate "now", as long as it cooks."""
    env, step = game()
    state = jax.jit(env.reset)(jax.random.key(0))
    for words in (*["fetch onion", "put in pot A"] * 3, "fetch dish"):
        state = run(env, step, state, words)
    told = []
    for _ in range(8):
        (line,) = (str(c) for c in env.choices(state, 0) if c.startswith("plate from pot A"))
        told.append(line)
        assert env.parse(line, state, 0) == env.skills.names.index("plate from pot A")
        action = env.parse("plate from pot A", state, 0)
        state, _ = step(jax.random.key(1), state, np.array([action, env.noop], np.int32))
    assert any(re.search(r"at \(2, 0\), about \d+ steps until it is ready$", line) for line in told)
    assert not any("now" in line and "ready in" in line for line in told)


def test_manual_dynamics_start_a_pot() -> None:
    env, step = game(dynamics="manual", chefs=1)
    state = env.reset(jax.random.key(0))
    with pytest.raises(IllegalAction, match="it is empty"):
        env.parse("start pot A", state, 0)
    for words in ("fetch onion", "put in pot A", "cook pot A"):
        state = run(env, step, state, words)
    assert env.to_dict(state)["pots"][0]["status"] == "cooking"
    with pytest.raises(IllegalAction, match="cooking"):
        env.parse("start pot A", state, 0)


@pytest.mark.slow
def test_paths_lead_around_others() -> None:
    env, _ = game("coordination_ring")
    state = env.reset(jax.random.key(0))
    here = env.env.reset(jax.random.key(0))
    # Chef 0 at (2, 1) goes to (1, 1): one step west; with chef 1 in between, the long way round.
    sight = np.asarray(env.perceive(state))[0]
    go = env.skills.names.index("go to (1, 2)")
    assert int(here.position[1]) == 1 + 2 * 5
    action, done, possible = env.skills.control(sight, go)
    # (1, 2) is taken: there is only the way through the other one.
    assert (int(action), bool(done), bool(possible)) == (3, False, True)
    beyond = env.skills.names.index("go to (1, 3)")
    action, _, possible = env.skills.control(sight, beyond)
    assert (int(action), bool(possible)) == (2, True)  # east, although west is nearer


def test_a_cell_where_another_chef_stands_is_walked_to() -> None:
    env, step = game("counter_circuit")
    state = run(env, step, env.reset(jax.random.key(0)), "go to (1, 3)")
    state = run(env, step, state, "go to (1, 1)", agent=1)
    offers = {choice.text: choice.effect for choice in env.choices(state, 0, None)}
    assert offers["go to (1, 1)"] == "about 2 steps, if the chef there leaves"
    state = run(env, step, state, "go to (1, 2)")
    for _ in range(2):  # south to the other chef, whichever way this one faces
        here = np.asarray(env.env.perceive(state.inner))[1]
        action, done, possible = env.skills.control(here, env.skills.names.index("go to (1, 2)"))
        assert (int(action), bool(done), bool(possible)) == (1, False, True)
        offers = {choice.text: choice.effect for choice in env.choices(state, 1, None)}
        assert offers["go to (1, 2)"] == "about 1 step, if the chef there leaves"
        state, _ = step(
            jax.random.key(0), state, np.array([env.noop, env.parse("south", state, 1)])
        )


def test_choices_parse_to_themselves_and_reasons_are_given() -> None:
    env, step = game("counter_circuit")
    state = env.reset(jax.random.key(0))
    for words in ("fetch onion", "go to (1, 3)"):
        legal = np.flatnonzero(np.asarray(env.legal(state))[0])
        choices = env.choices(state, 0)
        assert [env.parse(choice, state, 0) for choice in choices] == legal.tolist()
        assert [env.parse(c.split(":")[0], state, 0) for c in choices] == legal.tolist()
        state = run(env, step, state, words)
    reasons = {
        "fetch onion": "needs empty hands; you hold onion",
        "put in pot C": "the pots are A, B",
        "put the onion in the pot": "say which pot",
        "plate from pot B": "needs a dish",
        "start pot A": "third ingredient",
        "go to (0, 0)": "no floor cell",
        "pick up spoon": "nearest: put down",
        "3": "in words",
        "dance": "names no skill",
        "": "in words",
    }
    for words, reason in reasons.items():
        with pytest.raises(IllegalAction, match=reason):
            env.parse(words, state, 0)
    assert env.skills.names[env.parse("I think it is best\nACTION: north", state, 0)] == "north"
    assert env.skills.names[env.parse("ACTION: put it into pot b", state, 0)] == "put in pot B"
    assert env.parse("stay", state, 0) == env.noop
    assert "put in pot A" in env.rules(0)
    choices = env.choices(state, 0)
    for words in ("the second option", "option B, please", "the second one"):
        assert env.parse(words, state, 0) == env.parse(choices[1], state, 0)
    assert env.parse("the last of these", state, 0) == env.parse(choices[-1], state, 0)


def test_go_on_is_the_skill_under_way_and_nothing_else() -> None:
    env, step = game("counter_circuit")
    fresh = env.reset(jax.random.key(0))
    fetch = env.parse("fetch onion", fresh, 0)
    begun, _ = step(jax.random.key(0), fresh, np.array([fetch, env.noop], np.int32))
    done, _ = step(jax.random.key(0), begun, np.array([fetch, env.noop], np.int32))
    for words in ("continue", "I'll go on", "keep going!", '{"action": "carry on"}'):
        assert env.parse(words, begun, 0) == fetch
        for state in (fresh, done):
            with pytest.raises(IllegalAction, match="no skill is under way"):
                env.parse(words, state, 0)


def test_a_misspelt_skill_is_told_the_nearest_in_a_short_text() -> None:
    env, _ = game("counter_circuit")
    with pytest.raises(IllegalAction, match="nearest: fetch onion") as refused:
        env.parse("fech onin", env.reset(jax.random.key(0)), 0)
    assert len(refused.value.reason) < 400


def test_an_error_names_skills_that_are_possible() -> None:
    env, step = game("counter_circuit")
    state = run(env, step, env.reset(jax.random.key(0)), "fetch onion")
    with pytest.raises(IllegalAction) as refused:
        env.parse("fetch or pick up something", state, 0)
    near = refused.value.reason.split("nearest: ")[1].rstrip(".").split(", ")
    assert near
    for name in near:
        env.parse(name, state, 0)


def test_impossible_skills_are_counted_and_do_nothing() -> None:
    env, step = game()
    state = env.reset(jax.random.key(0))
    serve = env.skills.names.index("serve")
    new, outcome = step(jax.random.key(0), state, np.array([serve, 999], np.int32))
    assert outcome.metrics["illegal"] == 2
    assert (np.asarray(new.status) == IMPOSSIBLE).all()
    assert (np.asarray(new.inner.position) == np.asarray(state.inner.position)).all()
    assert "impossible" in env.describe(new, 0)


def test_only_what_is_in_view_counts() -> None:
    env, _ = game("asymmetric_advantages", view_radius=1)
    state = env.reset(jax.random.key(0))
    near = dict(zip(env.skills.names, env.skills.words(env.perceive(state)[0]), strict=True))
    assert near["fetch onion"].startswith("at (5, 1)")
    assert near["fetch dish"] == "there is none in view"
    assert near["go to (1, 1)"] == "no floor is seen there"


@pytest.mark.slow
def test_batches_agree_with_single_steps() -> None:
    env, step = game()
    keys = jax.vmap(jax.random.key)(jnp.arange(3, dtype=jnp.uint32))
    states, single = env.batch_reset(keys), [env.reset(key) for key in keys]
    rng = np.random.default_rng(0)
    batch_step = jax.jit(env.batch_step)
    for _ in range(12):
        actions = rng.integers(0, len(env.skills.names), (2, 3)).astype(np.int32)
        states, _ = batch_step(keys, states, actions)
        single = [
            step(key, s, actions[:, i])[0]
            for i, (key, s) in enumerate(zip(keys, single, strict=True))
        ]
    legal = np.asarray(env.batch_legal(states))
    for i, state in enumerate(single):
        row = jax.tree_util.tree_map(lambda leaf, i=i: np.asarray(leaf[..., i]), states)
        for a, b in zip(*map(jax.tree_util.tree_leaves, (row, state)), strict=True):
            assert (a == np.asarray(b)).all()
        assert (legal[..., i] == np.asarray(env.legal(state))).all()


def test_a_spec_rebuilds_it_and_other_environments_are_refused() -> None:
    env, _ = game()
    assert from_spec(env.spec()) == env
    with pytest.raises(ConfigError, match="no skill set"):
        Skills(env)


class _Cook:
    """Names the next skill of a soup, in words; counts nothing itself."""

    plan = (*["fetch onion", "put in pot A"] * 3, "fetch dish", "plate from pot A", "serve")

    def __init__(self) -> None:
        self.turn = 0

    def act(self, views: Any) -> list[Any]:
        words = self.plan[self.turn % len(self.plan)]
        self.turn += 1
        return [Reply(words)] * len(views)


class _AsyncCook(_Cook):
    async def act(self, views: Any) -> list[Any]:  # type: ignore[override]
        return super().act(views)


@pytest.mark.parametrize("kind", [_Cook, _AsyncCook])
def test_persist_asks_only_for_decisions(kind: Any) -> None:
    env, _ = game(chefs=1, max_steps=120)
    cook: Persist = persist(kind(), env, patience=40)
    result = play(env, [cook], 1, seed=0)
    assert result.episodes[0].rewards[0] >= 40
    assert cook.asked < 40
    assert result.episodes[0].illegal == (0,)


def test_what_the_kitchen_says_of_itself_is_passed_on() -> None:
    kitchen = Kitchen(starts="random")
    chat = make("chat", env=make("skills", env=kitchen))
    assert chat.phrases == kitchen.phrases
    assert chat.reset_pool == kitchen.reset_pool > 0


def test_many_skills_are_told_in_few_lines():
    """Numbers, last words and plain steps; every line is a skill that can be chosen."""
    env = Skills(make("craftworld", size=16))
    state = jax.device_get(jax.jit(env.reset)(episode_key(3)))
    every, few = env.choices(state, 0, None), env.choices(state, 0)
    assert len(every) > 24 and len(few) < 12 and sum(map(len, few)) < 800
    for choice in few:
        assert env.parse(choice, state, 0) == env.parse(choice.text, state, 0) == choice.action
    texts = [choice.text for choice in few]
    assert "move_left" in texts and "wait" in texts
    folded = [choice for choice in few if choice.form and choice.effect == choice.form.effect]
    assert len(folded) >= 3


def test_a_lone_chef_needs_as_many_steps_as_it_is_told() -> None:
    """Turns, steps and the interact are counted."""
    env, step = game(chefs=1)
    draw, kinds = np.random.default_rng(0), set()
    state = jax.device_get(env.reset(jax.random.key(0)))
    for _ in range(40):
        offers = [
            (choice, int(told[1]))
            for choice in env.choices(state, 0, None)
            if (told := re.search(r"about (\d+) step", choice.effect))
            and "ready in" not in choice.effect
        ]
        if not offers:
            break
        choice, told_steps = offers[draw.integers(len(offers))]
        kinds.add(choice.text.split()[0])
        finished = []
        for _ in range(told_steps):
            state, outcome = jax.device_get(
                step(jax.random.key(0), state, np.array([choice.action]))
            )
            finished.append(bool(outcome.metrics["skills_done"]))
        assert finished == [False] * (told_steps - 1) + [True], str(choice)
    assert kinds >= {"go", "fetch", "put"}
