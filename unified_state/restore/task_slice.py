"""The slice of a project's state that fits a task: all constraints, and of the decisions, questions and failed attempts
those that the task is about, with the files in work that it names. Read from the ledger, never from a state file.
"""

from __future__ import annotations

from unified_state.lib.words.index_text import index_text
from unified_state.memory.archive.full_text import count_words
from unified_state.memory.ledger.check_validity import with_validities
from unified_state.memory.ledger.item_table import ACTIVE, list_items, newest_items
from unified_state.memory.working_set.working_set_table import read_working_set
from unified_state.model.item import ATTEMPT, CONSTRAINT, DECISION, QUESTION
from unified_state.model.known import Known
from unified_state.model.working_set_entries import WorkingSet
from unified_state.restore.rules.compose import compose
from unified_state.restore.rules.task_fit import fitting_files, fitting_items, read_task
from unified_state.search.salient_words import telling_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.repository.place import Place
    from unified_state.model.item import LedgerItem

_MOST_ITEMS = 300  # of a kind, the newest, that are looked at


def task_slice(archive: Archive, place: Place, session: int, task: Callable[[], str], tokens: int, now: int) -> str:
    """The text for whoever does the task, in about so many tokens; empty where nothing fits. The task is asked for only
    where something depends on it.
    """
    constraints = list_items(archive, CONSTRAINT, [ACTIVE])
    others = [item for kind in (DECISION, QUESTION, ATTEMPT) for item in _newest(archive, kind)]
    in_work = read_working_set(archive, session).files
    text = task() if others or in_work else ""
    asked = read_task(text)
    fitting = fitting_items(asked, others, _counts(others, telling_words(archive, text)))
    files = fitting_files(asked, in_work, fitting)
    items = (*constraints, *fitting)
    if not (items or files):
        return ""
    known = Known(reason="subagent", now=now, items=items, working_set=WorkingSet(files=files) if files else None)
    composed = compose(with_validities(archive, place.repository, known, items), tokens)
    return "\n".join(filter(None, (composed.brief, composed.working_set)))


def _newest(archive: Archive, kind: str) -> list[LedgerItem]:
    """The newest items of a kind, the oldest of them first."""
    return newest_items(archive, kind, _MOST_ITEMS)[::-1]


def _counts(items: Sequence[LedgerItem], words: Sequence[str]) -> list[dict[str, float]]:
    texts = [" ".join(value for value in item.body.values() if isinstance(value, str)) for item in items]
    return count_words(list(map(index_text, texts)), words) if words and items else [{} for _ in items]
