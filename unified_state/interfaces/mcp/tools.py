"""The tools of the MCP server.

Each reading tool answers with a page, so that no client truncates its answer. A recording tool gives an item no
authority. The item is `inferred`, unless it quotes the user's own words from the archive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from mcp_types import ToolAnnotations
from pydantic import Field

from unified_state.capture.user_words import quoted_source
from unified_state.errors import UnifiedStateError, UsageError
from unified_state.extension import need
from unified_state.interfaces.mcp.server_project import Project, visible_value
from unified_state.interfaces.mcp.tool_pages import history_page, paged, state_page, text_page, turn_page
from unified_state.ledger.correct_item import close, edit
from unified_state.ledger.correct_item import drop as drop_item
from unified_state.ledger.explain_item import explain
from unified_state.ledger.item_table import ACTIVE, find_item
from unified_state.lib.excerpts import page_of_entries
from unified_state.lib.record import Record, disk_value
from unified_state.lib.times import current_time
from unified_state.model.item import ITEM_KINDS
from unified_state.model.refs import note_number
from unified_state.project.workspace.workspace import Workspace
from unified_state.search.find import SearchRequest, find, is_team_ref, recall_and_note
from unified_state.search.log import LogRequest, log
from unified_state.search.recall_ref import Part, part_of, turn_of
from unified_state.search.search_archive import MOST_HITS
from unified_state.settings import environment
from unified_state.state_file.manager import UnifiedStateManager
from unified_state.state_file.writer.correct_state import correct
from unified_state.state_file.writer.record_state import add_item
from unified_state.state_file.writer.save_state import correct_note, record_note

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
Offset = Annotated[int, Field(ge=0, description="next_offset of the page before")]


class ReadingTools:
    """The tools that read a project. `hints` tell the client what they do."""

    hints = READS

    def __init__(self, project: Project) -> None:
        self._project = project

    def list_(
        self,
        offset: Offset = 0,
        at: Annotated[str | None, Field(description="as it was at K2, T41, 2026-03-14, 3d, HEAD~3, a commit")] = None,
    ) -> dict[str, Any]:
        """Return the current state: active constraints, decisions with their reasons, open questions, failed attempts,
        errors, the work item, notes and git. Each item has an id such as D7, for `show`. One with the origin
        `user_said` holds the user's own words and binds; a model wrote an `inferred` one.
        """
        return state_page(self._project, offset, at)

    def history(
        self,
        id: Annotated[str, Field(description="an item: D7; or a point: K2, T41, 3d, HEAD~3")],  # noqa: A002
        last: Annotated[str | None, Field(description="another; default: now")] = None,
        offset: Offset = 0,
    ) -> dict[str, Any]:
        """Return what became of an item: when, by whom, in which turn. Or what was decided, answered, lifted,
        superseded or closed since a point.
        """
        return history_page(self._project.reading(), id, last, offset)

    def search(  # noqa: PLR0913, PLR0917  # the arguments of the tool, as the agent sees them
        self,
        query: Annotated[str, Field(description="words, or a question; none: the log")] = "",
        limit: Annotated[int, Field(ge=1, le=50, description="the number of hits on a page")] = 10,
        session: Annotated[str | None, Field(description="only this session, by its id")] = None,
        since: Annotated[str | None, Field(description="only newer hits: 2026-03-14, 3d, yesterday")] = None,
        tool: Annotated[str | None, Field(description="only calls of this tool and their results: Bash, Edit")] = None,
        file: Annotated[str | None, Field(description="only hits that name this file: app.py, src/app.py")] = None,
        kind: Annotated[
            str | None, Field(description="only prompt, text, tool_call, tool_result, decision, constraint …")
        ] = None,
        offset: Offset = 0,
        team: Annotated[bool, Field(description="also other members' steps and decisions, from the server")] = False,
    ) -> dict[str, Any]:
        """Search the whole history of this project, including turns that compactions removed: prompts, answers, tool
        calls, their outputs, and recorded items. Each hit has a ref, with which `show` returns the hit or its turn.
        Search before you ask the user something that they may have told you. Without a query: the log of the prompts.
        """
        end = offset + limit
        wanted = SearchRequest(query, min(end + 1, MOST_HITS), session, since, tool, file, kind)
        notes: list[str] = []
        workspace = self._project.reading().replace(report=notes.append)
        if query:
            found = [hit.as_dict() for hit in find(workspace, wanted, current_time())]
        elif tool or file or kind or team:
            message = "without a query only since and session choose"
            raise UsageError(message, "add the words to search for")
        else:
            found = log(workspace, LogRequest(since, True, session or "", limit=wanted.limit), current_time())
        hits = visible_value(found)
        shown, page = page_of_entries(hits[:end], offset)
        if page.next_offset is None and len(hits) > end:
            page = page.replace(next_offset=end)
        answer: dict[str, Any] = {"hits": shown, **paged(page.replace(total=len(hits)))}
        if team and not offset:
            answer["team"] = _hits_of_team(workspace, wanted.replace(limit=limit))
        return {**answer, "notes": notes} if notes else answer

    def show(  # the arguments of the tool, as the agent sees them
        self,
        id: Annotated[  # noqa: A002  # the name in the answers
            str, Field(description="D7 C3 Q1 E12 A2 (items), T41 (turn), S1234 (step), K2 (compaction), ada:S5")
        ],
        offset: Annotated[int | None, Field(ge=0, description="next_offset of the page before")] = None,
        lines: Annotated[str | None, Field(description="only these lines of a step: 200:260, 200:, :60")] = None,
        grep: Annotated[str | None, Field(description="only the lines of a step that match this regex")] = None,
        turn: Annotated[bool, Field(description="the whole turn of a step, from that step on")] = False,
        source: Annotated[bool, Field(description="of an item: who said it, in which words and turn")] = False,
    ) -> dict[str, Any]:
        """Return the item, step, turn or compaction that an id names, verbatim and whole. Long texts come in pages:
        call again with `next_offset`. In a turn they are cut, and `cut` says by how much; the step's ref returns all.
        For a shortened output, `[S1234: 3,000 lines, shown 40; …]`, select the lines with `lines` or `grep`.
        """
        part = Part(lines, grep) if lines or grep else None

        def page(found: dict[str, Any]) -> dict[str, Any]:
            return turn_page(found, id, offset) if found["kind"] == "turn" else text_page(found, offset or 0)

        workspace, id = self._project.of_ref(id)  # noqa: A001  # its name everywhere
        if is_team_ref(id):
            found = need("EXPLAIN_OF_TEAM" if source else "RECALL_OF_TEAM")(_server(workspace), id)
            return page(found if part is None else part_of(found, part))
        if source:
            return page(workspace.use(lambda archive: explain(archive, workspace.place.repository, id)))
        named = workspace.use(lambda archive: turn_of(archive, id)) if turn else id
        return recall_and_note(workspace, named, current_time(), part, page)

    def restore(
        self,
        budget: Annotated[int | None, Field(ge=1, description="the size of the whole in tokens")] = None,
        summary: Annotated[
            str | None, Field(description="whose facts are left out, as the next request has it")
        ] = None,
    ) -> dict[str, Any]:
        """Return the text that a session gets back after a compaction: what it needs next."""
        return {"text": UnifiedStateManager(workspace=self._project.reading()).restore_text(budget, summary=summary)}


def _hits_of_team(workspace: Workspace, wanted: SearchRequest) -> list[Any]:
    """Return the hits of other users. If the server fails, report it in one line."""
    try:
        found = need("FIND_IN_TEAM")(workspace, _server(workspace), wanted, current_time())
    except UnifiedStateError as error:
        workspace.report(str(error))
        return []
    return page_of_entries(visible_value([hit.as_dict() for hit in found if hasattr(hit, "said_by")]), 0)[0]


def _server(workspace: Workspace) -> Any:
    """Return the team's server. The environment is the client's, and may be a stranger's."""
    return need("TEAM_SERVER")(workspace, environment(), is_own=False, only_reads=True)


Id = Annotated[str, Field(description="such as D7 or Q1")]
Reversible = Annotated[bool | None, Field(description="of a decision: false if it cannot be changed later")]
Blocking = Annotated[bool | None, Field(description="of a constraint: true if it may never be broken")]
Priority = Annotated[Literal["high", "medium", "low"] | None, Field(description="of a question")]
Type = Annotated[Literal["error", "command", "output", "observation"] | None, Field(description="of evidence")]
Quote = Annotated[
    str | None,
    Field(
        description="a whole sentence of the user's prompts that says this, verbatim (checked); without it the item "
        "is not the user's"
    ),
]


Text = Annotated[
    str,
    Field(
        description="one sentence, clear on its own: the decision, the rule, the question, what failed; of evidence "
        "the error, command or output, verbatim"
    ),
]
Reason = Annotated[
    str | None,
    Field(
        description="of a decision why, and the alternatives; of a question why it matters; of an attempt how it "
        "failed; of a constraint or evidence its source: the user, a file, a command"
    ),
]


class RecordingTools:
    """The tools that record in a project. A call is durable once it is answered."""

    hints = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)

    def __init__(self, project: Project) -> None:
        self._project = project

    def _recorded(self, record: Callable[[Workspace], Any]) -> dict[str, Any]:
        """Return what was recorded, with the notes for the agent."""
        notes: list[str] = []
        return {**disk_value(record(self._project.recording(notes.append))), "notes": notes}

    def add(  # noqa: PLR0913, PLR0917  # the arguments of the tool, as the agent sees them
        self,
        text: Text,
        kind: Literal["decision", "constraint", "question", "evidence", "attempt", "todo", "note"] = "decision",
        reason: Reason = None,
        quote: Quote = None,
        supersedes: Annotated[str | None, Field(description="the id of the decision that this one replaces")] = None,
        reversible: Reversible = None,
        blocking: Blocking = None,
        priority: Priority = None,
        type: Type = None,  # noqa: A002  # the name on disk
    ) -> dict[str, Any]:
        """Record what later work depends on, as soon as it is settled. It survives compactions, and later sessions get
        it too. Give `quote` for a rule of the user: only the user's own words bind.
        """
        if kind in {"todo", "note"}:
            return self._recorded(lambda workspace: record_note(workspace, kind, text))
        given = _fields(kind, text, reason, reversible=reversible, blocking=blocking, priority=priority, type=type)
        body = ITEM_KINDS[kind].others | given

        def record(workspace: Workspace) -> Record:
            source = quoted_source(workspace, kind, body, quote)
            return add_item(workspace, kind, body, supersedes=supersedes, source=source)

        return self._recorded(record)

    def edit(  # the arguments of the tool, as the agent sees them
        self,
        id: Id,  # noqa: A002  # the name in the answers
        text: Annotated[str | None, Field(description="the new text")] = None,
        reason: Annotated[str | None, Field(description="the new reason or source")] = None,
        reversible: Reversible = None,
        blocking: Blocking = None,
        priority: Priority = None,
        type: Type = None,  # noqa: A002  # the name on disk
        drop: Annotated[bool, Field(description="drop the item in place of a change")] = False,
    ) -> dict[str, Any]:
        """Correct or drop an item. A change of a rule or of the user's words is proposed to them."""
        notes: list[str] = []
        workspace = self._project.recording(notes.append)
        number = note_number(id)
        if number is not None:
            note = correct_note(workspace, number, text=text, done=drop or None)
            return {**disk_value(note), "notes": notes}
        older = workspace.use(lambda archive: find_item(archive, id))
        given = {"reversible": reversible, "blocking": blocking, "priority": priority, "type": type}
        changes = _fields(older.kind, text, reason, **given)
        entry = correct(workspace, drop_item, id) if drop else correct(workspace, edit, id, changes)
        return {"id": entry.id, "status": entry.status or ACTIVE, "notes": notes}

    def resolve(
        self,
        id: Id,  # noqa: A002  # the name in the answers
        text: Annotated[str, Field(description="the answer, how it was settled, or what worked after all")] = "",
    ) -> dict[str, Any]:
        """Close a question with its answer, evidence or an attempt that is settled, a to-do that is done (N5)."""
        number = note_number(id)
        if number is not None:
            return self._recorded(lambda workspace: correct_note(workspace, number, done=True))
        return self._recorded(lambda workspace: correct(workspace, close, id, text))

    def work(
        self,
        id: Annotated[str | None, Field(description="ticket, issue, task")] = None,  # noqa: A002  # the name on disk
        title: Annotated[str | None, Field(description="the name of the work")] = None,
        phase: Annotated[str | None, Field(description="plan, build, test …")] = None,
        progress: Annotated[float | None, Field(ge=0, le=1, description="from 0 to 1")] = None,
        goal: Annotated[str | None, Field(description="what is true when it is done")] = None,
        verified: Annotated[str | None, Field(description="the id of evidence that shows what is done")] = None,
    ) -> dict[str, Any]:
        """Set the work item of this session. Fields that are not given stay unchanged."""
        if (id, title, phase, progress, goal, verified) == (None,) * 6:
            message = "there is nothing to set"
            raise UsageError(message, "give id, title, goal, phase, progress or verified")
        shown = None if verified is None else [verified]
        return self._recorded(
            lambda workspace: UnifiedStateManager(workspace=workspace).set_work_item(
                id, title, phase, progress, goal=goal, verified=shown
            )
        )


def _fields(kind: str, text: str | None, reason: str | None, **others: Any) -> dict[str, Any]:
    """Return the given fields by their names in an item."""
    about = ITEM_KINDS[kind]
    given = {about.main: text, about.second[0]: reason, **others}
    return {name: value for name, value in given.items() if value is not None}
