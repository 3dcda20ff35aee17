"""Tool calls of Claude Code as searchable text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from recall.transcripts.own import is_own_command, is_own_tool
from recall.transcripts.tools import COMMAND_KEYS, command_of, describe_call


def describe(name: str, arguments: Any) -> tuple[str, tuple[str, ...]]:
    """(text, files) of a call; both are empty where it has no arguments.

    Of a shell command the text is the command, of an edit the new text, of a to-do list what is to be done.
    """
    try:
        return _describe(name, arguments)
    except RecursionError:
        # Lists a thousand deep can be read, and not be written again.
        return _describe(name, _strings(arguments))


def is_own_call(name: str, arguments: Any) -> bool:
    """Whether a call asks recall itself, by its MCP server or in a shell."""
    return is_own_tool(name) or is_own_command(command_of(_strings(arguments)))


def _describe(name: str, arguments: Any) -> tuple[str, tuple[str, ...]]:
    match name, arguments:
        case "Edit", dict():
            arguments = _without(arguments, ("old_string", "replace_all"))
        case "MultiEdit", {"edits": list() as edits}:
            arguments = _without(arguments, ("edits",)) | {"new_string": _lines(edits, "new_string")}
        case "TodoWrite", {"todos": list() as todos}:
            return _lines(todos, "content"), ()
        case _, dict() if any(arguments.get(key) for key in COMMAND_KEYS):
            arguments = _without(arguments, ("description",))
    return describe_call(arguments if isinstance(arguments, dict | str) else "")


def _lines(entries: Iterable[Any], key: str) -> str:
    values = (entry.get(key) for entry in entries if isinstance(entry, dict))
    return "\n".join(value for value in values if isinstance(value, str))


def _strings(arguments: Any) -> dict[str, Any]:
    values = arguments if isinstance(arguments, dict) else {}
    return {key: value for key, value in values.items() if isinstance(value, str)}


def _without(arguments: dict[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: value for key, value in arguments.items() if key not in keys}
