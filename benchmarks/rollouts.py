"""Environment steps a second of batched kitchens with random actions, on one device.

    python benchmarks/rollouts.py --peer jaxmarl --envs 64 1024 4096

The observation is written to memory at each step (it is carried by the loop, behind an optimization
barrier), once as "grid", once as "compact", once not at all. Beside it, in turns, run JaxMARL's
`overcooked` and `overcooked_v2`, and loops that only fill buffers of the same sizes: the limit that
the memory sets.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from common import (
    PEERS,
    RESULTS,
    Slot,
    Worker,
    interleave,
    is_worker,
    machine,
    peer_python,
    rate,
    report,
    save,
    serve,
    summary,
    watching,
)

OBSERVATIONS = ("grid", "compact", "none")
SHORT = {"asymmetric_advantages": "asymm_advantages", "coordination_ring": "coord_ring"}
SHORT |= {"forced_coordination": "forced_coord", "counter_circuit_o_1order": "counter_circuit"}


# ---- our side: the worker ------------------------------------------------------------------------


def worker() -> None:
    import jax
    import jax.numpy as jnp
    import numpy as np

    import manyhands
    from manyhands.core.rollout import RandomActions
    from manyhands.envs.kitchen import Kitchen

    carries: dict[Any, Any] = {}
    filled: dict[int, Any] = {}

    def kitchen(
        layout: str, observation: str, num_envs: int, num_steps: int, seconds: float
    ) -> dict[str, Any]:
        env = Kitchen(
            layout=layout, observation="compact" if observation == "none" else observation
        )
        policy = policies[observation]
        size = 0
        if observation != "none":
            space: Any = env.observation_space
            size = env.num_agents * int(np.prod(space.shape)) * space.dtype.itemsize
        slot = (layout, observation, num_envs)

        def once() -> int:
            played = manyhands.rollout(
                env,
                policy,
                num_envs,
                num_steps,
                jax.random.key(0),
                collect="statistics",
                carry=carries.get(slot),
                devices=jax.local_devices()[:1],
            )
            carries[slot] = jax.block_until_ready(played.carry)
            return played.statistics.env_steps

        if not seconds:
            once()
        speed = rate(once, seconds) if seconds else 0.0
        return {"rate": speed, "bytes": size, "jax": jax.__version__}

    # One policy object each: a rollout compiles anew for a new one.
    policies: dict[str, Any] = {"grid": watching(), "compact": watching(), "none": RandomActions()}

    def fill(size: int, seconds: float) -> dict[str, Any]:
        """Bytes a second written by a loop that fills a buffer of `size` bytes, step by step."""
        steps = max(1, min(1024, 2**28 // size))
        if size not in filled:

            def step(buffer: Any, value: Any) -> tuple[Any, None]:
                return jax.lax.optimization_barrier(jnp.full_like(buffer, value)), None

            run = jax.jit(lambda b: jax.lax.scan(step, b, jnp.arange(steps, dtype=jnp.uint8))[0])
            filled[size] = (run, jax.block_until_ready(run(jnp.zeros(size, jnp.uint8))))
        run, buffer = filled[size]

        def once() -> int:
            jax.block_until_ready(run(buffer))
            return size * steps

        return {"rate": rate(once, seconds) if seconds else 0.0}

    def copy(size: int, seconds: float) -> dict[str, Any]:
        """Bytes a second, read and written, of a pass over far more memory than any cache has."""
        slot = -size
        if slot not in filled:
            # In place: a new array each time would measure the system's handing out of memory.
            run = jax.jit(lambda array: array ^ jnp.uint32(1), donate_argnums=0)
            filled[slot] = (run, run(jnp.zeros(size // 4, jnp.uint32)))

        def once() -> int:
            run, array = filled[slot]
            filled[slot] = (run, jax.block_until_ready(run(array)))
            return 2 * size

        return {"rate": rate(once, seconds) if seconds else 0.0}

    def about() -> dict[str, Any]:
        device = jax.local_devices()[0]
        return {"jax": jax.__version__, "platform": device.platform, "device": device.device_kind}

    answers: dict[str, Any] = {"kitchen": kitchen, "fill": fill, "copy": copy, "about": about}
    serve(lambda what, **request: answers[what](**request))


# ---- the parent ----------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--layout", default="cramped_room", help="one of the five classics")
    parser.add_argument("--envs", type=int, nargs="+", default=[64, 1024, 4096])
    parser.add_argument("--observations", nargs="+", default=OBSERVATIONS, choices=OBSERVATIONS)
    parser.add_argument("--peer", choices=["jaxmarl"], help="measure this package too, in turns")
    parser.add_argument("--peer-python", type=Path, help="an interpreter that has the peer")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="length of one repeat")
    parser.add_argument("--device", choices=["cpu", "gpu", "tpu"], help="default: JAX's choice")
    parser.add_argument("--out", type=Path, help="default: results/rollouts-PLATFORM.json")
    args = parser.parse_args()

    where = machine()
    ours = Worker("rollouts.py", device=args.device)
    where |= ours.ask(what="about")
    peer = None
    if args.peer:
        python = args.peer_python or peer_python(args.peer)
        peer = Worker(f"peer_{args.peer}.py", python, args.device)

    requests: dict[Slot, tuple[Worker, dict[str, Any]]] = {}
    for envs in args.envs:
        steps = max(64, min(4096, 2**18 // envs))
        common = {"num_envs": envs, "num_steps": steps}
        for observation in args.observations:
            request = {"what": "kitchen", "layout": args.layout, "observation": observation}
            requests["manyhands", observation, envs] = (ours, request | common)
            if peer and observation in ("grid", "none"):  # they have one observation
                for subject in ("overcooked", "overcooked_v2"):
                    layout = SHORT.get(args.layout, args.layout)
                    request = {"subject": subject, "layout": layout, "observation": observation}
                    requests[subject, observation, envs] = (peer, request | common)
    # Compile first; what each observation weighs says which buffers to fill.
    warm = {slot: worker.ask(**request, seconds=0) for slot, (worker, request) in requests.items()}
    sizes = {slot: answer["bytes"] for slot, answer in warm.items()}
    for (_, _, envs), size in sizes.items():
        if size:
            slot = ("fill", f"{size} B", envs)
            requests.setdefault(slot, (ours, {"what": "fill", "size": size * envs}))
    requests["read and write", "256 MiB", 0] = (ours, {"what": "copy", "size": 2**28})
    for slot in [slot for slot in requests if slot not in warm]:
        worker_, request = requests[slot]
        worker_.ask(**request, seconds=0)

    def measure(slot: Slot) -> float:
        worker_, request = requests[slot]
        return worker_.ask(**request, seconds=args.seconds)["rate"]

    figures = interleave(requests, measure, args.repeats)

    rows, table = [], []
    for (subject, observation, envs), values in figures.items():
        row: dict[str, Any] = {"subject": subject, "observation": observation, "envs": envs}
        row |= summary(values)
        cells = [subject, observation, str(envs or "")]
        if row["subject"] not in ("manyhands", "overcooked", "overcooked_v2"):
            row["unit"] = "bytes/s"
            cells += [
                "",
                f"{row['best'] / 1e9:.1f} GB/s",
                f"{row['median'] / 1e9:.1f} GB/s",
                "",
                "",
            ]
        else:
            size = sizes[subject, observation, envs]
            row |= {"unit": "env steps/s", "bytes_per_step": size}
            cells += [str(size), f"{row['best'] / 1e6:.3f} M/s", f"{row['median'] / 1e6:.3f} M/s"]
            base = figures.get(("overcooked", "none" if observation == "none" else "grid", envs))
            if base:
                row["times_jaxmarl_overcooked"] = row["best"] / max(base)
            cells.append(f"{row['best'] / max(base):.2f}" if base else "")
            if size:
                limit = max(figures["fill", f"{size} B", envs])
                row["share_of_fill_limit"] = row["best"] * size / limit
            cells.append(f"{100 * row['share_of_fill_limit']:.0f} %" if size else "")
        rows.append(row)
        table.append(cells)
    report(
        f"kitchen {args.layout}, random actions: {where['device']} ({where['cores']} cores)",
        [
            "",
            "observation",
            "envs",
            "bytes/step",
            "best",
            "median",
            "times overcooked",
            "of fill limit",
        ],
        table,
    )
    if peer:
        versions = {answer["jax"] for slot, answer in warm.items() if slot[0] == "overcooked"}
        where["peer"] = {"packages": PEERS[args.peer], "jax": sorted(versions)}
        peer.close()
    ours.close()
    settings = {"layout": args.layout, "repeats": args.repeats, "seconds": args.seconds}
    path = args.out or RESULTS / f"rollouts-{where['platform']}.json"
    save(path, benchmark="rollouts", machine=where, settings=settings, rows=rows)


if __name__ == "__main__":
    worker() if is_worker() else main()
