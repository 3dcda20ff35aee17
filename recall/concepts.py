"""What a question asks for: concepts, each with the terms that stand for it, and English terms that may stand instead.

`如何删除远程分支` asks for three: 删除 or delete, 远程 or remote, 分支 or branch. An English word is one by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recall import analysis, glossary

TRANSLATION_WEIGHT = 0.8
"""Worth of a translation beside the word that was asked for."""

FULL_TERMS = 12
"""Terms of a query that count in full. Those of a longer one, a pasted request say, repeat each other: their sum counts
as that of so many."""

TERMS_MAX = 64
"""Terms that are searched for; of a longer query those of the rarest concepts, which are the ones that tell."""


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing that a question asks for."""

    terms: tuple[str, ...]
    """As it stands in the question: one term, or the pairs of a Chinese word."""
    english: tuple[tuple[str, ...], ...] = ()
    """What may stand instead: terms of each translation."""


def concepts(text: str) -> list[Concept]:
    """The concepts of a query, Chinese words first; together they hold each of analysis.query_terms(text) once."""
    own = analysis.query_terms(text)
    left = dict.fromkeys(own)
    found = []
    for start, end in analysis.unspaced_runs(text):
        run = text[start:end]
        for first, last, english in glossary.words(run):
            terms = tuple(term for term in analysis.query_terms(run[first:last]) if term in left)
            translations = (tuple(dict.fromkeys(analysis.terms(words))) for words in english)
            concept = Concept(terms, tuple(words for words in translations if not set(words) <= set(own)))
            if (terms or concept.english) and concept not in found:
                found.append(concept)
            for term in terms:
                del left[term]
    return found + [Concept((term,)) for term in left]


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of a query: its concepts, and what each of their terms is worth."""

    concepts: tuple[Concept, ...]
    weights: Mapping[str, float]
    """Term to inverse document frequency, translations included."""

    def evidence(self, gains: Sequence[Sequence[float]]) -> list[float]:
        """Sum over the concepts of the better of its own terms and its best translation, one number a row.

        gains: of each passage what each term adds, in the order of `weights`.
        """
        column = {term: place for place, term in enumerate(self.weights)}
        counted = min(1.0, FULL_TERMS / max(1, sum(len(concept.terms) for concept in self.concepts)))
        # Most concepts are a word without a translation: of these the gains are only added up.
        plain = [column[term] for concept in self.concepts if not concept.english for term in concept.terms]
        translated = [
            ([column[term] for term in concept.terms], [[column[term] for term in words] for words in concept.english])
            for concept in self.concepts
            if concept.english
        ]
        told = []
        for row in gains:
            total = _sum(row, plain)
            for own, english in translated:
                total += max(_sum(row, own), *[TRANSLATION_WEIGHT * _sum(row, words) for words in english])
            told.append(counted * total)
        return told


def wording(found: Sequence[Concept], weights: Mapping[str, float]) -> Wording:
    """The query of these concepts, without the most usual ones where it has more than TERMS_MAX terms."""
    rarest = sorted(found, key=lambda concept: -max(map(weights.__getitem__, terms_of([concept]))))
    kept: dict[str, None] = {}
    chosen = []
    for concept in rarest:
        terms = dict.fromkeys(terms_of([concept]))
        if len(kept | terms) <= TERMS_MAX:
            kept |= terms
            chosen.append(concept)
    ordered = [concept for concept in found if concept in chosen]
    return Wording(tuple(ordered), {term: weights[term] for term in terms_of(ordered)})


def terms_of(found: Sequence[Concept]) -> list[str]:
    """All terms of the concepts, translations included, without repeats."""
    return list(
        dict.fromkeys(term for concept in found for words in (concept.terms, *concept.english) for term in words)
    )


def _sum(row: Sequence[float], columns: Sequence[int]) -> float:
    return sum(row[column] for column in columns)
