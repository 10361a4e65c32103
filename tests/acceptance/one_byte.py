"""One damaged byte in any of our files: a project with something in each of them, and what must hold for any byte.

The program runs inside this process, since a process for each of ten thousand damages would take hours.
"""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from .product import Done, Project
from .transcripts import Transcript

SEED = 20_261_123
SECONDS = 60  # after which one damage counts as one that hangs
ITEMS = 12
_ALL_EVERY = 5
_PAGE = 4096
_PAGE_KINDS = {2: "index, inner page", 5: "table, inner page", 10: "index, leaf", 13: "table, leaf"}
_DENIED = {"tool_name": "Bash", "tool_input": {"command": "git push --force"}}


class Damage(NamedTuple):
    """One byte of one file, and what it becomes."""

    kind: str
    path: str
    at: int
    value: int


class Outcome(NamedTuple):
    """What was wrong with how one damage was met, if anything, and whether the damage was noticed."""

    wrong: str | None
    noticed: bool


class Victim:
    """A project whose files are put back before each damage."""

    def __init__(self, project: Project, folder: Path) -> None:
        self.project, self._folder, self._met = project, folder, 0
        self.transcript = folder / "s.jsonl"
        self.texts = _filled(project, self.transcript)
        self._roots = [project.data, project.folder / ".claude", project.home / ".config"]
        for number, root in enumerate(self._roots):
            shutil.copytree(root, folder / f"whole-{number}")
        self.steps = self._count_steps()
        self._open_journals()

    def damages(self, count: int) -> list[Damage]:
        """So many damages, spread evenly over the kinds of places; the same in every run."""
        chance = random.Random(SEED)
        places = self._places()
        found = []
        for number in range(count):
            kind = sorted(places)[number % len(places)]
            path, offsets = chance.choice(places[kind])
            found.append(Damage(kind, path, chance.choice(offsets), chance.randrange(256)))
        return found

    def meet(self, damage: Damage) -> Outcome:
        """Damage the byte, and let hooks and commands meet it."""
        self._restore(damage.kind)
        path = Path(damage.path)
        content = bytearray(path.read_bytes())
        content[damage.at] = damage.value if content[damage.at] != damage.value else damage.value ^ 0x10
        path.write_bytes(content)
        self._met += 1
        begun = time.monotonic()
        runs = list(self._runs(with_all=self._met % _ALL_EVERY == 1))
        wrong = "it hangs" if time.monotonic() - begun > SECONDS else self._wrong(runs, damage)
        return Outcome(wrong, _is_said(runs, self.project))

    def _runs(self, *, with_all: bool) -> Iterator[tuple[str, Done]]:
        """Hooks and commands, one after the other; those that start other programs too, where `with_all`."""
        project, path = self.project, str(self.transcript)
        yield "SessionStart", project.hook("SessionStart", "brief", transcript_path=path, source="startup")
        yield "PreToolUse", project.hook("PreToolUse", **_DENIED)
        yield "UserPromptSubmit", project.hook("UserPromptSubmit", transcript_path=path, prompt="go on with it")
        yield "search", project.run("search", "port", "--json")
        yield "Stop", project.hook("Stop", transcript_path=path)
        yield "decision add", project.run("decision", "add", "one more", "--rationale", "r")
        yield "list", project.run("decision", "list", "--json")
        if with_all:
            yield "PreCompact", project.hook("PreCompact", transcript_path=path, trigger="auto")
        yield "status", project.run("status")
        yield "restore", project.hook("SessionStart", "brief", transcript_path=path, source="startup")
        if with_all:
            yield "doctor", project.run("doctor")

    def _wrong(self, runs: list[tuple[str, Done]], damage: Damage) -> str | None:
        for name, done in runs:
            is_hook = name[0].isupper() or name == "restore"
            if (is_hook and done.code) or done.code not in {0, 1}:
                return f"{name}: exit {done.code}: {done.err[-300:]}"
            if "Traceback" in done.err + done.out or "a bug" in done.err:
                return f"{name}: {done.err[-300:]}"
        if "Traceback" in self.project.log():
            return self.project.log()[-1500:]
        said = _is_said(runs, self.project)
        return None if said else self._missing(dict(runs)["list"], damage)

    def _missing(self, listed: Done, damage: Damage) -> str | None:
        """What is not found although nothing was said. A letter in a text that became another one cannot be known."""
        try:
            shown = [item["decision"] for item in json.loads(listed.out)]
        except (ValueError, KeyError, TypeError):
            return f"list: {listed}"
        changed = [text for text in self.texts if text not in shown]
        near = [text for text in changed if any(_differ_in_one(text, other) for other in shown)]
        if len(changed) > len(near):
            return f"{damage.kind}: {set(changed) - set(near)} are gone, and nothing was said"
        if "one more" not in shown:
            return "what was recorded behind the damage is gone"
        if damage.kind == "journal":
            return None  # its checksums cover one byte in 200: SQLite may roll back half a transaction without an error
        try:
            steps = self._count_steps()
        except sqlite3.DatabaseError:  # in pages that no command of these had to read: the whole check finds it
            found = self.project.run("doctor", "--full").out
            return None if _complains(found) else f"{damage.kind}: the steps cannot be read, and doctor says {found}"
        return f"{self.steps - steps} steps are gone, and nothing was said" if steps < self.steps else None

    def _restore(self, kind: str) -> None:
        for number, root in enumerate(self._roots):
            shutil.rmtree(root)
            shutil.copytree(self._folder / f"whole-{number}", root)
        if kind in {"journal", "WAL"}:
            for path in (self._folder / kind).iterdir():
                shutil.copy(path, self.project.archive.parent / path.name)

    def _count_steps(self) -> int:
        with closing(sqlite3.connect(self.project.archive)) as archive:
            (count,) = archive.execute("SELECT count(*) FROM step WHERE kind NOT NULL").fetchone()
        return int(count)

    def _open_journals(self) -> None:
        """Copies of the archive as a killed process leaves it: with a journal to roll back, and with a WAL."""
        for kind, mode in (("journal", "TRUNCATE"), ("WAL", "WAL")):
            (self._folder / kind).mkdir()
            with closing(sqlite3.connect(self.project.archive, isolation_level=None)) as archive:
                archive.execute(f"PRAGMA journal_mode = {mode}")
                archive.execute("PRAGMA cache_size = 1")
                archive.execute("BEGIN IMMEDIATE")
                archive.execute("UPDATE step SET at = at + 1")
                if kind == "WAL":
                    archive.execute("COMMIT")
                for ending in ("", "-journal", "-wal"):
                    path = self.project.archive.with_name(self.project.archive.name + ending)
                    if path.exists():
                        shutil.copy(path, self._folder / kind / path.name)
            self._restore("")

    def _places(self) -> dict[str, list[tuple[str, range]]]:
        """The files of each kind with their offsets."""
        archive = self.project.archive
        places: dict[str, list[tuple[str, range]]] = {"header": [(str(archive), range(100))]}
        places["schema"] = [(str(archive), range(page * _PAGE, (page + 1) * _PAGE)) for page in _schema_pages(archive)]
        for page, first in enumerate(archive.read_bytes()[::_PAGE]):
            kind = _PAGE_KINDS.get(first, "other page")
            offsets = range(page * _PAGE, (page + 1) * _PAGE)
            places.setdefault(f"{kind}, its header", []).append((str(archive), offsets[:16]))
            places.setdefault(kind, []).append((str(archive), offsets))
        for kind, name in (("journal", "-journal"), ("WAL", "-wal")):
            size = (self._folder / kind / f"archive.db{name}").stat().st_size
            places[kind] = [(f"{archive}{name}", range(size))]
        files = [path for root in self._roots for path in sorted(root.rglob("*")) if path.is_file()]
        for path in files:
            size = path.stat().st_size
            kind = "run" if path.parent.name == "runs" else path.name
            if size and not path.name.startswith("archive.db") and path.parent.name != "commands":
                places.setdefault(kind, []).append((str(path), range(size)))
        return places


def report(outcomes: list[tuple[Damage, Outcome]]) -> str:
    """How many damages of each kind were met, and how many of them noticed."""
    met = Counter(damage.kind for damage, _ in outcomes)
    noticed = Counter(damage.kind for damage, outcome in outcomes if outcome.noticed)
    return "\n".join(f"{kind:32} {met[kind]:6} damages, {noticed[kind]:6} noticed" for kind in sorted(met))


def _filled(project: Project, transcript: Path) -> list[str]:
    """Put something into each file; the texts of the decisions."""
    config = project.home / ".config" / "unified-state" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("budget_target = 4000\nmask_secrets = true\n", encoding="utf-8")
    written = Transcript("s")
    for number in range(40):
        written.turn(number, size=2000)
    written.write(transcript)
    texts = [f"Decision number {number} é: use port {8000 + number}" for number in range(ITEMS)]
    for text in texts:
        project.decide(text)
    project.ask(
        "constraint", "add", "No force", "--source", "s", "--scope", "command:git push --force", "--mode", "deny"
    )
    for number in range(3):
        fields = {"transcript_path": str(transcript), "session_id": f"s{number}"}
        assert project.hook("PreCompact", trigger="auto", **fields | {"session_id": "s"}).code == 0
        project.hook("UserPromptSubmit", prompt=f"a prompt {number} that the transcript does not have", **fields)
    (project.folder / ".claude" / "unified-state.toml").write_text("prompt_milliseconds = 300\n", encoding="utf-8")
    assert project.run("load").code == 0
    return texts


def _schema_pages(archive: Path) -> list[int]:
    """The pages that hold the schema: the first, and those below it."""
    with closing(sqlite3.connect(archive)) as connection:
        raw = archive.read_bytes()
        roots = {page for (page,) in connection.execute("SELECT rootpage FROM sqlite_master")}
    if raw[100] == 13:
        return [0]
    cells = int.from_bytes(raw[103:105], "big")
    pointers = [int.from_bytes(raw[112 + 2 * n : 114 + 2 * n], "big") for n in range(cells)]
    below = [int.from_bytes(raw[at : at + 4], "big") - 1 for at in pointers]
    below.append(int.from_bytes(raw[108:112], "big") - 1)
    assert not roots & {page + 1 for page in below}
    return [0, *below]


def _is_said(runs: list[tuple[str, Done]], project: Project) -> bool:
    """Whether a person was told that something is wrong."""
    done = dict(runs)
    told = any(name != "doctor" and run.err for name, run in runs)
    by_doctor = "doctor" in done and _complains(done["doctor"].out)
    return told or bool(project.log()) or "[HEALTH]" in done["restore"].out or by_doctor


def _complains(doctor: str) -> bool:
    expected = ("BAD hooks", "BAD free space")
    bad = [line for line in doctor.splitlines() if line.startswith("BAD") and not line.startswith(expected)]
    return bool(bad) or "set aside" in doctor


def _differ_in_one(text: str, other: str) -> bool:
    """Whether two texts differ in no more than what one byte can change."""
    blocks = SequenceMatcher(None, text, other, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) >= len(text) - 4
