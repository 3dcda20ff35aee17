"""Traces of this library in transcripts. What recall printed must not be recalled again, or it buries its source."""

from __future__ import annotations

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
    r"(?:(?:repo-)?recall(?:\.exe)?|(?:uvx|uv\s+run|pipx\s+run)\s+(?:repo-)?recall|python[\d.]*\s+-m\s+recall)"
    rf"\s+(?:-\S{{0,80}}\s+){{0,8}}(?:{_SUBCOMMANDS})\b"
)
_BLOCK = re.compile(re.escape(FRAME_OPEN) + r".*?(?:" + re.escape(FRAME_CLOSE) + r"|\Z)", re.DOTALL)
_TOOL = re.compile(r"(?:^|__|\.)(?:recall_(?:search|show|recent)|memory_(?:list|propose))$")
_JSON_HEAD = re.compile(r'^\s*\{\s*"query":.{0,4000}?"scope":\s*\{\s*"kind":', re.DOTALL)


def is_own_command(command: str) -> bool:
    """Whether a shell command line begins by running `recall` (after a change of directory, at most)."""
    return _COMMAND.match(command) is not None


def is_own_tool(name: str) -> bool:
    """Whether a tool name is one of our MCP server's."""
    return _TOOL.search(name) is not None


def is_own_json(text: str) -> bool:
    """Whether a tool printed a JSON document of `recall search`."""
    return text.lstrip()[:1] == "{" and _JSON_HEAD.match(text[:5000]) is not None


def without_own_blocks(text: str) -> str:
    """`text` without the blocks that recall put there; a block that is not closed ends with the text."""
    return _BLOCK.sub("", text) if FRAME_OPEN in text else text
