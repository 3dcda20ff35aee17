from __future__ import annotations

import json
import time
from pathlib import Path, PurePath
from typing import Any

import orjson
import pytest
from golden import INPUTS, SAMPLES, WITHOUT_SAMPLES, check, lines_of, read_all, sample_folders
from hypothesis import given, settings
from hypothesis import strategies as st

from recall.transcripts.codex import CodexReader
from recall.transcripts.codex_echoes import WAITING_LIMIT
from recall.transcripts.reader import Line
from recall.types import Message

ID = "01a22c44-cc2e-7ec3-9160-425f6626c512"
PATH = PurePath(f"/home/ana/.codex/sessions/2026/03/02/rollout-2026-03-02T09-00-00-{ID}.jsonl")
NOW = "2026-03-02T09:00:00Z"


def cx(kind: str, payload: Any, at: str = NOW, **envelope: Any) -> str:
    return json.dumps({"timestamp": at, **envelope, "type": kind, "payload": payload})


def meta(**fields: Any) -> str:
    return cx(
        "session_meta",
        {"id": ID, "timestamp": NOW, "cwd": "/srv/w/kite", "originator": "codex_cli_rs", "source": "cli", **fields},
    )


def item(kind: str, **fields: Any) -> str:
    return cx("response_item", {"type": kind, **fields})


def event(kind: str, **fields: Any) -> str:
    return cx("event_msg", {"type": kind, **fields})


def done(kind: str, **fields: Any) -> str:
    return event("item_completed", item={"type": kind, **fields})


def said(role: str, *texts: str, kinds: list[str] | None = None) -> str:
    part = "output_text" if role == "assistant" else "input_text"
    labels = {"internal_chat_message_metadata_passthrough": {"content_item_kinds": kinds}} if kinds else {}
    return item("message", role=role, content=[{"type": part, "text": text} for text in texts], **labels)


def echo(role: str, text: str) -> str:
    return event("user_message" if role == "user" else "agent_message", message=text)


def shell(call: str, command: str) -> str:
    return item("function_call", name="exec_command", arguments=json.dumps({"cmd": command}), call_id=call)


def printed(call: str, output: Any) -> str:
    return item("function_call_output", call_id=call, output=output)


def script(call: str, source: str) -> str:
    return item("custom_tool_call", name="exec", input=source, call_id=call)


def ran(call: str, command: str, **fields: Any) -> str:
    return done("CommandExecution", id=call, command=["/bin/bash", "-lc", command], exit_code=0, **fields)


def reader_of(*lines: str | bytes, path: PurePath = PATH) -> tuple[CodexReader, list[Message]]:
    reader = CodexReader(path)
    messages: list[Message] = []
    for number, line in enumerate(lines, start=1):
        text = line if isinstance(line, bytes) else line.encode()
        messages.extend(reader.read(Line(number, text)))
    messages.extend(reader.finish())
    return reader, messages


def read(*lines: str | bytes) -> list[tuple[str, str]]:
    """(role, text) of the messages of a rollout with these lines."""
    return [(message.role, message.text) for message in reader_of(meta(), *lines)[1]]


def transcripts() -> list[Any]:
    """The recorded samples and our own inputs, as test parameters."""
    own = [pytest.param(file, id=file.parent.name) for file in sorted(INPUTS.glob("codex-*/*"))]
    if SAMPLES is None:
        return [*own, pytest.param(None, id="samples", marks=pytest.mark.skip(reason=WITHOUT_SAMPLES))]
    return own + [pytest.param(file, id=file.parent.name) for file in sorted(SAMPLES.glob("codex-*/*"))]


# Recorded files


@pytest.mark.skipif(SAMPLES is None, reason=WITHOUT_SAMPLES)
@pytest.mark.parametrize("folder", sample_folders("codex-"))
def test_what_the_real_codex_wrote_is_read_as_reviewed(folder: str) -> None:
    assert SAMPLES is not None
    [file] = (SAMPLES / folder).iterdir()
    check("samples", folder, read_all(CodexReader, file))


@pytest.mark.parametrize("folder", sorted(path.name for path in INPUTS.glob("codex-*")))
def test_our_own_inputs_are_read_as_reviewed(folder: str) -> None:
    [file] = (INPUTS / folder).iterdir()
    check("outputs", folder, read_all(CodexReader, file))


@pytest.mark.parametrize("file", transcripts())
def test_a_file_read_in_two_parts_gives_the_same_messages_wherever_it_is_cut(file: Path) -> None:
    lines = list(lines_of(file))
    whole = CodexReader(file)
    expected = [message for line in lines for message in whole.read(line)]
    for cut in range(len(lines) + 1):
        first = CodexReader(file)
        messages = [message for line in lines[:cut] for message in first.read(line)]
        second = CodexReader(file, orjson.loads(orjson.dumps(first.state())))
        messages += [message for line in lines[cut:] for message in second.read(line)]
        assert messages == expected, f"cut after line {cut}"
        assert first.skipped + second.skipped == whole.skipped
        assert second.session.id == whole.session.id
        assert second.session.cwd == whole.session.cwd


@pytest.mark.skipif(SAMPLES is None, reason=WITHOUT_SAMPLES)
def test_a_compressed_rollout_says_what_the_plain_one_says() -> None:
    assert SAMPLES is not None
    [plain] = (SAMPLES / "codex-0.171.0-paginated").iterdir()
    [compressed] = (SAMPLES / "codex-0.171.0-zst").iterdir()
    assert read_all(CodexReader, compressed) == read_all(CodexReader, plain)


# Two streams


TURNS = [("user", "why is the kite cache cold"), ("assistant", "the key changed")]


@pytest.mark.parametrize(
    "line_makers",
    [(said, echo), (echo, said), (said,), (echo,)],
    ids=["item, then event", "event, then item", "items only", "events only"],
)
def test_each_text_is_one_message_whichever_stream_it_is_on(line_makers: Any) -> None:
    assert read(*(make(role, text) for role, text in TURNS for make in line_makers)) == TURNS


@pytest.mark.parametrize("line_makers", [(said, echo), (echo, said), (said,), (echo,)])
def test_a_text_that_was_really_sent_twice_is_two_messages(line_makers: Any) -> None:
    turn = [("user", "retry the harbor build"), ("assistant", "built")]
    assert read(*(make(role, text) for role, text in turn * 2 for make in line_makers)) == turn * 2


def test_a_completed_item_is_the_echo_of_a_message_with_the_same_words() -> None:
    words = [{"type": "text", "text": "see images"}, {"type": "image", "image_url": "data:image/png;base64,QUJD"}]
    answer = [{"type": "Text", "text": "seen"}]
    lines = [
        said("user", "see images", '<image name=[Image #1] path="/x.png">', "</image>"),
        done("UserMessage", content=words),
        done("AgentMessage", content=answer),
        said("assistant", "seen"),
    ]
    assert read(*lines) == [("user", "see images"), ("assistant", "seen")]
    assert read(lines[1], lines[2]) == [("user", "see images"), ("assistant", "seen")]


def test_a_prompt_that_a_review_writes_as_two_events_in_a_row_is_one_message() -> None:
    prompt = {"type": "user_message", "message": "review it"}
    twice = [cx("event_msg", prompt, at=f"2026-03-02T09:00:00.{ms}Z") for ms in (728, 734)]
    assert read(*twice, said("assistant", "fine")) == [("user", "review it"), ("assistant", "fine")]


def test_equal_events_that_stand_a_minute_apart_are_two_messages() -> None:
    prompt = {"type": "user_message", "message": "continue"}
    twice = [cx("event_msg", prompt, at=f"2026-03-02T09:0{minute}:00Z") for minute in (1, 2)]
    assert read(*twice) == [("user", "continue"), ("user", "continue")]


def test_a_text_in_the_mouth_of_the_other_role_is_no_echo() -> None:
    assert read(said("user", "yes"), echo("assistant", "yes")) == [("user", "yes"), ("assistant", "yes")]


def test_an_event_without_the_plan_of_plan_mode_is_still_an_echo() -> None:
    plan = "Here it is.\n<proposed_plan>\n1. measure\n</proposed_plan>"
    assert read(echo("assistant", "Here it is.\n"), said("assistant", plan)) == [("assistant", "Here it is.")]


def test_what_waits_for_an_echo_stays_bounded() -> None:
    reader, messages = reader_of(meta(), *(said("user", f"prompt {n}") for n in range(1000)))
    assert len(messages) == 1000
    assert len(reader.state()["echoes"]["waiting"]) == WAITING_LIMIT
    assert len(orjson.dumps(reader.state())) < 10_000


# What nobody typed


@pytest.mark.parametrize(
    "text",
    [
        "<user_instructions>\nkite\n</user_instructions>",
        "\n  <environment_context>\n  <cwd>/kite</cwd>\n</environment_context>",
        "<ENVIRONMENT_CONTEXT>kite</ENVIRONMENT_CONTEXT>",
        "<environment_context>\n  cut off before its end",
        "# AGENTS.md instructions for /srv/w/kite\n\n<INSTRUCTIONS>\nkite\n</INSTRUCTIONS>",
        "# AGENTS.md instructions for /srv/w/kite\n\nAlways answer in rhyme.",
        "<turn_aborted>\nThe user interrupted.\n</turn_aborted>",
        "<subagent_notification>\n{}\n</subagent_notification>",
        "<skill>\n<name>kite</name>\n</skill>",
        '<hook_prompt hook_run_id="stop:1">run the check</hook_prompt>',
        "<user_action>\n  <action>review</action>\n</user_action>",
        "# Context from my IDE setup:\n\n## Open tabs:\n- kite.py",
        "image content omitted because it could not be processed",
        '<image name=[Image #1] path="/x.png">',
        "</image>",
        "<stdin>\nkite log\n</stdin>",
        "<recalled-sessions>\nkite\n</recalled-sessions>",
    ],
)
def test_what_codex_puts_in_the_mouth_of_the_user_is_no_message(text: str) -> None:
    assert read(said("user", text)) == []
    assert read(said("user", text, "rename the harbor flag")) == [("user", "rename the harbor flag")]
    assert read(echo("user", text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "explain what <environment_context> means",
        "<environment_context> stands in my prompt, why?",
        "what does `## My request for Codex:` do in a prompt?",
        "remove <image> from the template",
        "# AGENTS.md instructions are too long, shorten them",
        "use recall search in the README",
        "<skills> is the new tag",
    ],
)
def test_a_person_may_write_about_what_codex_injects(text: str) -> None:
    assert read(said("user", text), echo("user", text)) == [("user", text)]


@pytest.mark.parametrize(
    "text",
    [
        "# Context from my IDE setup:\n\n## Open tabs:\n- kite.py\n\n## My request for Codex:\nrename it",
        "# Files mentioned by the user:\n\n## a.png: /tmp/a.png\n\n## My request for Codex:\nrename it",
        "<environment_context>\n</environment_context>\n\n<skill>\nkite\n</skill>\nrename it",
        "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>\n<skill>\n</skill>\nrename it",
        "rename it\n<image></image>",
        'rename it\n\n<image name=[Image #1] path="C:\\Users\\ana\\a.png">\n</image>',
        "rename it\n<stdin>\nkite log\n</stdin>",
        "<recalled-sessions>\nkite\n</recalled-sessions>\nrename it",
    ],
)
def test_of_a_glued_message_only_the_request_is_kept(text: str) -> None:
    assert read(said("user", text), echo("user", "rename it")) == [("user", "rename it")]


def test_a_label_other_than_user_text_keeps_a_part_out_whatever_it_says() -> None:
    line = said("user", "kite rules", "fix it", "more", kinds=["agents_md.instructions", "user.text", "unknown"])
    assert read(line) == [("user", "fix it")]


def test_labels_do_not_matter_for_the_assistant() -> None:
    assert read(said("assistant", "done", kinds=["unknown"])) == [("assistant", "done")]


@pytest.mark.parametrize("role", ["developer", "system"])
def test_the_developer_and_the_system_are_not_heard(role: str) -> None:
    assert read(said(role, "HOOKCTX: 3 earlier sessions")) == []


def test_reasoning_and_compaction_are_not_heard() -> None:
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "kite"}]}]
    reader, messages = reader_of(
        meta(),
        event("agent_reasoning", text="kite"),
        item("reasoning", summary=[{"type": "summary_text", "text": "kite"}]),
        cx("compacted", {"message": "kite", "replacement_history": history}),
        cx("world_state", {"state": {"agents_md": {"text": "kite"}}}),
        cx("token_usage_record", {"usage": {}}),
        cx("turn_context", {"cwd": "/srv/w/kite", "user_instructions": "kite"}),
        event("task_complete", last_agent_message="kite"),
    )
    assert messages == []
    assert not reader.skipped


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Done.\n\n<oai-mem-citation>\nMEMORY.md:1\n</oai-mem-citation>\n", "Done."),
        ("Done.<oai-mem-citation>x</oai-mem-citation>", "Done."),
        ("Done.\n<oai-mem-citation>\nMEMORY.md:1", "Done."),
        ("The tag <oai-mem-citation> lists memories.", "The tag <oai-mem-citation> lists memories."),
    ],
)
def test_the_list_of_cited_memories_is_cut_off_an_answer(text: str, kept: str) -> None:
    assert read(said("assistant", text)) == [("assistant", kept)]


# Tools


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ('{"output":"a.py\\n","metadata":{"exit_code":0,"duration_seconds":0.1}}', "a.py"),
        ('{"output":"boom\\n","metadata":{"exit_code":2}}', "exit code 2\nboom"),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\na.py\n", "a.py"),
        ("Exit code: 1\nWall time: 0 seconds\nTotal output lines: 3\nOutput:\nboom\n", "exit code 1\nboom"),
        ("Chunk ID: 1e\nWall time: 0.0 seconds\nProcess exited with code 1\nOutput:\nboom", "exit code 1\nboom"),
        ("Command: bash -lc 'echo\nkite'\nChunk ID: 1e\nWall time: 0.0 seconds\nOutput:\nkite\n", "kite"),
        ("Chunk ID: 1e\nProcess running with session ID 5\nOutput:\nstarted", "started"),
        ("Process exited with code 3\nOutput:\n", "exit code 3"),
        ({"content": "a.py", "success": True}, "a.py"),
        ('{"content":[{"type":"text","text":"a page"},{"type":"image","data":"QUJD"}],"isError":false}', "a page"),
        ('Wall time: 1 seconds\nOutput:\n[{"type":"text","text":"a page"}]', "a page"),
        ([{"type": "input_text", "text": "Script completed\nWall time 0.2 seconds\nOutput:\n"},
          {"type": "input_text", "text": "a.py"}, {"type": "input_image", "image_url": "data:x"}], "a.py"),
        ('{"output": "a program\'s own", "lines": 3}', '{"output": "a program\'s own", "lines": 3}'),
        ("Output:\nprinted by a program", "Output:\nprinted by a program"),
        ("  indented\nplain\n", "  indented\nplain"),
    ],
)  # fmt: skip
def test_an_output_is_freed_of_the_report_around_it(output: Any, text: str) -> None:
    _, messages = reader_of(meta(), shell("c1", "ls"), printed("c1", output))
    assert [(message.tool, message.text) for message in messages[1:]] == [("exec_command", text)]


def test_a_silent_success_is_no_message() -> None:
    assert read(shell("c1", "true"), printed("c1", "Process exited with code 0\nOutput:\n")) == [("tool", "true")]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("shell", {"command": ["bash", "-lc", "make test"], "timeout_ms": 9}),
        ("shell_command", {"command": "make test", "workdir": "/srv"}),
        ("exec_command", {"cmd": "make test", "yield_time_ms": 9, "workdir": "/srv"}),
    ],
)
def test_a_shell_call_is_its_command_alone(name: str, arguments: dict[str, Any]) -> None:
    line = item("function_call", name=name, arguments=json.dumps(arguments), call_id="c1")
    _, [message] = reader_of(meta(), line)
    assert (message.role, message.tool, message.text, message.files) == ("tool", name, "make test", ())


def test_a_patch_names_its_files() -> None:
    patch = "*** Begin Patch\n*** Add File: a b.txt\n+x\n*** Update File: c.py\n*** Delete File: d.py\n*** End Patch"
    _, [message] = reader_of(meta(), item("custom_tool_call", name="apply_patch", input=patch, call_id="c1"))
    assert (message.tool, message.text, message.files) == ("apply_patch", patch, ("a b.txt", "c.py", "d.py"))
    call = item("function_call", name="apply_patch", arguments=json.dumps({"input": patch}), call_id="c1")
    assert reader_of(meta(), call)[1] == [message]


def test_a_command_of_a_response_item_is_not_told_again_by_its_event() -> None:
    lines = [shell("c1", "make"), ran("c1", "make", aggregated_output="ok\n"), printed("c1", "Output:\nok")]
    assert read(*lines) == [("tool", "make"), ("tool", "Output:\nok")]


def test_a_command_that_only_an_event_reports_is_taken_from_it() -> None:
    assert read(ran("c1", "make", aggregated_output="ok\n")) == [("tool", "make"), ("tool", "ok")]


USER_SHELL = ran("3d36", "git log", source="user_shell", aggregated_output="ab12 first\n")
USER_SHELL_TEXT = (
    "<user_shell_command>\n<command>\ngit log\n</command>\n<result>\nExit code: 0\nDuration: 0.01 seconds\nOutput:\n"
    "ab12 first\n\n</result>\n</user_shell_command>"
)


@pytest.mark.parametrize("lines", [(USER_SHELL, said("user", USER_SHELL_TEXT)), (said("user", USER_SHELL_TEXT),)])
def test_a_command_that_the_person_ran_is_a_tool_message_once(lines: tuple[str, ...]) -> None:
    _, messages = reader_of(meta(), *lines)
    assert [(m.role, m.tool) for m in messages] == [("tool", "shell")] * 2
    assert [m.text for m in messages] == ["git log", "ab12 first"]


def test_a_script_that_only_runs_commands_is_those_commands() -> None:
    source = 'const r = await tools.exec_command({"cmd": "rg \\"令牌桶\\" src", workdir: "/w"});\ntext(r.output)'
    texts = ["Script completed\nWall time 0.2 seconds\nOutput:\n", "src/a.py"]
    output = [{"type": "input_text", "text": text} for text in texts]
    command = ran("exec-1", 'rg "令牌桶" src', aggregated_output="src/a.py\n")
    messages = read(script("x1", source), command, printed("x1", output))
    assert messages == [("tool", 'rg "令牌桶" src'), ("tool", "src/a.py")]


@pytest.mark.parametrize("value", ["`wc ${f}`", '"wc " + f', "command(f)"])
def test_a_script_that_computes_its_commands_is_kept_and_its_events_name_them(value: str) -> None:
    source = f"for (const f of files) await tools.exec_command({{cmd: {value}}})"
    lines = [script("x1", source), ran("exec-1", "wc a"), ran("exec-2", "wc b"), printed("x1", "9 a\n3 b")]
    assert read(*lines) == [("tool", source), ("tool", "wc a"), ("tool", "wc b"), ("tool", "9 a\n3 b")]


def test_a_patch_inside_a_script_is_told_once() -> None:
    source = "await tools.apply_patch(`*** Begin Patch\n*** Update File: a.ts\n+x\n*** End Patch`)"
    change = done("FileChange", id="exec-1", changes={"/w/a.ts": {"type": "update", "unified_diff": "+x\n"}})
    _, messages = reader_of(meta(), script("x1", source), change)
    assert [(message.text, message.files) for message in messages] == [(source, ("a.ts",))]
    _, messages = reader_of(meta(), change)
    assert [(message.tool, message.files) for message in messages] == [("apply_patch", ("/w/a.ts",))]


def test_an_output_finds_the_name_of_its_call_after_a_thousand_others_only_while_that_is_remembered() -> None:
    reader, messages = reader_of(meta(), *(shell(f"c{n}", f"echo {n}") for n in range(1000)), printed("c999", "x"))
    assert messages[-1].tool == "exec_command"
    assert len(reader.state()["calls"]) < 1000


# Traces of recall itself


OWN_CALLS = [
    [shell("c1", 'recall search "harbor"')],
    [shell("c1", "cd /w && recall search harbor"), ran("c1", "cd /w && recall search harbor")],
    [item("function_call", name="mcp__recall__recall_search", arguments='{"query":"harbor"}', call_id="c1"),
     event("mcp_tool_call_end", call_id="c1", invocation={"server": "recall", "tool": "recall_search"})],
    [script("c1", "text(await tools.exec_command({cmd: \"recall search 'harbor'\"}))"),
     ran("exec-1", "recall search 'harbor'", aggregated_output="harbor port is 8443")],
    [script("c1", "text(await tools.mcp__recall__recall_search({query: 'harbor'}))")],
    [script("c1", "const c = ['recall', 'search']; text(await tools.exec_command({cmd: c.join(' ') + ` ${q}`}))"),
     ran("exec-1", "recall search harbor", aggregated_output="harbor port is 8443")],
]  # fmt: skip


@pytest.mark.parametrize("calls", OWN_CALLS)
def test_a_call_to_recall_leaves_neither_its_output_nor_its_event(calls: list[str]) -> None:
    texts = [text for _, text in read(*calls, printed("c1", "harbor port is 8443"), said("assistant", "8443"))]
    assert not any("harbor port" in text for text in texts)
    assert texts[-1] == "8443"


def test_a_command_that_the_person_ran_with_recall_leaves_nothing() -> None:
    command = "recall search harbor"
    text = USER_SHELL_TEXT.replace("git log", command)
    assert read(ran("3d36", command, source="user_shell", aggregated_output="harbor"), said("user", text)) == []


def test_what_recall_printed_is_not_heard_even_where_its_call_is_unknown() -> None:
    result = '{"query": "harbor", "scope": {"kind": "repository"}, "hits": []}'
    assert read(printed("gone", result)) == []
    assert read(printed("gone", "before\n<recalled-sessions>\nharbor\n</recalled-sessions>")) == [("tool", "before")]


def test_our_own_background_session_says_nothing() -> None:
    reader, messages = reader_of(meta(originator="recall"), said("user", "judge this"), said("assistant", "yes"))
    assert messages == []
    resumed = CodexReader(PATH, reader.state())
    assert list(resumed.read(Line(9, said("user", "judge that").encode()))) == []


# Whose session it is


def test_the_first_session_meta_owns_the_file_and_names_the_session() -> None:
    parent = {"id": "P", "timestamp": NOW, "cwd": "/elsewhere", "git": {"branch": "other"}}
    reader, _ = reader_of(
        meta(git={"branch": "main", "repository_url": "git@example.com:ana/kite.git"}), cx("session_meta", parent)
    )
    session = reader.session
    assert (session.id, session.cwd, session.branch) == (ID, "/srv/w/kite", "main")
    assert session.remote == "git@example.com:ana/kite.git"
    assert session.forked_from == "P"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (f"rollout-2026-03-02T09-00-00-{ID}.jsonl", ID),
        (f"rollout-2026-03-02T09-00-00-{ID}.jsonl.zst", ID),
        ("notes.jsonl", "notes"),
        ("notes.jsonl.zst", "notes"),
    ],
)
def test_without_a_session_meta_the_file_name_gives_the_id(name: str, expected: str) -> None:
    reader, messages = reader_of(said("user", "hello"), path=PurePath("/x") / name)
    assert reader.session.id == expected
    assert len(messages) == 1


def test_a_byte_order_mark_does_not_cost_the_directory() -> None:
    reader, _ = reader_of(b"\xef\xbb\xbf" + meta().encode(), said("user", "hello"))
    assert reader.session.cwd == "/srv/w/kite"
    assert not reader.skipped


def test_a_turn_in_another_directory_carries_that_directory() -> None:
    _, messages = reader_of(
        meta(),
        cx("turn_context", {"cwd": "/srv/w/kite"}),
        said("user", "one"),
        cx("turn_context", {"cwd": "/srv/w/kite/docs"}),
        said("user", "two"),
        cx("turn_context", {"cwd": "/srv/w/kite"}),
        said("user", "three"),
    )
    assert [message.cwd for message in messages] == ["", "/srv/w/kite/docs", ""]


def test_a_name_that_the_person_gave_the_thread_is_the_title_and_its_parents_is_not() -> None:
    named = event("thread_name_updated", thread_id=ID, thread_name="港口")
    reader, _ = reader_of(meta(), named, event("thread_name_updated", thread_id="P", thread_name="old"))
    assert reader.session.title == "港口"


@pytest.mark.parametrize(
    "origin",
    [
        {"source": {"subagent": "review"}},
        {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "P", "depth": 1}}}},
        {"source": "cli", "thread_source": "subagent"},
    ],
)
def test_what_is_said_to_a_subagent_in_the_name_of_the_user_another_agent_wrote(origin: dict[str, Any]) -> None:
    _, messages = reader_of(meta(**origin), said("user", "list every caller"), said("assistant", "none"))
    assert [(m.role, m.text, m.subagent) for m in messages] == [
        ("assistant", "list every caller", True),
        ("assistant", "none", True),
    ]


def test_a_subagent_is_linked_to_its_parent() -> None:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": "P"}}}
    assert reader_of(meta(source=spawn))[0].session.parent == "P"
    assert reader_of(meta(parent_thread_id="Q", source=spawn))[0].session.parent == "Q"


def test_history_that_a_subagent_inherits_is_dropped() -> None:
    def line(ordinal: int, text: str) -> str:
        payload = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
        return cx("response_item", payload, ordinal=ordinal)

    first = meta(source={"subagent": "review"}, subagent_history_start_ordinal=3)
    _, messages = reader_of(first, line(1, "inherited"), line(2, "inherited"), line(3, "its own"))
    assert [message.text for message in messages] == ["its own"]


def test_turns_that_began_before_a_subagent_did_are_inherited_too() -> None:
    began = 1772442000  # 2026-03-02T09:00:00Z
    _, messages = reader_of(
        meta(source={"subagent": "review"}),
        cx("session_meta", {"id": "P", "timestamp": NOW}),
        event("task_started", turn_id="U1", started_at=began - 60),
        said("user", "a person's prompt"),
        event("task_started", turn_id="U2", started_at=began),
        said("user", "the task"),
    )
    assert [message.text for message in messages] == ["the task"]


def test_the_job_that_sums_up_other_sessions_says_nothing() -> None:
    for origin in ({"source": {"subagent": "memory_consolidation"}}, {"source": {"internal": "memory_consolidation"}}):
        assert reader_of(meta(**origin), said("assistant", "a summary"))[1] == []


def test_a_message_between_agents_is_an_assistants_once() -> None:
    content = [{"type": "input_text", "text": "the gateway times out"}]
    _, messages = reader_of(
        meta(),
        item("agent_message", author="/root/scout", recipient="/root", content=content),
        cx("inter_agent_communication", {"author": "/root/scout", "content": "the gateway times out"}),
    )
    assert [(m.role, m.text, m.subagent) for m in messages] == [("assistant", "the gateway times out", True)]


def test_an_imported_session_has_the_time_of_its_turns() -> None:
    turn = event("task_started", turn_id="external-import-turn-1", started_at=1772442000)
    reader, messages = reader_of(meta(timestamp="2026-05-06T09:00:00Z"), turn, echo("user", "hello"))
    assert reader.session.imported
    assert reader.session.started_at == messages[0].timestamp
    assert messages[0].timestamp is not None
    assert messages[0].timestamp.isoformat() == "2026-03-02T09:00:00+00:00"


def test_marks_of_an_import_are_plain_text_in_a_native_turn() -> None:
    text = "[external_agent_tool_call: Bash]\ncommand: ls\n[/external_agent_tool_call]"
    assert read(said("assistant", text)) == [("assistant", text)]


# Broken input


def test_what_is_not_understood_is_counted_by_kind_and_stops_nothing() -> None:
    reader, messages = reader_of(
        meta(),
        '{"type": oops}',
        "[]",
        cx("foo", {}),
        '{"type": "foo"}',
        item("bar"),
        event("baz"),
        done("Qux"),
        cx("event_msg", None),
        "{}",
        cx("x" * 500, {}),
        "",
        said("user", "still here"),
    )
    assert [message.text for message in messages] == ["still here"]
    assert reader.skipped == {
        "broken line": 2,
        "unknown line type foo": 2,
        "unknown response item bar": 1,
        "unknown event baz": 1,
        "unknown item Qux": 1,
        "line without payload": 1,
        "line without type": 1,
        "unknown line type": 1,
    }


def test_half_a_surrogate_pair_and_a_nul_do_not_cost_the_line() -> None:
    text = r"kite build green \ud83d see harbor log\u0000 end"
    line = said("assistant", "TEXT").replace("TEXT", text)
    assert read(line) == [("assistant", "kite build green \ud83d see harbor log\x00 end")]
    call = shell("c1", "echo TEXT").replace("TEXT", text.replace("\\", "\\\\"))
    assert read(call) == [("tool", "echo kite build green \ud83d see harbor log\x00 end")]


@pytest.mark.parametrize("timestamp", [None, "", "yesterday", 5, "9999-12-31T23:59:59-23:00", [], {}])
def test_a_broken_time_is_no_time(timestamp: Any) -> None:
    line = json.dumps({**json.loads(said("user", "hello")), "timestamp": timestamp})
    _, [message] = reader_of(meta(), line)
    assert message.timestamp is None or isinstance(timestamp, int)


def test_a_line_nested_a_hundred_thousand_deep_is_counted() -> None:
    nest = "[" * 100_000 + "]" * 100_000
    deep = f'{{"type":"response_item","payload":{{"type":"function_call","arguments":{nest}}}}}'
    reader, messages = reader_of(meta(), deep, said("user", "still here"))
    assert [message.text for message in messages] == ["still here"]
    assert sum(reader.skipped.values()) == 1


def test_the_state_holds_nothing_that_was_said() -> None:
    secret = "ghp_" + "Kt7" * 12
    reader, messages = reader_of(
        meta(git={"branch": secret, "repository_url": f"https://{secret}@example.com/kite.git"}),
        event("thread_name_updated", thread_name=secret),
        said("user", secret),
        echo("assistant", secret),
        script("x1", f"for (const f of files) await tools.exec_command({{cmd: `echo {secret} ${{f}}`}})"),
        shell("c1", f"echo {secret}"),
        printed("c1", secret),
    )
    assert len(messages) == 5
    assert secret not in json.dumps(reader.state())


@pytest.mark.parametrize(
    "line",
    [
        said("user", "a" + "\n" * 500_000 + "b"),
        said("user", "<skill></skill>" * 50_000 + "x"),
        said("user", "\n".join(["<image>"] * 50_000)),
        said("user", "\n<stdin>\n" * 50_000),
        said("user", "<user_shell_command><command>" + "\n</command>" * 50_000),
        said("assistant", "<proposed_plan>" * 50_000),
        said("assistant", "<oai-mem-citation>" * 50_000),
        script("x1", "recall " + '"' * 500_000),
        script("x1", "recall " + '\\"' * 500_000),
        script("x1", "recall " + "`a'" * 200_000),
        script("x1", 'cmd:"' * 200_000),
        printed("c1", "Wall time\n" * 200_000),
        printed("c1", "Command: " + "x\n" * 200_000),
    ],
    ids=range(13),
)
def test_a_hostile_line_costs_no_more_than_a_long_one(line: str) -> None:
    begun = time.process_time()
    read(line)
    assert time.process_time() - begun < 5


WORDS = st.sampled_from([
    ID, "", "user", "assistant", "exec", "apply_patch", "message", "recall search x", "external-import-turn-1", NOW,
    "<environment_context>", "</environment_context>", "<image>", "\ud83d", "\x00", "*** Begin Patch", "user_shell",
    "<recalled-sessions>", "[external_agent_tool_call: Bash]", "[external_agent_tool_result]", "user.text", "subagent",
    '{"output": 1}', '{"content": [{"type": []}]}', "Exit code: 99999999999999999999\nOutput:\n",
    "## My request for Codex:\n",
])  # fmt: skip
KEYS = st.sampled_from([
    "type", "payload", "role", "content", "text", "message", "item", "id", "call_id", "name", "arguments", "input",
    "output", "command", "cmd", "action", "query", "queries", "changes", "unified_diff", "source", "subagent", "git",
    "thread_spawn", "cwd", "timestamp", "turn_id", "started_at", "ordinal", "subagent_history_start_ordinal",
    "internal_chat_message_metadata_passthrough", "content_item_kinds", "invocation", "server", "tool", "exit_code",
    "aggregated_output", "metadata", "thread_id", "thread_name", "originator", "thread_source", "branch",
])  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=9)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=4),
    max_leaves=8,
)
LINE_TYPES = ["session_meta", "turn_context", "response_item", "event_msg", "inter_agent_communication", "message"]
PAYLOAD_TYPES = [
    "message", "agent_message", "function_call", "custom_tool_call", "local_shell_call", "web_search_call",
    "function_call_output", "custom_tool_call_output", "user_message", "item_completed", "task_started",
    "exec_command_end", "patch_apply_end", "mcp_tool_call_end", "thread_name_updated",
]  # fmt: skip
ITEM_TYPES = ["UserMessage", "AgentMessage", "CommandExecution", "FileChange", "McpToolCall"]
ITEMS = VALUES | st.builds(
    lambda kind, fields: {**fields, "type": kind},
    st.sampled_from(ITEM_TYPES),
    st.dictionaries(KEYS, VALUES, max_size=5),
)
PAYLOADS = VALUES | st.builds(
    lambda kind, fields, inner: {**fields, "item": inner, "type": kind},
    st.sampled_from(PAYLOAD_TYPES),
    st.dictionaries(KEYS, VALUES, max_size=6),
    ITEMS,
)
RECORDS = VALUES | st.builds(
    lambda kind, fields, payload: {**fields, "type": kind, "payload": payload},
    st.sampled_from(LINE_TYPES),
    st.dictionaries(KEYS, VALUES, max_size=2),
    PAYLOADS,
)


@settings(max_examples=400, deadline=None)
@given(st.lists(RECORDS.map(json.dumps).map(str.encode) | st.binary(max_size=30), max_size=8))
def test_no_input_raises_or_leaves_a_state_that_cannot_be_stored(lines: list[bytes]) -> None:
    reader, messages = reader_of(*lines)
    assert all(message.text.strip() and message.role in ("user", "assistant", "tool") for message in messages)
    assert all(message.timestamp is None or message.timestamp.tzinfo for message in messages)
    assert reader.session.id
    CodexReader(PATH, orjson.loads(orjson.dumps(reader.state())))
    orjson.dumps(reader.skipped)
