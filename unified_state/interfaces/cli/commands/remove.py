"""`forget`, `scan`, `prune`: remove steps, items and secrets from the archive."""

from __future__ import annotations

import sys

from unified_state.errors import UsageError
from unified_state.interfaces.cli.command_context import Command, argument, either, flag, option, progress_bar
from unified_state.lib.times import current_time, to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from unified_state.interfaces.cli.command_context import Context
    from unified_state.upkeep.forget.prune_steps import Pruned

_SURE = "yes"


def _forget(context: Context, arguments: Namespace) -> None:
    from unified_state.upkeep.forget.forget_refs import forget

    done = forget(
        context.changing(), current_time(), ref=arguments.ref, session_id=arguments.session, text=arguments.match
    )
    others = f", {done.others} notes and other texts" if done.others else ""
    text = f"forgotten: {done.steps} steps, {done.items} items, {done.summaries} summaries{others}"
    context.show(done.as_dict(), text)
    context.say("not searched: the client's own transcripts, and archives that were set aside as damaged")


def _scan(context: Context, arguments: Namespace) -> int:
    from unified_state.upkeep.forget.scan_secrets import scan

    workspace = context.changing()
    (total,) = workspace.use(lambda archive: archive.row("SELECT count(*) FROM step"))
    with progress_bar("scanning", total) as advance:
        done = scan(workspace, fix_at=current_time() if arguments.fix else None, report=advance)
    verb = "masked" if arguments.fix else "found"
    text = "\n".join([f"{len(done.refs)} secrets {verb} in {done.looked_at:,} steps", *done.refs])
    context.show(done.as_dict(), text)
    return 1 if done.refs and not arguments.fix else 0


def _prune(context: Context, arguments: Namespace) -> None:
    from unified_state.upkeep.forget.prune_steps import by_policy, older_than, preview, prune
    from unified_state.upkeep.forget.unfinished import finish

    workspace = context.changing()
    now = current_time()
    choice = by_policy(workspace, now) if arguments.policy else older_than(arguments.older_than, now)
    would = preview(workspace, choice)
    if not (arguments.dry_run or would.steps):
        workspace.use(finish)
    if arguments.dry_run or not would.steps:
        return _show(context, would)
    if not arguments.yes:
        _ask(_text(would))
    with progress_bar("pruning", would.steps) as advance:
        done = prune(workspace, choice, advance)
    return _show(context, done)


def _ask(text: str) -> None:
    """Raise UsageError unless a person confirms by typing."""
    if not sys.stdin.isatty():
        message = f"{text}; this cannot be undone"
        raise UsageError(message, "add --yes to do it, or --dry-run to look only")
    sys.stderr.write(f"{text}; this cannot be undone. Type {_SURE} to go on: ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() != _SURE:
        message = "nothing was pruned"
        raise UsageError(message, f"type {_SURE}, or add --yes")


def _show(context: Context, pruned: Pruned) -> None:
    value = {
        "steps": pruned.steps,
        "bytes": pruned.bytes,
        "sessions": pruned.sessions,
        "first": None if pruned.first_at is None else to_text(pruned.first_at),
        "last": None if pruned.last_at is None else to_text(pruned.last_at),
        "kept": pruned.kept,
        "is_done": pruned.is_done,
        "archive_bytes": pruned.archive_bytes,
    }
    context.show(value, _text(pruned))


def _text(pruned: Pruned) -> str:
    kept = f"; {pruned.kept:,} as old stay, since items need them" if pruned.kept else ""
    if pruned.first_at is None or pruned.last_at is None:
        return f"nothing to prune{kept}"
    verb = "pruned" if pruned.is_done else "would go"
    days = f"{to_text(pruned.first_at)[:10]} to {to_text(pruned.last_at)[:10]}"
    sizes = f"{pruned.bytes / 1e6:,.1f} MB of content, {pruned.sessions:,} sessions, {days}"
    return f"{verb}: {pruned.steps:,} steps, {sizes}{kept}; the archive has {pruned.archive_bytes / 1e6:,.1f} MB"


COMMANDS = {
    "forget": Command(
        _forget,
        either(
            argument("ref", nargs="?", metavar="REF", help="an item, turn, step or compaction"),
            option("--session ID", "all of a session"),
            option("--match TEXT", "everything that holds this text"),
            required=True,
        ),
    ),
    "scan": Command(_scan, flag("--fix", "mask what is found")),
    "prune": Command(
        _prune,
        either(
            option("--older-than AGE", "steps older than this: 180d, 2026-01-01"),
            flag("--policy", "the least used steps, down to retention_megabytes of your settings"),
            required=True,
        ),
        flag("--dry-run", "only print what would be removed"),
        flag("--yes", "do not ask"),
    ),
}
