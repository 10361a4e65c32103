"""The generation of an archive: what ends it, and that no note of silence outlives something to be told."""

from __future__ import annotations

import ast
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.builders import item
from unified_state.archive.archive import Archive
from unified_state.archive.sessions import touch_session, waiting_for_prompt
from unified_state.hosts.generation import GENERATION, drop_quiet, ends_generation, note_quiet, quiet_path
from unified_state.ledger.item_table import insert_item
from unified_state.restore.restore_table import know_news, last_news

PACKAGE = Path(__file__).parents[2] / "unified_state"
CLASSIFIED = Path(__file__).with_name("writing_statements.txt")
OF_EXTRAS = Path(__file__).parents[1] / "extras" / "writing_statements.txt"
VERBS = ("INSERT", "UPDATE", "DELETE", "REPLACE")
ELSEWHERE = (
    "extras/team/postgres/",
    "archive/journalled_archive.py",
    "archive/schema/",
)  # a server's, a journal's, triggers
LENGTH = 100


def statements() -> Iterator[str]:
    """Every SQL statement of the package that writes to the archive; `{}` stands for what is put in."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).as_posix().startswith(ELSEWHERE):
            continue
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in nodes:
            text = " ".join(_text(node).split()) if id(node) not in parts else ""
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "insert":
                text = f"INSERT INTO {table}" if (table := _text(node.args[0])) else ""
            if text.startswith(VERBS) and len(text.split()) > 1:
                yield text[:LENGTH].rstrip()


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def test_every_statement_that_writes_is_known_to_end_the_generation_or_not_to() -> None:
    files = [path for path in (CLASSIFIED, OF_EXTRAS) if path.exists()]
    lines = [line for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    known = {statement: ends for ends, _, statement in (line.partition(" ") for line in lines)}
    assert sorted(set(statements())) == sorted(known)  # a new one: say whether a session may be told what it writes
    told = {statement: "ends" if ends_generation(statement) else "plain" for statement in known}
    by_table = {statement for statement, ends in known.items() if ends == "table"}  # what is put in is its table
    assert all("{}" in statement for statement in by_table)
    assert {one: told[one] for one in known if one not in by_table} == {
        one: ends for one, ends in known.items() if one not in by_table
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "repositories" / "an-id"
    folder.mkdir(parents=True, mode=0o700)
    return tmp_path


def archive_of(data: Path) -> Archive:
    return Archive(str(data / "repositories" / "an-id" / "archive.db"), seconds=30)


def is_silent(data: Path, session_id: str) -> bool:
    """What the gate asks."""
    try:
        name, noted = Path(quiet_path(str(data), session_id)).read_text(encoding="ascii").splitlines()
        present = (data / "repositories" / name / GENERATION).read_text(encoding="ascii").rstrip("\n")
    except FileNotFoundError:
        return False
    return noted == present


class Race:
    """Sessions that record, and others that look and note, for some seconds."""

    def __init__(self, data: Path, readers: tuple[str, ...]) -> None:
        self.data, self.readers = data, readers
        self.until = time.monotonic() + 3
        self.wrong: list[str] = []
        self.recorded = 0
        with archive_of(data) as archive, archive.transaction():
            for name in readers:
                touch_session(archive, name, 1)

    def write(self, first: int) -> None:
        with archive_of(self.data) as archive:
            for number in range(first, 1_000_000, 2):
                if time.monotonic() > self.until:
                    return
                with archive.transaction(durable=False):
                    insert_item(archive, item(number).replace(session_id=f"writer-{first}"))
                    newest = last_news(archive)
                self.recorded += 1
                self.check(archive, newest)

    def check(self, archive: Archive, newest: int) -> None:
        """Whatever is committed before the gate is asked is known to a session that it keeps silent."""
        for name in self.readers:
            known = "SELECT news FROM session WHERE session_id = ?"
            if is_silent(self.data, name) and archive.row(known, name)[0] < newest:
                self.wrong.append(name)

    def read(self, name: str) -> None:
        with archive_of(self.data) as archive:
            session = touch_session(archive, name, 1)
            while time.monotonic() < self.until:
                with archive.transaction(durable=False):
                    know_news(archive, session)
                with archive.transaction(durable=False):
                    if not waiting_for_prompt(archive, session)[0]:
                        note_quiet(archive.folder, str(self.data), name)
                time.sleep(0.001)


def test_no_writer_is_between_a_look_and_its_note(data: Path) -> None:
    race = Race(data, ("reader-1", "reader-2"))
    threads = [threading.Thread(target=race.write, args=(first,)) for first in (1, 2)]
    threads += [threading.Thread(target=race.read, args=(name,)) for name in race.readers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert race.wrong == []
    assert race.recorded > 2


def test_a_generation_that_ended_never_comes_back(data: Path) -> None:
    path, seen = data / "repositories" / "an-id" / GENERATION, set()
    with archive_of(data) as archive:
        for number in range(20):
            with archive.transaction():
                note_quiet(archive.folder, str(data), "s")
            seen.add(path.read_text(encoding="ascii"))
            archive.run("INSERT INTO session (session_id) VALUES (?)", f"new-{number}")  # without a transaction, too
            assert not path.exists()
    assert len(seen) == 20


def test_a_transaction_that_is_taken_back_only_ends_the_silence(data: Path) -> None:
    with archive_of(data) as archive:
        with archive.transaction():
            note_quiet(archive.folder, str(data), "s")
        assert is_silent(data, "s")
        with suppress(KeyError), archive.transaction():
            archive.run("DELETE FROM item")
            raise KeyError
        assert not is_silent(data, "s")


def test_plain_steps_end_nothing(data: Path) -> None:
    with archive_of(data) as archive:
        session = touch_session(archive, "s", 1)
        with archive.transaction():
            note_quiet(archive.folder, str(data), "s")
        archive.run("INSERT INTO turn (session, agent, at) VALUES (?, NULL, 2)", session)
        touch_session(archive, "s", 3)
        assert is_silent(data, "s")
        drop_quiet(str(data), "s")
        assert not is_silent(data, "s")


@pytest.mark.parametrize("session_id", ["", "..", "a/b", "a.b", "a b", "ä", "x" * 101, "-"])
def test_an_id_that_is_no_plain_name_has_no_note(data: Path, session_id: str) -> None:
    before = sorted(data.rglob("*"))
    note_quiet(str(data / "repositories" / "an-id"), str(data), session_id)
    drop_quiet(str(data), session_id)
    assert sorted(data.rglob("*")) == before


def test_an_archive_elsewhere_has_no_notes(data: Path) -> None:
    beside = data / ".claude" / "unified-state"
    beside.mkdir(parents=True)
    note_quiet(str(beside), str(data), "s")
    assert not (data / "quiet").exists()
