"""BM25 candidates from FTS5. The user's text never reaches the query language: only terms from `analysis` do.

Score: Okapi BM25 with k1 = 1.2 and b = 0.75, as SQLite computes it (https://sqlite.org/fts5.html#the_bm25_function),
here positive, larger is better.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import apsw

from recall import analysis
from recall.database import Value
from recall.dense import Filter

SESSION_SHARE = 30
"""Candidates one session may put forward: one with five hundred short hits must not crowd out every other."""


def put_terms(connection: apsw.Connection, passages: Sequence[tuple[int, str]], repository_id: int) -> None:
    """Index passages given as (passage id, text)."""
    scope = f"r{repository_id}"
    connection.executemany(
        "insert into lexical (rowid, scope, terms) values (?, ?, ?)",
        ((passage_id, scope, " ".join(analysis.terms(text))) for passage_id, text in passages),
    )


def remove_terms(connection: apsw.Connection, passage_ids: Sequence[int]) -> None:
    """Take passages out of the index."""
    connection.executemany("delete from lexical where rowid = ?", ((passage_id,) for passage_id in passage_ids))


def search_lexical(
    connection: apsw.Connection, terms: Sequence[str], where: Filter, depth: int
) -> list[tuple[int, float]]:
    """(passage id, BM25) of passages that hold any of the terms, inside the filter, best first, at most `depth`."""
    if not terms:
        return []
    any_term = " OR ".join(f'"{term.replace(chr(34), "")}"' for term in terms)
    match = f"terms : ({any_term})"
    if where.repository_ids:
        match = f"scope : ({' OR '.join(f'r{id}' for id in where.repository_ids)}) AND {match}"
    values: tuple[Value, ...] = (match, *where.values, SESSION_SHARE, depth)
    rows = connection.execute(_SEARCH.format(where=where.sql), values)
    return [(int(row[0]), float(row[1])) for row in rows]


def term_weights(connection: apsw.Connection, terms: Sequence[str]) -> dict[str, float]:
    """Inverse document frequency of each term, ln(1 + (N - n + 0.5) / (n + 0.5)) as in Lucene; never negative."""
    row = connection.execute("select count(*) from passages").fetchone()
    total = int(row[0]) if row else 0
    weights = {}
    for term in terms:
        found = connection.execute("select doc from lexical_terms where term = ? and col = 'terms'", (term,)).fetchone()
        n = min(int(found[0]), total) if found else 0
        weights[term] = math.log(1 + (total - n + 0.5) / (n + 0.5))
    return weights


# The two columns weigh 0 and 1, so that the scope decides what matches and adds nothing to the score.
_SEARCH = """
with matching as (
  select p.id, p.session_id, -bm25(lexical, 0.0, 1.0) as score
  from lexical join passages p on p.id = lexical.rowid
  where lexical match ? and {where}
), placed as (
  select id, score, row_number() over (partition by session_id order by score desc, id desc) as place from matching
)
select id, score from placed where place <= ? order by score desc, id desc limit ?
"""
