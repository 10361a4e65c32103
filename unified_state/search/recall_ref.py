"""Recall the content of a ref unchanged: an item, a turn with its steps, a step, a compaction with its summary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.compactions import find_compaction, restores_of
from unified_state.archive.export_steps import export_line
from unified_state.archive.steps import find_step, steps_of_turn, turn_of_step
from unified_state.errors import NotFoundError, UsageError
from unified_state.ledger.item_table import find_item, items_called, links_of, list_items
from unified_state.lib.excerpts import lines_of, matches_in, parse_range
from unified_state.lib.record import Record
from unified_state.lib.times import to_text
from unified_state.model.item import LedgerItem
from unified_state.model.refs import COMPACTION, ITEM, STEP, TURN, parse_ref
from unified_state.model.step import NOTICE

_HINT = "`unified-state search` finds refs"


def recall(archive: Archive, ref: str) -> dict[str, Any]:
    """Return the content of a ref as one JSON value with `ref` and `kind`. Raises NotFoundError."""
    kind, number = parse_ref(ref)
    if kind == ITEM:
        found = find_item(archive, ref)
        others = [other.alias for other in items_called(archive, ref) if other.uuid != found.uuid]
        also = {"also": others} if others else {}  # items that had the same ref before a merge
        return {**_item(archive, found), **also}
    return {TURN: _turn, STEP: _step, COMPACTION: _compaction}[kind](archive, number)


def turn_of(archive: Archive, ref: str) -> str:
    """Return the ref of a turn, given itself or a step of it. Raises NotFoundError, and UsageError for other refs."""
    kind, number = parse_ref(ref)
    if kind == TURN:
        return f"T{number}"
    if kind != STEP:
        message = f"{ref} is no turn and no step"
        raise UsageError(message, "turns have refs such as T41, steps such as S1234; recall takes the others")
    if find_step(archive, number) is None:
        raise _nothing(archive, STEP, number)
    return f"T{turn_of_step(archive, number)}"


def export_items(archive: Archive) -> Iterator[dict[str, Any]]:
    """Yield every item of the ledger, the oldest first, in the form of `recall`."""
    return (_item(archive, item) for item in list_items(archive))


def _item(archive: Archive, item: LedgerItem) -> dict[str, Any]:
    links = links_of(archive, item)
    newer = archive.value("SELECT alias FROM item WHERE uuid = ?", item.superseded_by)
    return {
        "ref": item.alias,
        **item.as_dict(),
        **({"superseded_by": newer} if newer else {}),
        "links": [{"relation": link.relation, "ref": link.ref} for link in links if link.is_from],
        "linked_from": [{"relation": link.relation, "ref": link.ref} for link in links if not link.is_from],
        "in_state_file": item.paged_out_at is None,
    }


def _turn(archive: Archive, number: int) -> dict[str, Any]:
    query = "SELECT session_id, agent, at FROM turn JOIN session ON session.id = session WHERE turn.id = ?"
    row = archive.row(query, number)
    steps = steps_of_turn(archive, number)
    if row is None or not steps:
        raise _nothing(archive, TURN, number)
    session_id, agent, at = row
    tools = {step.tool_use_id: step.tool for _, step in steps if step.tool and step.kind != NOTICE}
    lines = [export_line(step_number, step, session_id, tools.get(step.tool_use_id)) for step_number, step in steps]
    return {
        "ref": f"T{number}",
        "kind": "turn",
        "session_id": session_id,
        **({"agent": agent} if agent else {}),
        "timestamp": to_text(at),
        "steps": lines,
    }


def _nothing(archive: Archive, kind: str, number: int) -> NotFoundError:
    name, column = (f"turn T{number}", "turn") if kind == TURN else (f"step S{number}", "step.id")
    if archive.row(f"SELECT 1 FROM step JOIN pruned ON pruned.step = step.id WHERE {column} = ?", number):
        return NotFoundError(f"{name} was pruned", "its transcript may still have it, where the client kept that")
    return NotFoundError(f"there is no {name}", _HINT)


def _step(archive: Archive, number: int) -> dict[str, Any]:
    step = find_step(archive, number)
    if step is None:
        raise _nothing(archive, STEP, number)
    placed = "step JOIN turn ON turn.id = turn JOIN session ON session.id = session"
    turn, session_id = archive.row(f"SELECT turn, session_id FROM {placed} WHERE step.id = ?", number)
    call = "SELECT tool FROM step WHERE turn = ? AND tool_use_id = ? AND tool NOT NULL"
    tool = archive.value(call, turn, step.tool_use_id)
    return {**export_line(number, step, session_id, tool), "turn": f"T{turn}"}


def _compaction(archive: Archive, number: int) -> dict[str, Any]:
    compaction = find_compaction(archive, number)
    if compaction is None or compaction.session is None:
        message = f"there is no compaction K{number}"
        raise NotFoundError(message, "`unified-state status` says how many there are")
    (session_id,) = archive.row("SELECT session_id FROM session WHERE id = ?", compaction.session)
    return {
        "ref": f"K{number}",
        "kind": "compaction",
        "session_id": session_id,
        "trigger": compaction.trigger,
        "timestamp": to_text(compaction.boundary_at or compaction.started_at),
        "pre_tokens": compaction.pre_tokens,
        "summary": compaction.summary,
        "restored": [
            {"part": restore.part, "delivered": restore.delivered_at is not None, "text": restore.text}
            for restore in restores_of(archive, number)
            if restore.text  # a prompt may have matched nothing
        ],
    }


_TEXTS = ("result", "text")


class Part(Record):
    """A part of a text: a range of lines, the matches of a regular expression, or both."""

    lines: str | None = None
    grep: str | None = None


def part_of(found: dict[str, Any], part: Part) -> dict[str, Any]:
    """Return the value with only a part of its text, and `part`, which describes the part. Raises UsageError."""
    name = next((name for name in _TEXTS if isinstance(found.get(name), str)), None)
    if name is None:
        message = f"{found['ref']} is not one step"
        raise UsageError(message, "--lines and --grep take a step, such as S1234")
    lines = lines_of(found[name])
    first, last = parse_range(part.lines, len(lines)) if part.lines else (1, len(lines))
    told: dict[str, Any] = {"lines": len(lines), "first": first, "last": last}
    if part.grep is None:
        return {**found, name: "\n".join(lines[first - 1 : last]), "part": told}
    matches, shown = matches_in(lines[first - 1 : last], part.grep, first)
    told |= {"grep": part.grep, "matches": matches, "shown": len(shown)}
    return {**found, name: "\n".join(shown), "part": told}
