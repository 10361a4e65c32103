"""What the server says of itself, and how it speaks."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.builders import SESSION, answer, prompt
from unified_state.interfaces.mcp import tools as mcp_tools
from unified_state.interfaces.mcp.mcp_server import INSTRUCTIONS

from .asking import call, refused, text_of, tools

DESCRIPTION_LIMIT = 2_048  # bytes that the client shows of a description, or of a server's instructions
READS = {"list", "history", "search", "show", "blame", "restore"}
RECORDS = {"add", "resolve", "edit", "work"}
# As somebody calls the tools who has seen their schemas and nothing else.
GUESSED: list[tuple[str, dict[str, Any]]] = [
    ("list", {}),
    ("list", {"at": "yesterday"}),
    ("add", {"text": "Use SQLite"}),
    ("add", {"text": "Cap the backoff at 8 s", "kind": "decision", "reason": "the API asks", "reversible": False}),
    ("add", {"text": "Never push to main", "kind": "constraint", "reason": "the user", "blocking": True}),
    ("add", {"text": "Answer in German", "kind": "constraint", "quote": "Answer in German."}),
    ("add", {"text": "Which port?", "kind": "question", "reason": "8000 is taken", "priority": "high"}),
    ("add", {"text": "KeyError: id", "kind": "evidence", "type": "error", "reason": "make test"}),
    ("add", {"text": "121 passed", "kind": "evidence", "type": "output"}),
    ("add", {"text": "A retry in the client", "kind": "attempt", "reason": "it counts twice"}),
    ("add", {"text": "Write the conflict test", "kind": "todo"}),
    ("add", {"text": "The tests are green", "kind": "note"}),
    ("add", {"text": "Use PostgreSQL", "supersedes": "D1"}),
    ("edit", {"id": "D2", "text": "Cap the backoff at 9 s"}),
    ("edit", {"id": "Q1", "priority": "low", "reason": "8000 is free again"}),
    ("edit", {"id": "N2", "text": "All tests are green"}),
    ("edit", {"id": "A1", "drop": True}),
    ("resolve", {"id": "Q2", "text": "Port 8080"}),
    ("resolve", {"id": "E1"}),
    ("resolve", {"id": "N1"}),
    ("work", {"id": "#12", "title": "Export", "phase": "build", "progress": 0.4}),
    ("work", {"goal": "all tests pass", "verified": "E2"}),
    ("history", {"id": "D1"}),
    ("history", {"id": "1d", "last": "now"}),
    ("search", {"query": "token bucket", "limit": 5, "kind": "prompt"}),
    ("search", {"query": "bucket", "since": "2020-01-01", "session": SESSION}),
    ("search", {"since": "yesterday"}),
    ("show", {"id": "d1", "source": True}),
    ("show", {"id": "T1"}),
    ("show", {"id": "S1", "lines": "1:20"}),
    ("restore", {"budget": 1000}),
    ("restore", {"summary": "A token bucket is built."}),
    ("blame", {"file": "a.py", "lines": "1"}),
]


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


def test_of_33_calls_that_the_schemas_suggest_at_most_one_fails(repository: Path, keep: Callable[..., None]) -> None:
    keep(prompt(1, "Add a token bucket. Answer in German."), answer(2, "Begun."))
    takes = {name: tool.input_schema["properties"].keys() for name, tool in tools(repository).items()}
    failed = [
        (name, given, text_of(result))
        for name, given in GUESSED
        if (result := call(repository, name, **given)).is_error or not given.keys() <= takes[name]
    ]
    assert (len(GUESSED), failed) == (33, [])
    assert {name for name, _ in GUESSED} == READS | RECORDS


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


def test_an_archive_of_a_newer_version_is_left_as_it_is(repository: Path, home: Path) -> None:
    call(repository, "add", kind="decision", text="Use SQLite", reason="one file")
    (archive,) = home.rglob("archive.db")
    with closing(sqlite3.connect(archive)) as connection:
        connection.execute("PRAGMA user_version = 999")
    assert "has version 999" in refused(repository, "show", id="D1")
