"""Calls that failed: what failed, and the words that say how; and what closes it when it passes later on."""

from __future__ import annotations

from unified_state.capture.rules.refusals import did_not_run
from unified_state.lib.shell.command_names import command_key
from unified_state.lib.text.truncate import cut, one_line
from unified_state.model.fact import Fact
from unified_state.model.item import EVIDENCE
from unified_state.model.origin import OBSERVED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ERROR = "error"
_SHORT, _EXCERPT = 1_200, 1_000  # characters: what is kept whole, what is kept of more
_END = 8_000  # characters at the end of an output in which its failure stands
_KEY_CHARACTERS, _SUBJECT_CHARACTERS = 500, 300
# What a line that tells of a failure holds; the one of these that comes first begins the excerpt.
_FAILURES = (
    "--- FAIL", "FAIL:", "FAILED", "FAILURES", "rror:", "ERROR", "rror[", "Traceback (most", "panic:", "fatal:",
    "xception:", "not ok ", "CONFLICT", "ssertion", "command not found", "No such file",
)  # fmt: skip


def failed_call(tool: str, fields: dict[str, Any], result: str) -> Fact:
    """The evidence that a failed call leaves. One that was never carried out is settled from the beginning."""
    body = {"type": ERROR, "content": excerpt(result) or "(it said nothing)", "source": subject(tool, fields)}
    status = "resolved" if did_not_run(result) else "active"
    path = _path(fields)
    return Fact(ERROR, EVIDENCE, OBSERVED, status, body, excerpt(result), (path,) if path else ())


def excerpt(result: str) -> str:
    """The part of a result that tells how it failed, as it stands there."""
    if len(result) <= _SHORT:
        return result.strip()
    after = len(result) - _END if len(result) > _END else 0
    places = [place for mark in _FAILURES if (place := result.find(mark, after)) >= 0]
    if places:
        begin = result.rfind("\n", 0, min(places)) + 1
    else:
        begin = result.find("\n", len(result) - _EXCERPT) + 1 or len(result) - _EXCERPT
    return result[begin : begin + _EXCERPT].strip()


def subject(tool: str, fields: dict[str, Any]) -> str:
    """What was called, in one line."""
    return f"{tool or 'a tool'}: {cut(one_line(_called(fields)), _SUBJECT_CHARACTERS)}".rstrip(": ")


def call_key(fields: dict[str, Any]) -> str:
    """What two calls have in common of which the one closes the other's failure: the same command, the same file;
    empty where nothing tells.
    """
    command = fields.get("command")
    if isinstance(command, str):
        return command_key(command)
    return (_path(fields) or _called(fields))[:_KEY_CHARACTERS]


def _called(fields: dict[str, Any]) -> str:
    command = fields.get("command")
    if isinstance(command, str):
        return command
    return _path(fields) or " ".join(value for value in fields.values() if isinstance(value, str))


def _path(fields: dict[str, Any]) -> str:
    value = fields.get("file_path") or fields.get("notebook_path")
    return value if isinstance(value, str) else ""
