"""Answers to AskUserQuestion: a decision of the user's, with the options that were not taken.

The client writes the answers into the tool's result as `"question"="answer"`, and what follows tells how they were
meant: they count where the user sent them, and are only a proposal where the time ran out before that.
"""

from __future__ import annotations

from unified_state.model.fact import Fact
from unified_state.model.item import DECISION
from unified_state.model.origin import USER_SAID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

ANSWER = "answer"
TOOL = "AskUserQuestion"
_RESPONDED = "The user responded: "
_NOT_SENT = "Before going idle the user had selected: "
_NO_OPTION = "(no option selected)"
_NOTES = " notes: "
# What ends an answer, and what ends the user's notes to one, beside the next question.
_ENDS = (
    '" selected preview:\n',
    '" notes: ',
    '". You can now ',
    '". Read the answers',
    '". They also wrote',
    '". Call ',
)
_NOTES_ENDS = (". You can now ", ". Read the answers", ". They also wrote", ". Call ")


def answers(call: dict[str, Any], result: str) -> Iterator[Fact]:
    """The decisions in the result of the call."""
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
    """The user wrote an answer of their own to all that was asked."""
    said = result.removeprefix(_RESPONDED).strip()
    if said:
        asked = " / ".join(_text(question, "question") for question in questions)
        yield _decision({"question": asked}, said, "", "active", said)


def _read(pair: str, begin: int) -> tuple[str, str, int]:
    """The answer and the user's notes in one `"question"="answer" notes: …`, and where they end."""
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
        "decision": " ".join(filter(None, (question, said, f"({notes})" if notes else ""))),
        "rationale": f"not taken: {'; '.join(map(_option, others))}" if others else "",
        "reversible": True,
        "question": question,
        "answer": said,
    }
    return Fact(ANSWER, DECISION, USER_SAID, status, body, quote, replaces=question)


def _is_taken(label: str, said: str) -> bool:
    """Whether an option is the answer, or one of several that were chosen."""
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
