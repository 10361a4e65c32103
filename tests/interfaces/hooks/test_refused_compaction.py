from __future__ import annotations

import json
from pathlib import Path

import pytest

from unified_state import UnifiedStateManager
from unified_state.interfaces.hook import BLOCKED, HookRun
from unified_state.lib.json_text import dump_json


class GivenRun(HookRun):
    """A run of a hook in this process: its input is given, and what it tells is kept."""

    def __init__(self, event_name: str, **fields: str) -> None:
        super().__init__(event_name, "", "", {"UNIFIED_STATE_BLOCK_COMPACTION": "1"})
        self._input = dump_json({"hook_event_name": event_name, "session_id": "s", **fields}).encode()

    def read(self) -> bytes:
        """Return the input."""
        return self._input

    def tell(self, answer: str) -> None:
        """Leave the answer away."""


@pytest.mark.parametrize(("trigger", "status"), [("manual", BLOCKED), ("auto", 0)])
def test_only_a_manual_compaction_is_refused(
    repository: Path, capsys: pytest.CaptureFixture[str], trigger: str, status: int
) -> None:
    manager = UnifiedStateManager(repository)
    for number in range(15):
        manager.add_constraint(f"{number} {'must hold ' * 50}", "user", blocking=True)
    state = json.loads((repository / ".claude" / "unified-session-state.json").read_text(encoding="utf-8"))
    assert state["tokenMetrics"]["budgetStatus"] == "over_budget"
    assert GivenRun("PreCompact", cwd=str(repository), trigger=trigger).run() == status
    assert ("over its budget" in capsys.readouterr().err) is (trigger == "manual")
