from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.transcripts.tools import command_of, describe_call, shell_text

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(alphabet=st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["command", "cmd", "file_path", "path", "pattern", "workdir", "timeout", "new_string", "x"]),
    JSON,
    max_size=5,
)


@pytest.mark.parametrize(
    ("arguments", "text", "files"),
    [
        ({"command": "make test"}, "make test", ()),
        ({"cmd": "ls"}, "ls", ()),
        ({"command": ["bash", "-lc", "make test"]}, "make test", ()),
        ({"description": "run it", "command": "make"}, "make\ndescription: run it", ()),
        ({"file_path": "src/a.py"}, "file_path: src/a.py", ("src/a.py",)),
        ({"path": "src", "pattern": "def .*"}, "path: src\npattern: def .*", ("src",)),
        ({"notebook_path": "a.ipynb"}, "notebook_path: a.ipynb", ("a.ipynb",)),
        ({"workdir": "/work/kite", "command": "ls"}, "ls\nworkdir: /work/kite", ()),
        ({"command": "ls", "timeout": 1000, "yield_time_ms": 10, "run_in_background": True}, "ls", ()),
        ({"replace_all": False, "limit": 0}, "replace_all: false\nlimit: 0", ()),
        ({"a": None, "b": "", "c": [], "d": {}}, "", ()),
        ({"edits": [{"old": "灯"}]}, 'edits: [{"old":"灯"}]', ()),
        ({}, "", ()),
        ('{"command": "make"}', "make", ()),
        (' {"file_path": "a.py"}', "file_path: a.py", ("a.py",)),
        ("*** Begin Patch", "*** Begin Patch", ()),
        ('{"command": ', '{"command": ', ()),
        ("[1, 2]", "[1, 2]", ()),
        ("", "", ()),
    ],
)
def test_a_call_is_its_command_and_one_line_for_each_other_argument(
    arguments: dict[str, Any] | str, text: str, files: tuple[str, ...]
) -> None:
    assert describe_call(arguments) == (text, files)


def test_a_path_that_is_no_text_is_no_file() -> None:
    assert describe_call({"path": ["a", "b"]})[1] == ()


def test_an_empty_path_is_no_file() -> None:
    assert describe_call({"path": ""})[1] == ()


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        ({"command": "make"}, "make"),
        ({"cmd": ["git", "status"]}, "git status"),
        ({"command": "", "cmd": "ls"}, "ls"),
        ({"script": "await go()"}, "await go()"),
        ('{"command": ["bash", "-lc", "ls"]}', "ls"),
        ({"file_path": "a.py"}, ""),
        ("no json", ""),
        ({}, ""),
    ],
)
def test_the_command_of_a_call(arguments: dict[str, Any] | str, command: str) -> None:
    assert command_of(arguments) == command


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("ls -l", "ls -l"),
        (["ls", "-l"], "ls -l"),
        (["bash", "-lc", "make && make test"], "make && make test"),
        (["/bin/sh", "-c", "ls"], "ls"),
        (["powershell.exe", "-Command", "dir"], "dir"),
        (["cmd", "/c", "dir"], "dir"),
        (["git", "-c", "core.pager=cat", "log"], "git -c core.pager=cat log"),
        (["python", 3], "python 3"),
        ([], ""),
        (7, "7"),
        ({"a": 1}, "{'a': 1}"),
    ],
)
def test_a_command_line_from_a_string_or_a_list(command: Any, text: str) -> None:
    assert shell_text(command) == text


def test_what_orjson_refuses_is_described_all_the_same() -> None:
    assert describe_call({"n": [2**70]})[0] == f"n: [{2**70}]"
    assert describe_call({"s": ["\ud83e"]})[0].startswith("s: ")
    assert describe_call('{"command": "echo \\ud83e"}')[0].startswith("echo ")


@given(ARGUMENTS)
def test_any_arguments_can_be_described(arguments: dict[str, Any]) -> None:
    text, files = describe_call(arguments)
    assert isinstance(text, str)
    assert all(isinstance(file, str) and file for file in files)
    assert isinstance(command_of(arguments), str)


@given(ARGUMENTS)
def test_arguments_written_as_json_are_described_like_the_object(arguments: dict[str, Any]) -> None:
    assert describe_call(json.dumps(arguments))[1] == describe_call(json.loads(json.dumps(arguments)))[1]


@given(st.text(alphabet=st.characters(), max_size=60))
def test_any_text_can_be_described(text: str) -> None:
    assert isinstance(describe_call(text)[0], str)
    assert isinstance(command_of(text), str)
