"""The compaction page: what was known, what the summary kept of it, and what came back, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.compactions import Compaction, Restore, compactions_of, find_compaction, restores_of
from unified_state.capture.rules.presence import judge
from unified_state.capture.survival_table import SurvivalRow, find_survival
from unified_state.errors import NotFoundError
from unified_state.extras.viewer.open_projects import Project
from unified_state.extras.viewer.page_writer import page_values, write_page
from unified_state.ledger.explain_item import place_of
from unified_state.ledger.item_table import find_item, list_items
from unified_state.ledger.rules.short_item import main_text
from unified_state.lib.record import Record
from unified_state.lib.text import counted
from unified_state.lib.times import to_text
from unified_state.model.item import ITEM_KINDS, LedgerItem
from unified_state.model.known import KEPT, MISSING, RecentWork
from unified_state.restore.compose_restore import gather_in_stages, restored_text
from unified_state.restore.rules.brief_lines import told_refs
from unified_state.search.timeline_table import find_session

_MOST_COMPACTIONS = 500
UNJUDGED = "not compared"
# How each verdict reads, and its sign, so that the colour is not the only mark.
VERDICTS = {
    KEPT: ("✓", "kept"),
    MISSING: ("✕", "missing"),
    UNJUDGED: ("·", "not compared"),
}


# What became of an item in the end, and how the page calls the items of which this holds, the worst first.
LOST, BACK, SAFE, MORE = "lost", "back", "safe", "more"
OUTCOMES = {
    LOST: "Lost, not given back",
    BACK: "Lost, and given back",
    SAFE: "Kept by the summary",
    MORE: "Given back beside them",
}


class Fate(Record):
    """One line of the page: an item, the verdict on it, what the summary says, and where it came back.

    `told` is the name of the restored text, and `arrived` tells whether that text reached the model. `turn` is the turn
    that the item comes from.
    """

    ref: str
    kind: str
    text: str
    second: str
    label: str
    origin: str
    status: str
    turn: int | None
    verdict: str
    says: str = ""
    told: str = ""
    arrived: bool = False

    @property
    def outcome(self) -> str:
        """What became of the item in the end: one of OUTCOMES."""
        if self.verdict == UNJUDGED:
            return MORE
        return SAFE if self.verdict == KEPT else BACK if self.told else LOST


class Piece(Record):
    """A piece of the summary, and the refs of the items that it tells."""

    text: str
    refs: tuple[str, ...] = ()
    verdict: str = ""


def compaction_page(archive: Archive, project: Project, number: int, now: int) -> str:
    """Return the page of a compaction. Raises NotFoundError."""
    return write_page("compaction.html", project=project, **compaction_values(archive, project, number, now))


def compaction_values(archive: Archive, project: Project, number: int, now: int) -> dict[str, Any]:
    """Return what the page of a compaction shows. Raises NotFoundError."""
    cut = find_compaction(archive, number)
    if cut is None or cut.session is None:
        message = f"there is no compaction K{number}"
        raise NotFoundError(message, "the page of a session shows its compactions")
    survived = find_survival(archive, number)
    restores = [restore for restore in restores_of(archive, number) if restore.text]
    fates = list(_fates(archive, survived, cut, restores))
    judged = [fate for fate in fates if fate.verdict != UNJUDGED]
    others = [one.id for one in compactions_of(archive, cut.session, _MOST_COMPACTIONS)]
    place = others.index(number) if number in others else 0
    return {
        "cut": cut,
        "session": find_session(archive, cut.session),
        "groups": {outcome: [fate for fate in fates if fate.outcome == outcome] for outcome in OUTCOMES},
        "outcomes": OUTCOMES,
        "judged": judged,
        "kinds": Counter(fate.kind for fate in judged if fate.kind),
        "counts": {verdict: sum(fate.verdict == verdict for fate in judged) for verdict in VERDICTS},
        "verdicts": VERDICTS,
        "headline": headline(judged, any_hook=bool(restores)),
        "tokens": survived.tokens if survived else 0,
        "pieces": list(_pieces(cut.summary or "", survived)),
        "restores": restores,
        "would": would_come_back(archive, project, cut, now) if not restores and cut.summary else (),
        "newer": others[place - 1] if place else None,
        "older": others[place + 1] if place + 1 < len(others) else None,
        **page_values("sessions", now),
    }


def would_come_back(archive: Archive, project: Project, cut: Compaction, now: int) -> list[str]:
    """Return the texts that a hook would have given back after a compaction, from what was recorded and said before."""
    if project.workspace is None:
        return []
    at = cut.boundary_at or cut.started_at
    stages = gather_in_stages(archive, project.workspace.place, cut.session, "compact", now)
    *_, known = islice(stages, 3)  # the fourth looks at the working tree, as it is today
    summary, items = cut.summary or "", tuple(one for one in known.items if one.created_at <= to_text(at))
    known = known.replace(
        now=at,
        compaction=cut.id,
        items=items,
        summary=summary,
        survival=judge(items, summary),
        prompts=tuple(one for one in known.prompts if one.at < at),
        turns=tuple(turn for turn in known.turns if all(step.at < at for step in turn.steps)),
        recent=RecentWork(),
        working_set=(),
        saved_at=None,
        highlights=(),
        pending_actions=(),
        git=None,
    )
    return [text for text in restored_text(known, project.workspace.settings).as_dict().values() if text]


def headline(judged: list[Fate], *, any_hook: bool) -> tuple[str, str]:
    """Return in words what the summary did to the items that were compared with it, and how many came back. Where
    there is nothing to tell, a sentence is "".
    """
    total, lost = len(judged), [fate for fate in judged if fate.outcome != SAFE]
    if not lost:
        return f"The summary kept {'all ' if total > 1 else ''}{counted(total, 'item')}." if judged else "", ""
    back = sum(fate.outcome == BACK for fate in lost)
    said = f"The summary lost {len(lost)} of {counted(total, 'item')}."
    if not back:
        return said, "Nothing was given back." if any_hook else ""
    given = "it" if total == 1 else f"all {back}" if back == len(lost) > 1 else str(back)
    return said, f"unified-state gave {given} back."


def _fates(archive: Archive, survived: SurvivalRow | None, cut: Compaction, restores: list[Restore]) -> Iterator[Fate]:
    """Yield a line for each item that was compared with the summary, then for each other one that came back."""
    summary = cut.summary or ""
    judged = survived.survival.items if survived else ()
    refs = {one.ref for one in judged}
    others = [item for item in list_items(archive) if item.alias not in refs] if restores else []
    told = _told(restores, [*refs, *(item.alias for item in others)])
    for one in judged:
        says = summary[one.begin : one.end].strip()
        yield _fate(archive, one.ref, one.verdict, told).replace(says=says)
    for item in others:
        if item.alias in told:
            yield _fate(archive, item.alias, UNJUDGED, told)


def _told(restores: list[Restore], refs: list[str]) -> dict[str, tuple[str, bool]]:
    """Return, for the items that came back, the text that tells them and whether it arrived."""
    told: dict[str, tuple[str, bool]] = {}
    for restore in restores:
        for ref in told_refs(restore.text.splitlines(), refs):
            has_arrived = restore.delivered_at is not None
            if ref not in told or has_arrived:
                told[ref] = (restore.part, has_arrived)
    return told


def _fate(archive: Archive, ref: str, verdict: str, told: dict[str, tuple[str, bool]]) -> Fate:
    part, arrived = told.get(ref, ("", False))
    try:
        item = find_item(archive, ref)
    except NotFoundError:
        return Fate(ref, "", "it was forgotten since", "", "", "", "", None, verdict, told=part, arrived=arrived)
    second, label = second_text(item)
    turn, _ = place_of(archive, item)
    known = (item.alias, item.kind, main_text(item), second, label, item.origin, item.status, turn)
    return Fate(*known, verdict, told=part, arrived=arrived)


def second_text(item: LedgerItem) -> tuple[str, str]:
    """Return the text behind an item's main text (the reason of a decision), and its label."""
    name, label = ITEM_KINDS[item.kind].second
    return str(item.body.get(name) or ""), label


def _pieces(summary: str, survived: SurvivalRow | None) -> Iterator[Piece]:
    """Yield the summary in pieces, those that tell an item with its ref."""
    spans: dict[tuple[int, int], list[tuple[str, str]]] = {}
    for one in survived.survival.items if survived else ():
        if 0 <= one.begin < one.end <= len(summary):
            spans.setdefault((one.begin, one.end), []).append((one.ref, one.verdict))
    at = 0
    for (begin, end), found in sorted(spans.items()):
        if begin < at:
            continue  # it overlaps the one before
        if at < begin:
            yield Piece(summary[at:begin])
        yield Piece(summary[begin:end], tuple(ref for ref, _ in found), found[0][1])
        at = end
    if at < len(summary):
        yield Piece(summary[at:])
