"""The files of reminders: a damaged table gives no reminder, and a fact is claimed once."""

from __future__ import annotations

import os
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from unified_state.context.reminders.reminder_table import (
    claim,
    encoded_reminders,
    read_reminders,
    table_path,
    worktrees_on,
)
from unified_state.model.reminder import Reminder, Reminders

SOME = Reminders(
    commands=(Reminder("E1", "failed", session="s", root="/p", begin="make", digest="0" * 64),),
    files=(Reminder("D1", "zażółć 池", files=("src/池.py", "a.py")),),
)
AT_ONCE = 8


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A folder with a table."""
    Path(table_path(str(tmp_path))).write_bytes(encoded_reminders(SOME))
    return str(tmp_path)


def test_the_table_is_read_as_it_was_written(folder: str) -> None:
    assert read_reminders(folder, "commands") == SOME.commands
    assert read_reminders(folder, "files") == SOME.files


def test_a_table_with_any_damage_tells_nothing(folder: str) -> None:
    path, whole = Path(table_path(folder)), encoded_reminders(SOME)
    chance = random.Random(1)
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= chance.randrange(1, 256)
        path.write_bytes(damaged)
        assert read_reminders(folder, "files") == ()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        assert read_reminders(folder, "commands") == ()


def test_without_a_table_there_is_nothing_to_tell(tmp_path: Path) -> None:
    assert read_reminders(str(tmp_path), "files") == ()
    assert worktrees_on(str(tmp_path)) == []


def test_each_ref_is_claimed_once_for_each_agent_and_session(folder: str) -> None:
    assert claim(folder, "s", "", ["D1", "D2", "D1"]) == ["D1", "D2"]
    assert claim(folder, "s", "", ["D1", "D3"]) == ["D3"]
    assert claim(folder, "s", "agent one", ["D1"]) == ["D1"]
    assert claim(folder, "other", "", ["D1"]) == ["D1"]


def test_of_many_claims_at_once_each_ref_goes_to_one(folder: str) -> None:
    refs = [f"D{number}" for number in range(20)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        claimed = list(pool.map(lambda _: claim(folder, "s", "", refs), range(AT_ONCE)))
    assert sorted(ref for one in claimed for ref in one) == sorted(refs)


def test_what_was_told_has_no_text_but_refs(folder: str) -> None:
    claim(folder, "s", "a secret agent", ["D1"])
    (path,) = (Path(folder) / "told").iterdir()
    who, ref, mark = path.read_text(encoding="utf-8").split()
    assert (ref, len(who), len(mark)) == ("D1", 8, 12)
    assert path.stat().st_mode & 0o777 == 0o600


def test_files_of_old_sessions_go(folder: str) -> None:
    for number in range(60):
        claim(folder, f"s{number}", "", ["D1"])
    assert len(os.listdir(Path(folder) / "told")) == 50
