"""Lean context in the client: the model reads the short form, the transcript holds it, and the whole is recalled."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from .installed import installed
from .messages import Json, Request, bash, reply, tool
from .product import Product
from .scenario import ALLOW_BASH, NEW_MODEL, OLD_MODEL, Run, Scenario

MODELS = pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])
LONG = "".join(f"step {number} of the long way to the end\n" for number in range(400))


def lean(scenario: Scenario, level: str = "middle") -> Product:
    """The product, installed with lean context; a script of the project prints a long text."""
    product = installed(scenario)
    product.run("install", "--lean", level)
    (scenario.project / "long.txt").write_text(LONG)
    (scenario.project / "say.sh").write_text("#!/bin/bash\ncat long.txt\n")
    return product


@MODELS
def test_the_model_reads_the_short_form_and_recall_gives_the_whole(scenario: Scenario) -> None:
    product = lean(scenario)
    scenario.script(reply(bash("bash say.sh")), "the end")
    run = scenario.prompt("first", *ALLOW_BASH)

    assert (run.result, product.log()) == ("the end", "")
    (given,) = results(scenario.api.of("main")[-1])
    (written,) = results_of_transcript(scenario, run)
    assert given.startswith(written)  # what the hook said beside it may follow
    ref = written.partition(":")[0].removeprefix("[")
    assert written.startswith(f"[{ref}: 400 lines, shown ")
    assert len(written) < len(LONG) / 2
    assert "LEAN CONTEXT" in json.dumps(scenario.api.of("main")[-1].body)
    (kept,) = [line for line in product.export() if line["kind"] == "tool_result"]
    assert (kept["ref"], kept["result"]) == (ref, LONG.rstrip("\n"))


def results(request: Request) -> list[str]:
    """The texts of the tool results in a request."""
    blocks = [
        block
        for message in request.body["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    return [text_of(block) for block in blocks]


def results_of_transcript(scenario: Scenario, run: Run) -> list[str]:
    """The texts of the tool results in the session's file."""
    messages = [entry["message"] for entry in scenario.transcript(run.session_id) if entry.get("type") == "user"]
    return [
        text_of(block)
        for message in messages
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_result"
    ]


def text_of(block: Json) -> str:
    """The text of a tool result."""
    content = block["content"]
    return content if isinstance(content, str) else "\n".join(part["text"] for part in content)
