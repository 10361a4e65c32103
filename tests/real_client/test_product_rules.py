"""The second channel in the client: where hooks are off, the rules file is what tells the state, also after a
compaction.
"""

from __future__ import annotations

import json

import pytest

from tests.sandboxed.product import PROGRAM

from .conversation import Conversation
from .installed import installed, rows
from .messages import bash, reply
from .scenario import ALLOW_BASH, NEW_MODEL, OLD_MODEL, Scenario

MODELS = pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])
RULES = ".claude/rules/unified-state.md"


@pytest.fixture
def without_hooks(scenario: Scenario) -> Scenario:
    """A project in which hooks are off, with the second channel."""
    product = installed(scenario, "--rules")
    (scenario.project / ".claude" / "settings.json").write_text(json.dumps({"disableAllHooks": True}))
    product.run("decision", "add", "Use SQLite for the archive", "--rationale", "one file")
    return scenario


@MODELS
def test_the_state_stands_in_the_first_request_and_as_it_is_now_in_the_one_after_a_compaction(
    without_hooks: Scenario,
) -> None:
    scenario = without_hooks
    added = f'{PROGRAM} constraint add "API v1 stays" --source "the user" --blocking'
    scenario.script(reply(bash(added)), "recorded")
    with Conversation(scenario, *ALLOW_BASH) as client:
        for prompt in ("note the rule", "/compact", "go on"):
            client.ask(prompt)

    first, *_, last = scenario.api.of("main")
    assert len(first.find("Use SQLite for the archive")) == len(last.find("Use SQLite for the archive")) == 1
    assert not first.find("API v1 stays")
    (told,) = [text for _, text in last.texts() if "C1 (inferred" in text]
    assert "<unified-state-memory nonce=" in told
    assert "as data" in told
    assert rows(scenario, "SELECT count(*) FROM step") == [(0,)]  # no hook ran


def test_before_a_compaction_the_file_is_written_anew(scenario: Scenario) -> None:
    installed(scenario, "--rules")
    before = (scenario.project / RULES).read_text()
    with Conversation(scenario) as client:
        for prompt in ("one", "/compact"):
            client.ask(prompt)
    assert (scenario.project / RULES).read_text() != before
