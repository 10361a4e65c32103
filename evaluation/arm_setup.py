"""How a world with the client is set up for an arm: its environment, and the hooks in the project's own settings."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from evaluation.arm_hook import CHARACTERS
from evaluation.arms import AT_THE_ACTION, GREP, NATIVE, PLACEBO, TAIL, is_ours
from tests.sandboxed.product import PROGRAM
from tests.sandboxed.world import World

SCRIPT = Path(__file__).with_name("arm_hook.py")
_SECONDS = 30


def set_up(world: World[Any], arm: str, tokens: int, placebo: str = "") -> None:
    """Make `world` that of an arm. `tokens` is the size of `tail`; `placebo` is the text of that arm."""
    if arm != NATIVE:
        world.environment["CLAUDE_CODE_DISABLE_AUTO_MEMORY"] = "1"
    settings = world.project / ".claude" / "settings.local.json"
    settings.parent.mkdir(exist_ok=True)
    if is_ours(arm):
        part = arm.removeprefix("no-")
        world.run_program(PROGRAM, "install", "--reminders", "off" if part == AT_THE_ACTION else "on")
        found = json.loads(settings.read_text(encoding="utf-8"))
        if arm.startswith("no-"):
            _leave_out(found["hooks"], part)
    else:
        found = {"hooks": _hooks(world.folder, arm, tokens, placebo)}
    settings.write_text(json.dumps(found, indent=1), encoding="utf-8")


def _hooks(folder: Path, arm: str, tokens: int, placebo: str) -> dict[str, Any]:
    if arm == PLACEBO:
        text = folder / "placebo.txt"
        text.write_text(placebo, encoding="utf-8")
        arguments = ["print", str(text)]
    elif arm in {TAIL, GREP}:
        arguments = ["tail", str(tokens * CHARACTERS)] if arm == TAIL else ["grep"]
    else:
        return {}
    handler = {"type": "command", "command": sys.executable, "timeout": _SECONDS}
    return {
        "SessionStart": [{"matcher": "compact", "hooks": [{**handler, "args": ["-I", "-S", str(SCRIPT), *arguments]}]}]
    }


def _leave_out(hooks: dict[str, Any], part: str) -> None:
    """Run our hooks through the script that leaves a part out. A handler that is not run would not do: its part would
    count as one that did not arrive, and come with the prompt.
    """
    for event in ("SessionStart", "UserPromptSubmit", "PreCompact"):
        for handler in (handler for group in hooks[event] for handler in group["hooks"]):
            before = [handler["command"], *handler["args"]]
            handler["command"], handler["args"] = sys.executable, ["-I", "-S", str(SCRIPT), "without", part, *before]
