"""Taking in a session that was built in memory."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from recall import archive
from recall.archive import Occurrences
from recall.database import Database
from recall.errors import UsageError
from recall.forgetting import forget_session
from recall.intake import Intake
from recall.privacy import FORGOTTEN, ExcludedError, Privacy
from recall.types import ROLES, AddReport, Session


def add_session(database: Database, make_intake: Callable[[], Intake], session: Session) -> AddReport:
    """Store what is new of a session. Raises UsageError for one that cannot be stored as it is."""
    if not session.id:
        raise UsageError("the session has no id; give it one that stays the same")
    for message in session.messages:
        if message.role not in ROLES:
            raise UsageError(f'a message has the role "{message.role}"; expected one of {", ".join(ROLES)}')
        if not isinstance(message.timestamp, datetime | None):
            raise UsageError(f"a message has the timestamp {message.timestamp!r}; expected a datetime or None")
    intake = make_intake()
    if archive.is_forgotten(database.connection, intake.masked(session.id)):
        return AddReport(session.id, 0, 0, excluded=FORGOTTEN)
    privacy = Privacy(intake.excluded)
    prepared = []
    try:
        for message in session.messages:
            privacy.begin([message])
            prepared.append(intake.prepare(message, privacy, session.cwd))
    except ExcludedError as reason:
        if reason.by_its_user:
            forget_session(database, intake.marks, intake.masked(session.id))
        return AddReport(session.id, 0, 0, excluded=str(reason))
    messages = [message for message in prepared if message]
    if not messages:
        return AddReport(session.id, 0, 0)
    with database.write() as connection:
        session_id, stored = intake.store(connection, session, messages, Occurrences(goes_on=False))
        copied = intake.finish(connection, session_id, stored[0].id) if session_id and stored else 0
    return AddReport(session.id, len(stored), copied)
