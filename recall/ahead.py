"""Reading ahead: other processes read, redact and cut transcripts while this one writes.

Taking in is two parts reading to one part writing, and SQLite has one writer. So where much is waiting, workers
(ahead_worker.py) do what needs no lock and send batches, and the writer stores them in its own order. A worker only
reads from the database, and ends when its input does, so it dies with its parent. Where none can be started, or one
ends early, the writer reads on by itself, from where the ledger says, with the same outcome.
"""

from __future__ import annotations

import contextlib
import json
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Thread
from typing import IO

from recall.ledger import Entry
from recall.passages import Part
from recall.types import Message, Session

WORTH_BYTES = 16 * 2**20
"""Bytes of new transcripts from which on workers pay: to start them takes as long as to read 4 MB."""

MOST_WORKERS = 2
"""More read faster than one process can write, and each takes 70 MB."""

WAITING_BYTES = 8 * 2**20
"""How far a worker may be ahead, in bytes of its batches: this bounds the memory, whatever the files are."""

# Not `-m`, which would import from the current directory first, but from where this process found the package.
_START = "import sys; sys.path[:] = {path!r}; from recall.ahead_worker import main; main()"
_LENGTH_BYTES = 8


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages of a transcript that are stored together, and how far the transcript has been read with them."""

    messages: Sequence[Message]
    """Prepared: redacted and shortened."""
    session: Session
    entry: Entry
    done: bool
    """Whether it is the last of the file."""
    parts: Sequence[Sequence[Part]] = ()
    """The passages of each message, where a worker has cut them."""
    redactions: dict[str, int] = field(default_factory=dict)
    """What a worker has masked since its last batch, by rule."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a worker has to know of the index that it reads for."""

    home: str
    embedder: str | None
    exclude: tuple[str, ...]


class Ahead:
    """Workers that read files in the order given. A context manager: they end with it."""

    def __init__(self, settings: Settings, paths: Sequence[Path], workers: int) -> None:
        """paths: files that were never read, to be asked for in this order."""
        self.changed = Condition()
        self._paths = dict.fromkeys(paths)
        """Not yet given to a worker."""
        self._owners: dict[Path, _Worker] = {}
        started = [_started(settings) for _ in range(workers)]
        self._workers = [_Worker(self, process) for process in started if process]

    def __enter__(self) -> Ahead:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()

    def batches(self, path: Path) -> Iterator[Batch]:
        """The batches of a file. The last one is `done`; without it, the worker could not go on."""
        with self.changed:
            while path in self._paths and any(worker.alive for worker in self._workers):
                self.changed.wait()
        while worker := self._owners.get(path):
            batch = worker.next()
            if batch is None or batch.done:
                del self._owners[path]
            if batch:
                yield batch

    def skip(self, path: Path) -> None:
        """Pass over what is left of a file, so that its worker goes on to another."""
        for _ in self.batches(path):
            pass

    def assign(self, worker: _Worker) -> Path | None:
        """The next file, for a worker that has none."""
        with self.changed:
            path = next(iter(self._paths), None)
            if path:
                del self._paths[path]
                self._owners[path] = worker
            self.changed.notify_all()
            return path


class _Worker:
    """One process, and the thread that takes over what it sends."""

    def __init__(self, ahead: Ahead, process: subprocess.Popen[bytes]) -> None:
        self.alive = True
        self._ahead, self._process = ahead, process
        self._ready: deque[tuple[int, Batch | None]] = deque()
        self._size = 0
        self._thread = Thread(target=self._take_over, daemon=True)
        self._thread.start()

    def next(self) -> Batch | None:
        """The next batch of the file that this worker was given; None where it cannot go on."""
        with self._ahead.changed:
            while self.alive and not self._ready:
                self._ahead.changed.wait()
            size, batch = self._ready.popleft() if self._ready else (0, None)
            self._size -= size
            self._ahead.changed.notify_all()
            return batch

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._lose()
        self._thread.join()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                assert stream is not None
                stream.close()

    def _take_over(self) -> None:
        with contextlib.suppress(Exception):  # whatever it is, the writer reads what is missing
            while (path := self._ahead.assign(self)) and self.alive:
                ask(self._process.stdin, str(path))
                self._take_over_file()
        self._lose()

    def _take_over_file(self) -> None:
        while self.alive:
            size, batch = receive(self._process.stdout)
            with self._ahead.changed:
                while self.alive and self._size > WAITING_BYTES:
                    self._ahead.changed.wait()
                self._ready.append((size, batch))
                self._size += size
                self._ahead.changed.notify_all()
            if batch is None or batch.done:
                return

    def _lose(self) -> None:
        with self._ahead.changed:
            self.alive = False
            self._ahead.changed.notify_all()


def ask(stream: IO[bytes] | None, request: object) -> None:
    """Send a line of JSON to a worker."""
    assert stream is not None
    stream.write(json.dumps(request).encode() + b"\n")
    stream.flush()


def send(stream: IO[bytes], batch: Batch | None) -> None:
    """Send a batch to the writer; None says that the file cannot be read on."""
    frame = pickle.dumps(batch, pickle.HIGHEST_PROTOCOL)
    stream.write(len(frame).to_bytes(_LENGTH_BYTES, "little") + frame)
    stream.flush()


def receive(stream: IO[bytes] | None) -> tuple[int, Batch | None]:
    """(bytes, batch) of what a worker sent. Raises EOFError where it has ended."""
    assert stream is not None
    size = int.from_bytes(stream.read(_LENGTH_BYTES), "little")
    frame = stream.read(size)
    if not size or len(frame) < size:
        raise EOFError
    batch: Batch | None = pickle.loads(frame)
    return size, batch


def _started(settings: Settings) -> subprocess.Popen[bytes] | None:
    """A worker; None where no process can be started."""
    if getattr(sys, "frozen", False) or not sys.executable:  # this program is its own interpreter
        return None
    command = [sys.executable, "-I", "-c", _START.format(path=sys.path)]
    no_window = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # on Windows
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, creationflags=no_window
        )
    except OSError:
        return None
    with contextlib.suppress(OSError):  # where it has ended already, that shows when its first batch is awaited
        ask(process.stdin, [settings.home, settings.embedder, settings.exclude])
    return process
