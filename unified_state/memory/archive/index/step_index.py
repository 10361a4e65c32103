"""The full-text index of steps: the words that it has of each, and which of its two tables has them.

`step_words` has each word of a step once, without places and frequencies: a third of the size of `step_text`, the table
of older steps. An older step stays there until its index is renewed. What was indexed is deleted as it was inserted.
"""

from __future__ import annotations

from unified_state.lib.text import each_word_once, index_text, parts_of_names, without_line_numbers
from unified_state.memory.archive.steps import DATA_URL, find_step, readable
from unified_state.model.step import TOOL_RESULT, Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from unified_state.memory.archive.archive import Archive

_SMALLEST_LONG = 0x80
OLDER, NEWER = "step_text", "step_words"  # the tables
_MOST_SEARCHED = 1 << 20  # characters of a step; far more than a client shows a model
_WITH_PARTS, _WITHOUT_LINE_NUMBERS, _WORDS_ONCE = 1, 2, 4  # forms of a text in the index, which add up
NEWEST = _WITH_PARTS | _WITHOUT_LINE_NUMBERS | _WORDS_ONCE
_FIRST = "first step with words once"
_FORMS = {  # names in `meta`
    "first step with parts": _WITH_PARTS,
    "first step without line numbers": _WITHOUT_LINE_NUMBERS,
    _FIRST: NEWEST,
}


def searchable(step: Step, form: int = 0) -> str:
    """Return the text of a step for the full-text index, which needs several times its size.

    The index of newer steps also has the parts of names of code, and lacks the numbers before the lines of a file.
    """
    text = readable(step)[:_MOST_SEARCHED]
    if form & _WITHOUT_LINE_NUMBERS and step.kind == TOOL_RESULT:
        text = without_line_numbers(text)
    parts = parts_of_names(text) if form & _WITH_PARTS else ""
    indexed = f"{index_text(text)}\n{parts}" if parts else index_text(text)
    return each_word_once(indexed) if form & _WORDS_ONCE else indexed


def table_of(form: int) -> str:
    """Return the table of the steps in a form."""
    return NEWER if form & _WORDS_ONCE else OLDER


def tables(archive: Archive) -> tuple[str, ...]:
    """Return the tables that have steps, that of the newer ones first."""
    first = first_of_newest(archive)
    if first is None:
        return (OLDER,)
    return (NEWER,) if first <= 1 else (NEWER, OLDER)


def index_form(archive: Archive, number: int) -> int:
    """Return the form in which a step is indexed."""
    return form_of(_first_steps(archive), number)


def form_of(first: Mapping[str, int], number: int) -> int:
    """Return the form of a step, given the first steps of the forms."""
    form = 0
    for name, one in _FORMS.items():
        if name in first and number >= first[name]:
            form |= one
    return form


def begin_forms(archive: Archive) -> Mapping[str, int]:
    """Use all forms from the next step on, unless that has begun before. Return the first step of each form."""
    first = _first_steps(archive)
    if len(first) < len(_FORMS):
        is_any = archive.row(f"SELECT 1 FROM {OLDER}_docsize LIMIT 1") is not None
        number = int(archive.row("SELECT coalesce(max(id), 0) + 1 FROM step")[0]) if is_any else 1
        for name in _FORMS:
            if name not in first:
                archive.set_meta(name, str(number))
                first[name] = number
    return first


def first_of_newest(archive: Archive) -> int | None:
    """Return the first step in the newest form; None if no step was archived since there is this form."""
    return _first_steps(archive).get(_FIRST)


def begin_newest_at(archive: Archive, number: int) -> None:
    """Note the first step in the newest form. Call it in the transaction that indexed the steps from there."""
    archive.set_meta(_FIRST, str(number))


def empty_index(archive: Archive) -> None:
    """Delete all of the index. Steps that are indexed from now on have the newest form."""
    for table in (OLDER, NEWER):
        archive.run(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")
    begin_newest_at(archive, 1)


def _first_steps(archive: Archive) -> dict[str, int]:
    names = "', '".join(_FORMS)
    return {name: int(first) for name, first in archive.rows(f"SELECT name, value FROM meta WHERE name IN ('{names}')")}


def add_to_index(archive: Archive, number: int, step: Step, form: int) -> None:
    """Index a step."""
    if not step.text.startswith(DATA_URL):
        archive.execute(f"INSERT INTO {table_of(form)} (rowid, text) VALUES (?, ?)", (number, searchable(step, form)))


def take_from_index(archive: Archive, number: int, step: Step) -> None:
    """Delete a step from the index. The index has no content of its own, and deleting a missing row corrupts it."""
    if not _was_unindexed(archive, number) and not step.text.startswith(DATA_URL):
        form = index_form(archive, number)
        table = table_of(form)
        delete = f"INSERT INTO {table} ({table}, rowid, text) VALUES ('delete', ?, ?)"
        archive.run(delete, number, searchable(step, form))


def index_later(archive: Archive, number: int) -> None:
    """Queue a new step for the full-text index."""
    archive.run("INSERT INTO unindexed VALUES (?)", number)


def is_any_unindexed(archive: Archive) -> bool:
    """Return whether the index lacks the text of any step."""
    return archive.row("SELECT 1 FROM unindexed LIMIT 1") is not None


def index_left(archive: Archive, most: int = -1) -> None:
    """Index the queued steps, at most the `most` newest ones. Call it in a transaction."""
    newest = "SELECT step FROM (SELECT step FROM unindexed ORDER BY step DESC LIMIT ?) ORDER BY step"
    numbers = archive.column(newest, most)
    first = begin_forms(archive) if numbers else {}
    for number in numbers:
        step = find_step(archive, number)
        if step is not None:
            add_to_index(archive, number, step, form_of(first, number))
        archive.run("DELETE FROM unindexed WHERE step = ?", number)


def _was_unindexed(archive: Archive, number: int) -> bool:
    """Remove a step from the queue, and return whether the index lacked its text."""
    return archive.run("DELETE FROM unindexed WHERE step = ?", number) > 0


def numbers_of(block: bytes) -> Iterator[int]:
    """Yield the numbers of a record of FTS5: seven bits a byte, the highest first, and a high bit but in the last."""
    number = 0
    for byte in block:
        number = number << 7 | byte & (_SMALLEST_LONG - 1)
        if byte < _SMALLEST_LONG:
            yield number
            number = 0
