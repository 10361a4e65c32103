"""What hooks add to a tool call, as whole processes, beside a bare node in the same run.

    python -m benchmarks.tool_calls [--rounds N]

Targets: at most 1.8 x node -e 0 with enforced constraints, 1.0 x with reminders, .8 x for an output that lean context
leaves alone. Where none of them is on the settings hold no such hook, so it adds nothing at all.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.arguments import described
from benchmarks.side_by_side import Contender, compare, node
from benchmarks.world import World

CONSTRAINTS, DECISIONS = 20, 50
_STEP = "step {n} of the long way to the end\n"
ENFORCED = {
    "a command of another program": ("Bash", {"command": "npm test && cat src/a.py | head -20"}),
    "a command that is denied": ("Bash", {"command": "cd src && sudo git -C . push origin main -f"}),
    "an edit": ("Edit", {"file_path": "src/deep/down/a.py", "old_string": "a" * 2_000, "new_string": "b" * 2_000}),
}
REMINDED = {
    "an edit of a file that nothing is about": ("Edit", {"file_path": "src/a.py", "new_string": "b" * 2_000}),
    "an edit that is reminded of, each time of a new session": ("Edit", {"file_path": "src/module7.py"}),
    "a command that nothing is about": ("Bash", {"command": "npm test && cat src/a.py | head -20"}),
}
OUTPUTS = {
    "10 KB of a file": ("cd src && cat a.py", _STEP * 300),
    "10 KB with nothing but errors": ("make", "a.c:{n}: error: it is wrong\n" * 360),
    **{f"{size:,} characters": ("./run.sh", _STEP * (size // len(_STEP))) for size in (3_000, 10_000, 30_000)},
}


def main() -> None:
    """Make a world for each kind of hook, and compare."""
    parser = described(__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        enforced, reminded, lean = (World(Path(name) / kind) for kind in ("enforced", "reminded", "lean"))
        settings = enforced.project / ".claude" / "settings.local.json"
        print(f"without a constraint there is {'a' if settings.exists() else 'no'} hook before tool calls\n")
        for number in range(CONSTRAINTS):
            scope = "command:git push --force" if number == 0 else f"path:src/generated{number}/**"
            add = ["constraint", "add", f"Rule {number} of this project", "--source", "the team", "--mode", "deny"]
            enforced.run(*add, "--scope", scope)
        reminded.run("install", "--reminders", "on")
        for number in range(DECISIONS):
            reminded.run("decision", "add", f"Keep the lock in src/module{number}.py", "--rationale", "it was weighed")
        lean.run("install", "--lean", "middle")
        rows = [node(), *_rows(enforced, "enforced", ENFORCED), *_rows(reminded, "reminders", REMINDED)]
        compare([*rows, *_outputs(lean)], rounds)


def _rows(world: World, kind: str, calls: dict[str, tuple[str, dict[str, str]]]) -> Iterator[Contender]:
    for name, (tool, given) in calls.items():
        path = {"file_path": str(world.project / given["file_path"])} if "file_path" in given else {}
        yield _contender(world, f"{kind}: {name}", "PreToolUse", tool_name=tool, tool_input={**given, **path})


def _outputs(world: World) -> Iterator[Contender]:
    for name, (command, output) in OUTPUTS.items():
        response = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        fields = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": response}
        yield _contender(world, f"lean: {name}", "PostToolUse", **fields)


def _contender(world: World, name: str, event: str, **fields: Any) -> Contender:
    """The hook as the settings have it, each time of another session and call; `{n}` numbers what it printed."""
    settings = json.loads((world.project / ".claude" / "settings.local.json").read_text(encoding="utf-8"))
    handler = settings["hooks"][event][0]["hooks"][0]
    numbers = itertools.count(10_000)

    def stdin() -> bytes:
        number = next(numbers)
        known = {"session_id": f"{event}-{number}", "cwd": str(world.project), "transcript_path": ""}
        told = {**known, "hook_event_name": event, "tool_use_id": f"toolu_{name}_{number}", **fields}
        return json.dumps(told).replace("{n}", str(number)).encode()

    environment = {**world.environment, "CLAUDE_PROJECT_DIR": str(world.project)}
    return Contender(name, [handler["command"], *handler["args"]], stdin, environment=environment)


if __name__ == "__main__":
    main()
