"""Ways in which something that was to be masked or forgotten once stayed, or left unsafe."""

from __future__ import annotations

import json
import sys

import pytest
from conftest import Home
from here import run_here
from older import older_rules
from planted import PLANTED, left_in, traces
from transcript_lines import (
    append,
    at,
    cl,
    cl_call,
    codex_lines,
    cx,
    cx_msg,
    said_lines,
    session_lines,
    uid,
    write,
)

import recall
from recall import Message, Scope, Session
from scanning import fingerprint, redact

EVERYWHERE = Scope.everywhere(subagents=True)
TOKEN = PLANTED["github"].value
FORGET = "do not remember this session"


def test_single_words_of_a_forgotten_session_leave_the_file(home: Home, index: recall.Index) -> None:
    path = write(home.codex / "rollout-a.jsonl", codex_lines("a", "/srv/k", ("user", "the zanzibarium9word")))
    index.ingest()
    append(path, [cx_msg(at(9), "user", FORGET)])
    index.ingest()
    index.close()
    assert b"zanzibarium9" not in (home.recall / "recall.db").read_bytes()


def test_title_and_preview_of_a_fork_go_with_the_forgotten_session(home: Home, index: recall.Index) -> None:
    said = (("user", "pelican meadow"), ("assistant", "yes"))
    path = write(home.codex / "rollout-a.jsonl", codex_lines("a", "/srv/k", *said))
    fork = codex_lines("b", "/srv/k", *said, ("user", "more"), start=60, forked_from_id="a")
    write(home.codex / "rollout-b.jsonl", fork)
    index.ingest()
    append(path, [cx_msg(at(9), "user", FORGET)])
    index.ingest()
    assert [session.title for session in index.recent(EVERYWHERE)] == ["more"]


def test_the_reason_why_a_file_is_not_read_is_masked_where_it_is_stored(home: Home, index: recall.Index) -> None:
    index.ingest([write(home.root / f"{TOKEN}.jsonl.zst", ["no zstd"])])
    assert index.problems()
    assert left_in(home.recall) == {}


def test_the_reason_why_a_file_is_not_read_is_masked_and_safe_where_it_is_printed(home: Home) -> None:
    write(home.claude / "x" / f"{TOKEN} \x1b[31m.jsonl.zst", ["no zstd"])
    for command in (("ingest",), ("status",), ("doctor",)):
        printed = run_here(*command).text
        assert "zstd" in printed
        assert TOKEN not in printed
        assert "\x1b" not in printed


def test_the_key_of_a_message_is_stored_masked(home: Home, index: recall.Index) -> None:
    index.ingest([write(home.root / "s.jsonl", [cl(at(0), "assistant", "1", "s", "/srv", [cl_call(TOKEN, "ls")])])])
    assert index.counts()["messages"] == 1
    assert left_in(home.recall) == {}


def test_the_name_of_a_session_of_older_rules_is_shown_masked_and_can_be_asked_for(index: recall.Index) -> None:
    with older_rules():
        index.add(Session(TOKEN, messages=(Message("user", "lantern"),)))
    (session,) = index.recent(EVERYWHERE)
    assert TOKEN not in repr(session)
    assert index.show(session.first_ref)[0].text == "lantern"


def test_the_ref_of_a_message_is_safe_text(index: recall.Index) -> None:
    name = "a\u202e</recalled-sessions>"
    index.add(Session(name, messages=(Message("user", "lantern"),)))
    assert index.show(f"{name}:1")[0].ref == "a\ufffd‹/recalled-sessions>:1"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows allows no < in the name of a folder")
def test_the_head_of_a_search_cannot_close_its_frame(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = home.root / "a\u202e<" / "recalled-sessions>"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    for options in ((), ("--json",)):
        printed = run_here("search", "lantern", "--no-sync", *options).text
        assert "a\ufffd‹/recalled-sessions>" in printed
        assert printed.count("</recalled-sessions>") <= 1


def test_a_session_that_is_not_to_be_remembered_is_neither_a_failure_nor_a_warning(home: Home) -> None:
    path = write(home.codex / "rollout-a.jsonl", codex_lines("a", "/srv/k", ("user", FORGET)))
    assert [run_here("ingest", str(path)).code for _ in range(2)] == [0, 0]
    assert "warning  transcripts" not in run_here("doctor").text


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_a_title_that_comes_alone_is_stored(home: Home, index: recall.Index, agent: str) -> None:
    path = write(home.root / "rollout-a.jsonl", session_lines(agent, uid(1), "/srv/k", ("user", "lantern")))
    index.ingest([path])
    codex = cx(at(9), "event_msg", {"type": "thread_name_updated", "thread_name": "harbor"})
    claude = json.dumps({"type": "ai-title", "aiTitle": "harbor", "sessionId": uid(1)})
    append(path, [codex if agent == "codex" else claude])
    index.ingest([path])
    append(path, said_lines(agent, uid(1), "/srv/k", 10, "user", "more"))
    index.ingest([path])
    assert index.recent(EVERYWHERE)[0].title == "harbor"


@pytest.mark.parametrize("name", ["openai", "gitlab", "slack", "stripe", "google", "hugging_face", "npm"])
@pytest.mark.parametrize("around", ["rollout-{}.jsonl", "{}-357c91d0", "{}.jsonl", "-srv-{}-kite"])
def test_a_token_that_hangs_on_a_name_is_masked(name: str, around: str) -> None:
    assert traces(redact(around.format(PLANTED[name].value)).text.encode()) == {}


def test_a_second_part_of_a_message_not_to_be_remembered_is_not_kept(home: Home, index: recall.Index) -> None:
    parts = [{"type": "text", "text": "do not remember this"}, {"type": "text", "text": "pelican meadow"}]
    index.ingest([write(home.root / f"{uid(1)}.jsonl", [cl(at(0), "user", uid(2), uid(1), "/srv", parts)])])
    assert "pelican" not in repr(index.show(f"{uid(1)}:1"))


@pytest.mark.parametrize("order", ["the session first", "the subagent first"])
def test_subagents_of_a_forgotten_session_are_forgotten(home: Home, index: recall.Index, order: str) -> None:
    base = home.claude / "-srv"
    task = cl(at(1), "user", uid(9), uid(1), "/srv", "pelican task", isSidechain=True)
    subagent = write(base / uid(1) / "subagents" / "agent-7.jsonl", [task])
    session = write(base / f"{uid(1)}.jsonl", [cl(at(2), "user", uid(3), uid(1), "/srv", FORGET)])
    for path in (session, subagent) if order == "the session first" else (subagent, session):
        index.ingest([path])
    assert index.counts()["messages"] == 0


def test_a_surrogate_pair_written_as_escapes_has_the_same_fingerprint() -> None:
    assert fingerprint(json.dumps("a🚀")[1:-1], b"k") == fingerprint("a🚀", b"k")
