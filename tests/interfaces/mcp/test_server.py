"""What the server says of itself, and how it speaks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unified_state.interfaces.mcp import tools as mcp_tools
from unified_state.interfaces.mcp.mcp_server import INSTRUCTIONS

from .asking import call, refused, tools

DESCRIPTION_LIMIT = 2_048  # bytes that the client shows of a description, or of a server's instructions
READS = {"list", "history", "search", "show", "blame", "restore"}
RECORDS = {"add", "resolve", "edit", "work"}


def test_the_tools_are_those_of_the_documentation(repository: Path) -> None:
    assert tools(repository).keys() == READS | RECORDS
    assert len(READS | RECORDS) <= 10


def test_those_that_read_say_so(repository: Path) -> None:
    for name, tool in tools(repository).items():
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (name in READS)
        assert tool.annotations.open_world_hint is False
        if name in RECORDS:
            assert tool.annotations.destructive_hint is False


def test_descriptions_are_within_what_the_client_shows(repository: Path) -> None:
    assert len(INSTRUCTIONS.encode()) < DESCRIPTION_LIMIT
    for tool in tools(repository).values():
        assert tool.description
        assert 0 < len(tool.description.encode()) < DESCRIPTION_LIMIT


def test_every_argument_is_described(repository: Path) -> None:
    for tool in tools(repository).values():
        for name, argument in tool.input_schema["properties"].items():
            assert argument.get("description") or "enum" in argument or argument["type"] == "boolean", name


def test_the_list_of_tools_costs_a_client_at_most_9000_characters(repository: Path) -> None:
    listed = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools(repository).values()]
    assert len(json.dumps({"tools": listed})) <= 9_000


def test_what_an_item_is_called_is_the_same_in_every_tool(repository: Path) -> None:
    takes = {name: tool.input_schema["properties"] for name, tool in tools(repository).items()}
    assert {"ref", "item_id", "question_id", "resolution", "rationale"}.isdisjoint(set().union(*takes.values()))
    assert [name for name, given in takes.items() if "id" in given] == ["history", "show", "edit", "resolve", "work"]
    required = {name: tool.input_schema.get("required", []) for name, tool in tools(repository).items()}
    assert required["add"] == ["text"]
    assert {len(names) for names in required.values()} <= {0, 1}


def test_an_optional_argument_may_also_be_null(repository: Path) -> None:
    call(repository, "add", kind="decision", text="Use SQLite", reason="one file")
    assert tools(repository)["search"].input_schema["properties"]["session"]["type"] == "string"
    assert not call(repository, "search", query="SQLite", session=None, since=None).is_error


def test_a_bug_is_one_line_and_a_report(
    repository: Path, home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    call(repository, "add", kind="decision", text="Use SQLite", reason="one file")
    (archive,) = home.rglob("archive.db")
    monkeypatch.setattr(mcp_tools, "current_time", None)  # the bug
    assert refused(repository, "show", id="D1").startswith("a bug: TypeError")
    assert "Traceback" in next(home.rglob("bug-report.txt")).read_text(encoding="utf-8")
    assert archive.exists()
    assert capfd.readouterr().out == ""
