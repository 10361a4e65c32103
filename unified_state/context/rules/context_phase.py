"""The phase of a context. It is relative to the size at which the client compacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unified_state.model.context_usage import (
    FROM_CLIENT,
    FROM_COMPACTIONS,
    FROM_DEFAULT,
    PHASES,
    Limit,
    Reading,
)


def phase_of(tokens: int, limit: int, thresholds: tuple[int, int]) -> str:
    """Return the phase of a conversation by the share of the client's limit that it has, in percent."""
    return PHASES[sum(tokens * 100 >= threshold * limit for threshold in thresholds)]


USUAL_WINDOW, LARGE_WINDOW = 200_000, 1_000_000
_LARGE_MODELS = ("sonnet-5", "opus-5", "opus-4-7", "opus-4-8", "haiku-5-5", "fable-5", "mythos-5")  # of 2.1.332
_LARGE_MARK = "[1m]"  # in the name of a model with the large window
_FOR_SUMMARY, _RESERVE = 20_000, 13_000
_SMALLEST_WINDOW = 100_000  # the smallest window that the client accepts as a setting


def window_of(model: str, tokens: int) -> int:
    """Return the window of a model, whose name may have a provider's prefix.

    A conversation that exceeds the usual window has the large one.
    """
    name = model.rpartition("claude-")[2]
    is_large = tokens > USUAL_WINDOW or _LARGE_MARK in model or (name != model and name.startswith(_LARGE_MODELS))
    return LARGE_WINDOW if is_large else USUAL_WINDOW


def compaction_limit(window: int, seen: Sequence[int], environ: Mapping[str, str]) -> Limit:
    """Return the number of tokens at which a client with this environment compacts.

    `seen` has the sizes at which it did. A compaction is seen late, after the answer that exceeded the limit, so the
    smallest size is nearest.
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


def told_line(reading: Reading, limit: int) -> str:
    """Return the line for the context in a phase. It states facts and gives no orders."""
    share = round(reading.tokens * 100 / limit)
    return (
        f"[CONTEXT] {share} % of the way to the next compaction: {reading.tokens:,} tokens of about {limit:,} "
        f"(window {reading.window:,}). The state was saved now."
    )
