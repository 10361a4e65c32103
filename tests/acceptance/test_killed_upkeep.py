"""Promise 1 under kill -9 and loss of power while the archive is changed as a whole: `prune`, `forget`, a migration,
and `install` over an earlier version. Done again, each ends as if nothing had happened.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Callable
from difflib import unified_diff
from pathlib import Path

import pytest

from tests.amount import amount
from tests.compiled import shared_library

from .power_loss import Struck
from .product import Project, all_bytes, archive_is_whole
from .transcripts import Transcript

KILLS, LOSSES = amount(20, 5), amount(12, 3)  # of each command
SEED = 20_261_123
_CHANGING = re.compile(r"nonce=\w+")
# No other word begins like them, and none is shortened to its stem, so that an index holds them whole.
WORD, OLD_WORD = "xzvquixoticmauk", "zjkwmarmalok"


# Commands that share a process.
LISTS = """
from unified_state.interfaces.cli.main import run
print([run(command) for command in (["export"], ["export", "--items"], ["validate"])])
"""


@pytest.fixture
def worked_in(project: Project, tmp_path: Path) -> Project:
    """A project with a session from long ago, and one in which a word was said."""
    old = Transcript("old")
    for number in range(12):
        old.turn(number, size=3_000)
        old.text(f"The {OLD_WORD} is {number}.")
    old.lines = [line.replace(b'"2026-11-21T', b'"2026-03-01T') for line in old.lines]
    written = Transcript("s", cwd=str(project.folder))
    for number in range(12):
        written.turn(number, size=3_000)
        written.call("Read", {"file_path": str(project.folder / "a.py")}, "print(1)")
    written.prompt(f"tell me of {WORD}")
    written.call("Bash", {"command": f"grep {WORD}"}, f"{WORD} " * 200)
    written.text(f"So: {WORD}.")
    assert project.run("install").code == 0
    for transcript in (old, written):
        project.keep(transcript, tmp_path / f"{transcript.session_id}.jsonl")
    project.decide("kept")
    return project


@pytest.fixture
def struck(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Struck]:
    """The folder of the test, once all is in it."""
    return lambda: Struck(
        tmp_path, shared_library(Path(__file__).with_name("disk_log.c"), tmp_path_factory.mktemp("log"))
    )


@pytest.mark.parametrize("what", [("--match", WORD), ("T25",)])
def test_a_forget_that_is_struck_is_complete_after_the_next_one_and_nothing_comes_back(
    worked_in: Project, tmp_path: Path, struck: Callable[[], Struck], what: tuple[str, ...]
) -> None:
    if len(what) > 1:
        worked_in.decide(f"decide on {WORD}")
        assert worked_in.run("save", "--highlight", f"saw {WORD}").code == 0
    assert WORD in json.dumps(worked_in.ask("show", "T25"))

    def check(*, returned: bool) -> None:
        if returned:
            assert WORD not in worked_in.run("export").out
        again = worked_in.at_terminal("forget", *what, "--yes")
        assert again.code == 0 or "there is nothing to forget" in again.err
        assert worked_in.hook("PreCompact", transcript_path=str(tmp_path / "s.jsonl")).code == 0
        assert WORD.encode() not in all_bytes([worked_in.data, worked_in.folder / ".claude"])

    _strike(worked_in, struck(), ("forget", *what, "--yes"), check)


def test_a_prune_that_is_struck_is_complete_after_the_next_one(
    worked_in: Project, struck: Callable[[], Struck]
) -> None:
    command = ("forget", "--older-than", "2026-04-01", "--yes")

    def check(*, returned: bool) -> None:
        if returned:
            assert worked_in.export("old") == []
        assert worked_in.at_terminal(*command).code == 0
        assert OLD_WORD.encode() not in all_bytes([worked_in.data])

    _strike(worked_in, struck(), command, check)


def _strike(project: Project, struck: Struck, command: tuple[str, ...], check: Callable[..., None]) -> None:
    """Run a command to its end, killed at points of its work, and before losses of power; check each time."""
    chance = random.Random(f"{SEED}/{command}")
    assert _under(struck.prefix(), project).at_terminal(*command).code == 0
    struck.record()
    clean = _outcome(project)
    for at in _points(KILLS, len(struck.changes), chance):
        struck.restore()
        assert _under(struck.prefix(at), project).at_terminal(*command).code in {-9, 0}
        _check(project, clean, check, f"killed at {at}", returned=False)
    for at in (*_points(LOSSES - 1, len(struck.changes), chance), len(struck.changes)):
        struck.lose_power(at, chance)
        _check(project, clean, check, f"no power after {at}", returned=at == len(struck.changes))
    assert _is_healthy(project)


def _points(number: int, last: int, chance: random.Random) -> list[int]:
    """Numbers of changes, one in each part of all of them."""
    return [1 + int((part + chance.random()) * last / number) for part in range(number)]


def _check(project: Project, clean: list[str], check: Callable[..., None], what: str, *, returned: bool) -> None:
    assert all(map(archive_is_whole, project.archives)), what
    check(returned=returned)
    different = "\n".join(unified_diff(clean, _outcome(project), n=0))
    assert not different, f"{what}: {different}"
    assert all(map(archive_is_whole, project.archives)), what


def _under(prefix: list[str], project: Project) -> Project:
    return Project(project.folder, project.home, prefix)


def _outcome(project: Project) -> list[str]:
    """What the project is like, line by line."""
    settings = project.folder / ".claude" / "settings.local.json"
    lists = project.execute([sys.executable, "-c", LISTS], "", {})
    assert lists.out.endswith("[0, 0, 0]\n"), lists
    restored = project.hook("SessionStart", "working_set", source="compact").out.replace("\\n", "\n")
    text = f"{lists.out}\n{restored}\n{settings.read_text(encoding='utf-8')}"
    return _CHANGING.sub("", text).splitlines()


def _is_healthy(project: Project) -> bool:
    checks = json.loads(project.run("doctor", "--json").out)
    return all(check["ok"] or check["name"].startswith("hooks") for check in checks)
