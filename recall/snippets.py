"""The part of a passage worth showing: where the query's terms stand closest together."""

from __future__ import annotations

from collections.abc import Mapping

from recall import analysis
from recall.types import Snippet

SNIPPET_SHORTEST = 20
SNIPPET_LIMIT = 300
"""Code points of a snippet, the ellipses at its ends included."""

_ENDS = ("\n", "。", "！", "？", ". ", "! ", "? ")


def cut_snippet(text: str, weights: Mapping[str, float], limit: int = SNIPPET_LIMIT) -> Snippet:
    """The window of at most `limit` code points that holds the most of the query, begun at a sentence if one is near.

    text: a stored, redacted text. weights: the query's terms and how much each is worth; a term counts once in a
    window. Without any match the beginning is shown. White space is folded.
    """
    text = _folded(text)
    places = list(analysis.matching_spans(text, frozenset(weights)))
    if len(text) <= limit:
        return Snippet(text, _merged(places, 0, len(text), 0))
    start = _best_start(places, weights, limit)
    start = _sentence_start(text, start, limit)
    end = min(len(text), start + limit - 2)
    start = max(0, min(start, end - (limit - 2)))
    if start > 0:
        start = _word_start(text, start)
    if end < len(text):
        end = _word_end(text, start, end)
    before, after = "…" if start > 0 else "", "…" if end < len(text) else ""
    return Snippet(f"{before}{text[start:end]}{after}", _merged(places, start, end, len(before) - start))


def _best_start(places: list[tuple[int, int, str]], weights: Mapping[str, float], limit: int) -> int:
    """Start of the window with the largest sum of weights of different terms; the earliest of equal ones."""
    best, best_start = -1.0, 0
    inside: dict[str, int] = {}
    worth = 0.0
    last = 0
    for first in range(len(places)):
        while last < len(places) and places[last][1] <= places[first][0] + limit * 3 // 4:
            term = places[last][2]
            inside[term] = inside.get(term, 0) + 1
            if inside[term] == 1:
                worth += weights[term]
            last += 1
        if worth > best + 1e-9:
            best, best_start = worth, places[first][0]
        term = places[first][2]
        if term in inside:
            inside[term] -= 1
            if not inside[term]:
                worth -= weights[term]
    return best_start


def _sentence_start(text: str, at: int, limit: int) -> int:
    """The start of the sentence or line around `at`, if it lies within a quarter of the window, else a bit earlier."""
    earliest = max(0, at - limit // 4)
    starts = [found + len(end) for end in _ENDS if (found := text.rfind(end, earliest, at)) >= 0]
    if starts:
        return max(starts)
    return 0 if earliest == 0 else max(0, at - limit // 8)


def _word_start(text: str, start: int) -> int:
    space = text.find(" ", start, start + 20)
    if text[start - 1].isspace() or space < 0 or not (text[start - 1].isascii() and text[start].isascii()):
        return start
    return space + 1


def _word_end(text: str, start: int, end: int) -> int:
    space = text.rfind(" ", max(start, end - 20), end)
    if space < 0 or not (text[end - 1].isascii() and text[end].isascii()):
        return end
    return space


def _merged(places: list[tuple[int, int, str]], start: int, end: int, shift: int) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for first, last, _ in places:
        if first < start or last > end:
            continue
        if merged and first + shift <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last + shift))
        else:
            merged.append((first + shift, last + shift))
    return tuple(merged)


def _folded(text: str) -> str:
    """Blank lines and indentation reduced to what a short snippet needs."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)
