"""`preview`, `list compaction`, `show K2 --source`: what a compaction gives back, and what it kept and lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unified_state.errors import UsageError
from unified_state.interfaces.cli.command_context import Command, Context, count, either, flag, option
from unified_state.lib.read_files import read_text
from unified_state.lib.times import current_time
from unified_state.restore.preview import preview_restore, preview_startup

if TYPE_CHECKING:
    from argparse import Namespace


_SESSION = option(
    "--session ID",
    "an id or its begin, or a time (yesterday); default: the session that runs this command, else the newest",
    dest="session_id",
)


def _preview(context: Context, arguments: Namespace) -> None:
    given = [name for name in ("summary", "prompt", "tokens") if getattr(arguments, name) is not None]
    if arguments.startup and given:  # the start of a session has no use for it
        message = f"--startup takes no --{given[0]}"
        raise UsageError(message, f"leave out --startup, or --{given[0]}")
    workspace = context.workspace(create=False)
    if arguments.startup:
        preview = preview_startup(workspace, current_time())
    else:
        summary = read_text(arguments.summary) if arguments.summary else None
        preview = preview_restore(
            workspace,
            current_time(),
            transcript=arguments.transcript,
            summary=summary,
            prompt=arguments.prompt,
            tokens=arguments.tokens,
        )
    value = preview.measured() if context.as_json else None
    if not preview.texts:
        return context.nothing(value, "nothing would be given back: nothing is recorded here yet")
    return context.show(value, preview.text, style="headings")


def show_survival(context: Context, ref: str) -> None:
    """Print what one compaction kept of each item."""
    from unified_state.restore.note_survival import survival_of

    found = context.workspace(create=False).use(lambda archive: survival_of(archive, ref))
    context.show(found, _of_one(found), style="labels")


def list_compactions(context: Context) -> None:
    """Print a line for each compaction."""
    from unified_state.restore.note_survival import survivals

    workspace = context.workspace(create=False)
    found = [] if workspace.is_empty else workspace.use(survivals)
    if not found:
        return context.nothing(found, "no compaction with a summary is archived yet")
    return context.show(found, "\n".join(map(_line, found)), style="labels")


def _of_one(found: dict[str, Any]) -> str:
    told = (f"  {item['ref']:<5} {item['verdict']}{', told again' * item['restored']}" for item in found["items"])
    return "\n".join([_line(found), *told])


def _line(found: dict[str, Any]) -> str:
    return f"{found['ref']}  {found['timestamp']}  {found['line'] or 'there were no items'}"


COMMANDS = {
    "preview": Command(
        _preview,
        either(
            _SESSION,
            option("--transcript FILE", "a transcript that need not be archived"),
            flag("--startup", "at the start of a session in place of after a compaction"),
        ),
        option("--summary FILE", "the client's summary, to leave out what it says"),
        option("--prompt TEXT", "add the turns that this prompt may be about"),
        option("--tokens N", "the size of the whole; default: the setting restore_tokens", type=count),
    ),
}
