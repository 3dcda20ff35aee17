"""An archive that an earlier version has written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hashed import Hashed

import recall
from recall import Scope, database
from recall.archive import digest_of
from recall.database import Database
from recall.types import Message

POSITIONS = 4
"""The last schema whose word index kept positions."""


def test_the_word_index_of_an_earlier_version_is_made_anew_and_all_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = database._migrations()
    monkeypatch.setattr(database, "_migrations", lambda: {n: sql for n, sql in steps.items() if n <= POSITIONS})
    earlier = Database(tmp_path / "recall.db")
    connection = earlier.connection
    connection.execute("insert into sessions values (1, 's', 'codex', 't', '', '', 0, '', '', 0, 0, '', '', 0, 1)")
    for id, text in enumerate(("the lantern key rotates on Fridays", "灯塔密钥每周五轮换"), 1):
        digest = digest_of(Message("user", text))
        connection.execute(_MESSAGE, (id, id, text, digest))
        connection.execute(_PASSAGE, (id, id, len(text)))
        connection.execute("insert into lexical (rowid, scope, terms) values (?, 'r0 s1', ?)", (id, text))
    earlier.close()
    monkeypatch.undo()
    with recall.open(tmp_path, Hashed()) as index:
        assert index.repaired == ["the word index has been made anew in the form of this version: 2 passages"]
        for query, ref in (("lantern", "s:1"), ("密钥", "s:2")):
            assert index.search(query, Scope.everywhere(), mode="lexical")[0].ref == ref
        assert index.database.rows("select passages, terms from totals where terms > 2") != []
        assert index.embed() == 2
    with recall.open(tmp_path, Hashed()) as index:
        assert index.repaired == []


_MESSAGE = """
insert into messages (id, session_id, number, role, tool, text, files, line, key, digest, occurrence, worktree_id,
                      branch, subagent) values (?, 1, ?, 'user', '', ?, '', 1, '', ?, 1, 0, '', 0)
"""
_PASSAGE = """
insert into passages (id, message_id, session_id, repository_id, worktree_id, role, subagent, start_at, end_at,
                      embeddable) values (?, ?, 1, 0, 0, 'user', 0, 0, ?, 1)
"""
