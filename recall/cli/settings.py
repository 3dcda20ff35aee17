"""The user's configuration, `config.toml` in the home folder."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recall.cli.streams import complain
from recall.errors import UsageError
from recall.files import replace_file

if TYPE_CHECKING:
    from recall.index import Index

DEFAULT_MODEL = "minilm"
_KEYS = ("model", "reranker", "exclude", "keep_days", "keep_megabytes")

_BOM = "\ufeff"
_STRINGS = r'"""(?s:.*?)"""|\'\'\'(?s:.*?)\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\''
_MODEL = re.compile(rf"""^({_BOM}?[ \t]*(?:model|"model"|'model')[ \t]*=[ \t]*)(?:{_STRINGS})""", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be configured."""

    model: str = DEFAULT_MODEL
    """`minilm`, the bundled model; the name of a fastembed model; or a folder with an ONNX model."""
    reranker: str = ""
    """Empty for none; `minilm`; or the name of a fastembed cross-encoder."""
    exclude: tuple[str, ...] = ()
    """Directories whose sessions are never taken in, with all below them; `*` stands for any characters."""
    keep_days: int | None = None
    """Sessions that ended longer ago are removed at each `recall ingest`; None keeps all."""
    keep_megabytes: int | None = None
    """Beyond this size of the database, the oldest sessions are; None keeps all."""


def load_settings(home: Path) -> Settings:
    """The settings in `home`/config.toml, the defaults where there is none. Unknown keys are named and passed over.

    Raises UsageError where the file cannot be read or a value has the wrong type.
    """
    path = home / "config.toml"
    values = _parsed(path, _text(path))
    for key in values.keys() - set(_KEYS):
        complain(f'{path} has an unknown key "{key}", which does nothing; known: {", ".join(_KEYS)}')
    model = values.get("model", DEFAULT_MODEL)
    if not isinstance(model, str) or not model.strip():
        raise UsageError(f'{path}: model is {model!r}; expected a name such as model = "minilm"')
    reranker = values.get("reranker", "")
    if not isinstance(reranker, str):
        raise UsageError(f'{path}: reranker is {reranker!r}; expected a name such as reranker = "minilm"')
    exclude = values.get("exclude", [])
    if not isinstance(exclude, list) or not all(isinstance(one, str) and one.strip() for one in exclude):
        raise UsageError(f'{path}: exclude is {exclude!r}; expected a list of directories such as exclude = ["~/kite"]')
    for key in ("keep_days", "keep_megabytes"):
        number = values.get(key, 1)
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise UsageError(
                f"{path}: {key} is {number!r}; expected a whole number such as {key} = 365; none keeps all"
            )
    kept = values.get("keep_days"), values.get("keep_megabytes")
    return Settings(model, reranker.strip(), tuple(exclude), *kept)


def open_configured(home: Path) -> Index:
    """The index of a home, as it is configured. What of it was damaged and made again is said, a line each."""
    index = open_quietly(home)
    for sentence in index.repaired:
        complain(sentence)
    return index


def open_quietly(home: Path) -> Index:
    """The index of a home, as it is configured."""
    from recall.opening import open_index

    settings = load_settings(home)
    kept = settings.keep_days, settings.keep_megabytes
    return open_index(home, settings.model, settings.reranker, settings.exclude, *kept)


def write_model(home: Path, model: str) -> Path:
    """Set `model` in `home`/config.toml and leave all else in it as it is, byte by byte; the path of the file.

    Raises UsageError where the file cannot be read, written, or changed without touching anything else.
    """
    # A link is followed: who keeps the file elsewhere keeps it there.
    path = Path(os.path.realpath(home / "config.toml"))
    text = _text(path)
    wanted = _parsed(path, text) | {"model": model}
    for changed in _with_model(text, model):
        with contextlib.suppress(tomllib.TOMLDecodeError):
            if tomllib.loads(changed.removeprefix(_BOM)) == wanted:
                break
    else:
        raise UsageError(f"{path} sets model in a way that is not understood; set it by hand: model = {_quoted(model)}")
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(path, changed.encode("utf-8"), like=path)
    except (OSError, UnicodeEncodeError) as error:
        raise UsageError(f"{path} cannot be written: {error}; make it writable, or set RECALL_HOME") from error
    return path


def _with_model(text: str, model: str) -> Iterator[str]:
    """Ways to set the model in a TOML text, one of which is right: what looks like a key may stand inside a value."""
    for match in _MODEL.finditer(text):
        yield f"{text[: match.start()]}{match[1]}{_quoted(model)}{text[match.end() :]}"
    end = "\r\n" if "\r\n" in text else "\n"
    line = f"model = {_quoted(model)}{end}"
    yield f"{text}{line}" if not text or text.endswith(("\n", _BOM)) else f"{text}{end}{line}"
    # Behind a table's head, a line at the end would belong to the table.
    yield f"{_BOM}{line}{text[1:]}" if text.startswith(_BOM) else f"{line}{text}"


def _quoted(text: str) -> str:
    """A TOML string: as in JSON, but for DEL, which JSON lets stand."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _text(path: Path) -> str:
    """What the file holds, with its byte order mark and its line ends; empty where there is none."""
    try:
        return path.read_bytes().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from error


def _parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix(_BOM))
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> UsageError:
    return UsageError(f"{path} cannot be read as TOML: {error}; mend it, or move it away")
