"""Two Markdown texts as one: every line of both, an entry that both have once. Pure.

An entry is a list item at the margin with what belongs to it, a paragraph, or a fenced block. It goes to the end of the
section with the same headings; where there is none, its section goes to the end of the text.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from dataclasses import dataclass, field

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_INDENTED = ("  ", "\t")
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))

Headings = tuple[str, ...]
Entry = tuple[str, ...]
Line = tuple[str, str | None]
"""A line and its end; None for one that is new."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A text, and how many entries of the other one it got."""

    content: bytes
    added: int


@dataclass(slots=True)
class _Section:
    """What stands under one heading, which is the first of its lines except before the first heading."""

    headings: Headings
    lines: list[Line] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)

    def append(self, missing: list[Entry]) -> None:
        """Put entries behind the last one, before the blank lines that end the section."""
        end = len(self.lines)
        while end and not self.lines[end - 1][0].strip():
            end -= 1
        end = end or len(self.lines)
        added: list[Line] = []
        for entry in missing:
            # An item may follow an item at once; anything else would become part of what stands above it.
            above = _ITEM.match(self.entries[-1][0]) if self.entries else None
            if above and entry[0].startswith(_INDENTED):
                raise ValueError("indented text would become part of the item above it")
            if (added or self.lines[:end]) and not (above and _ITEM.match(entry[0])):
                added.append(("", None))
            added += [(line, None) for line in entry]
            self.entries.append(entry)
        self.lines[end:end] = added


def merge(target: bytes, source: bytes) -> Merged:
    """`target` with the entries of `source` that it lacks, in its own encoding and with its own line ends.

    Nothing of `target` is changed; a line end is added to its last line where something follows. Raises ValueError
    where the two do not go into one text: a fence that is never closed would swallow what follows, an item the indented
    text behind it, and the target's encoding may not hold the bytes of the source.
    """
    if not target or target == source:
        return Merged(source, 0 if target else count_entries(source))
    bom, encoding, text = _decoded(target)
    other = _decoded(source)[2]
    sections, added = _sections(text), 0
    has: dict[int, Counter[Entry]] = {id(section): Counter(section.entries) for section in sections}
    for section in _sections(other):
        place = _section_for(sections, section.headings)
        counts = has.setdefault(id(place), Counter())
        missing = []
        for entry in section.entries:
            if counts[entry] > 0:
                counts[entry] -= 1
            else:
                missing.append(entry)
        place.append(missing)
        added += len(missing)
    end = _line_end(text) or _line_end(other) or "\n"
    lines = [line for section in sections for line in section.lines]
    merged = []
    for at, (line, own) in enumerate(lines, 1):
        if not own and (own is None or at < len(lines)):
            own = end  # that of the line above: a blank line's "\n" behind "\r" would be no line
        end = own or end
        merged += [line, own]
    content = bom + "".join(merged).encode(encoding, "surrogateescape")
    if _decoded(content)[:2] != (bom, encoding):
        raise ValueError("its first bytes would be taken for a byte order mark")
    return Merged(content, added)


def _section_for(sections: list[_Section], headings: Headings) -> _Section:
    """The section under these headings, else a new one: behind all that stands under the heading above it."""
    alike = [section for section in sections if section.headings[len(section.headings) - len(headings) :] == headings]
    if not headings:
        return sections[0]
    if alike:
        return next((section for section in alike if section.headings == headings), alike[-1])
    above = _section_for(sections, headings[:-1])
    start = next(at for at, section in enumerate(sections, 1) if section is above)
    at = start
    while at < len(sections) and sections[at].headings[: len(above.headings)] == above.headings:
        at += 1
    depth = _depth(headings[-1])
    if len(headings) > 1 and any(_depth(one) < depth for one in sections[at - 1].headings[len(above.headings) :]):
        at = start  # `####` behind a `##` would stand under that
    outer = tuple(one for one in sections[at - 1].headings if _depth(one) < depth)
    before = sections[at - 1].lines
    if before and before[-1][0].strip():
        before.append(("", None))
    new = _Section((*outer, headings[-1]), [(headings[-1], None)])
    if at < len(sections):
        new.lines.append(("", None))
    sections.insert(at, new)
    return new


def _depth(heading: str) -> int:
    found = _HEADING.match(heading)
    return len(found[1]) if found else 0


def count_entries(text: bytes) -> int:
    """Number of entries; headings are none, and of a text with a fence that is never closed nobody knows: 1."""
    try:
        return sum(len(section.entries) for section in _sections(_decoded(text)[2]))
    except ValueError:
        return 1


def lines_of(text: bytes) -> list[str]:
    """The lines that hold something, without their ends."""
    return [line for line, _ in _split(_decoded(text)[2]) if line.strip()]


def _decoded(content: bytes) -> tuple[bytes, str, str]:
    for bom, encoding in _BOMS:
        if content.startswith(bom):
            try:
                return bom, encoding, content[len(bom) :].decode(encoding, "surrogateescape")
            except UnicodeDecodeError:
                break
    return b"", "utf-8", content.decode("utf-8", "surrogateescape")


def _split(text: str) -> list[tuple[str, str]]:
    """Lines with their ends; that of the last line is empty where the text does not end with one."""
    raw: list[str] = _LINE.findall(text)
    return [(line := one.rstrip("\r\n"), one[len(line) :]) for one in raw]


def _line_end(text: str) -> str:
    ends = Counter(end for _, end in _split(text) if end)
    return ends.most_common(1)[0][0] if ends else ""


def _sections(text: str) -> list[_Section]:
    found = [_Section(())]
    entry: list[str] = []
    blank: list[str] = []
    fence = ""
    levels: list[tuple[int, str]] = []

    def finish() -> None:
        if entry:
            found[-1].entries.append(tuple(entry))
        entry.clear()
        blank.clear()

    for line, end in _split(text):
        heading = None if fence else _HEADING.match(line)
        if heading:
            finish()
            depth = len(heading[1])
            levels = [(level, title) for level, title in levels if level < depth] + [(depth, line)]
            found.append(_Section(tuple(title for _, title in levels), [(line, end)]))
            continue
        found[-1].lines.append((line, end))
        if not line.strip() and not fence:
            blank.append(line)
            continue
        # Behind a blank line, only what is indented still belongs to an item.
        belongs = entry and _ITEM.match(entry[0]) and line.startswith(_INDENTED)
        if not fence and ((blank and not belongs) or _ITEM.match(line)):
            finish()
        entry += [*blank, line]
        blank.clear()
        mark = _FENCE.match(line)
        if fence and mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        elif not fence and mark:
            fence = mark[1]
    if fence:
        raise ValueError(f"the fence {fence} is never closed")
    finish()
    return found
