# `make demo` and `make test` do the whole set-up and create `.venv` if it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501
WORKERS ?= 2

# Without the bytecode cache, every test process would compile all modules.
test test-slow coverage: export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo test test-slow coverage check format lint types contract structure docs bench dist lock audit sbom release clean
.DEFAULT_GOAL := help

help: ## this list
	@sed -nE 's/^([a-z-]+):[^#]*## /make \1\t/p' $(MAKEFILE_LIST) | expand -t 18

# Installing takes minutes without any output of pip.
INSTALL = $(BIN)/python -m pip install --progress-bar off --disable-pip-version-check -c requirements.lock
define timed
	@$(1) & pid=$$!; seconds=0; while kill -0 $$pid 2>/dev/null; do sleep 1; seconds=$$((seconds + 1)); \
		[ $$((seconds % 8)) -ne 0 ] || echo "$(2): $$seconds s so far"; done; wait $$pid
endef

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with PYTHON=/path/to/python3"; exit 1; }
	$(call timed,$(PYTHON) -m venv $(VENV),making $(VENV))

$(VENV)/.runtime: pyproject.toml requirements.lock | $(BIN)/python
	$(call timed,$(INSTALL) -e '.[pictures]',installing)
	@touch $@

$(VENV)/.dev: pyproject.toml requirements.lock | $(BIN)/python
	$(call timed,$(INSTALL) -e '.[dev]',installing)
	@touch $@ $(VENV)/.runtime

demo: $(VENV)/.runtime ## judge, rate and serve the bundled board (another port: PORT=8600)
	$(BIN)/arena demo --port $(PORT)

test: $(VENV)/.dev ## the test suite
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

# One more worker: many of these tests wait for their own child processes.
test-slow: $(VENV)/.dev ## tests that take over a second, with more examples per property
	$(BIN)/python -m pytest -m slow --hypothesis-profile full -n $$(($(WORKERS) + 1)) --dist loadgroup \
		$$(grep -rl --include='test_*.py' mark.slow tests)

check: lint types contract structure ## lint, format, types and import contract

lint: $(VENV)/.dev ## check lint rules, format and words
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python benchmarks/words.py --check

format: $(VENV)/.dev ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

types: $(VENV)/.dev ## check types
	$(BIN)/mypy

contract: $(VENV)/.dev ## check which packages may import which
	$(BIN)/lint-imports

structure: $(VENV)/.dev ## check the limits on size, folders, importers and cycles
	$(BIN)/python benchmarks/structure.py --check

coverage: $(VENV)/.dev ## measure the branch coverage of the quick tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --cov --cov-report=
	$(BIN)/coverage report --sort=cover | tail -n 30

docs: $(VENV)/.dev ## build the documentation site in build/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

bench: $(VENV)/.dev ## run the benchmarks that take a few minutes
	for name in structure judging rounds ratings; do $(BIN)/python benchmarks/$$name.py || exit 1; done

dist: $(VENV)/.dev ## build an sdist and a wheel into dist/
	$(BIN)/python -m build --no-isolation --outdir dist .

lock: requirements.lock ## write the hashed runtime lock file from the development pins
	@$(PYTHON) -m venv --clear build/lock && build/lock/bin/pip install --quiet --disable-pip-version-check uv
	echo 'hatchling>=1.27' | build/lock/bin/uv pip compile --quiet pyproject.toml - --extra pictures --extra postgres \
		--universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url \
		--constraint requirements.lock --output-file requirements-runtime.lock

audit: ## list known vulnerabilities of the pinned libraries, if a database is reachable
	@$(PYTHON) -m venv --clear build/audit
	@build/audit/bin/pip install --quiet --disable-pip-version-check pip-audit || echo "pip-audit cannot be installed here."
	@build/audit/bin/pip-audit --no-deps --disable-pip --progress-spinner off --format json -r requirements.lock \
		2>/dev/null | $(PYTHON) .ci/read_audit.py

sbom: ## write an SBOM with licences (CycloneDX) to dist/
	@$(PYTHON) -m venv --clear build/sbom && build/sbom/bin/pip install --quiet --disable-pip-version-check cyclonedx-bom
	@$(PYTHON) -m venv --clear --without-pip build/runtime && build/sbom/bin/pip --python build/runtime/bin/python install \
		--quiet --disable-pip-version-check --no-compile --require-hashes -r requirements-runtime.lock
	mkdir -p dist
	build/sbom/bin/cyclonedx-py environment --pyproject pyproject.toml --output-format JSON \
		--output-file dist/sbom.cdx.json build/runtime/bin/python

release: dist audit sbom ## build a release: sdist, wheel, SBOM and checksums
	cd dist && sha256sum *.whl *.tar.gz sbom.cdx.json > SHA256SUMS

clean: ## remove build outputs
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
