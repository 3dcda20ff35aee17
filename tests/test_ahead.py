"""Workers that read ahead: the outcome is that of one process, whatever becomes of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT
from transcript_lines import claude_lines, codex_lines, session_lines, uid, write

import recall
from recall import ahead, ingest, reading

Outcome = dict[str, list[tuple[object, ...]]]

TABLES = {
    "repositories": "key, path",
    "sessions": "name, agent, title, preview, cwd, branch, started_at, updated_at, parent, forked_from",
    "transcripts": "path, session_id, size, modified_ns, head_digest, read_to, line_count, state, skipped, problem",
    "messages": "id, session_id, number, role, tool, text, files, said_at, transcript_id, line, key, digest,"
    " occurrence, copied_from, worktree_id, subagent",
    "passages": "id, message_id, session_id, repository_id, role, said_at, start_at, end_at, embeddable, asks",
    "instances": "term, doc, col, offset",
}
WORKER = """
import sys
sys.path[:] = {path!r}
from recall import ahead_worker, reading
reading.BATCH_CHARACTERS = 2_000
send, sent = ahead_worker.send, []
def counted(stream, batch):
    if len(sent) == LAST:
        sys.exit()
    sent.append(batch)
    send(stream, batch)
ahead_worker.send = counted
ahead_worker.main()
"""
"""What a worker runs, with batches as small as those of this process; it ends before its batch number LAST + 1."""


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Sessions of both agents, a fork, one in Chinese, one not to be remembered, an empty file and a broken one."""
    folder = tmp_path / "会话 archive"
    for number in range(6):
        agent = "claude" if number % 2 else "codex"
        said = [
            (
                "assistant" if place % 2 else "user",
                f"lantern {number} tide {place} " + "灯塔的密码 " * number + "boat " * 90 * place,
            )
            for place in range(9)
        ]
        write(folder / f"{number}.jsonl", session_lines(agent, uid(number), f"/srv/{agent}", *said))
    shared = [("user", "why is the harbor closed"), ("assistant", "the tide is out, pass" + "word=Harbor9" + "kite")]
    write(folder / "parent.jsonl", codex_lines(uid(20), "/srv/codex", *shared))
    write(
        folder / "fork.jsonl", codex_lines(uid(21), "/srv/codex", *shared, ("user", "and now?"), forked_from_id=uid(20))
    )
    private = [("user", "hello"), ("assistant", "hi"), ("user", "don't remember this session")]
    write(folder / "private.jsonl", claude_lines(uid(30), "/srv/claude", *private))
    write(folder / "empty.jsonl", codex_lines(uid(31), "/srv/codex"))
    (folder / "broken.jsonl").write_bytes(b"\x00\x01 no transcript\n")
    for age, path in enumerate(sorted(folder.iterdir())):
        os.utime(path, (1_780_000_000 - age, 1_780_000_000 - age))
    return folder


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers, for archives of any size, and batches of a few messages."""
    monkeypatch.setattr(ingest, "available_cpus", lambda: 2)
    monkeypatch.setattr(ingest, "WORTH_BYTES", 0)
    monkeypatch.setattr(reading, "BATCH_CHARACTERS", 2_000)


def outcome(home: Path, folder: Path) -> Outcome:
    """All that taking the folder in leaves in the database, and what it reports."""
    home.mkdir()
    (home / "fingerprint.key").write_bytes(b"k" * 32)
    with recall.open(home) as index:
        report = index.ingest(folder)
        index.database.connection.execute(
            "create virtual table temp.instances using fts5vocab(main, lexical, instance)"
        )
        found = {name: sorted(index.database.rows(f"select {columns} from {name}")) for name, columns in TABLES.items()}
        again = index.ingest(folder)
    assert not any(file.new_messages for file in again.files)
    found["files"] = [(file.path, file.status, file.reason, file.new_messages) for file in report.files]
    found["redactions"] = sorted(report.redactions.items())
    return found


@pytest.fixture
def alone(archive: Path, tmp_path: Path) -> Outcome:
    """The outcome of one process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ingest, "available_cpus", lambda: 1)
        return outcome(tmp_path / "alone", archive)


@pytest.mark.parametrize("last", [-1, 0, 1, 2, 3, 5, 8])
def test_workers_leave_what_one_process_leaves_wherever_they_end(
    archive: Path, tmp_path: Path, alone: Outcome, monkeypatch: pytest.MonkeyPatch, last: int
) -> None:
    monkeypatch.setattr(ahead, "_START", WORKER.replace("LAST", str(last)))
    found = outcome(tmp_path / "ahead", archive)
    for table, rows in alone.items():
        if table != "files" or last == -1:  # a worker's file that was read on is "updated"
            assert found[table] == rows, table


@pytest.mark.parametrize("program", ["import nothing_of_that_name", "print('not a batch')", "raise SystemExit(3)"])
def test_a_worker_that_does_not_work_changes_nothing(
    archive: Path, tmp_path: Path, alone: Outcome, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(ahead, "_START", program)
    assert outcome(tmp_path / "ahead", archive) == alone


@pytest.mark.parametrize("executable", ["", "/no/such/python"])
def test_where_no_process_can_be_started_this_one_reads(
    archive: Path,
    tmp_path: Path,
    alone: Outcome,
    monkeypatch: pytest.MonkeyPatch,
    executable: str,
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    assert outcome(tmp_path / "ahead", archive) == alone


def test_no_worker_is_started_for_little_or_before_a_search(archive: Path, tmp_path: Path) -> None:
    def started(settings: ahead.Settings) -> None:
        raise AssertionError(f"a worker was started for {settings}")

    with pytest.MonkeyPatch.context() as patch, recall.open(tmp_path / "home") as index:
        patch.setattr(ahead, "_started", started)
        index.ingest(archive, budget_seconds=0)
        patch.setattr(ingest, "WORTH_BYTES", 10**9)
        assert index.ingest(archive).files


def test_a_program_without_a_main_guard_runs_once(archive: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        f"""print("begins")
import recall
from recall import ahead, ingest
ingest.WORTH_BYTES = 0
ingest.available_cpus = lambda: 2
started = []
class Counted(ahead._Worker):
    def __init__(self, *arguments):
        started.append(1)
        super().__init__(*arguments)
ahead._Worker = Counted
with recall.open({str(tmp_path / "home")!r}) as index:
    index.ingest({str(archive)!r})
print("ends after", len(started))
""",
        encoding="utf-8",
    )
    # In a folder with a module that an import from the current directory would take.
    (tmp_path / "json.py").write_text("raise SystemExit('imported from the current directory')\n", encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-P", str(program)],
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert (ran.stdout.split(b"\n")[:-1], ran.stderr) == ([b"begins", b"ends after 2"], b"")


@pytest.mark.skipif(sys.platform == "win32", reason="asks for a process by its id")
def test_workers_die_with_their_parent(archive: Path, tmp_path: Path) -> None:
    program = f"""
import sys, time
from pathlib import Path
from recall import ahead
settings = ahead.Settings({str(tmp_path / "home")!r}, None, ())
with ahead.Ahead(settings, [Path({str(archive / "0.jsonl")!r})], 2) as workers:
    print(*(worker._process.pid for worker in workers._workers), flush=True)
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=ROOT) as parent:
        assert parent.stdout is not None
        workers = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(workers) == 2
        assert all(map(is_running, workers))
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 30
    while any(map(is_running, workers)):
        assert time.monotonic() < deadline, "a worker outlived its parent"
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    """Whether a process with that id is there, and not only waiting for its parent to learn that it has ended."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8") if sys.platform == "linux" else ""
        os.kill(pid, 0)
    except (ProcessLookupError, FileNotFoundError):
        return False
    return ") Z" not in status
