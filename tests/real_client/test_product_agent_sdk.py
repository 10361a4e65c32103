"""An agent of the Claude Agent SDK has its memory in its own process: nothing is installed in the project."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from .installed import assert_archived
from .messages import Json, bash, reply
from .product import BRIEF_MARK, Product
from .scenario import Scenario

AGENT = Path(__file__).with_name("sdk_agent.py")


def agent(scenario: Scenario, *prompts: str, **options: Any) -> Json:
    """What an agent with the memory says to the prompts."""
    given = {"options": {"cli_path": str(scenario.client), "model": scenario.model, **options}, "prompts": prompts}
    done = scenario.run_program(sys.executable, AGENT, json.dumps(given))
    seen: Json = json.loads(done.stdout.splitlines()[-1])
    assert seen["problems"] == []
    return seen


def test_an_agents_session_is_archived(scenario: Scenario) -> None:
    scenario.script(reply("I look.", bash("echo found")), "It is there.", "Good.")
    seen = agent(scenario, "Where is it?", "Thank you.", allowed_tools=["Bash"])
    assert seen["results"] == ["It is there.", "Good."]
    assert_archived(scenario, Product(scenario), seen["session_id"])
