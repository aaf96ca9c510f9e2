# Two commands do all the set-up: `make demo` and `make test`. Both make `.venv` when it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501
WORKERS ?= 2

.PHONY: demo test test-slow check format lint types contract clean wheel
.DEFAULT_GOAL := help

help:
	@echo "make demo       judge, rate and serve the bundled board (PORT=$(PORT))"
	@echo "make test       the test suite"
	@echo "make check      lint, format, types and import contract"
	@echo "make test-slow  the tests that take minutes"
	@echo "make wheel      build the wheel into dist/"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml requirements.lock | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.lock -e .
	@touch $@

$(VENV)/.dev: pyproject.toml requirements.lock | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.lock -e '.[dev]'
	@touch $@ $(VENV)/.runtime

demo: $(VENV)/.runtime
	$(BIN)/arena demo --port $(PORT)

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

test-slow: $(VENV)/.dev
	$(BIN)/python -m pytest -m slow -n $(WORKERS)

check: lint types contract

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.dev
	$(BIN)/mypy

contract: $(VENV)/.dev
	$(BIN)/lint-imports

wheel: $(VENV)/.dev
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
