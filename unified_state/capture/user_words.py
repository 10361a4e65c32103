"""The user's own words that a model names as the source of an item: whether they stand in the archive, and say it.

Invariant: an item is `user_said` only by a statement that the user typed, as it is archived. A quote that nobody said,
one that only a file or the model said, or one that says something else makes nothing the user's word.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.full_text import Filters, best_matches, count_having, count_steps
from unified_state.archive.sessions import session_number, transcripts_of
from unified_state.archive.steps import find_step, newest_steps
from unified_state.capture.running_turns import archive_running_turns
from unified_state.hosts.transcripts.rules.own_words import own_passages, said_in
from unified_state.ledger.find_sources import Source
from unified_state.ledger.rules.same_words import repeats
from unified_state.lib.query import query_words
from unified_state.lib.times import current_time
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import MAIN_FIELDS
from unified_state.model.step import PROMPT
from unified_state.project.workspace.workspace import Workspace

_RECENT, _CANDIDATES = 100, 100  # prompts that are looked at: of the session, and by their words
_MOST_CHARACTERS = 200_000
_INFERRED = "; recorded as inferred"
NOT_FOUND = (
    f"the quote does not stand in the user's own words in the archive{_INFERRED}; quote a whole sentence of theirs"
)
SAYS_ELSE = f"the user said that, but it does not say the item{_INFERRED}; word the item as the user did"


def check_quote(workspace: Workspace, quote: str, claim: str, now: int) -> Source | str:
    """Return the source that a quote is: the user said it, and it says the claim; or else why it is none.

    The session's transcript is archived first if need be, because the prompt of this very turn may not be.
    """
    quote, claim = workspace.masker.text(quote.strip()), workspace.masker.text(claim)
    if workspace.is_empty or not quote:
        return NOT_FOUND

    def action(archive: Archive) -> Source | str:
        session_id = workspace.session_id
        source = _find(archive, session_id, quote)
        if source is None and session_id is not None and workspace.settings.enabled:
            paths = transcripts_of(archive, session_id)
            archive_running_turns(archive, workspace, [(path, session_id) for path in paths], now)
            source = _find(archive, session_id, quote)
        if source is None:
            return NOT_FOUND
        return source if repeats(source.quote, claim) else SAYS_ELSE

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


def quoted_source(workspace: Workspace, kind: str, body: dict[str, Any], quote: str | None) -> Source | None:
    """Return the source of an item where the user said the quote and that says the item. Where not, the workspace's
    `report` is told why.
    """
    if quote is None:
        return None
    checked = check_quote(workspace, quote, str(body[MAIN_FIELDS[kind]]), current_time())
    if isinstance(checked, Source):
        return checked
    workspace.report(checked)
    return None
