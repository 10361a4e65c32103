"""State files of earlier versions, brought to today's shape: small steps from one version to the next, on plain JSON.

1.0.0 and 2.0.0 are the seed's; 1.0.0 had no structured sections, 2.0.0 called the work item `sd`. Fields that a step
does not know stay as they are.
"""

from __future__ import annotations

from unified_state.errors import DamagedFileError, NewerVersionError
from unified_state.model.session_state import STATE_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Json = dict[str, Any]

SECTIONS = ("decisions", "constraints", "openQuestions", "evidenceLedger")
_LONGEST_NUMBER = 9  # digits; no version has more


def migrate_state(state: Json, path: str) -> Json:
    """The state in the shape of this version. Raises NewerVersionError for a newer major version, DamagedFileError
    for none.
    """
    version = state.get("version")
    first = version.split(".")[0] if isinstance(version, str) else ""
    if not (first.isascii() and first.isdigit() and len(first) < _LONGEST_NUMBER):
        message = f"{path} has no version that could be read: {str(version)[:60]!r}"
        raise DamagedFileError(message, "it is set aside and written anew from the archive")
    major = int(first)
    if major > int(STATE_VERSION.split(".")[0]):
        message = f"{path} has version {version}; this unified-state knows up to {STATE_VERSION}"
        raise NewerVersionError(message, "upgrade unified-state: pip install --upgrade unified-state")
    for step in _STEPS[max(0, major - 1) :]:
        state = step(state)
    return state


def _from_1_to_2(state: Json) -> Json:
    """2.0.0 added the four sections and the token metrics."""
    empty: Json = {section: [] for section in SECTIONS}
    return {**empty, "tokenMetrics": {}, **state, "version": "2.0.0"}


def _from_2_to_3(state: Json) -> Json:
    """3.0.0 calls the work item `workItem`, whatever ticket system it comes from, knows the trigger `precompact` alone,
    and derives the key decisions from the decisions: where there are none, the key decisions are all there was.
    """
    migrated = {name: value for name, value in state.items() if name != "sd"}
    work_item = state.get("workItem") or state.get("sd")
    if isinstance(work_item, dict):
        migrated["workItem"] = work_item
    if state.get("trigger") == "auto":
        migrated["trigger"] = "precompact"
    if not state.get("decisions") and (decisions := _key_decisions(state)):
        migrated["decisions"] = decisions
    return {**migrated, "version": STATE_VERSION}


def _key_decisions(state: Json) -> list[Json]:
    summaries = state.get("summaries")
    texts = summaries.get("keyDecisions") if isinstance(summaries, dict) else None
    decisions = [text for text in texts if isinstance(text, str) and text.strip()] if isinstance(texts, list) else []
    return [
        {"id": f"D{number}", "decision": text, "rationale": "not recorded", "timestamp": state.get("timestamp")}
        for number, text in enumerate(decisions, 1)
    ]


_STEPS: tuple[Callable[[Json], Json], ...] = (_from_1_to_2, _from_2_to_3)
"""Step number n leads from major version n + 1 to n + 2."""
