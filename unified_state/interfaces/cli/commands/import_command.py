"""`import`: what other programs, machines and people kept, into the archive of this repository."""

from __future__ import annotations

import os

from unified_state.interfaces.cli.command_context import SERVER, Context, own_on_server
from unified_state.lib.times import current_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from unified_state.memory.workspace.workspace import Workspace
    from unified_state.team.sync_server import Server
    from unified_state.upkeep.exchange.import_history import Imported, Readable


def configure(_name: str, parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="FILE|FOLDER",
        help="of `export --full`, of claude-flow, of claude-mem, a state file, a transcript or a folder of them",
    )
    parser.add_argument("--project", metavar="NAME", help="what claude-mem calls this project (the folder's name)")
    parser.add_argument("--own", action="store_true", help="a history is your own: what you said there, you said")
    parser.add_argument("--into", choices=(SERVER,), help="a history of your own, not into the archive here")
    parser.set_defaults(run=_import)


def _import(arguments: Namespace) -> int:
    from unified_state.errors import UsageError
    from unified_state.memory.ledger.rules.short_item import may_decide
    from unified_state.upkeep.exchange.import_formats import TRANSCRIPT, find_format
    from unified_state.upkeep.exchange.import_history import examine

    context = Context(as_json=arguments.json)
    forms = {path: TRANSCRIPT if os.path.isdir(path) else find_format(path) for path in arguments.paths}
    workspace = context.workspace(create=True)
    if arguments.own and not may_decide(workspace.origin):
        message = "only the user says that a history is theirs"
        raise UsageError(message, "ask them to run this in a terminal of their own")
    if arguments.into is not None:
        _check_is_for_server(forms, is_own=arguments.own)
    transcripts = [path for path, form in forms.items() if form == TRANSCRIPT]
    server = None if arguments.into is None else own_on_server(workspace)
    files = [(path, form) for path, form in forms.items() if form != TRANSCRIPT]
    readable = [examine(workspace, path, form, arguments.project) for path, form in files]
    found = _find(transcripts) if transcripts else []
    done: list[dict[str, Any]] = []
    try:
        for one in readable:
            done.append(_import_file(context, workspace, one, server, is_own=arguments.own))  # noqa: PERF401  # one by one
        if found:
            done.append(_ingest(context, workspace, found))
    finally:  # what is done is told, also where another one fails
        if done:
            context.show(done, "\n".join(one.pop("text") for one in done) if not arguments.json else "")
    return 0


def _check_is_for_server(forms: dict[str, str], *, is_own: bool) -> None:
    """What waits for the user's word waits in an archive: on a server nobody could give it."""
    from unified_state.errors import UsageError
    from unified_state.upkeep.exchange.import_formats import HISTORY

    for path, form in forms.items():
        if form != HISTORY:
            message = f"{path} is no history of `export --full`, and goes to the server by way of the archive"
            raise UsageError(message, "`unified-state import` it here, then `unified-state sync`")
    if not is_own:
        message = "only a history of your own goes straight into a server"
        raise UsageError(message, "say --own; or import it here, decide what holds, then `unified-state sync`")


def _import_file(
    context: Context, workspace: Workspace, readable: Readable, server: Server | None, *, is_own: bool
) -> dict[str, Any]:
    from unified_state.interfaces.cli.progress import progress_bar
    from unified_state.upkeep.exchange.import_history import import_file

    with progress_bar("importing", readable.records) as advance:
        imported = import_file(workspace, readable, current_time(), advance, is_own=is_own, server=server)
    return _shown(context, imported)


def _find(paths: list[str]) -> list[tuple[str, bool]]:
    from unified_state.capture.ingest import find_transcripts
    from unified_state.errors import NotFoundError

    files = find_transcripts(paths)
    if not files:
        message = f"there is no transcript in {', '.join(paths)}"
        raise NotFoundError(message, "transcripts end in .jsonl; name the files of other programs themselves")
    return files


def _ingest(context: Context, workspace: Workspace, files: list[tuple[str, bool]]) -> dict[str, Any]:
    from unified_state.capture.ingest import ingest
    from unified_state.interfaces.cli.progress import progress_bar
    from unified_state.upkeep.exchange.import_formats import TRANSCRIPT

    with progress_bar("archiving", sum(os.path.getsize(path) for path, _ in files)) as advance:
        done = ingest(workspace, files, current_time(), advance)
    for path in done.skipped:
        context.say(f"{path} was left out: the folder it ran in is gone; name the file to archive it here")
    text = f"{done.files} transcripts, {done.added:,} new steps"
    return {"format": TRANSCRIPT, "records": done.files, "added": done.added, **_text(context, text)}


def _shown(context: Context, imported: Imported) -> dict[str, Any]:
    waiting = f", {imported.proposed:,} proposed (`unified-state proposed`)" if imported.proposed else ""
    left = f", {imported.left:,} left as they are here" if imported.left else ""
    text = f"{imported.path}: {imported.format}, {imported.records:,} records, {imported.added:,} new{waiting}{left}"
    return {**imported.as_dict(), **_text(context, text)}


def _text(context: Context, text: str) -> dict[str, str]:
    return {} if context.as_json else {"text": text}
