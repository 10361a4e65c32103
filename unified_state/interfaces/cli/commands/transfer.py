"""`import`, `export`: add history to the archive, and write it to files."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.export_steps import as_markdown, export_steps
from unified_state.capture.ingest import IngestResult, find_transcripts, ingest
from unified_state.errors import NotFoundError, UsageError
from unified_state.extension import need
from unified_state.interfaces.cli.command_context import (
    GLOBAL,
    SERVER,
    Command,
    Context,
    argument,
    either,
    flag,
    option,
)
from unified_state.interfaces.cli.terminal import progress_bar
from unified_state.ledger.rules.short_item import may_decide
from unified_state.lib.fence import visible
from unified_state.lib.text import counted
from unified_state.lib.times import current_time
from unified_state.project.workspace.workspace import Workspace
from unified_state.search.recall_ref import export_items
from unified_state.settings import environment
from unified_state.upkeep.exchange.import_formats import TRANSCRIPT, find_sources
from unified_state.upkeep.exchange.import_history import ImportResult, check, import_file
from unified_state.upkeep.history.archive_rows import everything
from unified_state.upkeep.history.history_file import write_history


def _archive(context: Context, workspace: Workspace, files: list[tuple[str, bool]]) -> tuple[IngestResult, str]:
    """Archive transcripts. Return the result and its line of text."""
    with progress_bar("archiving", sum(os.path.getsize(path) for path, _ in files)) as advance:
        done = ingest(workspace, files, current_time(), advance)
    for path in done.skipped:
        context.say(f"skipped {path}: its project folder is unknown or gone (name the file itself to archive it here)")
    lines = [_amount(done.files, done.added)]
    if set(done.places) - {workspace.place.repository.worktree}:  # a folder of projects
        lines += [f"  {_amount(*numbers)} in {worktree}" for worktree, numbers in done.places.items()]
    return done, "\n".join(lines)


def _amount(files: int, steps: int) -> str:
    return f"{counted(files, 'transcript')}, {counted(steps, 'new step')}"


def _import(context: Context, arguments: Namespace) -> None:
    sources = [source for path in dict.fromkeys(arguments.paths) for source in find_sources(path)]
    workspace = context.workspace(create=True)
    if arguments.own and not may_decide(workspace.origin):
        message = "only the user says that a history is theirs"
        raise UsageError(message, "ask them to run this in a terminal of their own")
    # Every file is read to its end before anything is written.
    readable = [one for one in sources if one.format != TRANSCRIPT]
    for one in readable:
        check(workspace, one, arguments.project)
    transcripts = [one.path for one in sources if one.format == TRANSCRIPT]
    found = find_transcripts(transcripts)
    if transcripts and not found:
        message = f"there is no transcript in {', '.join(transcripts)}"
        raise NotFoundError(message, "transcripts end in .jsonl")
    done: list[tuple[dict[str, Any], str]] = []
    try:
        for one in readable:
            imported = import_file(workspace, one, current_time(), arguments.project, is_own=arguments.own)
            done.append((imported.as_dict(), imported_text(imported)))
        if found:
            ingested, text = _archive(context, workspace, found)
            done.append((_ingested_value(ingested), text))
    finally:  # print the imported files even if a later one fails
        if done:
            context.show([value for value, _ in done], "\n".join(text for _, text in done))


def _ingested_value(done: IngestResult) -> dict[str, Any]:
    places = {worktree: {"files": files, "added": steps} for worktree, (files, steps) in done.places.items()}
    return {"format": "transcript", "records": done.files, "added": done.added, "places": places}


def imported_text(imported: ImportResult) -> str:
    """Return one line on an imported file."""
    waiting = f", {imported.proposed:,} proposed (`unified-state inbox`)" if imported.proposed else ""
    left = f", {imported.left:,} left as they are here" if imported.left else ""
    left += f", {imported.elsewhere:,} of other projects left out" if imported.elsewhere else ""
    left += f", {imported.skipped:,} damaged skipped (first: {imported.first_skipped})" if imported.skipped else ""
    count = counted(imported.records, "record")
    return f"{imported.path}: {imported.format}, {count}, {imported.added:,} new{waiting}{left}"


def _export(context: Context, arguments: Namespace) -> None:
    if arguments.full is not None:
        return _export_all(context, arguments.full, is_on_server=arguments.source is not None)
    if arguments.source is not None:
        message = "the history on the server is exported as a whole"
        raise UsageError(message, "`unified-state export --full FILE --from server`")
    if arguments.markdown and arguments.items:
        message = "items are exported as JSON"
        raise UsageError(message, "leave out --markdown, or --items")

    printed = set()  # a damaged archive is read again from its replacement

    def action(archive: Archive) -> None:
        for line in export_items(archive) if arguments.items else export_steps(archive, arguments.session):
            key = (line["ref"], line.get("session_id"))
            if key not in printed and arguments.markdown:
                context.write(visible(as_markdown(line)))
            elif key not in printed:
                context.write_line(line)
            printed.add(key)

    return context.reading().use(action)


def _export_all(context: Context, path: str, *, is_on_server: bool) -> None:
    if is_on_server:
        server = need("TEAM_SERVER")(context.workspace(create=False), environment())
        with server.open() as store:
            count = write_history(path, server.project, store.own_records())
    else:
        workspace = context.reading()
        count = workspace.use(lambda archive: write_history(path, workspace.place.id or "", everything(archive)))
    context.say(f"{path} has {counted(count, 'record')}")


COMMANDS = {
    "import": Command(
        _import,
        argument(
            "paths",
            nargs="+",
            metavar="FILE|FOLDER",
            help="of `export --full`, a transcript, a state file, or memories, issues or sessions of others",
        ),
        option("--project NAME", "claude-mem's name of this project (the folder's name)"),
        flag("--own", "a history is your own: what you said there counts as your word"),
    ),
    "export": Command(
        _export,
        either(
            option("--session ID", "only this session"),
            flag("--items", "the items of the ledger in place of the steps"),
            option("--full FILE", "all steps, items and compactions, into a file that `import` takes"),
        ),
        argument("--from", dest="source", choices=(SERVER,), help="with --full: your own history on the server"),
        flag("--markdown", "steps as Markdown, to read"),
        GLOBAL,
        has_json=False,
        empty=[],
    ),
}
