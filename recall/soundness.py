"""Whether what is derived from the archive (passages, word index, vectors) is whole. Looks, and changes nothing.

A damaged index often answers without an error: emptied, it just finds nothing. So it is looked at when the database is
opened, in a few milliseconds, and counted through where a search has found nothing or `recall doctor` asks.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import apsw

WORDS = "the word index"
PASSAGES = "the table of passages"
TOTALS = "the count of passages"
EMBEDDED = "the list of what has a vector"


@dataclass(frozen=True, slots=True)
class Damage:
    """A part that has to be made again."""

    part: str
    """WORDS, PASSAGES, TOTALS, EMBEDDED, or the name of a table of vectors."""
    found: str
    """What is wrong with it."""


def damages(connection: apsw.Connection, counted: bool = False) -> list[Damage]:
    """What is damaged, in the order in which it has to be mended. Inside a transaction, where others write.

    counted: compare all parts row by row too, which takes seconds for a million passages.
    Raises apsw.Error where the file itself is damaged.
    """
    tables = _tables(connection)
    if "messages" not in tables:
        raise apsw.CorruptError("the table of messages is missing")
    if found := passages_damage(connection, tables):  # all else hangs on them, and is made with them
        return [Damage(PASSAGES, found)]
    parts: dict[str, Callable[[], str]] = {
        TOTALS: partial(totals_damage, connection, tables, counted),
        WORDS: partial(words_damage, connection, tables, counted),
    }
    for table in vector_tables(connection):
        parts[table] = partial(vectors_damage, connection, tables, table, counted)
    parts[PASSAGES] = partial(passages_damage, connection, tables, counted)
    parts[EMBEDDED] = partial(embedded_damage, connection, tables, counted)
    asked = [Damage(part, _asked(question)) for part, question in parts.items()]
    return [damage for damage in asked if damage.found]


def passages_damage(connection: apsw.Connection, tables: set[str], counted: bool = False) -> str:
    """What is wrong with the passages; empty where nothing is."""
    if "passages" not in tables:
        return "it is missing"
    if _number(connection, _NO_PASSAGE) and not _number(connection, _NO_MESSAGE):
        return "it is empty"
    if counted and (lacking := _number(connection, COUNT_WITHOUT_PASSAGES)):
        return f"{lacking} messages have none"
    return ""


def totals_damage(connection: apsw.Connection, tables: set[str], counted: bool = False) -> str:
    """What is wrong with the count that triggers keep of the passages; empty where nothing is.

    To count takes long, so unless `counted` it is done only where the word index says something else.
    """
    if "totals" not in tables:
        return "it is missing"
    if _number(connection, _COUNT_TRIGGERS) != len(TRIGGERS):
        return "what keeps it is missing"
    if (rows := _number(connection, "select count(*) from totals")) != 1:
        return f"it has {rows} rows"
    kept = _kept(connection, tables)
    if (counted or not _agree(_indexed(connection, tables), kept)) and kept != (exact := _counted(connection)):
        return f"it says {kept[0]} with {kept[1]} terms, there are {exact[0]} with {exact[1]}"
    return ""


def words_damage(connection: apsw.Connection, tables: set[str], counted: bool = False) -> str:
    """What is wrong with the word index; empty where nothing is. Raises apsw.Error where it cannot be read."""
    if missing := {f"lexical{end}" for end in ("", "_data", "_idx", "_docsize", "_config")} - tables:
        return f"{', '.join(sorted(missing))} missing"
    if not _number(connection, "select count(*) from lexical_config where k = 'version'"):
        return "its settings are missing"
    structure = _block(connection, _STRUCTURE)
    if structure is None:
        return "its structure is missing"
    indexed, kept = _indexed(connection, tables), _kept(connection, tables)
    if counted or not _agree(indexed, kept):
        kept = _counted(connection)
    stored = kept[0]
    if indexed[0] != stored:
        return f"it holds {indexed[0]} of {stored} passages"
    if not _agree(indexed, kept):
        return "lengths of passages are wrong"
    if _number(connection, _LAST_INDEXED) != _number(connection, _LAST_PASSAGE):
        return "it does not hold the latest passage"
    pages = segments(structure)
    for segment, first, last in pages:
        if not all(_block(connection, (segment << _SEGMENT_BITS) + page) for page in (first, last)):
            return "pages of it are missing"
        # Of a segment that is being merged into another, what is left may be the end of one long list, under no term.
        if first == 1 and not _number(connection, _HAS_CONTENTS, segment):
            return "its table of contents is missing"
    if counted:
        return _words_counted(connection, stored, pages)
    return ""


def _words_counted(connection: apsw.Connection, stored: int, pages: list[tuple[int, int, int]]) -> str:
    if _number(connection, "select count(*) from lexical_docsize") != stored:
        return "lengths of passages are missing"
    for segment, first, last in pages:
        begins = segment << _SEGMENT_BITS
        if _number(connection, _COUNT_PAGES, begins + first, begins + last) != last - first + 1:
            return "pages of it are missing"
    rows = connection.execute("pragma quick_check(lexical)").fetchall()
    # The text of a row is SQLite's; it is told to a person and decides nothing.
    return "" if rows in ([], [("ok",)]) else str(rows[0][0])


def vectors_damage(connection: apsw.Connection, tables: set[str], table: str, counted: bool = False) -> str:
    """What is wrong with a table of vectors; empty where nothing is.

    Its own tables are read and never the virtual one: without them, sqlite-vec 0.1.9 ends the process.
    """
    sizes = vector_sizes(connection, table)
    own = {f"{table}_chunks", f"{table}_rowids", *(f"{table}_vector_chunks{n:02}" for n in range(len(sizes)))}
    if missing := own - tables:
        return f"{', '.join(sorted(missing))} missing"
    chunks = _number(connection, f"select count(*) from {table}_chunks")
    has_vectors = _number(connection, f"select exists (select 1 from {table}_rowids)")
    if has_vectors and not chunks:
        return "its vectors are missing"
    if not has_vectors and "embedded" in tables and _number(connection, _HAS_EMBEDDED, embedder_of(table)):
        return "it is empty"
    for number, size in enumerate(sizes):
        if _number(connection, _COUNT_WHOLE.format(table=table, number=f"{number:02}"), size) != chunks:
            return "vectors are missing"
    if counted:
        return _vectors_counted(connection, table)
    return ""


def _vectors_counted(connection: apsw.Connection, table: str) -> str:
    rows = connection.execute(f"select validity from {table}_chunks")
    held = sum(int.from_bytes(bytes(row[0])).bit_count() for row in rows)
    known = _number(connection, f"select count(*) from {table}_rowids")
    return "" if held == known else f"it holds {held} vectors of {known}"


def embedded_damage(connection: apsw.Connection, tables: set[str], counted: bool = False) -> str:
    """What is wrong with the table `embedded`; empty where nothing is."""
    if missing := {"embedders", "embedded"} - tables:
        return f"{', '.join(sorted(missing))} missing"
    if not counted:
        return ""
    if _number(connection, f"select exists (select 1 {EMBEDDED_NOTHING})"):
        return "it holds passages that do not exist"
    for table in vector_tables(connection):
        if f"{table}_rowids" in tables:
            lacking = _number(connection, f"select count(*) {EMBEDDED_IN_VAIN.format(table=table)}", embedder_of(table))
            # A few may be: a vector of zeros is not stored, its cosine being undefined.
            if lacking * TOLERATED > _number(connection, _COUNT_EMBEDDED, embedder_of(table)):
                return f"{lacking} passages in it have none"
    return ""


def vector_tables(connection: apsw.Connection) -> list[str]:
    """Names of the tables of vectors."""
    rows = connection.execute("select name from sqlite_schema where type = 'table' and name glob 'vectors_*'")
    found = [str(row[0]) for row in rows]
    if {"embedders", "embedded"} <= _tables(connection):
        rows = connection.execute(_IN_USE)
        found += [f"vectors_{row[0]}" for row in rows]
    return sorted({name for name in found if re.fullmatch(r"vectors_\d+", name)})


def vector_sizes(connection: apsw.Connection, table: str) -> list[int]:
    """Bytes of a vector, for each column of vectors, in order."""
    row = connection.execute("select sql from sqlite_schema where name = ?", (table,)).fetchone()
    bits = {"float": 32, "int8": 8, "bit": 1}
    found = re.findall(r"\b(float|int8|bit)\[(\d+)\]", str(row[0])) if row else []
    return [int(dimension) * bits[kind] // 8 for kind, dimension in found]


def embedder_of(table: str) -> int:
    """The id inside a table's name."""
    return int(table.removeprefix("vectors_"))


def segments(structure: bytes) -> list[tuple[int, int, int]]:
    """(id, first page, last page) of the parts of the word index, from its structure record, format 2.

    Raises IndexError for a record that is none.
    """
    if structure[4:8] != _FORMAT_2:
        raise IndexError("its structure has another format")
    numbers = deque(_varints(structure[8:]))
    levels, _, _ = numbers.popleft(), numbers.popleft(), numbers.popleft()
    found = []
    for _ in range(levels):
        _, count = numbers.popleft(), numbers.popleft()
        for _ in range(count):
            segment, first, last, *_ = [numbers.popleft() for _ in range(_SEGMENT_NUMBERS)]
            if first:  # else all of it has been merged into another one
                found.append((segment, first, last))
    return found


def _indexed(connection: apsw.Connection, tables: set[str]) -> tuple[int, int]:
    """(passages, terms of all of them with their marks) by the word index's own record."""
    record = _block(connection, _AVERAGES) if "lexical_data" in tables else None
    # The number of rows, then of the terms in each column (https://sqlite.org/fts5.html, section 9.4).
    passages, terms, *_ = [*_varints(record or b""), 0, 0]
    return passages, terms


def _kept(connection: apsw.Connection, tables: set[str]) -> tuple[int, int]:
    row = connection.execute("select passages, terms from totals").fetchone() if "totals" in tables else None
    return (int(row[0]), int(row[1])) if row else (0, 0)


def _counted(connection: apsw.Connection) -> tuple[int, int]:
    """(passages, terms of all of them)."""
    row = connection.execute("select count(*), ifnull(sum(length), 0) from passages").fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 0)


def _agree(indexed: tuple[int, int], kept: tuple[int, int]) -> bool:
    """Whether the word index and the count can both be right.

    A passage has its repository as a term more, and a mark only for a term that it holds more than once.
    """
    return indexed[0] == kept[0] and indexed[1] - indexed[0] <= kept[1]


def words_size(connection: apsw.Connection) -> int:
    """About how many bytes the word index takes, without reading it."""
    structure, averages = _block(connection, _STRUCTURE), _block(connection, _AVERAGES)
    if not structure or not averages:
        return 0
    pages = sum(last - first + 1 for _, first, last in segments(structure))
    return (pages + _FIRST_PAGES) * _PAGE_BYTES + next(iter(_varints(averages)), 0) * _LENGTHS_BYTES


def vectors_size(connection: apsw.Connection, table: str) -> int:
    """How many bytes a table of vectors takes; 0 where there is none."""
    if f"{table}_chunks" not in _tables(connection):
        return 0
    held = _number(connection, f"select ifnull(sum(size), 0) from {table}_chunks")
    return held * (sum(vector_sizes(connection, table)) + _ROWID_BYTES) + _FIRST_PAGES * _PAGE_BYTES


def _asked(question: Callable[[], str]) -> str:
    try:
        return question()
    except apsw.CorruptError as error:
        return f"it cannot be read ({error})"
    except (IndexError, apsw.SQLError) as error:
        return f"it cannot be understood ({error})"


def _varints(record: bytes) -> list[int]:
    """The integers of a record, as SQLite packs them (https://sqlite.org/fileformat2.html#varint)."""
    found, value, length = [], 0, 0
    for byte in record:
        length += 1
        if length == 9:
            found.append((value << 8) | byte)
            value = length = 0
            continue
        value = (value << 7) | (byte & 0x7F)
        if byte < 0x80:
            found.append(value)
            value = length = 0
    return found


def _tables(connection: apsw.Connection) -> set[str]:
    return {str(row[0]) for row in connection.execute("select name from sqlite_schema where type = 'table'")}


def _block(connection: apsw.Connection, id: int) -> bytes | None:
    row = connection.execute("select block from lexical_data where id = ?", (id,)).fetchone()
    return bytes(row[0]) if row and row[0] is not None else None


def _number(connection: apsw.Connection, sql: str, *values: int) -> int:
    row = connection.execute(sql, values).fetchone()
    return int(row[0]) if row and row[0] is not None else 0


# Row ids of FTS5's records, and of the pages of a segment: the segment's id, then 37 bits.
_AVERAGES, _STRUCTURE, _SEGMENT_BITS = 1, 10, 37
_SEGMENT_NUMBERS = 8
_FORMAT_2 = b"\xff\x00\x00\x01"
_PAGE_BYTES, _LENGTHS_BYTES, _ROWID_BYTES = 4_096, 12, 24
# Of the tables of an index, whatever is in them.
_FIRST_PAGES = 5

TRIGGERS = ("passages_counted", "passages_discounted", "passages_recounted")
"""Keep the table `totals` (schema/0005_terms.sql)."""

_COUNT_TRIGGERS = f"select count(*) from sqlite_schema where type = 'trigger' and name in {TRIGGERS}"
_NO_PASSAGE = "select not exists (select 1 from passages)"
_NO_MESSAGE = "select not exists (select 1 from messages where copied_from is null and text <> '')"
_HAS_CONTENTS = "select exists (select 1 from lexical_idx where segid = ?)"
_LAST_INDEXED = "select max(id) from lexical_docsize"
_LAST_PASSAGE = "select max(id) from passages"
_COUNT_PAGES = "select count(*) from lexical_data where id between ? and ?"
_HAS_EMBEDDED = "select exists (select 1 from embedded where embedder_id = ?)"
_IN_USE = "select id from embedders where exists (select 1 from embedded where embedder_id = embedders.id)"
_COUNT_EMBEDDED = "select count(*) from embedded where embedder_id = ?"
TOLERATED = 100
"""A part in so many."""

EMBEDDED_NOTHING = "from embedded where passage_id not in (select id from passages)"
EMBEDDED_IN_VAIN = """
from embedded where embedder_id = ? and not exists (select 1 from {table}_rowids v where v.rowid = embedded.passage_id)
"""
_COUNT_WHOLE = """
select count(*) from {table}_chunks c join {table}_vector_chunks{number} v on v.rowid = c.chunk_id
where length(v.vectors) = c.size * ?
"""
WITHOUT_PASSAGES = """
from messages m where m.copied_from is null and m.text <> ''
  and not exists (select 1 from passages p where p.message_id = m.id)
"""
COUNT_WITHOUT_PASSAGES = f"select count(*) {WITHOUT_PASSAGES}"
