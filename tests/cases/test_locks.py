"""R23: "database is locked" with two writers, many processes on one home, and a search that waits for nobody."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import apsw
import pytest
from conftest import Home
from transcript_lines import codex_lines, uid, write

import recall
from recall import Scope
from recall.errors import LockedError
from recall.faults import BUSY_TIMEOUT_MS

ALL = Scope.everywhere()
WRITERS, READERS, EACH = 8, 1, 6

_HOLD = """
import sys, time, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("begin immediate")
print("held", flush=True)
time.sleep(float(sys.argv[2]))
connection.execute("commit")
"""

_INGEST = """
import sys
import recall
sys.stdin.read()  # until all are ready
with recall.open() as index:
    report = index.ingest(sys.argv[1:])
print(report.new_messages)
"""

_SEARCH = """
import sys
import recall
import recall.search  # what a search loads
sys.stdin.read()
asked = 0
with recall.open() as index:
    while not index.search("finished", recall.Scope.everywhere(), mode="lexical"):
        index.search("lantern", recall.Scope.everywhere(), mode="lexical")
        index.recent(recall.Scope.everywhere())
        asked += 1
        if asked == 1:
            print("looking", flush=True)
print(asked)
"""


def started(home: Home, code: str, *arguments: str | Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=home.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def go(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None


def ended(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    out, err = process.communicate(timeout=120)
    return process.returncode, out.strip(), err


def holding(home: Home, seconds: float) -> subprocess.Popen[bytes]:
    """A process that holds the lock now."""
    process = started(home, _HOLD, home.recall / "recall.db", str(seconds))
    assert process.stdout is not None
    assert process.stdout.readline().strip() == b"held"
    return process


def session(home: Home, number: int, *said: str) -> Path:
    lines = [("user" if place % 2 else "assistant", text) for place, text in enumerate(said)]
    return write(home.codex / f"rollout-{number}.jsonl", codex_lines(uid(number), "/srv/kite", *lines, start=number))


def test_a_writer_waits_for_one_that_holds_the_lock_for_two_seconds(home: Home) -> None:
    session(home, 1, "lantern")
    recall.open().close()
    holder = holding(home, 2)
    with recall.open() as index:
        assert index.ingest().new_messages == 1
    assert ended(holder) == (0, b"", b"")


def test_eight_writers_store_each_message_once_while_a_reader_never_fails(home: Home) -> None:
    """Also on a home that all of them open for the first time."""
    own = [session(home, number, *(f"lantern {number} {place}" for place in range(EACH))) for number in range(WRITERS)]
    shared = session(home, WRITERS, *(f"shared lantern {place}" for place in range(EACH)))
    writers = [started(home, _INGEST, path, shared) for path in own]
    readers = [started(home, _SEARCH) for _ in range(READERS)]
    go([*writers, *readers])
    done = [ended(process) for process in writers]
    for process in readers:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == b"looking"
    with recall.open() as index:
        index.add(recall.Session("last", messages=(recall.Message("user", "finished"),)))
    looked = [ended(process) for process in readers]
    assert [(code, err) for code, _, err in done + looked] == [(0, b"")] * (WRITERS + READERS)
    assert sum(int(out) for _, out, _ in done) == (WRITERS + 1) * EACH
    assert all(int(out) > 0 for _, out, _ in looked)
    with recall.open() as index:
        index.mend()
        assert index.repaired == []
        assert index.counts()["messages"] == index.counts()["passages"] == (WRITERS + 1) * EACH + 1
        for number in range(WRITERS):
            said = [message.text for message in index.show(f"{uid(number)}:1", 0, 99)]
            assert said == [f"lantern {number} {place}" for place in range(EACH)]
        assert index.ingest().new_messages == 0


def test_a_writer_that_waits_in_vain_names_the_lock_in_one_line(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    path = session(home, 1, "lantern")
    recall.open().close()
    monkeypatch.setattr("recall.database.BUSY_TIMEOUT_MS", 200)
    monkeypatch.setattr("recall.index.BUSY_TIMEOUT_MS", 200)
    holder = holding(home, 3)
    with recall.open() as index, pytest.raises(LockedError) as caught:
        index.ingest([path])
    assert str(caught.value).startswith(f"{home.recall / 'recall.db'} has been locked by another process for 0.2 s")
    assert ended(holder)[0] == 0


def test_a_read_that_becomes_a_write_would_fail_at_once_so_no_writer_begins_as_a_reader(home: Home) -> None:
    with recall.open() as first, recall.open() as second:
        connection = first.database.connection
        connection.execute("begin")
        connection.execute("select count(*) from sessions").fetchone()
        with second.database.write() as writer:
            writer.execute("insert into repositories (key, path) values ('/owl', '/owl')")
        with pytest.raises(apsw.BusyError):  # what `write` avoids
            connection.execute("insert into repositories (key, path) values ('/kite', '/kite')")
        connection.execute("rollback")
        with first.database.read() as reader:
            reader.execute("select count(*) from sessions").fetchone()
        with first.database.write() as writer:
            writer.execute("insert into repositories (key, path) values ('/kite', '/kite')")


def test_a_search_does_not_wait_for_a_lock_to_take_sessions_in_and_says_so(home: Home) -> None:
    session(home, 1, "lantern one")
    with recall.open() as index:
        index.ingest()
    session(home, 2, "lantern two")
    holder = holding(home, BUSY_TIMEOUT_MS / 1000 + 20)
    try:
        ran = home.run("search", "--all", "--mode", "lexical", "lantern")
        assert holder.poll() is None, "it waited for the lock"
    finally:
        holder.kill()
        holder.communicate()
    assert (ran.code, "lantern one" in ran.text, "lantern two" in ran.text) == (0, True, False)
    assert ran.complaint == "recall: another process is storing sessions; what it has not stored yet is not searched\n"
    assert "lantern two" in home.run("search", "--all", "--mode", "lexical", "lantern").text


def test_a_giant_transcript_does_not_hold_a_search_beyond_its_budget_and_is_read_on_later(home: Home) -> None:
    count = 4_000
    session(home, 1, *(f"lantern {place} {'quay harbor wick ' * 30}" for place in range(count)))
    with recall.open() as index:
        report = index.ingest(budget_seconds=0.05)
        assert report.left == 1
        first = index.counts()["messages"]
        assert 0 < first < count
        assert index.recent(ALL)[0].title.startswith("lantern")
        assert len(index.search("lantern", ALL, mode="lexical")) > 0
        again = index.ingest(budget_seconds=0.05)
        assert again.left == 1
        assert first < index.counts()["messages"] < count
        assert index.ingest().left == 0
        assert index.counts()["messages"] == count
        said = [str(row[0]) for row in index.database.rows("select text from messages order by number")]
        assert said == [f"lantern {place} {'quay harbor wick ' * 30}".strip() for place in range(count)]
        assert index.ingest().new_messages == 0


def test_the_search_says_what_it_has_not_read_in_time(home: Home) -> None:
    session(home, 1, *(f"lantern {place} {'quay harbor wick ' * 30}" for place in range(6_000)))
    ran = home.run("search", "--all", "--mode", "lexical", "lantern")
    assert ran.code == 0
    assert 'not looked at in time; take them in with "recall ingest"' in ran.complaint


def test_the_lock_of_a_process_that_was_killed_is_gone_with_it(home: Home) -> None:
    session(home, 1, "lantern")
    recall.open().close()
    holder = holding(home, 60)
    holder.kill()
    holder.communicate()
    began = time.monotonic()
    with recall.open() as index:
        assert index.ingest().new_messages == 1
    assert time.monotonic() - began < BUSY_TIMEOUT_MS / 1000
