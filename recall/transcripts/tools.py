"""Tool calls as searchable text: the command, the paths, the pattern, the change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import orjson

from recall.transcripts.reader import loads_leniently

COMMAND_KEYS = ("command", "cmd", "script", "code")
PATH_KEYS = ("file_path", "path", "notebook_path", "filename")
_QUIET = frozenset(
    {
        "timeout",
        "timeout_ms",
        "yield_time_ms",
        "max_output_tokens",
        "run_in_background",
        "justification",
        "sandbox_permissions",
        "with_escalated_permissions",
        "login",
        "dangerouslyDisableSandbox",
    }
)


def describe_call(arguments: Mapping[str, Any] | str) -> tuple[str, tuple[str, ...]]:
    """(text, files) of a tool call's arguments.

    The text is the command, where there is one, and one `name: value` line for each other argument; the files are
    the paths it names. A string is taken as free text, or as the JSON of an object.
    """
    if isinstance(arguments, str):
        parsed = _object(arguments)
        if parsed is None:
            return arguments, ()
        arguments = parsed
    files = tuple(value for key in PATH_KEYS if isinstance(value := arguments.get(key), str) and value)
    lines: list[str] = []
    for key, value in arguments.items():
        if key in _QUIET or value in (None, "", [], {}):
            continue
        if key in COMMAND_KEYS:
            lines.insert(0, shell_text(value))
        elif isinstance(value, str):
            lines.append(f"{key}: {value}")
        else:
            lines.append(f"{key}: {_json(value)}")
    return "\n".join(lines), files


def command_of(arguments: Mapping[str, Any] | str) -> str:
    """The shell command of a tool call; empty where it runs none."""
    if isinstance(arguments, str):
        arguments = _object(arguments) or {}
    return next((shell_text(arguments[key]) for key in COMMAND_KEYS if arguments.get(key)), "")


def shell_text(command: Any) -> str:
    """A command line from a string, or from an argument list such as `["bash", "-lc", "make test"]`."""
    if isinstance(command, str):
        return command
    if not isinstance(command, list):
        return str(command)
    words = [str(word) for word in command]
    if len(words) == 3 and words[1] in ("-c", "-lc", "/c", "-Command"):
        return words[2]
    return " ".join(words)


def _object(text: str) -> dict[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        parsed = orjson.loads(text)
    except orjson.JSONDecodeError:
        parsed = loads_leniently(text.encode("utf-8", "surrogatepass"))
    return parsed if isinstance(parsed, dict) else None


def _json(value: Any) -> str:
    try:
        return orjson.dumps(value, default=str).decode()
    except orjson.JSONEncodeError:
        # Half a surrogate pair, or an integer of more than 64 bits: legal in JSON, refused by orjson.
        return json.dumps(value, ensure_ascii=False, default=str)
