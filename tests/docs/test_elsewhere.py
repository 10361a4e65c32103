"""The examples print the same for another user, on another day, in another time zone and language.

What the pages show was printed on one machine on one day. Here they run in processes whose clock, time zone, locale,
user name and home are others. The clock (`clock.c`) and the locale are compiled here. Where a compiler is missing the
tests skip and say how to install it; with UNIFIED_STATE_REQUIRE_ELSEWHERE=1, as in continuous integration, that is a
failure.
"""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.amount import some
from tests.compiled import compile_with, shared_library
from tests.docs.pages import PAGES, ROOT, blocks, name_of

_CLOCK = Path(__file__).with_name("clock.c")
_MOMENT = dt.datetime(2031, 12, 31, 23, 30, tzinfo=dt.UTC)  # no digit group as on any page; a year ends
_ZONE, _LOCALE, _USER = "Pacific/Kiritimati", "tr_TR.UTF-8", "grace"  # there it is the next year already
WITH_EXAMPLES = [
    page
    for page in PAGES
    if any(block.kind in {"console", "python"} for block in blocks(page.read_text(encoding="utf-8")))
]


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the clock and the locale in it."""
    folder = tmp_path_factory.mktemp("elsewhere")
    language, _, charset = _LOCALE.partition(".")
    shared_library(_CLOCK, folder)
    compile_with("localedef", "locales", "--no-archive", "-i", language, "-f", charset, str(folder / _LOCALE))
    return folder


@pytest.fixture
def elsewhere(tmp_path: Path, compiled: Path) -> dict[str, str]:
    """The environment of a process in that world."""
    home = tmp_path / _USER
    home.mkdir()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(home),
        "USER": _USER,
        "LOGNAME": _USER,
        "TZ": _ZONE,
        "LC_ALL": _LOCALE,
        "LANGUAGE": _LOCALE[:2],
        "LOCPATH": str(compiled),
        "LD_PRELOAD": str(compiled / "clock.so"),
        "CLOCK_OFFSET": str(int(_MOMENT.timestamp() - time.time())),
    }


def python(elsewhere: dict[str, str], *arguments: str) -> str:
    """What a Python process of that world prints; it fails if that does."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=elsewhere, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_there_the_day_the_time_zone_the_language_and_the_user_are_others(elsewhere: dict[str, str]) -> None:
    code = """if True:
        import getpass, locale, subprocess, time
        locale.setlocale(locale.LC_ALL, "")
        date = subprocess.run(["date", "-u", "+%F"], capture_output=True, text=True, check=True).stdout.strip()
        print(time.strftime("%Y-%m-%d"), date, locale.getlocale()[0], getpass.getuser(), time.strftime("%B"))
    """
    local, utc, language, user, month = python(elsewhere, "-c", code).split()
    assert (local, utc) == ("2032-01-01", "2031-12-31")
    assert (language, user, month) == ("tr_TR", _USER, "Ocak")


@pytest.mark.parametrize("page", some(WITH_EXAMPLES, 11), ids=name_of)
def test_there_the_examples_print_what_is_shown(page: Path, elsewhere: dict[str, str]) -> None:
    python(elsewhere, "-m", "tests.docs.examples", "--check", name_of(page))


def test_there_the_same_is_generated(elsewhere: dict[str, str]) -> None:
    python(elsewhere, "-m", "tests.tools.make_reference", "--check")


def test_there_an_archive_knows_what_an_insert_changed(elsewhere: dict[str, str]) -> None:
    code = """if True:
        import os
        from unified_state.archive.archive import Archive
        with Archive(os.path.expanduser("~/archive.db")) as archive:
            insert = "INSERT OR IGNORE INTO meta VALUES ('a', 'b')"
            print(archive.run(insert), archive.run(insert))
    """
    assert python(elsewhere, "-c", code).split() == ["1", "0"]
