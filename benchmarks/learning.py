"""How long it takes to learn: seconds until the mean return of self-play first passes a mark.

    python benchmarks/learning.py --peer jaxmarl
    python benchmarks/learning.py --peer jaxmarl --baseline ff cnn --minutes 15

Trains IPPO on a kitchen as `manyhands train` does by default, and JaxMARL's own IPPO baselines with
their published hyperparameters (`ff`: two layers of 64 units, `cnn`: three convolutions before
them), one after the other, each in a fresh process without a compilation cache. The clock starts
when a process has imported what it needs; compiling is part of the time, and given by itself, too.
Afterwards the parts of one of our updates are timed one by one.

The return is the same on both sides: the mean, over the episodes that ended within one update (400
steps each, played by the network that is learning), of what deliveries alone earned. It is noisier
where fewer environments learn at once, so that the smaller batch passes a mark earlier by luck.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common import PEERS, RESULTS, ROOT, SHORT, machine, peer_python, report, save

# JaxMARL's baselines are in its repository, not in its package: for each file the commit and the
# path in `baselines/IPPO/`. The configuration of `cnn` is for cramped_room, found by its authors'
# search; that of `ff` names another kitchen (coord_ring), and is the only one for it.
URL = "https://raw.githubusercontent.com/FLAIROx/JaxMARL/{commit}/baselines/IPPO/{path}"
BASELINES = {
    "ff": {
        "ippo_ff_overcooked.py": "428e054c58e52d889e57bd059e08b544100f7c7a",
        "config/ippo_ff_overcooked.yaml": "977191ae9371328bb042c509b49b475e4481c799",
    },
    "cnn": {
        "ippo_cnn_overcooked.py": "16cca53c8c175a6189d717be727045822863be84",
        "config/ippo_cnn_overcooked.yaml": "62d0d7d53f1e7557287caadfbb7a658e9b9485fa",
    },
}
HOME = ROOT / ".cache" / "peers" / "jaxmarl_baselines"


# ---- our side ------------------------------------------------------------------------------------


def worker(settings: dict[str, Any]) -> None:
    """Train one seed; a line for each update, until the mark is passed."""
    import jax

    import manyhands
    from manyhands.baselines.learners.training import make_learner

    tell(begun=True)
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

    import manyhands
    from manyhands.baselines.learners.training import make_learner
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

        memory, outputs = jax.lax.scan(step, progress.playing.memory["actor"], keys)
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

    import jax

    log = types.ModuleType("wandb")
    log.log = lambda metric: heard(metric)  # type: ignore[attr-defined]
    sys.modules["wandb"] = log
    sys.path.insert(0, str(HOME))
    name = f"ippo_{settings['baseline']}_overcooked"
    baseline: Any = importlib.import_module(name)

    from jaxmarl.environments.overcooked import Overcooked, overcooked_layouts  # type: ignore
    from omegaconf import OmegaConf  # type: ignore[import-not-found]

    # The baselines name no agent, which the package demands.
    for method_name in ("action_space", "observation_space"):
        method = getattr(Overcooked, method_name)
        whose = lambda self, agent="agent_0", method=method: method(self, agent)  # noqa: E731
        setattr(Overcooked, method_name, whose)

    class LogWrapper(baseline.LogWrapper):
        """Theirs repeats the return of the last episode at every step until the next one ends, and
        the baselines log the mean over the steps of an update: a mixture that lags behind. With the
        product logged, too, the mean over the episodes that ended is known. It sits beneath the
        reward shaping: these are returns by delivery alone."""

        def step(self, key: Any, state: Any, action: Any) -> Any:
            *seen, info = super().step(key, state, action)
            info["ended"] = info["returned_episode_returns"] * info["returned_episode"]
            return *seen, info

    baseline.LogWrapper = LogWrapper

    tell(begun=True)
    begun = time.perf_counter()
    config: Any = OmegaConf.to_container(OmegaConf.load(HOME / f"{name}.yaml"))
    layout = SHORT.get(settings["layout"], settings["layout"])
    config["ENV_KWARGS"]["layout"] = overcooked_layouts[layout]
    # "5e6" is a word to YAML 1.1.
    for number in ("LR", "TOTAL_TIMESTEPS", "REW_SHAPING_HORIZON"):
        config[number] = float(config[number])

    def heard(metric: dict[str, Any]) -> None:
        """What is logged after each update."""
        ended = float(metric["returned_episode"])
        if not ended:
            return
        mean = float(metric["ended"]) / ended
        tell(seconds=time.perf_counter() - begun, steps=int(metric["env_step"]), mean=mean)
        if mean >= settings["mark"]:
            os._exit(0)  # from within their loop

    key = jax.random.PRNGKey(settings["seed"])
    train = jax.jit(baseline.make_train(config)).lower(key).compile()
    compiled = time.perf_counter() - begun
    tell(compiled=compiled, jax=jax.__version__, device=jax.devices()[0].device_kind)
    jax.block_until_ready(train(key))
    jax.effects_barrier()  # the last they log


def fetch_baseline(name: str) -> dict[str, dict[str, str]]:
    """Download the files of one baseline, unless they are there; where each is from, and what."""
    HOME.mkdir(parents=True, exist_ok=True)
    files = {}
    for path, commit in BASELINES[name].items():
        url, file = URL.format(commit=commit, path=path), HOME / Path(path).name
        if not file.exists():
            try:
                with urllib.request.urlopen(url, timeout=30) as answer:
                    content = answer.read()
            except (urllib.error.URLError, TimeoutError) as error:
                raise SystemExit(
                    f"JaxMARL's baseline cannot be downloaded ({error}). "
                    f"Save {url} as {file}, then run this again."
                ) from error
            file.write_bytes(content)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        files[file.name] = {"url": url, "sha256": digest}
    return files


# ---- the parent ----------------------------------------------------------------------------------


def tell(**line: Any) -> None:
    print("told: " + json.dumps(line), flush=True)


def told(
    python: Path | str, role: str, settings: dict[str, Any], seconds: float | None = None
) -> Iterator[dict[str, Any]]:
    """What a fresh process tells, for at most so many seconds after it began."""
    environment = dict(os.environ, XLA_PYTHON_CLIENT_PREALLOCATE="false")
    kept = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), *([kept] if kept else [])])
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    if settings["device"]:
        # What the other side logs goes through the host, whose device must be known, too.
        device = settings["device"]
        environment["JAX_PLATFORMS"] = {"gpu": "cuda,cpu"}.get(device, device)
    command = [str(python), __file__, "--worker", role, json.dumps(settings)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT
    )
    assert process.stdout is not None
    late = threading.Event()

    def stop() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(seconds or threading.TIMEOUT_MAX, stop)
    timer.daemon = True
    try:
        for text in process.stdout:
            if not text.startswith("told: "):
                continue
            line = json.loads(text.removeprefix("told: "))
            if "begun" in line:
                timer.start()
            else:
                yield line
        if process.wait() and not late.is_set():
            raise SystemExit(f"learning.py {role} ended with status {process.returncode}")
    finally:
        timer.cancel()
        process.kill()
        process.wait()


def train(
    subject: str, python: Path | str, role: str, settings: dict[str, Any], minutes: float
) -> dict[str, Any]:
    """One run, until the mark is passed, the training is over or the time is up."""
    row: dict[str, Any] = {"subject": subject, "seed": settings["seed"], "compiled": None}
    row |= {"passed": None, "reached": None, "speed": None, "curve": []}
    latest = 0.0
    for line in told(python, role, settings, 60 * minutes):
        if "compiled" in line:
            row |= line
            print(f"{subject}: compiled in {line['compiled']:.1f} s", flush=True)
            continue
        if line["mean"] >= settings["mark"]:
            row["passed"] = line
        if row["reached"] is None or line["mean"] >= row["reached"]["mean"]:
            row["reached"] = line  # the best so far
        row["last"] = line
        row["speed"] = line["steps"] / max(line["seconds"] - row["compiled"], 1e-9)
        if row["passed"] or line["seconds"] > 1.1 * latest:  # enough to draw a curve from
            latest = line["seconds"]
            row["curve"].append([round(latest, 2), line["steps"], round(line["mean"], 1)])
            print(
                f"{subject}: {latest:6.1f} s {line['steps']:10,} steps return {line['mean']:6.1f}",
                flush=True,
            )
        if row["passed"]:
            break
    return row


def cells(row: dict[str, Any]) -> list[str]:
    """A row of the table."""
    passed, reached, last = row["passed"], row["reached"], row.get("last")
    if row["compiled"] is None:
        return [row["subject"], str(row["seed"]), "not in time", "", "", "", ""]
    if passed:
        outcome = [f"{passed['seconds']:.1f} s", f"{passed['seconds'] - row['compiled']:.1f} s"]
        outcome += [f"{passed['steps']:,}"]
    elif last:
        outcome = [f"not in {last['seconds']:.0f} s", f"best {reached['mean']:.0f}"]
        outcome += [f"{last['steps']:,}"]
    else:
        outcome = ["no episode ended", "", ""]
    speed = f"{row['speed']:,.0f}" if last else ""
    return [row["subject"], str(row["seed"]), f"{row['compiled']:.1f} s", *outcome, speed]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--layout", default="cramped_room")
    parser.add_argument("--mark", type=float, default=200.0, help="mean return to be passed")
    parser.add_argument("--seeds", type=int, default=1, help="runs of each side, one by one")
    parser.add_argument("--peer", choices=["jaxmarl"], help="train its baselines, too, in turns")
    parser.add_argument(
        "--baseline", nargs="+", choices=list(BASELINES), default=["ff"], help="which (ff)"
    )
    parser.add_argument("--peer-python", type=Path, help="an interpreter that has the peer")
    parser.add_argument("--minutes", type=float, default=6.0, help="longest run of one seed (6)")
    parser.add_argument("--no-parts", action="store_true", help="time no parts of an update")
    parser.add_argument("--device", choices=["cpu", "gpu", "tpu"], help="default: JAX's choice")
    parser.add_argument("--out", type=Path, default=RESULTS / "learning.json")
    args = parser.parse_args()

    where = machine()
    sides: dict[str, tuple[Path | str, str, dict[str, str]]]
    sides = {"manyhands": (sys.executable, "manyhands", {})}
    if args.peer:
        where["peer"] = {"packages": PEERS["jaxmarl_ippo"], "baselines": {}}
        for name in args.baseline:
            where["peer"]["baselines"][name] = fetch_baseline(name)
            python = args.peer_python or peer_python("jaxmarl_ippo")
            sides[f"jaxmarl {name}"] = (python, "jaxmarl", {"baseline": name})
    rows = []
    settings = {"layout": args.layout, "mark": args.mark, "device": args.device}
    for seed in range(args.seeds):
        for subject, (python, role, own) in sides.items():
            mine = settings | own | {"seed": seed}
            rows.append(train(subject, python, role, mine, args.minutes))
    parts = None
    if not args.no_parts:
        parts = next(told(sys.executable, "profile", settings | {"seed": 0}))

    columns = ["", "seed", "compiling", f"until {args.mark:g}", "without compiling", "env steps"]
    report(
        f"IPPO on {args.layout}, wall-clock, compiling included",
        [*columns, "env steps/s"],
        [cells(row) for row in rows],
    )
    if parts:
        whole = parts["parts"]["update"]
        shares = [
            [name, f"{1e3 * taken:.1f} ms", f"{100 * taken / whole:.0f} %"]
            for name, taken in parts["parts"].items()
        ]
        title = f"one update of ours ({parts['steps']:,} steps), its parts each alone"
        report(title, ["", "", "of the update"], shares)
    save(args.out, benchmark="learning", machine=where, rows=rows, profile=parts)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        sides_ = {"manyhands": worker, "profile": profile, "jaxmarl": peer_worker}
        sides_[sys.argv[2]](json.loads(sys.argv[3]))
    else:
        main()
