"""Results as text, for a terminal or for an agent, and as JSON documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from recall.rendering import is_masked, safe_text
from recall.transcripts.own import FRAME_CLOSE, FRAME_OPEN
from recall.types import Hit, SearchResult, SessionSummary, ShownMessage

Document = dict[str, Any]

# A command with a masked part was once believed as it stood: openclaw/openclaw#130180.
MASKED_WORDS = (
    "[REDACTED:…] and [PRIVATE] stand where recall has masked something; the original says other things there"
)

CONFIDENCE_WORDS = {"strong": "strong match", "weak": "weak match", "none": "probably none of these answers it"}


def search_text(result: SearchResult, hits: Sequence[Hit], dropped: int, explain: bool, framed: bool) -> str:
    """What `recall search` prints."""
    found = counted(len(hits), "hit") if hits else "nothing found"
    head = f"{found} · {_where(result.scope)} · {result.mode}"
    if hits:
        head += f" · {CONFIDENCE_WORDS[result.confidence]}"
    blocks = [head]
    blocks += [_hit_text(rank, hit, explain) for rank, hit in enumerate(hits, 1)]
    if dropped:
        blocks.append(_left_out(dropped))
    return _joined_blocks(blocks, framed)


def recent_text(
    sessions: Sequence[SessionSummary], scope: Mapping[str, str | None], framed: bool, dropped: int = 0
) -> str:
    """What `recall recent` prints. scope: as `Scope.describe` gives it."""
    found = counted(len(sessions), "session") if sessions else "no sessions"
    blocks = [f"{found} · {_where(scope)}"]
    for session in sessions:
        facts = [session.agent, local_time(session.updated_at or session.started_at), session.branch, _gone(session)]
        facts.append(counted(session.message_count, "message"))
        blocks.append(f"{session.title or '(untitled)'}\n   {_joined(facts)}\n   {session.first_ref}")
    if dropped:
        blocks.append(_left_out(dropped))
    return _joined_blocks(blocks, framed)


def show_text(messages: Sequence[ShownMessage], ref: str, framed: bool, dropped: int = 0) -> str:
    """What `recall show` prints."""
    number = int(ref.rpartition(":")[2])
    blocks = []
    for message in messages:
        mark = "→" if message.number == number else " "
        speaker = f"{message.role} ({message.tool})" if message.tool else message.role
        if message.subagent:
            speaker += ", subagent"
        blocks.append(f"{mark} {message.number}  {_joined([speaker, local_time(message.timestamp)])}\n{message.text}")
    if dropped:
        blocks.append(_left_out(dropped))
    return _joined_blocks(blocks, framed)


def _joined_blocks(blocks: Sequence[str], framed: bool) -> str:
    text = "\n\n".join(blocks)
    if is_masked(text):
        text += f"\n\n{MASKED_WORDS}"
    # What an agent reads is framed as quoted material, and is known again when it turns up in a transcript.
    return f"{FRAME_OPEN}\n{text}\n{FRAME_CLOSE}" if framed else text


def search_json(result: SearchResult, hits: Sequence[Hit], truncated: bool, dropped: int) -> Document:
    """The document of `recall search --json`."""
    return {
        "query": result.query,
        "scope": {name: safe_text(value) if value else value for name, value in result.scope.items()},
        "mode": result.mode,
        "degraded": result.degraded,
        "confidence": result.confidence,
        "notes": list(result.notes),
        "hits": [
            {
                "rank": rank,
                "ref": hit.ref,
                "score": hit.score,
                "evidence": hit.evidence,
                "similar": hit.similar,
                "resume": hit.resume or None,
                "session": {
                    "id": hit.session.id,
                    "agent": hit.session.agent,
                    "title": hit.session.title,
                    "repository": hit.session.repository,
                    "worktree": hit.session.worktree,
                    "worktree_removed": hit.session.worktree_removed,
                    "branch": hit.session.branch,
                    "started_at": iso_time(hit.session.started_at),
                },
                "role": hit.role,
                "timestamp": iso_time(hit.timestamp),
                "source": {"path": hit.source.path, "line": hit.source.line},
                "snippet": {"text": hit.snippet.text, "highlights": [list(span) for span in hit.snippet.highlights]},
            }
            for rank, hit in enumerate(hits, 1)
        ],
        "truncated": truncated,
        "omitted": dropped,
    }


def recent_json(sessions: Sequence[SessionSummary], truncated: bool = False, dropped: int = 0) -> Document:
    """The document of `recall recent --json`."""
    return {
        "sessions": [
            {
                "id": session.id,
                "agent": session.agent,
                "title": session.title,
                "repository": session.repository,
                "worktree": session.worktree,
                "worktree_removed": session.worktree_removed,
                "branch": session.branch,
                "started_at": iso_time(session.started_at),
                "updated_at": iso_time(session.updated_at),
                "message_count": session.message_count,
                "preview": session.preview,
                "resume": session.resume or None,
                "source": session.source,
            }
            for session in sessions
        ],
        "truncated": truncated,
        "omitted": dropped,
    }


def show_json(messages: Sequence[ShownMessage], truncated: bool, dropped: int = 0) -> Document:
    """The document of `recall show --json`."""
    return {
        "messages": [
            {
                "ref": message.ref,
                "role": message.role,
                "tool": message.tool,
                "timestamp": iso_time(message.timestamp),
                "text": message.text,
                "source": {"path": message.source.path, "line": message.source.line},
                "subagent": message.subagent,
            }
            for message in messages
        ],
        "truncated": truncated,
        "omitted": dropped,
    }


def iso_time(time: datetime | None) -> str | None:
    """ISO 8601 with an offset; None for an unknown time."""
    return time.isoformat(timespec="seconds") if time else None


def local_time(time: datetime | None) -> str:
    """For a person: local date and time to the minute; empty for an unknown time."""
    return time.astimezone().strftime("%Y-%m-%d %H:%M") if time else ""


def _hit_text(rank: int, hit: Hit, explain: bool) -> str:
    session = hit.session
    speaker = hit.tool or hit.role
    facts = [session.agent, local_time(hit.timestamp or session.started_at), session.branch, speaker, _gone(session)]
    body = "\n".join(f"   {line}" for line in hit.snippet.text.splitlines())
    foot = [hit.ref, f"{hit.similar} similar" if hit.similar else "", hit.resume]
    if explain:
        foot.append(f"score {hit.score:.3f}")
        foot += [f"{name} rank {rank}" for name, rank in hit.evidence.items()] or ["behind a question that matches"]
    return f"{rank}. {session.title or '(untitled)'}\n   {_joined(facts)}\n{body}\n   {_joined(foot)}"


def _gone(session: SessionSummary) -> str:
    if not session.worktree_removed:
        return ""
    return "directory gone" if session.worktree == session.repository else "worktree removed"


def counted(count: int, thing: str) -> str:
    """`1 hit`, `2 hits`."""
    return f"{count} {thing}{'' if count == 1 else 's'}"


def _where(scope: Mapping[str, str | None]) -> str:
    return safe_text(scope["worktree"] or scope["repository"] or "all repositories")


def _left_out(count: int) -> str:
    return f"{count} more left out to stay within the budget; raise it with --budget-chars"


def _joined(facts: Sequence[str]) -> str:
    return " · ".join(fact for fact in facts if fact)
