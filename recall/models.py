"""The models worth naming, what each of them reads, and whether it is on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from recall.embedding import Embedder, choose, readable_share
from recall.errors import UsageError
from recall.onnx_embedder import folder_of, is_downloaded, listing

BUNDLED = "minilm"

BUNDLED_READS = "English, and Chinese only through a glossary of programming terms"
SMALLEST_CHINESE = "BAAI/bge-small-zh-v1.5"

Source = Literal["bundled", "fastembed", "folder"]

_FASTEMBED = {
    SMALLEST_CHINESE: "Chinese",
    "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2": "about 50",
    "jinaai/jina-embeddings-v2-base-zh": "Chinese and English",
    "intfloat/multilingual-e5-large": "about 100",
}
"""Those of fastembed's models that read Chinese and are made for search, by size, and the languages of each."""

_PLAIN_CHINESE = "春眠不觉晓处处闻啼鸟"
"""A line of a poem by Meng Haoran: no glossary of programming terms helps with it."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model by the name that `config.toml` knows it by."""

    name: str
    source: Source
    languages: str
    """In words; empty where nobody says."""
    megabytes: int | None
    """Of the download, or of the model file where it is bundled; None where it is not known."""
    here: bool
    """Whether it is on this machine, so that it works without a network."""


def known_models(cache: Path) -> Iterator[Model]:
    """The bundled model first, then those that read more languages, smallest first. cache: for downloaded models."""
    for name in (BUNDLED, *_FASTEMBED):
        if found := describe(name, cache):
            yield found


def describe(name: str, cache: Path) -> Model | None:
    """The model of that name, or in the folder of that name; None for one that is not known. Downloads nothing."""
    if name == BUNDLED:
        return Model(name, "bundled", BUNDLED_READS, 23, True)
    if folder_of(name).is_dir():
        return Model(name, "folder", "", None, True)
    if (listed := listing(name)) is None:
        return None
    spelled, megabytes = listed
    languages = _FASTEMBED.get(spelled, "English" if reads_english_only(choose(name)) else "")
    return Model(spelled, "fastembed", languages, megabytes, is_downloaded(spelled, cache))


def reads_english_only(embedder: Embedder) -> bool:
    """Whether the embedder takes Chinese for noise, as far as it says; a model is not loaded for this."""
    return readable_share(embedder, _PLAIN_CHINESE) < 0.5


def accepted(name: str, cache: Path) -> Model:
    """The model that a person means by `name`, as it can be written into a configuration: a folder by its full path.

    Nothing is downloaded; what is on this machine is tried. Raises UsageError, ModelError.
    """
    name = name.strip()
    if not name:
        raise UsageError(f"the model has no name; expected {BUNDLED}, a fastembed name or a folder")
    folder = folder_of(name)
    if name != BUNDLED and folder.is_dir():
        name = str(folder.resolve())
    embedder = choose(name, cache)
    embedder.dimension  # noqa: B018 - looks the name up, or into the folder
    found = describe(name, cache)
    assert found is not None, f"{name} has a dimension"
    if found.source != "fastembed":
        embedder.embed_query("can it be used?")
    return found
