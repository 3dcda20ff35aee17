"""R51: one long session does not fill every place."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import recall
from recall import Message, Scope, SearchResult, Session

QUERY = "harbor lease expired"
ANSWER = "we fixed harbor lease expiry by renewing at half life"


DIFFERENT = [
    "the crane was turned off by night",
    "nobody had wound up the clock on the quay",
    "anchors need a permit since March",
    "pilots speak another protocol than boats do",
    "tides come twice, our cron job ran once",
    "buoys send their heartbeat through a broken proxy",
]


def add(index: recall.Index, name: str, *texts: str) -> None:
    index.add(Session(name, messages=tuple(Message("assistant", text) for text in texts)))


def search(index: recall.Index, limit: int = 5, query: str = QUERY) -> SearchResult:
    return index.search(query, Scope.everywhere(), limit=limit, mode="lexical")


def noisy(count: int = 30) -> list[str]:
    return [f"retry {number} failed: {QUERY}" for number in range(1, count + 1)]


@pytest.fixture
def index() -> Iterator[recall.Index]:
    with recall.open(":memory:") as index:
        yield index


@pytest.mark.parametrize("noise_first", [True, False])
def test_a_log_that_repeats_itself_leaves_the_answer_in_the_first_two_places(
    index: recall.Index, noise_first: bool
) -> None:
    if noise_first:
        add(index, "S", *noisy())
    add(index, "Q", ANSWER)
    if not noise_first:
        add(index, "S", *noisy())
    result = search(index)
    assert "Q" in [hit.session.id for hit in result][:2]
    assert sum(hit.session.id == "S" for hit in result) <= 2


def test_what_is_shown_once_says_how_many_it_stands_for(index: recall.Index) -> None:
    add(index, "S", *noisy())
    add(index, "Q", ANSWER)
    result = search(index)
    assert sum(1 + hit.similar for hit in result if hit.session.id == "S") == 30


def test_the_text_output_shows_the_count(index: recall.Index) -> None:
    from recall.cli.render import search_text

    add(index, "S", *noisy())
    result = search(index)
    assert "29 similar" in search_text(result, result.hits, 0, explain=False, framed=False)


def test_hundreds_of_repeats_hide_nothing(index: recall.Index) -> None:
    """More than the candidates that one search looks at."""
    add(index, "S", *noisy(600))
    for number, text in enumerate(DIFFERENT):
        add(index, f"Q{number}", f"harbor lease: {text}")
    result = search(index)
    assert len(result) == 5
    assert sum(hit.session.id == "S" for hit in result) <= 2


def test_five_hits_are_given_whenever_five_different_ones_exist(index: recall.Index) -> None:
    add(index, "S", *(f"{QUERY}: {text}" for text in DIFFERENT))
    result = search(index)
    assert len(result) == 5
    assert {hit.session.id for hit in result} == {"S"}


def test_five_different_sessions_come_before_a_third_hit_of_one(index: recall.Index) -> None:
    add(index, "S", *(f"{QUERY}: {text}" for text in DIFFERENT))
    add(index, "mast", "a long story about the mast, in which some lease in the harbor expired at the very end")
    add(index, "sail", "torn sails were sewn before their lease expired; no harbor would have taken them otherwise")
    add(index, "rope", "rope is cheap here, said she, although every harbor whose lease has expired sells it dear")
    result = search(index)
    assert sorted(hit.session.id for hit in result) == ["S", "S", "mast", "rope", "sail"]


def test_texts_that_differ_in_a_word_that_counts_are_both_shown(index: recall.Index) -> None:
    add(index, "A", "the canary harbor lease expired on the first night of the storm and was renewed by the pilot")
    add(index, "B", "a staging harbor lease has expired while everybody slept, so the quay master closed the gate")
    assert {hit.session.id for hit in search(index)} == {"A", "B"}


def test_a_long_message_is_one_hit_however_many_passages_it_has(index: recall.Index) -> None:
    add(index, "S", "\n\n".join(f"paragraph {n}: {QUERY}, said the log. " + "And so on. " * 40 for n in range(20)))
    add(index, "Q", ANSWER)
    result = search(index)
    assert sorted(hit.session.id for hit in result) == ["Q", "S"]
