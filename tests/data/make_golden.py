"""Write `golden.jsonl.gz`: games as they were played at one commit, which `tests/test_golden.py`
plays again.

    cd CHECKOUT && python .../tests/data/make_golden.py            # adds the cases that it lacks
    cd CHECKOUT && python .../tests/data/make_golden.py --loops    # adds to golden_loops.json
    cd CHECKOUT && python .../tests/data/make_golden.py --texts    # names cases whose texts changed

The `manyhands` that is imported is the one of the current folder, so that an old checkout can write
what a new one has to match. One line of JSON a case: the line of the record, and of a state in the
middle its snapshot, digests of everything that agents and learners are given, and a digest of the
texts. Texts may be improved, so no test compares those. `golden_loops.json` holds digests of what
rollouts and vector environments gave.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# As in tests/conftest.py: fractions are rounded the same only if they are compiled the same.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, os.getcwd())

import jax
import jaxlib
import numpy as np

FILE = Path(__file__).parent / "golden.jsonl.gz"
LOOPS = Path(__file__).parent / "golden_loops.json"
SEED = 7
SPECIALISTS = {"players": 3, "size": 24, "roles": "specialists", "reward": "mixed"}
MAP = "TTWW..S\n.0.z..S\n..Bc.CO\n,k_<.1F"
NOISE = {"position_noise": [0.0, 0.02], "rate_noise": [0.01, 0.02]}
LATE = {"action_delay": [0, 2], "sensor_delay": [0, 1]}
BODIES = {"mass": [0.9, 1.1], "restitution": [0.7, 0.8]}
DUEL = {
    "points": 2,
    "lead": 1,
    "actions": "velocity",
    "randomise": {**BODIES, **LATE, **NOISE},
    "max_steps": 24,
}


def game(id: str, env: Any = None, **config: Any) -> dict[str, Any]:
    """A specification, as `build` takes it; `env` is what a wrapper wraps."""
    return {"id": id, "config": config, **({} if env is None else {"env": env})}


KITCHEN = game("kitchen", max_steps=40)
# name -> (specification, seats, steps of play)
CASES: dict[str, tuple[dict[str, Any], Any, int]] = {
    # ---- kitchens
    "kitchen": (KITCHEN, "random", 40),
    "kitchen, bots": (
        game("kitchen", layout="asymmetric_advantages", starts="random", observation="compact"),
        "greedy",
        60,
    ),
    "kitchen, three layouts": (
        game(
            "kitchen",
            layout=["cramped_room", "forced_coordination", "two_rooms"],
            starts="random",
            observation="compact",
        ),
        "random",
        24,
    ),
    "kitchen, features, manual": (
        game(
            "kitchen",
            layout="coordination_ring",
            starts="jaxmarl",
            view_radius=2,
            observation="features",
            dynamics="manual",
        ),
        "random",
        30,
    ),
    "kitchen, generated": (
        game("kitchen", layout="generated", num_levels=4, chefs=3, max_steps=24),
        "random",
        24,
    ),
    "kitchen, tomatoes": (
        game("kitchen", layout="counter_circuit_tomato", observation="features"),
        ["onion_only", "plate_only"],
        40,
    ),
    "kitchen, many chefs": (
        game("kitchen", layout="multiplayer_schelling", reward_weights={"dish_pickup": 0.7}),
        "random",
        24,
    ),
    # ---- cards
    "kuhn": (game("kuhn_poker"), "random", 8),
    "kuhn, three players": (game("kuhn_poker", players=3, hands=6), "random", 40),
    "kuhn, duplicate": (game("kuhn_poker", hands=8, duplicate=True), "random", 60),
    "kuhn, equilibrium": (game("kuhn_poker"), "equilibrium", 8),
    "leduc": (game("leduc_holdem"), "random", 20),
    "leduc, match": (game("leduc_holdem", hands=5, reward_weights={"win": 0.5}), "random", 60),
    "leduc, duplicate": (game("leduc_holdem", hands=4, duplicate=True), "random", 60),
    "leduc, cut": (game("leduc_holdem", hands=3, max_steps=7), "random", 20),
    # ---- boards
    "tic_tac_toe": (game("tic_tac_toe"), "random", 20),
    "tic_tac_toe, perfect": (game("tic_tac_toe"), ["perfect", "random"], 20),
    "connect_four": (game("connect_four"), "random", 50),
    "connect_four, small": (game("connect_four", rows=4, columns=5, connect=3), "random", 30),
    "connect_four, solver": (game("connect_four"), ["solver:depth=2", "random"], 12),
    # ---- negotiations
    "deal": (game("negotiation"), "random", 12),
    "deal, bots": (game("negotiation"), ["tit_for_tat", "boulware"], 12),
    "deal by offers": (
        game(
            "negotiation", protocol="offers", max_steps=24, discount=0.9, break_off=0.02, talk=False
        ),
        ["conceder", "random"],
        24,
    ),
    "trade": (game("negotiation", scenario="trade"), "random", 12),
    "trade, spiral": (game("negotiation", scenario="trade", preset="spiral"), "fair", 12),
    "trade, own goods": (
        game(
            "negotiation",
            scenario="trade",
            goods=["wood", "gold"],
            holdings=[[[2, 4], [2, 4]], [[2, 4], [2, 4]]],
            values=[[[1, 3], [2, 4]], [[1, 3], [2, 4]]],
            score="win",
            max_steps=20,
        ),
        "random",
        20,
    ),
    "buy and sell": (
        game("negotiation", scenario="buy_sell", discount=0.9, break_off=0.02),
        ["boulware", "conceder"],
        12,
    ),
    "ultimatum": (
        game("negotiation", scenario="ultimatum", rounds=3, outside=2, discount=0.9),
        "random",
        20,
    ),
    "divide": (game("negotiation", scenario="divide", players=4, parts=10), "random", 40),
    "divide, all agree": (
        game("negotiation", scenario="divide", vote="unanimity", rounds=3, parts=10),
        "fair",
        40,
    ),
    "commons": (
        game("negotiation", scenario="commons", players=3, months=5, values=[1, 3], collapse=0),
        "random",
        60,
    ),
    "commons, bots": (
        game("negotiation", scenario="commons", reward_weights={"survival": 0.3}),
        "fair",
        40,
    ),
    "donor": (game("negotiation", scenario="donor", rounds=4), "fair", 40),
    "donor, punishment": (
        game("negotiation", scenario="donor", players=3, punishment=True, discussion=0),
        "random",
        30,
    ),
    # ---- volleyball
    "volleyball 1v1": (game("volleyball"), "random", 30),
    "volleyball 1v1, bots": (game("volleyball"), "rally", 80),
    "volleyball 1v1, velocity, randomised": (game("volleyball", **DUEL), "random", 24),
    "volleyball 1v1, as published": (
        game("volleyball", actions="ctbr", rules="volleybots", drag=True, downwash=True),
        "random",
        30,
    ),
    "volleyball 1v1, mujoco": (
        game("volleyball", physics="mujoco", ball="real", actions="velocity"),
        "random",
        20,
    ),
    "volleyball 3v3": (game("volleyball", task="3v3", points=3), "random", 30),
    "volleyball hit": (game("volleyball", task="hit"), "random", 40),
    "volleyball set_and_spike_hard": (
        game("volleyball", task="set_and_spike_hard", actions="velocity"),
        "random",
        30,
    ),
    # ---- CraftWorld
    "craftworld": (game("craftworld"), "random", 40),
    "craftworld, specialists": (
        game(
            "craftworld",
            players=2,
            size=[16, 20],
            roles="specialists",
            observation="compact",
            reward="mixed",
            max_steps=40,
        ),
        "random",
        40,
    ),
    "craftworld, crafter": (game("craftworld", rules="crafter", size=24), "survivor", 40),
    "craftworld, a map with a beacon": (
        game(
            "craftworld",
            rules={"name": "crafter", "slots": [12], "plants": 4},
            map=MAP,
            start={"inventory": {"wood": 5, "stone": 2}, "vitals": {"energy": 5}},
            joint="beacon",
            world=[{"name": "brief days", "day_length": 20}, {"name": "usual"}],
            spawning=True,
            max_steps=24,
            reward_weights={"joint": 0.3},
        ),
        "random",
        24,
    ),
    "craftworld, goals": (
        game(
            "chat",
            game(
                "craftworld",
                players=2,
                size=16,
                goal=["collect wood", "everyone: collect drink", "eat cow"],
                compass=True,
                observation="compact",
            ),
        ),
        "crew",
        60,
    ),
    "craftworld, a bridge": (
        game("craftworld", **SPECIALISTS, joint="bridge", friendly_fire=True, death="final"),
        "random",
        30,
    ),
    "craftworld, pixels": (game("craftworld", size=16, observation="pixels"), "random", 16),
    # ---- missions
    "mission, foraging": (game("mission", scenario="foraging-8x8-2p-2f-coop"), "forager", 30),
    "mission, tag": (game("mission", scenario="tag"), "random", 30),
    "mission, cleanup": (game("mission", scenario="cleanup"), "random", 24),
    # ---- wrappers
    "chat": (game("chat", KITCHEN), "random", 24),
    "skills, kitchen": (game("skills", KITCHEN), "random", 24),
    "chat, skills": (game("chat", game("skills", KITCHEN)), "random", 16),
    "skills, craftworld": (game("skills", game("craftworld", size=16)), "random", 10),
    "skills, volleyball": (game("skills", game("volleyball")), "random", 4),
    "events, volleyball": (game("events", game("volleyball", max_steps=300)), "random", 4),
}
# How many steps into it a game is left to go on from its snapshot, as a case of its own.
FORKS = {"kitchen": 10, "leduc, match": 6, "connect_four": 5}


def build(spec: dict[str, Any]) -> Any:
    """What `game` specifies; by public names alone, which are those of any commit."""
    import manyhands

    inner = {"env": build(spec["env"])} if "env" in spec else {}
    return manyhands.make(spec["id"], **spec["config"], **inner)


def networks() -> dict[str, tuple[dict[str, Any], Any, int]]:
    """A case for every network that is shipped, in the environment that it was trained for."""
    import safetensors

    import manyhands

    folder = Path(manyhands.__file__).parent / "assets" / "policies"
    found = {}
    for path in sorted(folder.rglob("*.safetensors")):
        with safetensors.safe_open(str(path), framework="numpy") as file:
            spec = json.loads(file.metadata()["about"]).get("spec")
        if spec is None:  # a policy over texts, for several games
            continue
        _, _, algorithm = path.stem.rpartition("-")
        steps = 6 if spec["id"] == "events" else 40
        found[f"network {spec['id']}/{path.stem}"] = (spec, algorithm, steps)
    return found


def machine() -> list[str]:
    """Whatever fractions are rounded by: bits are only compared where this is the same."""
    names = [platform.machine()]
    cpu = Path("/proc/cpuinfo")
    if cpu.exists():
        lines = cpu.read_text().splitlines()
        names += [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return [*names[:2], jax.__version__, jaxlib.__version__, os.environ.get("XLA_FLAGS", "")]


def parts(env: Any, state: Any) -> dict[str, np.ndarray]:
    """Everything but texts that agents and learners are given of a state."""

    def read(state: Any) -> dict[str, Any]:
        return {
            "observe": env.observe(state),
            "perceive": env.perceive(state),
            "legal": env.legal(state),
            "acting": env.acting(state),
            "summary": env.summary(state),
        }

    return {name: np.asarray(value) for name, value in jax.device_get(jax.jit(read)(state)).items()}


def digest(*contents: bytes) -> str:
    return hashlib.blake2b(b"".join(contents), digest_size=16).hexdigest()


def digest_of(array: np.ndarray) -> str:
    """Of shape, dtype and numbers."""
    contents = np.ascontiguousarray(array)
    return digest(f"{contents.dtype} {contents.shape} ".encode(), contents.tobytes())


def texts_of(env: Any, state: Any) -> str:
    """A digest of all that is said of a state."""
    words = []
    for i in range(env.num_agents):
        words += [env.rules(i), env.describe(state, i), *env.choices(state, i)]
    return digest("\0".join(words).encode())


def middle_of(episode: Any, env: Any) -> tuple[int, Any]:
    """(step, state) in the middle of an episode."""
    from manyhands.core.record import frames

    step = max(len(episode.steps) // 2, 1)
    moments = list(frames(episode, env))
    return step, moments[step].frame.state


def row(name: str, spec: Any, seats: Any, steps: int, fork: bytes | None = None) -> dict[str, Any]:
    from manyhands.core.pack import snapshot
    from manyhands.core.play import play
    from manyhands.core.record import read

    env = build(spec)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record"
        play(
            env, seats, seed=SEED, max_steps=steps, fork=fork, record=path, progress=False
        )  # fmt: skip
        line = path.read_text()
        (episode,) = read(path)
    step, state = middle_of(episode, env)
    found = parts(env, state)
    content: dict[str, Any] = {
        "name": name,
        "record": line,
        "step": step,
        "snapshot": base64.b64encode(snapshot(env, state)).decode(),
        "digests": {part: digest_of(array) for part, array in found.items()},
        "texts": texts_of(env, state),
    }
    if not env.exact:  # for machines that round otherwise
        content["machine"] = machine()
        content["values"] = {
            part: array.ravel().tolist() for part, array in found.items() if array.dtype.kind == "f"
        }
    return content


def make_rows(made: dict[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The cases that are not made yet."""
    from manyhands.core.pack import snapshot
    from manyhands.core.play import play

    for name, (spec, seats, steps) in {**CASES, **networks()}.items():
        begin = time.perf_counter()
        if name not in made:
            yield row(name, spec, seats, steps)
        forked = f"{name}, from a snapshot"
        if name in FORKS and forked not in made:
            kept: list[bytes] = []
            env = build(spec)
            play(
                env,
                seats,
                seed=SEED,
                max_steps=FORKS[name],
                progress=False,
                on_step=lambda moment, env=env, kept=kept: kept.append(
                    snapshot(env, moment.frame.state)
                ),
            )
            yield row(forked, spec, seats, 12, kept[-1])
        print(f"{time.perf_counter() - begin:6.1f} s  {name}", flush=True)


# ---- loops ---------------------------------------------------------------------------------------

# name -> (specification, what plays, environments, steps)
ROLLOUTS: dict[str, tuple[dict[str, Any], Any, int, int]] = {
    "rollout kuhn": (game("kuhn_poker", hands=2), "random", 6, 30),
    "rollout leduc, seats": (game("leduc_holdem"), ["random", "random"], 6, 30),
    "rollout kitchen": (
        game("kitchen", max_steps=12, starts="random"),
        ["random", "greedy"],
        4,
        20,
    ),
    "rollout craftworld": (game("craftworld", size=16, max_steps=12), "random", 4, 20),
}
VECTORS: dict[str, tuple[str, dict[str, Any], str]] = {
    "vector leduc": ("leduc_holdem", {"hands": 2}, "SameStep"),
    "vector kitchen, next step": ("kitchen", {"max_steps": 9, "starts": "random"}, "NextStep"),
}


def rolled(name: str) -> dict[str, str]:
    """Digests of what a batched rollout kept."""
    import manyhands

    spec, seats, envs, steps = ROLLOUTS[name]
    found = manyhands.rollout(build(spec), seats, envs, steps, jax.random.key(SEED))
    track = found.trajectory
    names = "observation legal acting action reward terminated truncated"
    kept = {name: digest_of(np.asarray(getattr(track, name))) for name in names.split()}
    for name, values in {**track.terms, **track.metrics}.items():
        kept[f"of {name}"] = digest_of(np.asarray(values))
    return {**kept, "episodes": str(int(found.statistics.episodes))}


def stepped(name: str) -> dict[str, str]:
    """Digests of what a vector environment gave in 30 steps of legal actions."""
    import manyhands

    id, config, mode = VECTORS[name]
    env = manyhands.vector(id, 4, seed=SEED, autoreset_mode=mode, **config)
    observations, info = env.reset()
    kept: dict[str, list[Any]] = {"observations": [observations]}
    for t in range(30):
        legal = np.asarray(info["legal"])
        order = np.argsort(~legal, axis=-1, kind="stable")  # the legal ones first
        which = (t * 5 + np.arange(legal[..., 0].size).reshape(legal.shape[:2])) % np.maximum(
            legal.sum(-1), 1
        )
        actions = np.take_along_axis(order, which[..., None], -1)[..., 0]
        observations, reward, terminated, truncated, info = env.step(actions)
        made = {"observations": observations, "reward": reward, "legal": info["legal"]}
        made |= {"terminated": terminated, "truncated": truncated}
        for part, array in made.items():
            kept.setdefault(part, []).append(np.array(array))
    return {part: digest_of(np.stack(arrays)) for part, arrays in kept.items()}


def make_loops() -> None:
    """Add to the file what it lacks of what loops over batches gave."""
    found = json.loads(LOOPS.read_text()) if LOOPS.exists() else {"machine": machine()}
    for make, names in ((rolled, ROLLOUTS), (stepped, VECTORS)):
        for name in names:
            if name not in found:
                found[name] = make(name)
                LOOPS.write_text(json.dumps(found, indent=1) + "\n")
                print(name, flush=True)


def changed_texts() -> list[str]:
    """The cases of the file whose texts are others today."""
    from manyhands.core.pack import restore

    found = []
    for content in read_rows()[1:]:
        env = build(json.loads(content["record"].splitlines()[0])["env"])
        state = restore(env, base64.b64decode(content["snapshot"]))
        if texts_of(env, state) != content["texts"]:
            found.append(content["name"])
    return found


def read_rows() -> list[dict[str, Any]]:
    """What the file holds: first where it was made, then the cases."""
    with gzip.open(FILE, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--texts", action="store_true", help="only name what reads otherwise")
    parser.add_argument("--loops", action="store_true", help="only add to golden_loops.json")
    options = parser.parse_args()
    if options.loops:
        make_loops()
        return
    if options.texts:
        print("\n".join(changed_texts()) or "no text has changed")
        return
    contents = read_rows() if FILE.exists() else [{"machine": machine()}]
    for content in make_rows({content["name"]: content for content in contents[1:]}):
        contents.append(content)
        lines = "".join(json.dumps(content) + "\n" for content in contents)
        FILE.write_bytes(gzip.compress(lines.encode(), mtime=0))
    print(f"{FILE}: {len(contents) - 1} cases, {FILE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
