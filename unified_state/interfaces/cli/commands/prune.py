"""`prune`: makes room, where the user asks for it."""

from __future__ import annotations

import sys

from unified_state.errors import NotFoundError, UsageError
from unified_state.interfaces.cli.command_context import Context
from unified_state.lib.times import current_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from unified_state.upkeep.forget.prune_steps import Pruned

_SURE = "yes"


def configure(_name: str, parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--older-than", metavar="AGE", help="what is older: 180d, 2026-01-01")
    which.add_argument(
        "--policy", action="store_true", help="what is least used, down to retention_megabytes of your settings"
    )
    parser.add_argument("--dry-run", action="store_true", help="only tell what would go")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.set_defaults(run=_prune)


def _prune(arguments: Namespace) -> int:
    from unified_state.interfaces.cli.progress import progress_bar
    from unified_state.upkeep.forget.prune_steps import by_policy, older_than, preview, prune

    context = Context(as_json=arguments.json)
    workspace = context.workspace(create=False)
    if workspace.is_empty:
        message = "nothing is archived here yet"
        raise NotFoundError(message, "there is nothing to prune")
    now = current_time()
    choice = by_policy(workspace, now) if arguments.policy else older_than(arguments.older_than, now)
    would = preview(workspace, choice)
    if arguments.dry_run or not would.steps:
        return _show(context, would)
    if not arguments.yes:
        _ask(_text(would))
    with progress_bar("pruning", would.steps) as advance:
        done = prune(workspace, choice, advance)
    return _show(context, done)


def _ask(text: str) -> None:
    """Raise UsageError unless a person says that they are sure."""
    if not sys.stdin.isatty():
        message = f"{text}; this cannot be undone"
        raise UsageError(message, "add --yes to do it, or --dry-run to look only")
    sys.stderr.write(f"{text}; this cannot be undone. Type {_SURE} to go on: ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() != _SURE:
        message = "nothing was pruned"
        raise UsageError(message, f"type {_SURE}, or add --yes")


def _show(context: Context, pruned: Pruned) -> int:
    from unified_state.lib.times import to_text

    times = {
        name: None if at is None else to_text(at) for name, at in (("first", pruned.first_at), ("last", pruned.last_at))
    }
    value = {
        "steps": pruned.steps,
        "bytes": pruned.bytes,
        "sessions": pruned.sessions,
        **times,
        "kept": pruned.kept,
        "is_done": pruned.is_done,
        "archive_bytes": pruned.archive_bytes,
    }
    context.show(value, _text(pruned))
    return 0


def _text(pruned: Pruned) -> str:
    from unified_state.lib.times import to_text

    kept = f"; {pruned.kept:,} as old stay, since items need them" if pruned.kept else ""
    if pruned.first_at is None or pruned.last_at is None:
        return f"nothing to prune{kept}"
    verb = "pruned" if pruned.is_done else "would go"
    days = f"{to_text(pruned.first_at)[:10]} to {to_text(pruned.last_at)[:10]}"
    sizes = f"{pruned.bytes / 1e6:,.1f} MB of content, {pruned.sessions:,} sessions, {days}"
    return f"{verb}: {pruned.steps:,} steps, {sizes}{kept}; the archive has {pruned.archive_bytes / 1e6:,.1f} MB"
