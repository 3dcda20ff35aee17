"""Reading the rows of a table whose pages are damaged: all that can be read, around those that are lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import apsw

from recall.database import Row
from recall.faults import FAULTS

WINDOW = 1_000
"""Rows that are asked for at once, and one by one where that fails."""

DENSE = 10_000_000
"""Row ids that are asked for one window after the other, at least."""


def is_in_order(source: apsw.Connection, table: str) -> bool:
    """Whether the pages of a table hang together: where they do not, SQLite may leave out rows without an error."""
    try:
        return source.execute(f"pragma quick_check({table})").fetchall() == [("ok",)]
    except FAULTS:
        return False


def rows_of(source: apsw.Connection, table: str, names: str, size: int, in_order: bool = True) -> Iterator[Row | None]:
    """The rows of a table; None for each that cannot be read.

    size: of the file, in bytes. in_order: False looks for rows also where the table seems to have ended; some then
    come twice.
    """
    if _is_ordered_by_key(source, table):
        yield from _from_both_ends(source, table, names, names)
        return
    sql = f"select {names} from {table} where rowid between ? and ?"
    try:
        row = source.execute(f"select (select min(rowid) from {table}), (select max(rowid) from {table})").fetchone()
        low, high = (int(str(row[0])), int(str(row[1]))) if row and row[0] is not None else (1, 0)
    except FAULTS:
        in_order, low, high = False, 0, 0
    if not in_order:
        low, high = 0, size // 16  # no table has more rows than that
        yield from _from_both_ends(source, table, names, "rowid")
    if high - low > max(DENSE, size):  # numbers that were drawn, and not counted
        yield from _from_both_ends(source, table, names, "rowid")
        return
    for begin in range(low, high + 1, WINDOW):
        yield from _between(source, sql, begin, min(begin + WINDOW - 1, high))


def _from_both_ends(source: apsw.Connection, table: str, names: str, key: str) -> Iterator[Row | None]:
    """Rows up to the first that cannot be read, and from the last one down to it; some may come twice."""
    keys = key.split(", ")
    for order in ("", " desc"):
        try:
            ordered = ", ".join(f"{one}{order}" for one in keys)
            yield from source.execute(f"select {names} from {table} order by {ordered}")
            return
        except FAULTS:
            yield None


def _is_ordered_by_key(source: apsw.Connection, table: str) -> bool:
    """Whether a table is kept by its primary key, and its rows have no number."""
    with suppress(*FAULTS):
        return source.execute("select wr from pragma_table_list where name = ?", (table,)).fetchone() == (1,)
    return False


def _between(source: apsw.Connection, sql: str, low: int, high: int) -> Iterator[Row | None]:
    try:
        yield from source.execute(sql, (low, high)).fetchall()
    except FAULTS:
        if low == high:
            yield None
            return
        middle = (low + high) // 2
        yield from _between(source, sql, low, middle)
        yield from _between(source, sql, middle + 1, high)
