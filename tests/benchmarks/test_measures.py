"""Measures with values that a reader can work out, and the reading of data sets."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.datasets import load
from benchmarks.metrics import MEASURES, interval, measures, p_value

DOCUMENTS: list[dict[str, object]] = [
    {"_id": "d1", "title": "Bread", "text": "Flour.", "metadata": {"group": "oven", "session": "s1"}},
    {"_id": "d2", "title": "", "text": "Water.", "metadata": {"group": "oven", "session": "s1"}},
    {"_id": "d3", "text": "Salt."},
]
QUESTIONS: list[dict[str, object]] = [
    {"_id": f"q{number}", "text": f"question {number}", "metadata": {"group": "oven"}} for number in range(6)
]
JUDGEMENTS = [*((f"q{number}", "d1", "1") for number in range(6)), ("q0", "d2", "2"), ("q1", "d3", "0")]


def measured(ranking: Sequence[str], *relevant: str) -> dict[str, float]:
    return dict(zip(MEASURES, measures(ranking, frozenset(relevant)), strict=True))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data set of three documents and six questions."""
    for name, records in (("corpus", DOCUMENTS), ("queries", QUESTIONS)):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (tmp_path / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    write_judgements(tmp_path / "qrels.tsv", JUDGEMENTS)
    return tmp_path


def write_judgements(path: Path, judgements: Sequence[tuple[str, str, str]]) -> None:
    rows = [("query-id", "corpus-id", "score"), *judgements]
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def test_two_relevant_documents_at_ranks_one_and_three() -> None:
    gain = 1 / math.log2(1 + 1) + 1 / math.log2(3 + 1)
    ideal = 1 / math.log2(1 + 1) + 1 / math.log2(2 + 1)
    assert measured(["a", "x", "b"], "a", "b") == pytest.approx(
        {"nDCG@10": gain / ideal, "recall@5": 2 / 2, "recall@10": 2 / 2, "MRR@10": 1 / 1, "success@5": 1.0}
    )


def test_a_relevant_document_at_rank_seven_counts_in_ten_and_not_in_five() -> None:
    assert measured(["1", "2", "3", "4", "5", "6", "a", "8"], "a") == pytest.approx(
        {
            "nDCG@10": (1 / math.log2(7 + 1)) / 1,
            "recall@5": 0 / 1,
            "recall@10": 1 / 1,
            "MRR@10": 1 / 7,
            "success@5": 0.0,
        }
    )


def test_what_was_not_found_counts_against_the_ranking() -> None:
    found = measured(["a"], "a", "b", "c", "d")
    ideal = sum(1 / math.log2(rank + 1) for rank in (1, 2, 3, 4))
    assert found == pytest.approx(
        {"nDCG@10": 1 / ideal, "recall@5": 1 / 4, "recall@10": 1 / 4, "MRR@10": 1.0, "success@5": 1.0}
    )


def test_rank_eleven_is_too_late_and_nothing_found_is_zero() -> None:
    nothing = dict.fromkeys(MEASURES, 0.0)
    assert measured([str(number) for number in range(10)] + ["a"], "a") == nothing
    assert measured([], "a") == nothing


def test_more_relevant_documents_than_places_can_still_be_ranked_ideally() -> None:
    names = [f"a{number}" for number in range(20)]
    assert measured(names, *names) == pytest.approx(
        {"nDCG@10": 1.0, "recall@5": 5 / 20, "recall@10": 10 / 20, "MRR@10": 1.0, "success@5": 1.0}
    )


def test_an_interval_contains_its_mean_and_narrows_with_more_questions() -> None:
    few, many = interval([0.0, 1.0] * 10), interval([0.0, 1.0] * 1_000)
    for found in (few, many):
        assert found.mean == pytest.approx(1 / 2)
        assert 0 <= found.low < found.mean < found.high <= 1
    assert many.high - many.low < few.high - few.low
    # Standard error of a share: sqrt(p (1 - p) / n), and 1.96 of it on either side.
    assert many.high - many.low == pytest.approx(2 * 1.96 * math.sqrt(0.5 * 0.5 / 2_000), rel=0.1)


def test_an_interval_of_equal_values_has_no_width_and_is_the_same_twice() -> None:
    same = interval([0.25] * 30)
    assert (same.mean, same.low, same.high) == (0.25, 0.25, 0.25)
    assert interval([0.0, 0.3, 1.0]) == interval([0.0, 0.3, 1.0])


def test_equal_systems_differ_by_chance_for_certain() -> None:
    assert p_value([0.2, 0.5, 1.0], [0.2, 0.5, 1.0]) == 1.0


def test_very_different_systems_hardly_differ_by_chance() -> None:
    # All 40 signs would have to be equal: a chance of 2 / 2^40, so none of the 2,000 draws but the observed one counts.
    assert p_value([0.9] * 40, [0.1] * 40) == pytest.approx(1 / 2_001)
    assert p_value([0.1] * 40, [0.9] * 40) == pytest.approx(1 / 2_001)


def test_a_difference_on_a_few_questions_in_both_directions_is_chance() -> None:
    assert p_value([1.0, 0.0, 0.5, 0.6], [0.0, 1.0, 0.6, 0.5]) == 1.0


def test_a_document_has_the_group_and_the_session_that_it_names_or_its_own(folder: Path) -> None:
    first, second, third = load(folder).documents
    assert (first.text, first.group, first.session) == ("Bread\nFlour.", "oven", "s1")
    assert (second.text, second.group, second.session) == ("Water.", "oven", "s1")
    assert (third.text, third.group, third.session) == ("Salt.", folder.name, "d3")


def test_only_documents_judged_above_zero_answer_a_question(folder: Path) -> None:
    questions = {question.id: question for question in load(folder).questions}
    assert questions["q0"].documents == {"d1", "d2"}
    assert questions["q0"].sessions == {"s1"}
    assert questions["q1"].documents == {"d1"}


def test_judgements_of_what_is_not_there_are_left_out(folder: Path) -> None:
    write_judgements(folder / "other.tsv", [("q0", "gone", "1"), ("gone", "d1", "1"), ("q2", "d3", "1")])
    assert [(question.id, set(question.documents)) for question in load(folder, "other.tsv").questions] == [
        ("q2", {"d3"})
    ]


def test_a_question_is_asked_in_its_group_only_where_the_set_is_scoped(folder: Path) -> None:
    assert {question.group for question in load(folder).questions} == {""}
    assert {question.group for question in load(folder, scoped=True).questions} == {"oven"}


@pytest.mark.parametrize(("sample", "expected"), [(0, 6), (2, 2), (3, 3), (6, 6), (100, 6)])
def test_a_sample_is_spread_over_all_questions(folder: Path, sample: int, expected: int) -> None:
    questions = load(folder, sample=sample).questions
    assert len(questions) == expected
    assert [question.id for question in questions] == [f"q{number}" for number in range(0, 6, 6 // expected)]


def test_a_sample_is_of_the_same_data(folder: Path) -> None:
    assert load(folder, sample=2).checksum == load(folder).checksum


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_the_checksum_changes_with_any_file(folder: Path, name: str) -> None:
    before = load(folder).checksum
    assert load(folder).checksum == before
    changed = (folder / name).read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / name).write_text("".join(changed[:-1]), encoding="utf-8")
    assert load(folder).checksum != before
