"""A home and a repository for benchmarks of whole processes: what it costs is measured as users have it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.side_by_side import Contender, clean_environment
from unified_state.hosts.install.hook_launcher import launcher_path, write_launcher
from unified_state.hosts.install.hook_table import hook_groups
from unified_state.lib.package import PACKAGE_ROOT
from unified_state.settings import default_data_dir

PROGRAM = str(Path(sys.prefix) / "bin" / "unified-state")
_WHOLE = f"import sys;sys.path.append({PACKAGE_ROOT!r});from unified_state.interfaces.launched import main;main()"
_AUTHOR = ("-c", "user.name=n", "-c", "user.email=e@example.invalid")


class World:
    """A home and a repository of their own, and the hooks as `install` would write them."""

    def __init__(self, folder: Path, files: int = 1) -> None:
        write_launcher()
        self.folder = folder
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir(parents=True)
        self.project.mkdir()
        self.environment = clean_environment(HOME=str(self.home), GIT_CONFIG_NOSYSTEM="1")
        for number in range(files):
            path = self.project / f"d{number // 500}" / f"f{number}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"{number}\n", encoding="utf-8")
        for command in (
            ["git", "init", "--quiet"],
            ["git", "add", "."],
            ["git", *_AUTHOR, "commit", "--quiet", "--message", "first"],
        ):
            subprocess.run(command, cwd=self.project, env=self.environment, check=True)

    def run(self, *arguments: str) -> None:
        """Run a command of ours once, untimed."""
        command = [PROGRAM, *arguments]
        subprocess.run(command, cwd=self.project, env=self.environment, check=True, capture_output=True)

    def hook(self, event: str, transcript: Path, part: str = "", **fields: str) -> tuple[list[str], bytes]:
        """The command line of a hook, and its stdin."""
        (group,) = hook_groups(default_data_dir(), launcher_path())[event]
        handler = next(h for h in group["hooks"] if not part or h["args"][-1] == part)
        given = {"session_id": transcript.stem, "transcript_path": str(transcript), "cwd": str(self.project)}
        stdin = json.dumps({**given, "hook_event_name": event, **fields}, separators=(",", ":")).encode()
        return [handler["command"], *handler["args"]], stdin

    def archive(self, transcript: Path) -> None:
        """Archive a transcript to its end, as the hooks would have by and by, and begin a compaction."""
        self.run("import", str(transcript))
        self.run_hook("PreCompact", transcript, trigger="manual")

    def run_hook(self, event: str, transcript: Path, part: str = "", **fields: str) -> bytes:
        """Run a hook once, untimed, to its end, and return its output. The gate, which does not wait for some, is left
        out.
        """
        (_, *arguments), stdin = self.hook(event, transcript, part, **fields)
        command = [sys.executable, "-I", "-S", "-c", _WHOLE, *arguments]
        environment = self.of_session(transcript)
        return subprocess.run(command, input=stdin, env=environment, check=True, capture_output=True).stdout

    def of_session(self, transcript: Path) -> dict[str, str]:
        """The environment that the client gives a hook of a session."""
        return {**self.environment, "CLAUDE_CODE_SESSION_ID": transcript.stem, "CLAUDE_PROJECT_DIR": str(self.project)}

    def contender(
        self,
        name: str,
        event: str,
        transcript: Path,
        part: str = "",
        prepare: Callable[[], None] = lambda: None,
        **fields: str,
    ) -> Contender:
        """A hook as one side of a comparison."""
        command, stdin = self.hook(event, transcript, part, **fields)
        return Contender(name, command, lambda: stdin, prepare, self.of_session(transcript))
