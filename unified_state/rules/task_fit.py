"""What of the recorded items and of the files in work fits a task, by its words and by the files that it names.

In doubt something fits: a subagent reads a line too much without harm, and the budget bounds them all.
"""

from __future__ import annotations

from math import log

from unified_state.records.record import Record
from unified_state.rules.mentions import mentioned_files
from unified_state.rules.querying import CHATTER, query_words, words_of
from unified_state.rules.vocabulary import identifiers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from unified_state.records.item import LedgerItem
    from unified_state.records.working_set import WorkingFile

_MOST_ITEMS, _MOST_FILES = 16, 8
_NAMED = 100.0  # an item that speaks of a file of the task goes before all others
_FEW, _COMMON = 2, 0.25  # items, and the share of all items, that may have a word which tells something


class Task(Record):
    """A task as it is compared: its telling words, the names of the files in it, its identifiers."""

    words: tuple[str, ...]
    files: frozenset[str]
    identifiers: frozenset[str]


def read_task(text: str) -> Task:
    """The task of a text."""
    return Task(
        words=tuple(word for word in query_words(text) if word not in CHATTER),
        files=frozenset(map(_name, mentioned_files(text))),
        identifiers=frozenset(identifiers(text)),
    )


def fitting_items(task: Task, items: Sequence[LedgerItem], counts: Sequence[Mapping[str, float]]) -> list[LedgerItem]:
    """The items that fit, the oldest first; `counts` are the words of the task that each of them has."""
    having = {word: sum(word in found for found in counts) for word in task.words}
    telling = {word for word, number in having.items() if number <= max(_FEW, len(items) * _COMMON)}
    worth = {
        item.uuid: sum(log(1 + len(items) / having[word]) for word in found if word in telling)
        + (_NAMED if not task.files.isdisjoint(map(_name, item.files)) else 0.0)
        for item, found in zip(items, counts, strict=True)
    }
    best = sorted((item.uuid for item in items if worth[item.uuid]), key=worth.__getitem__, reverse=True)
    chosen = set(best[:_MOST_ITEMS])
    return [item for item in items if item.uuid in chosen]


def fitting_files(task: Task, files: Iterable[WorkingFile], items: Iterable[LedgerItem]) -> tuple[WorkingFile, ...]:
    """The files that the task names, by name, by the words of their name or by an identifier in them, and those that
    its items speak of; the weightiest first.
    """
    named = task.files.union(_name(path) for item in items for path in item.files)
    words = set(task.words)
    found = [file for file in files if _name(file.path) in named or _is_meant(file, words, task.identifiers)]
    return tuple(found[:_MOST_FILES])


def _is_meant(file: WorkingFile, words: set[str], named: frozenset[str]) -> bool:
    stem = set(words_of(_name(file.path).partition(".")[0]))
    return (bool(stem) and stem <= words) or any(word in named for word, _ in file.words)


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]
