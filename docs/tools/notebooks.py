"""docs/notebooks from the guides: the same words and the same code, cell by cell.

python docs/tools/notebooks.py          # writes them
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import project

DOCS = Path(__file__).parents[1]
GUIDES = ("first_agent", "train_and_ship", "seat_a_model")
INSTALL = """\
# Installs Manyhands where it is not there yet, as in Colab.
import importlib.util
import subprocess
import sys

REPOSITORY = "{repository}"  # the address that `git clone` takes
if importlib.util.find_spec("manyhands") is None:
    package = f"manyhands[train,video] @ git+{{REPOSITORY}}"
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", package], check=True)"""


def cell(number: int, kind: str, text: str) -> dict[str, Any]:
    lines = text.strip("\n").splitlines(keepends=True)
    made = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": lines}
    return made | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def notebook(guide: str) -> str:
    """A guide as a notebook, without outputs: its Python snippets are cells."""
    page = (DOCS / "guides" / f"{guide}.md").read_text()
    cells = [("code", INSTALL.format(repository=project.urls().get("Repository", "")))]
    words = ""
    for code, text in project.apart(page):
        if code and text.startswith("```python\n"):
            cells += [("markdown", words), ("code", text.removeprefix("```python\n")[:-3])]
            words = ""
        else:
            words += text
    cells += [("markdown", words)]
    made = {
        "cells": [cell(k, *part) for k, part in enumerate(c for c in cells if c[1].strip())],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for guide in GUIDES:
        (DOCS / "notebooks" / f"{guide}.ipynb").write_text(notebook(guide))
