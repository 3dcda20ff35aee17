"""From a ranking of passages to the hits worth showing: one of what repeats itself, and no session that crowds out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

PER_SESSION = 2
"""Hits of one session, as long as others have something to show, unless the caller asks for more."""

SHORT = 9
"""Passages with fewer different words are shown for each session: "run the tests" was meant anew each time."""

NEAR_DUPLICATE = 0.8
"""Jaccard similarity of two passages' words, numbers apart, above which they are shown as one."""

COUNTED = 30
"""Candidates behind the last one needed that are still looked at, for being like one that is shown."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A ranked passage with what grouping needs to know of it."""

    passage_id: int
    message_id: int
    session_id: int
    text: str


@dataclass(frozen=True, slots=True)
class Group:
    """A passage to show, and how many further ones it stands for."""

    candidate: Candidate
    similar: int


def group(ranking: Iterable[Candidate], limit: int, per_session: int | None = PER_SESSION) -> list[Group]:
    """At most `limit` groups, in the order of the ranking.

    Passages of one message, and nearly identical passages, become one group. A session gives `per_session` groups
    at first; what is left over fills up the places that no other session takes. With None, only the passages of one
    message are one group.
    """
    from recall import analysis  # not at the top: the help of the command line asks this module for PER_SESSION

    if per_session is None:
        first: dict[int, Candidate] = {}
        for candidate in ranking:
            first.setdefault(candidate.message_id, candidate)
            if len(first) == limit:
                break
        return [Group(candidate, 0) for candidate in first.values()]
    waiting = iter(ranking)
    leaders: list[_Leader] = []
    similar: dict[int, int] = {}
    messages: set[int] = set()
    entitled: dict[int, int] = {}
    for candidate in waiting:
        if candidate.message_id in messages:
            continue
        messages.add(candidate.message_id)
        words = analysis.words(candidate.text)
        if (leader := _alike(candidate, words, leaders)) is not None:
            similar[leader.passage_id] = similar.get(leader.passage_id, 0) + 1
            continue
        leaders.append(_Leader(candidate, words))
        entitled[candidate.session_id] = min(per_session, entitled.get(candidate.session_id, 0) + 1)
        if sum(entitled.values()) >= limit:
            break
    chosen = _without_crowding([leader.candidate for leader in leaders], limit, per_session)
    shown = [leader for leader in leaders if leader.candidate in chosen]
    # What is left is not shown for itself any more: it only counts for those that are.
    for candidate in islice(waiting, COUNTED):
        if candidate.message_id not in messages:
            messages.add(candidate.message_id)
            if (leader := _alike(candidate, analysis.words(candidate.text), shown)) is not None:
                similar[leader.passage_id] = similar.get(leader.passage_id, 0) + 1
    return [Group(candidate, similar.get(candidate.passage_id, 0)) for candidate in chosen]


@dataclass(frozen=True, slots=True)
class _Leader:
    """A candidate that is like none before it."""

    candidate: Candidate
    words: frozenset[str]


def _alike(candidate: Candidate, words: frozenset[str], leaders: Iterable[_Leader]) -> Candidate | None:
    """The first leader that says nearly the same; a short text is alike inside its session only."""
    for leader in leaders:
        if leader.candidate.session_id != candidate.session_id and len(words) < SHORT:
            continue
        if _jaccard(words, leader.words) >= NEAR_DUPLICATE:
            return leader.candidate
    return None


def _without_crowding(candidates: Sequence[Candidate], limit: int, per_session: int) -> list[Candidate]:
    taken: dict[int, int] = {}
    chosen: list[tuple[int, Candidate]] = []
    left_over: list[tuple[int, Candidate]] = []
    for place, candidate in enumerate(candidates):
        count = taken.get(candidate.session_id, 0)
        taken[candidate.session_id] = count + 1
        (chosen if count < per_session else left_over).append((place, candidate))
    first = chosen[:limit]
    first += left_over[: limit - len(first)]
    return [candidate for _, candidate in sorted(first, key=lambda placed: placed[0])]


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    if not a or not b:
        return float(a == b)
    # The sizes alone often rule it out, without building the sets.
    if min(len(a), len(b)) < NEAR_DUPLICATE * max(len(a), len(b)):
        return 0.0
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)
