from __future__ import annotations

from pathlib import Path

import pytest

from unified_state.context.window.pressure_file import keep_pressure, read_pressure


def test_it_is_there_only_while_outputs_are_shortened_tighter(tmp_path: Path) -> None:
    keep_pressure(str(tmp_path), "s", 2)
    assert (read_pressure(str(tmp_path), "s"), read_pressure(str(tmp_path), "another")) == (2, 0)
    keep_pressure(str(tmp_path), "s", 0)
    assert read_pressure(str(tmp_path), "s") == 0
    assert list((tmp_path / "pressure").iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"9", b"-1", b"\xff\xfe", b"1" * 1_000_000, b"x"])
def test_a_damaged_file_counts_as_none(tmp_path: Path, content: bytes) -> None:
    keep_pressure(str(tmp_path), "s", 1)
    (tmp_path / "pressure" / "s.json").write_bytes(content)
    assert read_pressure(str(tmp_path), "s") == 0
