"""The one function through which all text from transcripts leaves the library."""

from __future__ import annotations

import re

from recall.transcripts.own import FRAME_CLOSE, FRAME_OPEN

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters: a terminal obeys them
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional overrides: what is shown is not what is there
    "\u2028\u2029\ufff9-\ufffb\U000e0000-\U000e007f]"  # line separators, annotations, tags: invisible text
)
_FRAME = re.compile("|".join(re.escape(mark[:-1]) for mark in (FRAME_OPEN, FRAME_CLOSE)), re.IGNORECASE)


def safe_text(text: str) -> str:
    """`text` as a terminal, a JSON reader and an agent may see it, of the same length in code points.

    Control characters and invisible ones become U+FFFD; text cannot open or close the frame it is shown in.
    """
    if not text.isprintable():
        text = _UNSAFE.sub("\ufffd", text)
    if "<" in text:
        text = _FRAME.sub(lambda match: f"‹{match[0][1:]}", text)
    return text
