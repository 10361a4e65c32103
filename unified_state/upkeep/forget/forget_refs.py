"""Forgetting what was captured: facts that were taken from forgotten steps go with them, and leave no trace in the
session's list or work item.
"""

from __future__ import annotations

import os

from unified_state.capture.rules.client_tools import TODO_TOOLS
from unified_state.errors import NotFoundError, UsageError
from unified_state.lib.record import Record
from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.lib.text import one_line, strings_of, unpack
from unified_state.lib.times import to_milliseconds
from unified_state.memory.archive.compactions import FORGOTTEN, find_compaction, forget_restores, forget_summary
from unified_state.memory.archive.free_texts import FreeText, forget_free_text, forget_texts_of_session, free_texts
from unified_state.memory.archive.pending_messages import forget_messages, write_pending
from unified_state.memory.archive.session_notes import forget_todos
from unified_state.memory.archive.sessions import change_work, read_work, session_number
from unified_state.memory.archive.steps import (
    find_step,
    sessions_of_step,
    step_numbers,
    uuid_key,
    uuid_of_step,
    uuids_of_turns_with,
)
from unified_state.memory.archive.write_steps import forget_step, tidy
from unified_state.memory.history.archive_rows import note_masked
from unified_state.memory.ledger.gate import is_in_force, pass_gate_for
from unified_state.memory.ledger.item_table import captured_items, find_item, forget_item, list_items, selected_items
from unified_state.memory.ledger.source_table import drop_quotes, items_of_entry, items_of_summary
from unified_state.memory.repository.health import problem_files
from unified_state.memory.working_set.keep_working_set import empty_working_sets, rebuild_working_sets
from unified_state.memory.writer.record_state import refresh_worktrees
from unified_state.model.constraint import USER_SAID
from unified_state.model.history_records import SESSION
from unified_state.model.item import ATTEMPT
from unified_state.model.refs import COMPACTION, ITEM, STEP, TURN, parse_ref
from unified_state.model.step import TEXT, TOOL_CALL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.workspace.workspace import Workspace
    from unified_state.model.history_records import Tombstone
    from unified_state.model.item import LedgerItem

    Holds = Callable[[str], bool]


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


class Forgotten(Record):
    """How much was forgotten. `others` are notes, what a session works on, what was given back, git states."""

    steps: int = 0
    items: int = 0
    summaries: int = 0
    others: int = 0


def forget(
    workspace: Workspace, now: int, *, ref: str = "", session_id: str | None = None, text: str | None = None
) -> Forgotten:
    """Forget everything that holds a text, or else a session, or else what a ref names."""
    hidden = workspace.place.archive_path
    if workspace.journal is not None and os.path.exists(hidden):
        workspace.report(f"the archive {hidden} was not looked at: tier is json")
    if text is not None:
        leaves = _holds(text)
        done = workspace.use(lambda archive: forget_text(archive, text, now, workspace.origin))
        _forget_problems(workspace, leaves)
    else:

        def action(archive: Archive) -> tuple[Forgotten, Holds]:
            before = work_texts(archive)
            if session_id is None:
                forgotten = forget_ref(archive, ref, workspace.origin)
            else:
                forgotten = forget_session(archive, session_id, now, workspace.origin)
            return forgotten, (before - work_texts(archive)).__contains__

        done, leaves = workspace.use(action)
    refresh_worktrees(workspace, leaves)
    return done


def forget_ref(archive: Archive, ref: str, origin: str = USER_SAID) -> Forgotten:
    """Forget one item, turn, step or compaction."""
    kind, number = parse_ref(ref)
    if kind == ITEM:
        return forget_found(archive, items=[find_item(archive, ref)], origin=origin)
    if kind == COMPACTION and find_compaction(archive, number) is not None:
        return forget_found(archive, summaries=[number], origin=origin)
    steps = []
    if kind == TURN:
        steps = [row[0] for row in archive.rows("SELECT id FROM step WHERE turn = ? AND kind NOT NULL", number)]
    if kind == STEP and find_step(archive, number) is not None:
        steps = [number]
    if not steps:
        message = f"there is nothing to forget at {ref}"
        raise NotFoundError(message, "`unified-state search` finds refs")
    texts = {_words(archive, step) for step in steps}
    forget_messages(archive, lambda message: message.text.strip() in texts)
    return forget_found(archive, steps=steps, origin=origin)


def forget_session(archive: Archive, session_id: str, now: int, origin: str = USER_SAID) -> Forgotten:
    """Forget a session: its steps, and also what its transcript holds up to now and was not archived yet."""
    number = session_number(archive, session_id)
    if number is None:
        message = f"there is no session {session_id} in the archive"
        raise NotFoundError(message, "`unified-state search` names the sessions it finds")
    summaries = [row[0] for row in archive.rows("SELECT id FROM compaction WHERE session = ?", number)]
    write_pending(archive, session_id, [])
    with archive.transaction():
        forget_texts_of_session(archive, number, now)
    return forget_found(archive, step_numbers(archive, number), summaries=summaries, origin=origin)


def forget_text(archive: Archive, text: str, now: int, origin: str = USER_SAID) -> Forgotten:
    """Forget every step, item, summary and note that holds a text, as it stands, in upper or lower case."""
    if not text.strip():
        message = "the text to forget is empty"
        raise UsageError(message, "give a text that stands in what shall go")
    holds = _holds(text)
    bodies = archive.execute("SELECT id, body FROM step WHERE kind NOT NULL")
    steps = [number for number, body in bodies if holds(unpack(body))]
    items = [item for item in list_items(archive) if holds(dump_json(item.body)) or holds(item.quote or "")]
    free = [found for found in free_texts(archive) if holds(found.text)]
    forget_messages(archive, lambda message: holds(message.text))
    summaries = [found.key for found in free if found.is_summary]
    return forget_found(archive, steps, items, summaries, free, origin, now)


def _holds(text: str) -> Holds:
    """Whether another text holds this one, in upper or lower case, as it stands or inside JSON."""
    forms = {text.lower(), dump_json(text)[1:-1].lower()}
    return lambda other: any(form in other.lower() for form in forms)


def forget_found(
    archive: Archive,
    steps: Sequence[int] = (),
    items: Sequence[LedgerItem] = (),
    summaries: Sequence[int] = (),
    free: Sequence[FreeText] = (),
    origin: str | None = None,
    now: int = 0,
) -> Forgotten:
    """Forget what was found, with all that was taken from it. Without an origin it was forgotten elsewhere: rules in
    force that were taken from it stay then, for only the user at a terminal forgets a rule.
    """
    captured = captured_from(archive, steps) if steps else []
    items = _all_items(items, captured, origin)
    times = [archive.row("SELECT at FROM step WHERE id = ?", number)[0] for number in steps]
    times += [to_milliseconds(item.created_at) or 0 for item in items]
    times += [archive.row("SELECT started_at FROM compaction WHERE id = ?", number)[0] for number in summaries]
    with archive.transaction():
        forget_lists(archive, steps)
        forget_titles(archive, items)
        for number in steps:
            drop_quotes(archive, items_of_entry(archive, uuid_of_step(archive, number)))
            forget_step(archive.execute, number)
        for item in items:
            forget_item(archive, item.uuid)
        for number in summaries:
            drop_quotes(archive, items_of_summary(archive, number))
            forget_summary(archive, number)
        for found in free:
            forget_free_text(archive, found)
            if found.record is not None and not found.is_summary:  # what came with a record that stays
                note_masked(archive, *found.record, now)
        if times:
            forget_restores(archive, min(times))
        sessions = empty_working_sets(archive, steps)
    rebuild_working_sets(archive, sessions)
    tidy(archive)
    return Forgotten(len(steps), len(items), len(summaries), sum(not found.is_summary for found in free))


def _all_items(items: Sequence[LedgerItem], captured: Sequence[LedgerItem], origin: str | None) -> list[LedgerItem]:
    """The items with those that were captured, each once, if they may be forgotten."""
    if origin is None:
        captured = [item for item in captured if not is_in_force(item)]
    every = list({item.uuid: item for item in (*items, *captured)}.values())
    if origin is not None:
        pass_gate_for(every, origin, "forgets")
    return every


def _words(archive: Archive, step: int) -> str:
    found = find_step(archive, step)
    return found.text.strip() if found else ""


def _forget_problems(workspace: Workspace, leaves: Holds) -> None:
    """Remove what tells of a problem and quotes the text."""
    for path in problem_files(workspace.settings.data_dir, workspace.place.folder):
        with open(path, encoding="utf-8", errors="replace") as file:
            quotes = leaves(file.read())
        if quotes:
            os.unlink(path)


def forget_told(archive: Archive, tombstones: Iterable[Tombstone]) -> set[str]:
    """Forget what tombstones name; what the state files may still tell of it."""
    before = work_texts(archive)
    _forget(archive, tombstones)
    return before - work_texts(archive)


def _forget(archive: Archive, tombstones: Iterable[Tombstone]) -> None:
    steps: list[int] = []
    summaries: list[int] = []
    items = []
    for told in tombstones:
        if told.what == STEP:
            steps += _step(archive, told.key)
        elif told.what == ITEM:
            items += selected_items(archive, "WHERE uuid = ?", told.key)
        elif told.what == COMPACTION:
            rows = archive.rows(
                "SELECT id FROM compaction WHERE boundary_uuid = ? AND summary IS NOT ?", told.key, FORGOTTEN
            )
            summaries += [number for (number,) in rows]
        elif told.what == SESSION and (session := session_number(archive, told.key)) is not None:
            if not _is_known(archive, told):  # what was said since then is not forgotten by it once more
                write_pending(archive, told.key, [])
                with archive.transaction():
                    forget_texts_of_session(archive, session, told.at)
            steps += _steps_until(archive, session, told.at)
            summaries += _summaries_until(archive, session, told.at)
    if steps or items or summaries:
        forget_found(archive, list(dict.fromkeys(steps)), items, list(dict.fromkeys(summaries)))


def _step(archive: Archive, key: str) -> list[int]:
    uuid, _, block = key.rpartition("/")
    rows = archive.rows(
        "SELECT id FROM step WHERE uuid = ? AND block = ? AND kind NOT NULL", uuid_key(uuid), int(block)
    )
    return [number for (number,) in rows]


def _steps_until(archive: Archive, session: int, at: int) -> list[int]:
    numbers = step_numbers(archive, session)
    left = "SELECT 1 FROM step WHERE id = ? AND at <= ? AND kind NOT NULL"
    return [number for number in numbers if archive.row(left, number, at)]


def _summaries_until(archive: Archive, session: int, at: int) -> list[int]:
    rows = archive.rows(
        "SELECT id FROM compaction WHERE session = ? AND started_at <= ? AND summary IS NOT ?", session, at, FORGOTTEN
    )
    return [number for (number,) in rows]


def _is_known(archive: Archive, told: Tombstone) -> bool:
    row = archive.row("SELECT at FROM tombstone WHERE what = ? AND key = ?", told.what, told.key)
    return row is not None and row[0] >= told.at
