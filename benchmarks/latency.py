"""How long does a search take in a large archive, and what does the coarse search over its vectors lose?

    python -m benchmarks latency [--passages N …] [--questions N] [--cache DIR] [--out FILE]

An archive of 200 repositories is generated (archives.py) and searched in one process, warm, question by question, with
these systems taking turns: the library in a repository of 5,000 passages and everywhere, hybrid, by words and by
meaning; a plain numpy product of all vectors with the question's, embedded in each of them by the bundled model; and
bm25s over the same passages. The vectors of passages are made from the model's vectors of their words
(word_vectors.py). `recall@50` compares the 50 best messages by meaning with those by the exact cosine of all vectors.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recall
from benchmarks.archives import KNOWN, questions, sessions
from benchmarks.running import progress, write_result
from benchmarks.word_vectors import WordVectors
from recall import Scope

EXACT = 50
"""Best messages that are compared with the exact ones."""

ROUNDING = 1e-6
"""Cosines that are as near to each other are equal: a product of floats is no more exact."""

WORDS = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]")
BATCH = 2_000
WARM_UP = 5

Search = Callable[[str], object]


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark; prints tables and writes the result file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks latency", description=__doc__)
    parser.add_argument("--passages", action="append", type=int, help="size of an archive; 100,000 and 1,000,000")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--cache", type=Path, help="folder that keeps the archives between runs")
    parser.add_argument("--out", type=Path, help="result file")
    options = parser.parse_args(arguments)
    with recall.open(":memory:") as model:
        embedder = WordVectors(model.embedder)
    systems: list[dict[str, Any]] = []
    ways: list[dict[str, Any]] = []
    for passages in options.passages or (100_000, 1_000_000):
        with tempfile.TemporaryDirectory() as temporary:
            home = (options.cache or Path(temporary)) / f"archive-{passages}"
            with recall.open(home, embedder) as index:
                fill(index, passages)
                systems += measure(index, embedder, options.questions)
                ways = compare_ways(index, options.questions // 4)
    tables = [markdown(systems), markdown(ways)]
    print("\n\n".join(tables))
    if options.out:
        write_result(options.out, {"results": {"systems": systems, "ways": ways}, "tables": tables})
    return 0


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """A table of rows that have the same keys."""
    lines = [list(rows[0]), ["---"] * len(rows[0])]
    lines += [
        ["" if value is None else f"{value:,}" if isinstance(value, int) else str(value) for value in row.values()]
        for row in rows
    ]
    return "\n".join(f"| {' | '.join(line)} |" if line[0] != "---" else "|---" * len(line) + "|" for line in lines)


def fill(index: recall.Index, passages: int) -> None:
    """Take a generated archive in; nothing where it is there already."""
    if index.counts()["passages"] == 0:
        done = 0
        for session in sessions(passages):
            index.add(session)
            done += len(session.messages)
        progress("messages", done, done)
    index.embed()


def measure(index: recall.Index, embedder: WordVectors, count: int) -> list[dict[str, Any]]:
    """A row a system: percentiles in milliseconds, the ratio to the numpy product, recall of what is exact."""
    repository, everywhere = Scope.repository(KNOWN), Scope.everywhere()
    texts, passages, vectors = archive_of(index, embedder)
    systems: dict[str, tuple[Search, Scope | None]] = {
        "repository, hybrid": (lambda text: index.search(text, repository), repository),
        "everywhere, hybrid": (lambda text: index.search(text, everywhere), everywhere),
        "everywhere, by words": (lambda text: index.search(text, everywhere, mode="lexical"), everywhere),
        "everywhere, by meaning": (lambda text: index.search(text, everywhere, mode="dense"), everywhere),
        "numpy product": (lambda text: _product(embedder, vectors, text), None),
        "bm25s": (_bm25s(texts), None),
    }
    taken: dict[str, list[float]] = {name: [] for name in systems}
    here, anywhere = questions(count + WARM_UP, cwd=KNOWN), questions(count + WARM_UP)
    for number, (local, general) in enumerate(zip(here, anywhere, strict=True)):
        for name, (search, scope) in systems.items():
            began = time.perf_counter()
            search(local if scope is repository else general)
            if number >= WARM_UP:
                taken[name].append((time.perf_counter() - began) * 1_000)
        progress("questions", number + 1, count + WARM_UP)
    reached = _recall(index, embedder, anywhere[:count], passages, vectors)
    base = float(np.median(taken["numpy product"]))
    return [
        {
            "passages": index.counts()["passages"],
            "vectors": len(vectors),
            "system": name,
            "p50": round(float(np.median(times)), 1),
            "p95": round(float(np.percentile(times, 95)), 1),
            "to numpy": round(float(np.median(times)) / base, 2),
            f"recall@{EXACT}": round(reached, 4) if name == "everywhere, by meaning" else None,
        }
        for name, times in taken.items()
    ]


def compare_ways(index: recall.Index, count: int) -> list[dict[str, Any]]:
    """Searching repositories of different sizes by meaning: all vectors compared, or their bits first."""
    nearest: Any = sys.modules["recall.nearest"]  # no public name: no user has to choose a way
    sizes = index.database.rows(_SIZES)
    limit = nearest.EXACT_ROWS
    rows = []
    try:
        for path, size in sizes:
            scope = Scope.repository(path)
            taken: dict[int, list[float]] = {0: [], size * 1_000: []}
            for text in questions(count, cwd=KNOWN):
                for most, times in taken.items():
                    nearest.EXACT_ROWS = most
                    began = time.perf_counter()
                    index.search(text, scope, mode="dense")
                    times.append((time.perf_counter() - began) * 1_000)
            first, whole = (round(float(np.median(times)), 1) for times in taken.values())
            rows.append({"vectors": size, "all compared, ms": whole, "bits first, ms": first})
    finally:
        nearest.EXACT_ROWS = limit
    return rows


def archive_of(index: recall.Index, embedder: WordVectors) -> tuple[list[str], list[str], NDArray[np.float32]]:
    """(text of every passage, message of each that has a vector, its vector as it was before it was stored)."""
    rows = index.database.rows(_PASSAGES)
    worth = [row for row in rows if row[1]]
    parts = [embedder.embed_passages([row[2] for row in worth[i : i + BATCH]]) for i in range(0, len(worth), BATCH)]
    return [row[2] for row in rows], [row[0] for row in worth], np.concatenate(parts)


def _product(embedder: WordVectors, vectors: NDArray[np.float32], text: str) -> NDArray[np.int64]:
    cosines = vectors @ embedder.embed_query(text)
    return np.argpartition(-cosines, EXACT)[:EXACT]


def _bm25s(texts: Sequence[str]) -> Search:
    import bm25s

    engine = bm25s.BM25()
    engine.index([WORDS.findall(text.casefold()) for text in texts], show_progress=False)
    return lambda text: engine.retrieve([WORDS.findall(text.casefold())], k=EXACT, show_progress=False)


def _recall(
    index: recall.Index,
    embedder: WordVectors,
    asked: Sequence[str],
    passages: Sequence[str],
    vectors: NDArray[np.float32],
) -> float:
    """Mean share of EXACT messages found by meaning that are among the EXACT best by the exact cosine.

    Of messages with the same vector, as forks and repeated requests have it, any is as good as another.
    """
    numbers: dict[str, int] = {}
    message = np.array([numbers.setdefault(name, len(numbers)) for name in passages])
    shares = []
    for text in asked:
        vector = embedder.embed_query(text)
        if not vector.any():
            continue
        best = np.full(len(numbers), -1.0, np.float32)
        np.maximum.at(best, message, vectors @ vector)
        least = np.sort(best)[-EXACT] - ROUNDING
        found = index.search(text, Scope.everywhere(), EXACT, "dense", per_session=None)
        shares.append(sum(best[numbers[hit.ref]] >= least for hit in found) / EXACT)
    return float(np.mean(shares))


# Repositories of which each has about twice as many vectors as the next.
_SIZES = """
select path, count from (
  select r.path, count(*) as count, row_number() over (order by count(*) desc) as place
  from passages p join repositories r on r.id = p.repository_id where p.embeddable = 1 and r.id <> 0 group by r.id
) where place in (1, 2, 4, 8, 16, 32, 64) order by count
"""
_PASSAGES = """
select s.name || ':' || m.number, p.embeddable, substr(m.text, p.start_at + 1, p.end_at - p.start_at)
from passages p join messages m on m.id = p.message_id join sessions s on s.id = p.session_id order by p.id
"""
