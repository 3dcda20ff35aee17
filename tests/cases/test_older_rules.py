"""What was stored under older rules: masked on its way out at once, and where masking it in the file is not simple."""

from __future__ import annotations

import pytest
from conftest import Home
from here import run_here
from older import HIDDEN, KEY, S1, S2, TOKEN, older_rules
from planted import PLANTED, Secret, left_in, made_up, traces
from transcript_lines import at, codex_lines, cx_meta, cx_msg, cx_output, write

import recall
from recall import Message, Scope, Session

EVERYWHERE = Scope.everywhere()


# Before a rescan


def test_what_leaves_the_library_is_masked_at_once(old: recall.Index) -> None:
    sessions = old.recent(EVERYWHERE)
    found = [hit for query in ("lantern", "wick", "harbor quay") for hit in old.search(query, EVERYWHERE, limit=50)]
    shown = [message for session in sessions for message in old.show(session.first_ref, before=0, after=50)]
    assert (len(sessions), len(shown), len({hit.ref for hit in found}) > 5) == (3, 9, True)
    text = repr((sessions, found, shown))
    assert traces(text.encode(), HIDDEN) == {}
    for beside in ("the lantern says [REDACTED:", "printed [PRIVATE]", "wick [REDACTED:", "harbor", "quay"):
        assert beside in text


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_what_the_commands_print_is_masked_at_once(home: Home, old: recall.Index, form: tuple[str, ...]) -> None:
    for command in (
        ("search", "lantern", "--all", "--limit", "20", "--no-sync"),
        ("search", "harbor", "--all", "--no-sync"),
        ("show", f"{S1}:2", "--before", "9", "--after", "9", "--budget-chars", "100000"),
        ("show", f"{S2}:1"),
        ("doctor",),
    ):
        ran = run_here(*command, *form)
        assert (command, ran.code, traces(ran.out + ran.err, HIDDEN)) == (command, 0, {})


def test_what_makes_a_passage_secret_may_stand_in_another_one(old: recall.Index) -> None:
    passages = old.database.value(
        "select count(*) from passages p join messages m on m.id = message_id where number = 2"
    )
    assert passages >= 3
    lines = KEY.split("\n")
    for line in (lines[0], lines[20], lines[40], lines[-1]):
        hits = old.search(line, EVERYWHERE, limit=50, mode="lexical")
        assert S1 in {hit.session.id for hit in hits}
        assert traces(repr([hit.snippet for hit in hits]).encode(), HIDDEN) == {}


# In the file


def test_the_copies_of_a_fork_follow_their_originals(home: Home) -> None:
    said = [("user", f"lantern {TOKEN['github']}"), ("assistant", "yes"), ("user", f"lantern {TOKEN['github']}")]
    path = write(home.codex / f"rollout-{S1}.jsonl", codex_lines(S1, "/srv/kite", *said))
    fork = [*said, ("user", "and the harbor?")]
    again = write(home.codex / f"rollout-{S2}.jsonl", codex_lines(S2, "/srv/kite", *fork, start=60, forked_from_id=S1))
    with recall.open() as index:
        with older_rules():
            index.ingest()
        assert index.counts()["messages"] == 7
        index.rescan()
        for file in (path, again):
            file.write_text("\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
        assert index.ingest().new_messages == 0
        assert [message.text for message in index.show(f"{S2}:4", 9, 9)] == ["and the harbor?"]
        assert left_in(home.recall, HIDDEN) == {}


def test_texts_that_become_one_are_said_twice_also_in_a_fork(home: Home) -> None:
    said = [("user", f"<private>{number} lanterns</private>") for number in range(3)]
    write(home.codex / f"rollout-{S1}.jsonl", codex_lines(S1, "/srv/kite", *said))
    fork = [*said, ("user", "and the harbor?")]
    path = write(home.codex / f"rollout-{S2}.jsonl", codex_lines(S2, "/srv/kite", *fork, start=60, forked_from_id=S1))
    with recall.open() as index:
        with older_rules():
            index.ingest()
        assert index.rescan().sessions == 2
        assert [message.text for message in index.show(f"{S1}:1")] == ["[PRIVATE]"] * 3
        path.write_text("\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
        assert index.ingest().new_messages == 0


def test_places_and_files_that_look_alike_once_they_are_masked_are_masked_all_the_same(home: Home) -> None:
    tokens = [made_up(36, number) for number in (301, 302)]
    hidden = {number: Secret("gh" + "p_", token) for number, token in zip(("one", "two"), tokens, strict=True)}
    for secret, name in zip(hidden.values(), (S1, S2), strict=True):
        lines = codex_lines(name, f"/srv/{secret.value}/kite", ("user", f"lantern of {name}"))
        write(home.root / secret.value / "rollout.jsonl", lines)
        inner = codex_lines(f"{name}x", f"/srv/kite/{secret.value}", ("user", "harbor"))
        write(home.root / secret.value / "inner.jsonl", inner)
    with recall.open() as index:
        with older_rules():
            index.ingest(home.root / secret.value for secret in hidden.values())
        assert index.rescan().sessions == 4
        assert left_in(home.recall, hidden) == {}
        assert {session.id for session in index.recent(EVERYWHERE)} == {S1, S2, f"{S1}x", f"{S2}x"}
        assert len(index.search("lantern", EVERYWHERE, mode="lexical")) == 2
        report = index.ingest(home.root / secret.value for secret in hidden.values())
        assert (len(report.files), report.new_messages) == (4, 0)


@pytest.mark.parametrize(("words", "name"), [(6, "github"), (12, "anthropic")])
def test_a_token_that_was_cut_in_a_title_or_an_output_does_not_stay(home: Home, words: int, name: str) -> None:
    token = PLANTED[name].value
    printed = f"{'x ' * 980} {token} {'y ' * 3_000} {token} {'z ' * 490}"
    lines = [
        cx_meta(at(0), S1, "/srv/kite"),
        cx_msg(at(1), "user", f"{'lantern ' * words}{token} {'wick ' * 40}"),
        cx_output(at(2), "c1", printed),
    ]
    write(home.codex / f"rollout-{S1}.jsonl", lines)
    with recall.open() as index:
        with older_rules():
            index.ingest()
        texts = index.database.rows(
            "select title, preview, (select text from messages where number = 2) from sessions"
        )[0]
        assert [name in traces(text.encode()) and token not in text for text in texts].count(True) == 2
        assert traces(repr((index.recent(EVERYWHERE), index.show(f"{S1}:1"))).encode()) == {}
        index.rescan()
        assert left_in(home.recall) == {}
        assert index.recent(EVERYWHERE)[0].title.startswith("lantern lantern")
        assert " characters …]" in index.show(f"{S1}:2", 0, 0)[0].text


def test_the_name_of_a_session_is_masked_too_and_found_by_those_that_name_it(home: Home) -> None:
    token, said = TOKEN["npm"], (Message("user", "the lantern"),)
    child = Session("child", parent=token, forked_from=token, messages=(Message("user", "harbor"),))
    with recall.open() as index:
        with older_rules():
            index.add(Session(token, messages=said))
            index.add(child)
        index.rescan()
        assert left_in(home.recall, HIDDEN) == {}
        summaries = {session.preview: session for session in index.recent(EVERYWHERE)}
        assert summaries["harbor"].parent == summaries["the lantern"].id
        assert index.add(Session(token, messages=said)).new_messages == 0
        assert index.counts()["sessions"] == 2


def test_what_is_known_of_moved_repositories_is_scanned_too(home: Home, old: recall.Index) -> None:
    execute = old.database.connection.execute
    execute("insert into signs select id, ? from repositories", (f"remote kite.example/{TOKEN['github']}",))
    execute("insert into relinks values ('/a', '/a', ?), (?, ?, '/b')", [f"/{TOKEN[one]}" for one in ("npm",) * 3])
    execute("insert into relinks values ('/c', '/c', '/d')")
    old.rescan()
    assert left_in(home.recall, HIDDEN) == {}
    assert old.database.rows("select old_path, new_path from relinks") == [("/c", "/d")]
