"""Private key blocks: whole, cut off at either end, in diff lines, quoted in source."""

from __future__ import annotations

import re
from collections.abc import Iterator

RULE = "private_key"

_ARMOUR = re.compile(r"-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
# What may stand around the lines of a key: a diff sign, a quote sign, source code that joins strings.
_EDGE = r"""[ \t>|+\-"'`,\\]{0,24}"""
_BASE64 = r"[A-Za-z0-9+/=]"
# A word of prose on the next line is no key: a key has digits, or capitals where prose has none.
_FIRST_LINE = re.compile(
    rf"{_EDGE}(?:\r?\n{_EDGE}(?:[A-Za-z-]{{4,20}}: [^\n]{{1,80}}\n{_EDGE}|\r?\n{_EDGE}){{0,4}}"
    rf"(?=[A-Za-z]{{0,200}}[0-9+/]|[a-z]{{1,20}}[A-Z]|[A-Z]{{3}}){_BASE64}{{8,200}}(?:{_EDGE}(?:\r?\n|\Z)|(?<={_BASE64}{{40}}))"
    rf"|{_BASE64}{{40}})"
)
_KEY_LINE = re.compile(rf"{_EDGE}{_BASE64}{{1,128}}{_EDGE}\r?\Z")
_LONG_RUN = re.compile(r"[A-Za-z0-9+/]{16}")
_CONTENT = re.compile(r"[\w+/-]{12}")
_MAX_TAIL_LINES = 200


def find_keys(text: str) -> Iterator[tuple[int, int]]:
    """Spans of key blocks, armour included. Without its END line a block goes on to the end of the text.

    A text that only speaks about the armour (`if "-----BEGIN PRIVATE KEY-----" in text`) holds no key. The lines before
    an END without BEGIN are the rest of a key that was split, over two tool results for instance.
    """
    if "PRIVATE KEY" not in text:
        return
    armours = list(_ARMOUR.finditer(text))
    opened: re.Match[str] | None = None
    done = 0
    for armour in armours:
        if armour.group(1) == "BEGIN":
            if opened is not None and _FIRST_LINE.match(text, opened.end()):
                yield opened.start(), armour.start()
            opened = armour
            continue
        if opened is not None:
            if _FIRST_LINE.match(text, opened.end()) or _LONG_RUN.search(text, opened.end(), armour.start()):
                yield opened.start(), armour.end()
        elif (start := _tail_start(text, done, armour.start())) is not None:
            yield start, armour.end()
        opened, done = None, armour.end()
    if opened is not None and _FIRST_LINE.match(text, opened.end()):
        yield opened.start(), len(text)


def has_content(block: str) -> bool:
    """Whether a block holds anything but its armour and a placeholder such as `...`."""
    return _CONTENT.search(_ARMOUR.sub("", block)) is not None


def _tail_start(text: str, lowest: int, end: int) -> int | None:
    """Where the lines of a key that lead up to `end` begin, or None if no such lines stand there."""
    start = end
    line_end = text.rfind("\n", lowest, end)
    for _ in range(_MAX_TAIL_LINES):
        if line_end < lowest:
            break
        line_start = text.rfind("\n", lowest, line_end) + 1 or lowest
        if line_end - line_start > 200 or not _KEY_LINE.match(text[line_start:line_end]):
            break
        start, line_end = line_start, line_start - 1
    return start if start < end and _LONG_RUN.search(text, start, end) else None
