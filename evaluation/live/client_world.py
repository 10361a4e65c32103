"""A world with the client in it, whose only way out is the relay."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from evaluation.live.relay import Relay
from tests.sandboxed.world import World

DUMMY_KEY = "sk-ant-dummy-" + "0" * 28
_ALLOWED, _FORBIDDEN = ("Bash", "Read", "Edit", "Write", "Grep", "Glob"), ("WebSearch", "WebFetch")
TOOLS = ("--allowedTools", *_ALLOWED, "--disallowedTools", *_FORBIDDEN)


class ClientWorld(World[Relay]):
    """A world in `folder` for the binary `client`, in which `visible` can be read too."""

    model: str
    client: Path
    window: int | None = None
    """CLAUDE_CODE_AUTO_COMPACT_WINDOW, in tokens; None: the model's own window."""
    output_tokens = 16_000

    def prepare(self, client: Path, model: str) -> None:
        """Name the client and the model for what follows."""
        self.client, self.model = client, model
        (self.folder / "config").mkdir()

    def start_client(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the client in the project, with pipes for all its streams."""
        command = [str(self.client), *arguments, *TOOLS, "--model", self.model]
        return self.sandbox.start(command, cwd=self.project, env=self.variables(), stdin=subprocess.PIPE)

    def variables(self) -> dict[str, str]:
        """The whole environment of the programs."""
        window = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": str(self.window)} if self.window else {}
        return {
            "CLAUDE_CONFIG_DIR": str(self.folder / "config"),
            "CLAUDE_CODE_TMPDIR": str(self.temporary),
            "ANTHROPIC_API_KEY": DUMMY_KEY,
            "ANTHROPIC_BASE_URL": self.api.url if hasattr(self, "api") else "",
            "ANTHROPIC_DEFAULT_HAIKU_MODEL": self.model if hasattr(self, "model") else "",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(self.output_tokens),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            **window,
            **super().variables(),
        }

    def run_at(self, folder: Path, command: Iterable[str | Path], timeout: float) -> subprocess.CompletedProcess[str]:
        """Run a program in a folder of the world, without the client's configuration."""
        return self.sandbox.run(list(command), cwd=folder, env=super().variables(), timeout=timeout)

    def transcripts(self) -> list[Path]:
        """The sessions' files, in the order in which they began."""
        found = (self.folder / "config").glob("projects/*/*.jsonl")
        return sorted(found, key=lambda path: (path.stat().st_ctime_ns, path.name))
