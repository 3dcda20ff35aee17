"""Overlapping findings become one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from scanning.types import SEVERITIES, Finding

Weight = Callable[[Finding], tuple[int, ...]]


def by_length(finding: Finding) -> tuple[int, ...]:
    """The longest gives the name."""
    return (finding.end - finding.start,)


def by_severity(finding: Finding) -> tuple[int, ...]:
    """The gravest gives the name, of several the longest."""
    return SEVERITIES.index(finding.severity), finding.end - finding.start


def merge(findings: Iterable[Finding], weight: Weight = by_length) -> list[Finding]:
    """`findings` in order, each group of overlapping ones as one, named after its weightiest, or earliest, part.

    The span is the union: where a rule sees the first half of a value and another the second, both halves go. It is as
    grave as its gravest part: a secret in a private span still blocks.
    """
    merged: list[Finding] = []
    heaviest: tuple[int, ...] = ()
    for finding in sorted(findings, key=lambda one: (one.start, -one.end)):
        if not merged or finding.start >= merged[-1].end:
            merged.append(finding)
            heaviest = weight(finding)
            continue
        last = merged[-1]
        winner = finding if weight(finding) > heaviest else last
        heaviest = max(heaviest, weight(finding))
        severity = max(last.severity, finding.severity, key=SEVERITIES.index)
        merged[-1] = replace(winner, start=last.start, end=max(last.end, finding.end), severity=severity)
    return merged
