"""The server of one's own: it is there when it is asked for, ends with its users, and is nobody else's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.contracts.contract import uuid
from tests.postgres_server import PostgresServer, stop_server
from unified_state.errors import StorageError
from unified_state.team.postgres.postgres_store import open_postgres

ROOT = Path(__file__).parents[3]
PROGRAM = """
import sys
from unified_state.model.history_records import HistoryQuery
from tests.contracts.contract import step
from unified_state.team.postgres.postgres_store import open_postgres
with open_postgres(sys.argv[1], "p", organisation="mine", member="ada") as store:
    print(store.append([step(1, "swordfish")]), store.vectors.can_be_kept)
    print(store.search(HistoryQuery("swordfish"))[0].step.uuid, flush=True)
    sys.stdin.readline()
"""
NEW, KNOWN = f"1 True\n{uuid(1)}\n", f"0 True\n{uuid(1)}\n"
PATIENCE = 60  # seconds

Use = Callable[..., subprocess.Popen[str]]


@pytest.fixture(scope="module")
def folders(postgres: PostgresServer) -> Iterator[Callable[[str], Path]]:
    """Where servers may lie: in short paths, since a socket's cannot be long; each in a folder that is its owner's."""
    made: list[Path] = []

    def make(name: str) -> Path:
        private = postgres.folder.parent / f"{name}-{os.getpid()}"
        private.mkdir(mode=0o700, exist_ok=True)
        made.append(private / "pg")
        return private / "pg"

    yield make
    for folder in made:
        stop_server(folder)


@pytest.fixture
def new(folders: Callable[[str], Path], request: pytest.FixtureRequest) -> Path:
    """Where no server was made yet."""
    return folders(request.node.name[-20:])


@pytest.fixture
def known(folders: Callable[[str], Path], use: Use) -> Path:
    """A server that all tests here share; it does not run, and has what a process brings."""
    folder = folders("known")
    if not folder.exists():
        ended(use(folder))
    assert not is_running(folder)
    return folder


@pytest.fixture
def use() -> Iterator[Use]:
    """Starts a process that uses the server until it is told to end."""
    running: list[subprocess.Popen[str]] = []

    def start(folder: Path, **environment: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, f"embedded:{folder}"],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str]) -> str:
    """What a process has printed, after it was told to end."""
    out, err = process.communicate("\n", timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")
    return out


def started(process: subprocess.Popen[str]) -> subprocess.Popen[str]:
    """The process, once it uses the server."""
    assert process.stdout is not None
    for _ in range(2):
        process.stdout.readline()
    return process


def killed(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def is_running(folder: Path) -> bool:
    return (folder / "postmaster.pid").exists()


def test_an_embedded_server_keeps_history_and_ends_with_its_last_user(known: Path, use: Use) -> None:
    first, last = use(known), use(known)
    started(last)
    assert ended(first) == KNOWN
    assert is_running(known)
    ended(last)
    assert not is_running(known)


def test_several_processes_begin_an_embedded_server_at_once(new: Path, use: Use) -> None:
    assert sorted(map(ended, [use(new) for _ in range(3)])) == [KNOWN, KNOWN, NEW]
    assert not is_running(new)


@pytest.mark.parametrize("is_alone", [True, False])
def test_a_killed_user_keeps_the_server_no_longer_than_the_next_one(known: Path, use: Use, is_alone: bool) -> None:
    first = started(use(known))
    if not is_alone:
        last = started(use(known))
    killed(first)
    assert is_running(known)
    if is_alone:
        last = use(known)
    ended(last)
    assert not is_running(known)


def test_a_process_that_has_the_number_of_a_killed_user_does_not_keep_the_server(known: Path, use: Use) -> None:
    users = known / ".handle_pids.json"
    users.write_text(f"[{os.getpid()}]")
    os.utime(users, (1, 1))  # this process is younger
    ended(use(known))
    assert not is_running(known)


@pytest.mark.parametrize("left", [f"{os.getppid()}\n/elsewhere\n1\n5432\n\n\n\nready\n", "1234567\n/elsewhere\n", ""])
def test_what_a_crash_of_the_machine_left_of_the_server_s_process_does_not_keep_it_from_starting(
    known: Path, use: Use, left: str
) -> None:
    (known / "postmaster.pid").write_text(left)
    assert ended(use(known)) == KNOWN


def test_a_server_that_was_killed_while_it_was_made_is_made_anew(new: Path, use: Use) -> None:
    process = use(new)
    made = new.parent / "pg.making" / "PG_VERSION"
    end = time.monotonic() + PATIENCE
    while not made.exists() and time.monotonic() < end:
        time.sleep(0.001)
    killed(process)
    assert made.exists()
    assert ended(use(new)) == NEW


def test_no_environment_leads_away_from_it(known: Path, use: Use) -> None:
    names = ("PGHOST", "PGHOSTADDR", "PGDATABASE", "PGUSER", "PGOPTIONS")
    odd = started(use(known, PGPORT="5433", **dict.fromkeys(names, "127.0.0.9")))
    assert ended(use(known)) == KNOWN
    ended(odd)


def test_its_folder_may_have_a_name_that_means_something_in_a_dsn(folders: Callable[[str], Path], use: Use) -> None:
    assert ended(use(folders("a=b%20ü"))) == NEW


@pytest.mark.parametrize("name", ["a b", "a'b", "a&b", "a$b"])
def test_a_folder_that_its_package_cannot_take_is_refused_before_anything_is_made(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name / "pg"
    with pytest.raises(StorageError, match="space, quote or sign of a shell") as raised:
        open_postgres(f"embedded:{folder}", "p", organisation="mine", member="ada")
    assert "embedded:/" in raised.value.hint
    assert not folder.parent.exists()


def test_its_socket_is_its_owner_s_and_no_folder_above_it_opens(known: Path, use: Use) -> None:
    process = started(use(known))
    assert (known / ".s.PGSQL.5432").stat().st_mode & 0o077 == 0
    assert known.stat().st_mode & 0o077 == 0
    assert known.parent.stat().st_mode & 0o066 == 0  # the server's user, where it is another one, may pass through
    ended(process)


def test_one_that_cannot_start_says_why_in_one_line(known: Path, use: Use, capfd: pytest.CaptureFixture[str]) -> None:
    settings = known / "postgresql.auto.conf"
    whole = settings.read_text()
    settings.write_text(f"{whole}max_connections = -1\n")
    with pytest.raises(StorageError, match=r"does not start: .*FATAL: configuration file") as raised:
        open_postgres(f"embedded:{known}", "p", organisation="mine", member="ada")
    settings.write_text(whole)
    assert str(known / "log") in raised.value.hint
    assert "\n" not in str(raised.value)
    assert capfd.readouterr() == ("", "")
