from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter


def choices(record: Any, field: str) -> list[str]:
    """The words that the schema allows for a field."""
    found: list[str] = TypeAdapter(record).json_schema()["properties"][field]["enum"]
    return found
