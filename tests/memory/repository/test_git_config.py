"""The configuration of git is read as git reads it."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from unified_state.memory.repository.git_config import ConfigError, GitConfig, variables

PIECES = (
    '[filter "x"]', '[FILTER "a b"]', "[filter.Y]", "[include]", '[includeIf "gitdir:/"]', "[core]", "[", "]", '"',
    "\\", "\n", "\r\n", "\r", " ", "\t", "clean", "path", "=", " = ", "#", ";", "a", "\u00e9", "\x0c", "\\n", "\\t",
    '\\"', "\\\n", "key-1", ".", '[filter "', "] ", "1", '[filter.a "q"]', '[ "x"]', 'x = "a b"  c # d\n',
    '[filter ""]',
)  # fmt: skip
BEGINNINGS = ('[filter "x"] ', '[filter "x"] clean = ', "[include] path=", "")


def as_git_lists(path: Path) -> list[tuple[str, str | None]] | None:
    """The variables of a file by `git config`; None where git refuses it."""
    command = ["git", "config", "--file", str(path), "--no-includes", "--list", "-z"]
    done = subprocess.run(command, capture_output=True, check=False)
    entries = [entry.partition("\n") for entry in done.stdout.decode().split("\0")[:-1]]
    return [(name, value if equals else None) for name, equals, value in entries] if done.returncode == 0 else None


def as_we_list(path: Path) -> list[tuple[str, str | None]] | None:
    try:
        return list(variables(path.read_bytes().decode()))
    except ConfigError:
        return None


def same_spaces(found: list[tuple[str, str | None]] | None) -> list[tuple[str, str | None]] | None:
    """Versions of git differ in what they make of a tab within a value."""
    spaces = str.maketrans("\t\r", "  ")
    return found and [(name, value and value.translate(spaces)) for name, value in found]


def test_any_file_has_the_variables_that_git_lists_and_is_refused_where_git_refuses_it(tmp_path: Path) -> None:
    chance, path, accepted = random.Random(5), tmp_path / "config", 0
    for _ in range(300):
        text = "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 14)))
        path.write_bytes((chance.choice(BEGINNINGS) + text).encode())
        expected = as_git_lists(path)
        assert same_spaces(as_we_list(path)) == same_spaces(expected), path.read_bytes()
        accepted += bool(expected)
    assert accepted > 20


@pytest.fixture
def config(home: Path) -> GitConfig:
    return GitConfig({"HOME": str(home)})


def test_a_missing_file_and_the_null_device_are_empty(config: GitConfig, tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path / "missing" / "config", Path(os.devnull)):
        config.read(str(path))
    assert config.filters == set()


def test_files_that_include_each_other_are_read_once(config: GitConfig, tmp_path: Path) -> None:
    for name, other in (("one", "two"), ("two", "one")):
        (tmp_path / name).write_text(f'[filter "{name}"]\nclean=x\n[include]\npath={other}\n')
    config.read(str(tmp_path / "one"))
    assert config.filters == {"one", "two"}


def test_what_the_environment_defines_is_found(config: GitConfig, tmp_path: Path) -> None:
    (tmp_path / "more").write_text('[filter "two"]\nclean=x\n')
    config.define("Filter.One.CLEAN", "x")
    config.define("include.path", str(tmp_path / "more"))
    assert config.filters == {"One", "two"}


@pytest.mark.parametrize(
    "text", ["[filter", '[filter "x"', "[include]\npath = %(prefix)/x\n", "[include]\npath = folder\n", "[filter]\n=\n"]
)
def test_a_file_that_cannot_be_read_as_git_reads_it_is_an_error_with_its_name(
    config: GitConfig, tmp_path: Path, text: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "config").write_text(text)
    with pytest.raises(ConfigError, match=str(tmp_path)):
        config.read(str(tmp_path / "config"))


@pytest.mark.usefixtures("alarm")
def test_a_fifo_and_endless_includes_are_errors(config: GitConfig, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(ConfigError, match="not a regular file"):
        config.read(str(tmp_path / "fifo"))
    for number in range(300):
        (tmp_path / f"{number}").write_text(f"[include]\npath={number + 1}\n")
    with pytest.raises(ConfigError, match="200 files"):
        config.read(str(tmp_path / "0"))


def test_a_file_of_megabytes_is_an_error(config: GitConfig, tmp_path: Path) -> None:
    (tmp_path / "config").write_bytes(b"#" * (2 << 20))
    with pytest.raises(ConfigError, match="1 MiB"):
        config.read(str(tmp_path / "config"))
