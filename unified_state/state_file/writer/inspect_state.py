"""Validation of a state file. Each finding has its JSON path. Nothing is changed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.errors import NotFoundError, UnifiedStateError
from unified_state.ledger.explain_item import Finding
from unified_state.lib.foreign_values import is_too_deep
from unified_state.lib.package import asset_path
from unified_state.lib.read_files import LARGE_FILE, read_regular
from unified_state.lib.times import to_milliseconds
from unified_state.model.item import ALIAS_LETTERS, STATE_SECTIONS
from unified_state.secrets.rules.mask import hide_secrets
from unified_state.state_file.state_file import migrate_state

SCHEMA = ("schemas", "unified-session-state-3.schema.json")


def inspect_state_file(path: str, archive: Archive | None) -> list[Finding]:
    """Return the findings about a state file, without secrets that they quote. With an archive, ids are looked up there
    too. Raises NotFoundError.
    """
    return [Finding(hide_secrets(one.path), hide_secrets(one.message)) for one in _findings(path, archive)]


def _findings(path: str, archive: Archive | None) -> list[Finding]:
    try:
        content = json.loads(read_regular(path, LARGE_FILE).decode("utf-8-sig"))
    except FileNotFoundError as error:
        message = f"there is no file {path}"
        raise NotFoundError(message, "name the file, or run `unified-state save` first") from error
    except (ValueError, RecursionError) as error:
        return [Finding("$", f"not JSON: {error}")]
    if not isinstance(content, dict):
        return [Finding("$", f"an object is expected, not {type(content).__name__}")]
    try:
        content = migrate_state(content, path)
    except UnifiedStateError as error:
        return [Finding("$.version", str(error))]
    if is_too_deep(content):
        return [Finding("$", "it cannot be checked: it is nested too deep")]
    findings = list(_against_schema(content))
    if not findings:
        findings = [*_ids(content), *(_against_ledger(content, archive) if archive is not None else ())]
    return findings


def _against_schema(content: dict[str, Any]) -> Iterator[Finding]:
    from jsonschema import Draft202012Validator, FormatChecker

    formats = FormatChecker(())
    formats.checks("date-time")(lambda value: not isinstance(value, str) or to_milliseconds(value) is not None)
    schema = json.loads(read_regular(asset_path(*SCHEMA), LARGE_FILE))
    errors = Draft202012Validator(schema, format_checker=formats).iter_errors(content)
    found = {error.json_path: error.message for error in errors}
    yield from (Finding(path, message) for path, message in sorted(found.items()))


def _entries(content: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the path of each entry's id, the letter of its kind, and the id."""
    for section, kind in STATE_SECTIONS.items():
        for position, entry in enumerate(content.get(section, ())):
            yield f"$.{section}[{position}].id", ALIAS_LETTERS[kind], entry["id"]


def _ids(content: dict[str, Any]) -> Iterator[Finding]:
    """Yield the ids that are used twice or have the wrong form."""
    counts = Counter(alias for _, _, alias in _entries(content))
    for path, letter, alias in _entries(content):
        if counts[alias] > 1:
            yield Finding(path, f"the id {alias!r} is used {counts[alias]} times")
        if not (alias.startswith(letter) and alias[1:].isdecimal()):
            yield Finding(path, f"{alias!r} is not an id of this section, such as {letter}1")


def _against_ledger(content: dict[str, Any], archive: Archive) -> Iterator[Finding]:
    known = set(archive.column("SELECT alias FROM item UNION SELECT alias FROM item_alias"))
    for path, _, alias in _entries(content):
        if alias not in known:
            yield Finding(path, f"the archive has no item {alias!r}; `unified-state save` adopts it")
