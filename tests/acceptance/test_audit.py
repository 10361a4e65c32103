"""The audit finds what has gone bad in the memory, and the command of each finding mends it."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.amount import amount

from .hostile import Hostile
from .product import Project
from .transcripts import Transcript

SECRET = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"


def findings(project: Project) -> list[dict[str, Any]]:
    done = project.run("audit", "--json")
    assert done.code in (0, 1), done
    found: list[dict[str, Any]] = json.loads(done.out)["findings"]
    assert done.code == bool(found)
    return found


def only(project: Project, kind: str) -> dict[str, Any]:
    (found,) = findings(project)
    assert found["kind"] == kind, found
    return found


def mend(project: Project, command: str) -> None:
    """Run the command of a finding as the user does, at a terminal and in the shell."""
    if command.startswith("unified-state "):
        done = project.at_terminal(*shlex.split(command)[1:])
        assert done.code == 0, (command, done)
    else:
        subprocess.run(["sh", "-c", command], cwd=project.home, check=True)


def mends(project: Project, kind: str) -> str:
    """Return the command of the only finding, after it was run and the audit finds nothing."""
    command = str(only(project, kind)["command"])
    mend(project, command)
    assert findings(project) == []
    return command


def decide(project: Project, text: str, **environment: str) -> str:
    done = project.run("decision", "add", text, "--rationale", "said so", "--json", **environment)
    return str(json.loads(done.out)["id"])


def constrain(project: Project, text: str) -> None:
    assert project.run("constraint", "add", text, "--source", "me").code == 0


def test_a_memory_without_faults_has_no_finding(project: Project) -> None:
    done = project.run("audit", "--json")
    assert (done.code, json.loads(done.out)["findings"]) == (0, [])
    decide(project, "Keep sessions in SQLite for the archive")
    decide(project, "Use port 8081 for the proxy")
    constrain(project, "Never push to main")
    assert findings(project) == []
    assert project.run("audit").out == "0 findings; items: 3, steps: 0, memory files: 0\n"


def test_an_item_that_says_the_same_as_another_is_dropped(project: Project) -> None:
    decide(project, "Keep sessions in SQLite for the archive")
    decide(project, "keep  sessions in SQLite for the archive")
    assert mends(project, "duplicate") == "unified-state drop D2"
    for _ in range(2):
        assert project.run("evidence", "add", "observation", "the port is taken", "--source", "lsof").code == 0
    assert mends(project, "duplicate") == "unified-state close E2"
    for _ in range(2):
        constrain(project, "规则: 不要修改迁移文件")
    assert mends(project, "duplicate") == "unified-state drop C2"


def test_of_two_decisions_that_contradict_each_other_the_newer_one_holds(project: Project) -> None:
    decide(project, "Cap the backoff at 8 s")
    decide(project, "Cap the backoff at 30 s")
    assert mends(project, "contradiction") == "unified-state decision supersede D1 --by D2"
    constrain(project, "Never retry payments")
    decide(project, "Retry payments", CLAUDECODE="1")
    assert mends(project, "contradiction") == "unified-state drop D3"


def test_a_proposal_that_says_what_holds_already_is_rejected(project: Project) -> None:
    constrain(project, "Never push to main")
    agent = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s"}
    project.run("edit", "C1", "Never push  to main", **agent)
    assert mends(project, "duplicate") == "unified-state inbox reject C2"


def test_an_item_whose_file_is_gone_is_dropped_and_one_whose_file_moved_is_edited(
    project: Project, git: Callable[..., str]
) -> None:
    decide(project, "a.py holds the limits", CLAUDECODE="1")
    (project.folder / "src").mkdir()
    git("mv", "a.py", "src/a.py")
    assert mends(project, "gone") == "unified-state edit D1 'src/a.py holds the limits'"
    git("rm", "--quiet", "--force", "src/a.py")
    assert mends(project, "gone") == "unified-state drop D2"


def test_a_file_that_another_branch_has_is_not_gone(project: Project, git: Callable[..., str]) -> None:
    git("checkout", "--quiet", "-b", "topic")
    (project.folder / "limits.py").write_text("x\n", encoding="utf-8")
    git("add", "limits.py")
    git("commit", "--quiet", "--message", "limits")
    decide(project, "limits.py holds the limits")
    git("checkout", "--quiet", "main")
    assert findings(project) == []


def test_a_text_about_a_removed_file_is_no_finding(project: Project, git: Callable[..., str]) -> None:
    decide(project, "Delete a.py, which nothing imports")
    git("rm", "--quiet", "a.py")
    assert findings(project) == []


def test_an_identifier_that_is_in_no_file_now_is_found_and_one_that_moved_is_not(
    project: Project, tmp_path: Path
) -> None:
    path = project.folder / "a.py"
    written = Transcript("s", cwd=str(project.folder))
    written.prompt("Add retries.")
    path.write_text("def with_retry(): ...\n", encoding="utf-8")
    written.call("Edit", {"file_path": str(path), "old_string": "", "new_string": "def with_retry(): ..."}, "done")
    project.keep(written, tmp_path / "s.jsonl")
    decide(project, "with_retry in a.py caps the backoff", CLAUDECODE="1", CLAUDE_CODE_SESSION_ID="s")
    path.write_text("x = 1\n", encoding="utf-8")
    (project.folder / "b.py").write_text("def with_retry(): ...\n", encoding="utf-8")
    assert findings(project) == []
    (project.folder / "b.py").unlink()
    found = only(project, "gone")
    assert found["why"] == "names with_retry, which is in no file now"
    assert mends(project, "gone") == "unified-state drop D1"


def test_a_command_and_a_version_of_another_time_are_found(project: Project) -> None:
    (project.folder / "Makefile").write_text("check:\n", encoding="utf-8")
    (project.folder / "requirements.txt").write_text("redis==5.2.0\n", encoding="utf-8")
    decide(project, "Run `make lint` before each commit")
    assert mends(project, "gone") == "unified-state drop D1"
    decide(project, "redis 5.0.1 is what production runs", CLAUDECODE="1")
    assert mends(project, "gone") == "unified-state edit D2 'redis 5.2.0 is what production runs'"
    decide(project, "Run `make check` before each commit")
    assert findings(project) == []


def test_no_version_or_path_in_what_the_user_said_is_rewritten(project: Project, git: Callable[..., str]) -> None:
    (project.folder / "requirements.txt").write_text("redis==5.2.0\n", encoding="utf-8")
    (project.folder / ".python-version").write_text("3.12.1\n", encoding="utf-8")
    constrain(project, "All code runs on Python 3.9")
    constrain(project, "The cache is redis 5.0.1")
    decide(project, "redis 5.0.2 is what production runs")
    decide(project, "a.py holds the limits")
    (project.folder / "src").mkdir()
    git("mv", "a.py", "src/a.py")
    assert findings(project) == []


@pytest.mark.parametrize(
    "text",
    [
        "All code must run on redis 5.0",
        "redis 5.0 and newer",
        "redis 5.0 is the oldest server that we support",
        "Use redis >=5.0 or redis 5.0",
    ],
)
def test_a_minimum_version_is_no_finding(project: Project, text: str) -> None:
    (project.folder / "requirements.txt").write_text("redis==5.2.0\n", encoding="utf-8")
    decide(project, text, CLAUDECODE="1")
    assert findings(project) == []


def test_a_version_that_is_also_part_of_another_one_is_edited_alone(project: Project) -> None:
    (project.folder / "requirements.txt").write_text("redis==5.2.0\n", encoding="utf-8")
    decide(project, "Cache of 15.0.12 is redis 5.0.1.", CLAUDECODE="1")
    assert mends(project, "gone") == "unified-state edit D1 'Cache of 15.0.12 is redis 5.2.0.'"
    decide(project, "Proxy beside redis 5.0.1 and 5.0.1", CLAUDECODE="1")
    assert mends(project, "gone") == "unified-state drop D3"


def test_a_result_of_tests_that_is_older_than_the_last_edit_is_closed(project: Project, tmp_path: Path) -> None:
    written = Transcript("s", cwd=str(project.folder))
    written.prompt("Run the tests.")
    written.call("Bash", {"command": "pytest -q"}, "FAILED tests/test_limits.py::test_cap - assert 4 == 5", error=True)
    path = tmp_path / "s.jsonl"
    project.keep(written, path)
    assert findings(project) == []
    edit = {"file_path": str(project.folder / "README.md"), "old_string": "a", "new_string": "b"}
    written.call("Edit", edit, "The file was updated.")
    project.keep(written, path)
    assert findings(project) == []  # no test reads it
    edit["file_path"] = str(project.folder / "tests" / "test_limits.py")
    written.call("Edit", edit, "The file was updated.")
    project.keep(written, path)
    assert mends(project, "stale result") == "unified-state close E1"


def test_a_rule_of_another_project_is_found(project: Project, tmp_path: Path, git: Callable[..., str]) -> None:
    other = tmp_path / "billing-api"
    other.mkdir()
    git("init", "--quiet", cwd=other)
    second = Project(other, project.home)
    decide(second, "Keep invoices for ten years")
    constrain(project, f"Never edit {other}/schema.sql")
    assert mends(project, "of another project") == "unified-state drop C1"
    decide(project, "In billing-api, round to cents")
    assert mends(project, "of another project") == "unified-state drop D1"
    decide(project, "Call billing-api over HTTP")  # a neighbour may be named
    written = Transcript("leaked", cwd=str(other))
    written.prompt("Never touch the ledger table.")
    path = written.write(tmp_path / "leaked.jsonl")
    assert project.run("import", str(path)).code == 0
    found = only(project, "of another project")
    assert found["why"] == f"was said in a session of {other}"
    mend(project, found["command"])
    assert findings(project) == []
    assert findings(second) == []


def test_a_secret_in_the_archive_or_in_a_memory_file_is_wiped(project: Project) -> None:
    decide(project, "Keep sessions in SQLite")
    with closing(sqlite3.connect(project.archive)) as archive, archive:
        archive.execute("INSERT INTO note (kind, text, at) VALUES ('highlight', ?, '2026-01-01')", (f"token {SECRET}",))
    assert mends(project, "secret") == "unified-state scan --fix"
    rules = project.folder / "CLAUDE.md"
    rules.write_text(f"# Rules\n\n- The token is {SECRET}\n- Tests run with pytest\n", encoding="utf-8")
    done = project.run("audit")
    assert SECRET not in done.out + done.err
    mends(project, "secret")
    assert rules.read_text(encoding="utf-8") == "# Rules\n\n\n- Tests run with pytest\n"
    assert [path.name for path in project.folder.glob("CLAUDE*")] == ["CLAUDE.md"]


@pytest.mark.parametrize("name", ["CLAUDE.md", "AGENTS.md", ".claude/CLAUDE.md", "memory"])
def test_a_line_of_a_memory_file_that_contradicts_what_the_user_said_is_cut_out(project: Project, name: str) -> None:
    constrain(project, "Cap the backoff at 8 s")
    slug = "".join(letter if letter.isalnum() else "-" for letter in str(project.folder))
    folder = project.home / ".claude" / "projects" / slug / "memory"
    path = folder / "MEMORY.md" if name == "memory" else project.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("# Rules\n\n- It's [fast]. Cap the backoff at 30 s. Be kind.\n", encoding="utf-8")
    found = only(project, "contradiction")
    assert found["ref"].endswith(f"{path.name}:3")
    mend(project, found["command"])
    assert findings(project) == []
    assert path.read_text(encoding="utf-8") == "# Rules\n\n- It's [fast].  Be kind.\n"
    path.write_text("- Cap the backoff at 30 s\n", encoding="utf-8")
    mends(project, "contradiction")
    assert path.read_text(encoding="utf-8") == "\n"


def test_all_commands_for_a_memory_file_run_in_order_empty_only_the_lines_they_mean(project: Project) -> None:
    constrain(project, "Cap the backoff at 8 s")
    constrain(project, "Never push to main")
    rules = project.folder / "CLAUDE.md"
    own = project.folder / "CLAUDE.md.bak"
    own.write_text("mine\n", encoding="utf-8")
    lines = [
        b"- Cap the backoff at 30 s",
        b"- Tests run with pytest",
        b"- Push to main",
        f"- \xff The token is {SECRET}".encode("latin-1"),  # no UTF-8
        b"- Format with ruff",
        b"- Be kind. Cap the backoff at 40 s. Push to main.",
        b"- Type-check with mypy",
    ]
    rules.write_bytes(b"\n".join(lines) + b"\n")
    commands = [found["command"] for found in findings(project)]
    assert len(commands) == 5
    for command in commands:
        mend(project, command)
    assert findings(project) == []
    kept = rules.read_bytes().decode().split("\n")
    assert [line.rstrip() for line in kept] == [
        *("", "- Tests run with pytest", "", "", "- Format with ruff", "- Be kind.", "- Type-check with mypy", "")
    ]
    assert own.read_text(encoding="utf-8") == "mine\n"
    copies = [path for path in project.folder.glob("CLAUDE.md.*") if path != own]
    assert len(copies) == 4
    assert all(SECRET.encode() not in path.read_bytes() for path in copies)


def test_the_command_for_a_memory_file_that_is_a_link_changes_its_target(project: Project) -> None:
    constrain(project, "Cap the backoff at 8 s")
    target, link = project.folder / "AGENTS.md", project.folder / "CLAUDE.md"
    target.write_text("- Cap the backoff at 30 s\n- Be kind\n", encoding="utf-8")
    link.symlink_to("AGENTS.md")
    mends(project, "contradiction")
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "\n- Be kind\n"


def test_what_a_model_recorded_goes_where_the_user_wrote_otherwise(project: Project) -> None:
    decide(project, "Cap the backoff at 8 s", CLAUDECODE="1")
    (project.folder / "CLAUDE.md").write_text("- Cap the backoff at 30 s\n", encoding="utf-8")
    assert mends(project, "contradiction") == "unified-state drop D1"


def test_what_nobody_looked_up_for_a_month_is_dropped_and_a_look_counts(project: Project, tmp_path: Path) -> None:
    written = Transcript("s", cwd=str(project.folder))
    written.prompt("Go on.")
    command = 'unified-state decision add "Keep sessions in SQLite" --rationale "one file"'
    decide(project, "Keep sessions in SQLite", CLAUDECODE="1", CLAUDE_CODE_SESSION_ID="s")
    written.call("Bash", {"command": command}, "D1")
    project.keep(written, tmp_path / "s.jsonl")
    with closing(sqlite3.connect(project.archive)) as archive, archive:
        (entry,) = archive.execute("SELECT uuid FROM step WHERE tool = 'Bash' LIMIT 1").fetchone()
        uuid = str(UUID(bytes=entry))
        change = "UPDATE item SET source_uuid = ?, paged_out_at = '2026-01-01T00:00:00.000Z'"
        archive.execute(change, (uuid,))
    assert only(project, "never recalled")["command"] == "unified-state drop D1"
    assert project.run("show", "D1").code == 0
    assert findings(project) == []
    with closing(sqlite3.connect(project.archive)) as archive, archive:
        archive.execute("DELETE FROM access")
    mends(project, "never recalled")


def test_it_changes_nothing(project: Project, tmp_path: Path) -> None:
    for _ in range(2):
        decide(project, "Keep sessions in SQLite")
    (project.folder / "CLAUDE.md").write_text(f"- {SECRET}\n", encoding="utf-8")
    files = [path for path in (*project.data.rglob("*"), *project.folder.rglob("*")) if path.is_file()]
    before = {path: path.read_bytes() for path in files if not path.name.endswith(("-shm", "-wal"))}
    assert len(findings(project)) == 2
    assert {path: path.read_bytes() for path in before} == before


def test_nothing_of_a_hostile_repository_is_run_or_followed(project: Project, tmp_path: Path) -> None:
    hostile = Hostile(project.folder, tmp_path / "marks")
    hostile.commit()
    written = Transcript("s", cwd=str(project.folder))
    written.prompt("Go.")
    edit = {"file_path": str(project.folder / "a.py"), "old_string": "", "new_string": "def with_retry(): ..."}
    written.call("Edit", edit, "done")
    project.keep(written, tmp_path / "s.jsonl")
    decide(project, "with_retry in a.py caps the backoff", CLAUDECODE="1", CLAUDE_CODE_SESSION_ID="s")
    (project.folder / "a.py").write_text("x = 1\n", encoding="utf-8")
    for name in ("git", "make", "sed", "grep"):
        hostile.plant(project.folder / name)
    for setting in ("core.fsmonitor", "diff.external", "core.pager", "filter.trap.clean"):
        hostile.git("config", setting, str(hostile.trap))
    (project.folder / ".gitattributes").write_text("* filter=trap diff=trap\n", encoding="utf-8")
    hostile.git("config", "diff.trap.textconv", str(hostile.trap))
    os.mkfifo(project.folder / "AGENTS.md")
    os.mkfifo(project.folder / "Makefile")
    outside = tmp_path / "outside.md"
    outside.write_text("- Cap the backoff at 30 s\n", encoding="utf-8")
    (project.folder / "CLAUDE.md").symlink_to(outside)
    constrain(project, "Cap the backoff at 8 s")
    hostile.forget()
    done = project.run("audit", PATH=f"{project.folder}:{os.environ['PATH']}")
    assert "names with_retry, which is in no file now" in done.out
    assert "30 s" not in done.out
    assert "CLAUDE.md is a link to a file elsewhere and was not read" in done.err
    assert "AGENTS.md was not read" in done.err
    assert hostile.ran == []


def test_hostile_text_steers_neither_the_terminal_nor_the_shell(project: Project, tmp_path: Path) -> None:
    constrain(project, "Cap the backoff at 8 s")
    text = "Cap the backoff at 30 s'; touch pwned; '$(touch pwned)`touch pwned`\x1b[31m/&\\"
    (project.folder / "CLAUDE.md").write_text(f"- Hi there. {text}\n- Cap the backoff at 30 s\n", encoding="utf-8")
    for found in findings(project):
        subprocess.run(["sh", "-c", found["command"]], cwd=tmp_path, check=False)
    assert findings(project) == []
    assert not list(tmp_path.rglob("pwned"))
    assert "\x1b" not in project.run("audit").out


def test_outside_git_it_works_too(project: Project, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    plain = Project(folder, project.home)
    (folder / "数据.py").write_text("x\n", encoding="utf-8")
    decide(plain, "数据.py holds the limits")
    decide(plain, "Keep sessions in SQLite")
    decide(plain, "Keep sessions in SQLite")
    assert mends(plain, "duplicate") == "unified-state drop D3"


def test_a_version_in_the_rationale_ends_the_item_since_an_edit_of_its_text_mends_nothing(project: Project) -> None:
    (project.folder / "requirements.txt").write_text("redis==5.2.0\n", encoding="utf-8")
    done = project.run("decision", "add", "Cap the pool", "--rationale", "redis 5.0.1 leaks", CLAUDECODE="1")
    assert done.code == 0
    assert mends(project, "gone") == "unified-state drop D1"


def test_in_a_tree_of_many_files_an_identifier_is_looked_for_in_all_of_them(project: Project, tmp_path: Path) -> None:
    for number in range(amount(50_000, 5_000)):
        folder = project.folder / f"d{number // 500}"
        folder.mkdir(exist_ok=True)
        (folder / f"f{number}.py").write_text(f"x = {number}\n", encoding="utf-8")
    path = project.folder / "a.py"
    written = Transcript("s", cwd=str(project.folder))
    written.prompt("Add retries.")
    path.write_text("def with_retry(): ...\n", encoding="utf-8")
    written.call("Edit", {"file_path": str(path), "old_string": "", "new_string": "def with_retry(): ..."}, "done")
    project.keep(written, tmp_path / "s.jsonl")
    decide(project, "with_retry in a.py caps the backoff", CLAUDECODE="1", CLAUDE_CODE_SESSION_ID="s")
    path.rename(project.folder / "d9" / "moved.py")
    path.write_text("x = 1\n", encoding="utf-8")
    assert findings(project) == []
    (project.folder / "d9" / "moved.py").unlink()
    assert mends(project, "gone") == "unified-state drop D1"
