"""Detect shell lines that run our program with a changed environment.

From its environment the program knows that an agent started it. So the user is asked about such a line.
"""

from __future__ import annotations

from itertools import islice

from unified_state.hosts.transcripts.rules.hosts import AGENT_VARIABLES
from unified_state.lib.shell.shell_commands import commands_run
from unified_state.lib.shell.shell_line import SimpleCommand, UnreadableError, program_name

_PROGRAM, _PACKAGE = "unified-state", "unified_state"
_MOST_COMMANDS = 5_000  # in one line
# Commands that change the environment of the program that they run, or of later commands in the line.
_CHANGES = {"declare", "doas", "env", "exec", "export", "runuser", "su", "sudo", "typeset", "unset"}
# Commands that run a program outside of the agent's session: at another terminal, or from another process.
_MOVES = {"at", "batch", "chroot", "expect", "nsenter", "screen", "script", "setsid", "socat", "ssh", "systemd-run"}
_MOVES |= {"tmux", "unbuffer", "unshare"}
_READ_LINES = {"ash", "bash", "dash", "eval", "fish", "ksh", "sh", "zsh"}
_ONLY_NAMES_IT = {"cat", "command", "echo", "grep", "ls", "man", "pip", "pipx", "printf", "rg", "type", "which"}
_TELLING = {*AGENT_VARIABLES, "HOME"}
_TELLING_BEGINNINGS = ("CLAUDE", "UNIFIED_STATE_")


def runs_us_changed(line: str) -> bool:
    """Return whether a line runs our program with a changed environment. A line that cannot be parsed counts as one."""
    is_changed = False
    try:
        commands = list(islice(commands_run(line), _MOST_COMMANDS + 1))
    except UnreadableError:
        return True
    for command in commands:
        is_changed |= _changes(command)
        if command.words and _runs_us(command.words) and (is_changed or command.assigned):
            return True
    return len(commands) > _MOST_COMMANDS


def _changes(command: SimpleCommand) -> bool:
    """Return whether a command changes the environment of later commands, or of the program that it runs."""
    if not command.words:  # a plain assignment changes only exported variables
        names = [word.partition("=")[0].removesuffix("+") for word in command.assigned]
        return any(name in _TELLING or name.startswith(_TELLING_BEGINNINGS) for name in names)
    name = program_name(command.words[0])
    return len(command.words) > 1 and (name in _CHANGES or name in _MOVES)


def _runs_us(words: list[str]) -> bool:
    name = program_name(words[0])
    if name in _ONLY_NAMES_IT:
        return False
    if name.startswith(("python", "pypy")):
        return any(_PACKAGE in word for word in words)
    reads_lines = name in _MOVES or name in _CHANGES or name in _READ_LINES
    return any(program_name(word) == _PROGRAM or (reads_lines and _PROGRAM in word) for word in words)
