"""What a person asked not to keep never reaches the disk: spans, and messages with their turns."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pytest
from conftest import Home
from hashed import Hashed
from planted import Secret, left_in
from transcript_lines import (
    append,
    at,
    cl,
    cl_call,
    cl_result,
    cx,
    cx_call,
    cx_meta,
    cx_msg,
    cx_output,
    session_lines,
    uid,
    write,
)

import recall
from recall import Message, Scope, Session, reading

EVERYWHERE = Scope.everywhere(subagents=True)
S1 = uid(0xA1)
ASKED = "what holds the lantern?"
AGENTS = ["codex", "claude"]


def texts(index: recall.Index, name: str) -> list[str]:
    """The stored texts of a session; none where it is not there."""
    refs = [session.first_ref for session in index.recent(EVERYWHERE, limit=100) if session.id == name]
    return [message.text for ref in refs for message in index.show(ref, before=0, after=200)]


def transcript(home: Home, agent: str, *said: tuple[str, str]) -> Path:
    """A session of (role, text) messages: role `tool` is a command and what it printed."""
    return write(home.root / f"{S1}.jsonl", session_lines(agent, S1, "/srv/kite", *said))


# Spans

HIDDEN = {
    name: Secret("", f"{word}-meadow-{number}-granite-owl")
    for number, (name, word) in enumerate(
        {"user": "pelican", "input": "heron", "output": "osprey", "title": "curlew", "answer": "plover",
         "unclosed": "bittern", "nested": "sandpiper", "inner": "avocet", "escaped": "dunlin"}.items(), 3141
    )
}  # fmt: skip


def span(name: str) -> str:
    return f"<private>{HIDDEN[name].body}</private>"


SPANS = {
    "user": f"{ASKED} {span('user')} beside the span",
    "answer": f"the wick {span('answer')} holds it",
    "input": f"echo lantern {span('input')} > wick.txt",
    "output": f"lantern printed {span('output')} end",
    "nested": f"outer <PRIVATE>{HIDDEN['nested'].body} {span('inner')} {HIDDEN['nested'].body}</private > after",
    "escaped": json.dumps({"note": span("escaped")}).replace("<", "\\u003c").replace(">", "\\u003e"),
    "unclosed": f"harbor, then <private>{HIDDEN['unclosed'].body}",
}


def codex_with_spans() -> list[str]:
    return [
        cx_meta(at(0), S1, "/srv/kite"),
        cx_msg(at(1), "user", SPANS["user"]),
        cx_msg(at(2), "assistant", SPANS["answer"]),
        cx_call(at(3), "c1", SPANS["input"]),
        cx_output(at(4), "c1", SPANS["output"]),
        cx_msg(at(5), "user", SPANS["nested"]),
        cx_output(at(6), "c2", SPANS["escaped"]),
        cx_msg(at(7), "user", SPANS["unclosed"]),
        cx(at(8), "event_msg", {"type": "thread_name_updated", "thread_name": f"lantern {span('title')}"}),
    ]


def claude_with_spans() -> list[str]:
    return [
        cl(at(0), "user", uid(1), S1, "/srv/kite", SPANS["user"]),
        cl(at(1), "assistant", uid(2), S1, "/srv/kite", [{"type": "text", "text": SPANS["answer"]}]),
        cl(at(2), "assistant", uid(3), S1, "/srv/kite", [cl_call("t1", SPANS["input"])]),
        cl(at(3), "user", uid(4), S1, "/srv/kite", [cl_result("t1", SPANS["output"])]),
        cl(at(4), "user", uid(5), S1, "/srv/kite", SPANS["nested"]),
        cl(at(5), "user", uid(6), S1, "/srv/kite", [cl_result("t2", SPANS["escaped"])]),
        cl(at(6), "user", uid(7), S1, "/srv/kite", SPANS["unclosed"]),
        json.dumps({"type": "ai-title", "aiTitle": f"lantern {span('title')}", "sessionId": S1}),
    ]


@pytest.mark.parametrize("steps", ["at once", "line by line"])
@pytest.mark.parametrize("lines", [codex_with_spans, claude_with_spans], ids=AGENTS)
def test_nothing_between_private_tags_reaches_a_byte_of_the_home(
    home: Home, lines: Callable[[], list[str]], steps: str
) -> None:
    path = home.root / f"{S1}.jsonl"
    with recall.open(embedder=Hashed()) as index:
        for line in lines() if steps == "line by line" else []:
            append(path, [line])
            index.ingest([path])
        index.ingest([write(path, lines())])
        index.embed()
        assert left_in(home.recall, HIDDEN) == {}
        kept = "\n".join(texts(index, S1))
        for beside in (
            ASKED,
            "beside the span",
            "the wick [PRIVATE] holds it",
            "echo lantern [PRIVATE]",
            "end",
            "after",
        ):
            assert beside in kept
        if steps == "at once":
            assert index.recent(EVERYWHERE)[0].title == "lantern [PRIVATE]"
        assert [hit.session.id for hit in index.search("harbor", EVERYWHERE, mode="lexical")] == [S1]
    assert left_in(home.recall, HIDDEN) == {}


# A message and its turn

DO_NOT = [
    "Do not remember this: the vault is at pelican-meadow-3141-granite",
    "don't remember this\nthe vault is at pelican-meadow-3141-granite",
    "Please don’t keep this message. The vault is at pelican-meadow-3141-granite",
    "The vault is at pelican-meadow-3141-granite. Do not remember this.",
    "never save this turn; the vault is at pelican-meadow-3141-granite",
    "不要记住这个：保险库在 pelican-meadow-3141-granite",
    "保险库在 pelican-meadow-3141-granite。请不要记住这条消息",
    "別記住這些，pelican-meadow-3141-granite",
    "不要记录这段内容。pelican-meadow-3141-granite",
]
VAULT = {"vault": Secret("", "pelican-meadow-3141-granite")}
TURNS = (
    ("user", ASKED),
    ("assistant", "the wick holds it"),
    ("user", DO_NOT[0]),
    ("assistant", "noted: pelican-meadow-3141-granite is the place"),
    ("tool", "/vault/pelican-meadow-3141-granite"),
    ("assistant", "so it is pelican-meadow-3141-granite"),
    ("user", "and who trims the wick?"),
    ("assistant", "the keeper trims it"),
)
KEPT = [ASKED, "the wick holds it", "[PRIVATE]", "and who trims the wick?", "the keeper trims it"]


@pytest.mark.parametrize(("phrase", "agent"), list(zip(DO_NOT, cycle(AGENTS), strict=False)))
def test_of_a_message_not_to_be_remembered_and_its_turn_only_a_mark_is_kept(
    home: Home, index: recall.Index, agent: str, phrase: str
) -> None:
    said = [(role, phrase if text == DO_NOT[0] else text) for role, text in TURNS]
    index.ingest([transcript(home, agent, *said)])
    assert texts(index, S1) == KEPT
    assert left_in(home.recall, VAULT) == {}


@pytest.mark.parametrize("agent", AGENTS)
def test_a_turn_not_to_be_remembered_may_be_read_in_any_number_of_goes(home: Home, agent: str) -> None:
    whole = transcript(home, agent, *TURNS).read_text(encoding="utf-8").splitlines()
    path = home.root / "growing" / f"{S1}.jsonl"
    path.parent.mkdir()
    for line in whole:  # each line by a process of its own, as far as memory goes
        append(path, [line])
        with recall.open() as index:
            index.ingest([path])
            assert left_in(home.recall, VAULT) == {}
    with recall.open() as index:
        assert texts(index, S1) == KEPT


def test_a_turn_not_to_be_remembered_may_go_over_the_end_of_a_batch(
    home: Home, index: recall.Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BATCH_MESSAGES", 1)
    index.ingest([transcript(home, "claude", *TURNS)])
    assert texts(index, S1) == KEPT
    assert left_in(home.recall, VAULT) == {}


def test_a_turn_not_to_be_remembered_is_not_taken_in_from_memory_either(home: Home, index: recall.Index) -> None:
    messages = tuple(Message("user" if role == "user" else "assistant", text) for role, text in TURNS)
    index.add(Session(S1, messages=messages[:4]))
    index.add(Session(S1, messages=messages))
    assert texts(index, S1) == KEPT
    assert left_in(home.recall, VAULT) == {}


@pytest.mark.parametrize(
    "benign",
    [
        "I don't remember this",
        "don't remember this failing before",
        "I do not remember this. Was it the wick?",
        "you do not remember this session, do you?",
        "do not store this value in a cookie",
        "the model should not remember this",
        "不要记录日志",
        "我不记得这个了",
        "要不要记住这个窗口的大小",
        "不要保存文件",
        "`do not remember this` is what a person types",
        "<private-session> is a tag on a line by itself",
    ],
)
def test_a_sentence_that_only_sounds_like_it_is_kept(home: Home, index: recall.Index, benign: str) -> None:
    index.ingest([transcript(home, "codex", ("user", benign), ("assistant", "the keeper trims it"))])
    assert texts(index, S1) == [benign, "the keeper trims it"]


def test_only_a_person_can_ask_for_it(home: Home, index: recall.Index) -> None:
    said = [("user", ASKED), ("assistant", "do not remember this session"), ("tool", "x\n<private-session>\n")]
    index.ingest([transcript(home, "claude", *said)])
    assert len(texts(index, S1)) == 4
