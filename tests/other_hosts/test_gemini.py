"""Gemini CLI itself, with our hooks in its project."""

from __future__ import annotations

from .gemini import Gemini
from .world import HostWorld


def test_the_memory_survives_a_compression_of_gemini(world: HostWorld, gemini: Gemini) -> None:
    """It tells no hook of it: the chat does, and the next prompt is given back what was lost."""
    world.product("constraint", "add", "API v1 stays", "--source", "the user", "--blocking")
    world.api.script("the first answer " + " ".join(map(str, range(8000))), "the second answer")
    world.api.summary = "<state_snapshot>MOCK-SUMMARY</state_snapshot>"
    gemini.prompt("the first prompt")
    gemini.prompt("the second prompt", goes_on=True)
    gemini.compress_above(0.0001)
    gemini.prompt("the third prompt", goes_on=True)
    assert world.api.of("compact")
    gemini.compress_above(0.5)
    gemini.prompt("the fourth prompt", goes_on=True)
    assert "API v1 stays" in world.api.of("main")[-1].text.rpartition("the fourth prompt")[2]
    assert world.said("prompt") == [f"the {which} prompt" for which in ("first", "second", "third", "fourth")]
    assert "MOCK-SUMMARY" in world.product("show", "K1")
    assert world.log() == ""
