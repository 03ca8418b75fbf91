"""`manyhands demo`: all of it in two minutes."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import manyhands
from manyhands.cli.common import Transcript, command
from manyhands.core.registry import make


def add(commands: Any) -> None:
    parser = command(
        commands,
        "demo",
        run,
        "Show it all in two minutes, without a display.",
        "A trained network and a chef who reads text and answers in words cook together. Writes\n"
        "FOLDER/kitchen.jsonl (the record, which is then verified) and FOLDER/kitchen.gif, and\n"
        "measures a batched rollout.",
    )
    parser.add_argument("--out", type=Path, default=Path("demo"), metavar="FOLDER")


def run(options: argparse.Namespace) -> int:
    from manyhands.core.record import frames, read, verify
    from manyhands.viewer.export import export_gif
    from manyhands.viewer.scenes import scenes

    options.out.mkdir(parents=True, exist_ok=True)
    record, film = options.out / "kitchen.jsonl", options.out / "kitchen.gif"
    record.unlink(missing_ok=True)
    env = make("chat", env=make("kitchen", layout="coordination_ring"))
    print(
        "Two chefs in coordination_ring: chef_0 is a trained network, which reads vectors (IPPO),"
    )
    print("chef_1 reads the text below and answers in words. What it reads at the start:\n")

    def onlooker(moment: Any) -> None:
        if moment.step == 0:
            print("    " + moment.views[1].text.replace("\n", "\n    ") + "\n")
            print("\n".join(f"    - {choice}" for choice in moment.views[1].choices[:6]) + "\n")
        transcript(moment)

    transcript = Transcript(lambda m: m.step <= 8 or bool(m.frame.terms["delivery"].any()))
    began = time.perf_counter()
    result = manyhands.play(env, ["ippo", "reader"], record=record, on_step=onlooker)
    print(f"\n{result}\n  in {time.perf_counter() - began:.1f} s, compilation included")
    print(f"\n{record}: {verify(record)}")

    episode = next(read(record))
    moments = [moment for moment in frames(episode) if moment.step <= 150]
    export_gif(scenes(moments), film, fps=8, size=(880, 420), panel=True, seat=1)
    print(f"{film}: the first 150 steps, with what chef_1 reads and says")

    from manyhands.baselines.learners.speed import Course

    speed, seconds = Course(make("kitchen"), "none", 1024, 400).measure()
    print(
        f"\nBatched rollout, 1,024 kitchens x 400 steps, random actions: {speed:,.0f} env-steps/s"
    )
    print(f"(the first call took {seconds:.1f} s, compilation included)")
    print("\nNext: manyhands replay demo/kitchen.jsonl, or manyhands play --help")
    return 0
