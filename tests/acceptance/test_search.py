"""What was said is found again: by any words, with filters that hold, here or in all repositories."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import SESSION, answer, call, prompt, write_transcript

from .conftest import Prepared
from .namespaces import in_folder, mounted
from .product import PATIENCE, PROGRAM, Project
from .transcripts import Transcript

Git = Callable[..., str]


def about_the_parser() -> Transcript:
    """A session: S1 a prompt, S2 a call of Bash, S3 its result, S4 a text; then other matters."""
    session = Transcript("s")
    session.prompt("Fix the parser in src/app.py", timestamp="2026-03-14T09:30:00.000Z")
    session.call("Bash", {"command": "pytest tests/parser"}, "the parser fails: KeyError")
    session.text("The parser is fixed.")
    for number in range(3):
        session.prompt(f"Another matter, number {number}.")
        session.text("Done with it.")
    return session


def fill_known(project: Project, folder: Path) -> None:
    """That session, and a decision and a question about the parser."""
    project.keep(about_the_parser(), folder / "s.jsonl")
    project.decide("Write the parser by hand")
    project.ask("question", "add", "Which parser?", "--context", "there are two")


@pytest.fixture
def known(prepared: Prepared) -> Project:
    """A project with that session, and with a decision and a question about the parser."""
    return prepared(fill_known)


def refs(project: Project, *arguments: str) -> list[str]:
    """The refs of the hits that show a match."""
    return [hit["ref"] for hit in project.ask("search", *arguments) if "**" in hit["snippet"]]


def test_a_query_in_bytes_that_are_no_text_is_a_query(known: Project) -> None:
    for query in (b"parser \xff\xfe", b"\xed\xa0\xbd parser", b"\xff"):
        command = [os.fsencode(word) for word in (*PROGRAM, "search", "--json")] + [query]
        done = subprocess.run(command, cwd=known.folder, capture_output=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0, done
        assert bool(json.loads(done.stdout)) is (b"parser" in query)


def test_words_may_come_as_one_argument_or_as_several(known: Project) -> None:
    assert refs(known, "fix", "parser") == refs(known, "fix parser")


@pytest.mark.parametrize(
    "arguments",
    [
        *(("--session", "two\nlines"), ("--since", "9" * 5000 + "d"), ("--tool", "Bsh"), ("--file", "/")),
        *(("--kind", "letter"), ("--limit", "0"), ("--sinse", "yesterday")),
    ],
)
def test_a_wrong_filter_is_one_clear_line(known: Project, arguments: tuple[str, ...]) -> None:
    done = known.run("search", "parser", *arguments)
    assert done.code in {1, 2}, done
    assert (done.out, done.err.count("\n")) == ("", 1), done
    assert arguments[0].strip("-") in done.err
    assert len(done.err) < 400


def test_hits_tell_the_state_of_an_item(known: Project) -> None:
    assert known.run("decision", "supersede", "D1", "Generate the parser", "--rationale", "r").code == 0
    assert known.run("question", "resolve", "Q1", "the generated parser").code == 0
    states = {hit["ref"]: hit["status"] for hit in known.ask("search", "parser")}
    assert {ref: states[ref] for ref in ("D1", "D2", "Q1", "S1")} == {
        "D1": "superseded",
        "D2": "active",
        "Q1": "resolved",
        "S1": None,
    }
    shown = known.run("search", "parser").out.splitlines()
    assert [line.split("  (")[-1] for line in shown if " D1 " in line] == ["superseded)"]
    assert [line for line in shown if " S1 " in line and "(" in line] == []


def test_every_hit_can_be_recalled(known: Project) -> None:
    for ref in refs(known, "parser"):
        assert "parser" in json.dumps(known.ask("show", ref)).lower()


@pytest.fixture
def other(known: Project, git: Git, tmp_path: Path) -> Project:
    """Another repository of the same user, in which a parser was spoken of too."""
    other = Project(known.folder.parent / "other", known.home)
    other.folder.mkdir()
    git("init", "--quiet", cwd=other.folder)
    session = Transcript("elsewhere")
    session.prompt("a parser of the other repository")
    other.keep(session, tmp_path / "elsewhere.jsonl")
    return other


def test_other_repositories_are_searched_where_that_is_asked_for_and_only_there(known: Project, other: Project) -> None:
    assert {hit["session_id"] for hit in other.ask("search", "parser")} == {"elsewhere"}
    everywhere = other.ask("search", "parser", "--all-projects")
    assert {hit["session_id"] for hit in everywhere} >= {"s", "elsewhere"}
    assert {hit["worktree"] for hit in everywhere} == {str(known.folder), str(other.folder)}
    shown = other.run("search", "parser", "--all-projects").out.splitlines()
    assert {str(known.folder), str(other.folder)} <= set(shown)


def test_a_hit_elsewhere_names_its_session_and_is_opened(known: Project, other: Project, tmp_path: Path) -> None:
    title = {"type": "custom-title", "customTitle": "JAGUAR refactor", "sessionId": SESSION}
    wrote = answer(2, call("t1", "Write", file_path="a.py", content="x = 1\n\n"))
    path = write_transcript(tmp_path / "t.jsonl", prompt(1, "look at the gazelle"), wrote, title)
    other.run("import", str(path))
    for words in ("gazelle", "jaguar"):
        shown = known.run("search", words, "--all-projects").out.splitlines()
        assert f"  JAGUAR refactor: claude --resume {SESSION}" in shown
    hit = known.ask("search", "gazelle", "--all-projects")[0]
    there = ("--project", hit["worktree"])
    assert known.ask("show", hit["ref"], *there)["text"] == "look at the gazelle"
    (call_ref,) = refs(other, "a.py", "--tool", "Write")
    assert known.run("show", call_ref, *there, "--content").out == "x = 1\n\n"
    assert other.run("show", "T1", "--content").code == 2


def test_a_session_is_exported_as_markdown(known: Project) -> None:
    told = known.run("export", "--session", "s", "--markdown").out
    assert "### S1 prompt 2026-03-14T09:30Z\n\n> Fix the parser in src/app.py\n" in told
    assert "```\nthe parser fails: KeyError\n```\n" in told
    assert known.run("export", "--items", "--markdown").code == 2


def test_a_read_only_archive_can_still_be_searched_and_recalled(known: Project) -> None:
    home = known.home
    with mounted(f"mount --bind {home} {home}; mount -o remount,bind,ro {home}") as prefix:
        project = Project(known.folder, home, in_folder(prefix, str(known.folder)))
        assert {hit["ref"] for hit in project.ask("search", "parser")} >= {"D1", "Q1", "S1", "S4"}
        assert project.ask("show", "S4")["text"] == "The parser is fixed."
        assert project.ask("search", "parser", "--all-projects")
