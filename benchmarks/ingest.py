"""How fast are transcripts taken in, how much memory does that take, and what takes the room on disk?

    python -m benchmarks ingest --megabytes 200 --giant 500 --runs 3 --out benchmarks/results/ingest.json

Generated transcripts of both agents (archives.py, archive_files.py) are taken in by a process of its own, with all
processors and with one, in turns with two plain baselines: reading the files and parsing each line with orjson, and
writing the same text, unanalysed and unredacted, to a bare FTS5 table. Memory is that of the whole process tree,
sampled every 20 ms where /proc tells it. One file of tool outputs of up to 30 MB a line shows what a giant takes.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

import recall
from benchmarks.archive_files import write
from benchmarks.archives import sessions
from benchmarks.running import progress, write_result

BYTES_A_PASSAGE = 2_770
"""Bytes of generated transcripts to a passage, about."""

DIMENSION, COARSE_BITS = 384, 384
"""Of the bundled model: a float of four bytes for each, and a bit for each in the coarse copy."""

_INGEST = """
import json, os, sys, time
if sys.argv[1] == "one":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import recall
with recall.open(sys.argv[2]) as index:
    began = time.perf_counter()
    report = index.ingest(sys.argv[3])
    seconds = time.perf_counter() - began
print(json.dumps({"seconds": seconds, "messages": report.new_messages}))
"""


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark; exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks ingest", description="Measure taking transcripts in.")
    parser.add_argument("--megabytes", type=int, default=200, help="size of the archive")
    parser.add_argument("--giant", type=int, default=500, help="megabytes of the one giant file")
    parser.add_argument("--runs", type=int, default=3, help="runs of each, in turns")
    parser.add_argument("--out", type=Path, help="result file")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        document = measure(Path(folder), options.megabytes, options.giant, options.runs)
    for table in document["tables"]:
        print(table, end="\n\n")
    if options.out:
        write_result(options.out, document)
    return 0


def measure(folder: Path, megabytes: int, giant: int, runs: int) -> dict[str, Any]:
    """The document of the result file: figures, and the tables that show them."""
    archive, home = folder / "archive", folder / "home"
    size = write(sessions(megabytes * 1_000_000 // BYTES_A_PASSAGE, seed=5), archive)
    ways: dict[str, Callable[[], dict[str, float]]] = {"all processors": lambda: ingest(archive, home, "all")}
    if hasattr(os, "sched_setaffinity"):
        ways["one processor"] = lambda: ingest(archive, folder / "home-one", "one")
    ways["reading and orjson"] = lambda: timed(lambda: parse(archive))
    ways["bare FTS5"] = lambda: timed(lambda: bare_fts5(home, folder / "bare.db"))
    measured: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
    for run in range(runs):
        for name, way in ways.items():
            measured[name].append(way())
        progress("runs", run + 1, runs)
    text = text_size(home)
    taking = [row(name, size, text, found) for name, found in measured.items()]
    giant_file = write_giant(folder / "giant" / "giant.jsonl", giant * 1_000_000)
    giant_run = ingest(giant_file, folder / "home-giant", "all")
    room = room_of(home)
    return {
        "files": sum(1 for _ in transcripts(archive)),
        "bytes": size,
        "processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "taking_in": taking,
        "giant": {"bytes": giant_file.stat().st_size, **giant_run},
        "room": room,
        "tables": [_taking_table(taking), _giant_line(giant_file.stat().st_size, giant_run), _room_table(room)],
    }


def ingest(archive: Path, home: Path, processors: str) -> dict[str, float]:
    """Seconds, and peak megabytes of the process tree, of taking in an archive into a new home."""
    for left in home.glob("*") if home.is_dir() else ():
        left.unlink()
    command = [sys.executable, "-c", _INGEST, processors, str(home), str(archive)]
    peak = 0.0
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        while process.poll() is None:
            peak = max(peak, tree_megabytes(process.pid))
            time.sleep(0.02)
        assert process.stdout is not None
        found: dict[str, float] = json.loads(process.stdout.read())
    return {**found, "peak": peak}


def tree_megabytes(pid: int) -> float:
    """Resident megabytes of a process and its children, shared pages counted for each; 0 where /proc is not there."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6 + sum(tree_megabytes(int(child)) for child in children)


def timed(work: Callable[[], None]) -> dict[str, float]:
    """Seconds that some work takes."""
    began = time.perf_counter()
    work()
    return {"seconds": time.perf_counter() - began}


def parse(archive: Path) -> None:
    """Read all files and parse each line: what nobody who reads transcripts can do without."""
    for path in transcripts(archive):
        with path.open("rb") as lines:
            for line in lines:
                orjson.loads(line)


def bare_fts5(home: Path, path: Path) -> None:
    """Write the messages that recall keeps to an FTS5 table that holds them, 1,000 in a transaction."""
    path.unlink(missing_ok=True)
    with sqlite3.connect(home / "recall.db") as source, sqlite3.connect(path) as target:
        target.execute("pragma journal_mode = wal")
        target.execute("create virtual table messages using fts5(text)")
        rows = source.execute("select text from messages where text <> ''")
        while batch := rows.fetchmany(1_000):
            target.executemany("insert into messages values (?)", batch)
            target.commit()
    source.close()
    target.close()


def transcripts(archive: Path) -> Iterator[Path]:
    """All files of an archive."""
    return archive.rglob("*.jsonl")


def text_size(home: Path) -> int:
    """Bytes of the redacted text in a home."""
    return int(_rows(home, "select sum(length(cast(text as blob))) from messages")[0][0] or 0)


def write_giant(path: Path, size: int) -> Path:
    """A session of Claude Code with outputs of 100 kB to 15 MB, each in its line twice, now and then with an emoji."""
    path.parent.mkdir(parents=True)
    outputs = [message.text for session in sessions(400, seed=6) for message in session.messages if message.text]
    text = "\n".join(outputs)
    with path.open("wb") as file:
        number = 0
        while file.tell() < size:
            wanted = (100_000, 1_000_000, 4_000_000, 15_000_000)[number % 4]
            output = ((text * (wanted // len(text) + 1))[:wanted].encode()[:wanted]).decode("utf-8", "ignore")
            file.write(orjson.dumps(_result(number, f"{'🤖' * (number % 3 == 0)}{output}")) + b"\n")
            number += 1
    return path


def _result(number: int, output: str) -> dict[str, Any]:
    content = [{"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": output}]
    return {
        "type": "user", "uuid": f"{number:08x}-0000-4000-8000-000000000000", "sessionId": "giant", "cwd": "/srv/giant",
        "timestamp": "2026-03-02T09:00:05.250Z", "message": {"role": "user", "content": content},
        "toolUseResult": {"stdout": output, "stderr": ""},
    }  # fmt: skip


def row(name: str, size: int, text: int, runs: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Median, least and most seconds of some runs, and what that is in megabytes a second."""
    seconds = sorted(run["seconds"] for run in runs)
    middle = statistics.median(seconds)
    bytes_read = 0 if name == "bare FTS5" else size
    return {
        "name": name, "seconds": middle, "least": seconds[0], "most": seconds[-1],
        "MB/s of transcripts": bytes_read / middle / 1e6, "MB/s of kept text": text / middle / 1e6,
        "peak MB": max((run.get("peak", 0.0) for run in runs), default=0.0),
    }  # fmt: skip


def room_of(home: Path) -> dict[str, Any]:
    """Bytes of the database by table and index, and what its vectors would add."""
    with recall.open(home) as index:
        counts = index.counts()
    tables = {str(name): int(size) for name, size in _pages(home)}
    database = sum(tables.values())
    text = text_size(home)
    vectors = counts["without_vector"] * (DIMENSION + COARSE_BITS // 8)
    return {
        "text": text, "database": database, "passages": counts["passages"], "embeddable": counts["without_vector"],
        "vectors": vectors, "ratio": database / text, "ratio with vectors": (database + vectors) / text,
        "tables": dict(sorted(tables.items(), key=lambda pair: -pair[1])),
    }  # fmt: skip


def _pages(home: Path) -> list[tuple[Any, ...]]:
    """(table or index, bytes), by SQLite's dbstat where this SQLite has it, else the file as a whole."""
    try:
        return _rows(home, "select name, sum(pgsize) from dbstat group by name")
    except sqlite3.OperationalError:
        return [("all", (home / "recall.db").stat().st_size)]


def _rows(home: Path, sql: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(home / "recall.db")
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    return "\n".join(
        [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", *(f"| {' | '.join(row)} |" for row in rows)]
    )


def _taking_table(taking: Sequence[dict[str, Any]]) -> str:
    parsing = next(one["seconds"] for one in taking if one["name"] == "reading and orjson")
    return _table(
        ("taking in", "seconds", "MB/s of transcripts", "MB/s of kept text", "peak MB", "times reading and orjson"),
        (
            (
                one["name"], f"{one['seconds']:.1f} ({one['least']:.1f}–{one['most']:.1f})",
                f"{one['MB/s of transcripts']:.1f}" if one["MB/s of transcripts"] else "",
                f"{one['MB/s of kept text']:.1f}", f"{one['peak MB']:.0f}" if one["peak MB"] else "",
                f"{one['seconds'] / parsing:.1f}",
            )
            for one in taking
        ),
    )  # fmt: skip


def _giant_line(size: int, run: dict[str, float]) -> str:
    rate = size / run["seconds"] / 1e6
    took = f"{run['seconds']:.1f} s, {rate:.1f} MB/s, at most {run['peak']:.0f} MB of memory"
    return f"One file of {size / 1e6:.0f} MB, with lines of up to 30 MB: {took}."


def _room_table(room: dict[str, Any]) -> str:
    text = room["text"]
    rows = [
        (name, f"{size / 1e6:.2f}", f"{size / text:.3f}") for name, size in room["tables"].items() if size > text / 200
    ]
    rows.append(("all", f"{room['database'] / 1e6:.2f}", f"{room['ratio']:.3f}"))
    with_vectors = room["database"] + room["vectors"]
    rows.append(("all, with vectors (reckoned)", f"{with_vectors / 1e6:.2f}", f"{room['ratio with vectors']:.3f}"))
    return _table(("room", "MB", "to the redacted text"), rows)
