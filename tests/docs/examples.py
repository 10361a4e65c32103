"""Runs the examples of a page, from its beginning to its end, in a home and a project of its own.

    python -m tests.docs.examples PAGE…            write what the commands print today into the pages
    python -m tests.docs.examples --check PAGE…    only print how the pages differ from what the commands print

`console` blocks hold commands behind `$ ` (further lines behind `> `), each followed by what it prints. The `python`
blocks of a page are one interactive session (`>>> `), which runs where the first of them stands. A `setup` comment is
shell that readers need not see, a `client` comment says what the client does meanwhile (see `played_client.py`).

What differs from run to run (dates, times, ids, sizes, hashes) is not compared, and a line that is nothing but `…`
stands for any number of lines.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.minilm_folder import minilm_folder
from tests.passwd import set_home
from tests.terminal import run_at_terminal

from .pages import ROOT, Block, blocks, name_of
from .played_client import PlayedClient

HOME = "/home/ada"  # what readers see instead of the folder of the run
PROJECT = "notes"
RUNNING_KINDS = {"console", "python", "setup", "client"}
_ANY_LINES = "…"
_UNSTEADY = [
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?Z)?"), "TIME"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "DATE"),
    (re.compile(r"just now|\d+ (min|h|days) ago"), "AGE"),
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r"(stop/UUID/)\d+"), r"\1MOMENT"),
    (re.compile(r"\b(?=[a-f]*\d)[0-9a-f]{7,64}\b"), "HASH"),
    (re.compile(r"\d+ ms\b"), "MILLISECONDS"),
    (re.compile(r" *\d+(\.\d+)? [GM]B\b"), " SIZE"),
    (re.compile(r"\b(Python|SQLite|git version) \d[\w.]*"), r"\1 VERSION"),
    (re.compile(r'("(score|tokens|estimatedTokens)": ?)[\d.]+'), r"\1NUMBER"),
    (re.compile(r"\bsaved: \d+ tokens"), "saved: NUMBER tokens"),  # the ids in the file have more tokens or fewer
]
# The world that the examples run in, where the caller gives another one (`test_elsewhere.py`).
_WORLD = ("LD_PRELOAD", "CLOCK_OFFSET", "TZ", "LC_ALL", "LANGUAGE", "LOCPATH", "USER", "LOGNAME")
_PYTHON_SESSION = """
import doctest, sys
options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
sys.exit(doctest.testfile(sys.argv[1], module_relative=False, optionflags=options).failed)
"""


@dataclass
class Example:
    """One command of a `console` block: its lines as they are shown, and what is shown below them."""

    command: str
    shown: list[str]
    expected: list[str]


class Scratch:
    """A home with a git repository `notes` in it, where the examples of one page run."""

    def __init__(self, folder: Path) -> None:
        self._home = folder.resolve() / "home"
        self._project = self._home / PROJECT
        self._project.mkdir(parents=True)
        set_home(self._home)
        self._folder = self._project
        self._environment = {
            "PATH": f"{Path(sys.prefix) / 'bin'}:{os.environ['PATH']}",
            "HOME": str(self._home),
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "PYTHONPATH": str(ROOT),
            "MINILM_FILES": minilm_folder(),
            "PYTHONUNBUFFERED": "1",  # the order of stdout and stderr is that of a terminal
            **{name: os.environ[name] for name in _WORLD if name in os.environ},
        }
        (self._home / ".gitconfig").write_text(
            "[user]\n\tname = Ada\n\temail = ada@example.invalid\n[init]\n\tdefaultBranch = main\n", encoding="utf-8"
        )
        self.shell("git init --quiet && git commit --quiet --allow-empty --message 'first commit'")
        self._client: PlayedClient | None = None

    def shell(self, command: str) -> list[str]:
        """What a command prints, with the reader's home in place of ours; it runs where the one before it ended, at a
        terminal whose user says yes.
        """
        place = self._home.parent / "place"
        script = f"exec 2>&1\n{command}\ncode=$?; pwd >{shlex.quote(str(place))}; exit $code"
        done = run_at_terminal(["bash", "-c", script], self._folder, self._environment)
        self._folder = Path(place.read_text(encoding="utf-8").rstrip("\n"))
        return done.out.decode().replace(str(self._home), HOME).splitlines()

    def play(self, script: str) -> None:
        """Let the client do something in the current folder."""
        if self._client is None:
            self._client = PlayedClient(self._folder, self._environment)
        self._client.play(script)

    def python(self, session: str) -> list[str]:
        """What is wrong with an interactive session, as doctest tells it; nothing if it goes as shown."""
        path = self._home / "session.txt"
        path.write_text(session, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-c", _PYTHON_SESSION, str(path)],
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        path.unlink()
        return (done.stdout + done.stderr).splitlines()


def run_page(page: str, folder: Path, *, renew: bool = False) -> str:
    """The page as it would be if its `console` blocks showed what the commands print now.

    Output that differs only in what differs from run to run stays as it is, unless all is to be renewed. Raises
    AssertionError for a `python` session that goes another way, since that cannot be mended by itself.
    """
    scratch = Scratch(folder)
    found = [block for block in blocks(page) if block.kind in RUNNING_KINDS]
    session = "\n".join(block.text for block in found if block.kind == "python")
    parts, position = [], 0
    for block in found:
        parts += [page[position : block.start], _run_block(scratch, block, session, renew=renew)]
        position = block.start + len(block.text)
    return "".join([*parts, page[position:]])


def _run_block(scratch: Scratch, block: Block, session: str, *, renew: bool) -> str:
    match block.kind:
        case "console":
            outputs = [_run_example(scratch, example, renew=renew) for example in _examples(block.text)]
            return "".join(f"{line}\n" for lines in outputs for line in lines)
        case "python":
            wrong = scratch.python(session) if session.startswith(block.text) else []
            assert wrong == [], "\n".join(wrong)
        case "setup":
            scratch.shell(block.text)
        case "client":
            scratch.play(block.text)
    return block.text


def _run_example(scratch: Scratch, example: Example, *, renew: bool) -> list[str]:
    printed = scratch.shell(example.command)
    is_abridged = any(line.strip() == _ANY_LINES for line in example.expected)
    stays = matches(example.expected, printed) and (is_abridged or not renew)
    return [*example.shown, *(example.expected if stays else printed)]


def _examples(text: str) -> list[Example]:
    found: list[Example] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(Example(line[2:], [line], []))
        elif line.startswith("> ") and found and not found[-1].expected:
            found[-1].command += "\n" + line[2:]
            found[-1].shown.append(line)
        else:
            assert found, f"a console block begins with {line!r} and not with a command"
            found[-1].expected.append(line)
    return found


def matches(expected: list[str], printed: list[str]) -> bool:
    """Whether the lines are the same but for what differs from run to run."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == _ANY_LINES else re.escape(steady(line)) + r"\n" for line in expected
    )
    return re.fullmatch(pattern, "".join(f"{steady(line)}\n" for line in printed)) is not None


def steady(line: str) -> str:
    """The line with a word in place of whatever differs from run to run."""
    for pattern, word in _UNSTEADY:
        line = pattern.sub(word, line)
    return line.rstrip()


def differences(name: str) -> str:
    """How a page differs from what its examples print now, as a diff; empty if it does not."""
    page = Path(name).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        printed = run_page(page, Path(folder))
    return "".join(difflib.unified_diff(page.splitlines(True), printed.splitlines(True), name, "what it prints"))


def main(names: list[str]) -> None:
    """Bring the pages up to date. Of a page that changed all examples are renewed, so that ids and times agree."""
    if names[:1] == ["--check"]:
        sys.exit("".join(map(differences, names[1:])) or None)
    for name in names:
        page = Path(name)
        before = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            if run_page(before, Path(first)) != before:
                page.write_text(run_page(before, Path(second), renew=True), encoding="utf-8")
                print(f"{name_of(page.resolve())}: its examples print something else now")


if __name__ == "__main__":
    main(sys.argv[1:])
