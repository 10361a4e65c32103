"""The working set of a session, read for a restore: the weightiest of each kind, with scores as of now."""

from __future__ import annotations

from operator import itemgetter

from unified_state.lib.text.decay import score
from unified_state.memory.working_set.rules.sightings import COMMAND, ERROR, FILE, NO_FILE, PROGRAM, REFERENCE
from unified_state.memory.working_set.working_set_table import Entry, read_clock, read_entry, top_entries
from unified_state.model.working_set_entries import RanCommand, WorkingFile, WorkingSet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive

_TOP_FILES, _TOP_COMMANDS, _TOP_PROGRAMS, _TOP_REFERENCES, _TOP_ERRORS = 60, 20, 20, 40, 6
_LEAST_SCORE = 0.02
_BY_LEVEL = itemgetter(1, 0)  # of equals by name: the order of sets must not decide


def read_working_set(archive: Archive, session: int) -> WorkingSet:
    """The top of a session's working set, with scores as of now."""
    clock = read_clock(archive, session)
    loose = read_entry(archive, session, FILE, NO_FILE)
    files = [entry for entry in top_entries(archive, session, FILE, _TOP_FILES) if entry.name != NO_FILE]
    return WorkingSet(
        files=tuple(_file(entry, clock) for entry in files),
        words=_scored(loose.words, clock) if loose else (),
        commands=tuple(_command(entry, clock) for entry in top_entries(archive, session, COMMAND, _TOP_COMMANDS)),
        programs=_names(archive, session, PROGRAM, _TOP_PROGRAMS, clock),
        references=_names(archive, session, REFERENCE, _TOP_REFERENCES, clock),
        errors=_names(archive, session, ERROR, _TOP_ERRORS, clock),
    )


def _names(archive: Archive, session: int, kind: str, limit: int, clock: int) -> tuple[tuple[str, float], ...]:
    return tuple((entry.name, score(entry.level, clock)) for entry in top_entries(archive, session, kind, limit))


def _file(entry: Entry, clock: int) -> WorkingFile:
    hot = entry.details.get("hot")
    return WorkingFile(
        path=entry.name,
        score=score(entry.level, clock),
        hot=0.0 if hot is None else score(hot, clock),
        words=_scored(entry.words, clock),
    )


def _scored(words: dict[str, float], clock: int) -> tuple[tuple[str, float], ...]:
    scored = ((word, score(level, clock)) for word, level in sorted(words.items(), key=_BY_LEVEL, reverse=True))
    return tuple((word, value) for word, value in scored if value >= _LEAST_SCORE)


def _command(entry: Entry, clock: int) -> RanCommand:
    details = entry.details
    return RanCommand(
        command=entry.name,
        score=score(entry.level, clock),
        failed=details.get("failed") is True,
        last=details.get("last"),
        failing=tuple(details.get("failing") or ()),
    )
