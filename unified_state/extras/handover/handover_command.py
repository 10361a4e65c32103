"""`handover`: give the state and the open work to another person or agent, or take them."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator

from unified_state.extras.handover.create_handover import HUMAN, create_handover
from unified_state.extras.handover.take_handover import HandoverResult, take_handover
from unified_state.interfaces.cli.command_context import SESSION, Command, Context, argument
from unified_state.interfaces.cli.commands.transfer import imported_text
from unified_state.lib.fence import visible
from unified_state.lib.record import disk_value
from unified_state.lib.text import counted, one_line
from unified_state.lib.times import current_time


def _hand_over(context: Context, arguments: Namespace) -> None:
    workspace = context.reading()
    path = arguments.file
    records = create_handover(workspace, path, arguments.audience, current_time())
    lines = [f"{path}: {counted(records, 'record')}"]
    if arguments.audience != HUMAN:
        lines.append(f"the recipient runs `unified-state handover take {os.path.basename(path)}`")
    return context.show({"path": path, "records": records}, "\n".join(lines))


def _take_over(context: Context, arguments: Namespace) -> None:
    workspace = context.workspace(create=True)
    taken = take_handover(workspace, arguments.file, current_time())
    value = {**taken.imported.as_dict(), **disk_value(taken.about), "hasCommit": taken.has_commit}
    text = "\n".join(_taken_lines(taken))
    return context.show(value, f"{visible(text)}\n{taken.fenced_brief}".rstrip(), is_visible=True)


def _taken_lines(taken: HandoverResult) -> Iterator[str]:
    yield imported_text(taken.imported)
    about = taken.about
    place = ""
    if about.commit is not None:
        has = {True: ", which is here", False: ", which is not here", None: ""}[taken.has_commit]
        place = f" at {one_line(about.commit)[:8]} on {one_line(about.branch or 'a detached HEAD')[:100]}{has}"
    yield f"handed over by {one_line(about.host or 'a person')[:60]} on {one_line(about.at)[:16]} UTC{place}"
    if about.brief:
        yield "refs in what follows are those of the sender's archive"


COMMANDS = {
    "handover create": Command(
        _hand_over,
        argument("file", metavar="FILE", help="where it is written; only an earlier hand-over is replaced"),
        argument(
            "--for", dest="audience", choices=("codex", "claude", "human"), help="who takes it; human: as Markdown"
        ),
        SESSION,
        about="write the state, the open work and its sources into a file",
    ),
    "handover take": Command(
        _take_over,
        argument("file", metavar="FILE", help="what `handover create` wrote"),
        about="take such a file in: its items are proposed, its text is printed as data",
    ),
}
