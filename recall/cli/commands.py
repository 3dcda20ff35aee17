"""The commands of `recall`."""

from __future__ import annotations

from typing import Annotated

import typer

from recall import __version__
from recall.cli import forget, legacy, models, moves, scan, streams
from recall.cli.budget import fit_hits, fit_messages, fit_sessions
from recall.cli.render import counted
from recall.cli.settings import open_configured
from recall.errors import BusyError, LockedError, RecallError, UsageError
from recall.grouping import PER_SESSION
from recall.home import home_directory
from recall.index import Index
from recall.rendering import shown
from recall.scope import Narrowing, Scope, parse_when
from recall.types import FileReport, IngestReport, Mode, Role

SYNC_BUDGET_SECONDS = 0.3
"""What a search spends on taking in new sessions first."""

BUDGET_CHARACTERS = 8_000
BUDGET_SMALLEST = 500
MANY = 999
"""Stands for the number left out while a result is being fitted into its budget."""

app = typer.Typer(
    no_args_is_help=True,
    invoke_without_command=True,
    add_completion=False,
    # Text from transcripts and paths must never be read as markup: "[/x]" raises, "[lang].vue" loses its brackets.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(models.app, name="model")
app.command("scan")(scan.scan_files)
app.command("redact")(scan.redact_file)
app.command("forget")(forget.forget)
app.command("relink")(moves.relink)
app.command("migrate-worktrees")(legacy.migrate_worktrees)

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


@app.callback()
def main(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
) -> None:
    """Recall what was said and done in earlier Codex and Claude Code sessions of this repository."""
    if version:
        streams.print_text(__version__)
        raise typer.Exit


@app.command()
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

    text = " ".join(query)
    scope = _scope(worktree, repo, everywhere, agent, role, since, until, branch, file, subagents)
    with _index() as index:
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


@app.command()
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

    scope = _scope(worktree, repo, everywhere, agent, None, since, until, branch, file, False)
    with _index() as index:
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


@app.command()
def show(
    ref: Annotated[str, typer.Argument(metavar="REF", help="<session id>:<message number>, as search prints it.")],
    before: Annotated[int, typer.Option("--before", min=0, metavar="N", help="Messages before it.")] = 3,
    after: Annotated[int, typer.Option("--after", min=0, metavar="N", help="Messages after it.")] = 3,
    budget_chars: Budget = BUDGET_CHARACTERS,
    as_json: AsJson = False,
) -> None:
    """Show a message and its neighbours."""
    from recall.cli import render

    with _index() as index:
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


@app.command()
def ingest(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATHS", help="Transcripts, or folders with some; none: those of the agents here."),
    ] = None,
) -> None:
    """Take transcripts in, so that they can be searched."""
    with _index() as index, streams.progress("taking in transcripts") as bar:
        report = index.ingest(paths or None, bar)
        missing = index.counts()["without_vector"]
    if not report.files:
        where = ", ".join(paths) if paths else "the folders of Codex and Claude Code (CODEX_HOME, CLAUDE_CONFIG_DIR)"
        streams.complain(f"no transcripts found in {where}; name files or folders: recall ingest PATH")
        return
    streams.print_text(_ingest_text(report))
    if missing:
        streams.complain(f'{counted(missing, "passage")} without a vector; bring them up to date with "recall embed"')
    if paths and all(file.status in ("skipped", "failed") for file in report.files):
        raise typer.Exit(1)


@app.command()
def embed() -> None:
    """Bring vectors up to date; can be stopped and goes on where it was."""
    try:
        with _index() as index, streams.progress("embedding passages") as bar:
            done = index.embed(bar)
            name = index.embedder.name
    except BusyError as error:  # what the other process does is what was asked for
        streams.complain(error)
        return
    embedded = f"{counted(done, 'passage')} embedded with {name}"
    streams.print_text(embedded if done else "all passages have their vectors")


@app.command()
def status(as_json: AsJson = False) -> None:
    """Tell what is stored, and what is missing."""
    from recall.cli.status import status_document, status_text

    document = status_document(home_directory())
    if as_json:
        streams.print_json(document)
    else:
        streams.print_text(status_text(document))


@app.command()
def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="Mend what can be mended; a damaged file is kept.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check all that search needs; say what is wrong and what to do."""
    from recall.cli import mending

    mending.doctor(home_directory(), fix, as_json)


def _size(document: object) -> int:
    return len(streams.json_text(document))


def _index() -> Index:
    return open_configured(home_directory())


def _sync(index: Index) -> None:
    """Take in what is new within the time bound. A search does not fail because this does."""
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


def _scope(
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


def _ingest_text(report: IngestReport) -> str:
    shown = ("new", "updated", "unchanged", *(["excluded"] if report.count("excluded") else []))
    counts = [f"{report.count(status)} {status}" for status in shown]
    problems = [file for file in report.files if file.status in ("empty", "skipped", "failed")]
    lines = [f"{counted(len(report.files), 'transcript')}: {', '.join(counts)}, {len(problems)} without a session"]
    masked = counted(sum(report.redactions.values()), "secret")
    lines.append(f"{counted(report.new_messages, 'new message')}; {masked} masked")
    if report.removed:
        lines.append(f"{counted(report.removed, 'session')} removed, older than what config.toml keeps")
    lines += [f"  {file.status}: {_problem(file)}" for file in problems]
    unknown: dict[str, int] = {}
    for file in report.files:
        if file.status in ("new", "updated"):
            for kind, count in file.skipped_lines.items():
                unknown[kind] = unknown.get(kind, 0) + count
    if unknown:
        kinds = ", ".join(f"{count} × {kind}" for kind, count in sorted(unknown.items(), key=lambda item: -item[1]))
        lines.append(f"lines not understood: {kinds}")
    return "\n".join(lines)


def _problem(file: FileReport) -> str:
    return shown(file.reason if file.path in file.reason else f"{file.path}: {file.reason}")
