"""The session page: its turns in order, with compactions, restores and subagents between them."""

from __future__ import annotations

from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.compactions import Compaction, Restore, compactions_of, restores_between
from unified_state.archive.full_text import count_steps
from unified_state.archive.steps import find_step, steps_of_turn, turn_of_step
from unified_state.errors import NotFoundError
from unified_state.extension import hook
from unified_state.extras.viewer.home_page import page_values
from unified_state.extras.viewer.open_projects import Project
from unified_state.extras.viewer.page_writer import line, write_page
from unified_state.hosts.transcripts.rules.hosts import title_of_host
from unified_state.lib.json_text import parse_object
from unified_state.lib.record import Record
from unified_state.model.step import TOOL_CALL, TOOL_RESULT, Step
from unified_state.search.timeline.timeline_table import (
    TurnLine,
    find_session,
    session_of_turn,
    shortened_outputs,
    turn_before,
    turns_from,
)

TURNS, EVERY_TURN = 20, 1 << 31  # on one page
MOST_STEPS = 200  # of a turn on a page
_MOST_COMPACTIONS = 500
_ALWAYS = 1 << 62
# What a call's line shows of its input: the first of these that it has.
_TELLING = ("command", "file_path", "path", "pattern", "query", "url", "description", "prompt", "skill", "name")


class Call(Record):
    """A tool call with its result. `short` is the result as the model saw it, if it was shortened."""

    number: int
    step: Step
    about: str
    result_number: int | None = None
    result: Step | None = None
    short: str | None = None


class Turn(Record):
    """A turn: its steps, calls with their results, and what came before it: compactions and texts of hooks."""

    line: TurnLine
    parts: tuple[tuple[int, Step] | Call, ...]
    hidden: int
    before: tuple[Compaction | Restore, ...] = ()

    @property
    def first_text(self) -> str:
        """The text of its first step, for the line of a folded branch."""
        first = self.parts[0] if self.parts else None
        return "" if first is None else first.step.text if isinstance(first, Call) else first[1].text


class Page(Record):
    """A page of turns, and the first turns of the pages beside it."""

    turns: tuple[Turn, ...]
    earlier: int | None
    later: int | None


def session_page_at(archive: Archive, project: Project, session: int, first: int | None, now: int) -> str:
    """Return the page of a session from a turn on, by default its end. Raises NotFoundError."""
    values = session_values(archive, session)
    return write_page(
        "session.html",
        project=project,
        host=title_of_host(values["session"].session_id),
        page=read_page(archive, session, first, values["compactions"]),
        first_open=0,
        **values,
        **page_values("sessions", now, live=f"{project.base}/live/{session}?after={count_steps(archive)}"),
    )


def session_values(archive: Archive, session: int) -> dict[str, Any]:
    """Return what the page of a session shows above its turns. Raises NotFoundError."""
    told = find_session(archive, session)
    if told is None:
        message = f"there is no session number {session}"
        raise NotFoundError(message, "the page of the project lists its sessions")
    compactions = compactions_of(archive, session, _MOST_COMPACTIONS)[::-1]
    return {"session": told, "compactions": compactions}


def turns_part(
    archive: Archive, project: Project, session: int, first: int | None, now: int, *, every: bool = False
) -> str:
    """Return the turns of a session from a turn on, a page of them or `every` one, without the page around them."""
    compactions = compactions_of(archive, session, _MOST_COMPACTIONS)[::-1]
    page = read_page(archive, session, first, compactions, EVERY_TURN if every else TURNS)
    values = page_values("sessions", now)
    return write_page("turns.html", project=project, session_number=session, page=page, first_open=0, **values)


def turn_to_show(archive: Archive, turn: int) -> tuple[int, int]:
    """Return the session of a turn, and the turn with which a page begins that shows it. Raises NotFoundError."""
    session = session_of_turn(archive, turn)
    if session is None:
        message = f"there is no turn T{turn}"
        raise NotFoundError(message, "it may have been forgotten; the search finds the others")
    return session, turn_before(archive, session, turn, 3) or turn


def turn_to_show_of_step(archive: Archive, number: int) -> int:
    """Return the turn of a step. Raises NotFoundError for a step that is not there, or was forgotten."""
    if find_step(archive, number) is None:
        message = f"there is no step S{number}"
        raise NotFoundError(message, "it may have been forgotten; the search finds the others")
    return turn_of_step(archive, number)


def read_page(
    archive: Archive, session: int, first: int | None, compactions: list[Compaction], most: int = TURNS
) -> Page:
    """Return a page of turns from a turn on, by default the last ones."""
    if first is None:
        first = turn_before(archive, session, None, most) or 0
    lines = turns_from(archive, session, first, most + 1)
    earlier = turn_before(archive, session, first, most)
    later = lines[most].number if len(lines) > most else None
    begin = lines[0].at if lines and earlier is not None else 0
    end = lines[most].at if later is not None else _ALWAYS
    markers: list[Compaction | Restore] = [
        *(cut for cut in compactions if begin <= (cut.boundary_at or cut.started_at) < end),
        *restores_between(archive, session, begin, end),
    ]
    turns = [_turn(archive, one) for one in lines[:most]]
    return Page(tuple(_with_markers(turns, sorted(markers, key=_marked_at))), earlier, later)


def _marked_at(marker: Compaction | Restore) -> int:
    if isinstance(marker, Compaction):
        return marker.boundary_at or marker.started_at
    return marker.at


def _with_markers(turns: list[Turn], markers: list[Compaction | Restore]) -> list[Turn]:
    """Return the turns, each with the markers since the turn before it. What follows the last turn is in one of its
    own, which has no steps.
    """
    placed = []
    for turn in turns:
        before = [marker for marker in markers if _marked_at(marker) <= turn.line.at]
        markers = markers[len(before) :]
        placed.append(turn.replace(before=tuple(before)))
    if markers and turns:
        placed.append(Turn(turns[-1].line, (), 0, tuple(markers)))
    return placed


def _turn(archive: Archive, told: TurnLine) -> Turn:
    steps = steps_of_turn(archive, told.number)
    kept = steps[:MOST_STEPS]
    results = {step.tool_use_id: (number, step) for number, step in kept if step.kind == TOOL_RESULT}
    calls = {step.tool_use_id for _, step in kept if step.kind == TOOL_CALL}
    short = shortened_outputs(archive, [number for number, _ in results.values()])
    parts: list[tuple[int, Step] | Call] = []
    for number, step in kept:
        if step.kind == TOOL_CALL:
            parts.append(_call(number, step, results.get(step.tool_use_id), short))
        elif step.kind != TOOL_RESULT or step.tool_use_id not in calls:
            parts.append((number, step))
    return Turn(told, tuple(parts), len(steps) - len(kept))


def _call(number: int, step: Step, found: tuple[int, Step] | None, shortened: dict[int, tuple[int, int, int]]) -> Call:
    given = parse_object(step.text) or {}
    about = next((str(given[name]) for name in _TELLING if given.get(name)), "")
    call = Call(number, step, line(about or step.text))
    if found is None:
        return call
    short = None
    if found[0] in shortened:
        shorten = hook("SHORT_FORM")
        form = shorten and shorten(step.tool or "", given, found[1].text, shortened[found[0]][0])
        short = form.text if form else None
    return call.replace(result_number=found[0], result=found[1], short=short)


def step_page(archive: Archive, project: Project, number: int, now: int) -> str:
    """Return the page of one step with its whole text. Raises NotFoundError."""
    turn = turn_to_show_of_step(archive, number)
    step = find_step(archive, number)
    return write_page("step.html", project=project, number=number, step=step, turn=turn, **page_values("sessions", now))
