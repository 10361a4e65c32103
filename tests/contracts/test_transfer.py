"""A history goes through every tier and comes back as the same file."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import pytest

from tests.contracts.contract import decision, session, step, turn, uuid
from unified_state.model.history_records import (
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    StoredStep,
    Tombstone,
)
from unified_state.upkeep.history.archive_changes import append
from unified_state.upkeep.history.archive_rows import everything
from unified_state.upkeep.history.history_file import Header, read_history, write_history
from unified_state.upkeep.history.record_fields import validator

from .test_contracts import TIERS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from unified_state.archive.archive import Archive
    from unified_state.model.history_records import HistoryRecord

_AT_ONCE = 7  # records an append, so that most things are cut somewhere


def history() -> Iterator[HistoryRecord]:
    """Everything that a history can hold."""
    yield session("one", worktree="/work", branch="main", ended_at=1_767_225_600_999)
    yield from turn(1)
    yield from turn(11)
    yield step(20, "half \ud83c, a NUL \0, 日本語, \u202e")
    yield step(21, "said by a subagent", kind="text", agent="reviewer", starts_turn=True)
    yield step(22, "said meanwhile", kind="text")
    yield session("fork", predecessor="one")
    yield from (step.replace(session_id="fork") for step in turn(1))
    yield step(30, "on its own way", session_id="fork")
    first = decision(1, "D1", files=("a.py", "日本.py"), file_hashes={"a.py": "c0ffee 1 2"}, source_uuid=uuid(1))
    yield first
    yield decision(
        2, "D3", "Use Rust", changed_at="2026-02-01T00:00:00.000Z", status="superseded", boundary_uuid=uuid(40)
    )
    yield decision(3, "D4", quote="because", quote_hash="beef", capture_key="key", rule="plan")
    yield StoredCompaction("one", uuid(40), 1_767_225_601_000, "auto", 9000, "It sums up.")
    yield StoredLink(uuid(1_000_002), first.uuid, "supersedes", "2026-02-01T00:00:00.000Z")
    yield StoredLink(uuid(1_000_003), first.uuid, "contradicts", "2026-02-02T00:00:00.000Z")
    yield Tombstone("step", f"{uuid(99)}/0", 1_767_225_602_000)
    yield Tombstone("item", uuid(98), 1_767_225_602_000)


def fill(archive: Archive, records: Iterator[HistoryRecord]) -> None:
    """Append, piece by piece."""
    while piece := list(islice(records, _AT_ONCE)):
        append(archive, piece)


def test_a_history_that_went_through_every_tier_is_the_same_file(tmp_path: Path) -> None:
    files: list[Path] = []
    for number, tier in enumerate([*TIERS, *TIERS]):
        with TIERS[tier](tmp_path / str(number)) as archive:
            given = (told for told in read_history(str(files[-1])) if not isinstance(told, Header)) if files else None
            fill(archive, given or history())
            files.append(tmp_path / f"{number}.jsonl")
            write_history(str(files[-1]), "project", everything(archive))
    first, *others = (path.read_bytes() for path in files)
    assert first.count(b"\n") == len(list(history())) + 2
    assert all(other.splitlines() == first.splitlines() for other in others)


ADDED = "weather"


@pytest.fixture
def added_field(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A field that the records of history get without any change elsewhere: no tier has a column for it."""
    for kind in (StoredSession, StoredStep, StoredItem, StoredCompaction):
        monkeypatch.setitem(kind.__annotations__, ADDED, "str | None")
        monkeypatch.setattr(kind, ADDED, None, raising=False)
        monkeypatch.setattr(kind, "names", (*kind.names, ADDED))
        monkeypatch.setattr(kind, "disk_names", {**kind.disk_names, ADDED: ADDED})
    validator.cache_clear()
    yield
    validator.cache_clear()


@pytest.mark.usefixtures("added_field")
@pytest.mark.parametrize("tier", TIERS)
def test_a_field_that_is_added_to_a_record_is_carried_by_every_encoding(tmp_path: Path, tier: str) -> None:
    told = [
        record.replace(weather=f"good \ud83c {place}") if ADDED in type(record).names else record
        for place, record in enumerate(history())
    ]
    file = str(tmp_path / "history.jsonl")
    with TIERS[tier](tmp_path / tier) as archive:
        fill(archive, iter(told))
        write_history(file, "project", everything(archive))
    read = [record for record in read_history(file) if not isinstance(record, Header)]
    assert len(read) == len(told)
    assert all(getattr(record, ADDED).startswith("good") for record in read if ADDED in type(record).names)
