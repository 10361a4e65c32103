"""Search, recall and export over a JSON history, in the forms in which an archive gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unified_state.errors import NotFoundError, UsageError
from unified_state.records.history import HistoryQuery
from unified_state.records.hit import Hit
from unified_state.records.item import ALIAS_LETTERS, LedgerItem
from unified_state.rules.cutting import one_line
from unified_state.rules.querying import names_file, query_words, snippet, words_of
from unified_state.rules.refs import COMPACTION, ITEM, STEP, TURN, parse_ref
from unified_state.rules.timestamps import to_milliseconds, to_text
from unified_state.rules.word_roots import root_of
from unified_state.services.exporting import export_line
from unified_state.services.json_tier.history import open_history
from unified_state.services.json_tier.reading import begin_of_turn, compaction_numbers, steps_at
from unified_state.storage.ledger import ACTIVE
from unified_state.storage.steps import readable
from unified_state.storage.tiers.json_forms import plain
from unified_state.storage.tiers.json_search import search
from unified_state.storage.tiers.json_steps import is_gone

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from unified_state.records.history import StoredItem, StoredStep
    from unified_state.services.finding import Wanted
    from unified_state.services.json_tier.history import JsonHistory
    from unified_state.services.workspace import Workspace
    from unified_state.storage.full_text import Filters

_SNIPPET, _HALF, _WHOLE = 240, 0.5, 10.0
_MANY = 10  # times as many are looked at where a file's name is to stand in them
_HINT = "`unified-state search` finds refs"


def find_json(workspace: Workspace, wanted: Wanted, filters: Filters) -> list[Hit]:
    """The best hits, items first where they hold all that is asked for."""
    history, words = open_history(workspace.place), query_words(wanted.query)
    if wanted.session_id is not None and all(one.session_id != wanted.session_id for one in history.store.sessions()):
        message = f"there is no session {wanted.session_id[:60]!r} in the history"
        raise NotFoundError(message, "hits of `unified-state search --json` name their sessions")
    hits = list(_item_hits(history, words, wanted, filters))
    if wanted.kind not in ALIAS_LETTERS:
        query = HistoryQuery(
            text=wanted.query,
            limit=wanted.limit * (_MANY if wanted.file else 1),
            session_id=wanted.session_id,
            kind=wanted.kind,
            tool=wanted.tool,
            since=filters.since,
        )
        found = search(history.files, query)
        hits += [_hit(place, step, score, words) for place, step, score in found if _names(step, wanted.file)]
    return sorted(hits, key=lambda hit: (-hit.score, hit.status not in {None, ACTIVE}))[: wanted.limit]


def recall_json(workspace: Workspace, ref: str) -> dict[str, Any]:
    """What the ref names, as one JSON value with `ref` and `kind`. Raises NotFoundError."""
    history = open_history(workspace.place)
    kind, number = parse_ref(ref)
    if kind == ITEM:
        found = history.store.find_items(ref)
        if not found:
            message = f"there is no item {ref}"
            raise NotFoundError(message, _HINT)
        return _item(history, found[0], found[1:])
    return {TURN: _turn, STEP: _step, COMPACTION: _compaction}[kind](history, number)


def json_turn_of(workspace: Workspace, ref: str) -> str:
    """The ref of a turn: itself, or the one that a step belongs to."""
    kind, number = parse_ref(ref)
    if kind == TURN:
        return f"T{number}"
    if kind != STEP:
        message = f"{ref} is no turn and no step"
        raise UsageError(message, "turns have refs such as T41, steps such as S1234; recall takes the others")
    history = open_history(workspace.place)
    own = steps_at(history, STEP, number)
    if not own:
        message = f"there is no step S{number}"
        raise NotFoundError(message, _HINT)
    return f"T{begin_of_turn(history, number, own[0][1])}"


def json_items(workspace: Workspace, kind: str | None = None, statuses: Iterable[str] = ()) -> list[LedgerItem]:
    """The items of a kind in some statuses, or all, the oldest first."""
    chosen = tuple(statuses)
    return [
        _ledger(item)
        for item in open_history(workspace.place).store.items()
        if kind in {None, item.kind} and (not chosen or item.status in chosen)
    ]


def export_json(workspace: Workspace, session_id: str | None, *, items: bool) -> Iterator[dict[str, Any]]:
    """Every item, or every step of a session or of all, each as `recall` gives it."""
    history = open_history(workspace.place)
    if items:
        yield from (_item(history, item, []) for item in history.store.items())
        return
    names = [one.session_id for one in history.store.sessions()]
    if session_id is not None and session_id not in names:
        message = f"there is no session {session_id} in the history"
        raise NotFoundError(message, "`unified-state search` names the sessions it finds")
    for name in names if session_id is None else [session_id]:
        tools: dict[str, str] = {}
        position = 0
        while page := history.store.steps(name, position):
            for position, step in page:
                if step.tool and step.tool_use_id:
                    tools[step.tool_use_id] = step.tool
                yield export_line(position, plain(step), name, tools.get(step.tool_use_id or ""))


def _item_hits(history: JsonHistory, words: list[str], wanted: Wanted, filters: Filters) -> Iterator[Hit]:
    """Items are few, so they are looked through; one that has half of the words is a hit."""
    roots = {root_of(word) for word in words}
    for item in history.store.items():
        text = " ".join(value for value in item.body.values() if isinstance(value, str))
        share = len(roots & {root_of(word) for word in words_of(text)}) / (len(roots) or 1)
        passes = (
            wanted.tool is None
            and wanted.kind in {None, item.kind}
            and wanted.session_id in {None, item.session_id}
            and (filters.since is None or (to_milliseconds(item.created_at) or 0) >= filters.since)
            and (wanted.file is None or any(names_file(one, wanted.file) for one in (text, *item.files)))
        )
        if passes and share >= _HALF:
            yield Hit(
                ref=item.alias,
                kind=item.kind,
                uuids=(item.source_uuid,) if item.source_uuid else (),
                session_id=item.session_id,
                timestamp=item.created_at,
                score=_WHOLE if share == 1 else 2 * share,
                snippet=snippet(one_line(text), words, _SNIPPET),
                status=item.status,
                coverage=round(share, 2),
            )


def _hit(place: int, step: StoredStep, score: float, words: list[str]) -> Hit:
    return Hit(
        ref=f"S{place}",
        kind=step.kind,
        uuids=(step.uuid,),
        session_id=step.session_id,
        timestamp=to_text(step.at),
        score=score,
        snippet=snippet(one_line(readable(plain(step))), words, _SNIPPET),
    )


def _names(step: StoredStep, file: str | None) -> bool:
    return file is None or names_file(readable(plain(step)), file)


def _item(history: JsonHistory, item: StoredItem, others: list[StoredItem]) -> dict[str, Any]:
    aliases = {one.uuid: one.alias for one in history.store.items()}  # none of an item that the disk has changed
    links = [one for one in history.store.links() if {one.from_uuid, one.to_uuid} <= aliases.keys()]
    return {
        "ref": item.alias,
        **_ledger(item).as_dict(),
        **({"superseded_by": aliases[item.superseded_by]} if item.superseded_by in aliases else {}),
        "links": [_link(one.relation, aliases[one.to_uuid]) for one in links if one.from_uuid == item.uuid],
        "linked_from": [_link(one.relation, aliases[one.from_uuid]) for one in links if one.to_uuid == item.uuid],
        "in_state_file": item.paged_out_at is None,
        **({"also": [one.alias for one in others]} if others else {}),
    }


def _link(relation: str, ref: str) -> dict[str, str]:
    return {"relation": relation, "ref": ref}


def _ledger(item: StoredItem) -> LedgerItem:
    return LedgerItem(**{name: getattr(item, name) for name in LedgerItem.names})


def _step(history: JsonHistory, number: int) -> dict[str, Any]:
    found = steps_at(history, STEP, number)
    if not found and is_gone(history.files, number):
        message = f"S{number} was pruned, or forgotten"
        raise NotFoundError(message, "its transcript may still have it, where the client kept that")
    if not found:
        message = f"there is no step S{number}"
        raise NotFoundError(message, _HINT)
    step = found[0][1]
    return export_line(number, plain(step), step.session_id, step.tool)


def _turn(history: JsonHistory, number: int) -> dict[str, Any]:
    steps = steps_at(history, TURN, number)
    if not steps:
        message = f"there is no turn T{number}"
        raise NotFoundError(message, _HINT)
    first = steps[0][1]
    tools = {step.tool_use_id: step.tool for _, step in steps if step.tool}
    return {
        "ref": f"T{number}",
        "kind": "turn",
        "session_id": first.session_id,
        **({"agent": first.agent} if first.agent else {}),
        "timestamp": to_text(first.at),
        "steps": [
            export_line(place, plain(step), first.session_id, tools.get(step.tool_use_id)) for place, step in steps
        ],
    }


def _compaction(history: JsonHistory, number: int) -> dict[str, Any]:
    found = compaction_numbers(history).get(number)
    if found is None:
        message = f"there is no compaction K{number}"
        raise NotFoundError(message, "`unified-state status` says how many there are")
    return {
        "ref": f"K{number}",
        "kind": "compaction",
        "session_id": found.session_id,
        "trigger": found.trigger,
        "timestamp": to_text(found.at),
        "pre_tokens": found.pre_tokens,
        "summary": found.summary,
        "restored": [],
    }
