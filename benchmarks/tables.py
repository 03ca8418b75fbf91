"""Poker and board games, in batches and one at a time.

    python benchmarks/tables.py --peer pgx open_spiel textarena pettingzoo

Batches: env steps a second of `manyhands.rollout` with random legal actions, the observations of
both players written at each step, beside pgx's games (with its wrapper for automatic resets) and
OpenSpiel's in a Python loop. One at a time, through PettingZoo's AEC API: Kuhn poker in words,
beside TextArena's with its default wrappers, over many resets; Leduc hold'em with vectors, beside
PettingZoo's own. And how long a snapshot of Kuhn poker takes, and to restore it.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import Any

from common import (
    PEERS,
    RESULTS,
    Slot,
    Worker,
    aec_game,
    interleave,
    is_worker,
    machine,
    peer_python,
    play_games,
    rate,
    report,
    save,
    serve,
    summary,
)

GAMES = ("kuhn_poker", "leduc_holdem", "tic_tac_toe", "connect_four")
OPEN_SPIEL = {"leduc_holdem": "leduc_poker"}
PEER_NAMES = ("pgx", "open_spiel", "textarena", "pettingzoo")
HANDS = 3  # of a match in words, as in TextArena's `KuhnPoker-v0`
RESETS = 1_000
WARM_UP = 500  # games, before single games are measured
BATCH, TEXT, VECTOR = "batch", "kuhn_poker in words", "leduc_holdem with vectors"
SNAPSHOT, RESTORE = "snapshot of kuhn_poker", "restore of kuhn_poker"


# ---- our side: the worker ------------------------------------------------------------------------


def worker() -> None:
    import jax
    import numpy as np

    import manyhands
    from manyhands.baselines.learners.speed import LOADS
    from manyhands.core.pack import stepper
    from manyhands.envs import poker

    policy = LOADS["observed"]
    carries: dict[Any, Any] = {}
    rng = random.Random(0)

    def batch(game: str, num_envs: int, num_steps: int, seconds: float) -> dict[str, Any]:
        env = manyhands.make(game)
        slot = (game, num_envs)

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
        space: Any = env.observation_space
        size = env.num_agents * int(np.prod(space.shape)) * space.dtype.itemsize
        return {"rate": rate(once, seconds) if seconds else 0.0, "bytes": size}

    kuhn = poker.env("kuhn_poker", hands=HANDS, observe="text")
    leduc = poker.env("leduc_holdem")

    def say(observation: str, info: Any) -> str:
        """A random action in words: with 2 chips in the pot, nobody has bet."""
        free = observation.rpartition("Pot: ")[2].startswith("2 ")
        return rng.choice(("check", "bet") if free else ("fold", "call"))

    def pick(observation: Any, info: Any) -> int:
        return rng.choice(np.flatnonzero(info["action_mask"]).tolist())

    def text(seconds: float = 0.0, games: int = 0) -> dict[str, Any]:
        return play_games(lambda: aec_game(kuhn, say), seconds, games)

    def vector(seconds: float = 0.0) -> dict[str, Any]:
        return play_games(lambda: aec_game(leduc, pick), seconds)

    def warm() -> dict[str, Any]:
        """Games until most steps of these small games have been remembered."""
        play_games(lambda: aec_game(kuhn, say), 0, WARM_UP)
        return play_games(lambda: aec_game(leduc, pick), 0, WARM_UP)

    hand = manyhands.make("kuhn_poker")
    state = stepper(hand).reset(jax.random.key(0)).state
    saved = manyhands.snapshot(hand, state)

    def snapshots(seconds: float) -> dict[str, Any]:
        def hundred() -> int:
            for _ in range(100):
                manyhands.snapshot(hand, state)
            return 100

        return {"rate": rate(hundred, seconds)}

    def restores(seconds: float) -> dict[str, Any]:
        def hundred() -> int:
            for _ in range(100):
                manyhands.restore(hand, saved)
            return 100

        return {"rate": rate(hundred, seconds)}

    def about() -> dict[str, Any]:
        device = jax.local_devices()[0]
        return {
            "jax": jax.__version__,
            "manyhands": manyhands.__version__,
            "platform": device.platform,
            "device": device.device_kind,
        }

    answers: dict[str, Any] = {
        BATCH: batch,
        TEXT: text,
        VECTOR: vector,
        SNAPSHOT: snapshots,
        RESTORE: restores,
        "about": about,
        "warm": warm,
    }
    serve(lambda what, **request: answers[what](**request))


# ---- the parent ----------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", nargs="+", default=GAMES, choices=GAMES, help="in batches")
    parser.add_argument("--envs", type=int, nargs="+", default=[64, 1024, 4096])
    parser.add_argument(
        "--peer", nargs="+", default=[], choices=PEER_NAMES, help="measure these too, in turns"
    )
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="length of one repeat")
    parser.add_argument("--device", choices=["cpu", "gpu", "tpu"], help="default: JAX's choice")
    parser.add_argument("--out", type=Path, default=RESULTS / "tables.json")
    args = parser.parse_args()

    where = machine()
    workers = {"manyhands": Worker("tables.py", device=args.device)}
    where |= workers["manyhands"].ask(what="about")
    for name in args.peer:
        python, device = peer_python(name), args.device if name == "pgx" else None
        workers[name] = Worker(f"peer_{name}.py", python, device)
    if args.peer:
        where["peers"] = {name: PEERS[name] for name in args.peer}

    requests: dict[Slot, dict[str, Any]] = {}
    for game in args.games:
        for envs in args.envs:
            steps = max(64, min(4096, 2**18 // envs))
            request = {"game": game, "num_envs": envs, "num_steps": steps}
            requests["manyhands", f"{BATCH} {game}", envs] = {"what": BATCH, **request}
            if "pgx" in args.peer:
                requests["pgx", f"{BATCH} {game}", envs] = request
        if "open_spiel" in args.peer:
            name = OPEN_SPIEL.get(game, game)
            requests["open_spiel", f"{BATCH} {game}", 1] = {"what": "play", "game": name}
    for what, peer in ((TEXT, "textarena"), (VECTOR, "pettingzoo")):
        requests["manyhands", what, 1] = {"what": what}
        if peer in args.peer:
            requests[peer, what, 1] = {}
    for what in (SNAPSHOT, RESTORE):
        requests["manyhands", what, 1] = {"what": what}

    workers["manyhands"].ask(what="warm")
    sizes = {}  # of the observation; this compiles, too
    for slot, request in requests.items():
        sizes[slot] = workers[slot[0]].ask(**request, seconds=0).get("bytes")

    def measure(slot: Slot) -> float:
        return workers[slot[0]].ask(**requests[slot], seconds=args.seconds)["rate"]

    figures = interleave(requests, measure, args.repeats)
    # The peer takes minutes for one run, and its trend is no matter of noise.
    resets = {
        name: [workers[name].ask(**requests[name, TEXT, 1], games=RESETS) for _ in range(runs)]
        for name, runs in (("manyhands", 3), ("textarena", 1))
        if (name, TEXT, 1) in requests
    }
    for one in workers.values():
        one.close()

    rows, table = [], []
    for (subject, what, envs), values in figures.items():
        row: dict[str, Any] = {"subject": subject, "what": what, "envs": envs}
        if what in (SNAPSHOT, RESTORE):
            row |= {"unit": "us", **summary([1e6 / value for value in values], min)}
            shown = [f"{row[k]:.1f} µs" for k in ("best", "median")]
        else:
            row |= {"unit": "steps/s", **summary(values)}
            shown = [f"{row[k]:,.0f} /s" for k in ("best", "median")]
        if sizes[subject, what, envs]:
            row["bytes_per_step"] = sizes[subject, what, envs]
        times = []
        for peer in args.peer if subject == "manyhands" else ():
            base = figures.get((peer, what, envs)) or figures.get((peer, what, 1))
            if base:
                row[f"times_{peer}"] = row["best"] / max(base)
                times.append(f"{row[f'times_{peer}']:.2f} {peer}")
        rows.append(row)
        table.append([subject, what, str(envs), *shown, ", ".join(times)])
    for subject, runs in resets.items():
        for run in runs:
            row = {"subject": subject, "what": f"{RESETS} games of {TEXT}", "unit": "steps/s"}
            rows.append(row | run | {"last_over_first": run["last"] / run["first"]})
            shown = [f"{run[k]:,.0f} /s" for k in ("rate", "first", "last")]
            told = f"first 100: {shown[1]}, last 100: {shown[2]}"
            table.append([subject, f"{RESETS} games of {TEXT}", "1", shown[0], "", told])
    title = f"tables: {where['cpu']} ({where['cores']} cores)"
    report(title, ["", "what", "envs", "best", "median", "times"], table)
    settings = {
        "repeats": args.repeats,
        "seconds": args.seconds,
        "hands_in_words": HANDS,
        "warm_up_games": WARM_UP,
    }
    save(args.out, benchmark="tables", machine=where, settings=settings, rows=rows)


if __name__ == "__main__":
    worker() if is_worker() else main()
