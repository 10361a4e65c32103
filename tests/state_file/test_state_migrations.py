from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from unified_state.errors import DamagedFileError
from unified_state.state_file.state_file import migrate_state

GOLDEN = Path(__file__).parents[1] / "data" / "states"


def golden(version: str) -> dict[str, Any]:
    state: dict[str, Any] = json.loads((GOLDEN / f"seed-{version}.json").read_text(encoding="utf-8"))
    return state


def test_the_trigger_auto_is_todays_precompact() -> None:
    assert migrate_state({**golden("2.0.0"), "trigger": "auto"}, "a.json")["trigger"] == "precompact"


@pytest.mark.parametrize("work_item", [None, "", []])
def test_a_work_item_that_is_none_is_left_out(work_item: object) -> None:
    assert "workItem" not in migrate_state({"version": "2.0.0", "sd": work_item}, "a.json")


def test_a_newer_minor_version_is_read() -> None:
    assert migrate_state({"version": "3.9.0", "more": 1}, "a.json") == {"version": "3.9.0", "more": 1}


@pytest.mark.parametrize("version", [None, 3, "", "three", "v3", "²", "-1", "9" * 5000])
def test_a_state_without_a_version_is_damaged(version: object) -> None:
    with pytest.raises(DamagedFileError, match="has no version that could be read"):
        migrate_state({"version": version}, "a.json")
