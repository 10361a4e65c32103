"""The audit: duplicates, contradictions, stale items and results, foreign rules, secrets. It changes nothing.

Precision is preferred to recall: what cannot be told for certain is no finding. The work is bounded.
"""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.memory.ledger.item_table import ACTIVE, PROPOSED, selected_items
from unified_state.upkeep.audit.look_at_files import look_at_files, memory_files
from unified_state.upkeep.audit.look_at_items import related, stale_results, without_use
from unified_state.upkeep.audit.look_at_projects import of_other_projects
from unified_state.upkeep.audit.look_at_tree import gone_from_tree
from unified_state.upkeep.audit.rules.mend import KINDS, SECRET, Finding
from unified_state.upkeep.forget.scan_secrets import scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.workspace.workspace import Workspace

MOST_ITEMS, SCANNED_STEPS = 5_000, 5_000  # the newest


class Audited(Record):
    """The findings, the worst kind first, and what was looked at: the number of items, the files, the number of steps
    that were scanned for secrets, and what could not be looked at.
    """

    findings: tuple[Finding, ...]
    items: int
    files: tuple[str, ...]
    steps: int
    problems: tuple[str, ...] = ()


def audit(workspace: Workspace, environ: Mapping[str, str], now: int) -> Audited:
    """Look at the items of a workspace's archive, and at the memory files of its worktree."""
    files, problems = memory_files(workspace.place.repository, environ)

    def action(archive: Archive) -> tuple[int, list[Finding]]:
        where = f"WHERE status IN (?, ?) ORDER BY id DESC LIMIT {MOST_ITEMS}"
        items = selected_items(archive, where, ACTIVE, PROPOSED)[::-1]
        findings = [
            *related(archive, items),
            *of_other_projects(archive, workspace, items),
            *gone_from_tree(archive, workspace.place.repository, items, environ),
            *stale_results(archive, items),
            *without_use(archive, items, now),
            *look_at_files(files, items, workspace.masker),
        ]
        return len(items), findings

    count, findings = workspace.use(action)
    scanned = scan(workspace, fix_at=None, newest=SCANNED_STEPS)
    findings += [Finding(SECRET, ref, "a secret is stored there", "unified-state scan --fix") for ref in scanned.refs]
    findings.sort(key=lambda finding: KINDS.index(finding.kind))
    names = tuple(file.shown for file in files)
    return Audited(tuple(_each_once(findings)), count, names, scanned.looked_at, tuple(problems))


def _each_once(findings: list[Finding]) -> list[Finding]:
    """Return the findings without those whose item a finding before them mends already."""
    return list({finding.command: finding for finding in reversed(findings)}.values())[::-1]
