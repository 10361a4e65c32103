"""`why`: where an item comes from."""

from __future__ import annotations

from unified_state.interfaces.cli.command_context import Context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(_name: str, parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("ref", metavar="REF", help="an item: D7 C3 Q1 E12")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_why)


def _why(arguments: Namespace) -> int:
    from unified_state.errors import NotFoundError
    from unified_state.interfaces.cli.recall_text import why_text
    from unified_state.memory.ledger.explain_item import explain

    context = Context(as_json=arguments.json)
    workspace = context.workspace(create=False)
    if workspace.is_empty:
        message = f"there is no item {arguments.ref}"
        raise NotFoundError(message, "nothing is recorded here yet")
    found = workspace.use(lambda archive: explain(archive, workspace.place.repository, arguments.ref))
    context.show(found, "" if arguments.json else why_text(found))
    return 0
