"""Who wrote a line: commits of real repositories, joined with the edits in a real archive."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.builders import NOW, SESSION, Entry, answer, call, prompt, result, write_transcript
from tests.fork_server import run_ours
from tests.interfaces.cli.screen import PROGRAM, person
from tests.rollouts import Rollout, patched

Git = Callable[..., str]
OTHER_SESSION = "5a1e0000-0000-4000-8000-0000000000b2"
LIMITER = "class Limiter:\n    def take(self):\n        return self.left > 0\n"


def program(repository: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What a command does."""
    return run_ours([*PROGRAM, *arguments], repository, person())


def blamed(repository: Path, *arguments: str) -> Any:
    """The answer of `blame --json`."""
    done = program(repository, "blame", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def turns_by_line(repository: Path, place: str) -> list[str | None]:
    """The prompt that asked for each line."""
    found = blamed(repository, place)
    prompts = {turn["ref"]: turn["prompt"] for turn in found["turns"]}
    return [
        None if group["turn"] is None else prompts[group["turn"]]
        for group in found["lines"]
        for _ in range(group["first"], group["last"] + 1)
    ]


class Writer:
    """An agent that edits files of a repository, and its transcript."""

    def __init__(self, repository: Path, folder: Path, session: str = SESSION, at: int = NOW) -> None:
        self._repository, self._session, self._at = repository, session, at
        self._path = folder / f"{session}.jsonl"
        self._entries: list[Entry] = []

    def _add(self, make: Callable[..., Entry], *given: Any, **fields: Any) -> None:
        number = len(self._entries) + 1
        own = {"session": self._session, "at": self._at + 100 * 3_600_000 * (self._session != SESSION)}
        self._entries.append(
            make(number + 1000 * (self._session != SESSION), *given, cwd=str(self._repository), **own, **fields)
        )

    def asked(self, text: str) -> None:
        """A prompt."""
        self._add(prompt, text)

    def calls(self, tool: str, said: str = "done", *, is_error: bool = False, **fields: Any) -> None:
        """A call and its result."""
        identity = f"c{len(self._entries)}{self._session[-2:]}"
        self._add(answer, call(identity, tool, **fields))
        self._add(result, identity, said, is_error=is_error)

    def writes(self, name: str, text: str) -> None:
        """A file is written."""
        path = self._repository / name
        said = "The file has been updated." if path.exists() else f"File created successfully at: {path}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.calls("Write", said, file_path=str(path), content=text)

    def edits(self, name: str, before: str, after: str) -> None:
        """A part of a file is replaced."""
        path = self._repository / name
        text = path.read_text(encoding="utf-8")
        assert before in text
        path.write_text(text.replace(before, after, 1), encoding="utf-8")
        self.calls("Edit", "The file has been updated.", file_path=str(path), old_string=before, new_string=after)

    def ends(self) -> None:
        """Archive the transcript."""
        done = program(self._repository, "import", str(write_transcript(self._path, *self._entries)))
        assert done.returncode == 0, done.stderr


@pytest.fixture
def writer(repository: Path, tmp_path: Path) -> Writer:
    """An agent."""
    return Writer(repository, tmp_path / "t")


@pytest.fixture
def limiter(repository: Path, writer: Writer, git: Git) -> Path:
    """A repository with a file that two turns wrote, committed in between."""
    writer.asked("Add a limiter")
    writer.writes("src/limiter.py", LIMITER)
    writer.calls("Bash", "1 passed", command="pytest -q")
    git("add", ".")
    git("commit", "--quiet", "--message", "the limiter")
    writer.asked("Count what is taken")
    writer.edits(
        "src/limiter.py", "        return self.left > 0\n", "        self.taken += 1\n        return self.left > 0\n"
    )
    git("commit", "--quiet", "--all", "--message", "count")
    writer.ends()
    return repository


EXPECTED = ["Add a limiter", "Add a limiter", "Count what is taken", "Add a limiter"]


def test_a_line_has_its_commit_its_turn_its_prompt_and_the_tests_run_then(limiter: Path) -> None:
    assert turns_by_line(limiter, "src/limiter.py") == EXPECTED
    found = blamed(limiter, "src/limiter.py:1-3")
    assert [
        (group["first"], group["last"], group["commit"]["subject"], group["certain"]) for group in found["lines"]
    ] == [
        (1, 2, "the limiter", True),
        (3, 3, "count", True),
    ]
    first, second = found["turns"]
    assert (first["prompt"], first["tests"], first["session_id"]) == ("Add a limiter", ["pytest -q: passed"], SESSION)
    assert (second["prompt"], second["tests"]) == ("Count what is taken", [])


def test_the_text_names_commit_turn_prompt_and_tests(limiter: Path) -> None:
    shown = program(limiter, "blame", "src/limiter.py").stdout
    assert "the limiter" in shown
    assert "prompt     Add a limiter" in shown
    assert "then ran   pytest -q: passed" in shown
    short = program(limiter, "blame", "--short", "src/limiter.py:3").stdout
    assert short.count("\n") == 1
    assert "Count what is taken" in short


def test_lines_keep_their_turns_after_a_rebase_a_squash_and_a_move(limiter: Path, git: Git) -> None:
    git("reset", "--quiet", "--soft", "HEAD~2")
    git("commit", "--quiet", "--message", "squashed")
    git("mv", "src/limiter.py", "bucket.py")
    git("commit", "--quiet", "--message", "moved")
    assert turns_by_line(limiter, "bucket.py") == EXPECTED
    assert {group["commit"]["subject"] for group in blamed(limiter, "bucket.py")["lines"]} == {"squashed"}


def test_uncommitted_lines_and_lines_nobody_recorded(limiter: Path, writer: Writer) -> None:
    path = limiter / "src" / "limiter.py"
    path.write_text(
        path.read_text(encoding="utf-8") + "\n\ndef by_hand():\n    return 'written by a person'\n", "utf-8"
    )
    writer.asked("Say when")
    writer.edits(
        "src/limiter.py", "        self.taken += 1\n", "        self.taken += 1\n        self.at = time.time()\n"
    )
    writer.ends()
    assert turns_by_line(limiter, "src/limiter.py") == [*EXPECTED[:3], "Say when", EXPECTED[3], *[None] * 4]
    shown = program(limiter, "blame", "src/limiter.py").stdout
    assert "not committed" in shown
    assert "no recorded edit wrote it" in shown


def test_of_two_sessions_the_one_that_wrote_the_line_last_has_it(limiter: Path, tmp_path: Path) -> None:
    other = Writer(limiter, tmp_path / "t", OTHER_SESSION)
    other.asked("Rename it")
    other.edits("src/limiter.py", "class Limiter:", "class Bucket:")
    other.ends()
    found = blamed(limiter, "src/limiter.py:1")
    assert [turn["session_id"] for turn in found["turns"]] == [OTHER_SESSION]
    assert turns_by_line(limiter, "src/limiter.py") == ["Rename it", *EXPECTED[1:]]


def test_an_edit_that_failed_wrote_nothing(limiter: Path, writer: Writer) -> None:
    writer.asked("Try again")
    path = str(limiter / "src" / "limiter.py")
    writer.calls(
        "Edit", "no such text", is_error=True, file_path=path, old_string="nothing", new_string="class Limiter:"
    )
    writer.ends()
    assert turns_by_line(limiter, "src/limiter.py") == EXPECTED


def test_a_line_is_never_certain_where_it_could_be_anothers(limiter: Path, writer: Writer) -> None:
    writer.asked("A second one")
    text = (limiter / "src" / "limiter.py").read_text(encoding="utf-8")
    (limiter / "src" / "limiter.py").write_text(text + "    left = 0  # by hand\n", encoding="utf-8")
    writer.edits("src/limiter.py", "    def take", "    left = 0  # by hand\n    def take")
    writer.ends()
    found = blamed(limiter, "src/limiter.py")["lines"]
    doubtful = [group for group in found if group["first"] in {2, 6}]
    assert len(doubtful) == 2
    assert not any(group["certain"] for group in doubtful)


def test_a_patch_of_codex_and_a_file_that_it_moved(repository: Path, tmp_path: Path) -> None:
    session = "019a0000-0000-7000-8000-000000000001"
    rollout = Rollout(tmp_path / "r" / f"rollout-2026-11-21T08-00-00-{session}.jsonl", session, repository)
    rollout.says("user", "Add the first bucket")
    rollout.patches("*** Add File: bucket.py\n+class Bucket:\n+    size = 10\n+    name = 'first'")
    rollout.says("user", "Make the bucket larger")
    hunk = "@@ class Bucket:\n class Bucket:\n-    size = 10\n+    size = 12"
    patch = f"*** Update File: bucket.py\n*** Move to: lib/bucket.py\n{hunk}"
    rollout.runs(f"apply_patch <<'EOF'\n{patched(patch)}\nEOF", "Success.")
    (repository / "lib").mkdir()
    (repository / "lib" / "bucket.py").write_text(
        "class Bucket:\n    size = 12\n    name = 'first'\n", encoding="utf-8"
    )
    assert program(repository, "import", str(rollout.path)).returncode == 0
    first, second = "Add the first bucket", "Make the bucket larger"
    assert turns_by_line(repository, "lib/bucket.py") == [first, second, first]


def test_a_file_that_a_shell_command_wrote(repository: Path, writer: Writer) -> None:
    text = "[server]\nport = 8080\nhost = 'localhost'\n"
    writer.asked("Write the settings")
    writer.calls("Bash", "", command=f"mkdir -p etc && cat > etc/server.toml <<'EOF'\n{text}EOF\nls etc")
    writer.asked("Add a timeout")
    writer.calls("Bash", "", command="cd etc && cat >> server.toml <<'EOF'\ntimeout = 30  # seconds\nEOF")
    (repository / "etc").mkdir()
    (repository / "etc" / "server.toml").write_text(f"{text}timeout = 30  # seconds\n", encoding="utf-8")
    writer.ends()
    assert turns_by_line(repository, "etc/server.toml") == [*["Write the settings"] * 3, "Add a timeout"]


def test_line_ends_of_windows_and_text_of_every_script(repository: Path, writer: Writer) -> None:
    writer.asked("Grüße 世界")
    writer.writes("grüße 世界.py", "name = '世界'\nother = 'Grüße'\n")
    writer.ends()
    (repository / "grüße 世界.py").write_bytes("name = '世界'\r\nother = 'Grüße'\r\n".encode())
    assert turns_by_line(repository, "grüße 世界.py") == ["Grüße 世界"] * 2


def test_a_commit_is_explained_by_the_turns_that_wrote_its_lines(limiter: Path, git: Git) -> None:
    commit = git("rev-parse", "HEAD").strip()
    found = blamed(limiter, commit[:10])
    assert [(group["first"], group["last"]) for group in found["lines"]] == [(3, 3)]
    assert [turn["prompt"] for turn in found["turns"]] == ["Count what is taken"]
    git("rm", "--quiet", "src/limiter.py")
    git("commit", "--quiet", "--message", "gone")
    assert blamed(limiter, commit)["file"] == "src/limiter.py"
    assert "no file src/limiter.py" in program(limiter, "blame", "src/limiter.py").stderr
    refused = program(limiter, "blame", "0123456789")
    assert (refused.returncode, "0123456789 cannot be shown" in refused.stderr) == (1, True)


def test_a_search_in_the_turns_that_wrote_a_line_or_a_commit(limiter: Path, git: Git) -> None:
    def refs(*filters: str) -> list[str]:
        done = program(limiter, "search", "--json", "limiter taken", *filters)
        assert done.returncode == 0, done.stderr
        return sorted(hit["ref"] for hit in json.loads(done.stdout))

    assert {"S1", "S6"} <= set(refs())
    for place in ("src/limiter.py:3", git("rev-parse", "HEAD").strip()):
        assert "S6" in refs("--wrote", place)
        assert "S1" not in refs("--wrote", place)
    assert refs("--wrote", git("rev-parse", "HEAD").strip()) == refs("--wrote", "src/limiter.py:3")
    assert refs("--wrote", "a.py") == []
    assert program(limiter, "search", "limiter", "--wrote", "nothing.py").returncode == 1


def test_without_git_lines_still_have_their_turns(limiter: Path) -> None:
    done = program(limiter, "blame", "src/limiter.py")
    assert "no commits are shown" not in done.stderr
    shutil.rmtree(limiter / ".git" / "objects")
    done = program(limiter, "blame", "src/limiter.py")
    assert (done.returncode, "no commits are shown" in done.stderr) == (0, True)
    assert "Add a limiter" in done.stdout


@pytest.mark.parametrize("kind", ["shallow clone", "worktree", "submodule"])
def test_clones_worktrees_and_submodules_are_safe(limiter: Path, tmp_path: Path, git: Git, kind: str) -> None:
    other = tmp_path / "other"
    if kind == "shallow clone":
        git("clone", "--quiet", "--depth", "1", limiter.as_uri(), str(other))
        expected = None  # of an archive that is not there
    elif kind == "worktree":
        git("worktree", "add", "--quiet", "--detach", str(other))
        expected = EXPECTED
    else:
        git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", limiter.as_uri(), "inner")
        other, expected = limiter / "inner", None
    if expected:
        assert turns_by_line(other, "src/limiter.py") == expected
    else:
        found = blamed(other, "src/limiter.py")
        assert {group["commit"]["subject"] for group in found["lines"]} <= {"the limiter", "count"}


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("nothing.py", "there is no file nothing.py"),
        ("../elsewhere.py", "is outside"),
        ("pipe", "pipe cannot be read"),
        ("image.png", "image.png is a binary file"),
        ("a.py:9", "a.py has 1 lines, and no line 9"),
        ("a.py:3-2", "'3-2' is no range of lines"),
    ],
)
def test_what_cannot_be_blamed_is_said_in_one_line(limiter: Path, place: str, said: str) -> None:
    os.mkfifo(limiter / "pipe")
    (limiter / "image.png").write_bytes(b"\x89PNG\0\0")
    done = program(limiter, "blame", place)
    assert done.returncode in {1, 2}, done.stdout
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
