"""An embedder whose passages cost next to nothing: to embed a million with the model takes hours.

A passage is the sum of what the bundled model says of its words, less what it says of all words, each weighted by how
rare the word is, with a share of what all texts have in common. A question is embedded by the model itself, so that its
time is in the measurement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.vocabulary import Vocabulary, chinese, english

COMMON = 0.35
"""Norm of the mean of all passages: as the model's vectors of 47,644 passages of the data sets have it."""

_WORD = re.compile(r"[A-Za-z_]+|[\u3400-\u9fff]{2}")


class WordVectors:
    """Vectors like the model's, without the model. Passages are cut as the model cuts them."""

    name = "word-vectors"
    dimension = 384

    def __init__(self, model: Any) -> None:
        """model: the bundled one. Embeds each word of the vocabularies at its first use, which takes a minute."""
        self._model = model
        self.max_tokens: int = model.max_tokens
        self._number: dict[str, int] = {}
        self._common = np.zeros(0, np.float32)
        self._vectors = np.zeros((0, 0), np.float32)

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        """As the model has them."""
        spans: Sequence[tuple[int, int]] = self._model.token_spans(text)
        return spans

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The model's own."""
        vector: NDArray[np.float32] = self._model.embed_query(text)
        return vector

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows, zeros where no word is known."""
        if not self._number:
            self._learn()
        return np.stack([self._embedded(text) for text in texts])

    def _learn(self) -> None:
        words: list[str] = []
        weights: list[float] = []
        for vocabulary in (english(), chinese()):
            words += [str(word) for word in vocabulary.words]
            weights += _rarity(vocabulary).tolist()
        vectors = self._model.embed_passages(words)
        mean = vectors.mean(axis=0)
        self._common = mean / np.linalg.norm(mean)
        self._vectors = (vectors - mean) * np.array(weights, dtype=np.float32)[:, None]
        self._number = {word: number for number, word in enumerate(words)}

    def _embedded(self, text: str) -> NDArray[np.float32]:
        known = list(self._known(text))
        if not known:
            return np.zeros(self.dimension, np.float32)
        own = self._vectors[known].sum(axis=0)
        own /= max(float(np.linalg.norm(own)), 1e-6)
        mixed = COMMON * self._common + np.float32(np.sqrt(1 - COMMON**2)) * own
        vector: NDArray[np.float32] = mixed / np.linalg.norm(mixed)
        return vector

    def _known(self, text: str) -> Iterator[int]:
        for word in _WORD.findall(text):
            number = self._number.get(word)
            if number is not None:
                yield number


def _rarity(vocabulary: Vocabulary) -> NDArray[np.float64]:
    """-ln of how often each word is used."""
    rarity: NDArray[np.float64] = -np.log(np.diff(vocabulary.cumulative, prepend=0.0))
    return rarity
