"""The tests of the adapters, each with the real package, in a virtual environment of its own.

    python tests/integrations/run.py              # all
    python tests/integrations/run.py mcp sb3      # some
    python tests/integrations/run.py --limit 600  # begin none after so many seconds
    python tests/integrations/run.py --results benchmarks/results/integrations.json

`requirements/NAME.txt` pins what is installed beside Manyhands (editable) under
`.cache/integrations/NAME`, and `test_NAME.py` is run there. uv, which is installed beside them,
makes an environment in seconds where pip needs minutes; it is told the same sources as pip
(PIP_FIND_LINKS, PIP_INDEX_URL, PIP_EXTRA_INDEX_URL).

With `--results` the overheads that the tests print, and their seconds, are written to a file; rows
of packages that were not run stay as they are there.

This file needs the standard library only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HOME = ROOT / ".cache" / "integrations"
# In the order in which they are run: the light ones first.
ORDER = (
    *("mcp", "textarena", "openenv", "torchrl", "inspect_ai", "ray", "tianshou", "rllib", "torch"),
    *("sb3", "trl", "verifiers", "local", "verl"),
)
TESTS_TOO = ("pytest>=8",)
OVERHEAD = re.compile(
    r"^overhead: (.*): ([\d.]+) ms a decision, of which ([\d.]+) ms .* \((\d+) decisions\)$", re.M
)


def names() -> list[str]:
    found = [path.stem.removeprefix("test_") for path in HERE.glob("test_*.py")]
    return sorted(found, key=lambda name: (ORDER.index(name) if name in ORDER else 99, name))


def python_of(home: Path) -> Path:
    return home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def uv() -> tuple[str, dict[str, str]]:
    """The command, and its variables."""
    home = HOME / "uv"
    command = python_of(home).with_name("uv.exe" if os.name == "nt" else "uv")
    if not command.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        pip = [str(python_of(home)), "-m", "pip", "install", "--quiet", "uv>=0.9"]
        subprocess.run(pip, check=True)
    told = {
        "UV_" + name: os.environ["PIP_" + name]
        for name in ("FIND_LINKS", "INDEX_URL", "EXTRA_INDEX_URL")
        if "PIP_" + name in os.environ
    }
    return str(command), {**os.environ, **told}


def prepared(name: str) -> Path:
    """The interpreter of a package's environment, which is made if it is missing or out of date."""
    home, pins = HOME / name, HERE / "requirements" / f"{name}.txt"
    wanted = hashlib.sha256(pins.read_bytes() + (ROOT / "pyproject.toml").read_bytes()).hexdigest()
    ready = home / "ready"
    if not ready.exists() or ready.read_text() != wanted:
        command, variables = uv()
        began = time.monotonic()
        subprocess.run(
            [command, "venv", "--quiet", "--clear", "--python", sys.executable, str(home)],
            env=variables,
            check=True,
        )
        subprocess.run(
            [
                *(command, "pip", "install", "--quiet", "--compile-bytecode"),
                *("--python", str(python_of(home))),
                *("-r", str(pins), *TESTS_TOO, "--editable", str(ROOT)),
            ],
            env=variables,
            check=True,
        )
        ready.write_text(wanted)
        print(f"{name}: installed in {time.monotonic() - began:.0f} s", flush=True)
    return python_of(home)


def test(name: str) -> tuple[bool, list[dict[str, Any]]]:
    """Whether the tests of a package pass, and the overheads that they print."""
    command = [
        str(prepared(name)),
        "-m",
        "pytest",
        "-q",
        "-rP",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:logging",
    ]
    # Its commands (uv, say) are found by the tests; nothing is fetched from a hub of models.
    path = f"{python_of(HOME / name).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    variables = {**os.environ, "PATH": path, "HF_HUB_OFFLINE": "1"}
    said = []
    with subprocess.Popen(
        [*command, str(HERE / f"test_{name}.py")],
        cwd=ROOT,
        env=variables,
        stdout=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as running:
        assert running.stdout is not None
        for line in running.stdout:
            print(line, end="", flush=True)
            said.append(line)
    rows = [
        {
            "what": what,
            "wall_ms": float(wall),
            "cpu_ms": float(cpu),
            "decisions": int(decisions),
        }
        for what, wall, cpu, decisions in OVERHEAD.findall("".join(said))
    ]
    return running.returncode == 0, rows


def pinned(name: str) -> list[str]:
    lines = (HERE / "requirements" / f"{name}.txt").read_text().splitlines()
    return [line for line in lines if "==" in line]


def keep(path: Path, name: str, seconds: int, overheads: list[dict[str, Any]]) -> None:
    """Write what was measured; the figures of other packages stay."""
    known = json.loads(path.read_text()).get("packages", {}) if path.exists() else {}
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    known[name] = {
        "pins": pinned(name),
        "seconds": seconds,
        "overhead": overheads,
        "machine": {
            "cores": os.cpu_count(),
            "system": platform.platform(),
            "python": platform.python_version(),
            "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "commit": commit.stdout.strip(),
        },
    }
    data = {
        "command": "make test-integrations RESULTS=benchmarks/results/integrations.json",
        "unit": "ms a decision; cpu_ms: of the measuring process; seconds: of a package's tests",
        "packages": dict(sorted(known.items())),
    }
    path.write_text(json.dumps(data, indent=1) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names()))
    parser.add_argument("--limit", type=float, help="seconds after which no other is begun")
    parser.add_argument("--results", type=Path, metavar="FILE", help="write overheads there")
    options = parser.parse_args()
    unknown = set(options.names) - set(names())
    if unknown:
        parser.error(f"no such tests: {', '.join(sorted(unknown))}; there are {', '.join(names())}")
    began, failed, left = time.monotonic(), [], []
    for name in options.names or names():
        if options.limit is not None and time.monotonic() - began > options.limit:
            left.append(name)
            continue
        print(f"== {name}", flush=True)
        try:
            prepared(name)
            since = time.monotonic()
            passed, overheads = test(name)
            seconds = round(time.monotonic() - since)
            print(f"{name}: {seconds} s", flush=True)
            if passed and options.results:
                keep(options.results, name, seconds, overheads)
        except subprocess.CalledProcessError as error:
            print(f"{name}: could not be installed: {error}")
            passed = False
        if not passed:
            failed.append(name)
    if left:
        print(f"left out, {options.limit:g} s have passed already: {', '.join(left)}")
    if failed:
        print(f"failed: {', '.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
