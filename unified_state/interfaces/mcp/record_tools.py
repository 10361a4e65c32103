"""The tools that record. What they record is the model's word, `inferred`, unless it quotes the user.

Invariant: no tool gives an item authority. That comes from the user's own words in the archive alone.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from unified_state.capture.user_words import record_quoted
from unified_state.errors import UsageError
from unified_state.lib.record import disk_value
from unified_state.memory.manager.manager import UnifiedStateManager
from unified_state.memory.manager.state_writer import StateWriter
from unified_state.model.item import CONSTRAINT, DECISION, EVIDENCE, QUESTION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.interfaces.mcp.server_project import Project
    from unified_state.lib.record import Record

Ref = Annotated[str, Field(description="its id, such as D7 or Q1")]
Quote = Annotated[
    str | None,
    Field(
        description="the user's own words that say it: a whole sentence of a prompt of theirs, verbatim. Only then the "
        "item counts as theirs; it is checked against the archive"
    ),
]
Reversible = Annotated[bool, Field(description="false where it cannot be changed later; it then stays longest")]


class RecordingTools:
    """What an agent may record in a project. Every call is durable when it is answered."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def add_decision(
        self,
        decision: Annotated[str, Field(description="what was decided, in one sentence that stands on its own")],
        rationale: Annotated[str, Field(description="why, and what else was considered")],
        reversible: Reversible = True,
        quote: Quote = None,
    ) -> dict[str, Any]:
        """Record a decision that later work depends on, as soon as it is made. It survives compaction and is given back
        to later sessions. Where it replaces an earlier one, use `supersede_decision`.
        """
        return self._add(DECISION, {"decision": decision, "rationale": rationale, "reversible": reversible}, quote)

    def supersede_decision(
        self,
        id: Ref,  # noqa: A002  # the name in the answers
        decision: Annotated[str, Field(description="what holds now")],
        rationale: Annotated[str, Field(description="why it was changed")],
        reversible: Reversible = True,
        quote: Quote = None,
    ) -> dict[str, Any]:
        """Record the decision that takes the place of an earlier one, which is kept and marked as superseded."""
        body = {"decision": decision, "rationale": rationale, "reversible": reversible}
        return self._add(DECISION, body, quote, supersedes=id)

    def add_constraint(
        self,
        constraint: Annotated[str, Field(description="the rule, in one sentence")],
        source: Annotated[str, Field(description="where it comes from: the user, a file, a system")],
        blocking: Annotated[bool, Field(description="whether work has to stop rather than break it")] = False,
        quote: Quote = None,
    ) -> dict[str, Any]:
        """Record what limits the work: a rule of the user, an interface that must not change. A rule that the user
        gave should come with `quote`, since only the user's own word binds.
        """
        return self._add(CONSTRAINT, {"constraint": constraint, "source": source, "blocking": blocking}, quote)

    def add_question(
        self,
        question: Annotated[str, Field(description="what has to be found out or decided")],
        context: Annotated[str, Field(description="why it matters, and what is known")],
        priority: Literal["high", "medium", "low"] = "medium",
        quote: Quote = None,
    ) -> dict[str, Any]:
        """Record an open question that this session may not answer; `resolve_question` closes it."""
        return self._add(QUESTION, {"question": question, "context": context, "priority": priority}, quote)

    def resolve_question(
        self,
        id: Ref,  # noqa: A002  # the name in the answers
        resolution: Annotated[str, Field(description="what was found or decided")],
    ) -> dict[str, Any]:
        """Close an open question with its answer."""
        notes: list[str] = []
        entry = StateWriter(self._project.recording(notes.append)).resolve(id, resolution)
        return _recorded(entry, notes)

    def add_evidence(
        self,
        type: Literal["error", "command", "output", "observation"],  # noqa: A002  # the name on disk
        content: Annotated[str, Field(description="verbatim: the error, the command, the output")],
        source: Annotated[str, Field(description="the command or the file where it was seen")],
        quote: Quote = None,
    ) -> dict[str, Any]:
        """Record verbatim text that took effort to get and will be needed: an error, a command that works, an output.
        All of it is kept; the state shows its beginning.
        """
        return self._add(EVIDENCE, {"type": type, "content": content, "source": source}, quote)

    def set_work_item(
        self,
        id: Annotated[str | None, Field(description="ticket, issue, task")] = None,  # noqa: A002  # the name on disk
        title: Annotated[str | None, Field(description="what is worked on")] = None,
        phase: Annotated[str | None, Field(description="plan, build, test …")] = None,
        progress: Annotated[float | None, Field(ge=0, le=1, description="from 0 to 1")] = None,
    ) -> dict[str, Any]:
        """Say what this session works on; what is not given stays as it is."""
        if (id, title, phase, progress) == (None,) * 4:
            message = "there is nothing to set"
            raise UsageError(message, "give id, title, phase or progress")
        notes: list[str] = []
        manager = UnifiedStateManager(workspace=self._project.recording(notes.append))
        return _recorded(manager.set_work_item(id, title, phase, progress), notes)

    def _add(
        self, kind: str, body: dict[str, Any], quote: str | None, *, supersedes: str | None = None
    ) -> dict[str, Any]:
        notes: list[str] = []
        entry = record_quoted(self._project.recording(notes.append), kind, body, quote, supersedes=supersedes)
        return _recorded(entry, notes)


def _recorded(entry: Record, notes: list[str]) -> dict[str, Any]:
    """The entry as it stands in the state file, and what the agent should know of it."""
    return {**disk_value(entry), "notes": notes}
