"""The fields of a record as a file holds them: what has its usual value is left out, and what comes back is checked.

Whoever wrote a file, or whatever its disk made of it: a field whose value is not of its type is told, never used.
"""

from __future__ import annotations

from unified_state.lib.text.json_depth import is_too_deep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from unified_state.lib.record import Record

    R = TypeVar("R", bound=Record)

UNKNOWN = "unknown"
_MOST = 1 << 63


def telling_fields(record: Record) -> dict[str, Any]:
    """The fields that differ from what they usually are, and those that are always there; by their Python names."""
    usual = type(record)
    return {
        name: value
        for name, value in record.as_dict().items()
        if name in usual.required or value != getattr(usual, name)
    }


def checked_record(kind: type[R], fields: dict[str, Any], newer: dict[str, Any]) -> R:
    """The record of some fields, by their Python names; `newer` are those that this version does not know. Raises
    ValueError, which says what is wrong.
    """
    known = {name: checked_field(kind, name, value) for name, value in fields.items()}
    missing = kind.required - known.keys()
    if missing:
        message = f"the field {kind.disk_names[min(missing)]!r} is missing"
        raise ValueError(message)
    return kind(**known | ({UNKNOWN: {**newer, **known.get(UNKNOWN, {})}} if newer else {}))


def checked_field(kind: type[Record], name: str, value: Any) -> Any:
    """The value of a field in its type. Raises ValueError where it has another one."""
    wanted = _types_of(kind).get(name, "")
    if wanted.startswith("tuple") and isinstance(value, list):
        value = tuple(value)
    if not _fits(wanted, value):
        message = f"{kind.disk_names[name]!r} cannot be {str(value)[:40]!r}"
        raise ValueError(message)
    return value


def _types_of(kind: type[Record]) -> dict[str, str]:
    """The annotations of the fields, which are texts: the record modules put evaluation off."""
    known = _TYPES.get(kind)
    if known is None:
        bases = [base.__dict__.get("__annotations__", {}) for base in reversed(kind.__mro__)]  # noqa: RUF063  # of each class alone
        known = _TYPES[kind] = {name: wanted for base in bases for name, wanted in base.items()}
    return known


def _fits(wanted: str, value: Any) -> bool:
    kind, _, rest = wanted.partition(" | ")
    return rest == "None" if value is None else _TESTS.get(kind, _is_object)(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -_MOST <= value < _MOST


def _is_object(value: Any) -> bool:
    return isinstance(value, dict) and not is_too_deep(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


_TYPES: dict[type[Record], dict[str, str]] = {}
_TESTS: dict[str, Callable[[Any], bool]] = {
    "str": _is_text,
    "bool": lambda value: isinstance(value, bool),
    "int": _is_number,
    "tuple[str, ...]": lambda value: isinstance(value, tuple) and all(map(_is_text, value)),
    "dict[str, str]": lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
}
