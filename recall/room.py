"""What takes the room: in the database, and beside it in the home."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import apsw

from recall.database import Database
from recall.home import models_directory
from recall.retention import used_bytes
from recall.soundness import vector_tables, vectors_size, words_size


@dataclass(frozen=True, slots=True)
class Room:
    """Sizes in bytes. Text, words, vectors, other and free are together the file of the database."""

    text: int
    """What was said, with all that is known of it."""
    words: int
    """The word index, as its own records tell."""
    vectors: int
    other: int
    """The list of passages, and what has a vector."""
    free: int
    """Pages that are empty, and filled before the file grows."""
    log: int
    """SQLite's write-ahead log."""
    models: int
    backups: int
    """Damaged databases that were kept."""
    rest: int
    """All else in the home."""


def room_of(database: Database, home: Path) -> Room:
    """Sizes for a home. Reads records and small tables only, never the text."""
    connection, path = database.connection, home / "recall.db"
    page_size, free_pages = int(database.value("pragma page_size")), int(database.value("pragma freelist_count"))
    used, free = used_bytes(database), page_size * free_pages
    words, other = words_size(connection), _table_sizes(connection)
    vectors = sum(vectors_size(connection, table) for table in vector_tables(connection))
    files = {file: file.stat().st_size for file in home.rglob("*") if file.is_file()}
    log = sum(size for file, size in files.items() if file in (Path(f"{path}-wal"), Path(f"{path}-shm")))
    models = sum(size for file, size in files.items() if models_directory(home) in file.parents)
    backups = sum(size for file, size in files.items() if file.relative_to(home).parts[0].startswith(_KEPT))
    rest = sum(files.values()) - files.get(path, 0) - log - models - backups
    text = max(0, used - words - vectors - other)
    return Room(text, words, vectors, other, free, log, models, backups, rest)


def _table_sizes(connection: apsw.Connection) -> int:
    try:
        row = connection.execute(_SIZES).fetchone()
    except apsw.SQLError:  # a SQLite that was built without it: they count as text
        return 0
    return int(row[0]) if row and row[0] is not None else 0


_KEPT = "recall.db.damaged-"
# Names are part of the question, so that no other table is read.
_SIZES = """
select sum(pgsize) from dbstat where aggregate = true and name in (
  select name from sqlite_schema where tbl_name in ('passages', 'embedded') and rootpage > 0)
"""
