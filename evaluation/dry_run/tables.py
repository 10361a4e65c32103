"""The tables of a dry run, as Markdown. An arm that gives nothing more than another is said so."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from benchmarks.averages import short
from evaluation.arms import ABLATIONS, BARE, OURS
from evaluation.dry_run.contexts import AGENTS, READS, Outcome
from evaluation.paired import against, compare, interval

KINDS = {
    "decision": "A decision, then real work and real summaries that did not see it",
    "question": "A question about a real session, after its own compaction and summary",
}


def tables(found: Sequence[Outcome], arms: Sequence[str]) -> str:
    """A table for each kind of story, and what each part gives."""
    told = []
    for kind, title in KINDS.items():
        if of_kind := [outcome for outcome in found if outcome.kind == kind]:
            count = len({outcome.story for outcome in of_kind})
            told += [f"\nWhat stands in the context. {title}: {count} stories.\n", *_table(of_kind, arms)]
            told += [f"\nWhat each part gives ({kind}):\n", *_parts(of_kind, arms)]
    return "\n".join(told)


def _table(found: Sequence[Outcome], arms: Sequence[str]) -> list[str]:
    head = (
        "| arm | all facts: reads | against bare | looks up | against bare | facts: reads | tokens: reads | looks up |"
    )
    lines = [head, "| --- | --- | --- | --- | --- | --: | --: | --: |"]
    for arm in arms:
        cells = [arm]
        for agent in AGENTS:
            values = _answered(found, arm, agent)
            cells += [interval(values), against(values, _answered(found, BARE, agent)) if arm != BARE else ""]
        cells.append(short(fmean(one.held for one in _of(found, arm, READS))))
        cells += [f"{fmean(one.tokens for one in _of(found, arm, agent)):,.0f}" for agent in AGENTS]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _parts(found: Sequence[Outcome], arms: Sequence[str]) -> list[str]:
    lines = []
    whole = _answered(found, OURS, READS)
    for arm in [arm for arm in ABLATIONS if arm in arms and whole]:
        compared = compare(whole, _answered(found, arm, READS))
        facts = fmean(one.held for one in _of(found, OURS, READS)) - fmean(one.held for one in _of(found, arm, READS))
        gives = f"{compared.better} stories, {facts:+.3f} of the facts (p {compared.p:.3f})"
        lines.append(f"* {arm.removeprefix('no-')}: {gives if facts or compared.better else 'nothing'}")
    return lines


def _of(found: Sequence[Outcome], arm: str, agent: str) -> list[Outcome]:
    return [outcome for outcome in found if (outcome.arm, outcome.agent) == (arm, agent)]


def _answered(found: Sequence[Outcome], arm: str, agent: str) -> list[float]:
    return [outcome.answered for outcome in _of(found, arm, agent)]
