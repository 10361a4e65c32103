"""What a project without SQLite keeps beside its history: how far transcripts are read, messages they may never hold,
what sessions work on, notes, and when the state was saved.

One small file, written whole; it lies in the folder of the history and goes with it.
"""

from __future__ import annotations

from unified_state.interpreter import dump_json, parse_json
from unified_state.storage.atomic_file import write_atomically, write_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from unified_state.storage.tiers.json_files import LineFiles

DESK = "desk.json"
CURSORS, PENDING, WORK, NOTES, SAVED, SUMMARIES = "cursors", "pending", "work", "notes", "saved", "summaries"
_SURROGATES = "surrogatepass"


class Desk:
    """The file of one project; its parts are plain JSON:

    `cursors` by the transcript's path: session_id, agent, offset, inode; `pending` messages: session_id, kind, text,
    at; `work` by session: work_item, branch, commit, worktree, pid, seen_at, ended; `notes`: session_id, kind, text,
    at, done_at; `saved` by the state file's path: at, trigger, git; `summaries` by session: what a hook was told.
    """

    def __init__(self, files: LineFiles) -> None:
        self._files = files

    def read(self) -> dict[str, Any]:
        """What the file holds; each part is there, and all in it has its form."""
        content = self._files.read(DESK)
        try:
            found = parse_json(content.decode("utf-8", _SURROGATES)) if content else {}
        except ValueError:
            found = {}  # the disk changed it: cursors are found again, and the history is in other files
        told = found if isinstance(found, dict) else {}
        return {**told, **{name: _part(told.get(name), *form) for name, form in _FORMS.items()}}

    def change(self, change: Callable[[dict[str, Any]], None], *, durable: bool = True) -> None:
        """Change what the file holds. What can be found out again need not wait for the disk."""
        with self._files:
            content = self.read()
            before = dump_json(content)
            change(content)
            after = dump_json(content)
            if after != before:
                self._files.ensure()
                write = write_atomically if durable else write_note
                write(self._files.path(DESK), after.encode("utf-8", _SURROGATES))


def _part(told: object, kind: type, is_whole: Callable[[object], bool]) -> Any:
    """A part, without what the disk or an editor has changed."""
    if kind is dict and isinstance(told, dict):
        return {name: one for name, one in told.items() if is_whole(one)}
    if kind is list and isinstance(told, list):
        return [one for one in told if is_whole(one)]
    return kind()


def _is_cursor(one: object) -> bool:
    match one:
        case {"session_id": str(), "agent": None | str(), "offset": int(), "inode": None | int()}:
            return True
    return False


def _is_message(one: object) -> bool:
    match one:
        case [str(), str(), str(), int()]:
            return True
    return False


def _is_work(one: object) -> bool:
    texts = ("worktree", "branch", "commit")
    return (
        isinstance(one, dict)
        and isinstance(one.get("seen_at", 0), int)
        and isinstance(one.get("pid"), int | None)
        and isinstance(one.get("work_item"), dict | None)
        and all(isinstance(one.get(name), str | None) for name in texts)
    )


def _is_note(one: object) -> bool:
    match one:
        case {"kind": str(), "text": str(), "at": str()}:
            return isinstance(one, dict) and isinstance(one.get("session_id"), str | None)
    return False


def _is_save(one: object) -> bool:
    match one:
        case {"at": str(), "trigger": str(), "git": str()}:
            return True
    return False


_FORMS: dict[str, tuple[type, Callable[[object], bool]]] = {
    CURSORS: (dict, _is_cursor),
    PENDING: (list, _is_message),
    WORK: (dict, _is_work),
    NOTES: (list, _is_note),
    SAVED: (dict, _is_save),
    SUMMARIES: (dict, lambda one: isinstance(one, str)),
}
