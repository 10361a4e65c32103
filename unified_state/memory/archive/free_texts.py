"""The texts of the archive that are neither steps nor items: notes, work, summaries, what was given back, git states.

One table says where they lie, so that whoever looks for a secret, or for what is to be forgotten, looks everywhere.
"""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.lib.text import pack, unpack
from unified_state.lib.times import to_text
from unified_state.memory.archive.compactions import FORGOTTEN
from unified_state.memory.archive.steps import step_numbers
from unified_state.model.history_records import COMPACTION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.memory.archive.archive import Archive


class _Column(Record):
    """Where texts lie; the row's name for people, as SQL; the statement that takes a text away for good."""

    table: str
    key: str
    text: str
    name: str
    forget: str
    is_packed: bool = False
    is_json: bool = False


class FreeText(Record):
    """One text and where it lies: the ref of its compaction, or what else it is called."""

    column: _Column
    key: Any
    name: str
    text: str

    @property
    def is_json(self) -> bool:
        """Whether the text is JSON, and has to stay so."""
        return self.column.is_json

    @property
    def record(self) -> tuple[str, str] | None:
        """The record of history that it is a part of, if it is one of those that stores tell each other."""
        if self.is_summary:
            return COMPACTION, str(self.key)
        what, _, key = str(self.key).partition(" ")
        return (what, key) if self.column.table == "carried" else None

    @property
    def is_summary(self) -> bool:
        """Whether it is the client's summary of a compaction."""
        return self.column is _SUMMARY


_SUMMARY = _Column(
    "compaction", "id", "summary", "'K' || id", f"UPDATE compaction SET summary = '{FORGOTTEN}'", is_packed=True
)
_COLUMNS = (
    _SUMMARY,
    _Column("note", "id", "text", "'note ' || id", "DELETE FROM note"),
    _Column("session", "id", "end_reason", "'session ' || session_id", "UPDATE session SET end_reason = NULL"),
    _Column("session", "id", "work", "'session ' || session_id", "UPDATE session SET work = NULL", is_json=True),
    _Column(
        "restore", "nonce", "body", "'restore ' || nonce", f"UPDATE restore SET body = '{FORGOTTEN}'", is_packed=True
    ),
    _Column(
        "carried",
        "what || ' ' || key",
        "fields",
        "'what came with ' || what || ' ' || key",
        "DELETE FROM carried",
        is_packed=True,
        is_json=True,
    ),
    _Column("saved", "state_path", "git", "'git in ' || state_path", "UPDATE saved SET git = '{}'", is_json=True),
)


def free_texts(archive: Archive) -> list[FreeText]:
    """All of them."""
    return [
        FreeText(column, key, name, unpack(text))
        for column in _COLUMNS
        for key, name, text in archive.rows(
            f"SELECT {column.key}, {column.name}, {column.text} FROM {column.table} WHERE {column.text} NOT NULL"
        )
    ]


def replace_free_text(archive: Archive, found: FreeText, text: str) -> None:
    """Put another text in its place."""
    column = found.column
    archive.run(
        f"UPDATE {column.table} SET {column.text} = ? WHERE {column.key} = ?",
        pack(text) if column.is_packed else text,
        found.key,
    )


def forget_free_text(archive: Archive, found: FreeText) -> None:
    """Take it away for good."""
    archive.run(f"{found.column.forget} WHERE {found.column.key} = ?", found.key)


def forget_texts_of_session(archive: Archive, session: int, at: int) -> None:
    """Take away what is known of a session up to then, beside its steps and summaries; what it said up to then is not
    archived again.
    """
    archive.run("UPDATE session SET forgotten_at = max(coalesce(forgotten_at, 0), ?) WHERE id = ?", at, session)
    times = (archive.row("SELECT at FROM step WHERE id = ?", number)[0] for number in step_numbers(archive, session))
    if not any(time > at for time in times):  # else the work may have been told since
        archive.run("UPDATE session SET work = NULL WHERE id = ?", session)
    archive.run("DELETE FROM note WHERE session = ? AND at <= ?", session, to_text(at))
    archive.run("DELETE FROM restore WHERE session = ? AND at <= ?", session, at)
    archive.run("DELETE FROM carried WHERE what = 'session' AND key = ?", session)
