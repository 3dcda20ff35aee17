from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.analysis import query_terms
from recall.concepts import FULL_TERMS, TERMS_MAX, TRANSLATION_WEIGHT, Concept, concepts, terms_of, wording

MIXED = st.text(alphabet="删除远程分支缓存的了灯 aBc1_\n", max_size=60)


def evidence(text: str, gains: dict[str, float]) -> float:
    """What a passage tells that gains so much from each term, for a query of terms of equal worth."""
    asked = wording(concepts(text), dict.fromkeys(terms_of(concepts(text)), 1.0))
    return float(asked.evidence(np.array([[gains.get(term, 0.0) for term in asked.weights]]))[0])


def test_an_english_word_is_a_concept_by_itself() -> None:
    assert concepts("how did we fix the login test") == [Concept(("fix",)), Concept(("login",)), Concept(("test",))]


def test_a_chinese_word_stands_with_its_english() -> None:
    delete, remote = concepts("删除 远程")
    assert delete.terms == ("删除",)
    assert ("delet",) in delete.english
    assert ("remot",) in remote.english


def test_a_word_asked_for_in_both_languages_is_not_counted_twice() -> None:
    assert evidence("缓存 cache", {"cach": 1.0}) == pytest.approx(1.0)


def test_of_a_word_and_its_translations_the_better_counts() -> None:
    assert evidence("删除", {"删除": 2.0, "delet": 2.0, "remov": 1.0}) == pytest.approx(2.0)
    assert evidence("删除", {"delet": 2.0, "remov": 1.0}) == pytest.approx(TRANSLATION_WEIGHT * 2.0)


def test_the_terms_of_a_long_query_count_as_those_of_one_of_full_length() -> None:
    letters = "abcdefghijklmnopqrstuvwx"
    long = " ".join(f"q{letter}" for letter in letters)
    assert evidence(long, dict.fromkeys(query_terms(long), 1.0)) == pytest.approx(FULL_TERMS)


def test_of_a_query_with_too_many_terms_the_rarest_are_kept() -> None:
    words = [f"q{number}" for number in range(TERMS_MAX + 20)]
    found = concepts(" ".join(words))
    asked = wording(found, {term: float(place) for place, term in enumerate(terms_of(found))})
    assert list(asked.weights) == words[20:]


@given(MIXED)
def test_the_concepts_hold_each_term_of_the_query_once(text: str) -> None:
    held = [term for concept in concepts(text) for term in concept.terms]
    assert sorted(held) == sorted(query_terms(text))


@given(MIXED)
def test_no_concept_is_empty_or_stands_twice(text: str) -> None:
    found = concepts(text)
    assert all(concept.terms or concept.english for concept in found)
    assert len(set(found)) == len(found)
