"""A session made by the real Codex, against a scripted model on loopback."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import recall

RUN_AGENT = Path(__file__).parents[3] / "shared" / "lab" / "run-agent"
QUESTION = "why is the lantern cache cold in the morning?"
PROMPT = (
    "DO_SHELL please find out why the lantern cache is cold. SAY:The lantern cache is cold: the key rotates on Fridays."
)


@pytest.fixture(scope="module")
def codex_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which Codex ran one session in the repository `kite`, beside the repository `harbor`."""
    if not RUN_AGENT.is_file():
        pytest.skip("the agent lab is not on this machine")
    for tool in ("npm", "unshare", "ip", "git"):
        if shutil.which(tool) is None:
            pytest.skip(f"the agent lab needs {tool}, which is not on this machine")
    root = tmp_path_factory.mktemp("real codex 风筝")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    for name in ("kite", "harbor"):
        subprocess.run(["git", "init", "-q", str(root / name)], check=True, env=environment)
    done = subprocess.run(
        [str(RUN_AGENT), "codex", str(root / "home"), "--", "exec", "--skip-git-repo-check", PROMPT],
        cwd=root / "kite",
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=540,
        check=False,
    )
    if "npm" in done.stderr and not list((root / "home").rglob("rollout-*.jsonl")):
        pytest.skip(f"Codex cannot be installed here: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stderr[-2000:]
    return root


def test_a_session_of_the_real_codex_is_found_in_its_repository_and_not_from_a_neighbour(codex_home: Path) -> None:
    with recall.open(codex_home / "recall") as index:
        report = index.ingest([codex_home / "home" / ".codex" / "sessions"])
        index.embed()
        here = index.search(QUESTION, scope=recall.Scope.repository(codex_home / "kite"))
        neighbour = index.search(QUESTION, scope=recall.Scope.repository(codex_home / "harbor"))

    assert [file.status for file in report.files] == ["new"]
    assert report.files[0].skipped_lines == {}
    assert "key rotates on Fridays" in here[0].snippet.text
    assert here[0].session.agent == "codex"
    assert here[0].resume == f"codex resume {here[0].session.id}"
    assert here.mode == "hybrid"
    assert here.confidence == "strong"
    assert len(neighbour) == 0


def test_what_the_real_codex_ran_is_found_and_what_it_injected_is_not(codex_home: Path) -> None:
    with recall.open(codex_home / "recall") as index:
        index.ingest([codex_home / "home" / ".codex" / "sessions"])
        scope = recall.Scope.repository(codex_home / "kite")
        command = index.search("hello-from-tool", scope=scope, mode="lexical")
        injected = index.search("filesystem sandboxing permissions instructions", scope=scope, mode="lexical")
        said_by_a_person = index.recent(scope)[0].preview

    assert {hit.role for hit in command} == {"tool"}
    assert len(injected) == 0
    assert said_by_a_person.startswith("DO_SHELL please find out")
