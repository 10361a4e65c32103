"""The calibration of token counts, kept in the archive: tokens of the client's model per o200k token."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive

_SCALE, _AT = "token_scale", "token_scale_at"


def token_scale(archive: Archive) -> float:
    """The factor; 1 as long as nothing was measured."""
    return float(archive.meta(_SCALE) or 1)


def calibrated_at(archive: Archive) -> int | None:
    """When it was measured, in milliseconds since 1970."""
    at = archive.meta(_AT)
    return int(at) if at else None


def keep_calibration(archive: Archive, scale: float, now: int) -> None:
    """Keep a factor that was measured."""
    with archive.transaction():
        archive.set_meta(_SCALE, f"{scale:.3f}")
        archive.set_meta(_AT, str(now))
