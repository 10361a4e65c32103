"""What is said of a context: one factual line for the model, numbers for people, a picture of the history."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.model.context_usage import Reading, Trend

_THOUSAND = 1_000


def short_number(tokens: int) -> str:
    """Tokens for a narrow place: `950`, `86.7k`, `142k`, `1M`."""
    if tokens < _THOUSAND:
        return str(tokens)
    for unit, size in (("k", _THOUSAND), ("M", _THOUSAND**2)):
        value = tokens / size
        if value < _THOUSAND - 0.5 or unit == "M":
            return f"{value:.1f}".removesuffix(".0") + unit if value < 100 else f"{value:.0f}{unit}"  # noqa: PLR2004
    return str(tokens)


def told_line(reading: Reading, limit: int, trend: Trend) -> str:
    """The one line of context that a phase gives: facts, no orders."""
    share = round(reading.tokens * 100 / limit)
    left = trend.turns_left
    growth = "" if left is None else f" At the present growth that is about {left} turn{'' if left == 1 else 's'} away."
    return (
        f"[CONTEXT] {share} % of the way to the next compaction: {reading.tokens:,} tokens of about {limit:,} "
        f"(window {reading.window:,}).{growth} The state was saved now."
    )
