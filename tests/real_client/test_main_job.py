"""The main job with the real client: everything is archived, and after a compaction state and turns come back."""

from __future__ import annotations

import pytest

from tests.sandboxed.product import Product

from .conversation import Conversation
from .messages import bash, reply
from .product import BRIEF_MARK, WORKING_SET_MARK, kept, said
from .scenario import ALLOW_BASH, NEW_MODEL, OLD_MODEL, Scenario

MODELS = pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])


@pytest.fixture
def product(scenario: Scenario) -> Product:
    """Installed, with items to lose."""
    product = Product(scenario)
    product.install()
    product.run("decision", "add", "Use SQLite for the archive", "--rationale", "one file, no server", "--irreversible")
    product.run("constraint", "add", "API v1 stays", "--source", "the user", "--blocking")
    product.run("question", "add", "Which port?", "--context", "8080 is taken", "--priority", "high")
    return product


@MODELS
def test_after_a_manual_compaction_state_and_turns_come_back_and_nothing_is_lost(
    scenario: Scenario, product: Product
) -> None:
    scenario.script(reply(bash("echo hello > a.txt; cat a.txt")), "written", "seen", "third")
    with Conversation(scenario, *ALLOW_BASH) as client:
        client.ask("write the file")
        client.ask("look at it")
        client.ask("/compact")
        client.ask("go on")
        session_id = client.session_id

    request = scenario.api.of("main")[-1]
    for expected in ("Use SQLite for the archive", "API v1 stays", "Which port?", "write the file"):
        assert request.find(expected), expected
    assert len(request.find(BRIEF_MARK)) == len(request.find(WORKING_SET_MARK)) == 1
    assert product.log() == ""
    assert all(product.health().values())
    product.run("status")
    _nothing_is_missing(scenario, product, session_id)


def _nothing_is_missing(scenario: Scenario, product: Product, session_id: str) -> None:
    """What the transcript says stands in the export, each thing once, and nothing else."""
    scenario.prompt("a last word", resume=session_id)  # the catch-up of its SessionStart takes in the rest
    exported = kept(product.export(session_id))
    expected = said(scenario.transcript(session_id))
    missing = expected - exported
    assert {text for _, text in missing} <= {"a last word", "ok"}  # of this very run, read at the next hook
    assert max(exported.values()) == 1
