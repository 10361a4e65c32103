"""The sightings in a step: files with the identifiers in them, commands with their outcome, references, errors.

Each step gives a few sightings of bounded size. Text that the agent wrote (tool inputs, its own words) has three times
the weight of text that it only read. Only the start of a long result is read. On real sessions the first 6,000
characters were as informative as the whole.
"""

from __future__ import annotations

from unified_state.agents.transcripts.rules.failure_lines import failing_lines
from unified_state.lib.identifiers import identifiers, is_file, relative_path, with_slashes, words_of
from unified_state.lib.record import Record
from unified_state.lib.shell_commands import programs
from unified_state.lib.stdlib import parse_json
from unified_state.lib.text import cut, one_line, strings_of
from unified_state.model.known import COMMAND, ERROR, FILE, NO_FILE, PROGRAM, REFERENCE
from unified_state.model.step import PROMPT, TEXT, TOOL_CALL, TOOL_RESULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from unified_state.model.step import Step

EDITED, WRITTEN, ASKED, SEEN, MENTIONED = 6.0, 3.0, 2.0, 1.0, 0.8
HEAT, HEAT_OF_READING = 1.0, 0.15
_LOOKED_AT, _LOOKED_AT_OUTPUT, _LOOKED_AT_WRITTEN = 5_000, 1_000, 6_000  # characters
_COMMAND_CHARACTERS, _OUTCOME_CHARACTERS = 300, 160
_SEARCHES, _AGENTS = ("Grep", "Glob"), ("Task", "Agent", "TaskOutput")
_LONGEST_PATH = 1_000  # characters; a longer text is no path
_MOST_FILES = 40  # files of one search
_END_CHARACTERS = 6_000  # characters at the end of an output that are searched for failures


class Sighting(Record):
    """One thing seen in a step. `details` are further facts, such as the outcome of a command."""

    kind: str
    name: str
    weight: float
    words: frozenset[str] | set[str] = frozenset()
    details: Mapping[str, Any] = {}
    heat: float = 0.0  # its share of an edit, from 0 to 1

    def __init__(  # a long import creates a hundred thousand of these; Record's own __init__ takes four times as long
        self,
        kind: str,
        name: str,
        weight: float,
        words: frozenset[str] | set[str] = frozenset(),
        details: Mapping[str, Any] = {},
        heat: float = 0.0,
    ) -> None:
        self.__dict__.update(kind=kind, name=name, weight=weight, words=words, details=details, heat=heat)


class Call(Record):
    """The tool call that a result belongs to."""

    tool: str
    fields: dict[str, Any]


def read_call(step: Step) -> Call:
    """Return the tool and the input of a tool call."""
    try:
        fields = parse_json(step.text)
    except (ValueError, RecursionError):
        fields = {}
    return Call(step.tool or "", fields if isinstance(fields, dict) else {})


def sightings(step: Step, call: Call | None, root: str) -> Iterator[Sighting]:
    """Yield the sightings in a step.

    `call` is the tool call of the step or of its result. `root` is the folder to which paths are relative.
    """
    match step.kind:
        case kind if kind == TOOL_CALL and call is not None:
            yield from _of_call(call, root)
        case kind if kind == TOOL_RESULT and call is not None:
            yield from _of_result(step, call, root)
        case kind if kind == TEXT:
            yield from _of_words(_beginning(step.text, _LOOKED_AT_WRITTEN), WRITTEN, root)
        case kind if kind == PROMPT:
            yield from _of_words(_beginning(step.text, _LOOKED_AT_WRITTEN), ASKED, root)


def _beginning(text: str, limit: int) -> str:
    """Return the text up to a limit, without a partial word at its end."""
    return text if len(text) <= limit else text[:limit].rsplit(None, 1)[0]


def _of_call(call: Call, root: str) -> Iterator[Sighting]:
    path, command = _path_of(call), _command_of(call)
    if path:
        written = strings_of([value for name, value in call.fields.items() if not name.endswith("_path")])
        changes = any(name in call.fields for name in ("old_string", "new_string", "content", "edits", "new_source"))
        words = identifiers(_beginning(written, _LOOKED_AT_WRITTEN))
        weight = EDITED if changes else WRITTEN
        yield Sighting(FILE, relative_path(path, root), weight, words, heat=HEAT if changes else HEAT_OF_READING)
        return
    if command:
        yield Sighting(COMMAND, command, WRITTEN)
        for program in set(programs(call.fields["command"][:_LOOKED_AT])):
            yield Sighting(PROGRAM, program, WRITTEN)
    written = "\n".join(text for text in call.fields.values() if isinstance(text, str))
    yield from _of_words(_beginning(written, _LOOKED_AT_WRITTEN), WRITTEN, root)


def _of_result(step: Step, call: Call, root: str) -> Iterator[Sighting]:
    path, command = _path_of(call), _command_of(call)
    end = _end_of(step.text) if step.is_error or command else ""
    failures = failing_lines(end, command, is_error=step.is_error)
    for failure in failures:
        yield Sighting(ERROR, failure, SEEN)
    if command:
        outcome = {"failed": step.is_error, "last": cut(_last_line(end), _OUTCOME_CHARACTERS), "failing": failures}
        yield Sighting(COMMAND, command, MENTIONED, details=outcome)
        yield from _of_words(_beginning(step.text, _LOOKED_AT_OUTPUT), MENTIONED, root, with_files=False)
    elif path and call.tool == "Read" and not step.is_error:
        yield Sighting(FILE, relative_path(path, root), SEEN, identifiers(_beginning(step.text, _LOOKED_AT)))
    elif call.tool in _SEARCHES:
        yield from _of_search(_beginning(step.text, _LOOKED_AT), call, root)
    elif call.tool in _AGENTS:
        yield from _of_words(_beginning(step.text, _LOOKED_AT), SEEN, root)


def _path_of(call: Call) -> str:
    """Return the file of a call; "" if it has none or the path is too long."""
    path = call.fields.get("file_path") or call.fields.get("notebook_path")
    return path if isinstance(path, str) and len(path) <= _LONGEST_PATH else ""


def _command_of(call: Call) -> str:
    """Return the shell command of a call, shortened; "" if it has none."""
    command = call.fields.get("command")
    return cut(command.strip(), _COMMAND_CHARACTERS) if isinstance(command, str) else ""


def _of_words(text: str, weight: float, root: str, *, with_files: bool = True) -> Iterator[Sighting]:
    """Yield the identifiers, files and references in a text."""
    words, paths, references = words_of(with_slashes(text, root))
    for path in paths if with_files else ():
        yield Sighting(FILE, relative_path(path, root), weight)
    for reference in references:
        yield Sighting(REFERENCE, reference, weight)
    words -= {path.rsplit("/", 1)[-1].rsplit(".", 1)[0] for path in paths}
    if words:
        yield Sighting(FILE, NO_FILE, weight, words)


def _of_search(text: str, call: Call, root: str) -> Iterator[Sighting]:
    """Yield the files in a search result (`path:12:line`) with the identifiers in their lines.

    If only one file was searched, all lines belong to it.
    """
    by_file: dict[str, list[str]] = {}
    searched = call.fields.get("path")
    if isinstance(searched, str) and is_file(searched):
        by_file[searched] = [text]
    else:
        path = ""
        for line in with_slashes(text, root).split("\n"):
            path = _found_in(line, path)
            if path in by_file or (path and len(by_file) < _MOST_FILES):
                by_file.setdefault(path, []).append(line[len(path) :])
    for path, lines in by_file.items():
        yield Sighting(FILE, relative_path(path, root), MENTIONED, identifiers("\n".join(lines)))


def _found_in(line: str, before: str) -> str:
    """Return the file in a line of a search: `path:12:line`, as context `path-12-line`, or the path alone.

    `before` is the file of the previous line. Return "" if the line has none.
    """
    if before and line.startswith(before) and line[len(before) : len(before) + 1] in {":", "-"}:
        return before
    path = line.partition(":")[0]
    if is_file(path):
        return path
    end = line.find("-")
    while 0 < end < _LONGEST_PATH:
        if line[end + 1 : end + 2].isdigit() and is_file(line[:end]):
            return line[:end]
        end = line.find("-", end + 1)
    return ""


def _end_of(text: str) -> str:
    """Return the last lines of an output. A progress bar that overwrites its line gives several lines."""
    return text[-_END_CHARACTERS:].replace("\r", "\n").strip()


def _last_line(text: str) -> str:
    return one_line(text[text.rfind("\n") + 1 :])
