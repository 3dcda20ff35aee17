"""The benchmark on one's own archive: what it asks, what it leaves out, and that it keeps the text to itself."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from conftest import Home
from result_files import RESULT, assert_units, markdown_tables, read_result

import recall
from benchmarks import known_item, retrieval
from benchmarks.demo.build import write_sessions

BREAD = "Why does the sourdough starter die after a week?"


def said(*texts: str) -> tuple[recall.Message, ...]:
    """A person and an agent in turn, beginning with the person."""
    return tuple(
        recall.Message("assistant" if place % 2 else "user", text, key=f"key {place} of {texts[0]}")
        for place, text in enumerate(texts)
    )


def read(index: recall.Index, sessions: Iterable[tuple[recall.Message, ...]]) -> known_item.KnownItems:
    for number, messages in enumerate(sessions):
        index.add(recall.Session(f"session-{number}", cwd="/work/kitchen", messages=messages))
    return known_item.read_archive(index, limit=50)


def test_the_sessions_of_the_demo_give_a_table_and_none_of_their_text(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_sessions(tmp_path / "agents", tmp_path / "shop", tmp_path / "notes")
    with recall.open() as index:
        index.ingest([tmp_path / "agents"])
        sessions = index.recent(recall.Scope.everywhere(), limit=50)
        texts = [message.text for session in sessions for message in known_item.messages_of(index, session)]
    out = tmp_path / "results" / "known-item.json"
    assert known_item.main(["--limit", "3", "--out", str(out)]) == 0

    (result,) = read_result(out)
    assert set(result) == {*RESULT, "sessions"}
    assert result["sessions"] == {"read": 3, "used": 3, "not used": {}}
    assert result["questions"] == 3
    assert_units(result, "session")
    printed = capsys.readouterr()
    (rows,) = markdown_tables(printed.out)
    assert len(rows) == 2 + len(retrieval.SYSTEMS)

    shown = printed.out + printed.err + out.read_text(encoding="utf-8")
    private = [line for text in texts for line in text.splitlines() if len(line) > 12]
    private += [part for session in sessions for part in (session.id, session.title, session.repository)]
    assert len(private) > 100
    assert [text for text in private if text in shown] == []


def test_the_first_request_is_the_query_and_is_not_there_to_be_found(index: recall.Index) -> None:
    items = read(index, [said(BREAD, "The flour was bleached.", BREAD, "Use rye.")])
    (question,) = items.dataset.questions
    assert (question.text, question.sessions) == (BREAD, {"session-0"})
    assert [document.text for document in items.dataset.documents] == ["The flour was bleached.", "Use rye."]
    assert question.documents == {document.id for document in items.dataset.documents}
    assert {document.group for document in items.dataset.documents} == {"/work/kitchen"}


def test_a_session_that_gives_no_question_is_counted_and_can_be_found_by_mistake(index: recall.Index) -> None:
    items = read(
        index,
        [
            said(BREAD, "The flour was bleached.", "Thanks."),
            said("Please mend the oven door now", "Done: the hinge."),
            said("Go on", "With the door?", "Yes."),
            said("继续修烤箱门", "好的。", "谢谢。"),
            said("How long does rye bread rise?", "An hour.", "Really?"),
            said("how long does  RYE bread rise?", "Two hours.", "So long?"),
            (recall.Message("assistant", "The task was given by a program."),),
        ],
    )
    assert items.unused == {
        known_item.FEW: 1, known_item.SHORT: 2, known_item.IDENTICAL: 2, known_item.NO_REQUEST: 1,
    }  # fmt: skip
    assert items.read == sum(items.unused.values()) + len(items.dataset.questions) == 7
    assert [question.text for question in items.dataset.questions] == [BREAD]
    assert {document.session for document in items.dataset.documents} == {f"session-{number}" for number in range(7)}
    account = known_item.account(items)
    assert account.startswith("7 sessions read, 1 of them used.")
    assert f"- 2: {known_item.IDENTICAL}" in account


def test_what_a_subagent_said_is_not_part_of_the_session(index: recall.Index) -> None:
    subagent = recall.Message("assistant", "Looking at the flour.", subagent=True)
    items = read(index, [(*said(BREAD, "It was bleached.", "Thanks."), subagent)])
    assert [document.text for document in items.dataset.documents] == ["It was bleached.", "Thanks."]


def test_a_session_longer_than_a_window_is_read_to_its_end(index: recall.Index) -> None:
    items = read(index, [said(BREAD, *(f"Answer number {number}." for number in range(known_item.WINDOW + 50)))])
    assert len(items.dataset.documents) == known_item.WINDOW + 50


def test_what_a_fork_copied_leaves_a_gap_that_is_stepped_over(index: recall.Index) -> None:
    beginning = said(BREAD, "The flour was bleached.", "Thanks.")
    rest = said("And how do I feed the starter?", "Twice a day.", "With rye?", "With rye.")
    index.add(recall.Session("parent", messages=beginning))
    index.add(recall.Session("fork", forked_from="parent", messages=beginning + rest))
    items = known_item.read_archive(index, limit=50)
    assert {question.id: question.text for question in items.dataset.questions} == {
        "parent": BREAD,
        "fork": "And how do I feed the starter?",
    }


def test_an_empty_archive_says_what_to_do(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert known_item.main([]) == 1
    assert "recall ingest" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("request_", "query"),
    [
        ("mend\n  the\toven ", "mend the oven"),
        ("word " * 60, ("word " * 40).strip()),
        ("a" * 198 + " oven door", "a" * 198),
        ("a" * 195 + " oven door", "a" * 195 + " oven"),
        ("a" * 300, "a" * 200),
        ("烤箱门" * 100, ("烤箱门" * 100)[:200]),
        ("烤" * 195 + "PaymentTimeout", "烤" * 195),
    ],
)
def test_a_long_request_is_cut_at_the_end_of_a_word(request_: str, query: str) -> None:
    assert known_item.query_of(request_) == query


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("mend the oven", known_item.SHORT),
        ("mend the oven door", ""),
        ("修好烤箱的门吧", known_item.SHORT),
        ("修好烤箱的门好吗", ""),
        ("PaymentTimeout 是怎么解决的", ""),
    ],
)
def test_four_words_or_eight_chinese_characters_are_a_question(query: str, reason: str) -> None:
    assert known_item.why_not(query, messages=3) == reason
