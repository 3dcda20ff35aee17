"""Git layouts for tests, each made by the real git.

Every function takes paths and returns the real path of what it made. Nothing of the developer's own git
configuration, and no GIT_* variable, has an effect.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_SETTINGS = {
    "user.name": "Ana",
    "user.email": "ana@kite.example",
    "init.defaultBranch": "main",
    "protocol.file.allow": "always",
    "commit.gpgSign": "false",
}


def git(directory: Path, *arguments: str | Path, environment: dict[str, str] | None = None) -> str:
    """What git prints, without the last line end. Raises CalledProcessError when it fails."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    kept |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
    done = subprocess.run(
        ["git", *settings, *map(str, arguments)],
        cwd=directory,
        env=kept | (environment or {}),
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    return done.stdout.rstrip("\n")


def repository(path: Path) -> Path:
    """A checkout with one commit on `main`."""
    path.mkdir(parents=True, exist_ok=True)
    git(path, "init", "--quiet")
    commit(path)
    return path.resolve()


def commit(checkout: Path, message: str = "start") -> None:
    """One more commit, without a change to any file."""
    git(checkout, "commit", "--quiet", "--allow-empty", "--message", message)


def bare_repository(path: Path, source: Path) -> Path:
    """A bare clone of a repository."""
    git(source, "clone", "--quiet", "--bare", source, path.absolute())
    return path.resolve()


def linked_worktree(checkout: Path, path: Path) -> Path:
    """A worktree of a checkout or of a bare repository, on a new branch that is named after the folder."""
    git(checkout, "worktree", "add", "--quiet", "-b", path.name, path.absolute())
    return path.resolve()


def submodule(superproject: Path, source: Path, name: str) -> Path:
    """A clone of `source` as a submodule at the relative path `name`, committed."""
    git(superproject, "submodule", "--quiet", "add", source, name)
    git(superproject, "commit", "--quiet", "--message", f"add {name}")
    return (superproject / name).resolve()


def separate_git_directory(checkout: Path, gitdir: Path) -> Path:
    """A checkout with one commit whose git directory stands elsewhere."""
    checkout.mkdir(parents=True)
    git(checkout, "init", "--quiet", "--separate-git-dir", gitdir.absolute())
    commit(checkout)
    return checkout.resolve()


def common_directory(directory: Path) -> str:
    """What git itself says is the repository: the same text in all its worktrees."""
    return git(directory, "rev-parse", "--path-format=absolute", "--git-common-dir")


def toplevel(directory: Path) -> str:
    """What git itself says is the root of the worktree. Fails in a bare repository."""
    return git(directory, "rev-parse", "--path-format=absolute", "--show-toplevel")
