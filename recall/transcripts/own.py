"""Traces of this library in transcripts. What recall printed must not be recalled again, or it buries its source."""

from __future__ import annotations

import json
import re

OWN_ORIGINATORS = frozenset({"recall", "repo-recall"})
"""Names under which our own background sessions introduce themselves to an agent."""

FRAME_OPEN = "<recalled-sessions>"
FRAME_CLOSE = "</recalled-sessions>"
"""Frame around everything we print for an agent or put into its context."""

_SUBCOMMANDS = (
    "search|recent|show|ingest|embed|status|forget|scan|redact|capture|inbox|promote|reject|undo|log|nudge|skills|"
    "hook|reflect|install|uninstall|mcp|doctor|config|model|relink|migrate-worktrees"
)
# Only a command line that begins with ours is ours: behind another command the output is that one's too, and what we
# print into it is recognised by its frame. Every repeat is bounded or stands before a fixed character, because command
# lines of megabytes exist.
_COMMAND = re.compile(
    r"\s{0,20}(?:cd\s+[^;&|\n]{1,400}(?:&&|;|\n)\s{0,20})?"
    r"(?:[A-Za-z_]\w{0,60}=\S{0,400}\s{1,20}){0,8}"
    r"(?:[^\s;&|]{0,400}[/\\])?"
    r"(?:(?:uvx|uv\s+run|pipx\s+run)\s+(?:--?\S{1,80}\s+(?:[^-\s]\S{0,200}\s+)?){0,4})?"
    r"(?:(?:repo-)?recall(?:\.exe)?|python[\d.]*\s+-m\s+recall)"
    rf"\s+(?:-\S{{0,80}}\s+){{0,8}}(?:{_SUBCOMMANDS})\b"
)
_DECODER = json.JSONDecoder()
_BLOCK = re.compile(re.escape(FRAME_OPEN) + r".*?(?:" + re.escape(FRAME_CLOSE) + r"|\Z)", re.DOTALL)
_TOOL = re.compile(r"(?:^|__|\.)(?:recall_(?:search|show|recent)|memory_(?:list|propose))$")
_JSON_HEAD = re.compile(
    r'\{\s*"(?:query":\s*"(?:[^"\\]|\\.){0,20000}",\s*"scope":\s*\{\s*"kind":'
    r'|sessions":\s*\[\s*\{\s*"id":\s*"[^"\\]{1,300}",\s*"agent":'
    r'|messages":\s*\[\s*\{\s*"ref":)'
)
_JSON_MARKS = ('"query"', '"sessions"', '"messages"')


def is_own_command(command: str) -> bool:
    """Whether a shell command line begins by running `recall` (after a change of directory, at most)."""
    return _COMMAND.match(command) is not None


def is_own_tool(name: str) -> bool:
    """Whether a tool name is one of our MCP server's."""
    return _TOOL.search(name) is not None


def is_own_json(text: str) -> bool:
    """Whether a text begins with a JSON document that recall printed."""
    return _JSON_HEAD.match(text.lstrip()) is not None


def without_own_blocks(text: str) -> str:
    """`text` without the blocks and JSON documents that recall put there; what is not closed ends with the text."""
    if FRAME_OPEN in text:
        text = _BLOCK.sub("", text)
    if any(mark in text for mark in _JSON_MARKS):
        text = _without_own_json(text)
    return text


def _without_own_json(text: str) -> str:
    kept: list[str] = []
    at = 0
    while head := _JSON_HEAD.search(text, at):
        kept.append(text[at : head.start()])
        try:
            _, at = _DECODER.raw_decode(text, head.start())
        except (ValueError, RecursionError):  # cut short, as agents do with long output
            return "".join(kept)
    return "".join((*kept, text[at:]))
