"""Completion comes from the table of commands and their parsers, as `--help` does."""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interfaces.cli.screen import run
from tests.tools.command_reference import subparsers_of
from unified_state.interfaces.cli.argument_parser import build_parser
from unified_state.interfaces.cli.command_table import all_commands


def options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Every long option of a parser and of those below it."""
    for action in parser._actions:
        yield from (name for name in action.option_strings if name.startswith("--"))
    for _, sub in subparsers_of(parser):
        yield from options(sub)


ALL_OPTIONS = sorted({*options(build_parser(list(all_commands())))} - {"--help", "--version"})


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "tcsh"])
def test_each_shell_completes_every_command(empty: Path, shell: str) -> None:
    script = run("completion", shell, cwd=empty).stdout
    assert [name for name in all_commands() if not re.search(rf"\b{name}\b", script)] == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_it_completes_options_and_verbs_too(empty: Path, shell: str) -> None:
    script = run("completion", shell, cwd=empty).stdout
    assert [name for name in ALL_OPTIONS if name.removeprefix("--") not in script] == []
    assert "supersedes" in script


def test_bash_takes_the_completion(empty: Path) -> None:
    script = run("completion", "bash", cwd=empty).stdout
    ask = "COMP_WORDS=(unified-state sta); COMP_CWORD=1; _shtab_unified_state unified-state sta unified-state"
    line = f'{script}\ncomplete -p unified-state\n{ask}\necho "${{COMPREPLY[@]}}"\n'
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert "-F _shtab_unified_state unified-state" in done.stdout
    assert done.stdout.splitlines()[-1].split() == ["status"]
