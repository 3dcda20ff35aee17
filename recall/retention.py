"""Keeping only so many days or megabytes, where the user wants that: the oldest sessions go, each as a whole.

This is no forgetting: nothing is remembered against them. A session that went stays out as long as its transcript does
not change; one that is taken up again in its agent is taken in again.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw

from recall import lexical
from recall.database import Database, Row
from recall.intake import remove_passages
from recall.privacy import NOT_KEPT

MEGABYTE = 2**20


@dataclass(frozen=True, slots=True)
class Retention:
    """What is kept; None keeps all."""

    days: int | None = None
    megabytes: int | None = None

    def __bool__(self) -> bool:
        return self.days is not None or self.megabytes is not None

    def oldest(self) -> datetime | None:
        """What ended before then is not kept."""
        return None if self.days is None else datetime.now(UTC) - timedelta(days=self.days)

    def is_too_old(self, transcript: Path) -> bool:
        """Whether nothing was written to a transcript for so long that all in it is too old."""
        oldest = self.oldest()
        try:
            return oldest is not None and transcript.stat().st_mtime < oldest.timestamp()
        except OSError:
            return False


KEEP_ALL = Retention()


@dataclass(frozen=True, slots=True)
class _Aged:
    id: int
    ended_at: int | None
    """The last message of it, or of a session that only holds copies of it, in milliseconds since 1970."""
    share: int
    """Characters of its text."""


def remove_old(database: Database, retention: Retention) -> int:
    """Remove the sessions that are not kept, oldest first; their number.

    Can be stopped at any time: every session goes in a transaction of its own.
    """
    going = [one.id for one in _going(database, retention)]
    for session_id in going:
        with database.write() as connection:
            _remove(connection, session_id)
    if going:
        with database.write() as connection:
            lexical.drop_terms(connection)
        database.sweep()
    return len(going)


def count_removed(database: Database) -> int:
    """Number of transcripts whose session went."""
    return int(database.value("select count(*) from transcripts where problem = ?", (NOT_KEPT,)))


def used_bytes(database: Database) -> int:
    """Room that the database takes, without pages that are free to be used again."""
    pages, free, size = (
        int(database.value(f"pragma {name}")) for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _going(database: Database, retention: Retention) -> list[_Aged]:
    oldest, used = retention.oldest(), used_bytes(database)
    excess = 0 if retention.megabytes is None else used - retention.megabytes * MEGABYTE
    before = int(oldest.timestamp() * 1000) if oldest else None
    if excess <= 0 and (before is None or not database.value(_ANY_OLD, (before,))):
        return []
    with database.read() as connection:
        rows: list[Row] = connection.execute(_BY_AGE).fetchall()
    aged = [_Aged(int(row[0]), row[1], int(row[2])) for row in rows]
    text = sum(one.share for one in aged) or 1
    going: list[_Aged] = []
    for one in aged:
        is_old = before is not None and one.ended_at is not None and one.ended_at < before
        freed = sum(other.share for other in going) / text * used
        if not is_old and freed >= excess:
            break
        going.append(one)
    return going


def _remove(connection: apsw.Connection, session_id: int) -> None:
    messages: list[Row] = connection.execute("select id from messages where session_id = ?", (session_id,)).fetchall()
    for (message_id,) in messages:
        remove_passages(connection, int(message_id))
    connection.execute("update transcripts set problem = ? where session_id = ?", (NOT_KEPT, session_id))
    connection.execute("delete from sessions where id = ?", (session_id,))


_ENDED = """
coalesce(s.updated_at, s.started_at, (select max(modified_ns) / 1000000 from transcripts t where t.session_id = s.id))
"""
_ANY_OLD = f"select exists (select 1 from sessions s where {_ENDED} < ?)"
# A session whose text others only copy ends when they do, and goes behind them. Without any time, it goes last.
_BY_AGE = f"""
with ended as materialized (
  select s.id, {_ENDED} as own,
    (select max(ifnull(f.updated_at, f.started_at)) from sessions f
     where f.id in (select m.session_id from messages m where m.copied_from = s.id)) as copied,
    (select ifnull(sum(length(m.text)), 0) from messages m where m.session_id = s.id) as share
  from sessions s
)
select id, max(own, ifnull(copied, own)), share from ended
order by own is null, 2, copied is not null, id
"""
