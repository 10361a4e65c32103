"""What was said is found again: by any words, with filters that hold, here or in all repositories."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.amount import some

from .conftest import Prepared
from .namespaces import in_folder, mounted
from .product import PATIENCE, PROGRAM, Project, told_in_one_line
from .transcripts import Transcript

Git = Callable[..., str]
# What would be syntax to FTS5, and what is no text at all. Each stands beside a word that is there, where it may.
SYNTAX = (
    *('"', "'", '""', '"parser', 'parser"', "*", "parser*", "^parser", "parser^", ":", "text:parser", "rowid:1"),
    *("AND", "OR", "NOT", "NEAR", "NOT parser", "parser AND", "NEAR(parser cache, 5)", "NEAR(", "(", ")", "(parser"),
    *("{text}: parser", "- parser", "parser + cache", "parser NOT cache", "a AND b OR", "\\", "%", ";--", "/* */"),
    *("🚀", "parser 🚀", "👩‍👩‍👧", "\u202e", "\u0301", "e\u0301", "²", "ﬁ", "İ", "ß", "\ufeff", "\ufffd"),
    *("?!", "...", "-", "--", "the", "to be or not", "", " ", "\n", "\t\x1b[31m"),
)


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


@pytest.mark.parametrize("query", some(SYNTAX, 18))
def test_no_query_is_ever_read_as_syntax(known: Project, query: str) -> None:
    done = known.run("search", "--json", "--", query)
    assert (done.code, done.err.count("\n")) == (0, 0 if json.loads(done.out) else 1), done
    assert bool(json.loads(done.out)) >= ("parser" in query)


def test_a_query_in_bytes_that_are_no_text_is_a_query(known: Project) -> None:
    for query in (b"parser \xff\xfe", b"\xed\xa0\xbd parser", b"\xff"):
        command = [os.fsencode(word) for word in (*PROGRAM, "search", "--json")] + [query]
        done = subprocess.run(command, cwd=known.folder, capture_output=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0, done
        assert bool(json.loads(done.stdout)) is (b"parser" in query)


@pytest.mark.parametrize(
    "query", ["parser " * 14_000, "x" * 100_000, '"' * 100_000, "src/app.py " * 9_000, "語" * 33_000, "NEAR(" * 20_000]
)
def test_a_query_of_100_kilobytes_is_a_query(known: Project, query: str) -> None:
    done = known.run("search", query)
    assert done.code == 0, done.err[:300]
    assert len(done.out + done.err) < 20_000


def test_words_are_found_in_any_form_and_order(known: Project) -> None:
    for query in ("fixing parsers", "PARSER fixed", "What was it about the parser that we fixed?"):
        assert {"S1", "S4"} <= set(refs(known, query))


def test_words_may_come_as_one_argument_or_as_several(known: Project) -> None:
    assert refs(known, "fix", "parser") == refs(known, "fix parser")


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("请把数据库迁移到新的服务器", "数据库迁移", "请把**数据库迁移**到新的服务器"),
        ("请把数据库迁移到新的服务器", "库", "请把数据**库**迁移到新的服务器"),
        ("キャッシュを消してください", "キャッシュ", "**キャッシュ**を消してください"),
        ("캐시를 지워 주세요", "캐시", "**캐시**를 지워 주세요"),
    ],
)
def test_chinese_japanese_and_korean_are_found_and_shown_as_they_were_written(
    project: Project, tmp_path: Path, text: str, query: str, shown: str
) -> None:
    session = Transcript("s")
    session.prompt(text)
    project.keep(session, tmp_path / "s.jsonl")
    assert [hit["snippet"] for hit in project.ask("search", query)] == [shown]
    assert shown in project.run("search", query).out


def test_a_transcript_without_prompts_and_one_of_one_line_are_searched(project: Project, tmp_path: Path) -> None:
    without, one = Transcript("without"), Transcript("one")
    without.text("The parser is fixed.")
    one.prompt("the parser")
    for session in (without, one):
        project.keep(session, tmp_path / f"{session.session_id}.jsonl")
    assert {hit["session_id"] for hit in project.ask("search", "parser")} == {"without", "one"}


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ((), {"D1", "Q1", "S1", "S2", "S3", "S4"}),
        (("--session", "s"), {"S1", "S2", "S3", "S4"}),
        (("--since", "2026-03-15"), {"D1", "Q1", "S2", "S3", "S4"}),
        (("--since", "2026-03-14"), {"D1", "Q1", "S1", "S2", "S3", "S4"}),
        (("--since", "2026-03-14T10:00"), {"D1", "Q1", "S2", "S3", "S4"}),
        (("--since", "9999-12-31"), set()),
        (("--tool", "Bash"), {"S2", "S3"}),
        (("--file", "app.py"), {"S1"}),
        (("--file", "src/app.py"), {"S1"}),
        (("--file", "p.py"), set()),
        (("--kind", "text"), {"S4"}),
        (("--kind", "question"), {"Q1"}),
        (("--kind", "prompt", "--file", "app.py", "--session", "s"), {"S1"}),
        (("--kind", "text", "--file", "app.py"), set()),
    ],
)
def test_each_filter_does_what_it_says(known: Project, arguments: tuple[str, ...], found: set[str]) -> None:
    assert set(refs(known, "parser", *arguments)) == found


def test_a_limit_is_kept(known: Project) -> None:
    assert len(known.ask("search", "parser", "--limit", "2")) == 2
    assert len(known.ask("search", "parser", "--limit", "9" * 30)) >= 6


@pytest.mark.parametrize(
    "arguments",
    [
        ("--session", "nobody"),
        ("--session", ""),
        ("--session", "two\nlines"),
        ("--since", "soon"),
        ("--since", ""),
        ("--since", "9" * 5000 + "d"),
        ("--since", "2026-02-30"),
        ("--tool", "Bsh"),
        ("--tool", ""),
        ("--file", ""),
        ("--file", "/"),
        ("--kind", "letter"),
        ("--limit", "0"),
        ("--limit", "many"),
        ("--limit", "-1"),
        ("--sinse", "yesterday"),
    ],
)
def test_a_wrong_filter_is_one_clear_line(known: Project, arguments: tuple[str, ...]) -> None:
    done = known.run("search", "parser", *arguments)
    assert done.code in {1, 2}, done
    assert (done.out, done.err.count("\n")) == ("", 1), done
    assert arguments[0].strip("-") in done.err
    assert len(done.err) < 400


def test_where_nothing_is_archived_that_is_said_in_one_line(project: Project) -> None:
    done = project.run("search", "parser")
    assert (done.code, done.out, done.err.count("\n")) == (0, "", 1)
    assert project.ask("search", "parser", "--all-projects") == []


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


def test_snippets_mark_the_hit_wherever_it_stands(project: Project, tmp_path: Path) -> None:
    session = Transcript("s")
    session.prompt(f"{'nothing at all ' * 5000} the needles lie here {'nothing at all ' * 5000}")
    session.prompt(f"{'x' * 5000}.needle.{'x' * 5000} and more")
    project.keep(session, tmp_path / "s.jsonl")
    shown = {hit["ref"]: hit["snippet"] for hit in project.ask("search", "needle")}
    assert "the **needles** lie here" in shown["S1"]
    assert "**needle**" in shown["S2"]
    assert all(len(snippet) < 300 for snippet in shown.values())


def test_what_is_printed_cannot_steer_a_terminal(project: Project, tmp_path: Path) -> None:
    session = Transcript("s")
    session.prompt("the parser \x1b[2J\x07 \x9b31m\r\n and so on")
    project.keep(session, tmp_path / "s.jsonl")
    printed = project.run("search", "parser").out
    assert printed.count("\n") == 1
    assert not {"\x1b", "\x07", "\x9b", "\r"}.intersection(printed)


def test_what_was_recalled_rises_but_never_above_what_answers_better(project: Project, tmp_path: Path) -> None:
    session = Transcript("s")
    for text in ("the parser of the cache", "the parser of the cache", "the parser of the cache", "the parser", "no"):
        session.prompt("nothing of the kind")
        session.prompt(text)
        session.prompt("something else")
    project.keep(session, tmp_path / "s.jsonl")
    assert refs(project, "parser cache", "--limit", "20") == ["S2", "S5", "S8", "S11"]
    for _ in range(3):
        for ref in ("S8", "S11", "S14", "S1"):
            assert project.run("show", ref).code == 0
    assert refs(project, "parser cache", "--limit", "20") == ["S8", "S2", "S5", "S11"]


def test_the_same_search_gives_the_same_hits_in_the_same_order(known: Project) -> None:
    first = [hit["ref"] for hit in known.ask("search", "the parser that fails")]
    for _ in range(5):
        assert [hit["ref"] for hit in known.ask("search", "the parser that fails")] == first


def test_a_forgotten_step_is_found_no_more(known: Project) -> None:
    assert known.run("forget", "S4", "--yes").code == 0
    assert set(refs(known, "parser", "--session", "s")) == {"S1", "S2", "S3"}
    assert known.run("forget", "--match", "parser", "--yes").code == 0
    assert known.ask("search", "parser") == []


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


def test_filters_and_the_limit_hold_for_all_repositories_together(known: Project, other: Project) -> None:
    assert len(other.ask("search", "parser", "--all-projects", "--limit", "3")) == 3
    found = other.ask("search", "parser", "--all-projects", "--session", "s")
    assert {hit["session_id"] for hit in found} == {"s"}
    assert told_in_one_line(other.run("search", "parser", "--all-projects", "--session", "nobody"))


def test_a_damaged_archive_hides_no_other_repository(known: Project, other: Project) -> None:
    hits = known.ask("search", "parser", "--all-projects")
    broken = next(Path(hit["archive"]) for hit in hits if hit["worktree"] == str(known.folder))
    broken.write_bytes(b"no archive")
    done = other.run("search", "parser", "--all-projects", "--json")
    assert done.code == 0
    assert len({hit["archive"] for hit in json.loads(done.out)}) == 1
    assert done.err.count("\n") == 1
    assert str(broken) in done.err


def test_a_read_only_archive_can_still_be_searched_and_recalled(known: Project) -> None:
    home = known.home
    with mounted(f"mount --bind {home} {home}; mount -o remount,bind,ro {home}") as prefix:
        project = Project(known.folder, home, in_folder(prefix, str(known.folder)))
        assert {hit["ref"] for hit in project.ask("search", "parser")} >= {"D1", "Q1", "S1", "S4"}
        assert project.ask("show", "S4")["text"] == "The parser is fixed."
        assert project.ask("search", "parser", "--all-projects")


def test_a_damaged_step_does_not_keep_others_from_being_found(project: Project, tmp_path: Path) -> None:
    session = Transcript("s")
    session.call("Bash", {"command": "pytest tests/parser " * 50}, "ok")
    session.prompt("the parser")
    project.keep(session, tmp_path / "s.jsonl")
    with closing(sqlite3.connect(project.archive)) as archive, archive:
        archive.execute("UPDATE step SET body = x'00ff' WHERE id = 1")
    assert "S3" in refs(project, "parser")
