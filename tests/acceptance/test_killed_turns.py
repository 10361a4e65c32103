"""Turns and restores under kill -9: nothing is lost, nothing is there twice, nothing stale is shown."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from .product import PROGRAM, Project, archive_is_whole, hook_command, users_environment
from .session_client import Client

SEED = 20_261_125
# The longest life of a process that is killed, in seconds: about as long as it takes, so that most are struck.
LIVES = {"prompt": 0.05, "stop": 0.15, "search": 0.15, "summary": 0.2, "restore": 0.15}
SUMMARY = "<summary>We went on with the parts.</summary>"
PATIENCE = 5.1  # seconds after which a transcript counts as complete


class Run:
    """A session whose processes are killed at random times."""

    def __init__(self, project: Project, kills: int) -> None:
        self.client, self.project, self.left = Client(project), project, kills
        self.random = random.Random(SEED)
        self.written: list[str] = []  # prompts in the transcript
        self.unwritten: set[str] = set()  # others, whose hook ended well
        self.unsure: set[str] = set()  # others, whose hook was killed
        self.title = ""
        self.client.hook("SessionStart", "brief", source="startup")

    def turn(self, number: int) -> None:
        """One turn, of whose processes some are killed."""
        self._ask(f"Prompt {number:05} of the client.", is_struck=self._happens(0.6))
        self.client.write("assistant", [{"type": "text", "text": f"Answer {number:05}."}])
        if self._happens(0.3):
            self._strike("search", (*PROGRAM, "search", f"Prompt {number:05}"), b"")
        if self._happens(0.5):
            self._strike_hook("stop", "Stop", last_assistant_message=f"Answer {number:05}.")
        if self._happens(0.5):
            self.client.hook("Stop", last_assistant_message=f"Answer {number:05}.")
        if self._happens(0.15):
            self._compact(number)

    def _happens(self, share: float) -> bool:
        return self.random.random() < share

    def _ask(self, text: str, *, is_struck: bool) -> None:
        ended = 0
        if is_struck:
            ended = self._strike_hook("prompt", "UserPromptSubmit", prompt=text)
        else:
            self.client.asks(text, is_written=False)
        if self._happens(0.9):
            self.client.write("user", text)
            self.written.append(text)
        else:
            (self.unsure if ended else self.unwritten).add(text)

    def _compact(self, number: int) -> None:
        """Compact, change the state behind the summary in half of all cases, and restore."""
        self.client.hook("PreCompact", trigger="manual")
        self._set_title(f"title-{number:05}")
        given = {"agent_type": "", "agent_id": "compact", "last_assistant_message": SUMMARY}
        if self._happens(0.7):
            self._strike_hook("summary", "SubagentStop", **given)
        else:
            self.client.hook("SubagentStop", **given)
        if self._happens(0.5):
            self._set_title(f"title-{number:05}-changed")
        for part in ("brief", "working_set"):
            self._strike_hook("restore", "SessionStart", part, source="compact")
        told = self.client.hook("SessionStart", "brief", source="compact")
        assert f"{self.title} " in told.replace("\\n", " ")
        assert told.count("title-") == told.count(self.title)
        self.client.write("system", "", subtype="compact_boundary", compactMetadata={"trigger": "manual"})

    def _set_title(self, title: str) -> None:
        assert self.project.run("work", "set", "--id", "#1", "--title", f"{title} .").code == 0
        self.title = title

    def _strike_hook(self, kind: str, event: str, part: str = "", /, **fields: object) -> int:
        given = {"session_id": self.client.session_id, "transcript_path": str(self.client.path), **fields}
        return self._strike(kind, hook_command(event, part), self.project.event(event, **given))

    def _strike(self, kind: str, command: Sequence[str], stdin: bytes) -> int:
        """Run a process, and kill it after a random time unless it ends before; its exit status."""
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.project.folder,
            env={**users_environment(), "HOME": str(self.project.home)},
        ) as process:
            assert process.stdin is not None
            process.stdin.write(stdin)
            process.stdin.close()
            try:
                process.wait(self.random.uniform(0.002, LIVES[kind]))
            except subprocess.TimeoutExpired:
                process.kill()
        self.left -= process.returncode < 0
        return process.returncode


@pytest.mark.usefixtures("no_settings")
def test_whatever_is_killed_between_prompt_and_restore_is_neither_lost_nor_doubled_nor_stale(
    repository: Path, home: Path, request: pytest.FixtureRequest
) -> None:
    run, number = Run(Project(repository, home), request.config.getoption("--kills")), 0
    while run.left > 0:
        run.turn(number)
        number += 1
    run.client.stops("The last answer.")
    time.sleep(PATIENCE)
    run.client.hook("SessionStart", "brief", source="resume")
    steps = run.project.export(run.client.session_id)
    prompts = [step["text"] for step in steps if step["kind"] == "prompt"]
    others = set(prompts) - set(run.written)
    assert [text for text in prompts if text not in others] == run.written
    assert run.unwritten <= others <= run.unwritten | run.unsure
    assert len(prompts) == len(set(prompts))
    answers = [step["text"] for step in steps if step["kind"] == "text"]
    assert answers == [*(f"Answer {turn:05}." for turn in range(number)), "The last answer."]
    assert archive_is_whole(run.project.archive)
    assert run.client.kept == []
