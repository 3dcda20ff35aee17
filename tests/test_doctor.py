from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import apsw
import pytest
from conftest import Home
from repositories import bare_repository, repository

import recall
from recall import Message, Session
from recall.cli.doctor import NAMED, SAMPLE, Check, doctor_document, doctor_text, examine, is_well
from recall.embedding import Embedder
from recall.minilm import MiniLM

CHINESE, ENGLISH = "灯塔密钥每周五轮换，由值班同学处理", "The lantern key is rotated every Friday."
NAMES = ["configuration", "engine", "home", "database", "index", "model", "vectors", "old vectors"]
NAMES += ["transcripts", "redaction", "repositories", "languages"]


@pytest.fixture
def folder(home: Home) -> Path:
    """The home of recall, with a session of two messages in it; without vectors."""
    fill(home.recall, [ENGLISH, "Why on Friday?"])
    return home.recall


def fill(folder: Path, texts: Sequence[str], name: str = "lantern", cwd: str | Path = "") -> None:
    with recall.open(folder) as index:
        index.add(Session(name, cwd=str(cwd), messages=tuple(Message("assistant", text) for text in texts)))


class Earlier(MiniLM):
    """A model whose vectors cannot be compared with those of the bundled one."""

    name = "an earlier model"


def embed(folder: Path, model: Embedder | None = None) -> None:
    with recall.open(folder, model) as index:
        index.embed()


def configure(folder: Path, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(text, encoding="utf-8")


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# All of it


def test_a_healthy_home_is_well_in_every_respect(folder: Path) -> None:
    embed(folder)
    checks = examine(folder)
    assert list(checks) == NAMES
    assert {name: check.state for name, check in checks.items() if check.state != "ok"} == {}
    assert {check.remedy for check in checks.values()} == {""}


def test_looking_changes_nothing(folder: Path) -> None:
    configure(folder, 'model = "BAAI/bge-small-zh-v1.5"\n')
    before = files(folder)
    examine(folder)
    assert files(folder) == before
    assert not (folder / "models").exists()


def test_a_home_that_does_not_exist_yet_is_not_made(home: Home) -> None:
    checks = examine(home.recall)
    assert (checks["database"].state, checks["database"].remedy) == ("warning", "recall ingest")
    assert is_well(checks)
    assert "vectors" not in checks
    assert not home.recall.exists()


def test_the_document_says_for_each_check_what_was_found_and_what_to_do(folder: Path) -> None:
    document = doctor_document(folder, examine(folder))
    assert list(document) == ["timestamp", "home", "state", "checks"]
    assert (document["home"], document["state"]) == (str(folder), "warning")
    assert [check["name"] for check in document["checks"]] == NAMES
    for check in document["checks"]:
        assert list(check) == ["name", "state", "found", "remedy"]
        assert check["found"]
        assert bool(check["remedy"]) == (check["state"] != "ok")


def test_the_worst_state_is_that_of_the_whole(folder: Path) -> None:
    checks = {"a": Check("ok", "x"), "b": Check("problem", "y", "z"), "c": Check("warning", "w", "v")}
    assert doctor_document(folder, checks)["state"] == "problem"
    assert not is_well(checks)


def test_a_person_reads_a_line_a_check_and_the_remedy_below_it(folder: Path) -> None:
    lines = doctor_text(folder, examine(folder)).splitlines()
    (place,) = (place for place, line in enumerate(lines) if line.startswith("warning  vectors"))
    assert lines[place + 1].strip() == "→ recall embed"
    assert lines[0] == f"home: {folder}"
    assert lines[-1] == "0 problems, 1 warning"


def test_the_command_ends_with_0_where_nothing_is_a_problem_and_with_1_otherwise(home: Home, folder: Path) -> None:
    well = home.run("doctor", "--json")
    assert (well.code, well.document["state"], well.err) == (0, "warning", b"")
    (folder / "recall.db").write_bytes(b"no database " * 100)
    ill = home.run("doctor")
    assert (ill.code, ill.err) == (1, b"")
    assert "problem  database" in ill.text


# One by one


def test_a_configuration_that_cannot_be_read_keeps_no_other_check_from_being_made(folder: Path) -> None:
    configure(folder, "model = [\n")
    checks = examine(folder)
    assert checks["configuration"].state == "problem"
    assert "config.toml" in checks["configuration"].found
    assert checks["configuration"].remedy == "mend it, or move it away"
    assert checks["database"].state == "ok"
    assert "model" not in checks


def test_a_python_without_sqlite_vec_is_a_problem_with_a_remedy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embed(folder)
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    checks = examine(folder)
    assert checks["engine"].state == "problem"
    assert "sqlite-vec" in checks["engine"].found
    assert checks["engine"].remedy.startswith("reinstall it with: pip install")
    assert checks["vectors"].state == "ok"


def test_a_file_that_is_no_database_is_a_problem(folder: Path) -> None:
    (folder / "recall.db").write_bytes(b"no database " * 1_000)
    checks = examine(folder)
    assert checks["database"].state == "problem"
    assert "is not a database" in checks["database"].found
    assert "doctor --fix" in checks["database"].remedy
    assert "vectors" not in checks


def test_a_damaged_page_is_found_and_said_to_be_worth_a_copy(folder: Path) -> None:
    fill(folder, [f"{ENGLISH} {number}" * 20 for number in range(200)], "long")
    content = bytearray((folder / "recall.db").read_bytes())
    page = len(content) // 4096 // 2 * 4096
    content[page : page + 4096 * 8] = b"\xab" * 4096 * 8
    (folder / "recall.db").write_bytes(content)
    checks = examine(folder)
    assert checks["database"].state == "problem"
    assert "is damaged" in checks["database"].found
    assert "doctor --fix" in checks["database"].remedy
    assert checks["model"].state == "ok"


@pytest.mark.parametrize(
    ("schema", "state", "remedy"), [(1, "warning", "recall status"), (999, "problem", "pip install --upgrade")]
)
def test_a_database_of_another_version_is_left_as_it_is(folder: Path, schema: int, state: str, remedy: str) -> None:
    connection = apsw.Connection(str(folder / "recall.db"))
    connection.execute(f"pragma user_version = {schema}")
    connection.close()
    checks = examine(folder)
    assert checks["database"].state == state
    assert f"schema {schema}" in checks["database"].found
    assert checks["database"].remedy.startswith(remedy)
    assert "vectors" not in checks
    connection = apsw.Connection(str(folder / "recall.db"))
    assert connection.execute("pragma user_version").fetchall() == [(schema,)]
    connection.close()


def test_a_database_that_may_not_be_written_is_a_problem(folder: Path) -> None:
    (folder / "recall.db").chmod(0o400)
    if os.access(folder / "recall.db", os.W_OK):
        pytest.skip("this user may write everywhere")
    check = examine(folder)["database"]
    assert (check.state, "RECALL_HOME" in check.remedy) == ("problem", True)


def test_a_writer_at_work_is_no_problem(folder: Path) -> None:
    with recall.open(folder) as index, index.database.write():
        assert examine(folder)["database"].state == "ok"


@pytest.mark.parametrize(
    ("model", "found", "remedy"),
    [
        ("BAAI/bge-small-zh-v1.5", "not on this machine", "recall embed"),
        ("no/such-model", "fastembed knows no model", "minilm"),
    ],
)
def test_a_model_that_cannot_be_used_is_a_problem(folder: Path, model: str, found: str, remedy: str) -> None:
    configure(folder, f'model = "{model}"\n')
    check = examine(folder)["model"]
    assert check.state == "problem"
    assert model in check.found
    assert found in check.found
    assert remedy in check.remedy


def test_passages_that_lack_a_vector_are_counted(folder: Path) -> None:
    assert examine(folder)["vectors"].state == "warning"
    assert "2 of 2 passages" in examine(folder)["vectors"].found
    assert examine(folder)["vectors"].remedy == "recall embed"
    embed(folder)
    fill(folder, ["The wick was too short."], "wick")
    assert "1 of 3 passages" in examine(folder)["vectors"].found


def test_vectors_of_another_model_are_named_with_their_number(folder: Path) -> None:
    embed(folder, Earlier())
    checks = examine(folder)
    assert checks["vectors"].state == "warning"
    assert checks["old vectors"].state == "warning"
    assert "2 vectors of an earlier model" in checks["old vectors"].found
    assert checks["old vectors"].remedy.startswith("recall embed, which removes them once no vector of all-MiniLM")
    embed(folder)
    assert (examine(folder)["vectors"].state, examine(folder)["old vectors"].state) == ("ok", "ok")


def test_transcripts_that_could_not_be_read_are_named_as_far_as_that_helps(folder: Path, tmp_path: Path) -> None:
    broken = [tmp_path / f"{number}.jsonl.zst" for number in range(NAMED + 2)]
    for path in broken:
        path.write_bytes(b"no zstd")
    with recall.open(folder) as index:
        index.ingest(broken)
    check = examine(folder)["transcripts"]
    assert check.state == "warning"
    assert f"{len(broken)} of {len(broken)} transcripts" in check.found
    assert sum(path.name in check.found for path in broken) == NAMED
    assert "and 2 more" in check.found
    assert "recall ingest" in check.remedy


def test_sessions_of_git_repositories_that_are_gone_are_counted_and_lost_folders_are_not(
    folder: Path, tmp_path: Path
) -> None:
    kept, gone, plain = repository(tmp_path / "kept"), repository(tmp_path / "gone"), tmp_path / "plain"
    bare = bare_repository(tmp_path / "core.git", kept)
    plain.mkdir()
    for name, cwd in {"a": kept, "b": gone, "c": gone / "src", "d": plain, "e": bare}.items():
        fill(folder, [ENGLISH], name, cwd)
    assert examine(folder)["repositories"].state == "ok"
    for place in (gone, plain, bare):
        shutil.rmtree(place)
    check = examine(folder)["repositories"]
    assert check.state == "warning"
    assert "3 sessions" in check.found
    assert str(gone) in check.found
    assert str(bare) in check.found
    assert str(plain) not in check.found
    assert str(kept) not in check.found
    assert "--repo" in check.remedy
    with recall.open(folder) as index:
        assert {session.id for session in index.recent(recall.Scope.repository(gone))} == {"b", "c"}


@pytest.mark.skipif(os.name == "nt", reason="no folder can have such a name there")
def test_text_of_transcripts_cannot_command_the_terminal(folder: Path, tmp_path: Path) -> None:
    gone = repository(tmp_path / "go\x1b[31mne")
    fill(folder, [ENGLISH], "a", gone)
    shutil.rmtree(gone)
    assert "\x1b" not in doctor_text(folder, examine(folder))


# Languages


def test_an_archive_with_much_chinese_is_no_place_for_a_model_that_reads_english_only(folder: Path) -> None:
    fill(folder, [f"{CHINESE}{number}" for number in range(2)], "chinese")
    check = examine(folder)["languages"]
    assert check.state == "warning"
    assert "of the latest 4 messages, 50%" in check.found
    assert "Chinese only through a glossary of programming terms" in check.found
    assert check.remedy == "with a network: recall model use BAAI/bge-small-zh-v1.5, then recall embed"


@pytest.mark.parametrize(("model", "state"), [("BAAI/bge-small-zh-v1.5", "ok"), ("BAAI/bge-small-en-v1.5", "warning")])
def test_what_counts_is_what_the_chosen_model_reads(folder: Path, model: str, state: str) -> None:
    fill(folder, [CHINESE], "chinese")
    configure(folder, f'model = "{model}"\n')
    check = examine(folder)["languages"]
    assert check.state == state
    assert "glossary" not in check.found


@pytest.mark.parametrize(("count", "state"), [(1, "ok"), (2, "warning")])
def test_a_tenth_of_chinese_messages_is_tolerated(home: Home, count: int, state: str) -> None:
    texts = [f"{CHINESE}{number}" for number in range(count)] + [f"{ENGLISH} {n}" for n in range(10 - count)]
    fill(home.recall, texts)
    assert examine(home.recall)["languages"].state == state


def test_only_the_latest_messages_count_and_neither_tools_nor_subagents(home: Home) -> None:
    with recall.open(home.recall) as index:
        index.add(Session("old", messages=tuple(Message("user", f"{CHINESE}{n}") for n in range(SAMPLE // 2))))
        loud = [Message("tool", CHINESE, tool="shell"), Message("assistant", CHINESE, subagent=True)]
        said = [Message("user", f"{ENGLISH} {number}") for number in range(SAMPLE)]
        index.add(Session("new", messages=(*loud, *said)))
    assert examine(home.recall)["languages"].found.startswith(f"of the latest {SAMPLE} messages, 0%")


def test_a_check_loads_no_model_that_is_not_asked_for(home: Home, folder: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from recall.cli.doctor import examine; examine(Path(sys.argv[1]));"
        "print({'fastembed'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], env=home.environment(), capture_output=True, check=True
    )
    assert done.stdout.strip() == b"set()"
