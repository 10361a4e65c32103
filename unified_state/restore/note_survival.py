"""Record the items that a restore repeated, and report the fate of the items at each compaction."""

from __future__ import annotations

from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.compactions import Compaction, find_compaction
from unified_state.capture.survival_table import SurvivalRow, all_survivals, find_survival, keep_restored, tell_once
from unified_state.errors import NotFoundError, UsageError
from unified_state.lib.text import estimate_tokens
from unified_state.lib.times import to_text
from unified_state.model.known import KEPT, MISSING, RestoreInput
from unified_state.model.refs import COMPACTION, parse_ref
from unified_state.restore.rules.brief_lines import survival_line, told_refs


def note_restored(archive: Archive, known: RestoreInput, text: str) -> str:
    """Record the items that a restore states in full. Return the line for the user, once for each compaction."""
    if known.survival is None or known.compaction is None:
        return ""
    with archive.transaction(durable=False):
        restored = told_refs(text.splitlines(), [item.alias for item in known.items])
        keep_restored(archive, known.compaction, restored, estimate_tokens(text))
        line = survival_line(known.survival, restored, known.compaction)
        return line if tell_once(archive, known.compaction, known.now) else ""


def survival_of(archive: Archive, ref: str) -> dict[str, Any]:
    """Return the fate of each item at one compaction, with the summary's statement about it."""
    kind, number = parse_ref(ref)
    if kind != COMPACTION:
        message = f"{ref} is no compaction"
        raise UsageError(message, "compactions have refs such as K1; `unified-state list compaction` lists them")
    compaction, found = find_compaction(archive, number), find_survival(archive, number)
    if compaction is None or found is None:
        message = f"nothing is known of a compaction K{number}"
        raise NotFoundError(message, "`unified-state list compaction` lists those whose summary was seen")
    summary = compaction.summary or ""
    items = [
        {
            "ref": judged.ref,
            "verdict": judged.verdict,
            "restored": judged.ref in found.restored,
            "summary_says": summary[judged.begin : judged.end].strip() or None,
        }
        for judged in found.survival.items
    ]
    return {**_numbers(compaction, found), "items": items}


def survivals(archive: Archive) -> list[dict[str, Any]]:
    """Return the numbers of all compactions with a known summary, in order."""
    found = ((find_compaction(archive, survived.compaction), survived) for survived in all_survivals(archive))
    return [_numbers(compaction, survived) for compaction, survived in found if compaction is not None]


def _numbers(compaction: Compaction, found: SurvivalRow) -> dict[str, Any]:
    survival = found.survival
    return {
        "ref": f"K{compaction.id}",
        "timestamp": to_text(compaction.boundary_at or compaction.started_at),
        "total": len(survival.items),
        "kept": list(survival.refs(KEPT)),
        "missing": list(survival.refs(MISSING)),
        "restored": list(found.restored),
        "restored_tokens": found.tokens,
        "line": survival_line(survival, found.restored, compaction.id),
    }
