"""The rules that a restore repeats although the user only said them: at most twenty, marked as not confirmed."""

from __future__ import annotations

from unified_state.capture.survival_table import newest_survivals
from unified_state.memory.archive.sessions import session_id_of
from unified_state.memory.ledger.check_validity import read_validities
from unified_state.memory.ledger.item_table import said_items
from unified_state.model.item import TASK_RULE, VALID
from unified_state.model.known import MISSING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.repository.find_repository import Repository
    from unified_state.model.item import LedgerItem

_MOST = 20
_IDLE = 24  # compactions in a row whose summaries left a rule out; after them it waits for the user


def said_rules(
    archive: Archive, repository: Repository, session: int | None, *, has_task: bool
) -> tuple[list[LedgerItem], int]:
    """Return the rules that hold for a session, the oldest first, and how many more wait for the user's decision.

    A rule for a task holds in the session that said it, on the branch that it was said on, and while the session goes
    on (`has_task`). One said in a part of the conversation that was rewound does not hold. Rules of the session itself
    come first, then those that the newest summaries kept, then the newest.
    """
    items = said_items(archive)
    if not items:
        return [], 0
    own, idle = session_id_of(archive, session), _idle(archive)
    validities = read_validities(archive, repository, items, asks_git=False)
    ranked: list[tuple[bool, int, int]] = []
    for number, item in enumerate(items):
        now = validities.get(item.uuid, VALID)
        ended = item.rule == TASK_RULE and (item.session_id != own or not has_task or now.branch is not None)
        if not ended and not now.rewound and idle.get(item.alias, 0) < _IDLE:
            ranked.append((item.session_id != own, idle.get(item.alias, 0), -number))
    chosen = sorted(-number for *_, number in sorted(ranked)[:_MOST])
    return [items[number] for number in chosen], len(items) - len(chosen)


def _idle(archive: Archive) -> dict[str, int]:
    """Return by ref how many of the newest summaries in a row left it out."""
    counts: dict[str, int] = {}
    kept: set[str] = set()
    for survived in newest_survivals(archive, _IDLE):
        for judged in survived.survival.items:
            if judged.verdict != MISSING:
                kept.add(judged.ref)
            elif judged.ref not in kept:
                counts[judged.ref] = counts.get(judged.ref, 0) + 1
    return counts
