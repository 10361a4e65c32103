"""basic-memory's notes: Markdown with fields at its top (`title`, `type`, `permalink`), observations and relations.

A note is a step. Of its observations (`- [category] text #tag (context)`) those of a category for which we have a kind
become proposals: decisions, constraints, questions. The others, and relations (`- relates to [[Note]]`), are found by
`search` in the note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from unified_state.extras.importers.foreign_records import (
    MOST_PROPOSALS,
    Conversation,
    fields_and_body,
    moment,
    proposal,
)
from unified_state.lib.text import text_hash
from unified_state.model.history_records import HistoryRecord
from unified_state.model.item import CONSTRAINT, DECISION, QUESTION
from unified_state.model.step import NOTICE
from unified_state.upkeep.exchange.foreign_files import ForeignFile

NAME = "basic-memory"
_OBSERVATION = re.compile(r"^[ \t]*[-*] \[([^\]\[\n]{2,40})\] +(\S.*)$", re.MULTILINE)
_LONGEST = 2_000  # characters of an observation
_ABOUT = {DECISION: "rationale", CONSTRAINT: "source", QUESTION: "context"}
_KINDS = {
    "decision": DECISION,
    "constraint": CONSTRAINT,
    "rule": CONSTRAINT,
    "requirement": CONSTRAINT,
    "preference": CONSTRAINT,
    "question": QUESTION,
    "open-question": QUESTION,
    "todo": QUESTION,
}


def told(head: str, path: str) -> bool:
    """Return whether the note has the fields that the program writes."""
    fields, _ = fields_and_body(head)
    return path.endswith(".md") and {"permalink", "title", "type"} <= set(fields)


def read(file: ForeignFile) -> Iterator[HistoryRecord]:
    """Yield the note, and its proposals."""
    text = file.text()
    fields, body = fields_and_body(text)
    times = [moment(fields.get(name)) for name in ("modified", "updated", "created", "date")]
    at = next(filter(None, times), 0) or file.modified()
    permalink = fields.get("permalink") or file.name
    talk = Conversation(NAME, permalink.partition("/")[0], at)
    yield talk.session()
    step = talk.step(NOTICE, text.strip(), name=f"{permalink}:{text_hash(text)[:16]}")
    yield step
    for found in islice(_OBSERVATION.finditer(body), MOST_PROPOSALS):
        kind = _KINDS.get(found[1].strip().lower())
        said, context = _without_tail(found[2])
        if kind and said:
            about = f"basic-memory: {fields.get('title')}{context}"
            yield proposal(step, kind, said, f"{permalink}:{said}", {_ABOUT[kind]: about})


def _without_tail(content: str) -> tuple[str, str]:
    """Return an observation without the tags and the context behind it, and the context in its brackets."""
    said, context = content[:_LONGEST].rstrip(), ""
    if said.endswith(")") and " (" in said:
        said, _, context = said.rpartition(" (")
    while said and said.rstrip().rpartition(" ")[2].startswith("#"):
        said = said.rstrip().rpartition(" ")[0]
    return said.strip(), f" ({context}" if context else ""
