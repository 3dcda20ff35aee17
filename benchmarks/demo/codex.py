"""A session as Codex 0.171 writes it: a paginated rollout, in which each word stands twice."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta
from pathlib import Path

from benchmarks.demo.scripts import Script, Step, fixed_uuid, utc

AGENTS_MD = "Run the tests of what you change. Say what you did not verify."


def rollout_name(script: Script) -> str:
    """Path of the rollout below `sessions`, with the local time in it."""
    return f"{script.started_at:%Y/%m/%d}/rollout-{script.started_at:%Y-%m-%dT%H-%M-%S}-{script.id}.jsonl"


def index_record(script: Script) -> dict[str, object]:
    """The session's line in `session_index.jsonl`, where Codex keeps titles."""
    return {"id": script.id, "thread_name": script.title, "updated_at": utc(script.started_at)}


def rollout(script: Script, cwd: Path) -> list[dict[str, object]]:
    """The lines of the rollout, in order."""
    return _Rollout(script, cwd).records


class _Rollout:
    def __init__(self, script: Script, cwd: Path) -> None:
        self.records: list[dict[str, object]] = []
        self._script = script
        self._cwd = cwd
        self._moment = script.started_at
        self._turn_id = ""
        self._session_meta()
        times = script.times()
        for number, turn in enumerate(script.turns):
            self._turn(number, turn, [next(times) for _ in turn])

    def _session_meta(self) -> None:
        script, cwd = self._script, str(self._cwd)
        commit = hashlib.sha1(script.name.encode("utf-8")).hexdigest()
        self._add(
            "session_meta",
            session_id=script.id,
            id=script.id,
            timestamp=utc(script.started_at),
            cwd=cwd,
            runtime_workspace_roots=[cwd],
            originator="codex-tui",
            cli_version="0.171.0",
            source="cli",
            thread_source="user",
            model_provider="openai",
            base_instructions={"text": "You are a coding agent."},
            history_mode="paginated",
            context_window={"window_id": self._uuid("window")},
            git={"commit_hash": commit, "branch": script.branch},
        )

    def _turn(self, number: int, turn: tuple[Step, ...], times: list[datetime]) -> None:
        self._moment = times[0]
        self._turn_id = self._uuid("turn")
        self._event(
            "task_started",
            root_turn_id=self._turn_id,
            started_at=int(times[0].timestamp()),
            model_context_window=258400,
            collaboration_mode_kind="default",
        )
        if number == 0:
            self._surroundings()
        self._add(
            "turn_context",
            turn_id=self._turn_id,
            cwd=str(self._cwd),
            approval_policy="on-request",
            sandbox_policy={"type": "workspace-write"},
            model="gpt-5.5",
            summary="auto",
        )
        for place, step in enumerate(turn):
            self._moment = times[place]
            if step.kind == "user":
                self._said(step)
            elif step.kind == "assistant":
                self._answered(step, "final_answer" if place == len(turn) - 1 else "commentary")
            elif step.kind == "run":
                self._ran(step, f"call_{number}_{place}")
            else:
                self._edited(step, f"call_{number}_{place}")
        usage = {
            "input_tokens": 4000 + 900 * number,
            "output_tokens": 380,
            "total_tokens": 4380 + 900 * number,
        }
        self._add("token_usage_record", thread_id=self._script.id, turn_id=self._turn_id, usage=usage)
        duration = int((times[-1] - times[0]).total_seconds() * 1000)
        self._event("task_complete", last_agent_message=turn[-1].text, duration_ms=duration)

    def _surroundings(self) -> None:
        """What Codex tells the model in the user's name: no reader may take it for the user's words."""
        rules = f"# AGENTS.md instructions for {self._cwd}\n\n<INSTRUCTIONS>\n{AGENTS_MD}\n</INSTRUCTIONS>"
        environment = (
            f"<environment_context>\n  <cwd>{self._cwd}</cwd>\n  <shell>bash</shell>\n"
            f"  <current_date>{self._moment:%Y-%m-%d}</current_date>\n</environment_context>"
        )
        self._message("user", [rules, environment], ["agents_md.instructions", "environments.environment_context"])
        self._add("world_state", full=True, state={"agents_md": {"directory": str(self._cwd), "text": AGENTS_MD}})

    def _said(self, step: Step) -> None:
        self._message("user", [step.text], ["user.text"])
        content = [{"type": "text", "text": step.text, "text_elements": []}]
        self._completed(type="UserMessage", id=self._uuid("said"), content=content)
        self._item(
            "reasoning",
            id=f"rs_{self._uuid('reasoning')}",
            summary=[{"type": "summary_text", "text": "**Planning the next step**"}],
            content=None,
            encrypted_content="gAAAAenc==",
        )

    def _answered(self, step: Step, phase: str) -> None:
        content = [{"type": "Text", "text": step.text}]
        self._completed(type="AgentMessage", id=self._uuid("answer"), phase=phase, content=content)
        self._message("assistant", [step.text], ["unknown"], phase=phase)

    def _ran(self, step: Step, call: str) -> None:
        arguments = json.dumps({"cmd": step.text, "workdir": str(self._cwd)}, ensure_ascii=False)
        self._item("function_call", id=f"fc_{call}", name="exec_command", arguments=arguments, call_id=call)
        self._moment += timedelta(seconds=4)
        self._completed(
            type="CommandExecution",
            id=call,
            command=["/bin/bash", "-lc", step.text],
            cwd=self._cwd.as_uri(),
            source="unified_exec_startup",
            status="failed" if step.exit_code else "completed",
            aggregated_output=f"{step.output}\n",
            exit_code=step.exit_code,
            duration={"secs": 4, "nanos": 0},
        )
        output = f"Wall time: 4.0000 seconds\nProcess exited with code {step.exit_code}\nOutput:\n{step.output}\n"
        self._item("function_call_output", call_id=call, output=output)

    def _edited(self, step: Step, call: str) -> None:
        new = step.makes_new_file
        header = f"*** Add File: {step.text}" if new else f"*** Update File: {step.text}\n@@"
        patch = f"*** Begin Patch\n{header}\n{step.output}\n*** End Patch\n"
        self._item(
            "custom_tool_call",
            id=f"ctc_{call}",
            status="completed",
            call_id=call,
            name="apply_patch",
            input=patch,
        )
        change = {"type": "add" if new else "update", "unified_diff": step.output}
        changes = {str(self._cwd / step.text): change}
        self._completed(type="FileChange", id=call, status="completed", changes=changes)
        output = f"Success. Updated the following files:\n{'A' if new else 'M'} {step.text}\n"
        output = f"Exit code: 0\nWall time: 0 seconds\nOutput:\n{output}"
        self._item("custom_tool_call_output", call_id=call, output=output)

    def _message(self, role: str, parts: list[str], kinds: list[str], **more: object) -> None:
        kind = "output_text" if role == "assistant" else "input_text"
        self._item(
            "message",
            id=f"msg_{self._uuid('message')}",
            role=role,
            content=[{"type": kind, "text": part} for part in parts],
            content_item_kinds=kinds,
            **more,
        )

    def _item(self, kind: str, content_item_kinds: list[str] | None = None, **fields: object) -> None:
        labels: dict[str, object] = {"turn_id": self._turn_id}
        if content_item_kinds is not None:
            labels["content_item_kinds"] = content_item_kinds
        self._add("response_item", type=kind, **fields, internal_chat_message_metadata_passthrough=labels)

    def _completed(self, **item: object) -> None:
        self._event("item_completed", thread_id=self._script.id, item=item)

    def _event(self, kind: str, **fields: object) -> None:
        self._add("event_msg", type=kind, turn_id=self._turn_id, **fields)

    def _add(self, line_type: str, **payload: object) -> None:
        ordinal = len(self.records)
        stamp = utc(self._moment + timedelta(milliseconds=ordinal))
        self.records.append({"timestamp": stamp, "ordinal": ordinal, "type": line_type, "payload": payload})

    def _uuid(self, purpose: str) -> str:
        return fixed_uuid(f"{self._script.name} {len(self.records)} {purpose}", self._moment)
