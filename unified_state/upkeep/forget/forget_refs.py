"""Forget text: remove it from all our files, so that no later ingest restores it.

Forgotten steps keep empty rows as tombstones. The bytes are gone too: SQLite overwrites what it deletes, and the index
is rewritten in steps that let other writers in. Texts that sessions received since then are deleted, because they may
quote the text. Facts captured from the steps are deleted with them. The state files of all worktrees are updated. The
client's own transcript is not changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from unified_state.archive.archive import Archive
from unified_state.archive.compactions import find_compaction
from unified_state.archive.pending_messages import forget_messages
from unified_state.archive.session_work import change_work, forget_todos
from unified_state.archive.sessions import known_session
from unified_state.archive.steps import (
    find_step,
    sessions_of_step,
    step_numbers,
    uuid_key,
    uuid_of_step,
    uuids_of_turns_with,
)
from unified_state.archive.text_columns import (
    FORGOTTEN,
    FreeText,
    forget_free_text,
    forget_restores,
    forget_session_texts,
    forget_step,
    forget_texts,
    free_texts,
)
from unified_state.capture.rules.client_tools import TODO_TOOLS
from unified_state.errors import NotFoundError, UsageError
from unified_state.ledger.find_sources import drop_quotes, items_of_entry, items_of_summary
from unified_state.ledger.gate import is_in_force, is_rule, pass_gate_for
from unified_state.ledger.item_table import find_item, forget_item, list_items, selected_items
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.read_files import LARGE_FILE, read_regular
from unified_state.lib.record import Record
from unified_state.lib.text import one_line, strings_of, unpack
from unified_state.lib.times import to_milliseconds
from unified_state.model.history_records import Tombstone
from unified_state.model.item import ATTEMPT, LedgerItem
from unified_state.model.refs import COMPACTION, ITEM, STEP, TURN, parse_ref
from unified_state.model.step import TEXT, TOOL_CALL
from unified_state.project.health import problem_files
from unified_state.project.workspace.workspace import Workspace
from unified_state.state_file.writer.save_state import refresh_worktrees
from unified_state.upkeep.forget.unfinished import finish, in_parts, note_unfinished
from unified_state.upkeep.history.archive_changes import append, ensure_session
from unified_state.upkeep.history.archive_rows import read_tombstones

Holds = Callable[[str], bool]
Confirm = Callable[["ForgetPlan"], None]


_MOST_REFS = 12
_QUOTED = 60  # characters of a text that identify an attempt which repeats it
_READ = 500  # steps read at once: a process that reads for long makes writers wait


class ForgetPlan(Record):
    """What a forget takes: numbers of steps and of compactions with a summary, items, and further texts."""

    steps: tuple[int, ...] = ()
    items: tuple[LedgerItem, ...] = ()
    summaries: tuple[int, ...] = ()
    free: tuple[FreeText, ...] = ()

    @property
    def refs(self) -> dict[tuple[str, str], list[str]]:
        """The refs of everything that has one, by what one and several of them are called."""
        return {
            ("item", "items"): [item.alias for item in self.items],
            ("step", "steps"): [f"S{number}" for number in self.steps],
            ("summary", "summaries"): [f"K{number}" for number in self.summaries],
        }

    @property
    def text(self) -> str:
        """What is taken, in a few words: `2 items (D1, E3), 3 steps (S1, S4, S9), 1 notes and other texts`."""
        parts = []
        for (one, several), refs in self.refs.items():
            named = refs if len(refs) <= _MOST_REFS else [f"{', '.join(refs[: _MOST_REFS - 1])} … {refs[-1]}"]
            parts += [f"{len(refs):,} {one if len(refs) == 1 else several} ({', '.join(named)})"] if refs else []
        others = self.counts()["others"]
        parts += [f"{others:,} notes and other texts"] if others else []
        return ", ".join(parts) or "nothing that is archived"

    def counts(self) -> dict[str, int]:
        """Return the numbers. `others` are notes, work items, restored texts and git states."""
        others = sum(not found.is_summary for found in self.free)
        numbers = {"steps": self.steps, "items": self.items, "summaries": self.summaries}
        return {**{name: len(found) for name, found in numbers.items()}, "others": others}


class ForgetRequest(Record):
    """What to forget: everything that contains `text`, or else a session, or else the record of a ref."""

    ref: str = ""
    session_id: str | None = None
    text: str | None = None


def find_to_forget(workspace: Workspace, wanted: ForgetRequest) -> ForgetPlan:
    """Return what a forget would take. Raises NotFoundError."""
    return workspace.use(lambda archive: _with_captured(archive, _find(archive, wanted), workspace.origin))


def forget(workspace: Workspace, now: int, wanted: ForgetRequest, confirm: Confirm | None = None) -> ForgetPlan:
    """Forget what is wanted, and return it.

    `confirm` is called with what it takes, and may raise. It is not asked about rules: the user confirms those at the
    gate, whatever it says.
    """
    workspace.use(lambda _archive: None)  # where the archive cannot be used, that is all that is told
    refresh_worktrees(workspace)  # what others wrote into a state file is among what is searched
    try:
        done = workspace.use(lambda archive: forget_wanted(archive, wanted, now, workspace.origin, confirm))
    except NotFoundError:  # perhaps a forget that was interrupted after its deletion
        refresh_worktrees(workspace)
        if not workspace.use(finish):
            raise
        return ForgetPlan()
    if wanted.text is not None:
        _remove_problem_files(workspace, _holds(wanted.text))
    refresh_worktrees(workspace, is_anew=True)
    return done


def forget_wanted(
    archive: Archive, wanted: ForgetRequest, now: int, origin: str, confirm: Confirm | None = None
) -> ForgetPlan:
    """Forget what is wanted, once the user confirmed it. Raises NotFoundError, and what the gate and `confirm` raise.

    Nothing was changed then.
    """
    found = _with_captured(archive, _find(archive, wanted), origin)
    rules = [item for item in found.items if is_rule(item)]
    pass_gate_for(rules, origin, "forgets", beside=found.text)
    if confirm is not None and not rules:
        confirm(found)
    if wanted.session_id is not None:
        with archive.transaction():
            forget_session_texts(archive, known_session(archive, wanted.session_id), now)
    elif wanted.text is None:
        texts = {step.text.strip() for number in found.steps if (step := find_step(archive, number)) is not None}
        forget_messages(archive, lambda text: text.strip() in texts)
    _forget_found(archive, found)
    return found


def _find(archive: Archive, wanted: ForgetRequest) -> ForgetPlan:
    """Return what holds a text, or belongs to a session or a ref. Raises NotFoundError."""
    if wanted.text is not None:
        return _find_text(archive, wanted.text)
    if wanted.session_id is not None:
        number = known_session(archive, wanted.session_id)
        summaries = archive.column("SELECT id FROM compaction WHERE session = ?", number)
        return ForgetPlan(tuple(step_numbers(archive, number)), summaries=tuple(summaries))
    kind, number = parse_ref(wanted.ref)
    if kind == ITEM:
        return ForgetPlan(items=(find_item(archive, wanted.ref),))
    if kind == COMPACTION and find_compaction(archive, number) is not None:
        return ForgetPlan(summaries=(number,))
    column = {TURN: "turn", STEP: "id"}.get(kind)
    steps = archive.column(f"SELECT id FROM step WHERE {column} = ? AND kind NOT NULL", number) if column else []
    if not steps:
        message = f"there is nothing to forget at {wanted.ref}"
        raise NotFoundError(message, "`unified-state search` finds refs")
    return ForgetPlan(tuple(steps))


def _find_text(archive: Archive, text: str) -> ForgetPlan:
    if not text.strip():
        message = "the text to forget is empty"
        raise UsageError(message, "give a text that stands in what shall go")
    holds = _holds(text)
    steps = [number for number, body in _bodies(archive) if holds(unpack(body))]
    items = [item for item in list_items(archive) if holds(dump_json(item.body)) or holds(item.quote or "")]
    free = [found for found in free_texts(archive) if holds(found.text)]
    summaries = [found.key for found in free if found.is_summary]
    return ForgetPlan(tuple(steps), tuple(items), tuple(summaries), tuple(free))


def _bodies(archive: Archive) -> Iterator[tuple[int, str | bytes]]:
    """Yield the numbers and the packed texts of all steps. Between its reads, other processes can write."""
    last = 0
    query = "SELECT id, body FROM step WHERE id > ? AND kind NOT NULL ORDER BY id LIMIT ?"
    while rows := archive.rows(query, last, _READ):
        yield from rows
        last = rows[-1][0]


def apply_tombstones(archive: Archive, tombstones: Sequence[Tombstone]) -> int:
    """Forget the records that another store's tombstones name, and keep the tombstones. Return the number of new
    ones.
    """
    known = {(stone.what, stone.key): stone.at for stone in read_tombstones(archive)}
    steps, summaries, items = list[int](), list[int](), list[LedgerItem]()
    left = f"summary IS NOT '{FORGOTTEN}'"
    for told in tombstones:
        if told.what == STEP:
            uuid, _, block = told.key.rpartition("/")
            here = "SELECT id FROM step WHERE uuid = ? AND block = ? AND kind NOT NULL"
            steps += archive.column(here, uuid_key(uuid), int(block))
        elif told.what == ITEM:
            items += selected_items(archive, "WHERE uuid = ?", told.key)
        elif told.what == COMPACTION:
            summaries += archive.column(f"SELECT id FROM compaction WHERE boundary_uuid = ? AND {left}", told.key)
        else:
            session = ensure_session(archive, told.key)
            if known.get((told.what, told.key), -1) < told.at:  # otherwise later texts would be deleted too
                with archive.transaction():
                    forget_session_texts(archive, session, told.at)
            until = "SELECT 1 FROM step WHERE id = ? AND at <= ?"
            steps += [step for step in step_numbers(archive, session) if archive.row(until, step, told.at)]
            of_session = f"SELECT id FROM compaction WHERE session = ? AND started_at <= ? AND {left}"
            summaries += archive.column(of_session, session, told.at)
    if steps or items or summaries:
        found = ForgetPlan(tuple(dict.fromkeys(steps)), tuple(items), tuple(dict.fromkeys(summaries)))
        _forget_found(archive, _with_captured(archive, found, None))
    append(archive, tombstones)
    new = {(stone.what, stone.key) for stone in tombstones} - known.keys()
    return len(new)


def _holds(text: str) -> Holds:
    """Return a function that tests whether a text contains this one, in any case, unescaped or inside JSON."""
    forms = {text.lower(), dump_json(text)[1:-1].lower()}
    return lambda other: any(form in other.lower() for form in forms)


def _forget_found(archive: Archive, found: ForgetPlan) -> None:
    """Forget the given records, with everything derived from them.

    What is found by the steps goes first. So a process that is killed leaves only steps, which the next forget finds.
    """
    times = [archive.row("SELECT at FROM step WHERE id = ?", number)[0] for number in found.steps]
    times += [to_milliseconds(item.created_at) or 0 for item in found.items]
    times += [archive.row("SELECT started_at FROM compaction WHERE id = ?", number)[0] for number in found.summaries]
    with archive.transaction():
        _forget_titles(archive, found.items)
        for item in found.items:
            forget_item(archive, item.uuid)
        for number in found.summaries:
            drop_quotes(archive, items_of_summary(archive, number))
            forget_texts(archive, COMPACTION, number)
        for text in found.free:
            forget_free_text(archive, text)
        if times:
            forget_restores(archive, min(times))
        note_unfinished(archive)
    in_parts(archive, found.steps, partial(_forget_steps, archive))
    finish(archive)


def _forget_steps(archive: Archive, steps: list[int]) -> None:
    _forget_list_entries(archive, steps)
    for number in steps:
        drop_quotes(archive, items_of_entry(archive, uuid_of_step(archive, number)))
        forget_step(archive, number)
    note_unfinished(archive)


def _with_captured(archive: Archive, found: ForgetPlan, origin: str | None) -> ForgetPlan:
    """Return what was found with the items captured from the turns of its steps, and attempts that repeat their texts.

    Without an origin it was forgotten elsewhere. Rules in force that were derived from it then stay, because only the
    user at a terminal forgets a rule.
    """
    captured = selected_items(archive, "WHERE rule NOT NULL ORDER BY id") if found.steps else []
    uuids = uuids_of_turns_with(archive, found.steps)
    steps = [find_step(archive, number) for number in found.steps]
    said = [one_line(step.text)[:_QUOTED] for step in steps if step is not None and step.kind == TEXT]
    taken = {item.uuid: item for item in found.items}
    for item in captured:
        repeats = item.kind == ATTEMPT and any(text and text in item.body["attempt"] for text in said)
        if (item.source_uuid in uuids or repeats) and (origin is not None or not is_in_force(item)):
            taken[item.uuid] = item
    return found.replace(items=tuple(taken.values()))


def _forget_list_entries(archive: Archive, steps: Sequence[int]) -> None:
    """Delete the entries of to-do lists that some steps wrote. Call it before the steps are forgotten."""
    for number in steps:
        step = find_step(archive, number)
        if step is not None and step.kind == TOOL_CALL and step.tool in TODO_TOOLS:
            written = set(strings_of(parse_json(step.text)).split("\n"))
            for session in sessions_of_step(archive, number):
                forget_todos(archive, session, written)


def _forget_titles(archive: Archive, items: Sequence[LedgerItem]) -> None:
    """Delete the titles of forgotten plans from the sessions' work."""
    titles = {title for item in items if isinstance(title := item.body.get("title"), str)}
    for session, told in archive.rows("SELECT id, work FROM session WHERE work NOT NULL"):
        work = parse_json(told)
        if work.get("planTitle") in titles:
            kept = {name: value for name, value in work.get("workItem", {}).items() if value not in titles}
            change_work(archive, session, {"planTitle": None, "workItem": kept})


def _remove_problem_files(workspace: Workspace, holds: Holds) -> None:
    """Delete the recorded problems that quote the text."""
    for path in problem_files(workspace.settings.data_dir, workspace.place.folder):
        if holds(read_regular(path, LARGE_FILE).decode("utf-8", "replace")):
            os.unlink(path)
