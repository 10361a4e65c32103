"""The loop alarm: files that a session read again after each of the last two compactions, although it changed none.

A restore names such a file once in a session, with what was recorded and said about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from zlib import crc32

from unified_state.constraints.told_once import claim
from unified_state.lib.identifiers import stands_in
from unified_state.lib.text import cut
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.compactions import compactions_of
from unified_state.memory.archive.sessions import session_id_of
from unified_state.memory.archive.steps import tool_calls_between
from unified_state.memory.ledger.rules.item_lines import harmless, item_line
from unified_state.memory.repository.place import Place
from unified_state.model.known import Known
from unified_state.restore.rules.passages import passages
from unified_state.restore.rules.repeated_reads import repeated_reads

_STRETCHES = 3  # of the session, between compactions: it read a file in the first, and again in the two after it
_FILES, _ITEMS, _PASSAGES = 5, 4, 3
_CHARACTERS = 240
_TEXTS = 60  # newest texts that are searched for passages


def read_again(archive: Archive, place: Place, session: int, known: Known) -> tuple[str, ...]:
    """Return the files that were read again and again, and the lines about them, or nothing. They are recorded as
    told.
    """
    files = _read_in_each(archive, session)
    session_id = session_id_of(archive, session) or ""
    marks = {f"F{crc32(path.encode('utf-8', 'replace')):08x}": path for path in files}
    try:
        told = [marks[mark] for mark in claim(place.folder, session_id, "", list(marks)[:_FILES])] if marks else []
    except OSError:  # nothing can be recorded, so it would be told again and again
        told = []
    return tuple(_lines(told, known)) if told else ()


def _read_in_each(archive: Archive, session: int) -> list[str]:
    """Return the files that were read in each of the last stretches, and changed in none, the last read first."""
    ends = [compaction.last_step or 0 for compaction in compactions_of(archive, session, _STRETCHES + 1)]
    if len(ends) < _STRETCHES:
        return []
    begins = [*ends[1:], 0][:_STRETCHES]
    stretches = [tool_calls_between(archive, session, begin, end) for begin, end in zip(begins, ends, strict=False)]
    return repeated_reads(stretches, archive.value("SELECT root FROM session WHERE id = ?", session) or "")


def _lines(files: Sequence[str], known: Known) -> Iterator[str]:
    yield ", ".join(harmless(path) for path in files)
    names = {path.rsplit("/", 1)[-1] for path in files}
    about = [item for item in known.items if not names.isdisjoint(path.rsplit("/", 1)[-1] for path in item.files)]
    texts = (said.text for said in known.recent.texts[:_TEXTS])
    found = [passage for text in texts for passage in passages(text) if any(stands_in(name, passage) for name in names)]
    learnt = [item_line(item, _CHARACTERS) for item in about[: -_ITEMS - 1 : -1]]
    learnt += [cut(harmless(passage), _CHARACTERS) for passage in found[:_PASSAGES]]
    yield from learnt
    if not learnt:
        yield "nothing about them is recorded: record what you find, for example with `unified-state evidence add`"
