from __future__ import annotations

import contextlib
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recall
from recall.database import Database
from recall.lexical import REPOSITORY
from recall.soundness import _block, _varints, damages, segments


def grow(opened: Database, first: int, texts: Sequence[str]) -> None:
    """Store messages with a passage each, in one transaction."""
    with opened.write() as connection:
        connection.execute("insert or ignore into sessions (id, name, agent, title, preview, cwd, worktree_id, branch, remote, parent, forked_from, imported) values (1, 's', '', '', '', '', 0, '', '', '', '', 0)")  # fmt: skip  # noqa: E501
        for id, text in enumerate(texts, first):
            connection.execute("insert into messages (id, session_id, number, role, tool, text, files, line, key, digest, occurrence, worktree_id, branch, subagent) values (?, 1, ?, 'user', '', ?, '', 0, ?, 0, 1, 0, '', 0)", (id, id, text, f"k{id}"))  # fmt: skip  # noqa: E501
            connection.execute("insert into passages (id, message_id, session_id, repository_id, worktree_id, role, subagent, start_at, end_at, embeddable, length) values (?, ?, 1, 0, 0, 'user', 0, 0, 9, 1, 12)", (id, id))  # fmt: skip  # noqa: E501
            connection.execute("insert into lexical (rowid, terms) values (?, ?)", (id, f"{REPOSITORY}0 {text}"))


def test_an_index_that_grows_shrinks_and_is_merged_is_never_taken_for_damaged() -> None:
    """Its parts are merged little by little, and are then whole without their first pages, or without any."""
    draw = random.Random(3)
    opened = Database(None)
    opened.connection.execute("insert into lexical (lexical, rank) values ('pgsz', 64)")  # many pages for few words
    opened.connection.execute("insert into lexical (lexical, rank) values ('usermerge', 2)")
    has_seen_a_merge = False
    first = 1
    for turn in range(120):
        words = [f"w{draw.randrange(3_000)}" for _ in range(draw.choice((3, 30, 300)))]
        texts = [" ".join(draw.choices(words, k=12)) for _ in range(draw.choice((1, 5, 40)))]
        grow(opened, first, texts)
        first += len(texts)
        if turn % 7 == 3:
            gone = draw.sample(range(1, first), min(first - 1, 9))
            with opened.write() as connection:
                for id in gone:
                    connection.execute("delete from lexical where rowid in (select id from passages where id = ?)", (id,))  # fmt: skip  # noqa: E501
                    connection.execute("delete from messages where id = ?", (id,))
        with opened.write() as connection:
            connection.execute("insert into lexical (lexical, rank) values ('merge', ?)", (draw.choice((1, 4, -2)),))
        assert damages(opened.connection, counted=turn % 5 == 0) == []
        structure = _block(opened.connection, 10)
        assert structure is not None
        has_seen_a_merge |= any(begin > 1 for _, begin, _ in segments(structure))
    assert has_seen_a_merge
    opened.close()


def test_an_empty_archive_is_sound() -> None:
    opened = Database(None)
    assert damages(opened.connection, counted=True) == []
    opened.close()


def test_an_archive_whose_messages_are_gone_is_damaged_itself() -> None:
    opened = Database(None)
    opened.connection.execute("drop table passages")
    opened.connection.execute("drop table messages")
    with pytest.raises(recall.DatabaseError), opened.read() as connection:
        damages(connection)
    opened.close()


def packed(number: int) -> bytes:
    """As SQLite writes integers."""
    if number >= 1 << 56:
        high = number >> 8
        return bytes([0x80 | (high >> shift) & 0x7F for shift in range(49, -1, -7)]) + bytes([number & 0xFF])
    parts = [number & 0x7F]
    while number := number >> 7:
        parts.append(0x80 | number & 0x7F)
    return bytes(reversed(parts))


@given(st.lists(st.integers(0, 2**64 - 1)))
def test_numbers_are_read_as_sqlite_packs_them(numbers: list[int]) -> None:
    assert _varints(b"".join(map(packed, numbers))) == numbers


@given(st.binary(max_size=200))
def test_no_record_is_read_for_ever_or_as_something_else(record: bytes) -> None:
    with contextlib.suppress(IndexError):
        assert all(first > 0 for _, first, _ in segments(record))
