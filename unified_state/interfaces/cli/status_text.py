"""What `status` says of lean context and of a server."""

from __future__ import annotations

from unified_state.lib.times import age_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.cut_outputs import Savings
    from unified_state.team.sync_server import ServerState


def savings_line(savings: Savings) -> str:
    """One line for people."""
    outputs = "1 output" if savings.outputs == 1 else f"{savings.outputs:,} outputs"
    recalls = {0: "none was recalled", 1: "1 recall took"}.get(savings.recalls, f"{savings.recalls:,} recalls took")
    cost = f" about {savings.recalled_tokens:,} back" if savings.recalls else ""
    return f"{outputs} shortened, about {savings.saved_tokens:,} tokens less; {recalls}{cost}"


def server_line(state: ServerState, now: int) -> str:
    """One line for people."""
    return f"{state.name}: {'; '.join((waiting_text(state, now), *_runs(state, now)))}"


def waiting_text(state: ServerState, now: int) -> str:
    """What the server does not have."""
    waits = {"step": state.waiting_steps, "change": state.waiting_changes, "vector": state.waiting_vectors}
    told = [f"{count:,} {name}{'s' if count != 1 else ''}" for name, count in waits.items() if count]
    if not told:
        return "has everything"
    since = "" if state.waiting_since is None else f", the oldest of {age_text(now - state.waiting_since)}"
    return f"{' and '.join(told)} {'wait' if sum(waits.values()) != 1 else 'waits'}{since}"


def _runs(state: ServerState, now: int) -> list[str]:
    began, ended = state.began_at, state.ended_at
    if began is None:
        return ["never synced"]
    if state.error is not None and ended is not None:
        failed = f"failed {age_text(now - ended)}: {state.error}"
        return [failed if state.failures == 1 else f"{failed} ({state.failures} runs in a row)"]
    if ended is None or ended < began:
        return [f"a run began {age_text(now - began)} and has not ended"]
    return [f"synced {age_text(now - ended)}"]
