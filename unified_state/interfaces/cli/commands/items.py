"""`decision`, `constraint`, `question`, `evidence`, `attempt`, `proposed`: record, list and settle items."""

from __future__ import annotations

import sys

from unified_state.errors import UsageError
from unified_state.interfaces.cli.command_context import SESSION, Command, argument, either, flag, option
from unified_state.lib.record import disk_value
from unified_state.memory.ledger.item_table import ACTIVE, PROPOSED, list_items
from unified_state.memory.ledger.rules.item_lines import item_line
from unified_state.memory.ledger.rules.short_item import short_form
from unified_state.memory.manager import UnifiedStateManager
from unified_state.memory.writer.record_state import decide_proposal, lift_constraint, supersede_decision
from unified_state.model.constraint import DENY, MODES, USER_SAID
from unified_state.model.item import EVIDENCE_TYPES, PRIORITIES
from unified_state.model.scope import scope_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from unified_state.interfaces.cli.command_context import Add, Context
    from unified_state.lib.record import Record
    from unified_state.model.item import Constraint, LedgerItem

_LINE = 400  # characters of an item in a list


def _manager(context: Context) -> UnifiedStateManager:
    return UnifiedStateManager(workspace=context.workspace(create=True))


def _text(words: str) -> str:
    return sys.stdin.read() if words == "-" else words


def _show(context: Context, entry: Record) -> None:
    fields = disk_value(entry)
    context.show(fields, str(fields["id"]))


def _add_decision(context: Context, arguments: Namespace) -> None:
    text = _text(arguments.text)
    _show(context, _manager(context).add_decision(text, arguments.rationale, not arguments.irreversible))


def _supersede(context: Context, arguments: Namespace) -> None:
    if arguments.by is not None:
        return _show(context, supersede_decision(context.workspace(create=True), arguments.id, arguments.by))
    if arguments.rationale is None:
        message = "there is no rationale"
        raise UsageError(message, "give --rationale, or --by with a decision that is recorded already")
    manager, text = _manager(context), _text(arguments.text)
    newer = manager.supersede_decision(arguments.id, text, arguments.rationale, not arguments.irreversible)
    return _show(context, newer)


def _add_constraint(context: Context, arguments: Namespace) -> None:
    scope = {} if arguments.scope is None else disk_value(scope_of(arguments.scope))
    manager, text = _manager(context), _text(arguments.text)
    entry: Constraint = manager.add_constraint(
        text, arguments.source, arguments.blocking, scope=scope or None, mode=arguments.mode
    )
    if entry.scope is not None:
        if entry.mode == DENY and entry.origin != USER_SAID:
            context.say(f"{entry.id} asks for now: only the user's own word denies")
        context.say(f"{entry.id} is enforced; a session that runs already notices within a second or two")
    _show(context, entry)


def _lift(context: Context, arguments: Namespace) -> None:
    _show(context, lift_constraint(context.workspace(create=True), arguments.id))


def _add_question(context: Context, arguments: Namespace) -> None:
    text = _text(arguments.text)
    _show(context, _manager(context).add_open_question(text, arguments.context, arguments.priority))


def _resolve(context: Context, arguments: Namespace) -> None:
    _show(context, _manager(context).resolve_question(arguments.id, _text(arguments.text)))


def _add_evidence(context: Context, arguments: Namespace) -> None:
    _show(context, _manager(context).add_evidence(arguments.type, _text(arguments.text), arguments.source))


def _add_attempt(context: Context, arguments: Namespace) -> None:
    _show(context, _manager(context).add_attempt(_text(arguments.text), arguments.outcome))


def _list(context: Context, arguments: Namespace) -> None:
    items = _items(context, arguments.command, () if arguments.all else (ACTIVE, PROPOSED))
    lines = [item_line(item, _LINE) + ("" if item.status == ACTIVE else f" [{item.status}]") for item in items]
    context.show([disk_value(short_form(item)) for item in items], "\n".join(lines))


def _items(context: Context, kind: str | None, statuses: tuple[str, ...]) -> list[LedgerItem]:
    workspace = context.workspace(create=False)
    return [] if workspace.is_empty else workspace.use(lambda archive: list_items(archive, kind, statuses))


def _list_proposed(context: Context, _arguments: Namespace) -> None:
    items = _items(context, None, (PROPOSED,))
    lines = [item_line(item, _LINE) + (f" [{item.rule}]" if item.rule else "") for item in items]
    shown = [
        {**disk_value(short_form(item)), "kind": item.kind, "rule": item.rule, "quote": item.quote} for item in items
    ]
    context.show(shown, "\n".join(lines) or "nothing is proposed")


def _decide(context: Context, arguments: Namespace) -> None:
    workspace, accepted = context.workspace(create=True), arguments.verb == "accept"
    entries = [decide_proposal(workspace, ref, accepted=accepted) for ref in arguments.refs]
    context.show([disk_value(entry) for entry in entries], "\n".join(entry.id for entry in entries))


_TEXT = argument("text", metavar="TEXT", help="`-` reads it from stdin")
_ID = argument("id", metavar="ID")
_IDS = argument("refs", nargs="+", metavar="ID", help="of proposals, such as C4")
_SOURCE = option("--source S", "where it comes from", required=True)
_IRREVERSIBLE = flag("--irreversible", "it cannot be changed later")


def _rationale(*, required: bool) -> Add:
    return option("--rationale TEXT", "why", required=required)


def _verbs(kind: str, add: Command, **others: Command) -> dict[str, Command]:
    every = flag("--all", "also superseded, resolved and dismissed ones")
    add.about = f"record: {kind} add TEXT"
    listing = Command(_list, every, SESSION, about="list them, the newest last")
    return {f"{kind} {verb}": command for verb, command in {"add": add, **others, "list": listing}.items()}


COMMANDS = {
    **_verbs(
        "decision",
        Command(_add_decision, _TEXT, _rationale(required=True), _IRREVERSIBLE, SESSION),
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
        lift=Command(_lift, _ID, SESSION, about="constraint ID holds no more; only you can say so, not the agent"),
    ),
    **_verbs(
        "question",
        Command(
            _add_question,
            _TEXT,
            option("--context TEXT", "why it matters", required=True),
            argument("--priority", choices=PRIORITIES, default="medium"),
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
            _add_evidence,
            argument("type", choices=EVIDENCE_TYPES, metavar="TYPE", help=", ".join(EVIDENCE_TYPES)),
            argument("text", metavar="TEXT", help="verbatim; `-` reads it from stdin"),
            _SOURCE,
            SESSION,
        ),
    ),
    **_verbs(
        "attempt",
        Command(
            _add_attempt,
            _TEXT,
            option("--outcome TEXT", "how it failed", required=True),
            SESSION,
        ),
    ),
    "proposed": Command(_list_proposed, has_json=False),
    "proposed list": Command(_list_proposed, about="list them, the newest last; the same without a verb"),
    "proposed accept": Command(_decide, _IDS, about="make them facts"),
    "proposed dismiss": Command(_decide, _IDS, about="drop them; they are not proposed again"),
}
