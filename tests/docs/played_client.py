"""A stand-in for the client: it writes a transcript and calls the installed hooks, in the client's order.

What the real client does is checked in `tests/real_client`; here it only has to happen, so that the examples in the
documentation have something to show. A script has a line for each thing:

    start [SOURCE]      a session begins (startup), or SOURCE: resume, clear
    prompt TEXT         the user says something
    says TEXT           the model answers
    bash COMMAND        the model runs a command, really, as the client would: with CLAUDECODE and the session's id
    write FILE TEXT     the model writes a file; \\n in TEXT begins a line
    edit FILE OLD => NEW  the model replaces a part of a file
    compact SUMMARY     the client compacts the conversation; SUMMARY is what it puts in its place
    context TOKENS      how large the API says that the conversation is, from now on
    end                 the session ends
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests import builders

# What the launcher's gate becomes; Claude Code would not wait for the end of some.
_ROOT = str(Path(__file__).parents[2])
_WHOLE = f"import sys; sys.path.append({_ROOT!r}); from unified_state.interfaces.launched import main; main()"


class PlayedClient:
    """One client in one project, with the user's home and environment."""

    def __init__(self, project: Path, environment: Mapping[str, str]) -> None:
        self._project, self._environment = project, environment
        self._numbers = itertools.count(1)
        self._session = ""
        self._last_message = ""
        self._tokens = 0

    def play(self, script: str) -> None:
        """Do what a script says."""
        for line in filter(None, map(str.strip, script.splitlines())):
            verb, _, text = line.partition(" ")
            {
                "start": self._start,
                "prompt": self._prompt,
                "says": self._says,
                "bash": self._bash,
                "write": self._write_file,
                "edit": self._edit,
                "compact": self._compact,
                "context": self._context,
                "end": self._end,
            }[verb](text)
        self._stop()

    @property
    def _transcript(self) -> Path:
        folder = str(self._project).replace("/", "-")
        return Path(self._environment["HOME"]) / ".claude" / "projects" / folder / f"{self._session}.jsonl"

    def _start(self, source: str) -> None:
        if source != "resume":
            self._session = builders.uuid_of(next(self._numbers))
        self._hook("SessionStart", source=source or "startup")

    def _prompt(self, text: str) -> None:
        self._stop()
        self._hook("UserPromptSubmit", prompt=text)
        self._write(builders.prompt, text)

    def _says(self, text: str) -> None:
        self._write(builders.answer, text)
        self._last_message = text

    def _bash(self, command: str) -> None:
        identity = f"toolu_{next(self._numbers):08}"
        self._write(builders.answer, builders.call(identity, "Bash", command=command))
        environment = {**self._environment, "CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": self._session}
        done = subprocess.run(
            ["bash", "-c", command], cwd=self._project, env=environment, capture_output=True, text=True, check=False
        )
        output = (done.stdout + done.stderr).rstrip("\n")
        self._write(builders.result, identity, output, is_error=done.returncode != 0)

    def _write_file(self, words: str) -> None:
        name, _, text = words.partition(" ")
        self._change(name, "Write", content=text.replace("\\n", "\n") + "\n")

    def _edit(self, words: str) -> None:
        name, _, change = words.partition(" ")
        before, _, after = change.replace("\\n", "\n").partition(" => ")
        self._change(name, "Edit", old_string=before, new_string=after)

    def _change(self, name: str, tool: str, **fields: str) -> None:
        path = self._project / name
        said = "The file has been updated" if path.exists() else "File created successfully"
        text = fields.get("content")
        if text is None:
            text = path.read_text(encoding="utf-8").replace(fields["old_string"], fields["new_string"], 1)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        identity = f"toolu_{next(self._numbers):08}"
        self._write(builders.answer, builders.call(identity, tool, file_path=str(path), **fields))
        self._write(builders.result, identity, said)

    def _compact(self, summary: str) -> None:
        self._stop()
        self._hook("PreCompact", trigger="manual")
        self._hook("SubagentStop", agent_type="", last_assistant_message=f"<summary>{summary}</summary>")
        given = self._hook("SessionStart", source="compact")
        self._write(builders.boundary)
        self._write(builders.summary, summary)
        attachment = {"type": "hook_additional_context", "content": given}
        self._write(builders.entry, "attachment", attachment=attachment)

    def _context(self, tokens: str) -> None:
        """How large the API says that the conversation is, from the next answer on."""
        self._tokens = int(tokens)

    def _end(self, reason: str) -> None:
        self._stop()
        self._hook("SessionEnd", reason=reason or "other")

    def _stop(self) -> None:
        if self._last_message:
            self._hook("Stop", last_assistant_message=self._last_message)
        self._last_message = ""

    def _write(self, build: Any, *arguments: Any, **fields: Any) -> None:
        number = next(self._numbers)
        entry = build(number, *arguments, session=self._session, at=_now() - number * 1000, **fields)
        if entry["type"] == "assistant" and self._tokens:
            entry["message"] |= {"model": "claude-sonnet-4-5", "usage": {"input_tokens": self._tokens}}
        self._transcript.parent.mkdir(parents=True, exist_ok=True)
        builders.append(self._transcript, {**entry, "cwd": str(self._project), "version": "2.1.330"})

    def _hook(self, event: str, **fields: str) -> list[str]:
        """Call the installed hooks of an event, each to its end; the additional context that they gave."""
        given = {"session_id": self._session, "transcript_path": str(self._transcript), "cwd": str(self._project)}
        given |= {"hook_event_name": event, **fields}
        contexts = []
        for handler in self._handlers(event):
            done = subprocess.run(
                [sys.executable, "-I", "-S", "-c", _WHOLE, *handler["args"]],
                input=json.dumps(given),
                cwd=self._project,
                env={**self._environment, "CLAUDE_PID": str(os.getpid())},
                capture_output=True,
                text=True,
                check=True,
            )
            printed = json.loads(done.stdout) if done.stdout.startswith("{") else {}
            if "hookSpecificOutput" in printed:
                contexts.append(printed["hookSpecificOutput"]["additionalContext"])
        return contexts

    def _handlers(self, event: str) -> list[Any]:
        paths = [
            self._project / ".claude" / "settings.local.json",
            self._project / ".claude" / "settings.json",
            Path(self._environment["HOME"]) / ".claude" / "settings.json",
        ]
        settings = [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]
        groups = [group for found in settings for group in found.get("hooks", {}).get(event, [])]
        return [handler for group in groups for handler in group["hooks"]]


def _now() -> int:
    return int(time.time() * 1000)
