"""`forget`: remove steps, items, secrets and free space from the archive."""

from __future__ import annotations

from argparse import Namespace

from unified_state.errors import UsageError
from unified_state.interfaces.cli.command_context import Command, Context, argument, either, flag, option
from unified_state.ledger.gate import confirm
from unified_state.lib.text import counted
from unified_state.lib.times import current_time
from unified_state.upkeep.forget.forget_refs import ForgetPlan, ForgetRequest, find_to_forget, forget
from unified_state.upkeep.forget.prune_steps import PruneResult, older_than, preview, prune, vacuum
from unified_state.upkeep.forget.scan_secrets import scan
from unified_state.upkeep.forget.unfinished import finish

_SHARE = 10  # a free part of an archive that is worth a word
_SCRIPTS = "add --yes to do it without a question, or --dry-run to look only"


def _forget(context: Context, arguments: Namespace) -> int | None:
    if arguments.secrets:
        return _scan(context, fixes=not arguments.dry_run)
    if arguments.vacuum and arguments.dry_run:
        message = "--vacuum removes nothing, so there is nothing to look at first"
        raise UsageError(message, "leave --dry-run out")
    by_age = arguments.older_than is not None
    act = _vacuum if arguments.vacuum else _prune if by_age else _forget_what_is_named
    return act(context, arguments)


def _forget_what_is_named(context: Context, arguments: Namespace) -> None:
    def ask(found: ForgetPlan) -> None:
        confirm(f"forgets {found.text}", _SCRIPTS)

    workspace = context.changing()
    wanted = ForgetRequest(arguments.id or "", arguments.session, arguments.match)
    if arguments.dry_run:
        found = find_to_forget(workspace, wanted)
        refs = [ref for refs in found.refs.values() for ref in refs]
        return context.show({**found.counts(), "refs": refs}, f"would go: {found.text}")
    done = forget(workspace, current_time(), wanted, None if arguments.yes else ask)
    text = f"forgotten: {done.text}"
    if done.steps:
        text += "; the search index has none of their words any more"
    context.show(done.counts(), text)
    return context.say("not searched: the client's own transcripts, and archives that were set aside as damaged")


def _scan(context: Context, *, fixes: bool) -> int:
    done = scan(context.changing(), fix_at=current_time() if fixes else None)
    verb = "masked" if fixes else "found"
    text = "\n".join([f"{counted(len(done.refs), 'secret')} {verb} in {counted(done.looked_at, 'step')}", *done.refs])
    context.show(done.as_dict(), text)
    return 1 if done.refs and not fixes else 0


def _prune(context: Context, arguments: Namespace) -> None:
    workspace = context.changing()
    before = older_than(arguments.older_than, current_time())
    would = preview(workspace, before)
    if not (arguments.dry_run or would.steps):
        workspace.use(finish)
    if arguments.dry_run or not would.steps:
        return context.show(would.as_dict(), _text(would))
    if not arguments.yes:
        confirm(f"prunes {_amount(would)}", _SCRIPTS)
    done = prune(workspace, before)
    return context.show(done.as_dict(), _text(done))


def _text(pruned: PruneResult) -> str:
    kept = f"; {pruned.kept:,} as old stay, since items need them" if pruned.kept else ""
    if not pruned.steps:
        return f"nothing to prune{kept}"
    verb = "pruned" if pruned.is_done else "would go"
    size = f"the archive has {pruned.archive_bytes / 1e6:,.1f} MB"
    if pruned.free_bytes * _SHARE > pruned.archive_bytes:
        size += f", of which {pruned.free_bytes / 1e6:,.1f} are free; `unified-state forget --vacuum`"
    return f"{verb}: {_amount(pruned)}{kept}; {size}"


def _amount(pruned: PruneResult) -> str:
    days = f"{(pruned.first or '')[:10]} to {(pruned.last or '')[:10]}"
    steps = f"{counted(pruned.steps, 'step')} (S{pruned.first_step} to S{pruned.last_step})"
    return f"{steps}, {pruned.bytes / 1e6:,.1f} MB of content, {counted(pruned.sessions, 'session')}, {days}"


def _vacuum(context: Context, _arguments: Namespace) -> None:
    before, after = vacuum(context.changing())
    text = f"the archive has {after / 1e6:,.1f} MB, and had {before / 1e6:,.1f}"
    context.show({"before": before, "after": after}, text)


COMMANDS = {
    "forget": Command(
        _forget,
        either(
            argument("id", nargs="?", metavar="ID", help="an item, turn, step or compaction"),
            option("--session ID", "all of a session"),
            option("--match TEXT", "everything that holds this text"),
            option("--older-than AGE", "steps older than this, but for what items need: 180d, 2026-01-01"),
            flag("--secrets", "the secrets in what is archived: each is masked"),
            flag("--vacuum", "nothing more: give the space of what was removed back to the disk"),
            required=True,
        ),
        flag("--dry-run", "only print what would be removed"),
        flag("--yes", "do not ask, but about constraints"),
    ),
}
