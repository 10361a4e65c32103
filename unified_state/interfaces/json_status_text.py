"""What `status` prints where files of JSON hold the history."""

from __future__ import annotations

from unified_state.rules.timestamps import age_text, to_milliseconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.services.json_tier.status import JsonStatus


def json_status_text(status: JsonStatus, now: int) -> str:
    """The lines for a person."""
    items = ", ".join(
        f"{count} {kind} {state}" for kind, states in status.items.items() for state, count in states.items()
    )
    saved = to_milliseconds(status.saved_at)
    lines = [
        f"repository {status.repository} in {status.worktree}",
        f"tier       json ({status.why})",
        f"history    {status.turns:,} turns, {status.steps:,} steps, {status.compactions:,} compactions",
        f"           of {status.sessions:,} sessions",
        f"           {status.bytes / 1e6:.1f} MB in {status.folder}",
        f"state      {items or 'no items'}",
        f"           {'saved ' + age_text(now - saved) if saved else 'never saved'}: {status.state_path}",
    ]
    if status.archive_not_shown:
        lines.append(
            f"not shown  the archive {status.archive_not_shown}, which takes this in once tier is sqlite again"
        )
    return "\n".join([*lines, f"health     {status.health or 'good'}"])
