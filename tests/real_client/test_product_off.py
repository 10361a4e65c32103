"""Switched off, uninstalled or broken, the product is out of the way: nothing is written, and every turn goes on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from unified_state.hosts.install.hook_table import LAUNCHER

from .conversation import Conversation
from .installed import archives, change_handlers, installed, installed_with_items, restores
from .messages import bash, reply
from .scenario import ALLOW_BASH, Scenario

EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact", "SessionEnd")


def files(scenario: Scenario) -> dict[Path, tuple[int, bytes]]:
    """Every file that the product could have written, with its time and its content."""
    found = [path for folder in (scenario.home, scenario.project) for path in folder.rglob("*") if path.is_file()]
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in found}


def switch_off_in_the_project(scenario: Scenario) -> None:
    (scenario.project / ".claude").mkdir(exist_ok=True)
    (scenario.project / ".claude" / "unified-state.toml").write_text("enabled = false\n")


def switch_off_for_the_user(scenario: Scenario) -> None:
    (scenario.home / ".config/unified-state").mkdir(parents=True)
    (scenario.home / ".config/unified-state/config.toml").write_text("enabled = false\n")


def switch_off_for_the_session(scenario: Scenario) -> None:
    scenario.environment["UNIFIED_STATE_DISABLE"] = "1"


SWITCHES = pytest.mark.parametrize(
    "switch_off", [switch_off_in_the_project, switch_off_for_the_user, switch_off_for_the_session]
)


def a_conversation(scenario: Scenario) -> None:
    """Something of everything: a tool, a compaction, a new beginning."""
    scenario.script(reply(bash("echo hello")), "one", "two", "three")
    with Conversation(scenario, *ALLOW_BASH) as client:
        for prompt in ("first", "/compact", "second", "/clear", "third"):
            client.ask(prompt)
    assert scenario.api.of("main")[-1].find("third")


@SWITCHES
def test_switched_off_nothing_is_written_and_nothing_is_given(
    scenario: Scenario, switch_off: Callable[[Scenario], None]
) -> None:
    installed_with_items(scenario)
    switch_off(scenario)
    before = files(scenario)
    a_conversation(scenario)
    assert files(scenario) == before
    assert [text for request in scenario.api.requests for text in restores(request)] == []


def test_uninstalled_no_hook_of_ours_runs_and_the_data_stays(scenario: Scenario) -> None:
    product = installed_with_items(scenario)
    scenario.prompt("first")
    product.at_terminal("uninstall")
    before = files(scenario)
    a_conversation(scenario)
    assert files(scenario) == before
    assert [restores(request) for request in scenario.api.of("main")[1:]] == [[]] * (len(scenario.api.of("main")) - 1)
    assert len(archives(scenario)) == 1
    assert "Use SQLite for the archive" in product.run("decision", "list")
    assert not (scenario.project / ".claude" / "settings.local.json").exists()


def without_launcher(path: Path, launcher: Path) -> None:
    """Nothing is written."""


def without_interpreter(path: Path, launcher: Path) -> None:
    path.write_text(launcher.read_text().replace(sys.executable, "/no/such/python"))


def without_package(path: Path, launcher: Path) -> None:
    path.write_text(launcher.read_text().replace("\nroot='", "\nroot='/no/such"))


@pytest.mark.parametrize("write_broken", [without_launcher, without_interpreter, without_package])
def test_with_broken_hooks_every_turn_goes_on_and_doctor_says_so(
    scenario: Scenario, write_broken: Callable[[Path, Path], None]
) -> None:
    product = installed(scenario)
    path = scenario.folder / LAUNCHER
    write_broken(path, Path(sys.executable).with_name(LAUNCHER))
    if path.exists():
        path.chmod(0o755)
    for event in EVENTS:
        change_handlers(scenario, lambda handler: {**handler, "command": str(path)}, event)
    a_conversation(scenario)

    results = [scenario.prompt("once more").result, scenario.prompt("and again").result]
    assert results == ["ok", "ok"]
    assert product.health()["hooks (local)"] is False
    assert archives(scenario) == []
