"""`demo`: run a bundled session through the hooks, offline, in a folder that is deleted afterwards.

It runs the client's own hook commands, with a compaction at the end. The loss is measured on facts that later work
needs. For each fact it reports whether the client's summary has it, and whether the text of the hooks has it.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.hosts.install.hook_launcher import launcher_path
from unified_state.hosts.install.hook_table import hook_groups
from unified_state.interfaces.cli.command_context import Command, Context
from unified_state.lib.package import package_path
from unified_state.lib.read_files import LARGE_FILE, read_regular
from unified_state.lib.record import Record, disk_value
from unified_state.model.hook_event import PARTS
from unified_state.project.place import locate
from unified_state.project.workspace.workspace import Workspace
from unified_state.settings import Settings
from unified_state.state_file.manager import UnifiedStateManager
from unified_state.upkeep.around_use import SETTLE

_SESSION = "5e551011-0000-4000-8000-000000000001"


class Fact(Record):
    """A fact that later work needs, and where it was found after the compaction."""

    name: str
    text: str
    in_summary: bool
    restored: bool


class Demonstration(Record):
    """The result of the demonstration."""

    turns: int
    steps: int
    entries: int
    facts: tuple[Fact, ...]
    steering: str
    restored: str


def _demo(context: Context, _arguments: Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="unified-state-demo-") as folder:
        done = _Demo(folder).run()
    context.show(disk_value(done), _story(done), is_visible=True)  # it has the fences themselves
    return 0 if all(fact.restored or fact.in_summary for fact in done.facts) else 1


class _Demo:
    def __init__(self, folder: str) -> None:
        self._project = os.path.join(folder, "shop")
        self._transcript = os.path.join(folder, f"{_SESSION}.jsonl")
        os.makedirs(self._project)
        settings = Settings()
        settings.data_dir = os.path.join(folder, "data")
        place = locate(self._project, settings.data_dir, create=True)
        self._workspace = Workspace(place, settings, report=lambda _line: None, session_id=_SESSION, around_use=SETTLE)
        self._groups = hook_groups(settings.data_dir, launcher_path())

    def run(self, more: Sequence[str] = ()) -> Demonstration:
        """Run the demonstration. The transcript grows line by line, and each prompt's hook archives the lines before
        it. `more` lines follow those of the session.
        """
        lines = [*_asset("session.jsonl").splitlines(keepends=True), *more]
        self._hook("SessionStart", PARTS[0], source="startup")
        for line in lines:
            content = json.loads(line)["message"]["content"]
            if isinstance(content, str):
                self._hook("UserPromptSubmit", prompt=content)
            with open(self._transcript, "a", encoding="utf-8") as file:
                file.write(line)
        self._record_items()
        steering = self._hook("PreCompact", trigger="auto")
        summary = _asset("summary.txt")
        self._hook("SubagentStop", agent_type="", last_assistant_message=summary)
        outputs = [self._hook("SessionStart", part, source="compact") for part in PARTS]
        given = [json.loads(output)["hookSpecificOutput"]["additionalContext"] if output else "" for output in outputs]
        restored = "\n".join(given)
        with Archive(self._workspace.place.archive_path) as archive:
            (steps,), (turns,) = archive.row("SELECT count(*) FROM step"), archive.row("SELECT count(*) FROM turn")
        facts = tuple(
            Fact(name, text, text in summary, text in restored) for name, text in json.loads(_asset("facts.json"))
        )
        return Demonstration(turns, steps, len(lines), facts, steering, restored)

    def _record_items(self) -> None:
        """Record items as an agent does during its work."""
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
        """Run a hook's command line with the client's JSON on stdin, and return its output."""
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


def _asset(name: str) -> str:
    return read_regular(package_path("interfaces", "cli", "demo_session", name), LARGE_FILE).decode()


def _story(done: Demonstration) -> str:
    lost = [fact for fact in done.facts if not fact.in_summary]
    back = [fact for fact in lost if fact.restored]
    kept = len(done.facts) - len(lost)
    width = max(len(fact.name) for fact in done.facts)
    return "\n".join(
        [
            f"1. A session of {done.turns} turns: the hooks archived all {done.steps} steps as they happened.",
            "2. The agent recorded decisions, a constraint, a question, an error; the client compacts:",
            *(f"     {line}" for line in done.steering.splitlines()[:3]),
            "     …",
            f"3. Its summary keeps {kept} of {len(done.facts)} facts. What the next request gets beside it:",
            "",
            *(f"     {line}" for line in done.restored.splitlines()),
            "",
            f"4. {len(lost)} facts were lost by the compaction, {len(back)} of them came back:",
            "",
            f"  {'fact':{width}}  summary  restored",
            *(f"  {fact.name:{width}}  {_fate(fact)}  {fact.text}" for fact in done.facts),
        ]
    )


def _fate(fact: Fact) -> str:
    back = ("there" if fact.in_summary else "back") if fact.restored else "-"
    return f"{'kept' if fact.in_summary else 'LOST':<9}{back:<8}"


COMMANDS = {"demo": Command(_demo)}
