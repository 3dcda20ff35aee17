"""Evidence from several retrievers to one score.

score(p) = (1 - w) · L(p) + w · D(p)

    L(p)  BM25 of p, divided by the largest BM25 of the candidates; 0 where no term matches
    D(p)  cosine of p, min-max normalised over the candidates; 0 where p has no vector
    w     DENSE_WEIGHT · share of the query that the embedder can read

Convex combination of normalised scores: Bruch, Gai, Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval",
ACM TOIS 2023, https://arxiv.org/abs/2210.11934. Reciprocal rank fusion with k = 60, the usual choice, ranked below
plain BM25 on LoCoMo: ranks throw away how much a passage matches. An English model given a Chinese question returns
confident noise, hence w.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recall.types import Confidence

DENSE_WEIGHT = 0.5

STRONG_COVERAGE = 0.6
STRONG_COSINE = 0.55
WEAK_COVERAGE = 0.25
WEAK_COSINE = 0.35
"""Coverage: share of the query's inverse document frequency that the best passage holds."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its fused score in [0, 1] and its 1-based rank in each retriever that found it."""

    passage_id: int
    score: float
    evidence: dict[str, int]


def fuse(
    lexical: Mapping[int, float], dense: Mapping[int, float], cosines: Mapping[int, float], readable: float
) -> list[Ranked]:
    """All candidates, best first; ties by passage id, newest first.

    lexical: passage id to BM25, best first. dense: passage id to cosine, best first. cosines: those of all candidates
    that have a vector. readable: share of the query that the embedder can read.
    """
    weight = (DENSE_WEIGHT * readable if lexical else 1.0) if dense else 0.0
    largest = max(lexical.values(), default=0.0)
    lowest, highest = min(cosines.values(), default=0.0), max(cosines.values(), default=0.0)
    lexical_ranks = {passage: rank for rank, passage in enumerate(lexical, 1)}
    dense_ranks = {passage: rank for rank, passage in enumerate(dense, 1)}
    ranked = []
    for passage in lexical.keys() | dense.keys():
        lexical_part = lexical.get(passage, 0.0) / largest if largest > 0 else 0.0
        dense_part = 0.0
        if passage in cosines:
            spread = highest - lowest
            dense_part = (cosines[passage] - lowest) / spread if spread > 0 else 1.0
        evidence = {}
        if passage in lexical_ranks:
            evidence["lexical"] = lexical_ranks[passage]
        if passage in dense_ranks:
            evidence["dense"] = dense_ranks[passage]
        ranked.append(Ranked(passage, (1 - weight) * lexical_part + weight * dense_part, evidence))
    ranked.sort(key=lambda r: (-r.score, -r.passage_id))
    return ranked


def confidence_of(coverage: float, cosine: float, readable: float) -> Confidence:
    """Whether the best passages answer the question: from the best coverage and the best cosine among the first hits.

    A cosine counts only as far as the embedder can read the question.
    """
    cosine *= readable
    if coverage >= STRONG_COVERAGE or cosine >= STRONG_COSINE:
        return "strong"
    if coverage >= WEAK_COVERAGE or cosine >= WEAK_COSINE:
        return "weak"
    return "none"
