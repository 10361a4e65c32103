"""Match a tool call against the constraints.

For each kind of pattern in a constraint (commands, paths, tools) one pattern has to match. A command and a path have to
match the same simple command. Paths alone cover calls that change files. Paths together with a tool cover calls of that
tool. The effect of a shell line is found by parsing it, never by a text search in it.
"""

from __future__ import annotations

from itertools import islice

from unified_state.constraints.rules.globs import glob_matches, has_wildcard, lies_within, path_matches
from unified_state.lib.record import Record
from unified_state.model.constraint import ASK, MODES, Breach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from unified_state.constraints.rules.invocations import Invocation, Touched
    from unified_state.lib.shell import SimpleCommand
    from unified_state.model.constraint import Enforced

_CHANGING_TOOLS = {"Edit", "MultiEdit", "NotebookEdit", "Write"}
_PATH_FIELDS = ("file_path", "notebook_path", "path")
_MOST_COMMANDS = 5_000  # in one line
_MOST_FILES = 500  # of one line, compared with the patterns of one constraint
_QUOTING = str.maketrans("", "", "'\"\\\n\r")


class Forms(Record):
    """The spellings of a path's target: absolute and relative to the worktree, as written and without symlinks."""

    absolute: tuple[str, ...]
    relative: tuple[str, ...]


class Judge:
    """Matches one call of a tool. `locate` resolves a path that is written in a folder."""

    def __init__(self, tool: str, given: Mapping[str, Any], locate: Callable[[str, str], Forms]) -> None:
        self._tool = tool
        command = given.get("command")
        self._line = command if isinstance(command, str) else None
        self._paths = [path for name in _PATH_FIELDS if isinstance(path := given.get(name), str) and path]
        self._locate = locate
        self._commands: list[SimpleCommand] | None = None

    def breaches(self, constraints: Iterable[Enforced]) -> list[Breach]:
        """Return the constraints that the call breaches, the strictest first."""
        found = [breach for constraint in constraints if (breach := self._breach(constraint)) is not None]
        return sorted(found, key=lambda breach: -MODES.index(breach.mode))

    def _breach(self, constraint: Enforced) -> Breach | None:
        tool = next((pattern for pattern in constraint.tools if glob_matches(pattern, self._tool)), None)
        if constraint.tools and tool is None:
            return None
        if not constraint.commands and not constraint.paths:
            return Breach(constraint, constraint.mode, tool or "")
        if self._line is not None:
            return self._breach_by_line(constraint, self._line)
        if constraint.commands or not (constraint.tools or self._tool in _CHANGING_TOOLS):
            return None
        matched = next((path for path in self._paths if self._is_meant(constraint.paths, path)), None)
        return None if matched is None else Breach(constraint, constraint.mode, matched)

    def _breach_by_line(self, constraint: Enforced, line: str) -> Breach | None:
        if constraint.commands and not _names_a_program(constraint.commands, line):
            return None
        from unified_state.lib.shell import UnreadableError  # most calls need only the cheap check

        try:
            matched = self._matched(constraint)
        except UnreadableError:
            return Breach(constraint, min(constraint.mode, ASK, key=MODES.index), "")
        return None if matched is None else Breach(constraint, constraint.mode, matched)

    def _matched(self, constraint: Enforced) -> str | None:
        """Return the part of the line that the constraint matches."""
        from unified_state.constraints.rules.invocations import changed_files, named_files
        from unified_state.lib.shell import UnreadableError

        left = _MOST_FILES
        patterns = [(text, _pattern(text)) for text in constraint.commands]
        for command in self._run_by_line():
            text = _fitting(patterns, command)
            if patterns and text is None:
                continue
            if not constraint.paths:
                return text
            touched = list(named_files(command) if patterns or constraint.tools else changed_files(command))
            left -= len(touched)
            if left < 0:
                raise UnreadableError
            for file in touched:
                if self._is_touched(constraint.paths, file):
                    return f"{text} {file.path}" if text else file.path
        return None

    def _run_by_line(self) -> list[SimpleCommand]:
        from unified_state.lib.shell import UnreadableError

        if self._commands is None:
            from unified_state.lib.shell_commands import commands_run

            self._commands = list(islice(commands_run(self._line or ""), _MOST_COMMANDS + 1))
        if len(self._commands) > _MOST_COMMANDS:
            raise UnreadableError
        return self._commands

    def _is_touched(self, patterns: Sequence[str], file: Touched) -> bool:
        if self._is_meant(patterns, file.path, file.folder):
            return True
        forms = self._locate(file.path, file.folder) if file.is_whole and "/" in "".join(patterns) else None
        return forms is not None and any(
            lies_within(pattern, form.lstrip("/") or ".")
            for pattern in patterns
            for form in (forms.absolute if pattern.startswith("/") else forms.relative)
        )

    def _is_meant(self, patterns: Sequence[str], path: str, folder: str = "") -> bool:
        forms = self._locate(path, folder)
        return any(
            path_matches(f".{pattern}" if pattern.startswith("/") else pattern, form.lstrip("/"))
            for pattern in patterns
            for form in (forms.absolute if pattern.startswith("/") else forms.relative)
        )


def _names_a_program(patterns: Sequence[str], line: str) -> bool:
    """Return whether a line may run a program of the patterns. The check is cheap, and False is always correct."""
    bare = line.translate(_QUOTING)
    names = [pattern.split()[0].rsplit("/", 1)[-1] for pattern in patterns]
    return any(has_wildcard(name) or name in bare for name in names)


def _pattern(text: str) -> Invocation:
    from unified_state.constraints.rules.invocations import read_invocation
    from unified_state.lib.shell import read_commands

    return read_invocation(read_commands(text)[0].words)


def _fitting(patterns: list[tuple[str, Invocation]], command: SimpleCommand) -> str | None:
    from unified_state.constraints.rules.invocations import covers, read_invocation

    if not patterns or not command.words:
        return None
    invocation = read_invocation(command.words)
    return next((text for text, pattern in patterns if covers(pattern, invocation)), None)
