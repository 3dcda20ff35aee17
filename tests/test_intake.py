"""What taking in costs does not grow with the archive."""

from __future__ import annotations

import re
from pathlib import Path

import apsw
import pytest
from transcript_lines import claude_lines, codex_lines, uid, write

import recall

# `worktrees` (w), a few hundred rows, is looked through once for each directory that is gone.
_GROWING = re.compile(
    r"SCAN (?!CONSTANT|forgetting|j VIRTUAL|sqlite_sequence|pragma_module_list|embedders|w USING|json_each|"
    r"lexical VIRTUAL)"
)
# Whether there is any such row: the first one that is met ends it.
_ANY = re.compile(r"select 1 from \w+( where prompts_only = 1)? limit 1")


def transcripts(folder: Path) -> None:
    """Sessions of both agents, a fork, and a session that shares ids with another."""
    said = [("user", "why is the harbor closed"), ("assistant", "the tide is out")]
    write(folder / "one.jsonl", codex_lines(uid(20), "/srv/kite", *said))
    write(folder / "fork.jsonl", codex_lines(uid(21), "/srv/kite", *said, ("user", "and now?"), forked_from_id=uid(20)))
    write(folder / "two.jsonl", claude_lines(uid(30), "/srv/kite", *said))
    write(folder / "again.jsonl", claude_lines(uid(31), "/srv/kite", *said, ("user", "once more")))


@pytest.mark.parametrize("way", ["files", "again", "added"])
def test_no_statement_of_taking_in_reads_a_whole_table(tmp_path: Path, way: str) -> None:
    folder = tmp_path / "archive"
    transcripts(folder)
    statements: dict[str, object] = {}
    with recall.open(":memory:") as index:
        if way == "again":
            index.ingest(folder)
            for path in folder.iterdir():
                path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        connection = index.database.connection

        def note(cursor: apsw.Cursor, sql: str, values: object) -> bool:
            statements[sql] = values
            return True

        connection.exec_trace = note
        if way == "added":
            message = recall.Message("user", "the lantern burns")
            index.add(recall.Session("a", cwd="/srv/kite", messages=(message,)))
            index.add(recall.Session("b", cwd="/srv/kite", forked_from="a", messages=(message, message)))
        else:
            index.ingest(folder)
        connection.exec_trace = None
        scans = []
        for sql, values in statements.items():
            if _ANY.fullmatch(sql):
                continue
            if sql.split()[0] in ("select", "update", "with"):  # an insert names tables that it reads in no usual case
                plan = connection.execute(f"explain query plan {sql}", values).fetchall()
                scans += [(row[3], sql) for row in plan if _GROWING.match(row[3])]
    assert len(statements) > 5
    assert scans == []
