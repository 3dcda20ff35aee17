"""A full disk: nothing is stored by halves, one clear line, and the same command goes on once there is room."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from conftest import Home
from hashed import Hashed
from transcript_lines import append, claude_lines, codex_lines, uid, write

import recall
from recall import DatabaseError, Message, Scope, Session

SESSIONS, EACH = 4, 40
PAGES_LEFT = (1, 16)


def fill(home: Home) -> None:
    for number in range(SESSIONS):
        said = [("user", f"lantern {number} {place} {'quay harbor ' * 40}") for place in range(EACH)]
        write(home.codex / f"rollout-{number}.jsonl", codex_lines(uid(number), "/srv/kite", *said, start=number))


def full(index: recall.Index, pages: int) -> None:
    """Let SQLite find no room for more than so many pages; it then gives the error of a full disk."""
    used = index.database.value("pragma page_count")
    index.database.connection.execute(f"pragma max_page_count = {used + pages}")


def with_room(index: recall.Index) -> None:
    index.database.connection.execute("pragma max_page_count = 4294967294")


def add(index: recall.Index) -> None:
    index.add(Session("own", messages=tuple(Message("user", f"beacon {n} {'quay ' * 120}") for n in range(200))))


def embed(index: recall.Index) -> None:
    index.embed()


def ingest(index: recall.Index) -> None:
    index.ingest()


@pytest.mark.parametrize("pages", PAGES_LEFT)
@pytest.mark.parametrize("command", [ingest, add, embed], ids=lambda command: command.__name__)
def test_what_finds_no_room_is_undone_and_said_and_done_later(
    home: Home, command: Callable[[recall.Index], None], pages: int
) -> None:
    fill(home)
    with recall.open(embedder=Hashed()) as index:
        index.add(Session("before", messages=(Message("user", "the kestrel was here before"),)))
        if command is embed:
            index.ingest()
        full(index, min(pages, 3) if command is embed else pages)
        with pytest.raises(DatabaseError, match=r"the disk is full.*free some space") as caught:
            command(index)
        assert str(home.recall / "recall.db") in str(caught.value)
        assert index.search("kestrel", Scope.everywhere(), mode="lexical")[0].ref == "before:1"
        index.mend()
        assert index.repaired == []
        with_room(index)
        command(index)
        ingest(index)
        embed(index)
        index.mend()
        assert index.repaired == []
        counts = index.counts()
        assert counts["messages"] == SESSIONS * EACH + 1 + (200 if command is add else 0)
        assert counts["without_vector"] == 0
        assert index.ingest().new_messages == 0


def test_room_that_is_free_again_is_enough_for_the_next_message(home: Home) -> None:
    path = write(home.claude / "kite" / "a.jsonl", claude_lines(uid(1), "/srv/kite", ("user", "lantern one")))
    with recall.open(embedder=Hashed()) as index:
        index.ingest()
        append(path, claude_lines(uid(1), "/srv/kite", ("assistant", "lantern two " * 3_000), first=9))
        full(index, 0)
        with pytest.raises(DatabaseError, match="disk is full"):
            index.ingest()
        with_room(index)
        assert index.ingest().new_messages == 1
