"""A prompt that follows a compaction is given the archived turns that it is about; any other is given nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unified_state.model.hook_event import BRIEF, WORKING_SET
from unified_state.state_file.manager import UnifiedStateManager

from .product import Done, Project, restored, well_printed
from .transcripts import Json, Transcript

ABOUT = "how does the flux capacitor get its current?"

OUTPUTS = ("[CONTEXT RESTORED]", "(continued)")  # what begins the two parts of a long restore

triggers = pytest.mark.parametrize("trigger", ["auto", "manual"])


class Compacted:
    """A session that speaks of the flux capacitor in its first turn, and of other things in sixty more, when it is
    compacted; and the prompts that follow.
    """

    def __init__(self, project: Project, path: Path) -> None:
        self.project, self.path = project, path
        self.written = Transcript("s")
        self.written.prompt("wire the flux capacitor")
        self.written.text("The flux capacitor takes its current from the plutonium chamber.")
        self.uuids = [self._turn(number) for number in range(2, 62)]

    def _turn(self, number: int) -> str:
        uuid = self.written.prompt(f"Subject {number}x: look after {self.written.prose(40)}")
        self.written.text(f"Looked after it. The gizmo{number} of the sprocket{number} is loose.")
        return uuid

    def compact(self, *, trigger: str = "auto", arrives: bool = True, lost: str = "", **details: Json) -> None:
        """The client compacts, with all hooks; what they give arrives or not, or all but one part of it."""
        self.project.keep(self.written, self.path)
        told = restored(self.project, self.path)
        metadata = {"trigger": trigger, "preTokens": 150_000, **details}
        self.written.entry("system", subtype="compact_boundary", compactMetadata=metadata)
        content = {"role": "user", "content": "This session is being continued."}
        self.written.entry("user", message=content, isCompactSummary=True)
        if trigger == "manual":
            echo = {"role": "user", "content": "<local-command-stdout>Compacted</local-command-stdout>"}
            self.written.entry("user", message=echo, repeatsCompactSummary=True)
        for text in (text for part, text in told.items() if arrives and part != lost):
            self.written.entry("attachment", attachment={"type": "hook_additional_context", "content": [text]})

    def prompt(self, text: str) -> str:
        """What a prompt is given, before the client writes it down."""
        done = self.project.hook("UserPromptSubmit", transcript_path=str(self.written.write(self.path)), prompt=text)
        assert well_printed(done)
        assert self.project.log() == ""
        self.written.prompt(text)
        self.written.text("Yes.")
        return given(done)


def given(done: Done) -> str:
    """The context that a hook gives, or nothing."""
    return str(json.loads(done.out)["hookSpecificOutput"]["additionalContext"]) if done.out else ""


@pytest.fixture
def session(project: Project, tmp_path: Path) -> Compacted:
    settings = project.home / ".config" / "unified-state" / "config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("restore_tokens = 150\n", encoding="utf-8")  # so that the restore does not tell it already
    return Compacted(project, tmp_path / "s.jsonl")


@pytest.fixture
def restored_session(project: Project, tmp_path: Path) -> Compacted:
    """A session whose restores have their usual size."""
    return Compacted(project, tmp_path / "s.jsonl")


@triggers
def test_the_first_prompt_after_a_compaction_is_given_the_turns_it_is_about(session: Compacted, trigger: str) -> None:
    session.compact(trigger=trigger)
    context = session.prompt(ABOUT)
    lines = context.splitlines()
    assert lines[0].startswith("<unified-state-memory nonce=")
    assert lines[0].endswith('about="archived turns from before, as data">')
    assert lines[1].startswith("[RELEVANT] archived turns")
    assert [line.split()[0] for line in lines[2:-1]] == ["T1"]
    assert "plutonium chamber" in lines[2]
    assert lines[-1].startswith("</unified-state-memory nonce=")


def test_each_later_prompt_is_given_what_it_is_about_once(session: Compacted) -> None:
    session.compact(trigger="manual")
    for _ in range(5):
        assert session.prompt("continue") == ""
    assert "plutonium" in session.prompt(ABOUT)
    assert session.prompt(ABOUT) == ""


def test_after_the_next_compaction_the_first_prompt_is_given_it_again(session: Compacted) -> None:
    for _ in range(2):
        session.compact()
        assert "plutonium" in session.prompt(ABOUT)


def test_without_a_compaction_nothing_is_given(session: Compacted) -> None:
    assert session.prompt(ABOUT) == ""
    session.project.keep(session.written, session.path, "Stop")
    assert session.prompt(ABOUT) == ""


@pytest.mark.parametrize(("lost", "mark", "other"), [(BRIEF, *OUTPUTS), (WORKING_SET, *reversed(OUTPUTS))])
def test_of_two_outputs_only_the_one_that_was_lost_comes_again(
    restored_session: Compacted, lost: str, mark: str, other: str
) -> None:
    manager = UnifiedStateManager(restored_session.project.folder)
    for number in range(10):  # so many that the restore fills both
        manager.add_decision(f"{number}: {'words of a decision, and more of them. ' * 24}", "because")
    restored_session.compact(lost=lost)
    context = restored_session.prompt("go on")
    assert (mark in context, other in context) == (True, False)


def test_a_late_restore_and_the_relevant_turns_come_together_within_the_client_s_limit(session: Compacted) -> None:
    session.compact(arrives=False)
    context = session.prompt(ABOUT)
    assert context.count("<unified-state-memory nonce=") == 2
    assert "plutonium" in context
    assert len(context.encode("utf-16-le")) // 2 <= 10_000


def test_a_subagent_s_prompt_is_given_nothing(session: Compacted) -> None:
    session.compact()
    path = str(session.written.write(session.path))
    assert session.project.hook("UserPromptSubmit", transcript_path=path, prompt=ABOUT, agent_id="a").out == ""
