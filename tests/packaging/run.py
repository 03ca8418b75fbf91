"""Builds the packages and tries the wheel where nothing but its own dependencies is installed.

    python tests/packaging/run.py                              # with this Python
    python tests/packaging/run.py python3.12 python3.13        # with these
    python tests/packaging/run.py --check --only kitchen       # also `manyhands check` of a world
    python tests/packaging/run.py --keep                       # with the packages of the last run

`python -m build` makes dist/, `twine check --strict` reads it, and in a virtual environment for
each Python under `.cache/packaging` `try_all.py` makes, resets and steps every world through each
API. It needs a package index, `build` and `twine`; uv is installed beside
(tests/integrations/run.py).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HOME = ROOT / ".cache" / "packaging"
sys.path.insert(0, str(HERE.parent / "integrations"))
from run import python_of, uv  # noqa: E402

# What has to be in each package, beside the modules.
IN_WHEEL = ("manyhands/py.typed", "manyhands/assets/web/index.html", "manyhands/assets/cuisine/")
IN_SDIST = ("README.md", "LICENSE", "CHANGELOG.md", "mkdocs.yml", "docs/", "tests/", "examples/")
NOT_IN_WHEEL = ("tests/", "docs/", "benchmarks/", "examples/")


def built() -> Path:
    """The wheel, after building and checking both packages."""
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    shutil.rmtree(ROOT / "build", ignore_errors=True)  # what it holds would go into the wheel
    python = [sys.executable, "-m"]
    subprocess.run([*python, "build", str(ROOT)], check=True, stdout=subprocess.DEVNULL)
    files = sorted(dist.iterdir())
    subprocess.run([*python, "twine", "check", "--strict", *map(str, files)], check=True)
    (wheel,) = dist.glob("*.whl")
    (source,) = dist.glob("*.tar.gz")
    inside = zipfile.ZipFile(wheel).namelist()
    with tarfile.open(source) as archive:
        outside = [name.partition("/")[2] for name in archive.getnames()]
    missing = [want for want in IN_WHEEL if not any(name.startswith(want) for name in inside)]
    missing += [want for want in IN_SDIST if not any(name.startswith(want) for name in outside)]
    extra = [name for name in inside if name.startswith(NOT_IN_WHEEL)]
    if missing or extra:
        raise SystemExit(f"the packages lack {missing} and hold {extra[:5]}")
    sizes = ", ".join(f"{path.name} {path.stat().st_size / 1e6:.1f} MB" for path in files)
    print(f"built {sizes}", flush=True)
    return wheel


def environment(python: str, wheel: Path) -> Path:
    """The interpreter of a fresh environment that holds the wheel."""
    home = HOME / python.strip("/").replace("/", "-")
    command, variables = uv()
    subprocess.run(
        [command, "venv", "--quiet", "--clear", "--python", python, str(home)],
        env=variables,
        check=True,
    )
    subprocess.run(
        [command, "pip", "install", "--quiet", "--python", str(python_of(home)), str(wheel)],
        env=variables,
        check=True,
    )
    return python_of(home)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("pythons", nargs="*", default=[sys.executable])
    parser.add_argument("--check", action="store_true", help="`manyhands check` of every world")
    parser.add_argument("--only", nargs="+", default=[], help="these worlds alone")
    parser.add_argument("--keep", action="store_true", help="do not build again")
    options = parser.parse_args()
    wheel = next((ROOT / "dist").glob("*.whl"), None) if options.keep else None
    wheel = wheel or built()
    failed = []
    for python in options.pythons:
        began = time.monotonic()
        made = environment(python, wheel)
        print(f"{python}: installed in {time.monotonic() - began:.0f} s", flush=True)
        variables = {
            name: value
            for name, value in os.environ.items()
            if name not in ("PYTHONPATH", "VIRTUAL_ENV", "XLA_FLAGS")
        } | {
            "JAX_PLATFORMS": "cpu",
            "SDL_VIDEODRIVER": "dummy",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "XLA_FLAGS": "--xla_backend_optimization_level=0",
            "JAX_COMPILATION_CACHE_DIR": str(HOME / "jax"),
        }
        given = [*options.only, *(["--check"] if options.check else [])]
        # Away from the repository, so that it is the wheel that is imported.
        if subprocess.run([made, HERE / "try_all.py", *given], env=variables, cwd=HOME).returncode:
            failed.append(python)
    if failed:
        print("failed:", ", ".join(failed))
    return bool(failed)


if __name__ == "__main__":
    raise SystemExit(main())
