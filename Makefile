# Everything from a fresh clone, with Python 3.11 or newer and make; `make` alone lists what there is.

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
BENCHED := $(VENV)/.bench
DOCUMENTED := $(VENV)/.docs
PACKED := $(VENV)/.ci
# The first Python that is new enough; `make PYTHON=python3.13 …` chooses another.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

# Images of containers often forbid Python to keep what it compiles. Every process of a test would compile schedctl anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo quick test lint types imports pytest test-oracle test-cluster test-cluster-older test-live bench bench-quick bench-results docs dist lock pex clean study-fgd study-packing
.DEFAULT_GOAL := help

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*##  *\(.*\)/  make \1@\2/p' $(MAKEFILE_LIST) | awk -F@ '{ printf "%-20s %s\n", $$1, $$2 }'

demo: $(INSTALLED)  ## why a pod of an example cluster is pending, and what would help
	$(BIN)/schedctl demo

# What is small, by folder: rules and readers, the framework, and what the tree says about itself. Half a minute on two
# cores with warm caches; a folder that makes it longer goes.
SMALL := $(wildcard $(addprefix tests/,api architecture cache config documents engine framework))

# What people read, the code included; tests misspell on purpose.
SPELLED := README.md CHANGELOG.md CONTRIBUTING.md benchmarks conformance deploy docs examples fixtures profiles schedctl

quick: lint  ## while working: style, types, and the tests of what is small; under 30 s
	$(BIN)/mypy
	$(BIN)/pytest -q -m "not slow and not oracle and not cluster" -n 2 $(SMALL)

test: $(DOCUMENTED)  ## everything that needs no Go: style, spelling, types, tests, the layers among them
	$(MAKE) --jobs=2 lint types pytest

lint: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/codespell $(SPELLED)

types: $(INSTALLED)
	$(BIN)/mypy
	$(BIN)/mypy examples/plugins

imports: $(INSTALLED)  ## the layers alone, which tests/architecture checks too
	$(BIN)/lint-imports

pytest: $(DOCUMENTED)
	$(BIN)/pytest -m "not oracle and not cluster" -n auto --dist worksteal

test-oracle: $(INSTALLED)  ## compare with the real kube-scheduler on fresh cases; needs Go
	$(BIN)/pytest -m oracle

test-cluster: $(INSTALLED)  ## run beside the real kube-scheduler on a real API server; needs Go, and builds for long once
	conformance/cluster/build
	$(BIN)/pytest -m cluster

test-cluster-older: $(INSTALLED)  ## the same beside an older kube-scheduler: make test-cluster-older SCHEDCTL_OLDER=1.36
	SCHEDCTL_TEST_RELEASE=$(SCHEDCTL_OLDER) conformance/cluster/build
	SCHEDCTL_TEST_RELEASE=$(SCHEDCTL_OLDER) $(BIN)/pytest -m cluster tests/cluster/test_real_scheduler.py

test-live: $(INSTALLED)  ## read and change a real API server: the part of test-cluster that is about live clusters
	conformance/cluster/build
	$(BIN)/pytest -m cluster tests/live

fuzz: $(INSTALLED)  ## feed every reader what is wrong, for about an hour; SCHEDCTL_FUZZ says how many texts each
	SCHEDCTL_FUZZ=$${SCHEDCTL_FUZZ:-20000} HYPOTHESIS_PROFILE=explore $(BIN)/pytest -q -n auto tests/fuzz

OPENB ?= examples/studies/fgd/made
STUDY := build/studies
study-fgd: $(INSTALLED)  ## the FGD study beside its published table: make study-fgd OPENB=DIR; without, a made trace
	mkdir -p $(STUDY)
	$(BIN)/schedctl sweep examples/studies/fgd/study.yaml --set openb=$(abspath $(OPENB)) --results $(STUDY)/fgd.jsonl
	$(BIN)/python examples/studies/fgd/compare.py $(STUDY)/fgd.jsonl $(OPENB) $(STUDY)/fgd.svg

study-packing: $(INSTALLED)  ## the packing study, and the pictures of its page
	mkdir -p $(STUDY)
	$(BIN)/schedctl sweep examples/studies/packing/study.yaml --results $(STUDY)/packing.jsonl
	for metric in nodesUsed fragmented disruption; do \
	  $(BIN)/python examples/studies/draw.py $(STUDY)/packing.jsonl PackingMeter.$$metric > docs/charts/packing-$$metric.svg; \
	done

bench: bench-results  ## everything measured beside kube-scheduler and beside itself; needs Go; benchmarks/README.md
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python -m benchmarks.manifests
	$(BIN)/python -m benchmarks.loading
	$(BIN)/python -m benchmarks.cycle
	$(BIN)/python -m benchmarks.preemption
	$(BIN)/python -m benchmarks.simulation
	$(BIN)/python -m benchmarks.checks
	$(BIN)/python -m benchmarks.triage
	$(BIN)/python -m benchmarks.commands

bench-quick: $(INSTALLED)  ## a first impression in about a minute: a few shapes, small; says so where there is no Go
	$(BIN)/python -m benchmarks.shapes --quick
	$(BIN)/python -m benchmarks.growth --quick

RESULTS := benchmarks/results
bench-results: $(BENCHED)  ## of that, what docs/performance.md shows, written into it with its charts; needs Go
	conformance/oracle/build
	$(BIN)/python -m benchmarks.shapes --published --json $(RESULTS)/shapes.json --markdown $(RESULTS)/shapes.md
	$(BIN)/python -m benchmarks.mix_rates --json $(RESULTS)/mixes.json --markdown $(RESULTS)/mixes.md
	$(BIN)/python -m benchmarks.growth --json $(RESULTS)/growth.json --markdown $(RESULTS)/growth.md
	$(BIN)/python -m benchmarks.profile --json $(RESULTS)/profile.json --markdown $(RESULTS)/profile.md
	$(BIN)/python -m benchmarks.charts
	$(BIN)/python -m benchmarks.page

docs: $(DOCUMENTED)  ## the site, into build/site, which opens from disk: build/site/index.html
	$(BIN)/python -m sphinx --quiet --fail-on-warning --builder html --doctree-dir build/doctrees docs build/site

dist: $(INSTALLED)  ## wheel and sdist, into dist/
	$(BIN)/python -m build

lock: $(PACKED)  ## the dependencies of the action, the hook and the image, with hashes, into ci/
	PATH=$(CURDIR)/$(BIN):$$PATH $(BIN)/python ci/lock.py

pex: $(PACKED)  ## schedctl as a single file that needs Python and nothing else, into dist/schedctl
	$(BIN)/python ci/single_file.py dist/schedctl

clean:  ## forget the environment and everything built
	rm -rf $(VENV) dist build .cache .*_cache

# pip before 25.1 knows no dependency groups, so a group is read here: nothing has to be upgraded first.
GROUP = $(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["$(1)"], sep="\n")'
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

$(INSTALLED): pyproject.toml
	@test -n "$(PYTHON)" || { echo "schedctl needs Python 3.11 or newer; none was found" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(call GROUP,dev) > $(VENV)/dev.txt
	$(INSTALL) --requirement $(VENV)/dev.txt --editable .
	@touch $@

$(BENCHED): $(INSTALLED)
	$(call GROUP,bench) > $(VENV)/bench.txt
	$(INSTALL) --requirement $(VENV)/bench.txt
	@touch $@

$(PACKED): $(INSTALLED)
	$(call GROUP,ci) > $(VENV)/ci.txt
	$(INSTALL) --requirement $(VENV)/ci.txt
	@touch $@

$(DOCUMENTED): $(INSTALLED)
	$(call GROUP,docs) > $(VENV)/docs.txt
	$(INSTALL) --requirement $(VENV)/docs.txt
	@touch $@
