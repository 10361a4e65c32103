"""The tools, resources and prompts of the MCP server.

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
from unified_state.interfaces.mcp import answer_schemas as shapes
from unified_state.interfaces.mcp.server_project import Project, json_text, visible_value
from unified_state.interfaces.mcp.tool_pages import blame_page, changes_page, paged, state_page, text_page, turn_page
from unified_state.lib.excerpts import page_of_entries
from unified_state.lib.record import disk_value
from unified_state.lib.times import current_time
from unified_state.memory.ledger.explain_item import explain
from unified_state.memory.ledger.item_table import ACTIVE
from unified_state.memory.manager import UnifiedStateManager
from unified_state.memory.workspace.workspace import Workspace
from unified_state.memory.writer.correct_state import resolve_question
from unified_state.memory.writer.record_state import add_item
from unified_state.model.item import (
    ALIAS_LETTERS,
    ATTEMPT,
    CONSTRAINT,
    DECISION,
    EVIDENCE,
    QUESTION,
    Attempt,
    Constraint,
    Decision,
    Evidence,
    OpenQuestion,
)
from unified_state.model.session_state import WorkItem
from unified_state.model.step import KINDS
from unified_state.restore.note_survival import survivals
from unified_state.restore.preview import hand_over
from unified_state.search.find import Wanted, find, recall_and_note, turn_ref
from unified_state.search.recall_ref import Part, part_of
from unified_state.search.search_archive import MOST_HITS
from unified_state.settings import environment
from unified_state.team.rules.foreign_items import is_team_ref
from unified_state.team.search_team import explain_of_team, find_in_team, recall_of_team
from unified_state.team.sync_server import Server
from unified_state.team.team_server import team_server

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
SETS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
Offset = Annotated[int, Field(ge=0, description="next_offset of the page before")]


def tool(shape: Any, hints: ToolAnnotations) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark a method as a tool, with the schema of its answer and hints on its effects for the client."""

    def mark(method: Callable[..., Any]) -> Callable[..., Any]:
        method.__dict__.update(shape=shape, hints=hints)
        return method

    return mark


class ReadingTools:
    """The tools that read a project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    @tool(shapes.StatePage, READS)
    def state_get(
        self,
        offset: Offset = 0,
        at: Annotated[str | None, Field(description="as it was at K2, T41, 2026-03-14, 3d, HEAD~3, a commit")] = None,
    ) -> dict[str, Any]:
        """Return the current state: active constraints, decisions with their reasons, open questions, failed attempts,
        errors, the work item, and git. After a compaction most of it was restored already. Each
        item has an id such as D7, for `recall` and `why`. One with the origin `user_said` holds the
        user's own words and binds; a model wrote an `inferred` one.
        """
        return state_page(self._project, offset, at)

    @tool(shapes.Changed, READS)
    def state_diff(
        self,
        first: Annotated[str, Field(description="a point: K2, T41, 2026-03-14, 3d, HEAD~3, a commit")],
        last: Annotated[str | None, Field(description="another point; default: now")] = None,
        offset: Offset = 0,
    ) -> dict[str, Any]:
        """Return what was decided, answered, lifted, superseded or closed between two points."""
        return changes_page(self._project.reading(), first, last, offset)

    @tool(shapes.Hits, READS)
    def archive_search(  # noqa: PLR0913, PLR0917  # the arguments of the tool, as the agent sees them
        self,
        query: Annotated[str, Field(description="words, as you remember them, or a question")],
        limit: Annotated[int, Field(ge=1, le=50, description="the number of hits on a page")] = 10,
        session: Annotated[str | None, Field(description="only this session, by its id")] = None,
        since: Annotated[str | None, Field(description="only newer hits: 2026-03-14, 3d, yesterday")] = None,
        tool: Annotated[str | None, Field(description="only calls of this tool and their results: Bash, Edit")] = None,
        file: Annotated[str | None, Field(description="only hits that name this file: app.py, src/app.py")] = None,
        kind: Annotated[str | None, Field(description=f"only {', '.join([*KINDS, *ALIAS_LETTERS])}")] = None,
        offset: Offset = 0,
        team: Annotated[bool, Field(description="also other members' steps and decisions, from the server")] = False,
    ) -> dict[str, Any]:
        """Search the whole history of this project, including turns that compactions removed: prompts, answers, tool
        calls, their outputs, and recorded items. Each hit has a ref: `recall` returns the hit whole,
        `archive_get_turn` returns its turn. Search before you ask the user something that they may have told you.
        """
        end = offset + limit
        wanted = Wanted(query, min(end + 1, MOST_HITS), session, since, tool, file, kind)
        notes: list[str] = []
        workspace = self._project.reading().replace(report=notes.append)
        hits = visible_value([hit.as_dict() for hit in find(workspace, wanted, current_time())])
        shown, page = page_of_entries(hits[:end], offset)
        if page.next_offset is None and len(hits) > end:
            page = page.replace(next_offset=end)
        answer: dict[str, Any] = {"hits": shown, **paged(page.replace(total=len(hits)))}
        if team and not offset:
            answer["team"] = _of_team(workspace, wanted.replace(limit=limit))
        return {**answer, "notes": notes} if notes else answer

    @tool(shapes.Turn, READS)
    def archive_get_turn(
        self,
        ref: Annotated[str, Field(description="a turn, T41, or a step, S1234, where the page then begins")],
        offset: Annotated[int | None, Field(ge=0, description="the step of the turn where the page begins")] = None,
    ) -> dict[str, Any]:
        """Return a whole turn in order: the prompt, the answer, each tool call with its output. Long texts are cut, and
        `cut` says by how much; `recall` with the ref of the step returns the whole text.
        """
        workspace = self._project.reading()
        turn = recall_and_note(workspace, turn_ref(workspace, ref), current_time())
        return turn_page(turn, ref, offset)

    @tool(shapes.Recalled, READS)
    def recall(
        self,
        ref: Annotated[
            str, Field(description="D7 C3 Q1 E12 A2 (items), T41 (turn), S1234 (step), K2 (compaction), team:S5")
        ],
        offset: Offset = 0,
        lines: Annotated[str | None, Field(description="only these lines of a step: 200:260, 200:, :60")] = None,
        grep: Annotated[str | None, Field(description="only the lines of a step that match this regex")] = None,
    ) -> dict[str, Any]:
        """Return the item, step, turn or compaction that a ref names, verbatim and whole. An item comes with its links,
        a compaction with its summary and the restored text. Long texts come in pages: call again with `next_offset`.
        For a shortened output, `[S1234: 3,000 lines, shown 40; …]`, select the lines with `lines` or `grep`.
        """
        part = Part(lines, grep) if lines or grep else None

        def page(found: dict[str, Any]) -> dict[str, Any]:
            return turn_page(found, ref, offset) if found["kind"] == "turn" else text_page(found, offset)

        if is_team_ref(ref):
            found = recall_of_team(_server(self._project.reading()), ref)
            return page(found if part is None else part_of(found, part))
        return recall_and_note(self._project.reading(), ref, current_time(), part, page)

    @tool(shapes.Blamed, READS)
    def explain_lines(
        self,
        file: Annotated[str, Field(description="a file of this project")],
        lines: Annotated[str | None, Field(description="only these lines: 120, 120-140")] = None,
        offset: Offset = 0,
    ) -> dict[str, Any]:
        """Return who wrote lines of a file, and why: the commit, the turn whose edit wrote them, its prompt, what was
        decided, ruled or tried in it, and the tests that ran then. Ask before you change code that looks odd.
        """
        return blame_page(self._project.reading(), file, lines, offset)

    @tool(shapes.Explained, READS)
    def why(
        self,
        ref: Annotated[str, Field(description="an item: D7 C3 Q1 E12 A2")],
        offset: Offset = 0,
    ) -> dict[str, Any]:
        """Return the source of an item: who said it, the quoted words, the turn, the commit. Also return the items that
        it supersedes or repeats, and whether its files, branch and conversation are unchanged.
        """
        workspace = self._project.reading()
        if is_team_ref(ref):
            return text_page(explain_of_team(_server(workspace), ref), offset)
        found = workspace.use(lambda archive: explain(archive, workspace.place.repository, ref))
        return text_page(found, offset)


def _of_team(workspace: Workspace, wanted: Wanted) -> list[Any]:
    """Return the hits of other users. If the server fails, report it in one line."""
    try:
        hits = find_in_team(workspace, _server(workspace), wanted, current_time())
    except UnifiedStateError as error:
        workspace.report(str(error))
        return []
    return page_of_entries(visible_value([hit.as_dict() for hit in hits]), 0)[0]


def _server(workspace: Workspace) -> Server:
    """Return the team's server. The environment is the client's, and may be a stranger's."""
    return team_server(workspace, environment(), is_own=False, only_reads=True)


Ref = Annotated[str, Field(description="its id, such as D7 or Q1")]
Quote = Annotated[
    str | None,
    Field(
        description="a whole sentence of the user's prompts that says this, verbatim (checked); without it the item "
        "is not the user's"
    ),
]
Reversible = Annotated[bool, Field(description="false if it cannot be changed later; the state then keeps it longest")]


class RecordingTools:
    """The tools that record in a project. A call is durable once it is answered."""

    def __init__(self, project: Project) -> None:
        self._project = project

    @tool(shapes.recorded(Decision), ADDS)
    def add_decision(
        self,
        decision: Annotated[str, Field(description="the decision, in one sentence that is clear on its own")],
        rationale: Annotated[str, Field(description="the reason, and the alternatives")],
        reversible: Reversible = True,
        quote: Quote = None,
    ) -> dict[str, Any]:
        """Record a decision that later work depends on, as soon as it is made. It survives compactions, and later
        sessions get it too. If it replaces an earlier decision, use `supersede_decision`.
        """
        return self._add(DECISION, {"decision": decision, "rationale": rationale, "reversible": reversible}, quote)

    @tool(shapes.recorded(Decision), ADDS)
    def supersede_decision(
        self,
        id: Ref,  # noqa: A002  # the name in the answers
        decision: Annotated[str, Field(description="the new decision")],
        rationale: Annotated[str, Field(description="the reason for the change")],
        reversible: Reversible = True,
        quote: Quote = None,
    ) -> dict[str, Any]:
        """Record a decision that replaces an earlier one, which is kept as superseded."""
        body = {"decision": decision, "rationale": rationale, "reversible": reversible}
        return self._add(DECISION, body, quote, supersedes=id)

    @tool(shapes.recorded(Constraint), ADDS)
    def add_constraint(
        self,
        constraint: Annotated[str, Field(description="the rule, in one sentence")],
        source: Annotated[str, Field(description="its source: the user, a file, a system")],
        blocking: Annotated[bool, Field(description="true if work has to stop rather than break the rule")] = False,
        quote: Quote = None,
    ) -> dict[str, Any]:
        """Record a limit on the work: a rule of the user, an interface that must not change. Give `quote` for a rule of
        the user, because only the user's own words bind.
        """
        return self._add(CONSTRAINT, {"constraint": constraint, "source": source, "blocking": blocking}, quote)

    @tool(shapes.recorded(OpenQuestion), ADDS)
    def add_question(
        self,
        question: Annotated[str, Field(description="the question to answer or decide")],
        context: Annotated[str, Field(description="why it matters, and the known facts")],
        priority: Literal["high", "medium", "low"] = "medium",
        quote: Quote = None,
    ) -> dict[str, Any]:
        """Record an open question that this session may not answer; `resolve_question` closes it."""
        return self._add(QUESTION, {"question": question, "context": context, "priority": priority}, quote)

    @tool(shapes.recorded(OpenQuestion), SETS)
    def resolve_question(
        self,
        id: Ref,  # noqa: A002  # the name in the answers
        resolution: Annotated[str, Field(description="the answer or decision")],
    ) -> dict[str, Any]:
        """Close an open question with its answer."""
        notes: list[str] = []
        entry = resolve_question(self._project.recording(notes.append), id, resolution)
        return {**disk_value(entry), "notes": notes}

    @tool(shapes.recorded(Evidence), ADDS)
    def add_evidence(
        self,
        type: Literal["error", "command", "output", "observation"],  # noqa: A002  # the name on disk
        content: Annotated[str, Field(description="the error, command or output, verbatim")],
        source: Annotated[str, Field(description="the command or file that it came from")],
        quote: Quote = None,
    ) -> dict[str, Any]:
        """Record text that is needed later and was hard to get, verbatim: an error, a working command, an output. The
        archive keeps all of it.
        """
        return self._add(EVIDENCE, {"type": type, "content": content, "source": source}, quote)

    @tool(shapes.recorded(Attempt), ADDS)
    def add_attempt(
        self,
        attempt: Annotated[str, Field(description="what was tried, in one sentence")],
        outcome: Annotated[str, Field(description="how it failed")],
        quote: Quote = None,
    ) -> dict[str, Any]:
        """Record what was tried and failed, so that it is not tried again."""
        return self._add(ATTEMPT, {"attempt": attempt, "outcome": outcome}, quote)

    @tool(shapes.recorded(WorkItem), SETS)
    def set_work_item(
        self,
        id: Annotated[str | None, Field(description="ticket, issue, task")] = None,  # noqa: A002  # the name on disk
        title: Annotated[str | None, Field(description="the name of the work")] = None,
        phase: Annotated[str | None, Field(description="plan, build, test …")] = None,
        progress: Annotated[float | None, Field(ge=0, le=1, description="from 0 to 1")] = None,
    ) -> dict[str, Any]:
        """Set the work item of this session. Fields that are not given stay unchanged."""
        if (id, title, phase, progress) == (None,) * 4:
            message = "there is nothing to set"
            raise UsageError(message, "give id, title, phase or progress")
        notes: list[str] = []
        manager = UnifiedStateManager(workspace=self._project.recording(notes.append))
        return {**disk_value(manager.set_work_item(id, title, phase, progress)), "notes": notes}

    @tool(shapes.Edited, SETS)
    def edit_item(
        self,
        id: Ref,  # noqa: A002  # the name in the answers
        changes: Annotated[dict[str, Any], Field(description="new values by field name; empty drops the item")],
    ) -> dict[str, Any]:
        """Correct or drop an item. A change of a rule or of the user's words is proposed to them."""
        notes: list[str] = []
        manager = UnifiedStateManager(workspace=self._project.recording(notes.append))
        entry = manager.edit(id, **changes) if changes else manager.drop(id)
        return {"id": entry.id, "status": entry.status or ACTIVE, "notes": notes}

    def _add(
        self, kind: str, body: dict[str, Any], quote: str | None, *, supersedes: str | None = None
    ) -> dict[str, Any]:
        notes: list[str] = []
        workspace = self._project.recording(notes.append)
        source = quoted_source(workspace, kind, body, quote)
        entry = add_item(workspace, kind, body, supersedes=supersedes, source=source)
        return {**disk_value(entry), "notes": notes}


class Texts:
    """The resources and the prompt of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def current(self) -> str:
        """Return the current state: constraints, decisions, open questions, failed attempts, errors, git."""
        return json_text(state_page(self._project, 0))

    def survival(self) -> str:
        """Return, for each compaction, which items its summary kept and lost, and which were restored.

        The newest comes first.
        """
        compactions = self._project.reading().use(survivals)
        shown, page = page_of_entries(visible_value(compactions[::-1]), 0)
        return json_text({"compactions": shown, "page": page.as_dict()})

    def hand_over(
        self, focus: Annotated[str, Field(description="the task of the next session; default: continue this work")] = ""
    ) -> str:
        """Write a hand-over of this work for another session or a person, from the recorded items and this
        conversation.
        """
        return hand_over(self._project.reading(), focus, current_time())
