"""Private key blocks: whole, cut off at either end, in diff lines, quoted in source."""

from __future__ import annotations

import re
from collections.abc import Iterator

RULE = "private_key"

_ARMOUR = re.compile(r"-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
# What may stand around the lines of a key: line breaks, a diff sign, a quote sign, source code that joins strings; no
# stars, which stand for what is masked.
_EDGE = r"[^\w*]{0,24}"
# Behind BEGIN come headers, then a line of the key, or what is left of it at the end of the text; a word is no key.
_FIRST_LINE = re.compile(
    rf"{_EDGE}(?:[\w-]{{4,20}}: .{{0,80}}\n{_EDGE}){{0,4}}"
    rf"(?:[A-Za-z0-9+/]{{32}}|(?![A-Za-z][a-z]{{7,40}}\b)[A-Za-z0-9+/=]{{8,31}}{_EDGE}\Z)"
)
_KEY_LINE = re.compile(rf"{_EDGE}[A-Za-z0-9+/]{{4,128}}{_EDGE}")
_LONG_RUN = re.compile(r"[A-Za-z0-9+/]{16}")
_CONTENT = re.compile(r"[\w+/-]{12}")
_LONGEST_TAIL = 40_000


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
            if _LONG_RUN.search(text, opened.end(), armour.start()):
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
    *lines, own = text[max(lowest, end - _LONGEST_TAIL) : end].split("\n")
    start = line_end = end - len(own)
    for line in reversed(lines):
        if not _KEY_LINE.fullmatch(line):
            break
        start -= len(line) + 1
    return start if _LONG_RUN.search(text, start, line_end) else None
