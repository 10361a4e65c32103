"""The columns of the archive that hold the user's text, and the statements that delete or replace that text.

`forget`, `prune`, `scan --fix` and tombstones all use the one table below, so a new column is entered once, here. A
test fails until it is. Foreign keys cannot do this: a forgotten step keeps its row without content, so that neither its
transcript entry nor its ref comes back, and SQLite cannot add ON DELETE CASCADE without rebuilding a table.

A deleted step also leaves the index of words, which is merged for that in small transactions.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.steps import DATA_URL, STEP_COLUMNS, add_to_index, take_from_index
from unified_state.lib.record import Record
from unified_state.lib.text import pack, unpack
from unified_state.model.history_records import COMPACTION, ITEM, SESSION, STEP
from unified_state.model.step import KINDS, Step

FORGOTTEN = "[forgotten]"  # replaces a summary, so that its transcript cannot restore it


class TextColumns(Record):
    """Columns of a table, and the deletion of their text.

    `owners` maps each kind of owner to the SQL condition on a row, in which ?1 is the owner's key. If the owner is
    forgotten, the rows are deleted, or `left` is assigned if it is not empty. Forgetting a session spares rows whose
    time `at` is later. Rows with a `label` are also found, replaced and forgotten one by one by their `key`: `forget
    --text` and `scan` read their first column, and label and key form their name.
    """

    table: str
    columns: tuple[str, ...]
    owners: dict[str, str]
    left: str = ""
    at: str = "0"
    label: str = ""
    key: str = ""
    is_packed: bool = False
    is_json: bool = False

    def forget(self, condition: str) -> str:
        """Return the SQL statement that deletes the text of the rows that meet a condition."""
        change = f"UPDATE {self.table} SET {self.left}" if self.left else f"DELETE FROM {self.table}"
        return f"{change} WHERE {condition}"


# Of a forgotten step only its name and its time stay.
_STEP_TEXTS = [name for name in STEP_COLUMNS.split(", ") if name not in {"uuid", "block", "at", "kind", "is_error"}]
_NO_STEP = ", ".join(f"{name} = NULL" for name in ("kind", "is_error", *_STEP_TEXTS))
_NO_SUMMARY, _NO_BODY = f"summary = '{FORGOTTEN}'", f"body = '{FORGOTTEN}'"
_NEWEST_STEP = (  # the work of a session may come from any of its steps
    "max((SELECT coalesce(max(step.at), 0) FROM turn JOIN step ON step.turn = turn.id "
    "WHERE turn.session = session.id AND kind NOT NULL), (SELECT coalesce(max(step.at), 0) FROM step_copy "
    "JOIN step ON step.id = step_copy.step WHERE step_copy.session = session.id AND kind NOT NULL))"
)
_NOTE_AT = "1000 * strftime('%s', at) + substr(at, 21, 3)"
_SAME_RECORD = {what: f"what = '{what}' AND key = ?1" for what in (STEP, ITEM, COMPACTION, SESSION)}
SUMMARIES = TextColumns(
    "compaction", ("summary",), {COMPACTION: "id = ?1"}, _NO_SUMMARY, "0", "K", "id", is_packed=True
)
TEXT_COLUMNS = (
    TextColumns("step", tuple(_STEP_TEXTS), {STEP: "id = ?1"}, _NO_STEP),
    TextColumns("vector", ("embedding",), {STEP: "step = ?1"}),
    TextColumns("access", (), {STEP: "step = ?1"}),
    SUMMARIES,
    TextColumns("note", ("text", "key"), {SESSION: "session = ?1"}, at=_NOTE_AT, label="note ", key="id"),
    TextColumns("session", ("end_reason",), {}, "end_reason = NULL", label="session ", key="session_id"),
    TextColumns(
        "session", ("work",), {SESSION: "id = ?1"}, "work = NULL", _NEWEST_STEP, "session ", "session_id", is_json=True
    ),
    TextColumns("restore", ("body",), {SESSION: "session = ?1"}, at="at"),
    TextColumns("restore", ("body",), {}, _NO_BODY, label="restore ", key="nonce", is_packed=True),
    TextColumns("carried", ("fields",), _SAME_RECORD),
    TextColumns("saved", ("git",), {}, "git = '{}'", label="git in ", key="state_path", is_json=True),
    TextColumns("failing", ("root", "tool", "call"), {ITEM: "item = ?1"}),
    TextColumns("item_link", (), {ITEM: "(from_uuid = ?1 OR to_uuid = ?1)"}),
    TextColumns("item_alias", (), {ITEM: "uuid = ?1"}),
    TextColumns("item", ("body", "files", "file_hashes", "branch", "quote", "quote_hash"), {ITEM: "uuid = ?1"}),
)


def forget_texts(archive: Archive, what: str, key: int | str, until: int | None = None) -> None:
    """Delete all text that belongs to a step, an item, a compaction or a session (up to a time)."""
    for texts in TEXT_COLUMNS:
        if what in texts.owners:
            archive.run(texts.forget(f"{texts.owners[what]} AND (?2 IS NULL OR {texts.at} <= ?2)"), key, until)


def forget_session_texts(archive: Archive, session: int, at: int) -> None:
    """Delete the text of a session up to a time, except its steps and summaries.

    Its steps from before that time are not archived again.
    """
    archive.run("UPDATE session SET forgotten_at = max(coalesce(forgotten_at, 0), ?) WHERE id = ?", at, session)
    forget_texts(archive, SESSION, session, at)


def forget_restores(archive: Archive, since: int) -> None:
    """Delete the texts restored to sessions since a time, because they may quote anything archived by then."""
    archive.run("UPDATE restore SET body = ? WHERE at >= ?", FORGOTTEN, since)


def forget_step(archive: Archive, number: int) -> None:
    """Delete the content of a step from the archive and its index."""
    row = archive.row("SELECT kind, tool, body FROM step WHERE id = ? AND kind NOT NULL", number)
    if row is not None:
        kind, tool, body = row
        step = Step(uuid="", block=0, kind=KINDS[kind], at=0, text=unpack(body), tool=tool)
        take_from_index(archive, number, step)
        note_rewrite(archive)
        forget_texts(archive, STEP, number)


def replace_text(archive: Archive, number: int, step: Step, text: str) -> None:
    """Replace the text of a step in the archive and in its index. A vector of the old text is deleted."""
    take_from_index(archive, number, step)
    if not step.text.startswith(DATA_URL):
        add_to_index(archive, number, step.replace(text=text))
    archive.run("UPDATE step SET body = ? WHERE id = ?", pack(text), number)
    archive.run("DELETE FROM vector WHERE step = ?", number)


class FreeText(Record):
    """A text that is neither a step nor an item, such as a note, a summary or a session's work. `name` is for
    display.
    """

    of: TextColumns
    key: Any
    name: str
    text: str

    @property
    def is_summary(self) -> bool:
        """True if the text is the client's summary of a compaction."""
        return self.of is SUMMARIES


def free_texts(archive: Archive) -> list[FreeText]:
    """Return all texts that are neither steps nor items."""
    found = []
    for texts in filter(lambda texts: texts.label, TEXT_COLUMNS):
        column = texts.columns[0]
        for key, text in archive.rows(f"SELECT {texts.key}, {column} FROM {texts.table} WHERE {column} NOT NULL"):
            found.append(FreeText(texts, key, f"{texts.label}{key}", unpack(text)))
    return found


def replace_free_text(archive: Archive, found: FreeText, text: str) -> None:
    """Replace a free text."""
    replace = f"UPDATE {found.of.table} SET {found.of.columns[0]} = ? WHERE {found.of.key} = ?"
    archive.run(replace, pack(text) if found.of.is_packed else text, found.key)


def forget_free_text(archive: Archive, found: FreeText) -> None:
    """Delete a free text."""
    archive.run(found.of.forget(f"{found.of.key} = ?"), found.key)


# FTS5 only marks the words of a deleted step, and drops them when it merges the segments that hold them. The archive
# notes that a merge is due, and that it has begun. After a kill the next process goes on where the last one ended.
# (FTS5 can drop words at once since SQLite 3.42. But then no older SQLite can open the index any more.)
_REST = 0.02  # seconds between two transactions: SQLite looks for a lock from time to time
_REWRITE = "words_rewrite"  # name in `meta`
_DUE, _BEGUN = "due", "begun"
_PAGES = 256  # of the index, merged in one transaction
_NOTHING_MERGED = 1  # change that the statement itself counts


def in_small_steps(work: Callable[[], bool]) -> None:
    """Call work(), which runs one transaction, until it returns False, with a rest in which others get the lock."""
    while work():
        time.sleep(_REST)


def note_rewrite(archive: Archive) -> None:
    """Note that the index still has words of a deleted step. Call it in the transaction that deletes it."""
    archive.set_meta(_REWRITE, _DUE)


def rewrite_index(archive: Archive) -> None:
    """Merge the index until no segment is left that has words of deleted steps."""
    in_small_steps(lambda: _merge_some(archive))


def _merge_some(archive: Archive) -> bool:
    """Merge some pages. Return False if nothing is left to do."""
    with archive.transaction(durable=False):
        state = archive.meta(_REWRITE)
        if state is None:
            return False
        before = archive.connection.total_changes
        # a negative number makes all segments of now the input of one merge
        merge = "INSERT INTO step_words (step_words, rank) VALUES ('merge', ?)"
        archive.run(merge, -_PAGES if state == _DUE else _PAGES)
        if state == _DUE:
            archive.set_meta(_REWRITE, _BEGUN)
        elif archive.connection.total_changes - before <= _NOTHING_MERGED:
            archive.run("DELETE FROM meta WHERE name = ?", _REWRITE)
            return False
    return True
