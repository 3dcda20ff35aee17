"""Where to look: a repository, one worktree or everywhere, and what narrows any of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Literal, TypedDict, Unpack

from recall.errors import UsageError
from recall.places import LONGEST_PATH, UNKNOWN, Place, current_directory, place_of
from recall.types import ROLES, Role

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_AND_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9].*")
_AGO = re.compile(r"([0-9]+)([hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
_FORMS = "2026-03-02, 2026-03-02T07:30, 2026-03-02T07:30+08:00, today, yesterday, 12h, 7d or 2w"


class Narrowing(TypedDict, total=False):
    """What each way of making a scope takes by keyword. A time without an offset is a local time."""

    agent: str | None
    since: datetime | None
    until: datetime | None
    role: Role | None
    branch: str | None
    file: str | None
    subagents: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What a search may return. A message that lacks what a field asks for is outside the scope."""

    kind: Literal["repository", "worktree", "everywhere"]
    place: Place = UNKNOWN
    """Its keys are what a repository or a worktree is compared by."""
    agent: str | None = None
    since: datetime | None = None
    """First moment that is inside; aware."""
    until: datetime | None = None
    """Last moment that is inside; aware."""
    role: Role | None = None
    branch: str | None = None
    file: str | None = None
    subagents: bool = False
    """Whether what was said by and to an agent that another agent started is inside too."""

    def __post_init__(self) -> None:
        """Raises UsageError for a field that no message could match, or that would match all."""
        if self.kind != "everywhere" and self.place.kind == "unknown":
            raise UsageError(f"a {self.kind} scope needs a directory; name one, or search everywhere (--all)")
        for name, text in (("agent", self.agent), ("branch", self.branch), ("file", self.file)):
            if text is not None and not text.strip():
                raise UsageError(f"{name} is empty; expected a name: give one, or leave {name} out")
        if self.role is not None and self.role not in ROLES:
            raise UsageError(f'role is "{self.role}"; expected one of {", ".join(ROLES)}')
        object.__setattr__(self, "since", _aware("since", self.since))
        object.__setattr__(self, "until", _aware("until", self.until))
        if self.since is not None and self.until is not None and self.since > self.until:
            raise UsageError(
                f"since is {self.since.isoformat()}, until is {self.until.isoformat()}; expected since to be "
                "the earlier one: exchange them, or leave one out"
            )

    @classmethod
    def here(cls, **narrow: Unpack[Narrowing]) -> Scope:
        """The repository of the current directory, in all its worktrees."""
        return cls(kind="repository", place=place_of(_required_current_directory()), **narrow)

    @classmethod
    def repository(cls, path: str | Path, **narrow: Unpack[Narrowing]) -> Scope:
        """The repository that a directory belongs to, in all its worktrees. The directory may be gone."""
        return cls(kind="repository", place=_place(path), **narrow)

    @classmethod
    def worktree(cls, path: str | Path | None = None, **narrow: Unpack[Narrowing]) -> Scope:
        """The one worktree that a directory, or else the current one, belongs to."""
        directory = _required_current_directory() if path is None else path
        return cls(kind="worktree", place=_place(directory), **narrow)

    @classmethod
    def everywhere(cls, **narrow: Unpack[Narrowing]) -> Scope:
        """All sessions, also those whose transcript names no directory."""
        return cls(kind="everywhere", **narrow)

    def describe(self) -> dict[str, str | None]:
        """`kind`, `repository` and `worktree`, with readable paths; None for what the kind leaves open."""
        return {
            "kind": self.kind,
            "repository": None if self.kind == "everywhere" else self.place.repository_path,
            "worktree": self.place.worktree_path if self.kind == "worktree" else None,
        }


def parse_when(text: str, *, end: bool = False, now: datetime | None = None) -> datetime:
    """The moment, aware and in local time, that a person means by a date, a time or a span before now.

    A date is the local day: its first moment, or with `end` its last microsecond. Days and weeks ago have the
    same time on the clock, hours ago are hours that have passed: not the same when the clocks were changed in
    between. Raises UsageError for any other text.
    """
    written = text.strip()
    moment = (now if now is not None else datetime.now().astimezone()).astimezone()
    try:
        if written.casefold() == "today":
            return _day(moment.date(), end)
        if written.casefold() == "yesterday":
            return _day(moment.date() - timedelta(days=1), end)
        if _DATE.fullmatch(written):
            return _day(date.fromisoformat(written), end)
        if _DATE_AND_TIME.fullmatch(written):
            return datetime.fromisoformat(written.upper()).astimezone()
        if ago := _AGO.fullmatch(written.casefold()):
            span = timedelta(**{_UNITS[ago[2]]: int(ago[1])})
            hours = ago[2] == "h"
            return (moment - span if hours else moment.replace(tzinfo=None) - span).astimezone()
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f'"{written}" is a time that no calendar has; expected {_FORMS}') from error
    raise UsageError(f'"{written}" is not understood as a time; expected {_FORMS}')


def _day(day: date, end: bool) -> datetime:
    if end:
        # From the next day backwards, for a day may have 23 or 25 hours.
        return (_day(day + timedelta(days=1), end=False) - timedelta(microseconds=1)).astimezone()
    midnight = datetime.combine(day, time.min)
    start = midnight.astimezone()
    # Where the clocks go forward at midnight, the day begins at one o'clock and its midnight was read as 23:00.
    return start if start.date() == day else midnight.replace(fold=1).astimezone()


def _aware(name: str, moment: datetime | None) -> datetime | None:
    if moment is None:
        return None
    if not isinstance(moment, datetime):
        raise UsageError(f"{name} is {moment!r}; expected a datetime: parse_when in recall.scope makes one")
    try:
        return moment.astimezone() if moment.utcoffset() is None else moment
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"{name} is {moment.isoformat()}; expected a time within the calendar") from error


def _place(path: str | Path) -> Place:
    """The place of a path that a person gave: `~` is their home, a relative one is relative to here."""
    place = place_of(path)
    if place.kind != "unknown" or not str(path) or len(str(path)) > LONGEST_PATH:
        return place
    try:
        place = place_of(Path(path).expanduser())
    except RuntimeError:  # no such user: a folder may really be named so
        place = UNKNOWN
    return place if place.kind != "unknown" else place_of(Path(_required_current_directory()) / path)


def _required_current_directory() -> str:
    directory = current_directory()
    if directory is None:
        raise UsageError(
            "the current directory no longer exists; change to an existing one, or search everywhere (--all)"
        )
    return directory
