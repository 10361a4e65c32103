"""Items: `add` and `list`; `edit`, `drop`, `resolve`, `undo` correct them, and `inbox` decides on what waits.

Recording loads only what records. Every other verb imports what it needs.
"""

from __future__ import annotations

import os
import sys
from argparse import SUPPRESS
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from unified_state.archive.session_work import list_notes
from unified_state.errors import NotAtGateError, UsageError
from unified_state.interfaces.cli.command_context import (
    GLOBAL,
    POINT,
    SESSION,
    Add,
    Command,
    Context,
    argument,
    either,
    flag,
    option,
)
from unified_state.ledger.item_table import ACTIVE, PROPOSED, find_item, list_items
from unified_state.ledger.rules.item_lines import harmless, item_line
from unified_state.ledger.rules.short_item import main_text, short_form
from unified_state.lib.record import Record, disk_value
from unified_state.lib.text import cut
from unified_state.lib.times import age_text, current_time, to_milliseconds
from unified_state.model.constraint import DENY, MODES, USER_SAID
from unified_state.model.item import (
    ALIAS_LETTERS,
    CONSTRAINT,
    EVIDENCE_TYPES,
    ITEM_KINDS,
    PRIORITIES,
    Constraint,
)
from unified_state.model.refs import COMPACTION, note_number
from unified_state.model.scope import enforcement_of, scope_of
from unified_state.project.workspace.workspace import items_for_all
from unified_state.state_file.writer.record_state import add_item

if TYPE_CHECKING:
    from argparse import Namespace

NOTES = ("todo", "note")  # what has an id and is no item
_LINE, _CUT = 400, 160  # characters of an item in a list, and in a message
_FIELDS = ("priority", "type", "mode", "reversible", "blocking")  # those that `add` and `edit` name alike


def _text(words: str) -> str:
    return sys.stdin.read() if words == "-" else words


def _show(context: Context, entry: Record) -> None:
    fields = disk_value(entry)
    fields["id"] = f"{context.mark}{fields['id']}"
    context.show(fields, fields["id"])


def _add(context: Context, arguments: Namespace) -> None:
    kind, given = arguments.verb, vars(arguments)
    about = ITEM_KINDS[kind]
    body = {about.main: _text(arguments.text), **{name: given.get(name, value) for name, value in about.others.items()}}
    body[about.second[0]] = arguments.reason or ""
    if kind == CONSTRAINT:
        scope = {} if arguments.scope is None else disk_value(scope_of(arguments.scope))
        body |= enforcement_of(scope or None, arguments.mode)
    entry = add_item(context.workspace(create=True), kind, body, supersedes=given.get("supersedes"))
    if isinstance(entry, Constraint) and entry.scope is not None:
        if entry.mode == DENY and entry.origin != USER_SAID:
            context.say(f"{entry.id} asks for now: only the user's own word denies")
        context.say(f"{entry.id} is enforced; a session that runs already notices within a second or two")
    _show(context, entry)


def _add_note(context: Context, arguments: Namespace) -> None:
    from unified_state.state_file.writer.save_state import record_note

    _show(context, record_note(context.workspace(create=True), arguments.verb, _text(arguments.text)))


def _or_note(
    correct_item: Callable[[Context, Namespace], None], *, done: bool | None = None
) -> Callable[[Context, Namespace], None]:
    """Return the function of a command that corrects an item, or a to-do or highlight."""

    def correct_one(context: Context, arguments: Namespace) -> None:
        number = None if arguments.id is None else note_number(arguments.id)
        if number is None:
            return correct_item(context, arguments)
        from unified_state.state_file.writer.save_state import correct_note

        text = _text(arguments.text) if done is None and arguments.text is not None else None
        before = getattr(arguments, "before", None)
        return _show(context, correct_note(context.changing(), number, text=text, done=done, before=before))

    return correct_one


def _list_notes(context: Context, kind: str, *, with_done: bool) -> None:
    workspace = context.workspace(create=False)
    found = [] if workspace.is_empty else workspace.use(lambda archive: list_notes(archive, kind, with_done=with_done))
    if not found:
        return context.nothing([], f"no {kind} is recorded here yet")
    lines = [f"{one.id}: {cut(harmless(one.text), _LINE)}{' [done]' if one.done else ''}" for one in found]
    return context.show([disk_value(one) for one in found], "\n".join(lines), style="labels")


def _resolve(context: Context, arguments: Namespace) -> None:
    from unified_state.ledger.correct_item import close
    from unified_state.ledger.record_item import supersede
    from unified_state.state_file.writer.correct_state import correct, lift_constraint

    workspace = context.workspace(create=True)
    if arguments.by is not None:
        return _show(context, correct(workspace, supersede, arguments.id, arguments.by))
    if arguments.id[:1].upper() == ALIAS_LETTERS[CONSTRAINT]:
        return _show(context, lift_constraint(workspace, arguments.id))
    text = "" if arguments.text is None else _text(arguments.text)
    return _show(context, correct(workspace, close, arguments.id, text))


def _list(context: Context, arguments: Namespace) -> None:
    from unified_state.interfaces.cli.commands import compaction, past, state  # a list of items does without them

    if arguments.at is not None and (context.mark or arguments.kind is not None or arguments.all):
        message = "--at lists everything that held then"
        raise UsageError(message, "leave the kind, --all and --global out")
    if arguments.at is not None:
        return past.show_state_at(context, arguments.at)
    if arguments.kind is None and not context.mark:
        return state.show_state(context)
    if arguments.kind == COMPACTION:
        return compaction.list_compactions(context)
    if arguments.kind in NOTES:
        return _list_notes(context, arguments.kind, with_done=arguments.all)
    statuses, workspace = () if arguments.all else (ACTIVE, PROPOSED), context.workspace(create=False)
    kind = arguments.kind
    items = [] if workspace.is_empty else workspace.use(lambda archive: list_items(archive, kind, statuses))
    items = [item.replace(alias=context.mark + item.alias) for item in items]
    items += [] if context.mark else items_for_all(workspace, kind)
    lines = [item_line(item, _LINE) + ("" if item.status == ACTIVE else f" [{item.status}]") for item in items]
    if not items:
        where = "for all projects" if context.mark else "here"
        return context.nothing([], f"no {kind or 'item'} is recorded {where} yet")
    return context.show([disk_value(short_form(item)) for item in items], "\n".join(lines), style="labels")


def _edit(context: Context, arguments: Namespace) -> None:
    from unified_state.ledger.correct_item import edit
    from unified_state.state_file.writer.correct_state import correct

    workspace = context.changing()
    older = workspace.use(lambda archive: find_item(archive, arguments.id))
    entry = correct(workspace, edit, older.alias, _changes(arguments, older.kind))
    if entry.id == older.alias:
        context.say(f"nothing to change: {entry.id} has this text")
    elif entry.status == PROPOSED and older.kind == CONSTRAINT:
        message = f"only the user changes {older.alias}"
        raise NotAtGateError(message, f"ask them to run `unified-state inbox accept {entry.id}`")
    elif entry.status == PROPOSED:
        context.say(f"{older.alias} stays as it is until the user accepts {entry.id} (`unified-state inbox`)")
    else:
        context.say(f"{entry.id} takes the place of {older.alias}")
    _show(context, entry)


def _changes(arguments: Namespace, kind: str) -> dict[str, Any]:
    """Return the given fields by their names in an item."""
    given = vars(arguments)
    changes: dict[str, Any] = {name: given[name] for name in _FIELDS if given.get(name) is not None}
    if arguments.reason is not None:
        changes[ITEM_KINDS[kind].second[0]] = arguments.reason
    if arguments.text is not None:
        changes[ITEM_KINDS[kind].main] = _text(arguments.text).replace("\r\n", "\n").rstrip("\n")
    if arguments.scope is not None:
        changes["scope"] = disk_value(scope_of(arguments.scope))
    if arguments.no_scope:
        changes["scope"] = None
    return changes


def _drop(context: Context, arguments: Namespace) -> None:
    from unified_state.ledger.correct_item import drop
    from unified_state.state_file.writer.correct_state import correct

    _show(context, correct(context.changing(), drop, arguments.id, why=arguments.reason or ""))


def _undo(context: Context, arguments: Namespace) -> None:
    from unified_state.ledger.correct_item import reopen
    from unified_state.state_file.writer.correct_state import correct, undo_newest

    if arguments.id is not None:
        return _show(context, correct(context.changing(), reopen, arguments.id))

    undone = undo_newest(context.changing())
    items = [f"{item.alias} is {item.status} now: {cut(harmless(main_text(item)), _CUT)}" for item in undone.items]
    age = age_text(current_time(), to_milliseconds(undone.at))
    notes = ((one.id, "done" if one.done else "open", one.text) for one in undone.notes)
    items += [f"{ref} is {state} now: {cut(harmless(text), _CUT)}" for ref, state, text in notes]
    changed = map(disk_value, (*map(short_form, undone.items), *undone.notes))
    value = {"undone": undone.verb, "at": undone.at, "items": list(changed)}
    return context.show(value, "\n".join([f"undone: {undone.verb}, {age}", *(f"  {line}" for line in items)]))


def _inbox(context: Context, _arguments: Namespace) -> None:
    from unified_state.interfaces.cli.inbox_lines import inbox_lines, inbox_value, note_lines, note_value
    from unified_state.state_file.writer.foreign_file import Inbox, file_name, read_all

    workspace, now = context.workspace(create=False), current_time()
    if os.path.lexists(workspace.place.state_path) and not context.mark:  # what it holds may have to be noted first
        workspace = context.workspace(create=True)
    is_empty = workspace.is_empty and not os.path.lexists(workspace.place.state_path)
    found = Inbox([], []) if is_empty else workspace.use(lambda archive: read_all(archive, workspace, now))
    if not found:
        return context.nothing([], "the inbox is empty")
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
    why = "" if accepted else arguments.reason or ""
    if arguments.all is not None:
        return _decide_all(context, arguments.all, accepted=accepted, why=why)
    from unified_state.state_file.writer.correct_state import decide_proposals

    entries = decide_proposals(context.changing(), arguments.ids, accepted=accepted, why=why)
    return context.show([disk_value(entry) for entry in entries], "\n".join(entry.id for entry in entries))


def _decide_all(context: Context, path: str, *, accepted: bool, why: str) -> None:
    from unified_state.interfaces.cli.inbox_lines import note_value
    from unified_state.state_file.writer.foreign_file import decide_all, file_name

    workspace = context.workspace(create=True) if path and os.path.lexists(path) else context.changing()
    items, notes = decide_all(workspace, path, accepted=accepted, why=why)
    if not (items or notes):
        return context.nothing([], "the inbox is empty")
    values = [disk_value(item) for item in items] + [note_value(one, file_name(workspace.place)) for one in notes]
    names = [item.id for item in items] + [one.note.kind for one in notes]
    return context.show(values, "\n".join(names))


_TEXT = argument("text", metavar="TEXT", help="`-` reads it from stdin")
_ID = argument("id", metavar="ID", help="an item: D7 C3 Q1 E12 A2 N5")
# The same for all kinds, by whichever name of a field people know it.
_REASON = argument(
    *("--reason", "--rationale", "--source", "--context", "--outcome", "--why"),
    dest="reason",
    metavar="TEXT",
    help="why; of a constraint or evidence its source, of an attempt how it failed",
)
_TYPES = f"of evidence: {', '.join(EVIDENCE_TYPES)}"
_TYPE = argument("--type", choices=EVIDENCE_TYPES, default=SUPPRESS, metavar="TYPE", help=_TYPES)
_CHOSEN = either(
    argument("ids", nargs="*", metavar="ID", default=[], help="such as C4"),
    argument("--all", nargs="?", const="", metavar="FILE", help="all that waits, or all of a state file"),
    required=True,
)


def _switch(name: str, opposite: str, text: str) -> Add:
    """Return a function that adds two options, which set a field to true and to false."""
    given: dict[str, Any] = {"dest": name.removeprefix("--"), "default": SUPPRESS, "help": text}
    return either(argument(name, action="store_true", **given), argument(opposite, action="store_false", **given))


_REVERSIBLE = _switch("--reversible", "--irreversible", "whether a decision can be changed later")
_BLOCKING = _switch("--blocking", "--not-blocking", "whether a constraint may never be broken")
_PRIORITY = argument("--priority", choices=PRIORITIES, default=SUPPRESS, help="of a question; default: medium")
_MODE = argument("--mode", choices=MODES, help="what happens to a call in the scope; default: ask")
_SCOPE = option(
    "--scope KIND:PATTERN",
    "calls in which a constraint is enforced: command:git push --force, path:migrations/**, tool:WebFetch (repeatable)",
    action="append",
)


def _adding(about: str, *arguments: Add) -> Command:
    return Command(_add, _TEXT, _REASON, *arguments, SESSION, about=about)


COMMANDS = {
    "add decision": _adding(
        "record a decision", _REVERSIBLE, option("--supersedes ID", "the decision that this one replaces"), GLOBAL
    ),
    "add constraint": _adding("record a constraint", _BLOCKING, _SCOPE, _MODE, GLOBAL),
    "add question": _adding("record an open question", _PRIORITY, GLOBAL),
    "add evidence": _adding("record evidence, verbatim", _TYPE),
    "add attempt": _adding("record an attempt that failed"),
    "add todo": Command(_add_note, _TEXT, SESSION, about="record what is still to be done"),
    "add note": Command(_add_note, _TEXT, SESSION, about="record a highlight"),
    "list": Command(
        _list,
        argument(
            "kind",
            nargs="?",
            choices=(*ITEM_KINDS, *NOTES, COMPACTION),
            metavar="KIND",
            help=", ".join((*ITEM_KINDS, *NOTES)),
        ),
        flag("--all", "also superseded, resolved and dismissed ones"),
        GLOBAL,
        option("--at POINT", f"the state as it was at {POINT}"),
    ),
    "resolve": Command(
        _or_note(_resolve, done=True),
        _ID,
        argument("text", nargs="?", metavar="TEXT", help="the answer, or how it was settled; `-` reads it from stdin"),
        option("--by ID", "of a decision: the one that holds now"),
        SESSION,
    ),
    "inbox": Command(_inbox, GLOBAL),
    "inbox list": Command(_inbox, GLOBAL, about="list what waits, the newest last; the same without a verb"),
    "inbox accept": Command(_decide, _CHOSEN, about="they hold from now on, as your word"),
    "inbox reject": Command(_decide, _CHOSEN, _REASON, about="they do not hold, and are not proposed again"),
    "edit": Command(
        _or_note(_edit),
        _ID,
        argument("text", nargs="?", metavar="TEXT", help="the new text; `-` reads it from stdin"),
        *(_REASON, _PRIORITY, _TYPE, _REVERSIBLE, _BLOCKING),
        either(_SCOPE, flag("--no-scope", "a constraint is enforced no more")),
        _MODE,
        option("--before ID", "of a to-do: the one that comes after it"),
    ),
    "drop": Command(_or_note(_drop, done=True), _ID, _REASON),
    "undo": Command(
        _or_note(_undo, done=False),
        argument("id", nargs="?", metavar="ID", help="brings it back; default: the last change"),
        GLOBAL,
    ),
}
