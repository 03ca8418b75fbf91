"""`manyhands verify`: a record, played again."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from manyhands.cli.common import command


def add(commands: Any) -> None:
    parser = command(
        commands,
        "verify",
        run,
        "Play a record again and compare every reward and fingerprint.",
        "Exit status 1 if anything differs.",
    )
    parser.add_argument("file", type=Path, help="a record (.jsonl)")


def run(options: argparse.Namespace) -> int:
    from manyhands.core.record import verify

    result = verify(options.file)
    print(result)
    return 0 if result else 1
