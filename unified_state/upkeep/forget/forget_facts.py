"""Forgetting what was captured: facts that were taken from forgotten steps go with them, and leave no trace in the
session's list or work item.
"""

from __future__ import annotations

from unified_state.capture.rules.client_tools import TODO_TOOLS
from unified_state.lib.stdlib import parse_json
from unified_state.lib.text import one_line, strings_of
from unified_state.memory.archive.session_notes import forget_todos
from unified_state.memory.archive.sessions import change_work, read_work
from unified_state.memory.archive.steps import find_step, sessions_of_step, uuids_of_turns_with
from unified_state.memory.ledger.item_table import captured_items
from unified_state.model.item import ATTEMPT
from unified_state.model.step import TEXT, TOOL_CALL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.item import LedgerItem

_QUOTED = 60  # characters of a text by which an attempt that repeats it is known


def captured_from(archive: Archive, steps: Sequence[int]) -> list[LedgerItem]:
    """The items captured from the turns of some steps, and the attempts that repeat what one of the steps says."""
    uuids = uuids_of_turns_with(archive, steps)
    found = [find_step(archive, number) for number in steps]
    said = [one_line(step.text)[:_QUOTED] for step in found if step is not None and step.kind == TEXT]
    return [
        item
        for item in captured_items(archive)
        if item.source_uuid in uuids
        or (item.kind == ATTEMPT and any(text and text in item.body["attempt"] for text in said))
    ]


def forget_lists(archive: Archive, steps: Sequence[int]) -> None:
    """Take the entries of a list that some steps wrote out of it; call it before the steps are forgotten."""
    for number in steps:
        step = find_step(archive, number)
        if step is not None and step.kind == TOOL_CALL and step.tool in TODO_TOOLS:
            written = set(strings_of(parse_json(step.text)).split("\n"))
            for session in sessions_of_step(archive, number):
                forget_todos(archive, session, written)


def work_texts(archive: Archive) -> set[str]:
    """What the sessions work on, as the state file may tell it, and the titles of their plans."""
    works = [read_work(archive, session) for (session,) in archive.rows("SELECT id FROM session WHERE work NOT NULL")]
    told = [value for work in works for value in (work.get("planTitle"), *work.get("workItem", {}).values())]
    return {value for value in told if isinstance(value, str)}


def forget_titles(archive: Archive, items: Sequence[LedgerItem]) -> None:
    """Take the titles of forgotten plans out of what the sessions work on."""
    titles = {title for item in items if isinstance(title := item.body.get("title"), str)}
    for (session,) in archive.rows("SELECT id FROM session WHERE work NOT NULL") if titles else ():
        work = read_work(archive, session)
        if work.get("planTitle") in titles:
            kept = {name: value for name, value in work.get("workItem", {}).items() if value not in titles}
            change_work(archive, session, {"planTitle": None, "workItem": kept})
