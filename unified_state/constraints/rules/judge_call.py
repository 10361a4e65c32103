"""Match a tool call against the constraints.

For each kind of pattern in a constraint (commands, paths, tools) one pattern has to match. A row of mode `tell` about a
failed command matches that command alone. A command and a path have to
match the same simple command. Paths alone cover calls that change files. Paths together with a tool cover calls of that
tool. The effect of a shell line is found by parsing it, never by a text search in it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from unified_state.constraints.rules.globs import glob_matches, has_wildcard, lies_within, path_matches
from unified_state.lib.record import Record
from unified_state.model.constraint import ASK, MODES, TELL, Breach, EnforcedRow

if TYPE_CHECKING:
    from unified_state.constraints.rules.invocations import Invocation
    from unified_state.lib.shell.shell_line import SimpleCommand

_CHANGING_TOOLS = {"Edit", "MultiEdit", "NotebookEdit", "Write"}
_MCP = "mcp__"
_QUOTING = str.maketrans("", "", "'\"\\\n\r")
# Words in the name of an MCP server's tool that changes files; those that read change none, whatever else they say.
_CHANGING = {
    *("append", "apply", "copy", "create", "delete", "download", "edit", "insert", "mkdir", "move", "overwrite"),
    *("patch", "push", "put", "remove", "rename", "replace", "save", "touch", "truncate", "unlink", "update", "write"),
}
_READING = {"find", "get", "list", "read", "search", "show", "view"}
_MOVING = {"delete", "move", "remove", "rename"}
# Fields that name a file, without `_` and in lower case. The last ones are changed only where they are moved away.
_PATH_FIELDS = {
    *("absolutepath", "destination", "destinationpath", "dest", "directory", "dst", "file", "filename", "filepath"),
    *("files", "folder", "newpath", "notebookpath", "path", "pathinproject", "paths", "relativepath", "targetfile"),
    *("targetpath", "uri"),
}
_ORIGINS = {"from", "oldpath", "source", "sourcepath", "src"}
_VERB_FIELDS = {"action", "method", "op", "operation", "tool", "type"}  # of one call among several
_MOST_PATHS = 200  # of one call
_DEEPEST = 20  # objects within each other
_MOST_COMMANDS = 5_000  # in one line
_MOST_FILES = 500  # of one line, compared with the patterns of one constraint


class Forms(Record):
    """The spellings of a path's target: absolute and relative to the worktree, as written and without symlinks."""

    absolute: tuple[str, ...]
    relative: tuple[str, ...]


class Judge:
    """Matches one call of a tool. `locate` resolves a path that is written in a folder. `roots` are the folders of the
    session.
    """

    def __init__(
        self, tool: str, given: Mapping[str, Any], locate: Callable[[str, str], Forms], roots: Collection[str] = ()
    ) -> None:
        self._tool = tool
        command = given.get("command")
        self._line = command if isinstance(command, str) else None
        self._words = _words_of(tool.rpartition("__")[2]) if tool.startswith(_MCP) else frozenset()
        self._verbs = frozenset().union(*map(_words_of, _texts_in(given, _VERB_FIELDS))) if self._words else frozenset()
        fields = _PATH_FIELDS if self._words.isdisjoint(_MOVING) else _PATH_FIELDS | _ORIGINS
        self._paths = list(islice(_texts_in(given, fields), _MOST_PATHS + 1))
        self._locate = locate
        self._roots = roots
        self._commands: list[SimpleCommand] | None = None

    def breaches(self, constraints: Iterable[EnforcedRow]) -> list[Breach]:
        """Return the constraints that the call breaches, the strictest first."""
        found = [breach for constraint in constraints if (breach := self._breach(constraint)) is not None]
        return sorted(found, key=lambda breach: -MODES.index(breach.mode))

    def about(self, told: Iterable[EnforcedRow]) -> list[EnforcedRow]:
        """Return the rows of mode `tell` that are about the call."""
        text = "\n".join((self._line or "", *self._paths))
        likely = [row for row in told if row.digest or any(path.rpartition("/")[2] in text for path in row.paths)]
        return [row for row in likely if (self._repeats(row) if row.digest else self._breach(row) is not None)]

    def _repeats(self, row: EnforcedRow) -> bool:
        """Return whether the call runs the command again that failed."""
        if self._line is None or self._tool not in row.tools or row.root not in self._roots:
            return False
        from unified_state.lib.shell.shell_commands import command_key
        from unified_state.lib.text import text_hash

        return text_hash(command_key(self._line)) == row.digest

    def _breach(self, constraint: EnforcedRow) -> Breach | None:
        tool = next((pattern for pattern in constraint.tools if glob_matches(pattern, self._tool)), None)
        if constraint.tools and tool is None:
            return None
        if not constraint.commands and not constraint.paths:
            return Breach(constraint, constraint.mode, tool or "")
        if self._line is not None:
            return self._breach_by_line(constraint, self._line)
        if constraint.commands or not (constraint.tools or self._changes_files()):
            return None
        matched = next((path for path in self._paths if self._is_meant(constraint.paths, path)), None)
        if matched is None and len(self._paths) > _MOST_PATHS:
            return _unread(constraint)
        return None if matched is None else Breach(constraint, constraint.mode, matched)

    def _changes_files(self) -> bool:
        """Return whether the tool changes the files that its fields name."""
        is_other = not self._words.isdisjoint(_CHANGING) and self._words.isdisjoint(_READING)
        return self._tool in _CHANGING_TOOLS or is_other or not _CHANGING.isdisjoint(self._verbs)

    def _breach_by_line(self, constraint: EnforcedRow, line: str) -> Breach | None:
        if constraint.commands and not _names_a_program(constraint.commands, line):
            return None
        from unified_state.lib.shell.shell_line import UnreadableError  # most calls need only the cheap check

        try:
            matched = self._matched(constraint)
        except UnreadableError:
            return _unread(constraint)
        return None if matched is None else Breach(constraint, constraint.mode, matched)

    def _matched(self, constraint: EnforcedRow) -> str | None:
        """Return the part of the line that the constraint matches."""
        from unified_state.constraints.rules.changed_files import changed_files, named_files
        from unified_state.lib.shell.shell_line import UnreadableError

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
                if self._is_meant(constraint.paths, file.path, file.folder, is_whole=file.is_whole):
                    return f"{text} {file.path}" if text else file.path
        return None

    def _run_by_line(self) -> list[SimpleCommand]:
        from unified_state.lib.shell.shell_line import UnreadableError

        if self._commands is None:
            from unified_state.lib.shell.shell_commands import commands_run

            self._commands = list(islice(commands_run(self._line or ""), _MOST_COMMANDS + 1))
        if len(self._commands) > _MOST_COMMANDS:
            raise UnreadableError
        return self._commands

    def _is_meant(self, patterns: Sequence[str], path: str, folder: str = "", *, is_whole: bool = False) -> bool:
        """Return whether a path fits a pattern, or with `is_whole` holds what fits one."""
        forms = self._locate(path.removeprefix("file://"), folder)
        for pattern in patterns:
            is_absolute = pattern.startswith("/")
            for form in forms.absolute if is_absolute else forms.relative:
                below = form.lstrip("/")
                if path_matches(f".{pattern}" if is_absolute else pattern, below):
                    return True
                if is_whole and lies_within(pattern, below or "."):
                    return True
        return False


def _unread(constraint: EnforcedRow) -> Breach | None:
    """Return the breach of a call that has too much to be checked: the user is asked."""
    return None if constraint.mode == TELL else Breach(constraint, min(constraint.mode, ASK, key=MODES.index), "")


def without_quoting(line: str) -> str:
    """Return a shell line without the characters that can stand within a name: quotes, backslashes, line ends."""
    return line.translate(_QUOTING)


def _names_a_program(patterns: Sequence[str], line: str) -> bool:
    """Return whether a line may run a program of the patterns. So a line that cannot be read asks only where it may."""
    bare = without_quoting(line)
    names = [pattern.split()[0].rsplit("/", 1)[-1] for pattern in patterns]
    return any(has_wildcard(name) or name in bare for name in names)


def _words_of(name: str) -> frozenset[str]:
    """Return the words of the name of a tool or an operation: `writeFile` has write and file."""
    spaced = "".join(f" {sign}" if sign.isupper() else " " if sign in "_-." else sign for sign in name)
    return frozenset(spaced.lower().split())


def _texts_in(given: Mapping[str, Any], fields: Collection[str], depth: int = 0) -> Iterator[str]:
    """Yield the texts in such fields of a call, also of the objects in it: `paths`, `files[].path`."""
    for name, value in given.items():
        is_meant = name.replace("_", "").replace("-", "").lower() in fields
        for one in value if isinstance(value, list) else (value,):
            if isinstance(one, dict) and depth < _DEEPEST:
                yield from _texts_in(one, fields, depth + 1)
            elif is_meant and isinstance(one, str) and one:
                yield one


def _pattern(text: str) -> Invocation:
    from unified_state.constraints.rules.invocations import read_invocation
    from unified_state.lib.shell.shell_line import read_commands

    return read_invocation(read_commands(text)[0].words)


def _fitting(patterns: list[tuple[str, Invocation]], command: SimpleCommand) -> str | None:
    from unified_state.constraints.rules.invocations import covers, read_invocation

    if not patterns or not command.words:
        return None
    invocation = read_invocation(command.words)
    return next((text for text, pattern in patterns if covers(pattern, invocation)), None)
