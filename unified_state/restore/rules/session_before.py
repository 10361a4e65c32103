"""What the session before was about, for a new session: at most 150 tokens."""

from __future__ import annotations

from unified_state.ledger.rules.item_lines import harmless
from unified_state.lib.text import cut, estimate_tokens, one_line
from unified_state.model.known import RestoreInput

MOST_TOKENS = 150
_PROMPT, _ANSWER, _NEXT, _PLACE = 36, 44, 14, 20  # tokens
_SHORTER = 0.8
_END_SHARE = 0.4  # of an answer; its end often names the next step


def last_session(known: RestoreInput) -> tuple[str, list[str]] | None:
    """Return the title and the lines: the last prompt, the last answer, the next step.

    Return None if no prompt is known.
    """
    if not known.prompts:
        return None
    prompt = known.prompts[-1]
    answer = next((said.text for said in known.recent.texts if said.text.strip()), "")
    lines = [f"  last prompt: {_within(one_line(prompt.text), _PROMPT)}"]
    if answer:
        lines.append(f"  last answer: {_both_ends(one_line(answer))}")
    if known.pending_actions:
        lines.append(f"  next: {_within(known.pending_actions[0], _NEXT)}")
    where = f"in {_within(one_line(known.ran_in), _PLACE)}, " if known.ran_in else ""
    return f"[LAST SESSION] {where}{known.age(prompt.at)}", lines


def _within(text: str, tokens: int) -> str:
    """Return the text, or its start, in at most that many tokens."""
    told = harmless(text)
    while estimate_tokens(told) > tokens:
        told = cut(told, int(len(told) * _SHORTER))
    return told


def _both_ends(text: str) -> str:
    """Return the text, or its start and its end."""
    if estimate_tokens(harmless(text)) <= _ANSWER:
        return harmless(text)
    start = _within(text, round(_ANSWER * (1 - _END_SHARE)))
    end = harmless(text)[-len(start) :]
    while estimate_tokens(end) > _ANSWER * _END_SHARE:
        end = end[int(len(end) * (1 - _SHORTER)) + 1 :]
    return f"{start} {end.partition(' ')[2] or end}"
