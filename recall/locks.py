"""What only one process may do at a time, held by the operating system: a lock dies with its owner."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from recall.errors import BusyError, DatabaseError
from recall.faults import explain


@contextmanager
def embedding_alone(home: Path | None) -> Iterator[None]:
    """Be the only one who embeds into this home; None, the database in memory, has nobody else.

    Raises BusyError at once where another one does, DatabaseError where the home cannot be written.
    """
    if home is None:
        yield
        return
    busy = f"another process is embedding into {home} already, and brings these vectors too; wait for it to finish"
    path = home / "embed.lock"
    with ExitStack() as held:
        try:
            held.enter_context(alone(path, busy))
        except OSError as error:
            raise DatabaseError(explain(error, path)) from error
        yield


@contextmanager
def alone(path: Path, busy: str) -> Iterator[None]:
    """Hold the lock of a file, made if need be. Raises BusyError at once where another process has it, OSError."""
    from filelock import FileLock, Timeout  # not at the top: few commands need it

    lock = FileLock(path, mode=0o600)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise BusyError(busy) from error
    try:
        yield
    finally:
        lock.release()
