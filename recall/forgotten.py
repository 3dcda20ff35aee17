"""What was forgotten, in a file beside the database: one that is made anew must not take it in again.

It holds what the tables hold, names of sessions and keyed digests, and says nothing more.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import orjson

from recall import marks
from recall.database import Database
from recall.files import replace_file

NAME = "forgotten.json"


def save(connection: apsw.Connection, database: Database) -> None:
    """Write the file anew; call it in a transaction, so that of several processes one does. None in memory."""
    if database.path is None:
        return
    names = [str(row[0]) for row in connection.execute("select session from forgotten order by session")]
    known = [int(row[0]) for row in connection.execute("select mark from forgotten_messages order by mark")]
    replace_file(database.path.with_name(NAME), orjson.dumps({"sessions": names, "marks": known}))


def restore(database: Database, is_whole: bool = True) -> None:
    """Take over what the file says, where the database knows of nothing forgotten: it is a new one.

    is_whole: False takes it over in any case, as a part may be lost of what the database knew.
    """
    if database.path is None:
        return
    if is_whole and database.value("select 1 from forgotten union select 1 from forgotten_messages"):
        return
    names, known = _read(database.path.with_name(NAME))
    if names or known:
        with database.write() as connection:
            marks.put(connection, known)
            connection.executemany("insert or ignore into forgotten (session) values (?)", ((name,) for name in names))


def _read(path: Path) -> tuple[list[str], list[int]]:
    """(names, marks); none where there is no file, or another program has spoiled it."""
    try:
        document: Any = orjson.loads(path.read_bytes())
        names, known = document["sessions"], document["marks"]
        return [name for name in names if isinstance(name, str)], [mark for mark in known if isinstance(mark, int)]
    except (OSError, ValueError, TypeError, KeyError):
        return [], []
