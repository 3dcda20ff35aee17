"""An embedding run: each passage that is worth a vector and lacks one gets it. It can be killed at any time.

A text is embedded once: passages with equal texts share a vector, in this run and with earlier ones. What the model
would cut off, because it was made for another one, is cut anew. Once nothing is missing, the vectors of all other
embedders go; until then they can be searched. At the end the
word index is merged, since this is what runs while nobody waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import apsw
import numpy as np

from recall import dense, embedded, lexical, recutting, vector_removal
from recall.database import Database
from recall.embedded import Lacking
from recall.embedding import Embedder, Vectors, unit
from recall.errors import ModelError

EMBED_BATCH = 64
"""Texts whose vectors are computed, then stored, together: what a killed run has to do again."""

WINDOW = 768
"""Passages that are looked at together, so that texts of one length can be embedded together."""

PARTS = 4
"""Parts that the word index may have after a run; with 19, its lists took three times as long to read."""

Progress = Callable[[int, int], None]
"""Called with (passages done, passages in all)."""


def embed_missing(database: Database, embedder: Embedder, progress: Progress | None = None) -> int:
    """Number of passages that got their vector. Only one run at a time: the caller holds the lock.

    Raises ModelError where the embedder cannot embed, or returns another shape than it promised.
    """
    with database.write() as connection:
        table = dense.make_table(connection, embedder)
        vector_removal.remove_orphans(connection, table)
    total, done = embedded.count_without_vector(connection, table), 0
    fitting = recutting.Fitting(database, embedder)
    found = True
    while found:  # again, for what was taken in or cut anew meanwhile
        found = False
        for window in _windows(database, table):
            found = True
            for passages, digests, vectors in _with_vectors(database, table, embedder, fitting.only(window)):
                with database.write():
                    dense.put_vectors(connection, table, passages, vectors, digests)
                done += len(passages)
                if progress:
                    progress(done, max(total, done))
    with database.write():
        _drop_others(connection, table)
    _merge_words(database)
    return done


def _windows(database: Database, table: str) -> Iterator[list[Lacking]]:
    """What lacks a vector, newest first. Each is looked for below the last: whatever has one is passed over once."""
    before: int | None = None
    while True:
        with database.read() as connection:
            window = embedded.lacking(connection, table, before, WINDOW)
        if not window:
            return
        yield window
        before = window[-1].id


def _with_vectors(
    database: Database, table: str, embedder: Embedder, window: Sequence[Lacking]
) -> Iterator[tuple[list[tuple[int, int]], list[int], Vectors]]:
    """(passages as put_vectors takes them, digests of their texts, vectors), in parts that are stored one by one."""
    sharing: dict[int, list[Lacking]] = {}
    for passage in window:
        sharing.setdefault(embedded.digest_of(passage.text), []).append(passage)
    with database.read() as connection:
        twins = embedded.same_text(connection, table, sharing)
        stored = dense.vectors_of(connection, table, list(twins.values()))
    known = {digest: stored[twin] for digest, twin in twins.items() if twin in stored}
    if known:
        yield _spread(sharing, list(known), np.stack(list(known.values())))
    # Padded to the longest of its batch, a short text costs as much as that.
    new = sorted(sharing.keys() - known.keys(), key=lambda digest: len(sharing[digest][0].text))
    for start in range(0, len(new), EMBED_BATCH):
        batch = new[start : start + EMBED_BATCH]
        yield _spread(sharing, batch, _vectors(embedder, [sharing[digest][0].text for digest in batch]))


def _spread(
    sharing: dict[int, list[Lacking]], digests: Sequence[int], vectors: Vectors
) -> tuple[list[tuple[int, int]], list[int], Vectors]:
    """To all passages with a text, the vector of that text."""
    places = [(place, passage) for place, digest in enumerate(digests) for passage in sharing[digest]]
    return (
        [(passage.id, passage.repository_id) for _, passage in places],
        [digests[place] for place, _ in places],
        vectors[[place for place, _ in places]],
    )


def _vectors(embedder: Embedder, texts: list[str]) -> Vectors:
    vectors = unit(embedder.embed_passages(texts))
    if vectors.shape != (len(texts), embedder.dimension):
        raise ModelError(
            f"{embedder.name} returned vectors of shape {vectors.shape}, expected "
            f"{(len(texts), embedder.dimension)}; mend its embed_passages or its dimension"
        )
    return vectors


def _merge_words(database: Database) -> None:
    """Merge the parts of the word index, each of which a search reads for each term; other writers may come between."""
    if lexical.count_parts(database.connection) > PARTS:
        for _ in lexical.merging(database):
            pass


def _drop_others(connection: apsw.Connection, table: str) -> None:
    if not embedded.count_without_vector(connection, table):
        for other in embedded.other_tables(connection, table):
            vector_removal.drop_table(connection, other)
