"""The user's own words that a model names as the source of an item: whether they stand in the archive, and say it.

Invariant: an item is `user_said` only by a statement that the user typed, as it is archived. A quote that nobody said,
one that only a file or the model said, or one that says something else makes nothing the user's word.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.full_text import Filters, best_matches, count_having, count_steps
from unified_state.archive.pending_messages import read_pending
from unified_state.archive.sessions import session_number, transcripts_of
from unified_state.archive.steps import find_step, newest_steps
from unified_state.capture.capture_transcript import Capture
from unified_state.hosts.transcripts.rules.own_words import own_passages, said_in
from unified_state.ledger.find_sources import Source
from unified_state.ledger.rules.same_words import repeats
from unified_state.lib.query import query_words
from unified_state.lib.record import Record
from unified_state.lib.times import current_time
from unified_state.model.constraint import USER_SAID
from unified_state.model.hook_event import Moment
from unified_state.model.item import MAIN_FIELDS
from unified_state.model.step import PROMPT
from unified_state.project.workspace.workspace import Workspace

_RECENT, _CANDIDATES = 100, 100  # prompts that are looked at: of the session, and by their words
_MOST_CHARACTERS = 200_000
_CATCH_UP_SECONDS, _PAUSE = 2.0, 0.05
_INFERRED = "; recorded as inferred"
NOT_FOUND = (
    f"the quote does not stand in the user's own words in the archive{_INFERRED}; quote a whole sentence of theirs"
)
SAYS_ELSE = f"the user said that, but it does not say the item{_INFERRED}; word the item as the user did"


class Quoted(Record):
    """What became of a quote: the source that it is, or why it is none."""

    source: Source | None = None
    problem: str | None = None


def check_quote(workspace: Workspace, quote: str, claim: str, now: int) -> Quoted:
    """Whether the user said the quote, and it says the claim. What the session's transcript holds by now is archived
    first, since the prompt of this very turn may not be.
    """
    quote, claim = workspace.masker.text(quote.strip()), workspace.masker.text(claim)
    if workspace.is_empty or not quote:
        return Quoted(problem=NOT_FOUND)

    def action(archive: Archive) -> Quoted:
        source, until = _find(archive, workspace.session_id, quote), time.monotonic() + _CATCH_UP_SECONDS
        while source is None and time.monotonic() < until:
            if _catch_up(archive, workspace, now, until):
                source = _find(archive, workspace.session_id, quote)
            elif _is_pending(archive, workspace.session_id, quote):
                time.sleep(_PAUSE)
            else:
                break
        if source is None:
            return Quoted(problem=NOT_FOUND)
        return Quoted(source) if repeats(source.quote, claim) else Quoted(problem=SAYS_ELSE)

    return workspace.use(action)


def _find(archive: Archive, session_id: str | None, quote: str) -> Source | None:
    session = session_number(archive, session_id) if session_id else None
    if session is not None:
        found = _said(archive, newest_steps(archive, session, PROMPT, _RECENT), quote)
        if found is not None:
            return found
    steps = count_steps(archive)
    having = count_having(archive, query_words(quote), steps)
    return _said(archive, best_matches(archive, having, steps, Filters(kind=PROMPT), _CANDIDATES), quote)


def _said(archive: Archive, numbers: Iterable[int], quote: str) -> Source | None:
    for number in numbers:
        step = find_step(archive, number)
        if step is not None and step.agent is None and len(step.text) <= _MOST_CHARACTERS:
            words = said_in(own_passages(step.text), quote)
            if words is not None:
                return Source(USER_SAID, step.uuid, words)
    return None


def _is_pending(archive: Archive, session_id: str | None, quote: str) -> bool:
    """Whether a hook was told of it in a prompt that the client has not written into its transcript yet."""
    waiting = read_pending(archive, session_id) if session_id else []
    return any(said_in(own_passages(message.text), quote) for message in waiting if message.kind == PROMPT)


def _catch_up(archive: Archive, workspace: Workspace, now: int, until: float) -> int:
    """Archive what is new in the session's transcript; how many steps."""
    if workspace.session_id is None or not workspace.settings.enabled:
        return 0
    capture = Capture(
        archive,
        workspace.masker,
        Moment(now, has_time=lambda: time.monotonic() < until),
        postpones=True,
    )
    paths = transcripts_of(archive, workspace.session_id)
    return sum(capture.transcript(path, workspace.session_id).added for path in paths)


def quoted_source(workspace: Workspace, kind: str, body: dict[str, Any], quote: str | None) -> Source | None:
    """Return the source of an item where the user said the quote and that says the item. Where not, the workspace's
    `advise` is told why.
    """
    if quote is None:
        return None
    checked = check_quote(workspace, quote, str(body[MAIN_FIELDS[kind]]), current_time())
    if checked.problem is not None:
        workspace.advise(checked.problem)
    return checked.source
