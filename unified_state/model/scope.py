"""Scopes of constraints: commands, paths, tools. A scope is checked when it is recorded, never in a hook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unified_state.errors import UsageError
from unified_state.lib.record import disk_value
from unified_state.lib.shell.shell_line import UnreadableError, read_commands
from unified_state.model.constraint import ASK, DENY, SCOPE_KINDS
from unified_state.model.item import Scope

MOST_PATTERNS, _LONGEST = 50, 300
_BEHIND = "true"  # a command on the next line, which the shell sees only if the one before it is complete
_TARGET = "unified-state-target"  # a word on the same line, which an open redirection takes


def scope_of(texts: Iterable[str]) -> Scope:
    """Return the scope for texts such as `command:git push --force`. Raises UsageError."""
    patterns: dict[str, list[str]] = {kind: [] for kind in SCOPE_KINDS}
    for text in texts:
        kind, sign, pattern = text.partition(":")
        kind = f"{kind.strip()}s"
        if not sign or kind not in patterns:
            message = f"{text[:_LONGEST]!r} does not say what it is about"
            raise UsageError(message, "write command:PATTERN, path:PATTERN or tool:PATTERN")
        patterns[kind].append(pattern.strip())
    return checked_scope(patterns)


def checked_scope(patterns: Mapping[str, Iterable[str]]) -> Scope:
    """Return the scope for patterns by kind. Raises UsageError."""
    found: dict[str, tuple[str, ...]] = {}
    for kind, given in patterns.items():
        if kind not in SCOPE_KINDS:
            message = f"a scope has no {kind[:_LONGEST]!r}"
            raise UsageError(message, f"it has {', '.join(SCOPE_KINDS)}")
        wanted = tuple(given)
        for pattern in wanted:
            _check(kind, pattern)
        if wanted:
            found[kind] = tuple(dict.fromkeys(wanted))
    if not found:
        message = "a scope is empty"
        raise UsageError(message, "name at least one command, path or tool")
    if sum(map(len, found.values())) > MOST_PATTERNS:
        message = f"a scope has {sum(map(len, found.values()))} patterns"
        raise UsageError(message, f"at most {MOST_PATTERNS}; make it two constraints")
    return Scope(found.get("commands"), found.get("paths"), found.get("tools"))


def enforcement_of(scope: Mapping[str, Sequence[str]] | None, mode: str | None) -> dict[str, object]:
    """Return the fields of a constraint's body for its enforcement. A constraint that denies a call is blocking.

    Raises UsageError for a mode without a scope, and for an invalid scope.
    """
    if scope is None:
        if mode is not None:
            message = f"mode {mode!r} has nothing to be applied to"
            raise UsageError(message, "give it a scope: commands, paths or tools")
        return {}
    mode = mode or ASK
    fields: dict[str, object] = {"scope": disk_value(checked_scope(scope)), "mode": mode}
    return fields | ({"blocking": True} if mode == DENY else {})


def read_scope(value: Any) -> Scope | None:
    """Return the scope in an untrusted file; None if it is invalid."""
    try:
        lists = {kind: patterns for kind, patterns in value.items() if isinstance(patterns, (list, tuple))}
        return checked_scope(lists) if len(lists) == len(value) else None
    except (AttributeError, UsageError):
        return None


def _check(kind: str, pattern: object) -> None:
    if not isinstance(pattern, str) or not pattern.strip() or not pattern.isprintable() or len(pattern) > _LONGEST:
        message = f"{str(pattern)[:_LONGEST]!r} is no pattern for {kind}"
        raise UsageError(message, f"one line of 1 to {_LONGEST} characters")
    if kind == "commands":
        _check_command(pattern)


def _check_command(pattern: str) -> None:
    try:
        commands = read_commands(f"{pattern}\n{_BEHIND}")
        redirected = [file for one in read_commands(f"{pattern} {_TARGET}") for file in (*one.targets, *one.sources)]
    except UnreadableError:
        commands, redirected = [], []
    if commands and (commands.pop().words != [_BEHIND] or _TARGET in redirected):
        message = f"{pattern!r} does not end"
        raise UsageError(message, "close its quotes and brackets, or put a \\ before literal ones")
    if len(commands) != 1 or not commands[0].words or not commands[0].words[0].strip() or commands[0].targets:
        message = f"{pattern!r} is not one command"
        raise UsageError(message, "give each command a scope of its own, without pipes and redirections")
