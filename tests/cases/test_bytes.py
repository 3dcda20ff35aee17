"""R07, R09, R10: bytes in transcripts that break careless readers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Home
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transcript_lines import (
    append,
    at,
    cl,
    cl_call,
    cl_result,
    claude_lines,
    codex_lines,
    cx,
    cx_call,
    cx_meta,
    cx_msg,
    cx_output,
    uid,
    write,
)

import recall
from recall import Scope

EVERYWHERE = Scope.everywhere()
HALF_EMOJI = "\\ud83d"  # as it stands in the file: half of a pair, written as an escape
NUL = "\\u0000"


def found(index: recall.Index, query: str) -> list[str]:
    return [hit.snippet.text for hit in index.search(query, EVERYWHERE, mode="lexical")]


def texts(index: recall.Index) -> list[str]:
    """Every stored text, session by session."""
    return [
        message.text
        for session in index.recent(Scope.everywhere(subagents=True), limit=100)
        for message in index.show(f"{session.id}:1", before=0, after=200)
    ]


# R07: code points that UTF-8 or SQLite won't take


def broken_lines(agent: str) -> list[str]:
    """Three messages; the first two hold what storage refuses, written as escapes."""
    said = ("kite build green HALF… see harbor log", "probe exit 0NUL quartz marker after the gap", "lantern")
    if agent == "claude":
        lines = claude_lines("s1", "/srv/kite", *(("assistant", text) for text in said))
    else:
        lines = codex_lines("s1", "/srv/kite", *(("assistant", text) for text in said))
    return [line.replace("HALF", HALF_EMOJI).replace("NUL", NUL) for line in lines]


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_half_an_emoji_and_an_escaped_nul_lose_no_line_and_no_file(home: Home, index: recall.Index, agent: str) -> None:
    first = write(home.root / "in" / "rollout-1.jsonl", broken_lines(agent))
    second = write(home.root / "in" / "rollout-2.jsonl", claude_lines("s2", "/srv/kite", ("user", "lantern two")))
    report = index.ingest([first, second])
    assert [file.skipped_lines for file in report.files] == [{}, {}]
    assert report.new_messages == 4
    assert found(index, "harbor") == ["kite build green \ufffd… see harbor log"]
    assert found(index, "quartz") == ["probe exit 0 quartz marker after the gap"]
    assert set(found(index, "lantern")) == {"lantern", "lantern two"}


def test_a_pair_written_as_two_escapes_is_one_emoji(home: Home, index: recall.Index) -> None:
    line = claude_lines("s1", "/srv/kite", ("user", "shipped PAIR today"))[0]
    index.ingest([write(home.root / "s1.jsonl", [line.replace("PAIR", "\\ud83d\\ude80")])])
    assert found(index, "shipped") == ["shipped \U0001f680 today"]


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_what_storage_refuses_does_no_harm_in_any_field(home: Home, index: recall.Index, agent: str) -> None:
    odd = "BAD kite"
    if agent == "claude":
        lines = [
            cl(at(0), "user", uid(1), "s1", f"/srv/{odd}", "harbor", gitBranch=odd),
            cl(at(1), "assistant", odd, "s1", f"/srv/{odd}", [cl_call(odd, f"echo {odd}")]),
            cl(at(2), "user", uid(3), "s1", f"/srv/{odd}", [cl_result(odd, odd)]),
            json.dumps({"type": "ai-title", "aiTitle": odd, "sessionId": "s1"}),
        ]
    else:
        lines = [
            cx_meta(at(0), "s1", f"/srv/{odd}", git={"branch": odd, "repository_url": odd}),
            cx_msg(at(1), "user", "harbor"),
            cx_call(at(2), odd, f"echo {odd}"),
            cx_output(at(3), odd, odd),
            cx(at(4), "event_msg", {"type": "thread_name_updated", "thread_name": odd}),
        ]
    lines = [line.replace("BAD", HALF_EMOJI + NUL) for line in lines]
    report = index.ingest([write(home.root / "rollout-s1.jsonl", lines)])
    assert [file.status for file in report.files] == ["new"]
    (session,) = index.recent(EVERYWHERE)
    assert session.message_count == 3
    for text in (session.title, session.branch, session.worktree, *texts(index)):
        assert "\x00" not in text
        text.encode("utf-8")


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_a_search_that_prints_half_an_emoji_into_a_pipe_ends_well(home: Home, arguments: tuple[str, ...]) -> None:
    write(home.claude / "-srv-kite" / "s1.jsonl", broken_lines("claude"))
    ran = home.run("search", "harbor", "--all", *arguments)
    assert ran.code == 0
    assert "green \ufffd… see harbor log" in ran.text
    assert "Traceback" not in ran.complaint


# R09: the last line is still being written


FIRST = cl(at(0), "user", uid(1), "s1", "/srv/kite", "lantern one")
SECOND = cl(at(1), "assistant", uid(2), "s1", "/srv/kite", "灯塔密钥每周五轮换 lantern two")


def test_a_message_in_flight_is_taken_in_once_when_its_line_ends(home: Home, index: recall.Index) -> None:
    path = home.root / "s1.jsonl"
    encoded = SECOND.encode("utf-8")
    cut = encoded.index("塔".encode()) + 1
    path.write_bytes(f"{FIRST}\n".encode() + encoded[:cut])
    report = index.ingest([path])
    assert report.new_messages == 1
    assert [(file.status, file.skipped_lines) for file in report.files] == [("new", {})]
    path.write_bytes(f"{FIRST}\n".encode() + encoded + b"\n")
    assert index.ingest([path]).new_messages == 1
    assert index.ingest([path]).new_messages == 0
    assert texts(index) == ["lantern one", "灯塔密钥每周五轮换 lantern two"]


@given(st.lists(st.integers(0, 2_000), min_size=1, max_size=3), st.sampled_from(["claude", "codex"]))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_transcript_cut_at_any_bytes_gives_each_message_once(tmp_path: Path, cuts: list[int], agent: str) -> None:
    said = [("user", "风筝构建为什么是冷的"), ("assistant", "the key changed"), ("user", "the key changed")]
    make = claude_lines if agent == "claude" else codex_lines
    whole = "".join(f"{line}\n" for line in make("s1", "/srv/kite", *said)).encode()
    path = tmp_path / "rollout-s1.jsonl"
    with recall.open(":memory:") as index:
        new = 0
        for cut in sorted({min(cut, len(whole)) for cut in cuts} | {len(whole)}):
            path.write_bytes(whole[:cut])
            new += index.ingest([path]).new_messages
        assert new == 3
        assert texts(index) == [text for _, text in said]


@pytest.mark.parametrize("broken", ['{"type": oops}', "", "null", "[1, 2", '"text"', "\x00\x00", '{"type":"user"'])
def test_a_broken_line_that_ends_is_skipped_once_and_blocks_nothing(
    home: Home, index: recall.Index, broken: str
) -> None:
    path = write(home.root / "s1.jsonl", [FIRST, broken, SECOND])
    report = index.ingest([path])
    assert report.new_messages == 2
    assert sum(report.files[0].skipped_lines.values()) == (1 if broken else 0)
    append(path, [cl(at(2), "user", uid(3), "s1", "/srv/kite", "lantern three")])
    report = index.ingest([path])
    assert report.new_messages == 1
    assert sum(report.files[0].skipped_lines.values()) == (1 if broken else 0)
    assert len(texts(index)) == 3


def test_a_broken_line_is_counted_in_what_ingest_prints(home: Home) -> None:
    write(home.claude / "-srv-kite" / "s1.jsonl", [FIRST, '{"type": oops}', SECOND])
    ran = home.run("ingest")
    assert ran.code == 0
    assert "2 new messages" in ran.text
    assert "1 × broken line" in ran.text


def test_a_file_with_a_byte_order_mark_keeps_its_directory(home: Home, index: recall.Index) -> None:
    path = write(home.root / "rollout-s1.jsonl", codex_lines("s1", home.root, ("user", "lantern one")))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    index.ingest([path])
    assert [hit.session.id for hit in index.search("lantern", Scope.repository(home.root), mode="lexical")] == ["s1"]


# R10: inline images, which are huge single lines


BASE64 = "QUJD" * 2_000_000
LINE_BYTES = len(BASE64)
GROWTH_LIMIT = 200_000
RUN_LIMIT = 200
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": BASE64}}
TAKEN = {"type": "text", "text": "harbor screenshot taken"}
URL = f"data:image/png;base64,{BASE64}"

HUGE_LINES: dict[str, Callable[[], list[str]]] = {
    "a claude result with an image": lambda: [
        cl(at(0), "assistant", uid(1), "s1", "/srv/kite", [cl_call("c1", "shoot")]),
        cl(at(1), "user", uid(2), "s1", "/srv/kite", [cl_result("c1", [IMAGE, TAKEN])]),
    ],
    "a claude result with a data url": lambda: [
        cl(at(0), "assistant", uid(1), "s1", "/srv/kite", [cl_call("c1", "shoot")]),
        cl(at(1), "user", uid(2), "s1", "/srv/kite", [cl_result("c1", f"{URL} harbor screenshot taken")]),
    ],
    "a picture that a person gave to claude": lambda: [cl(at(0), "user", uid(1), "s1", "/srv/kite", [IMAGE, TAKEN])],
    "bare base64 in a claude answer": lambda: [
        cl(at(0), "assistant", uid(1), "s1", "/srv/kite", f"harbor screenshot taken: {BASE64}")
    ],
    "a codex output": lambda: [
        cx_meta(at(0), "s1", "/srv/kite"),
        cx_call(at(1), "c1", "shoot"),
        cx_output(at(2), "c1", f"harbor screenshot taken\n{URL}"),
    ],
    "a codex output in parts": lambda: [
        cx_meta(at(0), "s1", "/srv/kite"),
        cx_call(at(1), "c1", "shoot"),
        cx_output(
            at(2),
            "c1",
            [{"type": "input_text", "text": "harbor screenshot taken"}, {"type": "input_image", "image_url": URL}],
        ),
    ],
    "a picture that a person gave to codex": lambda: [
        cx_meta(at(0), "s1", "/srv/kite"),
        cx(
            at(1),
            "response_item",
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "harbor screenshot taken"},
                    {"type": "input_image", "image_url": URL},
                ],
            },
        ),
    ],
}


def database_bytes(home: Path) -> int:
    return sum(file.stat().st_size for file in home.glob("recall.db*"))


@pytest.mark.parametrize("kind", HUGE_LINES)
def test_a_picture_is_left_out_and_the_words_beside_it_are_found(home: Home, kind: str) -> None:
    with recall.open() as index:
        index.ingest([write(home.root / "before.jsonl", claude_lines("s0", "/srv/kite", ("user", "lantern")))])
    before = database_bytes(home.recall)
    with recall.open() as index:
        report = index.ingest([write(home.root / "rollout-s1.jsonl", HUGE_LINES[kind]())])
        assert [file.skipped_lines for file in report.files] == [{}]
        (snippet,) = found(index, "harbor screenshot")
        assert "harbor screenshot taken" in snippet
        assert found(index, "QUJDQUJD") == []
        assert not re.search(rf"[A-Za-z0-9+/]{{{RUN_LIMIT + 1}}}", "\n".join([snippet, *texts(index)]))
    assert database_bytes(home.recall) - before < GROWTH_LIMIT
    for file in home.recall.glob("recall.db*"):
        assert b"QUJD" * 8 not in file.read_bytes()


@pytest.mark.parametrize("kind", ["a claude result with an image", "a codex output"])
def test_the_memory_for_a_huge_line_is_a_few_times_the_line(home: Home, kind: str) -> None:
    small = write(home.root / "small.jsonl", claude_lines("s0", "/srv/kite", ("user", "lantern")))
    huge = write(home.root / "rollout-s1.jsonl", HUGE_LINES[kind]())
    measured = subprocess.run(
        [sys.executable, "-c", _MEASURE, str(small), str(huge)],
        env=home.environment(),
        check=True,
        capture_output=True,
    )
    peak: Any = json.loads(measured.stdout)
    if peak is None:
        pytest.skip("this system does not tell the peak memory of a process")
    assert peak < 5 * LINE_BYTES


# VmHWM belongs to the process alone; ru_maxrss on Linux begins with what the parent used.
_MEASURE = """
import json, pathlib, sys
import recall

def peak():
    status = pathlib.Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text(encoding="utf-8").splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

with recall.open() as index:
    index.ingest([sys.argv[1]])
    before = peak()
    index.ingest([sys.argv[2]])
    after = peak()
print(json.dumps(None if before is None else after - before))
"""
