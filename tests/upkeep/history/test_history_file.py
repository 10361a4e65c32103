"""A history file goes round exactly; what was cut, changed or is newer is known before anything of it is used."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.amount import examples
from tests.contracts.contract import decision, session, step, turn, uuid
from unified_state.errors import ForeignFileError, NewerVersionError, StorageError, UnifiedStateError
from unified_state.model.history_records import (
    HistoryRecord,
    StoredCompaction,
    StoredLink,
    StoredSession,
    StoredStep,
    Tombstone,
)
from unified_state.model.step import KINDS
from unified_state.upkeep.history.history_file import VERSION, Header, read_history, write_history
from unified_state.upkeep.history.record_fields import validator

TEXT = st.text(st.characters(codec=None), max_size=40)  # half an emoji too
NAME = st.text(min_size=1, max_size=10)
TIME = st.integers(-(1 << 63), (1 << 63) - 1)
STEPS = st.builds(
    StoredStep,
    session_id=NAME,
    uuid=NAME,
    block=st.integers(0, 9),
    kind=st.sampled_from(KINDS),
    at=TIME,
    text=TEXT,
    tool=st.none() | TEXT,
    is_error=st.booleans(),
    starts_turn=st.booleans(),
)
SESSIONS = st.builds(StoredSession, session_id=NAME, seen_at=st.none() | TIME, worktree=st.none() | TEXT)
COMPACTIONS = st.builds(StoredCompaction, session_id=NAME, boundary_uuid=NAME, at=TIME, summary=st.none() | TEXT)


def whole() -> list[HistoryRecord]:
    """A record of every kind, in the order in which a file has them."""
    item = decision(1, "D1", files=("a.py", "日本.py"), file_hashes={"a.py": "x 1 2"}, aliases=("D9",))
    return [
        session("one", worktree="/work"),
        *turn(1),
        step(20, "half \ud83c, \0 and 日本語"),
        item,
        StoredCompaction("one", uuid(30), 5, summary="Sums up."),
        StoredLink(item.uuid, uuid(2), "supersedes", "2026-01-01T00:00:00.000Z"),
        Tombstone("step", f"{uuid(3)}/0", 7),
    ]


def written(folder: Path, records: list[HistoryRecord] | None = None) -> Path:
    """A history file."""
    path = folder / "history.jsonl"
    write_history(str(path), "project", whole() if records is None else records)
    return path


def read(path: Path) -> list[Header | HistoryRecord]:
    """All of a history file."""
    return list(read_history(str(path)))


def rewritten(path: Path, number: int, **changes: Any) -> None:
    """Change a line, and the end with it, as somebody who knows the format can."""
    from hashlib import sha256

    lines = path.read_bytes().splitlines(keepends=True)[:-1]
    lines[number] = json.dumps({**json.loads(lines[number]), **changes}).encode() + b"\n"
    digest = sha256(b"".join(lines)).hexdigest()
    lines.append(json.dumps({"record": "end", "records": len(lines) - 1, "sha256": digest}).encode() + b"\n")
    path.write_bytes(b"".join(lines))


def test_every_kind_of_record_goes_round(tmp_path: Path) -> None:
    assert read(written(tmp_path)) == [Header("project"), *whole()]


@examples(60, deadline=None)
@given(records=st.lists(STEPS | SESSIONS | COMPACTIONS, max_size=6))
def test_whatever_a_record_holds_goes_round(
    tmp_path_factory: pytest.TempPathFactory, records: list[HistoryRecord]
) -> None:
    assert read(written(tmp_path_factory.mktemp("history"), records))[1:] == records


@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_is_known(tmp_path: Path, part: float) -> None:
    path = written(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * part)])
    with pytest.raises(ForeignFileError, match="is damaged"):
        read(path)


def test_a_letter_that_changed_is_known(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"Sums up", b"Sums UP"))
    with pytest.raises(ForeignFileError, match="not as it was written"):
        read(path)


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    rewritten(path, 0, version=VERSION + 1)
    with pytest.raises(NewerVersionError, match="upgrade unified-state"):
        read(path)


def test_a_field_of_a_newer_version_is_left_out(tmp_path: Path) -> None:
    path = written(tmp_path)
    before = read(path)
    rewritten(path, 2, mood="good")
    assert read(path) == before


@pytest.mark.parametrize(
    ("line", "changes", "said"),
    [
        (2, {"record": "video"}, "'record' cannot be 'video'"),
        (2, {"kind": "video"}, "'kind' cannot be 'video'"),
        (2, {"at": "yesterday"}, "'at' cannot be 'yesterday'"),
        (2, {"at": 1 << 70}, "'at' cannot be"),
        (2, {"uuid": ""}, "'uuid' cannot be ''"),
        (2, {"text": None}, "'text' cannot be 'None'"),
        (9, {"status": "law"}, "'status' cannot be 'law'"),
        (9, {"body": {"decision": 7}}, "'decision' cannot be '7'"),
        (9, {"files": "a.py"}, "'files' cannot be 'a.py'"),
        (
            9,
            {"kind": "constraint", "body": {"constraint": "c", "mode": "deny", "scope": {"commands": 1}}},
            "'scope' cannot be",
        ),
        (12, {"what": "everything"}, "'what' cannot be 'everything'"),
        (12, {"key": "x"}, "'key' cannot be 'x'"),
        (12, {"key": "/0"}, "'key' cannot be '/0'"),
        (12, {"key": "x/99999999999999999999"}, "'key' cannot be"),
    ],
)
def test_a_record_that_cannot_be_used_is_refused_with_its_line(
    tmp_path: Path, line: int, changes: dict[str, Any], said: str
) -> None:
    path = written(tmp_path)
    rewritten(path, line, **changes)
    with pytest.raises(ForeignFileError, match=f"line {line + 1} of") as raised:
        read(path)
    assert said in raised.value.message
    assert "\n" not in str(raised.value)


@examples(60, deadline=None)
@given(content=st.binary(max_size=200) | st.text(max_size=60).map(lambda text: (text * 3).encode("utf-8", "replace")))
def test_no_bytes_break_the_reader(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("history") / "history.jsonl"
    path.write_bytes(content)
    with pytest.raises(UnifiedStateError):
        read(path)


def test_it_is_for_its_owners_eyes_alone(tmp_path: Path) -> None:
    assert written(tmp_path).stat().st_mode & 0o777 == 0o600


def test_a_write_that_fails_leaves_the_file_of_before(tmp_path: Path) -> None:
    path = written(tmp_path)
    before = path.read_bytes()

    def failing() -> Iterator[HistoryRecord]:
        yield session()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_history(str(path), "project", failing())
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["history.jsonl"]


def test_a_file_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be written"):
        write_history(str(tmp_path / "no" / "folder.jsonl"), "project", [])


def test_what_is_no_file_is_not_replaced_by_one(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(StorageError, match="it is no file; name a file"):
            write_history(str(tmp_path / name), "project", [])
    assert (tmp_path / "pipe").is_fifo()


def test_what_it_holds_is_never_all_in_memory(tmp_path: Path) -> None:
    path = str(tmp_path / "history.jsonl")
    validator("step")  # pydantic itself takes megabytes
    tracemalloc.start()
    try:
        write_history(path, "project", (step(number, "x" * 1000) for number in range(2_500)))
        assert sum(1 for _ in read_history(path)) == 2_501
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 1_000_000
