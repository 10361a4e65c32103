"""A session's work in short, for the summariser: files, tools, the agent's decisions, the last turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from unified_state.archive.archive import Archive
from unified_state.archive.steps import recent_steps
from unified_state.ledger.rules.item_lines import harmless
from unified_state.lib.text import cut
from unified_state.model.step import PROMPT, TOOL_CALL
from unified_state.restore.rules.passages import decides, passages
from unified_state.restore.rules.recent_work import recent_work

_STEPS = 300
_FILES, _TOOLS, _DECISIONS, _PROMPTS = 12, 8, 6, 3
_CHARACTERS, _LOOKED_AT = 240, 10_000  # that are told of a text, and looked at


def work_in_short(archive: Archive, session: int) -> Iterator[str]:
    """Yield the lines, the most important first."""
    steps = recent_steps(archive, session, _STEPS)
    recent = recent_work(steps, archive.value("SELECT root FROM session WHERE id = ?", session) or "")
    own = (said.text for said in recent.texts if not said.is_report)
    decided = (passage for text in own for passage in passages(text) if decides(passage))
    for _, passage in zip(range(_DECISIONS), decided, strict=False):
        yield f"Decided or explained by the agent: {cut(harmless(passage), _CHARACTERS)}"
    if recent.edits:
        yield f"Files edited: {harmless(', '.join(path for path, _ in recent.edits[:_FILES]))}"
    tools = Counter(step.tool or "" for _, step in steps if step.kind == TOOL_CALL)
    if tools:
        most = sorted(tools, key=lambda tool: -tools[tool])[:_TOOLS]
        yield f"Tools: {', '.join(f'{harmless(tool)} {tools[tool]}' for tool in most)}"
    for turn, step in [found for found in steps if found[1].kind == PROMPT][-_PROMPTS:]:
        yield f"T{turn} asked: {cut(harmless(step.text[:_LOOKED_AT]), _CHARACTERS)}"
