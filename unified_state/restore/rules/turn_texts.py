"""The turns of a session: the newest steps verbatim, and turns by their importance, a line each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import exp2, log2

from unified_state.capture.rules.client_tools import TODO_TOOLS
from unified_state.hosts.transcripts.rules.call_effects import Call, is_about_work, read_call
from unified_state.ledger.rules.item_lines import harmless
from unified_state.lib.text import cut, estimate_tokens, one_line, strings_of
from unified_state.lib.times import age_text
from unified_state.model.known import Turn
from unified_state.model.step import TEXT, TOOL_CALL, TOOL_RESULT, Step
from unified_state.restore.rules.passages import is_announcement

_HALF_LIFE = 7 * 86_400_000  # milliseconds
_HALF = 250  # characters at each end of a long step
_REMINDER = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)  # the client adds it to results


def last_steps(turns: Sequence[Turn], tokens: float) -> list[str]:
    """Return the agent's newest texts and calls with their results, in order, within so many tokens."""
    lines: list[str] = []
    for turn in reversed(turns):
        results = {step.tool_use_id: step for step in turn.steps if step.kind == TOOL_RESULT}
        for step in reversed(turn.steps):
            line = _verbatim(turn.number, step, results.get(step.tool_use_id))
            tokens -= estimate_tokens(f"{line}\n") if line else 0
            if tokens < 0:
                return lines[::-1]
            lines += [line] if line else []
    return lines[::-1]


def _verbatim(turn: int, step: Step, result: Step | None) -> str:
    """Return a step in a line, of a long one both ends; "" for one that says nothing."""
    if step.kind == TOOL_CALL:
        call = read_call(step)
        if result is None or not is_about_work(result, call) or call.tool in TODO_TOOLS:
            return ""  # `[TODO]` has the current list
        given = call.command or " ".join(strings_of(call.fields).split())
        text = f"{call.tool} {given} -> {_REMINDER.sub('', result.text)}"
    elif step.kind == TEXT and step.text.strip():
        text = f"agent: {step.text}"
    else:
        return ""
    text = one_line(text)
    text = text if len(text) <= 2 * _HALF else f"{text[:_HALF]} … {text[-_HALF:]}"
    return f"  T{turn} {harmless(text)}"


def importance(turn: Turn, now: int) -> float:
    """Return 2 ** (-age / 7 days) x (1 + log2(1 + uses)) x (1 + .5 with tools + .3 with files)."""
    calls = [read_call(step) for step in turn.steps if step.kind == TOOL_CALL]
    recency = exp2(min(0, turn.at - now) / _HALF_LIFE)
    return recency * (1 + log2(1 + turn.uses)) * (1 + 0.5 * bool(calls) + 0.3 * any(call.files for call in calls))


_MOST_ACTIONS, _ACTION_CHARACTERS, _ANSWER_CHARACTERS = 6, 80, 200


def important_turns(turns: Sequence[Turn], now: int, tokens: float) -> list[str]:
    """Return the most important turns in a line each, in order, within so many tokens."""
    chosen: dict[int, str] = {}
    for turn in sorted(turns, key=lambda turn: (importance(turn, now), turn.number), reverse=True):
        line = _outline(turn, now)
        size = estimate_tokens(f"{line}\n")
        if line and size <= tokens:
            chosen[turn.number] = line
            tokens -= size
    return [chosen[number] for number in sorted(chosen)]


def _outline(turn: Turn, now: int) -> str:
    """Return what was done in a turn and its last answer; "" if that is nothing."""
    made = {step.tool_use_id: read_call(step) for step in turn.steps if step.kind == TOOL_CALL}
    work = [step for step in turn.steps if is_about_work(step, made.get(step.tool_use_id))]
    calls = [made[step.tool_use_id] for step in work if step.kind == TOOL_CALL]
    answer = next((step.text for step in reversed(work) if step.kind == TEXT and not is_announcement(step.text)), "")
    if not (calls or answer):
        return ""
    parts = [f"T{turn.number} ({age_text(now, turn.at)})"]
    if calls:
        actions = dict.fromkeys(f"{call.tool} {cut(one_line(_target(call)), _ACTION_CHARACTERS)}" for call in calls)
        failed = sum(step.is_error for step in work if step.kind == TOOL_RESULT)
        done = f"did {len(calls)} calls{f', {failed} failed' if failed else ''}:"
        parts += [done, harmless("; ".join(list(actions)[-_MOST_ACTIONS:])) + ";"]
    parts += ["said last:", cut(harmless(answer), _ANSWER_CHARACTERS)] if answer else []
    return "  " + " ".join(parts).rstrip(";")


# The most informative fields of a call that names no file and runs no command, in order of preference.
_TELLING_FIELDS = ("pattern", "url", "query", "description", "path", "prompt")


def _target(call: Call) -> str:
    telling = (call.fields.get(name) for name in _TELLING_FIELDS)
    names = " ".join(path.rsplit("/", 1)[-1] for path in call.files)
    texts = (names, call.command, *telling)
    return next((text for text in texts if isinstance(text, str) and text), "")
