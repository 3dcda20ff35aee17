"""`recall search`, `recall recent` and `recall show`: what was said, from the archive to the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from recall.cli import streams
from recall.cli.options import (
    BUDGET_CHARACTERS,
    Agent,
    AsJson,
    Branch,
    Budget,
    Everywhere,
    File,
    Limit,
    NoSync,
    Repo,
    RoleName,
    Since,
    Subagents,
    Until,
    Worktree,
    scope_of,
)
from recall.grouping import PER_SESSION
from recall.types import Mode

if TYPE_CHECKING:
    from recall.index import Index
    from recall.scope import Scope

SYNC_BUDGET_SECONDS = 0.3
"""What a search spends on taking in new sessions first."""

MANY = 999
"""Stands for the number left out while a result is being fitted into its budget."""


def search(
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="A question or a few words, in any language.")],
    worktree: Worktree = False,
    repo: Repo = None,
    everywhere: Everywhere = False,
    limit: Limit = 5,
    per_session: Annotated[
        int, typer.Option("--per-session", min=1, metavar="N", help="How many of one session at most.")
    ] = PER_SESSION,
    mode: Annotated[Mode, typer.Option("--mode", help="By words and meaning, or by one of them.")] = "hybrid",
    agent: Agent = None,
    role: RoleName = None,
    since: Since = None,
    until: Until = None,
    branch: Branch = None,
    file: File = None,
    subagents: Subagents = False,
    budget_chars: Budget = BUDGET_CHARACTERS,
    explain: Annotated[bool, typer.Option("--explain", help="Show the evidence for each place.")] = False,
    no_sync: NoSync = False,
    as_json: AsJson = False,
) -> None:
    """Find the places in earlier sessions that answer QUERY."""
    from recall.cli import render
    from recall.cli.budget import fit_hits
    from recall.cli.settings import open_configured
    from recall.home import home_directory

    text = " ".join(query)
    scope = scope_of(worktree, repo, everywhere, agent, role, since, until, branch, file, subagents)
    with open_configured(home_directory()) as index:
        if not no_sync:
            _sync(index)
        result = index.search(text, scope, limit, mode, per_session=per_session)
        framed = not streams.is_for_a_person()
        if as_json:
            fitted = fit_hits(
                result.hits, budget_chars, lambda hits: _size(render.search_json(result, hits, True, MANY))
            )
            streams.print_json(render.search_json(result, fitted.items, fitted.truncated, fitted.omitted))
        else:
            fitted = fit_hits(
                result.hits, budget_chars, lambda hits: len(render.search_text(result, hits, MANY, explain, framed))
            )
            streams.print_text(render.search_text(result, fitted.items, fitted.omitted, explain, framed))
        for note in ([result.degraded] if result.degraded else []) + list(result.notes):
            streams.complain(note)
        if fitted.truncated:
            _say_cut(budget_chars)
        if not result.hits:
            _say_why_nothing(index, scope)


def recent(
    worktree: Worktree = False,
    repo: Repo = None,
    everywhere: Everywhere = False,
    limit: Limit = 10,
    agent: Agent = None,
    since: Since = None,
    until: Until = None,
    branch: Branch = None,
    file: File = None,
    budget_chars: Budget = BUDGET_CHARACTERS,
    no_sync: NoSync = False,
    as_json: AsJson = False,
) -> None:
    """List the latest sessions, newest first."""
    from recall.cli import render
    from recall.cli.budget import fit_sessions
    from recall.cli.settings import open_configured
    from recall.home import home_directory

    scope = scope_of(worktree, repo, everywhere, agent, None, since, until, branch, file, False)
    with open_configured(home_directory()) as index:
        if not no_sync:
            _sync(index)
        sessions = index.recent(scope, limit)
        if not sessions:
            _say_why_nothing(index, scope)
    if as_json:
        fitted = fit_sessions(sessions, budget_chars, lambda some: _size(render.recent_json(some, True, MANY)))
        streams.print_json(render.recent_json(fitted.items, fitted.truncated, fitted.omitted))
        return
    framed = not streams.is_for_a_person()
    fitted = fit_sessions(
        sessions, budget_chars, lambda some: len(render.recent_text(some, scope.describe(), framed, MANY))
    )
    if fitted.truncated:
        _say_cut(budget_chars)
    streams.print_text(render.recent_text(fitted.items, scope.describe(), framed, fitted.omitted))


def show(
    ref: Annotated[str, typer.Argument(metavar="REF", help="<session id>:<message number>, as search prints it.")],
    before: Annotated[int, typer.Option("--before", min=0, metavar="N", help="Messages before it.")] = 3,
    after: Annotated[int, typer.Option("--after", min=0, metavar="N", help="Messages after it.")] = 3,
    budget_chars: Budget = BUDGET_CHARACTERS,
    as_json: AsJson = False,
) -> None:
    """Show a message and its neighbours."""
    from recall.cli import render
    from recall.cli.budget import fit_messages
    from recall.cli.settings import open_configured
    from recall.home import home_directory

    with open_configured(home_directory()) as index:
        messages = index.show(ref, before, after)
    number = int(ref.rpartition(":")[2])
    if as_json:
        fitted = fit_messages(messages, number, budget_chars, lambda some: _size(render.show_json(some, True, MANY)))
        streams.print_json(render.show_json(fitted.items, fitted.truncated, fitted.omitted))
        return
    framed = not streams.is_for_a_person()
    fitted = fit_messages(messages, number, budget_chars, lambda some: len(render.show_text(some, ref, framed, MANY)))
    streams.print_text(render.show_text(fitted.items, ref, framed, fitted.omitted))
    if fitted.truncated:
        _say_cut(budget_chars)


def _size(document: object) -> int:
    return len(streams.json_text(document))


def _sync(index: Index) -> None:
    """Take in what is new within the time bound. A search does not fail because this does."""
    from recall.errors import LockedError, RecallError

    if index.database.is_read_only:
        streams.complain(f"{index.database.path} can only be read: new sessions are not taken in")
        return
    try:
        report = index.ingest(budget_seconds=SYNC_BUDGET_SECONDS)
    except LockedError:
        streams.complain("another process is storing sessions; what it has not stored yet is not searched")
        return
    except RecallError as error:
        streams.complain(f"new sessions could not be taken in: {error}")
        return
    if report.left:
        streams.complain(f'{report.left} transcripts were not looked at in time; take them in with "recall ingest"')


def _say_why_nothing(index: Index, scope: Scope) -> None:
    """What to change where nothing was found, a line each."""
    from recall.scope import Scope

    if offered := index.offer_relink(scope):
        streams.complain(offered)
    whole = Scope(kind=scope.kind, place=scope.place)
    if index.recent(whole, limit=1):
        if scope != whole:
            streams.complain("there are sessions here, but nothing like that under these options; leave some out")
    elif scope.kind == "everywhere":
        streams.complain("no session has been taken in yet; do so with: recall ingest")
    else:
        streams.complain("no sessions for this directory; search all repositories with --all")


def _say_cut(budget: int) -> None:
    streams.complain(f"cut to stay within {budget} characters; see --budget-chars")
