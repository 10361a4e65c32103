"""Origins of items, and constraints as the hook before each tool call enforces them.

Only the user's own words are binding: a constraint of another origin never denies a call.
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
LIFTED_BY = "Only the user can lift it, in a terminal of their own: unified-state constraint lift"  # ends each denial


class Enforced(Record):
    """One row of the table of enforced constraints: the constraint, its scope, and its mode.

    `mode` is the effective mode, `meant` the requested one. They differ if the origin is not the user, who alone may
    deny.
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
    """A call that matches a constraint, and the matching part of it. `mode` is the mode that applies to the call."""

    constraint: Enforced
    mode: str
    matched: str
