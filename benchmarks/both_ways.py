"""Whether a silent prompt changes what is archived: a session's hooks are replayed twice, and both exports compared.

    python benchmarks/both_ways.py TRANSCRIPT… [--stop-every N]

Once most prompts end at the gate and later hooks archive them. Once every prompt opens the archive, because its note is
removed first. Every event runs as a process, and the client's entries are written between the hooks. The export has to
be the same, byte for byte. It begins an hour from now, as a hook does not expect a prompt of an earlier time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.arguments import described
from benchmarks.generated import line
from benchmarks.transcripts import Entry, read_lines
from benchmarks.world import PROGRAM, World

_LATER = timedelta(hours=1)


class Replayed(NamedTuple):
    """A replay's export, and how many of its prompts ended at the gate."""

    export: bytes
    prompts: int
    silent: int


def entries_from_now(lines: Sequence[str], session_id: str) -> list[Entry]:
    """The entries of a session, moved in time to an hour from now, with another session's id."""
    entries = [json.loads(text) for text in lines]
    times = [datetime.fromisoformat(entry["timestamp"]) for entry in entries if entry.get("timestamp")]
    moved = datetime.now(UTC) + _LATER - min(times)
    for entry in entries:
        if entry.get("timestamp"):
            at = datetime.fromisoformat(entry["timestamp"]) + moved
            entry["timestamp"] = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if "sessionId" in entry:
            entry["sessionId"] = session_id
    return entries


def replay(
    world: World, entries: Sequence[Entry], session_id: str, stop_every: int, *, may_be_silent: bool
) -> Replayed:
    """Replay a session's hooks in a world. Of N turns only the first ends with a Stop. Without
    `may_be_silent` every prompt opens the archive.
    """
    transcript = world.folder / f"{session_id}.jsonl"
    transcript.touch()
    world.run_hook("SessionStart", transcript, "brief", source="startup")
    prompts = silent = 0
    for prompt, turn in _turns(entries):
        if prompt:
            prompts += 1
            if not may_be_silent:
                for mark in world.home.rglob("quiet/*"):
                    mark.unlink()
            before = _traces(world)
            world.run_hook("UserPromptSubmit", transcript, launcher=None, prompt=prompt)
            silent += before == _traces(world)
        with transcript.open("a", encoding="utf-8") as file:
            file.writelines(map(line, turn))
        if not prompt or prompts % stop_every == 1 % stop_every:
            world.run_hook("Stop", transcript, last_assistant_message=_last_words(turn))
    world.run_hook("SessionEnd", transcript, reason="other")
    world.run_hook("PreCompact", transcript, trigger="manual")  # has a minute: on a busy machine others leave a rest
    command = [PROGRAM, "export", "--session", session_id]
    done = subprocess.run(command, cwd=world.project, env=world.environment, check=True, capture_output=True)
    return Replayed(done.stdout, prompts, silent)


def _traces(world: World) -> list[int]:
    """When the prompt's hook ran last, as far as Python did it."""
    return [path.stat().st_mtime_ns for path in world.home.rglob("runs/UserPromptSubmit")]


def compared(lines: Sequence[str], stop_every: int) -> tuple[Replayed, Replayed]:
    """Both replays of a session, each in a home of its own."""
    session_id = str(uuid.uuid4())
    entries = entries_from_now(lines, session_id)
    with tempfile.TemporaryDirectory() as name:
        worlds = World(Path(name) / "silent"), World(Path(name) / "whole")
        first, second = (
            replay(world, entries, session_id, stop_every, may_be_silent=may_be_silent)
            for world, may_be_silent in zip(worlds, (True, False), strict=True)
        )
    return first, second


def _turns(entries: Sequence[Entry]) -> Iterator[tuple[str, list[Entry]]]:
    """Each prompt with the entries of its turn, of which it is the first."""
    prompt, turn = "", list[Entry]()
    for entry in entries:
        if text := _prompt_of(entry):
            if turn:
                yield prompt, turn
            prompt, turn = text, []
        turn.append(entry)
    if turn:
        yield prompt, turn


def _prompt_of(entry: Entry) -> str:
    """The text that the user typed, or "" for any other entry."""
    is_other = entry.get("isMeta") or entry.get("isSidechain") or entry.get("isCompactSummary")
    content: Any = entry.get("message", {}).get("content") if entry.get("type") == "user" and not is_other else None
    if isinstance(content, list):
        texts = [block.get("text", "") for block in content if block.get("type") == "text"]
        content = texts[0] if len(texts) == len(content) == 1 else None
    return content.strip() if isinstance(content, str) and not content.startswith("<") else ""


def _last_words(turn: Sequence[Entry]) -> str:
    for entry in reversed(turn):
        content = entry.get("message", {}).get("content") if entry.get("type") == "assistant" else None
        for block in reversed(content if isinstance(content, list) else []):
            if block.get("type") == "text":
                return str(block["text"])
    return ""


def main() -> None:
    """Compare the sessions and print a row for each."""
    parser = described(__doc__)
    parser.add_argument("transcripts", nargs="+", type=Path)
    parser.add_argument("--stop-every", type=int, default=1, metavar="N", help="of N turns only the first has a Stop")
    options = parser.parse_args()
    differ = 0
    for path in options.transcripts:
        first, second = compared(read_lines(path), options.stop_every)
        is_same = first.export == second.export
        differ += not is_same
        told = "the same" if is_same else "DIFFERENT"
        print(
            f"{path.name}: {first.silent} of {first.prompts} prompts silent, {len(first.export):,} bytes, {told}",
            flush=True,
        )
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
