SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
export TM_HOME ?= $(CURDIR)/.tm_home
SUDO := $(shell test "$$(id -u)" = 0 || echo sudo)
PYTEST_ARGS ?=

.PHONY: help install demo dev test test-all check lint types bench mariadb

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP) ## make .venv with the pinned packages (does nothing when up to date)

$(STAMP): pyproject.toml setup.py constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and f"Python 3.11 or newer is needed, {v[0]}.{v[1]} found. Name another one: make PYTHON=python3.12 install")'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "Installing python3-venv from the system's packages …"; \
	    $(SUDO) apt-get update -qq; \
	    DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -qq python3-venv >/dev/null; }
	@test -x $(BIN)/python || { echo "Making $(VENV) …"; $(PYTHON) -m venv $(VENV); }
	@echo "Installing the pinned packages (about a minute the first time) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(STAMP)

demo: $(STAMP) ## translate a sample product from end to end, then print what happened
	@$(BIN)/tm-pipeline demo

dev: $(STAMP) ## open the Dagster UI on the home that `make demo` filled
	@$(BIN)/tm-pipeline migrate $(if $(TM_DATABASE_URL),,--with-sample)
	@mkdir -p $(TM_HOME)/dagster && cp dagster.yaml $(TM_HOME)/dagster/dagster.yaml
	@echo "Open http://127.0.0.1:$${TM_UI_PORT:-3000} (stop with Ctrl-C)"
	@DAGSTER_HOME=$(TM_HOME)/dagster TM_AUTOMATION=$${TM_AUTOMATION:-on} TM_FIXED_DELAY_MS=$${TM_FIXED_DELAY_MS:-30000} \
	    $(BIN)/dagster dev -w workspace.yaml --host 127.0.0.1 --port $${TM_UI_PORT:-3000}

mariadb:
	@if [[ -z "$${TM_TEST_DATABASE_URL:-}" ]] && ! PATH="$$PATH:/usr/sbin:/usr/local/sbin" command -v mariadbd >/dev/null; then \
	    echo "Installing mariadb-server from the system's packages (the tests start a private one) …"; \
	    $(SUDO) apt-get update -qq; \
	    DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -qq mariadb-server >/dev/null; \
	fi

test: $(STAMP) mariadb ## run the tests, MariaDB included
	@$(BIN)/python -m pytest -m "not slow" $(PYTEST_ARGS)

test-all: $(STAMP) mariadb ## run every test, the slow ones too
	@$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(STAMP) ## style, layers and dependencies
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports
	@$(BIN)/deptry .

types: $(STAMP) ## check the types of package and tests
	@$(BIN)/mypy

check: test lint types ## everything that continuous integration checks

bench: $(STAMP) mariadb ## print the benchmark's JSON lines
	@$(BIN)/python -m bench.queue
