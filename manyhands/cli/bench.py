"""`manyhands bench`: how fast environments run on this machine."""

from __future__ import annotations

import argparse
import time
from typing import Any

import manyhands
from manyhands.cli.common import add_wrappers, build, command
from manyhands.core.env import ConfigError, Env
from manyhands.core.processes import usable_cores


def add(commands: Any) -> None:
    parser = command(
        commands,
        "bench",
        run,
        "Measure how fast environments run on this machine.",
        "Batches with random actions, with every observation written to memory, and with a small\n"
        "network that chooses; and one environment alone. All environments, or those that are\n"
        "named; configured, if it is one. benchmarks/ in the repository measures more, beside\n"
        "other libraries.\n\n  manyhands bench\n  manyhands bench kuhn_poker leduc_holdem\n"
        "  manyhands bench kitchen layout=coordination_ring observation=compact",
    )
    parser.add_argument("ids", nargs="*", metavar="ID or NAME=VALUE", help="default: all")
    # What a first call takes is measured, too: it compiles.
    parser.set_defaults(config=[], no_cache=True)
    add_wrappers(parser)
    parser.add_argument("--num-envs", type=int, default=1024, help="size of the batch")
    parser.add_argument("--num-steps", type=int, default=256, help="steps of each environment")


def run(options: argparse.Namespace) -> int:
    import importlib.util

    import jax

    from manyhands.baselines.learners.speed import Course, movers

    if options.config and len(options.ids) != 1:
        raise ConfigError(f"{options.config[0]!r} configures one environment; name it before")
    loads = {"none": "random actions", "observed": "and observations", "network": "a network"}
    if importlib.util.find_spec("flax") is None:
        del loads["network"]
        print('no networks: they need flax (pip install "manyhands[train]")')
    if options.own_process:  # a CPU as one device for each core: see docs/performance.md
        jax.config.update("jax_num_cpu_devices", usable_cores())
    device = jax.devices()[0]
    print(
        f"{options.num_envs} environments x {options.num_steps} steps on "
        f"{len(jax.devices())} x {device.device_kind}; steps a second:"
    )
    for id in options.ids or manyhands.registered():
        env = build(argparse.Namespace(**{**vars(options), "id": id}))
        acting = movers(env)
        print(f"{id} ({acting:.2g} of {env.num_agents} agents act in a step)")
        for name, words in loads.items():
            speed, seconds = Course(env, name, options.num_envs, options.num_steps).measure()
            print(
                f"  {words + ':':18}{speed:14,.0f} env-steps {speed * acting:14,.0f} agent-steps"
                f"  (first call {seconds:.1f} s)",
                flush=True,
            )
        print(f"  {'one alone:':18}{measure_single(env):14,.0f} env-steps", flush=True)
    return 0


def measure_single(env: Env, steps: int = 1000) -> float:
    """Environment steps per second of one environment, with its observation and legal actions."""
    import jax
    import numpy as np

    from manyhands.core.env import episode_key
    from manyhands.core.pack import no_actions, stepper

    one, key = stepper(env), episode_key(0)
    key_data = np.asarray(jax.random.key_data(key))
    frame = one.step(key_data, 0, one.reset(key), no_actions(env))
    space, actions = env.action_space, no_actions(env)
    space.seed(0)
    choices = [np.stack([space.sample() for _ in env.agents]) for _ in range(64)]
    began = time.perf_counter()
    frame = one.reset(key)
    for t in range(steps):
        actions[:] = choices[t % 64]
        frame = one.step(key_data, t, frame, actions)
        if frame.over:
            frame = one.reset(key)
    return steps / (time.perf_counter() - began)
