"""The Python snippets of the README and of docs/ run as they stand, one after the other; snippets
that need a model or a window are functions that nobody calls. Links lead to what there is."""

import re
import sys
import types
from pathlib import Path

import gymnasium
import pettingzoo
import pytest

from manyhands.core import registry

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
REGISTRIES = [
    *(registry._GAMES, registry._WRAPPERS, registry._SEATS),
    *(gymnasium.registry, pettingzoo.parallel_registry, pettingzoo.aec_registry),
]


def snippets(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)


@pytest.fixture
def module(monkeypatch):
    """A module for the names of a page; what it registers is forgotten."""
    before = [dict(known) for known in REGISTRIES]
    made = types.ModuleType("snippets")
    monkeypatch.setitem(sys.modules, "snippets", made)
    yield made
    for known, kept in zip(REGISTRIES, before, strict=True):
        known.clear()
        known.update(kept)


@pytest.mark.parametrize("page", [page for page in PAGES if snippets(page)], ids=lambda p: p.stem)
def test_snippets_run(page, module, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for snippet in snippets(page):
        exec(compile(snippet, str(page), "exec"), vars(module))
    if page.name == "README.md":
        assert "You are chef_1" in capsys.readouterr().out
        assert module.result.statistics.env_steps == 256 * 400


def anchors(page: Path) -> set[str]:
    """The names that a forge gives to the headings of a page."""
    found = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.S), re.M)
    words = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in found]
    return {heading.strip().replace(" ", "-") for heading in words}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", text):
        if target.startswith("http"):
            continue
        file = page.parent / target if target else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), f"{target}#{anchor}"
