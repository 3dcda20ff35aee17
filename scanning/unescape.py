"""Text with its JSON escapes undone, and the way back to the offsets of the original.

A transcript quotes JSON inside JSON. There, `\\n` before a token is the letter n, so that no word boundary stands in
front of the token: of 53 kinds of token that the engine knew, it found one behind an escaped line break.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

# Of the backslashes before a control letter one goes, however many there are: the others are harmless at the end of a
# line, and plain replacement is ten times faster than a pattern. Escaped quotes stay: the rules need to see which quote
# closes which.
_ESCAPE = re.compile(r"\\([nrt/])|\\{1,16}u([0-9a-fA-F]{4})")
_CONTROL = {"n": "\n", "r": "\r", "t": "\t", "/": "/"}


def unescape(text: str) -> str:
    """`text` without the escapes of line breaks, tabs, slashes and `\\uXXXX`."""
    if "\\" not in text:
        return text
    if "\\u" in text:
        return _ESCAPE.sub(_unescape_one, text)
    for letter, character in _CONTROL.items():
        text = text.replace(f"\\{letter}", character)
    return text


def _unescape_one(match: re.Match[str]) -> str:
    letter, code = match.groups()
    return _CONTROL[letter] if letter else chr(int(code, 16))


@dataclass(frozen=True, slots=True)
class Offsets:
    """The way from offsets in an unescaped text back to the text it came from."""

    ends: tuple[int, ...]
    """For each escape, the offset in the unescaped text just after the character it became."""
    shifts: tuple[int, ...]
    """For each escape, how many code points longer the original is up to here, this escape included."""

    @classmethod
    def of(cls, text: str) -> Offsets:
        """The offsets of the escapes in `text`, as `unescape` undoes them."""
        ends: list[int] = []
        shifts: list[int] = []
        shift = 0
        for match in _ESCAPE.finditer(text):
            shift += match.end() - match.start() - 1
            ends.append(match.end() - shift)
            shifts.append(shift)
        return cls(tuple(ends), tuple(shifts))

    def original(self, offset: int) -> int:
        """`offset` in the original text; an escape counts as one character."""
        index = bisect_right(self.ends, offset)
        return offset + (self.shifts[index - 1] if index else 0)
