"""Zero-shot coordination in the kitchen: methods of learning, and partners that they have not met.

    python benchmarks/kitchen_zero_shot.py members fcp evaluate --layouts cramped_room

Parts are made once and kept in `runs/zero-shot/`, one folder for each layout, so that the command
may be stopped and repeated; the tables of `evaluate` go to `results/kitchen-zero-shot.json`:

- `members`: six agents that learn in self-play, with their first, middle and last checkpoints.
- `fcp`: three learners whose partners are all of these (Strouse et al. 2021), and, beyond that
  paper, the last ones again with their choices made more random; in some layouts (`COLD_IN`) also
  the first ones with theirs made certain: arbitrary habits. They begin with the networks of three
  members.
- `fcp-lapses`: the same, but that the checkpoints, and the learners, act at random for a part of
  the time, instead of being made more random or more certain.
- `lapses`: three learners in self-play with partners that are the learner itself, as it is and as
  it was, and that act at random for a part of the time (much as in E3T, Yan et al. 2023), from
  random start cells.
- `skills`: `lapses`, and beside these partners some that follow skills drawn at random
  (`--others`): they walk as greedy chefs do, but choose without a plan what for.
- `memory`: the same with recurrent networks, which see from what happened whom they are with.
- `tastes`: the same again beside such partners from fickle to stubborn (`random_skills:tastes=T`).
- `hsp`: three learners by hidden-utility self-play (`manyhands/baselines/learners/hsp.py`): they
  begin as `lapses` do, and go on beside agents of their own that are paid for other things.
- `mep`: three learners that meet a population whose members are paid for being different
  (`manyhands/baselines/learners/mep.py`), each a population of its own; `mep-even`: partners are
  drawn evenly; `mep-alone`: learners do not meet themselves.
- `cec`: two learners in self-play in 4,000 generated kitchens, none of which is a layout, that read
  the observation "routes"; `cec-lapses`: the same beside partners that lapse.
- `clones`: two networks cloned from games of greedy chefs that slip, as partners.
- `bound`: three learners for each held-out partner, with that partner alone; they begin with the
  networks of `mep`.
- `others`: MAPPO, VDN and QMIX.
- `evaluate`: points of an episode, of each policy with itself, with the other policies of its
  method, and with each held-out partner and each clone in both seats; `reader`: beside the player
  that goes by the text alone. The policies that come with the package are measured as well. With
  `--methods`, all others are measured beside clones only.
- `elsewhere`: what `cec` gets in generated kitchens, those that it learned in and others.

- `ship`: of `lapses`, `skills` or `tastes`, whichever has most with held-out partners, and of
  `hsp`, the seed that plays best with the other seeds comes with the package.

Intervals are over policies, or, where there is a single one, over episodes; t-distributed, at 95 %.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import RESULTS, ROOT, machine, report, save

LAYOUTS = (
    "cramped_room",
    "coordination_ring",
    "asymmetric_advantages",
    "forced_coordination",
    "counter_circuit",
)
RUNS = ROOT / "runs" / "zero-shot"
MEMBERS, SEEDS = 6, 3
SHIPPED = ROOT / "manyhands" / "assets" / "policies" / "kitchen"
STAGES = ("first", "middle", "last")
HOT, COLD = 0.3, 1000.0  # what the last layers of such partners are multiplied with
COLD_IN = ("asymmetric_advantages", "forced_coordination")
NETWORK = {"width": 32, "activation": "relu"}
MEMBER = {"total_steps": 960_000, "epochs": 2, "learning_rate": 4e-3}
MEMBER_IN = {
    "forced_coordination": {"total_steps": 1_920_000, "team_shaping": True},
    "counter_circuit": {"total_steps": 1_920_000},
}
LEARNER = {
    "total_steps": 2_400_000,
    "num_envs": 192,
    "num_steps": 50,
    "epochs": 2,
    "learning_rate": 2e-3,
    "shaping_share": 0.3,
    "start_player": "",
}


CO_PLAY = LEARNER | {
    "num_envs": 216,
    "entropy": 0.02,
    "entropy_end": 0.0,
    "shaping": (("pot_placement", 1.0), ("dish_pickup", 2.0), ("soup_pickup", 3.0)),
    "lapses": 0.9,
    "own_lapses": 0.1,
    "lapse_steps": 10,
}
CO_PLAY_IN = {"forced_coordination": {"lapses": 0.5, "team_shaping": True}}
# Steps of each learner beside partners by random skills, and how many of these there are.
SKILLED = {"forced_coordination": (32_000_000, 6), "coordination_ring": (8_000_000, 4)}
SKILLED_ELSE = (6_000_000, 4)
REMEMBERING = (20_000_000, 6)  # the same of those with recurrent networks
TASTES = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)  # of partners by random skills, from fickle to stubborn
TASTED = {"forced_coordination": 20_000_000, "coordination_ring": 8_000_000}
AGREE = 0.7  # of what seeds have with themselves, they have at least with each other
GENERATED = "generated"
# As large as the five layouts, and as varied; none of them is among these.
KITCHENS = {
    "layout": GENERATED,
    "num_levels": 4000,
    "observation": "routes",
    "generator": {
        "width": (5, 9),
        "height": (4, 5),
        "onions": (1, 2),
        "dishes": (1, 2),
        "pots": (1, 2),
        "servings": (1, 2),
        "openness": (0.3, 1.0),
        "divided": 0.2,
    },
}
ELSEWHERE = KITCHENS | {"num_levels": 400, "level_seed": 1}  # that nobody learned in
CEC_SEEDS = 2
CEC: dict[str, Any] = {
    "total_steps": 3_000_000,
    "num_envs": 128,
    "num_steps": 50,
    "epochs": 2,
    "learning_rate": 3e-3,
    "entropy": 0.02,
    "entropy_end": 0.0,
    "width": 64,
    "reads": "vector",
    "normalise": True,
    "pool": 4096,
    "shaping": (("pot_placement", 1.0), ("dish_pickup", 2.0), ("soup_pickup", 3.0)),
    "shaping_share": 0.7,
    "team_shaping": True,
}
CEC_LAPSES = CEC | {"lapses": 0.5, "own_lapses": 0.1, "lapse_steps": 10}
BOUND = {"total_steps": 480_000, "num_envs": 96, "entropy_end": 0.0}
# Of small networks and few steps, as the members are.
SMALL = ("--width", "32", "--activation", "relu", "--epochs", "2", "--learning-rate", "4e-3")
OTHERS = {
    "mappo": (3, ("--total-steps", "1200000", *SMALL)),
    "vdn": (2, ("--total-steps", "2000000", "--width", "64", "--minibatches", "8")),
    "qmix": (2, ("--total-steps", "2000000", "--width", "64", "--minibatches", "8")),
}
# Clones are of chefs that plan and at times slip, beside others that do half of the work.
CLONED, BESIDE = "greedy:noise=0.1", ("onion_only", "plate_only")
BESIDE_IN = {"forced_coordination": ("greedy",)}  # where one alone can serve nothing
RECORDED, TRAINED, CLONES = 20, ("--epochs", "30"), 2  # episodes with each of these
BEST = "best response"
KITCHEN_COLUMNS = ("training", "held_out_kitchens")
READERS = ("self-play", "shipped ippo", "shipped self_play_pool", "cec", "cec-lapses")


# ---- learning ------------------------------------------------------------------------------------


def learn(
    make: Callable[[Any], Any],
    pool: Any,
    keys: Any,
    marks: Any,
    label: str,
    mapped: bool = False,
    start: Any = None,
) -> tuple[list[Any], np.ndarray, Any]:
    """All learners at once, one for each key, in one compiled program: their policies
    [marks][...] and returns f32[marks, keys] after so many updates, and their parameters.

    Args:
        make: the PPO of a pool of partners, or of a part of it for each key where `mapped`.
        start: parameters [keys, ...] to begin with, of the actor, or of the critic as well.
    """
    import jax
    import jax.numpy as jnp

    over = 0 if mapped else None

    def begin(pool: Any, key: Any) -> Any:
        return make(pool).init(key)

    def advance(pool: Any, progress: Any, last: Any) -> Any:
        def once(_: Any, at: Any) -> Any:
            progress, last = at
            progress, metrics = make(pool).update(progress)
            found = metrics["return"]
            return progress, jnp.where(jnp.isnan(found), last, found)

        return once(0, (progress, last))

    def several(pool: Any, progress: Any, last: Any, count: Any) -> Any:
        each = jax.vmap(advance, (over, 0, 0))
        return jax.lax.fori_loop(0, count, lambda _, at: each(pool, *at), (progress, last))

    several = jax.jit(several, donate_argnums=(1, 2))
    players = jax.jit(jax.vmap(lambda pool, progress: make(pool).player(progress), (over, 0)))
    progress = jax.jit(jax.vmap(begin, (over, 0)))(pool, keys)
    if start is not None:
        start = jax.tree_util.tree_map(jnp.array, start)
        progress = dataclasses.replace(progress, params=progress.params | start)
    last, policies, returns, done = jnp.zeros(len(keys)), [], [], 0
    began = time.perf_counter()
    for mark in marks:
        progress, last = several(pool, progress, last, int(mark) - int(done))
        done = mark
        policies.append(jax.device_get(players(pool, progress)))
        returns.append(np.asarray(last))
        seconds = time.perf_counter() - began
        print(f"{label}: update {mark}, {seconds:.0f} s, {np.round(returns[-1])}", flush=True)
    return policies, np.array(returns), jax.device_get(progress.params)


def folder(layout: str) -> Path:
    return RUNS / layout


def kitchen(layout: str) -> Any:
    import manyhands

    return manyhands.make("kitchen", **(KITCHENS if layout == GENERATED else {"layout": layout}))


def keep(layout: str, name: str, policy: Any, card: dict[str, Any]) -> None:
    """One policy as a file, labelled as that of the layout."""
    from manyhands.baselines.players import network

    labelled = dataclasses.replace(policy, spec=kitchen(layout).spec(), algorithm=name)
    folder(layout).mkdir(parents=True, exist_ok=True)
    network.save(folder(layout) / f"{name}.safetensors", labelled, card)


def load(layout: str, *names: str) -> list[Any]:
    from manyhands.baselines.players import network

    env = kitchen(layout)
    return [network.load(folder(layout) / f"{name}.safetensors", env) for name in names]


def there(layout: str, *names: str) -> bool:
    return all((folder(layout) / f"{name}.safetensors").exists() for name in names)


def row(tree: Any, *index: int) -> Any:
    import jax

    return jax.tree_util.tree_map(lambda leaf: leaf[index], tree)


def stacked(policies: Sequence[Any]) -> Any:
    import jax

    return jax.tree_util.tree_map(lambda *leaves: np.stack(leaves), *policies)


def settings(layout: str, **changed: Any) -> Any:
    from manyhands.baselines.learners.ppo import PPOConfig
    from manyhands.baselines.learners.presets import preset

    return PPOConfig(**{**preset(kitchen(layout), "ippo"), **NETWORK, **changed})


def members(layout: str) -> None:
    """Self-play of all members, and three checkpoints of each."""
    import jax
    import safetensors.numpy

    from manyhands.baselines.learners.ppo import PPO
    from manyhands.baselines.players import network

    names = [f"{stage}-{i}" for stage in STAGES for i in range(MEMBERS)]
    if there(layout, *names):
        return
    config = settings(layout, **MEMBER | MEMBER_IN.get(layout, {}))
    ppo = PPO(kitchen(layout), config)
    marks = [0, *np.linspace(0, ppo.num_updates, 13).round().astype(int)[1:]]
    keys = jax.random.split(jax.random.key(0), MEMBERS)
    began = time.perf_counter()
    policies, returns, params = learn(lambda _: ppo, (), keys, marks, f"{layout} members")
    card = {"settings": dataclasses.asdict(config), "seconds": time.perf_counter() - began}
    for i in range(MEMBERS):
        middle = 1 + int(np.abs(returns[1:-1, i] - returns[-1, i] / 2).argmin())
        for stage, mark in zip(STAGES, (0, middle, -1), strict=True):
            facts = card | {"updates": int(marks[mark]), "return": float(returns[mark, i])}
            keep(layout, f"{stage}-{i}", row(policies[mark], i), facts)
    tensors = network.tensors_of(params)  # critics included, for learners to begin with
    safetensors.numpy.save_file(tensors, folder(layout) / "params.safetensors")


def first_members(layout: str, chosen: Sequence[int]) -> Any:
    """The parameters of some members, [chosen, ...]."""
    import safetensors.numpy

    from manyhands.baselines.players import network

    tensors = safetensors.numpy.load_file(folder(layout) / "params.safetensors")
    return network.tree_of({name: leaf[list(chosen)] for name, leaf in tensors.items()})


def tempered(policy: Any, factor: float) -> Any:
    """The same with logits multiplied, so that it chooses more at random, or less."""
    import jax

    def scaled(path: Any, leaf: Any) -> Any:
        head = f"Dense_{policy.network.layers}" in jax.tree_util.keystr(path)
        return leaf * np.float32(factor) if head else leaf

    return jax.tree_util.tree_map_with_path(scaled, policy)


def fcp(layout: str) -> None:
    """Learners with all members as partners, and with more random and more certain ones."""
    partners = checkpoints(layout)
    tempers = [tempered(policy, HOT) for policy in partners[-MEMBERS:]]
    changed = dict(LEARNER)
    if layout in COLD_IN:
        tempers += [tempered(policy, COLD) for policy in partners[:MEMBERS]]
        changed |= {"total_steps": 2_000_000, "num_envs": 240}
    co_play(layout, "fcp", [*partners, *tempers], changed)


def fcp_lapses(layout: str) -> None:
    """Learners with all members as partners, which lapse, as the learner does."""
    co_play(layout, "fcp-lapses", checkpoints(layout), CO_PLAY | CO_PLAY_IN.get(layout, {}))


def checkpoints(layout: str) -> list[Any]:
    return load(layout, *(f"{stage}-{i}" for stage in STAGES for i in range(MEMBERS)))


def co_play(layout: str, method: str, partners: Sequence[Any], changed: dict[str, Any]) -> None:
    """Learners with partners, from the networks of the first members on."""
    import jax

    from manyhands.baselines.learners.population import lapses_of, spread, with_networks
    from manyhands.baselines.learners.ppo import PPO

    names = [f"{method}-{seed}" for seed in range(SEEDS)]
    if there(layout, *names):
        return
    env = kitchen(layout)
    pool = stacked(partners)
    lapsing = {name: changed.pop(name, 0) for name in ("lapses", "own_lapses", "lapse_steps")}
    shares = spread(lapsing["lapses"], MEMBERS) * (len(partners) // MEMBERS)
    lapses = lapses_of(env, shares, lapsing["own_lapses"], lapsing["lapse_steps"] or 1)
    team = changed.pop("team_shaping", False)
    config = settings(layout, **changed)

    def make(pool: Any) -> Any:
        return PPO(with_networks(env, config.num_envs, pool, lapses, team), config)

    updates = config.total_steps // (config.num_envs * config.num_steps)
    marks = np.linspace(0, updates, 9).round().astype(int)[1:]
    keys = jax.random.split(jax.random.key(1), SEEDS)
    began = time.perf_counter()
    start = first_members(layout, range(SEEDS))
    policies, returns, _ = learn(make, pool, keys, marks, f"{layout} {method}", start=start)
    shown = dataclasses.asdict(config) | lapsing | {"team_shaping": team}
    card = {"settings": shown, "seconds": time.perf_counter() - began}
    for i, name in enumerate(names):
        keep(layout, name, row(policies[-1], i), card | {"return": float(returns[-1, i])})


def lapses(layout: str) -> None:
    """Learners with themselves, lapsing, as the presets have it."""
    train(layout, "lapses", "--algorithm", "self_play_pool", starts="random")


def skills(layout: str) -> None:
    """Learners as those of `lapses`, beside chefs that follow skills drawn at random as well."""
    steps, count = SKILLED.get(layout, SKILLED_ELSE)
    beside_skills(layout, "skills", steps, ["random_skills"] * count)


def memory(layout: str) -> None:
    """The same with recurrent networks."""
    steps, count = REMEMBERING
    beside_skills(layout, "memory", steps, ["random_skills"] * count, "--recurrent")


def tastes(layout: str) -> None:
    """The same beside partners some of whom like hardly anything better than the rest, and others
    little but one thing."""
    partners = [f"random_skills:tastes={taste}" for taste in TASTES]
    steps = TASTED.get(layout, SKILLED_ELSE[0])
    beside_skills(layout, "tastes", steps, partners, "--recurrent")


def beside_skills(layout: str, name: str, steps: int, partners: Sequence[str], *flags: str) -> None:
    blocks = 2 * (8 + len(partners))
    train(layout, name, "--algorithm", "self_play_pool", *flags,
          "--others", " ".join(partners), "--own-lapses", "0.25",
          "--num-envs", str(256 // blocks * blocks), "--total-steps", str(steps),
          starts="random")  # fmt: skip


def hsp(layout: str) -> None:
    """Learners beside agents with hidden utilities, as the presets have it."""
    train(layout, "hsp", "--algorithm", "hsp", starts="random")


def mep(layout: str) -> None:
    """Learners beside a maximum-entropy population, as the presets have it."""
    train(layout, "mep", "--algorithm", "mep", starts="random")


def mep_even(layout: str) -> None:
    """The same, but that partners are drawn evenly."""
    train(layout, "mep-even", "--algorithm", "mep", "--priority", "0", starts="random")


def mep_alone(layout: str) -> None:
    """The same, but that learners do not meet themselves, as in the paper."""
    train(layout, "mep-alone", "--algorithm", "mep", "--selves", "0", starts="random")


def train(layout: str, name: str, *flags: str, seeds: int = SEEDS, **options: str) -> None:
    """Policies of all seeds by the command line."""
    out = folder(layout) / name
    if not (out / f"policy-{seeds - 1}.safetensors").exists():
        game = ("kitchen", f"layout={layout}", *(f"{k}={v}" for k, v in options.items()))
        command("train", *game, "--seeds", str(seeds), "--resume", "--episodes", "4",
                "--out", str(out), *flags)  # fmt: skip


def cec(_: str) -> None:
    """Cross-environment training: self-play in generated kitchens, for all layouts alike."""
    across("cec", "ippo", CEC)


def cec_lapses(_: str) -> None:
    """The same with partners that are the learner, as it is and as it was, and that lapse."""
    across("cec-lapses", "self_play_pool", CEC_LAPSES)


def across(name: str, algorithm: str, changed: dict[str, Any]) -> None:
    from manyhands.baselines.learners import training

    out = folder(GENERATED) / name
    if (out / f"policy-{CEC_SEEDS - 1}.safetensors").exists():
        return
    env = kitchen(GENERATED)
    config = training.default_config(env, algorithm)
    learner = training.make_learner(env, algorithm, dataclasses.replace(config, **changed))
    said = f"benchmarks/kitchen_zero_shot.py {name}"
    training.train(learner, CEC_SEEDS, out, resume=True, episodes=20, command=said)


def clones(layout: str) -> None:
    """Networks that learn from recorded games what a greedy chef that slips does."""
    import manyhands

    out = folder(layout) / "clones"
    if (out / f"policy-{CLONES - 1}.safetensors").exists():
        return
    folder(layout).mkdir(parents=True, exist_ok=True)
    game = manyhands.make("kitchen", layout=layout, starts="random")
    beside = BESIDE_IN.get(layout, BESIDE)
    records = [folder(layout) / f"beside-{partner}.jsonl" for partner in beside]
    for partner, record in zip(beside, records, strict=True):
        if not record.exists():
            seats = [CLONED, partner]
            manyhands.play(game, seats, episodes=RECORDED, seed=1, rotate=True, record=record)
    command("train", "kitchen", f"layout={layout}", "starts=random", "--algorithm", "bc", "--seeds",
            str(CLONES), *TRAINED, "--data", *map(str, records), "--players", CLONED,
            "--out", str(out), "--resume", "--episodes", "4")  # fmt: skip


def others(layout: str) -> None:
    """Other learners, with small budgets."""
    for algorithm, (seeds, flags) in OTHERS.items():
        train(layout, algorithm, "--algorithm", algorithm, *flags, seeds=seeds)


def command(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "manyhands", *words], check=True, cwd=ROOT)


def bound(layout: str) -> None:
    """Best responses to each held-out partner, from the networks of `mep` on. Partners of one
    program learn at once."""
    import jax

    from manyhands.baselines.evaluation.matches import Lineup, split
    from manyhands.baselines.evaluation.scores import held_out, players
    from manyhands.baselines.learners.population import Partnered, pairing
    from manyhands.baselines.learners.ppo import PPO
    from manyhands.baselines.players import network

    env, names = kitchen(layout), list(held_out(kitchen(layout)))
    policies, _ = players(env, list(held_out(env).values()))
    files = [folder(layout) / "mep" / f"policy-{seed}.safetensors" for seed in range(SEEDS)]
    first = [network.load(file) for file in files]
    shape = {"width": first[0].network.width, "activation": first[0].network.activation}
    config = settings(layout, **LEARNER | BOUND | shape)
    programs: dict[Any, list[int]] = {}
    for i, policy in enumerate(policies):
        programs.setdefault(split(policy)[0], []).append(i)
    for program, chosen in programs.items():
        cases = [(i, seed) for i in chosen for seed in range(SEEDS)]
        if there(layout, *(responses(names[i])[seed] for i, seed in cases)):
            continue

        def make(arrays: Any, program: Any = program) -> Any:
            rows = tuple(leaf[None] for leaf in arrays)
            lineup = Lineup((program,), ((0, 0),), pairing(env, config.num_envs, 1))
            return PPO(Partnered(env, lineup, (rows,)), config)

        arrays = stacked([split(policies[i])[1] for i, _ in cases])
        keys = jax.random.split(jax.random.key(3), len(cases))
        marks = np.linspace(0, config.total_steps // (config.num_envs * config.num_steps), 5)
        start = {"actor": stacked([first[seed].params["network"] for _, seed in cases])}
        made, returns, _ = learn(
            make,
            arrays,
            keys,
            marks.round().astype(int)[1:],
            f"{layout} bound {', '.join(names[i] for i in chosen)}",
            mapped=bool(arrays),
            start=start,
        )
        for k, (i, seed) in enumerate(cases):
            card = {"return": float(returns[-1, k])}
            keep(layout, responses(names[i])[seed], row(made[-1], k), card)


def responses(partner: str) -> list[str]:
    """The files of the best responses to a partner."""
    return [f"bound-{partner}-{seed}" for seed in range(SEEDS)]


# ---- measuring -----------------------------------------------------------------------------------


def estimate(values: Any) -> dict[str, Any]:
    from manyhands.baselines.evaluation.tables import Estimate

    return Estimate.of(np.asarray(values, float)).to_dict()


def methods_of(layout: str, env: Any, chosen: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """The policies there are, by method and name; only those of chosen methods, if any are."""
    from manyhands.baselines.players import network

    def numbered(where: Path, seeds: int = SEEDS) -> list[Path]:
        return [where / f"policy-{seed}.safetensors" for seed in range(seeds)]

    found = {"self-play": [folder(layout) / f"last-{i}.safetensors" for i in range(MEMBERS)]}
    for name in ("fcp", "fcp-lapses"):
        found[name] = [folder(layout) / f"{name}-{seed}.safetensors" for seed in range(SEEDS)]
    for name in ("cec", "cec-lapses"):
        found[name] = numbered(folder(GENERATED) / name, CEC_SEEDS)
    for name in ("lapses", "skills", "memory", "tastes", "hsp", "mep", "mep-even", "mep-alone"):
        found[name] = numbered(folder(layout) / name)
    for name, (seeds, _) in OTHERS.items():
        found[name] = numbered(folder(layout) / name, seeds)
    for name in ("ippo", "self_play_pool", "hsp"):
        found[f"shipped {name}"] = [SHIPPED / f"{layout}-{name}.safetensors"]
    return {
        method: {
            f"{method} {i}": dataclasses.replace(network.load(file), spec=env.spec())
            for i, file in enumerate(files)
        }
        for method, files in found.items()
        if all(file.exists() for file in files) and (not chosen or method in chosen)
    }


def seen(layout: str) -> Any:
    """The kitchen in which policies are compared: what the others read does not depend on the
    observation, and those of generated kitchens need theirs."""
    import manyhands

    return manyhands.make("kitchen", layout=layout, observation=KITCHENS["observation"])


def both_orders(env: Any, policies: dict[str, Any], pairs: Any, episodes: int) -> Any:
    """f64[episodes]: points with a pair of them, by name, averaged over both orders; a function."""
    from manyhands.baselines.evaluation.matches import play_matches

    number = {name: i for i, name in enumerate(policies)}
    lineups = [(number[a], number[b]) for pair in pairs for a, b in (pair, pair[::-1])]
    matches = play_matches(env, [*policies.values()], list(dict.fromkeys(lineups)), episodes, 0)
    points = {match.players: match.returns.mean(axis=1) for match in matches}

    def both(mine: str, theirs: str) -> np.ndarray:
        a, b = number[mine], number[theirs]
        return (points[a, b] + points[b, a]) / 2

    return both


def over(group: dict[str, Any], points: Callable[[str], np.ndarray]) -> dict[str, Any]:
    """An estimate over policies of their mean points; of a single one over its episodes."""
    each = [points(name) for name in group]
    return estimate(each[0] if len(each) == 1 else [one.mean() for one in each])


def evaluate(layout: str, episodes: int, chosen: Sequence[str]) -> dict[str, Any]:
    """Of each method: self-play, cross-play, and the held-out partners; of those that are not
    chosen, if any are, only what they get beside clones."""
    from manyhands.baselines.evaluation.scores import held_out, players
    from manyhands.baselines.players import network

    env = seen(layout)
    methods = methods_of(layout, env)
    scripted, _ = players(env, list(held_out(env).values()))
    strangers = dict(zip(held_out(env), scripted, strict=True))
    files = [folder(layout) / "clones" / f"policy-{seed}.safetensors" for seed in range(CLONES)]
    cloned = {f"clone {i}": network.load(f, env) for i, f in enumerate(files) if f.exists()}
    everyone = {name: p for group in methods.values() for name, p in group.items()}
    everyone |= strangers | cloned
    bounds = {}
    for name in held_out(env) if not chosen or BEST in chosen else ():
        if there(layout, *responses(name)):
            bounds |= dict.fromkeys(responses(name), name)
            everyone |= zip(responses(name), load(layout, *responses(name)), strict=True)
    whole = [method for method in methods if not chosen or method in chosen]
    pairs = [(name, name) for name in cloned]
    for method, group in methods.items():
        others = (*group, *strangers, *cloned) if method in whole else (*cloned,)
        pairs += [(mine, theirs) for mine in group for theirs in others]
    both = both_orders(env, everyone, [*pairs, *bounds.items()], episodes)

    def mean(mine: str, theirs: Sequence[str]) -> np.ndarray:
        return np.mean([both(mine, name) for name in theirs], axis=0)

    found: dict[str, Any] = {}
    for method in whole:
        group = methods[method]
        found[method] = {
            "self_play": over(group, lambda mine: both(mine, mine)),
            "held_out": over(group, lambda mine: mean(mine, [*strangers])),
            "held_out_by_policy": [float(mean(mine, [*strangers]).mean()) for mine in group],
            "episodes": episodes,
            "partners": {
                name: over(group, lambda mine, name=name: both(mine, name)) for name in strangers
            },
        }
        found[method] |= learned(layout, method)
        if len(group) > 1:
            crosses = [
                float(mean(mine, [other for other in group if other != mine]).mean())
                for mine in group
            ]
            found[method] |= {"cross_play": estimate(crosses), "cross_play_by_policy": crosses}
    if cloned:
        for method, group in methods.items():
            beside = over(group, lambda mine: mean(mine, [*cloned]))
            found[method] = found.get(method, {}) | {"clones": beside}
        found["clones"] = {"self_play": over(cloned, lambda mine: both(mine, mine))}
    if bounds:
        points = {
            name: [float(both(mine, name).mean()) for mine in responses(name)]
            for name in dict.fromkeys(bounds.values())
        }
        found[BEST] = {
            "partners": {name: estimate(each) for name, each in points.items()},
            "held_out": estimate(np.mean([*points.values()], axis=0)),
            "episodes": episodes,
        }
    return found


def learned(layout: str, method: str) -> dict[str, Any]:
    """How the policies of a method were learned, where the command line did it here."""
    card = folder(layout) / method / "policy-0.json"
    if not card.exists():
        return {}
    facts = json.loads(card.read_text())
    training = {name: facts[name] for name in ("steps", "seconds", "compile_seconds")}
    return {"learned": {"command": facts["command"].replace(f"{ROOT}/", ""), **training}}


def reader(layout: str, episodes: int, chosen: Sequence[str]) -> dict[str, Any]:
    """Of each method, beside the player that goes by the text alone; few episodes: it is slow."""
    from manyhands.baselines.evaluation import zero_shot

    env = seen(layout)
    found = {}
    for method, group in methods_of(layout, env, chosen or READERS).items():
        some = dict([*group.items()][:SEEDS])
        played = {
            name: zero_shot(env, policy, ["reader"], episodes, 0).returns.mean(axis=(0, 1))
            for name, policy in some.items()
        }
        found[method] = {"reader": over(some, played.__getitem__)}
    return found


def elsewhere(_: str, episodes: int, chosen: Sequence[str]) -> dict[str, Any]:
    """Of what learned in generated kitchens: with itself there, and in such that it has not met;
    so many episodes in each, beside greedy chefs in the latter."""
    import manyhands
    from manyhands.baselines.evaluation import evaluate as played

    kitchens = {
        "training": kitchen(GENERATED),
        "held_out_kitchens": manyhands.make("kitchen", **ELSEWHERE),
    }
    found: dict[str, Any] = {}
    for where, env in kitchens.items():
        methods = methods_of(GENERATED, env, chosen or ("cec", "cec-lapses"))
        for method, group in methods.items():
            points = {
                name: played(env, policy, episodes).mean["return"].mean
                for name, policy in group.items()
            }
            found.setdefault(method, {})[where] = estimate([*points.values()])
    points = played(env, "greedy", episodes).matches[0].returns.mean(axis=1)
    found["greedy"] = {"held_out_kitchens": estimate(points)}
    return found


def ship(layout: str, results: dict[str, Any]) -> None:
    """Copy policies into the package, where there are runs: of `lapses`, `skills` or `tastes`, and
    of `hsp`, the seed that plays best with the other seeds. The method is the one that has most
    with held-out partners, of those whose seeds have at least 70 % of what they have with
    themselves when they play with each other."""
    from manyhands.baselines.players import network

    def held_out(method: str) -> float:
        found = results.get(method)
        if not found or found["cross_play"]["mean"] < AGREE * found["self_play"]["mean"]:
            return -1.0
        return float(found["held_out"]["mean"])

    for method in (max(("lapses", "skills", "tastes"), key=held_out), "hsp"):
        found = results.get(method, {})
        best = int(np.argmax(found.get("cross_play_by_policy", [0])))
        file = folder(layout) / method / f"policy-{best}.safetensors"
        if not found or not file.exists():
            continue
        card = json.loads(file.with_suffix(".json").read_text())
        card["command"] = card["command"].replace(f"{ROOT}/", "")
        figures = ("self_play", "cross_play", "held_out", "held_out_by_policy")
        figures += ("cross_play_by_policy",)
        card["zero_shot_of_all_seeds"] = {name: found[name] for name in figures}
        policy = network.load(file)
        network.save(SHIPPED / f"{layout}-{policy.algorithm}.safetensors", policy, card)


PARTS = {
    "members": members,
    "fcp": fcp,
    "fcp-lapses": fcp_lapses,
    "lapses": lapses,
    "skills": skills,
    "memory": memory,
    "tastes": tastes,
    "hsp": hsp,
    "mep": mep,
    "mep-even": mep_even,
    "mep-alone": mep_alone,
    "cec": cec,
    "cec-lapses": cec_lapses,
    "clones": clones,
    "bound": bound,
    "others": others,
}
MEASURED = {
    "evaluate": evaluate,
    "reader": reader,
    "elsewhere": elsewhere,
}
ONCE = ("cec", "cec-lapses", "elsewhere")  # for all layouts alike


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="+", choices=(*PARTS, *MEASURED, "ship"))
    parser.add_argument("--layouts", nargs="+", default=LAYOUTS, choices=LAYOUTS)
    parser.add_argument("--methods", nargs="+", default=(), help="what is measured, by default all")
    parser.add_argument("--episodes", type=int, default=20, help="of each pair, in each order")
    parser.add_argument("--out", type=Path, default=RESULTS / "kitchen-zero-shot.json")
    args = parser.parse_args()
    work = [(layout, part) for layout in args.layouts for part in args.parts if part not in ONCE]
    for layout, part in [*((GENERATED, part) for part in args.parts if part in ONCE), *work]:
        if part in PARTS:
            PARTS[part](layout)
            continue
        results = json.loads(args.out.read_text())["layouts"] if args.out.exists() else {}
        made = results.setdefault(layout, {})
        if part == "ship":
            ship(layout, made)
            continue
        for method, figures in MEASURED[part](layout, args.episodes, args.methods).items():
            made[method] = made.get(method, {}) | figures
        save(args.out, benchmark="kitchen_zero_shot", machine=machine(), layouts=results)
        shown = ["self_play", "cross_play", "held_out", "clones", "reader", *KITCHEN_COLUMNS]
        columns = [name for name in shown if any(name in row for row in made.values())]
        report(layout, ["", *columns], [[name, *cells(row, columns)] for name, row in made.items()])


def cells(figures: dict[str, Any], columns: Sequence[str]) -> list[str]:
    found = []
    for one in (figures.get(name) for name in columns):
        if one is None:
            found.append("")
        elif isinstance(one, dict):
            margin = "" if one["high"] is None else f" ± {one['high'] - one['mean']:.0f}"
            found.append(f"{one['mean']:.0f}{margin}")
        else:
            found.append(f"{one:.0f}")
    return found


if __name__ == "__main__":
    main()
