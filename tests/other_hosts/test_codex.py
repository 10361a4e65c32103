"""Codex itself, with our hooks in its project: what it sends them, what it makes of what they say, what is archived."""

from __future__ import annotations

import json

from tests.sandboxed.product import PROGRAM

from .codex import TRUSTED, Codex
from .model_api import Say
from .world import HostWorld


def test_the_memory_survives_a_compaction_of_codex(world: HostWorld, codex: Codex) -> None:
    world.product("constraint", "add", "API v1 stays", "--source", "the user", "--blocking")
    world.api.script(Say("the first answer", tokens=200_000))
    codex.prompt("the first prompt")
    codex.prompt("the second prompt", goes_on=True)
    assert len(world.api.of("compact")) == 1
    after = world.api.of("main")[-1].text
    assert "MOCK-SUMMARY" in after
    assert "API v1 stays" in after.rpartition("MOCK-SUMMARY")[2]
    assert "the first answer" in after  # from the turns that the compaction took away
    assert world.said("prompt") == ["the first prompt", "the second prompt"]
    assert world.said("text") == ["the first answer", "ok"]
    assert "MOCK-SUMMARY" in world.product("show", "K1")
    assert world.log() == ""


def test_codex_is_told_a_long_text_in_a_dear_script_whole(world: HostWorld, codex: Codex) -> None:
    """Of more than 2,500 tokens, by its own count of bytes, it would show the model both ends only."""
    for number in range(30):
        rule = f"{number}、このモジュールは外部のAPIを呼び出してはならない。" * 3
        world.product("constraint", "add", rule, "--source", "the user", "--blocking")
    codex.prompt("hello")
    told = world.api.of("main")[0].text
    assert all(f"{number}、このモジュール" in told for number in range(30))
    assert "truncated" not in told.rpartition("<unified-state-memory")[2]


def test_codex_takes_nothing_that_our_hooks_say_for_a_failure(world: HostWorld, codex: Codex) -> None:
    assert "hook" not in codex.prompt("hello").lower().replace(TRUSTED, "")


def test_what_the_agent_of_codex_records_belongs_to_its_session(world: HostWorld, codex: Codex) -> None:
    command = f'{PROGRAM} decision add "Use SQLite for the archive" --rationale "one file"'
    world.api.script(Say(tool="exec_command", fields={"cmd": command}), "noted")
    codex.prompt("decide where to keep it")
    codex.prompt("go on", goes_on=True)
    found = json.loads(world.product("show", "--source", "D1", "--json"))
    assert found["turn"]["prompt"]["text"] == "decide where to keep it"
    assert "[ELSEWHERE]" not in world.api.of("main")[-1].text


def test_what_codex_patched_and_ran_is_known_with_its_outcome(world: HostWorld, codex: Codex) -> None:
    patch = "*** Begin Patch\n*** Add File: limiter.py\n+def take_fairly(bucket):\n+    return 1\n*** End Patch"
    failing = "python3 -c 'raise SystemExit(\"tenant starved\")'"
    world.api.script(
        Say(tool="exec_command", fields={"cmd": f"apply_patch <<'EOF'\n{patch}\nEOF"}),
        Say(tool="exec_command", fields={"cmd": failing}),
        "it still starves",
    )
    codex.prompt("make it fair")
    assert (world.project / "limiter.py").read_text(encoding="utf-8").startswith("def take_fairly")
    told = world.product("preview")
    assert "limiter.py: take_fairly" in told
    assert f"$ {failing} -> failed: tenant starved" in told
    assert world.log() == ""
