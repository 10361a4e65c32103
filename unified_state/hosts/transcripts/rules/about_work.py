"""Calls that tell nothing about the work: those of unified-state itself, those that it denied, and those that no tool
took.
"""

from __future__ import annotations

from unified_state.hosts.transcripts.rules.call_effects import Call
from unified_state.lib.shell.shell_commands import only_prints, simple_commands
from unified_state.lib.shell.shell_line import program_name
from unified_state.model.constraint import LIFTED_BY
from unified_state.model.step import PROMPT, TOOL_RESULT, Step

PROGRAM = "unified-state"
_SLASH_COMMANDS = ("<command-message>context-compact<", "<command-name>/context-compact<")
_MCP = "mcp__"
_DENIED = "Constraint C"
_NO_TOOL = ("<tool_use_error>Error: No such tool available", "<tool_use_error>InputValidationError")
_HEAD = 200  # characters before a denial that the client may add
_LOOKED_AT = 2_000  # characters of a command


def is_own_call(call: Call) -> bool:
    """Return whether a call only uses unified-state: its tools, or its command with programs that print."""
    if call.tool.startswith(_MCP):
        return PROGRAM in call.tool
    if PROGRAM not in call.command:
        return False
    commands = [words for words in simple_commands(call.command[:_LOOKED_AT]) if words and words[0] != "cd"]
    own = [words for words in commands if program_name(words[0]) == PROGRAM]
    return bool(own) and all(words in own or only_prints(" ".join(words)) for words in commands)


def did_not_reach_a_tool(result: str) -> bool:
    """Return whether unified-state denied the call that has this result, or the client found no tool for it."""
    is_denied = PROGRAM in result and result[:_HEAD].find(_DENIED) >= 0 and LIFTED_BY in result
    return is_denied or result.startswith(_NO_TOOL)


def is_about_work(step: Step, call: Call | None) -> bool:
    """Return whether a step with its tool call tells something about the work."""
    if step.kind == PROMPT:
        return not step.text.startswith(_SLASH_COMMANDS)
    if call is None:
        return True
    return not is_own_call(call) and not (step.kind == TOOL_RESULT and did_not_reach_a_tool(step.text))
