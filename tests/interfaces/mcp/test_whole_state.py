"""The state file keeps its budget, and what has no room in it is told by `load`, the Python API and the MCP server."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.amount import amount
from unified_state import UnifiedStateManager
from unified_state.interfaces.cli.main import run
from unified_state.lib.tokens import count_tokens
from unified_state.settings import Settings

from .asking import answer

WORDS = "the export of invoices waits for 4,096 rows and `flush()`; 日本語も, too. "
KINDS = ("decision", "constraint", "question", "evidence", "attempt", "highlight", "action", "work")
REPLACED = {"action", "work"}  # of these the newest counts
KEPT = 490  # characters of an item that every answer shows


def add(manager: UnifiedStateManager, kind: str, text: str) -> None:
    """Record something of a kind that says `text`."""
    match kind:
        case "decision":
            manager.add_decision(text, "r")
        case "constraint":
            manager.add_constraint(text, "user")
        case "question":
            manager.add_open_question(text, "c")
        case "evidence":
            manager.add_evidence("output", text, "make")
        case "attempt":
            manager.add_attempt(text, "it failed")
        case "highlight":
            manager.save_state(highlights=[text])
        case "action":
            manager.save_state(actions=[text, *(f"{text} {part}" for part in range(30))])
        case "work":
            manager.set_work_item(title=text)


def all_pages(repository: Path) -> str:
    """All pages of the state, as the MCP server answers them."""
    texts, offset = [], 0
    while offset is not None:
        found = answer(repository, "list", offset=offset)
        texts.append(json.dumps(found, ensure_ascii=False))
        offset = found["page"]["next_offset"]
    return "\n".join(texts)


@settings(max_examples=amount(10, 5))
@given(st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 12)), min_size=1, max_size=25))
def test_the_file_keeps_its_budget_whatever_is_added_and_nothing_is_out_of_reach(
    tmp_path_factory: pytest.TempPathFactory, committed: Path, adds: list[tuple[str, int]]
) -> None:
    repository = shutil.copytree(committed, tmp_path_factory.mktemp("added") / "repository")
    manager, texts = UnifiedStateManager(repository), dict[str, str]()
    for number, (kind, length) in enumerate(adds):
        text = f"<{number}> {WORDS * length}"
        texts[kind if kind in REPLACED else str(number)] = text
        add(manager, kind, text)
        file = (repository / ".claude" / "unified-session-state.json").read_text(encoding="utf-8")
        assert count_tokens([file])[0] <= Settings().budget_max
        assert json.loads(file)["tokenMetrics"]["budgetStatus"] != "over_budget"
    state = manager.load_state()
    assert state is not None
    whole, pages = json.dumps(state.model_dump(), ensure_ascii=False), all_pages(repository)
    assert [text for text in texts.values() if text[:KEPT] not in whole or text[:KEPT] not in pages] == []


def test_the_command_that_the_file_names_prints_what_has_no_room_in_it(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repository)
    manager = UnifiedStateManager(repository)
    for number in range(60):
        manager.add_decision(f"decision {number} {WORDS}", "r")
        manager.save_state(highlights=[f"highlight {number} {WORDS}"])
    state = json.loads((repository / ".claude" / "unified-session-state.json").read_text(encoding="utf-8"))
    assert len(state["decisions"]) + len(state["summaries"]["contextHighlights"]) < 30
    program, *arguments = state["tokenMetrics"]["whole"].split()
    assert (program, run(arguments)) == ("unified-state", 0)
    whole = json.loads(capsys.readouterr().out)
    assert [one["id"] for one in whole["decisions"]] == [f"D{number}" for number in range(1, 61)]
    assert len(whole["summaries"]["contextHighlights"]) == 60
