from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import apsw
import pytest

from recall import database
from recall.database import Database
from recall.errors import DatabaseError

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "recall.db"


def tables(opened: Database) -> set[str]:
    return {str(row[0]) for row in opened.rows("select name from sqlite_schema where type = 'table'")}


def run(code: str, *arguments: str | Path) -> subprocess.Popen[bytes]:
    """A process of its own that runs `code` with sys.argv[1:]."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_a_new_file_gets_the_newest_schema(path: Path) -> None:
    opened = Database(path)
    assert {"repositories", "sessions", "messages", "passages", "lexical"} <= tables(opened)
    assert opened.value("pragma user_version") == max(database._migrations())
    assert opened.value("pragma journal_mode") == "wal"
    opened.close()


def test_migrations_are_numbered_without_a_gap() -> None:
    numbers = sorted(database._migrations())
    assert numbers == list(range(1, len(numbers) + 1))


def test_opening_again_changes_nothing(path: Path) -> None:
    first = Database(path)
    with first.write() as connection:
        connection.execute("insert into repositories (key, path) values ('/kite', '/kite')")
    schema = first.rows("select name, sql from sqlite_schema order by name")
    first.close()
    second = Database(path)
    assert second.rows("select name, sql from sqlite_schema order by name") == schema
    assert second.value("select count(*) from repositories") == 2
    second.close()


def test_a_migration_that_fails_leaves_the_database_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = database._migrations()
    Database(path).close()
    newest = max(steps)
    broken = {**steps, newest + 1: "create table half (id integer); insert into nowhere values (1);"}
    monkeypatch.setattr(database, "_migrations", lambda: broken)
    with pytest.raises(DatabaseError, match="nowhere"):
        Database(path)
    monkeypatch.undo()
    opened = Database(path)
    assert "half" not in tables(opened)
    assert opened.value("pragma user_version") == newest
    opened.close()


def test_a_database_of_an_earlier_version_is_brought_up_to_date(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = database._migrations()
    Database(path).close()
    monkeypatch.setattr(database, "_migrations", lambda: {**steps, max(steps) + 1: "create table later (id integer)"})
    opened = Database(path)
    assert "later" in tables(opened)
    assert opened.value("pragma user_version") == max(steps) + 1
    opened.close()


def test_a_database_of_a_newer_version_is_refused_with_the_remedy(path: Path) -> None:
    opened = Database(path)
    opened.connection.execute("pragma user_version = 99")
    opened.close()
    with pytest.raises(DatabaseError) as caught:
        Database(path)
    newest = max(database._migrations())
    assert f"schema 99, but this version of recall knows {newest} at most" in str(caught.value)
    assert "pip install --upgrade repo-recall" in str(caught.value)


def test_a_file_that_is_no_database_is_named_and_not_touched(path: Path) -> None:
    path.parent.mkdir()
    content = b"these are the notes of a keeper, and no database\n" * 100
    path.write_bytes(content)
    with pytest.raises(DatabaseError, match="is not a database") as caught:
        Database(path)
    assert str(path) in str(caught.value)
    assert "doctor --fix" in str(caught.value)
    assert path.read_bytes() == content


def test_an_empty_file_becomes_a_database(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    Database(path).close()
    assert path.read_bytes().startswith(b"SQLite format 3")


def test_a_damaged_database_is_reported_as_our_error(path: Path) -> None:
    Database(path).close()
    content = bytearray(path.read_bytes())
    content[100:4096] = b"\xff" * (4096 - 100)
    path.write_bytes(content)
    with pytest.raises(DatabaseError, match="doctor --fix"):
        Database(path)


def test_a_folder_in_the_place_of_the_file_is_reported(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(DatabaseError) as caught:
        Database(path)
    assert str(path) in str(caught.value)


def test_a_file_in_the_place_of_the_folder_is_reported(path: Path) -> None:
    path.parent.write_text("not a folder", encoding="utf-8")
    with pytest.raises(DatabaseError) as caught:
        Database(path)
    assert str(path) in str(caught.value)


_OPEN_AS_NOBODY = """
import os, sys
from recall.database import Database
from recall.errors import DatabaseError
from pathlib import Path
Database(None).close()  # loads all it needs, which another user may not be allowed to
if os.getuid() == 0:
    os.setuid(65534)
opened = Database(Path(sys.argv[1]))
print(opened.is_read_only, opened.value("select count(*) from repositories"))
try:
    with opened.write():
        print("written")
except DatabaseError as error:
    print(error)
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
@pytest.mark.parametrize("is_in_use", [False, True])
@pytest.mark.parametrize("folder_mode", [0o555, 0o755])
def test_a_file_that_may_not_be_written_can_be_read_and_a_writer_is_told_the_remedy(
    folder_mode: int, is_in_use: bool
) -> None:
    # Not in tmp_path: where the tests run as root, another user opens the file, who cannot enter that.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recall.db"
        opened = Database(path)
        if not is_in_use:
            opened.close()
        for file in path.parent.iterdir():
            file.chmod(0o444)
        path.parent.chmod(folder_mode)
        out, err = run(_OPEN_AS_NOBODY, path).communicate(timeout=60)
        path.parent.chmod(0o755)
        opened.close()
    assert err == b""
    assert out.splitlines()[0] == b"True 1"
    assert b"cannot be opened for writing" in out
    assert b"RECALL_HOME" in out
    assert str(path).encode() in out


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_only_the_user_may_read_what_is_stored(path: Path) -> None:
    opened = Database(path)
    with opened.write() as connection:
        connection.execute("insert into repositories (key, path) values ('/kite', '/kite')")
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert {file.name: oct(file.stat().st_mode & 0o777) for file in path.parent.iterdir()} == dict.fromkeys(
        (file.name for file in path.parent.iterdir()), "0o600"
    )
    opened.close()


_OPEN = """
import sys
from pathlib import Path
from recall.database import Database
sys.stdin.readline()
opened = Database(Path(sys.argv[1]))
with opened.write() as connection:
    connection.execute("insert into repositories (key, path) values (?, '/')", (sys.argv[2],))
opened.close()
"""


def test_eight_processes_may_open_a_new_file_at_once(path: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _OPEN, str(path), f"/{number}"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for number in range(8)
    ]
    for process in processes:  # all have started before the first may go on
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
    complaints = [process.communicate(timeout=60)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 8, complaints
    opened = Database(path)
    assert opened.value("select count(*) from repositories where key <> ''") == 8
    assert opened.value("pragma integrity_check") == "ok"
    opened.close()


def insert_and_raise(opened: Database, error: BaseException) -> None:
    with opened.write() as connection:
        connection.execute("insert into repositories (key, path) values ('/kite', '/kite')")
        raise error


def test_an_exception_undoes_the_whole_block(path: Path) -> None:
    opened = Database(path)
    with pytest.raises(ZeroDivisionError):
        insert_and_raise(opened, ZeroDivisionError())
    assert opened.value("select count(*) from repositories where key = '/kite'") == 0
    with opened.write() as connection:
        connection.execute("insert into repositories (key, path) values ('/owl', '/owl')")
    assert opened.value("select count(*) from repositories where key = '/owl'") == 1
    opened.close()


def test_an_interrupt_undoes_the_whole_block(path: Path) -> None:
    opened = Database(path)
    with pytest.raises(KeyboardInterrupt):
        insert_and_raise(opened, KeyboardInterrupt())
    assert not opened.connection.in_transaction
    assert opened.value("select count(*) from repositories where key = '/kite'") == 0
    opened.close()


def test_a_second_writer_waits_for_the_first(path: Path) -> None:
    first, second = Database(path), Database(path)
    began = threading.Event()

    def hold() -> None:
        with first.write() as connection:
            connection.execute("insert into repositories (key, path) values ('/first', '/')")
            began.set()
            time.sleep(0.3)

    holder = threading.Thread(target=hold)
    holder.start()
    assert began.wait(10)
    started = time.monotonic()
    with second.write() as connection:
        waited = time.monotonic() - started
        seen = connection.execute("select count(*) from repositories where key = '/first'").fetchone()
    holder.join()
    assert waited > 0.1
    assert seen == (1,)
    first.close()
    second.close()


def test_a_writer_that_waits_in_vain_is_told_who_is_in_the_way(path: Path) -> None:
    first, second = Database(path), Database(path)
    second.connection.set_busy_timeout(50)
    with first.write(), pytest.raises(DatabaseError, match="locked by another process"), second.write():
        pass
    first.close()
    second.close()


def test_a_reader_does_not_wait_for_a_writer(path: Path) -> None:
    first, second = Database(path), Database(path)
    with first.write() as connection:
        connection.execute("insert into repositories (key, path) values ('/kite', '/')")
        assert second.value("select count(*) from repositories where key = '/kite'") == 0
    assert second.value("select count(*) from repositories where key = '/kite'") == 1
    first.close()
    second.close()


def test_what_is_deleted_is_not_left_in_the_file(path: Path) -> None:
    opened = Database(path)
    with opened.write() as connection:
        connection.execute("insert into repositories (key, path) values ('/kestrelword', '/kestrelword')")
    with opened.write() as connection:
        connection.execute("delete from repositories where key = '/kestrelword'")
    opened.connection.execute("pragma wal_checkpoint(truncate)")
    opened.close()
    assert all(b"kestrelword" not in file.read_bytes() for file in path.parent.iterdir())


def test_a_database_in_memory_needs_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    opened = Database(None)
    assert opened.path is None
    assert opened.rows("select id from repositories") == [(0,)]
    assert opened.value("select id from repositories where id = 7") is None
    opened.close()
    assert list(tmp_path.iterdir()) == []


def test_vectors_can_be_searched_where_the_extension_loads() -> None:
    opened = Database(None)
    assert opened.vectors_missing == ""
    assert str(opened.value("select vec_version()")).startswith("v")
    opened.close()


def test_without_the_extension_everything_else_works_and_the_reason_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    opened = Database(None)
    assert "sqlite-vec cannot be loaded" in opened.vectors_missing
    assert "pip install" in opened.vectors_missing
    assert opened.value("select count(*) from repositories") == 1
    opened.close()


def test_no_other_extension_can_be_loaded_afterwards() -> None:
    opened = Database(None)
    with pytest.raises(apsw.Error, match="not authorized"):
        opened.connection.execute("select load_extension('nothing')")
    opened.close()


def test_what_was_counted_is_counted_again_after_a_write_of_anyone_and_not_before(path: Path) -> None:
    asked: list[int] = []

    def ask() -> int:
        asked.append(1)
        return int(one.value("select count(*) from forgotten"))

    one, other = Database(path), Database(path)
    assert [one.unchanged("it", ask), one.unchanged("it", ask), len(asked)] == [0, 0, 1]
    for number, writer in enumerate((one, other), 1):
        with writer.write() as connection:
            connection.execute("insert into forgotten values (?)", (f"s{number}",))
        assert [one.unchanged("it", ask), one.unchanged("it", ask), len(asked)] == [number, number, number + 1]
    one.close()
    other.close()
