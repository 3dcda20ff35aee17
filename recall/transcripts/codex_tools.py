"""Tool calls of Codex and what they printed, as searchable text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from recall.transcripts.own import is_own_command, is_own_tool
from recall.transcripts.reader import loads_leniently
from recall.transcripts.tools import command_of, describe_call, shell_text

SHELL_TOOLS = frozenset({"shell", "shell_command", "exec_command", "local_shell", "container.exec", "unified_exec"})
"""Names that the shell had in one version or another."""

SCRIPT_TOOL = "exec"
"""Runs JavaScript that calls the other tools."""

PATCH_BEGIN = "*** Begin Patch"

_PATCHED_FILE = re.compile(r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\s*$", re.MULTILINE)
_HEADER = re.compile(
    r"\A(?:Command: .*?\n(?=Chunk ID: ))?"
    r"(?:(?:Chunk ID|Wall time|Exit code|Duration|Original token count|Total output lines|Script \w+|"
    r"Process (?:exited with code|running with session ID))[^\n]*\n)+Output:(?:\n|\Z)",
    re.DOTALL,
)
_EXIT_CODE = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d+)", re.MULTILINE)
_WRAPPER_KEYS = frozenset(
    {"output", "metadata", "exit_code", "chunk_id", "wall_time_seconds", "original_token_count", "session_id"}
)
_CONTENT_TYPES = frozenset({"text", "image", "audio", "resource", "resource_link", "input_text", "input_image"})
# A literal that is never closed matches too, to the end: tried anew from each quote, 1 MB of quotes took minutes.
_LITERAL = re.compile(
    r"""(?:"((?:[^"\\\n]|\\.)*)(?:"|\n|\\?\Z)|'((?:[^'\\\n]|\\.)*)(?:'|\n|\\?\Z)|`((?:[^`\\]|\\.)*)(?:`|\\?\Z))""",
    re.DOTALL,
)
# The literal must be the whole value: `cmd: "rg " + word` spells out no command.
_SCRIPT_COMMAND = re.compile(
    r"""["']?\bcmd["']?\s*:\s*(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`)(?=\s*[,}])""",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_SCRIPT_CALL = re.compile(r"\btools(?:\.|\[[\"'`])([A-Za-z_]\w*)")
_CLAUDE_COMMAND = re.compile(r"^command: (.*)", re.MULTILINE | re.DOTALL)
_CLAUDE_PATH = re.compile(r"^(?:file_path|notebook_path|path): (\S.*)$", re.MULTILINE)


def call_text(tool: str, arguments: Any) -> tuple[str, tuple[str, ...], bool]:
    """(text, files, own) of a call's arguments; `own` where it asks recall.

    The text is the command alone for a shell and the patch alone for `apply_patch`.
    """
    if isinstance(arguments, list):
        arguments = {"command": arguments}
    if not isinstance(arguments, dict | str):
        arguments = {}
    text, files = describe_call(arguments)
    command = command_of(arguments)
    if tool in SHELL_TOOLS:
        text = command or text
    elif tool == "apply_patch" and PATCH_BEGIN in text:
        text = text[text.index(PATCH_BEGIN) :]
    own = is_own_tool(tool) or is_own_command(command)
    if tool == SCRIPT_TOOL and isinstance(arguments, str):
        own = own or any(map(is_own_tool, _SCRIPT_CALL.findall(text)))
        own = own or ("recall" in text and any(map(is_own_command, _literals(text))))
    return text, (files or _patched_files(text)), own


def script_commands(script: str) -> tuple[list[str], bool]:
    """(shell commands that a script spells out, whether running them is all it does with tools)."""
    commands = [_unquoted(match) for match in _SCRIPT_COMMAND.finditer(script) if "${" not in match[0]]
    tools = _SCRIPT_CALL.findall(script)
    return commands, bool(commands) and tools == ["exec_command"] * len(commands)


def query_text(action: Any) -> str:
    """What a web search looked for: the queries, else the address and the pattern."""
    if not isinstance(action, dict):
        return ""
    queries = action.get("queries")
    words = [action.get("query"), *(queries if isinstance(queries, list) else ()), action.get("url")]
    words.append(action.get("pattern"))
    return "\n".join(dict.fromkeys(word for word in words if isinstance(word, str) and word))


def change_text(changes: Any) -> tuple[str, tuple[str, ...]]:
    """(text, files) of the changes that an event reports by path."""
    if not isinstance(changes, dict):
        return "", ()
    lines = []
    for path, change in changes.items():
        change = change if isinstance(change, dict) else {}
        verb = {"add": "Add", "delete": "Delete"}.get(str(change.get("type")), "Update")
        lines.append(f"*** {verb} File: {path}")
        body = change.get("unified_diff") or change.get("content")
        if isinstance(body, str):
            lines.append(body.rstrip("\n"))
    return "\n".join(lines), tuple(changes)


def claude_call(tool: str, body: str) -> tuple[str, tuple[str, ...], bool]:
    """(text, files, own) of a Claude tool call, which the import flattened to `name: value` lines."""
    command = _CLAUDE_COMMAND.search(body)
    own = is_own_tool(tool) or (command is not None and is_own_command(command[1]))
    return body, tuple(dict.fromkeys(path.strip() for path in _CLAUDE_PATH.findall(body))), own


def output_text(output: Any) -> str:
    """What a tool printed, without the report around it; `exit code N` first where N is not 0."""
    code = None
    if isinstance(output, dict):
        output = output.get("content") or output.get("output")
    if isinstance(output, list):
        output = _joined(output)
    if not isinstance(output, str):
        return ""
    header = _HEADER.match(output)
    if header:
        code = _EXIT_CODE.search(header[0])
        output = output[header.end() :]
    text, exit_code = _unwrapped(output.strip("\n"))
    return with_exit_code(text, exit_code if code is None else int(code[1][:12]))


def with_exit_code(text: str, code: Any) -> str:
    """`text` under a line that names the exit code, unless that is 0 or unknown."""
    text = text.strip("\n")
    if not isinstance(code, int) or isinstance(code, bool) or code == 0:
        return text if text.strip() else ""
    return f"exit code {code}\n{text}".rstrip()


def command_text(command: Any) -> str:
    """The command line of an event's argument list."""
    return shell_text(command) if isinstance(command, str | list) else ""


def _unwrapped(text: str) -> tuple[str, Any]:
    """(output, exit code) where `text` is the JSON that wraps them; else (text, None)."""
    if not text.startswith(('{"', '[{"')):
        return text, None
    result = loads_leniently(text.encode("utf-8", "surrogatepass"))
    content = result.get("content") if isinstance(result, dict) else result
    if isinstance(content, list) and all(map(_is_content_item, content)):
        return _joined(content), None
    # Other keys: JSON that a program printed, and not Codex's own wrapper.
    if not isinstance(result, dict) or result.keys() - _WRAPPER_KEYS:
        return text, None
    if not isinstance(result.get("output"), str):
        return text, None
    metadata = result.get("metadata")
    code = metadata.get("exit_code") if isinstance(metadata, dict) else result.get("exit_code")
    return result["output"], code


def _is_content_item(part: object) -> bool:
    return isinstance(part, dict) and str(part.get("type")) in _CONTENT_TYPES


def _joined(content: list[Any]) -> str:
    """The texts of content items, one line break between two; images go."""
    parts = (part.get("text") for part in content if isinstance(part, dict))
    return "\n".join(part for part in parts if isinstance(part, str))


def _patched_files(text: str) -> tuple[str, ...]:
    if PATCH_BEGIN not in text:
        return ()
    return tuple(dict.fromkeys(_PATCHED_FILE.findall(text)))


def _literals(script: str) -> Iterator[str]:
    for match in _LITERAL.finditer(script):
        yield _unquoted(match)


def _unquoted(match: re.Match[str]) -> str:
    """The string of a script's literal."""
    inside = match[1] or match[2] or match[3] or ""
    return _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), inside)
