"""What is to be forgotten: a session, a repository, or what holds a text; nothing is changed here."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from recall import archive, ledger, moves, sessions
from recall.database import Row
from recall.errors import NotFoundError, UsageError
from recall.marks import Said
from recall.redacting import Redact
from recall.rendering import shown
from recall.scope import Scope
from recall.types import ForgetReport

EXAMPLES, EXAMPLE_LENGTH = 3, 100
"""Pieces that are shown of what would go, and characters of one."""

_FINGERPRINTED = "#"


@dataclass(slots=True)
class Chosen:
    """What is to be forgotten."""

    sessions: list[int] = field(default_factory=list)
    """Row ids of sessions that go as a whole."""
    messages: list[int] = field(default_factory=list)
    """Row ids of single messages of other sessions."""
    by_text: bool = False
    """Whether the single messages were chosen for their text, and go wherever it stands."""
    names: list[str] = field(default_factory=list)
    """Sessions to be remembered as forgotten that may not be here."""
    seen: list[Said] = field(default_factory=list)
    """The messages of `names` as their transcript has them, where they were never stored."""
    repositories: list[int] = field(default_factory=list)
    """Row ids of repositories that go once nothing is left in them."""
    fields: list[str] = field(default_factory=list)
    """Titles, previews, branches and remotes to be blanked wherever they stand."""
    kept_paths: list[str] = field(default_factory=list)
    """Paths that hold the text and stay."""


Choose = Callable[[apsw.Connection], Chosen]
"""Finds what is to be forgotten, inside a transaction."""


def chooser(session: str | None, repository: str | Path | None, match: str | None, redact: Redact) -> Choose:
    """How to find what is named by one of the first three. Raises UsageError for none and for more than one."""
    if (session is not None) + (repository is not None) + (match is not None) != 1:
        raise UsageError("tell by one of session, repository and match what to forget")
    if session is not None:
        return lambda connection: the_session(connection, session)
    if repository is not None:
        scope = Scope.repository(repository)
        return lambda connection: the_repository(connection, scope)
    return lambda connection: the_text(connection, match or "", redact)


def the_session(connection: apsw.Connection, name: str) -> Chosen:
    """The session of that name, or of the only name that begins so, with its subagents. Raises NotFoundError."""
    try:
        _, whole = sessions.named(connection, name)
    except NotFoundError:
        if not archive.is_forgotten(connection, name):
            raise
        whole = name
    return Chosen(session_and_subagents(connection, whole), names=[whole])


def session_and_subagents(connection: apsw.Connection, name: str) -> list[int]:
    """Row ids of the session of that name and of those that its agents started."""
    return [int(row[0]) for row in connection.execute(_WITH_SUBAGENTS, (name,))]


def the_repository(connection: apsw.Connection, scope: Scope) -> Chosen:
    """All sessions of the repository as they are now, and what others said in it."""
    places = moves.covered(connection, scope.place, whole_repository=True)
    repositories = sorted({repository for repository, _ in places})
    listed = (json.dumps(repositories),)
    names = [str(row[0]) for row in connection.execute(_NAMES_IN, listed).fetchall()]
    whole = {id for name in names for id in session_and_subagents(connection, name)}
    rows = connection.execute(_MESSAGES_IN, listed)
    messages = [int(id) for id, session_id in rows if session_id not in whole]
    return Chosen(sorted(whole), messages, repositories=repositories)


def the_text(connection: apsw.Connection, text: str, redact: Redact) -> Chosen:
    """All messages that hold a text: in what they say, or in the names of tools and files they tell.

    Titles, previews, branches, remotes and what repositories are known by are blanked where they hold it. Upper and
    lower case, width and white space make no difference. A secret finds where it was masked. Raises UsageError for a
    text without a character.
    """
    wanted = _Wanted(text, redact)
    chosen = Chosen(by_text=True)
    fields: set[str] = set()
    for id, *texts, branch in connection.execute(_TEXTS):
        fields.add(branch)
        if any(wanted.is_in(one) for one in texts):
            chosen.messages.append(int(id))
    for row in connection.execute("select title, preview, branch, remote from sessions"):
        fields.update(row)
    fields.update(ledger.noted(connection))
    fields.update(str(sign) for (sign,) in connection.execute("select sign from signs"))
    chosen.fields = sorted(one for one in fields if wanted.is_in(one))
    chosen.kept_paths = [str(path) for (path,) in connection.execute(_PATHS) if wanted.is_in(str(path))]
    return chosen


def preview(connection: apsw.Connection, chosen: Chosen, text: str = "") -> ForgetReport:
    """What would go. text: what the messages were chosen for."""
    listed = (json.dumps(chosen.sessions), json.dumps(chosen.messages))
    row = connection.execute(_COUNT, listed).fetchone()
    examples = [*_titles(connection, chosen.sessions), *_pieces(connection, chosen.messages, text)][:EXAMPLES]
    return ForgetReport(
        len(chosen.sessions),
        int(row[0]) if row else 0,
        examples=tuple(examples),
        kept_paths=tuple(shown(path) for path in chosen.kept_paths),
        names=len(chosen.fields),
    )


class _Wanted:
    """A text that is looked for."""

    def __init__(self, text: str, redact: Redact) -> None:
        self._forms = [folded(text)]
        redacted = redact(text)
        # Only a mark with a fingerprint stands for this secret and no other.
        if redacted.findings and redacted.text.count("[REDACTED:") == redacted.text.count(_FINGERPRINTED) > 0:
            self._forms.append(folded(redacted.text))
        if not self._forms[0]:
            raise UsageError("the text to forget is empty; give some words of it")
        self._words = [max(form.split(), key=len) for form in self._forms]

    def is_in(self, text: str) -> bool:
        """Whether `text` holds it."""
        if not text:
            return False
        plain = (text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()
        # Most texts lack its longest word, and to find that out costs a tenth of folding their white space.
        likely = (form for form, word in zip(self._forms, self._words, strict=True) if word in plain)
        return any(form in " ".join(plain.split()) for form in likely)


def folded(text: str) -> str:
    """The text as it is compared: without case, compatibility forms and differences in white space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _titles(connection: apsw.Connection, session_ids: Sequence[int]) -> Iterator[str]:
    found = sessions.summaries(connection, session_ids[-EXAMPLES:])
    for summary in found.values():
        yield summary.title or summary.id


def _pieces(connection: apsw.Connection, message_ids: Sequence[int], text: str) -> Iterator[str]:
    rows: Iterable[Row] = connection.execute(_PIECES, (json.dumps(list(message_ids[-EXAMPLES:])),))
    for said, rules in rows:
        # Masked before it is cut: half a secret is none that a rule knows.
        whole = " ".join(shown(str(said), int(rules)).split())
        place = max(0, whole.casefold().find(text.casefold()) - EXAMPLE_LENGTH // 2) if text else 0
        piece = whole[place : place + EXAMPLE_LENGTH]
        yield f"{'…' if place else ''}{piece}{'…' if place + EXAMPLE_LENGTH < len(whole) else ''}"


_WITH_SUBAGENTS = """
with recursive gone (id, name) as (
  select id, name from sessions where name = ?1 or (parent = ?1 and parent <> '')
  union select s.id, s.name from sessions s join gone on s.parent = gone.name
)
select id from gone
"""
_NAMES_IN = """
select s.name from sessions s join worktrees w on w.id = s.worktree_id
where w.repository_id in (select value from json_each(?))
"""
_MESSAGES_IN = """
select m.id, m.session_id from messages m join worktrees w on w.id = m.worktree_id
where w.repository_id in (select value from json_each(?)) and m.copied_from is null
"""
_TEXTS = "select id, text, tool, files, branch from messages"
_PATHS = """
select path from repositories union select path from worktrees union select path from transcripts order by 1
"""
_COUNT = """
select count(*) from messages where copied_from is null
  and (session_id in (select value from json_each(?)) or id in (select value from json_each(?)))
"""
_PIECES = """
select m.text, s.rules_version from messages m join sessions s on s.id = m.session_id
where m.id in (select value from json_each(?)) order by m.id
"""
