"""JSON as text: lenient where others wrote it, strict where we do.

Raw control characters, which transcripts have, are read. NaN and the infinities, which JSON does not have, become null
as in JavaScript, whether they are read or written.
"""

from __future__ import annotations

from json import JSONDecoder, dumps
from typing import Any


def _null(_constant: str) -> None:
    """Return None, the value for NaN and the infinities."""


parse_json = JSONDecoder(strict=False, parse_constant=_null).decode


def dump_json(value: Any, *, ensure_ascii: bool = False) -> str:
    """Return a value as JSON."""
    form = {"separators": (",", ":"), "ensure_ascii": ensure_ascii, "check_circular": False}
    try:
        return dumps(value, allow_nan=False, **form)  # type: ignore[arg-type]
    except ValueError:
        return dumps(parse_json(dumps(value, **form)), **form)  # type: ignore[arg-type]


def dump_ascii_json(value: Any) -> str:
    """Return a value as JSON that any stream can carry, lone surrogates too."""
    return dump_json(value, ensure_ascii=True)


def parse_object(text: str | bytes, errors: str = "replace") -> dict[str, Any] | None:
    """Return the object of a JSON text; None for any other text. `errors` is for bytes that are no UTF-8."""
    try:
        value = parse_json(text if isinstance(text, str) else text.decode("utf-8", errors))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
