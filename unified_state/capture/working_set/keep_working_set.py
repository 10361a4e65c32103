"""The working set of a session, updated with each archived step.

The work per step is bounded, whatever the session has seen before: only a bounded part of the text is read, and each
row holds a bounded number of identifiers.
"""

from __future__ import annotations

from collections.abc import Iterable

from unified_state.archive.archive import Archive
from unified_state.archive.steps import find_step, queued_steps, sessions_of_step, step_numbers
from unified_state.capture.working_set.rules.sightings import Sighting, sightings
from unified_state.capture.working_set.session_calls import SessionCalls
from unified_state.capture.working_set.working_set_table import (
    Entry,
    by_level,
    clear_working_set,
    move_clock,
    paths_below,
    read_clock,
    read_entry,
    write_entry,
)
from unified_state.hosts.transcripts.rules.about_work import is_about_work
from unified_state.hosts.transcripts.rules.call_effects import Call
from unified_state.lib.decay import raised
from unified_state.model.step import PROMPT, TEXT, TOOL_CALL, Step

_MOST_WORDS = 250  # identifiers that a row holds


class WorkingSetKeeper:
    """Updates the working set of one session within one transaction. `flush` writes the changed rows."""

    def __init__(self, archive: Archive, session: int) -> None:
        self._archive = archive
        self._session = session
        (self._root,) = archive.row("SELECT root FROM session WHERE id = ?", session)
        self._clock = read_clock(archive, session)
        self._changed: dict[str, Entry] = {}

    def note(self, step: Step, call: Call | None) -> None:
        """Add the sightings of one step with its tool call. For a subagent only tool calls count, not what it read or
        said.
        """
        if (step.agent is not None and step.kind != TOOL_CALL) or not is_about_work(step, call):
            return
        if step.kind in {TEXT, TOOL_CALL, PROMPT}:
            self._clock += 1
        for sighting in sightings(step, call, self._root or ""):
            before = self._entry(sighting.path)
            if before is None and sighting.gone:
                self._take_away_below(sighting)
            if sighting.gone is not None and not sighting.words and (before is None or before.gone == sighting.gone):
                continue  # nothing new of a file of the session
            self._changed[sighting.path] = _raised_entry(before, sighting, self._clock)

    def _entry(self, path: str) -> Entry | None:
        return self._changed.get(path) or read_entry(self._archive, self._session, path)

    def _take_away_below(self, folder: Sighting) -> None:
        """Note what became of the session's files in a folder that a command removed or moved."""
        below = f"{folder.path}/"
        written = paths_below(self._archive, self._session, below)
        for path in {*written, *(path for path in self._changed if path.startswith(below))}:
            entry = self._entry(path)
            if entry is not None:
                self._changed[path] = entry.replace(gone=folder.gone)

    def flush(self) -> None:
        """Write the changed rows."""
        for entry in self._changed.values():
            write_entry(self._archive, self._session, entry)
        self._changed.clear()
        move_clock(self._archive, self._session, self._clock)


def _raised_entry(before: Entry | None, seen: Sighting, clock: int) -> Entry:
    """Return a row with one more sighting."""
    level, words = (before.level, before.words) if before else (None, {})
    for word in seen.lost:
        words.pop(word, None)
    if seen.whole is not None:
        words = {word: at for word, at in words.items() if word in seen.whole}
    for word in seen.words:
        words[word] = raised(words.get(word), seen.weight, clock)
    if len(words) > _MOST_WORDS * 1.25:
        words = dict(sorted(words.items(), key=by_level, reverse=True)[:_MOST_WORDS])
    entry = Entry(seen.path, raised(level, seen.weight, clock), words)
    return entry.replace(
        is_used=seen.is_used or (before is not None and before.is_used),
        gone=seen.gone if seen.gone is not None else before.gone if before else "",
    )


def empty_working_sets(archive: Archive, steps: Iterable[int]) -> set[int]:
    """Empty the working sets of the sessions that steps belong to, and return those sessions for a rebuild.

    Call it in the transaction in which the steps are forgotten or masked.
    """
    sessions = {session for step in steps for session in sessions_of_step(archive, step)}
    for session in sessions:
        clear_working_set(archive, session)
    return sessions


def rebuild_working_sets(archive: Archive, sessions: Iterable[int], last: int | None = None) -> None:
    """Rebuild the working sets of sessions from their steps, or from only the `last` ones. A step thousands of steps
    back has no weight.
    """
    for session in sorted(sessions):
        with archive.transaction(durable=False):
            clear_working_set(archive, session)
            queued = set(queued_steps(archive, session))
            keeper, calls = WorkingSetKeeper(archive, session), SessionCalls(archive, session)
            for number in step_numbers(archive, session)[-last if last else 0 :]:
                step = None if number in queued else find_step(archive, number)
                if step is not None:
                    keeper.note(step, calls.call_of(step))
            keeper.flush()
