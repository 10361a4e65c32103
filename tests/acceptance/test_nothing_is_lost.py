"""Promise 1: every prompt, assistant text, tool call and tool result of every session is kept, whole and once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .product import Project
from .reading import Said, kept, said

FOLDER = Path(__file__).parents[1] / "data" / "transcripts"
FILES = sorted(FOLDER.glob("*.jsonl"))


def name_of(path: Path) -> str:
    return path.name


def session_of(path: Path) -> str:
    """The session that a transcript is of."""
    return path.read_bytes().partition(b'"sessionId":"')[2].partition(b'"')[0].decode()


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_export_holds_all_of_an_ingested_session_exactly_once(project: Project, path: Path) -> None:
    assert project.run("import", str(path)).code == 0
    assert project.run("import", str(path)).code == 0
    assert kept(project.export(session_of(path))) == said(path.read_bytes()) + of_subagents(path)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_hooks_keep_all_of_a_session_that_grows_entry_by_entry(project: Project, tmp_path: Path, path: Path) -> None:
    growing, session = tmp_path / path.name, session_of(path)
    if path.with_suffix("").is_dir():
        shutil.copytree(path.with_suffix(""), growing.with_suffix(""))
    lines = path.read_bytes().splitlines(keepends=True)
    for start in range(0, len(lines), 6):
        with growing.open("ab") as file:
            file.write(b"".join(lines[start : start + 6]))
        event = ("UserPromptSubmit", "Stop", "PreCompact")[start // 6 % 3]
        assert project.hook(event, session_id=session, transcript_path=str(growing)).code == 0
    assert all("has a damaged line" in line for line in project.log().splitlines())
    assert kept(project.export(session)) == said(path.read_bytes()) + of_subagents(path)


def test_a_folder_of_sessions_is_kept_whole_and_every_fork_has_its_own_history(project: Project) -> None:
    assert project.run("import", str(FOLDER)).code == 0
    for path in FILES:
        assert kept(project.export(session_of(path))) == said(path.read_bytes()) + of_subagents(path), path.name


def test_what_was_archived_comes_back_word_for_word(project: Project) -> None:
    """Also spaces, tabs, emoji, CJK and images: nothing is trimmed, folded or left out."""
    path = FOLDER / "tools.jsonl"
    assert project.run("import", str(path)).code == 0
    lines = project.export()
    assert next(line["text"] for line in lines if line["kind"] == "prompt").endswith("🐘\n\n    indented\ttabbed\r\n")
    assert {line["tool"]: line["result"] for line in lines if line["kind"] == "tool_result"}["Bash"] == ""
    first, again = (line for line in lines if line["kind"] == "attachment")
    assert "iVBORw0KGgo" in first["text"]
    assert again["text"] == f"[the same as in entry {first['uuids'][0]}]"
    assert sum(line.get("is_error", False) for line in lines) == 1


def test_a_long_result_in_a_file_of_its_own_is_kept_when_the_client_has_removed_it(
    project: Project, tmp_path: Path
) -> None:
    name = "10000000-0000-4000-8000-000000000008"
    shutil.copytree(FOLDER / name, tmp_path / name)
    path = shutil.copy(FOLDER / f"{name}.jsonl", tmp_path)
    assert project.hook("Stop", session_id=name, transcript_path=str(path)).code == 0
    shutil.rmtree(tmp_path / name)
    Path(path).unlink()
    results = [line["result"] for line in project.export(name) if line["kind"] == "tool_file"]
    assert results == ["everything, line by line\n" * 40]


def of_subagents(path: Path) -> Said:
    """What the subagents of a session said."""
    files = (path.with_suffix("") / "subagents").glob("*.jsonl")
    return said(b"".join(file.read_bytes() for file in files))
