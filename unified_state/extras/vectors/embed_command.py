"""`embed`: make vectors of the archive's steps, for searches by meaning."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from contextlib import ExitStack

from unified_state.extras.vectors.embed_steps import embed, remove_vectors
from unified_state.interfaces.cli.command_context import Command, Context, count, flag, option
from unified_state.interfaces.cli.terminal import progress_bar
from unified_state.project.workspace.workspace import Workspace
from unified_state.setting_table import MINILM, OFF


def _embed(context: Context, arguments: Namespace) -> None:
    workspace = context.changing()
    if arguments.remove:
        return _remove(context, workspace)
    with ExitStack() as stack:

        def begin(total: int) -> Callable[[int], None]:
            return stack.enter_context(progress_bar("making vectors", total))

        done = embed(workspace, arguments.limit, begin)
    unreadable = f"; {done.unreadable:,} hold no text that it can read" if done.unreadable else ""
    context.show(
        done.as_dict(),
        f"{done.added:,} new vectors: {done.vectors:,} of {done.steps:,} steps have one of {done.model}{unreadable}",
    )
    if workspace.settings.search_vectors == OFF:
        context.say(f'searches do not use them yet; set search_vectors = "{MINILM}"')
    return None


def _remove(context: Context, workspace: Workspace) -> None:
    done = remove_vectors(workspace)
    size = f"the archive has {done.archive_bytes / 1e6:,.1f} MB"
    context.show(done.as_dict(), f"{done.removed:,} vectors of {done.model} removed; {size}")
    if workspace.settings.search_vectors != OFF:
        context.say(f'searches still ask for them; set search_vectors = "{OFF}"')


COMMANDS = {
    "embed": Command(
        _embed,
        flag("--remove", "remove all vectors, and make none"),
        option("--limit N", "at most so many steps, the newest without a vector", type=count),
    )
}
