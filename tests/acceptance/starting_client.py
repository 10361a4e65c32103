"""A client that ends sessions and starts others: for the tests of what SessionStart prints at once."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from .product import Done, Project, hook_command
from .test_quick_start import CODE, NOTING, SESSION
from .transcripts import Transcript

NEXT, CLIENT = "2b1f8d3c-5a52-4f0e-9a39-6f2c1f1f2a13", "4242"
ANSWER = "The limit is 42 requests a second."


class Client:
    """A client whose session has ended a turn, and what its next start of a session is given."""

    def __init__(self, project: Project, session_id: str = SESSION) -> None:
        self.project, self.session_id = project, session_id
        self.path = project.home / f"{session_id}.jsonl"
        self.written = Transcript(session_id, cwd=str(project.folder))
        self.before = self.project.started_at
        self.hook("SessionStart", "brief", source="startup")
        self.settled()

    def turn(self, prompt: str = "Add a rate limit to limiter.py.", answer: str = ANSWER, **environment: str) -> None:
        """One turn, at the end of which Stop runs."""
        self.written.prompt(prompt)
        edit = {"file_path": str(self.project.folder / "limiter.py"), "old_string": "a", "new_string": "b"}
        self.written.call("Edit", edit, "The file was updated.")
        self.written.text(answer)
        self.written.write(self.path)
        self.hook("Stop", last_assistant_message=answer, environment=environment)

    def end(self, reason: str = "other", **environment: str) -> None:
        self.hook("SessionEnd", reason=reason, environment=environment)

    def hook(
        self, event: str, part: str = "", /, *, environment: dict[str, str] | None = None, **fields: object
    ) -> None:
        variables = {"CLAUDE_PID": CLIENT, **(environment or {})}
        given = self.project.event(event, session_id=self.session_id, transcript_path=str(self.path), **fields)
        done = self.project.execute(hook_command(event, part), given, variables)
        assert (done.code, self.project.log()) == (0, "")

    def event(self, source: str) -> bytes:
        session_id = self.session_id if source == "resume" else NEXT
        path = self.path.with_name(f"{session_id}.jsonl")
        return self.project.event("SessionStart", session_id=session_id, transcript_path=str(path), source=source)

    def start(self, source: str, part: str = "brief", code: str = CODE, **environment: str) -> Done:
        """Start a session as the launcher does. On stderr is whether the process loaded `os`."""
        self.before = self.project.started_at
        command = (sys.executable, "-I", "-S", "-c", NOTING + code, "SessionStart", part)
        done = self.project.execute(command, self.event(source), {"CLAUDE_PID": CLIENT, **environment})
        assert done.code == 0, done
        return done

    def whole(self, source: str, code: str = "") -> Done:
        """The same start by the whole hook."""
        code += "from unified_state.interfaces import hook; hook.run('SessionStart', 'brief')"
        return self.project.execute((sys.executable, "-c", code), self.event(source), {"CLAUDE_PID": CLIENT})

    def both(self, source: str, code: str = "") -> tuple[str, str]:
        """What is printed at once, and what the whole hook prints in the same archive, without their nonces."""
        kept = self.project.archive.read_bytes()
        quick = self.start(source, code=code + CODE)
        assert quick.err == "False"
        self.settled()
        self.project.archive.write_bytes(kept)
        return without_nonce(quick.out), without_nonce(self.whole(source, code).out)

    @property
    def files(self) -> list[Path]:
        return list(self.project.data.glob("repositories/*/quiet/*.start"))

    def settled(self) -> None:
        """Wait until the detached process has done the rest of the session's start."""
        self.project.wait_for_start(self.before)


def without_nonce(out: str) -> str:
    return re.sub(r"nonce=[0-9a-f]{12}", "nonce=", out)


def reason_before(source: str) -> str:
    return "clear" if source == "clear" else "other"
