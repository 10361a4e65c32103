"""JSON as text: lenient where others wrote it, strict where we do.

Raw control characters, which transcripts have, are read. NaN and the infinities, which JSON does not have, become null
as in JavaScript, whether they are read or written.
"""

from __future__ import annotations

from collections.abc import Callable
from json import JSONDecoder, JSONEncoder
from typing import Any


def _null(_constant: str) -> None:
    """Return None, the value for NaN and the infinities."""


parse_json = JSONDecoder(strict=False, parse_constant=_null).decode


def _dump(*, ensure_ascii: bool) -> Callable[[Any], str]:
    def encode(value: Any, *, allow_nan: bool) -> str:
        return JSONEncoder(
            separators=(",", ":"), ensure_ascii=ensure_ascii, allow_nan=allow_nan, check_circular=False
        ).encode(value)

    def dump(value: Any) -> str:
        try:
            return encode(value, allow_nan=False)
        except ValueError:
            return encode(parse_json(encode(value, allow_nan=True)), allow_nan=False)

    return dump


dump_json = _dump(ensure_ascii=False)  # for people and for the index
dump_ascii_json = _dump(ensure_ascii=True)  # any stream can carry it, lone surrogates too


def parse_object(text: str | bytes, errors: str = "replace") -> dict[str, Any] | None:
    """Return the object of a JSON text; None for any other text. `errors` is for bytes that are no UTF-8."""
    try:
        value = parse_json(text if isinstance(text, str) else text.decode("utf-8", errors))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
