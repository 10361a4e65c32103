"""For all tests: a home of their own, and nothing of the machine's environment."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.amount import QUICK, amount
from tests.groups import comes_first, mark
from tests.memory_disk import memory_disk
from tests.passwd import need_own_passwd, set_home
from tests.postgres_kinds import BUNDLED, programs_of
from tests.postgres_server import PostgresServer, end_of_run, note_folder, shared_server

# A machine that is busy makes any example late, and no test asserts a time: benchmarks measure.
settings.register_profile("untimed", deadline=None, max_examples=amount(100, 25))
settings.register_profile("quick", deadline=None, max_examples=QUICK)  # for `make check`
settings.load_profile("untimed")

pytest_plugins = ["tests.fixtures.workspaces"]

_KEPT = ("PATH", "SYSTEMROOT", "UNIFIED_STATE_REAL_CLIENT", "UNIFIED_STATE_TEST_FULL")
_KEPT_PREFIXES = ("PYTEST", "UNIFIED_STATE_REQUIRE_")


def pytest_addoption(parser: pytest.Parser) -> None:
    """How much is tried of what takes long."""
    parser.addoption(
        "--damages", type=int, default=amount(300, 100), help="how many damaged bytes to try (the whole run: 10000)"
    )
    kills = "how many processes to kill between prompt and restore (the whole run: 1000)"
    parser.addoption("--kills", type=int, default=amount(100, 10), help=kills)


def pytest_configure(config: pytest.Config) -> None:
    """Tell all workers of this run where its files lie, and its PostgreSQL server, should one be started."""
    if not hasattr(config, "workerinput"):
        if disk := memory_disk():
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", disk)
        note_folder()


def pytest_unconfigure(config: pytest.Config) -> None:
    """End that server."""
    if not hasattr(config, "workerinput"):
        end_of_run()


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> PostgresServer:
    """The PostgreSQL server of this run; a test that is `on_every_server` has one of each kind."""
    kind = getattr(request, "param", BUNDLED)
    return shared_server(programs_of(kind))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark a test by its folder."""
    mark(item)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the long ones first; otherwise the order stays the random one."""
    items.sort(key=lambda item: not comes_first(item))


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Iterator[Path]]:
    """Paths for the homes of this worker's tests, in an environment without anything of the user's."""
    folder = tmp_path_factory.mktemp("homes")
    config = folder / "gitconfig"
    config.write_text("[user]\n\tname = Tester\n\temail = tester@example.invalid\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name not in _KEPT and not name.startswith(_KEPT_PREFIXES):
                patch.delenv(name)
        patch.setenv("HOME", str(folder / "nobody"))
        patch.setenv("LANG", "C.UTF-8")
        patch.setenv("TZ", "UTC")
        time.tzset()
        patch.setenv("GIT_CONFIG_GLOBAL", str(config))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        yield (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def home(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home and a clean environment: no test ever meets the user's own files or settings.

    Not by `tmp_path`, which reads the folder of all tests before it makes one.
    """
    folder = next(homes)
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("HOME", str(folder))
    set_home(folder)
    scratch = folder.with_name(f"{folder.name}-tmp")
    scratch.mkdir(mode=0o700)
    monkeypatch.setenv("TMPDIR", str(scratch))
    return folder


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of the ways that hooks and status line take only where no variable of ours is in the environment."""
    for name in [name for name in os.environ if name.startswith("UNIFIED_STATE_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def own_passwd() -> None:
    """For tests whose settings file says what counts only in a home that the password database has."""
    need_own_passwd()


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., str]:
    """Run git in the test's repository."""

    def run(*arguments: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=cwd or tmp_path / "repository", check=True, capture_output=True, text=True
        )
        return done.stdout

    return run


@pytest.fixture(scope="session")
def committed(tmp_path_factory: pytest.TempPathFactory, homes: Iterator[Path]) -> Path:
    """A git repository with one commit, which the tests of this worker copy: that takes a tenth of making it."""
    folder = tmp_path_factory.mktemp("committed")
    (folder / "a.py").write_text("print(1)\n", encoding="utf-8")
    for command in (["init", "--initial-branch", "main"], ["add", "."], ["commit", "--message", "first commit"]):
        subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True)
    for sample in (folder / ".git" / "hooks").glob("*.sample"):
        sample.unlink()
    return folder


@pytest.fixture
def repository(tmp_path: Path, committed: Path) -> Path:
    """A git repository with one commit."""
    return shutil.copytree(committed, tmp_path / "repository")


@pytest.fixture
def alarm() -> Iterator[None]:
    """Ends a test that would compute for ever, or wait: after 5 seconds of its own, or a minute of a busy machine."""
    timers = {signal.ITIMER_PROF: (signal.SIGPROF, 5), signal.ITIMER_REAL: (signal.SIGALRM, 60)}
    before = {number: signal.signal(number, lambda *_: pytest.fail("it hangs")) for number, _ in timers.values()}
    for timer, (_, seconds) in timers.items():
        signal.setitimer(timer, seconds)
    yield
    for timer in timers:
        signal.setitimer(timer, 0)
    for number, handler in before.items():
        signal.signal(number, handler)
