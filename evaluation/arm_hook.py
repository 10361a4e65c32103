"""A hook of the client in the arms that are not unified-state itself; a script that needs the standard library alone.

    arm_hook.py print FILE                  give a text
    arm_hook.py tail CHARACTERS             give the last turns of the transcript, verbatim
    arm_hook.py grep                        say where the transcript lies
    arm_hook.py without PART COMMAND ...    run a hook of unified-state, and leave one part out of what it gives

The client's JSON comes on stdin. It prints nothing, or what the client takes as additional context.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

CONSTRAINT = re.compile(r"C\d+ \(")
LIMIT = 9_900  # UTF-16 units; the client replaces an output above 10,000
CHARACTERS = 4  # of a token, about: what the client's own estimate takes
SECTIONS = {
    "rules": ("CONSTRAINTS", "USER"),
    "working-set": ("RAN", "FILES", "LAST STEPS", "TURNS"),
    "found": ("SAID",),
    "at-the-prompt": ("RELEVANT",),
}


def main(arguments: list[str]) -> int:
    """Answer one call of the client."""
    given = sys.stdin.read()
    called = json.loads(given)
    mode, *rest = arguments
    if mode == "without":
        return _without(rest[0], rest[1:], given)
    texts: dict[str, Callable[[], str]] = {
        "print": lambda: Path(rest[0]).read_text(encoding="utf-8"),
        "tail": lambda: last_turns(Path(called["transcript_path"]), int(rest[0])),
        "grep": lambda: (
            f"The whole transcript of this session is {called['transcript_path']}. Grep it for what was said."
        ),
    }
    _give(called["hook_event_name"], texts[mode]())
    return 0


def last_turns(transcript: Path, characters: int) -> str:
    """The end of a conversation, of so many characters, oldest first."""
    said: list[str] = []
    for line in reversed(transcript.read_text(encoding="utf-8").split("\n")):
        entry = json.loads(line) if line.strip() else {}
        if entry.get("type") in {"user", "assistant"} and not entry.get("isCompactSummary"):
            said.insert(0, f"{entry['type']}: {_said(entry['message']['content'])}")
        if sum(map(len, said)) >= characters:
            break
    return "\n".join(said)[-characters:] if characters else ""


def _said(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(_block(block) for block in content)


def _block(block: dict[str, Any]) -> str:
    if block.get("type") == "tool_use":
        return f"{block['name']} {json.dumps(block['input'], ensure_ascii=False)}"
    inner = block.get("text") or block.get("content") or ""
    return inner if isinstance(inner, str) else _said(inner)


def _without(part: str, command: list[str], given: str) -> int:
    done = subprocess.run(command, input=given, capture_output=True, encoding="utf-8", check=False)
    output = _parsed(done.stdout)
    context = output.get("hookSpecificOutput", {}).get("additionalContext")
    if isinstance(context, str) and part in SECTIONS:
        output["hookSpecificOutput"]["additionalContext"] = rest = without(context, SECTIONS[part])
        sys.stdout.write(json.dumps(output) if "\n[" in rest else "")  # nothing of an empty fence
    elif not output and part == "rules":  # PreCompact tells the summary in plain text what to keep, an item a line
        lines = done.stdout.splitlines(keepends=True)
        sys.stdout.write("".join(line for line in lines if not CONSTRAINT.match(line)))
    else:
        sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode


def _parsed(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def without(text: str, sections: Iterable[str]) -> str:
    """Return a restore without some sections. A section goes from its `[NAME]` line to the next one."""
    kept: list[str] = []
    leaves = False
    for line in text.splitlines(keepends=True):
        if line.startswith(("[", "<", "=")):
            leaves = line.startswith("[") and line[1:].partition("]")[0] in set(sections)
        if not leaves:
            kept.append(line)
    return "".join(kept)


def _give(event: str, text: str) -> None:
    while len(text.encode("utf-16-le")) > 2 * LIMIT:
        text = text[: len(text) - 100]
    if text:
        sys.stdout.write(json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
