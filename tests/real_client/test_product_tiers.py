"""The main job with the real client where files of JSON hold the history instead of an archive."""

from __future__ import annotations

import pytest

from tests.sandboxed.product import Product

from .conversation import Conversation
from .messages import bash, reply
from .product import BRIEF_MARK, WORKING_SET_MARK, kept, said
from .scenario import ALLOW_BASH, Scenario


@pytest.fixture
def product(scenario: Scenario) -> Product:
    """Installed, with the tier chosen and items to lose."""
    settings = scenario.home / ".config" / "unified-state" / "config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text('tier = "json"\n', encoding="utf-8")
    product = Product(scenario)
    product.install()
    product.run("decision", "add", "Use JSON for the history", "--rationale", "no SQLite here", "--irreversible")
    product.run("constraint", "add", "API v1 stays", "--source", "the user", "--blocking")
    return product


def test_with_tier_json_a_compaction_is_survived_and_nothing_is_lost(scenario: Scenario, product: Product) -> None:
    scenario.script(reply(bash("echo hello > a.txt; cat a.txt")), "written", "seen", "third")
    with Conversation(scenario, *ALLOW_BASH) as client:
        client.ask("write the file")
        client.ask("look at it")
        client.ask("/compact")
        client.ask("go on")
        session_id = client.session_id

    (compaction,) = scenario.api.of("compact")
    assert compaction.find("D1 (the user said): Use JSON for the history")
    request = scenario.api.of("main")[-1]
    for expected in ("Use JSON for the history", "API v1 stays", "write the file"):
        assert request.find(expected), expected
    assert len(request.find(BRIEF_MARK)) == len(request.find(WORKING_SET_MARK)) == 1
    assert product.log() == ""
    assert all(product.health().values())
    scenario.prompt("a last word", resume=session_id)
    exported = kept(product.export(session_id))
    missing = said(scenario.transcript(session_id)) - exported
    assert {text for _, text in missing} <= {"a last word", "ok"}
    assert max(exported.values()) == 1
    assert '"compactions":1' in product.run("status", "--json").replace(" ", "")
