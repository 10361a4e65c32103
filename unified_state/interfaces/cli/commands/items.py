"""`decision`, `constraint`, `question`, `evidence`, `attempt`: record and list the kinds of items."""

from __future__ import annotations

import sys

from unified_state.errors import UsageError
from unified_state.interfaces.cli.command_context import Context
from unified_state.lib.record import disk_value
from unified_state.memory.ledger.item_table import list_items
from unified_state.memory.ledger.rules.item_lines import item_line
from unified_state.memory.ledger.rules.short_item import short_form
from unified_state.memory.manager import UnifiedStateManager
from unified_state.memory.writer.record_state import add_item, lift_constraint, supersede_decision
from unified_state.model.constraint import DENY, MODES, USER_SAID
from unified_state.model.item import ATTEMPT, EVIDENCE_TYPES, PRIORITIES
from unified_state.model.scope import scope_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from unified_state.lib.record import Record
    from unified_state.model.item import Constraint

_LINE = 400  # characters of an item in a list


def configure(name: str, parser: ArgumentParser) -> None:
    """Add the verbs of one kind of item."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    add = verbs.add_parser("add", help=f"record: {name} add TEXT", allow_abbrev=False)
    if name != "evidence":  # its type comes first
        add.add_argument("text", metavar="TEXT", help="`-` reads it from stdin")
    match name:
        case "decision":
            _decision_arguments(add)
            newer = verbs.add_parser("supersede", help="record the one that takes the place of ID", allow_abbrev=False)
            newer.add_argument("id", metavar="ID")
            which = newer.add_mutually_exclusive_group(required=True)
            which.add_argument("text", nargs="?", metavar="TEXT", help="`-` reads it from stdin")
            which.add_argument("--by", metavar="ID", help="one that is recorded already")
            _decision_arguments(newer, required=False)
            _common(newer, _supersede)
        case "constraint":
            _constraint_arguments(add)
            lift = verbs.add_parser("lift", help="constraint ID holds no more; only you can say so, not the agent")
            lift.add_argument("id", metavar="ID")
            _common(lift, _lift)
        case "question":
            add.add_argument("--context", required=True, metavar="TEXT", help="why it matters")
            add.add_argument("--priority", choices=PRIORITIES, default="medium")
            resolve = verbs.add_parser("resolve", help="close question ID", allow_abbrev=False)
            resolve.add_argument("id", metavar="ID")
            resolve.add_argument("text", metavar="TEXT", help="what was found; `-` reads it from stdin")
            _common(resolve, _resolve)
        case "attempt":
            add.add_argument("--outcome", required=True, metavar="TEXT", help="how it failed")
        case "evidence":
            add.add_argument("type", choices=EVIDENCE_TYPES, metavar="TYPE", help=", ".join(EVIDENCE_TYPES))
            add.add_argument("text", metavar="TEXT", help="verbatim; `-` reads it from stdin")
            add.add_argument("--source", required=True, metavar="S", help="where it was seen")
    _common(add, _add)
    listing = verbs.add_parser("list", help="list them, the newest last", allow_abbrev=False)
    listing.add_argument("--all", action="store_true", help="also superseded, resolved and dismissed ones")
    _common(listing, _list)
    parser.set_defaults(item=name)


def _constraint_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--source", required=True, metavar="S", help="where it comes from")
    parser.add_argument("--blocking", action="store_true", help="it never leaves the state file")
    parser.add_argument(
        "--scope",
        action="append",
        metavar="KIND:PATTERN",
        help="enforce it on tool calls: command:git push --force, path:migrations/**, tool:WebFetch; repeatable",
    )
    parser.add_argument("--mode", choices=MODES, help="what is done about such a call (default: ask)")


def _decision_arguments(parser: ArgumentParser, *, required: bool = True) -> None:
    parser.add_argument("--rationale", required=required, metavar="TEXT", help="why")
    parser.add_argument("--irreversible", action="store_true", help="it cannot be changed later")


def _common(parser: ArgumentParser, run: object) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--session", metavar="ID", help="the session that records it; default: the one that runs this")
    parser.set_defaults(run=run)


def _add(arguments: Namespace) -> int:
    context, manager = _open(arguments)
    text = _text(arguments.text)
    match arguments.item:
        case "decision":
            entry: Record = manager.add_decision(text, arguments.rationale, not arguments.irreversible)
        case "constraint":
            scope = {} if arguments.scope is None else disk_value(scope_of(arguments.scope))
            entry = manager.add_constraint(
                text, arguments.source, arguments.blocking, scope=scope or None, mode=arguments.mode
            )
            _tell_of_enforcement(context, entry)
        case "question":
            entry = manager.add_open_question(text, arguments.context, arguments.priority)
        case "attempt":
            tried = {"attempt": text, "outcome": arguments.outcome}
            entry = add_item(context.workspace(create=True), ATTEMPT, tried)
        case _:
            entry = manager.add_evidence(arguments.type, text, arguments.source)
    return _show(context, entry)


def _supersede(arguments: Namespace) -> int:
    if arguments.by is not None:
        context = Context(as_json=arguments.json, session_id=arguments.session)
        return _show(context, supersede_decision(context.workspace(create=True), arguments.id, arguments.by))
    if arguments.rationale is None:
        message = "there is no rationale"
        raise UsageError(message, "give --rationale, or --by with a decision that is recorded already")
    context, manager = _open(arguments)
    text = _text(arguments.text)
    return _show(
        context, manager.supersede_decision(arguments.id, text, arguments.rationale, not arguments.irreversible)
    )


def _resolve(arguments: Namespace) -> int:
    context, manager = _open(arguments)
    return _show(context, manager.resolve_question(arguments.id, _text(arguments.text)))


def _lift(arguments: Namespace) -> int:
    context = Context(as_json=arguments.json, session_id=arguments.session)
    return _show(context, lift_constraint(context.workspace(create=True), arguments.id))


def _tell_of_enforcement(context: Context, constraint: Constraint) -> None:
    """What a person should know of a constraint that is enforced from now on."""
    if constraint.scope is None:
        return
    if constraint.mode == DENY and constraint.origin != USER_SAID:
        context.say(f"{constraint.id} asks for now: only the user's own word denies")
    context.say(f"{constraint.id} is enforced; a session that runs already notices within a second or two")


def _list(arguments: Namespace) -> int:
    context = Context(as_json=arguments.json, session_id=arguments.session)
    workspace = context.workspace(create=False)
    if workspace.is_empty:
        context.show([], "")
        return 0
    statuses = () if arguments.all else ("active", "proposed")
    items = workspace.use(lambda archive: list_items(archive, arguments.item, statuses))
    lines = [item_line(item, _LINE) + ("" if item.status == "active" else f" [{item.status}]") for item in items]
    context.show([disk_value(short_form(item)) for item in items], "\n".join(lines))
    return 0


def _open(arguments: Namespace) -> tuple[Context, UnifiedStateManager]:
    context = Context(as_json=arguments.json, session_id=arguments.session)
    return context, UnifiedStateManager(workspace=context.workspace(create=True))


def _show(context: Context, entry: Record) -> int:
    fields = disk_value(entry)
    context.show(fields, str(fields["id"]))
    return 0


def _text(argument: str) -> str:
    return sys.stdin.read() if argument == "-" else argument
