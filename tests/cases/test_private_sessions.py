"""A session that its user asks not to remember is taken out, down to the bytes of the files, and others stay."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from conftest import Home
from hashed import Hashed, holding_vector
from planted import Secret, left_in
from transcript_lines import append, at, codex_lines, cx_msg, said_lines, session_lines, uid, write

import recall
from recall import Message, Scope, Session, reading
from recall.transcripts import lines

EVERYWHERE = Scope.everywhere(subagents=True)
S1, S2 = uid(0xA1), uid(0xA2)
ASKED = "what holds the lantern?"
FIRST = f"{ASKED} pelican-meadow-3141-granite"
VAULT = {"vault": Secret("", "pelican-meadow-3141-granite")}


def transcript(home: Home, agent: str, name: str, *said: tuple[str, str], start: int = 0) -> Path:
    folder = home.codex / "2026" if agent == "codex" else home.claude / "-srv-kite"
    return write(folder / f"{name}.jsonl", session_lines(agent, name, "/srv/kite", *said, start=start))


def texts(index: recall.Index, name: str) -> list[str]:
    """The stored texts of a session; none where it is not there."""
    refs = [session.first_ref for session in index.recent(EVERYWHERE, limit=100) if session.id == name]
    return [message.text for ref in refs for message in index.show(ref, before=0, after=200)]


NO_SESSION = [
    "do not remember this session",
    "Thanks! Please don't keep this conversation.",
    "不要记住这次会话",
    "好了。请不要保存本次对话",
    "别记录这个聊天",
    "so far so good\n<private-session>\nthe rest",
    "  <private-session/>  ",
]


@pytest.mark.parametrize(("phrase", "agent"), list(zip(NO_SESSION, cycle(["codex", "claude"]), strict=False)))
def test_a_session_not_to_be_remembered_goes_down_to_the_last_byte_and_others_stay(
    home: Home, agent: str, phrase: str
) -> None:
    said = [("user", FIRST), ("assistant", "the wick"), ("tool", "pelican-meadow-3141-granite")]
    path = transcript(home, agent, S1, *said)
    transcript(home, agent, S2, ("user", "a harbor of its own"), ("assistant", "heron"), start=50)
    with recall.open(embedder=Hashed()) as index:
        assert index.ingest().new_messages == 6
        index.embed()
        assert left_in(home.recall, VAULT) != {}
        assert holding_vector(home.recall, FIRST) != []
        append(path, said_lines(agent, S1, "/srv/kite", 9, "user", phrase))
        report = {Path(file.path): file for file in index.ingest().files}
        assert report[path].status == "excluded"
        assert "asked not to remember" in report[path].reason
        assert left_in(home.recall, VAULT) == {}
        assert holding_vector(home.recall, FIRST) == holding_vector(home.recall, "the wick") == []
        assert holding_vector(home.recall, "a harbor of its own") != []
        assert [session.id for session in index.recent(EVERYWHERE)] == [S2]
        assert f"{S2}:1" in [hit.ref for hit in index.search("harbor", EVERYWHERE)]
        assert {hit.session.id for hit in index.search("lantern wick", EVERYWHERE)} <= {S2}
    assert left_in(home.recall, VAULT) == {}


def test_a_session_not_to_be_remembered_is_not_read_again_until_it_grows(
    home: Home, index: recall.Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = transcript(home, "codex", S1, ("user", FIRST), ("user", NO_SESSION[0]))
    assert [file.status for file in index.ingest().files] == ["excluded"]
    read: list[Path] = []
    original = lines.read_lines

    def noted(path: Path, read_to: int) -> Iterator[Any]:
        read.append(path)
        return original(path, read_to)

    monkeypatch.setattr("recall.reading.read_lines", noted)
    index.ingest()
    assert read == []
    append(path, [cx_msg(at(9), "user", "one more about pelican-meadow-3141-granite")])
    assert [file.status for file in index.ingest().files] == ["excluded"]
    assert read == [path]
    assert index.counts()["sessions"] == 0
    assert left_in(home.recall, VAULT) == {}


def test_a_long_session_is_forgotten_also_where_the_wish_comes_batches_later(
    home: Home, index: recall.Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BATCH_MESSAGES", 2)
    said = [("user", f"lantern {number} pelican-meadow-3141-granite") for number in range(9)]
    index.ingest([transcript(home, "claude", S1, *said, ("user", NO_SESSION[0]), ("assistant", "well"))])
    assert index.counts()["messages"] == 0
    assert left_in(home.recall, VAULT) == {}


def test_a_session_from_memory_is_forgotten_too(home: Home, index: recall.Index) -> None:
    said = (Message("user", FIRST), Message("assistant", "the wick"))
    assert index.add(Session(S1, messages=said)).new_messages == 2
    report = index.add(Session(S1, messages=(*said, Message("user", NO_SESSION[0]))))
    assert (report.new_messages, bool(report.excluded)) == (0, True)
    assert index.counts()["sessions"] == 0
    assert left_in(home.recall, VAULT) == {}


def test_what_a_fork_copied_of_a_forgotten_session_goes_and_what_it_added_stays(
    home: Home, index: recall.Index
) -> None:
    said = [("user", ASKED), ("assistant", "the wick: pelican-meadow-3141-granite")]
    path = write(home.codex / f"rollout-{S1}.jsonl", codex_lines(S1, "/srv/kite", *said))
    fork = codex_lines(S2, "/srv/kite", *said, ("user", "and the harbor?"), start=60, forked_from_id=S1)
    write(home.codex / f"rollout-{S2}.jsonl", fork)
    index.ingest()
    append(path, [cx_msg(at(9), "user", NO_SESSION[0])])
    index.ingest()
    assert index.counts()["messages"] == 1
    assert texts(index, S2) == ["and the harbor?"]
    assert left_in(home.recall, VAULT) == {}
