"""What `status` and `context` say of lean context: what it saved, and what that cost."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.cut_outputs import Savings


def savings_line(savings: Savings) -> str:
    """One line for people."""
    outputs = "1 output" if savings.outputs == 1 else f"{savings.outputs:,} outputs"
    recalls = {0: "none was recalled", 1: "1 recall took"}.get(savings.recalls, f"{savings.recalls:,} recalls took")
    cost = f" about {savings.recalled_tokens:,} back" if savings.recalls else ""
    return f"{outputs} shortened, about {savings.saved_tokens:,} tokens less; {recalls}{cost}"
