"""Which reminders are about a call, and the one line for the model."""

from __future__ import annotations

import pytest

from unified_state.context.reminders.rules.match_call import BEGINNING, about_command, about_file, reminder_line
from unified_state.lib.identifiers import relative_path
from unified_state.lib.shell.shell_commands import command_key
from unified_state.lib.text import text_hash
from unified_state.model.reminder import Reminder

ROOT = "/home/ada/shop"


def failed(command: str, root: str = ROOT) -> Reminder:
    key = command_key(command)
    return Reminder("E1", "it failed", root=root, begin=key[:BEGINNING], digest=text_hash(key))


def is_about_command(reminder: Reminder, command: str) -> bool:
    found = about_command([reminder], command, {ROOT}, lambda text: text_hash(command_key(text)))
    return found == [reminder]


def is_about_file(named: str, path: str, *, exists: bool = False, root: str = ROOT) -> bool:
    inner = relative_path(path, root)
    relative = {inner} if inner != path else set()
    return about_file([Reminder("D1", "text", files=(named,))], relative, {path}, lambda _path: exists) != []


@pytest.mark.parametrize("command", ["go test ./...", "go  test\n ./...", "go test ./... 2>&1"])
def test_a_command_is_found_however_it_is_spaced_and_redirected(command: str) -> None:
    assert is_about_command(failed("go test ./..."), command)
    assert is_about_command(failed(command), "go test ./...")


@pytest.mark.parametrize("command", ["go test", "go test ./... -v", "echo go test ./...", ""])
def test_another_command_is_not_found(command: str) -> None:
    assert not is_about_command(failed("go test ./..."), command)


def test_a_command_that_differs_far_behind_is_not_found() -> None:
    assert not is_about_command(failed("x" * 100 + " a"), "x" * 100 + " b")


def test_a_command_that_failed_in_another_worktree_is_not_found() -> None:
    assert not is_about_command(failed("make", root="/home/ada/other"), "make")


def test_the_digest_is_computed_only_for_a_command_that_begins_alike() -> None:
    def refuse(_command: str) -> str:
        raise AssertionError

    assert about_command([failed("go test ./...")], "npm test", {ROOT}, refuse) == []


@pytest.mark.parametrize(
    ("named", "path"),
    [
        ("src/pool.py", f"{ROOT}/src/pool.py"),
        ("pool.py", f"{ROOT}/src/pool.py"),
        ("源码/连接池.py", f"{ROOT}/源码/连接池.py"),
        ("连接池.py", f"{ROOT}/源码/连接池.py"),
        ("my notes/a b.md", f"{ROOT}/my notes/a b.md"),
        ("/etc/hosts", "/etc/hosts"),
    ],
)
def test_a_file_is_found_by_its_path_or_the_end_of_it(named: str, path: str) -> None:
    assert is_about_file(named, path)


@pytest.mark.parametrize(
    ("named", "path"),
    [
        ("src/pool.py", f"{ROOT}/src/carpool.py"),
        ("pool.py", f"{ROOT}/src/carpool.py"),
        ("other/pool.py", f"{ROOT}/src/pool.py"),
        ("pool.py", "/elsewhere/src/pool.py"),
    ],
)
def test_another_file_is_not_found(named: str, path: str) -> None:
    assert not is_about_file(named, path)


def test_a_name_that_the_worktree_has_at_its_top_is_not_the_file_of_that_name_in_a_folder() -> None:
    assert is_about_file("README.md", f"{ROOT}/README.md", exists=True)
    assert not is_about_file("README.md", f"{ROOT}/docs/README.md", exists=True)


@pytest.mark.parametrize("path", ["C:\\Shop\\src\\pool.py", "c:\\shop\\src\\pool.py", "C:/Shop/src/pool.py"])
def test_a_path_of_windows_is_found(path: str) -> None:
    assert is_about_file("src/pool.py", path, root="C:\\Shop")


def test_the_line_has_the_first_in_full_and_at_most_six_refs_more() -> None:
    found = [Reminder(f"D{number}", f"text {number}.") for number in range(9)]
    assert reminder_line(found[:1]) == "[BEFORE THIS CALL] text 0."
    assert reminder_line(found) == (
        "[BEFORE THIS CALL] text 0. Also about it: D1, D2, D3, D4, D5, D6; `unified-state show REF` prints one."
    )
