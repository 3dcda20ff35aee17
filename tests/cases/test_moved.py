"""R17: the directory is gone or has moved. With real git repositories, and an unrelated one beside them."""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import Home, Ran
from here import run_here
from repositories import bare_repository, git, linked_worktree, repository
from transcript_lines import claude_lines, codex_lines, uid, write

import recall
from recall import NotFoundError, Scope, UsageError, database

URL = "https://github.com/ana/kite.git"


@dataclass(frozen=True, slots=True)
class Work:
    """`app`, its linked worktree `app-fix`, and `app-fix2`, which has nothing to do with them."""

    home: Home
    app: Path
    fix: Path
    decoy: Path

    @property
    def base(self) -> Path:
        return self.app.parent

    def say(self, name: str, cwd: Path | str, agent: str = "claude", **meta: object) -> None:
        """A session of that name, in that directory, of an agent that does (codex) or does not name the remote."""
        text = ("user", f"kite question of {name}")
        if agent == "codex":
            write(self.home.codex / f"rollout-{name}.jsonl", codex_lines(name, cwd, text, **meta))
        else:
            number = sum(map(ord, name))
            lines = claude_lines(uid(number), cwd, text, first=10 * number)
            write(self.home.claude / "x" / f"{uid(number)}.jsonl", lines)


def run(cwd: Path, *arguments: str | Path) -> Ran:
    """What `recall` prints there."""
    with contextlib.chdir(cwd):
        return run_here(*map(str, arguments))


@pytest.fixture
def work(home: Home, tmp_path: Path) -> Work:
    base = tmp_path.resolve() / "work 风筝"
    app = repository(base / "app")
    work = Work(home, app, linked_worktree(app, base / "app-fix"), repository(base / "app-fix2"))
    work.say("decoy", work.decoy)
    return work


def found(index: recall.Index, scope: Scope) -> set[str]:
    """Names of the sessions that a search gives, which must be those that are listed."""
    hits = index.search("kite question", scope, mode="lexical", limit=50)
    assert {hit.session.id for hit in hits} <= {session.id for session in index.recent(scope, 50)}
    assert sum(1 + hit.similar for hit in hits) == len(index.recent(scope, 50))
    return {session.preview.removeprefix("kite question of ") for session in index.recent(scope, 50)}


# (1) the worktree is removed


def test_sessions_of_a_removed_worktree_are_found_from_the_checkout_and_say_so(index: recall.Index, work: Work) -> None:
    work.say("app", work.app)
    work.say("fix", work.fix / "src")
    index.ingest()
    git(work.app, "worktree", "remove", work.fix)
    work.say("late", work.fix / "src")
    index.ingest()
    assert found(index, Scope.repository(work.app)) == {"app", "fix", "late"}
    removed = {session.preview[17:]: session.worktree_removed for session in index.recent(Scope.repository(work.app))}
    assert removed == {"app": False, "fix": True, "late": True}
    assert found(index, Scope.repository(work.decoy)) == {"decoy"}


def test_the_command_line_marks_a_removed_worktree(work: Work) -> None:
    work.say("fix", work.fix)
    assert "worktree removed" not in run(work.app, "search", "kite question").text
    git(work.app, "worktree", "remove", work.fix)
    for command in (("search", "kite question"), ("recent",)):
        assert "worktree removed" in run(work.app, *command).text
        document = run(work.app, *command, "--json").document
        sessions = [one["session"] for one in document["hits"]] if "hits" in document else document["sessions"]
        assert [session["worktree_removed"] for session in sessions] == [True]


def test_a_worktree_that_was_deleted_before_anything_was_taken_in_is_still_named_by_git(
    index: recall.Index, work: Work
) -> None:
    shutil.rmtree(work.fix)
    work.say("fix", work.fix)
    work.say("fix-src", work.fix / "src")
    index.ingest()
    assert found(index, Scope.repository(work.app)) == {"fix", "fix-src"}


# (2) the checkout is renamed


@pytest.mark.parametrize("taken_in_after", [False, True])
def test_after_a_rename_the_sessions_are_found_from_the_new_name(
    index: recall.Index, work: Work, taken_in_after: bool
) -> None:
    work.say("app", work.app)
    work.say("fix", work.fix)
    index.ingest()
    work.app.rename(work.base / "app2")
    if taken_in_after:
        work.say("new", work.base / "app2")
        work.say("fix-late", work.fix)
        index.ingest()
    late = {"new", "fix-late"} if taken_in_after else set()
    assert found(index, Scope.repository(work.base / "app2")) == {"app", "fix"} | late
    assert found(index, Scope.repository(work.fix)) >= {"app", "fix"}
    assert found(index, Scope.repository(work.app)) >= {"app", "fix"}
    assert found(index, Scope.worktree(work.base / "app2")) == {"app"} | (late - {"fix-late"})
    assert found(index, Scope.worktree(work.fix)) == {"fix"} | (late - {"new"})
    assert found(index, Scope.repository(work.decoy)) == {"decoy"}


def test_after_a_rename_and_a_repair_both_worktrees_have_all_sessions(index: recall.Index, work: Work) -> None:
    work.say("app", work.app)
    work.say("fix", work.fix)
    index.ingest()
    work.app.rename(work.base / "app2")
    git(work.base / "app2", "worktree", "repair", work.fix)
    for place in (work.base / "app2", work.fix):
        assert found(index, Scope.repository(place)) == {"app", "fix"}
    assert found(index, Scope.worktree(work.fix)) == {"fix"}


def test_a_worktree_that_both_name_is_enough(index: recall.Index, work: Work) -> None:
    """As in an archive of an older version, which noted nothing, or after a move to another disk."""
    work.say("app", work.app)
    index.ingest()
    index.database.connection.execute("delete from signs")
    work.app.rename(work.base / "app2")
    assert found(index, Scope.repository(work.base / "app2")) == {"app"}


def test_a_lonely_repository_is_found_again_by_a_file_of_its_own(index: recall.Index, work: Work) -> None:
    kite = repository(work.base / "kite")
    work.say("kite", kite / "src")
    index.ingest()
    (work.base / "moved").mkdir()
    kite.rename(work.base / "moved" / "harbor")
    assert found(index, Scope.repository(work.base / "moved" / "harbor")) == {"kite"}
    assert found(index, Scope.repository(kite)) == {"kite"}
    assert found(index, Scope.repository(work.app)) == set()


def test_a_bare_repository_that_moved_is_found_from_its_worktree(index: recall.Index, work: Work) -> None:
    core = bare_repository(work.base / "core.git", work.app)
    tree = linked_worktree(core, work.base / "tree")
    work.say("core", core)
    index.ingest()
    core.rename(work.base / "harbor.git")
    git(work.base / "harbor.git", "worktree", "repair", tree)
    assert found(index, Scope.repository(tree)) == found(index, Scope.repository(work.base / "harbor.git")) == {"core"}


def test_a_copy_is_another_repository(index: recall.Index, work: Work) -> None:
    kite = repository(work.base / "kite")
    work.say("kite", kite)
    index.ingest()
    shutil.copytree(kite, work.base / "copy")
    assert found(index, Scope.repository(work.base / "copy")) == set()
    shutil.rmtree(kite)
    assert found(index, Scope.repository(work.base / "copy")) == set()


def test_a_move_that_nothing_proves_is_offered_in_one_line(work: Work) -> None:
    kite = repository(work.base / "kite")
    work.say("kite", kite)
    run(work.base, "ingest")
    shutil.copytree(kite, work.base / "kite 2")  # to another disk and back
    shutil.rmtree(kite)
    for command in (("search", "kite question"), ("recent",)):
        ran = run(work.base / "kite 2", *command)
        assert ran.code == 0
        offered = [line for line in ran.complaint.splitlines() if "recall relink" in line]
        assert len(offered) == 1
        assert f'recall relink "{kite}" "{work.base / "kite 2"}"' in offered[0]
        assert "1 session ran in" in offered[0]
    done = run(work.base, "relink", kite, work.base / "kite 2")
    assert done.code == 0, done.complaint
    assert "kite question" in run(work.base / "kite 2", "search", "kite question").text
    assert "recall relink" not in run(work.decoy, "recent").complaint


def test_a_worktree_whose_repository_moved_gives_no_traceback(work: Work) -> None:
    work.say("fix", work.fix)
    run(work.base, "ingest")
    work.app.rename(work.base / "app2")
    for command in (("search", "kite question"), ("doctor",)):
        ran = work.home.run(*command, cwd=work.fix)
        assert ran.code == 0
        assert "Traceback" not in ran.complaint + ran.text


# (3) the directory was gone before anything was taken in


@pytest.mark.parametrize(
    "url", ["git@github.com:Ana/kite", "ssh://git@GitHub.com:22/ana/kite.git/", "https://ana:pw@github.com/ana/kite"]
)
def test_a_session_of_a_directory_that_is_gone_joins_the_repository_with_its_remote(
    index: recall.Index, work: Work, url: str
) -> None:
    git(work.app, "remote", "add", "origin", URL)
    git(work.decoy, "remote", "add", "origin", URL.replace("kite", "harbor"))
    work.say("gone", work.base / "long" / "gone", "codex", git={"repository_url": url})
    work.say("gone too", work.base / "long" / "gone")
    work.say("elsewhere", "C:\\Work\\Kite", "codex", git={"repository_url": url})
    work.say("other", work.base / "other", "codex", git={"repository_url": f"{url}s"})
    work.say("nameless", work.base / "nameless", "codex")
    index.ingest()
    assert found(index, Scope.repository(work.app)) == {"gone", "gone too", "elsewhere"}
    assert found(index, Scope.repository(work.decoy)) == {"decoy"}


def test_a_new_clone_has_the_history_of_the_one_that_was_deleted(index: recall.Index, work: Work) -> None:
    """Claude Code names no remote, so it is noted while the repository is there."""
    git(work.app, "remote", "add", "upstream", URL)
    work.say("app", work.app)
    index.ingest()
    shutil.rmtree(work.app)
    clone = repository(work.base / "clone")
    git(clone, "remote", "add", "origin", "git@github.com:ana/kite.git")
    assert found(index, Scope.repository(clone)) == {"app"}


def test_of_two_clones_neither_takes_the_sessions_of_a_third_and_each_is_offered_them(
    index: recall.Index, work: Work
) -> None:
    clones = [repository(work.base / name) for name in ("one", "two", "three")]
    for clone in clones:
        git(clone, "remote", "add", "origin", URL)
        work.say(clone.name, clone)
    index.ingest()
    for clone in clones:
        assert found(index, Scope.repository(clone)) == {clone.name}
    shutil.rmtree(clones[2])
    assert found(index, Scope.repository(clones[0])) == {"one"}
    assert str(clones[2]) in index.offer_relink(Scope.repository(clones[1]))
    assert found(index, Scope.repository(clones[2])) == {"three"}
    shutil.rmtree(clones[1])
    assert found(index, Scope.repository(clones[0])) == {"one", "two", "three"}


def test_a_folder_that_held_one_repository_after_another_belongs_to_neither(index: recall.Index, work: Work) -> None:
    git(work.app, "remote", "add", "origin", URL)
    for number, url in enumerate((URL, "https://github.com/ana/harbor")):
        work.say(f"scratch{number}", work.base / "scratch", "codex", git={"repository_url": url})
    index.ingest()
    assert found(index, Scope.repository(work.app)) == set()
    assert "scratch" in index.offer_relink(Scope.repository(work.app))


def test_adding_changing_and_removing_a_remote_changes_nothing(index: recall.Index, work: Work) -> None:
    for step in (("add", "origin", URL), ("set-url", "origin", "https://kite.example/x"), ("remove", "origin")):
        git(work.app, "remote", *step)
        work.say(step[0], work.app, "codex", git={"repository_url": URL})
        index.ingest()
    assert found(index, Scope.repository(work.app)) == {"add", "set-url", "remove"}


def test_a_new_repository_beside_one_that_is_gone_is_not_taken_for_it(index: recall.Index, work: Work) -> None:
    work.say("harbor", repository(work.base / "harbor"))
    index.ingest()
    shutil.rmtree(work.base / "harbor")
    assert index.offer_relink(Scope.repository(repository(work.base / "kite"))) == ""
    assert "harbor" in index.offer_relink(Scope.repository(repository(work.base / "elsewhere" / "harbor")))
    assert index.offer_relink(Scope.everywhere()) == index.offer_relink(Scope.repository(work.base)) == ""


# recall relink


def relinked(work: Work, index: recall.Index) -> Path:
    """`kite`, taken in and then deleted; its new place, of which nothing else says that it is the same."""
    kite = repository(work.base / "kite")
    work.say("kite", kite)
    work.say("below", kite / "nested" / "src")
    index.ingest()
    shutil.rmtree(kite)
    return repository(work.base / "new" / "kite")


def test_a_relink_covers_what_is_stored_and_what_comes_and_can_be_taken_back(index: recall.Index, work: Work) -> None:
    new = relinked(work, index)
    old = work.base / "kite"
    report = index.relink(old, new)
    assert (report.sessions, report.changed) == (2, True)
    work.say("late", old / "deeper")
    index.ingest()
    assert found(index, Scope.repository(new)) == found(index, Scope.repository(old)) == {"kite", "below", "late"}
    assert found(index, Scope.worktree(new)) >= {"kite"}
    assert found(index, Scope.repository(work.decoy)) == {"decoy"}
    assert index.relink(old, new).changed is False
    index.undo_relink(old)
    assert found(index, Scope.repository(new)) == set()
    with pytest.raises(NotFoundError, match="never relinked"):
        index.undo_relink(old)


def test_a_relink_of_a_folder_takes_every_repository_below_to_its_own_place(index: recall.Index, work: Work) -> None:
    code = work.base / "code"
    for name in ("one", "two"):
        repository(code / name)
        work.say(name, code / name)
    work.say("gone", code / "gone-before", "codex")
    index.ingest()
    index.database.connection.execute("delete from signs")  # as if it were another disk
    code.rename(work.base / "src")
    index.relink(code, work.base / "src")
    for name in ("one", "two"):
        assert found(index, Scope.repository(work.base / "src" / name)) == {name}
    assert found(index, Scope.repository(work.base / "src" / "gone-before")) == {"gone"}


def test_relinks_follow_each_other_and_the_latest_word_counts(index: recall.Index, work: Work) -> None:
    second = relinked(work, index)
    first, third = work.base / "kite", work.base / "third"
    index.relink(first, second)
    work.say("second", second)
    index.ingest()
    index.database.connection.execute("delete from signs")
    second.rename(third)
    index.relink(second, third)
    everything = {"kite", "below", "second"}
    assert found(index, Scope.repository(third)) == everything
    third.rename(first)  # and back to where it began
    work.say("third", third)
    index.ingest()
    index.database.connection.execute("delete from signs")
    index.relink(third, first)
    for place in (first, second, third):
        assert found(index, Scope.repository(place)) == everything | {"third"}


def test_a_transcript_of_a_windows_machine_can_be_relinked(index: recall.Index, work: Work) -> None:
    work.say("there", "C:\\Work\\Kite\\src")
    index.ingest()
    index.relink("c:/work/kite", work.app)
    assert found(index, Scope.repository(work.app)) == {"there"}


def test_what_cannot_be_relinked_is_refused_with_the_reason(index: recall.Index, work: Work) -> None:
    new = relinked(work, index)
    work.say("app", work.app)
    work.say("fix", work.fix)
    index.ingest()
    with pytest.raises(NotFoundError, match=r"near ones: .*kite"):
        index.relink(work.base / "kites", new)
    with pytest.raises(UsageError, match="is no directory"):
        index.relink(work.base / "kite", work.base / "nowhere")
    with pytest.raises(UsageError, match=r"still exists.*--yes"):
        index.relink(work.app, new)
    with pytest.raises(UsageError, match="one repository already"):
        index.relink(work.app, work.fix)
    with pytest.raises(UsageError, match=f"part of {work.app}"):
        index.relink(work.fix, new)
    with pytest.raises(UsageError, match="one directory"):
        index.relink(work.app, work.app)
    assert found(index, Scope.repository(new)) == set()
    index.relink(work.app, new, even_existing=True)
    assert found(index, Scope.repository(new)) == {"app", "fix"}


def test_doctor_counts_what_was_found_again_as_found(work: Work, index: recall.Index) -> None:
    new = relinked(work, index)
    before = run(work.base, "doctor").text
    assert str(work.base / "kite") in before
    assert "recall relink OLD NEW" in before
    assert run(work.base, "relink", work.base / "kite", new, "--json").document["sessions"] == 2
    assert str(work.base / "kite") not in run(work.base, "doctor").text


# How a session is reopened


def test_a_session_is_reopened_only_while_its_transcript_and_its_directory_are_there(
    index: recall.Index, work: Work
) -> None:
    work.say("app", work.app, "codex")
    work.say("fix", work.fix)
    index.ingest()
    here = Scope.repository(work.app)
    assert sorted(session.resume.split()[0] for session in index.recent(here)) == ["claude", "codex"]
    shutil.rmtree(work.fix)
    assert [session.resume for session in index.recent(here) if session.resume] == ["codex resume app"]
    (work.home.codex / "rollout-app.jsonl").unlink()
    assert [session.resume for session in index.recent(here)] == ["", ""]
    document = run(work.app, "recent", "--json").document
    assert [session["resume"] for session in document["sessions"]] == [None, None]


@pytest.mark.skipif(os.name == "nt", reason="a link needs a privilege there")
def test_a_repository_that_became_a_link_to_its_new_place_is_the_same(index: recall.Index, work: Work) -> None:
    work.say("app", work.app)
    index.ingest()
    work.app.rename(work.base / "app2")
    work.app.symlink_to(work.base / "app2")
    for place in (work.app, work.base / "app2"):
        assert found(index, Scope.repository(place)) == {"app"}


@pytest.mark.parametrize(("before", "after"), [("é", "e\u0301"), ("e\u0301", "é")])
def test_a_name_that_is_spelled_in_other_code_points_is_the_same_place(
    index: recall.Index, work: Work, before: str, after: str
) -> None:
    """macOS hands out one spelling and takes both."""
    app = repository(work.base / f"caf{before}")
    work.say("app", app)
    index.ingest()
    assert not run(work.base, "doctor").text.count("no longer exist")
    app.rename(work.base / f"caf{after}")
    assert found(index, Scope.repository(work.base / f"caf{after}")) == {"app"}


def test_an_archive_of_an_older_version_knows_the_remotes_of_its_sessions(
    home: Home, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = database._migrations()
    with recall.open() as index:
        work.say("gone", work.base / "gone", "codex", git={"repository_url": f"https://ana:pw@{URL[8:]}"})
        index.ingest()
        for table in ("signs", "relinks"):
            index.database.connection.execute(f"drop table {table}")
        before = next(number for number, sql in steps.items() if "create table signs" in sql) - 1
        index.database.connection.execute(f"pragma user_version = {before}")
        for number in steps.keys() - set(range(before + 2)):
            steps.pop(number)  # what came later has nothing to do with it
    monkeypatch.setattr(database, "_migrations", lambda: steps)
    git(work.app, "remote", "add", "origin", URL)
    with recall.open() as index:
        assert found(index, Scope.repository(work.app)) == {"gone"}


def test_relink_says_what_it_did_and_how_to_take_it_back(index: recall.Index, work: Work) -> None:
    new = relinked(work, index)
    old = work.base / "kite"
    done = run(work.base, "relink", old, new)
    assert (done.code, done.complaint) == (0, "")
    assert done.text.splitlines()[0] == f"2 sessions of {old} now belong to {new}"
    assert "--undo" in done.text
    assert "as before" in run(work.base, "relink", "kite", "new/kite").text
    document = run(work.base, "relink", old, new, "--json").document
    assert document == {
        "old": str(old),
        "new": str(new),
        "repositories": [{"path": str(old), "sessions": 2}],
        "changed": False,
        "sessions": 2,
        "undone": False,
    }
    assert "taken back" in run(work.base, "relink", old, new, "--undo").text
    refused = run(work.base, "relink", old, new, "--undo")
    assert (refused.code, refused.text) == (1, "")
    assert len(refused.complaint.splitlines()) == 1
    assert run(work.base, "relink", old, work.base / "nowhere").code == 2
