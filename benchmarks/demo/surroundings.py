"""What the demo runs in: two small git repositories, and the environment of a user who has nothing else."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

INHERITED_NOT = ("GIT_", "RECALL_", "CODEX_", "CLAUDE", "XDG_")
"""Beginnings of variables that would bring in the caller's own repository, index, sessions or settings."""


class DemoError(Exception):
    """A step did not do what it should: the message says which and why."""


def environment_of(root: Path, inherited: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment with every home moved below `root`: nothing of the caller's is read."""
    kept = {name: value for name, value in inherited.items() if not name.startswith(INHERITED_NOT)}
    package = str(Path(__file__).resolve().parents[2])
    return kept | {
        "RECALL_HOME": str(root / "home"),
        # `recall search` first takes in what is new in the agents' folders: here, the invented ones.
        "CODEX_HOME": str(root / "agents" / "codex"),
        "CLAUDE_CONFIG_DIR": str(root / "agents" / "claude"),
        "HOME": str(root / "user"),
        "USERPROFILE": str(root / "user"),
        # Packages that are installed for the user only are found through HOME otherwise.
        "PYTHONUSERBASE": site.getuserbase(),
        "PYTHONPATH": os.pathsep.join(filter(None, [package, inherited.get("PYTHONPATH", "")])),
        "PYTHONUTF8": "1",
    }


def make_repositories(root: Path, environment: Mapping[str, str]) -> None:
    """Two repositories, `shop` and `notes`, and the linked worktree `shop-fix` of the first."""
    git = shutil.which("git")
    if git is None:
        raise DemoError("found no git on the PATH; the demo makes two small repositories with it, please install it")
    author = ["-c", "user.name=Demo", "-c", "user.email=demo@example.com"]
    for name in ("shop", "notes"):
        (root / name).mkdir()
        output_of([git, "-c", "init.defaultBranch=main", "init", "-q"], root / name, environment)
        commit = ["commit", "-q", "--allow-empty", "-m", "Begin"]
        output_of([git, *author, *commit], root / name, environment)
    output_of([git, "worktree", "add", "-q", "-b", "fix/csv-gbk", "../shop-fix"], root / "shop", environment)


def output_of(
    command: Sequence[str], directory: Path, environment: Mapping[str, str], stderr: int = subprocess.PIPE
) -> str:
    """What the command prints; DemoError with what it said where it does not end well."""
    done = subprocess.run(
        command,
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        raise DemoError(f"{' '.join(command)} ended with exit status {done.returncode}: {said}")
    return done.stdout
