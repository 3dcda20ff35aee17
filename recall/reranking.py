"""What a reranker is, and choosing one.

A reranker looks at the best passages of the first ranking again, each together with the query: too slow for all of
them, better at the order of a few. Any object with `name` and `score` is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from recall.embedding import Selective
from recall.errors import ModelError
from recall.fusion import Ranked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Scores: TypeAlias = "NDArray[np.float32]"


DEPTH = 30
"""Passages that are looked at again: what is not among them is rarely the answer, and each costs milliseconds."""


@runtime_checkable
class Reranker(Protocol):
    """Says how well passages answer a query. It may be a `Fetching` too, if its model has to be downloaded first."""

    @property
    def name(self) -> str: ...

    def score(self, query: str, passages: Sequence[str]) -> Scores:
        """One finite number a passage, in their order, shape (len(passages),); higher is better.

        In nats: it is added to the evidence of the first ranking, a sum of logarithms of probabilities. So only the
        differences within one call matter, and equal numbers leave the ranking as it was.
        """
        ...


RerankerChoice = Reranker | str | None


def choose_reranker(choice: RerankerChoice, cache: Path | None = None, embedder: object = None) -> Reranker | None:
    """The reranker that a caller means: None or an empty string is none, `minilm` the bundled model, another string the
    name of a fastembed cross-encoder, anything else is a reranker itself.

    cache: folder for models that are downloaded. embedder: the one in use; `minilm` shares its model. Models are
    loaded, and names looked up, at the first use, not here.
    Raises ModelError for an object that is no reranker.
    """
    if choice is None or choice == "":
        return None
    if choice == "minilm":
        from recall.late_interaction import LateInteraction
        from recall.minilm import MiniLM

        return LateInteraction(embedder if isinstance(embedder, MiniLM) else None)
    if isinstance(choice, str):
        from recall.cross_encoder import CrossEncoder

        return CrossEncoder(choice, cache)
    if not isinstance(choice, Reranker):
        missing = " and ".join(name for name in ("name", "score") if not hasattr(choice, name))
        raise ModelError(
            f"{choice!r} is no reranker: it lacks {missing}; give minilm, the name of a fastembed cross-encoder, "
            "or an object with name and score(query, passages)"
        )
    return choice


def rerank(
    reranker: Reranker, query: str, ranking: Sequence[Ranked], text_of: Callable[[int], str], nats: float
) -> tuple[Ranked, ...]:
    """The ranking with its first DEPTH in the order of old and new evidence together; the rest follows as it was.

    The new evidence counts as far as the reranker can read the query, where it says so (`Selective`). text_of: the text
    of a passage id. nats: how much evidence a score of 1 stands for. Raises ModelError for scores that are no numbers.
    """
    first, rest = ranking[:DEPTH], ranking[DEPTH:]
    if not first or nats <= 0:
        return tuple(ranking)
    import numpy as np

    scores = np.asarray(reranker.score(query, [text_of(ranked.passage_id) for ranked in first]), dtype=np.float64)
    if scores.shape != (len(first),) or not np.isfinite(scores).all():
        raise ModelError(
            f"{reranker.name} returned scores of shape {scores.shape}, expected {len(first)} finite numbers"
        )
    readable = reranker.readable_share(query) if isinstance(reranker, Selective) else 1.0
    told = readable**2 * (scores - scores.mean()) / nats
    summed = [ranked.score + float(more) for ranked, more in zip(first, told, strict=True)]
    again = [
        replace(ranked, score=min(1.0, max(0.0, score)))
        for score, ranked in sorted(zip(summed, first, strict=True), key=lambda pair: -pair[0])
    ]
    least = again[-1].score
    return (*again, *(replace(ranked, score=min(ranked.score, least)) for ranked in rest))
