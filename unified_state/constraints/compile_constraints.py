"""Compile the enforced constraints of the ledger into the table, and install the hook that reads it.

Every change of a constraint compiles the whole table again from the current ledger, under a lock. So the last writer
includes all changes. Where the user turned reminders on, every change of the ledger does. The hook is in the settings
of the worktree only while a constraint is enforced or a fact is to be told, so other projects pay nothing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from sqlite3 import DatabaseError

from unified_state.archive.archive import Archive, read_enforcement
from unified_state.constraints.compile_told import ToldCompiler
from unified_state.constraints.constraint_table import (
    LOCK,
    Table,
    encoded_table,
    has_hook,
    hook_matcher,
    new_stamp,
    read_table,
    set_hook,
    set_stamp,
    settings_path,
    table_path,
)
from unified_state.constraints.told_once import TOLD, worktrees_on
from unified_state.errors import ConstraintsLostError, StorageError, UnifiedStateError
from unified_state.ledger.gate import pass_gate
from unified_state.ledger.item_table import ACTIVE, PROPOSED, is_forgotten, list_items
from unified_state.ledger.rules.short_item import enforced_mode, main_text, scope_in
from unified_state.lib.files import FileLock, write_atomically
from unified_state.model.constraint import ALL_TOOLS, SCOPE_KINDS, TOLD_TOOLS, EnforcedRow
from unified_state.model.item import CONSTRAINT, LedgerItem
from unified_state.project.place import REMINDERS_ON, Place, has_reminders
from unified_state.project.workspace.workspace import Workspace
from unified_state.state_file.state_file import written_state_files

_LOCK_SECONDS = 4.0
_LONGEST_TEXT = 400  # characters of a constraint in the table


def enforced(items: Iterable[LedgerItem]) -> tuple[EnforcedRow, ...]:
    """Return the items that hooks enforce: active constraints with a scope."""
    return tuple(entry for item in items if (entry := enforced_form(item)) is not None)


def enforced_form(item: LedgerItem) -> EnforcedRow | None:
    """Return the enforced form of an item, or None if hooks do not enforce it.

    A constraint that the user did not state has the mode `ask` at most.
    """
    scope = scope_in(item.body) if item.kind == CONSTRAINT and item.status == ACTIVE else None
    if scope is None:
        return None
    commands, paths, tools = (tuple(getattr(scope, kind) or ()) for kind in SCOPE_KINDS)
    text, source = main_text(item), str(item.body.get("source") or "")
    return EnforcedRow(
        item.alias,
        text[:_LONGEST_TEXT],
        source[:_LONGEST_TEXT],
        item.origin,
        item.created_at,
        enforced_mode(item),
        item.body["mode"],
        commands,
        paths,
        tools,
    )


def settle(archive: Archive, workspace: Workspace) -> None:
    """Update the table and the hook. The ledger already has the change, so a failure is reported and not raised."""
    try:
        before, table = compile_table(archive, workspace.place)
        present = hook_matcher(workspace.place.repository.worktree)
        if before or table.constraints or table.told or present or (present is not None and _ever_bound(archive)):
            put_hook(workspace, table)
    except (UnifiedStateError, DatabaseError) as error:
        workspace.report(f"recorded, but not enforced yet: {error}")


def compile_table(archive: Archive, place: Place, *, always: bool = False) -> tuple[bool, Table]:
    """Compile the table from the ledger. Return whether anything was enforced before, and the new table.

    A table is written only if it changed, an empty one only to replace one, or with `always`. Constraints in the old
    table that the ledger does not know stay, because the ledger lost them.

    Raises ConstraintsLostError if the hook in the settings is the only trace of enforced constraints.
    """
    with FileLock(os.path.join(place.folder, LOCK), _LOCK_SECONDS):
        present = read_table(place.folder)
        changed, stamp = read_enforcement(archive)
        constraints = enforced(list_items(archive, CONSTRAINT, [ACTIVE]))
        if present is not None:
            constraints += _unknown(archive, present.constraints)
        elif not constraints and has_hook(place) and not _ever_bound(archive):
            # The ledger knows no reason for the hook.
            raise lost_error(place)
        told = _told(archive, place)
        before = present is not None and bool(present.constraints)
        if present is not None and stamp and present == Table(stamp, constraints, told):
            return before, present
        is_there = always or os.path.lexists(table_path(place.folder))
        table = Table(new_stamp() if constraints or told or is_there else "", constraints, told)
        if table.stamp:
            write_atomically(table_path(place.folder), encoded_table(table))
        set_stamp(archive, changed, table.stamp)
    return before, table


def _told(archive: Archive, place: Place) -> tuple[EnforcedRow, ...]:
    if not has_reminders(place):
        return ()
    return ToldCompiler(archive, place.repository.worktree).rows()


def turn_on(workspace: Workspace) -> None:
    """Turn reminders on in the worktree of a workspace: recorded facts are told before tool calls. Raises
    StorageError.
    """
    place = workspace.place
    _note_reminded(place, [*worktrees_on(place.folder), place.repository.worktree])
    workspace.use(lambda archive: settle(archive, workspace))


def turn_off(place: Place, data_dir: str) -> None:
    """Turn reminders off in the worktree of a place. Without any, nothing of them stays. Raises UnifiedStateError."""
    own = place.repository.worktree
    if hook_matcher(own):  # one before all tools enforces constraints
        set_hook(own, place, data_dir, None)
    if not has_reminders(place):
        return
    _note_reminded(place, [worktree for worktree in worktrees_on(place.folder) if worktree != own])
    if worktrees_on(place.folder):
        return
    os.unlink(os.path.join(place.folder, REMINDERS_ON))
    with FileLock(os.path.join(place.folder, LOCK), _LOCK_SECONDS):
        table = read_table(place.folder)
        if table is not None and table.told:
            write_atomically(table_path(place.folder), encoded_table(table.replace(told=())))
    shutil.rmtree(os.path.join(place.folder, TOLD), ignore_errors=True)


def _note_reminded(place: Place, worktrees: list[str]) -> None:
    lines = "".join(f"{worktree}\n" for worktree in dict.fromkeys(worktrees))
    write_atomically(os.path.join(place.folder, REMINDERS_ON), os.fsencode(lines))


def _unknown(archive: Archive, entries: Sequence[EnforcedRow]) -> tuple[EnforcedRow, ...]:
    """Return the enforced constraints that the ledger has in no status and did not deliberately forget."""
    known = set(archive.column("SELECT created_at FROM item WHERE kind = ?", CONSTRAINT)) if entries else set()
    return tuple(entry for entry in entries if entry.at not in known and not is_forgotten(archive, entry.ref))


def _ever_bound(archive: Archive) -> bool:
    """Return whether the ledger has a constraint with a scope that was ever more than a proposal."""
    items = list_items(archive, CONSTRAINT)
    return any(scope_in(item.body) is not None and item.status != PROPOSED for item in items)


def lost_error(place: Place, why: str = "") -> ConstraintsLostError:
    """Return the error for constraints that were enforced and are lost."""
    from unified_state.project.workspace.link import candidates

    found = candidates(place, place.key_folder)
    message = f"{settings_path(place.repository.worktree)} has a hook for constraints, and what they say is lost"
    command = f"config link {found[0].id}" if found else "uninstall"
    return ConstraintsLostError(f"{message}: {why}" if why else message, f"`unified-state {command}` ends this")


def check_in_place(archive: Archive, workspace: Workspace) -> str | None:
    """Repair table and hook at the start of a session. Return the problem, or None.

    This covers a new worktree, and an archive that was restored from elsewhere.
    """
    place = workspace.place
    _, stamp = read_enforcement(archive)
    table = read_table(place.folder)
    try:
        if table is None or table.stamp != stamp:
            _, table = compile_table(archive, place)
        put_hook(workspace, table, only_own=True)
    except ConstraintsLostError as error:
        return f"each tool call asks: {error}"
    except (UnifiedStateError, DatabaseError) as error:
        told = f"constraints are not enforced: {error}"
        workspace.report(told)
        return told
    return None


def put_hook(workspace: Workspace, table: Table, *, only_own: bool = False) -> None:
    """Add the hook that a table needs to the settings of every worktree, or remove it."""
    place, reminded = workspace.place, worktrees_on(workspace.place.folder) if table.told else []
    worktrees = {place.repository.worktree}
    if not only_own:
        others = {os.path.dirname(os.path.dirname(path)) for path in written_state_files(place.folder)}
        worktrees |= set(filter(os.path.isdir, others | set(reminded)))
    for worktree in sorted(worktrees):
        matcher = ALL_TOOLS if table.constraints else TOLD_TOOLS if worktree in reminded else None
        try:
            set_hook(worktree, place, workspace.settings.data_dir, matcher)
        except (UnifiedStateError, OSError) as error:
            told = error if isinstance(error, UnifiedStateError) else StorageError(str(error))
            what = "a hook of ours stays" if matcher is None else "constraints are not enforced"
            workspace.report(f"{what} in {worktree}: {told}")


def check_may_take_away(workspace: Workspace, deed: str) -> None:
    """Require confirmation at the gate before `deed` ends all rules that are in force here.

    An unreadable table or archive counts as one that contains rules. Raises NotAtGateError.
    """
    rules = _rules(workspace)
    if rules:
        pass_gate(workspace.origin, f"{deed} while constraint {', '.join(rules)} is in force")


def _rules(workspace: Workspace) -> list[str]:
    path = table_path(workspace.place.folder)
    table = read_table(workspace.place.folder)
    if table is None and (os.path.lexists(path) or has_hook(workspace.place)):
        return ["(unknown)"]
    refs = {entry.ref for entry in table.constraints} if table else set()
    try:
        refs.update(item.alias for item in _constraints(workspace) if item.status == ACTIVE)
    except (UnifiedStateError, DatabaseError) as error:
        workspace.report(f"what is in force cannot be read: {error}")
        refs.add("(unknown)")
    return sorted(refs)


def _constraints(workspace: Workspace) -> Iterable[LedgerItem]:
    if workspace.is_empty:
        return ()
    return workspace.use(lambda archive: list_items(archive, CONSTRAINT, [ACTIVE]))


def end_lost(workspace: Workspace, ref: str) -> bool:
    """Lift a lost constraint and return whether it was enforced.

    A constraint is lost if the table has it and the ledger does not, or if the hook exists and the table is unreadable.
    Raises NotAtGateError.
    """
    place = workspace.place
    table = read_table(place.folder)
    if not (has_hook(place) if table is None else any(entry.ref == ref for entry in table.constraints)):
        return False
    pass_gate(workspace.origin, f"lifts {ref}")
    left = Table("")
    with FileLock(os.path.join(place.folder, LOCK), _LOCK_SECONDS):
        table = read_table(place.folder)
        if table is not None:
            left = table.replace(constraints=tuple(entry for entry in table.constraints if entry.ref != ref))
            write_atomically(table_path(place.folder), encoded_table(left))
    put_hook(workspace, left)
    return True
