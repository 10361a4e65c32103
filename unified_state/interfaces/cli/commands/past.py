"""`history`, `diff`, `blame`, and `show --at`: what became of an item, of the state, of a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from unified_state.interfaces.cli.command_context import Command, Context, argument, flag
from unified_state.ledger.rules.item_lines import ORIGINS, item_line
from unified_state.ledger.rules.short_item import main_text, sections_of
from unified_state.lib.record import camel_case, disk_value
from unified_state.lib.text import cut, one_line
from unified_state.lib.times import current_time, to_text
from unified_state.model.item import ITEM_KINDS

if TYPE_CHECKING:
    from argparse import Namespace

    from unified_state.extras.blame.blame_lines import Blame, Group
    from unified_state.search.past.item_events import Event
    from unified_state.search.past.state_at import StateAt

POINT = "K2 (a compaction), T41 (a turn), 2026-03-14, 3d, yesterday, HEAD~3, a branch, a tag or the id of a commit"
_CHARACTERS, _QUOTE = 300, 200
_SUBJECT, _SHORT, _NAME_WIDTH = 40, 80, 10


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
        "beside": list(found.beside),
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
            marks = [
                "proposed" if item.status == "proposed" else "",
                "recorded at a commit beside its history" if item.alias in found.beside else "",
                "" if event is None else _became(event),
            ]
            told = "; ".join(filter(None, marks))
            yield f"  {item_line(item, _CHARACTERS)}{f' [{told}]' if told else ''}"


def _became(event: Event) -> str:
    detail = f": {cut(one_line(event.detail), _CHARACTERS)}" if event.detail else ""
    return f"{event.verb} on {event.at[:10]}{detail}"


def _diff(context: Context, arguments: Namespace) -> None:
    from unified_state.search.past.state_at import changes_between

    workspace = context.reading()
    found = workspace.use(
        lambda archive: changes_between(
            archive, workspace.place.repository, arguments.first, arguments.last, current_time()
        )
    )
    head = f"from {found.first.text} to {found.last.text}"
    lines = list(map(_event_line, found.events)) or ["nothing changed"]
    return context.show(found.as_json(), "\n".join([head, *lines]), style="labels")


def _history(context: Context, arguments: Namespace) -> None:
    from unified_state.search.past.state_at import history_of

    found = context.reading().use(lambda archive: history_of(archive, arguments.ref))
    lines = [line for event in found for line in _history_lines(event)]
    return context.show([event.as_json("turn", "quote") for event in found], "\n".join(lines), style="labels")


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


def _blame(context: Context, arguments: Namespace) -> None:
    """Print who wrote a place: a file, lines of it, or a commit."""
    from unified_state.extras.blame.blame_lines import blame_place

    found = blame_place(context.workspace(create=False), arguments.place)
    if not found:
        return context.nothing([], f"commit {arguments.place} added no line of text")
    for problem in {one.problem for one in found if one.problem}:
        context.say(f"no commits are shown: {problem}")
    text = "\n".join(_blame_short(one) if arguments.short else _blame_text(one) for one in found)
    shown = [one.as_dict() for one in found]
    return context.show(shown if len(found) > 1 else shown[0], text, style="hits")


def _blame_text(found: Blame) -> str:
    commits = [_commit_line(group) for group in found.groups]
    width = max(map(len, commits), default=0)
    lines = [found.path]
    for group, commit in zip(found.groups, commits, strict=True):
        numbers = f"{group.first}" if group.first == group.last else f"{group.first}-{group.last}"
        lines.append(f"{numbers:>11}  {commit:<{width}}  {_writer(group)}")
    for turn in found.turns.values():
        lines += ["", f"{turn.ref}  session {turn.session_id}  {turn.at[:16]}"]
        rows = [("prompt", turn.prompt), *(("recorded", line) for line in turn.recorded)]
        rows += [("then ran", line) for line in turn.tests]
        lines += [f"  {name:<{_NAME_WIDTH}} {text}" for name, text in rows if text]
    return "\n".join(lines)


def _commit_line(group: Group) -> str:
    commit = group.commit
    if commit is None:
        return "not committed"
    return f"{commit.id[:8]}  {to_text(commit.at)[:10]}  {cut(one_line(commit.subject), _SUBJECT)}"


def _writer(group: Group) -> str:
    if group.turn is None:
        return "no recorded edit wrote it"
    return f"{group.turn} {group.step}" + ("" if group.is_certain else "  (likely)")


def _blame_short(found: Blame) -> str:
    """Return one line for all lines asked for: the turn that wrote most of them."""
    count = Counter[str | None]()
    for group in found.groups:
        count[group.turn] += group.last - group.first + 1
    named = [turn for turn, _ in count.most_common() if turn is not None]
    if not named:
        commits = dict.fromkeys(_commit_line(group) for group in found.groups)
        return f"{next(iter(commits), 'no lines')}: no recorded edit wrote it"
    turn = found.turns[named[0]]
    more = f" and {len(named) - 1} more" if named[1:] else ""
    refs = ", ".join(line.partition(" ")[0] for line in turn.recorded)
    parts = (f"{turn.ref}{more}  {turn.at[:10]}  {cut(turn.prompt, _SHORT)}", refs, *turn.tests[-1:])
    return "; ".join(part for part in parts if part)


COMMANDS = {
    "blame": Command(
        _blame,
        argument("place", metavar="FILE[:LINE[-LINE]]", help="a file, or lines of it; or the id of a commit"),
        flag("--short", "one line, for an editor"),
    ),
    "history": Command(_history, argument("ref", metavar="REF", help="an item: D7 C3 Q1 E12 A2"), empty=[]),
    "diff": Command(
        _diff,
        argument("first", metavar="A", help=POINT),
        argument("last", metavar="B", nargs="?", help="another point; default: now"),
    ),
}
