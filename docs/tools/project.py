"""What pyproject.toml says of the project, and the README as a package index needs it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCES = re.compile(r"^(`{3,}).*?^\1 *$", re.M | re.S)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def urls() -> dict[str, str]:
    """`[project.urls]`: Repository and Documentation, where they are known."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {name: url.rstrip("/") for name, url in project.get("urls", {}).items()}


def version() -> str:
    """That of manyhands/_version.py, without importing the package."""
    text = (ROOT / "manyhands" / "_version.py").read_text()
    found = re.search(r'^__version__ = "(.*)"$', text, re.M)
    if not found:
        raise ValueError("manyhands/_version.py names no __version__")
    return found[1]


def apart(markdown: str) -> list[tuple[bool, str]]:
    """The page as (is code, text), in order: blocks of code apart from the rest."""
    parts, end = [], 0
    for block in FENCES.finditer(markdown):
        parts += [(False, markdown[end : block.start()]), (True, block[0])]
        end = block.end()
    return [*parts, (False, markdown[end:])]


def link(bang: str, words: str, path: str, repository: str, ref: str = "HEAD") -> str:
    """A link to a file of the repository from elsewhere. Where the repository's address is not
    known it is its words, and a picture is nothing."""
    if not repository:
        return "" if bang else words
    return f"{bang}[{words}]({repository}/{'raw' if bang else 'blob'}/{ref}/{path})"


def readme(repository: str, version: str) -> str:
    """README.md with absolute links, to the files as they were in this version."""

    def change(found: re.Match[str]) -> str:
        bang, words, target = found.groups()
        if re.match(r"[a-z]+:|#", target):
            return found[0]
        return link(bang, words, target, repository, f"v{version}")

    parts = apart((ROOT / "README.md").read_text())
    return "".join(text if code else LINK.sub(change, text) for code, text in parts)
