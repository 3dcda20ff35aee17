"""Generated sessions as transcripts of Codex and Claude Code, with all that stands around what is said in them.

A line with a tool's result has 9.3 kB on average, in 75 published sessions of Claude Code 9.4.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import orjson

from recall import Message, Session

_INSTRUCTIONS = "You are an agent that works in the user's terminal. Keep going until the task is done. " * 120
_GUIDE = (
    "# AGENTS.md instructions for {}\n\n<INSTRUCTIONS>\n" + "Run the tests before you commit. " * 40 + "</INSTRUCTIONS>"
)

Line = dict[str, Any]


def write(sessions: Iterable[Session], folder: Path) -> int:
    """Write each session to a transcript below `folder`, as its agent lays them out; bytes in all."""
    size = 0
    for session in sessions:
        path, lines = _LAYOUTS[session.agent](session)
        path = folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        content = b"".join(orjson.dumps(line) + b"\n" for line in lines)
        path.write_bytes(content)
        size += len(content)
    return size


def _codex(session: Session) -> tuple[Path, Iterator[Line]]:
    began = _time(session)
    name = f"rollout-{began:%Y-%m-%dT%H-%M-%S}-{session.id}.jsonl"
    return Path("codex", "sessions", f"{began:%Y}", f"{began:%m}", f"{began:%d}", name), _codex_lines(session)


def _codex_lines(session: Session) -> Iterator[Line]:
    random = Random(session.id)
    lines = 0

    def line(kind: str, payload: Line, message: Message | None = None) -> Line:
        nonlocal lines
        lines += 1
        stamp = _stamp((message and message.timestamp) or _time(session))
        return {"timestamp": stamp, "ordinal": lines - 1, "type": kind, "payload": payload}

    yield line("session_meta", _codex_meta(session.id, session, session.forked_from))
    if session.forked_from:
        yield line("session_meta", _codex_meta(session.forked_from, session, ""))
    guide = [{"type": "input_text", "text": _GUIDE.format(session.cwd)}]
    yield line("response_item", {"type": "message", "role": "user", "content": guide})
    turn = call = ""
    for number, message in enumerate(session.messages):
        if message.role == "user":
            turn = _id(random)
            yield line("event_msg", {"type": "task_started", "turn_id": turn, "model_context_window": 258_400}, message)
            policy = {"type": "workspace-write", "writable_roots": [session.cwd], "network_access": False}
            context = {"turn_id": turn, "cwd": session.cwd, "approval_policy": "on-request", "sandbox_policy": policy}
            yield line("turn_context", {**context, "model": "gpt-x", "summary": "auto"}, message)
        kinds = {"internal_chat_message_metadata_passthrough": {"turn_id": turn, "content_item_kinds": ["user.text"]}}
        if message.role == "tool" and message.files:
            call = f"call_{_id(random)}"
            arguments = orjson.dumps({"cmd": message.text, "workdir": session.cwd, "yield_time_ms": 10_000}).decode()
            item = {"type": "function_call", "id": f"fc_{_id(random)}", "name": "exec_command", "arguments": arguments}
            yield line("response_item", {**item, "call_id": call}, message)
        elif message.role == "tool":
            head = f"Chunk ID: a1\nWall time: 0.{number % 10}1 seconds\nProcess exited with code 0\nOutput:\n"
            output = {"type": "function_call_output", "call_id": call, "output": head + message.text}
            yield line("response_item", output, message)
            usage = {"input_tokens": 90_000 + number, "output_tokens": 80, "total_tokens": 90_080 + number}
            yield line("event_msg", {"type": "token_count", "info": {"total": usage, "last": usage}}, message)
        else:
            said, event = ("input_text", "UserMessage") if message.role == "user" else ("output_text", "AgentMessage")
            if message.role == "assistant":
                reasoning: Line = {"type": "reasoning", "id": f"rs_{_id(random)}", "summary": [], "content": None}
                yield line("response_item", {**reasoning, "encrypted_content": _opaque(random)}, message)
            content = [{"type": said, "text": message.text}]
            yield line("response_item", {"type": "message", "role": message.role, "content": content, **kinds}, message)
            told = {"type": event, "id": _id(random), "content": [{"type": "text", "text": message.text}]}
            done = {"type": "item_completed", "thread_id": session.id, "turn_id": turn, "item": told}
            yield line("event_msg", done, message)


def _codex_meta(name: str, session: Session, forked_from: str) -> Line:
    meta = {"session_id": name, "id": name, "timestamp": _stamp(_time(session)), "cwd": session.cwd}
    git = {"commit_hash": "ab12" * 10, "branch": session.branch}
    told = {"originator": "codex-tui", "cli_version": "0.130.0", "source": "cli", "git": git}
    fork = {"forked_from_id": forked_from} if forked_from else {}
    return {**meta, **told, **fork, "base_instructions": {"text": _INSTRUCTIONS}}


def _claude(session: Session) -> tuple[Path, Iterator[Line]]:
    slug = session.cwd.replace("/", "-").replace("_", "-")
    return Path("claude", "projects", slug, f"{session.id}.jsonl"), _claude_lines(session)


def _claude_lines(session: Session) -> Iterator[Line]:
    random = Random(session.id)
    said = "\n".join(message.text[:4_000] for message in session.messages)
    parent: str | None = None
    call = ""
    for message in session.messages:
        own = message.key
        envelope = {
            "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": session.cwd,
            "sessionId": session.id, "version": "2.1.20", "gitBranch": session.branch, "entrypoint": "cli",
            "uuid": own, "timestamp": _stamp(message.timestamp or _time(session)), "rowSource": "local",
        }  # fmt: skip
        parent = own
        if message.role == "user":
            snapshot: Line = {"messageId": own, "trackedFileBackups": {}, "timestamp": envelope["timestamp"]}
            yield {"type": "file-history-snapshot", "messageId": own, "snapshot": snapshot, "isSnapshotUpdate": False}
            yield {**envelope, "type": "user", "message": {"role": "user", "content": message.text}}
        elif message.role == "tool" and not message.files:
            result = {"tool_use_id": call, "type": "tool_result", "content": message.text, "is_error": False}
            printed: Line = {"stdout": message.text, "stderr": "", "interrupted": False, "isImage": False}
            if message.tool == "Edit":  # holds all of the file as it was
                size = 200 + int(random.expovariate(1 / 8_000))
                printed = {"filePath": "kite.py", "newString": message.text, "originalFile": (said * 9)[:size]}
            spoken = {"role": "user", "content": [result]}
            yield {**envelope, "type": "user", "message": spoken, "toolUseResult": printed}
        else:
            part: Line = {"type": "text", "text": message.text}
            if message.role == "tool":
                call = f"toolu_{_short(own)}"
                part = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": message.text}}
                hook = {
                    "type": "hook_progress",
                    "hookEvent": "PreToolUse",
                    "hookName": "PreToolUse:Bash",
                    "command": "callback",
                }
                yield {**envelope, "type": "progress", "uuid": f"e{own[1:]}", "data": hook, "parentToolUseID": call}
            else:
                yield _claude_answer(
                    envelope, f"f{own[1:]}", {"type": "thinking", "thinking": "", "signature": _opaque(random)}
                )
                envelope["parentUuid"] = f"f{own[1:]}"
            yield _claude_answer(envelope, own, part)
    yield {"type": "last-prompt", "lastPrompt": session.messages[0].text[:200], "sessionId": session.id}


def _claude_answer(envelope: Line, uuid: str, part: Line) -> Line:
    usage = {"input_tokens": 4, "cache_creation_input_tokens": 310, "cache_read_input_tokens": 90_000,
             "output_tokens": 80, "service_tier": "standard", "server_tool_use": {"web_searches": 0}}  # fmt: skip
    answer = {
        "id": f"msg_{_short(uuid)}",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [part],
    }
    told = {**answer, "stop_reason": None, "stop_sequence": None, "usage": usage}
    return {**envelope, "uuid": uuid, "type": "assistant", "message": told, "requestId": f"req_{_short(uuid)}"}


_LAYOUTS: dict[str, Callable[[Session], tuple[Path, Iterator[Line]]]] = {"codex": _codex, "claude": _claude}


def _time(session: Session) -> datetime:
    return session.started_at or datetime(2024, 11, 1, tzinfo=UTC)


def _stamp(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond // 1_000:03d}Z"


def _short(uuid: str) -> str:
    return uuid.replace("-", "")[:24]


def _id(random: Random) -> str:
    return f"{random.getrandbits(96):024x}"


def _opaque(random: Random) -> str:
    """What an agent keeps of its thoughts, unreadable."""
    return base64.b64encode(random.randbytes(random.randrange(200, 1_600))).decode()
