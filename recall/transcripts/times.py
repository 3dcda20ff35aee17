"""Times as transcripts write them."""

from __future__ import annotations

from datetime import UTC, datetime

_LATEST = 1e11
"""A Unix time above it is in milliseconds; as seconds it would lie in the year 5138."""


def time_of(value: object) -> datetime | None:
    """A time in UTC from ISO 8601, or from seconds or milliseconds since 1970; None for anything else.

    A time without a zone is taken as UTC.
    """
    try:
        if isinstance(value, str):
            if not value.strip().replace(".", "", 1).isdigit():
                time = datetime.fromisoformat(value.strip())
                return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
            return None
        return datetime.fromtimestamp(value / 1000 if value > _LATEST else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
