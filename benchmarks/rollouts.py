"""Steps a second of batched rollouts, of every registered environment.

    python benchmarks/rollouts.py
    python benchmarks/rollouts.py --peer jaxmarl --limits --sizes 64 1024 4096 16384
    python benchmarks/rollouts.py --peer jaxmarl --layout overcooked_v2/grounded_coord_simple

The first command measures all environments with their default configurations, from 1 to 65,536 at
once, three times each: with random actions ("none"), with random actions while each observation is
written to memory ("vector"; the kitchen's "grid" and "compact"), and with a small network that
reads the observation and chooses the actions ("network"). With a peer, the environments that it
has, too, are measured beside its own, in turns.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

from common import (
    PEERS,
    RESULTS,
    SHORT,
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
)

SIZES = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536)
# What each peer calls our environments: {ours: its}.
PEER_GAMES = {
    "jaxmarl": {"kitchen": ("overcooked", "overcooked_v2")},
    "pgx": {
        "kuhn_poker": ("kuhn_poker",),
        "leduc_holdem": ("leduc_holdem",),
        "tic_tac_toe": ("tic_tac_toe",),
        "connect_four": ("connect_four",),
    },
    "craftax": {"craftworld": ("craftax, optimistic resets", "craftax, no resets")},
}
V2 = "overcooked_v2/"  # what the names of OvercookedV2's layouts begin with
LONGEST = 4.0  # seconds that one call of a rollout may be expected to take; else it is left out


# ---- our side: the worker ------------------------------------------------------------------------


def worker() -> None:
    import jax
    import jax.numpy as jnp
    import numpy as np

    import manyhands
    from manyhands.baselines.learners import speed
    from manyhands.core.rollout import bytes_per_env

    courses: dict[Any, Any] = {}
    filled: dict[int, Any] = {}

    def play(
        id: str,
        config: dict[str, Any],
        observation: str,
        num_envs: int,
        num_steps: int,
        seconds: float,
    ) -> dict[str, Any]:
        """Steps a second of our environment; 0 s compile it only."""
        env = manyhands.make(id, **config)
        load = observation if observation in speed.LOADS else "observed"
        space: Any = env.observation_space
        size = env.num_agents * int(np.prod(space.shape)) * space.dtype.itemsize
        slot = (env, load, num_envs, num_steps)
        began = time.perf_counter()
        if slot not in courses:
            courses[slot] = speed.Course(env, load, num_envs, num_steps)
            courses[slot].run()
            courses[slot].run()  # from a carry: as it will be measured
        return {
            "rate": rate(courses[slot].run, seconds) if seconds else 0.0,
            "first": time.perf_counter() - began,
            "bytes": 0 if load == "none" else size,
            "moved": bytes_per_env(env) - (size if load == "none" else 0),
            "jax": jax.__version__,
        }

    def movers(id: str, config: dict[str, Any]) -> dict[str, Any]:
        return {"movers": speed.movers(manyhands.make(id, **config))}

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
        return {
            "jax": jax.__version__,
            "platform": device.platform,
            "device": device.device_kind,
            "devices": len(jax.local_devices()),
            "registered": list(manyhands.registered()),
        }

    answers: dict[str, Any] = {"play": play, "movers": movers, "fill": fill, "copy": copy}
    answers["about"] = about
    serve(lambda what, **request: answers[what](**request))


# ---- the parent ----------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--env", nargs="+", help="ids of environments (default: all)")
    parser.add_argument("--layout", default="cramped_room", help="of the kitchen")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="environments at once")
    parser.add_argument("--observations", nargs="+", help="default: all that each one has")
    parser.add_argument(
        "--peer",
        choices=PEER_GAMES,
        help="measure this package too, in turns",
    )
    parser.add_argument("--peer-python", type=Path, help="an interpreter that has the peer")
    parser.add_argument(
        "--limits", action="store_true", help="measure how fast memory can be written, too"
    )
    parser.add_argument("--repeats", type=int, help="default: 3; with a peer 7")
    parser.add_argument("--seconds", type=float, default=0.25, help="length of one repeat")
    parser.add_argument(
        "--minutes", type=float, help="leave out, from the largest size down, what takes longer"
    )
    parser.add_argument("--device", choices=["cpu", "gpu", "tpu"], help="default: JAX's choice")
    parser.add_argument(
        "--cpu-devices",
        type=int,
        default=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1,
        help="parts that a CPU is divided into (JAX_NUM_CPU_DEVICES; default: its cores)",
    )
    parser.add_argument("--out", type=Path, help="default: results/NAME-PLATFORM.json")
    args = parser.parse_args()
    repeats = args.repeats or (7 if args.peer else 3)
    deadline = time.monotonic() + 60 * args.minutes if args.minutes else float("inf")

    where = machine()
    ours = Worker("rollouts.py", device=args.device, cpu_devices=args.cpu_devices)
    where |= ours.ask(what="about")
    known = where.pop("registered")
    games = args.env or [id for id in known if not args.peer or id in PEER_GAMES[args.peer]]
    for id in games:
        if id not in known or (args.peer and id not in PEER_GAMES[args.peer]):
            beside = f" that {args.peer} has, too" if args.peer else ""
            raise SystemExit(f"no environment{beside} is called {id!r}; there are {games_of(args)}")
    if not games:
        raise SystemExit(f"none of our environments has a counterpart in {args.peer}")
    peer = None
    if args.peer:
        python = args.peer_python or peer_python(args.peer)
        peer = Worker(f"peer_{args.peer}.py", python, args.device)

    def in_turns(requests: dict[Slot, tuple[Worker, dict[str, Any]]]) -> Any:
        def measure(slot: Slot) -> float:
            worker_, request = requests[slot]
            return worker_.ask(**request, seconds=args.seconds)["rate"]

        return interleave(requests, measure, repeats)

    rows: list[dict[str, Any]] = []
    peer_jax: set[str] = set()
    expected: dict[tuple[str, ...], float] = {}  # steps a second, by what is measured
    sizes = {(id, envs): None for envs in sorted(set(args.sizes)) for id in games}
    for id, envs in sizes:
        if time.monotonic() > deadline:
            print(f"left out: {id} x {envs:,} and what is larger (--minutes)")
            break
        requests: dict[Slot, tuple[Worker, dict[str, Any]]] = {}
        names = ("grid", "compact") if id == "kitchen" else ("vector",)
        for observation in args.observations or ("none", *names, "network"):
            config: dict[str, Any] = {}
            if id == "kitchen":
                shown = observation if observation in names else "compact"
                config = {"layout": args.layout, "observation": shown}
            elif observation in ("grid", "compact"):
                continue
            request = {"what": "play", "id": id, "config": config, "observation": observation}
            requests["manyhands", observation, id] = (ours, request)
            for subject in subjects(args, id):
                if peer and observation in ("none", names[0]):  # they have one observation
                    request = {"game": subject, "observation": observation}
                    if id == "kitchen":
                        layout = args.layout.removeprefix(V2)
                        request["layout"] = SHORT.get(layout, layout)
                    requests[subject, observation, id] = (peer, request)
        for slot, (_, request) in list(requests.items()):
            steps = max(16, min(1024, 2**18 // envs))
            speed = expected.get(slot, float("inf"))
            while steps > 4 and envs * steps / speed > LONGEST / 4:
                steps //= 2
            request |= {"num_envs": envs, "num_steps": steps}
            if envs * steps / speed > LONGEST:
                print(f"left out: {' '.join(slot)} x {envs:,}: a step takes too long")
                del requests[slot]
        # Compile first; what each observation weighs says which buffers to fill.
        warm = {slot: side.ask(**request, seconds=0) for slot, (side, request) in requests.items()}
        peer_jax |= {warm[slot]["jax"] for slot in requests if slot[0] != "manyhands"}
        bytes_written = {slot: answer["bytes"] for slot, answer in warm.items()}
        if args.limits:
            for size in {size for size in bytes_written.values() if size}:
                slot = ("fill", f"{size} B", id)
                requests[slot] = (ours, {"what": "fill", "size": size * envs})
                ours.ask(**requests[slot][1], seconds=0)
        figures = in_turns(requests)
        who = ours.ask(what="movers", **requests_of(requests, id))
        for slot, values in figures.items():
            subject, observation, _ = slot
            row: dict[str, Any] = {"env": id, "subject": subject, "observation": observation}
            row |= {"envs": envs, **summary(values)}
            rows.append(row)
            if subject == "fill":
                row["unit"] = "bytes/s"
                continue
            expected[slot] = max(values)
            row |= {"unit": "env steps/s", "bytes_per_step": bytes_written[slot]}
            row["agent_steps"] = row["best"] * who["movers"]
            if subject == "manyhands":
                row["moved_per_step"] = warm[slot]["moved"]
            if args.peer:
                theirs = subjects(args, id)[0]
                base = figures.get((theirs, "none" if observation == "none" else names[0], id))
                if base and observation != "network":
                    row["times_peer"] = row["best"] / max(base)
            if args.limits and bytes_written[slot]:
                limit = max(figures["fill", f"{bytes_written[slot]} B", id])
                row["share_of_fill_limit"] = row["best"] * bytes_written[slot] / limit
        print(f"{id} x {envs:,}", flush=True)

    if args.limits:
        request = {"what": "copy", "size": 2**28}
        ours.ask(**request, seconds=0)
        values = in_turns({("copy", "256 MiB", ""): (ours, request)})["copy", "256 MiB", ""]
        copied = summary(values)
        for row in rows:
            if "moved_per_step" in row:
                row["share_of_bandwidth"] = row["best"] * row["moved_per_step"] / copied["best"]
        rows.append({"subject": "copy", "observation": "256 MiB", "unit": "bytes/s", **copied})
    if peer:
        where["peer"] = {"packages": PEERS[args.peer], "jax": sorted(peer_jax)}
        peer.close()
    ours.close()
    rows.sort(key=lambda row: games.index(row["env"]) if "env" in row else len(games))
    tell(rows, f"rollouts: {where['device']}, {where['cores']} cores")
    settings = {"layout": args.layout, "repeats": repeats, "seconds": args.seconds}
    name = f"rollouts-{args.peer}" if args.peer else "environments"
    name += "-overcooked-v2" * args.layout.startswith(V2)
    path = args.out or RESULTS / f"{name}-{where['platform']}.json"
    save(path, benchmark="rollouts", machine=where, settings=settings, rows=rows)
    plot(rows, path.with_suffix(".png"), f"{where['cpu']}, {where['cores']} cores")


def subjects(args: argparse.Namespace, id: str) -> tuple[str, ...]:
    """What of the peer is measured beside one of our environments."""
    if not args.peer:
        return ()
    games = PEER_GAMES[args.peer][id]
    # Kitchens in which one recipe is asked for at a time are no other game of theirs.
    return games if not args.layout.startswith(V2) else ("overcooked_v2",)


def games_of(args: argparse.Namespace) -> str:
    from manyhands import registered

    return ", ".join(PEER_GAMES[args.peer] if args.peer else registered())


def requests_of(requests: dict[Slot, tuple[Worker, dict[str, Any]]], id: str) -> dict[str, Any]:
    """Which environment our side was asked to play."""
    for _, request in requests.values():
        if request.get("id") == id:
            return {"id": id, "config": request["config"]}
    return {"id": id, "config": {}}


def tell(rows: list[dict[str, Any]], title: str) -> None:
    """The table."""
    table = []
    for row in rows:
        unit, scale = ("GB/s", 1e9) if row["unit"] == "bytes/s" else ("M/s", 1e6)
        share = row.get("share_of_fill_limit")
        of_copy = row.get("share_of_bandwidth")
        table.append(
            [
                row.get("env", ""),
                row["subject"],
                row["observation"],
                f"{row.get('envs', 0):,}",
                f"{row['best'] / scale:.3f} {unit}",
                f"{row['median'] / scale:.3f}",
                f"{row['agent_steps'] / 1e6:.3f}" if "agent_steps" in row else "",
                f"{row['times_peer']:.2f}" if "times_peer" in row else "",
                f"{100 * share:.0f} %" if share else "",
                f"{100 * of_copy:.0f} %" if of_copy else "",
            ]
        )
    columns = ["", "", "observation", "envs", "env steps, best", "median", "agent steps"]
    columns += ["times peer", "of fill", "of copy"]
    shown = [i for i in range(len(columns)) if any(cells[i] for cells in table)]
    report(title, [columns[i] for i in shown], [[row[i] for i in shown] for row in table])


def plot(rows: list[dict[str, Any]], path: Path, title: str) -> None:
    """Steps a second over number of environments, both axes logarithmic."""
    try:
        import matplotlib
    except ImportError:
        print('no plot: it needs matplotlib (pip install "manyhands[train]")')
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    def panel_of(row: dict[str, Any]) -> str:
        if row["observation"] in ("none", "network"):
            return row["observation"]
        return "compact" if row["observation"] == "compact" else "observed"

    titles = {
        "none": "random actions, no observation",
        "observed": "each observation written",
        "compact": "the compact observation written",
        "network": "a network chooses",
    }
    shown = [row for row in rows if row["unit"] == "env steps/s"]
    panels = [name for name in titles if any(panel_of(row) == name for row in shown)]
    if not panels:
        return
    figure, axes = plt.subplots(
        1, len(panels), figsize=(4.2 * len(panels), 4), sharey=True, squeeze=False
    )
    for axis, name in zip(axes[0], panels, strict=True):
        lines: dict[tuple[str, str], list[tuple[int, float]]] = {}
        for row in shown:
            if panel_of(row) == name:
                line = lines.setdefault((row["env"], row["subject"]), [])
                line.append((row["envs"], row["best"]))
        for (env, subject), points in lines.items():
            label = env if subject == "manyhands" else f"{env}: {subject}"
            style = "o-" if subject == "manyhands" else "s--"
            axis.loglog(*zip(*sorted(points), strict=True), style, markersize=3, label=label)
        axis.set(title=titles[name], xlabel="environments", xscale="log")
        axis.grid(True, which="major", alpha=0.3)
        axis.legend(fontsize=7)
    axes[0][0].set_ylabel("environment steps a second")
    figure.suptitle(title, fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=80)
    print(f"written: {path}")


if __name__ == "__main__":
    worker() if is_worker() else main()
