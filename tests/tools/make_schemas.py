"""Write the JSON Schemas of what we persist and print, from the records. Run after changing one; a test compares.

A schema is named by its major version and stays in the repository when a newer one comes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from unified_state.model.session_state import State

FOLDER = Path(__file__).parent.parent.parent / "schemas"
SCHEMAS: dict[str, tuple[type, str]] = {
    "unified-session-state-3.schema.json": (State, "The state file .claude/unified-session-state.json, version 3"),
}


def schema_text(record: type, title: str) -> str:
    """The schema of a record as it is checked in."""
    schema = _without_field_titles(TypeAdapter(record).json_schema())
    if record is State:
        schema["properties"]["sd"] = {"anyOf": [{"$ref": "#/$defs/WorkItem"}, {"type": "null"}]}  # of earlier versions
    described = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **schema}
    return json.dumps({**described, "title": title}, indent=2, ensure_ascii=False) + "\n"


def _without_field_titles(schema: Any) -> Any:
    """pydantic titles every field with its own name, which only lengthens the schema."""
    if isinstance(schema, list):
        return [_without_field_titles(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: {field: _without_field_titles(_untitled(shape)) for field, shape in value.items()}
        if name == "properties"
        else _without_field_titles(value)
        for name, value in schema.items()
    }


def _untitled(shape: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in shape.items() if name != "title"}


def main() -> None:
    """Write all schemas."""
    for name, (record, title) in SCHEMAS.items():
        (FOLDER / name).write_text(schema_text(record, title), encoding="utf-8")
        sys.stdout.write(f"{FOLDER / name}\n")


if __name__ == "__main__":
    main()
