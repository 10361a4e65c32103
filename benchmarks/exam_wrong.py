"""Lines of a restored text that show as current what had passed when the client compacted.

Read from the transcript before the cut, by the rules of this file alone:

* **error**: an error of a command that passed later, and did not occur again; or the command, shown as failed.
* **task**: an item of the agent's task list that was done or dropped, shown as one to do.
* **name**: what an edit defined and a later edit removed, named by nothing since.
* **file**: a file that was removed or moved away, and not written or read since.

Turns and failed attempts tell of the past. A line that says itself that something has passed (`solved`, `removed`) is
right.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from benchmarks.exam_measures import Line
from benchmarks.hindcast_cases import Case
from benchmarks.hindcast_gold import holds, in_one_line, is_error, telling
from benchmarks.transcripts import Call, calls, strings

_HISTORY = frozenset(["turn", "last turns", "failed attempts"])
_SAYS_SO = re.compile(
    r"(?i)\b(?:solved|fixed|resolved|passe[sd]|done|completed|superseded|undone|reverted|removed|deleted|gone|moved"
    r"|no longer|dropped)\b"
)
_TO_DO = re.compile(r"(?i)\b(?:todo|pending|in progress|open|next)\b")
_RUNS = frozenset(["command", "error"])  # lines that tell what was run and said, not what is there
_FAILED = re.compile(r"(?i)\bfail")
_PATH = re.compile(r"(?<![\w./~-])[\w./@~-]*\w\.\w+")
_COMMAND_CHARACTERS = 150
_SHORTEST_TASK = 12  # characters; a shorter one may stand there by chance
_DEFINED = re.compile(
    r"(?m)^\s*(?:export )?(?:async )?(?:func(?: \([^)]*\))?|def|class|type|const|function|interface) +([A-Za-z_]\w{5,})"
)
_PARTS = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_REDIRECTION = re.compile(r"\s*(?:\d?>&?\s*\S+|\|.*)")
_OPEN = frozenset(["pending", "in_progress"])


class Passed(NamedTuple):
    """What is no longer so: of which kind it is, and the string by which a line shows it."""

    kind: str
    shown: str


class Past(NamedTuple):
    """What had passed before a compaction, the commands whose failure had, and all commands."""

    passed: tuple[Passed, ...]
    solved: frozenset[str]
    commands: tuple[str, ...]  # the longest first


def past_of(case: Case) -> Past:
    """All that had passed before the compaction."""
    done = list(calls(case.before))
    errors, solved = _solved(done)
    found = [
        *(Passed("error", error) for error in errors),
        *(Passed("task", task) for task in _closed(done)),
        *(Passed("name", name) for name in _undone(done)),
        *(Passed("file", path) for path in _removed(done)),
    ]
    commands = {_start(call.command) for call in done if call.command}
    return Past(
        tuple(dict.fromkeys(found)), frozenset(solved), tuple(sorted(commands, key=lambda one: (-len(one), one)))
    )


def wrong_lines(past: Past, lines: Sequence[Line]) -> list[tuple[Passed, str]]:
    """The lines that show as current what had passed, each with the first thing of it."""
    found = ((_passed_in(line, past), line) for line in lines if line.kind not in _HISTORY)
    return [(passed, line.text) for passed, line in found if passed is not None]


def _passed_in(line: Line, past: Past) -> Passed | None:
    text = in_one_line(line.text)
    about = next((command for command in past.commands if command in text), "")
    if about in past.solved and _FAILED.search(text.replace(about, "")):
        return Passed("error", about)
    return next((passed for passed in past.passed if _shows(text, passed, line.kind)), None)


def _shows(text: str, passed: Passed, kind: str) -> bool:
    match passed.kind:
        case "error":
            is_shown = passed.shown in text
        case "task":
            is_shown = passed.shown in text and (kind == "todo" or _TO_DO.search(text) is not None)
        case "name":
            is_shown = kind not in _RUNS and holds(text, passed.shown)
        case _:
            is_shown = kind not in _RUNS and any(_is_same(path, passed.shown) for path in _PATH.findall(text))
    return is_shown and _SAYS_SO.search(text.replace(passed.shown, "")) is None


def _is_same(path: str, removed: str) -> bool:
    """Whether two paths, one of which may be relative, are one. A bare name says too little."""
    shorter, longer = sorted((path, removed), key=len)
    return path == removed or ("/" in shorter and longer.endswith(f"/{shorter}"))


def _start(command: str) -> str:
    """As much of a command as a line shows."""
    return in_one_line(command)[:_COMMAND_CHARACTERS]


def _solved(done: Sequence[Call]) -> tuple[list[str], list[str]]:
    """The errors of failed runs whose every command ran well later, in one run, unless a later output shows them
    again; and such runs, unless one of the same command failed later.
    """
    runs = [(call, _commands(call.command)) for call in done if call.command]
    errors: list[str] = []
    solved: list[str] = []
    for number, (call, commands) in enumerate(runs):
        later = runs[number + 1 :]
        if _failed(call) and commands and any(commands <= more and not _failed(other) for other, more in later):
            shown_later = "\n".join(in_one_line(other.result) for other, _ in later)
            found = (telling(line) for line in call.result.splitlines() if is_error(line))
            errors += [error for error in found if error not in shown_later]
            if not any(_failed(other) for other, _ in later if _start(other.command) == _start(call.command)):
                solved.append(_start(call.command))
    return errors, solved


def _failed(call: Call) -> bool:
    return call.result.startswith("Exit code ") or any(map(is_error, call.result.splitlines()))


def _commands(command: str) -> frozenset[str]:
    """The commands of a line, without where their output goes."""
    parts = (_REDIRECTION.sub("", part).strip() for part in _PARTS.split(command))
    return frozenset(part for part in parts if part and not part.startswith("cd "))


def _closed(done: Sequence[Call]) -> Iterator[str]:
    """The tasks that are not open in the end, by their texts."""
    status: dict[str, Any] = {}
    named: dict[str, str] = {}
    for call in done:
        match call.tool:
            case "TodoWrite":
                items = call.given.get("todos")
                items = items if isinstance(items, list) else []
                given = {str(item.get("content")): item.get("status") for item in items if isinstance(item, dict)}
                status = {**dict.fromkeys(status, "dropped"), **given}
            case "TaskCreate":
                subject = str(call.given.get("subject"))
                if found := re.search(r"#(\d+)", call.result):
                    named[found[1]] = subject
                status[subject] = "pending"
            case "TaskUpdate":
                subject = named.get(str(call.given.get("taskId")), "")
                status[subject] = call.given.get("status") or status.get(subject)
    for task, state in status.items():
        if state not in _OPEN and len(text := in_one_line(str(task))) >= _SHORTEST_TASK:
            yield text


def _undone(done: Sequence[Call]) -> Iterator[str]:
    """The names that an edit defined, a later one removed, and nothing named since."""
    defined: set[str] = set()
    removed: dict[str, None] = {}
    for call in done:
        old, new = (call.given.get(name) for name in ("old_string", "new_string"))
        if isinstance(old, str) and isinstance(new, str):
            gone = {name for name in _DEFINED.findall(old) if not holds(new, name)} & defined
            heard = new
            defined.update(_DEFINED.findall(new))
        else:
            gone = set()
            heard = "\n".join([*strings(call.given), call.result])
            if call.tool == "Write":
                defined.update(_DEFINED.findall(heard))
        removed = dict.fromkeys(name for name in removed if not holds(heard, name)) | dict.fromkeys(sorted(gone))
    yield from removed


def _removed(done: Sequence[Call]) -> Iterator[str]:
    """The files that `rm` or `mv` took away, by path as it was given, and that no call wrote or read since."""
    removed: dict[str, None] = {}
    for call in done:
        if call.file is not None:
            path = str(call.given["file_path"]).replace("\\", "/")
            is_there = not call.result.startswith(("File does not exist", "Error", "<tool_use_error>"))
            removed = dict.fromkeys(one for one in removed if not (is_there and path.endswith(one)))
        elif call.command and not call.result.startswith("Exit code "):
            for part in _PARTS.split(call.command):
                taken, made = _moved(_REDIRECTION.sub("", part))
                removed = dict.fromkeys(one for one in removed if one not in made) | dict.fromkeys(taken)
    yield from removed


def _moved(command: str) -> tuple[list[str], list[str]]:
    """The files that a command takes away, and those that it names otherwise."""
    try:
        words = shlex.split(command)
    except ValueError:
        return [], []
    words = words[1:] if words[:1] == ["git"] else words
    paths = [word.removeprefix("./") for word in words[1:] if not word.startswith("-")]
    files = [path for path in paths if "." in path.rpartition("/")[2] and "*" not in path and "$" not in path]
    match words[:1]:
        case ["rm"] if "--cached" not in words:
            return files, []
        case ["mv"] if len(paths) == 2 and paths[0] in files:  # from, to
            return paths[:1], paths[1:]
    return [], files
