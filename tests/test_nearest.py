"""The blocks of a vec0 table, and the neighbours that are found in them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall import dense, nearest, vector_blocks, vector_removal
from recall.database import Database
from recall.embedding import Vectors, unit
from recall.nearest import cosines_of, search_dense
from recall.scope_sql import ScopeSql

ALL = ScopeSql((), "1", ())
DIMENSION = 100
"""No multiple of 64, so that the bits have to be filled up."""


@dataclass
class Turned:
    """Names a table; what it embeds does not matter here."""

    name: str = "turned"
    dimension: int = DIMENSION

    def embed_passages(self, texts: object) -> Vectors:
        raise NotImplementedError

    def embed_query(self, text: str) -> Vectors:
        raise NotImplementedError


@dataclass
class Store:
    """A database with passages and their vectors, put in by hand."""

    seed: int
    database: Database = field(default_factory=lambda: Database(None))

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        connection = self.database.connection
        connection.execute(_SESSION)
        self.table = dense.make_table(connection, Turned())
        self.vectors: dict[int, Vectors] = {}
        self.repository: dict[int, int] = {}

    def put(self, count: int, repositories: int = 3) -> None:
        """So many passages near a few centres, spread over repositories; every seventh is said by the user."""
        connection = self.database.connection
        centres = self.random.normal(size=(4, DIMENSION))
        for _ in range(count):
            id, repository = len(self.vectors) + 1, int(self.random.integers(1, repositories + 1))
            connection.execute(_MESSAGE, (id, id, id))
            connection.execute(_PASSAGE, (id, id, repository, "user" if id % 7 == 0 else "assistant"))
            near = centres[self.random.integers(4)] + self.random.normal(size=DIMENSION)
            self.vectors[id] = unit(near.astype(np.float32))
            self.repository[id] = repository
        new = list(self.vectors)[-count:]
        dense.put_vectors(
            connection,
            self.table,
            [(id, self.repository[id]) for id in new],
            np.stack([self.vectors[id] for id in new]),
        )

    def remove(self, ids: list[int]) -> None:
        vector_removal.remove_vectors(self.database.connection, ids)
        for id in ids:
            del self.vectors[id]

    def by_vec0(self, query: Vectors, repositories: tuple[int, ...], depth: int) -> list[tuple[int, float]]:
        """What sqlite-vec itself answers."""
        inside = f" and repository_id in ({', '.join(map(str, repositories))})" if repositories else ""
        rows = self.database.rows(
            f"select passage_id, vec_distance_cosine(embedding, vec_int8(?)) as distance from {self.table} "
            f"where 1 {inside} order by distance, passage_id limit ?",
            (dense.codes(query).tobytes(), depth),
        )
        return [(int(id), 1 - float(distance)) for id, distance in rows]

    def exact(self, query: Vectors, allowed: set[int], depth: int) -> list[int]:
        order = sorted(allowed, key=lambda id: -float(self.vectors[id] @ query))
        return order[:depth]


@pytest.fixture
def by_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "EXACT_ROWS", 0)
    monkeypatch.setattr(nearest, "CANDIDATES", 60)


def query(random: np.random.Generator) -> Vectors:
    return unit(random.normal(size=DIMENSION).astype(np.float32))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 700), gone=st.integers(0, 300))
def test_what_is_read_of_the_blocks_is_what_vec0_has(seed: int, count: int, gone: int) -> None:
    store = Store(seed)
    store.put(count)
    store.remove([int(id) for id in store.random.permutation(count)[: min(gone, count - 1)] + 1])
    asked = query(store.random)
    for repositories in ((), (1,), (2, 3), (99,)):
        found = search_dense(
            store.database.connection, store.table, asked, ScopeSql(repositories, inside(repositories), ()), 10
        ).found
        by_vec0 = dict(store.by_vec0(asked, repositories, 10))
        # vec0 compares with the query in 8 bits too, so that places next to each other may change.
        assert list(found.values()) == pytest.approx(list(by_vec0.values()), abs=0.02)
        assert len(found) == len(by_vec0)
    places = {
        int(id): int(place)
        for id, place in zip(
            *vector_blocks.places_of(store.database.connection, store.table, list(store.vectors)), strict=True
        )
    }
    assert places.keys() == store.vectors.keys()
    rows = vector_blocks.read_codes(store.database.connection, store.table, ())
    assert dict(zip(rows.passage_ids[rows.used].tolist(), rows.places[rows.used].tolist(), strict=True)) == places


def inside(repositories: tuple[int, ...]) -> str:
    return f"p.repository_id in ({', '.join(map(str, repositories))})" if repositories else "1"


def test_a_vector_in_8_bits_has_nearly_the_same_cosines() -> None:
    store = Store(1)
    store.put(300)
    asked = query(store.random)
    found = cosines_of(store.database.connection, store.table, asked, list(store.vectors))
    assert found == pytest.approx({id: float(vector @ asked) for id, vector in store.vectors.items()}, abs=0.004)


def test_a_passage_without_a_vector_has_no_cosine() -> None:
    store = Store(2)
    store.put(3)
    asked = query(store.random)
    assert cosines_of(store.database.connection, store.table, asked, [2, 77]).keys() == {2}
    assert cosines_of(store.database.connection, store.table, asked, []) == {}


@pytest.mark.usefixtures("by_bits")
def test_a_search_by_bits_finds_what_comparing_all_finds() -> None:
    store = Store(3)
    store.put(900)
    shares = []
    for id in range(1, 41):
        asked = unit(store.vectors[id] + unit(store.random.normal(size=DIMENSION).astype(np.float32)))
        found = search_dense(store.database.connection, store.table, asked, ALL, 10).found
        assert list(found.values()) == sorted(found.values(), reverse=True)
        shares.append(len(found.keys() & set(store.exact(asked, set(store.vectors), 5))) / 5)
    # In few dimensions bits say little; benchmarks/latency.py measures what is lost with 384.
    assert np.mean(shares) > 0.75


@pytest.mark.parametrize("rows", [0, 10**6])
def test_a_filter_that_few_pass_gets_all_that_pass(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "EXACT_ROWS", rows)
    monkeypatch.setattr(nearest, "CANDIDATES", 20)
    store = Store(4)
    store.put(600)
    asked = query(store.random)
    farthest = store.exact(asked, set(store.vectors), 600)[-3:]
    where = ScopeSql((), "p.id in (select value from json_each(?))", (json.dumps(farthest),))
    assert list(search_dense(store.database.connection, store.table, asked, where, 10).found) == farthest


@pytest.mark.parametrize("rows", [0, 10**6])
def test_the_usual_cosine_is_that_of_the_repositories(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "EXACT_ROWS", rows)
    store = Store(5)
    store.put(800)
    asked = query(store.random)
    usual = search_dense(store.database.connection, store.table, asked, ScopeSql((2,), inside((2,)), ()), 10).background
    values = [float(vector @ asked) for id, vector in store.vectors.items() if store.repository[id] == 2]
    assert usual.mean == pytest.approx(np.mean(values), abs=0.02)
    assert usual.deviation == pytest.approx(np.std(values), abs=0.02)


def test_nothing_of_a_removed_vector_stays_in_its_block() -> None:
    store = Store(6)
    store.put(5)
    store.remove([3])
    blobs = store.database.rows(
        f"select vectors from {store.table}_vector_chunks00 union all select vectors from {store.table}_vector_chunks01"
    )
    gone = Store(6)
    gone.put(5)
    held = b"".join(bytes(blob) for (blob,) in blobs)
    assert dense.codes(gone.vectors[3]).tobytes() not in held
    assert dense.sign_bits(gone.vectors[3]).tobytes() not in held
    assert dense.codes(gone.vectors[2]).tobytes() in held


_SESSION = """
insert into sessions (id, name, agent, title, preview, cwd, worktree_id, branch, remote, parent, forked_from, imported)
values (1, 's', '', '', '', '', 0, '', '', '', '', 0)
"""
_MESSAGE = """
insert into messages (id, session_id, number, role, tool, text, files, line, key, digest, occurrence, worktree_id,
                      branch, subagent) values (?, 1, ?, 'user', '', 'x', '', 1, '', ?, 1, 0, '', 0)
"""
_PASSAGE = """
insert into passages (id, message_id, session_id, repository_id, worktree_id, role, subagent, start_at, end_at,
                      embeddable) values (?, ?, 1, ?, 0, ?, 0, 0, 1, 1)
"""
