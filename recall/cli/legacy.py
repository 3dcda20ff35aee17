"""`recall migrate-worktrees`: one memory folder a repository, for the folders of codex-self-evolution."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recall.cli import streams

if TYPE_CHECKING:
    from memory.legacy_buckets import Plan, Skipped
    from memory.legacy_migration import Applied

HOME_VARIABLE, HOME = "CODEX_SELF_EVOLUTION_HOME", "~/.codex-self-evolution"


def migrate_worktrees(
    apply: Annotated[bool, typer.Option("--apply", help="Do it; without it, only say what would be done.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take back the latest migration, byte by byte.")] = False,
    home: Annotated[
        str | None, typer.Option("--home", metavar="PATH", help=f"Home of that plugin; else {HOME_VARIABLE}, {HOME}.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document in UTF-8 and nothing else.")] = False,
) -> None:
    """Merge the memory folders that codex-self-evolution made for each worktree."""
    from memory import MemoryStoreError
    from memory.legacy_buckets import plan_migration
    from memory.legacy_migration import apply as apply_plans
    from memory.legacy_migration import undo as undo_latest
    from recall.errors import UsageError

    if apply and undo:
        raise UsageError("--apply excludes --undo; give one of them")
    folder = Path(home or os.environ.get(HOME_VARIABLE) or HOME).expanduser().absolute()
    try:
        if undo:
            _say_undone(folder, undo_latest(folder), as_json)
            return
        plans, skipped = plan_migration(folder)
        results = apply_plans(folder, plans) if apply else []
    except MemoryStoreError as error:
        streams.complain(error)
        raise typer.Exit(1) from error
    if as_json:
        streams.print_json(_document(folder, plans, skipped, results, apply))
    else:
        streams.print_text(_text(folder, plans, skipped, results, apply))
    if any(result.error for result in results):
        raise typer.Exit(1)


def _say_undone(folder: Path, buckets: Sequence[str], as_json: bool) -> None:
    from recall.cli.render import counted
    from recall.rendering import shown

    names = [shown(name) for name in buckets]
    if as_json:
        streams.print_json({"home": shown(str(folder)), "undone": names})
    else:
        streams.print_text("\n".join([f"taken back: {counted(len(names), 'folder')}", *(f"  {one}" for one in names)]))


def _document(
    folder: Path, plans: Sequence[Plan], skipped: Sequence[Skipped], results: Sequence[Applied], applied: bool
) -> dict[str, Any]:
    """As the plugin's own command of that name prints it, and more."""
    from dataclasses import asdict

    from recall.rendering import shown

    return {
        "home": shown(str(folder)),
        "plans": [
            {
                "source_bucket": shown(plan.source.name),
                "target_bucket": shown(plan.target.name),
                "source_path": shown(str(plan.source)),
                "target_path": shown(str(plan.target)),
                "source_cwd": shown(plan.source_cwd),
                "target_cwd": shown(plan.target_cwd),
                "files": [shown(name) for name in plan.files],
                "source_memory_entries": plan.entries,
            }
            for plan in plans
        ],
        "skipped": [{name: shown(value) for name, value in asdict(one).items()} for one in skipped],
        "counts": {"to_migrate": len(plans), "skipped": len(skipped)},
        "applied": applied,
        "apply_results": [
            {
                "source_bucket": shown(result.plan.source.name),
                "target_bucket": shown(result.plan.target.name),
                "archived_as": shown(result.archived_as) or None,
                "merged_memory_entries": result.merged_entries,
                "kept_aside": [shown(name) for name in result.kept_aside],
                "error": shown(result.error) or None,
            }
            for result in results
        ],
    }


def _text(
    folder: Path, plans: Sequence[Plan], skipped: Sequence[Skipped], results: Sequence[Applied], applied: bool
) -> str:
    from recall.cli.render import counted
    from recall.rendering import shown

    lines = [f"{folder}: {counted(len(plans), 'folder')} to merge, {len(skipped)} left as they are"]
    for plan in plans:
        held = f"{counted(len(plan.files), 'file')}, {plan.entries} entries"
        lines.append(f"{plan.source.name} → {plan.target.name} ({held})")
    lines += [f"left: {one.bucket}: {one.reason}" for one in skipped]
    for result in results:
        if result.error:
            lines.append(f"failed: {result.plan.source.name}: {result.error}")
            continue
        lines.append(f"merged: {result.merged_entries} entries new, archived as {result.archived_as}")
        lines += [f"  could not be merged, kept beside it: {name}" for name in result.kept_aside]
    if plans:
        lines.append("take it back with --undo" if applied else "nothing has been changed; do it with --apply")
    return shown("\n".join(lines))
