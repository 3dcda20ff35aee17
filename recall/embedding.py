"""What an embedder is, and choosing one.

Any object with `name`, `dimension`, `embed_passages` and `embed_query` is an embedder. The rest of the library never
sees a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from recall.analysis import unspaced_share
from recall.errors import ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# As text: a search by words only needs no numpy, which takes a fifth of a second to import.
Vectors: TypeAlias = "NDArray[np.float32]"

DEFAULT_MAX_TOKENS = 254
"""Tokens of a passage for an embedder that does not say what it takes: what the bundled model takes."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors. Vectors need not have unit norm; one of zeros means that nothing was understood."""

    @property
    def name(self) -> str:
        """Names the model: vectors of two embedders are comparable only if their names are equal."""
        ...

    @property
    def dimension(self) -> int: ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One row a text, shape (len(texts), dimension)."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Shape (dimension,)."""
        ...


@runtime_checkable
class Tokenizing(Protocol):
    """An embedder that can say how its model cuts a text, so that passages can be made to fit."""

    max_tokens: int

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        """[start, end) in code points of each token, ascending, without special tokens."""
        ...


@runtime_checkable
class Selective(Protocol):
    """An embedder that can say how much of a text it can read at all."""

    def readable_share(self, text: str) -> float:
        """From 0, nothing, to 1, all of it."""
        ...


@runtime_checkable
class Calibrated(Protocol):
    """An embedder whose cosines `confidence` was calibrated on (fusion.py)."""

    def calibrated_share(self, text: str) -> float:
        """How far this text is like those that it was calibrated on, from 0 to 1."""
        ...


@runtime_checkable
class Fetching(Protocol):
    """An embedder whose model may have to be downloaded first."""

    def fetch(self) -> None:
        """Download the model if it is not on this machine, and load it; raises ModelError where that fails."""
        ...


@runtime_checkable
class Revised(Protocol):
    """An embedder whose model may change under one name."""

    @property
    def revision(self) -> str:
        """Tells one state of the model from another; empty where it is not known, and is then not compared."""
        ...


@runtime_checkable
class Prefixing(Protocol):
    """An embedder that puts something before what it embeds, which changes the vectors."""

    @property
    def prefix(self) -> str:
        """What stands before a passage and before a query, in one string; empty for nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Identity:
    """All that vectors depend on: those of two embedders are comparable only where it is equal."""

    name: str
    dimension: int
    revision: str
    """Empty where it is not known."""
    prefix: str
    passage_tokens: int
    """The longest passage that it takes."""


def identity_of(embedder: Embedder) -> Identity:
    """What is known of an embedder without loading its model. Raises ModelError for a name that nobody knows."""
    return Identity(
        embedder.name,
        embedder.dimension,
        embedder.revision if isinstance(embedder, Revised) else "",
        embedder.prefix if isinstance(embedder, Prefixing) else "",
        embedder.max_tokens if isinstance(embedder, Tokenizing) else DEFAULT_MAX_TOKENS,
    )


EmbedderChoice = Embedder | str | Path | None


def choose(choice: EmbedderChoice, cache: Path | None = None) -> Embedder:
    """The embedder that a caller means: None is the bundled model, a Path a local folder, a string `minilm`, the
    name of a fastembed model or of a local folder, anything else is an embedder itself.

    cache: folder for models that are downloaded. Models are loaded when they are first used, not here.
    Raises ModelError for an unknown name, a folder without a model, and an object that is no embedder.
    """
    if choice is None or choice == "minilm":
        from recall.minilm import MiniLM

        return MiniLM()
    if isinstance(choice, str | Path):
        from recall.onnx_embedder import FastembedModel

        return FastembedModel(choice, cache)
    if not isinstance(choice, Embedder):
        needed = ("name", "dimension", "embed_passages", "embed_query")
        missing = ", ".join(name for name in needed if not hasattr(choice, name))
        raise ModelError(f"{choice!r} is no embedder: it lacks {missing}; give an object with {', '.join(needed)}")
    return choice


def readable_share(embedder: Embedder, text: str) -> float:
    """How much of `text` the embedder can read; 1 where it does not say."""
    return embedder.readable_share(text) if isinstance(embedder, Selective) else 1.0


def calibrated_share(embedder: Embedder, text: str) -> float:
    """How far the cosines of `text` can be compared with those that confidence was calibrated on; 0 if not known."""
    return embedder.calibrated_share(text) if isinstance(embedder, Calibrated) else 0.0


def english_share(text: str) -> float:
    """`readable_share` of a model that knows English only."""
    return 1.0 - unspaced_share(text)


def unit(vectors: Vectors) -> Vectors:
    """The rows with norm 1; rows of zeros, and rows that hold no numbers, become zeros."""
    import numpy as np

    # In float64, where the squares of the largest float32 still fit.
    wide = np.nan_to_num(np.asarray(vectors, dtype=np.float64), posinf=0.0, neginf=0.0)
    norms = np.linalg.norm(wide, axis=-1, keepdims=True)
    result: Vectors = np.divide(wide, norms, out=np.zeros_like(wide), where=norms > 0).astype(np.float32)
    return result
