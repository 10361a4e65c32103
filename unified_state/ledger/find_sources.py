"""Sources: an item that a session recorded is linked to the archived text it came from.

An agent records with a tool call, which is archived later, so an item is linked when the next steps of its session are
archived. The user's own words have priority: an item that a sentence of the user states is `user_said`. Evidence whose
text is in a tool's output is `observed`. A decision or constraint may have been in a tool's output, a file or a web
page before the user or the agent stated it. Then that text is its source, so it is only proposed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from unified_state.archive.archive import Archive
from unified_state.archive.steps import KIND_NUMBERS, find_step, readable, uuid_key
from unified_state.hosts.transcripts.rules.own_words import own_passages, said_in
from unified_state.ledger.item_table import ACTIVE, PROPOSED, selected_items, update_item
from unified_state.ledger.rules.short_item import main_text
from unified_state.lib.record import Record
from unified_state.lib.text import find_quote, text_hash
from unified_state.lib.times import CLOCK_SLACK, to_milliseconds, to_text
from unified_state.model.constraint import ASK, DENY, INFERRED, OBSERVED, USER_SAID
from unified_state.model.item import CONSTRAINT, DECISION, EVIDENCE, LedgerItem
from unified_state.model.step import ATTACHMENT, PROMPT, TEXT, TOOL_CALL, TOOL_FILE, TOOL_RESULT, Step

_SEEN = (TOOL_RESULT, TOOL_FILE, ATTACHMENT)  # steps written by neither the user nor the model
_SOURCES = (PROMPT, TEXT, TOOL_CALL, *_SEEN)
_LOOKS_BACK = 12 * 3_600_000  # milliseconds before an item that are searched for its source
_MOST_STEPS, _MOST_CHARACTERS = 300, 200_000
_POSSIBLE_SOURCES = (PROMPT, TOOL_CALL, TOOL_RESULT)
_MOST_ITEMS = 20
_LEAST_WORDS = 4  # of a text long enough to be recognized in a tool's output


class Source(Record):
    """The text that an item came from: its origin, the transcript entry, the quote."""

    origin: str
    uuid: str
    quote: str


class SourceKeeper:
    """Collects the steps of one session as they are archived. `flush` links the items recorded since then to them."""

    def __init__(self, archive: Archive, session: int) -> None:
        self._archive = archive
        self._session = session
        self._since: int | None = None

    def note(self, step: Step) -> None:
        """Note an archived step."""
        if step.kind in _POSSIBLE_SOURCES and (self._since is None or step.at < self._since):
            self._since = step.at

    def flush(self) -> None:
        """Link the items whose source is now archived."""
        if self._since is None:
            return
        since, self._since = to_text(self._since - CLOCK_SLACK), None
        # The user's own items need no source. Captured ones and those of summaries have another.
        where = (
            "WHERE session_id = (SELECT session_id FROM session WHERE id = ?) AND created_at >= ? "
            "AND source_uuid IS NULL AND origin != 'user_said' AND rule IS NULL AND compaction IS NULL "
            "ORDER BY created_at DESC LIMIT ?"
        )
        for item in selected_items(self._archive, where, self._session, since, _MOST_ITEMS):
            source = find_source(self._archive, self._session, item)
            if source is not None:
                update_item(self._archive, _sourced(item, source))


def find_source(archive: Archive, session: int, item: LedgerItem) -> Source | None:
    """Return the text in a session that an item came from, if it is archived. In a tool call it may be quoted for the
    shell.
    """
    at = (to_milliseconds(item.created_at) or 0) + CLOCK_SLACK
    steps = _steps_before(archive, session, at)
    said = main_text(item).strip()
    by_user = _by_user(steps, said)
    if by_user is not None:
        return by_user
    if item.kind == EVIDENCE:
        return _first(steps, said, _SEEN) or _first(steps, said, (TOOL_CALL,))
    if item.kind in {DECISION, CONSTRAINT} and len(said.split()) >= _LEAST_WORDS:
        earliest = _first(list(reversed(steps)), said, _SOURCES)
        if earliest is not None and earliest.origin == OBSERVED:
            return earliest
    return _first(steps, said, (TOOL_CALL,))


def _steps_before(archive: Archive, session: int, at: int) -> list[Step]:
    """Return the steps of a session that may be a source, the newest first."""
    numbers = [KIND_NUMBERS[kind] for kind in _SOURCES]
    found = archive.column(
        "SELECT step.id FROM turn JOIN step ON turn = turn.id WHERE session = ?1 AND turn.at BETWEEN ?2 AND ?3 "
        f"AND step.at <= ?3 AND kind IN ({', '.join(map(str, numbers))}) ORDER BY step.id DESC LIMIT ?4",
        session,
        at - _LOOKS_BACK,
        at,
        _MOST_STEPS,
    )
    return [step for number in found if (step := find_step(archive, number)) is not None]


def _by_user(steps: list[Step], said: str) -> Source | None:
    for step in steps:
        if step.kind == PROMPT and step.agent is None and len(step.text) <= _MOST_CHARACTERS:
            words = said_in(own_passages(step.text), said)
            if words is not None:
                return Source(USER_SAID, step.uuid, words)
    return None


def _first(steps: list[Step], said: str, kinds: tuple[str, ...]) -> Source | None:
    for step in steps:
        if step.kind in kinds and len(step.text) <= _MOST_CHARACTERS:
            text = readable(step)
            quote = find_quote(text, said) if step.kind == TOOL_CALL else said if said in text else None
            if quote is not None:
                return Source(OBSERVED if step.kind in _SEEN else INFERRED, step.uuid, quote)
    return None


def _sourced(item: LedgerItem, source: Source) -> LedgerItem:
    """Return the item with its source. A decision or constraint from a tool's output becomes a proposal.

    The user's words cover the rule, but not the scope that an agent gave it, so a mode of `deny` becomes `ask`.
    """
    untrusted = source.origin == OBSERVED and item.kind in {DECISION, CONSTRAINT} and item.status == ACTIVE
    return quoted(item, source.quote).replace(
        origin=source.origin,
        body={**item.body, "mode": ASK} if item.body.get("mode") == DENY else item.body,
        status=PROPOSED if untrusted else item.status,
        source_uuid=source.uuid,
    )


_CHARACTERS = 500  # of an entry; they replace a quote whose ends were masked


def requote(archive: Archive, uuid: str, mask: Callable[[str], str]) -> None:
    """Update the quotes of an entry that was masked."""
    steps = [find_step(archive, number) for number in entry_steps(archive, uuid)]
    _requote(archive, items_of_entry(archive, uuid), [readable(step) for step in steps if step is not None], mask)


def requote_summary(archive: Archive, compaction: int, summary: str, mask: Callable[[str], str]) -> None:
    """Update the quotes of a summary that was masked."""
    _requote(archive, items_of_summary(archive, compaction), [summary], mask)


def _requote(archive: Archive, items: Iterable[LedgerItem], texts: Sequence[str], mask: Callable[[str], str]) -> None:
    for item in items:
        if item.quote is None or any(item.quote in text for text in texts):
            continue
        masked = mask(item.quote)
        stands = any(masked in text for text in texts)
        update_item(archive, quoted(item, masked if stands else texts[0][:_CHARACTERS]))


def quoted(item: LedgerItem, quote: str) -> LedgerItem:
    """Return the item with another quote."""
    return item.replace(quote=quote, quote_hash=text_hash(quote))


def drop_quotes(archive: Archive, items: Iterable[LedgerItem]) -> None:
    """Delete the quotes of items whose source was forgotten."""
    for item in items:
        update_item(archive, item.replace(quote=None, quote_hash=None))


def items_of_entry(archive: Archive, uuid: str) -> list[LedgerItem]:
    """Return the items whose source is a transcript entry."""
    return selected_items(archive, "WHERE source_uuid = ?", uuid)


def items_of_summary(archive: Archive, compaction: int) -> list[LedgerItem]:
    """Return the items whose source is the summary of a compaction."""
    return selected_items(archive, "WHERE compaction = ?", compaction)


def entry_steps(archive: Archive, uuid: str) -> list[int]:
    """Return the numbers of the steps of a transcript entry, in order, including forgotten steps."""
    return archive.column("SELECT id FROM step WHERE uuid = ? ORDER BY id", uuid_key(uuid))


def turn_at(archive: Archive, session: int, at: int) -> int | None:
    """Return the turn of a session that was running at a time."""
    where = "WHERE session = ? AND agent IS NULL AND at <= ?"
    return archive.value(f"SELECT id FROM turn {where} ORDER BY at DESC, id DESC LIMIT 1", session, at)
