"""The word index, FTS5. The user's text never reaches its query language: only terms from `analysis` do.

The index says which passages hold a term, and which hold it 2, 3 or 5 times: nothing else of its positions is kept.
postings.py reads it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence

import apsw

from recall.database import Database

MERGE_PAGES = 500
"""Pages that one step of a merge writes; other writers wait that long, a twentieth of a second."""

# A private-use character: no term holds one.
REPOSITORY = "\ue000"


def put_terms(connection: apsw.Connection, passages: Iterable[tuple[int, int, str]]) -> None:
    """Index passages given as (passage id, repository id, what analysis.index_terms gives)."""
    connection.executemany(
        "insert into lexical (rowid, terms) values (?, ?)",
        ((id, f"{REPOSITORY}{repository} {terms}") for id, repository, terms in passages),
    )


def remove_terms(connection: apsw.Connection, passage_ids: Sequence[int]) -> None:
    """Take passages out of the index. Raises apsw.CorruptError where it does not hold them all.

    FTS5 says nothing where it has lost the length of one, and leaves its terms.
    """
    row = connection.execute(_COUNT_LENGTHS, (json.dumps(list(passage_ids)),)).fetchone()
    if row is None or row[0] != len(set(passage_ids)):
        raise apsw.CorruptError("the word index has lost lengths of passages")
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


def merging(database: Database) -> Iterator[None]:
    """Merge the index in steps, each a transaction, so that other writers come between; yields between two of them."""
    first = True
    while True:
        with database.write() as connection:
            if not merge_terms(connection, first):
                return
        yield
        first = False


def count_parts(connection: apsw.Connection) -> int:
    """Number of parts that the index consists of until they are merged."""
    row = connection.execute("select count(distinct segid) from lexical_idx").fetchone()
    return int(row[0]) if row else 0


def term_weights(connection: apsw.Connection, terms: Sequence[str]) -> dict[str, float]:
    """Inverse document frequency of each term, ln(1 + (N - n + 0.5) / (n + 0.5)) as in Lucene; never negative."""
    total = _totals(connection)[0]
    weights = {}
    for term in terms:
        found = connection.execute("select doc from lexical_terms where term = ?", (term,)).fetchone()
        n = min(int(found[0]), total) if found else 0
        weights[term] = math.log(1 + (total - n + 0.5) / (n + 0.5))
    return weights


def average_length(connection: apsw.Connection) -> float:
    """Terms of an average passage; 0 for an empty index."""
    passages, terms = _totals(connection)
    return terms / passages if passages else 0.0


def _totals(connection: apsw.Connection) -> tuple[int, int]:
    """(passages, terms of all of them)."""
    row = connection.execute("select passages, terms from totals").fetchone()
    if row is None:
        raise apsw.CorruptError("the count of passages is gone")
    return int(row[0]), int(row[1])


_COUNT_LENGTHS = "select count(*) from lexical_docsize where id in (select value from json_each(?))"
