"""Each fact is claimed once, by one process."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from unified_state.constraints.told_once import claim, worktrees_on

AT_ONCE = 8


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """The folder of a repository's data."""
    return str(tmp_path)


def test_nowhere_are_reminders_on_until_the_user_turns_them_on(folder: str) -> None:
    assert worktrees_on(folder) == []


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
    who, ref = path.read_text(encoding="utf-8").split()
    assert (ref, len(who)) == ("D1", 8)
    assert path.stat().st_mode & 0o777 == 0o600


def test_files_of_old_sessions_go(folder: str) -> None:
    for number in range(60):
        claim(folder, f"s{number}", "", ["D1"])
    assert len(os.listdir(Path(folder) / "told")) == 50
