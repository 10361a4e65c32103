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
SKILL_EVENT = "PreSkillShellCommand"  # before a command in the text of a skill or slash command
SHELL_TOOL = "Bash"
ALL_TOOLS = ""  # the matcher of a hook before every tool call
TOLD_TOOLS = f"{SHELL_TOOL}|Edit|MultiEdit|NotebookEdit|Write"  # calls that recorded facts are about
MODES = WARN, ASK, DENY = "warn", "ask", "deny"  # the mildest first
TELL = "tell"  # the mode of a recorded fact: it is told once with a call that it is about, and never stops one
SCOPE_KINDS = ("commands", "paths", "tools")
LIFTED_BY = "Only the user can lift it, in a terminal of their own: unified-state resolve"  # ends each denial


class EnforcedRow(Record):
    """One row of the table of enforced constraints: the constraint, its scope, and its mode.

    The `text` of a row of mode `tell` is the line for the model. `session` is the id of the session whose conversation
    still contains the fact, or "". A row about a failed command has the `root` in which it failed, and the `digest` of
    its key.

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
    session: str = ""
    root: str = ""
    digest: str = ""


class Breach(Record):
    """A call that matches a constraint, and the matching part of it. `mode` is the mode that applies to the call."""

    constraint: EnforcedRow
    mode: str
    matched: str
