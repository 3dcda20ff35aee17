"""The user's configuration, `config.toml` in the home folder."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from recall.cli.streams import complain
from recall.errors import UsageError

DEFAULT_MODEL = "minilm"


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be configured."""

    model: str = DEFAULT_MODEL
    """`minilm`, the bundled model; the name of a fastembed model; or a folder with an ONNX model."""


def load_settings(home: Path) -> Settings:
    """The settings in `home`/config.toml, the defaults where there is none. Unknown keys are named and passed over.

    Raises UsageError where the file cannot be read or a value has the wrong type.
    """
    path = home / "config.toml"
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return Settings()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read as TOML: {error}; mend it, or move it away") from error
    for key in values.keys() - {"model"}:
        complain(f'{path} has an unknown key "{key}", which does nothing; known: model')
    model = values.get("model", DEFAULT_MODEL)
    if not isinstance(model, str) or not model.strip():
        raise UsageError(f'{path}: model is {model!r}; expected a name such as model = "minilm"')
    return Settings(model)
