"""R52: offsets, local days, missing times; and what time and scores mean for a ranking.

The rules: a time in a transcript without an offset is UTC; a date or time on the command line without one is local; a
message without a time counts as said when its session began; times are shown in the local zone, in JSON with its
offset.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from conftest import Home, Ran
from transcript_lines import cl, codex_lines, cx_meta, cx_msg, uid, write

import recall
from recall import Message, Scope, SearchResult, Session

zones = pytest.mark.skipif(not hasattr(time, "tzset"), reason="this system takes no zone from TZ")

EVERYWHERE = Scope.everywhere()
TEN = datetime(2026, 3, 2, 10, tzinfo=UTC)

R52 = {
    "offset": "2026-03-02T07:30:00+08:00",  # 1 March, 23:30 UTC
    "zulu": "2026-03-01T18:00:00Z",
    "bare": "2026-03-02 00:10:00",
    "epoch": 1_772_420_400_000,  # 2 March, 03:00 UTC
    "never": None,
}
"""What was said, and when, in the spellings of R52."""


def line(name: str, when: object) -> str:
    """A line of no particular agent, a session of its own."""
    stamp = {} if when is None else {"timestamp": when}
    return json.dumps({"role": "user", "content": f"harbor note: {name}", "session_id": name, **stamp})


def put(home: Home, notes: dict[str, Any]) -> None:
    """Take in a transcript for each note."""
    for name, when in notes.items():
        write(home.root / "notes" / f"{name}.jsonl", [line(name, when)])
    ran = home.run("ingest", home.root / "notes")
    assert ran.code == 0, ran.complaint


def ask(home: Home, zone: str, *narrowing: str) -> Ran:
    arguments = ("search", "harbor note", "--all", "--mode", "lexical", "--limit", "20", "--no-sync")
    ran = home.run(*arguments, *narrowing, environment={"TZ": zone})
    assert ran.code == 0, ran.complaint
    return ran


def found(home: Home, zone: str, *narrowing: str) -> set[str]:
    """Names of the notes that a search in that zone returns."""
    return {hit["session"]["id"] for hit in ask(home, zone, *narrowing, "--json").document["hits"]}


# The five messages of R52


@zones
@pytest.mark.parametrize(
    ("zone", "inside"),
    [
        ("Asia/Shanghai", {"offset", "zulu", "bare", "epoch"}),
        ("UTC", {"bare", "epoch"}),
        ("America/New_York", set()),  # the day begins at 05:00 UTC there
    ],
)
def test_since_a_date_is_since_the_beginning_of_the_local_day(home: Home, zone: str, inside: set[str]) -> None:
    put(home, R52)
    assert found(home, zone, "--since", "2026-03-02") == inside
    assert found(home, zone, "--until", "2026-03-01") == set(R52) - inside - {"never"}


@zones
def test_a_day_is_all_that_was_said_on_it_in_the_zone_of_the_reader(home: Home) -> None:
    put(home, R52)
    day = ("--since", "2026-03-01", "--until", "2026-03-01")
    assert found(home, "Asia/Shanghai", *day) == set()
    assert found(home, "UTC", *day) == {"offset", "zulu"}
    assert found(home, "America/New_York", *day) == {"offset", "zulu", "bare", "epoch"}


@zones
def test_a_time_with_an_offset_is_the_same_moment_in_every_zone(home: Home) -> None:
    put(home, R52)
    for zone in ("Asia/Shanghai", "UTC", "America/New_York"):
        assert found(home, zone, "--since", "2026-03-02T00:05:00Z") == {"bare", "epoch"}
        assert found(home, zone, "--since", "2026-03-02T08:05+08:00") == {"bare", "epoch"}


@zones
def test_a_time_without_an_offset_is_local_on_the_command_line_and_utc_in_a_transcript(home: Home) -> None:
    put(home, {"bare": R52["bare"]})
    assert found(home, "Asia/Shanghai", "--since", "2026-03-02T08:10", "--until", "2026-03-02T08:10") == {"bare"}
    assert found(home, "UTC", "--since", "2026-03-02T00:10", "--until", "2026-03-02T00:10") == {"bare"}
    assert found(home, "Asia/Shanghai", "--since", "2026-03-02T08:11") == set()


@zones
def test_both_ends_of_a_span_are_inside_to_the_millisecond(home: Home) -> None:
    put(home, {"before": "2026-03-02T09:59:59.999Z", "at": "2026-03-02T10:00:00.000Z", "after": 1_772_445_600_001})
    assert found(home, "UTC", "--since", "2026-03-02T10:00:00", "--until", "2026-03-02T10:00:00") == {"at"}
    assert found(home, "UTC", "--since", "2026-03-02T09:59:59.999", "--until", "2026-03-02T10:00:00.001") == {
        "before",
        "at",
        "after",
    }


@zones
@pytest.mark.parametrize(
    ("day", "first", "last"),
    [
        ("2026-03-08", "2026-03-08T05:00:00Z", "2026-03-09T03:59:59.999Z"),  # 23 hours
        ("2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T04:59:59.999Z"),  # 25 hours
    ],
)
def test_a_day_on_which_the_clocks_change_has_all_its_hours_and_no_other(
    home: Home, day: str, first: str, last: str
) -> None:
    begin, end = datetime.fromisoformat(first), datetime.fromisoformat(last)
    put(
        home,
        {
            "before": (begin - timedelta(milliseconds=1)).isoformat(),
            "first": first,
            "last": last,
            "after": (end + timedelta(milliseconds=1)).isoformat(),
        },
    )
    assert found(home, "America/New_York", "--since", day, "--until", day) == {"first", "last"}


@zones
def test_today_and_yesterday_are_days_of_the_reader_and_not_of_utc(home: Home) -> None:
    now = datetime.now(UTC)
    ahead = 12 - now.hour or 1  # hours: a zone in which it is about noon, and whose days are not those of UTC
    zone = f"Etc/GMT{-ahead:+d}"  # POSIX counts westwards
    midnight = (now + timedelta(hours=ahead)).replace(hour=0, minute=0, second=0, microsecond=0)
    begin = midnight - timedelta(hours=ahead)
    moments = {"old": begin - timedelta(days=1, seconds=1), "yesterday": begin - timedelta(seconds=1), "today": begin}
    put(home, {name: moment.isoformat() for name, moment in moments.items()})
    assert found(home, zone, "--since", "today") == {"today"}
    assert found(home, zone, "--since", "yesterday", "--until", "yesterday") == {"yesterday"}
    assert found(home, zone, "--until", "yesterday") == {"old", "yesterday"}
    assert found(home, zone, "--since", "20h") == {"yesterday", "today"}


# Every spelling of a moment is that moment


@pytest.mark.parametrize(
    "when",
    [
        1_772_445_600_000,
        1_772_445_600,
        1_772_445_600.0,
        "1772445600000",
        "1772445600",
        "2026-03-02T10:00:00Z",
        "2026-03-02T10:00:00.000000+00:00",
        "2026-03-02T18:00:00+08:00",
        "2026-03-02 10:00:00",
        "2026-03-02T05:00:00-0500",
        "20260302T100000Z",
        " 2026-03-02T10:00:00Z ",
    ],
)
def test_every_spelling_of_a_moment_in_a_transcript_is_that_moment(
    home: Home, index: recall.Index, when: object
) -> None:
    index.ingest([write(home.root / "chat.jsonl", [line("one", when)])])
    assert [hit.timestamp for hit in index.search("harbor", EVERYWHERE)] == [TEN]
    assert len(index.search("harbor", Scope.everywhere(since=TEN, until=TEN))) == 1


@pytest.mark.parametrize(
    "when", ["", "yesterday", "2026-02-30T10:00:00Z", "0000-00-00", 0, -1, True, 1e300, [], {}, "9" * 400]
)
def test_what_is_no_time_is_no_time_and_loses_no_message(home: Home, index: recall.Index, when: object) -> None:
    index.ingest([write(home.root / "chat.jsonl", [line("one", when)])])
    assert [hit.timestamp for hit in index.search("harbor", EVERYWHERE)] == [None]


def test_both_agents_times_are_compared_as_moments(home: Home, index: recall.Index) -> None:
    codex = [cx_meta("2026-03-02T18:00:00+08:00", uid(1), home.root)]
    codex.append(cx_msg("2026-03-02T18:00:00+08:00", "user", "harbor note of codex"))
    write(home.codex / "rollout-1.jsonl", codex)
    claude = cl("2026-03-02T05:00:00-05:00", "user", uid(2), uid(2), home.root, "harbor note of claude")
    write(home.claude / "p" / f"{uid(2)}.jsonl", [claude])
    index.ingest()
    assert len(index.search("harbor note", Scope.everywhere(since=TEN, until=TEN))) == 2
    assert len(index.search("harbor note", Scope.everywhere(since=TEN + timedelta(seconds=1)))) == 0


# A message without a time


@pytest.mark.parametrize("narrow", [{"since": datetime(1970, 1, 2, tzinfo=UTC)}, {"until": TEN + timedelta(days=9999)}])
@pytest.mark.parametrize("mode", ["hybrid", "lexical", "dense"])
def test_a_session_without_any_time_is_outside_every_span(narrow: dict[str, datetime], mode: recall.types.Mode) -> None:
    with recall.open(":memory:") as index:
        index.add(Session("never", messages=(Message("user", "harbor note"),)))
        index.add(Session("once", messages=(Message("user", "harbor note", timestamp=TEN),)))
        index.embed()
        everything = index.search("harbor note", EVERYWHERE, mode=mode)
        narrowed = index.search("harbor note", Scope.everywhere(since=narrow.get("since"), until=narrow.get("until")))
        assert {hit.session.id for hit in everything} == {"never", "once"}
        assert [hit.session.id for hit in narrowed] == ["once"]


def test_a_message_without_a_time_counts_as_said_when_its_session_began(index: recall.Index) -> None:
    messages = (Message("user", "harbor note", timestamp=TEN), Message("assistant", "harbor answer without a time"))
    index.add(Session("one", messages=messages))
    later = Scope.everywhere(since=TEN + timedelta(minutes=1))
    assert {hit.ref for hit in index.search("harbor", Scope.everywhere(since=TEN))} == {"one:1", "one:2"}
    assert [hit.ref for hit in index.search("harbor", later)] == []


def test_a_session_is_not_in_a_span_because_another_of_its_messages_is(index: recall.Index) -> None:
    hour = timedelta(hours=1)
    messages = (
        Message("user", "harbor note", timestamp=TEN),
        Message("assistant", "harbor answer", timestamp=TEN - hour),
    )
    index.add(Session("one", messages=messages))
    assert [hit.ref for hit in index.search("harbor", Scope.everywhere(since=TEN))] == ["one:1"]


def test_the_latest_sessions_are_narrowed_by_the_same_rule(home: Home) -> None:
    put(home, R52)
    ran = home.run("recent", "--all", "--since", "2026-03-02T00:00:00Z", "--json", "--no-sync")
    assert [session["id"] for session in ran.document["sessions"]] == ["epoch", "bare"]
    everything = home.run("recent", "--all", "--json", "--no-sync").document["sessions"]
    assert [session["id"] for session in everything] == ["epoch", "bare", "offset", "zulu", "never"]


# What is shown


@zones
@pytest.mark.parametrize(
    ("zone", "shown", "offset"),
    [
        ("Asia/Shanghai", "2026-03-02 02:00", "+08:00"),
        ("UTC", "2026-03-01 18:00", "+00:00"),
        ("America/New_York", "2026-03-01 13:00", "-05:00"),
        ("Asia/Kathmandu", "2026-03-01 23:45", "+05:45"),
    ],
)
def test_times_are_shown_in_the_zone_of_the_reader_and_in_json_with_its_offset(
    home: Home, zone: str, shown: str, offset: str
) -> None:
    put(home, {"zulu": R52["zulu"]})
    iso = f"{shown.replace(' ', 'T')}:00{offset}"
    hit = ask(home, zone, "--json").document["hits"][0]
    assert (hit["timestamp"], hit["session"]["started_at"]) == (iso, iso)
    assert shown in ask(home, zone).text
    there = {"TZ": zone}
    session = home.run("recent", "--all", "--no-sync", "--json", environment=there).document["sessions"][0]
    assert (session["started_at"], session["updated_at"]) == (iso, iso)
    assert shown in home.run("recent", "--all", "--no-sync", environment=there).text
    message = home.run("show", hit["ref"], "--json", environment=there).document["messages"][0]
    assert message["timestamp"] == iso
    assert shown in home.run("show", hit["ref"], environment=there).text


@zones
def test_each_time_has_the_offset_of_its_own_day(home: Home) -> None:
    put(home, {"winter": "2026-01-15T12:00:00Z", "summer": "2026-07-15T12:00:00Z"})
    hits = ask(home, "America/New_York", "--json").document["hits"]
    assert {hit["timestamp"] for hit in hits} == {"2026-01-15T07:00:00-05:00", "2026-07-15T08:00:00-04:00"}


def test_an_unknown_time_is_null_in_json_and_nothing_in_text(home: Home) -> None:
    put(home, {"never": None})
    hit = ask(home, "UTC", "--json").document["hits"][0]
    assert (hit["timestamp"], hit["session"]["started_at"]) == (None, None)
    text = ask(home, "UTC").text
    assert "1970" not in text
    assert "None" not in text


# Time in the ranking


SAID = "we renew the harbor lease at half life"


def session_at(name: str, text: str, when: datetime | None) -> Session:
    return Session(name, messages=(Message("assistant", text, timestamp=when),))


@pytest.fixture(params=[False, True], ids=["words", "words and vectors"])
def embedded(request: pytest.FixtureRequest) -> Iterator[tuple[recall.Index, bool]]:
    with recall.open(":memory:") as index:
        yield index, request.param


def order(index: recall.Index, query: str, with_vectors: bool) -> list[str]:
    if with_vectors:
        index.embed()
    result = index.search(query, EVERYWHERE)
    assert result.mode == ("hybrid" if with_vectors else "lexical")
    return [hit.session.id for hit in result]


@pytest.mark.parametrize("latest_first", [True, False])
def test_of_equal_matches_the_latest_comes_first_whatever_was_taken_in_first(
    embedded: tuple[recall.Index, bool], latest_first: bool
) -> None:
    index, with_vectors = embedded
    days = [3, 2, 1] if latest_first else [1, 2, 3]
    for day in days:
        index.add(session_at(f"day {day}", SAID, TEN + timedelta(days=day)))
    index.add(session_at("never", SAID, None))
    assert order(index, "harbor lease", with_vectors) == ["day 3", "day 2", "day 1", "never"]


def test_no_recency_beats_a_clearly_better_match(embedded: tuple[recall.Index, bool]) -> None:
    index, with_vectors = embedded
    index.add(session_at("years ago", SAID, TEN - timedelta(days=2_000)))
    index.add(session_at("without a time", SAID.replace("renew", "extend"), None))
    for number in range(20):
        index.add(session_at(f"new {number}", f"lunch in the harbor canteen number {number}", TEN))
    assert set(order(index, "harbor lease renewal at half life", with_vectors)[:2]) == {"years ago", "without a time"}


# The same question, the same answer


def some_sessions(home: Home) -> None:
    """A dozen sessions, many of which match a question equally well."""
    for number in range(12):
        said = (("user", f"harbor lease {'expired' if number % 2 else 'renewed'}"), ("assistant", f"quay {number % 3}"))
        write(home.codex / f"rollout-{number}.jsonl", codex_lines(uid(number + 1), home.root, *said))


def test_the_same_question_gets_the_same_answer_in_every_process(home: Home) -> None:
    some_sessions(home)
    for command in ("ingest", "embed"):
        assert home.run(command).code == 0
    arguments = ("search", "why has the harbor lease expired at the quay?", "--limit", "12", "--json", "--no-sync")
    answers = {home.run(*arguments, environment={"PYTHONHASHSEED": seed}).out for seed in ("0", "1", "4417")}
    assert len(answers) == 1
    assert len(json.loads(answers.pop())["hits"]) >= 5


def test_what_was_taken_in_first_changes_no_ranking(home: Home) -> None:
    """Every message has a time of its own, so that no tie is left to the order of the rows."""
    sessions = [
        session_at(f"S{number}", f"harbor lease note {'expired ' * (number % 3)}", TEN + timedelta(minutes=number))
        for number in range(9)
    ]
    orders: list[list[str]] = []
    for arranged in (sessions, sessions[::-1]):
        with recall.open(":memory:") as index:
            for session in arranged:
                index.add(session)
            index.embed()
            orders.append([hit.session.id for hit in index.search("harbor lease expired", EVERYWHERE, limit=9)])
    assert orders[0] == orders[1]


# Scores


def assert_scores(result: SearchResult, retrievers: set[str]) -> None:
    scores = [hit.score for hit in result]
    assert result.hits
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert scores == sorted(scores, reverse=True)
    for hit in result:
        assert hit.evidence
        assert hit.evidence.keys() <= retrievers
        assert all(rank >= 1 for rank in hit.evidence.values())


@pytest.mark.parametrize(
    "query", ["harbor", "harbor lease lease lease expired", "what was said about ships?", "harbor 租约 expired"]
)
def test_a_score_lies_between_0_and_1_and_ranks_are_kept_apart(query: str) -> None:
    with recall.open(":memory:") as index:
        for number, text in enumerate([SAID, "harbor " * 200, "the ship's lease has expired", "租约到期了"]):
            index.add(session_at(f"S{number}", text, TEN))
        index.embed()
        assert_scores(index.search(query, EVERYWHERE, mode="hybrid"), {"lexical", "dense"})
        assert_scores(index.search(query, EVERYWHERE, mode="dense"), {"dense"})
        if "ships" not in query:
            assert_scores(index.search(query, EVERYWHERE, mode="lexical"), {"lexical"})


def test_the_json_document_keeps_the_score_and_the_rank_of_each_retriever_apart(home: Home) -> None:
    some_sessions(home)
    for command in ("ingest", "embed"):
        assert home.run(command).code == 0
    document = home.run("search", "harbor lease expired", "--json", "--no-sync").document
    assert document["mode"] == "hybrid"
    for hit in document["hits"]:
        assert 0.0 <= hit["score"] <= 1.0
        assert set(hit["evidence"]) <= {"lexical", "dense"}
        assert all(type(rank) is int and rank >= 1 for rank in hit["evidence"].values())
    assert document["hits"][0]["evidence"].keys() == {"lexical", "dense"}


def test_no_score_is_printed_as_a_percentage(home: Home) -> None:
    some_sessions(home)
    for command in (("ingest",), ("embed",), ("status",), ("recent",)):
        ran = home.run(*command)
        assert ran.code == 0, ran.complaint
        assert "%" not in ran.text + ran.complaint
    for options in ((), ("--explain",), ("--mode", "lexical", "--explain"), ("--mode", "dense", "--explain")):
        text = home.run("search", "harbor lease expired", "--no-sync", *options).text
        assert "hits" in text
        assert "%" not in text
        assert "percent" not in text
