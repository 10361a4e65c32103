"""Add the decisions and constraints of other sessions to a prompt, if they changed since the last prompt."""

from __future__ import annotations

from collections.abc import Sequence

from unified_state.archive.archive import Archive
from unified_state.errors import NotFoundError
from unified_state.ledger.check_validity import read_validities
from unified_state.ledger.item_table import ACTIVE, find_item, links_of
from unified_state.ledger.rules.item_lines import item_line, with_validity
from unified_state.ledger.rules.short_item import unenforced
from unified_state.model.item import LedgerItem, Validity
from unified_state.model.known import ELSEWHERE
from unified_state.project.find_repository import Repository
from unified_state.restore.fenced_text import fence_and_remember
from unified_state.restore.restore_table import take_news

_MOST, _CHARACTERS = 6, 300  # number of items, and characters of each


def _holding(archive: Archive, item: LedgerItem, validity: Validity | None) -> str:
    """Return the text for an active item and the items that it supersedes."""
    replaced = [link.ref for link in links_of(archive, item) if link.relation == "supersedes" and link.is_from]
    instead = f" [in place of {', '.join(replaced)}]" if replaced else ""
    return with_validity(f"{item_line(item, _CHARACTERS)}{instead}", validity)


def _ceased(archive: Archive, item: LedgerItem) -> str:
    """Return the text for an item that is no longer active and the item that superseded it."""
    newer = _find(archive, item.superseded_by) if item.superseded_by else None
    return f"{item.alias} is superseded by {newer.alias}" if newer else f"{item.alias} no longer holds ({item.status})"


def _elsewhere_line(texts: Sequence[str]) -> str:
    left = len(texts) - _MOST
    more = f"; and {left} more: `unified-state list`" if left > 0 else ""
    return f"[ELSEWHERE] Recorded outside of this session since its last prompt: {'; '.join(texts[:_MOST])}{more}"


def decided_elsewhere(archive: Archive, repository: Repository, session: int, now: int, *, is_enforced: bool) -> str:
    """Return the fenced text for a prompt and record it, or return "" if nothing changed."""
    with archive.transaction(durable=False):
        news = take_news(archive, session)
    changed = [(one, item) for one in news if (item := _find(archive, one.uuid)) is not None]
    active = (item for _, item in changed if item.status == ACTIVE)
    holding = tuple(active if is_enforced else map(unenforced, active))
    validities = read_validities(archive, repository, holding)
    ceased = [item for one, item in changed if item.status != ACTIVE and one.was_active]
    told = {item.uuid for item in holding}
    texts = [_holding(archive, item, validities.get(item.uuid)) for item in holding]
    texts += [_ceased(archive, item) for item in ceased if item.superseded_by not in told]
    return fence_and_remember(archive, session, ELSEWHERE, _elsewhere_line(texts), now) if texts else ""


def _find(archive: Archive, uuid: str) -> LedgerItem | None:
    """Return an item, or None if it was forgotten."""
    try:
        return find_item(archive, uuid)
    except NotFoundError:
        return None
