"""A query, from its text to the hits: terms and vector, candidates inside the scope, fusion, grouping, snippets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import apsw

from recall import lexical, sessions
from recall.archive import moment, stored_place
from recall.concepts import concepts, terms_of, wording
from recall.database import Database, Row
from recall.embedding import Embedder, calibrated_share, readable_share
from recall.errors import ModelError, UsageError
from recall.fusion import Ranked, confidence_of
from recall.grouping import PER_SESSION, Candidate, Group, group
from recall.passages import answers_to
from recall.postings import read_postings, search_lexical
from recall.ranking import Nearest, Ranking, UnreadableError, nearest_to, rank
from recall.redacting import Redact
from recall.rendering import safe_text, shown, shown_part
from recall.reranking import Reranker, rerank
from recall.scope import Scope
from recall.scope_sql import scope_sql
from recall.snippets import SNIPPET_LIMIT, SNIPPET_SHORTEST, cut_snippet
from recall.transcripts.text import clean
from recall.types import MODES, Confidence, Hit, Mode, Role, SearchResult, Source
from scanning import RULES_VERSION

DEPTH = 200
"""Candidates that each retriever returns before fusion."""

LIMIT_MAX = 100
CONFIDENCE_HITS = 3


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked, where, and how."""

    text: str
    scope: Scope
    limit: int = 5
    mode: Mode = "hybrid"
    snippet_limit: int = SNIPPET_LIMIT
    per_session: int | None = PER_SESSION

    def __post_init__(self) -> None:
        """Raises UsageError for an empty text, a limit below 1 or an unknown mode."""
        if not self.text.strip():
            raise UsageError("the query is empty; expected a question or a few words")
        for name, number in (("limit", self.limit), ("per_session", self.per_session)):
            if number is not None and number < 1:
                raise UsageError(f"{name} is {number}; expected 1 or more")
        if self.snippet_limit < SNIPPET_SHORTEST:
            raise UsageError(f"snippet_limit is {self.snippet_limit}; expected {SNIPPET_SHORTEST} or more")
        if self.mode not in MODES:
            raise UsageError(f'mode is "{self.mode}"; expected one of {", ".join(MODES)}')


def search(
    database: Database, embedder: Embedder, query: Query, redact: Redact, reranker: Reranker | None = None
) -> SearchResult:
    """The hits for a query, best first. The scope is never widened; no model or extension is no error."""
    connection = database.connection
    notes: list[str] = []
    limit = min(query.limit, LIMIT_MAX)
    if limit < query.limit:
        notes.append(f"limit lowered from {query.limit} to {LIMIT_MAX}")
    text = redact(clean(query.text)).text
    mode: Mode = query.mode
    degraded: str | None = None
    where = scope_sql(connection, query.scope)
    if query.scope.place.superproject:
        notes.append(f"this is a submodule of {query.scope.place.superproject}, a repository of its own")
    asked = wording([], {})
    ranking = Ranking()
    readable = readable_share(embedder, text)
    if where is not None:
        nearest: Nearest | None = None
        # A model that can read nothing of the query has no say in it, and need not be loaded.
        if query.mode == "dense" or (query.mode == "hybrid" and readable > 0):
            try:
                nearest = nearest_to(database, embedder, text, where, DEPTH)
                notes += nearest.notes
            except ModelError as error:
                if query.mode == "dense" and not isinstance(error, UnreadableError):
                    raise
                mode, degraded = ("lexical" if query.mode == "hybrid" else query.mode), str(error)
        found = concepts(text)
        asked = wording(found, lexical.term_weights(connection, terms_of(found)))
        by_words = query.mode != "dense"
        idf = list(asked.weights.values())
        postings = read_postings(connection, list(asked.weights) if by_words else [], where.repository_ids)
        matching = search_lexical(connection, postings, idf, where, DEPTH)
        answers = answers_to(connection, matching, where) if by_words else []
        ranking = rank(connection, asked, postings, matching, answers, nearest, readable, by_words)
    if reranker is not None:
        try:
            ranking = replace(
                ranking, ranked=rerank(reranker, text, ranking.ranked, partial(_text, connection), ranking.nats)
            )
        except ModelError as error:
            notes.append(f"not reranked: {error}")
    groups = group(_candidates(connection, ranking.ranked), limit, query.per_session)
    scores = {ranked.passage_id: ranked for ranked in ranking.ranked}
    return SearchResult(
        query=text,
        scope=replace(query.scope, place=stored_place(query.scope.place)).describe(),
        mode=mode,
        degraded=degraded,
        confidence=_confidence(groups, ranking, calibrated_share(embedder, text)),
        hits=tuple(_hits(connection, groups, scores, asked.weights, query.snippet_limit)),
        notes=tuple(notes),
    )


def _candidates(connection: apsw.Connection, ranking: Sequence[Ranked]) -> Iterator[Candidate]:
    """One by one: most searches need the first few only."""
    for ranked in ranking:
        row: Row | None = connection.execute(_CANDIDATE, (ranked.passage_id,)).fetchone()
        if row:
            yield Candidate(ranked.passage_id, row[0], row[1], row[2])


def _text(connection: apsw.Connection, passage_id: int) -> str:
    row = connection.execute(_CANDIDATE, (passage_id,)).fetchone()
    return str(row[2]) if row else ""


def _confidence(groups: Sequence[Group], ranking: Ranking, calibrated: float) -> Confidence:
    best = [shown.candidate.passage_id for shown in groups[:CONFIDENCE_HITS]]
    words = max((ranking.words.get(passage, 0.0) for passage in best), default=0.0)
    cosine = max((ranking.cosines.get(passage, 0.0) for passage in best), default=0.0)
    return confidence_of(words, cosine, calibrated if ranking.cosines else 0.0) if groups else "none"


def _hits(
    connection: apsw.Connection,
    groups: Sequence[Group],
    scores: Mapping[int, Ranked],
    weights: Mapping[str, float],
    snippet_limit: int,
) -> list[Hit]:
    summaries = sessions.summaries(connection, [one.candidate.session_id for one in groups])
    hits = []
    for one in groups:
        row = connection.execute(_PLACE_OF_MESSAGE, (one.candidate.message_id,)).fetchone()
        assert row is not None
        number, role, tool, said_at, path, line, rules = row
        session = summaries[one.candidate.session_id]
        ranked = scores[one.candidate.passage_id]
        hits.append(
            Hit(
                ref=f"{session.id}:{number}",
                session=session,
                role=_role(role),
                tool=shown(str(tool), rules),
                timestamp=moment(said_at),
                source=Source(shown(str(path or ""), rules), int(line)),
                score=round(ranked.score, 4),
                evidence=ranked.evidence,
                snippet=cut_snippet(_shown_passage(connection, one.candidate, rules), weights, snippet_limit),
                similar=one.similar,
            )
        )
    return hits


def _shown_passage(connection: apsw.Connection, candidate: Candidate, rules_version: int) -> str:
    if rules_version >= RULES_VERSION:
        return safe_text(candidate.text)
    row: Row | None = connection.execute(_WHOLE_MESSAGE, (candidate.passage_id,)).fetchone()
    if row is None:
        return ""
    text, start, end = row
    return shown_part(text, start, end, rules_version)


def _role(role: object) -> Role:
    return "user" if role == "user" else "assistant" if role == "assistant" else "tool"


_CANDIDATE = """
select p.message_id, p.session_id, substr(m.text, p.start_at + 1, p.end_at - p.start_at)
from passages p join messages m on m.id = p.message_id where p.id = ?
"""
_WHOLE_MESSAGE = """
select m.text, p.start_at, p.end_at from passages p join messages m on m.id = p.message_id where p.id = ?
"""
_PLACE_OF_MESSAGE = """
select m.number, m.role, m.tool, m.said_at, t.path, m.line, s.rules_version
from messages m join sessions s on s.id = m.session_id left join transcripts t on t.id = m.transcript_id where m.id = ?
"""
