"""What people read of a server."""

from __future__ import annotations

import pytest

from tests.builders import HOUR, MINUTE, NOW
from unified_state.extras.team.server_states import ServerState, server_line


@pytest.mark.parametrize(
    ("state", "line"),
    [
        (
            ServerState("here", 1_200, 1, NOW - HOUR, NOW - MINUTE, NOW - MINUTE),
            "here: 1,200 steps and 1 change wait, the oldest of 1 h ago; synced 1 min ago",
        ),
        (
            ServerState("here", 0, 2, None, NOW - MINUTE, NOW - MINUTE, failures=3, error="it is down"),
            "here: 2 changes wait; failed 1 min ago: it is down (3 runs in a row)",
        ),
        (
            ServerState("here", 0, 2, None, NOW - MINUTE, NOW - HOUR),
            "here: 2 changes wait; a run began 1 min ago and has not ended",
        ),
    ],
)
def test_a_line_tells_what_waits_and_how_the_last_run_went(state: ServerState, line: str) -> None:
    assert server_line(state, NOW) == line
