"""A home that can only be read: what is in it is found, and what cannot be done is said."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from conftest import Home

import recall
from recall import Message, Session

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")

_AS_NOBODY = """
import contextlib, io, os, sys, tempfile
import recall.cli
home, os.environ["RECALL_HOME"] = os.environ["RECALL_HOME"], tempfile.mkdtemp()
with recall.open() as index:
    index.add(recall.Session("a", messages=(recall.Message("user", "lantern"),)))
arguments, sys.argv[1:] = sys.argv[1:], ["doctor"]
for sys.argv[1:] in (["embed"], ["search", "--all", "lantern"], arguments):
    # Loads all it needs, which another user may not be allowed to.
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()), \
            contextlib.redirect_stderr(io.StringIO()):
        recall.cli.main()
os.environ["RECALL_HOME"] = home
if os.getuid() == 0:
    os.setuid(65534)
sys.argv[1:] = arguments
recall.cli.main()
"""


def as_nobody(home: Home, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _AS_NOBODY, *arguments],
        env=home.environment({"RECALL_HOME": str(folder), "CODEX_HOME": "/nowhere", "CLAUDE_CONFIG_DIR": "/nowhere"}),
        cwd="/",
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )


@pytest.mark.parametrize("folder_mode", [0o555, 0o755])
def test_a_search_answers_and_says_that_nothing_new_is_taken_in_and_a_writer_is_told_why(
    home: Home, folder_mode: int
) -> None:
    # Not in tmp_path: where the tests run as root, another user opens the file, who cannot enter that.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with recall.open(folder) as index:
            index.add(Session("s", messages=(Message("user", "the lantern is lit at dusk"),)))
            index.embed()
        before = {file: file.read_bytes() for file in folder.iterdir()}
        for file in before:
            file.chmod(0o444)
        folder.chmod(folder_mode)
        # By words: where the library is installed for one user alone, another one cannot load its extension.
        found = as_nobody(home, folder, "search", "--all", "--mode", "lexical", "lantern")
        forgot = as_nobody(home, folder, "forget", "--session", "s", "--yes")
        folder.chmod(0o755)
        assert {file: file.read_bytes() for file in folder.iterdir()} == before
    assert (found.returncode, "the lantern is lit at dusk" in found.stdout) == (0, True), found.stderr
    assert found.stderr == f"recall: {folder / 'recall.db'} can only be read: new sessions are not taken in\n"
    assert (forgot.returncode, forgot.stderr.count("\n")) == (1, 1), forgot.stderr
    assert "make it writable, or set RECALL_HOME" in forgot.stderr
