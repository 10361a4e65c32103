"""`history` and `list --at`: what became of an item, and of the state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unified_state.interfaces.cli.command_context import POINT, Command, Context, argument
from unified_state.ledger.rules.item_lines import ORIGINS, item_line
from unified_state.ledger.rules.short_item import main_text, sections_of
from unified_state.lib.record import camel_case, disk_value
from unified_state.lib.text import cut, one_line
from unified_state.lib.times import current_time
from unified_state.model.item import ITEM_KINDS
from unified_state.model.refs import ITEM, kind_of

if TYPE_CHECKING:
    from argparse import Namespace

    from unified_state.search.past.item_events import Event
    from unified_state.search.past.state_at import StateAt

_CHARACTERS, _QUOTE = 300, 200


def show_state_at(context: Context, name: str) -> None:
    """Print what held at a point."""
    from unified_state.search.past.state_at import state_at

    workspace = context.reading()
    found = workspace.use(lambda archive: state_at(archive, workspace.place.repository, name, current_time()))
    items = {item.uuid: item.alias for item in found.items}
    value = {
        "at": found.point.as_json(),
        "state": {camel_case(name): disk_value(entries) for name, entries in sections_of(found.items).items()},
        "since": {items[uuid]: {"verb": event.verb, "at": event.at} for uuid, event in found.since.items()},
    }
    return context.show(value, "\n".join(_state_lines(found)), style="headings")


def _state_lines(found: StateAt) -> Iterator[str]:
    yield f"state at {found.point.text}"
    if not found.items:
        yield "nothing held then"
    for name, kind in ITEM_KINDS.items():
        items = [item for item in found.items if item.kind == name]
        if items:
            yield f"[{kind.section.upper().replace('_', ' ')}] {len(items)}"
        for item in items:
            event = found.since.get(item.uuid)
            marks = ["proposed" if item.status == "proposed" else "", "" if event is None else _became(event)]
            told = "; ".join(filter(None, marks))
            yield f"  {item_line(item, _CHARACTERS)}{f' [{told}]' if told else ''}"


def _became(event: Event) -> str:
    detail = f": {cut(one_line(event.detail), _CHARACTERS)}" if event.detail else ""
    return f"{event.verb} on {event.at[:10]}{detail}"


def _history(context: Context, arguments: Namespace) -> None:
    from unified_state.search.past.state_at import changes_between, history_of

    workspace, now = context.reading(), current_time()
    first, last = arguments.id, None if arguments.last == "now" else arguments.last
    if kind_of(first) == ITEM:
        events = workspace.use(lambda archive: history_of(archive, first))
        lines = [line for event in events for line in _history_lines(event)]
        return context.show([event.as_json("turn", "quote") for event in events], "\n".join(lines), style="labels")
    repository = workspace.place.repository
    found = workspace.use(lambda archive: changes_between(archive, repository, first, last, now))
    lines = list(map(_event_line, found.events)) or ["nothing changed"]
    head = f"from {found.first.text} to {found.last.text}"
    return context.show(found.as_json(), "\n".join([head, *lines]), style="labels")


def _history_lines(event: Event) -> Iterator[str]:
    yield _event_line(event)
    if event.quote is not None:
        yield f'{"":<22}"{cut(one_line(event.quote), _QUOTE)}"'


def _event_line(event: Event) -> str:
    item = event.item
    by = ORIGINS.get(event.origin or "", "")
    session = f"session {event.session_id[:8]}" if event.session_id else ""
    told = ", ".join(filter(None, (by, session, event.turn)))
    detail = f": {cut(one_line(event.detail), _CHARACTERS)}" if event.detail else ""
    text = cut(one_line(main_text(item)), _CHARACTERS)
    return f"{event.at[:19]}Z  {item.alias} {event.verb}{detail}{f' ({told})' if told else ''}  {text}"


COMMANDS = {
    "history": Command(
        _history,
        argument("id", metavar="ID|POINT", help=f"an item, such as D7; or {POINT}: what changed since"),
        argument("last", metavar="POINT", nargs="?", help="what changed until then; default: now"),
        empty=[],
    )
}
