"""Whether the repository is ready to be released under a tag.

    python tests/packaging/ready.py v0.1.0 https://forge.example/owner/manyhands

Prints what is missing, and exits with 1 if anything is. It needs the standard library only.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "tools"))
import project  # noqa: E402


def missing(
    tag: str, address: str, *, version: str, urls: Mapping[str, str], changelog: str, citation: str
) -> Iterator[str]:
    """What is missing, a line each.

    Args:
        tag, address: of the release, and of the repository that it is made from.
        version, urls, changelog, citation: what the repository says.
    """
    if tag != f"v{version}":
        yield f"the tag is {tag}, but manyhands/_version.py says {version}"
    if f"\nversion: {version}\n" not in f"\n{citation}":
        yield f"CITATION.cff does not say version: {version}"
    heading = re.search(rf"^## {re.escape(version)}\b(.*)$", changelog, re.M)
    if not heading:
        yield f"CHANGELOG.md has no section ## {version}"
    elif "unreleased" in heading[1]:
        yield f"CHANGELOG.md still calls {version} unreleased"
    named = urls.get("Repository")
    if named != address.rstrip("/"):
        yield f"[project.urls] Repository of pyproject.toml is {named}, not {address}"


def main(tag: str, address: str) -> int:
    problems = list(
        missing(
            tag,
            address,
            version=project.version(),
            urls=project.urls(),
            changelog=(ROOT / "CHANGELOG.md").read_text(),
            citation=(ROOT / "CITATION.cff").read_text(),
        )
    )
    print(*problems, sep="\n")
    return bool(problems)


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
