"""Derive the facts in the steps of a session, and the sources of its items.

Whoever archives a step queues it in the same transaction. A hook that a prompt waits for leaves the queue to the next
one. So each step is derived from once and in order, also where a hook is killed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from sqlite3 import DatabaseError

from unified_state.archive.archive import Archive, explained
from unified_state.archive.session_work import change_todo, change_work, read_work, replace_todos
from unified_state.archive.steps import (
    calls_and_texts_before,
    find_step,
    queued_steps,
    unqueue_steps,
)
from unified_state.capture.record_facts import FactRecorder
from unified_state.capture.rules.client_tools import (
    PLAN_TOOL,
    QUESTION_TOOL,
    SHARED_TOOLS,
    TASK_LIST,
    TODO_TOOLS,
    TODO_WRITE,
    answered_plan,
    answers,
    changed_entry,
    listed_entries,
    plan_to_implement,
    whole_list,
)
from unified_state.capture.rules.commits import commits, may_make, pull_requests
from unified_state.capture.rules.failed_calls import (
    call_key,
    denial,
    failed_call,
    failed_edit,
    is_failed_check,
    refusal,
    refused_call,
)
from unified_state.capture.rules.marked_words import marks_in
from unified_state.capture.session_calls import SessionCalls
from unified_state.errors import StorageError
from unified_state.hosts.transcripts.rules.call_effects import (
    NO_CALL,
    Call,
    found_nothing,
    is_about_work,
    read_call,
    still_runs_as,
)
from unified_state.ledger.find_sources import SourceKeeper
from unified_state.lib.identifiers import relative_path
from unified_state.lib.times import to_text
from unified_state.model.hook_event import Moment
from unified_state.model.item import Fact, LedgerItem
from unified_state.model.step import NOTICE, PROMPT, TEXT, TOOL_RESULT, Step

_STEPS_AT_ONCE = 1_000
_LONGEST_TEXT = 1 << 20  # characters of a step that are looked at
_NOT_OF_A_STEP = (StorageError, OSError, DatabaseError)  # errors of the archive or the disk


def derive(archive: Archive, session: int, moment: Moment, report: Callable[[str], None] | None = None) -> None:
    """Derive from the queued steps of a session: the first batch always, the others while there is time.

    A step that makes a rule fail leaves the queue, because it would fail every later hook too. `report` is called with
    one line about it. Without `report` the error is raised.
    """
    most, is_first = _STEPS_AT_ONCE, True
    while (numbers := queued_steps(archive, session, most)) and (is_first or moment.has_time()):
        try:
            _derive_batch(archive, session, moment, most)
        except Exception as error:  # a rule can fail in any way on an unforeseen text
            if report is None or isinstance(error, _NOT_OF_A_STEP) or explained(error, archive.path) is not error:
                raise
            if most == 1:
                with archive.transaction(durable=False):
                    unqueue_steps(archive, session, numbers)
                report(f"nothing could be derived from S{numbers[0]}: {type(error).__name__}: {error}")
            most = 1  # the step is among them
        else:
            is_first = False


def _derive_batch(archive: Archive, session: int, moment: Moment, most: int) -> None:
    """Derive from so many queued steps, in a transaction that also removes them from the queue."""
    with archive.transaction(durable=False):
        calls = SessionCalls(archive, session)
        facts, sources = FactKeeper(archive, session, moment), SourceKeeper(archive, session)
        numbers = queued_steps(archive, session, most)  # another process may have taken some
        for step in filter(None, (find_step(archive, number) for number in numbers)):
            seen = step if len(step.text) <= _LONGEST_TEXT else step.replace(text=step.text[:_LONGEST_TEXT])
            facts.note(seen, calls.call_of(seen))
            sources.note(seen)
        sources.flush()
        unqueue_steps(archive, session, numbers)


PLANNING, IMPLEMENTING = "planning", "implementing"  # the phases that plans tell of
_LOOKED_BACK = 200  # steps among which the edits before a failed check are looked for


class FactKeeper:
    """Takes in the steps of one session, within one transaction."""

    def __init__(self, archive: Archive, session: int, moment: Moment) -> None:
        self._archive = archive
        self._session = session
        self._recorder = FactRecorder(archive, session, moment)

    def note(self, step: Step, call: Call | None) -> None:
        """Take in one step with its tool call."""
        if not is_about_work(step, call):
            return
        if step.kind == TOOL_RESULT:
            made = call or NO_CALL
            if step.is_error and not found_nothing(made.command, step.text):
                self._failed(step, made)
            elif call is not None and not still_runs_as(step.text):
                self._succeeded(step, call)
        elif step.kind not in (PROMPT, NOTICE) or step.agent is not None:
            return
        elif step.kind == PROMPT and (plan := plan_to_implement(step.text)) is not None:
            self._plan(plan, step)
        elif ":" in step.text and (step.kind == PROMPT or step.text.startswith("<command-")):
            self._marked(step)

    def _succeeded(self, step: Step, call: Call) -> None:
        if call.tool in (_ANSWERED if step.agent is None else SHARED_TOOLS):
            self._answered(step, call)
        self._recorder.succeeds(call.tool, call_key(call), step)
        if may_make(call.command):
            self._record((*commits(call.command, step.text), *pull_requests(call.command, step.text)), step)

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
            for entry in listed_entries(step.text) if call.tool == TASK_LIST else filter(None, [todo]):
                change_todo(self._archive, self._session, entry, to_text(step.at))

    def _failed(self, step: Step, call: Call) -> None:
        """A call failed, or the user refused it."""
        plan = answered_plan(call.fields, step.text, is_error=True) if call.tool == PLAN_TOOL else None
        reason, denied = refusal(step.text), denial(step.text)
        if plan is not None:
            self._plan(plan, step)
        elif reason is not None or denied is not None:
            is_question = call.tool == QUESTION_TOOL and not (reason or denied)
            found = [] if is_question else [refused_call(call, step.text, reason or "", denied or "")]
        else:
            found = [failed_call(call, step.text), *self._tried(step, call)]
        if plan is None:
            for item in self._record(found, step):
                self._recorder.fails(item, call.tool, call_key(call), step)

    def _tried(self, step: Step, call: Call) -> Iterable[Fact]:
        """The edits since a check ran last, where it fails now."""
        if not call.command or not is_failed_check(call.command, step.text):
            return
        key, files, said = call_key(call), list[str](), ""
        for before in calls_and_texts_before(self._archive, step, _LOOKED_BACK):
            if before.kind == TEXT:
                said = said or (before.text if files else "")
                continue
            made = read_call(before)
            if made.changes:
                files += [relative_path(path, self._recorder.root) for path in reversed(made.files)]
            elif before.tool_use_id != step.tool_use_id and made.command and call_key(made) == key:
                break
        if files:
            yield failed_edit(call.command, step.text, files, said)

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

    def _marked(self, step: Step) -> None:
        """A prompt has words that are marked. Nothing here tells who typed them, so they are proposed, unless the hook
        recorded them.
        """
        own, _ = marks_in(step.text)
        if own:
            from unified_state.capture.record_marked import is_recorded

            session = self._recorder.session_id
            new = [mark.proposed() for mark in own if not is_recorded(self._archive, mark, step, session)]
            self._record(new, step)

    def _record(self, facts: Iterable[Fact], step: Step) -> list[LedgerItem]:
        """The items that are new."""
        recorded = (self._recorder.record(fact, step, number) for number, fact in enumerate(facts))
        return [item for item in recorded if item is not None]


_ANSWERED = {QUESTION_TOOL, PLAN_TOOL, *TODO_TOOLS}
