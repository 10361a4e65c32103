"""Files that were read in each stretch of a session, and changed in none."""

from __future__ import annotations

import json

import pytest

from unified_state.model.step import TOOL_CALL, Step
from unified_state.restore.rules.repeated_reads import repeated_reads


def made(tool: str, path: str, **fields: str) -> Step:
    return Step(uuid="u", block=0, kind=TOOL_CALL, at=0, text=json.dumps({"file_path": path, **fields}), tool=tool)


def reads(*paths: str) -> list[Step]:
    return [made("Read", path) for path in paths]


def test_only_files_of_every_stretch_are_found_the_last_read_first() -> None:
    stretches = [reads("/p/a.py", "/p/b.py", "/p/池.py"), reads("/p/池.py", "/p/a.py"), reads("/p/a.py", "/p/池.py")]
    assert repeated_reads(stretches, "/p") == ["池.py", "a.py"]


@pytest.mark.parametrize("stretch", [0, 1, 2])
def test_a_file_that_was_changed_in_any_stretch_is_not_found(stretch: int) -> None:
    stretches = [reads("/p/a.py") for _ in range(3)]
    stretches[stretch].append(made("Edit", "/p/a.py", old_string="a", new_string="b"))
    assert repeated_reads(stretches, "/p") == []


def test_paths_of_windows_are_the_same_file_however_they_are_written() -> None:
    assert repeated_reads([reads("C:\\p\\src\\a.py"), reads("c:/p/src/a.py")], "C:\\p") == ["src/a.py"]


def test_without_stretches_nothing_is_found() -> None:
    assert repeated_reads([], "/p") == []
