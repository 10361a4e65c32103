"""The main job on a bundled session, offline: the hooks run as the client would run them, in a folder that is gone
after.

What a compaction loses is measured on facts that somebody who goes on with the work would need: which of them stand in
the client's summary, and which in what we give back beside it.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile

from unified_state.agents.install.hook_table import hook_groups
from unified_state.lib.package import package_path
from unified_state.lib.record import Record
from unified_state.memory.archive.archive import Archive
from unified_state.memory.manager import UnifiedStateManager
from unified_state.memory.repository.place import locate
from unified_state.memory.workspace.workspace import Workspace
from unified_state.model.hook_event import PARTS
from unified_state.settings import Settings
from unified_state.upkeep.merge.merge_and_settle import merge_and_settle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SESSION = "5e551011-0000-4000-8000-000000000001"


class Fact(Record):
    """Something that the work needs later: where it stood after the compaction."""

    name: str
    text: str
    in_summary: bool
    restored: bool


class Demonstration(Record):
    """What the demonstration found."""

    turns: int
    steps: int
    entries: int
    facts: tuple[Fact, ...]
    steering: str
    restored: str


def demonstrate() -> Demonstration:
    """Run the bundled session through the hooks, with a compaction at its end."""
    with tempfile.TemporaryDirectory(prefix="unified-state-demo-") as folder:
        return _Demo(folder).run()


class _Demo:
    def __init__(self, folder: str) -> None:
        self._data_dir = os.path.join(folder, "data")
        self._project = os.path.join(folder, "shop")
        self._transcript = os.path.join(folder, f"{_SESSION}.jsonl")
        os.makedirs(self._project)
        settings = Settings()
        settings.data_dir = self._data_dir
        place = locate(self._project, self._data_dir, create=True)
        self._workspace = Workspace(place, settings, report=_ignore, session_id=_SESSION, around_use=merge_and_settle)
        self._groups = hook_groups(self._data_dir)

    def run(self) -> Demonstration:
        """The whole story."""
        lines = _asset("session.jsonl").splitlines(keepends=True)
        self._hook("SessionStart", PARTS[0], source="startup")
        self._live_through(lines)
        self._record_items()
        steering = self._hook("PreCompact", trigger="auto")
        summary = _asset("summary.txt")
        self._hook("SubagentStop", agent_type="", last_assistant_message=summary)
        restored = "\n".join(_context(self._hook("SessionStart", part, source="compact")) for part in PARTS)
        with Archive(self._workspace.place.archive_path) as archive:
            (steps,), (turns,) = archive.row("SELECT count(*) FROM step"), archive.row("SELECT count(*) FROM turn")
        facts = tuple(
            Fact(name, text, text in summary, text in restored) for name, text in json.loads(_asset("facts.json"))
        )
        return Demonstration(turns, steps, len(lines), facts, steering, restored)

    def _live_through(self, lines: list[str]) -> None:
        """The transcript grows; each prompt's hook archives what came since the one before."""
        for line in lines:
            entry = json.loads(line)
            if isinstance(entry["message"]["content"], str):
                self._hook("UserPromptSubmit", prompt=entry["message"]["content"])
            with open(self._transcript, "a", encoding="utf-8") as file:
                file.write(line)

    def _record_items(self) -> None:
        """What an agent records while it works."""
        manager = UnifiedStateManager(workspace=self._workspace)
        manager.set_work_item("#482", "Rate limit per API key", "EXEC", 0.8)
        manager.add_decision("Token bucket in Redis", "the four workers share it; a sliding window needs a sorted set")
        manager.add_decision(
            "The clock is Redis `TIME`", "the workers' clocks differ by up to 300 ms", reversible=False
        )
        manager.add_constraint("Never touch the /health route", "the user's first prompt", blocking=True)
        manager.add_open_question("Should trusted partners get a higher burst?", "sales asked twice", "high")
        manager.add_evidence(
            "error", "WRONGTYPE Operation against a key: the prefix rl: is the session store's", "pytest"
        )
        manager.save_state(actions=["Retry-After must round up, it says 0"])

    def _hook(self, event: str, part: str = "", **fields: Any) -> str:
        """Run a hook's own command line with the client's JSON on stdin; what it prints."""
        handlers = self._groups[event][0]["hooks"]
        handler = next(handler for handler in handlers if not part or part in handler["args"])
        given = {"session_id": _SESSION, "transcript_path": self._transcript, "cwd": self._project}
        done = subprocess.run(
            [handler["command"], *handler["args"]],
            input=json.dumps({**given, "hook_event_name": event, **fields}),
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout


def _context(output: str) -> str:
    return json.loads(output)["hookSpecificOutput"]["additionalContext"] if output else ""


def _asset(name: str) -> str:
    with open(package_path("interfaces", "cli", "demo_session", name), encoding="utf-8") as file:
        return file.read()


def _ignore(_line: str) -> None:
    return None
