"""Wherever the client works: folders with odd names, worktrees, subfolders, and two clients in one checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conversation import Conversation
from .installed import archives, assert_archived, commit_something, installed, installed_with_items, restores, rows
from .scenario import Scenario

ODD_NAMES = ['it\'s a "quoted" name', "项目 プロジェクト 🗂", "-x $HOME `x` %s; & \\ more"]


def work_in(scenario: Scenario, folder: Path) -> None:
    """From now on, the client and our commands run there."""
    folder.mkdir(parents=True, exist_ok=True)
    scenario.project = folder


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_project_folder_of_any_name(scenario: Scenario, name: str) -> None:
    work_in(scenario, scenario.folder / name)
    scenario.run_program("git", "init", "--quiet")
    product = installed_with_items(scenario)
    with Conversation(scenario) as client:
        for prompt in ("first", "/compact", "second"):
            client.ask(prompt)
    assert len(restores(scenario.api.of("main")[-1])) == 2
    assert_archived(scenario, product, client.session_id)


def test_a_folder_without_a_repository(scenario: Scenario) -> None:
    work_in(scenario, scenario.folder / "plain")
    product = installed_with_items(scenario)
    session_id = scenario.prompt("first").session_id
    assert_archived(scenario, product, session_id)


def test_a_worktree_uses_the_archive_of_its_repository(scenario: Scenario) -> None:
    commit_something(scenario)
    main = scenario.project
    product = installed_with_items(scenario)
    product.run("install", "--scope", "user")
    product.at_terminal("uninstall")
    worktree = scenario.folder / "worktree"
    scenario.run_program("git", "worktree", "add", "--quiet", str(worktree))
    work_in(scenario, worktree)
    session_id = scenario.prompt("in the worktree").session_id
    assert scenario.api.of("main")[-1].find("Use SQLite for the archive")
    assert_archived(scenario, product, session_id)
    work_in(scenario, main)
    assert "in the worktree" in [line.get("text") for line in product.export(session_id)]
    assert rows(scenario, "SELECT worktree FROM session WHERE session_id = ?", session_id) == [(str(worktree),)]


@pytest.mark.parametrize("scope", ["local", "user"])
def test_a_subfolder_uses_the_archive_of_its_repository(scenario: Scenario, scope: str) -> None:
    product = installed(scenario, "--scope", scope)
    product.run("decision", "add", "Use SQLite", "--rationale", "one file")
    work_in(scenario, scenario.project / "deep" / "inside")
    session_id = scenario.prompt("in the subfolder").session_id
    assert scenario.api.of("main")[-1].find("Use SQLite")
    assert_archived(scenario, product, session_id)
    assert len(archives(scenario)) == 1
    assert not (scenario.project / ".claude").exists()


def test_the_user_scope_serves_a_repository_where_nothing_was_ever_installed(scenario: Scenario) -> None:
    product = installed(scenario, "--scope", "user")
    (scenario.home / ".config/unified-state").mkdir(parents=True)
    (scenario.home / ".config/unified-state/config.toml").write_text("restore_tokens = 1000\n")
    work_in(scenario, scenario.folder / "another")
    scenario.run_program("git", "init", "--quiet")
    session_id = scenario.prompt("first").session_id
    assert_archived(scenario, product, session_id)


def ask_both(one: Conversation, other: Conversation, prompt: str) -> None:
    """Ask two clients at the same time, and wait for both."""
    for client in (one, other):
        client.send(prompt)
    for client in (one, other):
        client.wait_for(lambda event: event["type"] == "result")


def test_two_clients_at_once_in_one_checkout_lose_nothing(scenario: Scenario) -> None:
    product = installed_with_items(scenario)
    with Conversation(scenario) as one, Conversation(scenario) as other:
        for prompt in ("first", "second", "third", "/compact", "fourth"):
            ask_both(one, other, prompt)
    for request in scenario.api.of("main")[-2:]:
        assert len(restores(request)) == 2
    assert one.session_id != other.session_id
    assert_archived(scenario, product, one.session_id, other.session_id)
    assert rows(scenario, "SELECT count(DISTINCT session) FROM compaction") == [(2,)]
