"""`proposed`: what was captured and waits for the user; accepted or dismissed by one command."""

from __future__ import annotations

from unified_state.interfaces.cli.command_context import Context
from unified_state.lib.record import disk_value
from unified_state.memory.ledger.item_table import PROPOSED, list_items
from unified_state.memory.ledger.rules.item_lines import item_line
from unified_state.memory.ledger.rules.short_item import short_form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from unified_state.model.item import LedgerItem

_LINE = 400  # characters of an item in the list


def configure(_name: str, parser: ArgumentParser) -> None:
    """Add the list and the two verbs."""
    parser.set_defaults(run=_list, json=False)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    listing = verbs.add_parser("list", help="list them, the newest last; the same without a verb", allow_abbrev=False)
    listing.add_argument("--json", action="store_true", help="print JSON")
    listing.set_defaults(run=_list)
    for verb, about, run in (
        ("accept", "make them facts", _accept),
        ("dismiss", "drop them; they are not proposed again", _dismiss),
    ):
        one = verbs.add_parser(verb, help=about, allow_abbrev=False)
        one.add_argument("refs", nargs="+", metavar="ID", help="of proposals, such as C4")
        one.add_argument("--json", action="store_true", help="print JSON")
        one.set_defaults(run=run)


def _list(arguments: Namespace) -> int:
    context = Context(as_json=arguments.json)
    workspace = context.workspace(create=False)
    items = [] if workspace.is_empty else workspace.use(lambda archive: list_items(archive, statuses=[PROPOSED]))
    lines = [item_line(item, _LINE) + (f" [{item.rule}]" if item.rule else "") for item in items]
    context.show([_shown(item) for item in items], "\n".join(lines) or "nothing is proposed")
    return 0


def _accept(arguments: Namespace) -> int:
    return _decide(arguments, accepted=True)


def _dismiss(arguments: Namespace) -> int:
    return _decide(arguments, accepted=False)


def _decide(arguments: Namespace, *, accepted: bool) -> int:
    from unified_state.memory.writer.record_state import decide_proposal

    context = Context(as_json=arguments.json)
    workspace = context.workspace(create=True)
    entries = [decide_proposal(workspace, ref, accepted=accepted) for ref in arguments.refs]
    context.show([disk_value(entry) for entry in entries], "\n".join(entry.id for entry in entries))
    return 0


def _shown(item: LedgerItem) -> dict[str, Any]:
    return {**disk_value(short_form(item)), "kind": item.kind, "rule": item.rule, "quote": item.quote}
