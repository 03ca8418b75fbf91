"""How long the texts of every world are, and how fast, beside an earlier commit, in one run.

    python benchmarks/texts.py --against COMMIT

For each world, over states of random play: characters and tokens of `rules`, `describe` and
`choices`, and microseconds of `describe`, `choices` and `parse` (of a choice). Both checkouts see
the same states and take turns. Tokens are words, numbers and signs, about what a language model's
tokeniser makes of them.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
from pathlib import Path
from typing import Any

from common import RESULTS, ROOT, Worker, is_worker, machine, report, save, serve
from compare import checkout

WORLDS: dict[str, dict[str, Any]] = {
    "kitchen": {"id": "kitchen"},
    "kitchen, coordination ring": {"id": "kitchen", "config": {"layout": "coordination_ring"}},
    "kitchen, skills": {"id": "skills", "env": {"id": "kitchen"}},
    "kitchen, chat": {"id": "chat", "env": {"id": "kitchen"}},
    "kuhn_poker": {"id": "kuhn_poker"},
    "leduc_holdem": {"id": "leduc_holdem"},
    "tic_tac_toe": {"id": "tic_tac_toe"},
    "connect_four": {"id": "connect_four"},
    "deal_or_no_deal": {"id": "negotiation"},
    "buy_sell": {"id": "negotiation", "config": {"scenario": "buy_sell"}},
    "trade": {"id": "negotiation", "config": {"scenario": "trade"}},
    "commons": {"id": "negotiation", "config": {"scenario": "commons"}},
    "volleyball 1v1": {"id": "volleyball", "config": {"actions": "velocity"}},
    "volleyball 3v3": {"id": "volleyball", "config": {"task": "3v3", "actions": "velocity"}},
    "volleyball 1v1, events": {"id": "events", "env": {"id": "volleyball"}},
    "craftworld": {"id": "craftworld"},
    "craftworld, 3 players": {"id": "craftworld", "config": {"players": 3}},
    "craftworld, skills": {"id": "skills", "env": {"id": "craftworld"}},
}
TEXTS, TIMES = ("rules", "describe", "choices"), ("describe", "choices", "parse")
STATES, REPEATS = 24, 5


def worker() -> None:
    import time

    import jax
    import numpy as np
    from gymnasium.spaces import Box, Discrete

    import manyhands
    from manyhands.core.pack import stepper

    def make(spec: dict[str, Any]) -> Any:
        inner = {"env": make(spec["env"])} if "env" in spec else {}
        return manyhands.make(spec["id"], **spec.get("config", {}), **inner)

    def states(env: Any) -> list[tuple[Any, int]]:
        """(state, an agent to move) of random play."""
        rng, found, episode, step = np.random.default_rng(0), [], 0, stepper(env)
        space: Any = env.action_space
        while len(found) < STATES:
            key = jax.random.key(np.uint32(episode))
            data = np.asarray(jax.random.key_data(key))
            frame, episode = step.reset(key), episode + 1
            for t in range(40):
                movers = np.flatnonzero(frame.acting)
                if not len(movers) or len(found) >= STATES:
                    break
                if t % 3 == 0:
                    found.append((frame.state, int(movers[0])))
                rows = np.zeros((env.num_agents, *(space.shape or ())), space.dtype)
                for i in movers:
                    legal = np.asarray(frame.legal[i])
                    if isinstance(space, Box):
                        rows[i] = rng.uniform(space.low, space.high)
                    elif isinstance(space, Discrete):
                        rows[i] = rng.choice(np.flatnonzero(legal))
                    else:
                        masks = np.split(legal, np.cumsum(space.nvec)[:-1])
                        rows[i] = [rng.choice(np.flatnonzero(mask)) for mask in masks]
                frame = step.step(data, t, frame, rows)
        return found

    def measure(spec: dict[str, Any]) -> dict[str, Any]:
        env = make(spec)
        seen = states(env)
        texts: dict[str, list[str]] = {
            "rules": [str(env.rules(i)) for i in range(env.num_agents)],
            "describe": [env.describe(state, i) for state, i in seen],
            "choices": ["\n".join(env.choices(state, i)) for state, i in seen],
        }
        spent: dict[str, list[float]] = {name: [] for name in TIMES}
        first = [next(iter(env.choices(state, i))) for state, i in seen]
        calls = {
            "describe": [lambda s=s, i=i: env.describe(s, i) for s, i in seen],
            "choices": [lambda s=s, i=i: env.choices(s, i) for s, i in seen],
            "parse": [
                lambda s=s, i=i, w=w: env.parse(w, s, i)
                for (s, i), w in zip(seen, first, strict=True)
            ],
        }
        for _ in range(REPEATS):
            for name, all_of in calls.items():
                begin = time.process_time()
                for call in all_of:
                    call()
                spent[name].append((time.process_time() - begin) / len(all_of) * 1e6)
        return {
            "characters": {name: max(map(len, found)) for name, found in texts.items()},
            "tokens": {
                name: statistics.fmean(len(re.findall(r"\w+|[^\w\s]", text)) for text in found)
                for name, found in texts.items()
            },
            "microseconds": {name: min(values) for name, values in spent.items()},
        }

    serve(measure)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--against", required=True, metavar="COMMIT")
    parser.add_argument("--only", nargs="+", choices=tuple(WORLDS), default=WORLDS)
    parser.add_argument("--out", type=Path, help="by default results/texts.json")
    args = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    rows = []
    with checkout(args.against) as tree:
        commit = tree.name
        workers = {
            who: Worker(__file__, device="cpu", root=root)
            for who, root in (("before", tree), ("now", ROOT))
        }
        for world in args.only:
            found = {who: one.ask(spec=WORLDS[world]) for who, one in workers.items()}
            rows.append({"world": world, **found})
        for one in workers.values():
            one.close()

    def cell(row: dict[str, Any], what: str, name: str) -> str:
        return f"{row['before'][what][name]:,.0f} -> {row['now'][what][name]:,.0f}"

    columns = ["", *(f"{name}, tokens" for name in TEXTS), *(f"{name}, us" for name in TIMES)]
    cells = [
        [
            row["world"],
            *(cell(row, "tokens", name) for name in TEXTS),
            *(cell(row, "microseconds", name) for name in TIMES),
        ]
        for row in rows
    ]
    report(f"texts against {commit}: mean tokens, CPU microseconds a call", columns, cells)
    out = args.out or RESULTS / "texts.json"
    save(out, benchmark="texts", against=commit, machine=machine(), rows=rows)


if __name__ == "__main__":
    worker() if is_worker() else main()
