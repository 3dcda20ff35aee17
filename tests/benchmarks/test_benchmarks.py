"""Each benchmark runs on three questions, so that it cannot rot. All sets are invented."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from result_files import RESULT, assert_interval, assert_units, markdown_tables, read_result
from transcript_lines import at, cl, cl_call, claude_lines, uid, write

from benchmarks import embedding, no_answer, retrieval, worth
from benchmarks.datasets import load
from recall.minilm import MiniLM

ROOT = Path(__file__).resolve().parents[2]

KITCHEN = {
    ("bread", "monday"): {
        "The sourdough starter died because the flour was bleached.": "why did the sourdough starter die",
        "We moved the oven rack down and the crust stopped burning.": "how did we stop the crust from burning",
    },
    ("cellar", "tuesday"): {
        "The barrel leaked at the bung until we soaked the oak overnight.": "what made the barrel stop leaking"
    },
}
HARBOUR = {
    ("pier", "wednesday"): {
        "The crane motor overheats when the tide sensor reports twice a second.": "crane motor overheating",
        "Fog signals are now sent over the spare radio channel.": "which channel sends fog signals",
    },
    ("buoys", "thursday"): {"Buoy seven drifted since its chain shackle had rusted.": "why did buoy seven drift"},
}
TEA = {
    ("茶园", "星期一"): {
        "春茶采摘推迟了一周，因为三月下了霜。": "春茶采摘为什么推迟",
        "炒锅温度降到二百度以后，茶叶不再发苦。": "茶叶发苦是怎么解决的",
    },
    ("茶馆", "星期二"): {"账本对不上，是因为退货记了两次。": "账本为什么对不上"},
}
Content = dict[tuple[str, str], dict[str, str]]


def write_set(folder: Path, content: Content) -> None:
    """A data set in BEIR form from (group, session) to document to its question."""
    documents, questions, judgements = [], [], ["query-id\tcorpus-id\tscore"]
    for (group, session), pairs in content.items():
        for text, question in pairs.items():
            number = len(documents) + 1
            metadata = {"group": group, "session": session}
            documents.append({"_id": f"d{number}", "title": "", "text": text, "metadata": metadata})
            questions.append({"_id": f"q{number}", "text": question, "metadata": {"group": group}})
            judgements.append(f"q{number}\td{number}\t1")
    folder.mkdir()
    for name, records in (("corpus", documents), ("queries", questions)):
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    (folder / "qrels.tsv").write_text("\n".join(judgements) + "\n", encoding="utf-8")


@pytest.fixture
def sets(home: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder with the sets, and the current directory: `:` in an absolute path of Windows would end a folder's name."""
    folder = tmp_path / "sets"
    folder.mkdir()
    for name, content in (("kitchen", KITCHEN), ("harbour", HARBOUR), ("tea", TEA)):
        write_set(folder / name, content)
    monkeypatch.chdir(folder)
    return folder


def test_retrieval_measures_every_system_on_every_set(
    sets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "results" / "retrieval.json"
    data = ["--data", "kitchen:qrels.tsv:own", "--data", "tea"]
    assert retrieval.main([*data, "--cache", "cache", "--out", str(out)]) == 0

    kitchen, tea = read_result(out)
    for result in (kitchen, tea):
        assert set(result) == {*RESULT, "judgements"}
        assert (result["embedder"], result["reranker"]) == (MiniLM.name, None)
        assert (result["documents"], result["questions"]) == (3, 3)
        assert_units(result, "document", "session")
        for unit in result["units"].values():
            assert unit["hybrid"]["MRR@10"]["mean"] == 1.0
    assert (kitchen["dataset"], tea["dataset"]) == ("kitchen", "tea")
    assert kitchen["checksum"] == load(sets / "kitchen").checksum
    assert sorted(path.name.partition("-")[0] for path in (sets / "cache").iterdir()) == ["kitchen", "tea"]

    tables = markdown_tables(capsys.readouterr().out)
    assert len(tables) == 2 * 2
    assert all(len(rows) == 2 + len(retrieval.SYSTEMS) for rows in tables)


def test_no_answer_counts_the_confidences_with_and_without_an_answer(
    sets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "no-answer.json"
    data = ["--data", "kitchen", "--data", "tea:qrels.tsv:own", "--data", "harbour"]
    assert no_answer.main([*data, "--out", str(out)]) == 0

    results = read_result(out)
    assert [result["asked in"] for result in results] == [
        {"answered": "kitchen", "unanswered": "harbour"},
        {"answered": "own group", "unanswered": "next group"},
        {"answered": "harbour", "unanswered": "kitchen"},
    ]
    for result in results:
        assert set(result) == {
            "dataset", "checksum", "judgements", "questions", "asked in", "shares", "rates", "confidence",
        }  # fmt: skip
        for kind in ("answered", "unanswered"):
            shares = result["shares"][kind]
            assert tuple(shares) == ("strong", "weak", "none")
            for values in shares.values():
                assert_interval(values)
            assert sum(values["mean"] for values in shares.values()) == pytest.approx(1)
            given = list(result["confidence"][kind].values())
            assert shares["strong"]["mean"] == pytest.approx(given.count("strong") / 3)
        answered, unanswered, rates = result["shares"]["answered"], result["shares"]["unanswered"], result["rates"]
        assert rates["false recall"] == unanswered["strong"]
        assert rates["missed"] == answered["none"]
        assert rates["not strong"]["mean"] == pytest.approx(1 - answered["strong"]["mean"])
        assert answered["none"]["mean"] < 1

    printed = markdown_tables(capsys.readouterr().out)
    assert [len(rows) for rows in printed] == [2 + 2, 2 + 1] * 3
    written = json.loads(out.read_text(encoding="utf-8"))["tables"]
    assert [markdown_tables(text) for text in written] == [printed[0:2], printed[2:4], printed[4:6]]


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (["kitchen"], "kitchen needs another data set"),
        (["kitchen", "tea"], "kitchen needs another data set"),
        (["kitchen", "kitchen"], "kitchen needs another data set"),
        (["cellar:qrels.tsv:own"], "cellar has one group"),
    ],
)
def test_a_set_without_a_place_that_lacks_its_answers_is_refused(
    sets: Path, capsys: pytest.CaptureFixture[str], data: list[str], complaint: str
) -> None:
    write_set(sets / "cellar", {("cellar", "friday"): {"The door sticks.": "which door sticks"}})
    with pytest.raises(SystemExit) as ended:
        no_answer.main([word for name in data for word in ("--data", name)])
    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err


def test_the_list_names_every_benchmark_and_an_unknown_one_is_refused() -> None:
    for arguments in ([], ["unknown"]):
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks", *arguments],
            capture_output=True, encoding="utf-8", cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        assert done.returncode == 2
        assert "retrieval, known-item, no-answer" in done.stdout


def test_embedding_is_compared_with_the_bare_runtime_on_the_same_lengths(
    sets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "embedding.json"
    assert embedding.main(["--data", "kitchen", "--rounds", "2", "--passages", "1", "--out", str(out)]) == 0
    (result,) = read_result(out)
    assert (result["passages"], result["dataset"]) == (2, "kitchen")
    assert 2 * 10 <= result["tokens"] <= 2 * 20
    assert 0 < result["ratio"]["low"] <= result["ratio"]["mean"] <= result["ratio"]["high"]
    assert result["embed"]["passages a second"] > 0 < result["bare"]["tokens a second"]
    (rows,) = markdown_tables(capsys.readouterr().out)
    assert len(rows) == 2 + 2


def test_every_rule_of_what_is_worth_a_vector_is_measured(
    home: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, topic in enumerate(("sourdough starter", "cellar barrel", "oven door")):
        said = [
            ("user", f"Why did the {topic} fail last week, please?"),
            ("assistant", f"ok {number}"),
            ("assistant", f"The {topic} was too cold for it, as far as I can see from the log of that day."),
            ("assistant", f"Now I mended the {topic} with a cloth."),
        ]
        lines = claude_lines(uid(number), "/srv/kitchen", *said)
        call = cl(at(9), "assistant", uid(900 + number), uid(number), "/srv/kitchen", [cl_call("t1", f"cat {topic}")])
        write(tmp_path / "sessions" / f"ab-000000000{number}-0.jsonl", [*lines, call])
    commits = tmp_path / "commits.jsonl"
    commits.write_text(
        "".join(
            json.dumps({"text": f"Mend number {number}", "metadata": {"checkpoint": checkpoint, "subset": "specific"}})
            + "\n"
            for number, checkpoint in enumerate(("ab0000000001", "cd0000000000"))
        ),
        encoding="utf-8",
    )
    out = tmp_path / "worth.json"
    data = ["--sessions", str(tmp_path / "sessions"), "--commits", str(commits)]
    assert worth.main([*data, "--out", str(out)]) == 0
    results = read_result(out)
    assert [(result["rule"], result["vectors"]) for result in results] == [
        ("what was said", 9),
        ("said, 3 words or more", 6),
        ("said, 6 words or more", 6),
        ("what was said, and what tools did", 12),
    ]
    for result in results:
        assert set(result["nDCG@10"]) == {f"{kind}, {mode}" for kind in ("request", "commit") for mode in worth.MODES}
        for values in result["nDCG@10"].values():
            assert_interval(values)
    (rows,) = markdown_tables(capsys.readouterr().out)
    assert len(rows) == 2 + len(worth.RULES)
    assert "request, hybrid (3)" in rows[0]
    assert "commit, hybrid (1)" in rows[0]
