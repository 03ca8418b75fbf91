"""Makes, resets and steps every world of the Manyhands that is installed, through each API.

    python tests/packaging/try_all.py [ID ...] [--check]

Needs nothing that the package does not need. `run.py` calls it in an environment of its own.
"""

from __future__ import annotations

import argparse
import sys
import time
from importlib.metadata import version

import gymnasium
import jax
import numpy as np
import pettingzoo

import manyhands


def core(id: str) -> None:
    """The pure functions, compiled."""
    env = manyhands.make(id)
    key = jax.random.key(0)
    state = env.reset(key)
    actions = np.broadcast_to(np.asarray(env.noop), (env.num_agents, *env.action_space.shape))
    state, outcome = jax.jit(env.step)(key, state, actions)
    seen = np.asarray(env.observe(state))
    assert seen.shape == (env.num_agents, *env.observation_space.shape), seen.shape
    assert np.isfinite(np.asarray(outcome.reward)).all(), outcome.reward
    assert env.describe(state, 0) and env.rules(0)
    assert manyhands.render(env, state, size=(64, 48)).shape == (48, 64, 3)


def gym(id: str) -> None:
    """One seat, with random partners."""
    env = gymnasium.make(id, partners="random", on_illegal="noop", disable_env_checker=True)
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    observation, *_ = env.step(env.action_space.sample())
    assert env.observation_space.contains(observation)
    env.close()


def zoo(id: str) -> None:
    """All seats at once."""
    env = pettingzoo.make("parallel", f"manyhands/{id}-v0", on_illegal="noop")
    observations, _ = env.reset(seed=0)
    assert set(observations) == set(env.agents)
    env.step({agent: env.action_space(agent).sample() for agent in env.agents})


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("ids", nargs="*")
    parser.add_argument("--check", action="store_true", help="also run `manyhands check`")
    options = parser.parse_args()
    where = ", ".join(f"{name} {version(name)}" for name in ("manyhands", "jax", "numpy", "mujoco"))
    print(f"Python {sys.version.split()[0]}: {where}\n  {manyhands.__file__}", flush=True)
    failed = 0
    for id in options.ids or manyhands.registered():
        began, done = time.monotonic(), []
        names = [
            name
            for name, spec in gymnasium.registry.items()
            if name.startswith("manyhands/") and spec.kwargs == {"game": id}
        ]
        try:
            core(id)
            done.append("steps")
            zoo(id)
            done.append("PettingZoo")
            for name in names:
                gym(name)
                done.append(name)
            if options.check:
                from manyhands.testing import CHECKS, problems_of

                problems = list(problems_of(manyhands.make(id)))
                if problems:
                    raise AssertionError("; ".join(problems))
                done.append(f"{len(CHECKS)} checks")
        except Exception as error:
            failed += 1
            done.append(f"FAILED: {type(error).__name__}: {error}")
        print(f"  {id}: {', '.join(done)} ({time.monotonic() - began:.0f} s)", flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    raise SystemExit(main())
