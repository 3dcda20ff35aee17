"""The word index, FTS5. The user's text never reaches its query language: only terms from `analysis` do.

Candidates are ranked by SQLite's BM25 (https://sqlite.org/fts5.html#the_bm25_function); bm25f.py then scores them.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Sequence, Set
from typing import Any

import apsw

from recall import analysis
from recall.bm25f import TermCounts
from recall.database import Row, Value
from recall.passages import count
from recall.scope_sql import ScopeSql

SESSION_SHARE = 30
"""Candidates one session may put forward: one with five hundred short hits must not crowd out every other."""

MERGE_PAGES = 500
"""Pages that one step of a merge writes; other writers wait that long, a twentieth of a second."""

COUNTED_SESSIONS = 400
"""Sessions whose passages are counted at most, those of the best candidates first."""


def put_terms(
    connection: apsw.Connection, passages: Sequence[tuple[int, str]], repository_id: int, session_id: int
) -> None:
    """Index passages of one session given as (passage id, text)."""
    scope = f"r{repository_id} s{session_id}"
    connection.executemany(
        "insert into lexical (rowid, scope, terms) values (?, ?, ?)",
        ((passage_id, scope, " ".join(analysis.terms(text))) for passage_id, text in passages),
    )


def remove_terms(connection: apsw.Connection, passage_ids: Sequence[int]) -> None:
    """Take passages out of the index."""
    connection.executemany("delete from lexical where rowid = ?", ((passage_id,) for passage_id in passage_ids))


def drop_terms(connection: apsw.Connection) -> None:
    """Take the terms of what was removed out of the file. Merges all of the index, so once after many removals.

    A row that leaves a contentless index leaves a mark there, and its terms stay until all is merged.
    """
    connection.execute("insert into lexical (lexical) values ('optimize')")


def merge_terms(connection: apsw.Connection, first: bool) -> bool:
    """One step of what `drop_terms` does at once: whether another one is needed. first: whether it is the first."""
    before = connection.total_changes()
    # See https://sqlite.org/fts5.html#the_merge_command: a negative number takes all of the index into the merge.
    connection.execute(
        "insert into lexical (lexical, rank) values ('merge', ?)", (-MERGE_PAGES if first else MERGE_PAGES,)
    )
    return connection.total_changes() - before >= 2


def search_lexical(connection: apsw.Connection, terms: Sequence[str], where: ScopeSql, depth: int) -> list[int]:
    """Ids of passages that hold any of the terms, inside the filter, best first by BM25, at most `depth`."""
    if not terms:
        return []
    match = _any_of(terms)
    if where.repository_ids:
        match = f"scope : ({' OR '.join(f'r{id}' for id in where.repository_ids)}) AND {match}"
    values: tuple[Value, ...] = (match, *where.values, SESSION_SHARE, depth)
    rows: list[Row] = connection.execute(_SEARCH.format(where=where.sql), values).fetchall()
    return [row[0] for row in rows]


def count_terms(
    connection: apsw.Connection, terms: Sequence[str], session_ids: Iterable[int], passage_ids: Set[int]
) -> dict[int, TermCounts]:
    """Passage id to counts, for each of these passages, which are of these sessions, that holds any of the terms."""
    sessions = list(dict.fromkeys(session_ids))[:COUNTED_SESSIONS]
    if not terms or not sessions:
        return {}
    connection.register_fts5_function("term_counts", _pack_counts)
    # By session, not by row: a list of rows makes FTS5 evaluate the whole match once for each of them.
    match = f"scope : ({' OR '.join(f's{id}' for id in sessions)}) AND {_any_of(terms)}"
    # The phrases of the match come in its order: first the sessions, then the terms.
    values = (json.dumps(list(passage_ids)), len(sessions), match)
    rows: list[Row] = connection.execute(_COUNT, values).fetchall()
    layout = struct.Struct(f"<{len(terms)}BI")
    counts = {}
    for passage_id, packed in rows:
        if packed is None:  # not one of those asked for
            continue
        *found, length = layout.unpack(packed)
        counts[passage_id] = TermCounts(tuple(found), length)
    return counts


def term_weights(connection: apsw.Connection, terms: Sequence[str]) -> dict[str, float]:
    """Inverse document frequency of each term, ln(1 + (N - n + 0.5) / (n + 0.5)) as in Lucene; never negative."""
    total = count(connection)
    weights = {}
    for term in terms:
        found = connection.execute("select doc from lexical_terms where term = ? and col = 'terms'", (term,)).fetchone()
        n = min(int(found[0]), total) if found else 0
        weights[term] = math.log(1 + (total - n + 0.5) / (n + 0.5))
    return weights


def average_length(connection: apsw.Connection) -> float:
    """Terms of an average passage; 0 for an empty index."""
    connection.register_fts5_function("average_length", _average_length)
    row = connection.execute("select average_length(lexical) from lexical where lexical match 'scope : r*' limit 1")
    found = row.fetchone()
    return float(found[0]) if found else 0.0


def _any_of(terms: Sequence[str]) -> str:
    quoted = (f'"{term.replace(chr(34), "")}"' for term in terms)
    return f"terms : ({' OR '.join(quoted)})"


def _pack_counts(api: apsw.FTS5ExtensionApi, /, *arguments: Any) -> bytes:
    """A byte a term, then the length, for a row of the match: apsw calls this from inside SQLite."""
    phrases = range(arguments[0], api.phrase_count)  # those before are the sessions
    counts = bytes(min(len(api.phrase_column_offsets(i, TERMS_COLUMN)), 255) for i in phrases)
    return counts + struct.pack("<I", api.column_size(TERMS_COLUMN))


def _average_length(api: apsw.FTS5ExtensionApi, /, *_: Any) -> float:
    return api.column_total_size(TERMS_COLUMN) / max(1, api.row_count)


TERMS_COLUMN = 1

# The two columns weigh 0 and 1, so that the scope decides what matches and adds nothing to the score.
_SEARCH = """
with matching as (
  select p.id, p.session_id, -bm25(lexical, 0.0, 1.0) as score
  from lexical join passages p on p.id = lexical.rowid
  where lexical match ? and {where}
), placed as (
  select id, score, row_number() over (partition by session_id order by score desc, id desc) as place from matching
)
select id from placed where place <= ? order by score desc, id desc limit ?
"""
# Asked for in a case and not in the condition, where FTS5 would evaluate the match once for each of them.
_COUNT = """
select rowid, case when rowid in (select value from json_each(?)) then term_counts(lexical, ?) end
from lexical where lexical match ?
"""
