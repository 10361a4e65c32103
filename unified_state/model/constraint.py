"""Where an item comes from, and a constraint as the hook before each tool call enforces it.

Only the user's own words bind: a constraint of another origin never denies a call.
"""

from __future__ import annotations

from unified_state.lib.record import Record

USER_SAID = "user_said"  # the user's own words in a prompt, or the user's own terminal
OBSERVED = "observed"  # a tool's output, a file, the web
INFERRED = "inferred"  # a model: the API, MCP, and the command line when the client started it
ORIGINS = (USER_SAID, OBSERVED, INFERRED)


TOOL_EVENT = "PreToolUse"
MODES = WARN, ASK, DENY = "warn", "ask", "deny"  # the mildest first
SCOPE_KINDS = ("commands", "paths", "tools")


class Enforced(Record):
    """One row of the table of enforced constraints: what it is about, what is done, and what is told of it.

    `mode` is what is done, `meant` what was asked for: only the user's own word denies.
    """

    ref: str
    text: str
    source: str
    origin: str
    at: str
    mode: str
    meant: str
    commands: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


class Breach(Record):
    """A call that a constraint is about, and what in it; `mode` is what is done about it."""

    constraint: Enforced
    mode: str
    matched: str
