from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recall
from recall import Message, Scope, Session, copies
from recall.database import Database
from recall.embedding import Vectors
from recall.types import Role

START = datetime(2026, 3, 2, 10, tzinfo=UTC)

TASK = (
    ("user", "why does the lantern key rotate on Fridays?"),
    ("assistant", "a scheduled job in the lighthouse repository rotates it"),
    ("user", "move that to Mondays"),
    ("assistant", "moved: the schedule now says Monday"),
)


class Silent:
    """An embedder that costs nothing: these tests never search by meaning."""

    name = "silent"
    dimension = 2
    max_tokens = 254

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.zeros((len(texts), 2), dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        return np.zeros(2, dtype=np.float32)

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        return [(place, place + 1) for place, c in enumerate(text) if not c.isspace()]


def messages(said: Sequence[tuple[str, str]], start: datetime = START) -> tuple[Message, ...]:
    roles: dict[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool"}
    return tuple(
        Message(roles[role], text, start + timedelta(minutes=place), tool="shell" if role == "tool" else "")
        for place, (role, text) in enumerate(said)
    )


def keyed(said: tuple[Message, ...], first: int) -> tuple[Message, ...]:
    """The messages with ids that are unique in the world, as Claude Code gives them."""
    return tuple(replace(message, key=str(UUID(int=first + place))) for place, message in enumerate(said))


def texts(index: recall.Index, session: str) -> list[str]:
    """What a session owns itself, in order."""
    rows = index.database.rows(
        "select m.text from messages m join sessions s on s.id = m.session_id "
        "where s.name = ? and m.copied_from is null order by m.number",
        (session,),
    )
    return [str(row[0]) for row in rows]


def places(index: recall.Index, query: str) -> list[str]:
    """Ids of the sessions in which the words are found, sorted."""
    return sorted({hit.session.id for hit in index.search(query, Scope.everywhere(), limit=50, mode="lexical")})


@pytest.fixture
def index() -> Iterator[recall.Index]:
    with recall.open(":memory:", Silent()) as index:
        yield index


def test_a_fork_owns_only_what_it_adds(index: recall.Index) -> None:
    own = ("user", "now write a changelog entry")
    index.add(Session("parent", "codex", messages=messages(TASK)))
    report = index.add(
        Session("fork", "codex", forked_from="parent", messages=messages([*TASK, own], START + timedelta(hours=1)))
    )
    assert (report.new_messages, report.copied_messages) == (5, 4)
    assert texts(index, "fork") == [own[1]]
    assert texts(index, "parent") == [text for _, text in TASK]
    assert places(index, "lantern Fridays") == ["parent"]
    assert places(index, "changelog") == ["fork"]


def test_a_fork_from_the_middle_of_its_parent_owns_what_comes_after_that(index: recall.Index) -> None:
    index.add(Session("parent", "codex", messages=messages(TASK)))
    own = (("user", "no: move it to Tuesdays"), ("assistant", "moved to Tuesday"))
    index.add(Session("fork", "codex", forked_from="parent", messages=messages([*TASK[:2], *own])))
    assert texts(index, "fork") == [text for _, text in own]


def test_a_fork_of_a_compacted_parent_begins_in_its_middle(index: recall.Index) -> None:
    index.add(Session("parent", "codex", messages=messages(TASK)))
    forked = messages([*TASK[2:], ("user", "go on")], START + timedelta(hours=1))
    index.add(Session("fork", "codex", forked_from="parent", messages=forked))
    assert texts(index, "fork") == ["go on"]


def test_a_fork_that_says_something_else_from_the_start_keeps_everything(index: recall.Index) -> None:
    index.add(Session("parent", "codex", messages=messages(TASK)))
    index.add(Session("fork", "codex", forked_from="parent", messages=messages([("user", "other work"), TASK[0]])))
    assert texts(index, "fork") == ["other work", TASK[0][1]]


def test_tool_output_behind_the_last_copied_words_is_a_copy_as_long_as_it_is_equal(index: recall.Index) -> None:
    ran = [("tool", "make test"), ("tool", "3 passed")]
    index.add(Session("parent", "codex", messages=messages([*TASK, *ran])))
    index.add(Session("fork", "codex", forked_from="parent", messages=messages([*TASK, *ran, ("tool", "git status")])))
    assert texts(index, "fork") == ["git status"]


def test_a_resumed_session_with_new_ids_is_recognised_by_what_it_says_of_its_parent(index: recall.Index) -> None:
    index.add(Session("first", "claude", messages=keyed(messages(TASK), 1)))
    again = messages([*TASK, ("user", "thanks, now push")], START + timedelta(days=1))
    index.add(Session("resumed", "claude", forked_from="first", messages=keyed(again, 100)))
    assert texts(index, "resumed") == ["thanks, now push"]


@pytest.mark.parametrize("imported_first", [False, True])
def test_an_import_yields_to_the_session_it_was_made_from(index: recall.Index, imported_first: bool) -> None:
    flattened = [*TASK[:2], ("user", "and write it down")]
    original = Session("original", "claude", messages=keyed(messages(TASK), 1))
    imported = Session("imported", "codex", imported=True, messages=messages(flattened, START + timedelta(days=3)))
    for session in (imported, original) if imported_first else (original, imported):
        index.add(session)
    assert texts(index, "original") == [text for _, text in TASK]
    assert texts(index, "imported") == ["and write it down"]
    assert places(index, "lantern Fridays") == ["original"]


def test_an_import_without_its_original_keeps_everything(index: recall.Index) -> None:
    index.add(Session("imported", "codex", imported=True, messages=messages(TASK)))
    assert texts(index, "imported") == [text for _, text in TASK]


def test_unrelated_sessions_may_begin_with_the_same_prompt(index: recall.Index) -> None:
    for day, name in enumerate(("monday", "tuesday")):
        said = [("user", "fix the failing tests"), ("assistant", f"fixed what failed on {name}")]
        index.add(Session(name, "codex", messages=messages(said, START + timedelta(days=day))))
    assert len(texts(index, "monday")) == len(texts(index, "tuesday")) == 2
    assert places(index, "failing tests") == ["monday", "tuesday"]


def test_ids_that_a_local_model_counts_up_in_every_session_prove_no_copy(index: recall.Index) -> None:
    for name in ("monday", "tuesday"):
        said = messages([("user", "fix the failing tests"), ("assistant", f"fixed what failed on {name}")])
        numbered = tuple(replace(message, key=str(place)) for place, message in enumerate(said, 1))
        report = index.add(Session(name, "claude", messages=numbered))
        assert report.copied_messages == 0
    assert len(texts(index, "monday")) == len(texts(index, "tuesday")) == 2


@pytest.mark.parametrize("younger_first", [False, True])
def test_messages_with_one_uuid_and_one_text_belong_to_the_older_session(
    index: recall.Index, younger_first: bool
) -> None:
    shared = keyed(messages(TASK), 1)
    later = keyed(messages([("user", "and now the release notes")], START + timedelta(hours=2)), 50)
    older = Session("older", "claude", started_at=START, messages=shared)
    younger = Session("younger", "claude", started_at=START + timedelta(hours=2), messages=(*shared, *later))
    for session in (younger, older) if younger_first else (older, younger):
        index.add(session)
    assert texts(index, "older") == [text for _, text in TASK]
    assert texts(index, "younger") == ["and now the release notes"]


def test_shared_uuids_are_copies_also_behind_something_new(index: recall.Index) -> None:
    shared = keyed(messages(TASK), 1)
    summary = keyed(messages([("user", "this session is continued from an earlier one")]), 70)
    index.add(Session("older", "claude", started_at=START, messages=shared))
    index.add(Session("younger", "claude", started_at=START + timedelta(hours=1), messages=(*summary, *shared)))
    assert texts(index, "younger") == ["this session is continued from an earlier one"]


def test_a_message_that_shares_its_uuid_but_says_something_else_is_kept(index: recall.Index) -> None:
    shared = keyed(messages(TASK), 1)
    changed = (replace(shared[0], text="why does the harbour bell ring?"), *shared[1:])
    index.add(Session("older", "claude", started_at=START, messages=shared))
    index.add(Session("younger", "claude", started_at=START + timedelta(hours=1), messages=changed))
    assert texts(index, "younger") == ["why does the harbour bell ring?"]


def test_a_message_with_an_id_of_its_own_is_no_copy_where_ids_were_kept(index: recall.Index) -> None:
    older = keyed(messages([("user", "yes"), ("user", "yes")]), 1)
    own = keyed(messages([("user", "yes")], START + timedelta(hours=1)), 100)
    index.add(Session("older", "claude", started_at=START, messages=older))
    index.add(Session("younger", "claude", started_at=START + timedelta(hours=1), messages=(older[0], *own)))
    assert texts(index, "younger") == ["yes"]


def test_adding_a_session_twice_neither_copies_nor_adds(index: recall.Index) -> None:
    session = Session("one", "codex", messages=messages(TASK))
    index.add(session)
    assert index.add(session) == recall.AddReport("one", 0, 0)
    assert len(texts(index, "one")) == 4


def test_a_session_that_names_itself_as_its_parent_keeps_everything(index: recall.Index) -> None:
    index.add(Session("one", "codex", forked_from="one", messages=messages(TASK)))
    assert len(texts(index, "one")) == 4


def test_a_fork_that_grew_since_still_owns_only_what_it_adds(index: recall.Index) -> None:
    index.add(Session("parent", "codex", messages=messages(TASK)))
    index.add(Session("fork", "codex", forked_from="parent", messages=messages(TASK)))
    index.add(Session("fork", "codex", forked_from="parent", messages=messages([*TASK, ("user", "go on")])))
    assert texts(index, "fork") == ["go on"]


@dataclass(frozen=True)
class History:
    """Sessions of one tree of forks, oldest first, and the order in which they are taken in."""

    sessions: tuple[Session, ...]
    order: tuple[int, ...]


@st.composite
def histories(draw: st.DrawFn, by_id: bool | None = None) -> History:
    """Up to four sessions; each but the first copies the beginning of an earlier one, or begins anew.

    A copy is known as one by what the session says of its parent, or by ids that are unique in the world.
    """
    words = st.sampled_from(["yes", "go on", "run the tests", "lantern", "fixed", "灯塔"])
    turns = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), words), min_size=1, max_size=4)
    by_id = draw(st.booleans()) if by_id is None else by_id
    said: list[list[Message]] = []
    sessions: list[Session] = []
    for place in range(draw(st.integers(2, 4))):
        begun = START + timedelta(hours=place)
        parent = draw(st.none() | st.integers(0, place - 1)) if place else None
        copied = [] if parent is None else said[parent][: draw(st.integers(1, len(said[parent])))]
        new = messages(draw(turns))
        own = keyed(new, 1 + 100 * place) if by_id else new
        said.append(
            [replace(message, timestamp=begun + timedelta(minutes=i)) for i, message in enumerate([*copied, *own])]
        )
        forked_from = "" if parent is None or by_id else f"s{parent}"
        sessions.append(
            Session(f"s{place}", "codex", started_at=begun, forked_from=forked_from, messages=tuple(said[place]))
        )
    return History(tuple(sessions), tuple(draw(st.permutations(range(len(sessions))))))


def outcome(sessions: Sequence[Session]) -> dict[str, list[str]]:
    with recall.open(":memory:", Silent()) as index:
        for session in sessions:
            index.add(session)
        return {session.id: texts(index, session.id) for session in sessions}


@settings(max_examples=40, deadline=None)
@given(histories())
def test_the_order_in_which_sessions_are_taken_in_makes_no_difference(history: History) -> None:
    assert outcome([history.sessions[place] for place in history.order]) == outcome(history.sessions)


@settings(max_examples=30, deadline=None)
@given(histories(by_id=False), st.randoms(use_true_random=False))
def test_forks_that_grow_bit_by_bit_end_as_if_taken_in_at_once(history: History, chance: random.Random) -> None:
    whole = outcome(history.sessions)
    with recall.open(":memory:", Silent()) as index:
        for session in history.sessions:
            cut = chance.randint(1, len(session.messages))
            index.add(replace(session, messages=session.messages[:cut]))
        for session in history.sessions:
            index.add(session)
        assert {session.id: texts(index, session.id) for session in history.sessions} == whole


@settings(max_examples=30, deadline=None)
@given(histories())
def test_nothing_that_was_said_is_lost(history: History) -> None:
    said = {(message.role, message.text) for session in history.sessions for message in session.messages}
    kept = {text for texts in outcome(history.sessions).values() for text in texts}
    assert {text for _, text in said} == kept


@settings(max_examples=30, deadline=None)
@given(histories())
def test_what_is_a_copy_can_no_longer_be_found(history: History) -> None:
    with recall.open(":memory:", Silent()) as index:
        for session in history.sessions:
            index.add(session)
        copies = (
            "select count(*) from passages p join messages m on m.id = p.message_id where m.copied_from is not null"
        )
        assert index.database.value(copies) == 0
        indexed = index.database.value("select count(*) from lexical")
        assert indexed == index.counts()["passages"]


@pytest.mark.parametrize("query", [copies._RELATED, copies._SHARES_UUID, copies._EQUAL_KEYS])
def test_no_session_is_compared_with_all_messages_of_the_archive(query: str) -> None:
    values = {"session": 1, "first_new": 1} if ":session" in query else (1, 2)
    plan = [str(row[3]) for row in Database(None).connection.execute(f"explain query plan {query}", values)]
    assert not [step for step in plan if step.startswith("SCAN")]
