"""What `validate` finds in a state file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from unified_state.state_file.writer.inspect_state import inspect_state_file

STATE = Path(__file__).parents[2] / "data" / "golden" / "v2.0.0.migrated.json"


def deep(levels: int) -> list[Any]:
    """A list in a list, and so on."""
    found: list[Any] = []
    for _ in range(levels):
        found = [found]
    return found


@pytest.mark.parametrize("value", ["e\ud800ting", float("inf"), 10**400])
def test_an_odd_value_in_a_field_that_is_not_ours_is_no_finding(tmp_path: Path, value: object) -> None:
    state = json.loads(STATE.read_text(encoding="utf-8"))
    (tmp_path / "state.json").write_text(json.dumps({**state, "other": value}), encoding="utf-8")
    assert inspect_state_file(str(tmp_path / "state.json"), None) == []


def test_a_field_that_is_nested_too_deep_is_a_finding(tmp_path: Path) -> None:
    state = json.loads(STATE.read_text(encoding="utf-8"))
    (tmp_path / "state.json").write_text(json.dumps({**state, "other": deep(300)}), encoding="utf-8")
    (finding,) = inspect_state_file(str(tmp_path / "state.json"), None)
    assert "nested too deep" in str(finding)
