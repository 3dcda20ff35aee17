"""Kinds of lines that are known, and say nothing that is to be found again. Others are counted as unknown."""

from __future__ import annotations

import re

QUIET_LINES = frozenset({
    "compacted", "dynamic_tools_updated", "fork_reference", "inter_agent_communication_metadata",
    "rollout_reference", "security_risk_score", "token_usage_record", "world_state",
})  # fmt: skip
"""Types of a line. `compacted` repeats what was said, and a summary that stands before it as a message."""

QUIET_RESPONSE_ITEMS = frozenset({
    "additional_tools", "compaction", "compaction_summary", "compaction_trigger", "configuration_update",
    "context_compaction", "ghost_snapshot", "image_generation_call", "reasoning", "tool_search_call",
    "tool_search_output",
})  # fmt: skip
"""Types of the payload of a `response_item`."""

QUIET_EVENTS = frozenset({
    "agent_reasoning", "agent_reasoning_raw_content", "agent_reasoning_section_break", "background_event",
    "context_compacted", "deprecation_notice", "entered_review_mode", "error", "exited_review_mode",
    "guardian_assessment", "hook_completed", "hook_started", "image_generation_end", "item_started",
    "plan_update", "stream_error", "sub_agent_activity", "task_complete", "thread_goal_updated",
    "thread_rolled_back", "thread_settings_applied", "token_count", "turn_aborted", "turn_complete",
    "turn_diff", "undo_completed", "undo_started", "view_image_tool_call", "warning", "web_search_end",
})  # fmt: skip
"""Types of the payload of an `event_msg`."""

QUIET_EVENT_FAMILIES = re.compile(r"(?:collab_|dynamic_tool_call_).*|.*_(?:begin|delta)")

QUIET_ITEMS = frozenset({
    "CollabAgentToolCall", "ContextCompaction", "DynamicToolCall", "EnteredReviewMode", "ExitedReviewMode",
    "Extension", "HookPrompt", "ImageGeneration", "ImageView", "Plan", "Reasoning", "Sleep",
    "SubAgentActivity", "WebSearch",
})  # fmt: skip
"""Types of the item of an `item_completed` event."""
