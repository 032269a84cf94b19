# Everything works on a fresh machine: each target first makes .venv from pyproject.toml.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -q --disable-pip-version-check --no-compile
# The demo imports little of what it installs, which is compiled when it is imported, and kept even where the environment
# says otherwise: commands start in half the time. Other targets compile all at once.
# What a target needs beyond the package: a stamp for each set of extras that was installed.
DEMO := $(VENV)/.installed-plot
TEST := $(VENV)/.installed-test
BENCH := $(VENV)/.installed-bench
DOCS := $(VENV)/.installed-docs
# aeon needs older versions of what all others use.
PEER := .venv-aeon
AEON := $(PEER)/.installed-aeon

.PHONY: demo test lint bench paper docs clean

$(DEMO): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[plot]'
	touch $@

$(VENV)/.installed-%: $(DEMO)
	$(PIP) -e '.[$*]'
	$(BIN)/python -m compileall -q -j 0 $(VENV)/lib src > /dev/null || true
	touch $@

$(AEON): pyproject.toml
	$(PYTHON) -m venv $(PEER)
	$(PEER)/bin/python -m pip install -q --disable-pip-version-check -e '.[aeon]'
	touch $@

demo: $(DEMO)
	PYTHONDONTWRITEBYTECODE= $(BIN)/decisional demo --out demo

# A process on each core: threads of BLAS beside them would only wait for each other.
test: export OMP_NUM_THREADS = 1
test: $(TEST)
	$(BIN)/python -m pytest -n auto --dist worksteal
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n auto -m small -p no:cacheprovider tests

lint: $(TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(TEST) $(BENCH) $(AEON)
	$(BIN)/python benchmarks/discrete.py
	$(BIN)/python benchmarks/selection.py --scale 0.1
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/decisions.py
	$(BIN)/python benchmarks/beliefs.py
	$(BIN)/python benchmarks/monitor.py
	$(BIN)/python benchmarks/fields.py
	$(BIN)/python benchmarks/cones.py --seeds 1 --runs 20
	$(BIN)/python benchmarks/kernels.py
	$(BIN)/python benchmarks/signals.py --seeds 2 --sizes 500 2000
	$(BIN)/python benchmarks/pasts.py --seeds 2
	$(BIN)/python benchmarks/forecasts.py
	$(BIN)/python benchmarks/levels.py
	$(BIN)/python benchmarks/signal_drift.py --scale 0.2
	$(BIN)/python benchmarks/coordinates.py
	$(PEER)/bin/python benchmarks/features.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/campaign.py

paper: $(TEST)
	$(BIN)/python paper/even_process.py
	$(BIN)/python paper/rule110.py
	$(BIN)/python paper/image_edges.py

docs: $(TEST) $(DOCS)
	$(BIN)/python -m sphinx -n -W --keep-going -b html docs docs/_build/html

clean:
	rm -rf $(VENV) $(PEER) demo build dist .pytest_cache .mypy_cache .ruff_cache
