"""The values that flow through the library. All are frozen; none opens a file or a database.

session   one run of an agent, from its first message to its last
message   what one side said, or a tool call, or what a tool printed
passage   a part of a message that fits the embedder
hit       a passage that answers a query, with the evidence for its place
snippet   the part of a passage that is shown
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, overload

Role = Literal["user", "assistant", "tool"]
Mode = Literal["hybrid", "lexical", "dense"]
Confidence = Literal["none", "weak", "strong"]

FileStatus = Literal["new", "updated", "unchanged", "empty", "skipped", "excluded", "failed"]

ROLES: tuple[Role, ...] = ("user", "assistant", "tool")
MODES: tuple[Mode, ...] = ("hybrid", "lexical", "dense")


@dataclass(frozen=True, slots=True)
class Message:
    """What was said, or done with a tool, at one place of a session."""

    role: Role
    """`user` is a person only. A task that one agent gives another is the first agent's: `assistant`."""
    text: str
    timestamp: datetime | None = None
    """None where the transcript gives no time; one without a zone is taken as UTC."""
    line: int = 0
    """1-based line in the transcript; 0 for a message that comes from no file."""
    key: str = ""
    """The id that the agent gave the message, equal in every file it is copied to; empty where it gave none."""
    tool: str = ""
    """Name of the tool, for role `tool`."""
    files: tuple[str, ...] = ()
    """Paths that a tool call names, as it spelled them."""
    cwd: str = ""
    """Working directory at that time; empty means the session's."""
    branch: str = ""
    """Git branch at that time; empty means the session's."""
    subagent: bool = False
    """Said by or to an agent that another agent started."""


@dataclass(frozen=True, slots=True)
class Session:
    """A session to be taken in, from a reader or from a program that brings its own source."""

    id: str
    agent: str = "other"
    """`codex`, `claude`, or a name of the caller's."""
    title: str = ""
    started_at: datetime | None = None
    cwd: str = ""
    """Directory it ran in. It decides the repository; empty puts the session outside every repository."""
    branch: str = ""
    remote: str = ""
    """URL of the git remote, where the transcript names one."""
    parent: str = ""
    """Id of the session whose agent started this one; empty for a session that a person started."""
    forked_from: str = ""
    """Id of the session whose history this one copies at its beginning."""
    imported: bool = False
    """Copied in by one agent from the transcripts of another."""
    prompts_only: bool = False
    """Only what the person typed is known, from the agent's prompt history."""
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session as the archive knows it."""

    id: str
    agent: str
    title: str
    repository: str
    """Readable path of the repository; empty where the transcript named no directory."""
    worktree: str
    branch: str
    started_at: datetime | None
    updated_at: datetime | None
    parent: str
    message_count: int
    preview: str
    """The beginning of the first thing a person said in it."""
    source: str
    """Path of the transcript; it may be gone."""
    resume: str
    """Shell command that reopens the session in its agent; empty where that is not possible any more."""
    first_ref: str
    """Ref of its first message, for `Index.show`."""
    prompts_only: bool = False
    """Whether only what the person typed is known of it, from the agent's prompt history; the title says so too."""
    worktree_removed: bool = False
    """Whether the directory of its worktree is gone."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a message stands in a transcript."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Snippet:
    """The part of a passage worth showing: already redacted, without control characters."""

    text: str
    highlights: tuple[tuple[int, int], ...] = ()
    """[start, end) in code points of `text`, ascending, not overlapping."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A place in an earlier session that answers the query."""

    ref: str
    """`<session id>:<message number>`, for `Index.show`."""
    session: SessionSummary
    role: Role
    tool: str
    timestamp: datetime | None
    source: Source
    score: float
    """Fused evidence in [0, 1]; comparable within one result only, and not a probability."""
    evidence: dict[str, int]
    """1-based rank in each retriever that found it, for instance {"lexical": 2, "dense": 5}."""
    snippet: Snippet
    similar: int = 0
    """How many further, nearly identical passages this hit stands for."""

    @property
    def resume(self) -> str:
        """Shell command that reopens the session in its agent; empty where that is not possible any more."""
        return self.session.resume


@dataclass(frozen=True, slots=True)
class SearchResult(Sequence[Hit]):
    """Hits, best first, and how they were found."""

    query: str
    scope: dict[str, str | None]
    """The scope that was really searched: kind, repository, worktree."""
    mode: Mode
    """The mode that was really used."""
    degraded: str | None
    """Why `mode` is not the one asked for; None when it is."""
    confidence: Confidence
    hits: tuple[Hit, ...] = ()
    notes: tuple[str, ...] = ()
    """What a reader should know: passages that still lack vectors, a limit that was lowered."""

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Hit]: ...
    def __getitem__(self, index: int | slice) -> Hit | Sequence[Hit]:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A stored message in the window around a ref."""

    ref: str
    number: int
    role: Role
    tool: str
    timestamp: datetime | None
    text: str
    source: Source
    subagent: bool


@dataclass(frozen=True, slots=True)
class AddReport:
    """What `Index.add` did."""

    session: str
    new_messages: int
    copied_messages: int
    """Messages that another session already holds: a fork, a resume or an import."""
    excluded: str = ""
    """Why nothing of the session is kept; empty where it is."""


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """What `Index.forget` did, or would do."""

    sessions: int
    """Sessions that are gone as a whole, those of subagents included."""
    messages: int
    """Messages that are gone, those of these sessions included."""
    names: int = 0
    """Titles, branches and the like that held the text, and are blank now."""
    complete: bool = True
    """False where another process still reads what was there before: it leaves the files when that one ends."""
    examples: tuple[str, ...] = ()
    """Pieces of some of the messages, redacted; from `Index.would_forget` only."""
    kept_paths: tuple[str, ...] = ()
    """Repositories whose path holds the text; a path is not forgotten by its text."""


@dataclass(frozen=True, slots=True)
class FileReport:
    """What became of one transcript."""

    path: str
    status: FileStatus
    reason: str = ""
    """Why it was skipped or failed, or holds nothing."""
    new_messages: int = 0
    skipped_lines: dict[str, int] = field(default_factory=dict)
    """Lines that were not understood, counted by kind."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What `Index.ingest` did, file by file."""

    files: tuple[FileReport, ...]
    redactions: dict[str, int]
    """How many spans were masked, by rule."""
    left: int = 0
    """Transcripts that were not looked at, or not to their end, because the time was up."""
    removed: int = 0
    """Sessions that went because they are older than what is kept."""

    @property
    def new_messages(self) -> int:
        return sum(file.new_messages for file in self.files)

    def count(self, status: str) -> int:
        """Number of files with that status."""
        return sum(file.status == status for file in self.files)
