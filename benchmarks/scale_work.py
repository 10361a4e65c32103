"""The processes whose growth `benchmarks/scale_commands.py` times: every hook and every command."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.generated import Generator, line
from benchmarks.world import PROGRAM, World
from unified_state.archive.archive import Archive

Run = tuple[list[str], bytes]
Make = Callable[[], Run]

_EVENTS = {
    "UserPromptSubmit": {"prompt": "go on"},
    "Stop": {},
    "SubagentStart": {"agent_id": "a1", "agent_type": "Explore"},
    "PreCompact": {"trigger": "auto"},
    "SessionStart": {"source": "compact"},
    "SessionEnd": {"reason": "other"},
}
READING = {
    "status": ("status",),
    "doctor": ("doctor",),
    "doctor --full": ("doctor", "--full"),
    "config": ("config",),
    "load": ("load",),
    "preview --startup": ("preview", "--startup"),
    "context": ("context",),
    "age": ("age",),
    "validate": ("validate",),
    "inbox": ("inbox",),
    "decision list": ("decision", "list"),
    "compactions": ("compactions",),
    "show S (recall)": ("show", "S1000"),
    "show T": ("show", "T41"),
    "show --source (why)": ("show", "--source", "D1"),
    "search, rare words": ("search", "gopiso nikudi botoda"),
    "search, common words": ("search", "retry build budget"),
    "search, a question": ("search", "where is the config of the cache lock read?"),
    "search --session": ("search", "retry build", "--session", "session-00001"),
    "search --tool": ("search", "retry build", "--tool", "Bash"),
    "search --file": ("search", "retry build", "--file", "src/api/models.py"),
    "search --since": ("search", "retry build", "--since", "2023-11-20"),
    "search --kind": ("search", "retry build", "--kind", "prompt"),
    "search --all-projects, rare words": ("search", "rotuda", "--all-projects"),
    "search --all-projects, common words": ("search", "retry build budget", "--all-projects"),
    "export --session": ("export", "--session", "session-00001"),
    "forget --dry-run": ("forget", "--older-than", "2023-11-20", "--dry-run"),
}


class Work:
    """The processes to time, in an order in which none spoils another."""

    def __init__(self, world: World, steps: int) -> None:
        self._world, self._steps = world, steps
        self._transcript = world.folder / "now.jsonl"
        self._generator = Generator(self._transcript.stem, seed=7, result_bytes=(200, 2_000))
        self._places = itertools.count(steps // 2, 7)
        self._sessions, self._pruned = itertools.count(1), itertools.count(1)
        self._questions = itertools.count(1)

    def all(self) -> Iterator[tuple[str, Make]]:
        """Each process with its name."""
        yield from self._hooks()
        for name, words in READING.items():
            yield name, self._command(*words)
        yield from self._pages()
        yield "save", self._command("save")
        yield "decision add", self._command("decision", "add", "One more", "--rationale", "it was weighed")
        yield "edit", self._edit
        yield "import, one transcript", self._import
        yield "export", self._command("export")
        yield "export --full", self._command("export", "--full", str(self._world.folder / "history.jsonl"))
        yield "scan", self._command("scan")
        yield "forget, one step", lambda: self._forget(f"S{next(self._places)}")
        yield "forget, a session of 1,000", lambda: self._forget("--session", f"session-{next(self._sessions):05}")
        yield "forget --match", lambda: self._forget("--match", f"nothing has {next(self._places)}")
        yield "forget --older-than (prune), 1,000 steps", self._prune
        yield "vacuum", self._command("vacuum")

    def _hooks(self) -> Iterator[tuple[str, Make]]:
        for event, given in _EVENTS.items():
            for part in ("brief", "working_set") if event == "SessionStart" else ("",):
                yield f"{event} {part}".strip(), self._hook(event, part, given)

    def _hook(self, event: str, part: str, given: dict[str, str]) -> Make:
        def make() -> Run:
            self._go_on(self._transcript)
            return self._world.hook(event, self._transcript, part, **given)

        return make

    def _go_on(self, transcript: Path) -> None:
        with transcript.open("a", encoding="utf-8") as file:
            file.writelines(map(line, list(self._generator.turn())))

    def _command(self, *words: str) -> Make:
        return lambda: ([PROGRAM, *words], b"")

    def _pages(self) -> Iterator[tuple[str, Make]]:
        page = str(self._world.folder / "page.html")
        yield "view --export, a session of 1,000", self._command("view", "session-00001", "--export", page)
        yield "view --export, the state", self._command("view", "state", "--export", page)

    def _edit(self) -> Run:
        number = next(self._questions)
        self._world.run("question", "add", f"Which port has service {number}?", "--context", "it starts")
        return [PROGRAM, "edit", f"Q{number}", f"Which ports has service {number}?"], b""

    def _import(self) -> Run:
        self._go_on(self._transcript)
        return [PROGRAM, "import", str(self._transcript)], b""

    def _forget(self, *what: str) -> Run:
        return [PROGRAM, "forget", *what, "--yes"], b""

    def _prune(self) -> Run:
        """Let a thousand of the archive's steps be old, and prune what is old."""
        with Archive(str(self._own())) as archive, archive.transaction():
            first = self._steps - 1_000 * next(self._pruned)
            old = "UPDATE step SET at = at - 864000000000 WHERE id BETWEEN ? AND ? AND kind NOT NULL AND at > 1e12"
            archive.run(old, first, first + 999)
        return self._forget("--older-than", "2000-01-01")

    def _own(self) -> Path:
        (own,) = (path for path in self._world.home.rglob("archive.db") if not path.parent.is_symlink())
        return own
