"""The sightings in a step: files with the identifiers in them, commands with their outcome, references, errors.

Each step gives a few sightings of bounded size. Text that the agent wrote (tool inputs, its own words) has three times
the weight of text that it only read. Only the start of a long result is read. On real sessions the first 6,000
characters were as informative as the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unified_state.agents.transcripts.rules.call_effects import PATCH_TOOL, Call, found_nothing, still_runs_as
from unified_state.agents.transcripts.rules.failure_lines import failing_lines
from unified_state.lib.identifiers import identifiers, is_file, relative_path, with_slashes, words_of
from unified_state.lib.record import Record
from unified_state.lib.shell.shell_commands import programs
from unified_state.lib.text import cut, one_line, strings_of
from unified_state.model.known import COMMAND, ERROR, FILE, NO_FILE, PROGRAM, REFERENCE
from unified_state.model.step import PROMPT, TEXT, TOOL_CALL, TOOL_RESULT, Step

EDITED, WRITTEN, ASKED, SEEN, MENTIONED = 6.0, 3.0, 2.0, 1.0, 0.8
HEAT, HEAT_OF_READING = 1.0, 0.15
_LOOKED_AT, _LOOKED_AT_OUTPUT, _LOOKED_AT_WRITTEN = 5_000, 1_000, 6_000  # characters
_COMMAND_CHARACTERS, _OUTCOME_CHARACTERS = 300, 160
_SEARCHES, _AGENTS = ("Grep", "Glob"), ("Task", "Agent", "TaskOutput")
_LONGEST_PATH = 1_000  # characters; a longer text is no path
_MOST_FILES = 40  # files of one search or patch
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
    for path, texts in _written_by(call, root).items():
        words = identifiers(_beginning("\n".join(texts), _LOOKED_AT_WRITTEN))
        yield Sighting(FILE, path, EDITED, words, heat=HEAT)
    if call.path and not call.changes:
        words = identifiers(_beginning(strings_of(_beside_paths(call)), _LOOKED_AT_WRITTEN))
        yield Sighting(FILE, relative_path(call.path, root), WRITTEN, words, heat=HEAT_OF_READING)
    if call.command:
        yield Sighting(COMMAND, _shown(call.command), WRITTEN)
        for program in set(programs(call.command[:_LOOKED_AT])):
            yield Sighting(PROGRAM, program, WRITTEN)
    if not call.files:
        written = "\n".join(text for text in call.fields.values() if isinstance(text, str))
        yield from _of_words(_beginning(written, _LOOKED_AT_WRITTEN), WRITTEN, root)


def _written_by(call: Call, root: str) -> dict[str, list[str]]:
    """Return the texts that a call writes, by file."""
    written: dict[str, list[str]] = {}
    for change in call.changes[:_MOST_FILES]:
        written.setdefault(relative_path(change.path, root), []).append(change.text)
    return written


def _beside_paths(call: Call) -> list[Any]:
    return [value for name, value in call.fields.items() if not name.endswith("_path")]


def _of_result(step: Step, call: Call, root: str) -> Iterator[Sighting]:
    command, is_error = _shown(call.command), step.is_error and not found_nothing(call, step.text)
    end = _end_of(step.text) if is_error or command else ""
    failures = failing_lines(end, command, is_error=is_error)
    for failure in failures:
        yield Sighting(ERROR, failure, SEEN)
    if not step.is_error:
        yield from _made_of_files(call, root)
    if command:
        outcome = {"failed": is_error, "last": cut(_last_line(end), _OUTCOME_CHARACTERS), "failing": failures}
        yield Sighting(COMMAND, command, MENTIONED, details={} if still_runs_as(step.text) else outcome)
        yield from _of_words(_beginning(step.text, _LOOKED_AT_OUTPUT), MENTIONED, root, with_files=False)
    elif call.path and call.tool == "Read" and not step.is_error:
        yield Sighting(FILE, relative_path(call.path, root), SEEN, identifiers(_beginning(step.text, _LOOKED_AT)))
    elif call.tool in _SEARCHES:
        yield from _of_search(_beginning(step.text, _LOOKED_AT), call, root)
    elif call.tool in _AGENTS:
        yield from _of_words(_beginning(step.text, _LOOKED_AT), SEEN, root)


def _made_of_files(call: Call, root: str) -> Iterator[Sighting]:
    """Yield what became of the files that a patch changed: whether they are still there."""
    states = {relative_path(change.path, root): change.gone for change in call.changes[:_MOST_FILES]}
    if any(states.values()) or call.tool == PATCH_TOOL:
        for path, gone in states.items():
            yield Sighting(FILE, path, SEEN, details={"gone": gone})


def _shown(command: str) -> str:
    """Return a shell command, shortened."""
    return cut(command.strip(), _COMMAND_CHARACTERS)


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
