"""One measured example of each method of docs/methods.md but the search (`search.py`).

    python benchmarks/methods.py

All figures go to `benchmarks/results/methods.json`. Intervals are 1.96 standard errors of the mean
over episodes.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
from common import RESULTS, machine, save

import manyhands
from manyhands.baselines.evaluation.errors import first_errors
from manyhands.baselines.evaluation.probing import LinearProbe, hidden
from manyhands.baselines.search import tree
from manyhands.core.coach import Coach
from manyhands.core.export import export_pairs
from manyhands.core.probes import Probes


def estimate(values: Any) -> dict[str, float]:
    array = np.asarray(values, float)
    error = array.std(ddof=1) / np.sqrt(len(array)) if len(array) > 1 else 0.0
    return {"mean": round(float(array.mean()), 4), "interval": round(float(1.96 * error), 4)}


class Remembers:
    """Plays poker for its card alone: tries each answer to an open pot in turn, and from then on
    what brought most. It reads the numbers that `retries` puts behind the observation."""

    def __init__(self) -> None:
        self.tried: dict[tuple[int, int], list[tuple[int, float]]] = {}

    def act(self, views: Any) -> list[int]:
        return [self._one(view) for view in views]

    def _one(self, view: Any) -> int:
        attempt, _, _, last = view.vector[-6:-2]
        known = self.tried.setdefault((view.episode, view.index), [])
        if attempt and len(known) == attempt:
            known[-1] = (known[-1][0], float(last))
        legal = np.flatnonzero(view.legal)
        if len(known) > attempt:  # its second decision of an attempt
            return int(known[-1][0] if view.legal[known[-1][0]] else legal[0])
        action = int(legal[int(attempt)] if attempt < len(legal) else max(known, key=_worth)[0])
        known.append((action, 0.0))
        return action


def _worth(tried: tuple[int, float]) -> float:
    return tried[1]


def retries(episodes: int, seed: int) -> dict[str, Any]:
    """Returns by attempt, of a player that remembers and of a random one."""
    env = manyhands.make("retries", env=manyhands.make("kuhn_poker"), attempts=4, chance="same")
    found = {}
    for name, seat in (("remembers", Remembers()), ("random", "random")):
        returns: list[Any] = []

        def note(moment: Any, returns: list[Any] = returns) -> None:
            if moment.over:
                returns.append(np.asarray(moment.frame.state.returns)[:, 0])

        seats = {"player_0": seat, "player_1": lambda view: int(view.legal.argmax())}
        manyhands.play(env, seats, episodes, seed, on_step=note, progress=False)
        found[name] = [estimate(column) for column in np.array(returns).T]
    return {"game": "kuhn_poker, 4 attempts, against check or fold", "episodes": episodes, **found}


def coach(episodes: int, seed: int) -> dict[str, Any]:
    """A weak player alone, with advice that it takes, and with a judge that may refuse."""
    from manyhands.envs.board import solvers

    env = manyhands.make("tic_tac_toe")

    def alone(view: Any) -> Any:
        words = [choice.text for choice in view.choices]
        if view.advice in words:
            return view.advice
        if "refused" in view.advice:
            words = [word for word in words if f'"{word}"' not in view.advice]
        return words[int(view.rng().integers(len(words)))]

    def judge(view: Any, answer: str) -> Any:
        verdicts = solvers.solve_stones(env, *solvers.stones_of(env, view.perception))
        best = max(verdict.value for verdict in verdicts.values())
        return "it loses" if verdicts[view.parse(answer)].value < best else None

    found = {}
    for name, given in (
        ("alone", None),
        ("vetoes", {"player_0": Coach(judge=judge)}),
        ("advice", {"player_0": "perfect"}),
    ):
        result = manyhands.play(
            env, [alone, "perfect"], episodes, seed, coach=given, progress=False
        )
        found[name] = {
            "score": estimate(result.rewards[:, 0]),
            "losses": int((result.rewards[:, 0] < 0).sum()),
        }
    return {"game": "tic_tac_toe against perfect", "episodes": episodes, **found}


def probing(learn: int, answer: int, seed: int) -> dict[str, Any]:
    """What the network `ippo` of small chores knows, by linear maps of two of its layers."""
    home = manyhands.make("home", task="chore_small", observation="features")
    policy = manyhands.seat("ippo", home)
    options: dict[str, Any] = {"most": 6, "kinds": ["doors", "objects"]}
    found: dict[str, Any] = {}
    for name, probe in (
        ("observation", LinearProbe()),
        ("last hidden layer", LinearProbe(hidden(policy, home))),
    ):
        probe.fit(home, policy, learn, seed + 1, **options)
        probes = Probes(probe, **options)
        manyhands.play(home, policy, answer, seed + 2, probes=probes, progress=False)
        scores = {kind: one for kind, one in probes.scores().items() if kind}
        found[name] = {kind: dataclasses.asdict(one) for kind, one in scores.items()}
    game = "home, chore_small, the network ippo"
    return {"game": game, "episodes to learn": learn, "episodes to answer": answer, **found}


def relay(episodes: int, seed: int) -> dict[str, Any]:
    """When `perfect` takes over from a random player."""
    rows = {}
    for after in (0, 2, 4, 6, 100):
        seat = f"relay:first=random,then=perfect,after={after}"
        result = manyhands.play("tic_tac_toe", [seat, "perfect"], episodes, seed, progress=False)
        rows[str(after)] = estimate(result.rewards[:, 0])
    return {"game": "tic_tac_toe against perfect", "episodes": episodes, "score by after": rows}


class Endpoint(ThreadingHTTPServer):
    """A model on loopback that takes 50 ms, and answers with the example that ends the prompt.

    Attributes:
        requests, asked, answered: how many there were, and the characters of prompts and replies.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests = self.asked = self.answered = 0
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = [message["content"] for message in body["messages"]]
        reply = texts[-1].rpartition("such as\n")[2]
        with self.server.lock:
            self.server.requests += 1
            self.server.asked += sum(map(len, texts))
            self.server.answered += len(reply)
        time.sleep(0.05)
        message = {"role": "assistant", "content": reply}
        data = json.dumps({"choices": [{"finish_reason": "stop", "message": message}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments: Any) -> None:
        pass


def dispatch(episodes: int, steps: int) -> dict[str, Any]:
    """Requests, characters and time of language seats for each agent, and of one for all."""
    rows = []
    server = Endpoint()
    options = f"model=m,api_key=none,base_url=http://127.0.0.1:{server.server_port}/v1"
    seats = {"an agent, 4 past turns": "", "an agent": ",history=last", "a team": ",dispatch=true"}
    for game, env in (
        ("kitchen, 2 chefs", manyhands.make("kitchen")),
        ("cuisine, 4 chefs", manyhands.make("cuisine", level="generated", chefs=4)),
    ):
        manyhands.play(env, "random", max_steps=2, progress=False)  # compiles
        for name, more in seats.items():
            server.requests = server.asked = server.answered = 0
            began = time.perf_counter()
            result = manyhands.play(
                env, f"language:{options}{more}", episodes, max_steps=steps, progress=False
            )
            seconds = time.perf_counter() - began
            rows.append(
                {
                    "game": game,
                    "a request for": name,
                    "requests an episode": server.requests / episodes,
                    "prompt characters an episode": round(server.asked / episodes),
                    "reply characters an episode": round(server.answered / episodes),
                    "illegal": sum(sum(episode.illegal) for episode in result.episodes),
                    "seconds": round(seconds, 2),
                }
            )
    server.shutdown()
    return {"episodes": episodes, "steps": steps, "latency": 0.05, "rows": rows}


def forks() -> dict[str, Any]:
    """Trees of forks: tic-tac-toe to its end, Connect Four and a kitchen some steps deep."""
    import jax

    rows = []
    for id, depth in (("tic_tac_toe", 9), ("connect_four", 5), ("kitchen", 3)):
        env = manyhands.make(id)
        state = env.reset(jax.random.key(0))
        tree(env, state, 1)  # compiled beforehand
        began = time.perf_counter()
        found = tree(env, state, depth)
        row = {"game": id, "depth": depth, "nodes": len(found), "edges": len(found.source)}
        rows.append(row | {"seconds": round(time.perf_counter() - began, 2)})
    return {"rows": rows}


def pairs(episodes: int, group: int, seed: int) -> dict[str, Any]:
    """Pairs and first errors of random players."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "r.jsonl", Path(folder) / "p.jsonl"
        manyhands.play(
            "kuhn_poker", "random", episodes, seed, group=group, record=path, progress=False
        )
        written = export_pairs(path, out)
        errors = list(first_errors(path))
        lines = [json.loads(line) for line in out.read_text().splitlines()]
        board = Path(folder) / "b.jsonl"
        manyhands.play(
            "tic_tac_toe", ["random", "perfect"], episodes, seed, record=board, progress=False
        )
        found = [error for error in first_errors(board) if error.agent == "player_0"]
        steps = np.bincount([error.step for error in found], minlength=9).tolist()
    return {
        "poker": {
            "episodes": episodes * group,
            "group": group,
            "pairs": written,
            "first errors": len(errors),
            "mean gap": round(
                float(np.mean([p["chosen_return"] - p["rejected_return"] for p in lines])), 3
            ),
        },
        "tic_tac_toe": {
            "episodes": episodes,
            "with an error": len(found),
            "first errors by step": steps,
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", help="the others stay as they were measured before")
    parser.add_argument("--out", type=Path, default=RESULTS / "methods.json")
    options = parser.parse_args()
    began = machine()
    examples = {
        "retries": lambda: retries(options.episodes, options.seed),
        "coach": lambda: coach(options.episodes, options.seed),
        "probing": lambda: {"machine": began, **probing(80, 30, options.seed)},
        "relay": lambda: relay(options.episodes, options.seed),
        "dispatch": lambda: {"machine": began, **dispatch(4, 20)},
        "forks": forks,
        "pairs": lambda: pairs(50, 8, options.seed),
    }
    known = json.loads(options.out.read_text()) if options.only and options.out.exists() else {}
    about = {"machine": began, "seed": options.seed} | known
    found = {name: examples[name]() for name in options.only or examples}
    print(json.dumps(found, indent=1))
    save(options.out, **(about | found))


if __name__ == "__main__":
    main()
