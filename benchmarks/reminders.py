"""What reminders add to a tool call, and to the hooks that compile them, beside a bare node in the same run.

    python -m benchmarks.reminders [--rounds N]

Target: at most 0.8 x node -e 0 without a reminder, and 1.0 x with one. If reminders are off,
or nothing is recorded about the calls of a tool, the settings hold no such hook, so it costs nothing.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from pathlib import Path

from benchmarks.arguments import described
from benchmarks.generated import line
from benchmarks.side_by_side import Contender, compare, node
from benchmarks.world import World

DECISIONS, FAILURES = 50, 50
CALLS = {
    "an edit of a file that nothing is about": ("Edit", {"file_path": "src/a.py", "new_string": "b" * 2_000}),
    "an edit that is reminded of, each time of a new session": ("Edit", {"file_path": "src/module7.py"}),
    "a command that never failed": ("Bash", {"command": "npm test && cat src/a.py | head -20"}),
    "a command that is reminded of, each time of a new session": ("Bash", {"command": "make check7"}),
}


def main() -> None:
    """Record, and compare."""
    parser = described(__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        world, other = World(Path(folder) / "on"), World(Path(folder) / "off")
        world.run("install", "--reminders", "on")
        for one in (world, other):
            record(one)
        settings = world.project / ".claude" / "settings.local.json"
        (group,) = json.loads(settings.read_text(encoding="utf-8"))["hooks"]["PreToolUse"]
        (handler,) = group["hooks"]
        print(f"registered for {group['matcher']}\n")
        command = [handler["command"], *handler["args"]]
        calls = [_contender(world, name, command, *call) for name, call in CALLS.items()]
        stops = [
            one.contender(f"Stop, {name}", "Stop", one.folder / "s.jsonl", last_assistant_message="done")
            for name, one in (("reminders on", world), ("reminders off", other))
        ]
        compare([node(), *calls, *stops], rounds)


def record(world: World) -> None:
    """Decisions on as many files, and commands that failed, in a session that has ended."""
    for number in range(DECISIONS):
        world.run("decision", "add", f"Keep the lock in src/module{number}.py", "--rationale", "it was weighed")
    transcript = world.folder / "s.jsonl"
    entries = ({**entry, "sessionId": "s", "cwd": str(world.project)} for entry in _failures())
    transcript.write_text("".join(map(line, entries)), encoding="utf-8")
    world.archive(transcript)
    world.run_hook("SessionEnd", transcript, reason="other")
    world.run("status")
    world.run("decision", "list")  # compiles once more, after the session has ended


def _failures() -> list[dict[str, object]]:
    found: list[dict[str, object]] = [_entry(0, "user", "Check everything.")]
    for number in range(FAILURES):
        use = f"toolu_{number}"
        call = {"type": "tool_use", "id": use, "name": "Bash", "input": {"command": f"make check{number}"}}
        result = {"type": "tool_result", "tool_use_id": use, "content": "Exit code 2\nboom", "is_error": True}
        found += [_entry(2 * number + 1, "assistant", [call]), _entry(2 * number + 2, "user", [result])]
    return found


def _entry(number: int, role: str, content: object) -> dict[str, object]:
    at = f"2026-11-21T10:{number // 60:02}:{number % 60:02}.000Z"
    uuid = f"{number:08x}-0000-4000-8000-000000000000"
    return {"type": role, "uuid": uuid, "timestamp": at, "message": {"role": role, "content": content}}


def _contender(world: World, name: str, command: list[str], tool: str, given: dict[str, str]) -> Contender:
    sessions = itertools.count()
    fields = {"hook_event_name": "PreToolUse", "cwd": str(world.project), "transcript_path": ""}
    path = {"file_path": str(world.project / given["file_path"])} if "file_path" in given else {}

    def stdin() -> bytes:
        event = {**fields, "session_id": f"{tool}-{next(sessions)}"}
        return json.dumps({**event, "tool_name": tool, "tool_input": {**given, **path}}).encode()

    return Contender(name, command, stdin, environment={**world.environment, "CLAUDE_PROJECT_DIR": str(world.project)})


if __name__ == "__main__":
    main()
