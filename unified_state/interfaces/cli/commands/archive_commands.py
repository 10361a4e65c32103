"""`ingest`, `export`, `recall`, `restore`, `forget`, `scan`: what lies in the archive."""

from __future__ import annotations

import os

from unified_state.errors import NotFoundError, UsageError
from unified_state.interfaces.cli.arguments import count
from unified_state.interfaces.cli.command_context import SERVER, Context, own_on_server
from unified_state.lib.times import current_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from unified_state.memory.archive.archive import Archive


def configure(name: str, parser: ArgumentParser) -> None:
    """Add the arguments of one of the commands."""
    if name != "export":
        parser.add_argument("--json", action="store_true", help="print JSON")
    match name:
        case "ingest":
            parser.add_argument("paths", nargs="+", metavar="TRANSCRIPT|FOLDER", help="*.jsonl, or a folder of them")
        case "export":
            which = parser.add_mutually_exclusive_group()
            which.add_argument("--session", metavar="ID", help="only this session")
            which.add_argument("--items", action="store_true", help="the items of the ledger in place of the steps")
            which.add_argument(
                "--full", metavar="FILE", help="all that was said and recorded, into a file that `import` takes"
            )
            parser.add_argument("--from", dest="source", choices=(SERVER,), help="with --full: your own on the server")
        case "recall":
            parser.add_argument(
                "ref", metavar="REF", help="D7 C3 Q1 E12 (items), T41 (turn), S1234 (step), K2 (compaction)"
            )
            parser.add_argument("--lines", metavar="FIRST:LAST", help="only these lines of a step: 200:260, 200:, :60")
            parser.add_argument(
                "--grep", metavar="REGEX", help="only the lines of a step that it is found in, numbered"
            )
        case "restore":
            which = parser.add_mutually_exclusive_group()
            which.add_argument("--session", metavar="ID", help="default: the session that runs this, else the newest")
            which.add_argument("--transcript", metavar="FILE", help="a transcript that need not be archived")
            parser.add_argument("--summary", metavar="FILE", help="the client's summary, to leave out what it says")
            parser.add_argument("--prompt", metavar="TEXT", help="add the turns that this prompt may be about")
            parser.add_argument("--tokens", type=count, metavar="N", help="the size of the whole (4500)")
        case "forget":
            which = parser.add_mutually_exclusive_group(required=True)
            which.add_argument("ref", nargs="?", metavar="REF", help="an item, turn, step or compaction")
            which.add_argument("--session", metavar="ID", help="all of a session")
            which.add_argument("--match", metavar="TEXT", help="everything that holds this text")
        case "scan":
            parser.add_argument("--fix", action="store_true", help="mask what is found")
    runs = {"ingest": _ingest, "export": _export, "recall": _recall, "restore": _restore}
    parser.set_defaults(run={**runs, "forget": _forget, "scan": _scan}[name])


def _ingest(arguments: Namespace) -> int:
    from unified_state.capture.ingest import find_transcripts, ingest
    from unified_state.interfaces.cli.progress import progress_bar

    context = Context(as_json=arguments.json)
    files = find_transcripts(arguments.paths)
    if not files:
        message = f"there is no transcript in {', '.join(arguments.paths)}"
        raise NotFoundError(message, "transcripts end in .jsonl")
    total = sum(os.path.getsize(path) for path, _ in files)
    with progress_bar("archiving", total) as advance:
        done = ingest(context.workspace(create=True), files, current_time(), advance)
    for path in done.skipped:
        context.say(f"{path} was left out: the folder it ran in is gone; name the file to archive it here")
    context.show(done.as_dict(), f"{done.files} transcripts, {done.added:,} new steps")
    return 0


def _export(arguments: Namespace) -> int:
    from unified_state.memory.archive.export_steps import export_steps
    from unified_state.search.recall_ref import export_items

    context = Context(as_json=True)
    if arguments.full is not None:
        return _export_all(context, arguments.full, is_on_server=arguments.source is not None)
    if arguments.source is not None:
        message = "what is on the server is exported as a whole"
        raise UsageError(message, "`unified-state export --full FILE --from server`")

    printed = set()  # where the archive turns out to be damaged, all is read again from the new one

    def action(archive: Archive) -> None:
        lines = export_items(archive) if arguments.items else export_steps(archive, arguments.session)
        for line in lines:
            key = (line["ref"], line.get("session_id"))
            if key not in printed:
                context.write_line(line)
                printed.add(key)

    context.reading().use(action)
    return 0


def _export_all(context: Context, path: str, *, is_on_server: bool) -> int:
    from unified_state.upkeep.exchange.export_history import export_history

    workspace = context.workspace(create=False) if is_on_server else context.reading()
    server = own_on_server(workspace) if is_on_server else None
    context.say(f"{export_history(workspace, path, server):,} records are in {path}")
    return 0


def _recall(arguments: Namespace) -> int:
    from unified_state.interfaces.cli.recall_text import recall_text
    from unified_state.search.find import recall_and_note
    from unified_state.search.recall_ref import Part

    context = Context(as_json=arguments.json)
    part = Part(arguments.lines, arguments.grep) if arguments.lines or arguments.grep else None
    found = recall_and_note(context.reading(), arguments.ref, current_time(), part)
    context.show(found, "" if arguments.json else recall_text(found))
    return 0


def _restore(arguments: Namespace) -> int:
    from unified_state.restore.preview import preview_restore

    context = Context(as_json=arguments.json, session_id=arguments.session)
    workspace = context.workspace(create=False)
    preview = preview_restore(
        workspace,
        current_time(),
        transcript=arguments.transcript,
        summary=_read_file(arguments.summary) if arguments.summary else None,
        prompt=arguments.prompt,
        tokens=arguments.tokens,
    )
    context.show(preview.as_dict(), preview.text)
    return 0


def _read_file(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise NotFoundError(message, "name an existing file") from error


def _forget(arguments: Namespace) -> int:
    from unified_state.upkeep.forget.forget_refs import forget

    context = Context(as_json=arguments.json)
    done = forget(
        context.reading(), current_time(), ref=arguments.ref, session_id=arguments.session, text=arguments.match
    )
    others = f", {done.others} notes and other texts" if done.others else ""
    text = f"forgotten: {done.steps} steps, {done.items} items, {done.summaries} summaries{others}"
    context.show(done.as_dict(), text)
    context.say(
        "the client's own transcripts still hold what they hold; files that were set aside as damaged are not searched"
    )
    return 0


def _scan(arguments: Namespace) -> int:
    from unified_state.interfaces.cli.progress import progress_bar
    from unified_state.upkeep.forget.scan_secrets import scan

    context = Context(as_json=arguments.json)
    workspace = context.reading()
    (total,) = workspace.use(lambda archive: archive.row("SELECT count(*) FROM step"))
    with progress_bar("scanning", total) as advance:
        done = scan(workspace, fix_at=current_time() if arguments.fix else None, report=advance)
    verb = "masked" if arguments.fix else "found"
    text = "\n".join([f"{len(done.refs)} secrets {verb} in {done.looked_at:,} steps", *done.refs])
    context.show(done.as_dict(), text)
    return 1 if done.refs and not arguments.fix else 0
