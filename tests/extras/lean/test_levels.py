"""What the rules of lean context load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.structure.test_start_up import TOO_DEAR_FOR_HOOKS

ROOT = Path(__file__).parents[3]
SHORTENED = """
import sys
sys.path.append(sys.argv[1])
from unified_state.extras.lean.rules.shorten import shorten
for command in ("go test", "make", "git diff", "rg x", "ls", "curl x", "./run.sh"):
    assert shorten("Bash", {"command": command}, "src/a.go:12: one line of many\\n" * 3_000, 2), command
sys.stdout.write(",".join(sys.modules))
"""


def test_a_short_form_loads_nothing_that_is_too_dear_for_a_hook() -> None:
    arguments = [sys.executable, "-I", "-S", "-c", SHORTENED, str(ROOT)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert not {name.split(".")[0] for name in done.stdout.split(",")} & TOO_DEAR_FOR_HOOKS
