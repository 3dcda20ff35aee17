"""Words and meaning to one score.

    score(p) = (L(p) + w · c(p)) / (Lmax + w)        w = COSINE_WEIGHT · ln(1 + N) · r²

    L(p)  bm25f of p; Lmax, what it comes close to at best
    c(p)  cosine of p and the query; of a passage without a vector (a command, say) the mean of all candidates'
    N     passages in the index: ln(1 + N) is about the inverse document frequency of a word that one passage has
    r     share of the query that the embedder can read

Both parts are read as logarithms of odds, which add up: BM25 is derived as one (Robertson, Zaragoza, "The Probabilistic
Relevance Framework", 2009), and the bundled model was trained with a softmax over cosines times 20. So nothing is
normalised by query: how much a passage matches counts, not only that it matches more than others. Reciprocal rank
fusion, the usual choice, throws that away (benchmarks/README.md). An English model given a Chinese question returns
confident noise, hence r.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from recall.types import Confidence

COSINE_WEIGHT = 3.5

COSINE_SHARE = 0.75
"""Weight of the cosine in the evidence; the rest is the coverage."""

EXPECTED_COSINE = (0.35, 0.4)
"""Cosine of the best hit where no word matches, and how much it rises until all do; a line through LoCoMo's means."""

STRONG = 0.44
WEAK = 0.36
"""Evidence from which a hit is a strong or a weak match: chosen on LoCoMo, where 95% of the questions that have an
answer in the scope lie above the first and 99% above the second (benchmarks/README.md has the rates on other data)."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its fused score in [0, 1] and its 1-based rank in each retriever that found it."""

    passage_id: int
    score: float
    evidence: dict[str, int]


def fuse(
    words: Mapping[int, float],
    largest: float,
    cosines: Mapping[int, float],
    cosine_weight: float,
    ranks: Mapping[str, Mapping[int, int]],
    said_at: Mapping[int, int],
) -> list[Ranked]:
    """All candidates, best first; of equal ones the latest.

    words: passage id to L. largest: Lmax, 0 where only vectors are searched. cosines: passage id to c, empty where only
    words are searched. cosine_weight: w. ranks: retriever to passage id to 1-based rank. said_at: passage id to
    milliseconds since 1970, as far as known.
    """
    weight = cosine_weight if cosines else 0.0
    most = largest + weight
    unknown = sum(cosines.values()) / len(cosines) if cosines else 0.0
    sums = {
        passage: words.get(passage, 0.0) + weight * cosines.get(passage, unknown)
        for passage in words.keys() | cosines.keys()
    }
    ranked = []
    for passage in sorted(sums, key=lambda passage: (-sums[passage], -said_at.get(passage, 0), passage)):
        evidence = {name: places[passage] for name, places in ranks.items() if passage in places}
        ranked.append(Ranked(passage, min(1.0, max(0.0, sums[passage] / most)) if most > 0 else 0.0, evidence))
    return ranked


def cosine_weight(passages: int, readable: float) -> float:
    """w, for an index of so many passages and a query of which the embedder can read that share."""
    return COSINE_WEIGHT * math.log(1 + passages) * readable**2


def confidence_of(coverage: float, cosine: float, readable: float) -> Confidence:
    """Whether the best hits answer the question.

    coverage: largest share of the query's inverse document frequency that one of them holds. cosine: their largest;
    it counts as far as the embedder can read the query. For the rest stands the cosine that goes with such a coverage
    on average.
    """
    expected = EXPECTED_COSINE[0] + EXPECTED_COSINE[1] * coverage
    meaning = readable * cosine + (1 - readable) * expected
    evidence = (1 - COSINE_SHARE) * coverage + COSINE_SHARE * meaning
    return "strong" if evidence >= STRONG else "weak" if evidence >= WEAK else "none"
