"""The answer to the client about a long output: its short form, once the whole is archived."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.context.lean.long_output import Leaning, LongOutput


def answer_to(output: LongOutput, chosen: int, leaning: Leaning) -> str:
    """What the client is answered; empty where the output goes on as it is."""
    level = leaning.level(chosen, output.event.session_id)
    short = output.short_form(level)
    if short is None:
        return ""
    from unified_state.context.lean.archive_output import archive_and_shorten  # most outputs go on as they are

    return archive_and_shorten(output, short, level, leaning)
