"""`status`, `save`, `load`, `age`, `validate`, `work`: the state file and what this session works on."""

from __future__ import annotations

import os

from unified_state.errors import NotFoundError, UsageError
from unified_state.interfaces.cli.command_context import Context
from unified_state.interfaces.cli.status_text import savings_line, server_line
from unified_state.lib.record import disk_value
from unified_state.lib.times import age_text, current_time, to_milliseconds
from unified_state.model.session_state import TRIGGERS
from unified_state.settings import environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from unified_state.memory.manager import UnifiedStateManager
    from unified_state.memory.workspace.workspace import Workspace
    from unified_state.model.session_state import State
    from unified_state.upkeep.doctor.project_status import Status

_COMPACT_LINE = 1_500  # characters
_NOTHING = "nothing is recorded here yet; `unified-state install` begins, `unified-state save` saves the state once"


def configure(name: str, parser: ArgumentParser) -> None:
    """Add the arguments of one of the commands."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    run = {"status": _status, "save": _save, "load": _load, "age": _age, "validate": _validate, "work": _work}[name]
    match name:
        case "save":
            parser.add_argument("--trigger", choices=TRIGGERS, default="manual", help="why it is saved")
            parser.add_argument("--highlight", action="append", default=[], metavar="TEXT", help="a note to keep")
            parser.add_argument(
                "--action", action="append", metavar="TEXT", help="what is still to be done; replaces the list"
            )
        case "age":
            parser.add_argument("--max-age", type=float, metavar="MIN", help="exit 1 where the state is older")
        case "validate":
            parser.add_argument("file", nargs="?", metavar="FILE", help="default: the state file of this worktree")
        case "work":
            verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
            change = verbs.add_parser("set", help="change what is given, keep the rest", allow_abbrev=False)
            change.add_argument("--id", metavar="ID", help="ticket, issue, task")
            change.add_argument("--title", metavar="TEXT")
            change.add_argument("--phase", metavar="TEXT")
            change.add_argument("--progress", metavar="P", help="from 0 to 1, or 75%%")
            change.add_argument("--json", action="store_true", help="print JSON")
            change.add_argument("--session", metavar="ID", help="default: the session that runs this")
            change.set_defaults(run=run)
    if name == "save":
        parser.add_argument("--compact-line", action="store_true", help="print a /compact line that keeps the items")
        parser.add_argument("--session", metavar="ID", help="default: the session that runs this")
    parser.set_defaults(run=run)


def _manager(context: Context, *, create: bool) -> UnifiedStateManager:
    from unified_state.memory.manager import UnifiedStateManager

    return UnifiedStateManager(workspace=context.workspace(create=create))


def _status(arguments: Namespace) -> int:
    from unified_state.upkeep.doctor.project_status import read_status

    context = Context(as_json=arguments.json)
    workspace = context.workspace(create=False)
    if workspace.is_empty:
        context.show({"recorded": False}, _NOTHING)
        return 0
    status = read_status(workspace, current_time(), environment())
    context.show({"recorded": True, **disk_value(status)}, _status_text(status))
    return 0


def _status_text(status: Status) -> str:
    items = ", ".join(
        f"{count} {kind}{'s' if count != 1 and kind != 'evidence' else ''} {state}"
        for kind, states in status.items.items()
        for state, count in states.items()
    )
    now = current_time()
    newest = f", last active {age_text(now - status.newest_step_at)}" if status.newest_step_at else ""
    saved = to_milliseconds(status.saved_at)
    tier = " (tier json)" if status.tier == "json" else ""
    lines = [
        f"repository {status.repository} in {status.worktree}",
        f"archive    {status.turns:,} turns, {status.steps:,} steps, {status.compactions:,} compactions{newest}",
        f"           of {status.sessions:,} sessions",
        f"           {status.archive_bytes / 1e6:.1f} MB in {status.archive_path}{tier}",
        f"state      {items or 'no items'}{f'; {status.paged_out} only in the archive' if status.paged_out else ''}",
        f"           {'saved ' + age_text(now - saved) if saved else 'never saved'}: {status.state_path}",
    ]
    if status.archive_not_shown:
        hidden = f"the archive {status.archive_not_shown}, which takes this in once tier is sqlite again"
        lines.append(f"not shown  {hidden}")
    if status.lean.outputs:
        lines.append(f"lean       {savings_line(status.lean)}")
    lines += [
        f"vectors    {count.steps:,} of {status.steps:,} steps by {count.model} ({count.version})"
        for count in status.vectors
    ]
    if status.server_problem:
        lines.append(f"server     nothing is synced: {status.server_problem}")
    lines += [f"server     {server_line(server, now)}" for server in status.servers]
    if status.copied_from:
        lines.append(f"copy       of {status.copied_from}; `unified-state link` joins its archive")
    return "\n".join([*lines, f"health     {status.health or 'good'}"])


def _save(arguments: Namespace) -> int:
    context = Context(as_json=arguments.json, session_id=arguments.session)
    manager = _manager(context, create=True)
    state = manager.save_state(arguments.trigger, highlights=arguments.highlight, actions=arguments.action)
    if arguments.compact_line:
        context.show(None, _compact_line(context.workspace(create=False), state))
        return 0
    metrics = state.token_metrics
    context.show(disk_value(state), f"saved: {metrics.estimated_tokens} tokens, {metrics.budget_status}")
    return 0


def _compact_line(workspace: Workspace, state: State) -> str:
    from unified_state.memory.ledger.item_table import ACTIVE, stated_items
    from unified_state.restore.rules.summary_guidance import compact_line

    items = workspace.use(lambda archive: stated_items(archive, [ACTIVE]))
    return compact_line(items, state, _COMPACT_LINE)


def _load(arguments: Namespace) -> int:
    context = Context(as_json=arguments.json)
    workspace = context.workspace(create=False)
    if workspace.is_empty and not os.path.exists(workspace.place.state_path):
        raise NotFoundError(*_NOTHING.split("; "))
    state = _manager(context, create=True).load_state()
    if arguments.json:
        context.show(disk_value(state), "")
        return 0
    from unified_state.restore.preview import state_banner

    context.show(None, state_banner(context.workspace(create=False), current_time()))
    return 0


def _age(arguments: Namespace) -> int:
    context = Context(as_json=arguments.json)
    workspace = context.workspace(create=False)
    age = None if workspace.is_empty else _manager(context, create=False).state_age()
    items, lines = ({"valid": 0, "others": []}, []) if workspace.is_empty else _standing(workspace)
    if age is None:
        never = {"ageMinutes": None, "recent": False, "items": items}
        context.show(never, "\n".join(["the state was never saved", *lines]))
        return 1
    recent = age <= workspace.settings.recent_minutes
    too_old = arguments.max_age is not None and age > arguments.max_age
    text = f"saved {age_text(round(age * 60_000))} ({'recent' if recent else 'not recent'})"
    context.show({"ageMinutes": round(age, 2), "recent": recent, "items": items}, "\n".join([text, *lines]))
    return 1 if too_old else 0


def _standing(workspace: Workspace) -> tuple[dict[str, Any], list[str]]:
    """Which items still fit the files, the branch and the conversation: for machines and for people."""
    from unified_state.memory.ledger.check_validity import standing
    from unified_state.memory.ledger.rules.item_lines import validity_text

    found = workspace.use(lambda archive: standing(archive, workspace.place.repository))
    others = [{"ref": ref, "text": validity_text(validity), **disk_value(validity)} for ref, validity in found.others]
    if not (found.valid or others):
        return {"valid": 0, "others": []}, []
    count = f"{found.valid} of {found.valid + len(others)} items valid"
    return {"valid": found.valid, "others": others}, [count, *(f"  {other['ref']} {other['text']}" for other in others)]


def _validate(arguments: Namespace) -> int:
    from unified_state.memory.writer.inspect_state import inspect_ledger, inspect_state_file

    context = Context(as_json=arguments.json)
    workspace = context.workspace(create=False)
    path = arguments.file or workspace.place.state_path
    is_own = os.path.realpath(path) == os.path.realpath(workspace.place.state_path)
    if is_own and not workspace.is_empty:
        findings = workspace.use(lambda archive: [*inspect_state_file(path, archive), *inspect_ledger(archive)])
    else:
        findings = inspect_state_file(path, None)
    text = "\n".join(f"{finding.path}: {finding.message}" for finding in findings) or f"{path}: valid"
    context.show({"valid": not findings, "findings": [disk_value(finding) for finding in findings]}, text)
    return 1 if findings else 0


def _work(arguments: Namespace) -> int:
    context = Context(as_json=arguments.json, session_id=arguments.session)
    given = (arguments.id, arguments.title, arguments.phase, arguments.progress)
    if given == (None,) * len(given):
        message = "there is nothing to set"
        raise UsageError(message, "give --id, --title, --phase or --progress")
    manager = _manager(context, create=True)
    item = manager.set_work_item(arguments.id, arguments.title, arguments.phase, _progress(arguments.progress))
    fields = disk_value(item)
    context.show(fields, ", ".join(f"{name} {value}" for name, value in fields.items()))
    return 0


def _progress(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        message = f"--progress is {text!r}"
        raise UsageError(message, "give a number from 0 to 1, or a percentage such as 75%") from None
