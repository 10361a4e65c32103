"""Choose the part of a project's state that fits a subagent's task."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from unified_state.archive.archive import Archive
from unified_state.archive.full_text import count_words, telling_words
from unified_state.archive.steps import KIND_NUMBERS, find_step
from unified_state.ledger.check_validity import read_validities
from unified_state.ledger.item_table import ACTIVE, list_items, newest_items
from unified_state.lib.identifiers import identifiers, mentioned_files
from unified_state.lib.json_text import parse_object
from unified_state.lib.query import CHATTER, STOP_WORDS, words_of
from unified_state.lib.record import Record
from unified_state.lib.text import index_text
from unified_state.model.item import ATTEMPT, CONSTRAINT, DECISION, QUESTION, LedgerItem
from unified_state.model.known import RestoreInput, WorkingFile
from unified_state.model.step import TOOL_CALL, TOOL_RESULT
from unified_state.project.place import Place
from unified_state.restore.compose_restore import known_for_all, read_files
from unified_state.restore.rules.compose import compose
from unified_state.settings import Settings

_MOST_ITEMS, _MOST_FILES, _MOST_WORDS = 16, 6, 16  # words: identifiers of a file
_NAMED = 1_000  # priority of an item that names a file of the task
_SHORTEST_COMMAND = 6  # a shorter one occurs in a text by chance


class Task(Record):
    """A task in comparable form: its text, its words, its file names, its identifiers."""

    text: str
    words: frozenset[str]
    files: frozenset[str]
    identifiers: frozenset[str]


def read_task(text: str) -> Task:
    """Return the comparable form of a task's text."""
    words = frozenset(words_of(text)) - CHATTER - STOP_WORDS
    return Task(text, words, frozenset(map(_name, mentioned_files(text))), frozenset(identifiers(text)))


def fitting_items(task: Task, items: Sequence[LedgerItem], counts: Sequence[Mapping[str, float]]) -> list[LedgerItem]:
    """Return the fitting items in their order. `counts` has the distinctive words of the task in each item."""
    worth = {item.uuid: _worth(task, item, len(found)) for item, found in zip(items, counts, strict=True)}
    fitting = [item.uuid for item in reversed(items) if worth[item.uuid]]  # of equal items the newest
    chosen = set(sorted(fitting, key=worth.__getitem__, reverse=True)[:_MOST_ITEMS])
    return [item for item in items if item.uuid in chosen]


def fitting_files(task: Task, files: Iterable[WorkingFile], items: Iterable[LedgerItem]) -> tuple[WorkingFile, ...]:
    """Return the fitting files, each with its most important identifiers.

    Files that the task or a fitting item names are first, then files with all words of their name in the task, then
    files with one of its identifiers.
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
        elif not task.identifiers.isdisjoint(file.words):
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


_TURNS = 8  # newest turns, also those of subagents, in which calls are looked for
_USUAL_TYPE = "general-purpose"
_LONGEST_TASK = 20_000  # characters
_CALLS = (
    "WITH recent AS (SELECT id FROM turn WHERE session = ? ORDER BY id DESC LIMIT ?) "
    "SELECT called.id, result.id FROM step AS called LEFT JOIN step AS result ON result.turn IN recent "
    "AND result.tool_use_id = called.tool_use_id AND result.kind = ? "
    "WHERE called.turn IN recent AND called.kind = ? AND called.tool IN ('Agent', 'Task') ORDER BY called.id"
)


def open_tasks(
    archive: Archive, session: int, agent_id: str, agent_type: str | None, begun: Collection[str] = ()
) -> list[str]:
    """Return the task of a starting subagent: that of the call whose result names it, as in the background, or else
    those of the calls for its type that have no result. `begun` are the ids of calls whose subagents have begun.
    """
    tasks = []
    for number, result in archive.rows(_CALLS, session, _TURNS, KIND_NUMBERS[TOOL_RESULT], KIND_NUMBERS[TOOL_CALL]):
        call, told = find_step(archive, number), find_step(archive, result or 0)
        given = (parse_object(call.text) if call else None) or {}
        task = f"{given.get('description', '')}\n{given.get('prompt', '')}"[:_LONGEST_TASK]
        if told is not None and agent_id in told.text:
            return [task]
        is_taken = call is not None and call.tool_use_id in begun
        if result is None and not is_taken and agent_type in {None, str(given.get("subagent_type") or _USUAL_TYPE)}:
            tasks.append(task)
    return tasks


_LOOKED_AT = 300  # newest items of each kind that are compared


def task_slice(
    archive: Archive, place: Place, session: int, task: Callable[[], str], settings: Settings, now: int
) -> str:
    """Return the text for a subagent with this task, in about `subagent_tokens`, or "" if nothing fits.

    `task` is called only if the result depends on it.
    """
    constraints = list_items(archive, CONSTRAINT, [ACTIVE])
    kinds = (DECISION, QUESTION, ATTEMPT)
    others = [item for kind in kinds for item in reversed(newest_items(archive, kind, _LOOKED_AT, now))]
    in_work = read_files(archive, session, archive.value("SELECT root FROM session WHERE id = ?", session) or "")
    text = task() if others or in_work else ""
    asked = read_task(text)
    fitting = fitting_items(asked, others, _counts(others, telling_words(archive, text)))
    files = fitting_files(asked, in_work, fitting)
    items = (*constraints, *fitting)
    in_all = known_for_all(settings)
    if not (items or files or in_all.get("global_items")):
        return ""
    known = RestoreInput(
        reason="subagent",
        now=now,
        items=items,
        working_set=files,
        validities=read_validities(archive, place.repository, items),
        **in_all,
    )
    composed = compose(known, settings.subagent_tokens)
    return "\n".join(filter(None, (composed.brief, composed.working_set)))


def _counts(items: Sequence[LedgerItem], words: Sequence[str]) -> list[dict[str, float]]:
    texts = [" ".join(value for value in item.body.values() if isinstance(value, str)) for item in items]
    return count_words(list(map(index_text, texts)), words) if words and items else [{} for _ in items]
