"""How much each term of a query tells for a passage, its surroundings included.

    g(t, p) = idf(t) · f · (K1 + 1) / (f + K1 · (1 - B + B · len / avglen))

    f       how often passage p holds term t, plus NEIGHBOUR_WEIGHTS[d - 1] times how often each passage at distance d
            before or behind it does, plus QUESTION_WEIGHT times how often a question directly before it does
    len     length in terms, weighted as the neighbours are; avglen, that of an average passage with all its neighbours
    idf(t)  ln(1 + (N - n + 0.5) / (n + 0.5)), N passages, n with the term

BM25F, with the neighbours as fields: Robertson, Zaragoza, Taylor, "Simple BM25 Extension to Multiple Weighted Fields",
CIKM 2004. In a conversation the words of a question stand in one message and those of its answer in the next, so what
stands around a message tells more of it than a larger model does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from recall.passages import Origin

K1 = 0.9
B = 0.6
NEIGHBOUR_WEIGHTS = (0.4, 0.2)
QUESTION_WEIGHT = 0.6

Floats = NDArray[np.float64]


def gains(
    origins: Mapping[int, Origin],
    passage_ids: NDArray[np.int64],
    counts: Floats,
    lengths: Floats,
    idf: Sequence[float],
    average_length: float,
) -> Floats:
    """g of each passage and term, shape (origins, idf), in their orders.

    origins: passage id to what stands around it. passage_ids: these passages and all that stand around them,
    ascending; counts, shape (passages, idf), and lengths, in terms, are theirs.
    """
    rows: list[int] = []
    others: list[int] = []
    weights: list[float] = []
    for row, (passage, origin) in enumerate(origins.items()):
        for weight, ids in ((1.0, (passage,)), *zip(NEIGHBOUR_WEIGHTS, origin.neighbours, strict=False)):
            for id in ids:
                rows.append(row)
                others.append(id)
                weights.append(weight)
    frequencies = np.zeros((len(origins), len(idf)))
    around = np.zeros(len(origins))
    places, weighted = np.searchsorted(passage_ids, np.array(others, dtype=np.int64)), np.array(weights)
    in_rows = np.array(rows, dtype=np.intp)
    np.add.at(frequencies, in_rows, weighted[:, None] * counts[places])
    np.add.at(around, in_rows, weighted * lengths[places])
    asked = [(row, origin.question) for row, origin in enumerate(origins.values()) if origin.question is not None]
    if asked:
        answers, questions = zip(*asked, strict=True)
        frequencies[list(answers)] += QUESTION_WEIGHT * counts[np.searchsorted(passage_ids, questions)]
    return bm25_gains(frequencies, np.asarray(idf), around, average_length * (1 + 2 * sum(NEIGHBOUR_WEIGHTS)))


def bm25(counts: Floats, idf: Floats, lengths: NDArray[np.int64], average_length: float) -> Floats:
    """BM25 of passages by themselves; counts has the shape (passages, idf)."""
    total: Floats = bm25_gains(counts, idf, lengths.astype(np.float64), average_length).sum(axis=1)
    return total


def bm25_gains(counts: Floats, idf: Floats, lengths: Floats, average_length: float) -> Floats:
    """What each term adds, in the shape of `counts`."""
    saturation = K1 * (1 - B + B * lengths / average_length) if average_length else np.full(len(counts), K1)
    gained: Floats = idf * counts * (K1 + 1) / (counts + saturation[:, None])
    return gained


def saturated(count: float) -> float:
    """What a term that stands `count` times in a passage of average length adds, in units of its idf."""
    return count * (K1 + 1) / (count + K1)


def largest(idf: Sequence[float]) -> Floats:
    """What g comes close to where every term is repeated without end, shape (1, idf)."""
    return (K1 + 1) * np.asarray([idf], dtype=np.float64)
