"""Recall what another member has on the team's server, by its ref there: an item, its source, a step."""

from __future__ import annotations

from typing import Any

from unified_state.errors import NotFoundError
from unified_state.lib.text import text_hash
from unified_state.memory.archive.export_steps import export_line
from unified_state.memory.archive.steps import readable
from unified_state.memory.history.store_protocol import SharesItems
from unified_state.model.item import ALIAS_LETTERS
from unified_state.team.rules.foreign_items import STEP, TRUST, as_foreign, item_ref, step_ref, team_ref
from unified_state.team.search_team import within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.history.store_protocol import ItemsOfTeam
    from unified_state.model.history_records import ItemHit, StepHit
    from unified_state.team.sync_server import Server

_SECONDS = 5.0
_HINT = "`unified-state search --team` finds refs; it may have been forgotten, or is not shared with you"


def is_team_ref(text: str) -> bool:
    """Return whether a ref names something on the team's server."""
    return team_ref(text) is not None


def recall_of_team(server: Server, ref: str) -> dict[str, Any]:
    """Return the content of a ref, in the form of `recall`, with the member who said it. Raises NotFoundError and
    StorageError.
    """

    def read(team: ItemsOfTeam, letter: str, number: int) -> dict[str, Any]:
        if letter == STEP:
            return _step(_found(team.find_step(number), ref))
        return _item(_item_called(team, letter, number, ref))

    return _ask(server, ref, read)


def explain_of_team(server: Server, ref: str) -> dict[str, Any]:
    """Return the provenance of an item, in the form of `explain`. Raises NotFoundError and StorageError."""

    def read(team: ItemsOfTeam, letter: str, number: int) -> dict[str, Any]:
        hit = _item_called(team, letter, number, ref)
        return _provenance(hit, team.find_source(hit))

    return _ask(server, ref, read)


def _ask(server: Server, ref: str, read: Any) -> dict[str, Any]:
    def ask() -> dict[str, Any]:
        letter, number = _found(team_ref(ref), ref)
        with server.open() as store:
            team = _found(store.team if isinstance(store, SharesItems) else None, ref)
            found: dict[str, Any] = read(team, letter, number)
            return found

    return within(_SECONDS, ask)


def _item_called(team: ItemsOfTeam, letter: str, number: int, ref: str) -> ItemHit:
    hit: ItemHit = _found(team.find_item(number), ref)
    if ALIAS_LETTERS.get(hit.item.kind) != letter:
        raise _nothing(ref)
    return hit


def _found(value: Any, ref: str) -> Any:
    if value is None:
        raise _nothing(ref)
    return value


def _nothing(ref: str) -> NotFoundError:
    message = f"there is no {ref} on the team's server that you may read"
    return NotFoundError(message, _HINT)


def _step(hit: StepHit) -> dict[str, Any]:
    line = export_line(hit.number, hit.step, hit.step.session_id, hit.step.tool)
    return {**line, "ref": step_ref(hit.number), "said_by": hit.said_by, "trust": TRUST}


def _item(hit: ItemHit) -> dict[str, Any]:
    item = as_foreign(hit.item)
    return {
        "ref": item_ref(hit),
        "said_by": hit.said_by,
        "trust": TRUST,
        "kind": item.kind,
        "alias": item.alias,
        "body": item.body,
        "status": item.status,
        "origin": item.origin,
        "created_at": item.created_at,
        "session_id": item.session_id,
        "commit": item.commit,
        "branch": item.branch,
        "files": list(item.files),
        "quote": item.quote,
        "links": [],
    }


def _provenance(hit: ItemHit, source: list[StepHit]) -> dict[str, Any]:
    item, told = hit.item, _item(hit)
    step = next((one for one in source if item.quote and item.quote in readable(one.step)), next(iter(source), None))
    faults = []
    if item.quote is not None and text_hash(item.quote) != item.quote_hash:
        faults.append(f"its quote was changed: the SHA-256 is not {item.quote_hash}")
    elif item.quote is not None and source and not any(item.quote in readable(one.step) for one in source):
        faults.append("its quote is not in its source entry")
    return {
        **told,
        "uuid": item.uuid,
        "rule": item.rule,
        "compaction": None,
        "source_uuid": item.source_uuid,
        "quote_hash": item.quote_hash,
        "turn": None if step is None else {"ref": step_ref(step.number), "prompt": None, "step": _step(step)},
        "validity": {"valid": False, "text": "not checked here: its files and commits are another member's"},
        "faults": faults,
    }
