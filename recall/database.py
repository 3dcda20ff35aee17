"""Opens `recall.db`: SQLite through apsw, with sqlite-vec where it can be loaded, migrated to the newest schema.

apsw brings its own SQLite, so FTS5 and extension loading are there on every Python.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import apsw

from recall.errors import DamagedError, DatabaseError
from recall.faults import BUSY_TIMEOUT_MS, FAULTS, RESCUE, database_error
from recall.home import KEY_NAME

SWEEP_TIMEOUT_MS = 1_000
"""How long a reader is waited for until the write-ahead log is left for the next time."""

CACHE_KB = 32_768
"""What SQLite keeps of the file in memory: with its usual 2 MB, searches of a large archive read most pages anew."""

SALVAGED = ".salvaged"
"""Ends the name of what will take the place of a damaged database (recall/salvage.py)."""

ROOM_BYTES = 4 * 2**20

CREATION_SECONDS = 1.0
"""How long an empty file may stand before the process that made it has written to it."""

SCHEMA = Path(__file__).with_name("schema")

SqliteError = apsw.Error

Value = int | float | str | bytes | None
Row = tuple[Any, ...]


class Database:
    """A connection, and what it can do."""

    def __init__(self, path: Path | None) -> None:
        """Open or create the file at `path`; None is a database in memory.

        Raises DatabaseError when the file cannot be opened, or was written by a newer version; DamagedError when it is
        no database, or not the one that it was.
        """
        self.path = path
        self.vectors_missing = ""
        """Why vectors cannot be searched; empty where they can."""
        self.is_read_only = False
        """Whether the file can only be read; it is then as it was when it was opened."""
        self.is_new = False
        """Whether nothing was in it before."""
        self._patience_ms = BUSY_TIMEOUT_MS
        self._answers: dict[str, tuple[object, int]] = {}
        self.connection = self._open()
        self._load_vectors()

    def _open(self) -> apsw.Connection:
        try:
            if self.path is not None:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                refuse_emptied(self.path)
                if not self.path.exists():
                    self.path.touch(mode=0o600)
            connection = self._connected()
        except (apsw.Error, OSError) as error:
            raise database_error(error, self.path) from error
        try:
            self.is_read_only = connection.readonly("main")
            if not self.is_read_only:
                use_wal(connection)
                # What is deleted is overwritten: forgetting has to reach the bytes of the file.
                connection.execute("pragma secure_delete = on")
                connection.execute("pragma synchronous = normal")
                connection.execute("pragma foreign_keys = on")
            connection.execute(f"pragma cache_size = -{CACHE_KB}")
            self.is_new = _migrate(connection, self.is_read_only)
        except BaseException as error:
            connection.close()
            if isinstance(error, apsw.Error):
                raise database_error(error, self.path) from error
            raise
        return connection

    def _connected(self) -> apsw.Connection:
        if self.path is None:
            return apsw.Connection(":memory:")
        connection = apsw.Connection(str(self.path))
        try:
            connection.set_busy_timeout(self._patience_ms)
            # The first read: in a folder that cannot be written, SQLite finds no place for its write-ahead log.
            connection.execute("select count(*) from sqlite_schema").fetchone()
            return connection
        except apsw.Error as error:
            connection.close()
            if not isinstance(error, apsw.CantOpenError | apsw.ReadOnlyError):
                raise
            log = Path(f"{self.path}-wal")
            if not self.path.is_file() or (log.exists() and log.stat().st_size):
                raise
            # Without a log, all is in the file itself, which changes only when somebody's log is merged into it.
            place = f"{self.path.absolute().as_uri()}?immutable=1"
            return apsw.Connection(place, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)

    def close(self) -> None:
        """Close the connection; the object is of no use afterwards."""
        self.connection.close()

    def reopen(self) -> None:
        """Forget what this connection remembers of the file."""
        self._answers.clear()
        if self.path is not None:
            self.connection.close()
            self.connection = self._open()
            self._load_vectors()

    @contextlib.contextmanager
    def patience(self, milliseconds: int) -> Iterator[None]:
        """Wait only so long for another process's lock."""
        before, self._patience_ms = self._patience_ms, milliseconds
        self.connection.set_busy_timeout(milliseconds)
        try:
            yield
        finally:
            self._patience_ms = before
            self.connection.set_busy_timeout(before)

    @contextlib.contextmanager
    def write(self) -> Iterator[apsw.Connection]:
        """A transaction that is a writer from its start, committed at the end of the block, undone by an exception.

        A read that becomes a write fails at once, whatever the timeout, so writers announce themselves.
        Raises LockedError when another process holds the lock for longer than the timeout, DatabaseError where the
        file cannot be written.
        """
        if self.is_read_only:  # there, SQLite lets a writer begin
            raise database_error(apsw.ReadOnlyError("it can only be read"), self.path)
        try:
            self.connection.execute("begin immediate")
        except apsw.Error as error:
            raise database_error(error, self.path, self._patience_ms) from error
        try:
            yield self.connection
            self.connection.execute("commit")
        except BaseException as error:
            if self.connection.in_transaction:
                self.connection.execute("rollback")
            if isinstance(error, apsw.SQLError) and not self._has_room():
                raise database_error(apsw.FullError("database or disk is full"), self.path) from error
            if isinstance(error, FAULTS):
                raise database_error(error, self.path, self._patience_ms) from error
            raise

    def _has_room(self) -> bool:
        """Whether the file can grow. sqlite-vec gives a full disk the code of any other error."""
        try:
            self.connection.execute("begin immediate")
            self.connection.execute("create table room (filled blob)")
            # More than SQLite keeps in memory, so that some of it goes to the disk.
            self.connection.execute("insert into room values (zeroblob(?))", (ROOM_BYTES,))
        except apsw.FullError:
            return False
        except apsw.Error:
            return True
        finally:
            if self.connection.in_transaction:
                self.connection.execute("rollback")
        return True

    @contextlib.contextmanager
    def read(self) -> Iterator[apsw.Connection]:
        """A transaction that sees one state of the database, whatever others write meanwhile.

        Raises DatabaseError where the database turns out to be damaged (DamagedError) or locked (LockedError).
        """
        if self.connection.in_transaction:
            yield self.connection
            return
        try:
            self.connection.execute("begin")
            yield self.connection
        except FAULTS as error:
            raise database_error(error, self.path, self._patience_ms) from error
        finally:
            if self.connection.in_transaction:
                self.connection.execute("rollback")

    def sweep(self, timeout_ms: int = SWEEP_TIMEOUT_MS) -> bool:
        """Take what was removed out of the write-ahead log too; False where another process still reads from it."""
        self.connection.set_busy_timeout(timeout_ms)
        try:
            row = self.connection.execute("pragma wal_checkpoint(truncate)").fetchone()
        except apsw.BusyError:
            return False
        finally:
            self.connection.set_busy_timeout(self._patience_ms)
        return row is None or not row[0]

    def unchanged(self, name: str, ask: Callable[[], int]) -> int:
        """The answer of `ask`, which is asked again only after somebody has written: to count takes long."""
        state = (self.connection.pragma("data_version"), self.connection.total_changes())
        if self._answers.get(name, (None, 0))[0] != state:
            self._answers[name] = (state, ask())
        return self._answers[name][1]

    def rows(self, sql: str, values: tuple[Value, ...] = ()) -> list[Row]:
        """All rows of a query. Raises DatabaseError."""
        try:
            return list(self.connection.execute(sql, values))
        except FAULTS as error:
            raise database_error(error, self.path, self._patience_ms) from error

    def value(self, sql: str, values: tuple[Value, ...] = ()) -> Any:
        """First column of the first row; None where there is no row. Raises DatabaseError."""
        rows = self.rows(sql, values)
        return rows[0][0] if rows else None

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


def use_wal(connection: apsw.Connection) -> None:
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


def refuse_emptied(path: Path) -> None:
    """Raises DamagedError for a file without a byte that had some: SQLite takes it for a new database.

    The key of the fingerprints stands beside it, made when something is first taken in.
    """
    if (
        not path.exists()
        and path.with_name(f"{path.name}{SALVAGED}").exists()
        and list(path.parent.glob("*.damaged-*"))
    ):
        raise DamagedError(f"{path} is being mended, or its mending was stopped; {RESCUE}")
    deadline = time.monotonic() + CREATION_SECONDS
    while path.is_file() and path.stat().st_size == 0 and (path.parent / KEY_NAME).exists():
        if time.monotonic() > deadline:  # not another process that is just making it
            raise DamagedError(f"{path} is empty, but was not: something has truncated it; {RESCUE}")
        time.sleep(0.02)


def _migrate(connection: apsw.Connection, is_read_only: bool) -> bool:
    """Whether the database was empty before."""
    steps = _migrations()
    newest = max(steps)
    found = _version(connection)
    if found == newest:
        return False
    if is_read_only and found < newest:
        raise DatabaseError(
            f"the database has schema {found} and cannot be written, so it cannot be brought to {newest}; "
            "make it writable, or set RECALL_HOME to another folder"
        )
    if found > newest:
        raise DatabaseError(
            f"the database has schema {found}, but this version of recall knows {newest} at most; "
            "upgrade with: pip install --upgrade repo-recall"
        )

    def sign(*url: Any) -> str:
        from recall.identity import remote_sign  # not at the top: no database but an old one needs a scanner

        return remote_sign(str(url[0]))

    connection.create_scalar_function("remote_sign", sign, 1)
    connection.execute("begin immediate")
    try:
        # Look again: another process may have migrated while this one waited for the lock.
        version = _version(connection)
        for number in range(version + 1, newest + 1):
            connection.execute(steps[number])
            connection.execute(f"pragma user_version = {number}")
    except BaseException:
        connection.execute("rollback")
        raise
    connection.execute("commit")
    return version == 0


def _version(connection: apsw.Connection) -> int:
    row = connection.execute("pragma user_version").fetchone()
    return int(row[0]) if row else 0


def _migrations() -> dict[int, str]:
    return {
        int(match[1]): entry.read_text(encoding="utf-8")
        for entry in SCHEMA.iterdir()
        if (match := re.fullmatch(r"(\d{4})_\w+\.sql", entry.name))
    }
