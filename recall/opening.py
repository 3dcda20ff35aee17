"""Opening an index, as `recall.open` does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from recall.embedding import EmbedderChoice
from recall.errors import UsageError
from recall.home import home_directory
from recall.index import Index
from recall.reranking import RerankerChoice
from recall.retention import Retention


def open_index(
    path: str | Path | None = None,
    embedder: EmbedderChoice = None,
    reranker: RerankerChoice = None,
    exclude: Sequence[str | Path] = (),
    keep_days: int | None = None,
    keep_megabytes: int | None = None,
) -> Index:
    """Open the index in the folder `path`, made if need be.

    path: None is RECALL_HOME, else the platform's user data folder; ":memory:" keeps everything in memory.
    embedder: None is the bundled model; the name of a fastembed model; a folder with an ONNX model; or any object with
    name, dimension, embed_passages and embed_query.
    reranker: None is none; "minilm" looks at the best passages again with the bundled model, which makes a search
    slower; the name of a fastembed cross-encoder; or any object with name and score.
    exclude: directories whose sessions are never taken in, with all below them; `*` stands for any characters.
    keep_days, keep_megabytes: None keeps all; else each ingest without a budget removes the oldest sessions, which
    their transcripts do not bring back.
    """
    for name, number in (("keep_days", keep_days), ("keep_megabytes", keep_megabytes)):
        if number is not None and number < 1:
            raise UsageError(f"{name} is {number}; expected 1 or more, or None to keep all")
    retention = Retention(keep_days, keep_megabytes)
    if path == ":memory:":
        return Index(None, embedder, reranker, exclude, retention)
    home = Path(path).expanduser() if path is not None else home_directory()
    return Index(home, embedder, reranker, exclude, retention)
