from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from repositories import (
    bare_repository,
    common_directory,
    git,
    linked_worktree,
    repository,
    separate_git_directory,
    submodule,
    toplevel,
)

from recall.places import LONGEST_PATH, UNKNOWN, Place, current_directory, path_key, place_of, readable_path

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX paths and permissions")

ANY_TEXT = st.text(st.characters(exclude_categories=()))  # lone surrogates too
ODD_PART = st.sampled_from([*"/\\?.:~ aCcUN1é\u0301Ééßİς\0\udcff\ud800", "C:\\", "\\\\?\\", "//?/"])
ODD_PATH = st.lists(ODD_PART).map("".join)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every layout of R16 side by side, so that each is the neighbour of all the others."""
    work = tmp_path_factory.mktemp("work").resolve()
    app = repository(work / "app")
    (app / "packages" / "web").mkdir(parents=True)
    (linked_worktree(app, work / "app-fix") / "packages" / "web").mkdir(parents=True)
    linked_worktree(app, app / ".worktrees" / "fix")
    repository(app / "nested")
    lib = submodule(app, repository(work / "lib-source"), "vendor/lib")
    (lib / "src").mkdir()
    linked_worktree(lib, work / "lib-fix")
    core = bare_repository(work / "core.git", app)
    linked_worktree(core, work / "wt-bare")
    apart = separate_git_directory(work / "apart", work / "apart-git")
    linked_worktree(apart, work / "apart-fix")
    repository(work / "风筝 与 港口" / "my app")
    (work / "plain" / "deep").mkdir(parents=True)
    return work


CHECKOUTS = [
    "app", "app/packages/web", "app-fix", "app-fix/packages/web", "app/.worktrees/fix", "app/nested",
    "app/vendor", "app/vendor/lib", "app/vendor/lib/src", "lib-fix", "wt-bare", "apart", "apart-fix",
    "风筝 与 港口/my app",
]  # fmt: skip


@pytest.mark.parametrize("name", CHECKOUTS)
def test_git_itself_names_the_same_repository_and_worktree(work: Path, name: str) -> None:
    place = place_of(work / name)
    assert place.kind == "git"
    assert place.repository == path_key(common_directory(work / name))
    assert place.worktree == path_key(toplevel(work / name))
    assert Path(place.worktree_path) == Path(toplevel(work / name))


@pytest.mark.parametrize(
    "name",
    ["core.git", "core.git/refs", "app/.git", "app/.git/hooks", "app/.git/worktrees/app-fix",
     "app/.git/modules", "app/.git/modules/vendor/lib/refs"],
)  # fmt: skip
def test_inside_a_git_directory_git_itself_names_the_same_repository(work: Path, name: str) -> None:
    assert place_of(work / name).repository == path_key(common_directory(work / name))


def test_all_worktrees_and_their_subdirectories_are_one_repository(work: Path) -> None:
    places = [place_of(work / name) for name in CHECKOUTS[:4]]
    assert {place.repository for place in places} == {path_key(str(work / "app" / ".git"))}
    assert {place.repository_path for place in places} == {str(work / "app")}
    assert places[0].worktree == places[1].worktree == path_key(str(work / "app"))
    assert places[2].worktree == places[3].worktree == path_key(str(work / "app-fix"))


def test_a_worktree_inside_the_main_checkout_is_a_worktree_of_its_own(work: Path) -> None:
    place = place_of(work / "app" / ".worktrees" / "fix")
    assert place.repository == place_of(work / "app").repository
    assert place.worktree == path_key(str(work / "app" / ".worktrees" / "fix"))


def test_a_bare_repository_and_its_worktree_are_one_repository(work: Path) -> None:
    bare, worktree = place_of(work / "core.git"), place_of(work / "wt-bare")
    assert bare.repository == worktree.repository
    assert bare.repository_path == worktree.repository_path == bare.worktree_path == str(work / "core.git")
    assert worktree.worktree_path == str(work / "wt-bare")


def test_a_submodule_is_a_repository_of_its_own_that_names_its_superproject(work: Path) -> None:
    place = place_of(work / "app" / "vendor" / "lib" / "src")
    others = {place_of(work / name).repository for name in ("app", "lib-source")}
    assert place.repository not in others
    assert place.repository_path == str(work / "app" / "vendor" / "lib")
    assert place.superproject == str(work / "app")
    assert place.superproject == git(work / "app/vendor/lib", "rev-parse", "--show-superproject-working-tree")


def test_a_worktree_of_a_submodule_belongs_to_the_submodule(work: Path) -> None:
    lib, fix = place_of(work / "app" / "vendor" / "lib"), place_of(work / "lib-fix")
    assert fix.repository == lib.repository
    assert fix.repository_path == lib.repository_path
    assert fix.superproject == lib.superproject
    assert fix.worktree_path == str(work / "lib-fix")


def test_only_submodules_have_a_superproject(work: Path) -> None:
    for name in ("app", "app-fix", "app/nested", "core.git", "wt-bare", "apart", "plain"):
        assert place_of(work / name).superproject == "", name


def test_a_submodule_of_a_submodule_names_the_nearer_one(tmp_path: Path) -> None:
    inner, middle = repository(tmp_path / "inner-source"), repository(tmp_path / "middle-source")
    submodule(middle, inner, "modules/inner")
    app = repository(tmp_path / "app")
    submodule(app, middle, "middle")
    git(app, "submodule", "--quiet", "update", "--init", "--recursive")
    place = place_of(app / "middle" / "modules" / "inner")
    assert place.repository == path_key(common_directory(app / "middle" / "modules" / "inner"))
    assert place.repository_path == str(app / "middle" / "modules" / "inner")
    assert place.superproject == str(app / "middle")


def test_a_submodule_in_a_linked_worktree_names_that_worktree_as_its_superproject(tmp_path: Path) -> None:
    app = repository(tmp_path / "app")
    submodule(app, repository(tmp_path / "source"), "lib")
    fix = linked_worktree(app, tmp_path / "fix")
    git(fix, "submodule", "--quiet", "update", "--init")
    place = place_of(fix / "lib")
    assert place.repository == path_key(common_directory(fix / "lib"))
    assert place.superproject == str(fix)


def test_a_checkout_in_a_folder_named_modules_is_no_submodule(tmp_path: Path) -> None:
    app = repository(tmp_path / "modules" / "app")
    bare = bare_repository(tmp_path / "modules" / "app.git", app)
    assert place_of(app).superproject == place_of(bare).superproject == ""


def test_inside_a_git_directory_the_worktree_is_the_one_it_serves(work: Path) -> None:
    assert place_of(work / "app" / ".git" / "hooks") == place_of(work / "app")
    assert place_of(work / "app" / ".git" / "worktrees" / "app-fix") == place_of(work / "app-fix")
    assert place_of(work / "app" / ".git" / "modules" / "vendor" / "lib") == place_of(work / "app/vendor/lib")


def test_a_checkout_with_a_separate_git_directory_is_shown_as_the_checkout(work: Path) -> None:
    place = place_of(work / "apart")
    assert place.repository == place_of(work / "apart-fix").repository == path_key(str(work / "apart-git"))
    assert place.repository_path == place.worktree_path == str(work / "apart")


def test_worktrees_beside_a_hidden_bare_repository_are_shown_as_the_folder_around(tmp_path: Path) -> None:
    app = tmp_path.resolve() / "app"
    app.mkdir()
    bare_repository(app / ".bare", repository(tmp_path / "source"))
    (app / ".git").write_text("gitdir: ./.bare\n", encoding="utf-8")
    worktree = linked_worktree(app, app / "fix")
    assert place_of(worktree).repository == place_of(app).repository == path_key(str(app / ".bare"))
    assert place_of(worktree).repository_path == place_of(app).repository_path == str(app)


def test_a_core_worktree_that_needs_quotes_is_read(tmp_path: Path) -> None:
    app = repository(tmp_path / "app")
    name = "vendor; #lib" if os.name == "nt" else 'vendor; # "lib"'
    lib = submodule(app, repository(tmp_path / "source"), name)
    assert place_of(linked_worktree(lib, tmp_path / "fix")).repository_path == str(lib)


def test_a_core_worktree_that_moved_to_the_configuration_of_the_worktree_is_read(tmp_path: Path) -> None:
    lib = submodule(repository(tmp_path / "app"), repository(tmp_path / "source"), "lib")
    git(lib, "sparse-checkout", "set", "src")
    assert "worktree" in (tmp_path / "app/.git/modules/lib/config.worktree").read_text(encoding="utf-8")
    assert place_of(linked_worktree(lib, tmp_path / "fix")).repository_path == str(lib)


def test_a_worktree_that_names_its_repository_by_a_relative_path_belongs_to_it(tmp_path: Path) -> None:
    app = repository(tmp_path / "app")
    fix = linked_worktree(app, tmp_path / "app-fix")
    before = place_of(fix)
    (fix / ".git").write_text("gitdir: ../app/.git/worktrees/app-fix\n", encoding="utf-8")
    backlink = app / ".git" / "worktrees" / "app-fix" / "gitdir"
    backlink.write_text("../../../../app-fix/.git\n", encoding="utf-8")
    assert place_of(fix) == place_of(backlink.parent) == before


def test_a_clone_is_another_repository(tmp_path: Path) -> None:
    app = repository(tmp_path / "app")
    git(app, "clone", "--quiet", app, tmp_path / "app2")
    assert place_of(tmp_path / "app2").repository != place_of(app).repository


def test_adding_a_remote_does_not_change_the_repository(tmp_path: Path) -> None:
    app = repository(tmp_path / "app")
    before = place_of(app)
    git(app, "remote", "add", "origin", "https://kite.example/app.git")
    assert place_of(app) == before


@posix
def test_a_directory_reached_through_a_link_is_the_real_one(tmp_path: Path) -> None:
    app = repository(tmp_path / "real")
    (app / "src").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "source-link").symlink_to("real/src")
    assert place_of(tmp_path / "link") == place_of(tmp_path / "real") == place_of(tmp_path / "source-link")
    assert place_of(tmp_path / "link").worktree_path == str(app)
    assert path_key(str(tmp_path / "link" / "gone")) == path_key(str(tmp_path / "real" / "gone"))


@posix
def test_a_link_whose_target_is_gone_is_a_folder_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("gone")
    place = place_of(tmp_path / "link")
    assert place.kind == "folder"
    assert place.worktree == path_key(str(tmp_path / "gone"))


@posix
def test_links_in_a_circle_are_a_folder_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "here").symlink_to("there")
    (tmp_path / "there").symlink_to("here")
    assert place_of(tmp_path / "here" / "src").kind == "folder"
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / ".git").symlink_to(".git")
    assert place_of(tmp_path / "app").kind == "folder"


@posix
def test_a_git_directory_behind_a_link_is_the_one_that_git_names(tmp_path: Path) -> None:
    app, copy = repository(tmp_path / "app"), tmp_path.resolve() / "copy"
    copy.mkdir()
    (copy / ".git").symlink_to("../app/.git")
    place = place_of(copy)
    assert place.repository == path_key(common_directory(copy)) == place_of(app).repository
    assert place.worktree == path_key(toplevel(copy)) == path_key(str(copy))


def test_a_worktree_removed_from_inside_the_checkout_is_part_of_the_checkout(tmp_path: Path) -> None:
    app = repository(tmp_path / "app")
    fix = linked_worktree(app, app / ".worktrees" / "fix")
    git(app, "worktree", "remove", fix)
    assert place_of(fix / "src") == place_of(app)


def test_a_directory_deleted_from_a_checkout_is_part_of_the_checkout(tmp_path: Path) -> None:
    app = repository(tmp_path / "app")
    assert place_of(app / "gone" / "deeper") == place_of(app)


def test_a_removed_worktree_is_a_folder_of_its_own_and_never_a_neighbour(tmp_path: Path) -> None:
    app = repository(tmp_path / "app")
    repository(tmp_path / "app-fix2")
    fix = linked_worktree(app, tmp_path / "app-fix")
    git(app, "worktree", "remove", fix)
    place = place_of(fix / "src")
    key = path_key(str(fix / "src"))
    assert place == Place(key, key, str(fix / "src"), str(fix / "src"), kind="folder")


def test_a_worktree_whose_repository_was_moved_still_names_where_it_was(tmp_path: Path) -> None:
    app = repository(tmp_path / "app")
    fix = linked_worktree(app, tmp_path / "app-fix")
    before = place_of(fix)
    app.rename(tmp_path / "app2")
    with pytest.raises(subprocess.CalledProcessError):
        common_directory(fix)
    assert place_of(fix) == before
    git(tmp_path / "app2", "worktree", "repair", fix)
    assert place_of(fix).repository == place_of(tmp_path / "app2").repository != before.repository


def test_a_worktree_whose_entry_was_pruned_still_names_its_repository(tmp_path: Path) -> None:
    app = repository(tmp_path / "app")
    fix = linked_worktree(app, tmp_path / "app-fix")
    shutil.rmtree(app / ".git" / "worktrees")
    assert place_of(fix).repository == place_of(app).repository


def test_a_worktree_of_a_lost_bare_repository_names_it(tmp_path: Path) -> None:
    core = bare_repository(tmp_path / "core.git", repository(tmp_path / "app"))
    worktree = linked_worktree(core, tmp_path / "wt")
    before = place_of(worktree)
    shutil.rmtree(core)
    assert place_of(worktree) == before


@posix
def test_a_worktree_that_another_system_made_keeps_the_name_it_gives(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: C:/Work/Kite/.git/worktrees/fix\n", encoding="utf-8")
    place = place_of(tmp_path)
    assert place.repository == path_key("C:\\Work\\Kite\\.git")
    assert place.repository_path == "C:/Work/Kite"
    assert place.worktree_path == str(tmp_path.resolve())


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"gitdir:", b"gitdir: ", b"kite", b"\xff\xfe\0", b"gitdir: ..", b"gitdir: " + b"a/" * 9_000],
)
def test_a_git_file_with_garbage_is_passed_over(tmp_path: Path, content: bytes) -> None:
    app = repository(tmp_path / "app")
    (app / "sub").mkdir()
    (app / "sub" / ".git").write_bytes(content)
    assert place_of(app / "sub") == place_of(app)


@pytest.mark.parametrize("content", [b"gitdir: \xff\xfe", b"gitdir: a\0b", b"gitdir: a\nb"])
def test_a_git_file_with_an_odd_path_gives_keys_that_can_be_stored(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".git").write_bytes(content)
    place = place_of(tmp_path)
    assert place.worktree == path_key(str(tmp_path))
    assert "\0" not in place.repository.encode("utf-8").decode("utf-8")


def test_an_empty_git_folder_is_passed_over(tmp_path: Path) -> None:
    app = repository(tmp_path / "app")
    (app / "sub" / ".git").mkdir(parents=True)
    assert place_of(app / "sub") == place_of(app)


def test_a_folder_with_a_file_named_head_is_no_bare_repository(tmp_path: Path) -> None:
    (tmp_path / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    (tmp_path / "objects").mkdir()
    assert place_of(tmp_path).kind == "folder"


@posix
def test_a_pipe_named_git_does_not_hold_the_caller(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".git")
    assert place_of(tmp_path).kind == "folder"


def test_a_config_that_points_into_its_own_git_directory_ends(tmp_path: Path) -> None:
    app = repository(tmp_path / "app")
    lib = submodule(app, repository(tmp_path / "source"), "lib")
    gitdir = app / ".git" / "modules" / "lib"
    git(lib, "config", "--file", gitdir / "config", "core.worktree", "refs/heads")
    assert place_of(gitdir / "refs" / "heads").superproject == str(app)


@contextmanager
def as_nobody() -> Iterator[None]:
    """Permissions mean nothing to root, so root steps back for the time of the block."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65_534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@posix
def test_what_may_not_be_read_is_passed_over() -> None:
    base = Path(tempfile.mkdtemp()).resolve()  # not tmp_path: nobody else may enter that
    try:
        app = repository(base / "app")
        base.chmod(0o755)
        (app / ".git").chmod(0)
        with as_nobody():
            assert place_of(app) == Place(str(app), str(app), str(app), str(app), kind="folder")
        app.chmod(0)
        with as_nobody():
            assert place_of(app / "src").kind == "folder"
    finally:
        (base / "app").chmod(0o700)
        (base / "app" / ".git").chmod(0o700)
        shutil.rmtree(base)


def test_git_variables_have_no_effect(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = place_of(work / "app")
    other = {"GIT_DIR": str(work / "apart-git"), "GIT_WORK_TREE": str(work / "apart")}
    fooled = git(work / "app", "rev-parse", "--path-format=absolute", "--git-common-dir", environment=other)
    assert path_key(fooled) != before.repository
    for name, value in other.items():
        monkeypatch.setenv(name, value)
    assert place_of(work / "app") == before


def test_no_git_on_the_path_is_needed(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = place_of(work / "app-fix")
    monkeypatch.setenv("PATH", "")
    assert shutil.which("git") is None
    assert place_of(work / "app-fix") == before


def test_a_plain_directory_beside_a_repository_is_a_folder_of_its_own(work: Path) -> None:
    place = place_of(work / "plain" / "deep")
    key = path_key(str(work / "plain" / "deep"))
    assert place == Place(key, key, str(work / "plain" / "deep"), str(work / "plain" / "deep"), kind="folder")
    assert place_of(work).kind == "folder"


def test_a_file_is_where_its_directory_is(tmp_path: Path) -> None:
    app = repository(tmp_path / "app")
    (app / "README.md").touch()
    assert place_of(app / "README.md") == place_of(app)


@pytest.mark.parametrize(
    "text", ["", ".", "src/kite", "~/app", "vscode-remote://wsl/srv/app", "file:", "/a" * LONGEST_PATH]
)
def test_a_text_that_names_no_directory_is_nowhere_and_not_here(text: str) -> None:
    assert place_of(text) == UNKNOWN


def test_a_file_url_is_the_path_it_stands_for(tmp_path: Path) -> None:
    app = repository(tmp_path / "风筝 app")
    assert place_of(app.as_uri()) == place_of(app)
    assert place_of(app.as_uri().replace("file:///", "file://localhost/")) == place_of(app)


def test_a_file_url_of_a_windows_drive_is_a_windows_path() -> None:
    for url in ("file:///C:/Work/My%20Kite", "file:///c%3A/Work/My%20Kite"):
        assert place_of(url).worktree == path_key("C:\\Work\\My Kite"), url


def test_a_file_url_of_another_machine_is_no_path_of_this_one(tmp_path: Path) -> None:
    app = repository(tmp_path / "app")
    place = place_of(app.as_uri().replace("file:///", "file://harbor/"))
    assert place.kind == "folder"
    assert place.repository != place_of(app).repository


def test_a_project_name_that_agents_write_as_dashes_keeps_its_key(tmp_path: Path) -> None:
    names = ["风筝", "港口", "my_app", "my-app", "b-c", "b/c"]
    keys = {place_of(tmp_path / name).repository for name in names}
    assert len(keys) == len(names)


def test_a_place_costs_less_than_starting_git_would(work: Path) -> None:
    deep = work / "app-fix" / "packages" / "web"
    durations = []
    for _ in range(50):
        start = time.perf_counter()
        place_of(deep)
        durations.append(time.perf_counter() - start)
    assert min(durations) < 0.002  # measured: 0.0001; the least of many, for the machine may be busy


@posix
def test_a_deleted_current_directory_is_none(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    before = Path.cwd()
    os.chdir(gone)
    try:
        assert current_directory() == str(gone.resolve())
        gone.rmdir()
        assert current_directory() is None
        assert place_of("src") == UNKNOWN
        assert path_key("src") == "src"
    finally:
        os.chdir(before)


@posix
def test_the_current_directory_is_the_real_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path / "link")
    monkeypatch.setenv("PWD", str(tmp_path / "link"))
    assert current_directory() == str((tmp_path / "real").resolve())


SPELLINGS = [
    [r"C:\Work\Kite", r"c:\work\kite", r"\\?\C:\Work\Kite", "C:/Work/Kite/", r"C:\Work\\Kite\."],
    [r"C:\Work\Kite", "//?/C:/Work/Kite", r"C:/Work\Kite", r"C:\Work\Harbor\..\Kite"],
    [r"\\?\UNC\srv\share\kite", r"\\srv\share\kite", "\\\\SRV\\Share\\Kite\\", r"\\?\unc\srv\share\kite"],
    ["C:\\", "c:/", "\\\\?\\C:\\"],
    [r"C:\É", r"c:\é", "C:\\E\u0301"],
]


@pytest.mark.parametrize("group", SPELLINGS)
def test_all_spellings_of_a_windows_path_share_one_key(group: list[str]) -> None:
    assert len({path_key(path) for path in group}) == 1
    assert len({path_key(path, windows=True) for path in group}) == 1


def test_different_windows_paths_have_different_keys() -> None:
    paths = [r"C:\Work\Kite", r"D:\Work\Kite", r"C:\Work\Kite2", r"C:\Work-Kite", r"\\srv\work\kite",
             r"\\srv2\work\kite", r"C:\straße", r"C:\strasse"]  # fmt: skip
    assert len({path_key(path) for path in paths}) == len(paths)


def test_a_windows_path_is_shown_as_it_was_written_without_its_prefix() -> None:
    assert readable_path(r"\\?\C:\Work\Kite") == r"C:\Work\Kite"
    assert readable_path(r"\\?\UNC\srv\Share\Kite") == r"\\srv\Share\Kite"
    assert readable_path("C:/Work/Kite") == "C:/Work/Kite"
    assert readable_path("/srv/Kite") == "/srv/Kite"


@posix
def test_a_windows_path_in_a_copied_transcript_is_a_folder() -> None:
    place = place_of(r"\\?\C:\Work\Kite")
    key = path_key(r"c:\work\kite")
    assert place == Place(key, key, r"C:\Work\Kite", r"C:\Work\Kite", kind="folder")


@posix
def test_case_tells_posix_paths_apart() -> None:
    assert path_key("/srv/Kite") != path_key("/srv/kite")
    assert path_key("/a/b-c") != path_key("/a/b/c")


@posix
def test_spellings_of_a_posix_path_share_one_key() -> None:
    for path in ("/srv/kite", "/srv/kite/", "//srv//kite/.", "/srv/x/../kite"):
        assert path_key(path) == "/srv/kite", path
    assert path_key("/srv/e\u0301") == path_key("/srv/é")
    assert path_key("/") == "/"


@posix
def test_a_name_that_is_not_utf8_has_a_key_that_can_be_stored(tmp_path: Path) -> None:
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    try:
        Path(odd).mkdir()
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    place = place_of(odd)
    assert place.worktree.encode("utf-8").endswith(b"caf&#56553;")
    assert place.worktree_path.isprintable()


@settings(deadline=None)
@given(ANY_TEXT | ODD_PATH)
@example("\\\\?\\")
@example("\\\\?\\C:")
@example("C:\\a\\\udcff")
@example("\\\\0\\\0")
def test_the_key_of_a_key_is_the_key(text: str) -> None:
    key = path_key(text)
    assert path_key(key) == key
    key.encode("utf-8")


@given(st.lists(st.text("aZé風ß", min_size=1), min_size=1), st.data())
def test_every_spelling_of_a_windows_path_has_its_key(names: list[str], data: st.DataObject) -> None:
    path = "C:\\" + "\\".join(names)
    swapped = [letter.swapcase() if len(letter.swapcase()) == 1 else letter for letter in path]
    spelled = "".join(data.draw(st.sampled_from([path, path.lower(), "".join(swapped)])))
    spelled = re.sub(r"\\", lambda _: data.draw(st.sampled_from("\\/")), spelled)
    prefix, end = data.draw(st.sampled_from(["", "\\\\?\\"])), data.draw(st.sampled_from(["", "\\", "/"]))
    assert path_key(prefix + spelled + end) == path_key(path)


@settings(deadline=None)
@given(ANY_TEXT | ODD_PATH | (ANY_TEXT | ODD_PATH).map(lambda text: "/" + text))
@example("/tmp/\ud800")
@example("file:///%00%ff")
@example("/" + "a" * 5_000)
def test_any_text_has_a_place_that_can_be_stored(text: str) -> None:
    place = place_of(text)
    assert (place.worktree == "") == (place.kind == "unknown")
    for part in astuple(place):
        assert "\0" not in part
        part.encode("utf-8")
