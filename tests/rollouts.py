"""Rollouts as Codex 0.142 to 0.169 writes them: one JSON line for each item, some with several forms by version."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_BEGIN = datetime(2026, 11, 21, 8, tzinfo=UTC)


class Rollout:
    """A session of Codex that is being written to `path`."""

    def __init__(self, path: Path, session_id: str, cwd: Path) -> None:
        self.path, self._lines = path, 0
        path.parent.mkdir(parents=True, exist_ok=True)
        self.line("session_meta", id=session_id, cwd=str(cwd), cli_version="0.169.0")

    def line(self, kind: str = "response_item", **payload: Any) -> None:
        """Write one line."""
        self._lines += 1
        at = (_BEGIN + timedelta(seconds=self._lines)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"timestamp": at, "type": kind, "payload": payload}) + "\n")

    def says(self, role: str, text: str) -> None:
        """What the user or the agent says."""
        self.line(type="message", role=role, content=[{"type": "input_text", "text": text}])

    def calls(self, name: str, output: Any, **fields: Any) -> None:
        """A call of a function with its output."""
        self.line(type="function_call", name=name, arguments=json.dumps(fields), call_id=f"c{self._lines}")
        self.line(type="function_call_output", call_id=f"c{self._lines - 1}", output=output)

    def runs(self, command: str, output: str = "", status: int = 0, **fields: Any) -> None:
        """A command with its output."""
        self.calls("exec_command", ended(output, status), cmd=command, **fields)

    def patches(self, patch: str, output: str = "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.") -> None:
        """A patch, as a tool of its own."""
        self.line(type="custom_tool_call", name="apply_patch", input=patched(patch), call_id=f"c{self._lines}")
        self.line(type="custom_tool_call_output", call_id=f"c{self._lines - 1}", output=output)

    def compacts(self, *kept: str) -> None:
        """A compaction whose summary is encrypted; `kept` is what the user had said."""
        said = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]} for text in kept]
        self.line(
            "compacted", message="", replacement_history=[*said, {"type": "compaction", "encrypted_content": "x"}]
        )


def ended(output: str, status: int = 0) -> str:
    """The result of a command that has ended."""
    head = f"Chunk ID: 1f\nWall time: 0.1 seconds\nProcess exited with code {status}\nOriginal token count: 9"
    return f"{head}\nOutput:\n{output}"


def patched(body: str) -> str:
    """A patch with its first and last line."""
    return f"*** Begin Patch\n{body}\n*** End Patch"
