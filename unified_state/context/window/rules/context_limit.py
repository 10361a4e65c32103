"""Where the client compacts: from what it tells, else from where it was seen to, else by its documented rule.

The client keeps 20,000 tokens of the window free for the summary, and compacts 13,000 before the rest is full (seen
with version 2.1.330: 67,000 of 100,000, 967,000 of 1,000,000).
"""

from __future__ import annotations

from unified_state.model.context_usage import FROM_CLIENT, FROM_COMPACTIONS, FROM_DEFAULT, Limit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

USUAL_WINDOW, LARGE_WINDOW = 200_000, 1_000_000
_LARGE_MODELS = ("claude-sonnet-5", "claude-opus-5")
_LARGE_MARK = "[1m]"  # of a model that is asked for with the large window
_FOR_SUMMARY, _RESERVE = 20_000, 13_000
_SMALLEST_WINDOW = 100_000  # that the client lets itself be given


def window_of(model: str, tokens: int) -> int:
    """The window of a model. A conversation that does not fit into the usual one has the large one."""
    is_large = tokens > USUAL_WINDOW or _LARGE_MARK in model or model.startswith(_LARGE_MODELS)
    return LARGE_WINDOW if is_large else USUAL_WINDOW


def compaction_limit(window: int, seen: Sequence[int], environ: Mapping[str, str]) -> Limit:
    """At how many tokens a client with this environment compacts; `seen` is where it did so with this window.

    A compaction is seen late, after the answer that went over the limit, so the least of them is nearest.
    """
    if environ.get("DISABLE_AUTO_COMPACT", "").strip().lower() in {"1", "true", "yes", "on"}:
        return Limit(window, FROM_CLIENT)
    chosen = _number(environ.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW", ""))
    if chosen is not None:
        usable = min(window, max(chosen, _SMALLEST_WINDOW)) - _FOR_SUMMARY
        percent = _number(environ.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", ""))
        share = usable * percent // 100 if percent is not None and 0 < percent <= 100 else usable  # noqa: PLR2004
        return Limit(max(1, min(usable - _RESERVE, share)), FROM_CLIENT)
    if seen:
        return Limit(min(seen), FROM_COMPACTIONS)
    return Limit(max(window - _FOR_SUMMARY - _RESERVE, window // 2, 1), FROM_DEFAULT)


def _number(text: str) -> int | None:
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None  # noqa: PLR2004  # no window has ten digits
