"""What 50 enforced constraints add to a tool call: the hook as a whole process, beside a bare node in the same run.

    python -m benchmarks.tool_calls [--rounds N]

Target: at most 1.8 x node -e 0. Where nothing is enforced the settings hold no such hook, so it adds nothing at all.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from benchmarks.arguments import described
from benchmarks.side_by_side import Contender, compare, node
from benchmarks.world import World

CONSTRAINTS = 50
_LONG = "cat > notes.md <<'EOF'\n" + "git push and other words of a long text\n" * 500 + "EOF\ngit add notes.md"
CALLS = {
    "a call that no constraint is about": ("Read", {"file_path": "src/a.py"}),
    "a command of another program": ("Bash", {"command": "npm test && cat src/a.py | head -20"}),
    "a command that is denied": ("Bash", {"command": "cd src && sudo git -C . push origin main -f"}),
    "a command with 20 KB of text": ("Bash", {"command": _LONG}),
    "an edit": ("Edit", {"file_path": "src/deep/down/a.py", "old_string": "a" * 2_000, "new_string": "b" * 2_000}),
}


def main() -> None:
    """Forbid, and compare."""
    parser = described(__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        settings = world.project / ".claude" / "settings.local.json"
        print(f"without a constraint there is {'a' if settings.exists() else 'no'} hook before tool calls\n")
        forbid(world)
        (group,) = json.loads(settings.read_text(encoding="utf-8"))["hooks"]["PreToolUse"]
        (handler,) = group["hooks"]
        world.environment["CLAUDE_PROJECT_DIR"] = str(world.project)
        world.run_hook("SessionStart", world.folder / "s.jsonl", "brief", source="startup")
        command = [handler["command"], *handler["args"]]
        compare([node(), *(_contender(world, name, command, *call) for name, call in CALLS.items())], rounds)


def forbid(world: World) -> None:
    """As many constraints of the user's own: on commands, on paths, on tools."""
    for number in range(CONSTRAINTS):
        scope = [
            f"path:src/generated{number}/**",
            f"command:git push --force remote{number}",
            f"tool:mcp__s{number}__*",
        ]
        chosen = "command:git push --force" if number == 0 else scope[number % 3]
        add = ["constraint", "add", f"Rule {number} of this project", "--source", "the team", "--mode", "deny"]
        world.run(*add, "--scope", chosen)


def _contender(world: World, name: str, command: list[str], tool: str, given: dict[str, str]) -> Contender:
    event = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(world.project), "transcript_path": ""}
    stdin = json.dumps({**event, "tool_name": tool, "tool_input": given}).encode()
    return Contender(name, command, lambda: stdin, environment=world.environment)


if __name__ == "__main__":
    main()
