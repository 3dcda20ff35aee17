"""What only one process may do at a time, held by the operating system: a lock dies with its owner."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
    from filelock import FileLock, Timeout  # not at the top: only embedding needs it

    path = home / "embed.lock"
    lock = FileLock(path, mode=0o600)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise BusyError(
            f"another process is embedding into {home} already, and brings these vectors too; wait for it to finish"
        ) from error
    except OSError as error:
        raise DatabaseError(explain(error, path)) from error
    try:
        yield
    finally:
        lock.release()
