"""The bundled model's token vectors instead of their mean: each word of the query finds its best match by itself.

    score(p) = SHARPNESS · 1/|Q| · Σ max cos(q, t)        sum over q in Q, maximum over the tokens t of p

    Q     tokens of the query that tell something: no special tokens, no punctuation, no stop words; where nothing is
          left, all but the special ones
    q, t  last hidden states of the model, in the context of the whole query and of the whole passage

MaxSim: Khattab, Zaharia, "ColBERT", SIGIR 2020, equation 3, where it is a sum; with the mean a long query weighs no
more than a short one. ColBERT is trained for it. That models of sentence vectors serve without: Łukawski, "Any
Embedding Model Can Become a Late Interaction Model", Qdrant, 2024,
https://qdrant.tech/articles/late-interaction-models/
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from recall.analysis import STOP_WORDS
from recall.embedding import Vectors, unit
from recall.minilm import VOCABULARY, MiniLM
from recall.reranking import Scores

SHARPNESS = 30.0
"""Nats between a passage that has the very tokens of the query and one that has nothing like them."""

_SPECIAL = frozenset(("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"))
_CONTINUES = "##"
"""Before a piece that goes on with the word of the piece before it."""


class LateInteraction:
    """The bundled model as a reranker. Loaded at its first use; raises ModelError where it cannot be."""

    def __init__(self, model: MiniLM | None = None) -> None:
        """model: the embedder, if there is one already, so that the same model is not loaded twice."""
        self._model = model or MiniLM()

    @property
    def name(self) -> str:
        return f"{self._model.name}+maxsim"

    def readable_share(self, text: str) -> float:
        return self._model.readable_share(text)

    def score(self, query: str, passages: Sequence[str]) -> Scores:
        """Nats, shape (len(passages),); all 0 where the query holds nothing that the model understands."""
        if not passages:
            return np.zeros(0, dtype=np.float32)
        [(ids, states)] = self._model.token_states([query])
        telling = _telling(ids)
        if not telling:
            return np.zeros(len(passages), dtype=np.float32)
        wanted = unit(states[telling])
        # Sorted and each once: then nothing that the model may round otherwise can depend on the passages' order.
        distinct = sorted(set(passages))
        found = self._model.token_states(distinct)
        scores = {text: _similarity(wanted, states) for text, (_, states) in zip(distinct, found, strict=True)}
        return SHARPNESS * np.array([scores[text] for text in passages], dtype=np.float32)


def _similarity(wanted: Vectors, states: Vectors) -> float:
    """Mean over the rows of `wanted`, which are unit vectors, of the largest cosine with any row of `states`."""
    return float((wanted @ unit(states).T).max(axis=1).mean())


def _telling(ids: Sequence[int]) -> list[int]:
    """The places in `ids` of the tokens that make up Q, ascending."""
    vocabulary = _vocabulary()
    pieces = [vocabulary[token] for token in ids]
    ends = [not following.startswith(_CONTINUES) for following in [*pieces[1:], ""]]
    said = [place for place, piece in enumerate(pieces) if piece not in _SPECIAL]
    telling = [
        place
        for place in said
        if any(map(str.isalnum, pieces[place]))
        # `its` is a stop word, but not as a part of `its ##y`.
        and not (ends[place] and pieces[place] in STOP_WORDS)
    ]
    return telling or said


@cache
def _vocabulary() -> tuple[str, ...]:
    """The word pieces of the model, by their ids."""
    return tuple(VOCABULARY.read_text(encoding="utf-8").split("\n"))
