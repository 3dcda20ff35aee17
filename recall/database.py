"""Opens `recall.db`: SQLite through apsw, with sqlite-vec where it can be loaded, migrated to the newest schema.

apsw brings its own SQLite, so FTS5 and extension loading are there on every Python.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import apsw

from recall.errors import DatabaseError

BUSY_TIMEOUT_MS = 10_000
SCHEMA = Path(__file__).with_name("schema")

SqliteError = apsw.Error

Value = int | float | str | bytes | None
Row = tuple[Any, ...]


class Database:
    """A connection, and whether it can search vectors."""

    def __init__(self, path: Path | None) -> None:
        """Open or create the file at `path`; None is a database in memory.

        Raises DatabaseError when the file cannot be opened, is no database, or was written by a newer version.
        """
        self.path = path
        self.vectors_missing = ""
        """Why vectors cannot be searched; empty where they can."""
        try:
            if path is not None:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                path.touch(mode=0o600)
            self.connection = apsw.Connection(str(path) if path else ":memory:")
            self.connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            _use_wal(self.connection)
            # What is deleted is overwritten: forgetting has to reach the bytes of the file.
            self.connection.execute("pragma secure_delete = on")
            self.connection.execute("pragma synchronous = normal")
            self.connection.execute("pragma foreign_keys = on")
            _migrate(self.connection)
        except (apsw.Error, OSError) as error:
            raise DatabaseError(explain(error, path)) from error
        self._load_vectors()

    def close(self) -> None:
        """Close the connection; the object is of no use afterwards."""
        self.connection.close()

    @contextlib.contextmanager
    def write(self) -> Iterator[apsw.Connection]:
        """A transaction that is a writer from its start, committed at the end of the block, undone by an exception.

        A read that becomes a write fails at once, whatever the timeout, so writers announce themselves.
        Raises DatabaseError when another process holds the lock for longer than the timeout.
        """
        try:
            self.connection.execute("begin immediate")
        except (apsw.BusyError, apsw.ReadOnlyError) as error:
            raise DatabaseError(explain(error, self.path)) from error
        try:
            yield self.connection
            self.connection.execute("commit")
        except BaseException as error:
            if self.connection.in_transaction:
                self.connection.execute("rollback")
            if isinstance(error, apsw.Error):
                raise DatabaseError(explain(error, self.path)) from error
            raise

    @contextlib.contextmanager
    def read(self) -> Iterator[apsw.Connection]:
        """A transaction that sees one state of the database, whatever others write meanwhile.

        Raises DatabaseError where the database turns out to be damaged or locked.
        """
        if self.connection.in_transaction:
            yield self.connection
            return
        try:
            self.connection.execute("begin")
            yield self.connection
        except apsw.Error as error:
            raise DatabaseError(explain(error, self.path)) from error
        finally:
            if self.connection.in_transaction:
                self.connection.execute("rollback")

    def sweep(self) -> None:
        """Take what was removed out of the write-ahead log too, as far as no other process is reading from it."""
        self.connection.execute("pragma wal_checkpoint(truncate)").fetchall()

    def rows(self, sql: str, values: tuple[Value, ...] = ()) -> list[Row]:
        """All rows of a query."""
        return list(self.connection.execute(sql, values))

    def value(self, sql: str, values: tuple[Value, ...] = ()) -> Any:
        """First column of the first row; None where there is no row."""
        row = self.connection.execute(sql, values).fetchone()
        return row[0] if row else None

    def _load_vectors(self) -> None:
        try:
            extension = vector_extension()
            self.connection.enable_load_extension(True)
            self.connection.load_extension(str(extension))
            self.connection.enable_load_extension(False)
        except (ImportError, AttributeError, OSError, apsw.Error) as error:
            self.vectors_missing = (
                f"sqlite-vec cannot be loaded ({error}); reinstall it with: pip install --force-reinstall sqlite-vec"
            )


def vector_extension() -> Path:
    """Where sqlite-vec's extension is, without the ending of its name. Raises ImportError.

    The package is looked up and not imported: it would import numpy, which takes ten times as long as the rest.
    """
    spec = find_spec("sqlite_vec")
    if spec is None or spec.origin is None:
        raise ImportError("there is no package of that name")
    return Path(spec.origin).with_name("vec0")


def _use_wal(connection: apsw.Connection) -> None:
    # This pragma does not wait for the busy timeout: of 200 simultaneous first openings 23 failed without a retry.
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
            return
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _migrate(connection: apsw.Connection) -> None:
    steps = _migrations()
    newest = max(steps)
    if _version(connection) == newest:
        return
    connection.execute("begin immediate")
    try:
        # Look again: another process may have migrated while this one waited for the lock.
        version = _version(connection)
        if version > newest:
            raise DatabaseError(
                f"the database has schema {version}, but this version of recall knows {newest} at most; "
                "upgrade with: pip install --upgrade repo-recall"
            )
        for number in range(version + 1, newest + 1):
            connection.execute(steps[number])
            connection.execute(f"pragma user_version = {number}")
    except BaseException:
        connection.execute("rollback")
        raise
    connection.execute("commit")


def _version(connection: apsw.Connection) -> int:
    row = connection.execute("pragma user_version").fetchone()
    return int(row[0]) if row else 0


def _migrations() -> dict[int, str]:
    return {
        int(match[1]): entry.read_text(encoding="utf-8")
        for entry in SCHEMA.iterdir()
        if (match := re.fullmatch(r"(\d{4})_\w+\.sql", entry.name))
    }


def explain(error: Exception, path: Path | None) -> str:
    """What went wrong with the database at `path`, and what to do, for an error of SQLite or of the file system."""
    name = str(path) if path else "the database in memory"
    if isinstance(error, apsw.BusyError):
        return (
            f"{name} has been locked by another process for {BUSY_TIMEOUT_MS // 1000} s; "
            "wait for it to finish, or end it, and try again"
        )
    if isinstance(error, apsw.NotADBError):
        return f"{name} is not a database (its first bytes are no SQLite header); {_RESCUE}"
    if isinstance(error, apsw.CorruptError):
        return f"{name} is damaged ({error}); {_RESCUE}"
    if isinstance(error, apsw.FullError):
        return f"{name} cannot grow: the disk is full; free some space and try again"
    if isinstance(error, apsw.CantOpenError | apsw.ReadOnlyError | PermissionError) or (
        isinstance(error, OSError) and path is not None and not os.access(path.parent, os.W_OK)
    ):
        return f"{name} cannot be opened for writing ({error}); make it writable, or set RECALL_HOME to another folder"
    return f"{name} cannot be used: {error}"


_RESCUE = (
    "it may hold sessions that their agents have deleted, so copy it first; `sqlite3 FILE .recover` saves what can be "
    "saved, and recall ingest takes in again what transcripts still hold"
)
