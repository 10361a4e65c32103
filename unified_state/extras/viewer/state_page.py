"""The state page and the page of one item: what is recorded, whether it holds, who said it, and where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.extras.viewer.compaction_page import second_text
from unified_state.extras.viewer.open_projects import Project
from unified_state.extras.viewer.page_writer import page_values, write_page
from unified_state.ledger.check_validity import read_validities
from unified_state.ledger.explain_item import explain
from unified_state.ledger.inbox import read_inbox
from unified_state.ledger.item_table import ACTIVE, PROPOSED, find_item, list_items
from unified_state.ledger.rules.item_lines import validity_text
from unified_state.ledger.rules.short_item import main_text
from unified_state.model.item import ITEM_KINDS, VALID, LedgerItem
from unified_state.model.refs import GLOBAL_MARK
from unified_state.project.workspace.workspace import items_for_all
from unified_state.search.past.points import find_point
from unified_state.search.past.state_at import items_at

ALL, IN_FORCE = "all", "in force"
_MOST_ITEMS = 500  # of a kind on the page
ORIGINS = {"user_said": "the user said it", "observed": "observed", "inferred": "a model's word"}


def state_page(archive: Archive, project: Project, now: int, *, status: str, at: str, form: bool) -> str:
    """Return the page of all items that are in force, of all of them, or of those in force at a moment.

    With `form` it has forms for changes. Raises NotFoundError for a moment that is none.
    """
    also = items_for_all(project.workspace) if project.workspace and not at else []
    values = state_values(archive, project, now, status=status, at=at, also=also)
    return write_page("state.html", project=project, form=form, **values)


def state_values(
    archive: Archive, project: Project, now: int, *, status: str = "", at: str = "", also: Sequence[LedgerItem] = ()
) -> dict[str, Any]:
    """Return what the page of the state shows: the project's items, and behind them what holds `also`. Raises
    NotFoundError.
    """
    items = list_items(archive)
    if at:
        point = find_point(archive, project.repository, at, now)
        chosen = [item for item, _ in items_at(archive, point.at)]
    else:
        chosen = [item for item in items if item.status == ACTIVE or (status == ALL and item.status != PROPOSED)]
    chosen = [*also, *chosen]
    groups = {
        kind.section.replace("_", " "): [item for item in chosen if item.kind == name][: -_MOST_ITEMS - 1 : -1]
        for name, kind in ITEM_KINDS.items()
    }
    validities = read_validities(archive, project.repository, chosen)
    return {
        "groups": groups,
        "seconds": {item.alias: second_text(item) for item in chosen},
        "texts": {item.alias: main_text(item) for item in chosen},
        "validity": {
            item.alias: validity_text(validities[item.uuid])
            for item in chosen
            if validities.get(item.uuid, VALID) != VALID
        },
        "waiting": {one.item.alias: (one, main_text(one.item)) for one in read_inbox(archive)},
        "status": status or IN_FORCE,
        "at": at,
        "origins": ORIGINS,
        "total": len(items) + len(also),
        **page_values("state", now),
    }


def item_page(archive: Archive, project: Project, ref: str, now: int, *, form: bool) -> str:
    """Return the page of one item with its source, its links and its validity. Raises NotFoundError."""
    mark = GLOBAL_MARK if ref.startswith(GLOBAL_MARK) else ""
    item = find_item(archive, ref.removeprefix(mark))
    item = item.replace(alias=mark + item.alias)
    told = explain(archive, project.repository, item.uuid)
    second, label = second_text(item)
    kind = ITEM_KINDS[item.kind]
    shown = {kind.main, kind.second[0]}
    return write_page(
        "item.html",
        project=project,
        item=item,
        told=told,
        text=main_text(item),
        second=second,
        label=label,
        second_name=kind.second[0],
        main_name=kind.main,
        others={name: value for name, value in item.body.items() if name not in shown and value not in (None, "")},
        origins=ORIGINS,
        form=form,
        **page_values("state", now),
    )
