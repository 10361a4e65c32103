"""A viewer as a person has it: a process at a terminal of its own, which answers what it asks there, and a browser."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.builders import SESSION, answer, append, boundary, call, entry, prompt, result, summary, write_transcript
from tests.fork_server import run_ours
from tests.interfaces.cli.screen import PROGRAM, person
from tests.terminal import MIDDLEMAN

SUMMARY = (
    "1. Primary Request: add a token bucket.\n2. Decisions: Token bucket in Redis, which the four workers share.\n"
)
HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> \u202eevil\u202c \x1b[31mred"
)
_SECONDS = 60.0


class Viewer(NamedTuple):
    """A running viewer: its address with the secret, and the terminal it asks at."""

    address: str
    terminal: int

    @property
    def server(self) -> str:
        """The address of the server, without the secret."""
        return "/".join(self.address.split("/")[:3])

    @property
    def base(self) -> str:
        """What the addresses of all pages begin with."""
        return "/".join(self.address.split("/")[:4])

    @property
    def secret(self) -> str:
        """The secret."""
        return self.address.split("/")[3]

    @property
    def port(self) -> int:
        """The port."""
        return int(self.server.rpartition(":")[2])

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str], str]:
        """Status, headers and body of a page, for a reader who knows the secret."""
        return fetch(f"{self.base}{path}", {name.replace("_", "-"): text for name, text in headers.items()})

    def asked(self, answer: str, seconds: float = _SECONDS) -> str:
        """What the viewer asks at its terminal, which is answered."""
        shown = b""
        until = time.monotonic() + seconds
        while b"to go on: " not in shown:
            ready, _, _ = select.select([self.terminal], [], [], max(0, until - time.monotonic()))
            assert ready, f"it asks nothing: {shown!r}"
            shown += os.read(self.terminal, 65_536)
        os.write(self.terminal, f"{answer}\n".encode())
        return shown.decode()


class _Stays(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_given: Any) -> None:
        """Follow nothing."""


def fetch(address: str, headers: Mapping[str, str], data: bytes | None = None) -> tuple[int, dict[str, str], str]:
    """Status, headers and body of one request. A redirection is not followed."""
    request = urllib.request.Request(address, data=data, headers=dict(headers))
    opener = urllib.request.build_opener(_Stays, urllib.request.ProxyHandler({}))
    try:
        told = opener.open(request, timeout=_SECONDS)
    except urllib.error.HTTPError as error:
        told = error
    with told:
        return told.status, {name.lower(): text for name, text in told.headers.items()}, told.read().decode()


@contextmanager
def viewing(
    folder: Path, *arguments: str, agent: bool = False, opens_browser: bool = False, **more: str
) -> Iterator[Viewer]:
    """A viewer at a terminal, as the user runs it, or an agent. It ends with ^C."""
    ours, theirs = pty.openpty()
    code, told = os.pipe()
    variables = {**person(), **({"CLAUDECODE": "1"} if agent else {}), **more}
    command = [*PROGRAM, "view", *([] if opens_browser else ["--no-browser"]), *arguments]
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", MIDDLEMAN, str(told), *command],
        cwd=folder, env=variables, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, pass_fds=[told],
    ) as process:  # fmt: skip
        os.close(told)
        assert process.stdout is not None
        lines: list[str] = []
        try:
            for line in process.stdout:
                lines.append(line.decode())
                if "://127.0.0.1" in lines[-1]:
                    break
            assert lines, "it ended"
            assert "://127.0.0.1" in lines[-1], "".join(lines)
            yield Viewer(lines[-1].strip(), ours)
        finally:
            os.write(ours, b"\x03")
            ended = os.read(code, 64)
            rest = process.stdout.read().decode()
            for descriptor in (ours, theirs, code):
                os.close(descriptor)
    assert ended == b"0", rest
    assert "Traceback" not in rest


def run(folder: Path, *arguments: str, stdin: str = "") -> str:
    """What a command of the user's prints."""
    done = run_ours([*PROGRAM, *arguments], folder, person(), stdin)
    assert done.returncode == 0, done.stderr
    return done.stdout


def hook(folder: Path, transcript: Path, event: str, *part: str, **fields: Any) -> str:
    """What a hook adds to the conversation."""
    given = {"session_id": SESSION, "transcript_path": str(transcript), "cwd": str(folder), "hook_event_name": event}
    told = run(folder, "hook", event, *part, stdin=json.dumps({**given, **fields}))
    return str(json.loads(told)["hookSpecificOutput"]["additionalContext"]) if "hookSpecificOutput" in told else ""


REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\nkeep the cache"
)


def fill(folder: Path, transcript: Path) -> None:
    """Record a session with items, a compaction and what came back, a subagent, and hostile text."""
    write_transcript(
        transcript,
        prompt(1, "Add a token bucket"),
        answer(2, "I look first.", call("c1", "Bash", command="make test")),
        result(3, "c1", "FAILED test_burst\n" + "x" * 5_000, is_error=True),
        answer(4, f"It failed. {HOSTILE}"),
        prompt(5, "Go on with the burst"),
        answer(6, "The burst is next.", call("c2", "Bash", command="rm -rf build")),
        result(22, "c2", REFUSED, is_error=True),
    )
    write_transcript(
        transcript.with_suffix("") / "subagents" / "agent-a1.jsonl",
        prompt(101, "Find the callers", isSidechain=True, agentId="a1"),
        answer(102, "There are two.", isSidechain=True, agentId="a1"),
    )
    hook(folder, transcript, "Stop")  # without the message, whose time would have to be that of its entry
    run(folder, "decision", "add", "Token bucket in Redis", "--rationale", "four workers share it")
    run(folder, "decision", "add", "The clock is Redis TIME", "--rationale", "clocks differ")
    run(folder, "constraint", "add", "Never touch migrations", "--source", "the user")
    run(folder, "question", "add", "Which burst?", "--context", f"sales asked {HOSTILE}", "--priority", "high")
    hook(folder, transcript, "PreCompact", trigger="auto")
    hook(folder, transcript, "SubagentStop", agent_type="", last_assistant_message=SUMMARY)
    told = [hook(folder, transcript, "SessionStart", part, source="compact") for part in ("brief", "working_set")]
    added = [
        entry(10 + at, "attachment", attachment={"type": "hook_additional_context", "content": [text]})
        for at, text in enumerate(filter(None, told))
    ]
    append(transcript, boundary(7), summary(8, SUMMARY), *added, prompt(20, "And now the clock"), answer(21, "Yes."))
    hook(folder, transcript, "Stop")
