"""The parts of `AgentMemory` that no client is needed for: what it adds to options, and hooks that are called as the
SDK calls them.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import ClaudeAgentOptions, HookMatcher

from unified_state import AgentMemory
from unified_state.extras.agent_sdk.sdk_hooks import EVENTS
from unified_state.hosts.install.hook_launcher import launcher_path
from unified_state.hosts.install.hook_table import hook_groups, tool_hook_group
from unified_state.lib.package import extra_line
from unified_state.settings import default_data_dir

SESSION = "11111111-2222-4333-8444-555555555555"
Fields = dict[str, Any]


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """A transcript with one prompt."""
    path = tmp_path / f"{SESSION}.jsonl"
    entry = {"type": "user", "uuid": SESSION, "sessionId": SESSION, "timestamp": "2026-01-01T00:00:00Z"}
    path.write_text(json.dumps({**entry, "message": {"role": "user", "content": "hello"}}) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def event(repository: Path, transcript: Path) -> Callable[..., Fields]:
    """The fields of an event of the session."""

    def fields(name: str, **more: Any) -> Fields:
        known = {"session_id": SESSION, "transcript_path": str(transcript), "cwd": str(repository)}
        return {"hook_event_name": name, **known, **more}

    return fields


async def call(memory: AgentMemory, fields: Fields, name: str = "") -> list[Fields]:
    """What all hooks of an event say, called at once, as the SDK does."""
    matchers = (memory.options.hooks or {})[name or fields["hook_event_name"]]
    hooks = [hook for found in matchers for hook in found.hooks]
    return list(await asyncio.gather(*(hook(fields, None, {"signal": None}) for hook in hooks)))


def texts(outputs: list[Fields]) -> list[str]:
    return [output["hookSpecificOutput"]["additionalContext"] for output in outputs if output]


def log(home: Path) -> str:
    path = home / ".local/share/unified-state/hook.log"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def archive_of(home: Path) -> sqlite3.Connection:
    (path,) = home.glob(".local/share/unified-state/repositories/*/archive.db")
    return sqlite3.connect(path, isolation_level=None)


def test_options_keep_what_they_had(repository: Path) -> None:
    async def mine(*_: Any) -> Any:
        return {}

    own = HookMatcher(hooks=[mine])
    given = ClaudeAgentOptions(cwd=repository, hooks={"Stop": [own], "PreToolUse": [own]}, max_turns=3)
    options = AgentMemory(given).options
    assert options.max_turns == 3
    assert options.hooks is not None
    assert options.hooks["PreToolUse"][0] is own
    assert options.hooks["Stop"][0] is own
    assert given.hooks == {"Stop": [own], "PreToolUse": [own]}


def test_every_event_of_the_installed_hooks_has_one_here(repository: Path) -> None:
    assert (
        set(AgentMemory(ClaudeAgentOptions(cwd=repository)).options.hooks or {})
        == set(EVENTS)
        >= set(hook_groups("", ""))
    )


def test_the_event_loop_runs_while_a_hook_waits_for_the_archive(
    repository: Path, home: Path, event: Callable[..., Fields]
) -> None:
    memory = AgentMemory(ClaudeAgentOptions(cwd=repository))
    memory.manager().add_decision("Use SQLite", "one file")

    async def locked() -> None:
        blocker = archive_of(home)
        blocker.execute("BEGIN IMMEDIATE")
        waiting = asyncio.ensure_future(call(memory, event("UserPromptSubmit", prompt="one")))
        for _ in range(20):
            await asyncio.sleep(0.01)
        assert not waiting.done()
        blocker.execute("ROLLBACK")  # were the loop blocked, the hook would give up before
        assert texts(await waiting)
        blocker.close()

    asyncio.run(locked())
    assert log(home) == ""


def test_stop_lets_the_agent_go_on_before_the_archive_has_the_turn(
    repository: Path, home: Path, event: Callable[..., Fields]
) -> None:
    memory = AgentMemory(ClaudeAgentOptions(cwd=repository))
    memory.manager().add_decision("Use SQLite", "one file")

    async def stopped() -> None:
        blocker = archive_of(home)
        blocker.execute("BEGIN IMMEDIATE")
        assert await call(memory, event("Stop", last_assistant_message="hi")) == [{}]
        blocker.execute("ROLLBACK")
        blocker.close()

    asyncio.run(stopped())
    memory.end()
    with archive_of(home) as archive:
        assert archive.execute("SELECT body FROM step").fetchall() == [("hello",)]
    assert log(home) == ""


@pytest.mark.parametrize("fields", [{}, {"session_id": 5}, {"cwd": "/nowhere", "prompt": object()}, {"x": "\ud83d"}])
@pytest.mark.parametrize("name", EVENTS)
def test_no_hook_ever_raises(repository: Path, name: str, fields: Fields, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)
    memory = AgentMemory()
    assert all(isinstance(output, dict) for output in asyncio.run(call(memory, fields, name)))
    memory.end()


def test_a_refused_compaction_is_refused_here_too(repository: Path, event: Callable[..., Fields]) -> None:
    settings = repository / ".claude" / "unified-state.toml"
    settings.parent.mkdir()
    settings.write_text("block_compaction = true\n", encoding="utf-8")
    with AgentMemory(ClaudeAgentOptions(cwd=repository)) as memory:
        for number in range(30):
            memory.manager().add_constraint(f"Never break rule {number} " + "and its reasons " * 20, "the user", True)
        (output,) = asyncio.run(call(memory, event("PreCompact", trigger="manual")))
    assert output["decision"] == "block"
    assert "over its budget" in output["reason"]


def hooks_json() -> Fields:
    return {"hooks": hook_groups(default_data_dir(), launcher_path())}


def write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("place", "sources"),
    [
        ("local", None),
        ("project", None),
        ("user", None),
        ("local", ["local"]),
        ("project", ["project"]),
        ("user", ["user"]),
        ("path", []),
        ("inline", []),
        ("plugin", []),
        ("enabled", ["user"]),
    ],
)
def test_hooks_that_the_client_runs_as_commands_are_left_to_it(
    repository: Path, home: Path, tmp_path: Path, place: str, sources: Any
) -> None:
    options = ClaudeAgentOptions(cwd=repository, setting_sources=sources)
    match place:
        case "local":
            write(repository / ".claude/settings.local.json", hooks_json())
        case "project":
            write(repository / ".claude/settings.json", hooks_json())
        case "user":
            write(home / ".claude/settings.json", hooks_json())
        case "path":
            options.settings = str(write(tmp_path / "more.json", hooks_json()))
        case "inline":
            options.settings = json.dumps(hooks_json())
        case "plugin":
            write(tmp_path / "plugin/.claude-plugin/plugin.json", {"name": "unified-state"})
            options.plugins = [{"type": "local", "path": str(tmp_path / "plugin")}]
        case "enabled":
            write(home / ".claude/settings.json", {"enabledPlugins": {"unified-state@anywhere": True}})
    left = AgentMemory(options).options.hooks or {}
    assert set(left) == {"PreToolUse"}  # which is installed only where a constraint is enforced


def test_the_hook_before_tool_calls_is_left_to_the_client_where_it_is_installed(repository: Path) -> None:
    write(
        repository / ".claude/settings.local.json",
        {"hooks": {"PreToolUse": [tool_hook_group(default_data_dir(), launcher_path())]}},
    )
    hooks = AgentMemory(ClaudeAgentOptions(cwd=repository)).options.hooks or {}
    assert [matcher.matcher for matcher in hooks["PreToolUse"]] == ["mcp__unified-state__.*"]
    assert "Stop" in hooks


def test_options_keep_their_servers_and_tools(repository: Path) -> None:
    given = ClaudeAgentOptions(cwd=repository, mcp_servers={"own": {"command": "x"}}, allowed_tools=["Read"])
    options = AgentMemory(given).options
    assert set(options.mcp_servers) == {"own", "unified-state"}
    assert options.allowed_tools == ["Read", "mcp__unified-state"]
    assert set(given.mcp_servers) == {"own"}


def test_without_the_sdk_one_is_told_how_to_get_it() -> None:
    code = "import sys; sys.modules['claude_agent_sdk'] = None; from unified_state import AgentMemory; AgentMemory()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert extra_line("agent-sdk") in done.stderr.splitlines()[-1]


def test_an_async_block_ends_the_sessions_without_holding_up_the_event_loop(
    repository: Path, home: Path, event: Callable[..., Fields]
) -> None:
    async def converse() -> None:
        async with AgentMemory(ClaudeAgentOptions(cwd=repository)) as memory:
            await call(memory, event("UserPromptSubmit", prompt="one"))
            blocker = archive_of(home)
            blocker.execute("BEGIN IMMEDIATE")
            asyncio.get_running_loop().call_later(0.05, blocker.execute, "ROLLBACK")

    asyncio.run(converse())
    with archive_of(home) as archive:
        assert archive.execute("SELECT end_reason FROM session").fetchall() == [("other",)]
    assert log(home) == ""


def test_a_session_that_sessionstart_was_called_for_is_not_begun_again_by_its_prompt(
    repository: Path, event: Callable[..., Fields]
) -> None:
    memory = AgentMemory(ClaudeAgentOptions(cwd=repository))
    memory.manager().add_decision("Use SQLite", "one file")

    async def start() -> tuple[list[str], list[str]]:
        begun = texts(await call(memory, event("SessionStart", source="startup")))
        return begun, texts(await call(memory, event("UserPromptSubmit", prompt="one")))

    begun, prompted = asyncio.run(start())
    assert "Use SQLite" in "".join(begun)
    assert prompted == []


@pytest.mark.parametrize("sources", [[], ["user"], ["user", "project"]])
def test_hooks_in_settings_that_are_not_loaded_do_not_count(repository: Path, sources: Any) -> None:
    write(repository / ".claude/settings.local.json", hooks_json())
    options = AgentMemory(ClaudeAgentOptions(cwd=repository, setting_sources=sources)).options
    assert "Stop" in (options.hooks or {})
