from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.transcripts.generic import GenericReader, session_id_of
from recall.transcripts.reader import Line
from recall.transcripts.times import time_of
from recall.types import Message
from tests.transcripts.golden import INPUTS, check, lines_of, read_all

PATH = PurePath("/home/ana/chat.jsonl")
TIME = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
parts = st.fixed_dictionaries({}, optional={"type": st.just("text") | scalars, "text": scalars})
values = scalars | parts | st.lists(scalars | parts, max_size=3)
functions = st.fixed_dictionaries({}, optional={"name": values, "arguments": values})
calls = st.lists(scalars | st.fixed_dictionaries({"id": scalars, "function": functions}), max_size=2)
roles = st.sampled_from(["user", "AI", "tool", "system"]) | values
records = st.fixed_dictionaries(
    {"role": roles},
    optional={
        "content": values,
        "timestamp": scalars,
        "session": scalars,
        "cwd": scalars,
        "title": scalars,
        "id": scalars,
        "tool_call_id": scalars,
        "tool_calls": calls | values,
    },
)


def read(records: list[Mapping[str, Any]], reader: GenericReader | None = None) -> list[Message]:
    reader = reader or GenericReader(PATH)
    lines = (Line(number, json.dumps(record).encode()) for number, record in enumerate(records, start=1))
    return [message for line in lines for message in reader.read(line)] + list(reader.finish())


def test_every_spelling_is_read_as_it_was_reviewed() -> None:
    readings = {}
    for path in sorted((INPUTS / "generic").glob("*.jsonl")):
        reading = read_all(GenericReader, path)
        # The hash in it depends on where the repository lies.
        reading["session"]["id"] = reading["session"]["id"].replace(session_id_of(path), path.stem)
        readings[path.name] = reading
    check("outputs", "generic", readings)


@pytest.mark.parametrize("role", ["user", "human", "User"])
def test_these_roles_are_a_person(role: str) -> None:
    assert [message.role for message in read([{"role": role, "text": "hi"}])] == ["user"]


@pytest.mark.parametrize("role", ["assistant", "ai", "model", "bot", "agent"])
def test_these_roles_are_the_assistant(role: str) -> None:
    assert [message.role for message in read([{"role": role, "text": "hi"}])] == ["assistant"]


@pytest.mark.parametrize("role", ["system", "developer"])
def test_what_the_system_says_is_left_out_without_being_counted(role: str) -> None:
    reader = GenericReader(PATH)
    assert read([{"role": role, "text": "be brief"}], reader) == []
    assert not reader.skipped


def test_two_files_of_one_name_are_two_sessions() -> None:
    assert session_id_of(PurePath("/a/chat.jsonl")) != session_id_of(PurePath("/b/chat.jsonl"))


def test_the_session_of_the_first_message_counts() -> None:
    reader = GenericReader(PATH)
    read(
        [{"role": "user", "text": "a", "session_id": "one"}, {"role": "user", "text": "b", "session": "two"}],
        reader,
    )
    assert reader.session.id == "one"


def test_a_session_that_only_a_later_message_names_keeps_the_id_of_the_file() -> None:
    reader = GenericReader(PATH)
    read([{"role": "user", "text": "a"}, {"role": "user", "text": "b", "session": "two"}], reader)
    assert reader.session.id == session_id_of(PATH)


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-01T10:00:00Z",
        "2026-03-01T12:00:00+02:00",
        "2026-03-01 10:00:00",
        1772359200,
        1772359200000,
        "1772359200",
    ],
)
def test_these_are_the_same_time(value: object) -> None:
    assert time_of(value) == TIME


@pytest.mark.parametrize("value", [None, True, 0, -1, "", "yesterday", "²", 1e300, float("nan"), 10**400, [], {}])
def test_these_are_no_time(value: object) -> None:
    assert time_of(value) is None


def test_a_short_id_is_a_counter_and_no_key() -> None:
    first, second = read([{"role": "user", "text": "a", "id": "1"}, {"role": "user", "text": "b", "id": "m" * 16}])
    assert (first.key, second.key) == ("", "m" * 16)


def test_a_call_of_recall_is_dropped_with_its_output_even_where_reading_stops_between() -> None:
    call = {"id": "c", "function": {"name": "shell", "arguments": '{"command": "recall search x"}'}}
    first = GenericReader(PATH)
    assert read([{"role": "assistant", "text": "I'll look.", "tool_calls": [call]}], first)[0].text == "I'll look."
    state = json.loads(json.dumps(first.state()))
    rest = read([{"role": "tool", "tool_call_id": "c", "content": "1 hit"}], GenericReader(PATH, state))
    assert rest == []


def test_the_output_of_another_call_is_kept() -> None:
    call = {"id": "c", "function": {"name": "shell", "arguments": '{"command": "recall search x"}'}}
    messages = read([{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "d", "text": "x"}])
    assert [message.text for message in messages] == ["x"]


@given(st.lists(records, max_size=6), st.integers(0, 6))
def test_reading_in_two_parts_gives_what_reading_at_once_gives(records: list[dict[str, Any]], cut: int) -> None:
    lines = [Line(number, json.dumps(record).encode()) for number, record in enumerate(records, start=1)]
    whole = GenericReader(PATH)
    at_once = [message for line in lines for message in whole.read(line)]
    first = GenericReader(PATH)
    in_parts = [message for line in lines[:cut] for message in first.read(line)]
    second = GenericReader(PATH, json.loads(json.dumps(first.state())))
    in_parts += [message for line in lines[cut:] for message in second.read(line)]
    assert in_parts == at_once
    assert second.session == whole.session


@given(st.lists(records | values, max_size=6))
def test_any_json_can_be_read(records: list[Any]) -> None:
    reader = GenericReader(PATH)
    for message in read(records, reader):
        assert message.text.strip()
        message.text.encode("utf-8")
    assert reader.session.id


@given(st.binary())
def test_any_bytes_can_be_read(text: bytes) -> None:
    list(GenericReader(PATH).read(Line(1, text)))


def test_lines_are_numbered_from_one() -> None:
    path = Path(INPUTS / "generic" / "openai.jsonl")
    reader = GenericReader(path)
    messages = [message for line in lines_of(path) for message in reader.read(line)]
    assert messages[0].line == 2
