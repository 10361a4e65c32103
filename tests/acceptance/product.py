"""The product as its users have it: whole processes of its command line and of its hooks, in a project of their own."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator

from tests.fork_server import COMMAND, is_forkable, run_briefly
from tests.terminal import run_at_terminal
from unified_state.hosts.install.hook_table import hook_groups
from unified_state.settings import default_data_dir

from .transcripts import Json, Transcript

PROGRAM = COMMAND
ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "schemas" / "unified-session-state-3.schema.json"
SWITCHES = ("UNIFIED_STATE_REQUIRE_", "UNIFIED_STATE_TEST_")
PATIENCE = 120  # seconds after which a process counts as one that hangs


class Done(NamedTuple):
    """How a process ended."""

    code: int
    out: str
    err: str


class Project:
    """One worktree and what the product keeps for it. `prefix` is put before every command, to run it elsewhere."""

    def __init__(self, folder: Path, home: Path, prefix: Sequence[str] = ()) -> None:
        self.folder, self.home, self.prefix = folder, home, tuple(prefix)
        self.state_path = folder / ".claude" / "unified-session-state.json"
        self.data = home / ".local" / "share" / "unified-state"

    @property
    def archives(self) -> list[Path]:
        """Every archive below the home."""
        return sorted(self.data.glob("repositories/*/archive.db"))

    @property
    def archive(self) -> Path:
        """The only archive there is."""
        (path,) = self.archives
        return path

    def run(self, *arguments: str, stdin: str | bytes = "", **environment: str) -> Done:
        """Run a command of ours."""
        return self.execute((*PROGRAM, *arguments), stdin, environment)

    def at_terminal(self, *arguments: str, answer: str = "yes", **environment: str) -> Done:
        """Run a command of ours as the user does at a terminal, who answers what it asks."""
        variables = {**users_environment(), "HOME": str(self.home), **environment}
        done = run_at_terminal([*self.prefix, *PROGRAM, *arguments], self.folder, variables, answer=answer)
        return Done(done.code, done.out.decode(), done.err.decode())

    def ask(self, *arguments: str) -> Any:
        """The value that a command prints with `--json`; it has to go well."""
        done = self.run(*arguments, "--json")
        assert done.code == 0, done
        return json.loads(done.out)

    def decide(self, text: str) -> str:
        """Record a decision; its id."""
        return str(self.ask("decision", "add", text, "--rationale", "because")["id"])

    def export(self, session_id: str | None = None) -> list[Json]:
        """Every archived step, or those of a session."""
        done = self.run("export", *(("--session", session_id) if session_id else ()))
        assert done.code == 0, done
        return [json.loads(line) for line in done.out.splitlines()]

    def hook(self, event: str, part: str = "", /, **fields: object) -> Done:
        """Run an installed hook as the client does, with these fields beside those that every event has."""
        return self.execute(hook_command(event, part), self.event(event, **fields), {})

    def hook_given(self, event: str, stdin: bytes) -> Done:
        """Run an installed hook with anything on its stdin."""
        return self.execute(hook_command(event), stdin, {})

    def keep(self, written: Transcript, path: Path, event: str = "PreCompact") -> None:
        """Let a hook archive a session as far as it was written, which it must do without a problem."""
        done = self.hook(event, session_id=written.session_id, transcript_path=str(written.write(path)), trigger="auto")
        assert (done.code, self.log()) == (0, "")

    def event(self, name: str, /, **fields: object) -> bytes:
        """What the client writes to a hook's stdin."""
        given = {"hook_event_name": name, "cwd": str(self.folder), "session_id": "s"}
        return json.dumps({**given, **fields}).encode()

    def execute(self, command: Sequence[str], stdin: str | bytes, environment: Mapping[str, str]) -> Done:
        """Run any command in the worktree: one of ours inside this process, unless a prefix has it run elsewhere."""
        given = stdin.encode() if isinstance(stdin, str) else stdin
        cwd = self.folder if self.folder.is_dir() else None
        variables = {**users_environment(), "HOME": str(self.home), **environment}
        if not self.prefix and is_forkable(command, variables):
            done = run_briefly(command, given, cwd, variables, PATIENCE)
        else:
            done = subprocess.run(
                [*self.prefix, *command],
                input=given, capture_output=True, cwd=cwd, env=variables, timeout=PATIENCE, check=False,
            )  # fmt: skip
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def state(self) -> Json:
        """What the state file holds; it has to be valid."""
        return valid_state(self.state_path.read_bytes())

    def log(self) -> str:
        """What hooks wrote down about their problems."""
        path = self.data / "hook.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""


def users_environment() -> dict[str, str]:
    """The environment without the switches of these tests: with any setting in it, the gate is never silent."""
    return {name: value for name, value in os.environ.items() if not name.startswith(SWITCHES)}


def restored(project: Project, path: Path, **fields: Any) -> dict[str, str]:
    """What both handlers of a session start give back."""
    texts = {}
    for part in ("brief", "working_set"):
        done = project.hook("SessionStart", part, transcript_path=str(path), **{"source": "compact", **fields})
        assert (done.code, project.log()) == (0, "")
        texts[part] = json.loads(done.out)["hookSpecificOutput"]["additionalContext"] if done.out else ""
    return texts


def all_restored(project: Project, path: Path, **fields: Any) -> str:
    """The same as one text."""
    return "\n".join(restored(project, path, **fields).values())


def hook_command(event: str, part: str = "") -> list[str]:
    """The command line of Python that the gate becomes for an event; for an unknown one, that of any other."""
    groups = hook_groups(default_data_dir(), "launcher")
    handlers = [handler for group in groups.get(event, groups["Stop"]) for handler in group["hooks"]]
    handler = next((handler for handler in handlers if part in handler["args"]), handlers[0])
    arguments = [event if argument == "Stop" else argument for argument in handler["args"]]
    return launched(arguments)


def launched(arguments: Sequence[str]) -> list[str]:
    """The command line of Python that the gate becomes for the launcher's arguments."""
    code = f"# Starts a hook of unified-state.\nimport sys\nsys.path.append({str(ROOT)!r})\n"
    code += "from unified_state.interfaces.launched import main\nmain()\n"
    return [sys.executable, "-I", "-S", "-c", code, *arguments]


def valid_state(raw: bytes) -> Json:
    """The state in the file's bytes, after it was checked: strict JSON, and valid by the published schema."""
    state: Json = json.loads(raw, parse_constant=_refuse)
    assert list(_schema().iter_errors(state)) == []
    return state


def well_printed(done: Done) -> bool:
    """Whether a hook did as it must, whatever happened: exit 0, and nothing on stdout but one JSON object or nothing.

    PreCompact prints plain text, and is not asked here.
    """
    return done.code == 0 and (not done.out or isinstance(json.loads(done.out), dict))


def told_in_one_line(done: Done) -> bool:
    """Whether a command failed as a command should: exit 1, one line of what, where and what to do."""
    return done.code == 1 and not done.out and done.err.startswith("unified-state: ") and done.err.count("\n") == 1


def archive_is_whole(path: Path) -> bool:
    """Whether SQLite finds nothing wrong with an archive."""
    with closing(sqlite3.connect(path, timeout=PATIENCE)) as archive:
        return bool(archive.execute("PRAGMA integrity_check").fetchone()[0] == "ok")


def all_bytes(folders: Iterable[Path]) -> bytes:
    """Every byte of every file below some folders, and once more everything that archives hold compressed."""
    paths = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    contents = [path.read_bytes() for path in paths]
    contents += [cell for path in paths if path.suffix == ".db" for cell in _cells(path)]
    return b"\n".join([*(str(path).encode() for path in paths), *contents])


def _cells(path: Path) -> list[bytes]:
    with closing(sqlite3.connect(path)) as archive:
        tables = [name for (name,) in archive.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        rows = [row for table in tables for row in archive.execute(f"SELECT * FROM {table}")]
    return [_unpacked(cell) for row in rows for cell in row if isinstance(cell, bytes)]


def _unpacked(cell: bytes) -> bytes:
    try:
        return zlib.decompress(cell)
    except zlib.error:
        return cell


def _refuse(constant: str) -> None:
    message = f"{constant} is not JSON"
    raise ValueError(message)


@cache
def _schema() -> Draft202012Validator:
    return Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
