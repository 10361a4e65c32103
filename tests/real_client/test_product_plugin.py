"""The plugin in the client: alone, beside `install`, after an update, without a program; each hook works once."""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter

import pytest

from tests.sandboxed.product import PROGRAM, Product

from .conversation import Conversation
from .counted import CountingInterpreter, as_program
from .installed import change_handlers
from .messages import bash, reply
from .plugin import Plugin, clone, program_on_path
from .scenario import ALLOW_BASH, CHECKOUT, Scenario

PATIENCE = 30  # seconds
ONCE = {
    "SessionStart brief": 2,  # the start, and the compaction
    "SessionStart working_set": 2,
    "UserPromptSubmit": 2,
    "Stop": 2,
    "SubagentStop": 1,  # of the compaction itself
    "PreCompact": 1,
    "SessionEnd": 1,
}


@pytest.mark.parametrize("path", [".", ".claude-plugin/plugin.json", ".claude-plugin/marketplace.json"])
def test_the_client_finds_nothing_wrong_with_plugin_and_marketplace(scenario: Scenario, path: str) -> None:
    plugin = Plugin(scenario)
    assert "Validation passed" in plugin.client("plugin", "validate", "--strict", plugin.root / path)


@pytest.mark.parametrize(("with_plugin", "with_install"), [(True, False), (False, True), (True, True)])
def test_plugin_and_install_alone_or_together_do_the_work_of_each_event_once(
    scenario: Scenario, with_plugin: bool, with_install: bool
) -> None:
    interpreter = CountingInterpreter(scenario)
    product = Product(scenario)
    if with_install:
        product.install()
        for event in {call.split()[0] for call in ONCE}:
            change_handlers(scenario, lambda handler: {**handler, "command": str(interpreter.launcher)}, event)
    if with_plugin:
        plugin = Plugin(scenario)
        plugin.install()
        plugin.data.mkdir(parents=True)
        (plugin.data / "program").write_text(as_program(interpreter.path, CHECKOUT))
    with Conversation(scenario) as client:
        for prompt in ("one", "/compact", "two"):
            client.ask(prompt)
        until = time.monotonic() + PATIENCE
        while interpreter.worked()["Stop"] < ONCE["Stop"]:  # a client that ends kills a Stop that works on
            assert time.monotonic() < until
            time.sleep(0.05)

    assert interpreter.worked() == Counter(ONCE)
    assert interpreter.started() == sum(ONCE.values()) * (with_plugin + with_install)
    assert product.log() == ""


def test_the_plugin_works_where_the_client_does_not_read_the_settings_that_have_the_hooks(scenario: Scenario) -> None:
    product = Product(scenario)
    product.install()
    program_on_path(scenario)
    Plugin(scenario).install()
    scenario.prompt("hello", "--setting-sources", "user")
    assert [step["text"] for step in product.export() if step["kind"] == "prompt"] == ["hello"]


def test_after_an_update_that_moves_the_plugin_the_program_is_still_known(scenario: Scenario) -> None:
    program_on_path(scenario)
    for name in ("first", "second"):
        root = clone(scenario.folder / name)
        scenario.prompt(f"from {name}", "--plugin-dir", str(root))
        shutil.rmtree(root)
        shutil.rmtree(scenario.home / ".local" / "bin", ignore_errors=True)  # it would not be found again
    prompts = [step["text"] for step in Product(scenario).export() if step["kind"] == "prompt"]
    assert prompts == ["from first", "from second"]


def test_the_agents_commands_reach_a_program_that_is_not_on_the_path(scenario: Scenario) -> None:
    installed = scenario.home / ".local" / "bin"
    installed.mkdir(parents=True)
    (installed / PROGRAM.name).symlink_to(PROGRAM)
    Plugin(scenario).install()
    scenario.script(reply(bash('unified-state decision add "Use SQLite" --rationale "one file"')), "done")
    scenario.prompt("decide", *ALLOW_BASH)
    assert scenario.api.of("main")[-1].find("D1")
    assert json.loads(Product(scenario).run("decision", "list", "--json"))[0]["decision"] == "Use SQLite"


def test_the_command_of_the_plugin_has_a_prefix_and_needs_no_path(scenario: Scenario) -> None:
    program_on_path(scenario)
    Plugin(scenario).install()
    assert "/compact Keep" in scenario.prompt("/unified-state:context-compact").result
    assert scenario.api.of("main") == []
