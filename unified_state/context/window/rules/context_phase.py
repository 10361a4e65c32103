"""The phase of a context, and its trend. Both are relative to where the client compacts."""

from __future__ import annotations

from unified_state.model.context_usage import PHASES, Point, Trend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_HOLD = 5  # percent by which a share has to fall below a threshold before the phase does
_RECENT = 10  # points that the trend is made of
_MINUTE = 60_000  # milliseconds


def phase_of(percent: float, before: str, thresholds: tuple[int, int]) -> str:
    """The phase at a percentage of the limit. It rises at once, and falls only well below the threshold, so that it
    does not flicker.
    """
    risen = sum(percent >= threshold for threshold in thresholds)
    held = sum(percent >= threshold - _HOLD for threshold in thresholds)
    return PHASES[max(risen, min(held, PHASES.index(before)))]


def is_higher(phase: str, than: str) -> bool:
    """Whether a phase comes after another."""
    return PHASES.index(phase) > PHASES.index(than)


def trend_of(points: Sequence[Point], limit: int) -> Trend:
    """How the conversation has grown since it last shrank, and how long that may go on."""
    recent = _since_last_drop(points)[-_RECENT:]
    if len(recent) < 2:  # noqa: PLR2004  # one point has no trend
        return Trend()
    first, last = recent[0], recent[-1]
    growth, turns, minutes = last.tokens - first.tokens, last.turn - first.turn, (last.at - first.at) / _MINUTE
    if growth <= 0:
        return Trend(tokens_per_turn=0 if turns > 0 else None)
    left = max(0, limit - last.tokens)
    return Trend(
        tokens_per_turn=round(growth / turns) if turns > 0 else None,
        turns_left=-(-left * turns // growth) if turns > 0 else None,
        minutes_left=round(left * minutes / growth) if minutes > 0 else None,
    )


def _since_last_drop(points: Sequence[Point]) -> Sequence[Point]:
    for index in range(len(points) - 1, 0, -1):
        if points[index].tokens < points[index - 1].tokens:
            return points[index:]
    return points
