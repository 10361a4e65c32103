"""The working set of a session: kept step by step as steps are archived, and read for a restore.

A step costs a bounded amount of work, whatever the session has seen before: it looks at a bounded part of its text, and
each row that it touches holds a bounded number of identifiers.
"""

from __future__ import annotations

from operator import itemgetter

from unified_state.records.step import PROMPT, TEXT, TOOL_CALL, TOOL_RESULT
from unified_state.records.working_set import RanCommand, WorkingFile, WorkingSet
from unified_state.rules.lrfu import raised, score
from unified_state.rules.sightings import COMMAND, ERROR, FILE, NO_FILE, REFERENCE, read_call, sightings
from unified_state.storage.steps import call_of_result, find_step, sessions_of_step, step_numbers
from unified_state.storage.working_set import (
    Entry,
    clear_working_set,
    move_clock,
    read_clock,
    read_entry,
    top_entries,
    write_entry,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from unified_state.records.step import Step
    from unified_state.rules.sightings import Call, Sighting
    from unified_state.storage.archive import Archive

_MOST_WORDS, _MOST_LOOSE_WORDS = 250, 500  # identifiers that a row keeps
_TOP_FILES, _TOP_COMMANDS, _TOP_REFERENCES, _TOP_ERRORS = 60, 20, 40, 6
_LEAST_SCORE = 0.02
_BY_LEVEL = itemgetter(1, 0)  # of equals by name: the order of sets must not decide


class WorkingSetKeeper:
    """Takes in the steps of one session, within one transaction; `flush` writes what changed."""

    def __init__(self, archive: Archive, session: int) -> None:
        self._archive = archive
        self._session = session
        (self._root,) = archive.row("SELECT root FROM session WHERE id = ?", session)
        self._clock = read_clock(archive, session)
        self._calls: dict[str, Call] = {}
        self._entries: dict[tuple[str, str], Entry] = {}
        self._changed: set[tuple[str, str]] = set()

    def note(self, step: Step) -> None:
        """Take in one step. Of a subagent's only what it did counts, not what it read or said."""
        call = self._call_of(step)
        if step.agent is not None and step.kind != TOOL_CALL:
            return
        if step.kind in {TEXT, TOOL_CALL, PROMPT}:
            self._clock += 1
        for sighting in sightings(step, call, self._root or ""):
            self._see(sighting)

    def flush(self) -> None:
        """Write what changed."""
        for kind, name in self._changed:
            write_entry(self._archive, self._session, kind, self._entries[kind, name])
        move_clock(self._archive, self._session, self._clock)
        self._changed.clear()

    def _call_of(self, step: Step) -> Call | None:
        """The tool call that a step is or answers."""
        if step.kind == TOOL_CALL:
            call = read_call(step)
            if step.tool_use_id:
                self._calls[step.tool_use_id] = call
            return call
        if step.kind != TOOL_RESULT or not step.tool_use_id:
            return None
        if step.tool_use_id in self._calls:
            return self._calls.pop(step.tool_use_id)
        earlier = call_of_result(self._archive, self._session, step.tool_use_id)
        return None if earlier is None else read_call(earlier)

    def _see(self, sighting: Sighting) -> None:
        key = (sighting.kind, sighting.name)
        entry = self._entries.get(key) or read_entry(self._archive, self._session, *key)
        words = entry.words if entry else {}
        first = raised(None, sighting.weight, self._clock)
        for word in sighting.words:
            words[word] = raised(words[word], sighting.weight, self._clock) if word in words else first
        most = _MOST_WORDS if sighting.name != NO_FILE else _MOST_LOOSE_WORDS
        if len(words) > most * 1.25:
            words = dict(sorted(words.items(), key=_BY_LEVEL, reverse=True)[:most])
        details = {**entry.details, **sighting.details} if entry else dict(sighting.details)
        if sighting.heat:
            details["hot"] = raised(details.get("hot"), sighting.heat, self._clock)
        level = raised(entry.level if entry else None, sighting.weight, self._clock)
        self._entries[key] = Entry(sighting.name, level, words, details)
        self._changed.add(key)


def read_working_set(archive: Archive, session: int) -> WorkingSet:
    """The top of a session's working set, with scores as of now."""
    clock = read_clock(archive, session)
    loose = read_entry(archive, session, FILE, NO_FILE)
    files = [entry for entry in top_entries(archive, session, FILE, _TOP_FILES) if entry.name != NO_FILE]
    return WorkingSet(
        files=tuple(_file(entry, clock) for entry in files),
        words=_scored(loose.words, clock) if loose else (),
        commands=tuple(_command(entry, clock) for entry in top_entries(archive, session, COMMAND, _TOP_COMMANDS)),
        references=_names(archive, session, REFERENCE, _TOP_REFERENCES, clock),
        errors=_names(archive, session, ERROR, _TOP_ERRORS, clock),
    )


def empty_working_sets(archive: Archive, steps: Iterable[int]) -> set[int]:
    """Empty the working sets to which some steps belong, within the transaction in which those are forgotten or
    masked; the sessions whose sets have to be made anew.
    """
    sessions = {session for step in steps for session in sessions_of_step(archive, step)}
    for session in sessions:
        clear_working_set(archive, session)
    return sessions


def rebuild_working_sets(archive: Archive, sessions: Iterable[int]) -> None:
    """Make the working sets of some sessions anew from the steps that they hold."""
    for session in sorted(sessions):
        with archive.transaction(durable=False):
            clear_working_set(archive, session)
            keeper = WorkingSetKeeper(archive, session)
            for number in step_numbers(archive, session):
                step = find_step(archive, number)
                if step is not None:
                    keeper.note(step)
            keeper.flush()


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
