"""Completion and manual come from the table of commands and their parsers, as `--help` does."""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interfaces.cli.screen import run
from tests.tools.command_reference import subparsers_of
from tests.tools.make_manual import PAGE
from unified_state.interfaces.cli.argument_parser import build_parser
from unified_state.interfaces.cli.command_table import COMMANDS, GROUPS


def options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Every long option of a parser and of those below it."""
    for action in parser._actions:
        yield from (name for name in action.option_strings if name.startswith("--"))
    for _, sub in subparsers_of(parser):
        yield from options(sub)


ALL_OPTIONS = sorted({*options(build_parser(list(COMMANDS)))} - {"--help", "--version"})


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "tcsh"])
def test_each_shell_completes_every_command(empty: Path, shell: str) -> None:
    script = run("completion", shell, cwd=empty).stdout
    assert [name for name in COMMANDS if not re.search(rf"\b{name}\b", script)] == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_it_completes_options_and_verbs_too(empty: Path, shell: str) -> None:
    script = run("completion", shell, cwd=empty).stdout
    assert [name for name in ALL_OPTIONS if name.removeprefix("--") not in script] == []
    assert "supersede" in script


def test_bash_takes_the_completion(empty: Path) -> None:
    script = run("completion", "bash", cwd=empty).stdout
    ask = "COMP_WORDS=(unified-state sta); COMP_CWORD=1; _shtab_unified_state unified-state sta unified-state"
    line = f'{script}\ncomplete -p unified-state\n{ask}\necho "${{COMPREPLY[@]}}"\n'
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert "-F _shtab_unified_state unified-state" in done.stdout
    assert done.stdout.splitlines()[-1].split() == ["status", "statusline"]


def test_help_prints_the_manual_page(empty: Path) -> None:
    assert run("help", "--man", cwd=empty).stdout == PAGE.read_text(encoding="utf-8")


def test_the_manual_page_names_every_command_and_option() -> None:
    page = PAGE.read_text(encoding="utf-8").replace("\\-", "-")
    assert [name for name in COMMANDS if f".SS {name}\n" not in page] == []
    assert [title for title in GROUPS if f'.SH "{title.upper()}"\n' not in page] == []
    assert [name for name in ALL_OPTIONS if not re.search(rf"^\.B .*(?<![\w-]){name}\b", page, re.MULTILINE)] == []


def test_no_line_of_the_manual_page_is_a_request_that_roff_does_not_know() -> None:
    known = {"TH", "SH", "SS", "PP", "TP", "B", "I", "br"}
    requests = {line[1:].split()[0] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(".")}
    assert requests <= known
