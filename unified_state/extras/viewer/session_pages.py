"""The list of sessions, and the page of one: its turns, with compactions, restores and subagents between them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.compactions import Compaction, Restore, compactions_of, restores_between
from unified_state.archive.full_text import count_steps
from unified_state.archive.steps import find_placed, find_step, numbers_of_turn, turn_of_step
from unified_state.errors import NotFoundError
from unified_state.extension import hook
from unified_state.extras.viewer.context_curve import curve_source
from unified_state.extras.viewer.open_projects import Project
from unified_state.extras.viewer.page_writer import line, page_values, write_page
from unified_state.extras.viewer.rich_text import edit_of
from unified_state.hosts.transcripts.rules.hosts import title_of_host
from unified_state.ledger.item_table import ACTIVE, PROPOSED, count_items
from unified_state.lib.json_text import parse_object
from unified_state.lib.record import Record
from unified_state.model.step import TOOL_CALL, TOOL_RESULT, Step
from unified_state.project.health import health_line
from unified_state.search.timeline_table import (
    TurnLine,
    find_session,
    session_of_turn,
    session_page,
    shortened_outputs,
    turn_before,
    turns_from,
)

SESSIONS = 50  # on one page
TURNS, EVERY_TURN = 20, 1 << 31  # on one page
MOST_STEPS = 200  # of a turn on a page
_MOST_COMPACTIONS = 500
_ALWAYS = 1 << 62
# What a call's line shows of its input: the first of these that it has.
_TELLING = ("command", "file_path", "path", "pattern", "query", "url", "description", "prompt", "skill", "name")


class Call(Record):
    """A tool call with its result. `edit` is what it changes in a file, or else `given` is its input. `short` is the
    result as the model saw it, if it was shortened.
    """

    number: int
    step: Step
    about: str
    given: str
    edit: str
    result_number: int | None = None
    result: Step | None = None
    short: str | None = None


class Turn(Record):
    """A turn: its steps, calls with their results, and what came before it: compactions and texts of hooks.

    Of a long turn it has a part of the steps; those before and after it are counted, each with a step to ask for.
    """

    line: TurnLine
    parts: tuple[tuple[int, Step] | Call, ...] = ()
    earlier: tuple[int, int] | None = None
    later: tuple[int, int] | None = None
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


def home_page(archive: Archive, project: Project, projects: Iterable[Project], now: int, offset: int = 0) -> str:
    """Return the home page of a project, with its sessions from the offset on."""
    sessions = session_page(archive, now, offset, SESSIONS + 1)
    workspace = project.workspace
    return write_page(
        "home.html",
        project=project,
        projects=list(projects),
        sessions=sessions[:SESSIONS],
        hosts={one.number: title_of_host(one.session_id) for one in sessions},
        earlier=offset + SESSIONS if len(sessions) > SESSIONS else None,
        active=count_items(archive, ACTIVE),
        waiting=count_items(archive, PROPOSED),
        health=health_line(workspace.place.folder, now) if workspace else None,
        **page_values("sessions", now),
    )


def session_page_at(
    archive: Archive, project: Project, session: int, first: int | None, step: int | None, now: int
) -> str:
    """Return the page of a session from a turn on, by default its end. A long turn shows the part that has the step,
    by default its end. Raises NotFoundError.
    """
    values = session_values(archive, session)
    live = "" if step else f"{project.base}/live/{session}?after={count_steps(archive)}"
    return write_page(
        "session.html",
        project=project,
        host=title_of_host(values["session"].session_id),
        page=read_page(archive, session, first, values["compactions"], step=step),
        first_open=0,
        **values,
        **page_values("sessions", now, live=live),
    )


def session_values(archive: Archive, session: int) -> dict[str, Any]:
    """Return what the page of a session shows above its turns. Raises NotFoundError."""
    told = find_session(archive, session)
    if told is None:
        message = f"there is no session number {session}"
        raise NotFoundError(message, "the page of the project lists its sessions")
    compactions = compactions_of(archive, session, _MOST_COMPACTIONS)[::-1]
    return {"session": told, "compactions": compactions, "curve": curve_source(archive, session)}


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
    archive: Archive,
    session: int,
    first: int | None,
    compactions: list[Compaction],
    most: int = TURNS,
    step: int | None = None,
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
    turns = [_turn(archive, one, step) for one in lines[:most]]
    return Page(tuple(_with_markers(turns, markers)), earlier, later)


def _with_markers(turns: list[Turn], markers: list[Compaction | Restore]) -> list[Turn]:
    """Return the turns, each with the markers since the turn before it. What follows the last turn is in one of its
    own, which has no steps. A restore stands below its compaction, whichever came first by the clocks.
    """
    cuts = {marker.id: marker.boundary_at or marker.started_at for marker in markers if isinstance(marker, Compaction)}

    def place(marker: Compaction | Restore) -> tuple[int, bool, int]:
        if isinstance(marker, Compaction):
            return cuts[marker.id], False, 0
        return cuts.get(marker.compaction or 0, marker.at), True, marker.at

    ordered = sorted(markers, key=place)
    placed = []
    for turn in turns:
        before = [marker for marker in ordered if place(marker)[0] <= turn.line.at]
        ordered = ordered[len(before) :]
        placed.append(turn.replace(before=tuple(before)))
    if ordered and turns:
        placed.append(Turn(turns[-1].line, before=tuple(ordered)))
    return placed


def _turn(archive: Archive, told: TurnLine, step: int | None) -> Turn:
    """Return a turn; of a long one its first step and the part that has a step, or else its end."""
    numbers = numbers_of_turn(archive, told.number)
    part = numbers.index(step) // MOST_STEPS * MOST_STEPS if step in numbers else len(numbers) - MOST_STEPS
    begin = max(0, part)
    end = begin + MOST_STEPS
    wanted = [*numbers[: min(begin, 1)], *numbers[begin:end]]
    found = find_placed(archive, wanted)
    return Turn(
        told,
        _parts(archive, [(number, found[number].step) for number in wanted]),
        (begin - 1, numbers[begin - 1]) if begin else None,
        (len(numbers) - end, numbers[end]) if end < len(numbers) else None,
    )


def _parts(archive: Archive, kept: list[tuple[int, Step]]) -> tuple[tuple[int, Step] | Call, ...]:
    results = {step.tool_use_id: (number, step) for number, step in kept if step.kind == TOOL_RESULT}
    calls = {step.tool_use_id for _, step in kept if step.kind == TOOL_CALL}
    short = shortened_outputs(archive, [number for number, _ in results.values()])
    parts: list[tuple[int, Step] | Call] = []
    for number, step in kept:
        if step.kind == TOOL_CALL:
            parts.append(_call(number, step, results.get(step.tool_use_id), short))
        elif step.kind != TOOL_RESULT or step.tool_use_id not in calls:
            parts.append((number, step))
    return tuple(parts)


def _call(number: int, step: Step, found: tuple[int, Step] | None, shortened: dict[int, tuple[int, int, int]]) -> Call:
    given = parse_object(step.text) or {}
    about = next((str(given[name]) for name in _TELLING if given.get(name)), "")
    lines = "\n".join(f"{name}: {value}" for name, value in given.items())
    call = Call(number, step, line(about or step.text), lines or step.text, edit_of(given))
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
