"""The contract as checks: `check_env`, `check_wrapper` and `check_seat`, for environments, wrappers
and players of your own. They need no test framework; each failure names the agent, the step and the
field, and says what to do.

    from manyhands.testing import check_env

    check_env(MyGame())

`CHECKS` are the single checks; each takes a `Play` and raises `ContractError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
from gymnasium.spaces import Discrete

from manyhands.core.batch import rollout_key
from manyhands.core.env import Env, Wrapper, episode_key, is_device_policy
from manyhands.core.episode import Moment
from manyhands.core.pack import stepper
from manyhands.core.play import play
from manyhands.core.rollout import rollout
from manyhands.core.seats import seat_policy
from manyhands.testing.functions import (
    check_attributes,
    check_batches,
    check_compiled,
    check_compiles_once,
    check_elapsed,
    check_fingerprints,
    check_gymnasium,
    check_illegal_actions,
    check_pettingzoo,
    check_play,
    check_random_play_ends,
    check_resets,
    check_rewards,
    check_shapes,
    check_snapshots,
    check_spaces,
    check_spec,
)
from manyhands.testing.questions import check_questions, lookalikes
from manyhands.testing.random_play import (
    SEED,
    STEPS,
    ContractError,
    Play,
    fail,
    play_at_random,
    random_actions,
    same,
)
from manyhands.testing.words import (
    broken_facts,
    check_choices,
    check_effects,
    check_events,
    check_json,
    check_pictures,
    check_texts,
)

__all__ = [
    "CHECKS",
    "SEED",
    "STEPS",
    "ContractError",
    "Play",
    "broken_facts",
    "check_env",
    "check_seat",
    "check_wrapper",
    "lookalikes",
    "play_at_random",
    "problems_of",
    "random_actions",
]

CHECKS: tuple[Callable[[Play], None], ...] = (
    check_attributes,
    check_spec,
    check_shapes,
    check_spaces,
    check_rewards,
    check_compiled,
    check_batches,
    check_resets,
    check_compiles_once,
    check_random_play_ends,
    check_illegal_actions,
    check_snapshots,
    check_fingerprints,
    check_elapsed,
    check_pettingzoo,
    check_gymnasium,
    check_play,
    check_choices,
    check_effects,
    check_events,
    check_questions,
    check_texts,
    check_json,
    check_pictures,
)


# ---- the checkers --------------------------------------------------------------------------------


def check_env(env: Env[Any], steps: int = STEPS) -> None:
    """Check that an environment keeps its contract (`docs/extending.md`): all of `CHECKS`, on
    `steps` steps of random legal play.

    Raises:
        ContractError: it does not; lists what every check found.
    """
    problems = list(problems_of(env, steps))
    if problems:
        raise ContractError(
            f"{env!r} breaks the contract in {len(problems)} of {len(CHECKS)} checks:\n"
            + "\n".join(f"- {problem}" for problem in problems)
        )


def problems_of(env: Env[Any], steps: int = STEPS) -> Iterator[str]:
    """What `check_env` finds, check by check."""
    if not isinstance(env, Env):
        yield f"an environment is a manyhands.Env, given {env!r}"
        return
    try:
        play = play_at_random(env, steps)
    except Exception as error:
        yield (
            f"random play: {type(error).__name__}: {error}; reset, step, observe, perceive, legal "
            "and acting must work inside jax.jit before anything else can be checked"
        )
        return
    for check in CHECKS:
        try:
            check(play)
        except ContractError as error:
            yield f"{check.__name__.removeprefix('check_')}: {error}"
        except NotImplementedError as error:
            yield f"{check.__name__.removeprefix('check_')}: {error or 'not implemented'}"
        except Exception as error:
            yield f"{check.__name__.removeprefix('check_')}: {type(error).__name__}: {error}"


def check_wrapper(env: Wrapper[Any], steps: int = STEPS) -> None:
    """`check_env`, and what a wrapper owes to what it wraps: it forwards what it does not change,
    its spec holds the other's, and `inner`, `lift` and `lower` fit.

    Raises:
        ContractError: it does not keep the contract.
    """
    if not isinstance(env, Wrapper):
        fail(f"a wrapper is a manyhands.Wrapper, given {env!r}")
    check_env(env, steps)
    check_forwarding(play_at_random(env, steps))


def check_forwarding(play: Play) -> None:
    """What `check_wrapper` checks besides the contract."""
    env = play.env
    assert isinstance(env, Wrapper)
    inner = env.env
    if env.spec().get("env") != inner.spec():
        fail("spec: holds the wrapped environment's spec as 'env'; call super().spec()")
    if env.unwrapped is not inner.unwrapped:
        fail("unwrapped: the innermost environment")
    for t, frame in enumerate(play.frames):
        state = env.inner(frame.state)
        hint = "inner gives the wrapped state"
        if type(env).elapsed is not Wrapper.elapsed:  # it counts its own steps: `check_elapsed`
            continue
        same(
            jax.tree_util.tree_map(np.asarray, env.elapsed(frame.state)),
            jax.tree_util.tree_map(np.asarray, inner.elapsed(state)),
            f"elapsed, step {t}",
            hint,
        )
    if not env.lifts:
        return
    frame = play.frames[0]
    legal = np.asarray(inner.legal(env.inner(frame.state)))
    for i, agent in enumerate(env.agents):
        lowered = np.asarray(env.lower(frame.legal[i]))
        if lowered.shape != legal[i].shape:
            fail(
                f"lower: agent {agent}: {lowered.shape}, expected a row of the wrapped legal, "
                f"{legal[i].shape}"
            )
        for number in np.flatnonzero(lowered) if isinstance(inner.action_space, Discrete) else ():
            lifted = np.asarray(env.lift(np.int32(number)), env.action_space.dtype)
            if not env.action_space.contains(
                lifted if lifted.shape else lifted[()]
            ):  # a Discrete space takes numbers
                fail(f"lift: action {number} becomes {lifted!r}, which is not in action_space")


def check_seat(seat: Any, env: Env[Any], episodes: int = 2, max_steps: int = 40) -> None:
    """Check that a player can take every seat of `env`: it answers with legal actions or words that
    mean one, the same ones whenever an episode is played again, and, if it is a device policy,
    legal ones in compiled rollouts too.

    Args:
        seat: a name, a policy, a device policy, or a function of a view.

    Raises:
        ContractError: it does not.
    """
    seat_policy(env, seat)  # refuses what is no player
    runs: list[list[Any]] = []
    for _ in range(2):
        moves: list[Any] = []

        def on_step(moment: Moment, moves: list[Any] = moves) -> None:
            if moment.turn is None:
                return
            for i, reason in moment.turn.illegal.items():
                fail(
                    f"agent {env.agents[i]}, episode {moment.episode}, step {moment.step - 1}: an "
                    f"illegal answer: {reason}; choose among view.legal or view.choices"
                )
            actions = {i: np.asarray(a).tolist() for i, a in moment.turn.actions.items()}
            moves.append((moment.episode, moment.step, actions))

        play(
            env,
            [seat] * env.num_agents,
            episodes,
            seed=SEED,
            max_steps=max_steps,
            progress=False,
            on_step=on_step,
            concurrency=1,
        )
        runs.append(moves)
    for first, second in zip(*runs, strict=False):
        if first != second:
            fail(
                f"episode {first[0]}, step {first[1] - 1}: {first[2]} in one run, {second[2]} in "
                "the next; draw from view.rng(), or from the key that a device policy is given"
            )
    policy, _ = seat_policy(env, seat)
    if is_device_policy(policy):
        _check_rollout(policy, env, max_steps)


def _check_rollout(policy: Any, env: Env[Any], max_steps: int) -> None:
    """A device policy plays legal actions in a compiled rollout, too."""
    key, steps = episode_key(SEED), min(max_steps, env.max_steps)
    track = rollout(env, policy, 2, steps, key, pool=0).trajectory
    assert track is not None
    episode = rollout_key(key, 0, 0)
    frame = stepper(env).reset(episode)
    key_data = np.asarray(jax.random.key_data(episode))
    actions = np.asarray(track.action)[..., 0]
    for t in range(steps):
        if frame.over:
            return
        for i in np.flatnonzero(frame.acting):
            action = actions[t, i]
            legal = frame.legal[i]
            if isinstance(env.action_space, Discrete) and not legal[int(action)]:
                fail(f"rollout: agent {env.agents[i]}, step {t}: plays {action}, which is illegal")
        frame = stepper(env).step(key_data, t, frame.state, actions[t])
