"""What the viewer's pages cost: milliseconds to the last byte of each page and of the processor, and the
server's memory.

python -m benchmarks.viewer [--steps N] [--turns N] [--rounds N]

The archive has sessions of 480 steps, as many as the steps need, and one session of many turns with compactions,
and one session of a single turn.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.arguments import described
from benchmarks.long_archive import BEGIN, sessions
from benchmarks.world import PROGRAM, World
from unified_state.archive.archive import Archive
from unified_state.archive.compactions import keep_boundary, keep_transcript_summary
from unified_state.archive.sessions import touch_session
from unified_state.archive.write_steps import StepWriter
from unified_state.lib.text import pack
from unified_state.model.step import PROMPT, TEXT, TOOL_CALL, TOOL_RESULT, Boundary, Step, Summary

_LONG, _ONE_TURN = "long-session", "session-of-one-turn"
_TURN = 60_000  # milliseconds
_BETWEEN = 500  # turns between two compactions


def main(arguments: list[str] | None = None) -> int:
    """Fill an archive, start the viewer, and print what each page costs."""
    parser = described(__doc__)
    parser.add_argument("--steps", type=int, default=100_000, help="of all sessions but the long one")
    parser.add_argument("--turns", type=int, default=50_000, help="of the long session")
    parser.add_argument("--rounds", type=int, default=11)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="unified-state-") as folder:
        world = World(Path(folder) / "world")
        for number in range(50):
            world.run("decision", "add", f"Decision {number}", "--rationale", "so that there are some")
        (path,) = world.home.glob(".local/share/unified-state/repositories/*/archive.db")
        long, middle = _fill(path, given.steps, given.turns)
        _measure(world, given, long, middle)
    return 0


def _fill(path: Path, steps: int, turns: int) -> tuple[int, int]:
    """Write all sessions, and return the number of the long one and of its middle turn."""
    with Archive(str(path)) as archive:
        with archive.transaction(durable=False):
            for number, (session_id, written) in enumerate(sessions(steps)):
                writer = StepWriter(archive, touch_session(archive, session_id, BEGIN + number), None)
                for step in written:
                    writer.add(step, pack(step.text))
            long = touch_session(archive, _LONG, BEGIN)
            writer = StepWriter(archive, long, None)
            for turn in range(turns):
                for step in _turn(turn):
                    writer.add(step, pack(step.text))
                if turn % _BETWEEN == _BETWEEN - 1:
                    at = BEGIN + turn * _TURN
                    keep_boundary(archive, long, Boundary(str(uuid.uuid4()), at, "auto", 150_000))
                    keep_transcript_summary(archive, long, Summary(str(uuid.uuid4()), at, "1. Decision 3 holds."))
            writer = StepWriter(archive, touch_session(archive, _ONE_TURN, BEGIN), None)
            for turn in range(steps // 4):
                for step in _turn(turns + turn):
                    writer.add(step.replace(starts_turn=turn == 0 and step.starts_turn), pack(step.text))
        middle = archive.row("SELECT id FROM turn WHERE session = ? ORDER BY id LIMIT 1 OFFSET ?", long, turns // 2)
        return long, int(middle[0])


def _turn(turn: int) -> Iterator[Step]:
    at = BEGIN + turn * _TURN
    texts = {
        PROMPT: f"Look at part {turn} of the work, and say what fails",
        TEXT: "I look at the tests of that part first, then at the code. " * 5,
        TOOL_CALL: f'{{"command": "make part-{turn}"}}',
        TOOL_RESULT: "\n".join(f"part {turn} line {line}: ok" for line in range(100)),
    }
    for place, (kind, text) in enumerate(texts.items()):
        yield Step(
            str(uuid.UUID(int=turn)),
            place,
            kind,
            at,
            text,
            tool="Bash" if kind == TOOL_CALL else None,
            tool_use_id=f"c{turn}" if kind in {TOOL_CALL, TOOL_RESULT} else None,
            starts_turn=kind == PROMPT,
        )


def _measure(world: World, given: argparse.Namespace, long: int, middle: int) -> None:
    pages = {
        "the sessions": "/",
        f"a session of one turn of {given.steps:,} steps": f"/session/{long + 1}",
        f"the end of a session of {given.turns:,} turns": f"/session/{long}",
        "… its middle": f"/session/{long}?from={middle}",
        "a compaction": f"/K{given.turns // _BETWEEN // 2 + 1}",
        "the state": "/state",
        "an item": "/D7",
        "a search": "/search?q=retry+queue+part",
    }
    with _viewer(world) as (base, process):
        begin = _processor_ms(process.pid)
        first = _get(base, "/") * 1000
        used = _processor_ms(process.pid) - begin
        print(f"first page {first:.0f} ms after the server is up, {used:.0f} of the processor")
        for name, path in pages.items():
            begin = _processor_ms(process.pid)
            told = [_get(base, path) * 1000 for _ in range(given.rounds)]
            used = (_processor_ms(process.pid) - begin) / given.rounds
            print(f"{statistics.median(told):6.0f} ms  {max(told):6.0f} at most  {used:6.0f} of the processor  {name}")
        peak = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
        kilobytes = int(next(line for line in peak.splitlines() if line.startswith("VmHWM")).split()[1])
        print(f"{kilobytes / 1024:6.0f} MiB at most in memory")


@contextmanager
def _viewer(world: World) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [PROGRAM, "view", "--no-browser"]
    with subprocess.Popen(
        command, cwd=world.project, env=world.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout
        base = process.stdout.readline().strip().rstrip("/")
        try:
            yield base, process
        finally:
            process.terminate()


def _processor_ms(process: int) -> float:
    """Return the processor time that a process has used: on a busy machine it tells more than the clock."""
    stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def _get(base: str, path: str) -> float:
    begin = time.perf_counter()
    with urllib.request.urlopen(f"{base}{path}") as answer:
        answer.read()
    return time.perf_counter() - begin


if __name__ == "__main__":
    sys.exit(main())
