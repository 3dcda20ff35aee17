"""An embedder without meaning, and the bytes that a vector of it leaves in a file."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from recall.dense import codes
from recall.embedding import Vectors, unit


class Hashed:
    """The vector of a text is drawn from its hash, so that it can be told from all others by its bytes."""

    name = "hashed"
    dimension = 8
    max_tokens = 254

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.array([self.embed_query(text) for text in texts], dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        return np.frombuffer(sha256(text.encode()).digest(), dtype=np.uint32).astype(np.float32) + 1.0

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        return [(place, place + 1) for place in range(0, len(text), 4)]


def holding_vector(folder: Path, text: str) -> list[str]:
    """Names of the files below a folder that hold the vector of a passage."""
    vector = unit(Hashed().embed_passages([text]))[0]
    forms = (vector.astype(np.float32).tobytes(), codes(vector).tobytes())
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if any(form in path.read_bytes() for form in forms)]
