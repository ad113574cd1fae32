# On a fresh machine, `make run` and `make test` set everything up first; later calls repeat none of that work.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INDEX ?= index

.PHONY: run test install index benchmarks campaign evaluation clean

run: index
	$(BIN)/wattwise app --index $(INDEX)

# Two test processes share two cores, so BLAS gets one thread each: see chatbot/__main__.py.
test: export OPENBLAS_NUM_THREADS ?= 1
# The tests start dozens of processes, which reuse each other's compiled bytecode.
test: export PYTHONDONTWRITEBYTECODE =
test: install
	# Build the index that many tests share on one core while the linters run on the other.
	mkdir -p .pytest_cache/d/corpus
	$(BIN)/wattwise ingest corpus --index .pytest_cache/d/corpus/index & $(BIN)/ruff check . && $(BIN)/mypy; checked=$$?; wait; exit $$checked
	# Run files in name order: the browser tests, which wait most, come first, and no slow file comes last.
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder --ignore tests/test_golden.py
	$(BIN)/python -m pytest tests/test_golden.py  # uses two cores itself, and prints its report

install: $(VENV)/.installed

# On Linux, PyPI's torch pulls in gigabytes of CUDA packages that nothing here uses. So torch comes first, from pip, which
# can be set to another index, such as https://download.pytorch.org/whl/cpu; uv ignores pip's settings. pip takes minutes
# for the rest, uv seconds. --no-compile: Python compiles modules on first import; compiling all of them up front takes
# over a minute.
$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile torch==2.13.0 uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --editable '.[dev]'
	touch $@

# `ingest` detects changes by content; without changes it takes well under a second.
index: install
	$(BIN)/wattwise ingest corpus --index $(INDEX)

benchmarks: install
	$(BIN)/uv pip install --quiet --python $(BIN)/python --editable '.[benchmarks]'
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/llm.py
	$(BIN)/python -m benchmarks.app
	$(BIN)/python benchmarks/slack.py
	$(BIN)/python benchmarks/retrieval.py || test $$? -eq 2  # 2: the AWS pages are not on this machine

# Fault injection, forged requests and hostile input by the thousand: hours on two cores. Each campaign prints its seed,
# and exits 1 on a breach.
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

# The slow tests that rarely find anything, then the full reports on the exam bank and the golden questions, with every
# wrong answer and its evidence.
evaluation: index
	# The browser's accessibility tests need these packages; without npm they are skipped, with a message.
	! command -v npm > /dev/null || npm install --silent --no-package-lock --prefix tests/browser
	$(BIN)/python -m pytest -m evaluation --timeout 1800
	$(BIN)/wattwise exam corpus/exam --index $(INDEX) --report report/bank
	$(BIN)/wattwise exam tests/golden --index $(INDEX) --report report/golden

clean:
	rm -rf $(VENV) $(INDEX)
