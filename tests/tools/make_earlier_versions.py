"""Write `tests/data/earlier_versions`: what earlier versions left behind, each made by that version's own code.

`python -m tests.tools.make_earlier_versions` needs the history of this repository. A version of the archive's schema is
made by the last commit that had it. Each file holds a home and a project, and what that version itself listed of them.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.acceptance.transcripts import Transcript
from tests.terminal import run_at_terminal

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "data" / "earlier_versions"
# by the version of the archive
COMMITS = {1: "9ffb3ca", 2: "802b2f2", 3: "9c0688b", 4: "d4e3b75", 5: "03f3f8d", 6: "5ab3bfe"}
WORLD = Path("/tmp/unified-state-earlier")  # an archive holds absolute paths
SESSION, OLD_SESSION = "11111111-2222-4333-8444-555555555555", "00000000-2222-4333-8444-555555555555"
FORGOTTEN = "qzvforgottenword"
KINDS = ("decision", "constraint", "question", "evidence", "attempt")
_FIRST_ATTEMPTS, _FIRST_SCOPES, _FIRST_PRUNE = 3, 4, 5
_MAIN = """
import sys
try:
    from unified_state.interfaces.cli.main import main
except ImportError:  # of the first versions
    from unified_state.interfaces.cli import main
main(sys.argv[1:])
"""
_KEPT = (
    "home/.local/share/unified-state",
    "shop/.claude",
    "shop/.git/unified-state-id",
    "transcripts",
    "expected.json",
)


class Earlier:
    """A version of the program, installed in a project."""

    def __init__(self, version: int, source: Path) -> None:
        self.version, self.source = version, source
        self.project, self.home = WORLD / "shop", WORLD / "home"
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "PYTHONPATH": str(source),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "LANG": "C.UTF-8",
        }

    def run(self, *arguments: str) -> str:
        """What a command prints at the user's terminal."""
        done = run_at_terminal([sys.executable, "-P", "-c", _MAIN, *arguments], self.project, self.environment)
        assert done.code == 0, (arguments, done)
        return done.out.decode()

    def ask(self, *arguments: str) -> Any:
        """The value that a command prints."""
        return json.loads(self.run(*arguments, "--json"))

    def hook(self, event: str, session: str, **fields: object) -> None:
        """Call the event's hooks as the client does."""
        given = {"hook_event_name": event, "cwd": str(self.project), "session_id": session, **fields}
        path = WORLD / "transcripts" / f"{session}.jsonl"
        stdin = json.dumps({"transcript_path": str(path), **given}).encode()
        settings = json.loads((self.project / ".claude" / "settings.local.json").read_text(encoding="utf-8"))
        for handler in [handler for group in settings["hooks"].get(event, []) for handler in group["hooks"]]:
            command = [handler["command"], *handler.get("args", [])]
            subprocess.run(
                command, cwd=self.project, env=self.environment, input=stdin, stdout=subprocess.DEVNULL, check=True
            )


def main() -> None:
    """Make each of them, or those whose numbers are given."""
    FOLDER.mkdir(exist_ok=True)
    for version in map(int, sys.argv[1:] or COMMITS):
        with TemporaryDirectory() as folder:
            source = Path(folder)
            archived = subprocess.run(
                ["git", "archive", COMMITS[version]], cwd=ROOT, capture_output=True, check=True
            ).stdout
            with tarfile.open(fileobj=io.BytesIO(archived)) as tar:
                tar.extractall(source, filter="data")
            _make(Earlier(version, source))
            _keep(FOLDER / f"archive-{version}.tar.xz", source)
        shutil.rmtree(WORLD)


def _make(earlier: Earlier) -> None:
    shutil.rmtree(WORLD, ignore_errors=True)
    earlier.project.mkdir(parents=True)
    earlier.home.mkdir()
    (earlier.project / "limiter.py").write_text("BURST = 40\n", encoding="utf-8")
    names = ("-c", "user.name=Ada", "-c", "user.email=ada@example.invalid")
    for command in (("init", "--initial-branch", "main"), ("add", "."), (*names, "commit", "--message", "first")):
        subprocess.run(["git", *command], cwd=earlier.project, env=earlier.environment, check=True, capture_output=True)
    earlier.run("install")
    _work(earlier)
    _record(earlier)
    earlier.run("forget", "--match", FORGOTTEN)
    if earlier.version >= _FIRST_PRUNE:
        earlier.run("prune", "--older-than", "2026-04-01", "--yes")
        earlier.run("export", "--full", str(WORLD / "transcripts" / "history.jsonl"))
    expected = {
        "items": {kind: earlier.ask(kind, "list", "--all") for kind in KINDS[: _kinds(earlier.version)]},
        "steps": [json.loads(line) for line in earlier.run("export").splitlines()],
        "compaction": earlier.ask("recall", "K1"),
        "state": earlier.ask("load"),
    }
    (WORLD / "expected.json").write_text(json.dumps(expected, indent=1), encoding="utf-8")


def _work(earlier: Earlier) -> None:
    """Two sessions: a short one from long ago, and one with a compaction, whose agent fails and finds out why."""
    old = Transcript(OLD_SESSION, cwd=str(earlier.project))
    old.prompt("What does the marmalade benchmark say?")
    old.text("The marmalade benchmark says 17 ms.")
    old.lines = [line.replace(b'"2026-11-21T', b'"2026-03-01T') for line in old.lines]
    _write(earlier, old, "Stop")
    written = Transcript(SESSION, cwd=str(earlier.project))
    written.prompt("Never touch the health route. Add a rate limit with the flux capacitor.")
    earlier.hook("SessionStart", SESSION, source="startup")
    _write(earlier, written, "UserPromptSubmit")
    written.says({"type": "thinking", "thinking": "1.21 gigawatts?", "signature": "x"}, _text("I read the limiter."))
    written.call("Read", {"file_path": str(earlier.project / "limiter.py")}, "BURST = 40\n")
    written.call("Bash", {"command": "pytest -q"}, "E   TypeError: no plutonium\n1 failed", error=True)
    written.text("The flux capacitor needs 1.21 gigawatts.")
    written.prompt(f"And remember {FORGOTTEN}.")
    written.call("Bash", {"command": f"echo {FORGOTTEN}"}, FORGOTTEN)
    _write(earlier, written, "Stop")
    earlier.hook("PreCompact", SESSION, trigger="auto")
    written.compaction("The user wants a rate limit. The capacitor needs 1.21 gigawatts.", "auto")
    earlier.hook("SessionStart", SESSION, source="compact")
    written.prompt("Go on.")
    written.text("The rate limit is in place, after the hoverboard was moved.")
    _write(earlier, written, "Stop")


def _record(earlier: Earlier) -> None:
    in_session = ("--session", SESSION)
    earlier.run("decision", "add", "Keep limits in Redis", "--rationale", "two servers", *in_session)
    earlier.run("decision", "supersede", "D1", "Keep limits in SQLite", "--rationale", "one server", *in_session)
    earlier.run("decision", "add", f"Remember {FORGOTTEN}", "--rationale", "because", "--irreversible")
    scope = ("--scope", "command:git push --force", "--mode", "deny") if earlier.version >= _FIRST_SCOPES else ()
    earlier.run("constraint", "add", "Never push by force", "--source", "the user", "--blocking", *scope)
    earlier.run("question", "add", "How many bursts?", "--context", "the limiter", "--priority", "high")
    earlier.run("question", "add", "Which port?", "--context", "the server")
    earlier.run("question", "resolve", "Q1", "forty")
    earlier.run("evidence", "add", "error", "TypeError: no plutonium", "--source", "pytest")
    if earlier.version >= _FIRST_ATTEMPTS:
        earlier.run("attempt", "add", "Plutonium from the drugstore", "--outcome", "sold out in 1955")
    earlier.run("work", "set", "--title", "Rate limits", "--phase", "coding")
    earlier.run("save", "--highlight", "the limiter works", "--action", "write its docs", *in_session)
    earlier.run("recall", "T2")  # notes that it was asked for


def _kinds(version: int) -> int:
    return len(KINDS) - (version < _FIRST_ATTEMPTS)


def _write(earlier: Earlier, written: Transcript, event: str) -> None:
    written.write(WORLD / "transcripts" / f"{written.session_id}.jsonl")
    earlier.hook(event, written.session_id)


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _keep(target: Path, source: Path) -> None:
    with tarfile.open(target, "w:xz", preset=9) as tar:
        for path in sorted(_files(_KEPT)):
            content = path.read_bytes()
            if path.suffix in {".json", ".md"}:
                folder = os.path.dirname(sys.executable)
                for here, name in ((str(source), "{root}"), (sys.executable, "{python}"), (folder, "{programs}")):
                    content = content.replace(here.encode(), name.encode())
            entry = tarfile.TarInfo(str(path.relative_to(WORLD)))
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))


def _files(places: Sequence[str]) -> list[Path]:
    paths = [WORLD / place for place in places]
    inside = [inner for path in paths for inner in path.rglob("*") if inner.is_file() and not inner.is_symlink()]
    return [*inside, *(path for path in paths if path.is_file())]


if __name__ == "__main__":
    main()
