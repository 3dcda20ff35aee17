"""Marks know what was forgotten in any copy of it, and nothing else; without the key they say nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall import marks
from recall.database import Database
from recall.marks import Marks, Said

KEYED = Marks(b"k" * 32)
messages = st.lists(
    st.builds(Said, st.integers(1, 6), st.sampled_from(["user", "assistant", "tool"]), st.none()),
    min_size=2,
    max_size=9,
)


@pytest.fixture(scope="module")
def database() -> Database:
    return Database(None)


def known(database: Database, made: set[int], said: list[Said], key: Marks = KEYED, session: str = "other") -> set[int]:
    with database.write() as connection:
        connection.execute("delete from forgotten_messages")
        marks.put(connection, made)
    return key.known(database.connection, said, None, [session])


@given(said=messages, more=messages)
def test_a_copy_is_known_whatever_follows_it(database: Database, said: list[Said], more: list[Said]) -> None:
    made = KEYED.of_messages(said, range(len(said)), "s")
    found = known(database, made, [*said, *more], session="s")
    spoken = [i for i, one in enumerate(said) if one.was_spoken]
    # A call of a tool before anything was said has nothing by which it could be known but its session.
    assert set(range(len(said))) - found <= (set(range(spoken[0])) if spoken else set())


@given(said=messages)
def test_under_another_key_nothing_is_known(database: Database, said: list[Said]) -> None:
    made = KEYED.of_messages(said, range(len(said)), "s") | KEYED.of_texts(said)
    assert known(database, made, said, Marks(b"l" * 32), "s") == set()


def test_the_same_text_beside_others_is_not_known(database: Database) -> None:
    ok, lamp, heron, quay = (Said(number, "user", None) for number in (1, 2, 3, 4))
    made = KEYED.of_messages([lamp, ok, heron], range(3), "s")
    assert known(database, made, [quay, ok, quay, heron, lamp]) == set()
    assert known(database, made, [quay, ok, heron]) == {1, 2}


def test_what_was_chosen_by_its_text_is_known_everywhere(database: Database) -> None:
    ok, quay = Said(1, "user", None), Said(4, "user", None)
    assert known(database, KEYED.of_texts([ok]), [quay, ok, quay]) == {1}


@pytest.mark.parametrize(("later", "is_known"), [(0, True), (61_000, True), (200_000, False)])
def test_what_a_person_said_is_known_by_its_minute(database: Database, later: int, is_known: bool) -> None:
    made = KEYED.of_messages([Said(1, "user", 1_000_000)], [0], "s")
    assert known(database, made, [Said(1, "user", 1_000_000 + later)]) == ({0} if is_known else set())


def test_only_the_chosen_messages_are_known(database: Database) -> None:
    said = [Said(number, "user", None) for number in range(1, 6)]
    assert known(database, KEYED.of_messages(said, [2], "s"), said, session="s") == {2}
