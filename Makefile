# `make demo` and `make test` set up what they need in .venv, and run.
PYTHON ?= python3
SITE := NO_MKDOCS_2_WARNING=1 JAX_PLATFORMS=cpu TF_CPP_MIN_LOG_LEVEL=3 .venv/bin/python -m mkdocs
PIP := .venv/bin/python -m pip --disable-pip-version-check install --quiet

.PHONY: demo test test-long test-slow test-integrations lint docs docs-serve docs-pages package clean

demo: .venv/demo
	.venv/bin/manyhands demo

test: .venv/dev
	.venv/bin/python -m pytest -n auto --dist worksteal

test-long: .venv/dev
	.venv/bin/python -m pytest -n auto --dist worksteal -m "long and not slow"

test-slow: .venv/dev
	XLA_FLAGS= .venv/bin/python -m pytest -n auto -m slow

# With the real packages, each in an environment of its own: make test-integrations PACKAGES="mcp sb3"
test-integrations: .venv/bin/python
	.venv/bin/python tests/integrations/run.py $(PACKAGES) $(if $(LIMIT),--limit $(LIMIT)) $(if $(RESULTS),--results $(RESULTS))

lint: .venv/dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

# The site, into site/: without warnings, and without a network once .venv is there.
docs: .venv/docs
	$(SITE) build

docs-serve: .venv/docs
	$(SITE) serve

# The pages, notebooks and pictures of docs/ that are made from other files.
docs-pages: .venv/dev
	.venv/bin/python docs/tools/leaderboard.py
	.venv/bin/python docs/tools/notebooks.py
	.venv/bin/python docs/tools/gallery.py

# The packages, into dist/, tried in environments of their own: make package PYTHONS="python3.11 python3.13"
package: .venv/dev
	.venv/bin/python tests/packaging/run.py $(PYTHONS)

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Manyhands needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv .venv

.venv/demo: .venv/bin/python pyproject.toml
	$(PIP) --editable ".[train,video,web]"
	@touch $@

.venv/docs: .venv/bin/python pyproject.toml
	$(PIP) --editable ".[docs]"
	@touch $@

.venv/dev: .venv/bin/python pyproject.toml
	$(PIP) --editable ".[dev]"
	@touch $@ .venv/demo .venv/docs

clean:
	rm -rf .venv .cache demo
