"""What a person asked not to keep: a message, its turn, a session, everything under a path.

`<private>…</private>` is a span, and scanning/private.py finds it in any text. Here is what needs to know who speaks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from recall.places import path_key
from recall.types import Message

PRIVATE = "[PRIVATE]"
"""All that is stored of a message that is not to be kept."""

# At the beginning of a sentence, and nothing behind it: "I don't remember this", "don't remember this failing" stay.
_BEGINS = r"(?:^|[.!?,。！？，\n])[ \t>*]{0,8}(?:please[, ]{1,2}|请|請)?"
_ENDS = r"(?:,? please)?[ \t*]{0,4}(?:$|[.:!,;—\n。：！，；])"
_DO_NOT = r"(?:do not|don['’]?t|never)"
_ZH_DO_NOT = r"(?:不要|别|別)"
_MESSAGE = re.compile(
    # "Don't keep this." may be said of code.
    rf"{_BEGINS}(?:{_DO_NOT} (?:remember this|(?:remember|keep|store|save) this (?:message|turn))"
    rf"|{_ZH_DO_NOT}(?:记住|記住)(?:这个|这条|这段|这些|这件事|這個|這條|這段|這些)?(?:消息|内容|話|话|訊息|內容)?"
    rf"|{_ZH_DO_NOT}(?:记录|記錄|保存)(?:这条|这段|這條|這段)(?:消息|内容|话|話|訊息|內容)){_ENDS}",
    re.IGNORECASE,
)
_SESSION = re.compile(
    rf"{_BEGINS}(?:{_DO_NOT} (?:remember|keep|store|save) this (?:session|conversation|chat)"
    rf"|{_ZH_DO_NOT}(?:记住|記住|记录|記錄|保存)(?:这个|这次|本次|這個|這次)(?:会话|对话|聊天|會話|對話)){_ENDS}"
    r"|^[ \t]*<private-session[ ]?/?>[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)


NOT_REMEMBERED = "its user asked not to remember it"
FORGOTTEN = "it was forgotten"
NOT_KEPT = "its session is older than what is kept"
LEFT_OUT = (NOT_REMEMBERED, FORGOTTEN, NOT_KEPT)
"""How the sentences end that say why a transcript was left out on purpose."""


class ExcludedError(Exception):
    """The session is not to be kept; `str` says why."""

    def __init__(self, reason: str, by_its_user: bool) -> None:
        super().__init__(reason)
        self.by_its_user = by_its_user
        """Whether a message in it says so, and not the configuration, which may change."""


@dataclass(frozen=True, slots=True)
class Excluded:
    """Directories whose sessions are never taken in."""

    patterns: tuple[str, ...] = ()
    """Canonical paths, each with everything below it; `*` and `?` stand for any characters."""

    @classmethod
    def of(cls, paths: Sequence[str | Path]) -> Excluded:
        """From paths as a person writes them; `~` is the home folder."""
        # A bracket is part of a name ([lang].vue), not a set of characters.
        return cls(tuple(path_key(str(Path(path).expanduser())).replace("[", "[[]") for path in paths))

    def covers(self, path: str) -> bool:
        """Whether `path` is one of them, or lies below one."""
        if not path or not self.patterns:
            return False
        here = path_key(path)
        above = [here[:at] for at, character in enumerate(here) if character in "/\\" and at]
        return any(fnmatchcase(part, pattern) for part in (here, *above) for pattern in self.patterns)


@dataclass(slots=True)
class Privacy:
    """What one session asks not to keep, as its messages go by."""

    excluded: Excluded = field(default_factory=Excluded)
    inside: bool = False
    """Whether the turn that goes on began with a message of which nothing is kept; then its answers are not kept."""
    _whole: bool = False

    def begin(self, parts: Sequence[Message]) -> None:
        """Look at what comes next, all parts of one message: where one is not to be kept, none is."""
        self._whole = any(part.role == "user" and _MESSAGE.search(part.text) for part in parts)

    def admit(self, message: Message, session_cwd: str) -> str | None:
        """The message's text as it may be looked at; None for a message that is not kept at all.

        Raises ExcludedError where the session is not to be kept.
        """
        if self.excluded.covers(session_cwd):
            raise ExcludedError(f"{session_cwd} is excluded by the configuration", by_its_user=False)
        if self.excluded.covers(message.cwd):
            return None
        if message.role != "user":
            return None if self.inside else message.text
        if _SESSION.search(message.text):
            raise ExcludedError(NOT_REMEMBERED, by_its_user=True)
        return PRIVATE if self._whole or _MESSAGE.search(message.text) else message.text

    def note(self, role: str, redacted: str) -> None:
        """Learn what is left of a message once it is redacted."""
        if role == "user":
            self.inside = is_private(redacted)


def is_private(redacted: str) -> bool:
    """Whether nothing but the mark of what is private is left of a text."""
    return PRIVATE in redacted and not redacted.replace(PRIVATE, "").strip()
