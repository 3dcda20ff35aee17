"""Saving what can be read of a damaged database: into a new file, which then takes its place. The old one is kept.

Only what was said is carried over, row by row where pages between are lost; what is derived from it is made again when
the new file is opened (recall/repair.py).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import apsw
import orjson

from recall import forgotten
from recall.archive import digest_of
from recall.database import SALVAGED, Database, Row
from recall.errors import DatabaseError, LockedError
from recall.faults import FAULTS, database_error
from recall.salvaged_rows import is_in_order, rows_of
from recall.types import Message

DERIVED = ("passages", "totals", "embedders", "embedded", "lexical", "vectors", "sqlite")
"""Beginnings of the names of tables that are not carried over."""

PAGE_SIZE = 4_096
WAIT_MS = 2_000


@dataclass(frozen=True, slots=True)
class Salvage:
    """What became of a damaged database."""

    backup: Path
    """Where it is now, as it was."""
    sessions: int
    messages: int
    """How many were carried over."""
    is_whole: bool
    """Whether all of its pages could be read, so that nothing can be missing."""


def replace_damaged(path: Path) -> Salvage:
    """Put a new database in the place of the damaged thing at `path`, with all that can be read of it.

    Can be killed at any time: until the new file is complete, nothing is moved. Raises DatabaseError where another
    process has it open, or there is no room for the new file.
    """
    new = path.with_name(f"{path.name}{SALVAGED}")
    try:
        if is_being_replaced(path):  # the last run was killed between the two renames
            counts, backup = _counted(new, is_whole=False), backups(path.parent)[-1]
        else:
            _remove(new)
            counts = _saved(path, new)
            backup = _moved(path)
        new.replace(path)
    except (apsw.Error, OSError) as error:
        raise database_error(error, path) from error
    return Salvage(backup, *counts)


def is_being_replaced(path: Path) -> bool:
    """Whether the new file is complete and waits for its place, which is free."""
    return not path.exists() and path.with_name(f"{path.name}{SALVAGED}").exists() and bool(backups(path.parent))


def overwritten(connection: apsw.Connection, size: int) -> str:
    """A table in which something is not what was stored, though SQLite finds nothing wrong; empty where there is none.

    Reads all that was said. size: of the file, in bytes.
    """
    columns = _columns(connection)
    for table in _PRIMARY:
        names = columns.get(table, [])
        for row in rows_of(connection, table, ", ".join(names), size):
            if row is None or not _is_sound(table, dict(zip(names, row, strict=True))):
                return table
    return ""


def backups(home: Path) -> list[Path]:
    """Damaged databases that were kept, oldest first."""
    return [path for path in sorted(home.glob("recall.db.damaged-*")) if not path.name.endswith("-wal")]


def _saved(path: Path, new: Path) -> tuple[int, int, bool]:
    target = Database(new)
    try:
        target.connection.execute("pragma foreign_keys = off")  # what a row belongs to may be lost
        with target.write() as connection:
            is_whole = True
            for source in _sources(path):
                with closing(source):
                    is_whole = _copy(source, connection, path.stat().st_size)
                    break
            else:
                is_whole = False
            _tie(connection)
            if not is_whole:  # read them again from the beginning: what is there already is not added twice
                connection.execute("update transcripts set size = -1, read_to = 0, head_digest = x''")
        # What was lost of it must not be taken in again.
        forgotten.restore(target, is_whole=False)
    except BaseException:
        target.close()
        _remove(new)
        raise
    target.close()
    return _counted(new, is_whole)


def _counted(new: Path, is_whole: bool) -> tuple[int, int, bool]:
    with closing(Database(new).connection) as connection:
        row = connection.execute("select (select count(*) from sessions), count(*) from messages").fetchone()
        assert row is not None
        return int(str(row[0])), int(str(row[1])), is_whole


def _sources(path: Path) -> Iterator[apsw.Connection]:
    """A connection to the damaged file, or to a copy with a new header; none where neither can be read."""
    if not path.is_file() or path.stat().st_size < PAGE_SIZE:
        return
    source = _opened(path)
    if source is not None:
        yield source
        return
    copy = path.with_name(f"{path.name}.header")
    if not _has_lost_its_header(path):
        return
    try:
        shutil.copyfile(path, copy)
        if (log := Path(f"{path}-wal")).exists():
            shutil.copyfile(log, f"{copy}-wal")
        with copy.open("r+b") as file:
            file.write(_header(copy.stat().st_size, bool(Path(f"{copy}-wal").exists())))
        if source := _opened(copy):
            yield source
    finally:
        _remove(copy)


def _opened(path: Path) -> apsw.Connection | None:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(WAIT_MS)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)  # the file stays as it is
        connection.execute("pragma writable_schema = on")  # a file that was cut short is read as far as it goes
        connection.execute("pragma locking_mode = exclusive")
        connection.execute("begin immediate")
        return connection
    except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError):
        connection.close()
        return None
    except apsw.BusyError as error:
        connection.close()
        raise LockedError(
            f"{path} is open in another process, under which it must not be moved; end that, and run the same again"
        ) from error
    except BaseException:
        connection.close()
        raise


def _copy(source: apsw.Connection, target: apsw.Connection, size: int) -> bool:
    """Carry over all tables that both know and that are not derived; whether every row could be read."""
    is_whole = True
    theirs = _columns(source)
    for table, columns in _columns(target).items():
        if table.startswith(DERIVED):
            continue
        if table not in theirs:
            is_whole &= table not in _PRIMARY
            continue
        shared = [name for name in columns if name in theirs[table]]
        names = ", ".join(shared)
        put = f"insert or replace into {table} ({names}) values ({', '.join('?' * len(shared))})"
        is_whole &= (in_order := is_in_order(source, table))
        for row in rows_of(source, table, names, size, in_order):
            if row is None or not _is_sound(table, dict(zip(shared, row, strict=True))):
                is_whole = False
                continue
            try:
                target.execute(put, row)
            except (apsw.ConstraintError, apsw.MismatchError):
                is_whole = False
    return is_whole


def _is_sound(table: str, row: dict[str, object]) -> bool:
    """Whether a row is what was stored: a page of garbage may look like one. A message carries a digest of its text."""
    if table == "transcripts":
        return all(_is_json(str(row[name])) for name in ("state", "skipped"))
    if table != "messages" or row.get("copied_from") is not None:
        return True
    text, role, digest = row.get("text"), row.get("role"), row.get("digest")
    return isinstance(text, str) and role in ("user", "assistant", "tool") and digest_of(_said(role, text)) == digest


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def _said(role: object, text: str) -> Message:
    return Message("user" if role == "user" else "assistant" if role == "assistant" else "tool", text)


def _tie(connection: apsw.Connection) -> None:
    """Let every row belong to something that is there."""
    connection.execute("insert or ignore into repositories values (0, '', '')")
    connection.execute("insert or ignore into worktrees values (0, 0, '', '')")
    for sql in _TIES:
        connection.execute(sql)
    # A session whose own row is lost: its transcript, where there is one, names it; else its messages keep together.
    rows: list[Row] = connection.execute(_WITHOUT_SESSION).fetchall()
    for session_id, path in rows:
        if path and Path(str(path)).exists():
            connection.execute("delete from messages where session_id = ?", (session_id,))
        else:
            connection.execute(_ADD_SESSION, {"id": session_id, "name": f"salvaged-{session_id}"})
    connection.execute("delete from messages where copied_from not in (select id from sessions)")


def _columns(connection: apsw.Connection) -> dict[str, list[str]]:
    """Names of the columns of each ordinary table, as far as they can be read."""
    found: dict[str, list[str]] = {}
    tables: list[str] = []
    with suppress(*FAULTS):
        for (table,) in connection.execute("select name from sqlite_schema where type = 'table' and rootpage > 0"):
            tables.append(str(table))
    for table in tables:
        with suppress(*FAULTS):
            rows = connection.execute("select name from pragma_table_info(?)", (table,))
            found[table] = [str(name) for (name,) in rows]
    return found


def _moved(path: Path) -> Path:
    """Move the damaged file out of the way, with its log; the path of the backup."""
    backup = path.with_name(f"{path.name}.damaged-{datetime.now().astimezone():%Y%m%dT%H%M%S}")
    if backup.exists():
        raise DatabaseError(f"{backup} is there already; wait a second, and run the same command again")
    if (log := Path(f"{path}-wal")).exists():
        log.replace(f"{backup}-wal")
    Path(f"{path}-shm").unlink(missing_ok=True)
    path.replace(backup)
    return backup


def _remove(path: Path) -> None:
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)


def _has_lost_its_header(path: Path) -> bool:
    """Whether the first page goes on as one of ours behind a header that is none."""
    with path.open("rb") as file:
        first = file.read(101)
    return not first.startswith(_MAGIC) and first[100] in (0x05, 0x0D)


def _header(size: int, with_log: bool) -> bytes:
    """The header of a database of ours, https://sqlite.org/fileformat2.html#the_database_header."""
    version = 2 if with_log else 1

    def numbers(*values: int) -> bytes:
        return b"".join(value.to_bytes(4, "big") for value in values)

    head = _MAGIC + PAGE_SIZE.to_bytes(2, "big") + bytes((version, version, 0, 64, 32, 32))
    head += numbers(1, size // PAGE_SIZE, 0, 0, 1, 4, 0, 0, 1, 0, 0, 0)
    return head + bytes(20) + numbers(1, 3_050_000)


_MAGIC = b"SQLite format 3\0"
_PRIMARY = ("repositories", "worktrees", "sessions", "transcripts", "messages")
_TIES = (
    "delete from worktrees where repository_id not in (select id from repositories)",
    "update sessions set worktree_id = 0 where worktree_id not in (select id from worktrees)",
    "update messages set worktree_id = 0 where worktree_id not in (select id from worktrees)",
    "update messages set transcript_id = null where transcript_id not in (select id from transcripts)",
    "update transcripts set session_id = null where session_id not in (select id from sessions)",
    "delete from signs where repository_id not in (select id from repositories)",
)
_WITHOUT_SESSION = """
select m.session_id, max(t.path) from messages m left join transcripts t on t.id = m.transcript_id
where m.session_id not in (select id from sessions) group by m.session_id
"""
_ADD_SESSION = """
insert into sessions (id, name, agent, title, preview, cwd, worktree_id, branch, remote, started_at, updated_at, parent,
                      forked_from, imported)
select :id, :name, 'other', substr(max(iif(number = 1, text, '')), 1, 80), '', '', max(worktree_id), '', '',
  min(said_at), max(said_at), '', '', 0 from messages where session_id = :id
"""
