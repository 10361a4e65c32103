"""Scan all stored texts for secrets, with the current masking rules."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.steps import find_step
from unified_state.archive.text_columns import FreeText, free_texts, note_rewrite, replace_free_text, replace_text
from unified_state.ledger.find_sources import quoted, requote, requote_summary
from unified_state.ledger.item_table import list_items, update_item
from unified_state.lib.identifiers import mentioned_files
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.read_files import read_text
from unified_state.lib.record import Record
from unified_state.lib.times import to_text
from unified_state.model.history_records import COMPACTION, STEP
from unified_state.model.item import LedgerItem
from unified_state.model.step import TOOL_CALL, Step
from unified_state.project.health import problem_files
from unified_state.project.workspace.workspace import Workspace
from unified_state.secrets.masker import Masker
from unified_state.state_file.writer.save_state import existing_state_files, refresh_worktrees
from unified_state.upkeep.forget.unfinished import finish, note_unfinished
from unified_state.upkeep.history.archive_rows import note_masked


class ScanResult(Record):
    """The result of a scan: the number of steps read, and the places with a secret (refs, notes, sessions, files)."""

    looked_at: int
    refs: tuple[str, ...]


def scan(workspace: Workspace, *, fix_at: int | None) -> ScanResult:
    """Search for secrets in the archive and the files next to it. With `fix_at` (now) they are masked, in the files
    too.
    """
    fix = fix_at is not None

    def action(archive: Archive) -> ScanResult:
        refs = []
        for name, mend in _found(archive, workspace.masker, fix_at or 0):
            refs.append(name)
            if fix:
                with archive.transaction():
                    note_unfinished(archive)
                    mend()
        if fix and finish(archive):
            archive.run("VACUUM")  # of a secret, no byte may stay in an unused part of a page
        return ScanResult(archive.row("SELECT count(*) FROM step WHERE kind NOT NULL")[0], tuple(refs))

    done = workspace.use(action)
    files = list(_files(workspace, fix=fix))
    if fix and (files or done.refs):
        refresh_worktrees(workspace, is_anew=True)
    return done.replace(refs=(*done.refs, *files))


def _found(archive: Archive, masker: Masker, now: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield each place in the archive that holds a secret, and what masks it there."""
    for number in archive.column("SELECT id FROM step WHERE kind NOT NULL ORDER BY id"):
        step = find_step(archive, number)
        if step is not None:
            masked = masker.json(step.text) if step.kind == TOOL_CALL else masker.text(step.text)
            if masked != step.text:
                yield f"S{number}", partial(_mask_step, archive, number, step, masked, masker, now)
    for item in list_items(archive):
        body = parse_json(masker.json(dump_json(item.body)))
        quote = None if item.quote is None else masker.text(item.quote)
        if body != item.body or quote != item.quote:
            yield item.alias, partial(_mask_item, archive, item, body, quote, now)
    for found in free_texts(archive):
        masked = masker.json(found.text) if found.of.is_json else masker.text(found.text)
        if masked != found.text:
            yield found.name, partial(_mask_free_text, archive, found, masked, masker, now)


def _mask_step(archive: Archive, number: int, step: Step, masked: str, masker: Masker, now: int) -> None:
    replace_text(archive, number, step, masked)
    note_rewrite(archive)
    note_masked(archive, STEP, number, now)
    requote(archive, step.uuid, masker.text)


def _mask_item(archive: Archive, item: LedgerItem, body: dict[str, Any], quote: str | None, now: int) -> None:
    files = mentioned_files("\n".join(value for value in body.values() if isinstance(value, str)))
    kept = {path: version for path, version in item.file_hashes.items() if path.endswith(files)}
    changed = item.replace(changed_at=to_text(now))
    if quote is not None:
        changed = quoted(changed, quote)
    update_item(archive, changed.replace(body=body, files=files, file_hashes=kept))


def _mask_free_text(archive: Archive, found: FreeText, masked: str, masker: Masker, now: int) -> None:
    replace_free_text(archive, found, masked)
    if found.is_summary:
        note_masked(archive, COMPACTION, found.key, now)
        requote_summary(archive, found.key, masked, masker.text)


def _files(workspace: Workspace, *, fix: bool) -> Iterator[str]:
    """Yield the state files and recorded problems that contain a secret. `fix` deletes the latter.

    State files are rewritten from the masked archive afterwards.
    """
    for path in existing_state_files(workspace):
        text = read_text(path)
        if workspace.masker.json(text) != text:
            yield path
    for path in problem_files(workspace.settings.data_dir, workspace.place.folder):
        text = read_text(path)
        if workspace.masker.text(text) != text:
            yield path
            if fix:
                os.unlink(path)
