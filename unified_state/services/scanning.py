"""Scanning: look for secrets in what is archived, with the rules of today; masking rules get better with time."""

from __future__ import annotations

from unified_state.interpreter import dump_json, parse_json
from unified_state.records.record import Record
from unified_state.records.step import TOOL_CALL
from unified_state.rules.packing import pack, unpack
from unified_state.storage.ledger import list_items, update_item
from unified_state.storage.step_writing import replace_text
from unified_state.storage.steps import find_step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from unified_state.services.masking import Masker
    from unified_state.storage.archive import Archive


class Scanned(Record):
    """What a scan found: the refs of steps, items and compactions that hold a secret, and how much was looked at."""

    looked_at: int
    refs: tuple[str, ...]


def scan(
    archive: Archive, masker: Masker, *, fix: bool, report: Callable[[int], None] = lambda _count: None
) -> Scanned:
    """Look through the whole archive; with `fix` the secrets are masked and the file is written anew."""
    numbers = [row[0] for row in archive.rows("SELECT id FROM step WHERE kind NOT NULL ORDER BY id")]
    refs = []
    for number in numbers:
        step = find_step(archive, number)
        report(1)
        if step is None:
            continue
        masked = masker.json(step.text) if step.kind == TOOL_CALL else masker.text(step.text)
        if masked != step.text:
            refs.append(f"S{number}")
            if fix:
                with archive.transaction():
                    replace_text(archive, number, step, masked)
    refs += _items(archive, masker, fix=fix)
    refs += _summaries(archive, masker, fix=fix)
    if fix and refs:
        archive.run("INSERT INTO step_text (step_text) VALUES ('optimize')")
        archive.connection.execute("VACUUM")
    return Scanned(len(numbers), tuple(refs))


def _items(archive: Archive, masker: Masker, *, fix: bool) -> list[str]:
    refs = []
    for item in list_items(archive):
        body = parse_json(masker.json(dump_json(item.body)))
        if body != item.body:
            refs.append(item.alias)
            if fix:
                with archive.transaction():
                    update_item(archive, item.replace(body=body, estimate=None))
    return refs


def _summaries(archive: Archive, masker: Masker, *, fix: bool) -> list[str]:
    refs = []
    for number, summary in archive.rows("SELECT id, summary FROM compaction WHERE summary NOT NULL"):
        text = unpack(summary)
        masked = masker.text(text)
        if masked != text:
            refs.append(f"K{number}")
            if fix:
                archive.run("UPDATE compaction SET summary = ? WHERE id = ?", pack(masked), number)
    return refs
