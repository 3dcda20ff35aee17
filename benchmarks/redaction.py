"""How many secrets are found, and how much harmless text is taken for one: our scanner and four engines.

    python -m benchmarks redaction --sessions FOLDER … --source FOLDER --out benchmarks/results/redaction.json

(a) Generated credentials of more than 300 kinds, each in six surroundings. One counts as found where no run of eight
of its characters is left. (b) Look-alikes of more than 280 kinds: none may be found. (c) Real sessions, and Python
source: every finding of ours that nobody has judged (redaction_review.tsv) counts as a false alarm.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks import credential_shapes, credentials, lookalikes, surroundings
from benchmarks.running import progress, write_result
from benchmarks.scanners import OURS, Scanner, Spans, described, scanners

SEED = 11
LEFT = 8
"""A secret is out when a run of so many of its characters is left."""

SLOW = "detect-secrets"
SLOW_MEGABYTES = 2
"""What the slowest engine gets of (c): it takes 14 s a megabyte."""

PIECE = 4_000
"""Characters of a message, about: throughput is measured on such pieces of the sessions."""

REVIEW = Path(__file__).parent / "redaction_review.tsv"
HOSTILE = ("password=", "-----BEGIN PRIVATE KEY-----\n", "密码：", "://a:", "eyJ", "sk-", "a", "token: \\", "ghp_K")
HOSTILE_SIZES = (256_000, 1_024_000)


def main(arguments: Sequence[str]) -> int:
    """Measure, and write the result file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks redaction", description=__doc__)
    parser.add_argument("--sessions", type=Path, nargs="*", default=[], help="folders with real sessions")
    parser.add_argument("--source", type=Path, nargs="*", default=[], help="folders with Python source")
    parser.add_argument("--per-kind", type=int, default=5, help="values of each kind and surrounding")
    parser.add_argument("--kinds", type=int, default=0, help="only so many kinds, for a quick look")
    parser.add_argument("--out", type=Path, required=True, help="the result file")
    options = parser.parse_args(arguments)
    systems = scanners()
    shaped, labelled = credential_shapes.SHAPED, credentials.LABELLED
    if options.kinds:
        shaped, labelled = shaped[: options.kinds], labelled[: options.kinds]
    texts = {"sessions": list(_files(options.sessions)), "source": list(_files(options.source, ".py"))}
    results: list[dict[str, Any]] = []
    for name, system in systems.items():
        result = {
            "scanner": name,
            "package": described(name),
            "shaped": found_share(system, shaped, options.per_kind),
            "labelled": found_share(system, labelled, options.per_kind),
            "look_alikes": false_alarms(system, options.per_kind),
            **{corpus: findings_in(system, files, name) for corpus, files in texts.items() if files},
            "speed": speed(name, system, texts["sessions"]) if texts["sessions"] else {},
        }
        results.append(result)
        progress("scanners:", len(results), len(systems))
    write_result(options.out, {"results": results, "tables": tables(results)})
    return 0


def found_share(system: Scanner, kinds: Sequence[credentials.Credential], per_kind: int) -> dict[str, Any]:
    """Share of generated secrets of which nothing is left: of all, in each surrounding, and of each kind below 1."""
    found: defaultdict[tuple[str, str], list[bool]] = defaultdict(list)
    for credential, surrounding, case in surroundings.cases(kinds, per_kind, SEED):
        found[credential.name, surrounding].append(not is_out(case.text, case.secret, system(case.text)))
    by_kind = _shares(found, 0)
    return {
        "kinds": len(by_kind),
        "all": _share([one for values in found.values() for one in values]),
        "by_surrounding": _shares(found, 1),
        "kinds_below_1": {name: share for name, share in by_kind.items() if share < 1},
    }


def is_out(text: str, secret: str, spans: Spans) -> bool:
    """Whether a run of LEFT characters of the secret, or all of a shorter one, lies outside the spans."""
    start = text.index(secret)
    end, at = start + len(secret), start
    least = min(LEFT, len(secret))
    for left, right in sorted(spans):
        if right > start and left < end:
            if left - at >= least:
                return True
            at = max(at, right)
    return end - at >= least


def false_alarms(system: Scanner, per_kind: int) -> dict[str, Any]:
    """Look-alikes that were taken for secrets: how many samples and which kinds."""
    alarms: Counter[str] = Counter()
    samples = 0
    kinds = set()
    for kind, text in lookalikes.cases(per_kind, SEED):
        samples += 1
        kinds.add(kind.name)
        alarms[kind.name] += bool(system(text))
    named = {name: count for name, count in sorted(alarms.items()) if count}
    return {"kinds": len(kinds), "samples": samples, "alarms": sum(named.values()), "kinds_with_alarms": named}


def findings_in(system: Scanner, files: Sequence[str], name: str) -> dict[str, Any]:
    """Findings in real text; for our own also those that nobody has judged to be a secret."""
    judged = verdicts()
    read = findings = unjudged = 0
    for text in files:
        if name == SLOW and read >= SLOW_MEGABYTES * 1e6:
            break
        read += len(text.encode("utf-8", "replace"))
        spans = system(text)
        findings += len(spans)
        unjudged += sum(judged.get(digest(text[start:end])) != "secret" for start, end in spans)
    megabytes = read / 1e6
    document = {"megabytes": round(megabytes, 1), "findings": findings, "per_mb": round(findings / megabytes, 3)}
    return document | ({"false_alarms_per_mb": round(unjudged / megabytes, 3)} if name == OURS else {})


def verdicts() -> dict[str, str]:
    """Digest of a found value to `secret` or `harmless`, as a person judged it."""
    rows = [line.split("\t") for line in REVIEW.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {row[0]: row[1] for row in rows if len(row) >= 2}


def digest(value: str) -> str:
    """What stands for a value in the review: 64 bits of BLAKE2b."""
    return blake2b(value.encode("utf-8", "replace"), digest_size=8).hexdigest()


def speed(name: str, system: Scanner, files: Sequence[str]) -> dict[str, Any]:
    """Megabytes a second of message-sized pieces, the better of two runs; for ours how time grows with hostile text."""
    chosen = random.Random(SEED)
    whole = "".join(chosen.sample(list(files), min(len(files), 16)))[:4_000_000]
    pieces = [whole[start : start + PIECE] for start in range(0, len(whole), PIECE)]
    if name == SLOW:
        pieces = pieces[: 1 + len(pieces) // 16]
    size = sum(len(piece.encode("utf-8", "replace")) for piece in pieces) / 1e6
    seconds = min(_seconds(system, pieces) for _ in range(2))
    if name != OURS:
        return {"mb_per_second": round(size / seconds, 1)}
    growth = {}
    for unit in HOSTILE:
        small, large = (_seconds(system, [unit * (length // len(unit))]) for length in HOSTILE_SIZES)
        growth[unit.strip()] = round(large / max(small, 1e-3), 1)
    times = HOSTILE_SIZES[1] // HOSTILE_SIZES[0]
    return {"mb_per_second": round(size / seconds, 1), "length_times": times, "time_times": growth}


def _seconds(system: Scanner, texts: Sequence[str]) -> float:
    started = process_time()
    for text in texts:
        system(text)
    return process_time() - started


def _files(folders: Sequence[Path], suffix: str = "") -> Iterator[str]:
    for folder in folders:
        for path in sorted(folder.rglob(f"*{suffix}")):
            if path.is_file():
                yield path.read_text(encoding="utf-8", errors="replace")


def _share(values: Sequence[bool]) -> float:
    return round(sum(values) / len(values), 4)


def _shares(found: Mapping[tuple[str, str], list[bool]], part: int) -> dict[str, float]:
    grouped: defaultdict[str, list[bool]] = defaultdict(list)
    for key, values in found.items():
        grouped[key[part]] += values
    return {name: _share(values) for name, values in grouped.items()}


def tables(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """The tables of the README, in Markdown."""
    found = [["found", "kinds", "all", *results[0]["shaped"]["by_surrounding"]]]
    for part in ("shaped", "labelled"):
        for result in results:
            shares = [result[part]["all"], *result[part]["by_surrounding"].values()]
            label = f"{result['scanner']}, {part}"
            found.append([label, str(result[part]["kinds"]), *(f"{share:.3f}" for share in shares)])
    quiet = [["false alarms", "look-alikes", "of kinds", "sessions: findings/MB", "source: findings/MB"]]
    cost = [["cost", "version", "releases", "licence", "MB installed", "MB/s"]]
    for result in results:
        alarms, package = result["look_alikes"], result["package"]
        counts = [
            f"{alarms['alarms']} of {alarms['samples']}",
            f"{len(alarms['kinds_with_alarms'])} of {alarms['kinds']}",
        ]
        quiet.append([result["scanner"], *counts, *(_rate(result.get(name, {})) for name in ("sessions", "source"))])
        reached = str(result["speed"].get("mb_per_second", ""))
        facts = [package[name] for name in ("version", "releases", "licence")]
        cost.append([result["scanner"], *facts, str(package["megabytes"]), reached])
    growth = results[0]["speed"].get("time_times", {})
    times = results[0]["speed"].get("length_times")
    hostile = (
        [f"Of hostile text {times} times as long, ours takes at most {max(growth.values())} times as long."]
        if growth
        else []
    )
    return [_table(found), _table(quiet), _table(cost), *hostile]


def _rate(found: Mapping[str, Any]) -> str:
    if not found:
        return ""
    false = f", false {found['false_alarms_per_mb']}" if "false_alarms_per_mb" in found else ""
    return f"{found['per_mb']}{false} ({found['megabytes']} MB)"


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]])
