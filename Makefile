# `make demo` and `make test` set up what they need in .venv, and run.
PYTHON ?= python3
PIP := .venv/bin/python -m pip --disable-pip-version-check install --quiet

.PHONY: demo test test-slow test-integrations lint clean

demo: .venv/demo
	.venv/bin/manyhands demo

test: .venv/dev
	.venv/bin/python -m pytest -n auto --dist worksteal

test-slow: .venv/dev
	XLA_FLAGS= .venv/bin/python -m pytest -n auto -m slow

# With the real packages, each in an environment of its own: make test-integrations PACKAGES="mcp sb3"
test-integrations: .venv/bin/python
	.venv/bin/python tests/integrations/run.py $(PACKAGES) $(if $(LIMIT),--limit $(LIMIT))

lint: .venv/dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Manyhands needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv .venv

.venv/demo: .venv/bin/python pyproject.toml
	$(PIP) --editable ".[train,video,web]"
	@touch $@

.venv/dev: .venv/bin/python pyproject.toml
	$(PIP) --editable ".[dev]"
	@touch $@ .venv/demo

clean:
	rm -rf .venv .cache demo
