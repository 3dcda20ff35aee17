"""Which repository and which worktree a directory belongs to.

Git is not run, its files are read: it may not be on PATH, it follows GIT_DIR, which hooks and aliases set, it
refuses directories of another user, and it costs milliseconds for each directory that a session names. See
gitrepository-layout(5): a `.git` file names a git directory, `commondir` there names the one that all its
worktrees share, and `gitdir` there names the worktree's `.git` file.
"""

from __future__ import annotations

import ntpath
import os
import re
import stat
import unicodedata
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal
from urllib.parse import unquote_to_bytes

from recall.spelling import spelled_here, this_system, true_case

LONGEST_PATH = 1024
"""Characters. A longer text is no directory an agent ran in; to walk up 4,096 of `/a/a/…` took 0.13 s."""

_FILE_BYTES = 65_536
_HERE = this_system()
_HERE_IS_WINDOWS = _HERE == "windows"
_DRIVE, _SHARE = r"[A-Za-z]:[\\/]", r"[^\\/]+[\\/][^\\/]"
_WINDOWS = re.compile(rf"{_DRIVE}|\\\\{_SHARE}|//\?/(?:{_DRIVE}|UNC[\\/]{_SHARE})", re.IGNORECASE)
_VERBATIM = re.compile(rf"[\\/]{{2}}\?[\\/](?:(?={_DRIVE})|(UNC)[\\/](?={_SHARE}))", re.IGNORECASE)
_POSIX = re.compile(r"/(?!/)")
_FILE_URL = re.compile(r"file://([^/]*)(?=/)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session ran. `repository` and `worktree` are for comparing, the paths are for people."""

    repository: str
    """Key of git's common directory, equal in all worktrees; of the folder itself outside git."""
    worktree: str
    """Key of the root of the worktree."""
    repository_path: str
    """The main checkout; the repository itself where that is bare."""
    worktree_path: str
    kind: Literal["git", "folder", "unknown"]
    superproject: str = ""
    """Readable path of the checkout this one is a submodule of; empty for any other repository."""


UNKNOWN = Place("", "", "", "", kind="unknown")
"""Where a session ran whose transcript names no directory: in no repository and no worktree."""


def current_directory() -> str | None:
    """Real path of the current directory; None when it was deleted."""
    try:
        return str(Path.cwd())
    except OSError:
        return None


def place_of(directory: str | Path) -> Place:
    """The place that a directory, or a `file:` URL of one, belongs to. Never raises.

    A directory that is gone belongs to the checkout that held it; where none did, it is a folder of its own.
    `UNKNOWN` for no path, and for a relative one: nobody knows any more what it was relative to.
    """
    text = spelled_here(_without_url(str(directory)), _HERE)
    if len(text) > LONGEST_PATH or not (text.startswith("/") or _WINDOWS.match(text)):
        return UNKNOWN
    if is_windows_path(text) == _HERE_IS_WINDOWS:
        start = Path(_resolved(text))
        for folder in (start, *start.parents):
            place = _git_place(folder)
            if place is not None:
                return place
        text = str(start)
    key, path = path_key(text), readable_path(text)
    return Place(key, key, path, path, kind="folder")


def real_path(path: str) -> str:
    """An absolute path as this system spells it, links followed as far as it exists; one of another system as it is."""
    path = spelled_here(path, _HERE)
    return readable_path(_resolved(path) if is_windows_path(path) == _HERE_IS_WINDOWS else path)


def is_below(key: str, folder: str) -> bool:
    """Whether a path is the folder or something inside it; both as `path_key` gives them."""
    return key == folder or key.startswith((folder.rstrip("/") + "/", folder.rstrip("\\") + "\\"))


def is_there(key: str, path: str) -> bool:
    """Whether a repository, or a plain folder, still is where it was; true where nobody can tell.

    key: as in `Place.repository`. path: its readable path, which may be spelled otherwise than the key.
    """
    if "[REDACTED:" in key:
        return True
    try:
        # Where a link stands in its place now, the repository is what the link leads to.
        return (Path(key).exists() and path_key(key) == key) or (
            Path(path).exists() and place_of(path).repository == key
        )
    except (OSError, ValueError):  # a folder that may not be looked into
        return True


def common_directory(place: Place) -> Path | None:
    """Git's common directory of a place; None where that is not there, or the place is none of git's."""
    if place.kind != "git":
        return None
    named = _git_directory(Path(place.repository_path))
    for folder in (Path(place.repository), Path(place.repository_path), *([named] if named else [])):
        if _is_git_directory(folder) and path_key(str(folder)) == place.repository:
            return folder
    return None


def linked_worktrees(common: Path, limit: int) -> list[tuple[Path, str]]:
    """(git directory, path) of the linked worktrees of a repository as git last saw them, at most `limit`."""
    try:
        with os.scandir(common / "worktrees") as entries:
            folders = [Path(entry.path) for entry in islice(entries, limit)]
    except OSError:
        return []
    named = ((folder, _text(folder / "gitdir")) for folder in folders)
    # Git writes real paths, or since 2.48 on request relative ones: to follow links took ten times as long.
    return [
        (folder, os.path.dirname(text if os.path.isabs(text) else _joined(folder, text)))  # noqa: PTH120, PTH117
        for folder, text in named
        if text and len(text) <= LONGEST_PATH
    ]


def repository_named_by(worktree: Path, unless: Path) -> str:
    """Key of the repository that a worktree's `.git` file names, there or not; empty where it names that directory."""
    if _text(worktree / ".git") == f"gitdir: {unless.as_posix()}":
        return ""
    place = _git_place(worktree)
    return place.repository if place else ""


def git_text(file: Path) -> str:
    """Content of one of git's small files, without its last line end; empty for one that cannot be read."""
    return _text(file)


def path_key(path: str, *, windows: bool | None = None) -> str:
    r"""One text for all spellings of a path, for comparing only; empty for an empty path. Never raises.

    Links are followed as far as the path exists, and no separator is at the end. Windows paths are compared
    without case and without `\\?\`. A path of the other system, in a transcript copied here, is only text.
    """
    if not path:
        return ""
    if windows is None:
        path = spelled_here(path, _HERE)
        windows = is_windows_path(path)
    if windows == _HERE_IS_WINDOWS:
        path = _resolved(path)
    return key_as_written(path, windows=windows)


def key_as_written(path: str, *, windows: bool = _HERE_IS_WINDOWS) -> str:
    """`path_key` of a path without links, which is not looked at."""
    path = unicodedata.normalize("NFC", readable_path(path))
    if not windows:
        return path.rstrip("/") or "/"
    path = ntpath.normpath(path.replace("/", "\\"))
    # Only where one code point becomes one: `ß` and `ss` are two names to Windows, `É` and `é` are one.
    path = "".join(lower if len(lower := letter.lower()) == 1 else letter for letter in path)
    path = unicodedata.normalize("NFC", path)
    return path if path.endswith(":\\") else path.rstrip("\\")


def readable_path(path: str) -> str:
    r"""The path as people write it, without `\\?\`, and as a text that can be stored and printed.

    A byte that is not UTF-8 becomes `&#56553;`, a NUL `&#0;`: a backslash would divide a Windows path.
    """
    if prefix := _VERBATIM.match(path):
        path = ("\\\\" if prefix[1] else "") + path[prefix.end() :]
    return path.replace("\0", "&#0;").encode("utf-8", "xmlcharrefreplace").decode("utf-8")


def _without_url(text: str) -> str:
    url = _FILE_URL.match(text)
    if url is None:
        return text
    path = unquote_to_bytes(text[url.end() :]).decode("utf-8", "surrogateescape")
    if url[1].casefold() not in {"", "localhost"}:
        # Another machine's path must not be taken for the same path here.
        return f"\\\\{url[1]}" + path.replace("/", "\\")
    return path[1:] if _WINDOWS.match(path, 1) else path


def is_windows_path(path: str) -> bool:
    """Whether a path is written as Windows writes them."""
    return _WINDOWS.match(path) is not None or (_HERE_IS_WINDOWS and _POSIX.match(path) is None)


def _resolved(path: str) -> str:
    for spelling in (path, readable_path(path)):
        try:
            real = os.path.realpath(spelling)
            return real if _HERE_IS_WINDOWS else true_case(real)  # Windows gives it by itself
        except (OSError, ValueError):
            # Half a surrogate pair or a NUL; or a relative path, when the current directory is gone.
            continue
    return os.path.normpath(path)


def _git_place(folder: Path) -> Place | None:
    """The place whose worktree has its root at the folder, or whose git directory the folder is."""
    gitdir = _git_directory(folder)
    # One that is gone was moved, or its disk is not mounted: its name still says whose worktree this is.
    if gitdir is not None and (_is_git_directory(gitdir) or not _mode(gitdir)):
        worktree = folder
    elif _is_git_directory(folder):
        gitdir, worktree = folder, _worktree_of(folder)
    else:
        return None
    common = _common_directory(gitdir)
    main = worktree if common == gitdir else _main_checkout(common)
    return Place(
        repository=path_key(str(common)),
        worktree=path_key(str(worktree)),
        repository_path=readable_path(str(main)),
        worktree_path=readable_path(str(worktree)),
        kind="git",
        superproject=_superproject(common),
    )


def _is_git_directory(folder: Path) -> bool:
    """Git's own test, whatever the name."""
    if not os.path.lexists(folder / "HEAD"):  # lexists: HEAD may be a link to a branch without commits
        return False
    if stat.S_ISREG(_mode(folder / "commondir")):
        return True
    return stat.S_ISDIR(_mode(folder / "objects")) and stat.S_ISDIR(_mode(folder / "refs"))


def _git_directory(folder: Path) -> Path | None:
    """The `.git` directory in the folder, or what a `.git` file there names, whether it exists or not."""
    entry = folder / ".git"
    if stat.S_ISDIR(_mode(entry)):
        return Path(_resolved(str(entry)))
    text = _text(entry)
    named = text.removeprefix("gitdir: ")
    return _joined(folder, named) if named and named != text and len(named) <= LONGEST_PATH else None


def _common_directory(gitdir: Path) -> Path:
    named = _text(gitdir / "commondir")
    if named:
        return _joined(gitdir, named)
    if gitdir.parent.name == "worktrees" and not _mode(gitdir):
        return gitdir.parent.parent
    return gitdir


def _main_checkout(common: Path) -> Path:
    """Root of the main worktree, seen from any other; the git directory itself where it has none."""
    if common.name == ".git":
        return common.parent
    for name in ("config.worktree", "config"):
        if named := _core_worktree(_text(common / name)):
            return _joined(common, named)
    # `app/.bare` with `app/.git` naming it, a common layout for worktrees side by side.
    return common.parent if _git_directory(common.parent) == common else common


def _worktree_of(gitdir: Path) -> Path:
    common = _common_directory(gitdir)
    backlink = _text(gitdir / "gitdir") if common != gitdir else ""
    return _joined(gitdir, backlink).parent if backlink else _main_checkout(common)


def _superproject(common: Path) -> str:
    """A submodule's git directory is `modules/<name>` in its superproject's; the name may have slashes."""
    for folder in common.parents:
        outer = folder.parent
        if folder.name == "modules" and (outer.name == ".git" or _is_git_directory(outer)):
            return readable_path(str(_worktree_of(outer)))
    return ""


def _core_worktree(config: str) -> str:
    """`core.worktree` of a git configuration, which names a submodule's checkout; empty when not set."""
    section = value = ""
    for line in config.splitlines():
        name, _, text = line.strip().partition("=")
        if name.startswith("["):
            section = name.casefold()
        elif section == "[core]" and name.strip().casefold() == "worktree":
            value = re.sub(r'\\(["\\])|"', lambda quoted: quoted[1] or "", text.strip())
    return value


def _joined(base: Path, text: str) -> Path:
    """The path that a file in `base` names, links followed."""
    # A worktree that git for Windows made, seen from WSL, names `C:/…`: that is no folder below this one.
    text = spelled_here(text, _HERE)
    foreign = is_windows_path(text) != _HERE_IS_WINDOWS and _WINDOWS.match(text)
    return Path(text) if foreign else Path(_resolved(str(base / text)))


def _mode(path: Path) -> int:
    """Type and permissions; 0 for what is not there or may not be looked at."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0


def _text(path: Path) -> str:
    """Content of a file without its last line end; empty for anything else, as a FIFO, which would block."""
    if not stat.S_ISREG(_mode(path)):
        return ""
    try:
        with path.open("rb") as file:
            return file.read(_FILE_BYTES).decode("utf-8", "surrogateescape").rstrip("\r\n")
    except (OSError, ValueError):
        return ""
