"""Golden transcripts: what a reader makes of a recorded file, reviewed once and compared on every run.

tests/golden/samples/<folder>.json           of the folder of that name under shared/lab/samples
tests/golden/inputs/<folder>/<name>.jsonl    our own inputs
tests/golden/outputs/<folder>.json           of the folder of that name under inputs

After a deliberate change run the tests with RECALL_REWRITE_GOLDEN=1, and read the
difference before keeping it.
"""

from __future__ import annotations

import dataclasses
import io
import json
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import zstandard

from recall.transcripts.reader import Line, Reader
from recall.types import Message, Session

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
INPUTS = GOLDEN / "inputs"
REWRITE = os.environ.get("RECALL_REWRITE_GOLDEN") == "1"


def _samples() -> Path | None:
    """Transcripts that the real agents wrote; None where `shared` is not beside the repository."""
    folder = Path(__file__).resolve().parents[3] / "shared" / "lab" / "samples"
    return folder if folder.is_dir() else None


SAMPLES: Path | None = _samples()
WITHOUT_SAMPLES = "the recorded samples (../shared/lab/samples) are not here"
"""Reason for a skip, where SAMPLES is None."""


def sample_folders(prefix: str) -> list[str]:
    """Names of the sample folders that begin with `prefix`, sorted; without SAMPLES, of golden files."""
    if SAMPLES is not None:
        return sorted(folder.name for folder in SAMPLES.iterdir() if folder.name.startswith(prefix))
    return sorted(file.stem for file in (GOLDEN / "samples").glob(f"{prefix}*.json"))


def lines_of(path: Path) -> Iterator[Line]:
    """The complete lines of a transcript, as a reader is fed them: decompressed, no BOM, no line endings."""
    text = path.read_bytes()
    if path.suffix == ".zst":
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(text)) as stream:
            text = stream.read()
    text = text.removeprefix(b"\xef\xbb\xbf")
    # Split at LF only: bytes.splitlines would also cut at a CR inside a line.
    *lines, _unfinished = text.split(b"\n")
    for number, line in enumerate(lines, start=1):
        yield Line(number, line.removesuffix(b"\r"))


def read_all(reader_class: type[Reader], path: Path) -> dict[str, Any]:
    """Session, messages and skipped lines of a whole transcript, as plain JSON without default values."""
    reader = reader_class(path)
    messages = [message for line in lines_of(path) for message in reader.read(line)]
    messages.extend(reader.finish())
    return {
        "session": _without_defaults(reader.session, always=("id",)),
        "messages": [_without_defaults(message, always=("role", "text", "line")) for message in messages],
        "skipped": dict(sorted(reader.skipped.items())),
    }


def check(folder: Literal["samples", "outputs"], name: str, value: dict[str, Any]) -> None:
    """Raise AssertionError unless `value` equals golden/<folder>/<name>.json; rewrite it when asked to."""
    path = GOLDEN / folder / f"{name}.json"
    # Half a surrogate pair is no UTF-8; backslashreplace makes the JSON escape of it.
    text = (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
    if REWRITE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    assert path.is_file(), f"no {path}; write it with RECALL_REWRITE_GOLDEN=1 and review it"
    assert json.loads(text) == json.loads(path.read_bytes()), f"differs from {path}"


def _without_defaults(value: Message | Session, always: tuple[str, ...]) -> dict[str, Any]:
    shown = {}
    for field in dataclasses.fields(value):
        content = getattr(value, field.name)
        if field.name in always or content != field.default:
            shown[field.name] = content.isoformat() if isinstance(content, datetime) else content
    # Lists, as JSON gives them back, so that a value compares equal to its file.
    plain: dict[str, Any] = json.loads(json.dumps(shown))
    return plain
