# Two commands do all the set-up: `make demo` and `make test`. Both make `.venv` when it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501
WORKERS ?= 2

# Some machines forbid the cache of compiled modules; every process of the tests would compile the whole then.
test test-slow coverage: export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo test test-slow coverage check format lint types contract structure docs bench dist lock audit sbom release clean
.DEFAULT_GOAL := help

help: ## this list
	@sed -nE 's/^([a-z-]+):[^#]*## /make \1\t/p' $(MAKEFILE_LIST) | expand -t 18

# Installing takes minutes, in which pip says nothing.
INSTALL = $(BIN)/python -m pip install --progress-bar off --disable-pip-version-check -c requirements.lock
define told
	@$(1) & pid=$$!; seconds=0; while kill -0 $$pid 2>/dev/null; do sleep 1; seconds=$$((seconds + 1)); \
		[ $$((seconds % 8)) -ne 0 ] || echo "$(2): $$seconds s so far"; done; wait $$pid
endef

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with PYTHON=/path/to/python3"; exit 1; }
	$(call told,$(PYTHON) -m venv $(VENV),making $(VENV))

$(VENV)/.runtime: pyproject.toml requirements.lock | $(BIN)/python
	$(call told,$(INSTALL) -e '.[pictures]',installing)
	@touch $@

$(VENV)/.dev: pyproject.toml requirements.lock | $(BIN)/python
	$(call told,$(INSTALL) -e '.[dev]',installing)
	@touch $@ $(VENV)/.runtime

demo: $(VENV)/.runtime ## judge, rate and serve the bundled board (another port: PORT=8600)
	$(BIN)/arena demo --port $(PORT)

test: $(VENV)/.dev ## the test suite
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

# One worker more: many of these tests wait for processes of their own.
test-slow: $(VENV)/.dev ## the tests that take more than a second, with more examples of each property
	$(BIN)/python -m pytest -m slow --hypothesis-profile full -n $$(($(WORKERS) + 1)) --dist loadgroup \
		$$(grep -rl --include='test_*.py' mark.slow tests)

check: lint types contract structure ## lint, format, types and import contract

lint: $(VENV)/.dev ## lint, format and words, checked
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python benchmarks/words.py --check

format: $(VENV)/.dev ## put the code into its format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

types: $(VENV)/.dev ## types, checked
	$(BIN)/mypy

contract: $(VENV)/.dev ## which package may import which
	$(BIN)/lint-imports

structure: $(VENV)/.dev ## size, folders, importers and cycles, held to their limits
	$(BIN)/python benchmarks/structure.py --check

coverage: $(VENV)/.dev ## the branches that the quick tests cover
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --cov --cov-report=
	$(BIN)/coverage report --sort=cover | tail -n 30

docs: $(VENV)/.dev ## the documentation as a site, in build/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

bench: $(VENV)/.dev ## the benchmarks that take minutes at most
	for name in structure judging rounds ratings; do $(BIN)/python benchmarks/$$name.py || exit 1; done

dist: $(VENV)/.dev ## build an sdist and a wheel into dist/
	$(BIN)/python -m build --no-isolation --outdir dist .

lock: requirements.lock ## the libraries of an installation with their hashes, from the pins of development
	@$(PYTHON) -m venv --clear build/lock && build/lock/bin/pip install --quiet --disable-pip-version-check uv
	echo 'hatchling>=1.27' | build/lock/bin/uv pip compile --quiet pyproject.toml - --extra pictures --extra postgres \
		--universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url \
		--constraint requirements.lock --output-file requirements-runtime.lock

audit: ## known vulnerabilities of the pinned libraries, where a database can be reached
	@$(PYTHON) -m venv --clear build/audit
	@build/audit/bin/pip install --quiet --disable-pip-version-check pip-audit || echo "pip-audit cannot be installed here."
	@build/audit/bin/pip-audit --no-deps --disable-pip --progress-spinner off --format json -r requirements.lock \
		2>/dev/null | $(PYTHON) .ci/read_audit.py

sbom: ## what an installation is made of, with licences, as CycloneDX in dist/
	@$(PYTHON) -m venv --clear build/sbom && build/sbom/bin/pip install --quiet --disable-pip-version-check cyclonedx-bom
	@$(PYTHON) -m venv --clear --without-pip build/runtime && build/sbom/bin/pip --python build/runtime/bin/python install \
		--quiet --disable-pip-version-check --no-compile --require-hashes -r requirements-runtime.lock
	mkdir -p dist
	build/sbom/bin/cyclonedx-py environment --pyproject pyproject.toml --output-format JSON \
		--output-file dist/sbom.cdx.json build/runtime/bin/python

release: dist audit sbom ## what is released: sdist, wheel, their parts and licences, checksums
	cd dist && sha256sum *.whl *.tar.gz sbom.cdx.json > SHA256SUMS

clean: ## remove what was built
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
