"""Fitting a result into a budget of characters: everything is cut shorter before anything is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from recall.types import Hit, SessionSummary, ShownMessage, Snippet

SHORTEST = 80
"""Characters of a text below which leaving others out serves a reader better than cutting further."""

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Fitted(Generic[Item]):
    """What is left of a result."""

    items: tuple[Item, ...]
    truncated: bool
    """Whether anything was cut or left out."""
    omitted: int
    """How many were left out."""


def fit_hits(hits: Sequence[Hit], budget: int, size: Callable[[Sequence[Hit]], int]) -> Fitted[Hit]:
    """The hits that fit, best first; the best one always stays. size: characters of their printed form."""
    return _fit(hits, budget, size, _shorter_hit, lambda kept: kept.pop())


def fit_messages(
    messages: Sequence[ShownMessage], number: int, budget: int, size: Callable[[Sequence[ShownMessage]], int]
) -> Fitted[ShownMessage]:
    """The messages that fit, in order; message `number` always stays, the farthest from it go first."""

    def drop(kept: list[ShownMessage]) -> None:
        farthest = max(range(len(kept)), key=lambda i: abs(kept[i].number - number))
        del kept[farthest]

    return _fit(messages, budget, size, _shorter_message, drop)


def fit_sessions(
    sessions: Sequence[SessionSummary], budget: int, size: Callable[[Sequence[SessionSummary]], int]
) -> Fitted[SessionSummary]:
    """The sessions that fit, newest first; the newest one always stays."""
    return _fit(sessions, budget, size, _shorter_session, lambda kept: kept.pop())


def _fit(
    items: Sequence[Item],
    budget: int,
    size: Callable[[Sequence[Item]], int],
    shorter: Callable[[Item, int], Item],
    drop: Callable[[list[Item]], object],
) -> Fitted[Item]:
    kept = list(items)
    if size(kept) <= budget:
        return Fitted(tuple(kept), False, 0)
    while len(kept) > 1 and size([shorter(item, SHORTEST) for item in kept]) > budget:
        drop(kept)
    low, high = (SHORTEST, budget) if size([shorter(item, SHORTEST) for item in kept]) <= budget else (1, SHORTEST)
    while low < high:
        middle = (low + high + 1) // 2
        if size([shorter(item, middle) for item in kept]) <= budget:
            low = middle
        else:
            high = middle - 1
    return Fitted(tuple(shorter(item, low) for item in kept), True, len(items) - len(kept))


def _shorter_hit(hit: Hit, limit: int) -> Hit:
    text, spans = hit.snippet.text, hit.snippet.highlights
    if len(text) <= limit:
        return hit
    if spans and spans[0][1] > limit * 2 // 3:  # what matched stays in sight
        start = max(0, spans[0][0] - limit // 4)
        text = f"…{text[start:]}"
        spans = tuple((first - start + 1, last - start + 1) for first, last in spans)
    if len(text) > limit:
        text = _cut(text, limit)
    return replace(hit, snippet=Snippet(text, tuple(span for span in spans if span[1] < len(text))))


def _shorter_message(message: ShownMessage, limit: int) -> ShownMessage:
    return message if len(message.text) <= limit else replace(message, text=_cut(message.text, limit))


def _shorter_session(session: SessionSummary, limit: int) -> SessionSummary:
    return session if len(session.preview) <= limit else replace(session, preview=_cut(session.preview, limit))


def _cut(text: str, limit: int) -> str:
    return f"{text[: limit - 1]}…"
