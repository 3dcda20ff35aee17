from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.fusion import DENSE_WEIGHT, Ranked, confidence_of, fuse
from recall.types import Confidence

SCORES = st.dictionaries(st.integers(1, 30), st.floats(0.01, 50.0), max_size=12)
COSINES = st.dictionaries(st.integers(1, 30), st.floats(-1.0, 1.0), max_size=12)


def best_first(scores: dict[int, float]) -> dict[int, float]:
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))


def score_of(ranking: list[Ranked], passage: int) -> float:
    return next(ranked.score for ranked in ranking if ranked.passage_id == passage)


def test_the_score_is_the_weighted_sum_of_both_normalised_scores() -> None:
    # w = 0.5 · 1. BM25 over the largest, 8; cosines from 0.2 to 0.6, so (cosine - 0.2) / 0.4.
    ranking = fuse({1: 8.0, 2: 4.0}, {3: 0.6, 2: 0.4}, {3: 0.6, 2: 0.4, 1: 0.2}, readable=1.0)
    assert DENSE_WEIGHT == 0.5
    assert score_of(ranking, 1) == pytest.approx(0.5 * 8 / 8 + 0.5 * 0.0)
    assert score_of(ranking, 2) == pytest.approx(0.5 * 4 / 8 + 0.5 * 0.2 / 0.4)
    assert score_of(ranking, 3) == pytest.approx(0.5 * 0.0 + 0.5 * 1.0)


def test_half_a_question_that_can_be_read_gives_the_vectors_half_their_weight() -> None:
    ranking = fuse({1: 8.0}, {2: 0.6}, {2: 0.6, 1: 0.2}, readable=0.5)
    assert score_of(ranking, 1) == pytest.approx(0.75 * 1 + 0.25 * 0)
    assert score_of(ranking, 2) == pytest.approx(0.75 * 0 + 0.25 * 1)


def test_the_evidence_holds_the_ranks_in_each_retriever() -> None:
    ranking = fuse({1: 8.0, 2: 4.0}, {2: 0.6, 3: 0.4}, {2: 0.6, 3: 0.4}, 1.0)
    evidence = {ranked.passage_id: ranked.evidence for ranked in ranking}
    assert evidence == {1: {"lexical": 1}, 2: {"lexical": 2, "dense": 1}, 3: {"dense": 2}}


def test_a_question_the_model_cannot_read_is_ranked_by_words_alone() -> None:
    ranking = fuse({1: 8.0, 2: 4.0, 4: 1.0}, {3: 0.9, 4: 0.8}, {3: 0.9, 4: 0.8, 1: 0.1}, readable=0.0)
    assert [ranked.passage_id for ranked in ranking][:3] == [1, 2, 4]
    assert score_of(ranking, 3) == 0.0


def test_without_words_the_vectors_decide_alone() -> None:
    ranking = fuse({}, {3: 0.9, 4: 0.7, 5: 0.5}, {3: 0.9, 4: 0.7, 5: 0.5}, readable=0.0)
    assert [ranked.passage_id for ranked in ranking] == [3, 4, 5]
    assert [ranked.score for ranked in ranking] == pytest.approx([1.0, (0.7 - 0.5) / (0.9 - 0.5), 0.0])


def test_without_vectors_the_words_decide_alone() -> None:
    ranking = fuse({1: 8.0, 2: 2.0}, {}, {}, readable=1.0)
    assert [(ranked.passage_id, ranked.score) for ranked in ranking] == [(1, 1.0), (2, 0.25)]


def test_equal_scores_put_the_newest_first() -> None:
    assert [ranked.passage_id for ranked in fuse({1: 3.0, 9: 3.0, 5: 3.0}, {}, {}, 1.0)] == [9, 5, 1]


def test_equal_cosines_all_count_as_the_best() -> None:
    assert [ranked.score for ranked in fuse({}, {1: 0.4, 2: 0.4}, {1: 0.4, 2: 0.4}, 1.0)] == [1.0, 1.0]


def test_nothing_found_is_nothing_ranked() -> None:
    assert fuse({}, {}, {}, 1.0) == []


@given(SCORES, COSINES, st.floats(0.0, 1.0))
def test_every_candidate_is_ranked_once_between_0_and_1(
    lexical: dict[int, float], dense: dict[int, float], readable: float
) -> None:
    ranking = fuse(best_first(lexical), best_first(dense), dense, readable)
    assert {ranked.passage_id for ranked in ranking} == lexical.keys() | dense.keys()
    assert len(ranking) == len(lexical.keys() | dense.keys())
    assert all(-1e-9 <= ranked.score <= 1 + 1e-9 and ranked.evidence for ranked in ranking)
    assert [ranked.score for ranked in ranking] == sorted((ranked.score for ranked in ranking), reverse=True)


@given(SCORES, COSINES, st.floats(0.0, 1.0))
def test_what_is_better_in_both_is_never_ranked_below(
    lexical: dict[int, float], dense: dict[int, float], readable: float
) -> None:
    ranking = fuse(best_first(lexical), best_first(dense), dense, readable)
    scores = {ranked.passage_id: ranked.score for ranked in ranking}
    for one in lexical.keys() & dense.keys():
        for other in lexical.keys() & dense.keys():
            if lexical[one] >= lexical[other] and dense[one] >= dense[other]:
                assert scores[one] >= scores[other] - 1e-9


@given(SCORES, COSINES, st.floats(0.01, 100.0))
def test_the_scale_of_bm25_makes_no_difference(
    lexical: dict[int, float], dense: dict[int, float], factor: float
) -> None:
    scaled = {passage: score * factor for passage, score in lexical.items()}
    one = fuse(best_first(lexical), best_first(dense), dense, 1.0)
    other = fuse(best_first(scaled), best_first(dense), dense, 1.0)
    for ranked in one:
        assert score_of(other, ranked.passage_id) == pytest.approx(ranked.score, abs=1e-9)


@pytest.mark.parametrize(
    ("coverage", "cosine", "readable", "expected"),
    [
        (1.0, 0.0, 1.0, "strong"),
        (0.0, 0.9, 1.0, "strong"),
        (0.3, 0.0, 1.0, "weak"),
        (0.0, 0.4, 1.0, "weak"),
        (0.0, 0.0, 1.0, "none"),
        (0.1, 0.2, 1.0, "none"),
        (0.0, 0.9, 0.0, "none"),
        (0.0, -1.0, 1.0, "none"),
    ],
)
def test_confidence_comes_from_the_better_evidence_as_far_as_it_can_be_read(
    coverage: float, cosine: float, readable: float, expected: Confidence
) -> None:
    assert confidence_of(coverage, cosine, readable) == expected


@given(st.floats(0, 1), st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1))
def test_more_evidence_never_lowers_the_confidence(
    coverage: float, cosine: float, readable: float, more: float
) -> None:
    order = ("none", "weak", "strong")
    before = order.index(confidence_of(coverage, cosine, readable))
    assert order.index(confidence_of(min(1.0, coverage + more), cosine, readable)) >= before
    assert order.index(confidence_of(coverage, min(1.0, cosine + more), readable)) >= before
