"""What can go wrong, as a tree:

RecallError
├── UsageError        the caller asked for something that cannot be (an empty query, limit 0)
├── TranscriptError   a file could not be taken in
├── DatabaseError     the database cannot be opened, or is too new
│   ├── DamagedError  it is damaged: what it holds cannot be trusted, or not be read
│   └── LockedError   another process writes to it
├── ModelError        the embedding model is missing, damaged or of the wrong shape
├── BusyError         another process is doing this already
└── NotFoundError     no session or message has that name

Every message says what was found, what was expected, and what to do.
"""


class RecallError(Exception):
    """Base of every error this package raises on purpose."""


class UsageError(RecallError):
    """The call cannot be carried out as it was made."""


class TranscriptError(RecallError):
    """The file cannot be read as a transcript."""


class DatabaseError(RecallError):
    """The database cannot be used."""


class DamagedError(DatabaseError):
    """The database is damaged."""


class LockedError(DatabaseError):
    """Another process holds the database's lock."""


class ModelError(RecallError):
    """The embedding model cannot be used."""


class BusyError(RecallError):
    """Another process is doing this already."""


class NotFoundError(RecallError):
    """Nothing in the archive has that name."""
