# Everything a person or CI does goes through here. Variables:
#   MODEL=gemini:NAME  JUDGE_MODEL=…  QUALITY_MIN=0.9  SKILL=name  CASE=id  MODE=none  REPEATS=3  JOBS=8  ARGS="…"
# make turns every failure into exit code 2; where 1 (failed) and 3 (cannot decide) differ, call skillassay itself.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
ASSAY := $(BIN)/skillassay
EVAL_OPTIONS = $(if $(MODEL),--model $(MODEL)) $(if $(JUDGE_MODEL),--judge-model $(JUDGE_MODEL)) \
  $(if $(SKILL),--skill $(SKILL)) $(if $(CASE),--case $(CASE)) $(if $(MODE),--mode $(MODE)) \
  $(if $(REPEATS),--repeats $(REPEATS)) $(if $(JOBS),--jobs $(JOBS)) $(if $(QUALITY_MIN),--quality-min $(QUALITY_MIN))

.PHONY: help setup eval e2e check lock bump report test test-all verify format lint types unit bench requirements clean

help: ## Show this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: $(STAMP) ## Make .venv from the hashed lock (done by every other target when needed)

$(STAMP): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed, $(PYTHON) is older; call make PYTHON=python3.11" >&2; exit 3; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index -e .
	@touch $@

eval: $(STAMP) ## Evaluate the skills in three modes (MODEL, SKILL, CASE, MODE, REPEATS, JOBS, QUALITY_MIN)
	$(ASSAY) eval $(EVAL_OPTIONS) $(ARGS)

e2e: $(STAMP) ## Run the routing cases through our own agent loop
	$(ASSAY) e2e $(if $(MODEL),--model $(MODEL)) $(ARGS)

check: $(STAMP) ## Check skills, suites, contract and lock, offline
	$(ASSAY) check $(ARGS)

lock: $(STAMP) ## Write skills.lock.json from passing evidence
	$(ASSAY) lock $(ARGS)

bump: $(STAMP) ## Raise a version: make bump SKILL=name PART=patch|minor|major
	$(ASSAY) bump $(SKILL) $(PART) $(ARGS)

report: $(STAMP) ## Show the newest run again
	$(ASSAY) report $(ARGS)

# The lock comes first: it takes a second, and its message says more than a test that fails for the same reason.
test: verify format lint types unit ## Every check that needs Python alone

verify: $(STAMP)
	$(ASSAY) check
	$(ASSAY) lock --check

test-all: test ## What CI runs

format: $(STAMP)
	$(BIN)/ruff format --check .

lint: $(STAMP)
	$(BIN)/ruff check .

types: $(STAMP)
	$(BIN)/mypy

unit: $(STAMP)
	$(BIN)/python -m pytest -n auto

bench: $(STAMP) ## Measure against floors taken in the same run
	$(BIN)/python scripts/bench_check.py
	$(BIN)/python scripts/bench_start.py

requirements: ## Resolve requirements/dev.txt anew (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade \
	  --custom-compile-command "make requirements" --group dev pyproject.toml -o requirements/dev.txt

clean: ## Remove what was made, but for run records
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
