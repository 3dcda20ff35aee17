"""Prompts whose transcript is gone are found, as what they are; a prompt that a transcript tells is stored once."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Home
from transcript_lines import append, claude_lines, codex_lines, uid, write

import recall
from recall import Message, Scope, Session

EVERYWHERE = Scope.everywhere()
S1, S2, S3 = uid(0xE1), uid(0xE2), uid(0xE3)
KITE = "/srv/kite"
WORD = "zyxquelmor"


def typed(minute: float, text: str, session: str = "", project: str = KITE, **more: Any) -> str:
    """A line of Claude Code's history."""
    named = {"sessionId": session} if session else {}
    time = round(1_772_445_600_000 + minute * 60_000)  # as at()
    return json.dumps({"display": text, "pastedContents": {}, "timestamp": time, "project": project, **named, **more})


def history(home: Home, *lines: str) -> Path:
    return write(home.claude.parent / "history.jsonl", list(lines))


def transcript(
    home: Home, session: str, *said: tuple[str, str], start: float = 0, first: int = 1, cwd: str = KITE
) -> Path:
    return write(
        home.claude / "-srv-kite" / f"{session}.jsonl", claude_lines(session, cwd, *said, start=start, first=first)
    )


def stored(index: recall.Index) -> list[tuple[str, str]]:
    """(session, text) of every message that is no copy."""
    sql = """select s.name, m.text from messages m join sessions s on s.id = m.session_id
             where m.copied_from is null order by s.name, m.number"""
    return [(str(name), str(text)) for name, text in index.database.rows(sql)]


def test_a_prompt_whose_transcript_is_gone_is_found_as_what_it_is(home: Home, index: recall.Index) -> None:
    path = history(home, typed(0, "why does the lantern flicker?", S1), typed(1, "/clear"), typed(2, " "))
    [report] = index.ingest().files
    assert (report.path, report.status, report.new_messages) == (str(path), "new", 1)
    [hit] = index.search("lantern", Scope.repository(KITE), mode="lexical")
    assert (hit.ref, hit.role, hit.session.agent) == (f"{S1}:1", "user", "claude")
    assert hit.session.title == "(prompts only) why does the lantern flicker?"
    assert hit.session.prompts_only
    assert hit.resume == ""
    assert (hit.source.path, hit.source.line) == (str(path), 1)
    assert hit.session.source == str(path)


def test_a_history_that_grew_is_read_from_there(home: Home, index: recall.Index) -> None:
    path = history(home, typed(0, "first"), typed(1, "second"))
    index.ingest()
    assert [file.status for file in index.ingest().files] == ["unchanged"]
    append(path, [typed(2, "third"), typed(500, "much later")])
    [report] = index.ingest().files
    assert (report.status, report.new_messages) == ("updated", 2)
    assert [text for _, text in stored(index)].count("third") == 1
    sessions = {
        name: [text for _, text in group] for name, group in itertools.groupby(stored(index), lambda one: one[0])
    }
    assert sorted(sessions.values()) == [["first", "second", "third"], ["much later"]]
    lines = path.read_text(encoding="utf-8").splitlines()
    write(path, [typed(-900, "older"), *lines])  # written anew, so it is read from its beginning
    assert index.ingest().new_messages == 1


SAID = (("user", "where is the heron?"), ("assistant", "on the pier"), ("user", "ok"))


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("first", ["history", "transcript"])
def test_a_prompt_that_a_transcript_tells_is_stored_once_whatever_was_read_first(
    home: Home, index: recall.Index, first: str, named: bool
) -> None:
    name = S1 if named else ""
    here = str(home.root)  # exists, so that the session can be reopened
    prompts = ((0, SAID[0][1], name), (2.1, "ok", name), (300, "lost with its session", ""))
    told = history(home, *(typed(minute, text, session, here) for minute, text, session in prompts))
    path = transcript(home, S1, *SAID, cwd=here)
    for one in (told, path) if first == "history" else (path, told):
        index.ingest([one])
    texts = [text for _, text in stored(index)]
    assert sorted(texts) == sorted([*(text for _, text in SAID), "lost with its session"])
    [session] = [one for one in index.recent(EVERYWHERE) if one.id == S1]
    assert (session.title, session.prompts_only, session.resume) == (SAID[0][1], False, f"claude --resume {S1}")
    append(path, claude_lines(S1, KITE, ("user", "and the quay?"), start=9, first=50))
    append(told, [typed(9, "and the quay?", name)])
    index.ingest()
    assert [text for _, text in stored(index)].count("and the quay?") == 1


@pytest.mark.parametrize("first", ["history", "fork"])
def test_a_prompt_that_a_fork_still_tells_is_stored_once(home: Home, index: recall.Index, first: str) -> None:
    told = history(home, typed(0, SAID[0][1], S1), typed(30, "only in the parent", S1))
    fork = transcript(home, S2, *SAID, first=70)
    for one in (told, fork) if first == "history" else (fork, told):
        index.ingest([one])
    assert stored(index) == [(S1, "only in the parent"), *((S2, text) for _, text in SAID)]
    [session] = [one for one in index.recent(EVERYWHERE) if one.id == S1]
    assert session.title == "(prompts only) only in the parent"


def test_default_ingest_reads_the_history_last_and_stores_no_prompt_twice(home: Home, index: recall.Index) -> None:
    history(home, *(typed(minute, text, S1) for minute, (role, text) in enumerate(SAID) if role == "user"))
    transcript(home, S1, *SAID)
    files = index.ingest().files
    assert [Path(file.path).name for file in files] == [f"{S1}.jsonl", "history.jsonl"]
    assert [text for _, text in stored(index)] == [text for _, text in SAID]
    assert index.problems() == []


def test_the_history_of_codex_is_taken_in_without_a_directory(home: Home, index: recall.Index) -> None:
    line = {"session_id": S1, "ts": 1_772_445_600, "text": "where is the heron?"}
    write(home.codex.parent / "history.jsonl", [json.dumps(line)])
    assert index.ingest().new_messages == 1
    [session] = index.recent(EVERYWHERE)
    assert (session.agent, session.repository, session.resume) == ("codex", "", "")
    write(home.codex / f"rollout-{S1}.jsonl", codex_lines(S1, KITE, SAID[0], SAID[1]))
    index.ingest()
    assert stored(index) == [(S1, SAID[0][1]), (S1, SAID[1][1])]


def test_nothing_of_an_excluded_directory_comes_in_by_a_history(home: Home) -> None:
    history(home, typed(0, "secret heron", S1), typed(1, "open heron", S2, project="/srv/open"))
    line = {"session_id": S3, "ts": 1_772_445_600, "text": "of an unknown directory"}
    write(home.codex.parent / "history.jsonl", [json.dumps(line)])
    with recall.open(exclude=[KITE]) as index:
        index.ingest()
        assert stored(index) == [(S2, "open heron")]


def test_what_is_private_in_a_prompt_is_not_stored(home: Home, index: recall.Index) -> None:
    history(
        home,
        typed(0, "do not remember this: the heron", S1),
        typed(1, "<private>heron</private>", S1),
        typed(2, "the harbor", S1),
        typed(3, "the quay", S2),
        typed(4, "do not remember this session", S2),
    )
    index.ingest()
    assert stored(index) == [(S1, "the harbor")]


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("way", [{"session": S1}, {"repository": KITE}, {"match": WORD}], ids=str)
@pytest.mark.parametrize("stays", [True, False])
def test_forgotten_prompts_stay_forgotten(
    home: Home, index: recall.Index, way: dict[str, str], named: bool, stays: bool
) -> None:
    said = (("user", f"the {WORD}"), ("assistant", f"{WORD} it is"))
    transcript(home, S1, *said)
    index.ingest()
    if not stays:
        (home.claude / "-srv-kite" / f"{S1}.jsonl").unlink()
    index.forget(**way)
    path = history(home, typed(0, f"the {WORD}", S1 if named else ""), typed(1, "elsewhere", S2, project="/srv/q"))
    index.ingest()
    assert stored(index) == [(S2, "elsewhere")]
    index.forget(match="elsewhere")
    append(path, [typed(2, "new", S3)])
    write(path, path.read_text(encoding="utf-8").splitlines()[1:])
    index.ingest()
    assert stored(index) == [(S3, "new")]
    assert all(WORD[2:].encode() not in file.read_bytes() for file in home.recall.iterdir() if file.is_file())


def test_a_session_from_memory_takes_the_place_of_its_prompts(home: Home, index: recall.Index) -> None:
    history(home, typed(0, "where is the heron?", S1))
    index.ingest()
    index.add(Session(S1, messages=(Message("user", "where is the heron?"), Message("assistant", "here"))))
    assert stored(index) == [(S1, "where is the heron?"), (S1, "here")]
