"""scan(): every rule over one text."""

from __future__ import annotations

from dataclasses import replace

from scanning.private import find_private
from scanning.secrets import find_secrets
from scanning.types import Finding
from scanning.unescape import Offsets, unescape


def scan(text: str) -> list[Finding]:
    """Findings in `text`, in order and without overlaps; offsets are code points of `text`.

    Raises ScanningError for a text that cannot be scanned; it must then be withheld, not passed on.
    """
    readable = unescape(text)
    findings = merge([*find_private(readable), *find_secrets(readable)])
    if not findings or readable is text:
        return findings
    # Few texts hold a finding, so the way back is worked out only for those.
    offsets = Offsets.of(text)
    return [replace(one, start=offsets.original(one.start), end=offsets.original(one.end)) for one in findings]


def merge(findings: list[Finding]) -> list[Finding]:
    """`findings` in order, each group of overlapping ones as one span with the name of its longest, or earliest, part.

    The span is the union: where a rule sees the first half of a value and another the second, both halves go.
    """
    merged: list[Finding] = []
    longest = 0
    for finding in sorted(findings, key=lambda one: (one.start, -one.end)):
        length = finding.end - finding.start
        if not merged or finding.start >= merged[-1].end:
            merged.append(finding)
            longest = length
            continue
        last = merged[-1]
        winner = finding if length > longest else last
        longest = max(longest, length)
        merged[-1] = replace(winner, start=last.start, end=max(last.end, finding.end))
    return merged
