"""Options that several commands share, and the scope that they make together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from recall.types import Role

if TYPE_CHECKING:
    from recall.scope import Narrowing, Scope

BUDGET_CHARACTERS = 8_000
BUDGET_SMALLEST = 500

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document in UTF-8 and nothing else.")]
Worktree = Annotated[bool, typer.Option("--worktree", help="Only the current worktree of the repository.")]
Repo = Annotated[str | None, typer.Option("--repo", metavar="PATH", help="The repository of that directory.")]
Everywhere = Annotated[bool, typer.Option("--all", help="All repositories, and sessions that belong to none.")]
Agent = Annotated[
    str | None, typer.Option("--agent", metavar="NAME", help="Only sessions of codex, claude, specstory, …")
]
RoleName = Annotated[Role | None, typer.Option("--role", help="Only what one side said, or tools printed.")]
Since = Annotated[
    str | None, typer.Option("--since", metavar="WHEN", help="From then on: 2026-03-02, 7d, yesterday, …")
]
Until = Annotated[str | None, typer.Option("--until", metavar="WHEN", help="Until then; a date counts to its end.")]
Branch = Annotated[str | None, typer.Option("--branch", metavar="NAME", help="Only what was said on that git branch.")]
File = Annotated[
    str | None, typer.Option("--file", metavar="PATH", help="Only sessions whose tools named a path like it.")
]
Subagents = Annotated[bool, typer.Option("--subagents", help="Also what agents said to the agents they started.")]
Limit = Annotated[int, typer.Option("--limit", min=1, metavar="N", help="How many at most.")]
Budget = Annotated[
    int, typer.Option("--budget-chars", min=BUDGET_SMALLEST, metavar="N", help="Longest output, in characters.")
]
NoSync = Annotated[bool, typer.Option("--no-sync", help="Do not take in new sessions first.")]


def scope_of(
    worktree: bool,
    repo: str | None,
    everywhere: bool,
    agent: str | None,
    role: Role | None,
    since: str | None,
    until: str | None,
    branch: str | None,
    file: str | None,
    subagents: bool,
) -> Scope:
    """The scope that the options name. Raises UsageError where they exclude each other or are not understood."""
    from recall.errors import UsageError
    from recall.scope import Scope, parse_when

    if everywhere and (worktree or repo is not None):
        raise UsageError("--all excludes --worktree and --repo; give one of them")
    narrow: Narrowing = {
        "agent": agent,
        "role": role,
        "since": parse_when(since) if since is not None else None,
        "until": parse_when(until, end=True) if until is not None else None,
        "branch": branch,
        "file": file,
        "subagents": subagents,
    }
    if everywhere:
        return Scope.everywhere(**narrow)
    if worktree:
        return Scope.worktree(repo, **narrow)
    return Scope.repository(repo, **narrow) if repo is not None else Scope.here(**narrow)
