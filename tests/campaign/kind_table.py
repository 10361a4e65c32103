"""All kinds of input, in the order in which they are tried."""

from __future__ import annotations

from tests.campaign.kinds import (
    archives,
    foreign_files,
    git_folders,
    history_files,
    hook_inputs,
    mcp_calls,
    shell_lines,
    state_files,
    transcript_lines,
)

KINDS = {
    module.KIND.name: module.KIND
    for module in (
        hook_inputs, transcript_lines, state_files, archives, history_files, foreign_files, shell_lines, git_folders,
        mcp_calls,
    )
}  # fmt: skip
