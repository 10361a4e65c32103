"""Lines of a restored text that the session's own log contradicts, by the rules of this file alone:

* **failed**, **ended**: a command told with an end that a later run, or the task in the background, did not have;
* **background**: that a command went on in the background, told as how it ended;
* **committed**: a file told as not committed, after a commit or rebase of it, or a status that was clean;
* **checked**: a command told as not run since an edit, which ran since;
* **task**: a task told as one to do or in progress, which was done or dropped.

Turns, attempts and what somebody said tell of the past, so they are not asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from benchmarks.hindcast_cases import Case
from benchmarks.hindcast_gold import in_one_line, is_error
from benchmarks.transcripts import Call, Entry, blocks, calls, parse_all, strings

_WORD = re.compile(r"[^\W_]")
_SECTION = re.compile(r"\[([A-Z][A-Z ]+)\]")
_QUOTED = re.compile("turn|attempt|word|said")  # sections that tell of the past, in the words of then
_SAID_LONG, _SHORTEST_TASK = 100, 12  # characters of a command that a line shows; of a task that is not there by chance
_CLAIM = re.compile(
    r" (?:->|→|=>) (?:(?P<failed>failed|exit(?: code)? [1-9])|ended|passed|completed|ok\b|exit(?: code)? 0)"
)
_ADMITS = re.compile(r"(?i)fail|error|exit|\bno\b|not ")
_BACKGROUND = re.compile(r"running in (?:the )?background with ID: (\w+)")
_ENDED = re.compile(r"<task.id>(\w+)</task.id>.*?<status>(completed|failed|killed)</status>", re.DOTALL)
_EXIT = re.compile(r"(?:<exit_code>|exit code )(\d+)")
_PARTS = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_REDIRECTION = re.compile(r"\s*(?:\d?>&?\s*\S+|\|.*)")
_EDITS = frozenset(["Edit", "MultiEdit", "NotebookEdit", "Write"])
_CLEAN = re.compile(r"nothing to commit, working tree clean|Successfully rebased")
_COMMIT = re.compile(r"^\[\S+(?: \(root-commit\))? [0-9a-f]{7,}\] ", re.MULTILINE)
_ALL_FILES = re.compile(r"git add (?:-A|--all|\.)(?:\s|$)|git commit (?:\S+ )*?-\w*a")
_PATH = re.compile(r"[\w./@~-]*\w\.\w+")
_NOT_RUN, _NOT_COMMITTED = re.compile(r"not run since([^:]*): (.*)"), re.compile(r"not committed(?: \(.*?\))?: (.*)")
_TO_DO = re.compile(r"(?i)\b(?:todo|pending|in[ _]progress|open|next)\b")
_DONE = re.compile(r"(?i)\b(?:completed|done|dropped|deleted)\b")
_LISTED = re.compile(r"#(\w+) \[(\w+)\] (.*?)(?: \[blocked by .*)?$", re.MULTILINE)
_OPEN = frozenset(["pending", "in_progress"])


class Line(NamedTuple):
    """A line of a text, and the section that it stands in."""

    section: str
    text: str


class Run(NamedTuple):
    """A run of a command: when, of which commands, whether it failed, if that is known, and if it showed no error."""

    at: int
    command: str
    parts: frozenset[str]
    failed: bool | None
    quiet: bool


class Log:
    """What the log of a session decides."""

    def __init__(self, case: Case) -> None:
        done = list(calls(case.before))
        ends = dict(_ends(case.before))
        self.runs = [
            Run(at, in_one_line(call.command), _parts(call.command), _failed(call.result, ends), _is_quiet(call.result))
            for at, call in enumerate(done)
            if call.command
        ]
        self.edits = [
            (at, str(call.given["file_path"])) for at, call in enumerate(done) if call.file and call.tool in _EDITS
        ]
        self.kept = [(at, call) for at, call in enumerate(done) if _COMMIT.search(call.result)]
        self.clean = [at for at, call in enumerate(done) if call.command and _CLEAN.search(call.result)]
        self.closed = set(_closed(calls(_with_subagents(case))))

    def of(self, text: str) -> list[Run]:
        """The runs of the command that a text begins, as far as it shows it: the longest that fits."""
        found = [run for run in self.runs if run.command[:_SAID_LONG] in text]
        longest = max((len(run.command[:_SAID_LONG]) for run in found), default=0)
        return [run for run in found if len(run.command[:_SAID_LONG]) == longest]

    def edited(self, path: str) -> int:
        """When a file was edited last; before all where it was not."""
        return max((at for at, name in self.edits if name == path or name.endswith(f"/{path}")), default=-1)

    def is_kept(self, path: str) -> bool:
        """Whether a file was committed, or everything was, after its last edit."""
        edited, name = self.edited(path), path.rpartition("/")[2]
        kept = (at for at, call in self.kept if name in call.command or _ALL_FILES.search(call.command))
        return edited >= 0 and any(at > edited for at in (*self.clean, *kept))


def lines_of(text: str) -> list[Line]:
    """The lines of a text that say anything."""
    section, lines = "text", []
    for line in filter(_WORD.search, text.splitlines()):
        if found := _SECTION.match(line):
            section = found[1].casefold()
        lines.append(Line(section, line))
    return lines


def untrue(case: Case, lines: Sequence[Line]) -> list[str]:
    """The lines that the log contradicts, each with what is wrong."""
    log = Log(case)
    told = [Line(line.section, in_one_line(line.text)) for line in lines if not _QUOTED.search(line.section)]
    texts = [text for _, text in told]
    found = ((_wrong(log, section, text, texts), text) for section, text in told)
    return [f"{wrong}: {text[:300]}" for wrong, text in found if wrong]


def _wrong(log: Log, section: str, text: str, told: Sequence[str]) -> str:
    if found := _CLAIM.search(text):
        return _wrong_end(log, found, told)
    if found := _NOT_COMMITTED.search(text):
        kept = [path for path in _PATH.findall(found[1]) if log.is_kept(path)]
        return f"committed ({', '.join(kept)})" if kept else ""
    if found := _NOT_RUN.search(text):
        edited = max(map(log.edited, _PATH.findall(found[1])), default=-1)
        ran = [command for command in re.findall(r"`([^`]+)`", found[2]) if _ran(log, command.rstrip("…"), edited)]
        return f"checked ({', '.join(ran)})" if ran and edited >= 0 else ""
    if section == "todo" or _TO_DO.search(text):
        done = (task for task in log.closed if task in text and not _DONE.search(text.replace(task, "")))
        return next((f"task ({task})" for task in done), "")
    return ""


def _wrong_end(log: Log, claim: re.Match[str], others: Sequence[str]) -> str:
    told = claim.string
    command, rest, failed = told[: claim.start()], told[claim.end() :], claim["failed"] is not None
    if _BACKGROUND.search(rest):
        return "background"
    own = [run for run in log.of(command) if run.failed is not None]
    if not own:
        return ""
    if not failed:
        return "ended" if own[-1].failed and not _ADMITS.search(rest) else ""
    since = max((run.at for run in own if run.failed or not run.quiet), default=-1)
    later = [run for run in log.runs if run.at > since and run.failed is False and run.quiet]
    passed = [run for run in later if own[-1].parts <= run.parts]
    is_told = any(run.command[:_SAID_LONG] in line and line != told for run in passed for line in others)
    return f"failed (later: {passed[-1].command[:80]})" if passed and not is_told else ""


def _ran(log: Log, command: str, since: int) -> bool:
    return any(run.at > since for run in log.runs if run.command.startswith(in_one_line(command)))


def _parts(command: str) -> frozenset[str]:
    """The commands of a line, without where their output goes."""
    parts = (_REDIRECTION.sub("", part).strip() for part in _PARTS.split(command))
    return frozenset(part for part in parts if part and not part.startswith("cd "))


def _ends(entries: Iterable[Entry]) -> Iterator[tuple[str, bool]]:
    """The tasks in the background that ended, each with whether it failed."""
    for entry in entries:
        for block in blocks(entry):
            text = "\n".join(strings(block.get("text")) + strings(block.get("content")))
            for found in _ENDED.finditer(text):
                code = _EXIT.search(text, found.end())
                yield found[1], found[2] == "failed" or bool(code and code[1] != "0")


def _failed(result: str, ends: dict[str, bool]) -> bool | None:
    if found := _BACKGROUND.search(result):
        return ends.get(found[1])
    return result.startswith("Exit code ")


def _is_quiet(result: str) -> bool:
    return not any(map(is_error, result.splitlines()))


def _with_subagents(case: Case) -> Iterator[Entry]:
    """The entries of the conversation, and of subagents as the client shows their progress."""
    for entry in parse_all(case.lines):
        inner = entry.get("data", {}).get("message") if entry.get("type") == "progress" else entry
        if isinstance(inner, dict) and inner.get("type") in {"user", "assistant"}:
            yield inner


def _closed(done: Iterable[Call]) -> Iterator[str]:
    """The tasks that are not open in the end, by their texts."""
    status: dict[str, str] = {}
    named: dict[str, str] = {}
    for call in done:
        match call.tool:
            case "TodoWrite":
                items = call.given.get("todos")
                given = {str(item["content"]): str(item["status"]) for item in items} if isinstance(items, list) else {}
                status = {**dict.fromkeys(status, "dropped"), **given}
            case "TaskCreate":
                subject = str(call.given.get("subject"))
                if found := re.search(r"#(\w+)", call.result):
                    named[found[1]] = subject
                status[subject] = "pending"
            case "TaskUpdate":
                subject = named.get(str(call.given.get("taskId")), "")
                status[subject] = str(call.given.get("status") or status.get(subject))
            case "TaskList":
                status |= {subject: state for _, state, subject in _LISTED.findall(call.result)}
    for task, state in status.items():
        if state not in _OPEN and len(text := in_one_line(task)) >= _SHORTEST_TASK:
            yield text
