"""Derive the working set of a session, the facts in its steps, and the sources of its items.

Whoever archives a step queues it in the same transaction. A hook that a prompt waits for leaves the queue to the next
one. So each step is derived from once and in order, also where a hook is killed.
"""

from __future__ import annotations

from unified_state.capture.record_facts import FactRecorder
from unified_state.capture.rules.client_tools import (
    PLAN_TOOL,
    QUESTION_TOOL,
    TODO_TOOLS,
    TODO_WRITE,
    answered_plan,
    answers,
    changed_entry,
    plan_to_implement,
    whole_list,
)
from unified_state.capture.rules.commits import commits, may_make, pull_requests
from unified_state.capture.rules.failed_calls import (
    EDITS,
    call_key,
    failed_call,
    failed_edit,
    is_failed_check,
    refusal,
    refused_call,
)
from unified_state.capture.rules.user_rules import rules_said
from unified_state.errors import StorageError
from unified_state.lib.identifiers import relative_path
from unified_state.lib.stdlib import DatabaseError
from unified_state.lib.times import to_text
from unified_state.memory.archive.archive import explained
from unified_state.memory.archive.session_notes import change_todo, replace_todos
from unified_state.memory.archive.sessions import change_work, read_work
from unified_state.memory.archive.steps import (
    call_of_result,
    calls_and_texts_before,
    find_step,
    queued_steps,
    unqueue_steps,
)
from unified_state.memory.ledger.watch_sources import SourceKeeper
from unified_state.memory.working_set.keep_working_set import WorkingSetKeeper
from unified_state.memory.working_set.rules.sightings import Call, read_call
from unified_state.model.step import PROMPT, TEXT, TOOL_CALL, TOOL_RESULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.hook_event import Moment
    from unified_state.model.item import Fact, LedgerItem
    from unified_state.model.step import Step


_STEPS_AT_ONCE = 1_000
_NOT_OF_A_STEP = (StorageError, OSError, DatabaseError)  # errors of the archive or the disk


def derive(archive: Archive, session: int, moment: Moment, report: Callable[[str], None] | None = None) -> None:
    """Derive from the queued steps of a session: the first batch always, the others while there is time.

    A step that makes a rule fail leaves the queue, because it would fail every later hook too. `report` is called with
    one line about it. Without `report` the error is raised.
    """
    most, is_first = _STEPS_AT_ONCE, True
    while (numbers := queued_steps(archive, session, 1)) and (is_first or moment.has_time()):
        try:
            _derive_batch(archive, session, moment, most)
        except Exception as error:
            if report is None or isinstance(error, _NOT_OF_A_STEP):
                raise
            if most > 1:
                most //= 2  # until the step is found
                continue
            if explained(error, archive.path) is not error:
                raise
            with archive.transaction(durable=False):
                unqueue_steps(archive, session, numbers)
            report(f"nothing could be derived from S{numbers[0]}: {type(error).__name__}: {error}")
            most = _STEPS_AT_ONCE
        is_first = False


def _derive_batch(archive: Archive, session: int, moment: Moment, most: int) -> None:
    """Derive from so many queued steps, in a transaction that also removes them from the queue."""
    with archive.transaction(durable=False):
        keepers = (
            WorkingSetKeeper(archive, session),
            FactKeeper(archive, session, moment),
            SourceKeeper(archive, session),
        )
        numbers = queued_steps(archive, session, most)  # another process may have taken some
        for step in filter(None, (find_step(archive, number) for number in numbers)):
            for keeper in keepers:
                keeper.note(step)
        for keeper in keepers:
            keeper.flush()
        unqueue_steps(archive, session, numbers)


PLANNING, IMPLEMENTING = "planning", "implementing"  # the phases that plans tell of
_LOOKED_BACK = 200  # steps among which the edits before a failed check are looked for
_NO_CALL = Call("", {})


class FactKeeper:
    """Takes in the steps of one session, within one transaction; call `flush` at its end."""

    def __init__(self, archive: Archive, session: int, moment: Moment) -> None:
        self._archive = archive
        self._session = session
        self._recorder = FactRecorder(archive, session, moment)
        self._calls: dict[str, Step] = {}

    def note(self, step: Step) -> None:
        """Take in one step."""
        if step.kind == TOOL_CALL:
            if step.tool_use_id:
                self._calls[step.tool_use_id] = step
        elif step.kind == TOOL_RESULT:
            made = self._call_of(step)
            if step.is_error:
                self._failed(step, _NO_CALL if made is None else read_call(made))
            elif made is not None:
                self._succeeded(step, made)
        elif step.kind == PROMPT and step.agent is None:
            self._said(step)

    def flush(self) -> None:
        """Bring what was captured to an end."""
        self._recorder.flush()

    def _call_of(self, step: Step) -> Step | None:
        identity = step.tool_use_id or ""
        if identity in self._calls:
            return self._calls.pop(identity)
        return call_of_result(self._archive, self._session, identity) if identity else None

    def _said(self, step: Step) -> None:
        """What the user said: a plan to implement, or words with a rule in them."""
        plan = plan_to_implement(step.text)
        if plan is None:
            self._record(rules_said(step.text), step)
        else:
            self._plan(plan, step)

    def _succeeded(self, step: Step, made: Step) -> None:
        tool = made.tool or ""
        if step.agent is None and tool in _ANSWERED:
            self._answered(step, read_call(made))
        if self._recorder.is_failing(tool):
            self._recorder.succeeds(tool, call_key(read_call(made).fields), step)
        if may_make(made.text):
            command = read_call(made).fields.get("command")
            if isinstance(command, str):
                self._record((*commits(command, step.text), *pull_requests(command, step.text)), step)

    def _answered(self, step: Step, call: Call) -> None:
        """A tool gave back what the user answered, or what became of the agent's list."""
        if call.tool == QUESTION_TOOL:
            self._record(answers(call.fields, step.text), step)
        elif call.tool == PLAN_TOOL:
            plan = answered_plan(call.fields, step.text, is_error=False)
            if plan is not None:
                self._plan(plan, step)
        elif call.tool == TODO_WRITE:
            replace_todos(self._archive, self._session, whole_list(call.fields), to_text(step.at))
        else:
            todo = changed_entry(call.tool, call.fields, step.text)
            if todo is not None:
                change_todo(self._archive, self._session, todo, to_text(step.at))

    def _failed(self, step: Step, call: Call) -> None:
        """A call failed, or the user refused it."""
        plan = answered_plan(call.fields, step.text, is_error=True) if call.tool == PLAN_TOOL else None
        reason = refusal(step.text)
        if plan is not None:
            self._plan(plan, step)
        elif reason is not None:
            found = [refused_call(call.tool, call.fields, step.text, reason)]
        else:
            found = [failed_call(call.tool, call.fields, step.text), *self._tried(step, call)]
        if plan is None:
            for item in self._record(found, step):
                self._recorder.fails(item, call.tool, call_key(call.fields), step)
        if reason:
            self._record(rules_said(reason), step)

    def _tried(self, step: Step, call: Call) -> Iterable[Fact]:
        """The edits since a check ran last, where it fails now."""
        command = call.fields.get("command")
        if not isinstance(command, str) or not is_failed_check(command, step.text):
            return
        files: list[str] = []
        said = ""
        for before in calls_and_texts_before(self._archive, step, _LOOKED_BACK):
            if before.kind == TEXT:
                said = said or (before.text if files else "")
            elif before.tool in EDITS:
                files += [relative_path(path, self._recorder.root) for path in _path(read_call(before))]
            elif before.tool_use_id != step.tool_use_id and _runs(before, command):
                break
        if files:
            yield failed_edit(command, step.text, files, said)

    def _plan(self, fact: Fact, step: Step) -> None:
        """A plan was approved or rejected: what is worked on, and its phase, unless the user calls them otherwise."""
        self._record([fact], step)
        work = read_work(self._archive, self._session)
        item, title = dict(work.get("workItem") or {}), fact.body.get("title")
        if title and item.get("title") in {None, work.get("planTitle")}:
            item["title"] = title
            work["planTitle"] = title
        if item.get("phase") in {None, PLANNING, IMPLEMENTING}:
            item["phase"] = IMPLEMENTING if title else PLANNING
        change_work(self._archive, self._session, {**work, "workItem": item})

    def _record(self, facts: Iterable[Fact], step: Step) -> list[LedgerItem]:
        """The items that are new."""
        recorded = (self._recorder.record(fact, step, number) for number, fact in enumerate(facts))
        return [item for item in recorded if item is not None]


_ANSWERED = {QUESTION_TOOL, PLAN_TOOL, *TODO_TOOLS}


def _path(call: Call) -> list[str]:
    value = call.fields.get("file_path") or call.fields.get("notebook_path")
    return [value] if isinstance(value, str) else []


def _runs(made: Step, command: str) -> bool:
    """Whether a call ran the command."""
    return call_key(read_call(made).fields) == call_key({"command": command})
