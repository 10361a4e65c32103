"""Facts in the results of the tools with which a client asks the user, presents a plan and keeps a to-do list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unified_state.capture.rules.failed_calls import refusal
from unified_state.lib.text import text_hash
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import DECISION, Fact, Todo

ANSWER = "answer"
QUESTION_TOOL = "AskUserQuestion"
_RESPONDED = "The user responded: "
_NOT_SENT = "Before going idle the user had selected: "
_NO_OPTION = "(no option selected)"
_NOTES = " notes: "
# Ends of an answer and of the user's notes, in addition to the next question.
_NOTES_ENDS = (". You can now ", ". Read the answers", ". They also wrote", ". Call ")
_ENDS = ('" selected preview:\n', '" notes: ', *(f'"{end}' for end in _NOTES_ENDS))


def answers(call: dict[str, Any], result: str) -> Iterator[Fact]:
    """Yield the decisions in the result of the call."""
    questions = [asked for asked in _list(call, "questions") if _text(asked, "question")]
    if result.startswith(_RESPONDED):
        yield from _response(questions, result)
        return
    status = "proposed" if _NOT_SENT in result else "active"
    places = [(result.find(f'"{_text(asked, "question")}"='), asked) for asked in questions]
    found = sorted([(place, asked) for place, asked in places if place >= 0], key=lambda one: one[0])
    for (begin, asked), following in zip(found, [*found[1:], None], strict=False):
        pair = result[begin : following[0] - len(", ") if following else None]
        said, notes, length = _read(pair, len(_text(asked, "question")) + len('""='))
        if said or notes:
            yield _decision(asked, said, notes, status, pair[:length])


def _response(questions: list[dict[str, Any]], result: str) -> Iterator[Fact]:
    """Yield the decision when the user wrote one answer to all questions."""
    said = result.removeprefix(_RESPONDED).strip()
    if said:
        asked = " / ".join(_text(question, "question") for question in questions)
        yield _decision({"question": asked}, said, "", "active", said)


def _read(pair: str, begin: int) -> tuple[str, str, int]:
    """Return the answer and the user's notes in one `"question"="answer" notes: …`, and their end position."""
    if pair.startswith(_NO_OPTION, begin):
        said, length = "", begin + len(_NO_OPTION)
    else:
        last = pair.rfind('"')
        end = min(_places(pair, _ENDS, begin + 1), default=last if last > begin else len(pair))
        said, length = pair[begin + 1 : end], end + 1
    at = pair.find(_NOTES, length)
    if at < 0:
        return said.strip(), "", length
    end = min(_places(pair, _NOTES_ENDS, at), default=len(pair))
    return said.strip(), pair[at + len(_NOTES) : end].strip(), end


def _places(text: str, ends: tuple[str, ...], begin: int) -> list[int]:
    return [place for end in ends if (place := text.find(end, begin)) >= 0]


def _decision(asked: dict[str, Any], said: str, notes: str, status: str, quote: str) -> Fact:
    question = _text(asked, "question")
    others = [option for option in _list(asked, "options") if not _is_taken(_text(option, "label"), said)]
    body = {
        "decision": " ".join(filter(None, (question, said, f"({notes})" if notes not in {"", said} else ""))),
        "rationale": f"not taken: {'; '.join(map(_option, others))}" if others else "",
        "reversible": True,
        "question": question,
        "answer": said,
    }
    return Fact(ANSWER, DECISION, USER_SAID, status, body, quote, replaces=question)


def _is_taken(label: str, said: str) -> bool:
    """Return whether an option is the answer, or one of several chosen options."""
    return f",{label}," in f",{said}," or f", {label}, " in f", {said}, "


def _option(option: dict[str, Any]) -> str:
    about = _text(option, "description")
    return f"{_text(option, 'label')} ({about})" if about else _text(option, "label")


def _list(holder: dict[str, Any], name: str) -> list[dict[str, Any]]:
    value = holder.get(name)
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _text(holder: dict[str, Any], name: str) -> str:
    value = holder.get(name)
    return value if isinstance(value, str) else ""


APPROVED_PLAN, REJECTED_PLAN = "approved plan", "rejected plan"
PLAN_TOOL = "ExitPlanMode"
_APPROVED = "User has approved "
_HEADS = ("\n## Approved Plan:\n", "\n## Approved Plan (edited by user):\n")
_TO_IMPLEMENT = "Implement the following plan:\n\n"
_BACK = "\n\nIf you need specific details from before exiting plan mode"
_TITLE_CHARACTERS = 200
_LABELS = ("plan", "the plan", "implementation plan")


def answered_plan(call: dict[str, Any], result: str, *, is_error: bool) -> Fact | None:
    """Return the fact that the user approved or rejected a presented plan, or None if the result shows neither."""
    written = call.get("plan")
    plan = written.strip() if isinstance(written, str) else ""
    if is_error:
        reason = refusal(result)
        return None if reason is None or not plan else _rejected(plan, reason, result)
    if not result.startswith(_APPROVED):
        return None
    quoted = next((after for head in _HEADS for _, found, after in [result.partition(head)] if found), "").strip()
    return _approved(quoted or plan, quoted or result) if quoted or plan else None


def plan_to_implement(prompt: str) -> Fact | None:
    """Return the plan at the beginning of a conversation that the user started by approving it and clearing the
    context.
    """
    if not prompt.startswith(_TO_IMPLEMENT):
        return None
    plan = prompt.removeprefix(_TO_IMPLEMENT).rpartition(_BACK)[0] or prompt.removeprefix(_TO_IMPLEMENT)
    return _approved(plan.strip(), plan.strip()) if plan.strip() else None


def title_of(plan: str) -> str:
    """Return the first heading of a plan that says more than that it is one, or else such a line, without markup."""
    lines = [line.strip() for line in plan.splitlines() if line.strip()]
    for line in (*(line for line in lines if line.startswith("#")), *lines):
        title = line.lstrip("#").strip()
        label, _, rest = title.partition(":")
        title = rest.strip() if label.lower() in _LABELS else title
        if title:
            return title[:_TITLE_CHARACTERS]
    return plan[:_TITLE_CHARACTERS]


def _approved(plan: str, quote: str) -> Fact:
    title = title_of(plan)
    body = {"decision": f"Approved plan: {title}", "rationale": "", "reversible": True, "plan": plan, "title": title}
    key = f"{APPROVED_PLAN}:{text_hash(plan)}"  # the session that carries it out tells of it again
    return Fact(APPROVED_PLAN, DECISION, USER_SAID, "active", body, quote, replaces=title, key=key)


def _rejected(plan: str, reason: str, result: str) -> Fact:
    title = title_of(plan)
    body = {"decision": f"Rejected plan: {title}", "rationale": reason, "reversible": True, "plan": plan}
    return Fact(REJECTED_PLAN, DECISION, USER_SAID, "dismissed", body, reason or result)


TODO_WRITE, TASK_CREATE, TASK_UPDATE, TASK_LIST = "TodoWrite", "TaskCreate", "TaskUpdate", "TaskList"
TODO_TOOLS = (TODO_WRITE, TASK_CREATE, TASK_UPDATE, TASK_LIST)
SHARED_TOOLS = (TASK_CREATE, TASK_UPDATE, TASK_LIST)  # subagents work on the session's own list with these
STATES = ("pending", "in_progress", "completed", "deleted")
_CREATED = "Task #"


def whole_list(call: dict[str, Any]) -> tuple[Todo, ...]:
    """Return the list that TodoWrite set."""
    return tuple(
        Todo(str(number), text, _state(entry.get("status")) or "pending")
        for number, entry in enumerate(_list(call, "todos"), 1)
        if (text := _text(entry, "content").strip())
    )


def listed_entries(result: str) -> Iterator[Todo]:
    """Yield the entries in the answer of TaskList: lines such as `#6 [in_progress] Add tests [blocked by #5]`."""
    for line in result.splitlines():
        key, _, rest = line.removeprefix("#").partition(" [")
        state, found, text = rest.partition("] ")
        if found and key.isdigit() and _state(state):
            yield Todo(key, text.partition(" [blocked by #")[0].strip(), state)


def changed_entry(tool: str, call: dict[str, Any], result: str) -> Todo | None:
    """Return the entry that TaskCreate added or TaskUpdate changed."""
    text = _text(call, "subject").strip() or None
    if tool == TASK_CREATE:
        key = result.removeprefix(_CREATED).split(None, 1)[0] if result.startswith(_CREATED) else ""
        return Todo(key, text, "pending") if key and text else None
    key, state = str(call.get("taskId") or ""), _state(call.get("status"))
    return Todo(key, text, state) if key and (text or state) else None


def _state(value: object) -> str | None:
    return value if isinstance(value, str) and value in STATES else None
