"""What a hook and a command cost, as whole processes, beside a bare node in the same run.

    python benchmarks/latency.py [--rounds N] [--quick] [--beside EVENT=COMMAND]…

Targets: UserPromptSubmit with nothing to say and Stop until the client goes on at most .12 x node -e 0, whatever the
transcript has grown to; a prompt after a compaction, SessionStart(compact) on 50,000 archived turns and every other
start at most 2.2 x; SubagentStart with 50 constraints at most 2 x; a tool call with rules at most 1.8 x; PreCompact at
most 1.6 x in a small repository, 3 x in one of 50,000 files; `search`, `show`, `decision add`, `status` and `--help`
at most 1.5 x.

The commands are started as `install` leaves them, and run in a repository with 50,000 archived steps.

`--beside` adds another memory program's hook to the first table, for example UserPromptSubmit='/usr/bin/NAME hook'. It
gets the same event on stdin, and runs with your own home, where its data is.
"""

from __future__ import annotations

import functools
import itertools
import shlex
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.arguments import described
from benchmarks.generated import Generator, line, write_many_turns, write_transcript
from benchmarks.long_archive import write_archive
from benchmarks.side_by_side import Contender, clean_environment, compare, node
from benchmarks.world import PROGRAM, World
from unified_state.model.hook_event import PARTS
from unified_state.project.place import locate
from unified_state.settings import default_data_dir


def growing(transcript: Path) -> Callable[[], None]:
    """Appends a turn of 12 entries, about 54 KB, to the transcript each time it is called."""
    turns = _turns_of(12)

    def grow() -> None:
        with transcript.open("a", encoding="utf-8") as file:
            for entry in next(turns):
                file.write(line({**entry, "uuid": str(uuid.uuid4()), "sessionId": transcript.stem}))

    return grow


def _turns_of(length: int) -> Iterator[list[dict[str, object]]]:
    generator = Generator("pool", seed=7)
    pool = [turn for turn in (list(generator.turn()) for _ in range(400)) if len(turn) == length]
    return itertools.cycle(pool)


def prompts(world: World, sizes: list[int]) -> list[Contender]:
    """The prompt hook with one new turn, on transcripts of several sizes that are archived already."""
    contenders = []
    for size in sizes:
        transcript = world.folder / f"{size}.jsonl"
        write_transcript(transcript, size, transcript.stem)
        world.archive(transcript)
        name = f"UserPromptSubmit, {size:,} messages"
        contenders.append(
            world.contender(name, "UserPromptSubmit", transcript, prepare=growing(transcript), prompt="go on")
        )
    return contenders


def beside(world: World, given: list[str]) -> list[Contender]:
    """Hooks of other memory programs, each given as EVENT=COMMAND."""
    return [_of_another(world, *text.split("=", 1)) for text in given]


def _of_another(world: World, event: str, command: str) -> Contender:
    fields = {"UserPromptSubmit": {"prompt": "go on"}, "SessionStart": {"source": "compact"}}
    _, stdin = world.hook(event, world.folder / "500.jsonl", **fields.get(event, {}))
    name = f"{event} of another program: {command}"
    return Contender(name, shlex.split(command), lambda: stdin, environment=clean_environment())


_SETTLED = 0.5  # seconds after which a turn's end has done its work


def stops(world: World) -> list[Contender]:
    """The hook at the end of a turn, until the client goes on. What it leaves behind ends before the next round."""
    transcript = world.folder / "stop.jsonl"
    write_transcript(transcript, 500, transcript.stem)
    world.run("import", str(transcript))
    world.run_hook("SessionStart", transcript, "brief", source="resume")
    prepare = functools.partial(time.sleep, _SETTLED)
    return [world.contender("Stop until the client goes on", "Stop", transcript, prepare=prepare)]


def told_prompts(folder: Path) -> list[Contender]:
    """The first prompt after a compaction, which opens the archive, each time in a world of its own: the restore has
    arrived, or the client has lost it.
    """
    return [_told_prompt(folder, "arrived"), _told_prompt(folder, "was lost")]


def _told_prompt(folder: Path, how: str) -> Contender:
    world = World(folder / how)
    transcript = world.folder / "told.jsonl"
    write_transcript(transcript, 500, transcript.stem)
    world.run("import", str(transcript))
    world.run_hook("SessionStart", transcript, "brief", source="resume")
    end_turn = _ending_turns(world, transcript)

    def compact() -> None:
        end_turn()
        world.run_hook("PreCompact", transcript, trigger="auto")
        _append(transcript, "system", subtype="compact_boundary", compactMetadata={"trigger": "auto"})
        for part in PARTS:
            text = world.run_hook("SessionStart", transcript, part, source="compact").decode()
            if how == "arrived":
                _append(transcript, "attachment", attachment={"type": "hook_additional_context", "content": [text]})

    name = f"UserPromptSubmit, the first after a compaction whose restore {how}"
    return world.contender(name, "UserPromptSubmit", transcript, prepare=compact, prompt="Speed up the kestrel.")


def _append(transcript: Path, kind: str, **fields: object) -> None:
    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    with transcript.open("a", encoding="utf-8") as file:
        file.write(line({"type": kind, "uuid": str(uuid.uuid4()), "timestamp": at, **fields}))


def quiet_prompts(world: World, sizes: list[int]) -> list[Contender]:
    """The prompt hook after the end of a turn, with nothing to say: no Python starts."""
    contenders = []
    for size in sizes:
        transcript = world.folder / f"quiet-{size}.jsonl"
        write_transcript(transcript, size, transcript.stem)
        world.run("import", str(transcript))
        world.run_hook("SessionStart", transcript, "brief", source="resume")
        contenders.append(
            world.contender(
                f"UserPromptSubmit with nothing to say, {size:,} messages",
                "UserPromptSubmit",
                transcript,
                prepare=_ending_turns(world, transcript),
                prompt="go on",
            )
        )
    return contenders


def _ending_turns(world: World, transcript: Path) -> Callable[[], None]:
    """Ends a turn each time it is called."""
    grow = growing(transcript)

    def end_turn() -> None:
        grow()
        world.run_hook("Stop", transcript, last_assistant_message="done")

    return end_turn


def subagents(world: World, constraints: int) -> list[Contender]:
    """A subagent begins, in a turn of 12 entries that is not archived yet, in a project with many constraints."""
    transcript = world.folder / "500.jsonl"
    for number in range(constraints):
        for arguments in (
            ["constraint", "add", f"Constraint {number} of this project", "--source", "the user"],
            ["decision", "add", f"Decision {number} about module{number}", "--rationale", "it was weighed"],
        ):
            command = [PROGRAM, *arguments]
            subprocess.run(command, cwd=world.project, env=world.environment, check=True, capture_output=True)
    grow = growing(transcript)

    def delegate() -> None:
        grow()
        task = {"description": "a task", "prompt": "Test module7.", "subagent_type": "general-purpose"}
        call = {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex}", "name": "Agent", "input": task}
        entry = {"type": "assistant", "uuid": str(uuid.uuid4()), "message": {"role": "assistant", "content": [call]}}
        with transcript.open("a", encoding="utf-8") as file:
            file.write(line({**entry, "sessionId": transcript.stem, "timestamp": "2026-11-22T10:00:00Z"}))

    fields = {"agent_id": "a1", "agent_type": "general-purpose"}
    name = f"SubagentStart, {constraints} constraints"
    return [world.contender(name, "SubagentStart", transcript, prepare=delegate, **fields)]


SUMMARY = "<summary>We went on with the archive. Decision 3 and decision 7 stand.</summary>"


def restores(world: World, turns: int) -> list[Contender]:
    """Both handlers of SessionStart(compact) behind the compaction's summary, on an archive of many turns."""
    transcript = world.folder / "long.jsonl"
    write_many_turns(transcript, turns, transcript.stem)
    world.archive(transcript)
    for number in range(20):
        command = [PROGRAM, "decision", "add", f"Decision {number} of this project", "--rationale", "it was weighed"]
        subprocess.run(command, cwd=world.project, env=world.environment, check=True, capture_output=True)
    world.run_hook("SessionStart", transcript, "brief", source="resume")
    given: Any = {"agent_type": "", "agent_id": "compact", "last_assistant_message": SUMMARY}

    def compact() -> None:
        world.run_hook("PreCompact", transcript, trigger="manual")
        world.run_hook("SubagentStop", transcript, **given)

    return [
        world.contender(
            f"SessionStart(compact) {part}, {turns:,} turns",
            "SessionStart",
            transcript,
            part,
            compact,
            source="compact",
        )
        for part in ("brief", "working_set")
    ]


def starts(world: World) -> list[Contender]:
    """The starts behind a turn and the end of its session."""
    transcript = world.folder / "long.jsonl"
    grow = growing(transcript)

    def end(source: str) -> Callable[[], None]:
        def end_session() -> None:
            grow()
            world.run_hook("Stop", transcript, last_assistant_message="done")
            world.run_hook("SessionEnd", transcript, reason="clear" if source == "clear" else "other")

        return end_session

    return [
        world.contender(
            f"SessionStart({source})",
            "SessionStart",
            transcript if source == "resume" else world.folder / "new.jsonl",
            "brief",
            end(source),
            source=source,
        )
        for source in ("startup", "resume", "clear")
    ]


def commands(world: World, steps: int) -> list[Contender]:
    """Everyday commands in an archive of many steps."""
    done = subprocess.run(
        [PROGRAM, "install"], env=world.environment, cwd=world.project, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    data = world.home / Path(default_data_dir()).relative_to(Path.home())
    write_archive(Path(locate(str(world.project), str(data), create=True).archive_path), steps)
    lines = {
        "--help": ["--help"],
        "status": ["status"],
        "show": ["show", "T3"],
        "search, rare word": ["search", "rotuda"],
        "search, common words": ["search", "test file"],
        "decision add": ["decision", "add", "Use SQLite for the archive", "--rationale", "one file, no server"],
    }
    return [
        Contender(f"{name}, {steps:,} steps", [PROGRAM, *words], environment=world.environment, cwd=str(world.project))
        for name, words in lines.items()
    ]


def main() -> None:
    """Build the worlds, run the comparisons, print the table."""
    parser = described(__doc__)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--quick", action="store_true", help="smaller transcripts and repositories")
    parser.add_argument("--beside", action="append", default=[], metavar="EVENT=COMMAND", help="another program's hook")
    options = parser.parse_args()
    sizes, turns, files = ([500, 5_000], 5_000, 5_000) if options.quick else ([500, 5_000, 50_000], 50_000, 50_000)
    with tempfile.TemporaryDirectory() as name:
        small, large, long = (
            World(Path(name) / n, count) for n, count in (("small", 20), ("large", files), ("long", 20))
        )
        bare = Contender("python -I -S -c 0", [sys.executable, "-I", "-S", "-c", "0"], environment=clean_environment())
        compare(
            [
                node(),
                bare,
                *prompts(small, sizes),
                *quiet_prompts(small, sizes),
                *stops(small),
                *told_prompts(Path(name)),
                *restores(long, turns),
                *starts(long),
                *beside(small, options.beside),
            ],
            options.rounds,
        )
        print()
        transcript = small.folder / "500.jsonl"
        pre_compact = [
            world.contender(f"PreCompact, {count:,} files", "PreCompact", transcript, trigger="auto")
            for world, count in ((small, 20), (large, files))
        ]
        compare([node(), *pre_compact, *commands(World(Path(name) / "commands"), turns)], options.rounds)
        print()
        compare([node(), *subagents(small, 50)], options.rounds)  # last: it leaves many items behind


if __name__ == "__main__":
    main()
