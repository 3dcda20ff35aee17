from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from recall.salvage import _opened
from recall.salvaged_rows import is_in_order, rows_of


@pytest.mark.parametrize(
    ("step", "kind"),
    [(1, "strict"), (3, "strict"), (2**40, "strict"), (3, "strict, without rowid")],
    ids=["counted", "with gaps", "drawn", "by key"],
)
def test_all_rows_but_those_of_a_lost_page_are_read_whatever_their_ids(tmp_path: Path, step: int, kind: str) -> None:
    path, count = tmp_path / "a.db", 2_000
    connection = apsw.Connection(str(path))
    connection.execute(f"create table marks (mark integer primary key, text text) {kind}")
    ids = [(place - count // 2) * step for place in range(count)]
    with connection:
        connection.executemany("insert into marks values (?, ?)", [(id, f"lantern {id}") for id in ids])
    sql = "select pageno from dbstat where name = 'marks' and pagetype = 'leaf' order by pageno"
    pages = [int(str(row[0])) for row in connection.execute(sql)]
    connection.close()
    with path.open("r+b") as file:
        file.seek((pages[len(pages) // 2] - 1) * 4096)
        file.write(b"\xab" * 4096)
    source = _opened(path)
    assert source is not None
    read = list(rows_of(source, "marks", "mark, text", path.stat().st_size))
    source.close()
    assert None in read
    rows = {row for row in read if row is not None}
    assert rows <= {(id, f"lantern {id}") for id in ids}
    assert count * 0.85 < len(rows) < count


def test_rows_that_sqlite_leaves_out_without_an_error_are_missed_and_found(tmp_path: Path) -> None:
    path, count = tmp_path / "a.db", 2_000
    connection = apsw.Connection(str(path))
    connection.execute("create table marks (mark integer primary key, text text)")
    with connection:
        connection.executemany("insert into marks values (?, ?)", [(id, f"lantern {id}") for id in range(count)])
    assert is_in_order(connection, "marks")
    sql = "select pageno from dbstat where name = 'marks' and path = ?"
    root, first = (connection.execute(sql, (path,)).fetchone() for path in ("/", "/000/"))
    assert root is not None
    assert first is not None
    connection.close()
    with path.open("r+b") as file:  # the last page of the table is now its first one
        file.seek((int(str(root[0])) - 1) * 4096 + 8)
        file.write(int(str(first[0])).to_bytes(4, "big"))
    source = _opened(path)
    assert source is not None
    size = path.stat().st_size
    left = set(rows_of(source, "marks", "mark, text", size))
    assert None not in left
    assert len(left) < count // 2
    assert not is_in_order(source, "marks")
    assert len(set(rows_of(source, "marks", "mark, text", size, in_order=False))) > count * 0.85
    source.close()
