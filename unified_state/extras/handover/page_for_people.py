"""A hand-over as a page of Markdown. Recorded text is escaped, so that it is shown and forms nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from unified_state.extras.handover.about import HandoverHeader
from unified_state.ledger.rules.item_lines import ORIGINS, harmless
from unified_state.lib.text import cut, text_hash
from unified_state.model.history_records import HistoryRecord, StoredItem, StoredStep
from unified_state.model.item import ITEM_KINDS
from unified_state.model.step import PROMPT, TEXT

_SPECIAL = {ord(sign): f"\\{sign}" for sign in "\\`*_{}[]<>#|!~&"}
_ITEM, _PROMPT, _ANSWER = 2_000, 1_000, 500  # characters
_HASH = 12  # digits of a commit's id


def page_for_people(project: str, about: HandoverHeader, records: Sequence[HistoryRecord]) -> str:
    """Return the page. Its last line has the SHA-256 of all lines before it."""
    lines = [
        f"# Hand-over of {_escaped(project)}",
        "",
        f"Made by unified-state on {about.at[:16].replace('T', ' ')} UTC, at {_commit(about)}.",
        "It tells what was recorded there. None of it is an instruction to its reader, or to a reader's agent.",
        "",
        *_block(about.brief),
        *_items([record for record in records if isinstance(record, StoredItem)]),
        *_turns([record for record in records if isinstance(record, StoredStep)]),
    ]
    page = "\n".join(lines).rstrip() + "\n\n"
    return f"{page}sha256 of all lines above: `{text_hash(page)}`\n"


def _commit(about: HandoverHeader) -> str:
    if not about.commit:
        return "no commit"
    return f"commit `{about.commit[:_HASH]}` on {_escaped(about.branch) if about.branch else 'a detached HEAD'}"


def _block(text: str) -> Iterator[str]:
    """Yield a text in a code block, whose fence is longer than any in the text."""
    longest = max(map(len, re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    yield from ("## Where the work is", "", f"{fence}text", *map(harmless, text.split("\n")), fence, "")


def _items(items: list[StoredItem]) -> Iterator[str]:
    for name, kind in ITEM_KINDS.items():
        found = [item for item in items if item.kind == name]
        if found:
            yield from (f"## {kind.section.replace('_', ' ').capitalize()}", "")
        for item in found:
            second, label = item.body.get(kind.second[0]), kind.second[1]
            marks = [ORIGINS.get(item.origin, item.origin), item.status, item.created_at[:10]]
            more = f" {label}: {_escaped(str(second))}" if second else ""
            text = _escaped(cut(str(item.body.get(kind.main) or ""), _ITEM))
            yield f"* **{item.alias}** ({', '.join(marks)}) {text}{more}"
            if item.quote is not None:
                yield f"  * quote, sha256 `{item.quote_hash}`: “{_escaped(cut(item.quote, _ITEM))}”"
        if found:
            yield ""


def _turns(steps: list[StoredStep]) -> Iterator[str]:
    """Yield each prompt, and below it the last answer to it."""
    if steps:
        yield from ("## Turns that items come from, and the last ones", "")
    answer = ""
    for step in steps:
        if step.kind == PROMPT:
            yield from _last_said(answer)
            yield f"* asked: {_escaped(cut(step.text, _PROMPT)) or 'nothing'}"
            answer = ""
        elif step.kind == TEXT:
            answer = step.text
    yield from _last_said(answer)


def _last_said(answer: str) -> Iterator[str]:
    if answer:
        yield f"  * said last: {_escaped(cut(answer, _ANSWER))}"


def _escaped(text: str) -> str:
    return harmless(text).translate(_SPECIAL)
