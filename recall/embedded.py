"""Which passages have a vector, of which embedder. The vectors themselves are in dense.py."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import apsw

from recall.database import Row
from recall.embedding import Embedder, Identity, identity_of

BLOCK_ROWS = 128
"""Vectors that sqlite-vec keeps in one row of its own. Each repository has rows of its own, the last one half empty."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """A passage that lacks a vector."""

    id: int
    session_id: int
    repository_id: int
    text: str


@dataclass(frozen=True, slots=True)
class Other:
    """Another embedder with vectors in this index."""

    name: str
    """In words that tell it from the embedder in use."""
    table: str
    """Where its vectors are."""
    count: int
    """Of its vectors."""


def table_of(connection: apsw.Connection, embedder: Embedder) -> str | None:
    """Name of the table with this embedder's vectors; None where there are none yet. Raises ModelError."""
    row = connection.execute(f"{_SAME} and {_IN_USE} {_BEST}", _values(identity_of(embedder))).fetchone()
    return f"vectors_{row[0]}" if row else None


def others(connection: apsw.Connection, embedder: Embedder) -> list[Other]:
    """The other embedders that the index holds vectors from, the latest first. Raises ModelError."""
    mine = identity_of(embedder)
    rows = connection.execute(_OTHERS, _values(mine))
    return [Other(_told_apart(mine, row), f"vectors_{row[6]}", int(row[5])) for row in rows]


def put_embedder(connection: apsw.Connection, embedder: Embedder) -> str:
    """Name of the table for this embedder's vectors. What was not known of it is then known."""
    mine = identity_of(embedder)
    row = connection.execute(f"{_SAME} {_BEST}", _values(mine)).fetchone()
    if row is None:
        row = connection.execute(_ADD, _values(mine)).fetchone()
    else:
        connection.execute(_COMPLETE, {**_values(mine), "id": row[0]})
    assert row is not None
    return f"vectors_{row[0]}"


def other_tables(connection: apsw.Connection, table: str) -> list[str]:
    """Names of the tables of all embedders but that of `table`."""
    rows = connection.execute("select id from embedders where id <> ? order by id", (embedder_id(table),))
    return [f"vectors_{id}" for (id,) in rows]


def remove_embedder(connection: apsw.Connection, table: str) -> None:
    """Forget an embedder, and which passages had a vector of it."""
    connection.execute("delete from embedded where embedder_id = ?", (embedder_id(table),))
    connection.execute("delete from embedders where id = ?", (embedder_id(table),))


def lacking(connection: apsw.Connection, table: str, before: int | None, limit: int) -> list[Lacking]:
    """Passages worth a vector that have none, newest first, with ids below `before`; None begins at the newest."""
    # The texts apart: SQLite reads a long message anew for each passage that it cuts out of it.
    rows: list[Row] = connection.execute(_LACKING, (embedder_id(table), before, limit)).fetchall()
    messages = json.dumps(list({row[1] for row in rows}))
    texts = {int(row[0]): str(row[1]) for row in connection.execute(_TEXTS, (messages,))}
    return [
        Lacking(id, session, repository, texts[message][start:end])
        for id, message, session, repository, start, end in rows
    ]


def count_without_vector(connection: apsw.Connection, table: str | None) -> int:
    """Number of passages worth a vector that have none."""
    row = connection.execute(_COUNT_WITHOUT_VECTOR, (embedder_id(table),)).fetchone()
    return int(row[0]) if row else 0


def same_text(connection: apsw.Connection, table: str, digests: Iterable[int]) -> dict[int, int]:
    """Digest of a text to the id of a passage that has it and is embedded, for those that have one."""
    rows = connection.execute(_SAME_TEXT, (embedder_id(table), json.dumps(list(digests))))
    return {int(digest): int(passage) for digest, passage in rows}


def record(connection: apsw.Connection, table: str, passages: Iterable[tuple[int, int | None]]) -> None:
    """Note that passages, given as (passage id, digest of its text), are embedded."""
    embedder = embedder_id(table)
    connection.executemany(_RECORD, ((embedder, passage, digest) for passage, digest in passages))


def strike(connection: apsw.Connection, passage_ids: Sequence[int]) -> None:
    """Note that passages have no vector of any embedder any more."""
    embedders: list[Row] = connection.execute("select id from embedders").fetchall()
    connection.executemany(
        "delete from embedded where embedder_id = ? and passage_id = ?",
        ((embedder, passage) for (embedder,) in embedders for passage in passage_ids),
    )


def digest_of(text: str) -> int:
    """64 bits by which a text is recognised, as a signed integer: of a million texts none is taken for another."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


def embedder_id(table: str | None) -> int:
    """The id inside a table's name; 0, which no embedder has, for None."""
    return int(table.removeprefix("vectors_")) if table else 0


def _told_apart(mine: Identity, row: Row) -> str:
    name, dimension, revision, prefix, tokens, *_ = row
    if name != mine.name:
        return str(name)
    if dimension != mine.dimension:
        return f"{name} with {dimension} numbers a vector"
    if revision and mine.revision and revision != mine.revision:
        return f"another revision of {name}"
    return f'{name} with the prefix "{prefix}"' if prefix != mine.prefix else f"{name} for passages of {tokens} tokens"


def _values(identity: Identity) -> dict[str, str | int]:
    return {
        "name": identity.name,
        "dimension": identity.dimension,
        "revision": identity.revision,
        "prefix": identity.prefix,
        "passage_tokens": identity.passage_tokens,
    }


_IS_SAME = """name = :name and dimension = :dimension and (revision = :revision or '' in (revision, :revision))
  and ifnull(prefix, :prefix) = :prefix and ifnull(passage_tokens, :passage_tokens) = :passage_tokens"""
_IN_USE = "exists (select 1 from embedded where embedder_id = embedders.id)"
_SAME = f"select id from embedders where {_IS_SAME}"
_BEST = "order by revision = :revision desc, id desc"
_OTHERS = f"""
select name, dimension, revision, prefix, passage_tokens, count(*), id
from embedders join embedded on embedder_id = id where not ({_IS_SAME}) group by id order by id desc
"""
_ADD = """
insert into embedders (name, dimension, revision, prefix, passage_tokens)
values (:name, :dimension, :revision, :prefix, :passage_tokens) returning id
"""
_COMPLETE = """
update embedders set revision = iif(:revision = '', revision, :revision), prefix = :prefix,
  passage_tokens = :passage_tokens where id = :id
"""
_LACKING = """
select p.id, p.message_id, p.session_id, p.repository_id, p.start_at, p.end_at from passages p
where p.embeddable = 1 and not exists (select 1 from embedded e where e.embedder_id = ? and e.passage_id = p.id)
  and p.id < ifnull(?, 9223372036854775807)
order by p.id desc limit ?
"""
_TEXTS = "select m.id, m.text from json_each(?) as j cross join messages m on m.id = j.value"
_COUNT_WITHOUT_VECTOR = """
select (select count(*) from passages where embeddable = 1) - (select count(*) from embedded where embedder_id = ?)
"""
# "cross join" keeps the order: the other way round, all that is embedded was read for each window.
_SAME_TEXT = """
select e.digest, min(e.passage_id) from json_each(?2) as j
cross join embedded e on e.embedder_id = ?1 and e.digest = j.value group by e.digest
"""
_RECORD = """
insert into embedded (embedder_id, passage_id, digest) values (?, ?, ?)
on conflict do update set digest = excluded.digest
"""
