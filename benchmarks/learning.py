"""How long it takes to learn: seconds until the mean return of self-play first passes a mark.

    python benchmarks/learning.py --peer jaxmarl

Trains IPPO on a kitchen as `manyhands train` does by default, and JaxMARL's own IPPO baseline with
its published hyperparameters, one after the other, each in a fresh process without a compilation
cache. The clock starts when a process has imported what it needs; compiling is part of the time.
Afterwards the parts of one of our updates are timed one by one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common import PEERS, RESULTS, ROOT, machine, peer_python, report, save

# JaxMARL's baselines are in its repository, not in its package. This is the one that is published
# with hyperparameters for cramped_room, found by its authors' search.
COMMIT = "16cca53c8c175a6189d717be727045822863be84"
BASELINE = "https://raw.githubusercontent.com/FLAIROx/JaxMARL/{commit}/baselines/IPPO/{path}"
FILES = {
    "ippo_cnn_overcooked.py": "ippo_cnn_overcooked.py",
    "ippo_cnn_overcooked.yaml": "config/ippo_cnn_overcooked.yaml",
}
HOME = ROOT / ".cache" / "peers" / "jaxmarl_baselines"


# ---- our side ------------------------------------------------------------------------------------


def worker(settings: dict[str, Any]) -> None:
    """Train one seed; a line for each update, until the mark is passed."""
    import jax
    from manyhands.baselines.training import make_learner

    import manyhands

    begun = time.perf_counter()
    env = manyhands.make("kitchen", layout=settings["layout"])
    learner = make_learner(env, "ippo")
    progress = jax.jit(learner.init)(jax.random.key(settings["seed"]))
    update = jax.jit(learner.update, donate_argnums=0).lower(progress).compile()
    compiled = time.perf_counter() - begun
    tell(compiled=compiled, jax=jax.__version__, device=jax.devices()[0].device_kind)
    for number in range(1, learner.num_updates + 1):
        progress, metrics = update(progress)
        mean, episodes = float(metrics["return"]), float(metrics["episodes"])
        seconds = time.perf_counter() - begun
        steps = number * learner.steps_per_update
        if episodes:
            tell(seconds=seconds, steps=steps, mean=mean)
            if mean >= settings["mark"]:
                return


def profile(settings: dict[str, Any]) -> None:
    """Seconds that the parts of one update take, each compiled by itself.

    What a part takes alone is not what it adds to the whole (the compiler fuses over the borders),
    so the sum differs from the update's own time, which is given too."""
    import jax
    import jax.numpy as jnp
    from manyhands.baselines.training import make_learner

    import manyhands
    from manyhands.core.rollout import rollout

    env = manyhands.make("kitchen", layout=settings["layout"])
    learner: Any = make_learner(env, "ippo")
    c = learner.config
    progress = jax.jit(learner.init)(jax.random.key(settings["seed"]))
    keys = jax.random.split(jax.random.key(1), c.num_steps)

    def seconds(run: Any, *arguments: Any) -> float:
        """The best of five."""
        run = jax.jit(run)
        jax.block_until_ready(run(*arguments))
        taken = []
        for _ in range(5):
            begun = time.perf_counter()
            jax.block_until_ready(run(*arguments))
            taken.append(time.perf_counter() - begun)
        return min(taken)

    def steps_of(progress: Any) -> Any:
        def step(playing: Any, key: Any) -> Any:
            return learner._step(progress, 1.0, playing, key)

        return jax.lax.scan(step, progress.playing, keys)

    def forward(progress: Any) -> Any:
        """The network's forward passes of a rollout, on rows that stand still."""
        rows = learner._rows(progress.playing.state)

        def step(memory: Any, key: Any) -> Any:
            x = learner._scaled(progress, learner._inputs(rows, 2))
            first = progress.playing.first[:, None]
            x = x + jax.random.uniform(key)  # else it would be computed once for all steps
            return learner._actor.advance(progress.params["actor"], memory, x, first)

        memory, outputs = jax.lax.scan(step, progress.playing.actor, keys)
        return memory, jnp.sum(outputs)

    def perceive(progress: Any) -> Any:
        """What the network reads, once per step of a rollout, written to memory."""

        def step(state: Any, _: Any) -> Any:
            rows = jax.lax.optimization_barrier(learner._rows(state))
            moved = jax.tree_util.tree_map(jax.lax.optimization_barrier, state)
            return moved, rows

        return jax.lax.scan(step, progress.playing.state, keys)[1]

    def environments() -> float:
        """Steps with random actions, nothing observed."""

        def once() -> None:
            result = rollout(
                env, "random", c.num_envs, c.num_steps, jax.random.key(0), collect="statistics"
            )
            jax.block_until_ready(result.carry)

        once()
        taken = []
        for _ in range(5):
            begun = time.perf_counter()
            once()
            taken.append(time.perf_counter() - begun)
        return min(taken)

    playing, (steps, _) = jax.jit(steps_of)(progress)
    values, _ = jax.jit(learner._values)(progress, playing, steps)
    advantages = jax.jit(learner._advantages)(steps, values)
    targets = advantages + values[:-1]

    def learn(progress: Any, steps: Any, advantages: Any, targets: Any) -> Any:
        return learner._learn(progress, steps, advantages, targets, keys[0], jnp.float32(0))

    tell(
        parts={
            "update": seconds(learner.update, progress),
            "rollout": seconds(steps_of, progress),
            "rollout: environment": environments(),
            "rollout: what the network reads": seconds(perceive, progress),
            "rollout: network forward": seconds(forward, progress),
            "values": seconds(learner._values, progress, playing, steps),
            "advantages": seconds(learner._advantages, steps, values),
            "minibatch epochs": seconds(learn, progress, steps, advantages, targets),
        },
        steps=learner.steps_per_update,
    )


# ---- JaxMARL's side ------------------------------------------------------------------------------


def peer_worker(settings: dict[str, Any]) -> None:
    """Their `make_train`, as they published it, told to log to us instead of to wandb."""
    import types

    log = types.ModuleType("wandb")
    log.log = lambda metric: heard(metric)  # type: ignore[attr-defined]
    sys.modules["wandb"] = log
    sys.path.insert(0, str(HOME))

    import ippo_cnn_overcooked as baseline  # type: ignore[import-not-found]
    import jax
    from jaxmarl.environments.overcooked import Overcooked, overcooked_layouts  # type: ignore
    from omegaconf import OmegaConf  # type: ignore[import-not-found]

    # The baseline is newer than the package, where these do not yet have a default.
    for name in ("action_space", "observation_space"):
        method = getattr(Overcooked, name)
        setattr(Overcooked, name, lambda self, agent="agent_0", method=method: method(self, agent))

    begun = time.perf_counter()
    config: Any = OmegaConf.to_container(OmegaConf.load(HOME / "ippo_cnn_overcooked.yaml"))
    config["ENV_KWARGS"]["layout"] = overcooked_layouts[settings["layout"]]
    # A fraction of the numbers is read as words by YAML 1.1 ("5e6").
    for name in ("LR", "TOTAL_TIMESTEPS", "REW_SHAPING_HORIZON"):
        config[name] = float(config[name])

    def heard(metric: dict[str, Any]) -> None:
        """Their mean over the last finished episode of each environment, delivery alone: the
        wrapper that counts it sits beneath the reward shaping."""
        mean = float(metric["returned_episode_returns"])
        if not mean and int(metric["env_step"]) < 400 * config["NUM_ENVS"]:
            return
        tell(seconds=time.perf_counter() - begun, steps=int(metric["env_step"]), mean=mean)
        if mean >= settings["mark"]:
            sys.stdout.flush()
            os._exit(0)  # from within their loop

    key = jax.random.PRNGKey(settings["seed"])
    train = jax.jit(baseline.make_train(config)).lower(key).compile()
    compiled = time.perf_counter() - begun
    tell(compiled=compiled, jax=jax.__version__, device=jax.devices()[0].device_kind)
    jax.block_until_ready(train(key))


def fetch_baseline() -> None:
    """Download their files, unless they are there."""
    HOME.mkdir(parents=True, exist_ok=True)
    for name, path in FILES.items():
        if (HOME / name).exists():
            continue
        url = BASELINE.format(commit=COMMIT, path=path)
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                text = answer.read()
        except (urllib.error.URLError, TimeoutError) as error:
            raise SystemExit(
                f"JaxMARL's baseline cannot be downloaded ({error}). Save {url} as {HOME / name}, "
                "and the same for " + ", ".join(set(FILES) - {name}) + ", then run this again."
            ) from error
        (HOME / name).write_bytes(text)


# ---- the parent ----------------------------------------------------------------------------------


def tell(**line: Any) -> None:
    print("told: " + json.dumps(line), flush=True)


def told(python: Path | str, role: str, settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What a fresh process tells."""
    environment = dict(os.environ, PYTHONPATH=str(ROOT), XLA_PYTHON_CLIENT_PREALLOCATE="false")
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    if settings["device"]:
        environment["JAX_PLATFORMS"] = {"gpu": "cuda"}.get(settings["device"], settings["device"])
    command = [str(python), __file__, "--worker", role, json.dumps(settings)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith("told: "):
                yield json.loads(line.removeprefix("told: "))
        if process.wait():
            raise SystemExit(f"learning.py {role} ended with status {process.returncode}")
    finally:
        process.kill()


def train(
    subject: str, python: Path | str, settings: dict[str, Any], minutes: float
) -> dict[str, Any]:
    """One run, until the mark is passed or the time is up."""
    row: dict[str, Any] = {"subject": subject, "seed": settings["seed"], "passed": None}
    row["curve"] = curve = []
    latest, deadline = 0.0, time.monotonic() + 60 * minutes
    lines = told(python, subject, settings)
    for line in lines:
        if "compiled" in line:
            row |= line
            continue
        if line["mean"] >= settings["mark"]:
            row["passed"] = {name: line[name] for name in ("seconds", "steps", "mean")}
        if row["passed"] or line["seconds"] > 1.1 * latest:  # enough to draw a curve from
            latest = line["seconds"]
            curve.append([round(line["seconds"], 2), line["steps"], round(line["mean"], 1)])
            print(
                f"{subject}: {line['seconds']:6.1f} s {line['steps']:10,} steps "
                f"return {line['mean']:6.1f}",
                flush=True,
            )
        row["speed"] = line["steps"] / max(line["seconds"] - row["compiled"], 1e-9)
        if row["passed"] or time.monotonic() > deadline:
            lines.close()  # type: ignore[attr-defined]
            break
    return row


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--layout", default="cramped_room")
    parser.add_argument("--mark", type=float, default=200.0, help="mean return to be passed")
    parser.add_argument("--seeds", type=int, default=1, help="runs of each side, one by one")
    parser.add_argument("--peer", choices=["jaxmarl"], help="train its baseline, too, in turns")
    parser.add_argument("--peer-python", type=Path, help="an interpreter that has the peer")
    parser.add_argument("--minutes", type=float, default=6.0, help="longest run of one seed")
    parser.add_argument("--device", choices=["cpu", "gpu", "tpu"], help="default: JAX's choice")
    parser.add_argument("--out", type=Path, default=RESULTS / "learning.json")
    args = parser.parse_args()

    where = machine()
    sides: dict[str, Path | str] = {"manyhands": sys.executable}
    if args.peer:
        fetch_baseline()
        sides["jaxmarl"] = args.peer_python or peer_python("jaxmarl_ippo")
        where["peer"] = {"packages": PEERS["jaxmarl_ippo"], "baseline": FILES, "commit": COMMIT}
    rows = []
    for seed in range(args.seeds):
        for subject, python in sides.items():
            settings = {"layout": args.layout, "mark": args.mark, "seed": seed}
            rows.append(train(subject, python, settings | {"device": args.device}, args.minutes))
    settings = {"layout": args.layout, "mark": args.mark, "seed": 0, "device": args.device}
    parts = next(told(sys.executable, "profile", settings))

    table = []
    for row in rows:
        passed = row["passed"]
        table.append(
            [
                row["subject"],
                str(row["seed"]),
                f"{row['compiled']:.1f} s",
                f"{passed['seconds']:.1f} s" if passed else "not passed",
                f"{passed['steps']:,}" if passed else "",
                f"{row['speed']:,.0f}",
            ]
        )
    columns = ["", "seed", "compiling", f"until {args.mark:g}", "env steps", "env steps/s"]
    report(f"IPPO on {args.layout}, wall-clock, compiling included", columns, table)
    whole = parts["parts"]["update"]
    shares = [
        [name, f"{1e3 * taken:.1f} ms", f"{100 * taken / whole:.0f} %"]
        for name, taken in parts["parts"].items()
    ]
    report(
        f"one update of ours ({parts['steps']:,} steps), its parts each alone",
        ["", "", "of the update"],
        shares,
    )
    save(args.out, benchmark="learning", machine=where, rows=rows, profile=parts)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        sides_ = {"manyhands": worker, "profile": profile, "jaxmarl": peer_worker}
        sides_[sys.argv[2]](json.loads(sys.argv[3]))
    else:
        main()
