"""What comes back after a compaction is what is needed next: files with their identifiers, commands with their outcome,
what the summary lost.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from unified_state.lib.fence import TAG

from .product import Project, restored
from .transcripts import Transcript


class Work:
    """A session that works on files, and what the product gives it back."""

    def __init__(self, project: Project, path: Path, session_id: str = "s", cwd: str = "/home/dev/proj") -> None:
        self.project, self.path = project, path
        self.written = Transcript(session_id, cwd=cwd)

    def edit(self, name: str, old: str, new: str) -> None:
        """The agent edits a file of the project."""
        fields = {"file_path": f"{self.written.cwd}/{name}", "old_string": old, "new_string": new}
        self.written.call("Edit", fields, "The file has been updated.")

    def run(self, command: str, output: str, *, error: bool = False) -> None:
        """The agent runs a command."""
        self.written.call("Bash", {"command": command}, output, error=error)

    def given(self) -> dict[str, str]:
        """What comes back after a compaction now, by part."""
        self.project.keep(self.written, self.path)
        return restored(self.project, self.path, session_id=self.written.session_id)

    def told(self) -> list[str]:
        """All lines of it but those of the fence."""
        lines = "\n".join(self.given().values()).splitlines()
        return [line for line in lines if not line.startswith((f"<{TAG}", f"</{TAG}"))]


@pytest.fixture
def work(project: Project, tmp_path: Path) -> Work:
    """A session in which a prompt was typed."""
    work = Work(project, tmp_path / "s.jsonl")
    work.written.prompt("Make the parser faster, see #482.")
    return work


def line_of(lines: list[str], start: str) -> str:
    """The only line that begins so."""
    (line,) = (line for line in lines if line.startswith(start))
    return line


def test_the_summary_that_the_client_made_counts_by_itself(work: Work) -> None:
    work.written.prompt("Then rename the module of the reader, please.")
    work.written.text("Renamed.")
    assert "rename the module" in "".join(work.given().values())
    summary = "<analysis>x</analysis><summary>Then rename the module of the reader, please.</summary>"
    done = work.project.hook(
        "SubagentStop", transcript_path=str(work.path), agent_type="", last_assistant_message=summary
    )
    assert done.code == 0
    assert not any(
        "rename the module" in line for text in restored(work.project, work.path).values() for line in text.splitlines()
    )


def test_a_session_on_windows_comes_back(project: Project, tmp_path: Path) -> None:
    work = Work(project, tmp_path / "s.jsonl", cwd="C:\\Users\\ada\\shop")
    work.written.prompt("see src\\parser.py\r\n")
    work.written.call(
        "Edit", {"file_path": "C:\\Users\\ada\\shop\\src\\parser.py", "new_string": "parse_all\r\n"}, "ok\r\n"
    )
    work.run("pytest -q", "FAILED tests\\test_parser.py::test_empty\r\n1 failed\r\n", error=True)
    lines = work.told()
    assert line_of(lines, "src/parser.py: ") == "src/parser.py: parse_all"
    assert any("pytest -q" in line and "FAILED tests\\test_parser.py::test_empty 1 failed" in line for line in lines)
    assert not any("\r" in line for line in lines)
