"""Items: `decision`, `constraint` … record and list them, `edit`, `drop`, `close`, `reopen`, `undo` correct them, and
`inbox` decides on what waits.

Recording loads only what records. Every other verb imports what it needs.
"""

from __future__ import annotations

import os
import sys
from argparse import SUPPRESS
from typing import TYPE_CHECKING, Any

from unified_state.errors import NotAtGateError, UsageError
from unified_state.interfaces.cli.command_context import SESSION, Add, Command, Context, argument, either, flag, option
from unified_state.ledger.item_table import ACTIVE, PROPOSED, find_item, list_items
from unified_state.ledger.rules.item_lines import harmless, item_line
from unified_state.ledger.rules.short_item import main_text, short_form
from unified_state.lib.record import Record, disk_value
from unified_state.lib.text import cut
from unified_state.lib.times import age_text, current_time, to_milliseconds
from unified_state.model.constraint import DENY, MODES, USER_SAID
from unified_state.model.item import (
    CONSTRAINT,
    DECISION,
    EVIDENCE_TYPES,
    ITEM_KINDS,
    MAIN_FIELDS,
    PRIORITIES,
    QUESTION,
    Constraint,
    LedgerItem,
)
from unified_state.model.scope import enforcement_of, scope_of
from unified_state.state_file.writer.record_state import add_item

if TYPE_CHECKING:
    from argparse import Namespace

_LINE, _CUT = 400, 160  # characters of an item in a list, and in a message
_FIELDS = ("rationale", "source", "context", "outcome", "priority", "type", "mode", "reversible", "blocking")


def _text(words: str) -> str:
    return sys.stdin.read() if words == "-" else words


def _show(context: Context, entry: Record) -> None:
    fields = disk_value(entry)
    context.show(fields, str(fields["id"]))


def _body(arguments: Namespace) -> dict[str, Any]:
    about, given = ITEM_KINDS[arguments.command], vars(arguments)
    return {about.main: _text(arguments.text), **{name: given[name] for name in about.others}}


def _add(context: Context, arguments: Namespace) -> None:
    _show(context, add_item(context.workspace(create=True), arguments.command, _body(arguments)))


def _supersede(context: Context, arguments: Namespace) -> None:
    if arguments.by is not None:
        from unified_state.ledger.record_item import supersede
        from unified_state.state_file.writer.correct_state import correct

        return _show(context, correct(context.workspace(create=True), supersede, arguments.id, arguments.by))
    if arguments.rationale is None:
        message = "there is no rationale"
        raise UsageError(message, "give --rationale, or --by with a decision that is recorded already")
    workspace = context.workspace(create=True)
    return _show(context, add_item(workspace, DECISION, _body(arguments), supersedes=arguments.id))


def _add_constraint(context: Context, arguments: Namespace) -> None:
    scope = {} if arguments.scope is None else disk_value(scope_of(arguments.scope))
    body = _body(arguments) | enforcement_of(scope or None, arguments.mode)
    entry = add_item(context.workspace(create=True), CONSTRAINT, body)
    if isinstance(entry, Constraint) and entry.scope is not None:
        if entry.mode == DENY and entry.origin != USER_SAID:
            context.say(f"{entry.id} asks for now: only the user's own word denies")
        context.say(f"{entry.id} is enforced; a session that runs already notices within a second or two")
    _show(context, entry)


def _lift(context: Context, arguments: Namespace) -> None:
    from unified_state.state_file.writer.correct_state import lift_constraint

    _show(context, lift_constraint(context.workspace(create=True), arguments.id))


def _resolve(context: Context, arguments: Namespace) -> None:
    from unified_state.ledger.correct_item import close
    from unified_state.state_file.writer.correct_state import correct

    entry = correct(context.workspace(create=True), close, arguments.id, _text(arguments.text), kind=QUESTION)
    _show(context, entry)


def _close(context: Context, arguments: Namespace) -> None:
    from unified_state.ledger.correct_item import close
    from unified_state.state_file.writer.correct_state import correct

    text = "" if arguments.text is None else _text(arguments.text)
    _show(context, correct(context.changing(), close, arguments.ref, text))


def _list(context: Context, arguments: Namespace) -> None:
    items = _items(context, arguments.command, () if arguments.all else (ACTIVE, PROPOSED))
    lines = [item_line(item, _LINE) + ("" if item.status == ACTIVE else f" [{item.status}]") for item in items]
    if not items:
        return context.nothing([], f"no {arguments.command} is recorded here yet")
    return context.show([disk_value(short_form(item)) for item in items], "\n".join(lines), style="labels")


def _items(context: Context, kind: str | None, statuses: tuple[str, ...]) -> list[LedgerItem]:
    workspace = context.workspace(create=False)
    return [] if workspace.is_empty else workspace.use(lambda archive: list_items(archive, kind, statuses))


def _edit(context: Context, arguments: Namespace) -> None:
    from unified_state.ledger.correct_item import edit
    from unified_state.state_file.writer.correct_state import correct

    workspace = context.changing()
    older = workspace.use(lambda archive: find_item(archive, arguments.ref))
    entry = correct(workspace, edit, older.alias, _changes(arguments, MAIN_FIELDS[older.kind]))
    if entry.id == older.alias:
        context.say(f"{entry.id} says so already")
    elif entry.status == PROPOSED and older.kind == CONSTRAINT:
        message = f"only the user changes {older.alias}"
        raise NotAtGateError(message, f"ask them to run `unified-state inbox accept {entry.id}`")
    elif entry.status == PROPOSED:
        context.say(f"{older.alias} stays as it is until the user accepts {entry.id} (`unified-state inbox`)")
    else:
        context.say(f"{entry.id} takes the place of {older.alias}")
    _show(context, entry)


def _changes(arguments: Namespace, main_field: str) -> dict[str, Any]:
    """Return the given fields by their names in an item."""
    given = {name: getattr(arguments, name) for name in _FIELDS}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if arguments.text is not None:
        changes[main_field] = _text(arguments.text).replace("\r\n", "\n").rstrip("\n")
    if arguments.scope is not None:
        changes["scope"] = disk_value(scope_of(arguments.scope))
    if arguments.no_scope:
        changes["scope"] = None
    return changes


def _drop(context: Context, arguments: Namespace) -> None:
    from unified_state.ledger.correct_item import drop
    from unified_state.state_file.writer.correct_state import correct

    _show(context, correct(context.changing(), drop, arguments.ref, why=arguments.why or ""))


def _reopen(context: Context, arguments: Namespace) -> None:
    from unified_state.ledger.correct_item import reopen
    from unified_state.state_file.writer.correct_state import correct

    _show(context, correct(context.changing(), reopen, arguments.ref))


def _undo(context: Context, _arguments: Namespace) -> None:
    from unified_state.state_file.writer.correct_state import undo_newest

    undone = undo_newest(context.changing())
    items = [f"{item.alias} is {item.status} now: {cut(harmless(main_text(item)), _CUT)}" for item in undone.items]
    age = age_text(current_time(), to_milliseconds(undone.at))
    value = {"undone": undone.verb, "at": undone.at, "items": [disk_value(short_form(item)) for item in undone.items]}
    context.show(value, "\n".join([f"undone: {undone.verb}, {age}", *(f"  {line}" for line in items)]))


def _inbox(context: Context, _arguments: Namespace) -> None:
    from unified_state.interfaces.cli.inbox_lines import inbox_lines, inbox_value, note_lines, note_value
    from unified_state.state_file.writer.foreign_file import Inbox, file_name, read_all

    workspace, now = context.workspace(create=False), current_time()
    if os.path.lexists(workspace.place.state_path):  # what it holds may have to be noted first
        workspace = context.workspace(create=True)
    is_empty = workspace.is_empty and not os.path.lexists(workspace.place.state_path)
    found = Inbox([], []) if is_empty else workspace.use(lambda archive: read_all(archive, workspace, now))
    if not found:
        return context.nothing([], "nothing waits for you")
    file = file_name(workspace.place)
    lines = [line for one in found.items for line in inbox_lines(one, now, file)]
    lines += [line for one in found.notes for line in note_lines(one, now, file)]
    values = [inbox_value(one, file) for one in found.items] + [note_value(one, file) for one in found.notes]
    context.show(values, "\n".join(lines), style="labels")
    if sys.stdout.isatty() and not context.as_json:
        ref = found.items[-1].item.alias if found.items else f"--all {file}"
        context.say(f"decide with `unified-state inbox accept {ref} …` or `unified-state inbox reject {ref} …`")
    return None


def _decide(context: Context, arguments: Namespace) -> None:
    accepted = arguments.verb == "accept"
    why = "" if accepted else arguments.why or ""
    if arguments.all is not None:
        return _decide_all(context, arguments.all, accepted=accepted, why=why)
    from unified_state.state_file.writer.correct_state import decide_proposals

    entries = decide_proposals(context.changing(), arguments.refs, accepted=accepted, why=why)
    return context.show([disk_value(entry) for entry in entries], "\n".join(entry.id for entry in entries))


def _decide_all(context: Context, path: str, *, accepted: bool, why: str) -> None:
    from unified_state.interfaces.cli.inbox_lines import note_value
    from unified_state.state_file.writer.foreign_file import decide_all, file_name

    workspace = context.workspace(create=True) if path and os.path.lexists(path) else context.changing()
    items, notes = decide_all(workspace, path, accepted=accepted, why=why)
    if not (items or notes):
        return context.nothing([], "nothing waits for you")
    values = [disk_value(item) for item in items] + [note_value(one, file_name(workspace.place)) for one in notes]
    names = [item.id for item in items] + [one.note.kind for one in notes]
    return context.show(values, "\n".join(names))


_TEXT = argument("text", metavar="TEXT", help="`-` reads it from stdin")
_ID = argument("id", metavar="ID")
_NO_SESSION = argument("--session", dest="session_id", help=SUPPRESS)  # taken for scripts; a list has no use for it
_SOURCE = option("--source S", "where it comes from", required=True)
_IRREVERSIBLE = argument("--irreversible", dest="reversible", action="store_false", help="it cannot be changed later")


_REF = argument("ref", metavar="REF", help="an item: D7 C3 Q1 E12 A2")
_WHY = option("--why TEXT", "the reason, which is kept")
_CHOSEN = either(
    argument("refs", nargs="*", metavar="ID", default=[], help="such as C4"),
    argument("--all", nargs="?", const="", metavar="FILE", help="all that waits, or all of a state file"),
    required=True,
)
_ACCEPT = Command(_decide, _CHOSEN, about="they hold from now on, as your word")
_REJECT = Command(_decide, _CHOSEN, _WHY, about="they do not hold, and are not proposed again")
_LIST = "list what waits, the newest last; the same without a verb"


def _switch(name: str, opposite: str, text: str) -> Add:
    """Return a function that adds two options, which set a field to true and to false."""
    given: dict[str, Any] = {"dest": name.removeprefix("--"), "default": None, "help": text}
    return either(argument(name, action="store_true", **given), argument(opposite, action="store_false", **given))


def _rationale(*, required: bool) -> Add:
    return option("--rationale TEXT", "why", required=required)


def _verbs(kind: str, add: Command, **others: Command) -> dict[str, Command]:
    every = flag("--all", "also superseded, resolved and dismissed ones")
    article = {"evidence": "", "attempt": "an attempt that failed"}.get(kind, f"a {kind}") or kind
    several = kind if kind == "evidence" else f"{kind}s"
    add.about = f"record {article}"
    listing = Command(_list, every, _NO_SESSION, about=f"list the {several}, the newest last")
    return {f"{kind} {verb}": command for verb, command in {"add": add, **others, "list": listing}.items()}


def _closing(kind: str, what: str) -> Command:
    text = argument("text", nargs="?", metavar="TEXT", help=f"{what}; `-` reads it from stdin")
    return Command(_close, _REF, text, about=f"close {kind} ID")


COMMANDS = {
    **_verbs(
        "decision",
        Command(_add, _TEXT, _rationale(required=True), _IRREVERSIBLE, SESSION),
        supersede=Command(
            _supersede,
            _ID,
            either(
                argument("text", nargs="?", metavar="TEXT", help="`-` reads it from stdin"),
                option("--by ID", "one that is recorded already"),
                required=True,
            ),
            _rationale(required=False),
            _IRREVERSIBLE,
            SESSION,
            about="record the decision that supersedes ID",
        ),
    ),
    **_verbs(
        "constraint",
        Command(
            _add_constraint,
            _TEXT,
            _SOURCE,
            flag("--blocking", "it never leaves the state file"),
            option(
                "--scope KIND:PATTERN",
                "enforced on tool calls: command:git push --force, path:migrations/**, tool:WebFetch (repeatable)",
                action="append",
            ),
            argument("--mode", choices=MODES, help="what happens to such a call (default: ask)"),
            SESSION,
        ),
        lift=Command(_lift, _ID, SESSION, about="end constraint ID; only you can, not the agent"),
    ),
    **_verbs(
        "question",
        Command(
            _add,
            _TEXT,
            option("--context TEXT", "why it matters", required=True),
            argument("--priority", choices=PRIORITIES, default="medium", help="default: medium"),
            SESSION,
        ),
        resolve=Command(
            _resolve,
            _ID,
            argument("text", metavar="TEXT", help="the answer; `-` reads it from stdin"),
            SESSION,
            about="close question ID",
        ),
    ),
    **_verbs(
        "evidence",
        Command(
            _add,
            argument("type", choices=EVIDENCE_TYPES, metavar="TYPE", help=", ".join(EVIDENCE_TYPES)),
            argument("text", metavar="TEXT", help="verbatim; `-` reads it from stdin"),
            _SOURCE,
            SESSION,
        ),
        resolve=_closing("evidence", "how it was settled"),
    ),
    **_verbs(
        "attempt",
        Command(
            _add,
            _TEXT,
            option("--outcome TEXT", "how it failed", required=True),
            SESSION,
        ),
        resolve=_closing("attempt", "what worked after all"),
    ),
    "inbox": Command(_inbox),
    "inbox list": Command(_inbox, about=_LIST),
    "inbox accept": _ACCEPT,
    "inbox reject": _REJECT,
    "edit": Command(
        _edit,
        _REF,
        argument("text", nargs="?", metavar="TEXT", help="the new text; `-` reads it from stdin"),
        option("--rationale TEXT", "of a decision"),
        option("--source S", "of a constraint or evidence"),
        option("--context TEXT", "of a question"),
        option("--outcome TEXT", "of an attempt"),
        argument("--priority", choices=PRIORITIES, help="of a question"),
        argument("--type", choices=EVIDENCE_TYPES, metavar="TYPE", help=f"of evidence: {', '.join(EVIDENCE_TYPES)}"),
        _switch("--reversible", "--irreversible", "a decision"),
        _switch("--blocking", "--not-blocking", "a constraint"),
        either(
            option("--scope KIND:PATTERN", "of a constraint, in place of its scope (repeatable)", action="append"),
            flag("--no-scope", "a constraint is enforced no more"),
        ),
        argument("--mode", choices=MODES, help="of a constraint with a scope"),
    ),
    "drop": Command(_drop, _REF, _WHY),
    "close": Command(
        _close,
        _REF,
        argument("text", nargs="?", metavar="TEXT", help="the answer, or how it was settled; `-` reads it from stdin"),
    ),
    "reopen": Command(_reopen, _REF),
    "undo": Command(_undo),
}
