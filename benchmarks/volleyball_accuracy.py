"""How accurate volleyball's skills are: bump, set, serve, spike and block, by court and target.

    python benchmarks/volleyball_accuracy.py

One drone of the near team follows a skill from a situation in which players use it, drawn at
random around the places and flights of play; the others hover. After its touch the ball's flight is
computed to its end, and the drone is followed for another second and a half. Counted are
the situations in which the skill can be chosen (`offered`; all of them with `skills="plain"`): how
often the ball comes down in the court (of a set, and of the serve of 6v6: on the own half), how
often within 1 m of the
target besides, how often a spike leaves downwards, and how often the drone stays on its side.
Prints the tables of docs/volleyball.md.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from common import RESULTS, command_line, machine, save

from manyhands.envs.volleyball import Volleyball, flight, hits
from manyhands.envs.volleyball import skills as sk
from manyhands.envs.volleyball.physics import Bodies

TASKS = ("1v1", "3v3", "6v6")
SKILLS = {
    "serve": flight.SERVE,
    "bump": flight.BUMP,
    "set": flight.SET,
    "spike": flight.SPIKE,
    "block": flight.BLOCK,
}
STEPS, AFTER = 190, 75  # of a situation at most; after the touch
ASIDE = 1.0  # m, the height of the other team, beneath the ball that comes from their half
FARTHEST = 6.0  # m behind the net: of courts that are longer, the part that spikes reach
LEAST = 96  # situations of a skill that has few targets, so that its share is no accident
PLAYABLE = 0.6  # s, that a ball which a block has deadened stays above 1 m at least


def situations(env: Volleyball, skill: str, count: int, seed: int) -> dict[str, np.ndarray]:
    """place f[3, N] of the drone; ball and ball_velocity f[3, N]: where they are at first. In the
    near team's frame."""
    rng = np.random.default_rng([seed, TASKS.index(env.task), list(SKILLS).index(skill)])
    length, width = (side / 2 for side in env.plan.court)
    solo = env.team_size == 1

    def between(low: float, high: float) -> np.ndarray:
        return rng.uniform(low, high, count)

    def flight(begin: Any, end: Any, apex: Any) -> dict[str, np.ndarray]:
        """From one place through another, where it falls, up to `apex` m on the way."""
        up = np.sqrt(2 * 9.81 * (apex - begin[2]))
        time = (up + np.sqrt(2 * 9.81 * (apex - end[2]))) / 9.81
        return {
            "ball": np.stack(begin),
            "ball_velocity": np.stack([*((end[i] - begin[i]) / time for i in range(2)), up]),
        }

    level = np.zeros(count)
    if skill == "serve":
        x, y, z = env.plan.places[env.plan.server]
        x, y, z = x + between(-0.05, 0.05), y + between(-0.05, 0.05), z + between(-0.05, 0.05)
        ball = np.stack([x + between(-0.05, 0.05), y + between(-0.05, 0.05), z + env.plan.ball])
        return {"place": np.stack([x, y, z]), "ball": ball, "ball_velocity": np.zeros((3, count))}
    if skill == "bump":
        x, y = (0.45 if solo else 0.5) * length + level, between(-0.3, 0.3) * width
        end = x + between(-0.6, 0.6), y + between(-0.6, 0.6), level + 2
        begin = between(-0.7, -0.3) * length, between(-0.5, 0.5) * width, level + 2
        return {"place": np.stack([x, y, level + sk.READY])} | flight(begin, end, between(4, 5.5))
    if skill == "set":
        y = between(-0.5, 0.5) * width
        begin = between(0.4, 0.6) * length, between(-0.5, 0.5) * width, level + 2
        end = sk.SET_DEPTH + between(-0.2, 0.2), y, level + 3
        x, beside = sk.SET_DEPTH + between(-0.4, 0.4), y + between(-0.4, 0.4)
        place = np.stack([x, beside, level + sk.READY])
        return {"place": place} | flight(begin, end, between(4, 4.6))
    if skill == "spike":
        y, depth = between(-0.6, 0.6) * width, hits.JUMP if env.skills == "attack" else 3.0
        x = depth + between(-0.2, 0.2)
        beside = np.clip(y + between(-3, 3), -width, width)
        begin = (sk.SET_DEPTH + level, beside, level + 2)
        if solo:  # from the other half, as after "receive" or a high bump
            begin = between(-0.7, -0.3) * length, between(-0.5, 0.5) * width, level + 2
            x = between(0.8, 1.6)
        back = between(-0.7, -0.1) if solo else between(-0.3, 0.3)
        wait = np.maximum(x + back, 0.5), y + between(-0.4, 0.4), level + sk.READY
        return {"place": np.stack(wait)} | flight(begin, (x, y, level + 3), between(4.8, 5.4))
    # block: a spike from the other half, nearly straight at it; downwards, none comes as far as to
    # the end of the longest court.
    y, length = between(-0.5, 0.5) * width, min(length, FARTHEST)
    begin, fall = (-between(1.2, 1.8), y, between(3.1, 3.4)), between(0.65, 0.75)
    fall = fall + (0.2 if solo else 0.0)  # short courts allow no faster ones over the net
    end = between(0.5, 0.6) * length, y + between(-0.5, 0.5), level + 0.1
    speed = [(end[i] - begin[i]) / fall for i in range(2)]
    speed.append((end[2] - begin[2]) / fall + 9.81 / 2 * fall)
    across = y + between(-0.2, 0.2)
    x, z = hits.GUARD if env.skills == "attack" else (0.6, 2.55)
    return {
        "place": np.stack([level + x, across, level + z]),
        "ball": np.stack(begin),
        "ball_velocity": np.stack(speed),
    }


def tried(env: Volleyball, skills: sk.VolleyballSkills, starts: Any, chosen: np.ndarray) -> Any:
    """What came of it: for each situation whether the skill was offered, the ball's place and
    velocity after the touch (NaN without one), the least x of the drone afterwards, the lowest it
    came, and the goal."""
    count = len(chosen)
    base = env.place(served=True, ball=(0, 0, 3))
    state = jax.tree.map(lambda leaf: jnp.repeat(jnp.asarray(leaf)[..., None], count, -1), base)
    bodies: Bodies = state.bodies
    position = bodies.position.at[env.plan.server].set(bodies.position[0])
    position = position.at[0].set(jnp.asarray(starts["place"], jnp.float32))
    position = position.at[env.team_size :, 2].set(ASIDE)
    bodies = dataclasses.replace(
        bodies,
        position=position,
        ball=jnp.asarray(starts["ball"], jnp.float32),
        ball_velocity=jnp.asarray(starts["ball_velocity"], jnp.float32),
    )
    order = skills.order(jnp.asarray(chosen))
    serving = order.kind == flight.SERVE
    state = dataclasses.replace(
        state,
        bodies=bodies,
        served=~serving,
        server=jnp.zeros_like(state.server),
        turn=jnp.zeros_like(state.turn),
        possession=jnp.zeros_like(state.possession),
        touched=jnp.zeros_like(state.touched),
    )
    hover = jnp.asarray(2 * env.trim - 1)[..., None] + jnp.zeros(count)
    anchor = env.plan.places[0]
    home = [max(anchor[0], hits.JUMP), anchor[1], sk.READY]
    go = jnp.asarray(home, jnp.float32)[:, None] + jnp.zeros(count)

    def seen(state: Any) -> Any:
        return skills.parse_observation(env.perceive(state)[0])

    def step(carry: Any, _: Any) -> Any:
        state, after, since, nearest, lowest = carry
        hit = since < STEPS
        now = flight.Order(jnp.where(hit, flight.GO, order.kind), jnp.where(hit, go, order.goal))
        orders = hover.at[0].set(skills.follow(seen(state), now))
        bodies, touched = env.setup.advance(env.params, state.bodies, orders)
        first = (touched.racket[0] | touched.hull[0]) & ~hit
        ball = jnp.concatenate([bodies.ball, bodies.ball_velocity])
        after = jnp.where(first & touched.racket[0], ball, after)
        since = jnp.where(first, 0, jnp.where(hit, jnp.minimum(since + 1, STEPS - 1), since))
        watched = (since < AFTER) & (since < STEPS)
        nearest = jnp.where(watched, jnp.minimum(nearest, bodies.position[0, 0]), nearest)
        lowest = jnp.where(watched, jnp.minimum(lowest, bodies.position[0, 2]), lowest)
        steps = jnp.minimum(state.since.at[0].set(jnp.where(first, 0, state.since[0] + 1)), 1000)
        state = dataclasses.replace(state, bodies=bodies, since=steps.astype(state.since.dtype))
        return (state, after, since, nearest, lowest), None

    @jax.jit
    def play(state: Any) -> Any:
        possible = skills.possible(seen(state))
        number = jnp.arange(len(skills.names))[:, None] == jnp.asarray(chosen)
        far = jnp.full(count, 99.0)
        start = (state, jnp.full((6, count), jnp.nan), jnp.full(count, STEPS), far, far)
        _, after, _, nearest, lowest = jax.lax.scan(step, start, None, length=STEPS)[0]
        return jnp.any(possible & number, 0), after, nearest, lowest, order.goal

    return jax.device_get(play(state))


def judged(env: Volleyball, skills: sk.VolleyballSkills, skill: str, found: Any) -> dict[str, Any]:
    """The figures of one skill from rows of `tried`."""
    offered, after, nearest, lowest, goal = found
    length, width = (side / 2 for side in env.plan.court)
    body, ball, moves = skills.body, after[:3], after[3:]
    own = goal[0, 0] > 0  # a set, or the serve of 6v6: to the own half, at the height of its goal
    _, place = jax.device_get(flight.falls_to(body, ball, moves, goal[2]))
    with np.errstate(invalid="ignore", divide="ignore"):
        inside = (np.abs(place[0]) < length) & (np.abs(place[1]) < width)
        at_net = np.abs(ball[0] / moves[0])
        over = ball[2] + moves[2] * at_net - body.gravity / 2 * at_net**2 > body.net + body.radius
        across = (moves[0] < 0) & over & (place[0] < 0)
        inside &= place[0] > 0 if own else across
        miss = np.hypot(*(place[:2] - goal[:2]))
        met, stays = np.isfinite(after[0]), (nearest > 0) & (lowest > 0.3)
        left = (moves[2] + np.sqrt(moves[2] ** 2 + 2 * body.gravity * (ball[2] - 1))) / body.gravity
        ours = (place[0] > 0) & (np.abs(place[1]) < width) & (left > PLAYABLE)

    def share(mask: np.ndarray) -> float | None:
        return float(np.mean(mask[offered])) if offered.any() else None

    row = {
        "situations": len(offered),
        "offered": float(offered.mean()),
        "met": share(met),
        "in_court": share(met & inside),
        "in_court_within_1m": share(met & inside & (miss < 1)),
        "median_miss_m": float(np.median(miss[offered & met])) if (offered & met).any() else None,
        "stays": share(stays),
    }
    if skill == "spike":
        row["downwards"] = share(met & (moves[2] < 0))
        row["median_vz_m_s"] = float(np.median(moves[2][offered & met])) if row["met"] else None
    if skill == "block":
        row["returned"], row["deadened"] = share(met & inside), share(met & ours)
    return row


def measured(task: str, version: str, count: int, seed: int) -> list[dict[str, Any]]:
    """The rows of a court: each skill, altogether and by target."""
    env = Volleyball(task, skills=version)
    skills = env.skill_set()
    kinds = skills.kinds
    parts, chosen, names = [], [], []
    for skill, kind in SKILLS.items():
        rows = np.flatnonzero(kinds == kind)
        for row in rows:
            each = max(count, LEAST // len(rows))
            drawn = situations(env, skill, each, seed + int(row))
            parts.append(drawn)
            chosen += [row] * each
            names += [skill] * each
    starts = {name: np.concatenate([part[name] for part in parts], 1) for name in parts[0]}
    numbers, kind_of = np.array(chosen, np.int32), np.array(names)
    found = tried(env, skills, starts, numbers)
    measures = []
    for skill in SKILLS:
        masks = [("all", kind_of == skill)]
        own = np.unique(numbers[kind_of == skill])
        masks += [(skills.names[row], numbers == row) for row in own if len(own) > 1]
        for target, mask in masks:
            if mask.any():
                some = [np.asarray(part)[..., mask] for part in found]
                row = {"task": task, "skills": version, "skill": skill, "target": target}
                measures.append(row | judged(env, skills, skill, some))
    return measures


# ---- the tables of docs/volleyball.md ------------------------------------------------------------


def percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f}%"


def table(heads: list[str], cells: list[list[str]]) -> list[str]:
    """Lines of a Markdown table."""
    head, *lines = [f"| {' | '.join(line)} |" for line in (heads, *cells)]
    return [head, "|" + "---|" * len(heads), *lines]


def by_skill(rows: list[dict[str, Any]], version: str) -> list[str]:
    """The table of all targets together."""
    shares = {"offered": "offered", "met": "met", "in court": "in_court"}
    shares |= {"in court, within 1 m": "in_court_within_1m", "stays on its side": "stays"}
    cells = []
    for row in rows:
        if row["skills"] != version or row["target"] != "all":
            continue
        besides = ""
        if row["offered"] and row["skill"] == "spike":
            besides = f"{percent(row['downwards'])} go down"
            if row["median_vz_m_s"] < 0:
                besides += f", at {-row['median_vz_m_s']:.1f} m/s"
        if row["offered"] and row["skill"] == "block":
            besides = f"{percent(row['returned'])} returned, {percent(row['deadened'])} deadened"
        cells.append(
            [row["task"], row["skill"], *(percent(row[key]) for key in shares.values()), besides]
        )
    return table(["court", "skill", *shares, "besides"], cells)


def by_target(rows: list[dict[str, Any]], version: str) -> list[str]:
    """The table of each target: the share within 1 m of it, and that of the situations in which it
    is offered."""
    lines: dict[tuple[str, str, float], list[tuple[float, str]]] = {}
    for row in rows:
        if row["skills"] == version and row["target"] != "all":
            x, y = (float(part) for part in row["target"].split("(")[1].strip(")").split(",")[:2])
            share = percent(row["in_court_within_1m"])
            told = f"{share} of {percent(row['offered'])}" if share else ""
            lines.setdefault((row["task"], row["skill"], abs(x)), []).append((y, told))
    cells = [
        [task, skill, f"{x:g} m", *(told for _, told in sorted(found))]
        for (task, skill, x), found in lines.items()
    ]
    return table(["court", "skill", "from the net", "left", "middle", "right"], cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS)
    parser.add_argument("--skills", nargs="+", default=["plain", "attack"])
    counted = "of each skill and target, and more where a skill has few targets"
    parser.add_argument("--situations", type=int, default=64, help=counted)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS / "volleyball-accuracy.json")
    args = parser.parse_args()
    rows = []
    for task in args.tasks:
        for version in args.skills:
            rows += measured(task, version, args.situations, args.seed)
    for version in args.skills:
        print(f"\nskills={version!r}\n", *by_skill(rows, version), sep="\n")
    for version in args.skills:
        print(f"\nskills={version!r}, by target\n", *by_target(rows, version), sep="\n")
    settings = {"situations": args.situations, "seed": args.seed}
    about = {"command": command_line(), "machine": machine(), "settings": settings}
    save(args.out, benchmark="volleyball-accuracy", **about, rows=rows)


if __name__ == "__main__":
    main()
