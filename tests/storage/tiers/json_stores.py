"""Steps, items and stores in files of JSON, for the tests of that tier."""

from __future__ import annotations

from pathlib import Path

from unified_state.records.history import StoredItem, StoredStep
from unified_state.storage.tiers.json_lines import JsonStore

START = 1_767_225_600_000


def step(number: int, text: str = "", session: str = "one") -> StoredStep:
    return StoredStep(
        session_id=session, uuid=f"u{number}", block=0, kind="text", at=START + number, text=text or f"text {number}"
    )


def item(number: int, alias: str, text: str = "Use JSON") -> StoredItem:
    return StoredItem(
        uuid=f"item-{number}",
        alias=alias,
        kind="decision",
        body={"decision": text},
        status="active",
        origin="inferred",
        created_at="2026-01-01T00:00:00.000Z",
    )


def folder_of(store: JsonStore) -> Path:
    return Path(store.files.folder)


def texts(store: JsonStore, session: str = "one") -> list[str]:
    return [one.text for _, one in store.steps(session)]


def changed_on_disk(store: JsonStore, name: str, good: bytes, bad: bytes) -> JsonStore:
    """The store, one of whose files has other bytes now in one place."""
    path = folder_of(store) / name
    assert good in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(good, bad, 1))
    return JsonStore(str(folder_of(store).parent), "p")
