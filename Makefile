# make train: learn to play in five minutes. make test: the tests. Needs Python 3.11 or later and nothing else.
PYTHON ?= python3
MINUTES ?= 5
RULES ?= whitnack
SEED ?= 0
RUN ?=
BENCH ?= bench.json
JOBS ?= 2
SECONDS_A_ROW ?= 5
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.set-up
TEST_STAMP := $(VENV)/.set-up-test

.PHONY: help train test test-long bench docs set-up clean
.DEFAULT_GOAL := help

help:
	@echo "make train      set up, train for $(MINUTES) minutes, evaluate; the report is in runs/"
	@echo "                (settings: MINUTES=5 RULES=whitnack SEED=0 RUN=runs/a-name)"
	@echo "make test       run the tests (JOBS=2: so many at the same time)"
	@echo "make test-long  run all tests, with those that take minutes"
	@echo "make lint       the linter, the formatter's check and the type checker"
	@echo "make bench      measure this and, where they can be installed, other environments; the figures are in $(BENCH)"
	@echo "make docs       build the documentation, with every warning an error; it begins at site/index.html"
	@echo "make set-up     only create the environment in $(VENV) (PYTHON=python3.12 chooses another Python)"
	@echo "make clean      remove the environment and what was built; runs/ stays"

set-up: $(TEST_STAMP)

# Done again when what is to be installed changes.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed; name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[train,evaluate]'
	@touch $@

# What the tests need beside; who only trains does without.
$(TEST_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[train,evaluate,test]'
	@touch $@

train: $(STAMP)
	$(BIN)/handfoot train --rules $(RULES) --minutes $(MINUTES) --seed $(SEED) $(if $(RUN),--out $(RUN))

# The kernels are compiled before the workers start; a file's tests stay on one worker, which share what they made.
PYTEST := -m pytest -n $(JOBS) --dist loadfile --durations=30

test: $(TEST_STAMP)
	$(BIN)/python -m tests.warm_up
	$(BIN)/python $(PYTEST) $(PYTEST_ARGS)

test-long: $(TEST_STAMP)
	$(BIN)/python -m tests.warm_up
	$(BIN)/python $(PYTEST) -m '' $(PYTEST_ARGS)

lint: $(TEST_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Other people's libraries are installed here, not with what the tests need.
bench: $(STAMP)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[train,peers,sb3]'
	$(BIN)/handfoot bench --seconds $(SECONDS_A_ROW) --peers --training $(foreach part,vector profile threads aec players copies memory start,--only $(part)) --json $(BENCH)

# Everything anew (-E -a): a page that is not read again hides its warnings.
docs: $(TEST_STAMP)
	$(BIN)/python -m sphinx -E -a -W --keep-going -q -b html -d build/doctrees docs site

clean:
	rm -rf $(VENV) build dist site *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
