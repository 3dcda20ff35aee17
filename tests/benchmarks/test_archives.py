"""Generated archives: realistic, the same each time, and fit to be taken in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import recall
from benchmarks import ingest
from benchmarks.archive_files import write
from benchmarks.archives import KNOWN, questions, sessions

_SAID = """
select s.name, m.role, m.text from messages m join sessions s on s.id = m.session_id where m.role <> 'tool'
"""


def test_the_same_seed_gives_the_same_sessions_and_another_gives_others() -> None:
    made = list(sessions(200, repositories=3, seed=1))
    assert list(sessions(200, repositories=3, seed=1)) == made
    assert list(sessions(200, repositories=3, seed=2)) != made


def test_an_archive_has_about_the_passages_asked_for_and_its_known_repository_too() -> None:
    with recall.open(":memory:") as index:
        for session in sessions(1_500, repositories=20, known=400):
            index.add(session)
        assert 1_350 < index.counts()["passages"] < 1_650
        known = index.database.value(
            "select count(*) from passages p join worktrees w on w.id = p.worktree_id where w.path = ?", (KNOWN,)
        )
        assert 300 < known < 500


def test_questions_of_a_repository_find_something_in_it(tmp_path: Path) -> None:
    with recall.open(":memory:") as index:
        for session in sessions(600, repositories=5, known=300):
            index.add(session)
        scope = recall.Scope.repository(KNOWN)
        found = [index.search(question, scope, mode="lexical") for question in questions(20, cwd=KNOWN, repositories=5)]
        assert sum(1 for result in found if result.hits) > 15


@pytest.mark.parametrize("seed", [5, 8])
def test_transcripts_of_an_archive_are_taken_in_as_the_sessions_they_were_made_of(tmp_path: Path, seed: int) -> None:
    made = list(sessions(300, repositories=3, seed=seed))
    assert {session.agent for session in made if session.forked_from} == {"codex" if seed == 5 else "claude"}
    assert write(made, tmp_path / "archive") == sum(
        path.stat().st_size for path in (tmp_path / "archive").rglob("*.jsonl")
    )
    with recall.open(":memory:") as files, recall.open(":memory:") as memory:
        report = files.ingest(tmp_path / "archive")
        for session in made:
            memory.add(session)
        assert {file.status for file in report.files} == {"new"}
        assert {kind for file in report.files for kind in file.skipped_lines} == set()
        assert sorted(files.database.rows(_SAID)) == sorted(memory.database.rows(_SAID))


def test_the_benchmark_of_taking_in_runs(tmp_path: Path) -> None:
    document = ingest.measure(tmp_path, megabytes=1, giant=2, runs=1)
    assert {one["name"] for one in document["taking_in"]} >= {"all processors", "reading and orjson", "bare FTS5"}
    assert all(one["seconds"] > 0 for one in document["taking_in"])
    room = document["room"]
    assert sum(room["tables"].values()) == room["database"] > room["text"] > 0
    assert json.loads(json.dumps(document)) == document
