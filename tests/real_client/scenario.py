"""An isolated world for the real client, with a configuration of its own.

The client comes from the wheel `claude-agent-sdk`, which carries its binary.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.sandboxed.world import World

from .hooks import Hooks
from .messages import Json
from .mock_api import MockApi, Step
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


class Scenario(World[MockApi]):
    """A world in `folder` for the binary `client`; `model` is the model the client asks for."""

    def __init__(self, folder: Path, client: Path, model: str = OLD_MODEL) -> None:
        self.model, self.client = model, client
        self.config = folder / "config"
        self.config.mkdir(parents=True)
        self.hooks = Hooks(folder / "hook_calls.jsonl")
        super().__init__(folder, MockApi, visible=[client])

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

    def start_client(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the client in the project, with pipes for all its streams."""
        command = self.client_command(*arguments)
        return self.sandbox.start(command, cwd=self.project, env=self.variables(), stdin=subprocess.PIPE)

    def variables(self) -> dict[str, str]:
        """The whole environment of the programs."""
        return {
            "CLAUDE_CONFIG_DIR": str(self.config),
            "CLAUDE_CODE_TMPDIR": str(self.temporary),
            "ANTHROPIC_API_KEY": API_KEY,
            "ANTHROPIC_BASE_URL": self.api.url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
            **super().variables(),
        }

    def transcript_path(self, session_id: str) -> Path:
        """The session's file."""
        (path,) = self.config.glob(f"projects/*/{session_id}.jsonl")
        return path

    def transcript(self, session_id: str) -> list[Json]:
        """The session's entries."""
        return read_entries(self.transcript_path(session_id).read_bytes())


def find_client() -> Path | None:
    """The client's binary: the one UNIFIED_STATE_REAL_CLIENT names, else the one in the installed wheel."""
    if chosen := os.environ.get("UNIFIED_STATE_REAL_CLIENT"):
        return Path(chosen).resolve(strict=True)
    wheel = importlib.util.find_spec("claude_agent_sdk")
    if wheel is None or wheel.origin is None:
        return None
    return Path(wheel.origin).with_name("_bundled") / "claude"
