"""The tool call of each step of a session: the step itself, or the call that its result belongs to."""

from __future__ import annotations

from unified_state.archive.archive import Archive
from unified_state.archive.steps import call_of_result, last_turns, steps_of_turn
from unified_state.hosts.transcripts.rules.call_effects import Call, continued_by, read_call, still_runs_as
from unified_state.model.step import TOOL_CALL, TOOL_RESULT, Step

_TURNS = 3  # in which the start of a running command is looked for


class SessionCalls:
    """Finds calls for the steps of one session, in order, within one transaction."""

    def __init__(self, archive: Archive, session: int) -> None:
        self._archive = archive
        self._session = session
        self._made: dict[str, Call] = {}  # by the id that a call and its result share
        self._running: dict[str, Call] = {}  # commands that still run, by the id that their client gave them

    def call_of(self, step: Step) -> Call | None:
        """Return the call of a step, or None if it has none.

        The result of a call that only waits for a running command belongs to the call that started the command.
        """
        if step.kind == TOOL_CALL:
            call = read_call(step)
            if step.tool_use_id:
                self._made[step.tool_use_id] = call
            return call
        if step.kind != TOOL_RESULT or not step.tool_use_id:
            return None
        made = self._made.pop(step.tool_use_id, None)
        if made is None:
            earlier = call_of_result(self._archive, self._session, step.tool_use_id)
            made = None if earlier is None else read_call(earlier)
        if made is None:
            return None
        started = self._started(made)
        running = still_runs_as(step.text)
        if running:
            self._running[running] = started
        return started

    def _started(self, made: Call) -> Call:
        """Return the call that started the command for which a call waits; for any other call, the call itself."""
        waits_for = continued_by(made)
        if waits_for and waits_for not in self._running:
            self._running[waits_for] = self._find_started(waits_for) or made
        return self._running.get(waits_for, made)

    def _find_started(self, running: str) -> Call | None:
        """Find the call in the archive: an earlier hook took it in."""
        made: dict[str | None, Step] = {}
        for turn in reversed(last_turns(self._archive, self._session, _TURNS)):
            for _, step in steps_of_turn(self._archive, turn):
                if step.kind == TOOL_CALL:
                    made[step.tool_use_id] = step
                elif step.kind == TOOL_RESULT and still_runs_as(step.text) == running and step.tool_use_id in made:
                    return read_call(made[step.tool_use_id])
        return None
