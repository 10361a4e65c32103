"""Lean context in the client: the model reads the short form, the transcript holds it, and the whole is recalled."""

from __future__ import annotations

import json
import re
import sys

import pytest

from tests.sandboxed.product import Product

from .installed import installed
from .messages import Json, Request, bash, reply, tool
from .scenario import ALLOW_BASH, Run, Scenario

LONG = "".join(f"step {number} of the long way to the end\n" for number in range(400))
SAY = bash("bash say.sh")
SUBTASK = tool("Agent", description="d", prompt="Say it", subagent_type="general-purpose", run_in_background=False)
MCP_SERVER = """\
import json, sys
TEXT = open("long.txt").read()
for line in sys.stdin:
    asked = json.loads(line)
    match asked.get("method"):
        case "initialize":
            version = asked["params"]["protocolVersion"]
            info = {"name": "long", "version": "1"}
            result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            result = {"tools": [{"name": "say", "description": "says it", "inputSchema": {"type": "object"}}]}
        case "tools/call":
            result = {"content": [{"type": "text", "text": TEXT}]}
        case _:
            result = {}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def lean(scenario: Scenario, level: str = "middle") -> Product:
    """The product, installed with lean context, in a project with long files and a script that prints one."""
    product = installed(scenario)
    product.run("install", "--lean", level)
    furnish(scenario)
    return product


def furnish(scenario: Scenario) -> None:
    """Long files, a script that prints one, a server that says it."""
    (scenario.project / "long.txt").write_text(LONG)
    (scenario.project / "say.sh").write_text("#!/bin/bash\ncat long.txt\n")
    (scenario.project / "server.py").write_text(MCP_SERVER)
    (scenario.project / "deep").mkdir()
    for number in range(80):
        (
            scenario.project
            / "deep"
            / f"a_file_with_a_name_that_is_so_long_that_80_of_them_are_a_long_output_{number}.md"
        ).write_text("needle in the hay\n")


def test_the_model_reads_the_short_form_and_recall_gives_the_whole(scenario: Scenario) -> None:
    product = lean(scenario)
    scenario.script(reply(SAY), "the end")
    run = scenario.prompt("first", *ALLOW_BASH)

    assert (run.result, product.log()) == ("the end", "")
    (given,) = results(scenario.api.of("main")[-1])
    (written,) = results_of_transcript(scenario, run)
    assert given.startswith(written)  # what the hook said beside it may follow
    ref = ref_of(written)
    assert written.startswith(f"[{ref}: 400 lines, shown ")
    assert len(written) < len(LONG) / 2
    (kept,) = [line for line in product.export() if line["kind"] == "tool_result"]
    assert (kept["ref"], kept["result"]) == (ref, LONG.rstrip("\n"))
    assert product.run("show", ref).partition("\n")[2] == LONG


SHAPES: dict[str, tuple[Json, int]] = {
    "matching lines": (tool("Grep", pattern="needle", output_mode="content"), 80),
    "matching files": (tool("Grep", pattern="needle"), 80),
    "file names": (tool("Glob", pattern="deep/*.md"), 80),
    "another server's tool": (tool("mcp__long__say"), 400),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_client_takes_the_short_form_in_the_tools_own_shape(scenario: Scenario, shape: str) -> None:
    call, lines = SHAPES[shape]
    product = lean(scenario, "tight")
    servers = {"mcpServers": {"long": {"command": sys.executable, "args": [str(scenario.project / "server.py")]}}}
    (scenario.folder / "mcp.json").write_text(json.dumps(servers))
    scenario.script(reply(call), "the end")
    options = ("--mcp-config", str(scenario.folder / "mcp.json"), "--allowedTools", "Grep,Glob,mcp__long__say")
    run = scenario.prompt("first", *options)

    (written,) = results_of_transcript(scenario, run)
    ref = ref_in(written)
    assert f"[{ref}: {lines} lines, shown " in written
    whole = product.run("show", ref)
    assert len(written) < len(whole) / 2
    assert len(whole.splitlines()) >= lines
    assert product.log() == ""


def test_a_subagents_output_is_shortened_where_it_can_recall_and_its_long_report_at_the_tightest_level(
    scenario: Scenario,
) -> None:
    product = lean(scenario, "tight")
    scenario.script(reply(SUBTASK), "the end")
    scenario.api.script("subagent", reply(SAY), reply(tool("Grep", pattern="step", output_mode="content")), LONG)
    run = scenario.prompt("first", "--allowedTools", "Agent,Bash,Grep")

    printed, searched = results(scenario.api.of("subagent")[-1])
    assert ref_of(printed)
    assert "shown" not in searched  # a subagent without a shell could not recall it
    (report,) = results_of_transcript(scenario, run)
    kept = {line["ref"]: line for line in product.export() if line["kind"] == "tool_result"}
    assert kept[ref_of(printed)]["result"] == LONG.rstrip("\n")
    assert "agent" in kept[ref_of(printed)]
    assert LONG.rstrip("\n") in kept[ref_in(report)]["result"]
    assert product.log() == ""


def ref_of(given: str) -> str:
    """The ref in the handle of a short form."""
    assert given.startswith("[S")
    return given.partition(":")[0].removeprefix("[")


def ref_in(given: str) -> str:
    """The same, where the client or the tool says something before."""
    found = re.search(r"\[(S\d+): ", given)
    assert found is not None
    return found[1]


def results(request: Request) -> list[str]:
    """The texts of the tool results in a request."""
    return _results(request.body["messages"])


def results_of_transcript(scenario: Scenario, run: Run) -> list[str]:
    """The texts of the tool results in the session's file."""
    return _results([entry["message"] for entry in scenario.transcript(run.session_id) if entry.get("type") == "user"])


def _results(messages: list[Json]) -> list[str]:
    contents = [message["content"] for message in messages if isinstance(message["content"], list)]
    blocks = [block["content"] for content in contents for block in content if block["type"] == "tool_result"]
    return [content if isinstance(content, str) else "\n".join(part["text"] for part in content) for content in blocks]
