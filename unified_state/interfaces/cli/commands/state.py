"""`status`, `save`, `age`, `validate`, `work`: a summary of the archive, and the state file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from unified_state.errors import NotFoundError, UsageError
from unified_state.extension import hook
from unified_state.interfaces.cli.command_context import SESSION, Command, Context, argument, flag, option
from unified_state.ledger.item_table import ACTIVE, PROPOSED, stated_items
from unified_state.ledger.rules.item_lines import validity_text
from unified_state.lib.record import disk_value
from unified_state.lib.text import counted
from unified_state.lib.times import age_text, current_time, to_milliseconds
from unified_state.model.context_usage import FROM_CLIENT, FROM_COMPACTIONS, FROM_DEFAULT
from unified_state.model.session_state import TRIGGERS, State, WorkItem
from unified_state.project.workspace.workspace import READER_SECONDS, Workspace
from unified_state.settings import environment, load_settings

if TYPE_CHECKING:
    from argparse import Namespace

    from unified_state.archive.cut_outputs import Savings
    from unified_state.context.context_report import ContextReport
    from unified_state.state_file.manager import UnifiedStateManager
    from unified_state.upkeep.doctor.project_status import Status

_KNOWN_FROM = {
    FROM_CLIENT: "as its environment says",
    FROM_COMPACTIONS: "as it did before",
    FROM_DEFAULT: "by its documentation",
}
_CONTEXT_AT = 6  # behind the lines of the state
_NOTHING = "nothing is recorded here yet; start claude here after `unified-state install`"


def _manager(context: Context, *, reads: bool = False) -> UnifiedStateManager:
    from unified_state.state_file.manager import UnifiedStateManager

    workspace = context.workspace(create=True)
    return UnifiedStateManager(workspace=workspace.replace(seconds=READER_SECONDS) if reads else workspace)


def _status(context: Context, arguments: Namespace) -> None:
    if arguments.line:
        from unified_state.interfaces.statusline import run

        return run(load_settings(None, environment()).data_dir)
    if arguments.context or arguments.session_id:
        return _context(context)
    from unified_state.context.context_report import report_context
    from unified_state.upkeep.doctor.project_status import minutes_since, silence, status_of

    workspace = context.workspace(create=False)
    if workspace.is_empty:
        told = silence(workspace.place, workspace.settings, environment())
        return context.nothing({"recorded": False}, "; ".join(told) or _NOTHING)
    now = current_time()
    of_team: Any = hook("STATUS_OF_TEAM") or (lambda *_: ([], {}))
    status, (more, fields) = workspace.use(
        lambda archive: (
            status_of(archive, workspace, now, environment()),
            of_team(archive, workspace, now, environment()),
        )
    )
    minutes = minutes_since(status.saved_at, now)
    value = {
        "recorded": True,
        **disk_value(status),
        **fields,
        "recent": minutes is not None and minutes <= workspace.settings.recent_minutes,
        "context": None,
    }
    lines = _status_lines(status, now, more)
    report = report_context(workspace, environment(), now)
    if report is not None and report.watched is not None:
        tokens, limit, phase = report.watched.tokens, report.watched.limit.tokens, report.watched.phase
        share = f"{tokens:,} tokens, {tokens * 100 / limit:.0f} % of the way to the compaction"
        lines.insert(_CONTEXT_AT, f"context    {share}, phase {phase}")
        value["context"] = {"sessionId": report.session_id, "tokens": tokens, "compactsAt": limit, "phase": phase}
    return context.show(value, "\n".join(lines), style="labels")


def _context(context: Context) -> None:
    from unified_state.context.context_report import report_context

    workspace = context.workspace(create=False)
    report = None if workspace.is_empty else report_context(workspace, environment(), current_time())
    if report is None:
        context.nothing(None, "no session is known here yet; the hooks of `unified-state install` watch the context")
    else:
        context.show(_fields(report), "\n".join(_lines(report)), style="labels")


def _fields(report: ContextReport) -> dict[str, Any]:
    reading, watched = report.reading, report.watched
    return {
        "session_id": report.session_id,
        "tokens": reading.tokens if reading else None,
        "window": reading.window if reading else None,
        "percent": round(reading.tokens * 100 / reading.window, 1) if reading else None,
        "compacts_at": watched.limit.tokens if watched else None,
        "known_from": watched.limit.known_from if watched else None,
        "percent_of_limit": round(reading.tokens * 100 / watched.limit.tokens, 1) if reading and watched else None,
        "phase": watched.phase if watched else None,
        "compactions": [cut.as_dict() for cut in report.compactions],
        "lean": report.lean.as_dict(),
    }


def _lines(report: ContextReport) -> list[str]:
    reading, watched = report.reading, report.watched
    lines = [f"session    {report.session_id}"]
    if reading is None or watched is None:
        return [*lines, "context    no answer since it began or was compacted"]
    tokens, limit = reading.tokens, watched.limit
    share, full = tokens * 100 / limit.tokens, tokens * 100 / reading.window
    known = _KNOWN_FROM[limit.known_from]
    lines.append(f"context    {tokens:,} of {reading.window:,} tokens ({full:.0f} %), phase {watched.phase}")
    lines.append(f"compaction at about {limit.tokens:,} tokens, {known}; {share:.0f} % of the way")
    if report.lean.outputs:
        lines.append(f"lean       {savings_line(report.lean)}")
    cuts = report.compactions
    return [*lines, *(f"{cut.ref:<10} {cut.trigger or 'unknown'} at {cut.pre_tokens or 0:,} tokens" for cut in cuts)]


def short_status(context: Context) -> list[str]:
    """Return what is recorded here in two lines."""
    workspace = context.workspace(create=False)
    if workspace.is_empty:
        return [_NOTHING.partition(",")[0]]
    from unified_state.upkeep.doctor.project_status import status_of

    now = current_time()
    status = workspace.use(lambda archive: status_of(archive, workspace, now, environment()))
    active = sum(states.get(ACTIVE, 0) for states in status.items.values())
    waiting = sum(states.get(PROPOSED, 0) for states in status.items.values())
    waits = f", {waiting:,} {'waits' if waiting == 1 else 'wait'} for you (`unified-state inbox`)" if waiting else ""
    return [
        f"{counted(status.turns, 'turn')} and {counted(active, 'item')} are kept of {status.worktree}{waits}",
        f"the state was {_saved_text(status, now)}; health {status.health or 'good'}; `unified-state status` has more",
    ]


def _saved_text(status: Status, now: int) -> str:
    saved = to_milliseconds(status.saved_at)
    return "never saved" if saved is None else f"saved {age_text(now, saved)}"


def _status_lines(status: Status, now: int, more: list[str]) -> list[str]:
    items = ", ".join(
        f"{count} {kind}{'s' if count != 1 and kind != 'evidence' else ''} {state}"
        for kind, states in status.items.items()
        for state, count in states.items()
    )
    newest = f", last active {age_text(now, status.newest_step_at)}" if status.newest_step_at else ""
    tier = " (tier json)" if status.tier == "json" else ""
    lines = [
        f"repository {status.repository} in {status.worktree}",
        f"archive    sessions {status.sessions:,}, turns {status.turns:,}, steps {status.steps:,}{newest}",
        f"           {status.archive_bytes / 1e6:.1f} MB in {status.archive_path}{tier}",
        f"state      {items or 'no items'}{f'; {status.paged_out} only in the archive' if status.paged_out else ''}",
        f"           {_saved_text(status, now)}: {status.state_path}",
    ]
    if status.lean.outputs:
        lines.append(f"lean       {savings_line(status.lean)}")
    lines += [
        f"vectors    {count.steps:,} of {status.steps:,} steps by {count.model} ({count.version})"
        for count in status.vectors
    ]
    lines += more
    return [*lines, f"health     {status.health or 'good'}"]


def savings_line(savings: Savings) -> str:
    """Return one line on the savings of lean context."""
    outputs = "1 output" if savings.outputs == 1 else f"{savings.outputs:,} outputs"
    recalls = {0: "none was recalled", 1: "1 recall took"}.get(savings.recalls, f"{savings.recalls:,} recalls took")
    cost = f" about {savings.recalled_tokens:,} back" if savings.recalls else ""
    return f"{outputs} shortened, about {savings.saved_tokens:,} tokens less; {recalls}{cost}"


def _save(context: Context, arguments: Namespace) -> None:
    state = _manager(context).save_state(arguments.trigger, highlights=arguments.highlight, actions=arguments.action)
    if arguments.compact_line:
        return context.show(None, _compact_line(context.workspace(create=False), state))
    metrics = state.token_metrics
    return context.show(disk_value(state), f"saved: {metrics.estimated_tokens} tokens, {metrics.budget_status}")


def _compact_line(workspace: Workspace, state: State) -> str:
    from unified_state.restore.rules.summary_guidance import COMPACT_LINE, compact_line

    items = workspace.use(lambda archive: stated_items(archive, [ACTIVE]))
    return compact_line(items, state, COMPACT_LINE, current_time())


def show_state(context: Context) -> None:
    """Print the state and update the state file."""
    from unified_state.restore.preview import startup_text

    workspace = context.workspace(create=False)
    if workspace.is_empty and not os.path.exists(workspace.place.state_path):
        raise NotFoundError(*_NOTHING.split("; "))
    state = _manager(context, reads=True).load_state()
    text = "" if context.as_json else startup_text(context.workspace(create=False), current_time())
    return context.show(disk_value(state), text or "the state is empty", style="headings")


def _age(context: Context, arguments: Namespace) -> int:
    from unified_state.upkeep.doctor.project_status import minutes_since, read_saved_at

    workspace, now = context.workspace(create=False), current_time()
    place, is_empty = workspace.place, workspace.is_empty
    saved_at = None if is_empty else workspace.use(lambda archive: read_saved_at(archive, place))
    age = minutes_since(saved_at, now)
    items, lines = ({"valid": 0, "others": []}, []) if is_empty else _standing(workspace)
    when = age_text(now, to_milliseconds(saved_at))
    if age is None:
        never = {"ageMinutes": None, "recent": False, "items": items}
        told = "the state was never saved" if saved_at is None else f"saved {when}"
        context.show(never, "\n".join([told, *lines]))
        return 1
    recent = age <= workspace.settings.recent_minutes
    text = f"saved {when} ({'recent' if recent else 'not recent'})"
    context.show({"ageMinutes": round(age, 2), "recent": recent, "items": items}, "\n".join([text, *lines]))
    return 1 if arguments.max_age is not None and age > arguments.max_age else 0


def _standing(workspace: Workspace) -> tuple[dict[str, Any], list[str]]:
    """Return the items that still match the files, the branch and the conversation: for programs and for people."""
    from unified_state.ledger.check_validity import standing

    found = workspace.use(lambda archive: standing(archive, workspace.place.repository))
    others = [{"ref": ref, "text": validity_text(validity), **disk_value(validity)} for ref, validity in found.others]
    count = f"{found.valid} of {found.valid + len(others)} items valid"
    lines = [count, *(f"  {other['ref']} {other['text']}" for other in others)] if found.valid or others else []
    return {"valid": found.valid, "others": others}, lines


def _validate(context: Context, arguments: Namespace) -> int:
    from unified_state.ledger.explain_item import check_provenance
    from unified_state.state_file.writer.inspect_state import inspect_state_file

    workspace = context.workspace(create=False)
    path = arguments.file or workspace.place.state_path
    is_own = os.path.realpath(path) == os.path.realpath(workspace.place.state_path)
    if is_own and not workspace.is_empty:
        findings = workspace.use(lambda archive: [*inspect_state_file(path, archive), *check_provenance(archive)])
    else:
        findings = inspect_state_file(path, None)
    text = (
        "\n".join(f"{path if finding.path == '$' else finding.path}: {finding.message}" for finding in findings)
        or f"{path}: valid"
    )
    context.show({"valid": not findings, "findings": [disk_value(finding) for finding in findings]}, text)
    return 1 if findings else 0


def _work(context: Context, arguments: Namespace) -> None:
    given = {name: getattr(arguments, name) for name in ("id", "title", "phase", "goal", "verified")}
    progress = _progress(arguments.progress)
    if all(value is None for value in (*given.values(), progress)):
        message = "there is nothing to set"
        raise UsageError(message, "give --id, --title, --goal, --phase, --progress or --verified")
    _show_work(context, _manager(context).set_work_item(progress=progress, **given))


def _work_now(context: Context, _arguments: Namespace) -> None:
    workspace = context.workspace(create=False)
    state = None if workspace.is_empty else _manager(context, reads=True).load_state()
    _show_work(context, None if state is None else state.work_item)


def _show_work(context: Context, item: WorkItem | None) -> None:
    fields = {} if item is None else disk_value(item)
    texts = {name: ", ".join(value) if isinstance(value, list) else value for name, value in fields.items()}
    told = [f"{name} {value}" for name, value in texts.items() if value != ""]
    context.show(fields, ", ".join(told))
    if not told:
        context.say("no work item is set")


def _progress(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        progress = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        progress = -1.0
    if not 0 <= progress <= 1:
        message = f"--progress is {text!r}"
        raise UsageError(message, "give a number from 0 to 1, or a percentage such as 75%")
    return progress


COMMANDS = {
    "status": Command(
        _status,
        flag("--context", "how full the context is, how it grew, and when the client will compact it"),
        flag("--line", "the status line; the client's JSON is on stdin"),
        option("--session ID", "with --context; default: the session that runs this command", dest="session_id"),
    ),
    "save": Command(
        _save,
        argument("--trigger", choices=TRIGGERS, default="manual", help="why it is saved"),
        option("--highlight TEXT", "a note to keep", action="append", default=[]),
        option("--action TEXT", "what is still to be done; replaces the list", action="append"),
        flag("--compact-line", "print a /compact line that keeps the items"),
        SESSION,
    ),
    "age": Command(_age, option("--max-age MIN", "exit 1 if the state is older", type=float)),
    "validate": Command(
        _validate, argument("file", nargs="?", metavar="FILE", help="default: the state file of this worktree")
    ),
    "work": Command(_work_now),
    "work show": Command(_work_now, about="show it; the same without a verb"),
    "work set": Command(
        _work,
        option("--id ID", "ticket, issue, task"),
        argument("--title", metavar="TEXT"),
        option("--goal TEXT", "what is true when it is done"),
        argument("--phase", metavar="TEXT"),
        option("--verified ID", "evidence that shows what is done", action="append"),
        option("--progress P", "from 0 to 1, or 75%%"),
        SESSION,
        about="change what is given, keep the rest",
    ),
}
