"""What a ref of the team names, and where an item of a colleague comes from."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from unified_state.archive.export_steps import export_line
from unified_state.archive.steps import readable
from unified_state.errors import NotFoundError, StorageError
from unified_state.extras.team.rows import id_of
from unified_state.extras.team.search_team import SECONDS, ref_of, sound, within
from unified_state.extras.team.team_ref import TRUST, as_foreign, team_ref
from unified_state.extras.team.team_server import TeamServer
from unified_state.lib.text import text_hash
from unified_state.model.history_records import STEP, StoredItem, StoredStep

if TYPE_CHECKING:
    from unified_state.extras.team.postgres.record_store import ServerRow, TeamStore

_HINT = "`unified-state search --team` finds refs; it may have been forgotten, or is not shared with you"
_FIELDS = ("kind", "alias", "body", "status", "origin", "created_at", "session_id", "commit", "branch", "quote")


def recall_of_team(server: TeamServer, ref: str) -> dict[str, Any]:
    """Return the content of a ref, in the form of `recall`, with the member who said it. Raises NotFoundError and
    StorageError.
    """

    def read() -> dict[str, Any]:
        with server.open() as store:
            one, record = _called(store, ref)
            return _foreign(_item(record) if isinstance(record, StoredItem) else _step(record, one), one)

    return within(SECONDS, read)


def explain_of_team(server: TeamServer, ref: str) -> dict[str, Any]:
    """Return the provenance of an item, in the form of `explain`. Raises NotFoundError and StorageError."""

    def read() -> dict[str, Any]:
        with server.open() as store:
            one, item = _called(store, ref)
            if not isinstance(item, StoredItem):
                raise _nothing(ref)
            found = store.fetch([(one.author, id_of(STEP, f"{item.source_uuid}/0"))] if item.source_uuid else [])
        step, text = None, None
        with suppress(ValueError):  # a damaged one counts as none
            for row in found:
                if isinstance(source := sound(row), StoredStep):
                    step, text = _foreign(_step(source, row), row), readable(source)
        return {**_foreign(_item(item), one), **_provenance(item, step, text)}

    return within(SECONDS, read)


def _foreign(told: dict[str, Any], one: ServerRow) -> dict[str, Any]:
    return {**told, "ref": ref_of(one), "said_by": one.author, "trust": TRUST}


def _called(store: TeamStore, ref: str) -> tuple[ServerRow, StoredStep | StoredItem]:
    named = team_ref(ref)
    if named is None:
        raise _nothing(ref)
    found = [one for one in store.called([(named.author, named.ref)]) if one.archive.startswith(named.archive)]
    if not found:
        raise _nothing(ref)
    if len({one.archive for one in found}) > 1:
        message = f"{named.author} has several archives with a {named.ref}"
        raise NotFoundError(message, f"say {' or '.join(sorted({ref_of(one) for one in found}))}")
    try:
        return found[0], sound(found[0])
    except ValueError:
        message = f"{ref} is damaged on the team's server"
        raise StorageError(message, "ask who recorded it; all others can be read") from None


def _nothing(ref: str) -> NotFoundError:
    message = f"there is no {ref} on the team's server that you may read"
    return NotFoundError(message, _HINT)


def _step(step: StoredStep, one: ServerRow) -> dict[str, Any]:
    return export_line(int(str(one.ref)[1:]), step, step.session_id, step.tool)


def _item(record: StoredItem) -> dict[str, Any]:
    item = as_foreign(record)
    return {**{name: getattr(item, name) for name in _FIELDS}, "files": list(item.files), "links": []}


def _provenance(item: StoredItem, step: dict[str, Any] | None, text: str | None) -> dict[str, Any]:
    faults = []
    if item.quote is not None and text_hash(item.quote) != item.quote_hash:
        faults.append(f"its quote was changed: the SHA-256 is not {item.quote_hash}")
    elif item.quote is not None and text is not None and item.quote not in text:
        faults.append("its quote is not in its source entry")
    return {
        "uuid": item.uuid,
        "rule": item.rule,
        "compaction": None,
        "source_uuid": item.source_uuid,
        "quote_hash": item.quote_hash,
        "turn": None if step is None else {"ref": step["ref"], "prompt": None, "step": step},
        "validity": {"valid": False, "text": "not checked here: its files and commits are another member's"},
        "faults": faults,
    }
