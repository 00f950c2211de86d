# COGNI.BUILD. `make help` lists what there is to do.
PYTHON ?= python3
PORT ?= 8080
DATA ?= .cogni
FOLDER ?=
BIN := .venv/bin
UV := .uv/bin/uv
UV_VERSION := 0.13.9
PACKAGES := $(dir $(wildcard libs/*/pyproject.toml services/*/pyproject.toml examples/*/pyproject.toml))
CODE := conftest.py libs services examples tests bench scripts
export UV_PYTHON_DOWNLOADS := never
export UV_SYSTEM_CERTS := 1
export COGNI_SHARED ?= $(abspath ../shared)

.DEFAULT_GOAL := help
.PHONY: help chromium agui-client turbo-client install run migrate test test-live check check-deploy bench screenshots lock format

help: ## list the targets
	@awk -F':.*## ' '/^[a-z][a-z-]*:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: .venv/.installed ## make .venv from requirements.lock

$(UV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed; name one with PYTHON=…")'
	$(PYTHON) -m venv .uv
	.uv/bin/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

.venv/.installed: requirements.lock $(wildcard libs/*/pyproject.toml services/*/pyproject.toml examples/*/pyproject.toml) | $(UV)
	@test -x $(BIN)/python || $(UV) venv --quiet --python $(PYTHON) .venv
	$(UV) pip sync --quiet --python $(BIN)/python --require-hashes requirements.lock
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation $(addprefix -e ,$(PACKAGES))
	@touch $@

run: migrate ## start the product: PORT=8080 DATA=folder FOLDER=folder-to-answer-from
	$(BIN)/cogni run --port $(PORT) --data $(DATA) $(if $(FOLDER),--folder $(FOLDER))

migrate: install ## bring the database in DATA to this version's schema
	$(BIN)/cogni migrate --data $(DATA)

chromium: ## the browser that tests look through, where apt-get can bring it
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing chromium with apt-get"; \
	  (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core) >/dev/null \
	    || echo "Chromium could not be installed: the tests in tests/browser are skipped"; \
	else echo "There is no Chromium here, and only root can install it: the tests in tests/browser are skipped"; fi

agui-client: .node/agui/.installed ## the official AG-UI client, which tests drive the product by, where npm can bring it

turbo-client: .node/turbo/.installed ## the official Turbo client, which a test lets a page run, where npm can bring it

.node/%/.installed: tests/%/package-lock.json | .venv/.installed
	@mkdir -p $(@D) && cp tests/$*/package.json tests/$*/package-lock.json $(@D)
	@if $(BIN)/npm ci --prefix $(@D) --ignore-scripts --no-audit --no-fund --silent --fetch-retries=1; then touch $@; \
	else echo "The $* client could not be installed: the tests that need it are skipped"; fi

test: install chromium agui-client turbo-client ## every test that needs no server
	$(BIN)/pytest -q -n 2 --dist loadgroup -m "not connected"

e2e: install ## tests on real servers, which are installed once and started here; says which ran
	$(BIN)/pytest -q tests/e2e

check-deploy: install ## the chart, Terraform, the Tiltfile, and an image where a Docker engine answers; says which ran
	$(BIN)/pytest -q tests/deploy

test-live: install ## the contract of models against the provider whose key is in the environment, which costs
	COGNI_LIVE=1 $(BIN)/pytest -q libs/adapters/tests/live

check: install ## format, lint, import contracts, types: before any test
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/lint-imports
	$(BIN)/mypy

bench: install ## speed and memory, one JSON object a line: NAME=one-benchmark
	$(BIN)/python -m bench $(NAME)

screenshots: install ## a picture of every state of the assistant, in docs/screenshots
	$(BIN)/python -m scripts.screenshots

format: install ## let ruff put the code in its form
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)

lock: install ## resolve requirements.lock anew
	PATH="$(CURDIR)/.uv/bin:$$PATH" $(BIN)/python scripts/lock.py
