"""Index: the one orchestrator. Each method is a walk in one direction through the other modules."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any

from recall import dense, ledger, sessions
from recall.archive import Occurrences
from recall.database import Database
from recall.embedding import DEFAULT_MAX_TOKENS, Embedder, EmbedderChoice, Fetching, Tokenizing, choose, unit
from recall.errors import ModelError, UsageError
from recall.grouping import PER_SESSION
from recall.home import home_directory, models_directory
from recall.ingest import Progress, ingest_files, put_titles
from recall.intake import Intake, Measure, forget_session
from recall.privacy import Excluded, ExcludedError, Privacy
from recall.redacting import make_key, read_key, redact_with
from recall.reranking import Reranker, RerankerChoice, choose_reranker
from recall.rescan import RescanReport, rescan
from recall.scope import Scope
from recall.scope_sql import scope_sql
from recall.search import Query, search
from recall.snippets import SNIPPET_LIMIT
from recall.transcripts.discover import agent_folders, find_transcripts
from recall.transcripts.titles import read_titles, title_lists
from recall.types import ROLES, AddReport, IngestReport, Mode, SearchResult, Session, SessionSummary, ShownMessage

EMBED_BATCH = 64
"""Passages whose vectors are computed, then stored, together: what a killed run has to do again."""


class Index:
    """An archive of sessions that can be searched. A context manager; not to be shared between threads."""

    def __init__(
        self,
        home: Path | None,
        embedder: EmbedderChoice,
        reranker: RerankerChoice = None,
        exclude: Sequence[str | Path] = (),
    ) -> None:
        """home: folder of the database; None keeps it in memory. Raises DatabaseError, ModelError."""
        self.home = home
        self._excluded = Excluded.of(exclude)
        self._key = b""
        self._choice = embedder
        self._reranker_choice = reranker
        self.database = Database(home / "recall.db" if home else None)

    def __enter__(self) -> Index:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the database. What was done is stored already."""
        self.database.close()

    def ingest(
        self,
        paths: str | Path | Iterable[str | Path] | None = None,
        progress: Progress | None = None,
        budget_seconds: float | None = None,
    ) -> IngestReport:
        """Take in what is new below `paths` (files or folders; None: every agent found on this machine).

        What is taken in can be searched by its words at once; `embed` brings the vectors. With a budget, what does
        not fit into it is left for the next call, newest first. Raises UsageError for a path that does not exist.
        """
        if isinstance(paths, str | Path):
            paths = [paths]
        roots = agent_folders() if paths is None else [_absolute(path) for path in paths]
        for root in roots:
            if not root.exists():
                raise UsageError(f"{root} does not exist; expected a transcript, or a folder that holds some")
        intake = self._intake()
        began = monotonic()
        transcripts = list(find_transcripts(roots))
        rest = None if budget_seconds is None else budget_seconds - (monotonic() - began)
        reports, left = ingest_files(self.database, intake, transcripts, progress, rest)
        for path in title_lists(transcripts):
            put_titles(self.database, intake, read_titles(path))
        return IngestReport(tuple(reports), dict(intake.redactions), left)

    def rescan(self, progress: Progress | None = None, budget_seconds: float | None = None) -> RescanReport:
        """Scan again what older rules have scanned, and mask what they missed; `embed` then brings the lost vectors."""
        return rescan(self.database, self._intake(), progress, budget_seconds)

    def add(self, session: Session) -> AddReport:
        """Take in a session built in memory. Messages that it holds already are not added again."""
        if not session.id:
            raise UsageError("the session has no id; give it one that stays the same")
        for message in session.messages:
            if message.role not in ROLES:
                raise UsageError(f'a message has the role "{message.role}"; expected one of {", ".join(ROLES)}')
            if not isinstance(message.timestamp, datetime | None):
                raise UsageError(f"a message has the timestamp {message.timestamp!r}; expected a datetime or None")
        intake = self._intake()
        privacy = Privacy(self._excluded)
        prepared = []
        try:
            for message in session.messages:
                privacy.begin([message])
                prepared.append(intake.prepare(message, privacy, session.cwd))
        except ExcludedError as reason:
            if reason.by_its_user:
                forget_session(self.database, intake.masked(session.id))
            return AddReport(session.id, 0, 0, excluded=str(reason))
        messages = [message for message in prepared if message]
        if not messages:
            return AddReport(session.id, 0, 0)
        with self.database.write() as connection:
            session_id, stored = intake.store(connection, session, messages, Occurrences(goes_on=False))
            copied = intake.finish(connection, session_id, stored[0].id) if stored else 0
        return AddReport(session.id, len(stored), copied)

    def embed(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Compute the vectors that are missing; their number. Can be stopped at any time and goes on where it was.

        progress: called with (passages done, passages in all). A model that is not on this machine is fetched.
        Raises ModelError where there is no model, or vectors cannot be stored.
        """
        if self.database.vectors_missing:
            raise ModelError(self.database.vectors_missing)
        for model in (self.embedder, self.reranker):
            if isinstance(model, Fetching):
                model.fetch()
        connection = self.database.connection
        with self.database.write():
            table = dense.make_table(connection, self.embedder)
            dense.remove_orphans(connection, table)
        total, done = dense.count_without_vector(connection, table), 0
        while batch := dense.without_vector(connection, table, EMBED_BATCH):
            vectors = unit(self.embedder.embed_passages([text for _, _, text in batch]))
            if vectors.shape != (len(batch), self.embedder.dimension):
                raise ModelError(
                    f"{self.embedder.name} returned vectors of shape {vectors.shape}, expected "
                    f"{(len(batch), self.embedder.dimension)}; mend its embed_passages or its dimension"
                )
            with self.database.write():
                dense.put_vectors(
                    connection, table, [(passage, repository) for passage, repository, _ in batch], vectors
                )
            done += len(batch)
            if progress:
                progress(done, max(total, done))
        return done

    def search(
        self,
        text: str,
        scope: Scope | None = None,
        limit: int = 5,
        mode: Mode = "hybrid",
        snippet_limit: int = SNIPPET_LIMIT,
        per_session: int | None = PER_SESSION,
    ) -> SearchResult:
        """The places in earlier sessions that answer `text`, best first; any text that is not blank is valid.

        scope: None is the repository of the current directory. per_session: hits of one session, as long as others
        have something to show; None shows every message for itself, also near duplicates. Raises UsageError for an
        empty text, a limit below 1, an unknown mode; ModelError only where mode is "dense" and vectors cannot be
        searched.
        """
        query = Query(text, scope or Scope.here(), limit, mode, snippet_limit, per_session)
        with self.database.read():
            return search(self.database, self.embedder, query, redact_with(self._fingerprint_key()), self.reranker)

    def recent(self, scope: Scope | None = None, limit: int = 10) -> list[SessionSummary]:
        """The latest sessions of the scope (None: the repository of the current directory), newest first."""
        if limit < 1:
            raise UsageError(f"limit is {limit}; expected 1 or more")
        scope = scope or Scope.here()
        with self.database.read() as connection:
            where = scope_sql(connection, scope)
            return sessions.latest(connection, where, limit) if where is not None else []

    def show(self, ref: str, before: int = 3, after: int = 3) -> list[ShownMessage]:
        """The message at `ref` and its neighbours, in order. Raises UsageError, NotFoundError."""
        with self.database.read() as connection:
            return sessions.window(connection, ref, before, after)

    def counts(self) -> dict[str, int]:
        """Numbers of sessions, messages, passages, transcripts, and of passages that lack a vector."""
        connection = self.database.connection
        names = ("sessions", "messages", "passages", "transcripts")
        counts = {name: int(self.database.value(f"select count(*) from {name}")) for name in names}
        counts["without_vector"] = dense.count_without_vector(connection, dense.table_of(connection, self.embedder))
        return counts

    def problems(self) -> list[str]:
        """Why transcripts were not taken in, one sentence each."""
        return ledger.problems(self.database.connection)

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder of this index."""
        return choose(self._choice, models_directory(self.home) if self.home else None)

    @cached_property
    def reranker(self) -> Reranker | None:
        """The reranker of this index, if it has one."""
        return choose_reranker(self._reranker_choice, models_directory(self.home) if self.home else None, self.embedder)

    def _intake(self) -> Intake:
        return Intake(self._measure, redact_with(self._fingerprint_key(make=True)), self._excluded)

    def _measure(self) -> Measure:
        embedder: Any = self.embedder
        if isinstance(embedder, Tokenizing):
            # A model that is not on this machine must not keep a session from being taken in.
            with contextlib.suppress(ModelError):
                embedder.token_spans("")
                return embedder.token_spans, embedder.max_tokens
        return _bundled_spans(), DEFAULT_MAX_TOKENS

    def _fingerprint_key(self, make: bool = False) -> bytes:
        """The key under which labels tell one secret from another; empty where there is none yet and none is made."""
        if not self._key:
            self._key = read_key(self.home)
        if not self._key and make:
            with self.database.write():  # of several processes one makes it
                self._key = make_key(self.home)
        return self._key


def open_index(
    path: str | Path | None = None,
    embedder: EmbedderChoice = None,
    reranker: RerankerChoice = None,
    exclude: Sequence[str | Path] = (),
) -> Index:
    """Open the index in the folder `path`, made if need be.

    path: None is RECALL_HOME, else the platform's user data folder; ":memory:" keeps everything in memory.
    embedder: None is the bundled model; the name of a fastembed model; a folder with an ONNX model; or any object with
    name, dimension, embed_passages and embed_query.
    reranker: None is none; "minilm" looks at the best passages again with the bundled model, which makes a search
    slower; the name of a fastembed cross-encoder; or any object with name and score.
    exclude: directories whose sessions are never taken in, with all below them; `*` stands for any characters.
    """
    if path == ":memory:":
        return Index(None, embedder, reranker, exclude)
    return Index(Path(path).expanduser() if path is not None else home_directory(), embedder, reranker, exclude)


def _absolute(path: str | Path) -> Path:
    """One spelling of a path, so that a file named in two ways is one transcript."""
    if not str(path).strip():
        raise UsageError("a path is empty; expected a transcript, or a folder that holds some")
    return Path(path).expanduser().resolve()


@cache
def _bundled_spans() -> Callable[[str], Sequence[tuple[int, int]]]:
    from recall.minilm import MiniLM

    return MiniLM().token_spans
