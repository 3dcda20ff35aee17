from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.transcripts.detect import detect
from recall.transcripts.history import HistoryReader
from recall.transcripts.reader import Line
from tests.transcripts.golden import INPUTS, check, lines_of

FOLDER = INPUTS / "history"


def read(lines: list[Line], reader: HistoryReader | None = None) -> list[dict[str, Any]]:
    """Each prompt with its session."""
    reader = reader or HistoryReader(PurePath("history.jsonl"))
    return [
        {
            "session": reader.session.id,
            "agent": reader.session.agent,
            "cwd": reader.session.cwd,
            "text": message.text,
            "time": message.timestamp.isoformat() if message.timestamp else None,
            "line": message.line,
            "key": message.key,
        }
        for line in lines
        for message in reader.read(line)
    ]


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_history_is_read_as_it_was_reviewed(name: str) -> None:
    reader = HistoryReader(PurePath("history.jsonl"))
    prompts = read(list(lines_of(FOLDER / f"{name}.jsonl")), reader)
    assert reader.session.prompts_only
    check("outputs", f"history-{name}", {"prompts": prompts, "skipped": dict(reader.skipped)})


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_history_is_known_by_its_lines(name: str) -> None:
    path = FOLDER / f"{name}.jsonl"
    assert detect(path, path.read_bytes()) is HistoryReader


@given(st.integers(0, 14))
def test_a_reading_that_goes_on_gives_the_same_prompts(cut: int) -> None:
    lines = list(lines_of(FOLDER / "claude.jsonl"))
    first = HistoryReader(PurePath("history.jsonl"))
    begun = read(lines[:cut], first)
    state = json.loads(json.dumps(first.state()))
    assert begun + read(lines[cut:], HistoryReader(PurePath("history.jsonl"), state)) == read(lines)


values = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=9)
    | st.dictionaries(st.text(), st.text())
)
names = (
    "display",
    "pastedContents",
    "timestamp",
    "project",
    "sessionId",
    "session_id",
    "conversation_id",
    "ts",
    "text",
)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(names, values)))
def test_no_line_breaks_the_reader(record: dict[str, Any]) -> None:
    for prompt in read([Line(1, json.dumps(record).encode())]):
        assert prompt["text"].strip()
        assert prompt["session"]
