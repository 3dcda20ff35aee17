"""`recall doctor --fix`: everything that can be mended of a home's database, losing nothing that can be read.

What is derived is made again in its place, by any command (recall/repair.py). Only here a file is moved: never without
being asked, and never deleted.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw

from recall.database import Row
from recall.errors import DamagedError
from recall.health import looking_into
from recall.index import Index
from recall.ingest import Progress
from recall.salvage import Salvage, is_being_replaced, replace_damaged


def mend_home(home: Path, open_index: Callable[[], Index], progress: Progress | None = None) -> list[str]:
    """Mend what is damaged in a home; a sentence for each thing that was done, none where all is well.

    Raises DatabaseError where nothing can be done: no room, no right to write, a newer version's database, another
    process at work.
    """
    path = home / "recall.db"
    if not path.exists() and not is_being_replaced(path):
        return []
    try:
        with open_index() as index:
            index.mend()
            said = index.repaired
        with looking_into(path) as archive:
            archive.require_sound()
        return said
    except DamagedError:
        pass  # what its traceback holds open is let go of
    salvage = replace_damaged(path)
    with open_index() as index:
        holes = _holes(index.database.connection)
        report = index.ingest(_known_transcripts(index.database.connection), progress)
        new = report.new_messages + index.ingest(None, progress).new_messages
        if not salvage.is_whole:
            with index.database.write() as connection:
                _fill(connection, holes)
    return [_told(path, salvage, new)]


def _told(path: Path, salvage: Salvage, new: int) -> str:
    saved = f"{salvage.sessions} sessions with {salvage.messages} messages were saved from it"
    lost = (
        "all of it could be read, nothing is lost"
        if salvage.is_whole
        else "a part could not be read: what stood only there, and in no transcript, is lost"
        if salvage.messages
        else "nothing could be read: sessions whose transcripts are gone are lost"
    )
    return (
        f"{path} was damaged and is kept as {salvage.backup.name}; {saved}, {new} messages taken in again from "
        f'transcripts; {lost}; run "recall embed" to compute the vectors'
    )


def _known_transcripts(connection: apsw.Connection) -> list[Path]:
    rows: list[Row] = connection.execute("select path from transcripts").fetchall()
    return [path for path in (Path(str(row[0])) for row in rows) if path.is_file()]


def _holes(connection: apsw.Connection) -> dict[int, tuple[list[int], int]]:
    """Session id to the numbers of its messages that are missing, and the last number that is not."""
    holes = {}
    rows: list[Row] = connection.execute(_WITH_HOLES).fetchall()
    for session_id, last in rows:
        numbers = connection.execute("select number from messages where session_id = ?", (session_id,))
        known = {int(row[0]) for row in numbers}
        holes[int(session_id)] = ([number for number in range(1, int(last)) if number not in known], int(last))
    return holes


def _fill(connection: apsw.Connection, holes: dict[int, tuple[list[int], int]]) -> None:
    """Put messages that were read again where they were said: they come in the order in which the old ones did."""
    for session_id, (missing, last) in holes.items():
        added: list[Row] = connection.execute(_ADDED, (session_id, last)).fetchall()
        for number, (message_id, said_at) in zip(missing, added, strict=False):
            behind = connection.execute(_SAID_BEHIND, (session_id, number)).fetchone()
            if behind and said_at is not None and behind[0] is not None and said_at > behind[0]:
                break  # something new: what stood here is in no transcript
            connection.execute("update messages set number = ? where id = ?", (number, message_id))


_WITH_HOLES = "select session_id, max(number) from messages group by session_id having max(number) > count(*)"
_ADDED = "select id, said_at from messages where session_id = ? and number > ? order by number"
_SAID_BEHIND = "select said_at from messages where session_id = ? and number > ? order by number limit 1"
