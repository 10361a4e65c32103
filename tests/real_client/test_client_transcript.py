"""What the product relies on in the transcript: where tool results, queued messages and subagents are kept."""

from __future__ import annotations

import pytest

from .scenario import NEW_MODEL, OLD_MODEL, Scenario
from .transcript import attachments, dialogue

MODELS = pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])


@MODELS
def test_the_last_message_is_written_while_the_stop_hook_runs(scenario: Scenario) -> None:
    scenario.script("the last message")
    scenario.hooks.record("Stop", seconds=1)
    scenario.prompt("first")

    (stop,) = scenario.hooks.calls()
    assert stop.event["last_assistant_message"] == "the last message"
    assert dialogue(stop.entries_on_disk()) == [("user", "first"), ("assistant", "the last message")]


def test_a_mentioned_file_is_an_attachment_beside_the_prompt_as_typed(scenario: Scenario) -> None:
    (scenario.project / "note.txt").write_text("alpha\n")
    entries = scenario.transcript(scenario.prompt("read @note.txt").session_id)

    (file,) = attachments(entries, "file")
    assert file["content"]["file"]["content"] == "alpha\n"
    assert ("user", "read @note.txt") in dialogue(entries)
