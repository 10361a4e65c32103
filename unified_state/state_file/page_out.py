"""Paging out: what exceeds the budget of the state file leaves it. All of it stays in the archive, and the command that
`tokenMetrics.whole` names prints it.

All of the file counts. Notes, sessions and git's lists are shortened to half of the target. Then whole items leave, the
least important first, until the file is at its target. Blocking constraints, irreversible decisions, high-priority open
questions and the newest errors always stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from unified_state.archive.archive import Archive
from unified_state.ledger.item_table import leave_file
from unified_state.ledger.rules.short_item import entry_text, key_decisions, oldest_first, sections_of
from unified_state.lib.record import disk_value
from unified_state.lib.times import to_text
from unified_state.model.item import CONSTRAINT, DECISION, EVIDENCE, QUESTION, LedgerItem
from unified_state.model.session_state import State
from unified_state.settings import Settings
from unified_state.state_file.state_file import CHARACTERS_PER_TOKEN, budget_status, encode_state

Counter = Callable[[Sequence[str]], list[int]]

NEWEST_ERRORS = 3
_LEAVES_FIRST, _WAITS, _MINOR, _USUAL, _MUST_STAY = range(5)
_INDENT, _FRAME = 2, 12  # tokens around an entry of a list, and around the lists of items


def page_out(
    archive: Archive, rest: State, items: list[LedgerItem], settings: Settings, counter: Counter | None, now: int
) -> State:
    """Return the state of the file: `rest`, which has no items, and those of the items that stay. The others are marked
    in the ledger as paged out.

    Without a counter (in hooks) sizes are estimated, and no item leaves.
    """
    forms = list(_shorter(rest))
    texts = [*map(entry_text, items), *(encode_state(disk_value(form)).decode() for form in forms)]
    counts = (counter or _estimated)(texts)
    sizes = {item.uuid: count + _INDENT for item, count in zip(items, counts, strict=False)}
    target, most = max(settings.budget_target, settings.budget_min), settings.budget_max
    fitting = [number for number, size in enumerate(counts[len(items) :]) if size <= target // 2]
    number = fitting[0] if fitting else len(forms) - 1
    rest, total = forms[number], counts[len(items) + number] + _FRAME + sum(sizes.values())
    gone = [] if counter is None else leaving(oldest_first(items, now), sizes, total, target, most)
    leave_file(archive, gone, to_text(now))
    items = [item for item in items if item not in gone]
    total -= sum(sizes[item.uuid] for item in gone)
    metrics = rest.token_metrics.replace(estimated_tokens=total, budget_status=budget_status(total, target, most))
    summaries = rest.summaries
    if gone:
        metrics = metrics.replace(last_truncation=to_text(now))
        summaries = summaries.replace(key_decisions=key_decisions(items) if summaries.key_decisions else ())
    return rest.replace(**sections_of(items), summaries=summaries, token_metrics=metrics)


def _estimated(texts: Sequence[str]) -> list[int]:
    return [round(len(text) / CHARACTERS_PER_TOKEN) for text in texts]


def _shorter(state: State) -> Iterator[State]:
    """Yield a state without items, and then with less and less: first what it says twice or git says, notes last."""
    yield state
    notes = state.summaries.replace(key_decisions=())
    state = state.replace(sessions={}, git=state.git.replace(modified_files=(), status="", recent_commits=()))
    for highlights, actions in ((None, None), (1, None), (0, None), (0, 5), (0, 0)):
        newest = notes.context_highlights[::-1][:highlights][::-1]
        fewer = notes.replace(context_highlights=newest, pending_actions=notes.pending_actions[:actions])
        yield state.replace(summaries=fewer)


def leaving(
    items: Sequence[LedgerItem], sizes: Mapping[str, int], total: int, target: int, most: int
) -> list[LedgerItem]:
    """Return the items that leave a file of `total` tokens: none up to `most`, else enough to reach `target`.

    `sizes` are tokens by UUID. The items are sorted by age, the oldest first.
    """
    if total <= most:
        return []
    newest_errors = [item.uuid for item in items if _is_open_error(item)][-NEWEST_ERRORS:]
    leave = []
    for item in sorted(items, key=lambda item: _importance(item, newest_errors)):  # stable sort: older ones first
        if total <= target or _importance(item, newest_errors) == _MUST_STAY:
            break
        leave.append(item)
        total -= sizes[item.uuid]
    return leave


def _importance(item: LedgerItem, newest_errors: Sequence[str]) -> int:
    if item.status in {"superseded", "resolved", "dismissed"}:
        return _LEAVES_FIRST
    if item.status == "proposed":
        return _WAITS
    body = item.body
    must_stay = (
        (item.kind == CONSTRAINT and body.get("blocking"))
        or (item.kind == DECISION and not body.get("reversible", True))
        or (item.kind == QUESTION and body.get("priority") == "high")
        or item.uuid in newest_errors
    )
    if must_stay:
        return _MUST_STAY
    minor = (item.kind == QUESTION and body.get("priority") == "low") or (
        item.kind == EVIDENCE and body.get("type") != "error"
    )
    return _MINOR if minor else _USUAL


def _is_open_error(item: LedgerItem) -> bool:
    return item.kind == EVIDENCE and item.body.get("type") == "error" and item.status == "active"
