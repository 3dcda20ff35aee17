"""`recall doctor`: what is looked at, how it is, and what to do. Every check stands alone, and none writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from recall import health, models
from recall.analysis import unspaced_share
from recall.cli.render import counted, iso_time
from recall.cli.settings import DEFAULT_MODEL, Settings, load_settings
from recall.embedding import Embedder, choose
from recall.errors import DatabaseError, RecallError, UsageError
from recall.faults import FAULTS, explain
from recall.home import models_directory
from recall.mounts import network_file_system
from recall.rendering import safe_text
from recall.salvage import backups, is_being_replaced
from scanning import RULES_VERSION

SAMPLE = 500
"""The latest messages, whose language is looked at."""

TOLERATED_SHARE = 0.1
"""Share of messages in scripts without spaces up to which a model that reads English only is good enough."""

NAMED = 3
"""How many of the places that a check has found are named."""

State = Literal["ok", "warning", "problem"]
STATES: tuple[State, ...] = ("ok", "warning", "problem")


@dataclass(frozen=True, slots=True)
class Check:
    """How one thing is. A problem keeps something from working, a warning is worth knowing."""

    state: State
    found: str
    remedy: str = ""
    """What to do; empty where nothing has to be done."""


Checks = Mapping[str, Check]
"""By name, in the order in which one would put things right."""


@dataclass(frozen=True, slots=True)
class Examined:
    """What the checks look at; an error stands for what could not be had."""

    home: Path
    settings: Settings | UsageError
    embedder: Embedder | None
    """None where the settings do not say which."""
    engine: health.Engine | DatabaseError
    file: health.Archive | DatabaseError | None
    """The database; None where there is none yet."""

    @property
    def archive(self) -> health.Archive | None:
        """The database, where it can be asked for more than its schema."""
        if isinstance(self.file, health.Archive) and isinstance(self.engine, health.Engine):
            return self.file if self.file.schema == self.engine.schema else None
        return None


def examine(home: Path) -> dict[str, Check]:
    """All checks that apply to this home. A home that does not exist yet is not made."""
    with ExitStack() as stack:
        examined = _examined(home, stack)
        found = {name: _checked(check, examined) for name, check in CHECKS.items()}
    return {name: check for name, check in found.items() if check is not None}


def is_well(checks: Checks) -> bool:
    """Whether none of the checks has found a problem."""
    return all(check.state != "problem" for check in checks.values())


def doctor_document(home: Path, checks: Checks) -> dict[str, Any]:
    """The document of `recall doctor --json`."""
    return {
        "timestamp": iso_time(datetime.now().astimezone()),
        "home": str(home),
        "state": max((check.state for check in checks.values()), key=STATES.index),
        "checks": [{"name": name, **asdict(check)} for name, check in checks.items()],
    }


def doctor_text(home: Path, checks: Checks) -> str:
    """The same for a person."""
    lines = [f"home: {home}"]
    for name, check in checks.items():
        lines.append(f"{check.state:<8} {name:<13} {check.found}")
        if check.remedy:
            lines.append(f"{'':<23}→ {check.remedy}")
    counts = {state: sum(check.state == state for check in checks.values()) for state in STATES}
    lines.append(f"{counted(counts['problem'], 'problem')}, {counted(counts['warning'], 'warning')}")
    return "\n".join(lines)


def _examined(home: Path, stack: ExitStack) -> Examined:
    path = home / "recall.db"
    settings: Settings | UsageError
    engine: health.Engine | DatabaseError
    file: health.Archive | DatabaseError | None = None
    try:
        settings = load_settings(home)
    except UsageError as error:
        settings = error
    try:
        engine = health.engine()
    except DatabaseError as error:
        engine = error
    try:
        if path.exists() or is_being_replaced(path):
            file = stack.enter_context(health.looking_into(path))
    except DatabaseError as error:
        file = error
    embedder = choose(settings.model, models_directory(home)) if isinstance(settings, Settings) else None
    return Examined(home, settings, embedder, engine, file)


def _checked(check: Callable[[Examined], Check | None], examined: Examined) -> Check | None:
    try:
        found = check(examined)
    except RecallError as error:
        found = _problem(error)
    except FAULTS as error:
        found = _problem(explain(error, examined.home / "recall.db"))
    return found and Check(found.state, safe_text(found.found), safe_text(found.remedy))


def _problem(error: object) -> Check:
    """An error tells what was found; what to do."""
    text = " ".join(str(error).split())
    outside = re.sub(r"\([^()]*\)", lambda brackets: "." * len(brackets[0]), text)
    found = outside.partition("; ")[0]
    return Check("problem", text[: len(found)], text[len(found) + 2 :])


def _configuration(examined: Examined) -> Check:
    if not isinstance(examined.settings, Settings):
        return _problem(examined.settings)
    path = examined.home / "config.toml"
    return Check("ok", f"{path}: model = {examined.settings.model}" if path.is_file() else "all as it comes")


def _engine(examined: Examined) -> Check:
    engine = examined.engine
    if not isinstance(engine, health.Engine):
        return _problem(engine)
    if engine.vectors_missing:
        return _problem(engine.vectors_missing)
    return Check("ok", f"SQLite {engine.sqlite} with full-text search, sqlite-vec {engine.sqlite_vec}")


def _database(examined: Examined) -> Check:
    path, archive, engine = examined.home / "recall.db", examined.file, examined.engine
    if archive is None:
        return Check("warning", f"{path} does not exist yet", "recall ingest")
    if isinstance(archive, DatabaseError):
        return _problem(archive)
    if archive.is_read_only:
        return Check("problem", f"{path} cannot be written", "make it writable, or set RECALL_HOME to another folder")
    archive.require_sound()
    known = engine.schema if isinstance(engine, health.Engine) else archive.schema
    if archive.schema > known:
        found = f"{path} has schema {archive.schema}, but this version of recall knows {known} at most"
        return Check("problem", found, "pip install --upgrade repo-recall")
    if archive.schema < known:
        found = f"{path} has schema {archive.schema}; this version of recall makes it {known} when it next opens it"
        return Check("warning", found, "recall status, and then recall doctor again")
    held = f"{counted(archive.count('sessions'), 'session')}, {counted(archive.count('messages'), 'message')}"
    return Check("ok", f"{path}: {held}; schema {known}, no damage found")


def _index(examined: Examined) -> Check | None:
    if (archive := examined.archive) is None:
        return None
    damages = archive.damages()
    if not damages:
        return Check("ok", "words and vectors are whole, and in step with the messages")
    found = _some([f"{damage.part}: {damage.found}" for damage in damages])
    return Check("problem", found, "recall doctor --fix; nothing is lost, and a search mends it too")


def _place(examined: Examined) -> Check:
    kind = network_file_system(examined.home)
    if not kind:
        return Check("ok", "on a local disk, as far as can be told")
    found = f"{examined.home} is on a network file system ({kind}), where SQLite may fail or do damage"
    return Check("warning", found, "set RECALL_HOME to a folder on a local disk")


def _backups(examined: Examined) -> Check | None:
    kept = backups(examined.home)
    if not kept:
        return None
    size = sum(path.stat().st_size for path in kept if path.is_file()) / 2**20
    found = f"{counted(len(kept), 'damaged database')} kept ({size:.1f} MB): {_some([path.name for path in kept])}"
    return Check("warning", found, "delete it once you miss nothing")


def _model(examined: Examined) -> Check | None:
    if not isinstance(examined.settings, Settings) or examined.embedder is None:
        return None
    name = examined.settings.model
    model = models.accepted(name, models_directory(examined.home))
    if not model.here:
        return Check("problem", f"{name} is not on this machine", "with a network: recall embed")
    if model.source == "fastembed":
        examined.embedder.embed_query("can it be used?")
    return Check("ok", f"{name} can be used")


def _vectors(examined: Examined) -> Check | None:
    archive, embedder = examined.archive, examined.embedder
    if archive is None or embedder is None:
        return None
    missing, all_of_them = archive.passages_without_vector(embedder), archive.passages_worth_a_vector()
    if missing:
        found = f"{missing} of {counted(all_of_them, 'passage')} without a vector of {embedder.name}"
        return Check("warning", f"{found}: found by their words only", "recall embed")
    return Check("ok", f"up to date: {counted(all_of_them, 'passage')}, {embedder.name}")


def _leftovers(examined: Examined) -> Check | None:
    archive, embedder = examined.archive, examined.embedder
    if archive is None or embedder is None:
        return None
    left = archive.leftovers(embedder)
    if not left:
        return Check("ok", "no vectors of another model")
    told = ", ".join(f"{counted(one.count, 'vector')} of {one.embedder} ({one.size / 2**20:.1f} MB)" for one in left)
    remedy = f"recall embed, which removes them once no vector of {embedder.name} is missing"
    return Check("warning", told, remedy)


def _transcripts(examined: Examined) -> Check | None:
    if (archive := examined.archive) is None:
        return None
    problems, count = archive.problems(), counted(archive.count("transcripts"), "transcript")
    if not problems:
        return Check("ok", f"{count}, none of them unreadable")
    found = f"{len(problems)} of {count} not read: {_some(problems)}"
    return Check("warning", found, "mend them or move them away, then recall ingest; recall status names all of them")


def _redaction(examined: Examined) -> Check | None:
    if (archive := examined.archive) is None:
        return None
    old = archive.outdated()
    if not old:
        return Check("ok", f"all that is stored has passed the rules of version {RULES_VERSION}")
    found = f"{counted(old, 'session')} scanned by older rules than those of version {RULES_VERSION}"
    return Check("warning", f"{found}: masked when shown, but not in the file", "recall scan --archive")


def _repositories(examined: Examined) -> Check | None:
    if (archive := examined.archive) is None:
        return None
    lost = archive.lost_repositories()
    if not lost:
        return Check("ok", "all git repositories that sessions ran in are there")
    sessions = counted(sum(one.sessions for one in lost), "session")
    found = f"{sessions} ran in git repositories that no longer exist: {_some([one.path for one in lost])}"
    return Check("warning", found, _MOVED)


def _languages(examined: Examined) -> Check | None:
    archive, embedder = examined.archive, examined.embedder
    if archive is None or embedder is None or not isinstance(examined.settings, Settings):
        return None
    texts = archive.latest_texts(SAMPLE)
    if not texts:
        return Check("ok", "no messages yet")
    share = sum(unspaced_share(text) > 0.5 for text in texts) / len(texts)
    found = f"of the latest {counted(len(texts), 'message')}, {share:.0%} mostly Chinese, Japanese or Korean"
    if share <= TOLERATED_SHARE or not models.reads_english_only(embedder):
        return Check("ok", found)
    remedy = f"with a network: recall model use {models.SMALLEST_CHINESE}, then recall embed"
    if examined.settings.model == DEFAULT_MODEL:
        return Check("warning", f"{found}; the bundled model reads {models.BUNDLED_READS}", remedy)
    return Check("warning", f"{found}; {examined.settings.model} reads English only", remedy)


_MOVED = "one that has moved: recall relink OLD NEW; the others are found with --repo and that path, and with --all"


def _some(names: list[str]) -> str:
    more = f", and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"


CHECKS: Mapping[str, Callable[[Examined], Check | None]] = {
    "configuration": _configuration,
    "engine": _engine,
    "home": _place,
    "database": _database,
    "index": _index,
    "backups": _backups,
    "model": _model,
    "vectors": _vectors,
    "old vectors": _leftovers,
    "transcripts": _transcripts,
    "redaction": _redaction,
    "repositories": _repositories,
    "languages": _languages,
}
"""None: there is nothing to look at yet, or another check says why it cannot be looked at."""
