"""The work of hooks grows at most in proportion to what is recorded.

Counted are the steps of SQLite's virtual machine for each statement and the lines that run in each function: not the
time, which depends on the machine.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.builders import SESSION, answer, append, prompt
from tests.passwd import set_home
from unified_state.interfaces import hook
from unified_state.interfaces.cli import main as cli
from unified_state.memory.archive import archive as archive_module
from unified_state.memory.archive.archive import Archive
from unified_state.memory.ledger.item_table import insert_item, list_items, next_alias

from .many_items import fill
from .product import ROOT, Project

Work = Counter[object]
OWN = f"{ROOT}/unified_state/"
FEW, TIMES = 200, 4
MOST_GROWTH = 6.0  # sorting is a little more than in proportion; what is quadratic grows by 16
NOISE = 20_000  # steps, or lines, that are no matter
AT_ONCE = 100  # steps between two looks
EVENTS: tuple[tuple[str, str, dict[str, object]], ...] = (
    ("SessionStart", "brief", {"source": "startup", "session_id": "new"}),
    ("SessionStart", "brief", {"source": "resume"}),
    ("UserPromptSubmit", "", {"prompt": "look at the retry of the queue in src/m3.py again"}),
    ("PreToolUse", "", {"tool_name": "Bash", "tool_input": {"command": "deploy 7 now"}}),
    ("PreCompact", "", {"trigger": "auto"}),
    ("SubagentStop", "", {"agent_type": "", "last_assistant_message": "<summary>retry and cache</summary>"}),
    ("SessionStart", "brief", {"source": "compact"}),
    ("SessionStart", "working_set", {"source": "compact"}),
    ("PostCompact", "", {"compact_summary": "retry and cache"}),
    ("SubagentStart", "", {"agent_id": "a", "agent_type": "Explore"}),
    ("Stop", "", {"last_assistant_message": "done"}),
    ("SessionStart", "brief", {"source": "clear", "session_id": "newer"}),
    ("SessionEnd", "", {"reason": "other"}),
)
COMMANDS = ("load", "age", "status")


class CountingConnection(sqlite3.Connection):
    """A connection that counts the steps of each statement."""

    work: Work

    def execute(self, sql: str, parameters: object = ()) -> sqlite3.Cursor:
        def count() -> int:
            self.work[sql] += AT_ONCE
            return 0

        self.set_progress_handler(count, AT_ONCE)
        return super().execute(sql, parameters)  # type: ignore[arg-type]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], Work]:
    """Runs something, and returns its work."""

    def run(action: Callable[[], object]) -> Work:
        work: Work = Counter()

        def connect(*arguments: object, **options: object) -> sqlite3.Connection:
            connection = sqlite3.connect(*arguments, factory=CountingConnection, **options)  # type: ignore[call-overload]
            connection.work = work
            return connection  # type: ignore[no-any-return]

        def enter(frame: FrameType, _event: str, _: object) -> Any:
            return count if frame.f_code.co_filename.startswith(OWN) else None

        def count(frame: FrameType, _event: str, _: object) -> Any:
            work[frame.f_code] += 1
            return count

        monkeypatch.setattr(archive_module, "connect", connect)
        sys.settrace(enter)
        try:
            action()
        finally:
            sys.settrace(None)
        return work

    return run


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_no_hook_works_more_than_in_proportion(
    committed: Path, tmp_path: Path, counted: Callable[[Callable[[], object]], Work], monkeypatch: pytest.MonkeyPatch
) -> None:
    works = []
    for items in (FEW, FEW * TIMES):
        project = Project(tmp_path / f"{items}" / "repository", tmp_path / f"{items}" / "home")
        project.home.mkdir(parents=True)
        shutil.copytree(committed, project.folder)
        monkeypatch.chdir(project.folder)
        monkeypatch.setenv("HOME", str(project.home))
        set_home(project.home)
        works.append(_works(project, items, counted))
    for name, few in works[0].items():
        many = works[1][name]
        grown = {what: (few[what], count) for what, count in many.items() if count > MOST_GROWTH * few[what] + NOISE}
        assert not grown, f"{name}: {grown}"


def _works(project: Project, items: int, counted: Callable[[Callable[[], object]], Work]) -> dict[str, Work]:
    """The work of each hook and command in a project with so many active items."""
    transcript, given = project.home / f"{SESSION}.jsonl", project.home / "stdin"
    _run(lambda: cli.run(["decision", "add", "Use SQLite", "--rationale", "one file"]), b"", given)
    with Archive(str(project.archive)) as archive:
        fill(archive, items, str(project.folder), transcript)
    append(transcript, prompt(1, "look at the retry"), answer(2, "I look at it"))
    works = {}
    for number, (event, part, fields) in enumerate(EVENTS):
        stdin = project.event(event, **{"session_id": SESSION, "transcript_path": str(transcript), **fields})
        name = f"{number} {event} {part} {fields.get('source', '')}"
        works[name] = counted(lambda: _run(lambda: hook.run(event, part), stdin, given))  # noqa: B023
        if event == "PreToolUse":
            _add_rule(project.archive)
    for command in COMMANDS:
        works[command] = counted(lambda: _run(lambda: cli.run([command]), b"", given))  # noqa: B023
    assert not project.log()
    return works


def _add_rule(path: Path) -> None:
    """Let the rules be compiled again."""
    with Archive(str(path)) as archive, archive.transaction():
        enforced = next(item for item in list_items(archive, "constraint", ["active"]) if "scope" in item.body)
        alias = next_alias(archive, "constraint")
        insert_item(archive, enforced.replace(uuid=f"{alias}-0000", alias=alias, capture_key=None))


def _run(action: Callable[[], object], stdin: bytes, given: Path) -> None:
    given.write_bytes(stdin)
    with given.open(encoding="utf-8") as source:
        before, sys.stdin = sys.stdin, source
        try:
            assert not action()
        finally:
            sys.stdin = before
