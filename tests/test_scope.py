from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from repositories import bare_repository, linked_worktree, repository, separate_git_directory, submodule

from recall.errors import UsageError
from recall.places import UNKNOWN, path_key, place_of
from recall.scope import Narrowing, Scope, parse_when
from recall.types import Role

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX paths")
Zone = Callable[[str], None]


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Zone]:
    """Sets the system's time zone for the length of a test."""
    if not hasattr(time, "tzset"):
        pytest.skip("this system cannot change its zone")

    def set_zone(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield set_zone
    monkeypatch.undo()
    time.tzset()  # the C library looks at TZ only when it is told to


@pytest.fixture
def app(tmp_path: Path) -> Path:
    app = repository(tmp_path / "app")
    linked_worktree(app, tmp_path / "app-fix")
    for checkout in (app, tmp_path / "app-fix"):
        (checkout / "packages" / "web").mkdir(parents=True)
    return app


@pytest.mark.parametrize("name", ["app", "app/packages/web", "app-fix", "app-fix/packages/web"])
def test_here_is_the_repository_from_every_worktree_and_subdirectory(
    app: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(app.parent / name)
    scope = Scope.here()
    assert scope.kind == "repository"
    assert scope.place.repository == place_of(app).repository
    assert scope.describe() == {"kind": "repository", "repository": str(app), "worktree": None}


def test_a_worktree_scope_is_the_worktree_around_the_current_directory(
    app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fix = app.parent.resolve() / "app-fix"
    monkeypatch.chdir(fix / "packages" / "web")
    scope = Scope.worktree()
    assert scope.place.worktree == path_key(str(fix))
    assert scope.describe() == {"kind": "worktree", "repository": str(app), "worktree": str(fix)}
    assert Scope.worktree(fix) == scope


def test_everywhere_names_no_repository() -> None:
    assert Scope.everywhere().place == UNKNOWN
    assert Scope.everywhere().describe() == {"kind": "everywhere", "repository": None, "worktree": None}


def test_each_layout_has_its_own_scope(app: Path, tmp_path: Path) -> None:
    lib = submodule(app, repository(tmp_path / "source"), "lib")
    core = bare_repository(tmp_path / "core.git", app)
    apart = separate_git_directory(tmp_path / "apart", tmp_path / "apart-git")
    (tmp_path / "plain").mkdir()
    paths = [app, lib, core, apart, tmp_path / "plain", tmp_path / "gone"]
    assert len({Scope.repository(path).place.repository for path in paths}) == len(paths)
    for path in paths:
        assert Scope.repository(path).describe()["repository"] == str(path.resolve())


@posix
def test_a_link_and_its_target_are_one_scope_in_both_directions(
    app: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to("app")
    monkeypatch.chdir(tmp_path / "link")
    monkeypatch.setenv("PWD", str(tmp_path / "link"))
    assert Scope.here() == Scope.repository(app) == Scope.repository(tmp_path / "link")


def test_a_repository_in_git_dir_is_not_the_one_here(app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = repository(app.parent / "other")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.chdir(app)
    assert Scope.here().place == place_of(app) != place_of(other)


def test_a_plain_directory_has_a_scope_that_holds_no_neighbour(app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (app.parent / "plain").mkdir()
    monkeypatch.chdir(app.parent / "plain")
    assert Scope.here().place.repository == path_key(str(app.parent / "plain"))
    assert Scope.here().place.kind == "folder"


@posix
def test_a_deleted_current_directory_is_a_usage_error_that_says_what_to_do(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    before = Path.cwd()
    os.chdir(gone)
    try:
        gone.rmdir()
        for make in (Scope.here, Scope.worktree, partial(Scope.repository, "src")):
            with pytest.raises(UsageError) as caught:
                make()
            assert str(caught.value) == (
                "the current directory no longer exists; change to an existing one, or search everywhere (--all)"
            )
        assert Scope.everywhere().kind == "everywhere"
        assert Scope.repository(tmp_path).kind == "repository"
    finally:
        os.chdir(before)


def test_a_path_that_a_person_gives_may_be_relative_or_start_with_their_home(
    app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(app.parent / "app-fix")
    monkeypatch.setenv("HOME", str(app.parent))
    monkeypatch.setenv("USERPROFILE", str(app.parent))
    for path in ("../app", Path("../app"), "~/app", app.as_uri()):
        assert Scope.repository(path) == Scope.repository(app), path
    for path in (".", Path(), "packages", "~nobody-has-this-name/app"):
        assert Scope.repository(path) == Scope.here(), path


@pytest.mark.parametrize("path", ["", "/a" * 5_000])
def test_a_scope_without_a_directory_is_refused(path: str) -> None:
    for make in (Scope.repository, Scope.worktree):
        with pytest.raises(UsageError, match="needs a directory; name one, or search everywhere"):
            make(path)


def test_all_constructors_take_the_same_narrowing(app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(app)
    day = datetime(2026, 3, 2, tzinfo=UTC)
    narrow: Narrowing = {
        "agent": "codex", "since": day, "until": day, "role": "tool", "branch": "main", "file": "kite.py",
        "subagents": True,
    }  # fmt: skip
    for scope in (
        Scope.here(**narrow),
        Scope.repository(app, **narrow),
        Scope.worktree(**narrow),
        Scope.everywhere(**narrow),
    ):
        assert (scope.agent, scope.since, scope.until, scope.role) == ("codex", day, day, "tool")
        assert (scope.branch, scope.file, scope.subagents) == ("main", "kite.py", True)
    assert Scope.everywhere().subagents is False


def test_a_role_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(UsageError, match='role is "system"; expected one of user, assistant, tool'):
        Scope.everywhere(role=cast("Role", "system"))


@pytest.mark.parametrize("name", ["agent", "branch", "file"])
def test_an_empty_name_is_refused_rather_than_ignored(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} is empty"):
        Scope.everywhere(**cast("Narrowing", {name: " "}))


def test_a_text_where_a_time_belongs_is_refused() -> None:
    with pytest.raises(UsageError, match="since is '7d'; expected a datetime"):
        Scope.everywhere(since=cast("datetime", "7d"))


def test_since_after_until_is_refused() -> None:
    day = datetime(2026, 3, 2, tzinfo=UTC)
    with pytest.raises(UsageError, match=r"since is 2026-03-02.*until is 2026-03-01.*exchange them"):
        Scope.everywhere(since=day, until=day - timedelta(days=1))
    assert Scope.everywhere(since=day, until=day).until == day


def test_times_of_two_zones_are_compared_as_moments() -> None:
    since = datetime(2026, 3, 2, 7, 30, tzinfo=timezone(timedelta(hours=8)))
    assert Scope.everywhere(since=since, until=datetime(2026, 3, 2, tzinfo=UTC)).since == since


def test_a_time_without_an_offset_is_local(zone: Zone) -> None:
    zone("Asia/Shanghai")
    since, until = datetime.fromisoformat("2026-03-02T00:00"), datetime.fromisoformat("2026-03-02T01:00")
    scope = Scope.everywhere(since=since, until=until)
    assert scope.since == datetime(2026, 3, 1, 16, tzinfo=UTC)
    assert scope.until == datetime(2026, 3, 1, 17, tzinfo=UTC)


def test_a_time_that_has_no_local_form_is_refused(zone: Zone) -> None:
    zone("Asia/Shanghai")
    with pytest.raises(UsageError, match="expected a time within the calendar"):
        Scope.everywhere(since=datetime.fromisoformat("0001-01-01T00:00"))


NOW = datetime(2026, 3, 10, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "start"),
    [("Asia/Shanghai", "2026-03-01T16:00"), ("UTC", "2026-03-02T00:00"), ("Etc/GMT+5", "2026-03-02T05:00")],
)
def test_a_date_is_the_local_day(zone: Zone, name: str, start: str) -> None:
    zone(name)
    begin = datetime.fromisoformat(start).replace(tzinfo=UTC)
    assert parse_when("2026-03-02") == begin
    assert parse_when("2026-03-02", end=True) == begin + timedelta(days=1, microseconds=-1)


def test_messages_of_r52_are_inside_the_day_of_shanghai_and_not_that_of_utc(zone: Zone) -> None:
    texts = ("2026-03-02T07:30:00+08:00", "2026-03-01T18:00:00+00:00")
    said = [datetime.fromisoformat(text) for text in texts]
    zone("Asia/Shanghai")
    assert all(moment >= parse_when("2026-03-02") for moment in said)
    zone("UTC")
    assert all(moment < parse_when("2026-03-02") for moment in said)


@pytest.mark.parametrize(
    ("name", "day", "hours"),
    [
        ("America/New_York", "2026-03-08", 23),
        ("America/New_York", "2026-11-01", 25),
        ("America/New_York", "2026-06-01", 24),
        ("America/Sao_Paulo", "2018-11-04", 23),  # the day began at one o'clock
        ("America/Sao_Paulo", "2018-02-17", 25),  # its last hour came twice
        ("Australia/Lord_Howe", "2026-10-04", 23.5),
    ],
)
def test_a_day_with_a_clock_change_has_all_its_hours(zone: Zone, name: str, day: str, hours: float) -> None:
    zone(name)
    begin, end = parse_when(day), parse_when(day, end=True)
    assert end - begin == timedelta(hours=hours, microseconds=-1)
    assert begin.date() == end.date() == date.fromisoformat(day)
    assert parse_when(str(end.date() + timedelta(days=1))) - end == timedelta(microseconds=1)


def test_today_and_yesterday_are_local_days(zone: Zone) -> None:
    zone("Asia/Shanghai")
    late = datetime(2026, 3, 10, 18, tzinfo=UTC)  # 2 o'clock on the 11th in Shanghai
    assert parse_when("today", now=late) == parse_when("2026-03-11")
    assert parse_when(" Today ", now=late, end=True) == parse_when("2026-03-11", end=True)
    assert parse_when("yesterday", now=late) == parse_when("2026-03-10")
    assert parse_when("YESTERDAY", now=late, end=True) == parse_when("2026-03-10", end=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-02T07:30", "2026-03-02T07:30+08:00"),
        ("2026-03-02 07:30:10", "2026-03-02T07:30:10+08:00"),
        ("2026-03-02T07:30Z", "2026-03-02T07:30+00:00"),
        ("2026-03-02t07:30z", "2026-03-02T07:30+00:00"),
        ("2026-03-02T07:30-05:00", "2026-03-02T07:30-05:00"),
    ],
)
def test_a_time_is_local_unless_it_has_an_offset(zone: Zone, text: str, expected: str) -> None:
    zone("Asia/Shanghai")
    for end in (False, True):
        moment = parse_when(text, end=end)
        assert moment == datetime.fromisoformat(expected)
        assert moment.utcoffset() == timedelta(hours=8)


@pytest.mark.parametrize(
    ("text", "span"),
    [("12h", timedelta(hours=12)), ("7d", timedelta(days=7)), ("2W", timedelta(weeks=2)), ("0d", timedelta(0))],
)
def test_a_span_counts_back_from_now(zone: Zone, text: str, span: timedelta) -> None:
    zone("UTC")
    assert parse_when(text, now=NOW) == parse_when(text, now=NOW, end=True) == NOW - span


def test_over_a_clock_change_days_keep_the_clock_and_hours_are_hours(zone: Zone) -> None:
    zone("America/New_York")
    now = datetime.fromisoformat("2026-03-08T12:00-04:00")  # the clocks went forward this night
    assert parse_when("1d", now=now) == datetime.fromisoformat("2026-03-07T12:00-05:00")
    assert parse_when("24h", now=now) == datetime.fromisoformat("2026-03-07T11:00-05:00")


def test_the_clock_is_asked_when_no_now_is_given() -> None:
    before = datetime.now(UTC)
    assert before <= parse_when("0h") <= datetime.now(UTC)


@pytest.mark.parametrize(
    "text",
    ["", "soon", "last week", "2026", "2026-03", "20260302", "2026-W10", "03/02/2026", "7", "d", "7 d", "-7d",
     "1.5h", "7m", "٧d", "2026-02-30", "2026-03-02T25:00", "2026-03-02Tea", "2026-03-02T", "9" * 30 + "d",
     "9999-12-31", "0001-01-01T00:00+14:00"],
)  # fmt: skip
def test_anything_else_is_refused_with_the_forms_that_are_understood(zone: Zone, text: str) -> None:
    zone("Asia/Shanghai")
    with pytest.raises(UsageError, match=r"expected 2026-03-02, .*, today, yesterday, 12h, 7d or 2w"):
        parse_when(text, now=NOW, end=True)


@given(st.text() | st.text("0123456789-T:+Zhdw "), st.booleans())
def test_any_text_is_an_aware_time_or_a_usage_error(text: str, end: bool) -> None:
    with suppress(UsageError):
        assert parse_when(text, end=end, now=NOW).utcoffset() is not None
