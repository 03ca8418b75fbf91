"""What the site adds to the pages while MkDocs builds them (mkdocs.yml).

- Links to files outside of docs/ lead to the repository, where pyproject.toml names it, and are
  plain words where it does not. Pictures are copied.
- The page of each world ends with what the code says of it (`reference.section`).
- `<!-- worlds -->` stands for the README's table of worlds.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parent))
import project
import reference

ROOT = Path(__file__).parents[2]
PICTURES = (".png", ".gif", ".webp")


def resolve(source: str, target: str) -> str:
    """A link of a page, as a path within the repository."""
    parts: list[str] = []
    for part in PurePosixPath("docs", source).parent.joinpath(target).parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def outside(markdown: str, source: str, repository: str) -> str:
    """The page with its links to files outside of docs/ changed."""
    up = "../" * source.count("/")

    def change(found: re.Match[str]) -> str:
        bang, words, target = found.groups()
        if re.match(r"[a-z]+:|#|/", target):
            return found[0]
        path = resolve(source, target)
        if path.startswith("docs/"):
            return found[0]
        if bang and path.endswith(PICTURES):
            return f"![{words}]({up}{path})"
        return project.link(bang, words, path, repository)

    parts = project.apart(markdown)
    return "".join(text if code else project.LINK.sub(change, text) for code, text in parts)


def worlds() -> str:
    """The README's table of worlds, with links as docs/ needs them."""
    readme = (ROOT / "README.md").read_text()
    found = re.search(r"^## Environments\n\n((?:\|.*\n)+)", readme, re.M)
    if not found:
        raise ValueError("README.md has no table below '## Environments'")
    return found[1].replace("](docs/", "](").replace("[docs/", "[")


def on_config(config: Any) -> Any:
    """The addresses of the repository and of the site, as in pyproject.toml."""
    urls = project.urls()
    config.repo_url = urls.get("Repository")
    config.site_url = urls.get("Documentation") or config.site_url
    return config


def on_files(files: Any, config: Any) -> Any:
    """Pictures outside of docs/ that pages show."""
    for page in list(files.documentation_pages()):
        text = project.FENCES.sub("", Path(page.abs_src_path).read_text())
        for bang, _, target in project.LINK.findall(text):
            path = resolve(page.src_uri, target)
            new = path not in files.src_uris and not path.startswith("docs/")
            if bang and ":" not in target and new:
                files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    source = page.file.src_uri
    if source == "index.md":  # the films stand side by side where nothing stands beside them
        page.meta["hide"] = ["navigation", "toc"]
    markdown = markdown.replace("<!-- worlds -->", worlds())
    markdown = outside(markdown, source, config.repo_url or "")
    ids = reference.pages().get(source)
    return f"{markdown}\n{reference.section(ids)}" if ids else markdown
