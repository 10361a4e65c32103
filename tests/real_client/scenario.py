"""One isolated world for the real client: a sandbox, a scripted API, a home, a configuration and a project of its own.

The client comes from the wheel `claude-agent-sdk`, which carries its binary. Invariant: everything the client reads or
writes lies in the scenario's folder, and every process of the scenario ends with it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from .hooks import Hooks
from .messages import Json
from .mock_api import MockApi, Step
from .sandbox import Sandbox
from .transcript import read_entries

OLD_MODEL = "claude-sonnet-4-5-20250929"  # a hook's context reaches it in messages of the role `user`
NEW_MODEL = "claude-opus-5-5"  # the client's default; the same context reaches it in messages of the role `system`

ALLOW_BASH = ("--allowedTools", "Bash")
AUTO_COMPACT = ("--autocompact", "100000")  # the smallest window: compaction above 67,000 reported tokens
STREAM_JSON = ("--output-format", "stream-json", "--verbose")

API_KEY = "sk-ant-dummy-" + "0" * 28
CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Run:
    """What one run of the client in print mode gave."""

    events: list[Json]

    @property
    def session_id(self) -> str:
        """The session of the run; with --continue the first events carry another id, so the last one counts."""
        return next(str(event["session_id"]) for event in reversed(self.events) if "session_id" in event)

    @property
    def result(self) -> str:
        """The text a user sees at the end."""
        return next(str(event["result"]) for event in reversed(self.events) if "result" in event)


class Scenario:
    """A world in `folder` for the binary `client`; `model` is the model the client asks for."""

    def __init__(self, folder: Path, client: Path, model: str = OLD_MODEL) -> None:
        self.folder, self.model = folder, model
        self.home, self.config, self.project = folder / "home", folder / "config", folder / "project"
        self.temporary = folder / "tmp"
        for path in (self.home, self.config, self.project, self.temporary):
            path.mkdir(parents=True)
        self.hooks = Hooks(folder / "hook_calls.jsonl")
        self.environment: dict[str, str] = {}
        """Variables for the client on top of `variables()`."""
        interpreter = (Path(sys.prefix), Path(sys.base_prefix))
        self.sandbox = Sandbox(visible=[folder, CHECKOUT, client, *interpreter])
        self.api = MockApi(self.sandbox.listener)
        self.client = client
        self.run_program("git", "init", "--quiet")

    def script(self, *steps: Step) -> None:
        """What the assistant answers next, in the main conversation."""
        self.api.script("main", *steps)

    def prompt(self, prompt: str, *options: str, resume: str | None = None, fork: bool = False) -> Run:
        """One prompt in print mode, in a process of its own."""
        if resume:
            options = ("--resume", resume, *(("--fork-session",) if fork else ()), *options)
        done = self.run_program(*self.client_command("-p", prompt, *STREAM_JSON, *options))
        return Run([json.loads(line) for line in done.stdout.splitlines()])

    def client_command(self, *arguments: str) -> list[str]:
        """The client's command line, with this scenario's settings and model."""
        settings = self.folder / "settings.json"
        settings.write_text(json.dumps({"hooks": self.hooks.settings}), encoding="utf-8")
        return [str(self.client), *arguments, "--settings", str(settings), "--model", self.model]

    def run_program(
        self, *command: str | Path, stdin: str = "", check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run any program in the project, in the same world; a failure raises, unless `check` is off."""
        done = self.sandbox.run(command, cwd=self.project, env=self.variables(), stdin=stdin)
        if check and done.returncode:
            error = subprocess.CalledProcessError(done.returncode, list(map(str, command)))
            error.add_note(done.stdout + done.stderr)
            raise error
        return done

    def start_client(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the client in the project, with pipes for all its streams."""
        command = self.client_command(*arguments)
        return self.sandbox.start(command, cwd=self.project, env=self.variables(), stdin=subprocess.PIPE)

    def variables(self) -> dict[str, str]:
        """The whole environment of the programs."""
        return {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "TERM": "xterm-256color",
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "CLAUDE_CODE_TMPDIR": str(self.temporary),
            "ANTHROPIC_API_KEY": API_KEY,
            "ANTHROPIC_BASE_URL": self.api.url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
            **self.environment,
        }

    def transcript_path(self, session_id: str) -> Path:
        """The session's file."""
        (path,) = self.config.glob(f"projects/*/{session_id}.jsonl")
        return path

    def transcript(self, session_id: str) -> list[Json]:
        """The session's entries."""
        return read_entries(self.transcript_path(session_id).read_bytes())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.api.close()
        finally:
            self.sandbox.close()


def find_client() -> Path | None:
    """The client's binary: the one UNIFIED_STATE_REAL_CLIENT names, else the one in the installed wheel."""
    if chosen := os.environ.get("UNIFIED_STATE_REAL_CLIENT"):
        return Path(chosen).resolve(strict=True)
    wheel = importlib.util.find_spec("claude_agent_sdk")
    if wheel is None or wheel.origin is None:
        return None
    return Path(wheel.origin).with_name("_bundled") / "claude"
