"""Lines of invented transcripts, in the forms that Codex and Claude Code write them.

The first five are the helper of the collected bug reports; the others are short for what many tests need.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_START = datetime(2026, 3, 2, 10, tzinfo=UTC)


def cx(ts: str, typ: str, payload: Mapping[str, Any]) -> str:
    """One line of a Codex rollout."""
    return json.dumps({"timestamp": ts, "type": typ, "payload": payload}, ensure_ascii=False)


def cx_meta(ts: str, sid: str, cwd: str | Path, **more: Any) -> str:
    """The first line of a rollout: whose session it is, and where it ran."""
    return cx(
        ts,
        "session_meta",
        {
            "id": sid,
            "timestamp": ts,
            "cwd": str(cwd),
            "originator": "codex_cli_rs",
            "cli_version": "0.150.0",
            "source": "cli",
            **more,
        },
    )


def cx_msg(ts: str, role: str, text: str) -> str:
    """A message as the model sees it."""
    kind = "output_text" if role == "assistant" else "input_text"
    return cx(ts, "response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": text}]})


def cx_echo(ts: str, kind: str, text: str) -> str:
    """A message as the person sees it; kind: user_message or agent_message."""
    return cx(ts, "event_msg", {"type": kind, "message": text})


def cl(ts: str, role: str, uid: str, sid: str, cwd: str | Path | None, content: Any, **more: Any) -> str:
    """One line of a Claude Code transcript. cwd: None leaves it out."""
    place = {} if cwd is None else {"cwd": str(cwd)}
    return json.dumps(
        {
            "type": role,
            "uuid": uid,
            "parentUuid": None,
            "sessionId": sid,
            **place,
            "isSidechain": False,
            "userType": "external",
            "version": "2.1.0",
            "timestamp": ts,
            "message": {"role": role, "content": content},
            **more,
        },
        ensure_ascii=False,
    )


def at(minute: float) -> str:
    """The time `minute` minutes after 10:00 UTC on 2 March 2026, as both agents write times."""
    return (_START + timedelta(minutes=minute)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def uid(number: int) -> str:
    """A UUID, the same for the same number."""
    return f"{number:08x}-1111-4222-8333-{number:012x}"


def cx_call(ts: str, call: str, command: str) -> str:
    """A shell command that Codex runs."""
    arguments = json.dumps({"command": ["bash", "-lc", command]})
    return cx(ts, "response_item", {"type": "function_call", "name": "shell", "call_id": call, "arguments": arguments})


def cx_output(ts: str, call: str, output: Any) -> str:
    """What a tool of Codex printed."""
    return cx(ts, "response_item", {"type": "function_call_output", "call_id": call, "output": output})


def cl_call(call: str, command: str) -> dict[str, Any]:
    """The part of a Claude message that runs a shell command."""
    return {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}


def cl_result(call: str, content: Any) -> dict[str, Any]:
    """The part of a Claude message with what a tool printed."""
    return {"type": "tool_result", "tool_use_id": call, "content": content}


def codex_lines(sid: str, cwd: str | Path, *said: tuple[str, str], start: float = 0, **meta: Any) -> list[str]:
    """A rollout of (role, text) messages, one a minute, on one stream."""
    return [
        cx_meta(at(start), sid, cwd, **meta),
        *(cx_msg(at(start + minute), role, text) for minute, (role, text) in enumerate(said, 1)),
    ]


def claude_lines(
    sid: str, cwd: str | Path | None, *said: tuple[str, str], start: float = 0, first: int = 1, **more: Any
) -> list[str]:
    """A Claude transcript of (role, text) messages, one a minute; first: number of the first message's UUID."""
    return [
        cl(at(start + count), role, uid(first + count), sid, cwd, text, **more)
        for count, (role, text) in enumerate(said)
    ]


def session_lines(agent: str, sid: str, cwd: str | Path, *said: tuple[str, str], start: int = 0) -> list[str]:
    """A session of either agent, a minute between two of its (role, text) messages; see `said_lines`."""
    lines = [cx_meta(at(start), sid, cwd)] if agent == "codex" else []
    return lines + [
        line for minute, one in enumerate(said, start + 1) for line in said_lines(agent, sid, cwd, minute, *one)
    ]


def said_lines(agent: str, sid: str, cwd: str | Path, minute: int, role: str, text: str) -> list[str]:
    """One message as either agent writes it; role `tool` is a command with that text in it, and what it printed."""
    call = f"call{minute}"
    if agent == "codex":
        if role == "tool":
            return [cx_call(at(minute), call, f"cat {text}"), cx_output(at(minute), call, f"printed {text}")]
        return [cx_msg(at(minute), role, text)]
    key = f"{sid}/{minute}"
    if role == "tool":
        return [
            cl(at(minute), "assistant", f"{key}-a", sid, cwd, [cl_call(call, f"cat {text}")]),
            cl(at(minute), "user", f"{key}-b", sid, cwd, [cl_result(call, f"printed {text}")]),
        ]
    return [cl(at(minute), role, key, sid, cwd, text)]


def write(path: Path, lines: Iterable[str]) -> Path:
    """Write a transcript, each line with its end; folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    return path


def append(path: Path, lines: Iterable[str]) -> Path:
    """Write more lines at the end of a transcript."""
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write("".join(f"{line}\n" for line in lines))
    return path
