"""What went wrong with a database, in words, and as an error of ours: by SQLite's code, never by its words."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import apsw

from recall.errors import DamagedError, DatabaseError, LockedError

BUSY_TIMEOUT_MS = 10_000
"""How long a writer waits for another one."""

FAULTS = (apsw.Error, UnicodeDecodeError)
"""What reading may raise: where text was overwritten, SQLite hands over what stands there."""


def database_error(error: Exception, path: Path | None, waited_ms: int = BUSY_TIMEOUT_MS) -> DatabaseError:
    """Our error for one of SQLite or of the file system. What kind it is says SQLite's code, never its words."""
    text = explain(error, path, waited_ms)
    if isinstance(error, apsw.BusyError):
        return LockedError(text)
    # An SQLError is a table that is not there or does not answer: all statements are ours, and known to be right.
    is_damage = isinstance(error, apsw.NotADBError | apsw.CorruptError | apsw.SQLError | UnicodeDecodeError)
    if is_damage or (path is not None and path.is_dir()):
        return DamagedError(text)
    return DatabaseError(text)


def explain(error: Exception, path: Path | None, waited_ms: int = BUSY_TIMEOUT_MS) -> str:
    """What went wrong with the database at `path`, and what to do, for an error of SQLite or of the file system."""
    name = str(path) if path else "the database in memory"
    if isinstance(error, apsw.BusyError):
        return (
            f"{name} has been locked by another process for {waited_ms / 1000:g} s; "
            "wait for it to finish, or end it, and try again"
        )
    if path is not None and path.is_dir():
        return f"{name} is a folder, and no database; {RESCUE}"
    if isinstance(error, apsw.NotADBError):
        return f"{name} is not a database (its first bytes are no SQLite header); {RESCUE}"
    if isinstance(error, apsw.CorruptError | UnicodeDecodeError):
        return f"{name} is damaged ({error}); {RESCUE}"
    if isinstance(error, apsw.SQLError):
        return f"{name} is damaged: a part of it does not answer ({error}); {RESCUE}"
    if isinstance(error, apsw.FullError) or getattr(error, "errno", None) == errno.ENOSPC:
        return (
            f"{name} cannot grow: the disk is full; nothing was stored by halves; "
            "free some space and run the same command again"
        )
    if isinstance(error, apsw.CantOpenError | apsw.ReadOnlyError | PermissionError) or (
        isinstance(error, OSError) and path is not None and not os.access(path.parent, os.W_OK)
    ):
        return f"{name} cannot be opened for writing ({error}); make it writable, or set RECALL_HOME to another folder"
    if isinstance(error, apsw.IOError):
        return (
            f"{name} cannot be read or written ({error}): a disk that fails, or a network folder, where SQLite's "
            "write-ahead log does not work; set RECALL_HOME to a folder on a local disk"
        )
    return f"{name} cannot be used: {error}"


RESCUE = 'run "recall doctor --fix", which keeps the file, saves what can be read and takes the transcripts in again'
