"""Words and meaning to one score.

    e(p) = L(p) + r² · S(p) - QUESTION_PENALTY · asks(p)
    score(p) = e(p) + ln Σ exp(e(q) / 2)        over the candidates q of p's session

    L(p)     what the passage's words and their surroundings tell (bm25f.py, concepts.py)
    S(p)     -ln P(C ≥ c(p)): how surprising the cosine of p is among those that the query has with passages of the
             scope, taken as normal with the mean and deviation of a sample of them
    r        share of the query that the embedder can read
    asks(p)  1 where the passage is a question: what is looked for is the answer, which follows it

All parts are logarithms of probabilities, so they add up without a weight: BM25's idf is the logarithm of how unusual a
term is (Robertson, Zaragoza, "The Probabilistic Relevance Framework", 2009), S of how unusual a cosine is. How much a
passage matches counts, not only that it matches more than others, which reciprocal rank fusion throws away
(benchmarks/README.md), and a corpus on which cosines tell little gives small S by itself. The second term lets a
session with several good places rise. An English model given a Chinese question returns confident noise, hence r.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from recall.types import Confidence

QUESTION_PENALTY = 3.0

WORDS_WEIGHT = 0.4
COSINE_WEIGHT = 0.75
"""Weights in the evidence of `confidence` only; ranking has none."""

EXPECTED_COSINE = (0.4, 1.0)
"""Stands for a cosine that tells nothing: that of the best hit where no word matches, and its rise until all do; chosen
on Chinese commits and questions."""

STRONG = 0.44
WEAK = 0.36
"""Evidence from which a hit is a strong or a weak match: chosen on LoCoMo, where some 95% of the questions that have an
answer in the scope lie above the first and 99% above the second (benchmarks/README.md has the rates)."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its score in [0, 1] and its 1-based rank in each retriever that found it."""

    passage_id: int
    score: float
    evidence: dict[str, int]


@dataclass(frozen=True, slots=True)
class Background:
    """The cosines that a query has with passages taken at random."""

    mean: float
    deviation: float

    def surprise(self, cosine: float) -> float:
        """S: -ln of the probability of such a cosine or a larger one, in nats; never negative."""
        if self.deviation <= 0:
            return 0.0
        z = (cosine - self.mean) / self.deviation
        if z > _ERFC_LARGEST:  # erfc would be 0; the first term of its asymptotic series
            return z * z / 2 + math.log(z * math.sqrt(2 * math.pi))
        return -math.log(math.erfc(z / math.sqrt(2)) / 2)


_ERFC_LARGEST = 30.0


def add_up(
    words: Mapping[int, float], meaning: Mapping[int, float], readable: float, asking: Iterable[int]
) -> dict[int, float]:
    """e of every candidate. words: passage id to L. meaning: passage id to S, empty where only words are searched.

    A passage without a vector (a command, say) counts with the mean of all S. asking: ids of passages that ask.
    """
    unknown = sum(meaning.values()) / len(meaning) if meaning else 0.0
    asks = set(asking)
    return {
        passage: words.get(passage, 0.0)
        + readable**2 * meaning.get(passage, unknown)
        - (QUESTION_PENALTY if passage in asks else 0.0)
        for passage in words.keys() | meaning.keys()
    }


def lift_sessions(evidence: Mapping[int, float], session_of: Mapping[int, int]) -> dict[int, float]:
    """score of every candidate, scaled so that one alone in its session keeps its e. session_of: passage to session."""
    best: dict[int, float] = {}
    for passage, e in evidence.items():
        session = session_of[passage]
        best[session] = max(best.get(session, e), e)
    sums = dict.fromkeys(best, 0.0)
    for passage, e in evidence.items():  # relative to the best one, so that exp() stays small
        sums[session_of[passage]] += math.exp((e - best[session_of[passage]]) / 2)
    return {
        passage: (e + best[session_of[passage]] / 2 + math.log(sums[session_of[passage]])) / 1.5
        for passage, e in evidence.items()
    }


def order(
    scores: Mapping[int, float],
    most: float,
    ranks: Mapping[str, Mapping[int, int]],
    said_at: Mapping[int, int],
) -> list[Ranked]:
    """All candidates, best first; of equal ones the latest.

    most: the score that counts as 1. ranks: retriever to passage id to 1-based rank. said_at: passage id to
    milliseconds since 1970, as far as known.
    """
    return [
        Ranked(
            passage,
            min(1.0, max(0.0, scores[passage] / most)) if most > 0 else 0.0,
            {name: places[passage] for name, places in ranks.items() if passage in places},
        )
        for passage in sorted(scores, key=lambda passage: (-scores[passage], -said_at.get(passage, 0), passage))
    ]


def confidence_of(words: float, cosine: float, calibrated: float) -> Confidence:
    """Whether the best hits answer the question.

    words: the largest share of what all words can tell (L / Lmax) that one of the hits reaches. cosine: the largest of
    them; it counts as far as the query is one that it was calibrated on, and for the rest stands the cosine that goes
    with such a share on average.
    """
    expected = EXPECTED_COSINE[0] + EXPECTED_COSINE[1] * words
    evidence = WORDS_WEIGHT * words + COSINE_WEIGHT * (calibrated * cosine + (1 - calibrated) * expected)
    return "strong" if evidence >= STRONG else "weak" if evidence >= WEAK else "none"
