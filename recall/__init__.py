"""repo-recall: embedded, offline, semantic recall over coding-agent sessions.

import recall

with recall.open() as index:
    index.ingest()
    for hit in index.search("how did we fix the flaky login test?"):
        print(hit.ref, hit.session.title, hit.snippet.text)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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

# A name is imported when it is first used: all of them together take a third of a second, which somebody who asks for
# help, or a hook, does not have. Type checkers read the first branch, Python takes the second; a test compares them.
if TYPE_CHECKING:
    from recall.embedding import Embedder
    from recall.errors import (
        BusyError,
        DatabaseError,
        ModelError,
        NotFoundError,
        RecallError,
        TranscriptError,
        UsageError,
    )
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
else:
    _PLACES = {
        "AddReport": "recall.types:AddReport",
        "BusyError": "recall.errors:BusyError",
        "DatabaseError": "recall.errors:DatabaseError",
        "Embedder": "recall.embedding:Embedder",
        "FileReport": "recall.types:FileReport",
        "ForgetReport": "recall.types:ForgetReport",
        "Hit": "recall.types:Hit",
        "Index": "recall.index:Index",
        "IngestReport": "recall.types:IngestReport",
        "Message": "recall.types:Message",
        "ModelError": "recall.errors:ModelError",
        "NotFoundError": "recall.errors:NotFoundError",
        "RecallError": "recall.errors:RecallError",
        "RelinkReport": "recall.relink:RelinkReport",
        "RescanReport": "recall.rescan:RescanReport",
        "Scope": "recall.scope:Scope",
        "SearchResult": "recall.types:SearchResult",
        "Session": "recall.types:Session",
        "SessionSummary": "recall.types:SessionSummary",
        "ShownMessage": "recall.types:ShownMessage",
        "Snippet": "recall.types:Snippet",
        "Source": "recall.types:Source",
        "TranscriptError": "recall.errors:TranscriptError",
        "UsageError": "recall.errors:UsageError",
        "open": "recall.opening:open_index",
    }

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name not in _PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module, _, attribute = _PLACES[name].partition(":")
        return globals().setdefault(name, getattr(import_module(module), attribute))

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
