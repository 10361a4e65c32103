"""The checked-in hooks of the plugin are those of the table, and they run from a bare checkout."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.builders import SESSION, prompt, write_transcript
from tests.tools.make_hooks import PATH, hooks_text
from unified_state.services.hook_table import plugin_hooks

HANDLERS = [(event, handler) for event, (group,) in plugin_hooks()["hooks"].items() for handler in group["hooks"]]


def test_the_hooks_of_the_plugin_are_those_of_the_table() -> None:
    assert PATH.read_text(encoding="utf-8") == hooks_text()


@pytest.mark.parametrize(("event", "handler"), HANDLERS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_hook_of_the_plugin_runs_with_nothing_installed(
    event: str, handler: dict[str, Any], repository: Path, tmp_path: Path
) -> None:
    transcript = write_transcript(tmp_path / f"{SESSION}.jsonl", prompt(1, "fix it"))
    told = {"session_id": SESSION, "transcript_path": str(transcript), "cwd": str(repository), "hook_event_name": event}
    arguments = [argument.replace("${CLAUDE_PLUGIN_ROOT}", str(PATH.parents[1])) for argument in handler["args"]]
    ran = subprocess.run(
        [sys.executable, *arguments], input=json.dumps(told), capture_output=True, text=True, check=True
    )
    assert ran.stderr == ""
    name = ".".join([event, *arguments[6:]])
    (trace,) = Path.home().rglob(f"runs/{name}")
    assert json.loads(trace.read_text())[2] is None
