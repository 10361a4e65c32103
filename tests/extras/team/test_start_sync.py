"""What runs behind the user's back shares nothing with who started it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from unified_state.extras.team.start_sync import own_environment, start_detached

_REPORT = """
import json, os, sys
streams = [os.readlink(f"/proc/self/fd/{n}") for n in range(3)]
about = {"session": os.getsid(0), "parent": os.getppid(), "streams": streams}
path = sys.argv[1]
with open(path + ".part", "w") as file:
    json.dump(about, file)
os.rename(path + ".part", path)
"""


def test_a_detached_program_has_a_session_of_its_own_and_no_pipe_and_is_nobodys_child(tmp_path: Path) -> None:
    path = tmp_path / "about.json"
    start_detached([sys.executable, "-c", _REPORT, str(path)], dict(os.environ))
    while not path.exists():
        time.sleep(0.01)
    about = path.read_text(encoding="utf-8")
    assert f'"session": {os.getsid(0)},' not in about
    assert f'"parent": {os.getpid()},' not in about
    assert about.count("/dev/null") == 3


def test_nothing_that_says_where_a_server_is_reaches_it() -> None:
    given = {"PATH": "/bin", "PGHOST": "evil", "PGSERVICEFILE": "x", "RUVECTOR_HOST": "evil", "HOME": "/home/ada"}
    assert own_environment(given) == {"PATH": "/bin", "HOME": "/home/ada"}
