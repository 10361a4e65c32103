"""The checked-in schemas are those of the records, and what we write is valid by them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.tools.make_schemas import SCHEMAS, schema_text
from unified_state.state_file.manager import UnifiedStateManager

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_that_of_its_record(name: str) -> None:
    record, title = SCHEMAS[name]
    assert (ROOT / "schemas" / name).read_text(encoding="utf-8") == schema_text(record, title)


@pytest.mark.parametrize("path", sorted((ROOT / "schemas").glob("*.json")), ids=lambda path: path.name)
def test_a_schema_is_a_valid_schema(path: Path) -> None:
    Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))


def test_the_state_file_that_we_write_is_valid_by_its_schema(repository: Path) -> None:
    manager = UnifiedStateManager(repository)
    manager.add_decision("Use SQLite", "one file", reversible=False)
    manager.add_constraint("API v1 stays", "user", blocking=True)
    manager.add_open_question("Which port?", "8080 is taken", "high")
    manager.resolve_question("Q1", "8081")
    manager.supersede_decision("D1", "Use Postgres", "a team")
    manager.add_evidence("error", "x" * 2000, "npm test")
    manager.set_work_item("SD-1", "Title", "EXEC", 0.5)
    manager.save_state(highlights=["seen"], actions=["test it"])
    schema = json.loads((ROOT / "schemas" / "unified-session-state-3.schema.json").read_text(encoding="utf-8"))
    state = json.loads((repository / ".claude" / "unified-session-state.json").read_text(encoding="utf-8"))
    assert list(Draft202012Validator(schema).iter_errors(state)) == []
