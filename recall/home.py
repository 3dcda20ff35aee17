"""Where the user's data lives."""

from __future__ import annotations

import os
from pathlib import Path

KEY_NAME = "fingerprint.key"
"""Stands in the home from the first time on that something is taken in (recall/redacting.py)."""


def home_directory() -> Path:
    """RECALL_HOME, else the platform's user data folder. Not made here."""
    named = os.environ.get("RECALL_HOME")
    if named:
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_data_dir("recall", appauthor=False))


def models_directory(home: Path) -> Path:
    """Where downloaded models are kept: not in a temporary folder, which is emptied."""
    return home / "models"
