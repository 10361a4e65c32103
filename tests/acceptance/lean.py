"""A session with lean context, as the client plays it: the hook is told of an output, the transcript gets what the
model gets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from unified_state.hosts.install.hook_table import output_hook_group
from unified_state.settings import default_data_dir

from .product import Done, Project, launched
from .transcripts import Transcript

LINES = 400
LONG = "".join(f"step {number} of the long way to the end\n" for number in range(LINES))


def output_hook(level: str = "middle") -> list[str]:
    """The command line of the hook behind tool calls that `install --lean` gives the client."""
    (handler,) = output_hook_group(level, default_data_dir(), "launcher")["hooks"]
    return launched(handler["args"])


class LeanSession:
    """A session whose tool outputs go through the hook."""

    def __init__(self, project: Project, path: Path, session_id: str = "s") -> None:
        self.project, self.path = project, path
        self.written = Transcript(session_id)
        self.written.prompt("go on")

    def shell(self, output: str, command: str = "./walk.sh", level: str = "middle") -> str:
        """What the model reads of a command's output."""
        answer = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        return str(self.call("Bash", {"command": command}, answer, level)["stdout"])

    def call(self, tool: str, given: object, answer: Any, level: str = "middle") -> Any:
        """A tool call: the answer that the client goes on with."""
        use, done = self.hook(tool, given, answer, output_hook(level))
        assert (done.code, done.err) == (0, "")
        shown = replaced(done, answer)
        self.result(use, shown["stdout"] if tool == "Bash" else json.dumps(shown))
        return shown

    def hook(self, tool: str, given: object, answer: Any, command: Sequence[str], **fields: object) -> tuple[str, Done]:
        """The model calls a tool, and the hook is told what it answered; the call's id, and how the hook ended."""
        use = f"toolu_{uuid4().hex}"
        self.written.says({"type": "tool_use", "id": use, "name": tool, "input": given})
        return use, self.project.execute(command, self.event(use, tool, given, answer, **fields), {})

    def alone(self, output: str) -> str:
        """What the model reads of a command's output, of which the transcript does not know yet."""
        answer = {"stdout": output, "stderr": ""}
        event = self.event(f"toolu_{uuid4().hex}", "Bash", {"command": "./walk.sh"}, answer)
        done = self.project.execute(output_hook(), event, {})
        assert (done.code, done.err) == (0, "")
        return str(replaced(done, answer)["stdout"])

    def event(self, use: str, tool: str, given: object, answer: Any, **fields: object) -> bytes:
        """What the client tells the hook."""
        told = {"tool_name": tool, "tool_input": given, "tool_response": answer, "tool_use_id": use}
        where = {"session_id": self.written.session_id, "transcript_path": str(self.path)}
        return self.project.event("PostToolUse", **where, **told, **fields)

    def result(self, use: str, text: str) -> None:
        """The transcript's entry of an output."""
        block = {"tool_use_id": use, "type": "tool_result", "content": text, "is_error": False}
        self.written.entry("user", message={"role": "user", "content": [block]})

    def keep(self) -> None:
        """Let a hook archive the transcript as far as it was written."""
        self.project.keep(self.written, self.path)

    def results(self) -> dict[str, str]:
        """The tool outputs in the archive by their refs."""
        lines = self.project.export(self.written.session_id)
        return {line["ref"]: line["result"] for line in lines if line["kind"] == "tool_result"}


def replaced(done: Done, answer: Any) -> Any:
    """The answer of a tool after its hook."""
    if not done.out:
        return answer
    told = json.loads(done.out)["hookSpecificOutput"]
    assert told["hookEventName"] == "PostToolUse"
    return told["updatedToolOutput"]


def ref_of(shown: str) -> str:
    """The ref in the handle of a short form."""
    found = re.match(r"\[(S\d+): ", shown)
    assert found is not None, shown[:200]
    return found[1]
