"""The edge of every call: what a function gives becomes an answer, and so does what goes wrong in it.

Invariant: whoever asked is told one clear text, never a traceback; a bug of ours is written down for us.
"""

from __future__ import annotations

import functools

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, TextContent

from unified_state.errors import NotFoundError, UnifiedStateError, UsageError
from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.lib.text import well_formed
from unified_state.upkeep.doctor.bug_report import report_bug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def answering(function: Callable[..., dict[str, Any]]) -> Callable[..., CallToolResult]:
    """The function as a tool calls it: what it gives is the answer, as a value and as the same JSON in text."""

    @functools.wraps(function)
    def answer(**arguments: Any) -> CallToolResult:
        try:
            text = json_text(function(**arguments))
        except Exception as error:  # noqa: BLE001  # the edge: the model is told, whatever it is
            return refusal(told(error))
        return CallToolResult(content=[TextContent(text=text)], structured_content=parse_json(text))

    return answer


def giving(function: Callable[..., str]) -> Callable[..., str]:
    """The function as a resource or a prompt calls it."""

    @functools.wraps(function)
    def give(**arguments: Any) -> str:
        try:
            return well_formed(function(**arguments))
        except Exception as error:  # the edge: the client is told, whatever it is
            code = INVALID_PARAMS if isinstance(error, NotFoundError | UsageError) else INTERNAL_ERROR
            raise MCPError(code, told(error)) from error

    return give


def refusal(text: str) -> CallToolResult:
    """The answer to a call that went wrong."""
    return CallToolResult(content=[TextContent(text=text)], is_error=True)


def told(error: Exception) -> str:
    """What whoever asked is told of an error: what, where, what to do."""
    return well_formed(str(error) if isinstance(error, UnifiedStateError) else report_bug(error, ["mcp"]))


def json_text(value: Any) -> str:
    """A value as JSON that every client can read."""
    return well_formed(dump_json(value))
