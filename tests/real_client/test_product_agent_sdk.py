"""An agent of the Claude Agent SDK has its memory in its own process: nothing is installed in the project."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.sandboxed.product import Product

from .installed import spoken
from .messages import Json, Request, as_blocks, bash, flat_text, reply, tool
from .product import BRIEF_MARK, kept
from .scenario import Scenario

RULE = "We always greet in English"
TOOLS = "mcp__unified-state__"
EXAMPLE = Path(__file__).parents[2] / "docs/examples/agent_with_memory.py"
AGENT = Path(__file__).with_name("sdk_agent.py")


def agent(scenario: Scenario, *prompts: str, clients: int = 1, lean: str | None = None, **options: Any) -> Json:
    """What an agent with the memory says to the prompts."""
    options = {"cli_path": str(scenario.client), "model": scenario.model, **options}
    given = {"options": options, "prompts": prompts, "clients": clients, "lean": lean}
    done = scenario.run_program(sys.executable, AGENT, json.dumps(given))
    seen: Json = json.loads(done.stdout.splitlines()[-1])
    assert seen["problems"] == []
    return seen


def decided(product: Product) -> None:
    product.run("decision", "add", "Use SQLite for the archive", "--rationale", "one file", "--irreversible")


def results(request: Request) -> list[str]:
    """What tools answered, as the model sees it."""
    blocks = [block for message in request.body["messages"] for block in as_blocks(message["content"])]
    found = [flat_text(block["content"]) for block in blocks if block["type"] == "tool_result"]
    return [text.partition("\n\n<system-reminder>")[0] for text in found]


def test_an_agents_session_is_archived(scenario: Scenario) -> None:
    product = Product(scenario)
    scenario.script(reply("I look.", bash("echo found")), "It is there.", "Good.")
    seen = agent(scenario, "Where is it?", "Thank you.", allowed_tools=["Bash"])
    assert seen["results"] == ["It is there.", "Good."]
    assert kept(product.export(seen["session_id"])) == spoken(scenario, seen["session_id"])
    assert product.log() == ""


def test_the_first_prompt_brings_what_sessionstart_would_have_given(scenario: Scenario) -> None:
    decided(Product(scenario))
    scenario.script("one", "two")
    agent(scenario, "first", "second")
    first, second = scenario.api.of("main")
    assert len(first.find("Use SQLite")) == 1
    assert second.find(BRIEF_MARK) == first.find(BRIEF_MARK)  # it stands where it stood, and is not given again


def test_a_compaction_is_steered_and_its_restore_arrives(scenario: Scenario) -> None:
    product = Product(scenario)
    decided(product)
    scenario.script(reply("I look.", bash("echo found")), "It is there.", "Good.")
    seen = agent(scenario, "Where is it?", "/compact", "and now?", allowed_tools=["Bash"])
    (asked,) = scenario.api.of("compact")
    assert "Use SQLite" in asked.last_user_text()
    last = scenario.api.of("main")[-1]
    assert len(last.find(BRIEF_MARK)) == 1
    assert json.loads(product.run("show", "K1", "--json"))["summary"]
    assert kept(product.export(seen["session_id"])) == spoken(scenario, seen["session_id"])


def test_the_tools_of_the_mcp_server_are_there_without_a_process_of_their_own(scenario: Scenario) -> None:
    product = Product(scenario)
    decided(product)
    rule = tool(f"{TOOLS}add", kind="constraint", text="Greet in English", reason="the user", quote=RULE)
    scenario.script(reply(tool(f"{TOOLS}show", id="D1")), reply(rule), reply(tool(f"{TOOLS}show", id="Z9")), "Done.")
    session_id = agent(scenario, RULE)["session_id"]
    recalled, recorded, refused = (results(request)[-1] for request in scenario.api.of("main")[1:])
    assert json.loads(recalled)["body"]["decision"] == "Use SQLite for the archive"
    assert json.loads(recorded)["id"] == "C1"
    assert "unknown ref" in refused
    made = json.loads(product.run("show", "C1", "--json"))
    assert (made["session_id"], made["origin"]) == (session_id, "user_said")
    assert product.log() == ""


def test_a_tool_call_that_breaks_an_enforced_constraint_is_denied(scenario: Scenario) -> None:
    product = Product(scenario)
    scope = ("--scope", "command:git push --force", "--mode", "deny")
    product.run("constraint", "add", "No force pushes", "--source", "the user", *scope)
    scenario.script(reply(bash("git push --force")), "I see.")
    agent(scenario, "push it", allowed_tools=["Bash"], setting_sources=[])
    assert "No force pushes" in results(scenario.api.of("main")[-1])[-1]


def test_the_agent_of_the_documentation_remembers_in_another_process(scenario: Scenario) -> None:
    added = tool(f"{TOOLS}add", kind="decision", text="Keep the notes in SQLite", reason="one file")
    scenario.script(reply("I record it.", added), "Recorded.", "In SQLite: one file.")
    first = scenario.run_program(sys.executable, EXAMPLE, "We keep the notes in SQLite.").stdout
    second = scenario.run_program(sys.executable, EXAMPLE, "Where do we keep the notes?").stdout
    assert first.split("\n") == ["I record it.", "", "Recorded.", ""]
    assert second == "In SQLite: one file.\n"
    assert scenario.api.of("main")[-1].find("D1 (inferred): Keep the notes in SQLite. Why: one file")
