"""Constraints that are enforced in the real client: what is stopped, asked, warned of, and what goes on as before."""

from __future__ import annotations

import time

import pytest

from tests.sandboxed.product import PROGRAM, Product

from .conversation import Conversation
from .installed import installed
from .messages import Json, bash, reply
from .scenario import ALLOW_BASH, NEW_MODEL, OLD_MODEL, Scenario
from .terminal import Terminal

MODELS = pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])
DENY = "git push --force"
PATIENCE = 10  # seconds for a running session to notice its settings
FORBIDDEN = (
    "git push --force origin main",
    "cd . && git -C . -c a.b=c push -fu origin main",
    "sudo -n git push origin +main",
    "bash -c 'git push --force'",
    "echo $(git push -f origin main)",
    "GIT_TRACE=0 env LANG=C timeout 5 git push --force",
)
ALLOWED = (
    "git push origin main",
    'echo "git push --force"',
    "git commit --quiet --allow-empty -m 'git push --force'",
    "git push --force-with-lease origin main",
    "grep -c 'git push --force' README || true",
)


@pytest.fixture
def product(scenario: Scenario) -> Product:
    """Installed, with a constraint of the user's own that stops a forced push, and a remote to push to."""
    product = installed(scenario)
    for command in (
        ("git", "init", "--quiet", "--bare", str(scenario.folder / "remote.git")),
        ("git", "remote", "add", "origin", str(scenario.folder / "remote.git")),
        ("git", "checkout", "--quiet", "-B", "main"),
        ("git", "config", "user.name", "Tester"),
        ("git", "config", "user.email", "tester@example.invalid"),
        ("git", "commit", "--quiet", "--allow-empty", "-m", "first"),
    ):
        scenario.run_program(*command)
    product.run(
        "constraint", "add", "Never force-push", "--source", "the team", "--scope", f"command:{DENY}", "--mode", "deny"
    )
    return product


def test_a_denied_command_is_stopped_however_it_is_written_and_nothing_else_is(
    scenario: Scenario, product: Product
) -> None:
    commands = (*FORBIDDEN, *ALLOWED)
    scenario.script(*(reply(bash(f"{command}; echo ran-{n}")) for n, command in enumerate(commands)), "done")
    scenario.prompt("push", *ALLOW_BASH)

    told = results(scenario)
    assert len(told) == len(commands)
    for command, result in zip(FORBIDDEN, told, strict=False):
        assert "Constraint C1 forbids this: Never force-push (the user said, since 20" in result, command
        assert "unified-state resolve C1" in result, command
    for command, result in zip(ALLOWED, told[len(FORBIDDEN) :], strict=True):
        assert "ran-" in result, command
    assert product.log() == ""
    assert all(product.health().values())


def test_a_command_in_the_text_of_a_slash_command_is_stopped_and_another_is_not(
    scenario: Scenario, product: Product
) -> None:
    product.run("constraint", "add", "Ask", "--source", "me", "--scope", "path:asked")
    commands = scenario.project / ".claude" / "commands"
    commands.mkdir(exist_ok=True)
    lines = ("git push --force; touch denied", "touch asked", "touch allowed")
    text = "\n".join(f"!`{line}`" for line in lines)
    (commands / "go.md").write_text(f"---\nallowed-tools: Bash\n---\n{text}\n", encoding="utf-8")
    scenario.script("done")
    scenario.prompt("/go", *ALLOW_BASH)
    assert {name for name in ("denied", "asked", "allowed") if (scenario.project / name).exists()} == {"allowed"}


def test_a_constraint_that_asks_hands_the_call_to_the_user(scenario: Scenario) -> None:
    product = installed(scenario)
    product.run("constraint", "add", "Ask before a release", "--source", "me", "--scope", "command:npm publish")
    scenario.script(reply(bash("echo npm publish; npm publish --dry-run > ran.txt")), "done")
    run = scenario.prompt("go", *ALLOW_BASH)
    assert "Constraint C1 asks before this: Ask before a release" in results(scenario)[0]
    assert [event["decision_reason_type"] for event in run.events if event.get("subtype") == "permission_denied"] == [
        "hook"
    ]
    assert not (scenario.project / "ran.txt").exists()


@MODELS
def test_a_warning_reaches_the_model_and_the_user_and_stops_nothing(scenario: Scenario) -> None:
    product = installed(scenario)
    product.run(
        "constraint", "add", "The data is shared", "--source", "me", "--scope", "path:data/**", "--mode", "warn"
    )
    scenario.script(reply(bash("mkdir data; echo x > data/a.txt")), "done")
    run = scenario.prompt("go", *ALLOW_BASH)
    assert (scenario.project / "data" / "a.txt").exists()
    assert scenario.api.of("main")[-1].find("Constraint C1 is about this: The data is shared")
    assert any("Constraint C1 is about this" in str(event.get("content")) for event in run.events)


def test_a_constraint_holds_in_a_session_that_runs_already_and_no_longer_when_it_is_lifted(scenario: Scenario) -> None:
    product = installed(scenario)
    with Conversation(scenario, *ALLOW_BASH) as client:
        client.ask("hello")
        product.run(
            "constraint", "add", "No make", "--source", "me", "--scope", "command:make release", "--mode", "deny"
        )
        deadline = time.monotonic() + PATIENCE
        while not stopped(scenario, client) and time.monotonic() < deadline:
            pass
        assert stopped(scenario, client)
        product.at_terminal("constraint", "lift", "C1")
        assert not stopped(scenario, client)
    assert "PreToolUse" not in (scenario.project / ".claude" / "settings.local.json").read_text(encoding="utf-8")


def test_the_agent_cannot_lift_forget_or_uninstall_what_the_user_forbade(scenario: Scenario, product: Product) -> None:
    commands = ("constraint lift C1", "forget C1", "uninstall", DENY)
    scenario.script(*(reply(bash(f"{PROGRAM} {command}")) for command in commands[:-1]), reply(bash(DENY)), "done")
    scenario.prompt("lift it", *ALLOW_BASH)
    for result in results(scenario)[:-1]:
        assert "only the user" in result, result
    assert "Constraint C1 forbids this" in results(scenario)[-1]


def results(scenario: Scenario) -> list[str]:
    """What the model was told of its tool calls, in order."""
    found: list[str] = []
    for message in scenario.api.of("main")[-1].body["messages"]:
        blocks: list[Json] = message["content"] if isinstance(message["content"], list) else []
        found += [str(block["content"]) for block in blocks if block["type"] == "tool_result"]
    return found


def stopped(scenario: Scenario, client: Conversation) -> bool:
    """Whether the agent cannot run the command that is forbidden now."""
    scenario.script(reply(bash("make release; echo on")), "done")
    client.ask("release")
    return "forbids this" in results(scenario)[-1]


@pytest.mark.usefixtures("tmux")
def test_a_person_is_asked_with_the_constraint_and_may_say_yes(scenario: Scenario) -> None:
    product = installed(scenario)
    product.run("constraint", "add", "Ask before a release", "--source", "me", "--scope", "command:make release")
    scenario.script(reply(bash("make release; echo released > ran.txt")), "the end")
    with Terminal(scenario, *ALLOW_BASH) as terminal:
        terminal.enter("release")
        terminal.wait_for("Constraint C1 asks before this")
        terminal.answer("Do you want to proceed", "Enter")
        terminal.wait_for("the end")
        terminal.leave()
    assert (scenario.project / "ran.txt").exists()
