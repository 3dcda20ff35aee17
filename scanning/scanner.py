"""scan(): every rule over one text."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import replace

from scanning.merging import merge
from scanning.private import find_private
from scanning.rule import Expired, never
from scanning.secrets import find_secrets
from scanning.types import Finding, Kind
from scanning.unescape import Offsets, unescape

SCANNED: tuple[Kind, ...] = ("secret", "private", "link", "marker", "injection")
"""What `scan` looks for unless told otherwise: all but personal data, which is asked for."""

_OTHERS: tuple[Kind, ...] = ("link", "personal", "marker", "injection")
"""What is found and, unless asked for, not masked."""

_MAX_ROUNDS = 4
_MARKER_WORDS = ("[REDACTED", "[PRIVATE", "[WITHHELD")
_MARKER = re.compile(r"\[(?:REDACTED|PRIVATE|WITHHELD)(?::[\w #-]{0,64})?\]")
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,16}m")


def scan(text: str, kinds: Collection[Kind] = SCANNED, expired: Expired = never) -> list[Finding]:
    """Findings of these kinds in `text`, in order; offsets are code points of `text`.

    Findings of one kind never overlap, nor do secrets and private spans; a link may hold a secret.
    expired: asked every now and then whether the time is up. Raises ScanningError when it is, and for a text that is
    beyond what can be scanned; such a text must be withheld, not passed on.
    """
    readable = unescape(text)
    findings = _find_masked(_without_distractions(readable), kinds, expired)
    for kind in _OTHERS:
        if kind in kinds:
            findings += merge(_finder(kind)(readable, expired))
    findings.sort(key=lambda one: (one.start, one.end))
    if not findings or len(readable) == len(text):
        return findings
    # Escapes make the text shorter. Few texts hold a finding, so the way back is worked out only for those.
    offsets = Offsets.of(text)
    found = [replace(one, start=offsets.original(one.start), end=offsets.original(one.end)) for one in findings]
    # A character that is written as an escape hides nothing: it is how source code speaks about it.
    return [one for one in found if not (one.rule.startswith("hidden_") and text[one.start : one.end].isascii())]


def _finder(kind: Kind) -> Callable[[str, Expired], list[Finding]]:
    # Imported late: these patterns take as long to compile as all else, and what is stored needs none of them.
    if kind == "link":
        from scanning.links import find_links

        return find_links
    if kind == "personal":
        from scanning.personal import find_personal

        return find_personal
    if kind == "marker":
        from scanning.markers import find_markers

        return find_markers
    from scanning.injection import find_injection

    return find_injection


def _find_masked(text: str, kinds: Collection[Kind], expired: Expired) -> list[Finding]:
    """Secrets and private spans, as far as they are asked for, without overlaps."""
    private = find_private(text) if "private" in kinds else []
    if "secret" not in kinds:
        return private
    findings = merge([*private, *find_secrets(text, expired)])
    for _ in range(_MAX_ROUNDS if findings else 0):
        # What stood between two values is the end of another once they are masked: a second redaction would change it.
        text = _mask(text, findings)
        if not (more := find_secrets(text, expired)):
            break
        findings = merge([*findings, *more])
    return findings


def _without_distractions(text: str) -> str:
    """`text` of the same length, without what would mislead the rules."""
    if "\x1b" in text:
        # The m of a terminal's colour code would be the letter in front of a coloured token.
        text = _COLOUR.sub(lambda match: " " * len(match.group()), text)
    if any(word in text for word in _MARKER_WORDS):
        # "[REDACTED:github_token]: abc" would read as a token with its value.
        text = _MARKER.sub(lambda match: _stars(len(match.group())), text)
    return text


def _mask(text: str, findings: list[Finding]) -> str:
    """`text` of the same length with stars for each finding, as the rules see it once it is redacted."""
    parts: list[str] = []
    done = 0
    for finding in findings:
        parts += (text[done : finding.start], _stars(finding.end - finding.start))
        done = finding.end
    return "".join((*parts, text[done:]))


def _stars(length: int) -> str:
    return f"[{'*' * (length - 2)}]"
