"""What of the recorded items and of the files in work fits a task, by its words and by the files that it names.

In doubt something fits: a subagent reads a line too much without harm, and the budget bounds them all. Only a failed
attempt, which is long, fits by nothing but a file or a command.
"""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.lib.words.identifiers import identifiers, mentioned_files
from unified_state.lib.words.query import CHATTER, STOP_WORDS, words_of
from unified_state.model.item import ATTEMPT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from unified_state.model.item import LedgerItem
    from unified_state.model.working_set_entries import WorkingFile

_MOST_ITEMS, _MOST_FILES, _MOST_WORDS = 16, 6, 16  # words: identifiers of a file
_NAMED = 1_000  # an item that speaks of a file of the task goes before all others
_SHORTEST_COMMAND = 6  # characters; a shorter one stands in a text by chance


class Task(Record):
    """A task as it is compared: its text, the words in it, the names of files, the identifiers."""

    text: str
    words: frozenset[str]
    files: frozenset[str]
    identifiers: frozenset[str]


def read_task(text: str) -> Task:
    """The task of a text."""
    words = frozenset(words_of(text)) - CHATTER - STOP_WORDS
    return Task(text, words, frozenset(map(_name, mentioned_files(text))), frozenset(identifiers(text)))


def fitting_items(task: Task, items: Sequence[LedgerItem], counts: Sequence[Mapping[str, float]]) -> list[LedgerItem]:
    """The items that fit, in their order; `counts` are the telling words that each of them has."""
    worth = {item.uuid: _worth(task, item, len(found)) for item, found in zip(items, counts, strict=True)}
    fitting = [item.uuid for item in reversed(items) if worth[item.uuid]]  # of equals the newest
    chosen = set(sorted(fitting, key=worth.__getitem__, reverse=True)[:_MOST_ITEMS])
    return [item for item in items if item.uuid in chosen]


def fitting_files(task: Task, files: Iterable[WorkingFile], items: Iterable[LedgerItem]) -> tuple[WorkingFile, ...]:
    """The files that fit, each with its weightiest identifiers: first those that the task or an item of it names, then
    those of whose name it has all words, then those with an identifier of it.
    """
    named = task.files.union(_name(path) for item in items for path in item.files)
    found: tuple[list[WorkingFile], ...] = ([], [], [])
    for file in files:
        name = _name(file.path)
        stem = frozenset(words_of(name.partition(".")[0]))
        if name in named:
            found[0].append(file)
        elif stem and stem <= task.words:
            found[1].append(file)
        elif any(word in task.identifiers for word, _ in file.words):
            found[2].append(file)
    best = [file for rank in found for file in rank][:_MOST_FILES]
    return tuple(file.replace(words=file.words[:_MOST_WORDS]) for file in best)


def _worth(task: Task, item: LedgerItem, words: int) -> int:
    if not task.files.isdisjoint(map(_name, item.files)):
        return _NAMED + words
    if item.kind != ATTEMPT:
        return words
    command = item.body.get("command") or ""
    return words if len(command) >= _SHORTEST_COMMAND and command in task.text else 0


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]
