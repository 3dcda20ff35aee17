"""The one function through which all text from transcripts leaves the library."""

from __future__ import annotations

import re

from recall.redacting import hide_cut_off
from scanning import RULES_VERSION, redact, redact_part

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters: a terminal obeys them
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional overrides: what is shown is not what is there
    "\u2028\u2029\ufff9-\ufffb\U000e0000-\U000e007f]"  # line separators, annotations, tags: invisible text
)
_MARKS = ("[REDACTED:", "[PRIVATE]", "[WITHHELD:")
# A model reads a frame's mark loosely: with spaces, another hyphen, or characters in it that show nothing, of which the
# four fillers count as letters.
_GAP = r"[\W_\u115f\u1160\u3164\uffa0]"
_FRAME = re.compile(rf"[<\uff1c](?={_GAP}{{0,64}}+{f'{_GAP}{{0,8}}+'.join('recalledsessions')})", re.IGNORECASE)


def safe_text(text: str) -> str:
    """`text` as a terminal, a JSON reader and an agent may see it, of the same length in code points.

    Control characters and invisible ones become U+FFFD; text cannot open or close the frame it is shown in.
    """
    if not text.isprintable():
        text = _UNSAFE.sub("\ufffd", text)
    return _FRAME.sub("‹", text)


def is_masked(text: str) -> bool:
    """Whether a part of `text` stands for something else."""
    return any(mark in text for mark in _MARKS)


def shown(text: str, rules_version: int = 0) -> str:
    """Text as it may leave; masked first, without fingerprints, unless it has passed the rules of this version."""
    return safe_text(redact(hide_cut_off(text)).text if rules_version < RULES_VERSION else text)


def shown_part(text: str, start: int, end: int, rules_version: int) -> str:
    """`text[start:end]` as it may leave: what makes it a secret may stand outside the part."""
    if rules_version < RULES_VERSION:
        return safe_text(redact_part(hide_cut_off(text), start, end))
    return safe_text(text[start:end])
