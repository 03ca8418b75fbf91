"""The site: what is made from other files agrees with them, nothing is left out of the navigation
or the reference, pictures are small, and pages mean the same on a forge and on the site."""

import importlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import manyhands
from manyhands.core import registry

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
sys.path.insert(0, str(DOCS / "tools"))
import gallery  # noqa: E402
import leaderboard  # noqa: E402
import notebooks  # noqa: E402
import project  # noqa: E402
import reference  # noqa: E402

LARGEST = 500_000  # bytes of a picture
# What makes figures: a script, the command, a call; or another page that says it.
COMMAND = (
    r"benchmarks/\w+\.py|python -m |manyhands \w+ |manyhands\.(play|rollout)\(|performance\.md"
)


def shipped() -> list[str]:
    return [id for id in manyhands.registered() if not id.startswith("test-")]


# ---- made from other files -----------------------------------------------------------------------


def test_the_leaderboard_is_that_of_the_season():
    assert leaderboard.PAGE.read_text() == leaderboard.page()


def test_seats_that_the_season_leaves_out_are_named():
    # In a process of its own: other tests register seats.
    code = "from manyhands.core.registry import registered_seats; print(*registered_seats())"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    season = tomllib.loads((ROOT / "benchmarks" / "seasons" / "first.toml").read_text())
    seats = [one if isinstance(one, str) else one["seat"] for one in season["players"].values()]
    playing = {seat.partition(":")[0] for seat in seats}
    for game in json.loads(leaderboard.SEASON.read_text())["games"].values():
        playing |= {name.removeprefix("held_out.") for name in game["held_out"]}
    nobody = {"bot", "human", "language", "local", "policy", "relay", "terminal"}
    assert set(found.stdout.split()) - playing - nobody == set(leaderboard.LEFT_OUT)
    page = (ROOT / "docs" / "arena.md").read_text()
    assert all(f"`{seat}`" in page for seat in leaderboard.LEFT_OUT)


@pytest.mark.parametrize("guide", notebooks.GUIDES)
def test_notebooks_are_the_guides(guide):
    text = (DOCS / "notebooks" / f"{guide}.ipynb").read_text()
    assert text == notebooks.notebook(guide)
    cells = json.loads(text)["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    page = (DOCS / "guides" / f"{guide}.md").read_text()
    assert code[1:] == [
        block.strip("\n") for block in re.findall(r"```python\n(.*?)```", page, re.S)
    ]
    assert not any(cell.get("outputs") for cell in cells)


def test_the_gallery_has_every_world():
    assert (DOCS / "gallery.md").read_text() == gallery.page()
    wanted = {mode.file for id in shipped() for mode in gallery.modes(id)}
    assert wanted == {path.name for path in (DOCS / "gallery").iterdir()}


def test_the_gallery_shows_what_is_drawn(tmp_path, monkeypatch):
    image = pytest.importorskip("PIL.Image")
    mode = next(gallery.modes("tic_tac_toe"))
    kept = np.asarray(image.open(DOCS / "gallery" / mode.file).convert("RGB"))
    (tmp_path / "gallery").mkdir()
    monkeypatch.setattr(gallery, "DOCS", tmp_path)
    gallery.draw(mode)
    drawn = np.asarray(image.open(tmp_path / "gallery" / mode.file).convert("RGB"))
    assert (kept == drawn).all()


def test_the_reference_knows_every_world_and_option():
    pages = reference.pages()
    assert sorted(id for ids in pages.values() for id in ids if id in shipped()) == shipped()
    for name, ids in pages.items():
        assert (DOCS / name).exists(), name
        for id in ids:
            rows = reference.options(id)[2:]
            assert rows and [row for row in rows if row.endswith("|  |")] == []


def test_a_section_says_what_the_class_says():
    env = manyhands.make("leduc_holdem")
    section = reference.section(("leduc_holdem",))
    for line in env.observation_layout.table().splitlines():
        assert line in section
    assert "| `2` | bet 2 | pay 2 chips; player_1 is next |" in section
    assert "| `duplicate` | `False` |" in section
    assert "Discrete(3)" in section and "int16[48]" in section


# ---- for a package index -------------------------------------------------------------------------


def test_the_readme_of_the_package_has_no_relative_links():
    def targets(text: str) -> list[str]:
        outside = "".join(part for code, part in project.apart(text) if not code)
        return [target for _, _, target in project.LINK.findall(outside)]

    bare = project.readme("", "1.0")
    assert all(re.match(r"https?:|#", target) for target in targets(bare))
    assert "![" not in bare
    linked = project.readme("https://example.org/us", "1.0")
    assert "https://example.org/us/raw/v1.0/docs/kitchen.gif" in targets(linked)
    assert "https://example.org/us/blob/v1.0/docs/training.md#what-they-reach" in targets(linked)
    assert all(re.match(r"https?:|#", target) for target in targets(linked))
    assert len(targets(linked)) == len(targets((ROOT / "README.md").read_text()))


def test_there_is_one_version():
    assert project.version() == manyhands.__version__
    assert f"version: {manyhands.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_what_a_release_lacks_is_named():
    sys.path.insert(0, str(ROOT / "tests" / "packaging"))
    from ready import missing

    said = {
        "version": "1.2.0",
        "urls": {"Repository": "https://forge.example/us"},
        "changelog": "# Changelog\n\n## 1.2.0 (2030-01-01)\n",
        "citation": "type: software\nversion: 1.2.0\n",
    }
    assert list(missing("v1.2.0", "https://forge.example/us/", **said)) == []
    assert "v1.3.0" in next(missing("v1.3.0", "https://forge.example/us", **said))
    assert "forge.example/fork" in next(missing("v1.2.0", "https://forge.example/fork", **said))
    for wrong in (
        {"changelog": "## 1.2.0 (unreleased)\n"},
        {"changelog": "## 1.1.0\n"},
        {"citation": "version: 1.1.0\n"},
        {"urls": {}},
    ):
        assert len(list(missing("v1.2.0", "https://forge.example/us", **(said | wrong)))) == 1


def test_commands_of_make_exist():
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([\w.-]+):", makefile, re.M))
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", DOCS / "index.md"]
    files += (ROOT / ".github" / "workflows").glob("*.yml")
    for file in files:
        form = r"(?:^|`|run: )make ([a-z-]+)(?=$|`| +#| [A-Z]+=)"
        assert set(re.findall(form, file.read_text(), re.M)) <= targets, file


# ---- pages ---------------------------------------------------------------------------------------


def test_pictures_are_small():
    pictures = [path for path in DOCS.rglob("*") if path.suffix in (".png", ".gif", ".webp")]
    pictures += (ROOT / "benchmarks" / "results").glob("*.png")
    assert [(p.name, p.stat().st_size) for p in pictures if p.stat().st_size > LARGEST] == []


def test_every_page_is_in_the_navigation():
    listed = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    assert sorted(listed) == sorted(page.relative_to(DOCS).as_posix() for page in PAGES)


def test_every_world_is_cited_and_measured():
    citing = (DOCS / "citing.md").read_text()
    for name in reference.pages():
        assert f"]({name}) |" in citing, name
        text = (DOCS / name).read_text()
        for heading in ("Scores", "Speed"):
            section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
            assert re.search(COMMAND, section), (
                f"{name}: the figures of {heading!r} name no command"
            )


def counted(html: str) -> dict[str, int]:
    kinds = [
        "ul",
        "ol",
        "li",
        "table",
        "tr",
        "td",
        "h1",
        "h2",
        "h3",
        "h4",
        "p",
        "blockquote",
        "strong",
        "em",
        "a",
        "img",
    ]
    return {kind: len(re.findall(f"<{kind}[ >]", html)) for kind in kinds}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_pages_mean_the_same_on_a_forge_and_on_the_site(page):
    markdown = pytest.importorskip("markdown")
    forge = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table")
    text = re.sub(r"^</?div.*$", "", page.read_text(), flags=re.M)
    text = re.sub(r"^:::.*\n(?: +.*\n)*", "", text, flags=re.M)
    extensions = ["tables", "attr_list", "pymdownx.superfences", "pymdownx.tilde"]
    assert counted(markdown.markdown(text, extensions=extensions)) == counted(forge.render(text))


def documented() -> list[str]:
    """What the pages of the reference name, as "module.member"."""
    found = []
    for page in sorted((DOCS / "api").glob("*.md")):
        for target, options in re.findall(r"^::: (\S+)\n((?: +.*\n)*)", page.read_text(), re.M):
            members = re.search(r"members: \[(.*)\]", options)
            own = members[1].split(", ") if members else []
            inside = "." in target and target.rpartition(".")[2][0].islower() and own
            found += [f"{target}.{member}" for member in own] if inside else [target]
    return found


def test_the_reference_names_what_there_is():
    for name in documented():
        module, _, member = name.rpartition(".")
        found = getattr(importlib.import_module(module), member)
        assert found.__doc__, name
    public = set(manyhands.__all__) - {"__version__"}
    assert public - {name.rpartition(".")[2] for name in documented()} == set()
    worlds = {registry.load(id) for id in shipped()}
    text = (DOCS / "api" / "envs.md").read_text()
    assert [kind for kind in worlds if f"::: {kind.__module__}.{kind.__name__}\n" not in text] == []


# ---- built ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_site_is_built_without_warnings_and_needs_no_other_site(tmp_path):
    pytest.importorskip("mkdocs")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING -" not in done.stderr
    loaded = r'<(?:script|img|iframe)[^>]*src="?https?:|<link[^>]*rel="?(?:stylesheet|preload|icon)'
    for page in tmp_path.rglob("*.html"):
        for tag in re.findall(loaded + r"[^>]*", page.read_text()):
            assert "http" not in tag, (page, tag)
    for sheet in tmp_path.rglob("*.css"):
        assert not re.search(r"url\(['\"]?https?:|@import", sheet.read_text()), sheet
    found = json.loads((tmp_path / "search" / "search_index.json").read_text())["docs"]
    titles = {entry["location"] for entry in found}
    assert {"kitchen.html#from-the-code", "guides/first_agent.html"} <= titles
    kitchen = (tmp_path / "kitchen.html").read_text()
    assert "onions, tomatoes in a pot that does not cook yet" in kitchen
    assert "manyhands.core.play.play" in (tmp_path / "api" / "manyhands.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("guide", notebooks.GUIDES)
def test_notebooks_run(guide, tmp_path):
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient").NotebookClient
    pytest.importorskip("ipykernel")
    book = nbformat.reads((DOCS / "notebooks" / f"{guide}.ipynb").read_text(), as_version=4)
    nbformat.validate(book)
    client(book, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    printed = [out for cell in book.cells for out in cell.get("outputs", [])]
    assert any(out.get("name") == "stdout" for out in printed)
