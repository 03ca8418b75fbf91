"""Hierarchical co-self-play in 3v3, and what it is compared with: trains, and plays the table in
docs/volleyball.md.

    python benchmarks/volleyball_hcsp.py                        # all of it
    python benchmarks/volleyball_hcsp.py --parts nash table     # some parts
    python benchmarks/volleyball_hcsp.py --seeds 1 2 --parts nash joint table

Parts, in order; each is kept in `runs/volleyball-hcsp/` (of seeds other than 0 in `seed-S/` there)
and not made twice, and a part that was stopped goes on with what it has:

    nash         two stages: PSRO over the team's options, mixed by the Nash equilibrium
    joint        three stages: a strategy of `nash` and corrections of the skills learn against the
                 mixture of `nash`, with a KL term
    joint-self   the same in self-play
    growth       each response of `nash` against the scripted teams
    best         a fresh best response to the mixture of `nash`: how much there is left to win
    fictitious   one network that learns against all of its past selves, drawn uniformly
    self-play    one network that learns against itself, over the team's options
    flat         one network that learns against itself, velocities of each drone, no skills
    uniform      PSRO as in `nash`, mixed uniformly
    table        all of these and the scripted teams against each other, those of one seed
    stack        with `--hits`: learned hits and strategies against scripted hits and strategies

With `--hits FOLDER` (of `volleyball_skills.py`) both teams have learned hits, and `nash`, `growth`,
`best` and `stack` are to be had, kept in `runs/volleyball-hits/`; each seed S has the hits of
`FOLDER/seed-S`.

With `--skills attack` all parts are to be had with the skills that attack, kept in
`runs/volleyball-hcsp-attack/`; what is measured goes to a file of its own.

No part has a teacher, and all networks begin untrained. Rows over options make as many choices as
`nash` may; `flat` as many steps of physics. Points last 30 s at most, as HCSP's; masses and the
ball's bounce are drawn for each point (2 % and 1 % to either side), since otherwise all points
begin alike. Everything measured goes to `benchmarks/results/volleyball-hcsp.json`, by seed; cells
that several seeds have played are joined there, as means over seeds (`over_seeds`).
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from common import RESULTS, ROOT, command_line, machine, points, save, wilson

import manyhands
from manyhands.baselines.evaluation import play_matches
from manyhands.baselines.evaluation.tables import INTERVAL, Estimate
from manyhands.baselines.learners.hcsp import Joint, finetune
from manyhands.baselines.learners.hits import LearnedCourt
from manyhands.baselines.learners.population import SelfPlayPool, SelfPlayPoolConfig
from manyhands.baselines.learners.ppo import PPO, PPOConfig
from manyhands.baselines.learners.presets import preset
from manyhands.baselines.learners.psro import (
    Population,
    PSROConfig,
    Response,
    exploitability,
    plain,
    psro,
)
from manyhands.baselines.players import network as policies
from manyhands.core.env import Array, DeviceView, Env, seed_key
from manyhands.core.registry import seat
from manyhands.envs.volleyball.practice import HITS
from manyhands.envs.volleyball.randomise import physics_of
from manyhands.envs.volleyball.rules import rotor_commands
from manyhands.wrappers.events import Events

DRAWN = {"mass": (0.98, 1.02), "restitution": (0.79, 0.81)}
COURT = {"task": "3v3", "max_steps": 1500, "randomise": DRAWN}
RESPONSES = 5
# Of physics: 29.7 where the fourth response of `nash` plays itself; the results have the last one.
STEPS_OF_A_CHOICE = 30
# Of the shaping terms, a strategy needs little: skills find the ball by themselves.
WEIGHTS = {"hit": 2.0, "approach": 0.1}
LEARNED = (
    "nash",
    "growth",
    "joint",
    "joint-self",
    "best",
    "fictitious",
    "self-play",
    "flat",
    "uniform",
)
OVER_HITS = ("nash", "growth", "best", "stack")  # with learned hits
SCRIPTS = {
    "plain": {"rules": "team", "rules, short": "team:attack=short"},
    "attack": {"rules": "team"},
}
SEED = 0


# ---- games ---------------------------------------------------------------------------------------


@functools.cache
def events(
    skills: str = "plain", hits: str = "", sides: tuple[bool, bool] = (True, True)
) -> Events:
    """Teams that choose options over these skills; with learned hits, those of this folder, on
    these sides."""
    settings: dict[str, Any] = {**COURT, "skills": skills, "reward_weights": WEIGHTS}
    if hits:
        court: Env = LearnedCourt(hits, sides=sides, **settings)
    else:
        court = manyhands.make("volleyball", **settings)
    game = manyhands.make("events", env=court, per="team")
    assert isinstance(game, Events)
    return game


@functools.cache
def joint(skills: str = "plain") -> Joint:
    """Teams that choose options, and correct what the skills do."""
    return Joint(events(skills))


@functools.cache
def velocities() -> Any:
    """Drones that choose velocities, with the published weights of all shaping terms: here a
    learner must find the ball itself."""
    return manyhands.make("volleyball", **COURT, actions="velocity", skills="plain")


class Common(Joint):
    """A game in which teams of all kinds meet, step by step: an action is an option, a number for
    each of its members' actions, and whether these are velocities (1) or corrections (0)."""

    def __init__(self, skills: str = "plain") -> None:
        super().__init__(events(skills))
        self.joint, self.flat = joint(skills), velocities()
        width = self.members * self.width
        high = np.array([len(self.events.table) - 1.0, *[1.0] * (width + 1)], np.float32)
        low = np.array([0.0, *[-1.0] * width, 0.0], np.float32)
        self.action_space = gymnasium.spaces.Box(low, high, dtype=np.float32)
        self.noop = np.zeros(width + 2, np.float32)

    def commands(self, state: Any, moves: Array, actions: Array) -> Array:
        by_skill = super().commands(state, moves, actions[:, :-1])
        asked = jnp.clip(actions[:, 1:-1], -1, 1).reshape(moves.shape)
        court: Any = self.env
        params = physics_of(court.setup, state.inner)
        flown = rotor_commands(self.flat.setup, params, state.inner, asked)
        own = jnp.repeat(actions[:, -1] > 0.5, self.members, axis=0)
        return jnp.where(own[:, None], flown, by_skill)


@functools.cache
def common(skills: str = "plain") -> Common:
    return Common(skills)


@dataclasses.dataclass(frozen=True)
class Team:
    """A player of another of these games as a team of `Common`.

    Attributes:
        policy: a device policy.
        kind: what it chooses: "options", "joint" or "velocities".
    """

    policy: Any
    kind: str

    def init(self, env: Any, agent: int) -> Any:
        return ()

    def apply(
        self, env: Any, agent: int, memory: Any, key: Array, view: DeviceView
    ) -> tuple[Array, Any]:
        zero = jnp.zeros(env.members * env.width)
        if self.kind == "options":  # one that is under way goes on, whatever is chosen
            every = dataclasses.replace(view, legal=jnp.ones_like(view.legal))
            option, _ = self.policy.apply(env.events, agent, (), key, every)
            return jnp.concatenate([option[None].astype(jnp.float32), zero, jnp.zeros(1)]), memory
        if self.kind == "joint":
            action, _ = self.policy.apply(env.joint, agent, (), key, view)
            return jnp.concatenate([action, jnp.zeros(1)]), memory
        own = []
        for member in range(env.members):
            row, mine = view.perception[member], jax.random.fold_in(key, member)
            seen = DeviceView(row, row, jnp.ones(1, bool), view.acting)
            own.append(self.policy.apply(env.flat, member, (), mine, seen)[0])
        return jnp.concatenate([jnp.zeros(1), *own, jnp.ones(1)]), memory


jax.tree_util.register_dataclass(Team, data_fields=["policy"], meta_fields=["kind"])


# ---- training ------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Budget:
    """Steps: choices of one response; choices of the fresh best response; steps of the third
    stage. Points of a cell of the table, on each side. The seed of it all. How many points the
    third stage plays at once. The folder of learned hits, "": all are scripted. Which skills."""

    response: int
    best: int
    joint: int
    points: int
    seed: int = SEED
    joint_envs: int = 256
    hits: str = ""
    skills: str = "plain"

    @property
    def game(self) -> Events:
        return events(self.skills, self.hits)

    @property
    def scripts(self) -> dict[str, str]:
        return SCRIPTS[self.skills]


def strategy_config(budget: Budget, solver: str) -> PSROConfig:
    # A check plays more points than four updates do; where no curve is wanted, one is enough.
    settings: dict[str, Any] = {
        **preset(budget.game, "ippo"),
        **preset(budget.game, "psro"),
        "meta_solver": solver,
        "start": ("",),
        "strategies": RESPONSES + 1,
        "total_steps": budget.response,
        "checks": 4 if solver == "nash" else 1,
        "matches": 50,
    }
    return PSROConfig(**settings)


def population(budget: Budget, folder: Path, solver: str) -> Population:
    config = strategy_config(budget, solver)
    return psro(budget.game, config, folder, budget.seed, resume=True, log=_say)


def _say(line: str) -> None:
    print(time.strftime("%H:%M:%S"), line, flush=True)


def about_population(made: Population, config: PSROConfig) -> dict[str, Any]:
    return {
        "mixture": dict(zip(made.league.names, made.mixture.tolist(), strict=True)),
        "wins": np.round(made.league.wins, 3).tolist(),
        "responses": list(made.history),
        "choices": sum(entry["steps"] for entry in made.history),
        "seconds": round(sum(entry["seconds"] for entry in made.history), 1),
        "config": dataclasses.asdict(config),
    }


def primitive_steps(made: Population, budget: Budget) -> float:
    """Steps of physics in a choice, when the newest strategy plays itself."""
    newest = [made.strategies[-1]] * 2
    match = play_matches(budget.game, newest, [(0, 1)], 200, budget.seed)[0]
    return float(match.metrics["primitive_steps"].sum() / match.lengths.sum())


def learn(learner: Any, folder: Path, seed: int) -> dict[str, Any]:
    """Train to the end, keep the policy; the curve and the time it took."""
    begun, curve = time.perf_counter(), []
    progress = jax.jit(learner.init)(seed_key(seed))
    update = jax.jit(learner.update, donate_argnums=0)
    every = max(1, learner.num_updates // 20)
    for done in range(1, learner.num_updates + 1):
        progress, metrics = update(progress)
        if done % every == 0 or done == learner.num_updates:
            names = ("return", "length", "metrics/crossings", "metrics/hits", "metrics/draws")
            line = {name: float(metrics[name]) for name in names if name in metrics}
            curve.append({"steps": done * learner.steps_per_update, **line})
            _say(json.dumps(curve[-1]))
    about = {
        "steps": learner.num_updates * learner.steps_per_update,
        "seconds": round(time.perf_counter() - begun, 1),
        "curve": curve,
        "config": dataclasses.asdict(learner.config),
    }
    policies.save(folder / "policy.safetensors", learner.policy(progress), about)
    return about


def train(part: str, budget: Budget, runs: Path) -> dict[str, Any]:
    """One part; what there is to say about it."""
    folder = runs / part
    folder.mkdir(parents=True, exist_ok=True)
    if part in ("nash", "uniform"):
        made = population(budget, folder, part)
        return about_population(made, strategy_config(budget, part)) | {
            "physics_steps_of_a_choice": primitive_steps(made, budget)
        }
    if part == "growth":
        return growth(budget, runs)
    if part == "stack":
        return stack(budget, runs)
    if part in ("joint", "joint-self"):
        return tuned(budget, folder, runs, itself=part == "joint-self")
    if part == "best":
        config = dataclasses.replace(
            strategy_config(budget, "nash"), total_steps=budget.best, checks=5, enough=1.0
        )
        made = population(budget, runs / "nash", "nash")
        response = exploitability(budget.game, made, config, budget.seed, _say)
        return about_response(response, made.mixture, config, folder)
    choices = RESPONSES * budget.response
    config = dataclasses.replace(strategy_config(budget, "nash"), total_steps=choices)
    if part == "self-play":
        return learn(PPO(budget.game, plain(config)), folder, budget.seed)
    if part == "fictitious":
        settings = dataclasses.asdict(plain(config))
        past = SelfPlayPoolConfig(**settings, partners=8, latest=0, snapshots=50)
        return learn(SelfPlayPool(budget.game, past), folder, budget.seed)
    flat: dict[str, Any] = {
        **preset(velocities(), "ippo"),
        **{"learning_rate": 1e-3, "discount": 0.998, "gae_lambda": 0.98, "noise": 0.3},
        "total_steps": choices * STEPS_OF_A_CHOICE,
    }
    return learn(PPO(velocities(), PPOConfig(**flat)), folder, budget.seed)


def tuned(budget: Budget, folder: Path, runs: Path, *, itself: bool) -> dict[str, Any]:
    """Stage 3, from the population of stage 2."""
    made = population(budget, runs / "nash", "nash")
    settings = {
        **dataclasses.asdict(strategy_config(budget, "nash")),
        **{"total_steps": budget.joint, "num_envs": budget.joint_envs},
        **{"num_steps": 256, "checks": 4},  # some 8 choices of each game in an update
        **{"learning_rate": 1e-3, "discount": 0.9995, "gae_lambda": 0.998, "noise": 0.1},
        **{"entropy": 0.01, "entropy_end": 1e-3, "enough": 1.0},
    }
    config = PSROConfig(**settings)
    key = seed_key(budget.seed)
    game = joint(budget.skills)
    response = finetune(
        game, made.strategies, made.mixture, config, key, KL, budget.seed, _say, itself=itself
    )
    return about_response(response, made.mixture, config, folder) | {
        "kl": KL,
        "reach": game.reach,
    }


KL = 0.05  # weight of the divergence from stage 2


def about_response(
    response: Response, mixture: np.ndarray, config: PSROConfig, folder: Path
) -> dict[str, Any]:
    about = {
        "wins": response.wins(mixture).to_dict(),
        "curve": [list(point) for point in response.curve],
        "steps": response.steps,
        "seconds": round(response.seconds, 1),
        "config": dataclasses.asdict(config),
    }
    policies.save(folder / "policy.safetensors", response.policy, about)
    return about


# ---- the table -----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Row:
    """A player of the table: some strategies and their chances, of one kind (see `Team`)."""

    strategies: tuple[Any, ...]
    mixture: np.ndarray
    kind: str

    def shared_out(self, blocks: int, rng: np.random.Generator) -> list[Any]:
        """Which strategy plays each block of points: as many as its chance, in random order."""
        ends = np.cumsum(self.mixture) / self.mixture.sum()
        at = (np.arange(blocks) + rng.random()) / blocks
        chosen = np.minimum(np.searchsorted(ends, at, side="right"), len(ends) - 1)
        return [self.strategies[k] for k in rng.permutation(chosen)]


def rows_of(budget: Budget, runs: Path, known: Sequence[str]) -> dict[str, Row]:
    """All that there is to play: learned, scripted, and the strategy that ships."""
    rows: dict[str, Row] = {}
    single = {"joint": "joint", "joint-self": "joint"}
    single |= {"fictitious": "options", "self-play": "options"}
    for part in ("joint", "joint-self", "nash", "uniform", "fictitious", "self-play", "flat"):
        if part not in known:
            continue
        if part in ("nash", "uniform"):
            made = population(budget, runs / part, part)
            rows[part] = Row(made.strategies, made.mixture, "options")
            continue
        kind = single.get(part, "velocities")
        path = runs / part / "policy.safetensors"
        # The joint game is none that `load` could check it against.
        games = {"joint": None, "options": budget.game, "velocities": velocities()}
        policy = policies.load(path, games[kind])
        rows[part] = Row((policy,), np.ones(1), kind)
    taught = Row((seat("psro", budget.game),), np.ones(1), "options")
    return rows | scripted(budget) | {"taught": taught}


def table(
    budget: Budget,
    runs: Path,
    known: Sequence[str],
    kept: dict[str, Any],
    keep: Callable[..., None],
) -> None:
    """Play all pairs that have not been played, on both sides; what was won, of the row's points,
    goes to `kept` as "row | column"."""
    rows = rows_of(budget, runs, known)
    names = list(rows)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    # Between those that were not trained here, another seed is no other match.
    pairs = [(a, b) for a, b in pairs if budget.seed == SEED or {a, b} & set(LEARNED)]
    pairs = [(a, b) for a, b in pairs if f"{a} | {b}" not in kept]
    by_options = [p for p in pairs if all(rows[name].kind == "options" for name in p)]
    rest = [p for p in pairs if p not in by_options]
    games: list[tuple[Env, list[tuple[str, str]]]] = [(budget.game, by_options)]
    # Some at a time: what has been played is kept.
    games += [(common(budget.skills), rest[k : k + 8]) for k in range(0, len(rest), 8)]
    for game, some in games:
        if some:
            begun = time.perf_counter()
            played = meet(game, rows, some, budget.points, budget.seed)
            for (a, b), (first, second) in zip(some, played, strict=True):
                kept[f"{a} | {b}"] = points(first, second)
                _say(f"{a} | {b}: {kept[f'{a} | {b}']['both']}")
            _say(f"{len(some)} cells in {time.perf_counter() - begun:.0f} s")
            keep({}, kept)


BLOCKS = 10  # of points, that mixtures are shared out over


def meet(
    game: Env,
    rows: dict[str, Row],
    pairs: Sequence[tuple[str, str]],
    count: int,
    seed: int,
    blocks: int = BLOCKS,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """What the first of each pair won, f64[count] on the near and on the far side: 1, 0 (a draw) or
    -1 a point."""
    rng = np.random.default_rng(seed)
    used = list(dict.fromkeys(name for pair in pairs for name in pair))
    shares = {name: rows[name].shared_out(blocks, rng) for name in used}
    place = {name: k for k, name in enumerate(used)}
    lineups = [(place[a], place[b]) for a, b in pairs]
    lineups += [(b, a) for a, b in lineups]
    found = []
    for block in range(blocks):
        players = [shares[name][block] for name in used]
        if isinstance(game, Common):
            players = [
                Team(player, rows[name].kind) for name, player in zip(used, players, strict=True)
            ]
        matches = play_matches(game, players, lineups, count // blocks, seed * BLOCKS + 1 + block)
        won = [np.sign(match.terms["win"][:, 0]) for match in matches]
        found.append(won)
    each = [np.concatenate(block) for block in zip(*found, strict=True)]
    half = len(pairs)
    return [(each[k], -each[half + k]) for k in range(half)]


def growth(budget: Budget, runs: Path) -> dict[str, Any]:
    """Points of each response of `nash` against the scripted teams, 200 on each side."""
    rows = {"new": Row((), np.ones(1), "options")} | scripted(budget)
    pairs = [("new", name) for name in budget.scripts]
    found = {}
    made = population(budget, runs / "nash", "nash")
    for name, strategy in zip(made.league.names[1:], made.strategies[1:], strict=True):
        rows["new"] = Row((strategy,), np.ones(1), "options")
        played = meet(budget.game, rows, pairs, 200, budget.seed, blocks=1)
        found[name] = {b: points(*won) for (_, b), won in zip(pairs, played, strict=True)}
        _say(f"{name}: { ({b: found[name][b]['both'] for b in found[name]}) }")
    return {"points": found}


def stack(budget: Budget, runs: Path) -> dict[str, Any]:
    """Points of teams with learned hits, which choose by the equilibrium of `nash` or as a script,
    against scripted teams with scripted hits, on both sides."""
    made = population(budget, runs / "nash", "nash")
    rows = {"two stages": Row(made.strategies, made.mixture, "options")}
    rows |= {f"learned, {name}": row for name, row in scripted(budget).items()}
    learners, found = list(rows), {}
    rows |= scripted(budget)
    pairs = [(name, script) for name in learners for script in budget.scripts]
    sides = [events(budget.skills, budget.hits, (near, not near)) for near in (True, False)]
    near = meet(sides[0], rows, pairs, budget.points, budget.seed)
    far = meet(sides[1], rows, pairs, budget.points, budget.seed)
    for (name, script), (first, _), (_, second) in zip(pairs, near, far, strict=True):
        found[f"{name} | {script}"] = points(first, second)
        _say(f"{name} | {script}: {found[f'{name} | {script}']['both']}")
    return {"points": found}


def scripted(budget: Budget) -> dict[str, Row]:
    players = {name: seat(script, budget.game) for name, script in budget.scripts.items()}
    return {name: Row((player,), np.ones(1), "options") for name, player in players.items()}


def shown(cells: dict[str, Any]) -> str:
    """The table in Markdown: points that the row won from the column, on both sides, in percent
    with Wilson's 95 % interval; and what is left to 100 was lost or drawn."""
    names = list(dict.fromkeys(name for pair in cells for name in pair.split(" | ")))
    won: dict[tuple[str, str], str] = {}
    for pair, cell in cells.items():
        (a, b), both = pair.split(" | "), cell["both"]
        count = both["points"]
        for one, other, share in ((a, b, both["won"]), (b, a, both["lost"])):
            low, high = wilson(round(share * count), count)
            won[one, other] = f"{100 * share:.0f} ({100 * low:.0f} to {100 * high:.0f})"
    return _grid(names, won)


def over_seeds(tables: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Cells that several seeds have played, as means over seeds with t-intervals: the shares of
    points, of both sides together, that the row of a seed won from the column of that seed, drew
    and lost; a seed counts once, however many points it played.

    Args:
        tables: of each seed, cells by "row | column" (see `common.points`).
    """
    joined: dict[str, Any] = {}
    for pair in dict.fromkeys(pair for cells in tables.values() for pair in cells):
        seeds = [seed for seed, cells in tables.items() if pair in cells]
        if len(seeds) > 1:
            both = [tables[seed][pair]["both"] for seed in seeds]
            shares = {
                name: Estimate.of([cell[name] for cell in both]).to_dict()
                for name in ("won", "drawn", "lost")
            }
            each = [round(cell["won"], 4) for cell in both]
            joined[pair] = {**shares, "seeds": seeds, "each": each}
    return joined


def shown_over_seeds(joined: dict[str, Any]) -> str:
    """The joined cells in Markdown, in percent: mean ± margin; and what is left to 100 was lost or
    drawn."""
    names = list(dict.fromkeys(name for pair in joined for name in pair.split(" | ")))
    won: dict[tuple[str, str], str] = {}
    for pair, cell in joined.items():
        a, b = pair.split(" | ")
        for one, other, share in ((a, b, cell["won"]), (b, a, cell["lost"])):
            margin = 100 * (share["high"] - share["mean"])
            won[one, other] = f"{100 * share['mean']:.0f} ± {margin:.0f}"
    return _grid(names, won)


def _grid(names: Sequence[str], won: dict[tuple[str, str], str]) -> str:
    lines = ["| won by | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for one in names:
        lines.append(f"| {one} | " + " | ".join(won.get((one, b), "") for b in names) + " |")
    return "\n".join(lines)


# ---- all of it -----------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=Path, help="by default runs/NAME of the results")
    parser.add_argument(
        "--out", type=Path, help="by default results/volleyball-hcsp, -hcsp-attack, or -hits"
    )
    parser.add_argument("--skills", choices=tuple(SCRIPTS), default="plain")
    parser.add_argument("--hits", type=Path, help="a folder of learned hits")
    parser.add_argument("--parts", nargs="+", choices=(*LEARNED, "stack", "table"))
    parser.add_argument("--response", type=int, default=122_880, help="choices of a response")
    parser.add_argument("--best", type=int, default=245_760, help="choices of the fresh response")
    parser.add_argument("--joint", type=int, default=16_777_216, help="steps of the third stage")
    parser.add_argument("--joint-envs", type=int, default=256, help="points it plays at once")
    parser.add_argument("--points", type=int, default=500, help="of a cell and side")
    parser.add_argument("--seeds", type=int, nargs="+", default=[SEED])
    options = parser.parse_args()
    if options.hits and options.skills != "plain":
        parser.error("--hits takes the place of plain skills: leave out --skills")
    name = "volleyball-hits" if options.hits else "volleyball-hcsp"
    name += "-attack" * (options.skills == "attack")
    options.runs = options.runs or ROOT / "runs" / name
    options.out = options.out or RESULTS / f"{name}.json"
    known = OVER_HITS if options.hits else (*LEARNED, "table")
    if wrong := set(options.parts or ()) - set(known):
        parser.error(f"{', '.join(sorted(wrong))}: not to be had here; take {', '.join(known)}")
    for seed in options.seeds if options.hits else ():
        folder = options.hits / f"seed-{seed}"
        if not any((folder / f"{hit}.safetensors").exists() for hit in HITS):
            parser.error(
                f"--hits is what volleyball_skills.py made: no hit ({', '.join(HITS)}, as "
                f".safetensors) is in {folder}"
            )
    for seed in options.seeds:
        budget = Budget(options.response, options.best, options.joint, options.points, seed)
        hits = str(options.hits / f"seed-{seed}") if options.hits else ""
        budget = dataclasses.replace(
            budget, joint_envs=options.joint_envs, hits=hits, skills=options.skills
        )
        runs = options.runs if seed == SEED else options.runs / f"seed-{seed}"
        for part in options.parts or known:
            kept = read(options.out)["seeds"].get(str(seed), {"parts": {}, "table": {}})
            if part == "table":
                keep_cells = functools.partial(keep, options.out, seed)
                table(budget, runs, list(kept["parts"]), kept["table"], keep_cells)
                print(shown(read(options.out)["seeds"][str(seed)]["table"]))
            elif part not in kept["parts"]:
                _say(f"{part} begins, seed {seed}")
                found = {"command": command_line(), **train(part, budget, runs)}
                keep(options.out, seed, {part: found}, {})
    if joined := read(options.out)["over_seeds"]:
        print(shown_over_seeds(joined))


def read(out: Path) -> dict[str, Any]:
    """What has been measured: of each seed its machine, parts and table, and what is joined."""
    return json.loads(out.read_text()) if out.exists() else {"seeds": {}, "over_seeds": {}}


def keep(out: Path, seed: int, new: dict[str, Any], cells: dict[str, Any]) -> None:
    """Add parts and cells of a seed to what has been measured."""
    seeds = read(out)["seeds"]  # read again: several runs may write to one file
    own = seeds.get(str(seed), {"parts": {}, "table": {}})
    seeds[str(seed)] = {
        "machine": machine(),
        "parts": own["parts"] | new,
        "table": own["table"] | cells,
    }
    seeds = dict(sorted(seeds.items(), key=lambda item: int(item[0])))
    joined = over_seeds({name: found["table"] for name, found in seeds.items()})
    save(out, seeds=seeds, over_seeds=joined, interval=INTERVAL)


if __name__ == "__main__":
    main()
