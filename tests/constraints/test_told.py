"""Which recorded facts are about a call, and the one line for the model."""

from __future__ import annotations

from pathlib import Path

import pytest

from unified_state.archive.archive import Archive
from unified_state.constraints.check_call import Locator
from unified_state.constraints.compile_told import ToldCompiler
from unified_state.constraints.rules.judge_call import Judge
from unified_state.constraints.told_once import told_line
from unified_state.lib.shell.shell_commands import command_key
from unified_state.lib.text import text_hash
from unified_state.model.constraint import SHELL_TOOL, TELL, USER_SAID, EnforcedRow

ROOT = "/home/ada/shop"


def row(ref: str = "D1", text: str = "it failed") -> EnforcedRow:
    return EnforcedRow(ref, text, "", USER_SAID, "2026-01-01T00:00:00Z", TELL, TELL)


def failed(command: str, root: str = ROOT) -> EnforcedRow:
    return row("E1").replace(tools=(SHELL_TOOL,), root=root, digest=text_hash(command_key(command)))


def is_about_command(told: EnforcedRow, command: str) -> bool:
    locate = Locator(ROOT, ROOT, folds_case=False).forms
    return Judge(SHELL_TOOL, {"command": command}, locate, {ROOT}).about([told]) == [told]


@pytest.mark.parametrize("command", ["go test ./...", "go  test\n ./...", "go test ./... 2>&1"])
def test_a_command_is_found_however_it_is_spaced_and_redirected(command: str) -> None:
    assert is_about_command(failed("go test ./..."), command)
    assert is_about_command(failed(command), "go test ./...")


@pytest.mark.parametrize("command", ["go test", "go test ./... -v", "echo go test ./...", ""])
def test_another_command_is_not_found(command: str) -> None:
    assert not is_about_command(failed("go test ./..."), command)


def test_a_command_that_failed_in_another_worktree_is_not_found() -> None:
    assert not is_about_command(failed("make", root="/home/ada/other"), "make")


def is_about_file(archive: Archive, worktree: Path, named: str, tool: str = "Edit", **given: str) -> bool:
    told = row().replace(paths=(ToldCompiler(archive, str(worktree))._pattern(named),))
    locate = Locator(str(worktree), str(worktree), folds_case=False).forms
    return Judge(tool, given, locate).about([told]) == [told]


@pytest.mark.parametrize(
    ("named", "path"),
    [
        ("src/pool.py", "src/pool.py"),
        ("src/pool.py", "services/src/pool.py"),
        ("pool.py", "src/pool.py"),
        ("src\\pool.py", "src/pool.py"),
        ("源码/连接池.py", "源码/连接池.py"),
        ("连接池.py", "源码/连接池.py"),
        ("my notes/a b.md", "my notes/a b.md"),
        ("/etc/hosts", "/etc/hosts"),
    ],
)
def test_a_file_is_found_by_its_path_or_the_end_of_it(archive: Archive, tmp_path: Path, named: str, path: str) -> None:
    assert is_about_file(archive, tmp_path, named, file_path=path)
    assert is_about_file(archive, tmp_path, named, file_path=str(tmp_path / path))


@pytest.mark.parametrize(
    ("named", "path"),
    [
        ("src/pool.py", "src/carpool.py"),
        ("pool.py", "src/carpool.py"),
        ("other/pool.py", "src/pool.py"),
        ("pool.py", "/elsewhere/src/pool.py"),
    ],
)
def test_another_file_is_not_found(archive: Archive, tmp_path: Path, named: str, path: str) -> None:
    assert not is_about_file(archive, tmp_path, named, file_path=path)


def test_a_name_that_the_worktree_has_at_its_top_is_not_the_file_of_that_name_in_a_folder(
    archive: Archive, tmp_path: Path
) -> None:
    (tmp_path / "README.md").touch()
    assert is_about_file(archive, tmp_path, "README.md", file_path="README.md")
    assert not is_about_file(archive, tmp_path, "README.md", file_path="docs/README.md")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("sed -i s/a/b/ src/pool.py", True),
        ("cat src/pool.py", False),
        (f"{'$(' * 500}sed -i s/a/b/ src/pool.py{')' * 500}", False),  # too deep to be read
    ],
)
def test_a_command_that_changes_the_file_is_found(
    archive: Archive, tmp_path: Path, command: str, *, expected: bool
) -> None:
    assert is_about_file(archive, tmp_path, "src/pool.py", SHELL_TOOL, command=command) == expected


def test_the_line_has_the_first_in_full_and_at_most_six_refs_more() -> None:
    found = [row(f"D{number}", f"text {number}.") for number in range(9)]
    assert told_line(found[:1]) == "[BEFORE THIS CALL] text 0."
    assert told_line(found) == (
        "[BEFORE THIS CALL] text 0. Also about it: D1, D2, D3, D4, D5, D6; `unified-state show REF` prints one."
    )
