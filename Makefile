# `make run` and `make test` on a fresh machine set everything up first; a second call does no work again.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INDEX ?= index

.PHONY: run test install index benchmarks campaign evaluation clean

run: index
	$(BIN)/wattwise app --index $(INDEX)

# The tests share two processors among themselves: see chatbot/__main__.py.
test: export OPENBLAS_NUM_THREADS ?= 1
# Dozens of processes are started: none shall compile again what another has compiled.
test: export PYTHONDONTWRITEBYTECODE =
test: install
	# The index that many tests share is made on one processor while the checkers read on the other.
	mkdir -p .pytest_cache/d/corpus
	$(BIN)/wattwise ingest corpus --index .pytest_cache/d/corpus/index & $(BIN)/ruff check . && $(BIN)/mypy; checked=$$?; wait; exit $$checked
	# Files in the order of their names: the browser's, which waits most, comes first, and no long one last.
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder --ignore tests/test_golden.py
	$(BIN)/python -m pytest tests/test_golden.py  # asks on two processors itself, and prints its report

install: $(VENV)/.installed

# torch comes first and pinned: a plain `torch` would bring gigabytes of CUDA packages that nothing here uses. pip takes minutes for the
# rest, uv seconds. Python compiles a module when it is first imported; to compile all of them beforehand takes over a minute.
$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile torch==2.13.0 uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --editable '.[dev]'
	touch $@

# Ingest itself sees what changed, by content; when nothing did it takes well under a second.
index: install
	$(BIN)/wattwise ingest corpus --index $(INDEX)

benchmarks: install
	$(BIN)/uv pip install --quiet --python $(BIN)/python --editable '.[benchmarks]'
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/llm.py
	$(BIN)/python -m benchmarks.app
	$(BIN)/python benchmarks/slack.py
	$(BIN)/python benchmarks/retrieval.py || test $$? -eq 2  # 2: the AWS pages are not on this machine

# Faults, forged requests and hostile input by the thousand; hours on two cores. Each prints its seed and exits 1 on a breach.
campaign: index
	$(BIN)/python -m benchmarks.campaign.kill --count 300
	$(BIN)/python -m benchmarks.campaign.damage --count 20
	$(BIN)/python -m benchmarks.campaign.stop --count 20
	$(BIN)/python benchmarks/campaign/documents.py --count 100
	$(BIN)/python benchmarks/campaign/fuzz.py
	$(BIN)/python benchmarks/campaign/cold.py
	$(BIN)/python benchmarks/campaign/growth.py
	$(BIN)/python benchmarks/campaign/patterns.py
	$(BIN)/python benchmarks/campaign/forged.py --count 1000

# What is slow and rarely tells, then the whole report of the exam bank and of the golden questions, with every wrong answer and its evidence.
evaluation: index
	# What the browser's tests of accessibility need; without npm they are skipped and say so.
	! command -v npm > /dev/null || npm install --silent --no-package-lock --prefix tests/browser
	$(BIN)/python -m pytest -m evaluation --timeout 1800
	$(BIN)/wattwise exam corpus/exam --index $(INDEX) --report report/bank
	$(BIN)/wattwise exam tests/golden --index $(INDEX) --report report/golden

clean:
	rm -rf $(VENV) $(INDEX)
