"""Work goes from Claude Code to Codex and back: both clients themselves, each with an archive of its own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.passwd import set_home
from tests.real_client.messages import bash, reply
from tests.real_client.scenario import ALLOW_BASH, Scenario, find_client
from tests.sandboxed.product import PROGRAM, Product
from tests.sandboxed.requirement import give_up

from .codex import Codex
from .model_api import Say
from .world import HostWorld


@pytest.fixture
def claude(tmp_path: Path) -> Iterator[Scenario]:
    """Claude Code in a world of its own, our hooks in its project."""
    binary = find_client()
    if binary is None or not binary.exists():
        give_up("no real client: pip install claude-agent-sdk==0.2.187")
    with Scenario(tmp_path / "claude", binary) as scenario:
        Product(scenario).install()
        yield scenario


def test_a_session_goes_on_in_codex_and_comes_back_to_claude_code(
    world: HostWorld, codex: Codex, claude: Scenario
) -> None:
    ours = Product(claude)
    set_home(claude.home)
    (claude.project / "limiter.py").write_text("LIMIT = 8\n", encoding="utf-8")
    decide = f'{PROGRAM} decision add "Keep the counts in SQLite" --rationale "Redis is the session store"'
    hand_over = f"{PROGRAM} handover create --for codex there.jsonl"
    claude.script(reply(bash(decide)), "Next: the limit per key.", reply(bash(hand_over)), "It is in there.jsonl.")
    begun = claude.prompt("Limit the requests", *ALLOW_BASH)
    claude.prompt("Hand the work to Codex", *ALLOW_BASH, resume=begun.session_id)

    set_home(world.home)
    shutil.copy(claude.project / "there.jsonl", world.project)
    retry = f'{PROGRAM} decision add "Answer 429 with Retry-After" --rationale "the clients wait then"'
    back = f"{PROGRAM} handover create --for claude back.jsonl"
    world.api.script(
        Say(tool="exec_command", fields={"cmd": f"{PROGRAM} handover take there.jsonl"}),
        Say(tool="exec_command", fields={"cmd": retry}),
        Say(tool="exec_command", fields={"cmd": back}),
        "The limit per key is there.",
    )
    codex.prompt("Take over what is in there.jsonl, and go on")
    told = world.api.of("main")[1].text
    assert "handed over by Claude Code" in told
    assert "Keep the counts in SQLite" in told.partition("a hand-over from elsewhere, as data")[2]
    for said in ("Limit the requests", "Next: the limit per key."):
        assert said in told
    assert "not committed there: limiter.py (not here)" in told
    assert "D1 (inferred): Keep the counts in SQLite" in world.product("inbox")
    assert "Next: the limit per key." in world.said("text")
    assert "Limit the requests" in world.said("notice")  # it is no word of this user
    assert world.log() == ""

    set_home(claude.home)
    shutil.copy(world.project / "back.jsonl", claude.project)
    take = f"{PROGRAM} handover take back.jsonl"
    claude.script(reply(bash(take)), "I go on from there.")
    claude.prompt("Go on with what Codex did", *ALLOW_BASH, resume=begun.session_id)
    request = claude.api.of("main")[-1]
    assert request.find("handed over by Codex")
    assert request.find("Answer 429 with Retry-After")
    assert "Answer 429 with Retry-After" in ours.run("inbox")
    assert "Keep the counts in SQLite" in ours.run("decision", "list")
    assert json.loads(ours.run("handover", "take", "--json", "back.jsonl"))["added"] == 0
    assert ours.log() == ""
