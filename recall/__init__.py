"""repo-recall: embedded, offline, semantic recall over coding-agent sessions.

import recall

with recall.open() as index:
    index.ingest()
    for hit in index.search("how did we fix the flaky login test?"):
        print(hit.ref, hit.session.title, hit.snippet.text)
"""

from recall.embedding import Embedder
from recall.errors import BusyError, DatabaseError, ModelError, NotFoundError, RecallError, TranscriptError, UsageError
from recall.index import Index
from recall.opening import open_index as open
from recall.relink import RelinkReport
from recall.rescan import RescanReport
from recall.scope import Scope
from recall.types import (
    AddReport,
    FileReport,
    ForgetReport,
    Hit,
    IngestReport,
    Message,
    SearchResult,
    Session,
    SessionSummary,
    ShownMessage,
    Snippet,
    Source,
)

__version__ = "0.1.0"

__all__ = [
    "AddReport",
    "BusyError",
    "DatabaseError",
    "Embedder",
    "FileReport",
    "ForgetReport",
    "Hit",
    "Index",
    "IngestReport",
    "Message",
    "ModelError",
    "NotFoundError",
    "RecallError",
    "RelinkReport",
    "RescanReport",
    "Scope",
    "SearchResult",
    "Session",
    "SessionSummary",
    "ShownMessage",
    "Snippet",
    "Source",
    "TranscriptError",
    "UsageError",
    "open",
]
