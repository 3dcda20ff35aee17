"""Secrets known by their own shape: a prefix that a provider gave them, and so many characters of certain kinds.

A shape is written as a template, `npm_{a36}`: a letter for the characters, and how many of them there are.
d digits · h lower and H upper hexadecimal · l lower and u upper letters and digits · a letters and digits · w those
with _ and - · b base64 · v base64 and base64url · x base64 with % and ~. `{uuid}` is a UUID.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from scanning.types import Finding
from scanning.values import is_placeholder

CLASSES = {
    "d": "0-9", "h": "0-9a-f", "H": "0-9A-F", "l": "a-z0-9", "u": "A-Z0-9", "a": "A-Za-z0-9", "w": "A-Za-z0-9_-",
    "b": "A-Za-z0-9+/=", "v": "A-Za-z0-9+/=_-", "x": "A-Za-z0-9+/=_.~%-",
}  # fmt: skip
_UUID = "{h8}-{h4}-{h4}-{h4}-{h12}"
_PART = re.compile(r"\{([a-zA-Z])(\d+)(?:-(\d+))?\}")

_LEAD = re.compile(r"[^{]*[^{A-Za-z0-9_-]")
"""The fixed beginning of a template, up to the last character that is part of no run."""

HEAD, LEAD = 3, 2
"""Characters at the beginning of a run, and in front of it, by which shapes are looked up."""

# Candidates are runs of these characters. To look for each prefix by itself took 0.5 ms a megabyte and prefix; to find
# the runs takes 2 ms for all of them, because two passes over bytes are faster than any pattern.
_RUN_CHARACTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_TO_RUNS = bytes(ord("a") if code in _RUN_CHARACTERS else ord(" ") for code in range(256))
_SHORTEST_RUN = 15
_BEFORE = re.compile(r"[\w.~/+-]", re.ASCII)
"""What a token cannot begin behind."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of token."""

    name: str
    template: str
    found_by: str = ""
    """Text that stands `offset` characters behind its beginning; empty for a token that begins with its run."""
    offset: int = 0
    run_length: int = 0
    """Length of the run that stands at `offset`, for a token that is found by it; 0 for all others."""

    def match(self, text: str, start: int) -> int:
        """Where the token that begins at `start` ends; 0 if there is none."""
        match = compiled(self.template).match(text, start)
        if match is None or not any(map(str.isdigit, match.group())) or is_placeholder(match.group()):
            return 0
        return match.end()


def shapes(name: str, *templates: str) -> list[Shape]:
    """One kind of token in one or several forms, each beginning with a run of letters, digits, _ and -."""
    return [Shape(name, template) for template in templates]


def measured(name: str, template: str, run_length: int, offset: int = 0) -> list[Shape]:
    """A token without a beginning of its own, found by the length of the run that is `offset` characters inside it."""
    return [Shape(name, template, offset=offset, run_length=run_length)]


def led(name: str, *templates: str) -> list[Shape]:
    """One kind of token whose first long run stands behind a lead such as `ya29.` or `bce-v3/`."""
    leads = [_LEAD.match(template) for template in templates]
    return [
        Shape(name, template, found_by=lead[0][-LEAD:], offset=lead.end())
        for template, lead in zip(templates, leads, strict=True)
        if lead
    ]


def signed(name: str, template: str, signature: str) -> list[Shape]:
    """A token that its provider has signed somewhere inside, always at the same place."""
    before = template.partition(signature)[0]
    offset = sum(int(least) for _, least, _ in _PART.findall(before))
    return [Shape(name, template, found_by=signature, offset=offset)]


@cache
def compiled(template: str) -> re.Pattern[str]:
    """The pattern of a template; what stands behind a token is none of its characters.

    Made when a text first holds what a token begins with: few ever do, and to make all of them takes 8 ms.
    """
    parts: list[str] = []
    done = 0
    template = template.replace("{uuid}", _UUID)
    for part in _PART.finditer(template):
        letter, least, most = part.groups()
        parts += (re.escape(template[done : part.start()]), f"[{CLASSES[letter]}]{{{least},{most or least}}}")
        done = part.end()
    parts.append(re.escape(template[done:]))
    return re.compile(f"{''.join(parts)}(?![A-Za-z0-9_])")


def runs(text: str, shortest: int) -> Iterator[tuple[int, int]]:
    """(start, end) of each run of letters, digits, _ and - that is at least so long."""
    marked = text.encode("ascii", "replace").translate(_TO_RUNS)
    run = b"a" * shortest
    start = marked.find(run)
    while start >= 0:
        end = marked.find(b" ", start)
        end = end if end >= 0 else len(marked)
        yield start, end
        start = marked.find(run, end)


class ShapeSet:
    """Shapes by what they are found by."""

    def __init__(self, all_shapes: Iterable[Shape]) -> None:
        self._by_head: defaultdict[str, list[Shape]] = defaultdict(list)
        self._by_lead: defaultdict[str, list[Shape]] = defaultdict(list)
        self._by_length: defaultdict[int, list[Shape]] = defaultdict(list)
        self._by_signature: defaultdict[str, list[Shape]] = defaultdict(list)
        for shape in all_shapes:
            if shape.run_length:
                self._by_length[shape.run_length].append(shape)
            elif not shape.found_by:
                self._by_head[shape.template[:HEAD]].append(shape)
            elif len(shape.found_by) == LEAD:
                self._by_lead[shape.found_by].append(shape)
            else:
                self._by_signature[shape.found_by].append(shape)

    def find(self, text: str) -> Iterator[Finding]:
        """Tokens in `text`, in no order; those of different shapes may overlap. Offsets are code points."""
        # A text has thousands of runs, and few of them begin like anything: this loop is what the search costs.
        by_head, by_lead, by_length = self._by_head, self._by_lead, self._by_length
        for start, end in runs(text, _SHORTEST_RUN):
            if candidates := by_head.get(text[start : start + HEAD]):
                yield from _matches(text, start, candidates)
            if candidates := by_lead.get(text[start - LEAD : start] if start >= LEAD else text[:start]):
                yield from _matches(text, start, candidates)
            if candidates := by_length.get(end - start):
                yield from _matches(text, start, candidates)
        for signature, candidates in self._by_signature.items():
            position = text.find(signature)
            while position >= 0:
                yield from _matches(text, position, candidates)
                position = text.find(signature, position + len(signature))


def _matches(text: str, position: int, candidates: list[Shape]) -> Iterator[Finding]:
    for shape in candidates:
        start = position - shape.offset
        begins = start == 0 or (start > 0 and not _BEFORE.match(text, start - 1))
        if begins and (end := shape.match(text, start)):
            yield Finding(shape.name, "secret", start, end)
