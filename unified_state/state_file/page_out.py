"""Paging out: what exceeds the budget of the state file leaves it. All of it stays in the archive, and the command that
`tokenMetrics.whole` names prints it.

All of the file counts. Notes, sessions and git's lists have what the items leave free, and half of the target at least.
Blocking constraints, irreversible decisions, high-priority open questions and the newest errors always stay. Superseded
decisions and resolved questions leave first. Among the others the more important and the newer items stay longer.

An exact token count is slow (tiktoken has to load), so each count is stored with its item.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence

from unified_state.archive.archive import Archive
from unified_state.ledger.item_table import note_place
from unified_state.ledger.rules.short_item import entry_text, key_decisions, oldest_first, sections_of
from unified_state.lib.record import disk_value
from unified_state.lib.times import to_text
from unified_state.model.item import CONSTRAINT, DECISION, EVIDENCE, QUESTION, LedgerItem
from unified_state.model.session_state import State
from unified_state.settings import Settings
from unified_state.state_file.state_file import (
    CHARACTERS_PER_TOKEN,
    SCALE,
    budget_status,
    encode_state,
    token_scale,
)

Counter = Callable[[Sequence[str]], list[int]]

_SCALED_AT = "token_scale_at"
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
    scale = token_scale(archive)
    if counter is not None:
        items = _counted(archive, items, counter)
    count = counter or _estimated
    estimates = (item.estimate or _estimated([entry_text(item)])[0] for item in items)
    sizes = {item.uuid: round((size + _INDENT) * scale) for item, size in zip(items, estimates, strict=True)}
    target, most = max(settings.budget_target, settings.budget_min), settings.budget_max
    room = max(target // 2, most - sum(sizes.values()))

    def size_of(state: State) -> int:
        return round((count([encode_state(disk_value(state)).decode()])[0] + _FRAME) * scale)

    rest, size = _shortened(rest, room, size_of)
    total = size + sum(sizes.values())
    gone = [] if counter is None else leaving(oldest_first(items, now), sizes, total, target, most)
    with archive.transaction():
        for item in gone:
            note_place(archive, item.replace(paged_out_at=to_text(now)))
    left = {item.uuid for item in gone}
    items = [item for item in items if item.uuid not in left]
    total -= sum(sizes[item.uuid] for item in gone)
    metrics = rest.token_metrics.replace(estimated_tokens=total, budget_status=budget_status(total, target, most))
    summaries = rest.summaries
    if gone:
        metrics = metrics.replace(last_truncation=to_text(now))
        summaries = summaries.replace(key_decisions=key_decisions(items) if summaries.key_decisions else ())
    return rest.replace(**sections_of(items), summaries=summaries, token_metrics=metrics)


def _estimated(texts: Sequence[str]) -> list[int]:
    return [round(len(text) / CHARACTERS_PER_TOKEN) for text in texts]


def _shortened(state: State, most: int, size: Callable[[State], int]) -> tuple[State, int]:
    """Return the longest form of a state without items that has at most so many tokens, with its size."""
    forms = list(_shorter(state))
    if (whole := size(state)) <= most:
        return state, whole
    at = bisect_left(forms, -most, hi=len(forms) - 1, key=lambda form: -size(form))
    return forms[at], size(forms[at])


def _shorter(state: State) -> Iterator[State]:
    """Yield a state without items, and then with less and less: first what it says twice or git says, notes last."""
    yield state
    newest, *others = state.sessions or [""]
    for name in (newest, *reversed(others)):  # the notes of the newest are in the summaries, too
        state = state.replace(sessions={one: state.sessions[one] for one in state.sessions if one != name})
        yield state
    git = state.git.replace(modified_files=())
    for shorter in (git, git.replace(status="", recent_commits=())):
        state = state.replace(git=shorter, summaries=state.summaries.replace(key_decisions=()))
        yield state
    highlights, actions = state.summaries.context_highlights, state.summaries.pending_actions
    while highlights or actions:
        highlights, actions = highlights[1:], actions if highlights else actions[:-1]
        summaries = state.summaries.replace(context_highlights=highlights, pending_actions=actions)
        yield state.replace(summaries=summaries)


def _counted(archive: Archive, items: list[LedgerItem], count_tokens: Counter) -> list[LedgerItem]:
    unknown = [item for item in items if item.estimate is None]
    counts = count_tokens([entry_text(item) for item in unknown])
    sized = {item.uuid: item.replace(estimate=count) for item, count in zip(unknown, counts, strict=True)}
    with archive.transaction():
        for item in sized.values():
            note_place(archive, item)
    return [sized.get(item.uuid, item) for item in items]


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


def calibrated_at(archive: Archive) -> int | None:
    """Return when the factor was measured, in milliseconds since 1970."""
    at = archive.meta(_SCALED_AT)
    return int(at) if at else None


def keep_calibration(archive: Archive, scale: float, now: int) -> None:
    """Store a measured factor."""
    with archive.transaction():
        archive.set_meta(SCALE, f"{scale:.3f}")
        archive.set_meta(_SCALED_AT, str(now))
