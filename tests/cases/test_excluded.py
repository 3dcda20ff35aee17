"""Directories whose sessions are not taken in: by the configuration, from the library, one message at a time."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from conftest import Home
from here import run_here
from planted import Secret, left_in
from transcript_lines import at, cl, claude_lines, codex_lines, cx, cx_msg, uid, write

import recall
from recall import Message, Scope, Session
from recall.privacy import Excluded

EVERYWHERE = Scope.everywhere()
VAULT = {"vault": Secret("", "pelican-meadow-3141-granite")}
SAID = [("user", "where is pelican-meadow-3141-granite?"), ("assistant", "by the lantern")]
FOLDERS = ["client", "with space", "客户/甲", "app[lang].vue", "a!b", "ünï"]


def fill(home: Home, cwd: Path, number: int = 1) -> list[Path]:
    """A session of each agent that ran in that directory, and one of each that ran beside it."""
    beside = str(cwd.parent / f"{cwd.name} too")
    return [
        write(home.codex / f"rollout-{uid(number)}.jsonl", codex_lines(uid(number), cwd, *SAID)),
        write(home.claude / "-x" / f"{uid(number + 1)}.jsonl", claude_lines(uid(number + 1), cwd, *SAID)),
        write(
            home.codex / f"rollout-{uid(number + 2)}.jsonl", codex_lines(uid(number + 2), beside, ("user", "harbor"))
        ),
        write(
            home.claude / "-y" / f"{uid(number + 3)}.jsonl", claude_lines(uid(number + 3), beside, ("user", "harbor"))
        ),
    ]


def ids(index: recall.Index) -> set[str]:
    return {session.id for session in index.recent(EVERYWHERE, limit=100)}


def configure(home: Home, *exclude: str) -> None:
    home.recall.mkdir(exist_ok=True)
    quoted = json.dumps(exclude, ensure_ascii=False)
    (home.recall / "config.toml").write_text(f"exclude = {quoted}\n", encoding="utf-8")


@pytest.mark.parametrize("below", ["", "src/deep"])
@pytest.mark.parametrize("folder", FOLDERS)
def test_of_an_excluded_directory_and_all_below_it_nothing_is_taken_in(home: Home, folder: str, below: str) -> None:
    excluded = home.root / folder
    fill(home, excluded / below)
    with recall.open(exclude=[excluded]) as index:
        report = index.ingest()
        assert (report.count("excluded"), report.new_messages) == ((2, 2) if not below else (4, 0))
        assert all(
            "is excluded by the configuration" in file.reason for file in report.files if file.status == "excluded"
        )
        assert ids(index) == ({uid(3), uid(4)} if not below else set())
        assert left_in(home.recall, VAULT) == {}
        assert index.problems() == []
    assert left_in(home.recall, VAULT) == {}


def test_an_excluded_directory_is_no_failure_of_any_command(home: Home) -> None:
    paths = fill(home, home.root / "client")
    configure(home, str(home.root / "client"))
    ran = home.run("ingest", *paths[:2])
    assert (ran.code, "2 excluded" in ran.text, ran.err) == (0, True, b"")
    ran = home.run("search", "pelican", "--all", "--json")
    assert (ran.code, {hit["session"]["id"] for hit in ran.document["hits"]} & {uid(1), uid(2)}) == (0, set())
    assert left_in(home.recall, VAULT) == {}


def test_a_home_folder_stands_for_itself_in_the_configuration(home: Home) -> None:
    fill(home, home.root / "client")
    configure(home, "~/client")
    assert "2 excluded" in home.run("ingest").text
    assert left_in(home.recall, VAULT) == {}


def test_without_the_exclusion_the_next_ingest_takes_it_in(home: Home) -> None:
    fill(home, home.root / "client")
    with recall.open(exclude=[home.root / "client"]) as index:
        index.ingest()
        assert ids(index) == {uid(3), uid(4)}
    with recall.open() as index:
        report = index.ingest()
        assert (report.count("new"), report.count("unchanged"), report.new_messages) == (2, 2, 4)
        assert ids(index) == {uid(1), uid(2), uid(3), uid(4)}


def test_what_was_taken_in_before_stays_and_what_is_said_later_does_not_come(home: Home) -> None:
    path = fill(home, home.root / "client")[0]
    with recall.open() as index:
        index.ingest()
    with path.open("a", encoding="utf-8") as file:
        file.write(cx_msg(at(9), "user", "granite and quartz") + "\n")
    with recall.open(exclude=[home.root / "client"]) as index:
        assert [file.status for file in index.ingest([path]).files] == ["excluded"]
        assert uid(1) in ids(index)
        assert index.search("quartz", EVERYWHERE, mode="lexical").hits == ()
    with recall.open() as index:
        assert index.ingest([path]).new_messages == 1


def test_the_place_of_the_transcript_counts_as_well_as_that_of_the_session(home: Home) -> None:
    fill(home, home.root / "client")
    with recall.open(exclude=[home.claude]) as index:
        report = index.ingest()
        assert {Path(file.path).parent.name for file in report.files if file.status == "excluded"} == {"-x", "-y"}
        assert ids(index) == {uid(1), uid(3)}


def test_a_session_from_memory_is_excluded_too(home: Home) -> None:
    said = tuple(Message("user", text) for _, text in SAID)
    with recall.open(exclude=["/srv/client"]) as index:
        report = index.add(Session("inside", cwd="/srv/client/app", messages=said))
        assert (report.new_messages, "excluded by the configuration" in report.excluded) == (0, True)
        assert index.add(Session("beside", cwd="/srv/client2", messages=said)).excluded == ""
        assert index.add(Session("nowhere", messages=said)).new_messages == 2
        assert ids(index) == {"beside", "nowhere"}


def test_a_message_from_an_excluded_directory_is_left_out_of_its_session(home: Home, tmp_path: Path) -> None:
    def here(line: int, role: str, text: str, cwd: str) -> str:
        return cl(at(line), role, uid(line), uid(1), cwd, text)

    claude = [
        here(1, "user", "the lantern", "/srv/kite"),
        here(2, "user", "pelican-meadow-3141-granite", "/srv/client/app"),
        here(3, "assistant", "it is pelican-meadow-3141-granite", "/srv/client"),
        here(4, "user", "the harbor", "/srv/kite"),
    ]
    codex = [
        *codex_lines(uid(2), "/srv/kite", ("user", "the lantern")),
        cx(at(2), "turn_context", {"cwd": "/srv/client/app"}),
        cx_msg(at(3), "user", "pelican-meadow-3141-granite"),
        cx_msg(at(4), "assistant", "it is pelican-meadow-3141-granite"),
        cx(at(5), "turn_context", {"cwd": "/srv/kite"}),
        cx_msg(at(6), "user", "the harbor"),
    ]
    paths = [write(tmp_path / f"{uid(1)}.jsonl", claude), write(tmp_path / f"rollout-{uid(2)}.jsonl", codex)]
    with recall.open(exclude=["/srv/client"]) as index:
        report = index.ingest(paths)
        assert ([file.status for file in report.files], report.new_messages) == (["new", "new"], 4)
        for number in (1, 2):
            assert [message.text for message in index.show(f"{uid(number)}:1")] == ["the lantern", "the harbor"]
        index.add(Session("memory", cwd="/srv/kite", messages=(Message("user", SAID[0][1], cwd="/srv/client"),)))
        assert left_in(home.recall, VAULT) == {}


@pytest.mark.parametrize(
    ("pattern", "path", "covered"),
    [
        ("/srv/kite", "/srv/kite", True),
        ("/srv/kite/", "/srv/kite/a/b", True),
        ("/srv/kite", "/srv/kites", False),
        ("/srv/kite", "/srv", False),
        ("/srv/client*", "/srv/clients/a/b", True),
        ("/srv/*/secret", "/srv/a/secret/x", True),
        ("/srv/*/secret", "/srv/a/secrets", False),
        ("/srv/kite/*", "/srv/kite", False),
        ("/srv/k?te", "/srv/kate/a", True),
        ("/srv/[ab]", "/srv/a", False),
        ("/srv/[ab]", "/srv/[ab]/x", True),
        ("/srv/客户 一", "/srv/客户 一/甲", True),
        ("/srv/caf\u00e9", "/srv/cafe\u0301/a", True),
        ("C:\\Work\\*", "c:/work/kite/x", True),
        ("C:\\Work", "C:\\Works", False),
        ("/srv/kite", "", False),
    ],
)
def test_a_pattern_covers_a_directory_with_all_below_it_and_nothing_else(
    pattern: str, path: str, covered: bool
) -> None:
    assert Excluded.of([pattern]).covers(path) is covered


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_a_link_to_an_excluded_directory_is_excluded(home: Home, tmp_path: Path) -> None:
    (tmp_path / "client").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "client")
    assert Excluded.of([tmp_path / "link"]).covers(str(tmp_path / "client" / "app"))
    assert Excluded.of([tmp_path / "client"]).covers(str(tmp_path / "link" / "app"))


@pytest.mark.parametrize("value", ['"~/kite"', "[1]", '[""]', "{a = 1}", "true"])
def test_an_exclusion_that_is_no_list_of_directories_is_refused_and_nothing_taken_in(home: Home, value: str) -> None:
    fill(home, home.root / "client")
    home.recall.mkdir()
    (home.recall / "config.toml").write_text(f"exclude = {value}\n", encoding="utf-8")
    ran = run_here("ingest")
    assert (ran.code, ran.out, b"expected a list of directories" in ran.err) == (2, b"", True)
    assert not (home.recall / "recall.db").exists()
