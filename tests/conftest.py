"""Fixtures for tests of the whole: an isolated home with the two agents' folders, and the real command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import recall

# Laws are about what comes out, not about how fast: on a busy machine an example may take its time.
settings.register_profile("laws", deadline=None)
settings.load_profile("laws")

ROOT = Path(__file__).resolve().parents[1]
COMMAND = (sys.executable, "-m", "recall")


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command printed, and how it ended."""

    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        return self.out.decode("utf-8")

    @property
    def complaint(self) -> str:
        return self.err.decode("utf-8")

    @property
    def document(self) -> Any:
        return json.loads(self.out.decode("utf-8"))


@dataclass(frozen=True, slots=True)
class Home:
    """A person's machine in a temporary folder."""

    root: Path
    """Their home folder."""
    recall: Path
    """Home of recall; not made yet."""
    codex: Path
    """Where Codex keeps its sessions."""
    claude: Path
    """Where Claude Code keeps its projects."""

    def run(
        self,
        *arguments: str | bytes | Path,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Ran:
        """Run `recall` in a process of its own, its output piped and in UTF-8."""
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=cwd or self.root,
            env=self.environment(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment of a process that sees this machine only."""
        return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **(more or {})}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """An empty machine. Nothing of the developer's own sessions, settings or git has an effect."""
    root = (tmp_path / "home").resolve()
    home = Home(root, root / "recall", root / ".codex" / "sessions", root / ".claude" / "projects")
    for folder in (home.codex, home.claude):
        folder.mkdir(parents=True)
    for name in [name for name in os.environ if name.startswith(("GIT_", "XDG_", "RECALL_"))]:
        monkeypatch.delenv(name)
    for name, folder in {
        "HOME": root,
        "USERPROFILE": root,
        "RECALL_HOME": home.recall,
        "CODEX_HOME": home.codex.parent,
        "CLAUDE_CONFIG_DIR": home.claude.parent,
    }.items():
        monkeypatch.setenv(name, str(folder))
    return home


@pytest.fixture
def index(home: Home) -> Iterator[recall.Index]:
    """An empty index in the isolated home."""
    with recall.open() as index:
        yield index


@pytest.fixture
def work(home: Home, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory in which the commands run, on an isolated machine."""
    folder = home.root / "kite"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def old(home: Home) -> Iterator[recall.Index]:
    """An archive from the time of older rules, with its vectors."""
    from hashed import Hashed
    from older import HIDDEN, older_rules, transcripts
    from planted import left_in

    transcripts(home)
    with recall.open(embedder=Hashed()) as index:
        with older_rules():
            assert index.ingest().new_messages == 9
            index.embed()
        assert left_in(home.recall, HIDDEN)["recall.db-wal"].keys() == HIDDEN.keys()
        yield index
