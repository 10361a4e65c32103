"""`embed`: make vectors of the archive's steps, for searches by meaning."""

from __future__ import annotations

from unified_state.interfaces.cli.command_context import Command, argument, count, either, option
from unified_state.interfaces.cli.progress import progress_bar
from unified_state.setting_table import MODEL_NAMES, OFF, STATIC

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from unified_state.interfaces.cli.command_context import Context
    from unified_state.interfaces.cli.plain_parser import Values
    from unified_state.memory.workspace.workspace import Workspace


def _embed(context: Context, arguments: Values) -> None:
    from contextlib import ExitStack

    workspace = context.changing()
    setting = workspace.settings.search_vectors
    if arguments.remove is not None:
        return _remove(context, workspace, arguments.remove)
    name = arguments.model or (STATIC if setting == OFF else setting)
    from unified_state.search.vectors.embed_steps import embed  # loads numpy

    with ExitStack() as stack:

        def begin(total: int) -> Callable[[int], None]:
            return stack.enter_context(progress_bar("making vectors", total))

        done = embed(workspace, name, arguments.limit, begin)
    unreadable = f"; {done.unreadable:,} hold no text that it can read" if done.unreadable else ""
    context.show(
        done.as_dict(),
        f"{done.added:,} new vectors: {done.vectors:,} of {done.steps:,} steps have one of {done.model}{unreadable}",
    )
    if setting != name:
        context.say(f'searches do not use them yet; set search_vectors = "{name}"')
    return None


def _remove(context: Context, workspace: Workspace, name: str) -> None:
    from unified_state.search.vectors.remove_vectors import remove_vectors

    done = remove_vectors(workspace, name)
    size = f"the archive has {done.archive_bytes / 1e6:,.1f} MB"
    context.show(done.as_dict(), f"{done.removed:,} vectors of {done.model} removed; {size}")
    if workspace.settings.search_vectors == name:
        context.say('searches still ask for them; set search_vectors = "off"')


COMMANDS = {
    "embed": Command(
        _embed,
        either(
            argument("--model", choices=MODEL_NAMES, help="default: the setting search_vectors, or static"),
            argument("--remove", choices=MODEL_NAMES, help="remove all vectors of a model, and make none"),
        ),
        option("--limit N", "at most so many steps, the newest without a vector", type=count),
    )
}
