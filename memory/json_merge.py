"""Two JSON documents as one, where nothing of either is lost. Pure."""

from __future__ import annotations

import json
from typing import Any


def merge_json(target: bytes, source: bytes) -> bytes | None:
    """The target with what only the source has; None where they contradict each other. Raises ValueError for no JSON.

    Lists are joined, target first; an item that both have, or that has the same `scope` and `text`, comes once.
    """
    ours, theirs = (_parsed(content) for content in (target, source))
    merged = _merged(ours, theirs)
    if merged is None:
        return None
    if merged == ours:
        return target
    return (json.dumps(merged, ensure_ascii=False, indent=2) + "\n").encode("utf-8")


def _parsed(content: bytes) -> Any:
    """Raises ValueError also where Python would not keep all that is written: a key twice, a number too exact."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key is there twice")
        return dict(pairs)

    def exact(number: str) -> float:
        if repr(float(number)) != number:
            raise ValueError(f"{number} cannot be kept as it is")
        return float(number)

    return json.loads(content.decode("utf-8-sig"), object_pairs_hook=once, parse_float=exact)


def _merged(ours: Any, theirs: Any) -> Any:
    """None where two values, one of them no null, exclude each other."""
    if ours == theirs and type(ours) is type(theirs):
        return ours
    if isinstance(ours, list) and isinstance(theirs, list):
        held = [_identity(one) for one in ours]
        return ours + [one for one in theirs if _identity(one) not in held]
    if isinstance(ours, dict) and isinstance(theirs, dict):
        merged = {**theirs, **ours}
        for key in ours.keys() & theirs.keys():
            if (value := _merged(ours[key], theirs[key])) is None and (ours[key], theirs[key]) != (None, None):
                return None
            merged[key] = value
        return {key: merged[key] for key in [*ours, *(key for key in theirs if key not in ours)]}
    return None


def _identity(one: Any) -> str:
    known = isinstance(one, dict) and isinstance(one.get("text"), str)
    return json.dumps([one.get("scope"), one["text"]] if known else {"": one}, sort_keys=True)
