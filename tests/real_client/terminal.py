"""The client as a person sees it: its interactive screen, under tmux in the scenario's sandbox."""

from __future__ import annotations

import json
import re
import shlex
import time
from typing import Self

from .scenario import API_KEY, Scenario

TMUX = ("tmux", "-f", "/dev/null", "-S", "/tmp/tmux.socket")  # the sandbox's own /tmp


class Terminal:
    """One interactive client, ready for the first prompt."""

    def __init__(self, scenario: Scenario, *options: str, columns: int = 160) -> None:
        self._scenario = scenario
        _answer_first_questions(scenario)
        # New models start in auto mode, which asks a server of its own before each tool call.
        command = shlex.join(scenario.client_command("--permission-mode", "default", *options))
        self._tmux("new-session", "-d", "-x", "160", "-y", "50", f"{command}; echo CLIENT ENDED; sleep infinity")
        self.wait_for("manual mode on")
        self._tmux("resize-window", "-x", str(columns))

    def screen(self) -> str:
        """What is on the screen now."""
        return self._tmux("capture-pane", "-p", "-J").rstrip()

    def wait_for(self, pattern: str, timeout: float = 20) -> str:
        """The screen as soon as it shows `pattern`; an error with the screen when it does not in time (seconds)."""
        deadline = time.monotonic() + timeout
        while not re.search(pattern, screen := self.screen()):
            if time.monotonic() > deadline:
                message = f"{pattern!r} did not appear on the screen:\n{screen}"
                raise TimeoutError(message)
            time.sleep(0.05)
        return screen

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names: Enter, Escape, C-c, Up."""
        self._tmux("send-keys", *keys)

    def answer(self, question: str, key: str, timeout: float = 20) -> None:
        """Press a key until the question is gone: a dialog takes none in its first moments."""
        deadline = time.monotonic() + timeout
        screen = self.wait_for(question)
        while re.search(question, screen) and time.monotonic() < deadline:
            self.press(key)
            time.sleep(0.5)
            screen = self.screen()

    def type(self, text: str) -> None:
        """Type into the prompt and wait until it stands there."""
        self._tmux("send-keys", "-l", text)
        self.wait_for(r"\s+".join(map(re.escape, text[-30:].split())))  # the client wraps a long prompt

    def paste(self, text: str) -> None:
        """Paste into the prompt, as a terminal does."""
        self._tmux("set-buffer", text)
        self._tmux("paste-buffer", "-p")

    def enter(self, text: str) -> None:
        """Type into the prompt and send it."""
        self.type(text)
        self.press("Enter")

    def leave(self) -> None:
        """End the client the way a person does."""
        self.enter("/exit")
        self.wait_for("CLIENT ENDED")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._tmux("kill-server")

    def _tmux(self, *arguments: str) -> str:
        return self._scenario.run_program(*TMUX, *arguments).stdout


def _answer_first_questions(scenario: Scenario) -> None:
    """Answer, in the client's own file, what it asks a person on the first start: theme, key, trust in the folder."""
    answers = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [API_KEY[-20:]], "rejected": []},
        "projects": {str(scenario.project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }
    (scenario.config / ".claude.json").write_text(json.dumps(answers), encoding="utf-8")
