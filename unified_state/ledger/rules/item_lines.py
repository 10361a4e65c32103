"""Items as text: one line for an item with its ref, origin and validity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unified_state.hosts.transcripts.rules.failure_lines import failing_lines
from unified_state.ledger.rules.short_item import enforced_mode, is_binding, scope_in
from unified_state.lib.fence import visible
from unified_state.lib.text import cut, one_line, well_formed
from unified_state.model.constraint import SCOPE_KINDS
from unified_state.model.item import ATTEMPT, CONSTRAINT, DECISION, EVIDENCE, ITEM_KINDS, QUESTION, LedgerItem, Validity

ORIGINS = {"user_said": "the user said", "observed": "observed", "inferred": "inferred"}
_MOST_NAMES = 4
_SOURCE_CHARACTERS, _SCOPE_CHARACTERS = 100, 100


def item_line(item: LedgerItem, limit: int) -> str:
    """Return one line for an item: `D7 (irreversible, the user said): Use PostgreSQL. Why: relational data`."""
    body, kind = item.body, ITEM_KINDS[item.kind]
    marks = [ORIGINS.get(item.origin, item.origin)]
    field, label = kind.second
    second = f" {label}: {body[field]}" if body.get(field) else ""
    if item.kind == EVIDENCE:
        content = telling(body["content"]) if body["type"] == "error" else body["content"]
        text = content + (f" [from {cut(body['source'], _SOURCE_CHARACTERS)}]" if body.get("source") else "")
        marks = [body["type"], *marks]
    elif item.kind == ATTEMPT:
        text = cut(one_line(body["attempt"]), limit // 2) + second
        marks = marks if item.rule is None else [ORIGINS["observed"]]  # the call is the agent's, the refusal the user's
    else:
        text = _sentence(_said(body, body[kind.main])) + second
    if item.kind == DECISION:
        marks += [] if body.get("reversible", True) else ["irreversible"]
    elif item.kind == CONSTRAINT:
        if body.get("blocking"):
            marks.append("blocking" if is_binding(item) else "meant as blocking, not confirmed by the user")
        marks += _enforcement(item)
    elif item.kind == QUESTION:
        marks += [f"{body.get('priority', 'medium')} priority"]
    return f"{item.alias} ({', '.join(marks)}): {cut(harmless(text), limit)}"


def _said(body: dict[str, Any], text: str) -> str:
    """Return the text of an item. Of an answer it says who asked and who answered."""
    asked = body.get("question") if "answer" in body else None
    return f"the agent asked: {asked} The user answered: {text.removeprefix(asked).strip()}" if asked else text


def _enforcement(item: LedgerItem) -> list[str]:
    """Return the mark that shows how a constraint is enforced, if it is."""
    scope = scope_in(item.body)
    if scope is None or item.status != "active":
        return []
    mode = enforced_mode(item)
    patterns = [pattern for kind in SCOPE_KINDS for pattern in getattr(scope, kind) or ()]
    return [f"enforced, {mode}: {cut(harmless('; '.join(patterns)), _SCOPE_CHARACTERS)}"]


def telling(output: str) -> str:
    """Return the lines of a long error output that name the error, or all of it if none does."""
    return "; ".join(failing_lines(output, "", is_error=True)) or output if "\n" in output.strip() else output


def harmless(text: str) -> str:
    """Return the text on one line, safe to show to a model. Lone surrogates are removed, because the API would refuse
    the conversation.
    """
    return visible(well_formed(one_line(text)))


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", "。")) else f"{text}."


def validity_text(validity: Validity) -> str:
    """Return the problems with an item's validity; "" if it is valid."""
    parts = [
        f"superseded by {validity.superseded_by}" if validity.superseded_by else "",
        f"files changed since: {_names(validity.changed)}" if validity.changed else "",
        f"files gone: {_names(validity.gone)}" if validity.gone else "",
        f"on another branch: {validity.branch}" if validity.branch else "",
        "recorded at a later commit than this checkout" if validity.behind else "",
        "in a part of the conversation that was rewound" if validity.rewound else "",
    ]
    return harmless("; ".join(filter(None, parts)))


def with_validity(line: str, validity: Validity | None) -> str:
    """Return the line of an item with the problems of its validity."""
    text = validity_text(validity) if validity else ""
    return f"{line} [{text}]" if text else line


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more
