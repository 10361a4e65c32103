"""A damaged archive is never begun anew in silence: it is set aside whole, that is said, what the state file and the
transcripts hold comes back from them, and no id is ever given twice.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from .product import Done, Project
from .reading import kept, said
from .transcripts import Transcript

PAGE = 4096
WAYS: dict[str, Callable[[Project, str], Done]] = {
    "decision add": lambda project, _: project.run("decision", "add", "another one", "--rationale", "r"),
    "PreCompact": lambda project, path: project.hook("PreCompact", transcript_path=path, trigger="auto"),
    "SessionStart": lambda project, path: project.hook("SessionStart", "brief", transcript_path=path, source="compact"),
    "export": lambda project, _: project.run("export"),
}


class Victim:
    """A project with items and an archived session, whose archive is damaged again and again."""

    def __init__(self, project: Project, path: Path) -> None:
        self.project, self.path, self.written = project, path, _session()
        self.written.write(path)
        for number in range(6):
            project.decide(f"Decision {number}")
        project.ask("constraint", "add", "API v1 stays", "--source", "user", "--blocking")
        project.ask("question", "add", "Which port?", "--context", "8080 is taken", "--priority", "high")
        assert project.hook("PreCompact", transcript_path=str(path), trigger="auto").code == 0
        self.ids = self.shown()
        self.whole = project.archive.read_bytes()
        self._folder = project.archive.parent
        self._before = project.folder.parent / "before"
        for source, name in ((self._folder, "archive"), (project.state_path.parent, "state")):
            shutil.copytree(source, self._before / name)

    def damage(self, raw: bytes) -> None:
        """All as it was at first, but for the archive."""
        for folder, name in ((self._folder, "archive"), (self.project.state_path.parent, "state")):
            shutil.rmtree(folder)
            shutil.copytree(self._before / name, folder)
        self.project.archive.write_bytes(raw)
        log = self.project.data / "hook.log"
        log.unlink(missing_ok=True)

    def shown(self) -> set[str]:
        """The ids of all items in the state file."""
        sections = [value for value in self.project.state().values() if isinstance(value, list)]
        return {entry["id"] for section in sections for entry in section}

    def set_aside(self) -> list[bytes]:
        """The archives that were set aside."""
        return [path.read_bytes() for path in self._folder.glob("archive.damaged-*.db")]


@pytest.fixture
def victim(project: Project, tmp_path: Path) -> Victim:
    """A project whose archive can be damaged."""
    return Victim(project, tmp_path / "s.jsonl")


@pytest.mark.parametrize("way", WAYS)
def test_damaged_archives_are_set_aside_and_said_and_no_item_is_lost(victim: Victim, way: str) -> None:
    cases = list(_damaged(victim.whole).items())[list(WAYS).index(way) :: len(WAYS)]
    wrong = {name: problem for name, raw in cases if (problem := _problem(victim, way, raw))}
    assert wrong == {}


def test_a_lost_archive_is_begun_anew_with_what_the_state_file_shows_under_the_same_ids(victim: Victim) -> None:
    """The data folder was deleted, or the project came to another machine: nothing tells of damage."""
    victim.project.archive.unlink()
    before = {name: value for name, value in victim.project.state().items() if isinstance(value, list)}
    assert victim.project.decide("after") == "D7"
    after = {name: value for name, value in victim.project.state().items() if isinstance(value, list)}
    assert [entry["id"] for entry in after["decisions"][:-1]] == [entry["id"] for entry in before["decisions"]]
    assert victim.shown() == victim.ids | {"D7"}


def test_a_transaction_whose_journal_was_deleted_is_found_out(victim: Victim) -> None:
    """Half a transaction without its journal is how a clean-up tool or a copy of only the .db file damages one."""
    half = victim.project.archive
    with closing(sqlite3.connect(half, isolation_level=None)) as archive:
        archive.execute("PRAGMA cache_size = 1")
        archive.execute("BEGIN")
        columns = "turn, uuid, block, kind, at, body"
        more = "SELECT turn, randomblob(16), 0, kind, at, randomblob(3000) FROM step"
        archive.execute(f"INSERT INTO step ({columns}) {more}")
        archive.execute("DELETE FROM step WHERE id % 2")
        raw = half.read_bytes()
        archive.execute("ROLLBACK")
    assert raw != victim.whole
    assert _problem(victim, "PreCompact", raw) is None


@pytest.mark.parametrize("begin", [0, 2 * PAGE], ids=["nothing can be read", "the numbers can be read"])
def test_what_only_stands_in_for_what_was_lost_is_not_counted(victim: Victim, begin: int) -> None:
    project, path = victim.project, str(victim.path)
    whole = _counts(project)
    victim.damage(victim.whole[:begin] + b"garbage" * (len(victim.whole) // 7))
    assert project.run("decision", "add", "after", "--rationale", "r").code == 0
    assert victim.set_aside()
    assert _counts(project) == dict.fromkeys(whole, 0)
    assert "turns are kept" not in project.run("load").out
    assert project.hook("PreCompact", transcript_path=path, trigger="auto").code == 0
    assert _counts(project) == whole
    assert f"[ARCHIVE] {whole['turns']} turns and " in project.run("load").out


def test_many_that_find_the_damage_at_once_set_it_aside_once(victim: Victim) -> None:
    victim.damage(b"garbage" * 10_000)
    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(lambda n: victim.project.decide(f"at once {n}"), range(8)))
    assert len(set(ids)) == 8
    assert victim.set_aside() == [b"garbage" * 10_000]
    assert victim.ids | set(ids) <= {
        item["id"] for kind in ("decision", "constraint", "question") for item in victim.project.ask(kind, "list")
    }


def _damaged(whole: bytes) -> dict[str, bytes]:
    """An archive as crashes, disks and people leave it. What a single byte does, `one_byte.py` tries."""
    last = len(whole) // PAGE - 1
    empty_pages = {f"page {n} NUL": whole[: n * PAGE] + bytes(PAGE) + whole[(n + 1) * PAGE :] for n in (0, 1, 5, last)}
    return {
        "empty": b"",
        "all NUL": bytes(len(whole)),
        "a text": b"this was an archive\n",
        "the header alone": whole[:100],
        "another header": b"x" * 100 + whole[100:],
        "cut within a page": whole[: len(whole) // 2 + 7],
        "cut behind a page": whole[: 3 * PAGE],
        **empty_pages,
    }


def _counts(project: Project) -> dict[str, int]:
    """What `status` counts of the history."""
    status = project.ask("status")
    return {name: status[name] for name in ("turns", "steps", "compactions")}


def _session() -> Transcript:
    written = Transcript("s")
    for number in range(16):
        written.turn(number, size=6000)
    return written


def _problem(victim: Victim, way: str, raw: bytes) -> str | None:
    """The first thing that goes wrong with one damaged archive; None where all is as it should be."""
    return next(_problems(victim, way, raw), None)


def _problems(victim: Victim, way: str, raw: bytes) -> Iterator[str]:
    project, path = victim.project, str(victim.path)
    victim.damage(raw)
    runs = [way(project, path) for way in (WAYS[way], WAYS["decision add"], WAYS["export"], WAYS["PreCompact"])]
    runs += [project.run("export")]
    if any(done.code for done in runs):
        yield f"exit {[done.code for done in runs]}: {''.join(done.err for done in runs)}"
    given = {done.out.strip() for done in runs if done.out.startswith("D")}
    if given & victim.ids:
        yield f"{given & victim.ids} were given twice"
    if not victim.shown() >= victim.ids | given:
        yield f"only {sorted(victim.shown())} came back"
    noticed = victim.set_aside()
    if noticed and len(noticed[0]) < len(raw):
        yield "what was set aside is not all that there was"
    if noticed and "set aside" not in "".join(done.err for done in runs) + project.log():
        yield "nothing was said"
    if kept(project.export("s")) != said(victim.written.content):
        yield "the session did not come back"
