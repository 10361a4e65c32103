"""opencode itself, with our program among its plugins."""

from __future__ import annotations

from .model_api import Say
from .opencode import Opencode
from .world import HostWorld


def test_the_memory_survives_a_compaction_of_opencode(world: HostWorld, opencode: Opencode) -> None:
    world.product("constraint", "add", "API v1 stays", "--source", "the user", "--blocking")
    world.api.script(Say("the first answer", tokens=195_000))
    opencode.prompt("the first prompt")
    opencode.prompt("the second prompt", goes_on=True)
    assert world.api.of("compact")
    assert "API v1 stays" in world.api.of("main")[-1].text
    assert "MOCK-SUMMARY" in world.product("show", "K1")
    assert world.log() == ""
