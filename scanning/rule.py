"""A rule of our own: where to look, what to take, and the examples that hold it to its word."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from scanning.errors import ScanningError
from scanning.types import Finding, Kind, Severity

Expired = Callable[[], bool]
"""Says whether the time for a text is up. The clock belongs to the caller: this package reads none."""

PATIENCE = 256
"""Places that are tried between two questions whether the time is up."""


QUOTE = r"""\\{0,15}["'`]"""
"""For patterns: a quote, inside JSON with backslashes in front of it, inside JSON inside JSON with more of them."""


def never() -> bool:
    """No time limit."""
    return False


def anything(_match: re.Match[str], _value: str) -> bool:
    """What a rule accepts that has nothing to forgive: its pattern says all."""
    return True


@dataclass(frozen=True, slots=True)
class Rule:
    """One shape of what must be found.

    `anchors` are searched with `str.find`, many times faster than any pattern, and `pattern` is tried only where one of
    them stands. Every repeat in a pattern is bounded, so the time is linear in the length of the text.
    """

    name: str
    anchors: tuple[str, ...]
    """Lower-case substrings; the pattern is matched from the first character of each occurrence."""
    pattern: re.Pattern[str]
    """Its groups named `value…` are the candidates for what is found; exactly one of them takes part in a match."""
    accepts: Callable[[re.Match[str], str], bool]
    """Whether the value in this match is what the rule looks for. Finding is one thing, this forgives."""
    matches: tuple[tuple[str, str], ...]
    """Examples: a text, and the value that must be found in it."""
    ignores: tuple[str, ...]
    """Look-alikes in which nothing must be found."""
    kind: Kind = "secret"
    severity: Severity = "block"

    def match(self, text: str, position: int) -> tuple[int, int] | None:
        """The span of the value whose anchor stands at `position`, or None."""
        match = self.pattern.match(text, position)
        span = _value_span(match) if match is not None else None
        if match is None or span is None or not self.accepts(match, text[slice(*span)]):
            return None
        return span


class RuleSet:
    """Rules by anchor: each anchor is searched once, for all the rules that share it."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        by_anchor: defaultdict[str, list[Rule]] = defaultdict(list)
        for rule in rules:
            for anchor in rule.anchors:
                by_anchor[anchor].append(rule)
        self._by_anchor = tuple((anchor, tuple(group)) for anchor, group in by_anchor.items())
        self._by_ascii_anchor = tuple(pair for pair in self._by_anchor if pair[0].isascii())

    def find(self, text: str, expired: Expired = never) -> Iterator[Finding]:
        """What the rules find in `text`, in no order; spans may overlap. Raises ScanningError when the time is up."""
        folded = fold(text)
        tried = 0
        for anchor, rules in self._by_ascii_anchor if folded.isascii() else self._by_anchor:
            position = folded.find(anchor)
            while position >= 0:
                resume = position + len(anchor)
                tried += 1
                if tried % PATIENCE == 0 and expired():
                    raise ScanningError(f"the time was up after {tried} places in a text of {len(text)} characters")
                for rule in rules:
                    if span := rule.match(text, position):
                        yield Finding(rule.name, rule.kind, *span, rule.severity)
                        resume = max(resume, span[1])
                position = folded.find(anchor, resume)


def fold(text: str) -> str:
    """`text` in lower case, with every offset kept: U+0130 is the one character whose lower case is longer."""
    return text.replace("\u0130", "i").lower()


def _value_span(match: re.Match[str]) -> tuple[int, int] | None:
    for name in match.re.groupindex:
        if name.startswith("value") and match.start(name) >= 0:
            start, end = match.span(name)
            if name == "value_bare":
                # A full stop ends the sentence; a backslash belongs to the escaped quote or line break behind it.
                end = start + len(match.group(name).rstrip("\\.:"))
            return (start, end) if end > start else None
    return None
