"""The invented sessions as values: one readable script a session, before it has the form of any agent.

A script is a file in `sessions/`: a header between `---` lines, then steps. A step begins a line with
`user:`, `assistant:`, `run: <command>` (followed by `output:`, or by `failed:` for exit status 1) or
`edit: <path>` (followed by lines with `-`, `+` or a blank before them; `+` alone makes a new file).
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

FOLDER = Path(__file__).with_name("sessions")
LOCAL = timezone(timedelta(hours=8))
"""Where the invented developer sits. Codex names its files by local time and stamps its lines in UTC."""

FAKE_TOKEN = "ghp_" + "Kt7" * 12
FAKE_PASSWORD = "Harbor9-" + "kite-22"
"""Built from parts: no token may stand in the repository, not even a false one."""

_STEP = re.compile(r"(user|assistant|run|edit|output|failed):(?: (.*))?")


@dataclass(frozen=True, slots=True)
class Step:
    """Something said (`user`, `assistant`) or done with a tool (`run`, `edit`)."""

    kind: str
    text: str
    """What was said, the command, or the path."""
    output: str = ""
    """What the command printed, or the changed lines with `-`, `+` or a blank before each."""
    exit_code: int = 0

    @property
    def makes_new_file(self) -> bool:
        """Whether an edit only adds lines: then the file did not exist."""
        return all(line.startswith("+") for line in self.output.splitlines())


@dataclass(frozen=True, slots=True)
class Script:
    """One session."""

    name: str
    agent: str
    repository: str
    worktree: str
    """Name of the linked worktree it ran in; empty for the main checkout."""
    branch: str
    started_at: datetime
    title: str
    turns: tuple[tuple[Step, ...], ...]
    """Steps of each turn; the first one of a turn is the person's."""

    @property
    def id(self) -> str:
        """The session's uuid: version 7 in Codex, which carries the time, and 4 in Claude Code."""
        return fixed_uuid(self.name, self.started_at if self.agent == "codex" else None)

    def times(self) -> Iterator[datetime]:
        """When each step happened: a person thinks for minutes, an agent works in seconds."""
        moment = self.started_at + timedelta(seconds=11)
        for turn in self.turns:
            for step in turn:
                yield moment
                moment += timedelta(seconds=9 if step.kind in ("run", "edit") else 5)
            moment += timedelta(minutes=3)


def read_scripts() -> list[Script]:
    """All scripts, in the order of their file names."""
    return [parse(path.stem, path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.md"))]


def parse(name: str, text: str) -> Script:
    """The script in `text`, with its placeholders filled in."""
    text = text.replace("{{fake github token}}", FAKE_TOKEN).replace("{{fake password}}", FAKE_PASSWORD)
    _, head, body = text.split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    turns: list[list[Step]] = []
    for kind, argument, block in _blocks(name, body):
        if kind == "user":
            turns.append([])
        steps = turns[-1]
        if kind in ("output", "failed"):
            steps[-1] = replace(steps[-1], output=block.strip("\n"), exit_code=int(kind == "failed"))
        elif kind in ("user", "assistant"):
            steps.append(Step(kind, f"{argument}\n{block}".strip()))
        else:
            steps.append(Step(kind, argument, block.strip("\n")))
    return Script(
        name=name,
        agent=fields["agent"],
        repository=fields["repository"],
        worktree=fields.get("worktree", ""),
        branch=fields["branch"],
        started_at=datetime.strptime(fields["date"], "%Y-%m-%d %H:%M").replace(tzinfo=LOCAL),
        title=fields["title"],
        turns=tuple(tuple(steps) for steps in turns),
    )


def _blocks(name: str, body: str) -> Iterator[tuple[str, str, str]]:
    """(kind, rest of its line, lines below) of each step; ValueError where the first is not the person's."""
    kind, argument, lines = "", "", list[str]()
    for line in body.strip("\n").splitlines():
        match = _STEP.fullmatch(line)
        if match is None and kind:
            lines.append(line)
            continue
        if match is None or (not kind and match[1] != "user"):
            raise ValueError(f"{name}: the first step is {line!r}; a session begins with a line 'user: …'")
        if kind:
            yield kind, argument, "\n".join(lines)
        kind, argument, lines = match[1], match[2] or "", []
    yield kind, argument, "\n".join(lines)


def fixed_uuid(seed: str, moment: datetime | None = None) -> str:
    """A uuid that is the same for the same seed: of version 7 where a moment is given, else of version 4."""
    number = int.from_bytes(hashlib.sha256(seed.encode("utf-8")).digest()[:16], "big")
    if moment is not None:
        number = int(moment.timestamp() * 1000) << 80 | number & ((1 << 80) - 1)
    version = 4 if moment is None else 7
    number = number & ~(0xF << 76) | version << 76
    return str(uuid.UUID(int=number & ~(0x3 << 62) | 0x2 << 62))


def utc(moment: datetime) -> str:
    """The moment as both agents write it: UTC, milliseconds, `Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
