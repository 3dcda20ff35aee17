"""The one function through which all text from transcripts leaves the library."""

from __future__ import annotations

import re

from scanning import RULES_VERSION, redact, redact_part

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters: a terminal obeys them
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional overrides: what is shown is not what is there
    "\u2028\u2029\ufff9-\ufffb\U000e0000-\U000e007f]"  # line separators, annotations, tags: invisible text
)
# A model reads a frame's mark loosely: with spaces, invisible characters or another hyphen in it.
_FRAME = re.compile(r"<(?=[\s/\u200b-\u200d\u2060\ufeff]{0,8}recalled[\W_]{0,8}sessions)", re.IGNORECASE)


def safe_text(text: str) -> str:
    """`text` as a terminal, a JSON reader and an agent may see it, of the same length in code points.

    Control characters and invisible ones become U+FFFD; text cannot open or close the frame it is shown in.
    """
    if not text.isprintable():
        text = _UNSAFE.sub("\ufffd", text)
    if "<" in text:
        text = _FRAME.sub("‹", text)
    return text


def shown(text: str, rules_version: int) -> str:
    """Stored text as it may leave; masked again, without fingerprints, where it was stored under older rules."""
    return safe_text(redact(text).text if rules_version < RULES_VERSION else text)


def shown_part(text: str, start: int, end: int, rules_version: int) -> str:
    """`text[start:end]` as it may leave: what makes it a secret may stand outside the part."""
    return safe_text(redact_part(text, start, end) if rules_version < RULES_VERSION else text[start:end])
