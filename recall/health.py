"""Questions about the state of the archive and of what searches it, for `recall doctor`. They change nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw
import numpy as np

from recall import embedded, ledger
from recall.database import Database, Row, SqliteError, refuse_emptied
from recall.embedding import Embedder
from recall.faults import BUSY_TIMEOUT_MS, FAULTS, database_error
from recall.moves import Known, is_found_elsewhere
from recall.rescan import outdated
from recall.salvage import overwritten
from recall.soundness import Damage, damages, vectors_size

DAMAGE_NAMED = 3
"""Places of damage that are named, at most."""

TEXT_LENGTH = 2_000
"""Characters of a message that are read to tell its language."""


@dataclass(frozen=True, slots=True)
class Engine:
    """What this machine searches with."""

    sqlite: str
    schema: int
    """The newest one that this version of recall knows."""
    sqlite_vec: str
    """Its version, once it has found a vector; empty where it cannot."""
    vectors_missing: str
    """Why vectors cannot be searched; empty where they can."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """Vectors of another embedder."""

    embedder: str
    count: int
    size: int
    """In bytes."""


@dataclass(frozen=True, slots=True)
class LostRepository:
    """A git repository that sessions ran in and that is no longer where it was."""

    path: str
    sessions: int


class Archive:
    """A database that is looked at. Every method raises SqliteError where the file turns out to be damaged."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    @property
    def schema(self) -> int:
        """Number of the newest migration that the database has had."""
        return self._number("pragma user_version")

    @property
    def is_read_only(self) -> bool:
        """Whether this user may not write to the file."""
        return self._connection.readonly("main")

    def require_sound(self) -> None:
        """Read all of the file; raises DatabaseError, saying what to do, where SQLite finds something wrong with it."""
        checks = ("pragma quick_check", "pragma quick_check(lexical)" if self._has("lexical") else "select 'ok'")
        whole, of_words = ([str(row[0]) for row in self._connection.execute(sql)] for sql in checks)
        # A damaged word index is no damage to what was said; `damages` tells of it.
        found = [one for one in whole if one not in of_words or of_words == ["ok"]][:DAMAGE_NAMED]
        if found and found != ["ok"]:
            raise database_error(apsw.CorruptError(", ".join(found)), self._path)
        if table := overwritten(self._connection, self._path.stat().st_size):
            raise database_error(apsw.CorruptError(f"the table of {table} holds what was never stored"), self._path)

    def damages(self) -> list[Damage]:
        """What of the index has to be made again."""
        return damages(self._connection, counted=True)

    def _has(self, table: str) -> bool:
        return self._number(f"select exists (select 1 from sqlite_schema where name = '{table}')") == 1

    def count(self, table: str) -> int:
        """Number of rows of one of our tables."""
        return self._number(f"select count(*) from {table}")

    def passages_worth_a_vector(self) -> int:
        """Number of passages that have a vector once all is up to date."""
        return self._number("select count(*) from passages where embeddable = 1")

    def passages_without_vector(self, embedder: Embedder) -> int:
        """Number of passages worth a vector that have none of this embedder."""
        return embedded.count_without_vector(self._connection, embedded.table_of(self._connection, embedder))

    def leftovers(self, embedder: Embedder) -> list[Leftover]:
        """Vectors of all embedders but this one, the latest embedder first."""
        others = embedded.others(self._connection, embedder)
        return [Leftover(one.name, one.count, vectors_size(self._connection, one.table)) for one in others]

    def problems(self) -> list[str]:
        """Why transcripts were not taken in, one sentence each."""
        return ledger.problems(self._connection)

    def outdated(self) -> int:
        """Number of sessions whose text was scanned by older rules."""
        return outdated(self._connection)

    def lost_repositories(self) -> list[LostRepository]:
        """The git repositories with sessions that are gone, by number of sessions; none that was found again."""
        rows: list[Row] = self._connection.execute(_REPOSITORIES).fetchall()
        known = [(Known(int(id), str(key), str(path)), count) for id, key, path, count in rows]
        return [
            LostRepository(one.path, int(count))
            for one, count in known
            if one.was_git and not one.is_there and not is_found_elsewhere(self._connection, one)
        ]

    def latest_texts(self, limit: int) -> list[str]:
        """The beginnings of the latest messages that people and assistants said, in no order; `limit` at most."""
        return [str(row[0]) for row in self._connection.execute(_LATEST_TEXTS, (TEXT_LENGTH, limit))]

    def _number(self, sql: str) -> int:
        row = self._connection.execute(sql).fetchone()
        return int(row[0]) if row else 0


@contextlib.contextmanager
def looking_into(path: Path) -> Iterator[Archive]:
    """The database at `path`, in one transaction that cannot write. Raises DatabaseError.

    Unlike `Database` it makes no file and brings no schema up to date.
    """
    try:
        refuse_emptied(path)
        # Opened for reading only, SQLite would leave the two files of its write-ahead log behind.
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    except SqliteError as error:
        raise database_error(error, path) from error
    try:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        connection.execute("pragma query_only = on")
        connection.execute("begin")
        # The first read, which finds out that a file is no database.
        connection.execute("select count(*) from sqlite_schema")
        yield Archive(connection, path)
    except FAULTS as error:
        raise database_error(error, path) from error
    finally:
        connection.close()


def engine() -> Engine:
    """Tries SQLite, its full-text search and sqlite-vec on a database in memory. Raises DatabaseError."""
    database = Database(None)
    try:
        connection, missing, version = database.connection, database.vectors_missing, ""
        if not missing:
            try:
                version = _tried_sqlite_vec(connection)
            except SqliteError as error:
                missing = f"sqlite-vec finds no vector ({error}); {_REINSTALL}"
        return Engine(apsw.sqlite_lib_version(), Archive(connection, Path()).schema, version, missing)
    finally:
        database.close()


def _tried_sqlite_vec(connection: apsw.Connection) -> str:
    """The version of sqlite-vec, which has just found the nearer one of two vectors. Raises SqliteError."""
    near, far = (np.array(values, dtype=np.float32).tobytes() for values in ((1.0, 0.0), (0.0, 1.0)))
    connection.execute("create virtual table tried using vec0(v float[2] distance_metric = cosine)")
    connection.execute("insert into tried (rowid, v) values (1, ?), (2, ?)", (near, far))
    found = connection.execute("select rowid from tried where v match ? and k = 1", (near,)).fetchone()
    version = connection.execute("select vec_version()").fetchone()
    if found != (1,) or version is None:
        raise apsw.SQLError(f"it gave {found} for the nearest of two vectors")
    return str(version[0])


_REINSTALL = "reinstall it with: pip install --force-reinstall sqlite-vec"
_REPOSITORIES = """
select r.id, r.key, r.path, count(*) from sessions s join worktrees w on w.id = s.worktree_id
join repositories r on r.id = w.repository_id where r.id <> 0 group by r.id order by count(*) desc, r.path
"""
# From the passages, whose rows are small: to sort the messages, SQLite would read the text of all of them. A message
# without a time counts as said when its session began.
_LATEST_TEXTS = """
select substr(text, 1, ?) from messages where id in (
  select p.message_id from passages p join sessions s on s.id = p.session_id
  where p.role in ('user', 'assistant') and p.subagent = 0
  group by p.message_id order by ifnull(min(p.said_at), s.started_at) desc, p.message_id desc limit ?)
"""
