"""Several processes at once on one home."""

from __future__ import annotations

import subprocess
import sys

from conftest import Home
from transcript_lines import codex_lines, uid, write

import recall
from recall import Scope

PROCESSES = 8
SESSIONS = 12

_OPEN_AND_INGEST = """
import sys
import recall
sys.stdin.read()  # until all are ready
with recall.open() as index:
    report = index.ingest()
    failed = [file for file in report.files if file.status in ("failed", "skipped")]
    hits = index.search("lantern", recall.Scope.everywhere(), mode="lexical")
print(len(report.files), len(failed), len(hits))
"""


def test_eight_processes_that_open_a_new_home_at_once_store_each_message_once(home: Home) -> None:
    for number in range(SESSIONS):
        said = [("user", f"lantern {number}"), ("assistant", f"buoy {number}"), ("user", f"lantern {number}")]
        write(home.codex / f"rollout-{number}.jsonl", codex_lines(uid(number), "/srv/kite", *said, start=number))
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _OPEN_AND_INGEST],
            env=home.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(PROCESSES)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    ended = [(*process.communicate(timeout=120), process.returncode) for process in processes]
    assert [(code, err) for _, err, code in ended] == [(0, b"")] * PROCESSES
    assert {tuple(map(int, out.split()[:2])) for out, _, _ in ended} == {(SESSIONS, 0)}
    with recall.open() as index:
        counts = index.counts()
        assert (counts["sessions"], counts["messages"], counts["transcripts"]) == (SESSIONS, 3 * SESSIONS, SESSIONS)
        for number in range(SESSIONS):
            shown = index.show(f"{uid(number)}:1", before=0, after=9)
            assert [message.text for message in shown] == [f"lantern {number}", f"buoy {number}", f"lantern {number}"]
        assert index.ingest().new_messages == 0
        assert {session.message_count for session in index.recent(Scope.everywhere(), limit=50)} == {3}


def test_a_search_does_not_wait_for_a_process_that_takes_in(home: Home) -> None:
    """Readers and one writer do not block each other."""
    write(home.codex / "rollout-1.jsonl", codex_lines(uid(1), "/srv/kite", ("user", "lantern one")))
    with recall.open() as writer, recall.open() as reader:
        writer.ingest()
        with writer.database.write() as connection:
            connection.execute("update sessions set title = title")
            assert len(reader.search("lantern", Scope.everywhere(), mode="lexical")) == 1
