"""A session as Claude Code 2.1.332 writes it: one line a content part, in a chain from parent to child."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path

from benchmarks.demo.scripts import Script, Step, fixed_uuid, utc

MODEL = "claude-opus-5-5"
VERSION = "2.1.332"


def transcript_name(script: Script, cwd: Path) -> str:
    """Path of the transcript below `projects`: each character that is no ASCII letter or digit is a dash."""
    slug = re.sub("[^A-Za-z0-9]", "-", str(cwd))
    if len(slug) > 200:
        # Claude Code appends another hash, which nothing reads: the lines name the directory.
        slug = f"{slug[:200]}-{fixed_uuid(slug)[:6]}"
    return f"{slug}/{script.id}.jsonl"


def transcript(script: Script, cwd: Path) -> list[dict[str, object]]:
    """The lines of the transcript, in order."""
    return _Transcript(script, cwd).records


class _Transcript:
    def __init__(self, script: Script, cwd: Path) -> None:
        self.records: list[dict[str, object]] = []
        self._script = script
        self._cwd = cwd
        self._moment = script.started_at
        self._parent: str | None = None
        self._answers = 0
        self._bookkeeping("mode", mode="normal")
        times = script.times()
        for number, turn in enumerate(script.turns):
            self._turn(number, turn, [next(times) for _ in turn])

    def _turn(self, number: int, turn: tuple[Step, ...], times: list[datetime]) -> None:
        # The last step of a turn is always an answer; every other one leads to a tool.
        for place, step in enumerate(turn):
            self._moment = times[place]
            stop = "end_turn" if place == len(turn) - 1 else "tool_use"
            if step.kind == "user":
                self._said(step, first=number == 0)
            elif step.kind == "assistant":
                self._answer({"type": "text", "text": step.text}, stop)
            else:
                self._used(step)
        self._answers += 1
        self._bookkeeping("last-prompt", lastPrompt=turn[0].text, leafUuid=self._parent)
        if number == 0:
            self._bookkeeping("ai-title", aiTitle=self._script.title)

    def _said(self, step: Step, *, first: bool) -> None:
        self._line(
            "user",
            promptId=self._uuid("prompt"),
            message={"role": "user", "content": step.text},
            permissionMode="default",
            promptSource="cli",
            rowSource="local",
        )
        if first:
            worktree = bool(self._script.worktree)
            snapshot = {"workingDirectory": str(self._cwd), "isWorktree": worktree, "isGitRepo": True}
            self._line("attachment", attachment={"type": "environment", "snapshot": snapshot})
            self._line("attachment", attachment={"type": "date", "date": f"{self._moment:%Y-%m-%d}"})
        # The request repeats what was said: no reader may take it for a second message.
        request = {"role": "user", "content": [{"type": "text", "text": step.text}]}
        blob = fixed_uuid(step.text)
        self._bookkeeping("api-request-blob", hash=blob, message=request)
        params = {"model": MODEL, "max_tokens": 128000}
        self._bookkeeping("api-request", timestamp=self._now(), version=VERSION, params=params, tail=[blob])
        self._answer({"type": "thinking", "thinking": "", "signature": "c2ln"}, "tool_use")

    def _used(self, step: Step) -> None:
        call = f"toolu_{self._script.id[:8]}{len(self.records):04}"
        name, arguments, result, structure = _tool(step, self._cwd)
        self._answer({"type": "tool_use", "id": call, "name": name, "input": arguments}, "tool_use")
        self._moment += timedelta(seconds=4)
        part = {
            "tool_use_id": call,
            "type": "tool_result",
            "content": result,
            "is_error": bool(step.exit_code),
        }
        self._line("user", message={"role": "user", "content": [part]}, toolUseResult=structure)
        self._answers += 1

    def _answer(self, part: dict[str, object], stop_reason: str) -> None:
        """One part of an answer. The parts up to the next tool result share a message id."""
        message = {
            "id": f"msg_{self._script.id[:8]}{self._answers:04}",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [part],
            "stop_reason": stop_reason,
            "usage": {"input_tokens": 900, "output_tokens": 80},
        }
        self._line("assistant", message=message)

    def _line(self, line_type: str, **fields: object) -> None:
        uuid = self._uuid("line")
        self.records.append(
            {
                "parentUuid": self._parent,
                "isSidechain": False,
                "type": line_type,
                **fields,
                "uuid": uuid,
                "timestamp": self._now(),
                "userType": "external",
                "entrypoint": "cli",
                "cwd": str(self._cwd),
                "sessionId": self._script.id,
                "version": VERSION,
                "gitBranch": self._script.branch,
            }
        )
        self._parent = uuid

    def _bookkeeping(self, line_type: str, **fields: object) -> None:
        self.records.append({"type": line_type, "sessionId": self._script.id, **fields})

    def _now(self) -> str:
        return utc(self._moment + timedelta(milliseconds=len(self.records)))

    def _uuid(self, purpose: str) -> str:
        return fixed_uuid(f"{self._script.name} {len(self.records)} {purpose}")


def _tool(step: Step, cwd: Path) -> tuple[str, dict[str, object], str, dict[str, object]]:
    """(tool, its input, the result as text, the result as a structure) of a command or an edit."""
    if step.kind == "run":
        result = f"Exit code 1\n{step.output}" if step.exit_code else step.output
        return (
            "Bash",
            {"command": step.text},
            result,
            {"stdout": step.output, "stderr": "", "interrupted": False},
        )
    path, lines = str(cwd / step.text), step.output.splitlines()
    before = "\n".join(line[1:] for line in lines if not line.startswith("+"))
    after = "\n".join(line[1:] for line in lines if not line.startswith("-"))
    if step.makes_new_file:
        result = f"File created successfully at: {path}"
        return "Write", {"file_path": path, "content": after}, result, {"type": "create", "filePath": path}
    result = f"The file {path} has been updated successfully."
    arguments: dict[str, object] = {"file_path": path, "old_string": before, "new_string": after}
    return "Edit", arguments, result, {"filePath": path, "oldString": before, "newString": after}
