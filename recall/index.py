"""Index: the one orchestrator. Each method is a walk in one direction through the other modules."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from recall import embedded, forgetting, forgotten, ledger, repair, sessions
from recall.adding import add_session
from recall.ahead import Settings
from recall.choosing import Choose, chooser, preview
from recall.database import Database
from recall.embedding import DEFAULT_MAX_TOKENS, Embedder, EmbedderChoice, Fetching, Tokenizing, choose
from recall.errors import DamagedError, ModelError, UsageError
from recall.faults import BUSY_TIMEOUT_MS, FAULTS, database_error
from recall.grouping import PER_SESSION
from recall.home import models_directory
from recall.ingest import Progress, ingest_files, put_titles
from recall.intake import Intake, Measure
from recall.locks import embedding_alone
from recall.marks import Marks
from recall.moves import offer
from recall.privacy import NOT_KEPT, Excluded
from recall.redacting import make_key, read_key, redact_with
from recall.relink import RelinkReport, relink, undo_relink
from recall.reranking import Reranker, RerankerChoice, choose_reranker
from recall.rescan import RescanReport, rescan
from recall.retention import KEEP_ALL, Retention, remove_old
from recall.scope import Scope
from recall.scope_sql import scope_sql
from recall.snippets import SNIPPET_LIMIT
from recall.transcripts.discover import agent_folders, find_transcripts
from recall.transcripts.titles import read_titles, title_lists
from recall.types import (
    AddReport,
    FileReport,
    ForgetReport,
    IngestReport,
    Mode,
    SearchResult,
    Session,
    SessionSummary,
    ShownMessage,
)

if TYPE_CHECKING:
    from recall.search import Query

HURRIED_TIMEOUT_MS = 100
"""How long an ingest with a budget waits for the lock of another process, which is taking sessions in itself."""

Answer = TypeVar("Answer")


class Index:
    """An archive of sessions that can be searched. A context manager; not to be shared between threads."""

    def __init__(
        self,
        home: Path | None,
        embedder: EmbedderChoice,
        reranker: RerankerChoice = None,
        exclude: Sequence[str | Path] = (),
        retention: Retention = KEEP_ALL,
    ) -> None:
        """home: folder of the database; None keeps it in memory. Raises DatabaseError, ModelError."""
        self.home = home
        self._exclude = exclude
        self._retention = retention
        self._excluded = Excluded.of(exclude)
        self._key = b""
        self._choice = embedder
        self._reranker_choice = reranker
        self.database = Database(home / "recall.db" if home else None)
        self.repaired: list[str] = repair.greeting(self.database)
        """What of the index was found damaged and has been made again, one sentence each."""
        self._is_counted = home is None
        if home is not None:
            try:
                self._mend()
            except BaseException:
                self.close()
                raise

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
        not fit into it is left for the next call, newest first, and another process's lock is waited for shortly;
        without one, other processes of this Python help to read where more than 16 MB are new. Raises UsageError for a
        path that does not exist.
        """
        with self.database.patience(BUSY_TIMEOUT_MS if budget_seconds is None else HURRIED_TIMEOUT_MS):
            return self._answered(lambda: self._ingest(paths, progress, budget_seconds))

    def _ingest(
        self,
        paths: str | Path | Iterable[str | Path] | None,
        progress: Progress | None,
        budget_seconds: float | None,
    ) -> IngestReport:
        if isinstance(paths, str | Path):
            paths = [paths]
        roots = agent_folders() if paths is None else [_absolute(path) for path in paths]
        for root in roots:
            if not root.exists():
                raise UsageError(f"{root} does not exist; expected a transcript, or a folder that holds some")
        forgetting.complete(self.database, budget_seconds)
        intake = self._intake()
        began = monotonic()
        transcripts = list(find_transcripts(roots))
        rest = None if budget_seconds is None else budget_seconds - (monotonic() - began)
        old = [path for path in transcripts if self._retention.is_too_old(path)]
        transcripts = [path for path in transcripts if path not in set(old)] if old else transcripts
        reports, left = ingest_files(self.database, intake, transcripts, progress, rest, self._settings())
        reports += [FileReport(str(path), "excluded", f"{path}: {NOT_KEPT}") for path in old]
        for path in title_lists(transcripts):
            put_titles(self.database, intake, read_titles(path))
        removed = remove_old(self.database, self._retention) if self._retention and budget_seconds is None else 0
        return IngestReport(tuple(reports), dict(intake.redactions), left, removed)

    def rescan(self, progress: Progress | None = None, budget_seconds: float | None = None) -> RescanReport:
        """Scan again what older rules have scanned, and mask what they missed; `embed` then brings the lost vectors."""
        return self._answered(lambda: rescan(self.database, self._intake(), progress, budget_seconds))

    def add(self, session: Session) -> AddReport:
        """Take in a session built in memory. Messages that it holds already are not added again."""
        return self._answered(lambda: add_session(self.database, self._intake, session))

    def embed(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Compute the vectors that are missing; their number. Can be stopped at any time and goes on where it was.

        progress: called with (passages done, passages in all). A model that is not on this machine is fetched. Once
        none is missing, the vectors of other embedders are removed. Raises BusyError at once where another process
        is embedding into this home, ModelError where there is no model, or vectors cannot be stored.
        """
        from recall.embedding_run import embed_missing

        if self.database.vectors_missing:
            raise ModelError(self.database.vectors_missing)
        with embedding_alone(self.home):
            for model in (self.embedder, self.reranker):
                if isinstance(model, Fetching):
                    model.fetch()
            return embed_missing(self.database, self.embedder, progress)

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
        from recall.search import Query  # not at the top, as numpy comes with it: nothing but a search needs it

        query = Query(text, scope or Scope.here(), limit, mode, snippet_limit, per_session)
        known = len(self.repaired)
        result = self._answered(lambda: self._search(query))
        # What is not found may be there: an index that lost a part of itself says nothing.
        if not result.hits and not self._is_counted and self._mend(counted=True):
            result = self._search(query)
        return replace(result, notes=(*self.repaired[known:], *result.notes))

    def recent(self, scope: Scope | None = None, limit: int = 10) -> list[SessionSummary]:
        """The latest sessions of the scope (None: the repository of the current directory), newest first."""
        if limit < 1:
            raise UsageError(f"limit is {limit}; expected 1 or more")
        scope = scope or Scope.here()
        with self.database.read() as connection:
            where = scope_sql(connection, scope)
            return sessions.latest(connection, where, limit) if where is not None else []

    def relink(self, old: str | Path, new: str | Path, even_existing: bool = False) -> RelinkReport:
        """From now on what ran in `old`, or below, belongs to the repository at `new`, also what is taken in later.

        Nothing is moved: `undo_relink` takes it back. even_existing: also where `old` is a repository that exists.
        Raises UsageError; NotFoundError where no session ran there.
        """
        return relink(self.database, str(old), str(new), even_existing)

    def undo_relink(self, old: str | Path) -> RelinkReport:
        """Take back what `relink` was told of `old`. Raises NotFoundError where it was told nothing."""
        return undo_relink(self.database, str(old))

    def offer_relink(self, scope: Scope) -> str:
        """A line that offers a relink where a repository that is gone may be the one of the scope; else empty."""
        with self.database.read() as connection:
            return offer(connection, scope.place) if scope.kind != "everywhere" else ""

    def show(self, ref: str, before: int = 3, after: int = 3) -> list[ShownMessage]:
        """The message at `ref` and its neighbours, in order. Raises UsageError, NotFoundError."""
        with self.database.read() as connection:
            return sessions.window(connection, ref, before, after)

    def forget(
        self, *, session: str | None = None, repository: str | Path | None = None, match: str | None = None
    ) -> ForgetReport:
        """Forget a session, all that was said in a repository, or what holds a text; it is not taken in again.

        session: a session's id, or a beginning that no other has; what is said in it later is left out too.
        repository: a directory in it; sessions that begin there later are taken in. match: in any repository, messages
        that hold the text; upper and lower case, width and white space make no difference. Raises UsageError unless
        one of them is given, NotFoundError for an unknown session.
        """
        chosen = self._chooser(session, repository, match)
        return self._answered(lambda: forgetting.forget(self.database, self._marks(), chosen))

    def would_forget(
        self, *, session: str | None = None, repository: str | Path | None = None, match: str | None = None
    ) -> ForgetReport:
        """What `forget` would do at least; changes nothing."""
        choose = self._chooser(session, repository, match)
        with self.database.read() as connection:
            return preview(connection, choose(connection), match or "")

    def _search(self, query: Query) -> SearchResult:
        from recall.search import search

        with self.database.read():
            return search(self.database, self.embedder, query, redact_with(self._fingerprint_key()), self.reranker)

    def _answered(self, ask: Callable[[], Answer]) -> Answer:
        """The answer; asked for once more where a damaged index had to be made again first."""
        try:
            return ask()
        except (DamagedError, *FAULTS) as error:
            ours = error if isinstance(error, DamagedError) else database_error(error, self.database.path)
            if not isinstance(ours, DamagedError) or not self._mend(counted=True):
                raise ours from error
            return ask()

    def mend(self) -> None:
        """Look through all of the index, and make again what is damaged: `repaired` then says what.

        Every call does so where it meets damage. Raises DamagedError where what was said is damaged too.
        """
        self._mend(counted=True)

    def _mend(self, counted: bool = False) -> bool:
        said = repair.mend(self.database, self._intake, counted)
        self.repaired += said
        self._is_counted |= counted
        return bool(said)

    def counts(self) -> dict[str, int]:
        """Numbers of sessions, messages, passages, transcripts, and of passages that lack a vector."""
        connection = self.database.connection
        names = ("sessions", "messages", "passages", "transcripts")
        counts = {name: int(self.database.value(f"select count(*) from {name}")) for name in names}
        table: str | None = None
        with contextlib.suppress(ModelError):  # nobody knows the model, so nothing has a vector of it
            table = embedded.table_of(connection, self.embedder)
        counts["without_vector"] = embedded.count_without_vector(connection, table)
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

    def _chooser(self, session: str | None, repository: str | Path | None, match: str | None) -> Choose:
        return chooser(session, repository, match, redact_with(self._fingerprint_key()))

    def _marks(self) -> Marks:
        return Marks(self._fingerprint_key(make=True))

    def _intake(self) -> Intake:
        forgotten.restore(self.database)
        return Intake(self._measure, redact_with(self._fingerprint_key(make=True)), self._excluded, self._marks())

    def _measure(self) -> Measure:
        embedder: Any = self.embedder
        if isinstance(embedder, Tokenizing):
            # A model that is not on this machine must not keep a session from being taken in.
            with contextlib.suppress(ModelError):
                embedder.token_spans("")
                return embedder.token_spans, embedder.max_tokens
        return _bundled_spans(), DEFAULT_MAX_TOKENS

    def _settings(self) -> Settings | None:
        """What a worker needs to read for this index; None where another process cannot have the same."""
        if self.home is None or not isinstance(self._choice, str | Path | None):
            return None
        embedder = str(self._choice) if self._choice else None
        return Settings(str(self.home.absolute()), embedder, tuple(map(str, self._exclude)))

    def _fingerprint_key(self, make: bool = False) -> bytes:
        """The key under which labels tell one secret from another; empty where there is none yet and none is made."""
        if not self._key:
            self._key = read_key(self.home)
        if not self._key and make:
            with self.database.write():  # of several processes one makes it
                self._key = make_key(self.home)
        return self._key


def _absolute(path: str | Path) -> Path:
    """One spelling of a path, so that a file named in two ways is one transcript."""
    if not str(path).strip():
        raise UsageError("a path is empty; expected a transcript, or a folder that holds some")
    return Path(path).expanduser().resolve()


@cache
def _bundled_spans() -> Callable[[str], Sequence[tuple[int, int]]]:
    from recall.minilm import MiniLM

    return MiniLM().token_spans
