"""Chinese words of programming and their English: a Chinese question finds English text, and an English model reads it.

The archive of someone who asks in Chinese is half English: code, messages of tools, documentation. Words alone find
none of it, and the bundled model takes Chinese for noise. `glossary.tsv` names what programmers say every day; general
language is not its aim.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from recall.analysis import is_function_word, unspaced_runs, unspaced_share

GLOSSARY = Path(__file__).with_name("glossary.tsv")
SHORTEST = 2
"""Characters of a word; a single one means too many things."""


def words(run: str) -> list[tuple[int, int, tuple[str, ...]]]:
    """(start, end, English, most usual first) of the Chinese words in `run` that the glossary knows, ascending.

    Cut so that as few characters as possible are left over, then into as few words as possible.
    """
    entries, longest = _entries()
    # From the end: (characters left over, words, size of the first word or 0) of the best way to cut run[at:].
    best: list[tuple[int, int, int]] = [(0, 0, 0)] * (len(run) + 1)
    for at in range(len(run) - 1, -1, -1):
        left, count, _ = best[at + 1]
        ways = [(left + 1, count, 0)]
        for size in range(SHORTEST, min(longest, len(run) - at) + 1):
            if run[at : at + size] in entries:
                left, count, _ = best[at + size]
                ways.append((left, count + 1, size))
        best[at] = min(ways, key=lambda way: (way[0], way[1], -way[2]))
    found, at = [], 0
    while at < len(run):
        size = best[at][2]
        if size:
            found.append((at, at + size, entries[run[at : at + size]]))
        at += size or 1
    return found


def in_english(text: str) -> str:
    """The text with its Chinese replaced by the English of the words that are known; the rest of it is left out."""
    parts, last = [], 0
    for start, end in unspaced_runs(text):
        parts.append(text[last:start])
        parts.append(" ".join(["", *(english[0] for _, _, english in words(text[start:end])), ""]))
        last = end
    return "".join([*parts, text[last:]])


def readable_share(text: str) -> float:
    """How much of a text one can read who knows English and the glossary, from 0 to 1; function words aside."""
    known = unknown = 0
    for start, end in unspaced_runs(text):
        run, last = text[start:end], 0
        for first, behind, _ in [*words(run), (len(run), len(run), ())]:
            unknown += sum(not is_function_word(character) for character in run[last:first])
            known += behind - first
            last = behind
    return 1.0 - unspaced_share(text) * (unknown / (known + unknown) if known + unknown else 1.0)


@cache
def _entries() -> tuple[dict[str, tuple[str, ...]], int]:
    """(Chinese to English, length of the longest)."""
    entries = {}
    for line in GLOSSARY.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            chinese, *english = line.split("\t")
            entries[chinese] = tuple(english)
    return entries, max(map(len, entries))
