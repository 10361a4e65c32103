"""Most command lines are parsed without argparse: to the same values, or not at all."""

from __future__ import annotations

import contextlib
import io
import shlex
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.interfaces.cli.argument_parser import parse
from unified_state.interfaces.cli.command_table import COMMANDS, EXAMPLES
from unified_state.interfaces.cli.plain_parser import NotPlainError, Values, commands_of, parse_plain

_MODULES = {name: row[0] for name, row in COMMANDS.items()}
_WORDS = ["x", "two words", "3", "0", "-1", "-", "--", "", "D1", "high", "error", "local", "a=b", "x.py:3", "-x y"]


class _Names:
    """Takes what a command declares, for the names of its options."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def add_argument(self, *names: str, **_options: Any) -> None:
        self.names += [name for name in names if name.startswith("-")]

    def add_mutually_exclusive_group(self, **_options: Any) -> _Names:
        return self

    def set_defaults(self, **_values: Any) -> None: ...


def _options(name: str) -> list[str]:
    names = _Names()
    for words, command in commands_of(_MODULES[name]).items():
        if words.split()[0] == name:
            command.fill(names)  # also of its verbs
    return sorted({*names.names, "--help", "--no-such"})


def _verbs(name: str) -> list[str]:
    return [words.split()[1] for words in commands_of(_MODULES[name]) if words.startswith(f"{name} ")]


def _plain(arguments: list[str]) -> dict[str, Any] | None:
    try:
        return vars(parse_plain(commands_of(_MODULES[arguments[0]]), arguments[0], arguments[1:]))
    except NotPlainError:
        return None


def _by_argparse(arguments: list[str]) -> dict[str, Any]:
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        return vars(parse(arguments))


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """A command and words that fit it, mostly."""
    name = draw(st.sampled_from(sorted(_MODULES)))
    options = _options(name)
    joined = st.tuples(st.sampled_from(options), st.sampled_from(_WORDS)).map("=".join)
    word = st.one_of(st.sampled_from(_WORDS), st.sampled_from(options), joined)
    verb = draw(st.lists(st.sampled_from(_verbs(name)), max_size=1)) if _verbs(name) else []
    before = draw(st.lists(st.sampled_from(options), max_size=1))
    return [name, *before, *verb, *draw(st.lists(word, max_size=6))]


@given(command_lines())
def test_a_plain_command_line_has_the_values_that_argparse_gives_it(arguments: list[str]) -> None:
    plain = _plain(arguments)
    if plain is not None:
        assert plain == _by_argparse(arguments)


@pytest.mark.parametrize("example", EXAMPLES.values())
def test_every_example_is_a_plain_command_line(example: str) -> None:
    arguments = shlex.split(example.partition(" > ")[0])[1:]
    if "--status-line" in arguments:
        pytest.skip("argparse alone has options that `--no-` turns off")
    assert _plain(arguments) == _by_argparse(arguments)


@pytest.mark.parametrize(
    "line",
    ["search", "search --limit 0 x", "search --limit", "decision add x", "decision", "decision no",
     "show a b", "inbox accept", "inbox accept C1 --all", "evidence add no x --source y", "status x", "search -- -x",
     "search a --limit 3 b", "status --json=1", "status --help"],
)  # fmt: skip
def test_what_argparse_refuses_or_explains_is_left_to_it(line: str) -> None:
    assert _plain(line.split()) is None


def test_a_missing_value_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError):
        getattr(Values({"a": 1}), "b")  # noqa: B009


@pytest.mark.parametrize("line", ["--help", "status", "search x", "show D1", "decision list", "age"])
def test_a_plain_command_line_loads_neither_argparse_nor_re(line: str) -> None:
    code = (
        "from unified_state.interfaces.cli.main import run; run(sys.argv[1:]); sys.stderr.write(','.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path += {sys.path!r}; {code}", *line.split()],
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stderr.splitlines()[-1].split(",")) & {"argparse", "re", "shutil", "typing"} == set()
