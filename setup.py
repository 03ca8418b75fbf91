"""The part of the packages' metadata that is made: the README as a package index shows it, with
links that are absolute where `[project.urls]` of pyproject.toml names the repository. All else is
in pyproject.toml."""

import sys
from pathlib import Path

from setuptools import setup

sys.path.insert(0, str(Path(__file__).parent / "docs" / "tools"))
import project

setup(
    long_description=project.readme(project.urls().get("Repository", ""), project.version()),
    long_description_content_type="text/markdown",
)
