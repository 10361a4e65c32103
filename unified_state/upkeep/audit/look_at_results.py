"""Results of tests that are older than the last edit of what they tested."""

from __future__ import annotations

from unified_state.agents.transcripts.rules.call_effects import read_call
from unified_state.capture.rules.failed_calls import is_failed_check
from unified_state.lib.identifiers import relative_path
from unified_state.lib.record import Record
from unified_state.lib.times import to_milliseconds
from unified_state.memory.archive.steps import calls_that_went_well, find_step
from unified_state.memory.ledger.item_table import ACTIVE
from unified_state.model.item import EVIDENCE
from unified_state.upkeep.audit.rules.mend import STALE_RESULT, Finding, end_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.item import LedgerItem

_EDITING = ("Edit", "MultiEdit", "Write", "NotebookEdit", "apply_patch")
_MOST_EDITS = 2_000  # the newest
_RESULTS = ("error", "output", "command")
_SHELLS = ("Bash: ", "exec_command: ", "shell: ")
_NO_CODE = (".md", ".txt", ".rst", ".json", ".lock", ".csv", ".log")
_SHOWN = 60  # characters of a command


class Edited(Record):
    """The last edit of a file: when, and in which turn."""

    path: str
    at: int
    turn: int


def stale_results(archive: Archive, items: Sequence[LedgerItem]) -> Iterator[Finding]:
    """Yield the results of checks that were edited after.

    A result is about the files that it names, else about the paths of its command, else about all code.
    """
    results = [(item, command) for item in items if item.status == ACTIVE and (command := _check_of(item))]
    if not results:
        return
    edits = _last_edits(archive)
    for item, command in results:
        at = to_milliseconds(item.created_at) or 0
        newer = [edit for edit in edits if edit.at > at and _is_tested(edit.path, item, command)]
        if newer:
            last = newer[0]
            shown = command if len(command) <= _SHOWN else f"{command[:_SHOWN]}…"
            why = f"`{shown}` ran before the last edit of {last.path} (T{last.turn})"
            yield Finding(STALE_RESULT, item.alias, why, end_command(item))


def _check_of(item: LedgerItem) -> str:
    """Return the command of a check whose result an item is, or ""."""
    if item.kind != EVIDENCE or item.body.get("type") not in _RESULTS:
        return ""
    source = str(item.body.get("source") or "")
    for shell in _SHELLS:
        source = source.removeprefix(shell)
    return source if is_failed_check(source, str(item.body.get("content") or "")) else ""


def _is_tested(path: str, item: LedgerItem, command: str) -> bool:
    if path.endswith(_NO_CODE):
        return False
    if item.files:
        return any(path == name or path.endswith(f"/{name}") for name in item.files)
    folders = [part for word in command.split() if (part := _folder(word))]
    return not folders or any(path.startswith(folder) for folder in folders)


def _folder(word: str) -> str:
    """Return the beginning of the paths that an argument of a check names, or "" if it names none."""
    if "/" not in word or word.startswith(("-", "/", "~", "http")) or "=" in word:
        return ""
    return word.removeprefix("./").partition("::")[0].removesuffix("...")


def _last_edits(archive: Archive) -> list[Edited]:
    """Return the last edit of each file, the newest first. Edits that failed do not count."""
    found: dict[str, Edited] = {}
    for number, at, turn, root in calls_that_went_well(archive, _EDITING, _MOST_EDITS):
        step = find_step(archive, number)
        for change in read_call(step).changes if step is not None else ():
            path = relative_path(change.path, root or "")
            if path not in found or found[path].at < at:
                found[path] = Edited(path, at, turn)
    return sorted(found.values(), key=lambda edit: edit.at, reverse=True)
