"""`survival`: what the summaries of compactions kept of the state, and what was told again."""

from __future__ import annotations

from unified_state.interfaces.cli.command_context import Context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any


def configure(_name: str, parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("ref", nargs="?", metavar="K2", help="one compaction, item by item; default: a line for each")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_survival)


def _survival(arguments: Namespace) -> int:
    from unified_state.restore.note_survival import survival_of, survivals

    context = Context(as_json=arguments.json)
    workspace = context.workspace(create=False)
    if arguments.ref:
        found = workspace.use(lambda archive: survival_of(archive, arguments.ref))
        context.show(found, _one(found))
        return 0
    table = [] if workspace.is_empty else workspace.use(survivals)
    context.show(table, _table(table))
    if not table:
        context.say("no compaction is known yet whose summary was seen")
    return 0


def _one(found: dict[str, Any]) -> str:
    lines = [f"{found['ref']}  {found['timestamp']}  {found['line'] or 'there were no items'}"]
    for item in found["items"]:
        again = ", told again" if item["restored"] else ""
        lines.append(f"  {item['ref']:<5} {item['verdict']}{again}")
        if item["verdict"] in {"distorted", "stale"} and item["summary_says"]:
            lines.append(f"        the summary: {' '.join(item['summary_says'].split())}")
    named = [f"{numbers['named']} of {numbers['total']} {kind}" for kind, numbers in found["working_set"].items()]
    return "\n".join([*lines, f"  working set named: {', '.join(named)}"] if named else lines)


def _table(table: list[dict[str, Any]]) -> str:
    if not table:
        return ""
    rows = [("", "when", "items", "kept", "bare", "missing", "distorted", "stale", "restored", "tokens")]
    for found in table:
        counts = [len(found[name]) for name in ("kept", "bare", "missing", "distorted", "stale", "restored")]
        numbers = map(str, (found["total"], *counts, found["restored_tokens"]))
        rows.append((found["ref"], found["timestamp"][:16], *numbers))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        f"{ref:<{widths[0]}}  {when:<{widths[1]}}  {_numbers(cells, widths[2:])}" for ref, when, *cells in rows
    )


def _numbers(cells: list[str], widths: list[int]) -> str:
    return "  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
