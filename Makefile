# `make demo` and `make test` work as the first command after a clone: they need Python, git and make, nothing else.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)

.PHONY: demo test format clean

demo: $(VENV)/installed
	$(BIN)/python -m benchmarks.demo

test: $(VENV)/installed
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/python -m pytest

format: $(VENV)/installed
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

clean:
	$(PYTHON) -c "import shutil; shutil.rmtree('$(VENV)', ignore_errors=True)"

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	$(PYTHON) -c "import pathlib; pathlib.Path('$(VENV)/installed').touch()"
