from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from conftest import Home
from hashed import Hashed
from transcript_lines import append, cl, uid, write

import recall
from recall import Message, Scope, Session, UsageError
from recall.retention import used_bytes

ALL = Scope.everywhere()


def said(days_ago: float, number: int, text: str, role: str = "user", name: str = "") -> str:
    when = (datetime.now(UTC) - timedelta(days=days_ago)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return cl(when, role, uid(number), name or uid(1000), "/srv/kite", text)


def session(home: Home, number: int, days_ago: float, *texts: str) -> Path:
    lines = [said(days_ago, number * 10 + place, text, name=uid(number)) for place, text in enumerate(texts)]
    return write(home.claude / "kite" / f"{uid(number)}.jsonl", lines)


def names(index: recall.Index) -> set[str]:
    return {one.id for one in index.recent(ALL, limit=99)}


def test_all_is_kept_by_default(home: Home) -> None:
    session(home, 1, 4_000, "lantern")
    with recall.open() as index:
        assert index.ingest().removed == 0
        assert names(index) == {uid(1)}


def test_sessions_that_ended_before_the_days_that_are_kept_go_as_a_whole_and_do_not_come_back(home: Home) -> None:
    session(home, 1, 40, "lantern of old", "wick")
    session(home, 2, 3, "lantern of late")
    with recall.open(embedder=Hashed()) as index:
        index.ingest()
        index.embed()
    with recall.open(embedder=Hashed(), keep_days=30) as index:
        assert index.ingest().removed == 1
        assert names(index) == {uid(2)}
        assert [hit.session.id for hit in index.search("lantern", ALL, limit=9)] == [uid(2)]
        again = index.ingest()
        assert (again.removed, again.new_messages, again.count("excluded")) == (0, 0, 1)
        assert index.problems() == []
        index.mend()
        assert index.repaired == []
        assert index.counts()["without_vector"] == 0


def test_a_session_that_is_taken_up_again_is_taken_in_again(home: Home) -> None:
    path = session(home, 1, 40, "lantern of old")
    with recall.open(keep_days=30) as index:
        assert index.ingest().removed == 1
        append(path, [said(0, 99, "and the lantern now?", name=uid(1))])
        assert index.ingest().new_messages == 2
        assert names(index) == {uid(1)}


def test_a_transcript_that_was_not_written_to_since_is_not_read(home: Home) -> None:
    path = session(home, 1, 40, "lantern of old")
    os.utime(path, (time.time() - 40 * 86_400,) * 2)
    with recall.open(keep_days=30) as index:
        report = index.ingest()
        assert (report.count("excluded"), report.new_messages, report.removed) == (1, 0, 0)
    with recall.open(keep_days=300) as index:
        assert index.ingest().new_messages == 1


def test_a_search_that_takes_in_what_is_new_removes_nothing(home: Home) -> None:
    session(home, 1, 40, "lantern of old")
    with recall.open() as index:
        index.ingest()
    with recall.open(keep_days=30) as index:
        assert index.ingest(budget_seconds=1.0).removed == 0
        assert names(index) == {uid(1)}


def test_a_text_that_a_younger_session_only_copies_stays_as_long_as_that(home: Home) -> None:
    history = ["how is the lantern lit?", "with a match", "and put out?", "with a lid"]
    old = [said(40 - place / 100, place + 1, text, name=uid(1)) for place, text in enumerate(history)]
    fork = [said(40 - place / 100, place + 1, text, name=uid(2)) for place, text in enumerate(history)]
    write(home.claude / "kite" / f"{uid(1)}.jsonl", old)
    write(home.claude / "kite" / f"{uid(2)}.jsonl", [*fork, said(1, 50, "and today?", name=uid(2))])
    with recall.open(keep_days=30) as index:
        assert index.ingest().removed == 0
        assert index.database.value("select count(*) from messages where copied_from is not null") > 0
    with recall.open(keep_days=1) as index:
        index.database.connection.execute("update sessions set updated_at = updated_at - 3 * 86400000")
        assert index.ingest().removed == 2
        assert names(index) == set()


def test_beyond_a_size_the_oldest_go_until_the_rest_fits(home: Home) -> None:
    texts = [" ".join(f"lantern{number}x{word} quay{word % 97}" for word in range(1_000)) for number in range(30)]
    with recall.open() as index:
        for number, text in enumerate(texts):
            when = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number)
            index.add(Session(f"s{number}", messages=tuple(Message("user", text, timestamp=when) for _ in range(3))))
        assert used_bytes(index.database) > 2.5 * 2**20
    with recall.open(keep_megabytes=2) as index:
        removed = index.ingest().removed
        assert 0 < removed < len(texts)
        assert names(index) == {f"s{number}" for number in range(removed, len(texts))}
        assert used_bytes(index.database) < 2.2 * 2**20
        assert index.search("lantern29x7", ALL, mode="lexical").hits
        index.mend()
        assert index.repaired == []


@pytest.mark.parametrize("kept", [{"keep_days": 0}, {"keep_megabytes": -1}])
def test_nothing_is_no_limit(home: Home, kept: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="expected 1 or more"):
        recall.open(**kept)


def test_the_configuration_sets_it_and_ingest_and_status_say_how_many_went(home: Home) -> None:
    home.recall.mkdir()
    (home.recall / "config.toml").write_text("keep_days = 30\nkeep_megabytes = 900\n", encoding="utf-8")
    session(home, 1, 40, "lantern of old")
    session(home, 2, 1, "lantern of late")
    assert "1 session removed, older than what config.toml keeps" in home.run("ingest").text
    status = home.run("status", "--json").document["session_recall"]
    assert (status["removed_count"], status["session_count"]) == (1, 1)
    assert "removed    1 session" in home.run("status").text


@pytest.mark.parametrize("line", ["keep_days = 0", 'keep_days = "a year"', "keep_megabytes = true", "keep_days = 1.5"])
def test_a_limit_that_is_none_is_refused_with_an_example(home: Home, line: str) -> None:
    home.recall.mkdir()
    (home.recall / "config.toml").write_text(f"{line}\n", encoding="utf-8")
    ran = home.run("ingest")
    assert ran.code == 2
    assert "expected a whole number such as" in ran.complaint
