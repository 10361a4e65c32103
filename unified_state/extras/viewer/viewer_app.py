"""The addresses of the viewer, and the page that each of them shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from unified_state.archive.archive import Archive
from unified_state.errors import NotFoundError, UnifiedStateError, UsageError
from unified_state.extras.viewer.compaction_page import compaction_page
from unified_state.extras.viewer.context_curve import context_curve
from unified_state.extras.viewer.edit_forms import change_item
from unified_state.extras.viewer.open_projects import Project, project_called
from unified_state.extras.viewer.page_writer import page_values, static_file, write_page
from unified_state.extras.viewer.search_page import search_page
from unified_state.extras.viewer.session_pages import (
    home_page,
    session_page_at,
    step_page,
    turn_to_show,
    turn_to_show_of_step,
    turns_part,
)
from unified_state.extras.viewer.state_page import item_page, state_page
from unified_state.ledger.explain_item import place_of
from unified_state.ledger.item_table import find_item
from unified_state.lib.times import current_time
from unified_state.model.refs import COMPACTION, GLOBAL_MARK, ITEM, STEP, TURN, parse_ref
from unified_state.search.timeline_table import turn_before

if TYPE_CHECKING:
    from starlette.requests import Request

    Write = Callable[[Archive, Project, Request], Response]

_STATIC = {"viewer.css": "text/css", "viewer.js": "text/javascript", "viewer.svg": "image/svg+xml"}
_LAST_TURNS = 4
_NOT_FOUND, _BAD_REQUEST, _UNAVAILABLE = 404, 400, 503


class ViewerApp:
    """The application. Its pages have forms where something `may_change`."""

    def __init__(self, projects: dict[str, Project], *, may_change: bool) -> None:
        self._projects, self._may_change = projects, may_change

    def app(self) -> Starlette:
        """Return the application with the addresses of this project, and of the others below `/p/`."""
        pages: dict[str, Write] = {
            "/": self._home,
            "/session/{number}": self._session,
            "/curve/{number}": lambda archive, _, request: HTMLResponse(
                context_curve(archive, _number(request, "number") or 0)
            ),
            "/turns/{number}": self._turns,
            "/live/{number}": self._live,
            "/step/{number}": lambda archive, project, request: HTMLResponse(
                step_page(archive, project, _number(request, "number") or 0, current_time())
            ),
            "/state": self._state,
            "/search": self._search,
            "/source/{ref}": self._source,
            "/{ref}": self._ref,
        }
        routes = [Route("/static/{name}", self._static)]
        for prefix in ("/p/{project}", ""):
            if self._may_change:
                routes.append(Route(f"{prefix}/change/{{verb}}", self._change, methods=["POST"]))
            routes += [Route(f"{prefix}{path}", self._page(write)) for path, write in pages.items()]
        return Starlette(routes=routes)

    def _page(self, write: Write) -> Callable[[Request], Response]:
        """Return the endpoint that writes a page from the project's archive, in a thread."""

        def answer(request: Request) -> Response:
            try:
                project = self._project(request)
                return project.read(lambda archive: write(archive, project, request))
            except UnifiedStateError as error:
                return self._problem(error)

        return answer

    def _project(self, request: Request) -> Project:
        return project_called(self._projects, request.path_params.get("project", ""))

    def _problem(self, error: UnifiedStateError) -> Response:
        kinds = ((NotFoundError, _NOT_FOUND), (UsageError, _BAD_REQUEST))
        status = next((number for kind, number in kinds if isinstance(error, kind)), _UNAVAILABLE)
        own = self._projects[""]
        page = write_page("problem.html", project=own, error=error, **page_values("", current_time()))
        return HTMLResponse(page, status)

    def _home(self, archive: Archive, project: Project, request: Request) -> Response:
        offset = _number(request, "offset") or 0
        return HTMLResponse(home_page(archive, project, self._projects.values(), current_time(), offset))

    def _session(self, archive: Archive, project: Project, request: Request) -> Response:
        session, first = _number(request, "number") or 0, _number(request, "from")
        return HTMLResponse(session_page_at(archive, project, session, first, _number(request, "step"), current_time()))

    def _turns(self, archive: Archive, project: Project, request: Request) -> Response:
        session, first = _number(request, "number") or 0, _number(request, "from")
        return HTMLResponse(turns_part(archive, project, session, first, current_time()))

    def _state(self, archive: Archive, project: Project, request: Request) -> Response:
        asked = request.query_params
        status, at = asked.get("status", ""), asked.get("at", "")
        form = self._may_change and project.workspace is not None and not at
        return HTMLResponse(state_page(archive, project, current_time(), status=status, at=at, form=form))

    def _search(self, archive: Archive, project: Project, request: Request) -> Response:
        return HTMLResponse(search_page(archive, project, request.query_params, current_time()))

    def _ref(self, archive: Archive, project: Project, request: Request) -> Response:
        """Answer the stable address of a ref: of a turn or step with its place in the session."""
        ref = request.path_params["ref"]
        if ref.startswith(GLOBAL_MARK) and project.workspace is not None:
            shared = project.workspace.of_all_projects()
            return HTMLResponse(shared.use(lambda them: item_page(them, project, ref, current_time(), form=False)))
        kind, number = parse_ref(ref)
        if kind == COMPACTION:
            return HTMLResponse(compaction_page(archive, project, number, current_time()))
        if kind == ITEM:
            form = self._may_change and project.workspace is not None
            return HTMLResponse(item_page(archive, project, ref, current_time(), form=form))
        return self._place(archive, project, kind, number)

    def _source(self, archive: Archive, project: Project, request: Request) -> Response:
        """Answer with the turn that an item comes from."""
        ref = request.path_params["ref"]
        turn, step = place_of(archive, find_item(archive, ref))
        if turn is None:
            message = f"the turn of {ref[:20]} is not archived"
            raise NotFoundError(message, "it may have been forgotten; the page of the item has its quote")
        return self._place(archive, project, TURN if step is None else STEP, step or turn)

    def _place(self, archive: Archive, project: Project, kind: str, number: int) -> Response:
        """Lead to a turn or a step in its session."""
        turn = turn_to_show_of_step(archive, number) if kind == STEP else number
        session, first = turn_to_show(archive, turn)
        step = f"&step={number}" if kind == STEP else ""
        place = f"{project.base}/session/{session}?from={first}{step}#{'S' if kind == STEP else 'T'}{number}"
        return RedirectResponse(place, 303)

    def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _STATIC:
            return self._problem(NotFoundError("there is no such file", "go back to the first page"))
        return Response(static_file(name), media_type=_STATIC[name])

    async def _change(self, request: Request) -> Response:
        """Change an item as a form says, and go back to its page. It may wait for an answer at the terminal."""
        fields = dict(parse_qsl((await request.body()).decode("utf-8", "replace"), keep_blank_values=True))
        try:
            project = self._project(request)
            place = await run_in_threadpool(change_item, project, request.path_params["verb"], fields)
        except UnifiedStateError as error:
            return self._problem(error)
        return RedirectResponse(place, 303)

    def _live(self, archive: Archive, project: Project, request: Request) -> Response:
        """Answer with the turns of a session that have new steps.

        The last turns are always among them: a message that a hook reported moves to another turn once the transcript
        has it, and its number is given out again.
        """
        session, after = _number(request, "number") or 0, _number(request, "after") or 0
        query = "SELECT min(turn.id) FROM step JOIN turn ON turn.id = step.turn WHERE step.id > ? AND turn.session = ?"
        found = (archive.value(query, after, session), turn_before(archive, session, None, _LAST_TURNS))
        first = min((turn for turn in found if turn is not None), default=0)
        return HTMLResponse(turns_part(archive, project, session, first, current_time(), every=True))


def _number(request: Request, name: str) -> int | None:
    given = {**request.query_params, **request.path_params}.get(name, "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 18 else None  # noqa: PLR2004
