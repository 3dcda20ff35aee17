"""Mutants of a pattern, each with one change: a part is taken out, or one is allowed or asked for once more or less.

A test that holds for a mutant as well says nothing about the part. Not every mutant is here: a limit such as the 64 of
`{1,64}` keeps the time linear and is no part of what a rule finds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

NOTHING, NEVER = "(?:)", "(?!)"
_AROUND = 16
"""Characters around a part that tell it from another one that reads the same."""

_OPENING = re.compile(r"\((?:\?(?:P<\w+>|<[=!]|[=!:>]|[aimsx-]+:|\(\w+\)))?")
_BACK_REFERENCE = re.compile(r"\(\?P=\w+\)")
_ESCAPE = r"\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|.)"
_ATOM = re.compile(rf"{_ESCAPE}|.", re.DOTALL)
_ELEMENT = re.compile(rf"(?:{_ESCAPE}|[^\\])(?:-(?:{_ESCAPE}|[^\\]))?", re.DOTALL)
_REPEAT = re.compile(r"(?:[?*+]|\{(?P<least>\d*)(?P<comma>,?)(?P<most>\d*)\})(?P<mode>[?+]?)")
_WHOLE_VALUE = re.compile(r"\(\?P<value\w*>\Z")
_LOOKS = ("(?=", "(?!", "(?<=", "(?<!")
_ASSERTIONS = ("\\b", "\\A", "\\Z", "^", "$")
_FLAGS = (re.IGNORECASE, re.ASCII, re.MULTILINE, re.DOTALL)

_Change = tuple[str, int, int, str]
"""What is done, where the part starts and ends, and what stands there instead."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A pattern with one change."""

    change: str
    site: str
    """The part and what stands around it: the same in every pattern that shares the part."""
    text: str
    flags: int

    @property
    def pattern(self) -> re.Pattern[str]:
        """The mutant, to be compiled only if it is needed."""
        return re.compile(self.text, self.flags)


@dataclass(slots=True)
class _Group:
    start: int
    inside: int
    """Where what the group matches begins: behind `(?:`, `(?P<name>` and so on."""
    bars: list[int] = field(default_factory=list)


def mutants(pattern: re.Pattern[str]) -> Iterator[Mutant]:
    """All mutants of a pattern."""
    text = pattern.pattern
    for what, start, end, instead in _changes(text):
        before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
        site = f"{before}⟪{text[start:end]}⟫{after}"
        yield Mutant(what, site, text[:start] + instead + text[end:], pattern.flags)
    for flag in _FLAGS:
        if pattern.flags & flag:
            yield Mutant(f"without {flag.name}", text, text, pattern.flags & ~flag)


def _changes(text: str) -> Iterator[_Change]:
    opened = [_Group(0, 0)]
    at = 0
    while at < len(text):
        start = at
        if text[at] == "|":
            opened[-1].bars.append(at)
            at += 1
            continue
        if reference := _BACK_REFERENCE.match(text, at):
            at = reference.end()
        elif opening := _OPENING.match(text, at):
            at = opening.end()
            opened.append(_Group(start, at))
            continue
        elif text[at] == ")":
            at += 1
            start = opened[-1].start
            yield from _of_a_group(text, opened.pop(), at)
        elif text[at] == "[":
            at = _class_end(text, at)
            yield from _of_a_class(text, start, at)
        elif atom := _ATOM.match(text, at):
            at = atom.end()
            if atom[0] in _ASSERTIONS:
                yield "no assertion", start, at, NOTHING
        if repeat := _REPEAT.match(text, at):
            at = repeat.end()
            yield from _of_a_repeat(text, start, repeat)
    yield from _alternatives(text, opened.pop(), len(text) + 1)


def _of_a_group(text: str, group: _Group, end: int) -> Iterator[_Change]:
    head, whole = text[group.start : group.inside], text[group.start : end]
    if not head.startswith("(?("):
        yield from _alternatives(text, group, end)
    if head in _LOOKS:
        yield "no assertion", group.start, end, f"(?:{whole}|)"
    elif head.startswith("(?i"):
        yield "without IGNORECASE", group.start, group.inside, "(?:"


def _alternatives(text: str, group: _Group, end: int) -> Iterator[_Change]:
    edges = [group.inside, *(bar + 1 for bar in group.bars), end]
    if group.bars:
        for left, right in pairwise(edges):
            # Not taken out: a reference to a group inside it would not compile.
            yield "no alternative", left, right - 1, NEVER + text[left : right - 1]


def _of_a_repeat(text: str, start: int, repeat: re.Match[str]) -> Iterator[_Change]:
    part, end, mode = text[start : repeat.start()], repeat.end(), repeat["mode"]
    if repeat["least"] is None:
        least, most, is_exact = int(repeat[0][0] == "+"), "1" if repeat[0][0] == "?" else "", False
    else:
        least, most, is_exact = int(repeat["least"] or 0), repeat["most"], not repeat["comma"]
    if is_exact:
        yield "one more", start, end, f"{part}{{{least + 1}}}"
        yield "one less", start, end, f"{part}{{{least - 1}}}"
    elif least == 0:
        yield "none", start, end, f"{part}{{0}}"
        yield "not optional", start, end, f"{part}{{1,{most}}}{mode}"
    elif least > 1:
        yield "one more at least", start, end, f"{part}{{{least + 1},{most}}}{mode}"
    elif not _WHOLE_VALUE.search(text, 0, start):  # an empty value is none
        yield "optional", start, end, f"{part}{{0,{most}}}{mode}"
    if mode:
        yield "greedy", start, end, part + repeat[0].removesuffix(mode)


def _of_a_class(text: str, start: int, end: int) -> Iterator[_Change]:
    inside = start + (2 if text[start + 1] == "^" else 1)
    elements = list(_ELEMENT.finditer(text, inside, end - 1))
    for element in elements if len(elements) > 1 else ():
        yield "not in the class", element.start(), element.end(), ""


def _class_end(text: str, at: int) -> int:
    at += 2 if text[at + 1] == "^" else 1
    at += text[at] == "]"
    while text[at] != "]":
        at += 2 if text[at] == "\\" else 1
    return at + 1
